//! Remarks on an import, in lines for people.

use interchange::{Assumed, Import, Question, Unknown};
use present::format;

use crate::refusal::Wrong;

/// Remarks beside the design, in lines; everything that is ignored for one reason is in one. Where
/// there is no design, the questions alone.
pub(super) fn remarks(import: &Import) -> Vec<String> {
    if import.design.is_none() {
        return import.questions.iter().map(question).collect();
    }
    let mut lines = vec![format!("read as: {}", import.dialect)];
    lines.extend(import.questions.iter().map(question));
    lines.extend(import.unknown.iter().map(unknown));
    lines.extend(import.assumed.iter().map(assumed));
    let mut reasons: Vec<&str> = vec![];
    for ignored in &import.ignored {
        if !reasons.contains(&ignored.reason.as_str()) {
            reasons.push(&ignored.reason);
        }
    }
    for reason in reasons {
        let same = import.ignored.iter().filter(|ignored| ignored.reason == reason);
        let keys: Vec<&str> = same.map(|ignored| ignored.key.as_str()).collect();
        lines.push(format!("ignored: {} ({reason})", keys.join(", ")));
    }
    lines.extend(carried(&import.carried));
    let violations = import.violations.iter().map(|it| Wrong::from(it).line());
    lines.extend(violations.map(|line| format!("breaks a rule: {line}")));
    lines
}

/// Arguments that the design carries and no knob reads, in a line.
fn carried(carried: &[String]) -> Option<String> {
    let count = carried.len() as u64;
    (count > 0).then(|| {
        let count = format::counted(count, "argument", "arguments");
        format!("carried: {count} that no knob reads, for exports ({})", carried.join(", "))
    })
}

/// A question, in a line, with how it is answered.
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

/// A key that isn't known, in a line.
#[must_use]
pub fn unknown(unknown: &Unknown) -> String {
    let nearest = unknown.nearest.as_ref();
    let nearest = nearest.map(|name| format!(" (nearest: {name})")).unwrap_or_default();
    format!("unknown: {}{}{nearest}", place(unknown.line), unknown.key)
}

/// Assumption about what the file doesn't say, in a line.
#[must_use]
pub fn assumed(assumed: &Assumed) -> String {
    format!("assumed: {}", assumed.detail)
}

fn place(line: u64) -> String {
    if line == 0 { String::new() } else { format!("line {line}: ") }
}
