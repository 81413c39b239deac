//! The search for a layout: given a model, a machine and a load, which design should run?
//!
//! A [`Query`] is a design and what must stay of it. A [`Search`] goes through the designs of one
//! [`Domain`]: [`StrategySearch`] through strategies of training, [`LayoutSearch`] through layouts
//! and loads of serving. Both take the same goals and targets, work on a [`Pool`] in steps, and
//! have the same [`Answer`]. Work is counted, never timed, so that a query has one answer, wherever
//! it is computed and on however many threads.

mod pool;
mod rank;
mod target;
mod query;
mod answer;
mod search;
mod reason;
mod serving;
mod training;

pub use crate::rules::vocabulary::STRATEGY;
pub use answer::{Answer, MAX_DESIGNS, Miss, Phase, Progress, Recommendation, RuledOut};
pub use pool::{OneThread, Pool};
pub use query::{Goal, MIN_SPARE, Query, Question};
pub use search::Search;
pub use serving::{LayoutFront, LayoutPoint, LayoutSearch, Skipped};
pub use target::{Domain, Predicted, Target};
pub use training::{
    Advice, Change, Guide, Loss, MAX_COMBINED, Near, StrategySearch, advice, remedies, spare,
};
