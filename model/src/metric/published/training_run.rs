//! Published metrics of training runs that presets describe.

use super::figure::Figure;
use crate::ground::source::{HUAWEI_OPERATORS, PANGU_ULTRA_MOE, Source};
use crate::metric::table::MetricId;
use crate::metric::unit::Unit;

/// A published metric of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunFigure {
    /// Preset that describes the run.
    pub preset: &'static str,
    /// The metric, by our definition as close as the source allows.
    pub metric: MetricId,
    /// The value.
    pub figure: Figure,
}

const fn row(
    preset: &'static str,
    metric: MetricId,
    (value, unit): (f64, Unit),
    source: Source,
    place: &'static str,
) -> RunFigure {
    RunFigure { preset, metric, figure: Figure::new(value, unit, source, place) }
}

const MFU: MetricId = MetricId::mfu;
const RATE: MetricId = MetricId::tokens_per_second_per_device;
const PER_DEVICE: Unit = Unit::TokensPerSecond;

/// The rows. Throughputs are of one device: 0.61 million tokens/s of the baseline's 4,096 NPUs.
#[rustfmt::skip]
pub const TRAINING_RUNS: &[RunFigure] = &[
    row("pangu-ultra-moe-6k@2", RATE, (237.6, PER_DEVICE), PANGU_ULTRA_MOE, "final run"),
    row("pangu-ultra-moe-6k@2", MFU, (0.300, Unit::Ratio(1)), PANGU_ULTRA_MOE, "abstract"),
    row("pangu-ultra-moe-6k-followup", MFU, (0.41, Unit::Ratio(0)), HUAWEI_OPERATORS, "follow-up"),
    row("pangu-ultra-moe-4k-baseline@2", RATE, (148.9, PER_DEVICE), PANGU_ULTRA_MOE, "baseline"),
    row("pangu-ultra-moe-4k-baseline@2", MFU, (0.189, Unit::Ratio(1)), PANGU_ULTRA_MOE, "baseline"),
];

/// Published metrics of a preset's run.
pub fn of_preset(preset: &str) -> impl Iterator<Item = &'static RunFigure> {
    TRAINING_RUNS.iter().filter(move |row| row.preset == preset)
}
