//! A metric as a tree of named terms, from the same functions that the estimate uses.
//!
//! A node is the sum of its children, the largest of them, or follows from them by the formula
//! that it states; [`How`] says which.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::estimate::{Communication, Estimate, StageEstimate, StageMemory, StepPart};
use crate::metric::{MetricId, MetricValue};
use crate::plan::Plan;
use crate::source::{DERIVED, KORTHIKANTI_2022, MEGATRON, Source, ZERO};
use crate::step::estimate;

/// How a node's value follows from its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is their sum.
    Sum,
    /// It is the largest of them.
    Max,
    /// As its formula says; a leaf has no children at all.
    Formula,
}

/// A number with its formula and the terms that it is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// What it is.
    pub name: String,
    /// Its value in its unit.
    pub value: f64,
    /// The unit; empty for counts and ratios.
    pub unit: &'static str,
    /// How the value follows from the children, in words and symbols.
    pub formula: String,
    /// Where the formula comes from.
    pub source: Source,
    /// How the value follows from the children, for programs.
    pub how: How,
    /// The terms.
    pub children: Vec<Self>,
}

impl Breakdown {
    fn leaf(name: &str, value: f64, unit: &'static str) -> Self {
        Self {
            name: name.to_string(),
            value,
            unit,
            formula: String::new(),
            source: DERIVED,
            how: How::Formula,
            children: Vec::new(),
        }
    }

    fn sum(name: &str, unit: &'static str, children: Vec<Self>) -> Self {
        let value = children.iter().map(|child| child.value).sum();
        Self { how: How::Sum, children, ..Self::leaf(name, value, unit) }
    }

    fn by(mut self, formula: &str, source: Source) -> Self {
        self.formula = formula.to_string();
        self.source = source;
        self
    }

    fn from(mut self, children: Vec<Self>) -> Self {
        self.children = children;
        self
    }
}

/// A metric of a plan, opened down to its terms.
#[must_use]
pub fn explain(plan: &Plan, id: MetricId) -> Breakdown {
    let estimate = estimate(plan);
    let metric = id.metric();
    let value = match estimate.metrics.get(id) {
        MetricValue::Number(value) => value,
        MetricValue::Flag(flag) => f64::from(u8::from(flag)),
    };
    let root = Breakdown::leaf(metric.label, value, metric.unit);
    let (how, children) = terms(plan, &estimate, id);
    Breakdown { formula: metric.formula.to_string(), source: metric.source, how, children, ..root }
}

fn terms(plan: &Plan, estimate: &Estimate, id: MetricId) -> (How, Vec<Breakdown>) {
    let formula = |children| (How::Formula, children);
    match id {
        MetricId::step_time_seconds => (How::Sum, step_parts(estimate)),
        MetricId::mfu => {
            formula(vec![model_flops(plan), step_time(estimate), devices(plan), peak_for_mfu(plan)])
        }
        MetricId::hfu => formula(vec![
            Breakdown::leaf("MFU", estimate.metrics.mfu, "")
                .by("model FLOPs / (step time x devices x peak)", MEGATRON),
            Breakdown::leaf(
                "executed beyond what MFU counts",
                estimate.metrics.hfu - estimate.metrics.mfu,
                "",
            ),
        ]),
        MetricId::model_tflops_per_device => formula(vec![mfu(estimate), peak_for_mfu(plan)]),
        MetricId::tokens_per_second => formula(vec![tokens(plan), step_time(estimate)]),
        MetricId::tokens_per_second_per_device => {
            formula(vec![tokens(plan), step_time(estimate), devices(plan)])
        }
        MetricId::params_total => (How::Sum, param_terms(plan)),
        MetricId::params_active => formula(vec![
            Breakdown::sum("parameters", "", param_terms(plan)).by("sum", MEGATRON),
            resting_experts(plan),
        ]),
        MetricId::params_total_no_input_embedding => formula(vec![
            Breakdown::sum("parameters", "", param_terms(plan)).by("sum", MEGATRON),
            input_embedding(plan),
        ]),
        MetricId::params_active_no_input_embedding => formula(vec![
            Breakdown::leaf("active parameters", plan.params_active() as f64, "")
                .by("parameters - experts that a token doesn't visit", MEGATRON)
                .from(vec![
                    Breakdown::sum("parameters", "", param_terms(plan)),
                    resting_experts(plan),
                ]),
            input_embedding(plan),
        ]),
        MetricId::flops_per_token => (How::Sum, flop_terms(plan)),
        MetricId::memory_peak_bytes => (How::Max, fullest_stages(estimate)),
        MetricId::memory_limit_bytes => {
            formula(vec![Breakdown::leaf("usable memory", plan.memory_limit().to_gib(), "GiB")])
        }
        MetricId::fits => formula(vec![
            Breakdown::leaf("peak memory", estimate.metrics.memory_peak.get(), "bytes"),
            Breakdown::leaf("memory limit", estimate.metrics.memory_limit.get(), "bytes"),
        ]),
        MetricId::bubble_ratio => formula(bubble_terms(estimate)),
        MetricId::bubble_ratio_closed_form => formula(schedule_counts(plan)),
        MetricId::comm_volume_bytes => {
            (How::Sum, estimate.communication.iter().map(|row| row_of(row, "bytes")).collect())
        }
        MetricId::comm_exposed_seconds => {
            (How::Sum, estimate.communication.iter().map(|row| row_of(row, "s")).collect())
        }
        MetricId::overlap_ratio => formula(overlap_terms(estimate)),
        MetricId::imbalance_ratio => {
            let effect = plan.effect();
            formula(vec![
                Breakdown::leaf("tokens of the mean rank", 1.0, ""),
                Breakdown::leaf("without a planner", effect.imbalance_unplanned, ""),
                Breakdown::leaf("that memory holds", effect.fullest, ""),
            ])
        }
        MetricId::token_drop_ratio => formula(vec![Breakdown::leaf(
            "capacity factor",
            plan.design().training.moe_expert_capacity_factor.unwrap_or(1.0),
            "",
        )]),
    }
}

fn step_parts(estimate: &Estimate) -> Vec<Breakdown> {
    estimate
        .step
        .parts()
        .map(|(part, time)| {
            let leaf = Breakdown::leaf(part.label(), time.get(), "s").by(part.meaning(), DERIVED);
            let rows = step_rows(estimate, part);
            let how = if rows.is_empty() { How::Formula } else { How::Sum };
            Breakdown { how, ..leaf.from(rows) }
        })
        .collect()
}

/// The exchanges whose exposed time is a part of the step.
fn step_rows(estimate: &Estimate, part: StepPart) -> Vec<Breakdown> {
    use crate::estimate::Axis;
    let axes: &[Axis] = match part {
        StepPart::TensorParallel => &[Axis::Tp],
        StepPart::ContextParallel => &[Axis::Cp],
        StepPart::ExpertParallel => &[Axis::Ep],
        StepPart::PipelineParallel => &[Axis::Pp],
        StepPart::DataParallel => &[Axis::Dp, Axis::Edp],
        StepPart::Swap => &[Axis::Host],
        StepPart::Ideal
        | StepPart::Kernels
        | StepPart::Vector
        | StepPart::Recompute
        | StepPart::Host
        | StepPart::Contention
        | StepPart::Bubble
        | StepPart::Optimizer
        | StepPart::Stragglers
        | StepPart::Imbalance
        | StepPart::Migration => &[],
    };
    let rows = estimate.communication.iter().filter(|row| axes.contains(&row.axis));
    rows.map(|row| row_of(row, "s")).collect()
}

fn row_of(row: &Communication, unit: &'static str) -> Breakdown {
    let name = format!("{} {} ({})", row.axis.name(), row.collective.name(), row.link.name());
    let value = if unit == "s" { row.exposed.get() } else { row.bytes.get() };
    let formula = format!(
        "largest call {:.1} MB, {:.1} GB and {:.3} s a step, {:.3} s exposed",
        row.bytes_per_call.get() / 1e6,
        row.bytes.to_gb(),
        row.time.get(),
        row.exposed.get()
    );
    Breakdown::leaf(&name, value, unit).by(&formula, DERIVED)
}

fn model_flops(plan: &Plan) -> Breakdown {
    let tokens = plan.design().training.global_batch_size as f64 * plan.shape.seq as f64;
    let per_token = Breakdown::sum("FLOPs per token", "FLOP", flop_terms(plan));
    Breakdown::leaf("model FLOPs of a step", plan.flops_per_token().get() * tokens, "FLOP")
        .by("FLOPs per token x tokens", MEGATRON)
        .from(vec![per_token, self::tokens(plan)])
}

fn tokens(plan: &Plan) -> Breakdown {
    let (batch, seq) = (plan.design().training.global_batch_size as f64, plan.shape.seq as f64);
    Breakdown::leaf("tokens of a step", batch * seq, "tokens")
        .by("global batch x sequence length", DERIVED)
        .from(vec![
            Breakdown::leaf("global batch", batch, "sequences"),
            Breakdown::leaf("sequence length", seq, "tokens"),
        ])
}

fn step_time(estimate: &Estimate) -> Breakdown {
    Breakdown::sum("step time", "s", step_parts(estimate)).by("sum of its parts", DERIVED)
}

fn devices(plan: &Plan) -> Breakdown {
    Breakdown::leaf("devices", plan.sizes.world as f64, "")
}

fn peak_for_mfu(plan: &Plan) -> Breakdown {
    let source = plan.accelerator().source;
    Breakdown::leaf("peak for MFU", plan.peak_for_mfu().get() / 1e12, "TFLOPS")
        .by(plan.accelerator().title, source)
}

fn mfu(estimate: &Estimate) -> Breakdown {
    Breakdown::leaf("MFU", estimate.metrics.mfu, "")
}

fn input_embedding(plan: &Plan) -> Breakdown {
    Breakdown::leaf("input embedding", plan.table_params() as f64, "")
        .by("vocabulary x hidden size", MEGATRON)
}

fn resting_experts(plan: &Plan) -> Breakdown {
    let resting = plan.params_total() - plan.params_active();
    Breakdown::leaf("experts that a token doesn't visit", resting as f64, "")
        .by("(experts - top-k) x expert x MoE layers", MEGATRON)
}

fn param_terms(plan: &Plan) -> Vec<Breakdown> {
    let shape = &plan.shape;
    let term = |name: &str, value: u128, formula: &str| {
        Breakdown::leaf(name, value as f64, "").by(formula, MEGATRON)
    };
    let dense = u128::from(shape.dense_layers) * plan.dense_layer_params().total();
    let moe = if shape.moe_layers > 0 {
        u128::from(shape.moe_layers) * plan.moe_layer_params().total()
    } else {
        0
    };
    let embedding = plan.embedding_params();
    let rest = plan.params_total() - dense - moe - embedding;
    vec![
        term("input embedding", embedding, "vocabulary x hidden size"),
        term(
            &format!("{} dense layers", shape.dense_layers),
            dense,
            "attention + MLP + norms, each",
        ),
        term(
            &format!("{} MoE layers", shape.moe_layers),
            moe,
            "attention + router + experts + shared experts + norms, each",
        ),
        term("output head and final norm", rest, "vocabulary x hidden size + hidden size"),
    ]
}

fn flop_terms(plan: &Plan) -> Vec<Breakdown> {
    let shape = &plan.shape;
    let training = &plan.design().training;
    let convention = training.attention_flops;
    let term = |name: &str, forward: f64, formula: &str| {
        Breakdown::leaf(name, 3.0 * forward, "FLOP").by(formula, MEGATRON)
    };
    let moe = if shape.moe_layers > 0 {
        shape.moe_layers as f64 * plan.moe_layer_flops(convention)
    } else {
        0.0
    };
    let mtp = if training.count_mtp_flops && shape.mtp_layers > 0 {
        shape.mtp_layers as f64 * plan.mtp_flops(convention)
    } else {
        0.0
    };
    vec![
        term(
            &format!("{} dense layers", shape.dense_layers),
            shape.dense_layers as f64 * plan.dense_layer_flops(convention),
            "3 x (2 x matrix parameters + attention scores), each",
        ),
        term(
            &format!("{} MoE layers", shape.moe_layers),
            moe,
            "3 x (2 x active matrix parameters + attention scores), each",
        ),
        term("output head", plan.head_flops(), "3 x 2 x vocabulary x hidden size"),
        term("MTP layers", mtp, "a layer, its projection and its own head"),
    ]
}

fn fullest_stages(estimate: &Estimate) -> Vec<Breakdown> {
    estimate
        .stages
        .iter()
        .map(|stage| {
            let name = format!("stage {}", stage.stage);
            Breakdown::sum(&name, "bytes", memory_terms(stage))
                .by("sum at its fullest moment", KORTHIKANTI_2022)
        })
        .collect()
}

fn memory_terms(stage: &StageEstimate) -> Vec<Breakdown> {
    let formulas = [
        ("bytes of an element x parameters of a device", ZERO),
        ("bytes of an accumulated gradient x parameters", ZERO),
        ("main copy and moments, over the ranks that share them", ZERO),
        ("saved tensors of a micro-batch x micro-batches in flight", KORTHIKANTI_2022),
        (
            "fullest moment of a layer or the head: tensors made again, copies, logits, workspaces",
            DERIVED,
        ),
        ("runtime, communication library, fragmentation", DERIVED),
    ];
    let parts = stage.memory.parts().into_iter().zip(StageMemory::LABELS).zip(formulas);
    parts
        .map(|((bytes, label), (formula, source))| {
            let leaf = Breakdown::leaf(label, bytes.get(), "bytes").by(formula, source);
            if label == "activations" {
                let held = stage.peak_in_flight;
                leaf.from(vec![
                    Breakdown::leaf("of one micro-batch", bytes.get() / held, "bytes"),
                    Breakdown::leaf("micro-batches in flight", held, ""),
                ])
            } else {
                leaf
            }
        })
        .collect()
}

fn overlap_terms(estimate: &Estimate) -> Vec<Breakdown> {
    let mut terms = vec![
        Breakdown::sum(
            "exposed communication",
            "s",
            estimate.communication.iter().map(|row| row_of(row, "s")).collect(),
        ),
        Breakdown::leaf(
            "communication time",
            estimate.communication.iter().map(|row| row.time.get()).sum(),
            "s",
        ),
    ];
    terms.extend(estimate.overlap.iter().map(|part| {
        let formula = format!(
            "1 - {:.3} s exposed / {:.3} s of communication, mean over stages",
            part.exposed.get(),
            part.time.get()
        );
        let name = format!("{}, {}", part.axis.name(), part.phase.label());
        Breakdown::leaf(&name, part.ratio(), "").by(&formula, DERIVED)
    }));
    terms
}

fn bubble_terms(estimate: &Estimate) -> Vec<Breakdown> {
    let count = estimate.stages.len() as f64;
    let busy = |stage: &StageEstimate| stage.compute.get() + stage.exposed.get();
    let mean = estimate.stages.iter().map(busy).sum::<f64>() / count;
    let whole = estimate.stages.first().map_or(0.0, |stage| busy(stage) + stage.idle.get());
    vec![
        Breakdown::leaf("mean busy time of the stages", mean, "s"),
        Breakdown::leaf("pipeline time", whole, "s"),
    ]
}

fn schedule_counts(plan: &Plan) -> Vec<Breakdown> {
    let batch = plan.design().training.global_batch_size as f64;
    vec![
        Breakdown::leaf("p, pipeline stages", plan.sizes.pp as f64, ""),
        Breakdown::leaf("v, virtual stages", plan.sizes.vpp as f64, ""),
        Breakdown::leaf("m, micro-batches", plan.sizes.micro_batches as f64, "")
            .by("global batch / (DP x micro-batch)", MEGATRON)
            .from(vec![
                Breakdown::leaf("global batch", batch, "sequences"),
                Breakdown::leaf("DP", plan.sizes.dp as f64, ""),
                Breakdown::leaf("micro-batch", plan.sizes.micro_batch as f64, "sequences"),
            ]),
    ]
}
