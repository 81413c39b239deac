//! What is open at a place of a script.

use super::word::Text;

/// Compound command that is open at a place of the script.
pub(super) enum Frame {
    /// `if`: was a branch taken, or is it not known which is; and did what is outside skip?
    If { taken: Option<bool>, outside: bool },
    /// A loop: where its body begins, and the values that are left.
    Loop { name: String, left: Vec<Text>, body: usize, line: u64, outside: bool },
    /// `for ((..; condition; step))` and `while`: where the condition and the body stand.
    While { head: Head, body: usize, line: u64, outside: bool },
    /// `case`: its word, whether a pattern matched.
    Case { word: String, taken: bool, outside: bool },
}

/// Head of a loop, which decides whether its body repeats.
pub(super) enum Head {
    /// Nothing: the body is read once.
    Once,
    /// An arithmetic condition, and a step behind each round.
    Arithmetic { condition: String, step: String },
    /// A condition at a place.
    At(usize, u64),
}
