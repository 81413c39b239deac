//! What published laws expect of a model's loss: differences against a baseline, never the loss
//! itself.
//!
//! Each law was fitted on models at least ten times smaller, and their absolute values differ by
//! 0.38 nats at the size of Pangu Ultra MoE; the differences between two designs agree in sign and
//! order. So four members are asked for paired differences, and their median stands with its
//! minimum and maximum.
//!
//! No law reproduces a saturation at 512 experts of a fixed size; two do where total and active
//! parameters are fixed and experts get finer. The closest prior work that couples such laws to a
//! model of systems is MOSAIC ([`crate::ground::source::MOSAIC`]).

mod advice;
mod epochs;
pub mod laws;
mod compare;
mod refusal;
mod shape;

pub use advice::{BatchAdvice, batch_advice};
pub use compare::{
    Comparison, Leverage, Member, MemberComparison, Spread, TIE_NATS, compare, leverage,
};
pub use epochs::effective_tokens;
pub use refusal::{Flag, Refusal};
pub use shape::Shape;

/// Caveat to be shown with every value of this module.
pub const CAVEAT: &str = "Loss differences are extrapolated from published laws that were fitted \
                          on models at least ten \
     times smaller; the range is disagreement between laws, not a confidence interval; under 0.005 \
     nats is a tie; it is not your model's loss and says nothing of benchmark scores.";
