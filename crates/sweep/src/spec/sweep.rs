//! The parts of a sweep's spec.

use model::design::file::{Tree, json};
use model::design::{Design, KnobId, KnobSet};
use model::ground::choice::{Choice, Timing};
use model::ground::knob::Value;
use model::metric::{MetricId, Regime};

use crate::digest::digest;

/// The version of the format, and the only one so far.
pub(super) const SCHEMA: u64 = 1;

/// Best designs of each objective that are simulated, at most: of all feasible ones, and again of
/// those that fit for certain.
pub const MAX_BEST: usize = 50;

/// A sweep as its author wrote it, read and checked word by word.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// A name for people; may be empty.
    pub name: String,
    /// Base design: every knob that doesn't vary.
    pub base: Design,
    /// The knobs that vary, in registry order.
    pub axes: Vec<Axis>,
    /// The knobs that follow from others.
    pub ties: Vec<Tie>,
    /// Constraints on a design, beside the model's rules.
    pub constraints: Vec<Constraint>,
    /// Objectives; the first counts most.
    pub objectives: Vec<Objective>,
    /// Metrics that are kept of each design: the objectives' first.
    pub columns: Vec<MetricId>,
    /// Sampling of the space.
    pub sampling: Sampling,
    /// Number of best designs kept for each objective.
    pub top: u64,
    /// Size of the random sample of feasible designs.
    pub sample: u64,
    /// Designs of the front that differ by less than this share in every objective count as one;
    /// 0 keeps all.
    pub resolution: f64,
    /// Baseline of quality and of times to equal loss.
    pub baseline: Design,
    /// Whether each design's strategy is found, and what of it stays.
    pub find: Option<Strategy>,
    /// The file, with its keys in order.
    pub(super) source: Tree,
}

/// Search for each design's strategy: what it keeps, and which schedules it may use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Strategy {
    /// Knobs of the strategy that stay as the sweep has them.
    pub keep: KnobSet,
    /// Whether schedules and overlaps count that the design's framework doesn't ship.
    pub any_schedule: bool,
}

/// A knob that varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The knob.
    pub knob: KnobId,
    /// Its values, in order and without repeats.
    pub values: Vec<Value>,
    /// The knob that a value must divide, when it varies too.
    pub divides: Option<KnobId>,
}

/// A knob that follows from others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// The knob.
    pub knob: KnobId,
    /// Rule by which it follows.
    pub rule: TieRule,
}

/// Rule by which a knob follows from others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TieRule {
    /// A multiple of another whole number: `times / over` of it.
    Ratio {
        /// The other knob.
        of: KnobId,
        /// Numerator.
        times: u64,
        /// Denominator.
        over: u64,
    },
    /// This many dense layers in front, MoE layers behind.
    DenseLayers(u64),
    /// As many no-op layers as make the layer slots a multiple of PP x VPP: one at the end of each
    /// of the last chunks.
    FillChunks,
}

/// Left-hand side of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// A knob with a number, before the design is evaluated.
    Knob(KnobId),
    /// A metric.
    Metric(MetricId),
}

/// Comparison of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// At most.
    AtMost,
    /// At least.
    AtLeast,
    /// Less.
    Below,
    /// More.
    Above,
    /// Equal.
    Equal,
    /// A whole multiple of the bound.
    MultipleOf,
}

/// A constraint on designs.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Text as written.
    pub text: String,
    /// Left-hand side.
    pub subject: Subject,
    /// Comparison.
    pub operator: Operator,
    /// Right-hand side; 1 for a metric that must be true.
    pub bound: f64,
}

/// Direction of an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// More is better.
    Max,
    /// Less is better.
    Min,
}

impl Goal {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Max => "max",
            Self::Min => "min",
        }
    }
}

/// A metric to be made large or small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Objective {
    /// The metric.
    pub metric: MetricId,
    /// Direction.
    pub goal: Goal,
}

/// Selection of the designs that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// All of them.
    Grid,
    /// Random sample of different designs.
    Random {
        /// Number of designs.
        count: u64,
        /// Seed.
        seed: u64,
    },
    /// A Latin hypercube, with each value of each axis equally often.
    LatinHypercube {
        /// Number of designs.
        count: u64,
        /// Seed.
        seed: u64,
    },
    /// Successive refinement: different designs, some at random, then near the best.
    Refine {
        /// Number of designs.
        count: u64,
        /// Seed of the first, random ones.
        seed: u64,
    },
}

impl Sampling {
    /// Whether the choice of designs depends on results.
    #[must_use]
    pub const fn is_refined(self) -> bool {
        matches!(self, Self::Refine { .. })
    }
}

impl Spec {
    /// Most values of one axis.
    pub const MAX_VALUES: u64 = 10_000;
    /// Most axes.
    pub const MAX_AXES: usize = 32;
    /// Most objectives.
    pub const MAX_OBJECTIVES: usize = 4;
    /// Most designs that are evaluated.
    pub const MAX_POINTS: u64 = 1_000_000_000_000;
    /// Most designs of a sweep that refines: it remembers which ones it took.
    pub const MAX_REFINED: u64 = 1_000_000;

    /// The file, with its keys in alphabetical order.
    #[must_use]
    pub const fn source(&self) -> &Tree {
        &self.source
    }

    /// Regime of its designs: that of its first objective that has one, which all other metrics
    /// must have, too.
    #[must_use]
    pub fn regime(&self) -> Regime {
        regime_of(&self.objectives)
    }

    /// Whether it requests a number of a run, or of a model beside another.
    #[must_use]
    pub fn asks_run(&self) -> bool {
        self.regimes().any(|regime| matches!(regime, Regime::Budget | Regime::Quality))
    }

    /// Whether it requests the loss that published laws expect.
    #[must_use]
    pub fn asks_quality(&self) -> bool {
        self.regimes().any(|regime| regime == Regime::Quality)
    }

    /// The regimes of all metrics that it asks for.
    fn regimes(&self) -> impl Iterator<Item = Regime> {
        let constraints =
            self.constraints.iter().filter_map(|constraint| match constraint.subject {
                Subject::Metric(id) => Some(id),
                Subject::Knob(_) => None,
            });
        self.columns.iter().copied().chain(constraints).map(MetricId::regime)
    }

    /// Whether designs of it may be timed by closed forms.
    #[must_use]
    pub fn has_closed_forms(&self) -> bool {
        // What a search finds is simulated.
        if self.regime() == Regime::Serving || self.find.is_some() {
            return false;
        }
        match self.axes.iter().find(|axis| axis.knob == KnobId::timing) {
            Some(axis) => axis.values.contains(&Value::Text(Timing::ClosedForm.name().to_owned())),
            None => self.base.schedule.timing == Timing::ClosedForm,
        }
    }

    /// Best designs of an objective that are kept: the requested ones, and those of which some are
    /// simulated at the end.
    pub(crate) fn kept_best(&self) -> usize {
        let simulated = if self.has_closed_forms() { MAX_BEST } else { 0 };
        (self.top as usize).max(simulated)
    }

    /// The name of this sweep under this version of the model: its results have no other.
    #[must_use]
    pub fn digest(&self) -> String {
        let text = json::print(&self.source);
        digest(format!("{}\n{text}", model::MODEL_VERSION).as_bytes())
    }
}

/// The regime of the first objective that has one.
pub(super) fn regime_of(objectives: &[Objective]) -> Regime {
    let mut regimes = objectives.iter().map(|one| one.metric.regime().base());
    regimes.find(|regime| *regime != Regime::Model).unwrap_or(Regime::Training)
}

impl Constraint {
    /// Whether a number keeps to it.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "the author asked for this very number")]
    pub fn holds(&self, value: f64) -> bool {
        match self.operator {
            Operator::AtMost => value <= self.bound,
            Operator::AtLeast => value >= self.bound,
            Operator::Below => value < self.bound,
            Operator::Above => value > self.bound,
            Operator::Equal => value == self.bound,
            Operator::MultipleOf => value % self.bound == 0.0,
        }
    }
}
