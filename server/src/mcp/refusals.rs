//! Refusals as the protocol has them: the first of what is wrong, in words and as data.

use model::design::file::Tree;
use operations::{Refusal, Wrong};
use rmcp::model::JsonObject;
use serde::Serialize;
use serde_json::Value;

/// Maximum number of errors that are listed.
const MAX_ERRORS: usize = 20;

/// Errors that are listed.
#[derive(Serialize)]
pub(super) struct Listed {
    errors: Vec<Entry>,
}

/// Something in a request that can't be used.
#[derive(Serialize)]
struct Entry {
    rule: String,
    /// The argument or knob that it is about; empty for the request as a whole.
    at: String,
    detail: String,
    /// Values that would be taken.
    nearest: Vec<String>,
}

impl Listed {
    /// All that is wrong, or the first of it and that there is more.
    pub(super) fn of(refusal: Refusal) -> Self {
        let count = refusal.errors.len();
        let mut errors: Vec<_> = refusal.errors.into_iter().take(MAX_ERRORS).map(entry).collect();
        if count > MAX_ERRORS {
            let detail = "there are more errors than are listed here";
            errors.push(entry(Wrong::new("more_errors", "", detail)));
        }
        Self { errors }
    }

    /// One line for each error, with its rule.
    pub(super) fn text(&self) -> String {
        let line = |wrong: &Entry| match wrong.nearest.as_slice() {
            [] => format!("{}: {}", wrong.rule, wrong.detail),
            near => format!("{}: {} (nearest: {})", wrong.rule, wrong.detail, near.join(", ")),
        };
        self.errors.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn entry(Wrong { rule, at, detail, nearest, argument, .. }: Wrong) -> Entry {
    let at = match argument.as_str() {
        "" => at,
        argument => format!("{argument}.{at}"),
    };
    Entry { rule, at, detail, nearest }
}

/// The arguments of a call as a tree.
///
/// # Errors
/// A number that no tree holds.
pub(super) fn tree(arguments: JsonObject) -> Result<Tree, Refusal> {
    let tree = serde_json::from_value(Value::Object(arguments));
    tree.map_err(|error| Refusal::new("wrong_arguments", "", error.to_string()))
}
