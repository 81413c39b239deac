//! An [`Input`] as a query string: readable, only what differs from the known example.

use model::design::link;
use model::ground::choice::{Choice, Method};

use super::input::{Field, Input, cut};
use super::methods;
use crate::site::Page;

/// The name of the method in the address.
pub const METHOD: &str = "method";

/// Bytes of a query string that are read.
const MAX_QUERY_BYTES: usize = 2_000;

/// A part of a link that isn't understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    /// The part, as it was written.
    pub part: String,
    /// Problem with it, in a sentence.
    pub message: String,
}

/// The query string, without the question mark; empty for the known example.
#[must_use]
pub fn encode(input: &Input) -> String {
    let first = Input::default();
    let mut parts = Vec::new();
    if input.method != first.method {
        parts.push(format!("{METHOD}={}", input.method.name()));
    }
    let usual = Some(methods::usual_chunks(input.method));
    for field in Field::ALL {
        let differs = if field == Field::Chunks {
            input.chunks.is_some() && input.chunks != usual
        } else {
            input.get(field) != first.get(field)
        };
        if differs {
            parts.push(format!("{}={}", field.key(), input.get(field)));
        }
    }
    parts.join("&")
}

/// The address of the page in this state.
#[must_use]
pub fn address(input: &Input) -> String {
    let query = encode(input);
    let joint = if query.is_empty() { "" } else { "?" };
    format!("{}{joint}{query}", Page::Schedule.path())
}

/// Reads a raw query string.
///
/// # Errors
///
/// Every part that isn't understood.
pub fn decode(raw: &str) -> Result<Input, Vec<LinkError>> {
    let (input, errors) = salvage(raw);
    if errors.is_empty() { Ok(input) } else { Err(errors) }
}

/// Reads a raw query string as far as possible, with everything that can't be read.
#[must_use]
pub fn salvage(raw: &str) -> (Input, Vec<LinkError>) {
    let raw = raw.strip_prefix('?').unwrap_or(raw);
    let (mut input, mut errors) = (Input::default(), Vec::new());
    if raw.len() > MAX_QUERY_BYTES {
        let message =
            format!("the link has {} bytes, at most {MAX_QUERY_BYTES} are read", raw.len());
        errors.push(LinkError { part: "link".to_owned(), message });
        return (input, errors);
    }
    let mut seen: Vec<String> = Vec::new();
    for part in raw.split('&').filter(|part| !part.is_empty()) {
        let outcome = read(part, &mut input, &mut seen);
        let shown = part.chars().take(80).collect();
        errors.extend(outcome.err().map(|message| LinkError { part: shown, message }));
    }
    (input, errors)
}

fn read(part: &str, input: &mut Input, seen: &mut Vec<String>) -> Result<(), String> {
    let (key, value) = part.split_once('=').ok_or_else(|| "has no value".to_owned())?;
    let [key, value] = [unescape(key)?, unescape(value)?];
    if seen.contains(&key) {
        return Err("stands in the link more than once".to_owned());
    }
    if key == METHOD {
        input.method = Method::from_name(&value).ok_or_else(|| {
            format!("there is no method {}, only {}", cut(&value), Method::NAMES.join(", "))
        })?;
    } else {
        let field = Field::ALL.into_iter().find(|field| field.key() == key);
        let field = field.ok_or_else(|| {
            let keys = Field::ALL.map(Field::key).join(", ");
            format!("there is no {}, only {METHOD}, {keys}", cut(&key))
        })?;
        input.set(field, &value)?;
    }
    seen.push(key);
    Ok(())
}

/// The text of a part of a query, in which forms write a space as a plus.
fn unescape(text: &str) -> Result<String, String> {
    link::unescape(&text.replace('+', " ")).map_err(|why| format!("has {why}"))
}
