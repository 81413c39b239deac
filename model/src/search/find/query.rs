//! Input of a search: the goal, the question, the targets, and what stays.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::space::Space;
use super::strategy;
use crate::design::{Design, KnobId, KnobSet};
use crate::ground::choice::{Choice, Method, ShardingStrategy};
use crate::ground::units::Bytes;
use crate::metric::{MetricId, Regime};
use crate::rules::vocabulary::{Vocabulary, can_shard};
use crate::run::budget::{RunTarget, lacks};
use crate::training::estimate::Metrics;

/// The share of the memory that a design leaves free at its peak, at least, to be proposed.
pub const MIN_SPARE: f64 = 0.03;

/// The share of the device's memory that is free at the peak; negative where it doesn't fit.
#[must_use]
pub fn spare(metrics: &Metrics) -> f64 {
    1.0 - metrics.memory_peak / metrics.memory_limit
}

/// Goal: the quality that the first design of an answer is best in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The highest lower end of the 50 % range of tokens per second.
    #[default]
    Fastest,
    /// Within 5 % of the fastest: the most memory to spare and the fewest overlaps that must hold.
    Safest,
    /// Within 10 % of the fastest: the fewest knobs that differ from their neutral values.
    Simplest,
}

impl Goal {
    /// Every goal.
    pub const ALL: [Self; 3] = [Self::Fastest, Self::Safest, Self::Simplest];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fastest => "fastest",
            Self::Safest => "safest",
            Self::Simplest => "simplest",
        }
    }
}

/// Question about the machine: a layout for it, or an extreme size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Question {
    /// The best layout of the design as it is.
    #[default]
    Layout,
    /// The fewest devices on which a layout fits and reaches the targets; full nodes.
    FewestDevices,
    /// The most sequences of a step with which a layout reaches the targets.
    LargestBatch,
    /// The longest sequence with which a layout fits and reaches the targets, with at most as many
    /// tokens in a step.
    LongestSequence,
}

impl Question {
    /// Every question.
    pub const ALL: [Self; 4] =
        [Self::Layout, Self::FewestDevices, Self::LargestBatch, Self::LongestSequence];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Layout => "layout",
            Self::FewestDevices => "fewest_devices",
            Self::LargestBatch => "largest_batch",
            Self::LongestSequence => "longest_sequence",
        }
    }
}

/// Something that a proposed design must reach, beside fitting with [`MIN_SPARE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A metric is at least this, in its registered unit.
    AtLeast(MetricId, f64),
    /// A metric is at most this, in its registered unit.
    AtMost(MetricId, f64),
    /// At least this share of the memory is free at the peak.
    Spare(f64),
    /// At most this many devices; of the question for the fewest.
    Devices(u64),
    /// A number of the run's budget is within a limit.
    Run(RunTarget),
}

impl Target {
    /// Reads `mfu>=0.4`, `step_time_seconds<=20`, `days_to_train<=90`, `spare>=0.05` or
    /// `num_devices<=512`.
    ///
    /// # Errors
    /// What is wrong with the text, in a line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once(">=").map(|parts| (parts, true));
        let parts = parts.or_else(|| text.split_once("<=").map(|parts| (parts, false)));
        let Some(((name, number), is_least)) = parts else {
            return Err(format!("a target is METRIC>=NUMBER or METRIC<=NUMBER, not `{text}`"));
        };
        let (name, number) = (name.trim(), number.trim());
        let value: f64 = number
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite() && *value >= 0.0)
            .ok_or_else(|| format!("`{number}` is not a number from 0 on"))?;
        match (name, is_least) {
            ("spare", true) if value < 1.0 => Ok(Self::Spare(value)),
            ("spare", true) => Err("`spare` is a share of the memory, below 1".to_string()),
            ("num_devices", false) if value >= 1.0 => Ok(Self::Devices(value as u64)),
            ("spare" | "num_devices", _) => {
                Err(format!("`{name}` goes the other way: `spare>=0.05`, `num_devices<=512`"))
            }
            _ => match MetricId::find(name).map(|id| (id, id.regime().table())) {
                Some((metric, Regime::Training)) if is_least => Ok(Self::AtLeast(metric, value)),
                Some((metric, Regime::Training)) => Ok(Self::AtMost(metric, value)),
                Some((metric, Regime::Budget)) => {
                    Ok(Self::Run(RunTarget { metric, is_most: !is_least, limit: value }))
                }
                Some((_, Regime::Model | Regime::Serving | Regime::Quality)) | None => {
                    Err(format!("there is no metric `{name}`"))
                }
            },
        }
    }

    /// Relative shortfall of a design with these metrics from the target; zero where it is reached.
    pub(super) fn shortfall(&self, design: &Design, metrics: &Metrics) -> f64 {
        let short = match *self {
            Self::AtLeast(metric, least) => {
                metrics.number(metric).map_or(1.0, |number| 1.0 - number / least.max(1e-300))
            }
            Self::AtMost(metric, most) => {
                metrics.number(metric).map_or(1.0, |number| number / most.max(1e-300) - 1.0)
            }
            Self::Spare(least) => least - spare(metrics),
            Self::Devices(_) => 0.0,
            Self::Run(target) => {
                target.number(design, metrics).map_or(1.0, |number| target.shortfall(number))
            }
        };
        short.max(0.0)
    }

    /// Whether a design with these metrics reaches it.
    #[must_use]
    pub fn is_reached(&self, design: &Design, metrics: &Metrics) -> bool {
        match *self {
            Self::AtLeast(metric, least) => {
                metrics.number(metric).is_some_and(|number| number >= least)
            }
            Self::AtMost(metric, most) => {
                metrics.number(metric).is_some_and(|number| number <= most)
            }
            Self::Spare(least) => spare(metrics) >= least,
            Self::Devices(most) => design.cluster.num_devices <= most,
            Self::Run(target) => {
                target.number(design, metrics).is_some_and(|number| target.is_reached(number))
            }
        }
    }
}

impl core::fmt::Display for Target {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::AtLeast(metric, value) => write!(f, "{}>={value}", metric.metric().name),
            Self::AtMost(metric, value) => write!(f, "{}<={value}", metric.metric().name),
            Self::Spare(value) => write!(f, "spare>={value}"),
            Self::Devices(value) => write!(f, "num_devices<={value}"),
            Self::Run(target) => write!(f, "{target}"),
        }
    }
}

/// Input of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The model, the machine and the batch; its strategy is the design at hand.
    pub design: Design,
    /// Quality that the first design is best in.
    pub goal: Goal,
    /// Question about the machine.
    pub question: Question,
    /// Knobs of the strategy that stay as they are.
    pub keep: KnobSet,
    /// Targets that every proposed design must reach.
    pub targets: Vec<Target>,
    /// Whether everything counts, also what the design's framework can't express.
    pub any_schedule: bool,
}

impl Query {
    /// The best layout of a design, with nothing kept.
    #[must_use]
    pub fn new(design: Design) -> Self {
        Self {
            design,
            goal: Goal::Fastest,
            question: Question::Layout,
            keep: KnobSet::EMPTY,
            targets: Vec::new(),
            any_schedule: false,
        }
    }

    /// The design with every freed knob of its strategy at its neutral value: what no layout
    /// changes is read from it.
    #[must_use]
    pub fn plain(&self) -> Design {
        Space::new(self).base
    }

    /// The schedules that the search goes through, where they aren't kept.
    #[must_use]
    pub fn methods(&self) -> Vec<Method> {
        strategy::methods(&self.design, &self.words())
    }

    /// The ways to share out states that the search goes through, where they aren't kept.
    #[must_use]
    pub fn sharding_strategies(&self) -> Vec<ShardingStrategy> {
        let own = self.design.parallel.data_parallel_sharding_strategy;
        let all = ShardingStrategy::ALL.iter().copied();
        all.filter(|it| *it == own || self.any_schedule || can_shard(&self.design, *it)).collect()
    }

    /// Strategy values that the framework's arguments can express.
    pub(super) fn words(&self) -> Vocabulary {
        if self.any_schedule { Vocabulary::any() } else { Vocabulary::of(&self.design) }
    }

    /// The share of the memory that has to stay free: [`MIN_SPARE`], and more where a target
    /// asks for it.
    #[must_use]
    pub fn spare(&self) -> f64 {
        let cluster = &self.design.cluster;
        let usable = cluster.hbm_usable_gib.unwrap_or(cluster.accelerator.row().hbm_usable_gib);
        self.targets.iter().fold(MIN_SPARE, |most, target| match *target {
            Target::Spare(share) => most.max(share),
            Target::AtMost(MetricId::memory_peak_bytes, bytes) => {
                most.max(1.0 - bytes / Bytes::gib(usable).get())
            }
            Target::AtLeast(..) | Target::AtMost(..) | Target::Devices(_) | Target::Run(_) => most,
        })
    }

    /// Text of what a question needs to have an answer and lacks, in a line for people.
    #[must_use]
    pub fn missing(&self) -> Option<&'static str> {
        let bounds_time =
            |target: &Target| matches!(target, Target::AtMost(MetricId::step_time_seconds, _));
        let unbounded =
            self.question == Question::LargestBatch && !self.targets.iter().any(bounds_time);
        unbounded.then_some(
            "a larger batch always fits in more micro-batches: say how long a step may take, such \
             as step_time_seconds<=20",
        )
    }

    /// Knobs of the run that targets need and that have no value.
    #[must_use]
    pub fn lacks(&self) -> Vec<KnobId> {
        let mut knobs: Vec<KnobId> = Vec::new();
        for target in &self.targets {
            let Target::Run(target) = target else { continue };
            knobs.extend(lacks(target.metric, &self.design));
        }
        knobs.sort_unstable();
        knobs.dedup();
        knobs
    }
}
