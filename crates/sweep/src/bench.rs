//! What designs of a sweep are held against, made once.

use std::sync::{Arc, OnceLock};

use model::Plan;
use model::run::budget::Budget;
use model::search::find::Guide;

/// Shared state of a space's evaluations, made on first use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bench(pub(crate) Arc<OnceLock<Made>>);

/// Guide and baseline, each where the sweep needs one.
#[derive(Debug)]
pub(crate) struct Made {
    /// Guide of the searches for strategies, where the sweep finds them.
    pub(crate) guide: Option<Guide>,
    /// Baseline of the losses, where the sweep asks for any and it trains.
    pub(crate) baseline: Option<(Plan, Budget)>,
}
