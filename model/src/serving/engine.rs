//! What engines take beside the kernels of a step. The values are in [`mod@super::overheads`].

use super::overheads::TABLE;
use crate::catalogue::accelerator::AcceleratorId;
use crate::catalogue::calibration::ASCEND;
use crate::ground::choice::Engine;
use crate::ground::fitted::Evidence;

/// Overheads of an engine beside kernels, on one family of accelerators.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overheads {
    /// Time between two kernels of a replayed graph, in microseconds.
    pub kernel_micros: f64,
    /// Further time of a dense layer, in microseconds.
    pub dense_layer_micros: f64,
    /// Further time of a layer with experts, in microseconds.
    pub moe_layer_micros: f64,
    /// Time between two steps: scheduling, sampling, and what is sent to who asked, in
    /// milliseconds.
    pub step_millis: f64,
    /// Time of a prompt's kernels over that of their formulas, of dense models and of experts.
    pub prefill: [f64; 2],
    /// Time of routed experts over that of their formulas.
    pub experts: f64,
    /// Share of the prompts of other attention groups that a group waits for as well: all meet in
    /// every exchange of experts.
    pub lockstep: f64,
    /// Relative excess of a first token's wait behind others over `load::queue`.
    pub queue: f64,
    /// Whether a prompt's tokens run in one step with those that are decoded.
    pub mixes: bool,
    /// Measurements that the values were fitted on.
    pub fitted_on: Evidence,
}

impl Overheads {
    /// None.
    pub const IDEAL: Self = Self {
        kernel_micros: 0.0,
        dense_layer_micros: 0.0,
        moe_layer_micros: 0.0,
        step_millis: 0.0,
        prefill: [1.0; 2],
        experts: 1.0,
        lockstep: 0.0,
        queue: 1.0,
        mixes: true,
        fitted_on: Evidence::Unfitted("by definition"),
    };
}

/// The overheads of an engine on one family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) engine: Engine,
    pub(crate) family: &'static str,
    pub(crate) overheads: Overheads,
}

/// Device memory that an engine holds beside weights, activations and cache: graphs, buffers of
/// collectives, the runtime.
///
/// # Source
/// AIConfigurator, `memory`: 3.5 GB and 0.35 GB for NCCL.
pub(super) const RESERVE_GIB: f64 = 3.5;

/// The family that an engine's overheads are known by: Ascend's generations apart, as their hosts
/// and operators are.
#[must_use]
pub fn family(accelerator: AcceleratorId) -> &'static str {
    let family = accelerator.row().kernels.family;
    if accelerator == AcceleratorId::Ascend910c {
        "Ascend 910C"
    } else if accelerator == AcceleratorId::Ascend300iDuo {
        "Ascend 310P"
    } else if family == ASCEND.family {
        "Ascend 910B"
    } else {
        family
    }
}

/// The overheads of an engine on an accelerator: of its family, else of the nearest one that the
/// engine is known on, else of any engine there.
#[must_use]
pub fn overheads(engine: Engine, accelerator: AcceleratorId) -> Overheads {
    if engine == Engine::Ideal {
        return Overheads::IDEAL;
    }
    let family = family(accelerator);
    let is_ascend = |family: &str| family.starts_with("Ascend");
    let is_near = |row: &&Row| is_ascend(row.family) == is_ascend(family);
    let of_engine = || TABLE.iter().filter(|row| row.engine == engine);
    let exact = of_engine().find(|row| row.family == family);
    let near = || of_engine().find(is_near).or_else(|| TABLE.iter().find(is_near));
    exact.or_else(near).map_or(Overheads::IDEAL, |row| row.overheads)
}

/// Whether the overheads of an engine on an accelerator are its own, and not those of another
/// family or engine.
#[must_use]
pub fn is_known(engine: Engine, accelerator: AcceleratorId) -> bool {
    let family = family(accelerator);
    let is_it = |row: &Row| row.engine == engine && row.family == family;
    engine == Engine::Ideal || TABLE.iter().any(is_it)
}
