//! A search for a layout as data: its answer for programs, and its query in words.
//!
//! Server, command line and browser give the same object for the same query. Only the seconds that
//! it took are added by whoever has a clock.

mod terms;

use model::design::{Design, KnobId};
use model::estimate::Metrics;
use model::file::Tree;
use model::find::{Answer, Goal, Miss, Query, Recommendation, Target};
use model::{MODEL_VERSION, Plan, link};

use crate::predicted;

pub use terms::Terms;

/// What a goal is called at the head of its design.
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

/// An answer: what `moescape find --json` prints and `POST /api/v1/find` answers, but the seconds.
#[must_use]
pub fn tree(query: &Query, answer: &Answer) -> Tree {
    let at_hand = &query.design;
    let designs = answer.designs.iter().map(|found| recommendation(query, found));
    let miss = answer.miss.as_ref().map_or(Tree::Null, |miss| missed(query, miss));
    let own = answer.at_hand.as_ref();
    let own = own.map_or(Tree::Null, |metrics| Tree::map(numbers(at_hand, metrics)));
    let size = answer.size.map_or(Tree::Null, |(knob, value)| {
        Tree::map([("knob", Tree::from(knob.id())), ("value", value.into())])
    });
    let ruled_out = answer.ruled_out.iter().map(|ruled_out| {
        let reason = Tree::from(ruled_out.reason.as_str());
        Tree::map([("reason", reason), ("designs", ruled_out.designs.into())])
    });
    Tree::map([
        ("designs", Tree::List(designs.collect())),
        ("miss", miss),
        ("at_hand", own),
        ("size", size),
        ("for_more", Tree::list(answer.for_more.iter().map(String::as_str))),
        ("ruled_out", Tree::List(ruled_out.collect())),
        ("space", answer.space.into()),
        ("evaluated", answer.evaluated.into()),
        ("simulated", answer.simulated.into()),
        ("goal", query.goal.name().into()),
        ("question", query.question.name().into()),
        ("targets", Tree::list(query.targets.iter().map(ToString::to_string))),
        ("keep", Tree::list(query.keep.iter().map(KnobId::id))),
        ("any_schedule", query.any_schedule.into()),
        ("model_version", MODEL_VERSION.into()),
    ])
}

fn recommendation(query: &Query, found: &Recommendation) -> Tree {
    let at_hand = &query.design;
    let [link, metrics, ranges] = numbers(&found.design, &found.metrics);
    Tree::map([
        ("label", Tree::from(found.label.map(Goal::name))),
        link,
        ("knobs", knobs(at_hand, &found.design)),
        metrics,
        ranges,
        ("run", run(query, &found.design, &found.metrics)),
        ("why", Tree::list(found.why.iter().map(String::as_str))),
        ("binds", found.binds.as_str().into()),
        ("margin", Tree::number(found.margin)),
        ("behind", Tree::number(found.behind)),
    ])
}

fn missed(query: &Query, miss: &Miss) -> Tree {
    let at_hand = &query.design;
    let [link, metrics, ranges] = numbers(&miss.design, &miss.metrics);
    Tree::map([
        link,
        ("knobs", knobs(at_hand, &miss.design)),
        metrics,
        ranges,
        ("run", run(query, &miss.design, &miss.metrics)),
        ("misses", Tree::list(miss.misses.iter().map(String::as_str))),
        ("fewest_devices", miss.fewest_devices.into()),
    ])
}

/// The numbers of the run that targets ask for.
fn run(query: &Query, design: &Design, metrics: &Metrics) -> Tree {
    let targets = query.targets.iter().filter_map(|target| match target {
        Target::Run(target) => Some(target),
        Target::AtLeast(..) | Target::AtMost(..) | Target::Spare(_) | Target::Devices(_) => None,
    });
    Tree::map(targets.map(|target| {
        let number = target.number(design, metrics);
        (target.metric.metric().name, number.map_or(Tree::Null, Tree::number))
    }))
}

/// What is said of any design: its link, its metrics and their ranges.
fn numbers(design: &Design, metrics: &Metrics) -> [(&'static str, Tree); 3] {
    let ranges = Plan::new(design).ok();
    let ranges = ranges.map_or(Tree::Map(vec![]), |plan| predicted::ranges(&plan, metrics));
    [
        ("link", format!("/?{}", link::encode(design)).into()),
        ("metrics", predicted::metrics(metrics)),
        ("ranges", ranges),
    ]
}

/// The knobs that differ from the current design, with their values.
fn knobs(at_hand: &Design, design: &Design) -> Tree {
    Tree::map(differences(at_hand, design).map(|id| (id.id(), Tree::from(&design.get(id)))))
}

#[cfg(test)]
mod tests {
    use model::design::KnobSet;
    use model::estimate;
    use model::find::{Question, RuledOut};
    use model::metric::MetricId;

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
            binds: "memory".to_owned(),
            margin: 0.25,
            behind: 0.0,
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
