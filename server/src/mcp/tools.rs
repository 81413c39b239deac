//! Names of tools, for what speaks of them.

use operations::Operation;

pub(super) const BUDGET: &str = operations::budget::Budget::NAME;
pub(super) const COMPARE: &str = operations::compare::Compare::NAME;
pub(super) const EXPLAIN: &str = operations::explain::Explain::NAME;
pub(super) const FIND: &str = operations::find::Find::NAME;
pub(super) const IMPORT: &str = operations::import::Import::NAME;
pub(super) const INFER: &str = operations::infer::Infer::NAME;
pub(super) const PREDICT: &str = operations::predict::Predict::NAME;
pub(super) const SOLVE: &str = operations::solve::Solve::NAME;
pub(super) const VALIDATE: &str = operations::validate::Validate::NAME;
