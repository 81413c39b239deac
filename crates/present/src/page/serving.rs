//! The page `/serving`: how a design answers, and which layouts there are.
//!
//! The state is a design and stands in the address as a link has it. What comes of it is put into
//! words by `labels`, the same on the server and in the browser; every way from one state to
//! another is a link, so that the page also works without a script.

pub mod experts;
pub mod labels;
pub mod measured;
pub mod front;
pub mod form;

use model::Answer;
use model::catalogue::preset::{Preset, PresetKind};
use model::design::{Design, link};
use model::serving::{Inference, ServingPlan};

use crate::site::Page;

/// Where measured loads of a design's model and accelerator are.
pub const MEASURED_PATH: &str = "/serving/measured";
/// Where the scores of a router trace come as text that the page reads.
pub const SCORES_PATH: &str = "/api/v1/experts/scores";

pub use experts::pattern_rows;
pub use front::pools;

/// A plan with what it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct ServingAnswer {
    /// The plan.
    pub plan: ServingPlan,
    /// Its numbers.
    pub inference: Inference,
}

impl ServingAnswer {
    /// Answer of the model.
    #[must_use]
    pub const fn answer(&self) -> Answer<'_> {
        Answer::Serving { plan: &self.plan, inference: &self.inference }
    }
}

/// First design of the page: Qwen3-235B-A22B on eight H100.
const EXAMPLE: &str = "v=1&preset=qwen3-235b-a22b&accelerator=h100-sxm-80gb&num_devices=8&\
    serving.engine=vllm&serving.tensor_parallel_size=8&serving.moe_expert_parallel_size=8&\
    serving.weight_dtype=fp8&serving.concurrency=64";

/// The design of a raw query string, the example without one.
///
/// # Errors
/// What is wrong with the query.
pub fn design(raw: &str) -> Result<Design, Vec<model::ground::knob::KnobError>> {
    // A plain form sends boxes that are empty, too.
    let said = raw.trim_start_matches('?').split('&').filter(|part| !part.ends_with('='));
    let said = said.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&");
    link::decode(if said.is_empty() { EXAMPLE } else { &said })
}

/// The address of a design on this page.
#[must_use]
pub fn address(design: &Design) -> String {
    format!("{}?{}", Page::Serving.path(), link::encode(design))
}

/// A design with another model: machine and serving stay, but for those of a published run.
pub fn with_model(design: &Design, preset: &'static Preset) -> Design {
    let mut other = preset.design();
    if preset.kind == PresetKind::Serving {
        return other;
    }
    other.cluster = design.cluster.clone();
    other.serving = design.serving.clone();
    if other.transformer.num_moe_experts.is_none() {
        other.serving.moe_expert_parallel_size = 1;
        other.serving.moe_tensor_parallel_size = None;
    }
    other
}
