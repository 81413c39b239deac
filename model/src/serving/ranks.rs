//! The layout of an instance, and designs with other layouts.

use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::{Disaggregation, RankOrder};
use crate::layer::ranks::Ranks;

/// Layout of an instance: its degrees of parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Devices that split attention and dense matrices.
    pub tensor: u64,
    /// Stages.
    pub pipeline: u64,
    /// Groups with requests of their own.
    pub data: u64,
    /// Devices that whole experts are spread over.
    pub expert: u64,
    /// Devices that split one expert.
    pub expert_tensor: u64,
}

impl Layout {
    /// The layout that decodes, or does all.
    pub(super) fn decode(design: &Design) -> Self {
        let serving = &design.serving;
        Self::resolved(
            [serving.tensor_parallel_size, serving.pipeline_parallel_size],
            serving.data_parallel_size,
            [Some(serving.moe_expert_parallel_size), serving.moe_tensor_parallel_size],
        )
    }

    /// The layout of a prefill instance: as decode's where nothing else is said.
    pub(super) fn prefill(design: &Design) -> Self {
        let (serving, decode) = (&design.serving, Self::decode(design));
        let tensor = serving.prefill_tensor_parallel_size.unwrap_or(decode.tensor);
        let pipeline = serving.prefill_pipeline_parallel_size.unwrap_or(decode.pipeline);
        let data = serving.prefill_data_parallel_size.unwrap_or(decode.data);
        let expert = serving.prefill_moe_expert_parallel_size;
        let expert = expert.or_else(|| Some(decode.expert.min(tensor * data)));
        let own = [expert, serving.prefill_moe_tensor_parallel_size];
        Self::resolved([tensor, pipeline], data, own)
    }

    fn resolved([tensor, pipeline]: [u64; 2], data: u64, moe: [Option<u64>; 2]) -> Self {
        let expert = moe[0].unwrap_or(1).max(1);
        let expert_tensor = moe[1].unwrap_or(tensor * data / expert).max(1);
        Self { tensor, pipeline, data, expert, expert_tensor }
    }

    /// Devices of an instance.
    #[must_use]
    pub const fn devices(&self) -> u64 {
        self.tensor * self.pipeline * self.data
    }

    pub(super) const fn ranks(&self) -> Ranks {
        Ranks {
            world: self.devices(),
            tp: self.tensor,
            pp: self.pipeline,
            vpp: 1,
            cp: 1,
            ep: self.expert,
            etp: self.expert_tensor,
            dp: self.data,
            edp: 1,
            sp: 1,
            ulysses: 1,
            order: RankOrder::TpCpEpDpPp,
        }
    }
}

/// Instances of one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instances {
    /// Layout of an instance.
    pub layout: Layout,
    /// Instances.
    pub count: u64,
}

/// The knobs of a layout, its pools and its load.
pub const LAYOUT: KnobSet = KnobSet::of(&[
    KnobId::disaggregation,
    KnobId::tensor_parallel_size,
    KnobId::pipeline_parallel_size,
    KnobId::data_parallel_size,
    KnobId::moe_expert_parallel_size,
    KnobId::moe_tensor_parallel_size,
    KnobId::prefill_devices,
    KnobId::decode_devices,
    KnobId::prefill_tensor_parallel_size,
    KnobId::prefill_pipeline_parallel_size,
    KnobId::prefill_data_parallel_size,
    KnobId::prefill_moe_expert_parallel_size,
    KnobId::prefill_moe_tensor_parallel_size,
    KnobId::concurrency,
]);

/// The design with the same model and load on another layout, and with a pool that prefills if
/// there is one.
#[must_use]
pub fn with_layout(design: &Design, layout: Layout, prefill: Option<Instances>) -> Design {
    let mut design = design.clone();
    let has_experts = design.transformer.num_moe_experts.is_some();
    let devices = design.cluster.num_devices;
    let own = |it: u64| prefill.is_some().then_some(it);
    let first = prefill.map_or(layout, |pool| pool.layout);
    let prefilling = prefill.map_or(0, |pool| pool.count * pool.layout.devices());
    let serving = &mut design.serving;
    serving.disaggregation = match prefill {
        Some(_) => Disaggregation::PrefillDecode,
        None => Disaggregation::None,
    };
    serving.tensor_parallel_size = layout.tensor;
    serving.pipeline_parallel_size = layout.pipeline;
    serving.data_parallel_size = layout.data;
    serving.moe_expert_parallel_size = layout.expert;
    serving.moe_tensor_parallel_size = has_experts.then_some(layout.expert_tensor);
    serving.prefill_devices = own(prefilling);
    serving.decode_devices = own(devices - prefilling);
    serving.prefill_tensor_parallel_size = own(first.tensor);
    serving.prefill_pipeline_parallel_size = own(first.pipeline);
    serving.prefill_data_parallel_size = own(first.data);
    serving.prefill_moe_expert_parallel_size = own(first.expert).filter(|_| has_experts);
    serving.prefill_moe_tensor_parallel_size = own(first.expert_tensor).filter(|_| has_experts);
    design
}

/// Devices for prompts and for answers: all for answers where they aren't apart.
pub(crate) fn pools(design: &Design) -> [u64; 2] {
    let (all, serving) = (design.cluster.num_devices, &design.serving);
    if serving.disaggregation == Disaggregation::None {
        return [0, all];
    }
    match (serving.prefill_devices, serving.decode_devices) {
        (Some(prefill), Some(decode)) => [prefill, decode],
        (Some(prefill), None) => [prefill, all.saturating_sub(prefill)],
        (None, Some(decode)) => [all.saturating_sub(decode), decode],
        (None, None) => [all / 2, all - all / 2],
    }
}
