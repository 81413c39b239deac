//! A metric as a tree of named terms, from the same functions that the estimate uses.
//!
//! Every node says how its value follows from those below it: [`How`] is the operation, and
//! [`How::of`] does it. So a tree can be checked by anyone, node by node, down to what is given.

mod counts;
mod memory;
mod time;

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::ground::source::MEGATRON;
use crate::metric::{MetricAddress, MetricId, MetricPart, MetricValue};
use crate::training::estimate::Estimate;
use crate::training::plan::Plan;
use crate::training::step::estimate;

pub use crate::metric::breakdown::{Breakdown, How};

/// A metric of a plan, opened down to its terms.
#[must_use]
pub fn explain(plan: &Plan, id: MetricId) -> Breakdown {
    of_whole(plan, &estimate(plan), id)
}

/// A metric of a part of a plan: of one stage, or of the traffic of an axis and a link. `None` if
/// the plan has no such stage or traffic.
#[must_use]
pub fn explain_at(plan: &Plan, address: MetricAddress) -> Option<Breakdown> {
    let estimate = estimate(plan);
    let whole = of_whole(plan, &estimate, address.metric);
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

fn of_whole(plan: &Plan, estimate: &Estimate, id: MetricId) -> Breakdown {
    let (metric, words) = (id.metric(), id.words());
    let value = match estimate.metrics.get(id) {
        MetricValue::Number(value) => value,
        MetricValue::Flag(flag) => f64::from(u8::from(flag)),
    };
    let (how, children) = terms(plan, estimate, id);
    let root = Breakdown::given(metric.label, value, metric.unit);
    Breakdown { formula: words.formula.to_string(), source: words.source, how, children, ..root }
}

fn terms(plan: &Plan, estimate: &Estimate, id: MetricId) -> (How, Vec<Breakdown>) {
    let (on, architecture) = (&plan.deployment, &plan.architecture);
    let (tokens, devices) = (|| counts::tokens(&plan.batch), || time::devices(&on.ranks));
    let (step_time, table) = (|| time::step(estimate), || counts::input_table(&on.backbone));
    match id {
        MetricId::step_time_seconds => (How::Sum, time::step_parts(estimate)),
        MetricId::mfu => (How::Quotient, time::utilisation_terms(plan, estimate)),
        MetricId::hfu => {
            let beyond = estimate.metrics.hfu - estimate.metrics.mfu;
            let mfu = time::utilisation_terms(plan, estimate);
            let mfu = Breakdown::made("MFU", "", How::Quotient, mfu)
                .by("model FLOPs / (step time x devices x peak)", MEGATRON);
            let beyond = Breakdown::given("executed beyond what MFU counts", beyond, "");
            (How::Sum, alloc::vec![mfu, beyond])
        }
        MetricId::model_tflops_per_device => {
            let tera = Breakdown::given("FLOP of a TFLOP", 1e12, "");
            let flops = time::model_flops(plan);
            (How::Quotient, alloc::vec![flops, step_time(), devices(), tera])
        }
        MetricId::tokens_per_second => (How::Quotient, alloc::vec![tokens(), step_time()]),
        MetricId::tokens_per_second_per_device => {
            (How::Quotient, alloc::vec![tokens(), step_time(), devices()])
        }
        MetricId::params_total => (How::Sum, counts::param_terms(on, architecture)),
        MetricId::params_active => (How::Difference, counts::active_terms(on, architecture)),
        MetricId::params_total_no_input_embedding => {
            (How::Difference, alloc::vec![counts::params(on, architecture), table()])
        }
        MetricId::params_active_no_input_embedding => {
            let active = counts::active_terms(on, architecture);
            let active = Breakdown::made("active parameters", "", How::Difference, active)
                .by("parameters - experts that a token doesn't visit", MEGATRON);
            (How::Difference, alloc::vec![active, table()])
        }
        MetricId::flops_per_token => (How::Sum, counts::flop_terms(plan)),
        MetricId::memory_peak_bytes => {
            (How::Max, estimate.stages.iter().map(memory::stage).collect())
        }
        MetricId::memory_limit_bytes => (How::Product, memory::limit_terms(plan)),
        MetricId::fits => (How::Min, memory::fit_terms(plan, estimate)),
        MetricId::fit_probability => (How::Given, memory::probability_terms(plan, estimate)),
        MetricId::bubble_ratio => (How::Complement, time::bubble_terms(estimate)),
        MetricId::bubble_ratio_closed_form => {
            (How::Given, time::schedule_counts(&plan.batch, &on.ranks))
        }
        MetricId::comm_volume_bytes | MetricId::comm_exposed_seconds => {
            (How::Sum, time::traffic_terms(estimate.communication.iter(), id))
        }
        MetricId::overlap_ratio => {
            let terms = time::traffic_terms(estimate.communication.iter(), id);
            (if terms.is_empty() { How::Given } else { How::Complement }, terms)
        }
        MetricId::imbalance_ratio => (How::Given, time::imbalance_terms(&plan.effect)),
        MetricId::token_drop_ratio => (How::Given, time::drop_terms(&plan.capacity)),
    }
}
