//! Every tool on one page.

mod infer;
mod predict;
mod compare;
mod find;

use operations::Entry;

use operations::Operation as _;

use super::tool::{Tool, entry};

/// Names of tools, for what speaks of them.
pub(super) const BUDGET: &str = operations::budget::Budget::NAME;
pub(super) const COMPARE: &str = compare::Compare::NAME;
pub(super) const EXPLAIN: &str = operations::explain::Explain::NAME;
pub(super) const FIND: &str = find::Find::NAME;
pub(super) const IMPORT: &str = operations::import::Import::NAME;
pub(super) const INFER: &str = infer::Infer::NAME;
pub(super) const PREDICT: &str = predict::Predict::NAME;
pub(super) const SOLVE: &str = operations::solve::Solve::NAME;
pub(super) const VALIDATE: &str = operations::validate::Validate::NAME;

/// Every tool, in the order in which they are listed.
pub(super) static TOOLS: [Entry; 4] = [
    entry::<predict::Predict>(),
    entry::<compare::Compare>(),
    entry::<find::Find>(),
    entry::<infer::Infer>(),
];

/// Every operation and tool.
pub(super) fn all() -> impl Iterator<Item = &'static Entry> {
    operations::OPERATIONS.iter().chain(&TOOLS)
}
