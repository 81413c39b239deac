//! A metric as a tree of named terms, from the same functions that the estimate uses.
//!
//! Every node says how its value follows from those below it: [`How`] is the operation, and
//! [`How::combine`] does it. So a tree can be checked by anyone, node by node, down to what is
//! given.

mod counts;
mod memory;
mod time;

use crate::ground::source::MEGATRON;
use crate::metric::breakdown::Terms;
use crate::metric::{MetricAddress, MetricId, MetricPart, TrainingMetrics, Unit};
use crate::training::estimate::Estimate;
use crate::training::plan::Plan;
use crate::training::step::estimate;

pub use crate::metric::breakdown::{Breakdown, How};

/// A metric of a part of a plan: of one stage, or of the traffic of an axis and a link. `None` if
/// the plan has no such stage or traffic.
#[must_use]
pub fn explain_at(plan: &Plan, address: MetricAddress) -> Option<Breakdown> {
    let estimate = estimate(plan);
    let whole = explain(plan, &estimate, address.metric)?;
    let children = match address.part {
        MetricPart::Whole => return Some(whole),
        MetricPart::Stage(stage) => {
            let stage = estimate.stages.iter().find(|row| row.stage == stage)?;
            return Some(memory::stage(stage));
        }
        MetricPart::Axis(axis, link) => {
            let rows = estimate.communication.iter();
            let rows =
                rows.filter(|row| row.axis == axis && link.is_none_or(|link| row.link == link));
            time::traffic_terms(rows, address.metric)
        }
    };
    if children.is_empty() {
        return None;
    }
    let made = Breakdown::made(&whole.name, whole.unit, whole.how, children);
    Some(made.by(&whole.formula, whole.source))
}

/// A metric of a plan, opened down to its terms; none of a metric that isn't of training.
pub(crate) fn explain(plan: &Plan, estimate: &Estimate, id: MetricId) -> Option<Breakdown> {
    let (value, terms) = (estimate.metrics.number(id)?, TERMS.get(id)?);
    Some(Breakdown::of_metric(id, TrainingMetrics::WORDS.get(id)?, value, terms(plan, estimate)))
}

/// Terms of each metric.
const TERMS: TrainingMetrics<fn(&Plan, &Estimate) -> Terms> = TrainingMetrics {
    mfu: |plan, estimate| (How::Quotient, time::utilisation_terms(plan, estimate)),
    hfu: |plan, estimate| {
        let beyond = estimate.metrics.hfu - estimate.metrics.mfu;
        let mfu = time::utilisation_terms(plan, estimate);
        let mfu = Breakdown::made("MFU", Unit::Ratio(1), How::Quotient, mfu)
            .by("model FLOPs / (step time x devices x peak)", MEGATRON);
        let beyond = Breakdown::given("executed beyond what MFU counts", beyond, Unit::Ratio(1));
        (How::Sum, alloc::vec![mfu, beyond])
    },
    tokens_per_second: |plan, estimate| {
        (How::Quotient, alloc::vec![counts::tokens(&plan.batch), time::step(estimate)])
    },
    tokens_per_second_per_device: |plan, estimate| {
        let (tokens, devices) =
            (counts::tokens(&plan.batch), time::devices(&plan.deployment.ranks));
        (How::Quotient, alloc::vec![tokens, time::step(estimate), devices])
    },
    step_time_seconds: |_, estimate| (How::Sum, time::step_parts(estimate)),
    model_tflops_per_device: |plan, estimate| {
        let tera = Breakdown::given("FLOP of a TFLOP", 1e12, Unit::Count);
        let (flops, step) = (time::model_flops(plan), time::step(estimate));
        (How::Quotient, alloc::vec![flops, step, time::devices(&plan.deployment.ranks), tera])
    },
    params_total: |plan, _| (How::Sum, counts::param_terms(&plan.deployment, &plan.architecture)),
    params_active: |plan, _| {
        (How::Difference, counts::active_terms(&plan.deployment, &plan.architecture))
    },
    params_total_no_input_embedding: |plan, _| {
        let (on, architecture) = (&plan.deployment, &plan.architecture);
        let table = counts::input_table(&on.backbone);
        (How::Difference, alloc::vec![counts::params(on, architecture), table])
    },
    params_active_no_input_embedding: |plan, _| {
        let active = counts::active_terms(&plan.deployment, &plan.architecture);
        let active =
            Breakdown::made("active parameters", Unit::Parameters, How::Difference, active)
                .by("parameters - experts that a token doesn't visit", MEGATRON);
        (How::Difference, alloc::vec![active, counts::input_table(&plan.deployment.backbone)])
    },
    flops_per_token: |plan, _| (How::Sum, counts::flop_terms(plan)),
    memory_peak_bytes: |_, estimate| {
        (How::Max, estimate.stages.iter().map(memory::stage).collect())
    },
    memory_limit_bytes: |plan, _| {
        (How::Product, memory::limit_terms(plan.memory_limit, &plan.deployment.accelerator))
    },
    fits: |plan, estimate| {
        (How::Min, memory::fit_terms(plan.deployment.machine.host_memory, estimate))
    },
    fit_probability: |plan, estimate| (How::Given, memory::probability_terms(plan, estimate)),
    bubble_ratio: |_, estimate| (How::Complement, time::bubble_terms(estimate)),
    bubble_ratio_closed_form: |plan, _| {
        (How::Given, time::schedule_counts(&plan.batch, &plan.deployment.ranks))
    },
    comm_volume_bytes: |_, estimate| traffic(estimate, MetricId::comm_volume_bytes),
    comm_exposed_seconds: |_, estimate| traffic(estimate, MetricId::comm_exposed_seconds),
    overlap_ratio: |_, estimate| {
        let terms = time::traffic_terms(estimate.communication.iter(), MetricId::overlap_ratio);
        (if terms.is_empty() { How::Given } else { How::Complement }, terms)
    },
    imbalance_ratio: |plan, _| (How::Given, time::imbalance_terms(&plan.effect)),
    token_drop_ratio: |plan, _| (How::Given, time::drop_terms(&plan.capacity)),
};

fn traffic(estimate: &Estimate, id: MetricId) -> Terms {
    (How::Sum, time::traffic_terms(estimate.communication.iter(), id))
}
