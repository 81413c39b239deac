//! Expected error of a number, as the text beside it.

use model::catalogue::calibration::ModelKind;
use model::design::Design;
use model::metric::{Basis, MetricId, Regime};
use model::training::anchor::{self, Nearest};
use model::training::estimate::Metrics;
use model::training::range::MIN_SOURCES;
use model::{Answer, Plan, Range};

use crate::format;
use crate::words::name;

/// Error of a metric, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// Errors on published runs of sources that the constants were not fitted on.
    Range(Range),
    /// A verdict on the peak memory.
    AsPeakMemory,
    /// A count that is exact in the mean; by token it differs by these two, fewer and more.
    ByToken([f64; 2]),
    /// A count or a formula: its definition makes it exact.
    Exact,
    /// Follows from the model's parts; runs that publish it are too few to compare.
    Derived,
}

/// Error of a metric of this plan, as far as it is known.
#[must_use]
pub fn expected(plan: &Plan, metric: MetricId) -> Expected {
    if let Some(range) = model::range(plan, metric) {
        return Expected::Range(range);
    }
    let is_active =
        matches!(metric, MetricId::params_active | MetricId::params_active_no_input_embedding);
    if let Some(ends) = plan.active_params_by_token().filter(|_| is_active) {
        return Expected::ByToken(ends);
    }
    match metric.metric().basis {
        Basis::Exact => Expected::Exact,
        Basis::Verdict => Expected::AsPeakMemory,
        Basis::Time | Basis::Rate | Basis::Memory | Basis::Derived => Expected::Derived,
    }
}

impl Expected {
    /// Short text of the error, below a number: `27.1 to 33.8 % (9 of 10)`.
    #[must_use]
    pub fn short(self, metric: MetricId, metrics: &Metrics) -> String {
        match self {
            Self::Range(range) => format!("{} (9 of 10)", between(range.most, metric, metrics)),
            Self::ByToken(ends) => format!("{} by token", beside(ends, metric, metrics)),
            Self::AsPeakMemory => "as peak memory".to_owned(),
            Self::Exact => "exact count".to_owned(),
            Self::Derived => "not validated".to_owned(),
        }
    }

    /// In sentences.
    #[must_use]
    pub fn sentence(self, metric: MetricId, metrics: &Metrics) -> String {
        match self {
            Self::Range(range) => format!(
                "With 50 % it is {}, with 90 % {}. {}",
                between(range.half, metric, metrics),
                between(range.most, metric, metrics),
                basis(&range),
            ),
            Self::ByToken(ends) => format!(
                "An exact count in the mean: a token whose choices are all zero experts, or all \
                 experts, meets {}.",
                beside(ends, metric, metrics),
            ),
            Self::AsPeakMemory => "Derived from peak memory and its error.".to_owned(),
            Self::Exact => "An exact count: it follows from the definition and the knobs, without \
                            any measured constant."
                .to_owned(),
            Self::Derived => "Derived from the same model as step time; not validated separately, \
                              as few published runs report it."
                .to_owned(),
        }
    }
}

/// The range in which a metric is with 50 %: `28.5 to 31.5 %`; `None` if no errors are known.
#[must_use]
pub fn half(plan: &Plan, metric: MetricId, metrics: &Metrics) -> Option<String> {
    match expected(plan, metric) {
        Expected::Range(range) => Some(between(range.half, metric, metrics)),
        Expected::ByToken(_) | Expected::AsPeakMemory | Expected::Exact | Expected::Derived => None,
    }
}

/// The range in which a metric is with 90 %; `None` if no errors are known.
#[must_use]
pub fn most(plan: &Plan, metric: MetricId, metrics: &Metrics) -> Option<String> {
    match expected(plan, metric) {
        Expected::Range(range) => Some(between(range.most, metric, metrics)),
        Expected::ByToken(_) | Expected::AsPeakMemory | Expected::Exact | Expected::Derived => None,
    }
}

/// A range of a metric's value, as factors on it.
fn between(factors: [f64; 2], metric: MetricId, metrics: &Metrics) -> String {
    let value = format::number(metrics.get(metric));
    spanned(factors.map(|factor| value * factor), metric)
}

/// A metric's range, given as differences from its value.
fn beside(differences: [f64; 2], metric: MetricId, metrics: &Metrics) -> String {
    let value = format::number(metrics.get(metric));
    spanned(differences.map(|difference| value + difference), metric)
}

fn spanned(ends: [f64; 2], metric: MetricId) -> String {
    format::span(ends.map(|end| format::measured(metric, end).to_string()))
}

/// Where half of the runs lie, or why there is no range.
#[must_use]
pub fn likely(answer: &Answer<'_>, metric: MetricId) -> String {
    match (answer.range(metric), answer.number(metric), metric.metric().basis) {
        (Some(range), Some(value), _) => {
            // A number and its unit stay on one line.
            let end = |factor: f64| {
                format::measured(metric, value * factor).to_string().replace(' ', "\u{a0}")
            };
            format!("half of runs {}", format::span(range.half.map(end)))
        }
        (_, None, _) => "something isn't said".to_owned(),
        (None, _, Basis::Exact) => "exact count".to_owned(),
        (None, _, _) if answer.regime() == Regime::Budget => "from the inputs".to_owned(),
        (None, ..) => "not compared with runs".to_owned(),
    }
}

/// Basis of the range: the published runs that it is taken from.
#[must_use]
pub fn basis(range: &Range) -> String {
    let basis = range.basis;
    let runs = if !basis.is_of_time {
        "peak memories".to_owned()
    } else {
        match basis.kind {
            ModelKind::Dense => format!("dense runs on {}", family(basis.family)),
            ModelKind::Experts => {
                format!("mixture-of-experts runs on {}", family(basis.family))
            }
            ModelKind::Mixed => {
                format!("runs of models whose layers differ on {}", family(basis.family))
            }
        }
    };
    let [half, most] = basis.coverage.map(|share| format::percent(share, 0));
    let mut text = format!(
        "Taken from the errors of {} published {runs} ({}), each source left out of the fit; \
         {half} and {most} of them are inside such ranges of the other sources.",
        format::whole(u64::from(basis.rows)),
        format::counted(basis.sources.into(), "source", "sources"),
    );
    if range.is_borrowed() {
        text += &format!(
            " Fewer than {MIN_SOURCES} sources have published such runs on {}: its own range may \
             be wider.",
            range.family,
        );
    }
    text
}

/// Note on a design with rates from a profile of one's own runs: the profile, and that the ranges
/// are of designs without one.
#[must_use]
pub fn of_profile(design: &Design) -> Option<String> {
    let name = design.kernel.profile.as_deref()?;
    Some(format!("Profile: {name}. The ranges are of designs without one."))
}

/// The accelerators that errors are of.
#[must_use]
pub const fn family(name: &'static str) -> &'static str {
    if name.is_empty() { "all accelerators" } else { name }
}

/// The measured run that is nearest to a plan, and how far the model is from it:
/// `Pangu Ultra MoE 718B on 6,144 x 910B3, +1 % there, near`.
#[must_use]
pub fn nearest(plan: &Plan) -> Option<String> {
    let near: Nearest = anchor::nearest(plan)?;
    let run = near.run;
    Some(format!(
        "{} on {} x {}, {} there, {}",
        run.model,
        format::whole(u64::from(run.devices)),
        name::part(run.accelerator),
        format::relative(1.0 + run.speed_error(), 1.0),
        near.nearness(),
    ))
}

#[cfg(test)]
mod tests {
    use model::catalogue::calibration::{MEMORY_SPREAD, Spread};

    use super::*;

    static HOPPER: Spread = Spread {
        family: "NVIDIA Hopper",
        kind: ModelKind::Experts,
        is_of_time: true,
        half: [-0.05, 0.05],
        most: [-0.1, 0.2],
        coverage: [0.51, 0.9],
        rows: 1_212,
        sources: 14,
    };

    fn metrics() -> Metrics {
        let plan = Plan::new(&model::design::link::decode("").expect("the default"))
            .expect("a legal preset");
        Metrics { mfu: 0.3, ..model::estimate(&plan).metrics }
    }

    fn range() -> Range {
        Range { half: [0.95, 1.05], most: [0.8, 1.1], basis: &HOPPER, family: HOPPER.family }
    }

    #[test]
    fn a_range_is_said_short_and_in_a_sentence() {
        let expected = Expected::Range(range());
        assert_eq!(expected.short(MetricId::mfu, &metrics()), "24.0 to 33.0 % (9 of 10)");
        assert_eq!(
            expected.sentence(MetricId::mfu, &metrics()),
            "With 50 % it is 28.5 to 31.5 %, with 90 % 24.0 to 33.0 %. Taken from the errors of \
             1,212 published mixture-of-experts runs on NVIDIA Hopper (14 sources), each source \
             left out of the fit; 51 % and 90 % of them are inside such ranges of the other \
             sources."
        );
    }

    #[test]
    fn a_range_of_other_families_says_so() {
        static ALL: Spread = Spread { family: "", ..HOPPER };
        let text = basis(&Range { basis: &ALL, family: "Ascend 910", ..range() });
        assert!(text.contains("runs on all accelerators (14 sources)"), "{text}");
        assert!(text.contains("Fewer than 4 sources") && text.contains("Ascend 910"), "{text}");
    }

    #[test]
    fn memory_speaks_of_memory() {
        let text = basis(&Range { basis: &MEMORY_SPREAD, ..range() });
        assert!(text.contains("published peak memories"), "{text}");
    }

    #[test]
    fn every_metric_says_something() {
        let plan = Plan::new(&model::design::link::decode("").expect("the default"))
            .expect("a legal preset");
        let metrics = metrics();
        for metric in MetricId::of(Regime::Training) {
            let expected = expected(&plan, metric);
            assert!(!expected.short(metric, &metrics).is_empty(), "{metric:?}");
            assert!(expected.sentence(metric, &metrics).ends_with('.'), "{metric:?}");
        }
        assert_eq!(expected(&plan, MetricId::flops_per_token), Expected::Exact);
        assert_eq!(expected(&plan, MetricId::bubble_ratio), Expected::Derived);
    }

    #[test]
    fn the_published_run_is_nearest_to_its_preset_and_stays_when_a_knob_moves() {
        for query in ["", "preset=pangu-ultra-moe-6k@2&num_devices=4096&gbs=4096"] {
            let design = model::design::link::decode(query).expect("a link");
            let found = nearest(&Plan::new(&design).expect("legal")).expect("a measured run");
            assert!(found.starts_with("Pangu Ultra MoE"), "{found}");
        }
    }
}
