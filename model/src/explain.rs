//! A metric as a tree of named terms, from the same functions that the estimate uses.
//!
//! Every node says how its value follows from those below it: [`How`] is the operation, and
//! [`How::of`] does it. So a tree can be checked by anyone, node by node, down to what is given.

mod counts;
mod memory;
mod time;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::estimate::Estimate;
use crate::metric::{MetricAddress, MetricId, MetricPart, MetricValue};
use crate::plan::Plan;
use crate::source::{DERIVED, MEGATRON, Source};
use crate::step::estimate;

/// How a node's value follows from its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is given, or follows from a formula that its children don't hold all of: what stands
    /// below it explains it without adding up to it.
    Given,
    /// It is their sum.
    Sum,
    /// It is the largest of them.
    Max,
    /// It is the smallest of them.
    Min,
    /// It is their product.
    Product,
    /// It is the first of them, divided by all others.
    Quotient,
    /// It is the first of them less all others.
    Difference,
    /// It is 1 less the first of them divided by all others.
    Complement,
    /// It is 1 if the first of them is at most the second, else 0.
    AtMost,
}

impl How {
    /// The value that children of these values give; none for what is given.
    #[must_use]
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let (first, rest) = values.split_first()?;
        let divisor: f64 = rest.iter().product();
        Some(match self {
            Self::Given => return None,
            Self::Sum => values.iter().sum(),
            Self::Max => rest.iter().copied().fold(*first, f64::max),
            Self::Min => rest.iter().copied().fold(*first, f64::min),
            Self::Product => values.iter().product(),
            Self::Quotient => first / divisor,
            Self::Difference => first - rest.iter().sum::<f64>(),
            Self::Complement => 1.0 - first / divisor,
            Self::AtMost => f64::from(u8::from(*first <= *rest.first()?)),
        })
    }

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Sum => "sum",
            Self::Max => "max",
            Self::Min => "min",
            Self::Product => "product",
            Self::Quotient => "quotient",
            Self::Difference => "difference",
            Self::Complement => "complement",
            Self::AtMost => "at_most",
        }
    }

    /// The formula with these values, as text, put in: `2 x (3 + 4)`; none for what is given.
    #[must_use]
    pub fn substituted(self, values: &[String]) -> Option<String> {
        const MAX_SYMBOLS: usize = 6;
        let (first, rest) = values.split_first()?;
        if values.len() > MAX_SYMBOLS && self != Self::Given {
            return Some(alloc::format!("{} of {} terms", self.name(), values.len()));
        }
        let divided = |by: &[String]| match by {
            [] => first.clone(),
            [one] => alloc::format!("{first} / {one}"),
            many => alloc::format!("{first} / ({})", many.join(" x ")),
        };
        Some(match self {
            Self::Given => return None,
            Self::Sum => values.join(" + "),
            Self::Max => alloc::format!("max({})", values.join(", ")),
            Self::Min => alloc::format!("min({})", values.join(", ")),
            Self::Product => values.join(" x "),
            Self::Quotient => divided(rest),
            Self::Difference => values.join(" - "),
            Self::Complement => alloc::format!("1 - {}", divided(rest)),
            Self::AtMost => values.join(" <= "),
        })
    }
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
    /// What has a value of its own.
    fn given(name: &str, value: f64, unit: &'static str) -> Self {
        Self {
            name: name.to_string(),
            value,
            unit,
            formula: String::new(),
            source: DERIVED,
            how: How::Given,
            children: Vec::new(),
        }
    }

    /// What its children make.
    fn made(name: &str, unit: &'static str, how: How, children: Vec<Self>) -> Self {
        let values: Vec<f64> = children.iter().map(|child| child.value).collect();
        let value = how.of(&values).unwrap_or(0.0);
        Self { how, children, ..Self::given(name, value, unit) }
    }

    fn sum(name: &str, unit: &'static str, children: Vec<Self>) -> Self {
        Self::made(name, unit, How::Sum, children)
    }

    fn product(name: &str, unit: &'static str, children: Vec<Self>) -> Self {
        Self::made(name, unit, How::Product, children)
    }

    fn by(mut self, formula: &str, source: Source) -> Self {
        self.formula = formula.to_string();
        self.source = source;
        self
    }

    /// The same with what explains it without adding up to it.
    fn beside(mut self, children: Vec<Self>) -> Self {
        self.children = children;
        self
    }
}

/// A metric of a plan, opened down to its terms.
#[must_use]
pub fn explain(plan: &Plan, id: MetricId) -> Breakdown {
    of_whole(plan, &estimate(plan), id)
}

/// A metric of a part of a plan: of one stage, or of the traffic of an axis and a link. None where
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
    let metric = id.metric();
    let value = match estimate.metrics.get(id) {
        MetricValue::Number(value) => value,
        MetricValue::Flag(flag) => f64::from(u8::from(flag)),
    };
    let (how, children) = terms(plan, estimate, id);
    let root = Breakdown::given(metric.label, value, metric.unit);
    Breakdown { formula: metric.formula.to_string(), source: metric.source, how, children, ..root }
}

fn terms(plan: &Plan, estimate: &Estimate, id: MetricId) -> (How, Vec<Breakdown>) {
    let step_time = || time::step(estimate);
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
            (How::Quotient, alloc::vec![flops, step_time(), time::devices(plan), tera])
        }
        MetricId::tokens_per_second => {
            (How::Quotient, alloc::vec![counts::tokens(plan), step_time()])
        }
        MetricId::tokens_per_second_per_device => {
            (How::Quotient, alloc::vec![counts::tokens(plan), step_time(), time::devices(plan)])
        }
        MetricId::params_total => (How::Sum, counts::param_terms(plan)),
        MetricId::params_active => (How::Difference, counts::active_terms(plan)),
        MetricId::params_total_no_input_embedding => {
            (How::Difference, alloc::vec![counts::params(plan), counts::input_table(plan)])
        }
        MetricId::params_active_no_input_embedding => {
            let active = counts::active_terms(plan);
            let active = Breakdown::made("active parameters", "", How::Difference, active)
                .by("parameters - experts that a token doesn't visit", MEGATRON);
            (How::Difference, alloc::vec![active, counts::input_table(plan)])
        }
        MetricId::flops_per_token => (How::Sum, counts::flop_terms(plan)),
        MetricId::memory_peak_bytes => {
            (How::Max, estimate.stages.iter().map(memory::stage).collect())
        }
        MetricId::memory_limit_bytes => (How::Product, memory::limit_terms(plan)),
        MetricId::fits => (How::Min, memory::fit_terms(plan, estimate)),
        MetricId::fit_probability => (How::Given, memory::probability_terms(plan, estimate)),
        MetricId::bubble_ratio => (How::Complement, time::bubble_terms(estimate)),
        MetricId::bubble_ratio_closed_form => (How::Given, time::schedule_counts(plan)),
        MetricId::comm_volume_bytes | MetricId::comm_exposed_seconds => {
            (How::Sum, time::traffic_terms(estimate.communication.iter(), id))
        }
        MetricId::overlap_ratio => {
            let terms = time::traffic_terms(estimate.communication.iter(), id);
            (if terms.is_empty() { How::Given } else { How::Complement }, terms)
        }
        MetricId::imbalance_ratio => (How::Given, time::imbalance_terms(plan)),
        MetricId::token_drop_ratio => (How::Given, time::drop_terms(plan)),
    }
}
