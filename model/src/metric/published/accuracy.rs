//! Published accuracies of models that keep some of their experts: nothing is interpolated between
//! the rows.

use super::figure::Figure;
use crate::ground::source::PREMOE;
use crate::metric::unit::Unit;

/// A published accuracy of a model that keeps some of its experts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The model that was measured.
    pub model: &'static str,
    /// Presets with its architecture.
    pub presets: &'static [&'static str],
    /// Experts that a token visits.
    pub topk: u64,
    /// Experts kept of each layer.
    pub kept: u64,
    /// Benchmark of the accuracy.
    pub benchmark: &'static str,
    /// Share of right answers.
    pub figure: Figure,
}

const R1: (&str, &[&str]) = ("DeepSeek-R1", &["deepseek-v3"]);
const PANGU: (&str, &[&str]) =
    ("Pangu Ultra MoE", &["pangu-ultra-moe-718b", "pangu-ultra-moe-6k", "pangu-ultra-moe-6k@2"]);

const fn row(
    (model, presets): (&'static str, &'static [&'static str]),
    [topk, kept]: [u64; 2],
    benchmark: &'static str,
    accuracy: f64,
) -> Accuracy {
    let figure = Figure::new(accuracy, Unit::Ratio(2), PREMOE, "abstract");
    Accuracy { model, presets, topk, kept, benchmark, figure }
}

/// The rows.
#[rustfmt::skip]
pub const ACCURACIES: &[Accuracy] = &[
    row(R1, [8, 128], "MATH500", 0.972),
    row(R1, [8, 32], "MATH500", 0.72),
    row(PANGU, [8, 128], "MATH500", 0.9715),
    row(PANGU, [8, 128], "AIME24", 0.813),
    row(PANGU, [4, 64], "MATH500", 0.9695),
];
