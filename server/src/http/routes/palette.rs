//! `GET /palette.json`: what the palette of every page can find by name.
//!
//! Not a part of the API: it has what the palette shows and nothing else, so that it is light.

mod words;

use std::sync::OnceLock;

use axum::response::Response;
use model::catalogue::accelerator::AcceleratorId;
use model::catalogue::preset::Preset;
use model::design::KnobId;
use model::design::file::Tree;
use model::ground::choice::Choice;
use model::ground::knob::Kind;
use model::metric::{MetricId, Regime};
use present::study::Study;
use present::words::name;

use super::json::json_response;
use crate::registry::Takes;
use crate::site::guide::{self, CHAPTERS};
use crate::site::language::Language;
use words::WORDS;

/// Chapters that list knobs and metrics, which the palette has by themselves.
const LISTS: [&str; 2] = ["knobs", "metrics"];

/// `{"knobs":[{"id","label","unit","aliases","values"}],
/// "values":[{"knob","label","value","title"}],"metrics":[{"id","label","about"}],
/// "presets":[{"id","title","story"}],"views":[{"id","title"}],
/// "chapters":[{"address","title","part","chinese":[TITLE,PART]}],"words":{TARGET:[WORD]}}`: what
/// can't be turned or opened isn't there.
pub(super) async fn palette() -> Response {
    static PALETTE: OnceLock<Tree> = OnceLock::new();
    json_response(PALETTE.get_or_init(tree))
}

fn tree() -> Tree {
    let metrics = MetricId::of(Regime::Training).map(|id| {
        let metric = id.metric();
        Tree::map([
            ("id", metric.name.into()),
            ("label", metric.label.into()),
            ("about", id.words().definition.into()),
        ])
    });
    let presets = Preset::all().filter(|preset| preset.refused.is_none()).map(|preset| {
        Tree::map([
            ("id", preset.id.into()),
            ("title", preset.title.into()),
            ("story", preset.story.into()),
            ("machine", name::part(preset.design().cluster.accelerator).into()),
        ])
    });
    let words = WORDS.iter().map(|(target, words)| {
        let words: Vec<&str> = words.split(',').map(str::trim).collect();
        ((*target).to_owned(), Tree::list(words))
    });
    Tree::map([
        ("knobs", Tree::List(offered().map(knob).collect())),
        ("values", Tree::List(offered().flat_map(values).collect())),
        ("metrics", Tree::List(metrics.collect())),
        ("presets", Tree::List(presets.collect())),
        ("views", Tree::List(VIEWS.iter().map(view).collect())),
        ("chapters", Tree::List((0..CHAPTERS.len()).flat_map(chapter).collect())),
        ("words", Tree::Map(words.collect())),
    ])
}

fn offered() -> impl Iterator<Item = KnobId> {
    KnobId::of_training()
}

fn knob(id: KnobId) -> Tree {
    let knob = id.knob();
    let values = Takes::for_knob(knob).values.map(|names| Tree::list(names.iter().copied()));
    Tree::map([
        ("id", id.id().into()),
        ("label", knob.label.into()),
        ("unit", knob.unit.into()),
        ("aliases", Tree::list(knob.aliases.iter().copied())),
        ("values", values.into()),
    ])
}

/// The values of a knob that takes one of several names.
fn values(id: KnobId) -> Vec<Tree> {
    let Kind::Choice(values) = id.knob().kind else { return vec![] };
    let row = |value: &&'static str| {
        Tree::map([
            ("knob", id.id().into()),
            ("label", id.knob().label.into()),
            ("value", (*value).into()),
            ("title", title(value).into()),
        ])
    };
    values.iter().map(row).collect()
}

/// Title of a value, for people.
fn title(value: &str) -> String {
    let part = AcceleratorId::from_name(value).map(|it| name::part(it).to_owned());
    part.or_else(|| name::value(value)).unwrap_or_else(|| value.to_owned())
}

/// The explorer's views, by the names of their studies, with what they are called where the page at
/// hand doesn't have them.
static VIEWS: [(&str, &str); Study::ALL.len() - 1] = [
    ("step", "Where the step goes"),
    ("memory", "Memory per pipeline stage"),
    ("composition", "Memory breakdown"),
    ("communication", "Communication"),
    ("bubble", "Bubble against micro-batches"),
    ("tradeoff", "Trade-off of recomputation and swapping"),
    ("timeline", "Timeline of a step"),
    ("balance", "Balance of the stages"),
    ("schedules", "This design under every schedule"),
    ("sensitivity", "Sensitivity: which knobs matter"),
    ("map", "Heat map"),
    ("loads", "Expert load"),
    ("roofline", "Roofline"),
    ("solve", "Solve for one knob"),
    ("transfer", "On other accelerators"),
    ("nearest", "Nearest measured run"),
    ("advice", "Try next"),
];

fn view((id, title): &(&'static str, &'static str)) -> Tree {
    Tree::map([("id", (*id).into()), ("title", (*title).into())])
}

/// A chapter of the guide and its parts, by their names in both languages.
fn chapter(place: usize) -> Vec<Tree> {
    let text = |language| guide::rendered(place, language);
    let (Some(chapter), Some(english), Some(chinese)) =
        (CHAPTERS.get(place), text(Language::English), text(Language::Chinese))
    else {
        return vec![];
    };
    let part = |address: String, heading: &str, said: &str| {
        Tree::map([
            ("address", address.into()),
            ("title", english.title.as_str().into()),
            ("part", heading.into()),
            ("chinese", Tree::list([chinese.title.as_str(), said])),
        ])
    };
    let parts = english.headings.iter().zip(&chinese.headings);
    let parts =
        parts.filter(|(it, _)| (2..=3).contains(&it.level) && !LISTS.contains(&chapter.name));
    let whole = part(chapter.address(), "", "");
    let parts = parts
        .map(|(it, said)| part(format!("{}#{}", chapter.address(), it.id), &it.text, &said.text));
    std::iter::once(whole).chain(parts).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use present::site::Page;

    use super::*;

    /// Whether there is what a target names; the script alone knows actions.
    fn is_there(target: &str) -> bool {
        let Some((kind, name)) = target.split_once(':') else { return false };
        match kind {
            "view" => VIEWS.iter().any(|(id, _)| *id == name),
            "knob" => offered().any(|id| id.id() == name),
            "metric" => MetricId::find_of(Regime::Training, name).is_some(),
            "preset" => Preset::all().any(|it| it.id == name && it.refused.is_none()),
            "page" => Page::at(name).path() == name,
            "guide" => CHAPTERS.iter().any(|chapter| chapter.address() == name),
            "action" => true,
            "value" => name.split_once('=').is_some_and(|(knob, value)| {
                let values = offered()
                    .find(|id| id.id() == knob)
                    .map(|id| Takes::for_knob(id.knob()).values);
                values.flatten().is_some_and(|values| values.contains(&value))
            }),
            _ => false,
        }
    }

    #[test]
    fn words_stand_for_what_there_is_and_each_once() {
        let mut seen = BTreeSet::new();
        for (target, words) in WORDS {
            assert!(is_there(target), "{target}");
            assert!(seen.insert(target), "{target} has two rows");
            let words: Vec<&str> = words.split(',').map(str::trim).collect();
            assert!(words.iter().all(|word| !word.is_empty()), "{target}");
            assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len(), "{target}");
        }
    }

    #[test]
    fn every_study_is_a_view_and_has_words() {
        let targets: BTreeSet<&str> = WORDS.iter().map(|(target, _)| *target).collect();
        for study in Study::views() {
            assert!(VIEWS.iter().any(|(id, _)| *id == study.id()), "{}", study.id());
        }
        for (id, _) in VIEWS {
            assert!(targets.contains(format!("view:{id}").as_str()), "{id}");
        }
    }

    #[test]
    fn values_are_called_what_people_call_them() {
        let values: Vec<Tree> = offered().flat_map(values).collect();
        let text = format!("{values:?}");
        for title in ["H100 SXM 80 GB", "ZB-H1", "DualPipe", "everything, ZeRO-3"] {
            assert!(text.contains(title), "{title}");
        }
    }
}
