//! The rows of the knobs of a run: what a budget reads beside the step.

use crate::ground::knob::Kind::*;
use crate::ground::knob::Row;
use crate::ground::source::{
    BYTECHECKPOINT, LLAMA_3_HERD, MEGASCALE, MUENNIGHOFF_2023, Source, YOUNG_1974,
};

const fn row(label: &'static str, kind: crate::ground::knob::Kind, meaning: &'static str) -> Row {
    const OWN: Source = crate::ground::source::DERIVED;
    Row::new(label, kind, meaning).source(OWN).no_lever()
}

pub(super) const TRAIN_TOKENS: Row = row(
    "Training tokens",
    OptionalReal(1e6, 1e15),
    "Tokens that the run trains on, repeated ones counted again; none leaves days, money and \
     energy \
     open",
)
.unit("tokens");
pub(super) const UNIQUE_TOKENS: Row = row(
    "Unique tokens",
    OptionalReal(1e6, 1e15),
    "Tokens that are there to train on; none is as many as the run trains on",
)
.unit("tokens")
.source(MUENNIGHOFF_2023);
pub(super) const PRICE_PER_DEVICE_HOUR: Row = row(
    "Price of a device-hour",
    OptionalReal(0.0, 1e6),
    "What one device costs for an hour, in any currency; none leaves money open",
);
pub(super) const DEVICE_WATTS: Row = row(
    "Power of a device",
    OptionalReal(1.0, 1e5),
    "Power that one device draws while it trains, its share of the node's included where that is \
     known; none is the accelerator's rated power, where it is published",
)
.unit("W");
pub(super) const PUE: Row = row(
    "PUE",
    OptionalReal(1.0, 5.0),
    "Power of the facility over that of its machines; none counts the devices alone",
);
pub(super) const MTBF_DEVICE_HOURS: Row = row(
    "Device-hours between failures",
    OptionalReal(1.0, 1e9),
    "Hours of one device between two failures that stop the run; 50,676 in Llama 3's run; none \
     leaves goodput open",
)
.unit("h")
.source(LLAMA_3_HERD);
pub(super) const CHECKPOINT_GB_PER_SEC: Row = row(
    "Checkpoint rate",
    OptionalReal(1e-3, 1e6),
    "Rate at which all devices together write a checkpoint to storage that outlives them; none \
     leaves goodput open",
)
.unit("GB/s")
.source(BYTECHECKPOINT);
pub(super) const CHECKPOINT_INTERVAL_SECONDS: Row = row(
    "Checkpoint interval",
    OptionalReal(1.0, 1e7),
    "Training between two checkpoints; none is the best interval, which Young and Daly approximate",
)
.unit("s")
.source(YOUNG_1974);
pub(super) const CHECKPOINT_ASYNC: Row = row(
    "Asynchronous checkpoints",
    Flag,
    "Training stops only while states are copied to the host's memory; the rest is written behind \
     it",
)
.source(BYTECHECKPOINT);
pub(super) const RESTART_SECONDS: Row = row(
    "Restart",
    Real(0.0, 1e6),
    "From a failure to training again: notice, find, replace, load the checkpoint; MegaScale takes \
     at most 15 minutes",
)
.unit("s")
.source(MEGASCALE);
pub(super) const SPARE_DEVICES: Row = row(
    "Spare devices",
    Integer(0, 1_048_576),
    "Devices that stand by to replace failed ones; they are paid for and do not train",
)
.by_factor();
pub(super) const RAMP: Row = row(
    "Batch warm-up",
    OptionalReal(1e6, 1e15),
    "Tokens over which the batch grows from a quarter to its whole size, in quarters; none is \
     whole \
     from the start",
)
.unit("tokens")
.source(LLAMA_3_HERD);
pub(super) const DEADLINE_DAYS: Row = row(
    "Deadline",
    OptionalReal(0.01, 1e5),
    "Days within which the run is to end; none is no deadline",
)
.unit("days");
