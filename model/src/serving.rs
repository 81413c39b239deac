//! Serving: the same model, answering.
//!
//! A [`ServingPlan`] stands beside the plan of training, on a deployment of its own: what layers
//! take is computed by the same mixers and MLPs, for the rows of a step of decode or of a prompt.
//! What is its own: the cache, the engine, and how requests share steps.

mod engine;
pub mod experts;
mod explain;
pub mod capacity;
mod formats;
pub mod host;
mod inference;
mod instance;
mod load;
mod memory;
mod need;
mod overheads;
mod pass;
mod plan;
mod range;
mod ranks;
mod resident;
mod routed;
pub mod rules;
pub mod runs;
mod speculation;
pub mod traced;

use crate::design::KnobId;

pub use engine::{Overheads, family, is_known, overheads};
pub(crate) use explain::explain;
pub(crate) use host::{FIRST_LAYER_TIME, SENT_SHARE};
pub use inference::{
    Bottleneck, FirstTokens, Inference, Part, accepted_tokens, decode_step, infer, prefill_rate,
    prefill_time,
};
pub(crate) use inference::{Limits, Quick, quick};
pub(crate) use load::{QUEUE, QUEUE_BAND};
pub use memory::ServingMemory;
pub(crate) use overheads::TABLE as OVERHEADS;
pub use plan::{Replicas, ServingPlan};
pub(crate) use range::serving_range;
pub use ranks::{Instances, LAYOUT, Layout, with_layout};

/// The knob of serving that a short name means there.
#[must_use]
pub fn alias(name: &str) -> Option<KnobId> {
    Some(match name {
        "tp" => KnobId::tensor_parallel_size,
        "pp" => KnobId::pipeline_parallel_size,
        "dp" => KnobId::data_parallel_size,
        "ep" => KnobId::moe_expert_parallel_size,
        "etp" => KnobId::moe_tensor_parallel_size,
        _ => return None,
    })
}
