//! Text of a knob: meaning, values, unit, names and source.

use maud::html;
use model::design::KnobId;
use model::ground::knob::{Kind, MAX_NAME};

use crate::format;
use crate::html::source;

/// Text of a knob on a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its meaning, to be searched in.
    pub meaning: String,
    /// All of it, as HTML.
    pub html: String,
}

/// Text of each knob, in the order of the registry.
#[must_use]
pub fn abouts() -> Vec<About> {
    KnobId::ALL.iter().map(|id| about(*id)).collect()
}

fn about(id: KnobId) -> About {
    let (knob, words) = (id.knob(), id.words());
    let html = html! {
        p { (words.meaning) }
        dl {
            dt { "Id" }
            dd { a href={ "/guide/knobs#" (knob.name) } { code { (id.id()) } } }
            dt { "Values" }
            dd { (values_in_words(knob.kind)) }
            @if !knob.unit.is_empty() { dt { "Unit" } dd { (knob.unit) } }
            @if !knob.aliases.is_empty() {
                dt { "Also read as" }
                dd { code { (knob.aliases.join(", ")) } }
            }
            dt { "Source" }
            dd { (source(words.source)) }
        }
    };
    About { meaning: words.meaning.to_ascii_lowercase(), html: html.into_string() }
}

fn values_in_words(kind: Kind) -> String {
    match kind {
        Kind::Integer(low, high) => {
            format!("Whole numbers from {} to {}", format::whole(low), format::whole(high))
        }
        Kind::OptionalInteger(low, high) => {
            format!("Whole numbers from {} to {}, or none", format::whole(low), format::whole(high))
        }
        Kind::Real(low, high) => format!("Numbers from {low} to {high}"),
        Kind::OptionalReal(low, high) => format!("Numbers from {low} to {high}, or none"),
        Kind::Flag => "On or off".to_owned(),
        Kind::Choice(names) => names.join(", "),
        Kind::Subset(names) => format!("Any of {}", names.join(", ")),
        Kind::LayerFreq => "A whole number, or a pattern such as ([0]*3+[1]*58)".to_owned(),
        Kind::PerStage(high) => {
            format!("A whole number up to {}, one per stage, or none", format::whole(high))
        }
        Kind::PositionList(high) => {
            format!("Positions up to {}, comma-joined, or none", format::whole(high))
        }
        Kind::LayerPattern(text) => format!("A pattern such as {}, or none", text.example()),
        Kind::Layout => "A layout such as Et*3|(tt|)*29mL, or none".to_owned(),
        Kind::Hash => "The hash of a stored trace, or none".to_owned(),
        Kind::Name => format!("A name of up to {MAX_NAME} characters, or none"),
        Kind::Arguments => "Arguments such as rotary-base 10000, or none".to_owned(),
    }
}
