//! Reasons that the designs of every domain share, in lines for people.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::answer::Candidate;
use super::target::Predicted;
use crate::design::{Design, KnobSet};

/// The share of a speed that nobody would call a difference.
pub(super) const MAX_TIE_SHARE: f64 = 0.0005;

/// A share in percent with one digit.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Knobs of a set that differ from their neutral values.
pub(super) fn complexity(design: &Design, knobs: &KnobSet) -> usize {
    let neutral = Design::neutral(design.preset);
    knobs.iter().filter(|knob| design.get(*knob) != neutral.get(*knob)).count()
}

/// Lag of a design behind the fastest, as a share; zero if it is faster.
pub(super) fn behind<M: Predicted>(one: &Candidate<M>, fastest: &Candidate<M>) -> f64 {
    (1.0 - one.metrics.speed() / fastest.metrics.speed()).max(0.0)
}

/// Line on a speed against that of the current design.
pub(super) fn against(speed: f64, at_hand: f64) -> String {
    let gain = speed / at_hand - 1.0;
    if gain.abs() < MAX_TIE_SHARE {
        return String::from("As fast as the current design");
    }
    let word = if gain > 0.0 { "faster" } else { "slower" };
    format!("{} {word} than the current design", percent(gain.abs()))
}

/// Sizes of degrees with their letters; of those that are 1, TP and PP alone.
pub(super) fn letters(sizes: &[(&str, u64)]) -> String {
    let shown = sizes.iter().filter(|(name, size)| *size > 1 || matches!(*name, "TP" | "PP"));
    let texts: Vec<String> = shown.map(|(name, size)| format!("{name} {size}")).collect();
    texts.join(", ")
}

/// Line on the fastest of another kind, whose degrees have these letters.
pub(super) fn second<M: Predicted>(
    one: &Candidate<M>,
    other: &Candidate<M>,
    degrees: &str,
) -> String {
    let gap = percent(behind(other, one));
    format!("The next with other degrees ({degrees}) is {gap} slower")
}

/// Line on the settings of the simplest design.
pub(super) fn settings<M>(one: &Candidate<M>, fastest: &Candidate<M>, knobs: &KnobSet) -> String {
    format!(
        "Settings other than plain ones: {}, of the fastest {}",
        complexity(&one.design, knobs),
        complexity(&fastest.design, knobs)
    )
}

/// Line on the speed of a named design beside the fastest.
pub(super) fn lag<M: Predicted>(one: &Candidate<M>, fastest: &Candidate<M>) -> String {
    let gap = behind(one, fastest);
    if gap < MAX_TIE_SHARE {
        return String::from("As fast as the fastest");
    }
    format!("{} slower than the fastest", percent(gap))
}
