//! Which experts a task needs: scores of a router by task, layer and expert, and what keeping some
//! of the experts covers of them.
//!
//! The score is TCESS, the task-conditioned expected selection score: per layer and expert the mean
//! over a task's tokens of the router's logit where the expert is among the token's best k, and 0
//! where it isn't.
//!
//! # Source
//! `PreMoe` (arXiv 2505.17639), section 3.1; `collect_utils.py:collect_moe_gate_logits_r1`.

mod collect;
mod set;
mod scores;
mod coverage;
mod generate;
mod keep;
mod overlap;
mod store;
#[cfg(feature = "text")]
pub mod text;

pub use collect::Collector;
pub use coverage::{Coverage, coverage};
pub use generate::Generator;
pub use keep::{Goal, Keep};
pub use overlap::{Depth, Pair, depth, overlap, together};
pub use scores::Patterns;
pub use set::Set;
pub use store::{Loading, Store, Switches};
