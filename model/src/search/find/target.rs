//! Targets: numbers of a design, by domain, with what a search must reach in them.

use alloc::format;
use alloc::string::{String, ToString};

use crate::design::Design;
use crate::ground::decimal;
use crate::metric::{Metric, MetricId, Regime};
use crate::run::budget::RunTarget;

/// Domain of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Domain {
    /// Strategies that train a model.
    #[default]
    Training,
    /// Layouts and loads that serve it.
    Serving,
}

/// Something that a proposed design must reach, beside fitting with [`super::MIN_SPARE`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A metric is at least this, in its registered unit.
    AtLeast(MetricId, f64),
    /// A metric is at most this, in its registered unit.
    AtMost(MetricId, f64),
    /// At least this share of the memory is free: of the device at the peak, or of the cache.
    Spare(f64),
    /// At most this many devices; of the question for the fewest.
    Devices(u64),
    /// A number of the run's budget is within a limit.
    Run(RunTarget),
}

/// Predicted numbers of a design.
pub trait Predicted {
    /// The number of a design with these metrics that a target bounds; `None` if it isn't known or
    /// belongs to another domain.
    fn bounded(&self, design: &Design, target: &Target) -> Option<f64>;

    /// Tokens a second by which designs are compared.
    fn speed(&self) -> f64;

    /// Share of the memory that is free: of the device at the peak, or of the cache.
    fn spare(&self) -> f64;
}

impl Domain {
    /// Reads `mfu>=0.4`, `step_time_seconds<=20`, `days_to_train<=90`, `spare>=0.05` or
    /// `num_devices<=512`; of serving `tpot_seconds<=0.05`.
    ///
    /// # Errors
    /// A line on what is wrong with the text.
    pub fn target(self, text: &str) -> Result<Target, String> {
        let parts = text.split_once(">=").map(|parts| (parts, true));
        let parts = parts.or_else(|| text.split_once("<=").map(|parts| (parts, false)));
        let Some(((name, number), is_least)) = parts else {
            return Err(format!("a target is METRIC>=NUMBER or METRIC<=NUMBER, not `{text}`"));
        };
        let (name, number) = (name.trim(), number.trim());
        let value = decimal::parse(number)
            .filter(|value| value.is_finite() && *value >= 0.0)
            .ok_or_else(|| format!("`{number}` is not a number from 0 on"))?;
        match (name, is_least) {
            ("spare", true) if value < 1.0 => Ok(Target::Spare(value)),
            ("spare", true) => Err("`spare` is a share of the memory, below 1".to_string()),
            ("num_devices", false) if value >= 1.0 => Ok(Target::Devices(value as u64)),
            ("spare" | "num_devices", _) => {
                Err(format!("`{name}` goes the other way: `spare>=0.05`, `num_devices<=512`"))
            }
            _ => self
                .bound(name, !is_least, value)
                .ok_or_else(|| format!("there is no metric `{name}`")),
        }
    }

    /// The target on a metric of that name.
    fn bound(self, name: &str, is_most: bool, limit: f64) -> Option<Target> {
        let metric = MetricId::find(name).filter(|id| self.metrics().any(|known| known == *id))?;
        if metric.regime() == Regime::Budget {
            return Some(Target::Run(RunTarget { metric, is_most, limit }));
        }
        let bound = if is_most { Target::AtMost } else { Target::AtLeast };
        Some(bound(metric, limit))
    }

    /// Metrics that targets bound.
    pub fn metrics(self) -> impl Iterator<Item = MetricId> {
        let [own, of_run] = match self {
            Self::Training => [Regime::Training, Regime::Budget].map(Some),
            Self::Serving => [Some(Regime::Serving), None],
        };
        own.into_iter().chain(of_run).flat_map(MetricId::of)
    }
}

impl Target {
    /// The registry's row of the metric that it bounds; `None` for memory and devices.
    fn metric(&self) -> Option<&'static Metric> {
        match self {
            Self::AtLeast(metric, _) | Self::AtMost(metric, _) => Some(metric.metric()),
            Self::Run(target) => Some(target.metric.metric()),
            Self::Spare(_) | Self::Devices(_) => None,
        }
    }

    /// Whether the limit is the most, and the limit.
    fn limit(&self) -> (bool, f64) {
        match *self {
            Self::AtLeast(_, limit) | Self::Spare(limit) => (false, limit),
            Self::AtMost(_, limit) => (true, limit),
            Self::Devices(most) => (true, most as f64),
            Self::Run(RunTarget { is_most, limit, .. }) => (is_most, limit),
        }
    }

    /// The number that it bounds; `None` if it isn't known.
    fn number(&self, design: &Design, metrics: &impl Predicted) -> Option<f64> {
        match self {
            Self::Devices(_) => Some(design.cluster.num_devices as f64),
            Self::Spare(_) => Some(metrics.spare()),
            Self::AtLeast(..) | Self::AtMost(..) | Self::Run(_) => metrics.bounded(design, self),
        }
    }

    /// Whether a design with these metrics reaches it.
    #[must_use]
    pub fn is_reached(&self, design: &Design, metrics: &impl Predicted) -> bool {
        let (is_most, limit) = self.limit();
        let within = |number| if is_most { number <= limit } else { number >= limit };
        self.number(design, metrics).is_some_and(within)
    }

    /// Relative shortfall of a design with these metrics from the target; zero where it is reached.
    pub(super) fn shortfall(&self, design: &Design, metrics: &impl Predicted) -> f64 {
        if matches!(self, Self::Devices(_)) {
            return 0.0;
        }
        let (is_most, limit) = self.limit();
        let short = self.number(design, metrics).map_or(1.0, |number| {
            let ratio = number / limit.max(1e-300);
            if let Self::Spare(least) = self {
                return least - number;
            }
            if is_most { ratio - 1.0 } else { 1.0 - ratio }
        });
        short.max(0.0)
    }

    /// Relative distance of a design with these metrics from the limit, on the side that reaches
    /// it.
    pub(super) fn room(&self, design: &Design, metrics: &impl Predicted) -> f64 {
        let (is_most, limit) = self.limit();
        let ratio = self.number(design, metrics).unwrap_or(0.0) / limit.max(1e-300);
        if is_most { 1.0 - ratio } else { ratio - 1.0 }
    }

    /// Line on how a design with these metrics misses it; `None` if it is reached.
    pub(super) fn miss(&self, design: &Design, metrics: &impl Predicted) -> Option<String> {
        if self.is_reached(design, metrics) {
            return None;
        }
        let (is_most, limit) = self.limit();
        let way = if is_most { "most" } else { "least" };
        let number = self.number(design, metrics);
        Some(match (self.metric().map(|metric| metric.label), number) {
            (Some(label), Some(number)) => format!("{label} {number:.4} of at {way} {limit}"),
            (Some(label), None) => format!("{label} isn't known"),
            (None, number) => {
                let what = if is_most { "devices" } else { "of the memory free" };
                format!("{} {what} of at {way} {limit}", number.unwrap_or(0.0))
            }
        })
    }
}

impl core::fmt::Display for Target {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let (is_most, limit) = self.limit();
        let unnamed = if is_most { "num_devices" } else { "spare" };
        let name = self.metric().map_or(unnamed, |metric| metric.name);
        write!(f, "{name}{}{limit}", if is_most { "<=" } else { ">=" })
    }
}
