//! Remarks on an imported text, a line each: what it leaves open, what isn't known of it, and what
//! was assumed.

use interchange::{Assumed, Question, Unknown};

/// A question, with how it is answered.
#[must_use]
pub fn question(question: &Question) -> String {
    let guess = question.guess.as_deref();
    let value = guess.unwrap_or("VALUE");
    let name = &question.name;
    let answer = match name.as_str() {
        "model" => format!("--answer model={value}, or give its config.json, too"),
        _ if name.contains(' ') => format!("--answer '{name}={value}'"),
        _ => format!("--answer {name}={value}"),
    };
    let taken = if guess.is_some() { " is taken until then" } else { "" };
    let place = match &question.file {
        Some(file) => format!("{file}, {}", self::place(question.line)),
        None => self::place(question.line),
    };
    format!("asked: {place}{} ({answer}{taken})", question.purpose)
}

/// A key that isn't known.
#[must_use]
pub fn unknown(unknown: &Unknown) -> String {
    let nearest = unknown.nearest.as_ref();
    let nearest = nearest.map(|name| format!(" (nearest: {name})")).unwrap_or_default();
    format!("unknown: {}{}{nearest}", place(unknown.line), unknown.key)
}

/// Assumption about what the text doesn't say.
#[must_use]
pub fn assumed(assumed: &Assumed) -> String {
    format!("assumed: {}", assumed.detail)
}

fn place(line: u64) -> String {
    if line == 0 { String::new() } else { format!("line {line}: ") }
}
