//! Remarks on an import, in lines for people.

use interchange::Import;
use present::format;

use crate::refusal::Wrong;
use crate::remarks::{assumed, question, unknown};

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
