//! The content of a design's card: the page's own words and numbers.

use model::design::Design;
use model::metric::MetricId;
use model::training::estimate::StageMemory;
use model::{MODEL_VERSION, MemoryState, Plan};
use present::format;
use present::insight::headline::headlines;
use present::insight::memory_state;
use present::insight::numbers::Numbers;
use present::words::name;

/// The metrics on a card, in their order.
const SHOWN: [MetricId; 4] = [
    MetricId::mfu,
    MetricId::tokens_per_second_per_device,
    MetricId::step_time_seconds,
    MetricId::memory_peak_bytes,
];

/// Texts of a card.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    /// The design's name.
    pub(crate) title: String,
    /// Difference of the design from it.
    pub(crate) changed: String,
    pub(crate) body: Body,
    /// Version of the model that said so.
    pub(crate) version: String,
}

/// Main part of a card: the numbers of a design that runs, or why it can't.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    Numbers(Face),
    /// The first rule that it breaks.
    Broken(String),
}

/// The numbers of a design that runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Face {
    pub(crate) figures: Vec<Figure>,
    /// Sentence on how sure it is that the design fits.
    pub(crate) verdict: String,
    pub(crate) state: MemoryState,
    /// Parts of the memory of each stage in GiB, from the foot up.
    pub(crate) stages: Vec<[f64; StageMemory::LABELS.len()]>,
    pub(crate) limit_gib: f64,
    /// The limit, as the page writes it.
    pub(crate) limit: String,
}

/// A headline number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figure {
    pub(crate) title: &'static str,
    pub(crate) number: String,
    pub(crate) unit: &'static str,
    pub(crate) line: String,
}

impl Card {
    /// The card of a design.
    pub(crate) fn from_design(design: &Design) -> Self {
        let changed = match design.changed().len() {
            0 => "the preset as it is".to_owned(),
            count => format::counted(count as u64, "knob changed", "knobs changed"),
        };
        let body = match Plan::new(design) {
            Ok(plan) => Body::Numbers(face(&Numbers::new(plan))),
            Err(violations) => {
                let first = violations.into_iter().next();
                let first = first.map(|violation| violation.message).unwrap_or_default();
                Body::Broken(present::insight::recorded::lacking(design).unwrap_or(first))
            }
        };
        let title = name::title(design);
        Self { title, changed, body, version: format!("model {MODEL_VERSION}") }
    }
}

fn face(numbers: &Numbers) -> Face {
    let metrics = &numbers.estimate.metrics;
    let headlines = headlines(numbers);
    let figures = SHOWN.iter().filter_map(|id| {
        let headline = headlines.iter().find(|headline| headline.metric == *id)?;
        Some(Figure {
            title: headline.title,
            number: headline.shown.number.clone(),
            unit: headline.shown.unit,
            line: headline.line.clone(),
        })
    });
    let stages = numbers.estimate.stages.iter();
    Face {
        figures: figures.collect(),
        verdict: memory_state::sentence(numbers),
        state: metrics.memory_state(),
        stages: stages.map(|stage| stage.memory.parts().map(|part| part.to_gib())).collect(),
        limit_gib: metrics.memory_limit.to_gib(),
        limit: format::memory(metrics.memory_limit).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use model::design::link;

    use super::*;

    #[test]
    fn a_card_has_a_number_for_each_metric_that_it_shows() {
        for query in ["", "preset=deepseek-v3-2k-h800", "mbs=4"] {
            let card = Card::from_design(&link::decode(query).unwrap());
            let Body::Numbers(face) = card.body else { panic!("{query} runs") };
            assert_eq!(face.figures.len(), SHOWN.len());
            assert!(face.stages.len() > 1 && face.limit_gib > 1.0, "{query}");
            assert!(face.verdict.starts_with(face.state.label()), "{query}");
        }
    }

    #[test]
    fn a_design_that_cannot_run_has_a_card_that_says_why() {
        let design = link::decode("pp=12").unwrap();
        let violations = Plan::new(&design).unwrap_err();
        let card = Card::from_design(&design);
        assert_eq!(card.body, Body::Broken(violations[0].message.clone()));
        assert_eq!(card.changed, "1 knob changed");
    }
}
