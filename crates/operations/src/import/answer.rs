//! An import as data.

use interchange::Import;
use model::MODEL_VERSION;
use model::design::{KnobId, link};
use reports::report::{BrokenRule, broken};
use reports::typed::{DesignFile, answers};

answers! {
    /// A design of a text, and all that there is to say about it.
    #[cfg_attr(feature = "schema", schemars(rename = "Import"))]
    struct Imported {
        /// How it was read: `hf`, `megatron`, `mindspeed`, `serving` or `design`. Texts of
        /// frameworks around Megatron-LM are read as `megatron` or `mindspeed`.
        format: &'static str,
        /// Whose words the text has, as people say: `torchtitan`, `Megatron-LM's arguments`.
        dialect: &'static str,
        /// What differs from the preset; null where there are errors.
        design: Option<DesignFile>,
        /// The explorer's address of the design.
        link: Option<String>,
        /// Knobs that the text sets.
        set: Vec<Set>,
        /// What the text leaves open, and what was taken.
        assumed: Vec<Assumed>,
        /// Keys that change nothing that is modelled.
        ignored: Vec<Ignored>,
        /// Keys that aren't known.
        unknown: Vec<UnknownKey>,
        /// Arguments that no knob reads and that the design carries, so that an export has them.
        carried: Vec<String>,
        /// What the text leaves to whoever runs it.
        questions: Vec<Question>,
        /// Empty where there is a design.
        errors: Vec<ImportError>,
        /// Rules that the design breaks.
        violations: Vec<BrokenRule>,
        model_version: &'static str,
    }

    /// A knob that the text sets.
    struct Set {
        knob: String,
        value: String,
        /// The key or argument that says so.
        key: String,
        /// Line of the text, from 1; null where it is no single one.
        line: Option<u64>,
        /// The file, where there are several.
        file: Option<String>,
    }

    /// What was taken for what the text leaves open.
    struct Assumed {
        knob: Option<String>,
        detail: String,
    }

    /// A key that changes nothing.
    struct Ignored {
        key: String,
        line: Option<u64>,
        file: Option<String>,
        reason: String,
    }

    /// A key that isn't known.
    struct UnknownKey {
        key: String,
        line: Option<u64>,
        file: Option<String>,
        /// The known one that is like it.
        nearest: Option<String>,
    }

    /// What the text leaves open: ask the person who runs it.
    struct Question {
        /// What answers it: a knob's id (`set`), `env NAME`, `arg N` or `model`.
        name: String,
        line: Option<u64>,
        file: Option<String>,
        purpose: String,
        /// What the design has meanwhile.
        guess: Option<String>,
        /// What follows from the answer.
        follows: String,
    }

    /// Why there is no design.
    struct ImportError {
        key: String,
        line: Option<u64>,
        file: Option<String>,
        detail: String,
    }
}

/// An import as data.
pub(super) fn imported(import: &Import) -> Imported {
    let design = import.design.as_ref();
    Imported {
        format: import.format.name(),
        dialect: import.dialect,
        design: design.map(DesignFile::changes_of),
        link: design.map(|design| format!("/?{}", link::encode(design))),
        set: each(&import.set, |set| Set {
            knob: set.knob.id(),
            value: set.value.clone(),
            key: set.key.clone(),
            line: line(set.line),
            file: set.file.clone(),
        }),
        assumed: each(&import.assumed, |assumed| Assumed {
            knob: assumed.knob.map(KnobId::id),
            detail: assumed.detail.clone(),
        }),
        ignored: each(&import.ignored, |ignored| Ignored {
            key: ignored.key.clone(),
            line: line(ignored.line),
            file: ignored.file.clone(),
            reason: ignored.reason.clone(),
        }),
        unknown: each(&import.unknown, |unknown| UnknownKey {
            key: unknown.key.clone(),
            line: line(unknown.line),
            file: unknown.file.clone(),
            nearest: unknown.nearest.clone(),
        }),
        carried: import.carried.clone(),
        questions: each(&import.questions, |question| Question {
            name: question.name.clone(),
            line: line(question.line),
            file: question.file.clone(),
            purpose: question.purpose.clone(),
            guess: question.guess.clone(),
            follows: question.follows.clone(),
        }),
        errors: each(&import.errors, |fault| ImportError {
            key: fault.key.clone(),
            line: line(fault.line),
            file: fault.file.clone(),
            detail: fault.detail.clone(),
        }),
        violations: each(&import.violations, broken),
        model_version: MODEL_VERSION,
    }
}

fn each<T, U>(all: &[T], one: impl Fn(&T) -> U) -> Vec<U> {
    all.iter().map(one).collect()
}

/// A line of the text; `None` if it is no single one.
fn line(line: u64) -> Option<u64> {
    (line > 0).then_some(line)
}
