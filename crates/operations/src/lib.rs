//! The verbs of Moescape, one file each: name, summary, input, output, what it does and what it
//! says of it.
//!
//! A verb is an [`Operation`]. The doors (command line, HTTP, tools for agents, Python and the
//! API's description) know none of them by name: they loop over [`OPERATIONS`] and say an answer in
//! their own form. Nothing here knows a clock, file or socket: a [`Caller`] has them.
//!
//! The modules are listed from ground to roof: each imports only those above it.

mod refusal;
mod caller;
mod columns;
mod names;
mod numbers;

pub mod files;

mod arguments;
mod input;
mod operation;
mod provenance;

pub mod remarks;
pub mod experts;
pub mod explain;
pub mod export;
pub mod loads;
pub mod schedule;
pub mod solve;
pub mod sweep;
pub mod import;
pub mod validate;
pub mod calibrate;

pub mod budget;
pub mod routing;
pub mod compare;
pub mod find;
pub mod infer;
pub mod predict;

pub use arguments::read;
pub use caller::{Caller, Limits};
pub use columns::{metric_of, metrics, plain, table, table_below};
pub use input::{BaselineInput, DesignInput, MAX_SETTINGS, is_file};
pub use names::Names;
pub use numbers::{
    Data, Evidence, Number, Span, broken_lines, json, lines, map, numbers, settings, titled,
};
pub use operation::{Answered, Detour, Entry, Example, Form, Operation, Printed, entry};
pub use provenance::WithProvenance;
pub use refusal::{Kind, Origin, Refusal, Wrong};

/// Every verb, in the order in which doors list them.
pub static OPERATIONS: [Entry; 15] = [
    entry::<predict::Predict>(),
    entry::<explain::Explain>(),
    entry::<compare::Compare>(),
    entry::<find::Find>(),
    entry::<solve::Solve>(),
    entry::<sweep::Sweep>(),
    entry::<infer::Infer>(),
    entry::<experts::Experts>(),
    entry::<budget::Budget>(),
    entry::<import::Import>(),
    entry::<export::Export>(),
    entry::<schedule::Schedule>(),
    entry::<routing::Routing>(),
    entry::<validate::Validate>(),
    entry::<calibrate::Calibrate>(),
];
