//! Every tool on one page.

mod budget;
mod experts;
mod explain;
mod import;
mod infer;
mod predict;
mod compare;
mod find;
mod solve;
mod sweep;
mod validate;

use super::tool::{Entry, Tool, entry};

/// Names of tools, for what speaks of them.
pub(super) const BUDGET: &str = budget::Budget::NAME;
pub(super) const COMPARE: &str = compare::Compare::NAME;
pub(super) const EXPLAIN: &str = explain::Explain::NAME;
pub(super) const FIND: &str = find::Find::NAME;
pub(super) const IMPORT: &str = import::Import::NAME;
pub(super) const INFER: &str = infer::Infer::NAME;
pub(super) const PREDICT: &str = predict::Predict::NAME;
pub(super) const SOLVE: &str = solve::Solve::NAME;
pub(super) const VALIDATE: &str = validate::Validate::NAME;

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
