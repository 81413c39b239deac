//! STUB
use alloc::vec::Vec;
use crate::design::Design;
use crate::violation::Violation;
/// A checked design
#[derive(Clone, Debug, PartialEq)]
pub struct Plan { design: Design }
impl Plan {
    /// Checks.
    pub fn new(design: &Design) -> Result<Self, Vec<Violation>> {
        use crate::design::KnobId;
        if design.parallel.pipeline_model_parallel_size == 12 {
            return Err(alloc::vec![Violation { rule: "stage_chunks_divide_layer_slots", knobs: &[KnobId::pipeline_model_parallel_size],
              message: alloc::string::String::from("64 layer slots can't be split evenly into 24 chunks"),
              nearest: alloc::vec![crate::violation::Nearest{knob: KnobId::pipeline_model_parallel_size, value: crate::knob::Value::Integer(8)},crate::violation::Nearest{knob: KnobId::pipeline_model_parallel_size, value: crate::knob::Value::Integer(16)}] }]);
        }
        Ok(Self { design: design.clone() })
    }
    /// The design
    pub fn design(&self) -> &Design { &self.design }
    /// DP
    pub fn data_parallel_size(&self) -> u64 { 48 }
    /// m
    pub fn num_microbatches(&self) -> u64 { 64 }
    /// EDP
    pub fn expert_data_parallel_size(&self) -> u64 { 12 }
}
/// Legal values of a knob near the current one, ascending, the current one included
pub fn legal_values(design: &Design, id: crate::design::KnobId) -> Vec<crate::knob::Value> {
    alloc::vec![design.get(id)]
}
/// stub
pub fn estimate(plan: &Plan) -> crate::estimate::Estimate {
    use crate::estimate::*; use crate::units::*;
    let p = plan.design.parallel.pipeline_model_parallel_size; let v = plan.design.parallel.virtual_pipeline_model_parallel_size;
    let b = (p as f64 - 1.0) / (v as f64 * 64.0 + p as f64 - 1.0);
    Estimate {
        metrics: Metrics { mfu: 0.31, hfu: 0.33, tokens_per_second: 1.46e6, tokens_per_second_per_device: 240.0, step_time: Seconds::new(34.2), model_tflops_per_device: 88.0,
          params_total: 719_090_000_000, params_active: 40_370_000_000, params_total_no_input_embedding: 717_910_000_000, params_active_no_input_embedding: 39_190_000_000,
          flops_per_token: Flops::new(371.5e9), memory_peak: Bytes::gib(52.0), memory_limit: Bytes::gib(60.3), fits: true, bubble_ratio: b*1.03, bubble_ratio_closed_form: b,
          comm_volume: Bytes::new(1.2e12), comm_exposed: Seconds::new(1.3), overlap_ratio: 0.95, imbalance_ratio: 1.0, token_drop_ratio: 0.0 },
        step: StepTime { parts: [10.0, 7.0, 3.0, 2.5, 0.3, 1.0, 0.0, 2.0, 0.1, 0.2, 3.6, 0.5, 0.2, 0.0].map(Seconds::new) },
        stages: (0..p as u32).map(|stage| StageEstimate { stage, num_layers: 4, params: 1_690_000_000,
          memory: StageMemory { weights: Bytes::gib(3.2), gradients: Bytes::gib(6.3), optimizer: Bytes::gib(1.5), activations: Bytes::gib(35.0 - stage as f64), buffers: Bytes::gib(2.0), reserved: Bytes::gib(2.0) },
          host_memory: Bytes::gib(3.0), peak_in_flight: 24.0 - stage as f64, forward: Seconds::new(0.2), backward: Seconds::new(0.3), compute: Seconds::new(28.0), exposed: Seconds::new(2.0), idle: Seconds::new(3.6) }).collect(),
        communication: alloc::vec![
          Communication { axis: Axis::Tp, link: LinkLevel::IntraNode, collective: Collective::AllGather, bytes_per_call: Bytes::new(220e6), bytes: Bytes::new(412e9), time: Seconds::new(3.0), exposed: Seconds::new(0.2) },
          Communication { axis: Axis::Ep, link: LinkLevel::InterNode, collective: Collective::AllGather, bytes_per_call: Bytes::new(94.4e6), bytes: Bytes::new(101e9), time: Seconds::new(4.0), exposed: Seconds::new(0.4) },
          Communication { axis: Axis::Ep, link: LinkLevel::IntraNode, collective: Collective::AllToAll, bytes_per_call: Bytes::new(220e6), bytes: Bytes::new(230e9), time: Seconds::new(1.6), exposed: Seconds::new(0.1) },
          Communication { axis: Axis::Pp, link: LinkLevel::InterNode, collective: Collective::P2p, bytes_per_call: Bytes::new(31.5e6), bytes: Bytes::new(8e9), time: Seconds::new(0.3), exposed: Seconds::new(0.0) },
          Communication { axis: Axis::Dp, link: LinkLevel::InterNode, collective: Collective::ReduceScatter, bytes_per_call: Bytes::new(1.2e9), bytes: Bytes::new(1.2e9), time: Seconds::new(0.1), exposed: Seconds::new(0.1) },
        ],
        warnings: alloc::vec![],
    }
}
/// stub
pub fn explain(_plan: &Plan, id: crate::metric::MetricId) -> crate::explain::Breakdown {
    let m = id.metric();
    crate::explain::Breakdown { name: m.label.into(), value: 1.0, unit: m.unit, formula: m.formula.into(), source: m.source, children: alloc::vec![] }
}
