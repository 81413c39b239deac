//! What follows from another knob until it is set itself: the framework from the accelerator.
//!
//! Megatron-LM runs on Ascend through MindSpeed alone (MindSpeed `README`: an adaptor of
//! Megatron-LM for Ascend), and MindSpeed runs nowhere else. So a design that moves from one to
//! the other moves its framework along; FSDP, DeepSpeed and `ideal` run on both.

use crate::catalogue::accelerator::AcceleratorId;
use crate::catalogue::calibration::ASCEND;
use crate::design::KnobId;
use crate::ground::choice::Framework;

/// The framework of a design that moves from one accelerator to another.
pub(super) fn carried(framework: Framework, from: AcceleratorId, to: AcceleratorId) -> Framework {
    let is_ascend = |id: AcceleratorId| id.row().kernels.family == ASCEND.family;
    match (is_ascend(from), is_ascend(to), framework) {
        (false, true, Framework::Megatron) => Framework::Mindspeed,
        (true, false, Framework::Mindspeed) => Framework::Megatron,
        _ => framework,
    }
}

impl KnobId {
    /// Whether another knob moves this one along. Who sets both sets it last, so that it stays what
    /// was asked for.
    #[must_use]
    pub fn follows(self) -> bool {
        self == Self::framework
    }
}
