//! What designs of a sweep are held against, made once.

use std::sync::{Arc, OnceLock};

use model::Plan;
use model::budget::Budget;
use model::find::Guide;

/// The place of what is made when it is first asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bench(pub(crate) Arc<OnceLock<Made>>);

/// What is made.
#[derive(Debug)]
pub(crate) struct Made {
    /// What leads searches for strategies, where the sweep finds them.
    pub(crate) guide: Option<Guide>,
    /// What losses are held against, where the sweep asks for any and it trains.
    pub(crate) baseline: Option<(Plan, Budget)>,
}
