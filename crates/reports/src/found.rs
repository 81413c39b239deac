//! A search for a layout as data: its answer for programs, and its query in words.
//!
//! Server, command line and browser give the same object for the same query. Only the seconds that
//! it took are added by whoever has a clock.

mod terms;

use model::design::file::Tree;
use model::design::{Design, KnobId};
use model::metric::{MetricId, Regime};
use model::search::find::{Answer, Goal, Miss, Predicted, Query, Recommendation, Target};
use model::serving::{Inference, ServingPlan};
use model::training::estimate::Metrics;
use model::{MODEL_VERSION, Plan, design::link};

use crate::predicted::{self, Range};
use crate::typed::{KnobValue, MetricSaid, Named, Said, answers};

pub use terms::Terms;

/// Label of a goal at the head of its design.
#[must_use]
pub const fn label(goal: Goal) -> &'static str {
    match goal {
        Goal::Fastest => "Fastest",
        Goal::Safest => "Safest",
        Goal::Simplest => "Simplest",
    }
}

/// The knobs in which a design differs from another, in registry order.
pub fn differences(one: &Design, other: &Design) -> impl Iterator<Item = KnobId> {
    KnobId::ALL.iter().copied().filter(|id| one.get(*id) != other.get(*id))
}

answers! {
    /// The object of `moescape find --json`, but the seconds that it took.
    struct Found {
        /// Up to four, each best at something.
        designs: Vec<Recommended>,
        /// The design that misses least, where none keeps everything.
        miss: Option<Missed>,
        /// The design that was asked about; null where it breaks rules.
        at_hand: Option<Numbers>,
        /// What the question asks for: fewest devices, largest batch, longest sequence.
        size: Option<Size>,
        /// What would have to be better for more.
        for_more: Vec<String>,
        /// What ruled out how many designs, the most first.
        ruled_out: Vec<RuledOutBy>,
        /// Designs of the space.
        space: u64,
        evaluated: u64,
        simulated: u64,
        goal: &'static str,
        question: &'static str,
        targets: Vec<String>,
        keep: Vec<String>,
        any_schedule: bool,
        model_version: &'static str,
    }

    /// A design that is recommended.
    struct Recommended {
        /// What it is best at; null where it is only near.
        label: Option<&'static str>,
        /// The address that opens it.
        link: String,
        /// The knobs that differ from the design at hand, with their values.
        knobs: Named<KnobValue>,
        metrics: Named<MetricSaid>,
        ranges: Named<Range>,
        /// The numbers of the run that targets ask for; null where something isn't known.
        run: Named<Option<f64>>,
        why: Vec<String>,
        /// What keeps it from being faster.
        binds: String,
        /// The share of device memory to spare.
        margin: f64,
        /// How far it is behind the fastest, as a share of its step time.
        behind: f64,
        /// The knobs that few runs have as it has them.
        unusual: Vec<String>,
    }

    /// The design that misses least.
    struct Missed {
        link: String,
        knobs: Named<KnobValue>,
        metrics: Named<MetricSaid>,
        ranges: Named<Range>,
        run: Named<Option<f64>>,
        misses: Vec<String>,
        /// On how many devices something fits; null where none was found.
        fewest_devices: Option<u64>,
    }

    /// What is said of any design.
    struct Numbers {
        link: String,
        metrics: Named<MetricSaid>,
        ranges: Named<Range>,
    }

    /// A size that was asked for.
    struct Size {
        knob: String,
        value: u64,
    }

    /// A reason that rules designs out.
    struct RuledOutBy {
        reason: String,
        designs: u64,
    }
}

/// Predicted metrics as an answer has them.
pub trait Reported: Predicted {
    /// Path of the page that opens a design.
    const PATH: &'static str;

    /// Every metric by its public name.
    fn metrics(&self) -> Named<MetricSaid>;

    /// The ranges of the metrics of a design that published runs tell of.
    fn ranges(&self, design: &Design) -> Named<Range>;
}

impl Reported for Metrics {
    const PATH: &'static str = "/";

    fn metrics(&self) -> Named<MetricSaid> {
        predicted::metrics(self)
    }

    fn ranges(&self, design: &Design) -> Named<Range> {
        Plan::new(design).map_or(Named::none(), |plan| predicted::ranges(&plan, self))
    }
}

impl Reported for Inference {
    const PATH: &'static str = "/serving";

    fn metrics(&self) -> Named<MetricSaid> {
        let value = |id: MetricId| Some((id.metric().name, *self.metrics.get(id)?));
        let all = MetricId::of(Regime::Serving).filter_map(value);
        Named::of(all.map(|(name, value)| (name, MetricSaid::Number(value))))
    }

    fn ranges(&self, design: &Design) -> Named<Range> {
        let Ok(plan) = ServingPlan::new(design) else { return Named::none() };
        let answer = model::Answer::Serving { plan: &plan, inference: self };
        let range = |id: MetricId| {
            let (range, value) = (answer.range(id)?, answer.number(id)?);
            Some((id.metric().name, predicted::range(&range, value)))
        };
        Named::of(MetricId::of(Regime::Serving).filter_map(range))
    }
}

/// An answer as an object.
#[must_use]
pub fn tree<M: Reported>(query: &Query, answer: &Answer<M>) -> Tree {
    found(query, answer).said()
}

/// An answer: what `moescape find --json` prints and `POST /api/v1/find` answers, but the seconds.
#[must_use]
pub fn found<M: Reported>(query: &Query, answer: &Answer<M>) -> Found {
    let at_hand = &query.design;
    let ruled_out = answer.ruled_out.iter();
    Found {
        designs: answer.designs.iter().map(|found| recommendation(query, found)).collect(),
        miss: answer.miss.as_ref().map(|miss| missed(query, miss)),
        at_hand: answer.at_hand.as_ref().map(|metrics| numbers(at_hand, metrics)),
        size: answer.size.map(|(knob, value)| Size { knob: knob.id(), value }),
        for_more: answer.for_more.clone(),
        ruled_out: ruled_out
            .map(|it| RuledOutBy { reason: it.reason.clone(), designs: it.designs })
            .collect(),
        space: answer.space,
        evaluated: answer.evaluated,
        simulated: answer.simulated,
        goal: query.goal.name(),
        question: query.question.name(),
        targets: query.targets.iter().map(ToString::to_string).collect(),
        keep: query.keep.iter().map(KnobId::id).collect(),
        any_schedule: query.any_schedule,
        model_version: MODEL_VERSION,
    }
}

fn recommendation<M: Reported>(query: &Query, found: &Recommendation<M>) -> Recommended {
    let Numbers { link, metrics, ranges } = numbers(&found.design, &found.metrics);
    Recommended {
        label: found.label.map(Goal::name),
        link,
        knobs: knobs(&query.design, &found.design),
        metrics,
        ranges,
        run: run(query, &found.design, &found.metrics),
        why: found.why.clone(),
        binds: found.bottleneck.clone(),
        margin: found.margin,
        behind: found.behind,
        unusual: found.unusual.iter().map(|knob| knob.id()).collect(),
    }
}

fn missed<M: Reported>(query: &Query, miss: &Miss<M>) -> Missed {
    let Numbers { link, metrics, ranges } = numbers(&miss.design, &miss.metrics);
    Missed {
        link,
        knobs: knobs(&query.design, &miss.design),
        metrics,
        ranges,
        run: run(query, &miss.design, &miss.metrics),
        misses: miss.misses.clone(),
        fewest_devices: miss.fewest_devices,
    }
}

/// The numbers of the run that targets ask for.
fn run(query: &Query, design: &Design, metrics: &impl Predicted) -> Named<Option<f64>> {
    Named::of(query.targets.iter().filter_map(|target| match target {
        Target::Run(of) => Some((of.metric.metric().name, metrics.bounded(design, target))),
        Target::AtLeast(..) | Target::AtMost(..) | Target::Spare(_) | Target::Devices(_) => None,
    }))
}

/// Link, metrics and ranges of a design.
fn numbers<M: Reported>(design: &Design, metrics: &M) -> Numbers {
    Numbers {
        link: format!("{}?{}", M::PATH, link::encode(design)),
        metrics: metrics.metrics(),
        ranges: metrics.ranges(design),
    }
}

/// The knobs that differ from the current design, with their values.
fn knobs(at_hand: &Design, design: &Design) -> Named<KnobValue> {
    Named::of(differences(at_hand, design).map(|id| (id.id(), KnobValue::of(design, id))))
}

#[cfg(test)]
mod tests {
    use model::design::KnobSet;
    use model::estimate;
    use model::metric::MetricId;
    use model::search::find::{Question, RuledOut};

    use super::*;

    fn design(query: &str) -> Design {
        link::decode(query).expect("a link")
    }

    fn metrics(design: &Design) -> Metrics {
        estimate(&Plan::new(design).expect("a legal design")).metrics
    }

    fn query() -> Query {
        Query {
            question: Question::FewestDevices,
            keep: KnobSet::of(&[KnobId::pipeline_model_parallel_size]),
            targets: vec![Target::AtLeast(MetricId::mfu, 0.4), Target::Spare(0.05)],
            ..Query::new(design(""))
        }
    }

    fn answer(query: &Query) -> Answer {
        let other = design("preset=pangu-ultra-moe-6k@2&training.micro_batch_size=1");
        let found = Recommendation {
            label: Some(Goal::Safest),
            metrics: metrics(&other),
            why: vec!["the most memory to spare".to_owned()],
            bottleneck: "memory".to_owned(),
            margin: 0.25,
            behind: 0.0,
            unusual: vec![],
            design: other,
        };
        Answer {
            designs: vec![found.clone(), Recommendation { label: None, ..found }],
            miss: None,
            at_hand: Some(metrics(&query.design)),
            size: Some((KnobId::num_devices, 256)),
            for_more: vec!["faster links".to_owned()],
            ruled_out: vec![RuledOut { reason: "memory".to_owned(), designs: 7 }],
            space: 9,
            evaluated: 2,
            simulated: 1,
        }
    }

    #[test]
    fn an_answer_has_the_numbers_of_its_designs_and_what_differs_from_the_one_at_hand() {
        let query = query();
        let answer = answer(&query);
        let tree = tree(&query, &answer);
        let Some(Tree::List(designs)) = tree.get("designs") else { panic!("{tree:?}") };
        assert_eq!(designs.len(), 2);
        let [first, second] = [&designs[0], &designs[1]];
        assert_eq!(first.get("label"), Some(&Tree::from("safest")));
        assert_eq!(second.get("label"), Some(&Tree::Null));
        let changed = Tree::map([("training.micro_batch_size", Tree::Unsigned(1))]);
        assert_eq!(first.get("knobs"), Some(&changed));
        let mfu = first.get("metrics").and_then(|metrics| metrics.get("mfu"));
        assert_eq!(mfu, Some(&Tree::Real(answer.designs[0].metrics.mfu)));
        assert!(first.get("ranges").and_then(|ranges| ranges.get("mfu")).is_some(), "{first:?}");
        let link = first.get("link").and_then(Tree::as_text).expect("a link");
        assert_eq!(design(link.trim_start_matches('/')), answer.designs[0].design);
        assert!(tree.get("at_hand").and_then(|own| own.get("metrics")).is_some());
        assert_eq!(tree.get("miss"), Some(&Tree::Null));
    }

    #[test]
    fn an_answer_says_what_was_asked() {
        let query = query();
        let tree = tree(&query, &answer(&query));
        assert_eq!(tree.get("question"), Some(&Tree::from("fewest_devices")));
        let size = tree.get("size").and_then(|size| size.get("value"));
        assert_eq!(size, Some(&Tree::Unsigned(256)));
        assert_eq!(tree.get("targets"), Some(&Tree::list(["mfu>=0.4", "spare>=0.05"])));
        assert_eq!(tree.get("keep"), Some(&Tree::list(["parallel.pipeline_model_parallel_size"])));
    }

    #[test]
    fn a_miss_says_what_it_misses_and_on_how_many_devices_something_fits() {
        let query = query();
        let near = query.design.clone();
        let miss = Miss {
            metrics: metrics(&near),
            design: near,
            misses: vec!["1.5 GiB of device memory".to_owned()],
            tried_devices: true,
            fewest_devices: None,
        };
        let answer = Answer { designs: vec![], miss: Some(miss), ..answer(&query) };
        let tree = tree(&query, &answer);
        let miss = tree.get("miss").expect("the nearest miss");
        assert_eq!(miss.get("knobs"), Some(&Tree::Map(vec![])));
        assert_eq!(miss.get("misses"), Some(&Tree::list(["1.5 GiB of device memory"])));
        assert_eq!(miss.get("fewest_devices"), Some(&Tree::Null));
    }
}
