//! An export as data, which `/export/{name}?report=json` answers, too.

use interchange::{Export, Figures, Reading, UnsupportedKnob};
use model::MODEL_VERSION;
use reports::typed::answers;

answers! {
    /// A file for another program, what it really says, and what to check before it is run.
    #[cfg_attr(feature = "schema", schemars(rename = "Export"))]
    struct Exported {
        /// The file.
        text: String,
        /// Whether peak memory or step time of what the file says differ from the design's by more
        /// than 2 %, or it breaks a rule or doesn't fit where the design does.
        differs: bool,
        /// What there is to say of it, a sentence in each.
        says: Vec<String>,
        /// What is predicted for the design; null where it breaks rules.
        design: Option<Predicted>,
        /// What is predicted for the file by its own words; null where those break rules.
        file: Option<Predicted>,
        /// Rules that the file breaks.
        broken: Vec<String>,
        /// Knobs that make the difference and that the file has no word for.
        lost: Vec<Left>,
        /// Everything that stands in comments alone.
        unsaid: Vec<Left>,
        /// What to check before the run.
        checks: Vec<String>,
        model_version: &'static str,
    }

    /// The figures that a difference is told by.
    struct Predicted {
        step_time_seconds: f64,
        memory_peak_bytes: f64,
        memory_limit_bytes: f64,
        mfu: f64,
        tokens_per_second: f64,
        fits: bool,
    }

    /// A knob that a file has no word for.
    struct Left {
        knob: String,
        value: String,
        reason: &'static str,
    }
}

/// An export with all that there is to say about it.
#[must_use]
pub fn report(export: &Export) -> Exported {
    let reading = export.reading.as_ref();
    let left = |list: &[UnsupportedKnob]| list.iter().map(left).collect();
    Exported {
        text: export.text.clone(),
        differs: reading.is_some_and(Reading::differs),
        says: reading.map(Reading::sentences).unwrap_or_default(),
        design: reading.and_then(|reading| reading.design.as_ref()).map(predicted),
        file: reading.and_then(|reading| reading.file.as_ref()).map(predicted),
        broken: reading.map(|reading| reading.broken.clone()).unwrap_or_default(),
        lost: reading.map(|reading| left(&reading.lost)).unwrap_or_default(),
        unsaid: left(&export.unsaid),
        checks: export.checks.clone(),
        model_version: MODEL_VERSION,
    }
}

/// A file that starts no run: it says of the design what it says, and nothing is lost.
pub(super) fn of_file(text: String) -> Exported {
    report(&Export { text, unsaid: vec![], checks: vec![], reading: None })
}

fn predicted(figures: &Figures) -> Predicted {
    Predicted {
        step_time_seconds: figures.step_seconds,
        memory_peak_bytes: figures.peak_bytes,
        memory_limit_bytes: figures.limit_bytes,
        mfu: figures.mfu,
        tokens_per_second: figures.tokens_per_second,
        fits: figures.fits,
    }
}

fn left(one: &UnsupportedKnob) -> Left {
    Left { knob: one.knob.id(), value: one.value.clone(), reason: one.reason }
}
