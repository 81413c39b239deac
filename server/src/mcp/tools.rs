//! Every tool on one page.

mod budget;
mod compare;
mod experts;
mod explain;
mod find;
mod import;
mod infer;
mod predict;
mod solve;
mod sweep;
mod validate;

use super::tool::{Entry, entry};

/// Every tool, in the order in which they are listed.
pub(super) static TOOLS: [Entry; 11] = [
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
    entry::<validate::Validate>(),
];
