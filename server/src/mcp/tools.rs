//! Every tool on one page.

mod experts;
mod import;
mod sweep;
mod validate;

use operations::Entry;

use operations::Operation as _;

use super::tool::{Tool, entry};

/// Names of tools, for what speaks of them.
pub(super) const BUDGET: &str = operations::budget::Budget::NAME;
pub(super) const COMPARE: &str = operations::compare::Compare::NAME;
pub(super) const EXPLAIN: &str = operations::explain::Explain::NAME;
pub(super) const FIND: &str = operations::find::Find::NAME;
pub(super) const IMPORT: &str = import::Import::NAME;
pub(super) const INFER: &str = operations::infer::Infer::NAME;
pub(super) const PREDICT: &str = operations::predict::Predict::NAME;
pub(super) const SOLVE: &str = operations::solve::Solve::NAME;
pub(super) const VALIDATE: &str = validate::Validate::NAME;

/// Every tool, in the order in which they are listed.
pub(super) static TOOLS: [Entry; 4] = [
    entry::<sweep::Sweep>(),
    entry::<experts::Experts>(),
    entry::<import::Import>(),
    entry::<validate::Validate>(),
];

/// Every operation and tool.
pub(super) fn all() -> impl Iterator<Item = &'static Entry> {
    operations::OPERATIONS.iter().chain(&TOOLS)
}
