//! The metrics of a budget, in the order in which tables show them.

use crate::ground::source::{BYTECHECKPOINT, DALY_2006, DERIVED, RESEARCH_CLUSTERS};
use crate::metric::{Basis, Better, Metric, Words, metrics};

const NEITHER: Option<Better> = None;
const HIGHER: Option<Better> = Some(Better::Higher);
const LOWER: Option<Better> = Some(Better::Lower);

metrics! {
    BudgetMetric:
    days_to_train: "Days to train", "days", LOWER, Time,
        "Days from the first step to the last; without a known goodput the days of training alone, \
         which are a floor",
        "tokens / tokens per second / goodput", DERIVED;
    training_days: "Days of training alone", "days", LOWER, Time,
        "Days of the steps themselves, as if nothing failed and nothing was saved",
        "sum over the batch's warm-up and the rest of tokens / tokens per second", DERIVED;
    device_hours: "Device-hours", "h", LOWER, Time,
        "Hours of all devices, spare ones among them", "days x 24 x (devices + spare devices)",
        DERIVED;
    cost: "Cost", "", LOWER, Time,
        "Price of the device-hours, in the price's own currency", "device-hours x price", DERIVED;
    energy_kwh: "Energy", "kWh", LOWER, Time,
        "Energy of the devices, and with a PUE that of the facility",
        "device-hours x power of a device x PUE / 1000", DERIVED;
    goodput_ratio: "Goodput", "", HIGHER, Derived,
        "Share of the wall clock that advances the training",
        "t e^(-(t + d + w)/M) / ((1 - e^(-(t + d)/M)) M e^(R/M)): t interval, d stall, w write \
         behind the training, R restart, M time between failures", DALY_2006;
    checkpoint_stall_ratio: "Stalled by checkpoints", "", LOWER, Derived,
        "Share of the wall clock in which training waits for a checkpoint that is kept",
        "goodput x stall / interval", DERIVED;
    lost_work_ratio: "Lost work", "", LOWER, Derived,
        "Share of the wall clock spent on training that a failure undoes",
        "1 - goodput - stalled - restarting", DERIVED;
    restart_ratio: "Restarting", "", LOWER, Derived,
        "Share of the wall clock between a failure and training again", "1 - e^(-R/M)", DALY_2006;
    failures_expected: "Failures", "", LOWER, Derived,
        "Failures that stop the run, the mean", "days x 24 x devices / device-hours between \
         failures",
        RESEARCH_CLUSTERS;
    checkpoint_bytes: "Checkpoint", "bytes", LOWER, Exact,
        "Bytes of weights and optimizer states of the whole model",
        "parameters x (weight + main copy + moments)", BYTECHECKPOINT;
    checkpoint_seconds: "Writing a checkpoint", "s", LOWER, Derived,
        "Time until a checkpoint is on storage", "bytes / rate", DERIVED;
    optimal_checkpoint_interval_seconds: "Best checkpoint interval", "s", NEITHER, Derived,
        "Training between two checkpoints at which goodput is highest",
        "1 - t/M = e^(-(t + d)/M); Young: sqrt(2 d M)", DALY_2006;
}
