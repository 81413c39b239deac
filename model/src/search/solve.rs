//! One knob moves until a target is reached: every legal value is estimated, none is guessed.
//!
//! Neither memory nor speed follows every knob in one direction (a longer pipeline holds more
//! micro-batches; a wider expert group may leave a node), so that nothing is bisected: the lists
//! are short, and neighbouring designs share most of their estimate.

use alloc::vec::Vec;

use crate::design::{Design, KnobId};
use crate::ground::choice::Balance;
use crate::ground::knob::Value;
use crate::ground::sorting::sort_short;
use crate::metric::MetricId;
use crate::rules;
use crate::rules::vocabulary::Vocabulary;
use crate::run::budget::RunTarget;
use crate::training::estimate::Metrics;
use crate::training::estimator::Estimator;
use crate::training::plan::Plan;
use crate::training::step::estimate;

/// Maximum number of multiples or divisors of a size that are tried.
const MAX_CANDIDATES: u64 = 16_384;

/// Target of a design. Whatever it is, the design has to fit its memory as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// It fits.
    Fits,
    /// A metric is at least this, in its registered unit.
    AtLeast(MetricId, f64),
    /// A metric is at most this, in its registered unit.
    AtMost(MetricId, f64),
    /// A number of the run's budget is within a limit.
    Run(RunTarget),
}

impl Target {
    /// Value that the target limits, of a design with these metrics: the peak memory where it only
    /// has to fit. `None` if it isn't known.
    #[must_use]
    pub fn number(&self, design: &Design, metrics: &Metrics) -> Option<f64> {
        match *self {
            Self::Fits => metrics.number(MetricId::memory_peak_bytes),
            Self::AtLeast(metric, _) | Self::AtMost(metric, _) => metrics.number(metric),
            Self::Run(target) => target.number(design, metrics),
        }
    }

    /// Does a design with these metrics and this number reach it?
    #[must_use]
    pub fn is_reached(&self, metrics: &Metrics, number: Option<f64>) -> bool {
        metrics.fits
            && number.is_some_and(|number| match *self {
                Self::Fits => true,
                Self::AtLeast(_, least) => number >= least,
                Self::AtMost(_, most) => number <= most,
                Self::Run(target) => target.is_reached(number),
            })
    }

    /// Order of values by the target: more is nearer.
    fn nearness(&self, number: Option<f64>) -> f64 {
        number.map_or(f64::MIN, |number| match *self {
            Self::Fits | Self::AtMost(..) => -number,
            Self::AtLeast(..) => number,
            Self::Run(target) => target.nearness(number),
        })
    }
}

/// Which of the values that reach a target is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The largest.
    Largest,
    /// The smallest.
    Smallest,
    /// The one with most tokens per second and device.
    Fastest,
}

impl Wish {
    /// Usual wish for a knob: the largest batch or sequence, the fewest devices, else speed.
    #[must_use]
    pub const fn of(knob: KnobId) -> Self {
        if matches!(
            knob,
            KnobId::micro_batch_size
                | KnobId::global_batch_size
                | KnobId::seq_length
                | KnobId::num_layers
                | KnobId::num_moe_experts
        ) {
            Self::Largest
        } else if matches!(knob, KnobId::num_devices) {
            Self::Smallest
        } else {
            Self::Fastest
        }
    }

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Largest => "largest",
            Self::Smallest => "smallest",
            Self::Fastest => "fastest",
        }
    }
}

/// A value of the knob with what it gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The value.
    pub value: Value,
    /// The design with it.
    pub design: Design,
    /// Its metrics.
    pub metrics: Metrics,
    /// Value that the target limits; `None` if it isn't known.
    pub number: Option<f64>,
    /// Whether the target is reached.
    pub reached: bool,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The knob that moved.
    pub knob: KnobId,
    /// Target of the search.
    pub target: Target,
    /// Which value is wanted of those that reach it.
    pub wish: Wish,
    /// Every legal value, in order.
    pub tried: Vec<Tried>,
    best: usize,
}

impl Solution {
    /// The wanted value; `None` if no value reaches the target.
    #[must_use]
    pub fn found(&self) -> Option<&Tried> {
        self.tried.get(self.best).filter(|tried| tried.reached)
    }

    /// The value that comes nearest, where none reaches the target; one that fits before all that
    /// don't.
    #[must_use]
    pub fn nearest(&self) -> Option<&Tried> {
        self.tried.get(self.best)
    }
}

/// Lets one knob of a plan take every legal value, and picks the one that is wanted of those that
/// reach the target.
///
/// The values are the ones of [`crate::legal_values`]; for devices and micro-batch sizes, all that
/// divide what is to be shared out; of these, what the framework's arguments can say. All else of
/// the design stays as it is.
#[must_use]
pub fn solve(plan: &Plan, knob: KnobId, target: Target, wish: Wish) -> Solution {
    let mut estimator = Estimator::new();
    let words = Vocabulary::of(plan.design());
    let mut tried = Vec::new();
    for value in values(plan.design(), knob) {
        let mut design = plan.design().clone();
        if design.set(knob, &value).is_err() || !words.says_change(plan.design(), &design) {
            continue;
        }
        let metrics = if design.routing.balance == Balance::Trace {
            // Only the plan has the loads of the trace.
            plan.variant(&design).ok().map(|plan| estimate(&plan).metrics)
        } else {
            estimator.metrics(&design).ok()
        };
        tried.extend(metrics.map(|metrics| {
            let number = target.number(&design, &metrics);
            let reached = target.is_reached(&metrics, number);
            Tried { value, design, metrics, number, reached }
        }));
    }
    let best = best(&tried, target, wish);
    Solution { knob, target, wish, tried, best }
}

/// The index of the wanted value, or of the nearest; of equal ones the first.
fn best(tried: &[Tried], target: Target, wish: Wish) -> usize {
    let size = |value: &Value| match value {
        Value::Integer(number) => *number as f64,
        Value::Real(number) => *number,
        Value::None | Value::Flag(_) | Value::Text(_) | Value::List(_) => 0.0,
    };
    let merit = |tried: &Tried| match (tried.reached, wish) {
        (false, _) => target.nearness(tried.number),
        (true, Wish::Largest) => size(&tried.value),
        (true, Wish::Smallest) => -size(&tried.value),
        (true, Wish::Fastest) => tried.metrics.tokens_per_second_per_device,
    };
    let key = |tried: &Tried| (tried.reached, tried.metrics.fits, merit(tried));
    let mut best = 0;
    for (index, other) in tried.iter().enumerate() {
        let (one, other) = (key(&tried[best]), key(other));
        let better = (other.0, other.1).cmp(&(one.0, one.1)).then(other.2.total_cmp(&one.2));
        if better.is_gt() {
            best = index;
        }
    }
    best
}

/// The values of a knob that are tried: those of [`crate::legal_values`], for devices and
/// micro-batch sizes all that divide what is to be shared out, ascending.
#[must_use]
pub fn values(design: &Design, knob: KnobId) -> Vec<Value> {
    let mut values = rules::legal_values(design, knob);
    let parallel = &design.parallel;
    let ranks = parallel.tensor_model_parallel_size
        * parallel.pipeline_model_parallel_size
        * parallel.context_parallel_size;
    let training = &design.training;
    let replicas = (design.cluster.num_devices / ranks.max(1)).max(1);
    let all: Vec<u64> = if matches!(knob, KnobId::num_devices) {
        let most =
            (training.global_batch_size / training.micro_batch_size.max(1)).min(MAX_CANDIDATES);
        (1..=most).map(|replicas| replicas * ranks).collect()
    } else if matches!(knob, KnobId::micro_batch_size) {
        (1..=(training.global_batch_size / replicas).min(MAX_CANDIDATES)).collect()
    } else {
        Vec::new()
    };
    let mut trial = design.clone();
    for value in all.into_iter().map(Value::Integer) {
        let is_new = !values.contains(&value);
        if is_new && trial.set(knob, &value).is_ok() && rules::is_legal(&trial) {
            values.push(value);
        }
    }
    let number = |value: &Value| if let Value::Integer(number) = value { *number } else { 0 };
    sort_short(&mut values, |one, other| number(one).cmp(&number(other)));
    values
}
