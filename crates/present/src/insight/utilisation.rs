//! MFU over each peak that it may be counted against: the one that devices compute at, and that of
//! 16 bits or of the design.
//!
//! FP8's matrix products have twice BF16's peak, and many papers count MFU over BF16's all the
//! same. Both are shown, so that no share of a peak is above what its kernels can reach.

use model::Plan;
use model::ground::choice::Precision;
use model::ground::units::FlopsPerSecond;
use model::training::estimate::Metrics;

use crate::format;

/// Peaks that differ by less are the same: data sheets round 989.4 to 989.
const SAME_PEAK: f64 = 1e-3;

/// A peak of a device, and what MFU is of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfPeak {
    /// Name of the peak: `FP8`; `set` for one of the design's own.
    pub peak: &'static str,
    /// The peak.
    pub rate: FlopsPerSecond,
    /// Model FLOPs over it.
    pub mfu: f64,
}

/// MFU over the peak that devices compute at, and over the other one that people count against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Utilisation {
    /// MFU over the peak of matrix products in the design's number format.
    pub computed: OfPeak,
    /// MFU over the peak that the design counts against; BF16's if it counts against a narrower
    /// format's. `None` if that is the same peak.
    pub other: Option<OfPeak>,
}

impl Utilisation {
    /// MFU of a plan over each of its peaks.
    #[must_use]
    pub fn of(plan: &Plan, metrics: &Metrics) -> Self {
        let design = plan.design();
        let precision = design.training.precision;
        let rate = model::peak_flops(design).unwrap_or(FlopsPerSecond::tera(1.0));
        let counted = design.training.peak_for_mfu.map_or(rate, FlopsPerSecond::tera);
        // Model FLOPs per second of a device.
        let done = metrics.mfu * counted.get();
        let of = |peak, rate: FlopsPerSecond| OfPeak { peak, rate, mfu: done / rate.get() };
        let is_same = |one: FlopsPerSecond, other: FlopsPerSecond| {
            (one.get() / other.get() - 1.0).abs() < SAME_PEAK
        };
        let mut wide = design.clone();
        wide.training.precision = Precision::Bf16;
        let wide = model::peak_flops(&wide).filter(|_| is_narrow(precision));
        let other = if is_same(counted, rate) {
            wide.map(|wide| of(word(Precision::Bf16), wide))
        } else if wide.is_some_and(|wide| is_same(wide, counted)) {
            Some(of(word(Precision::Bf16), counted))
        } else {
            Some(of(SET, counted))
        };
        Self { computed: of(word(precision), rate), other }
    }

    /// Note for a chart of shares of the peak; `None` with a single peak.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let other = self.other?;
        let said = |it: OfPeak| {
            let share = format::percent(it.mfu, 1);
            let rate = format::significant(it.rate.get() / 1e12, 4);
            let whose =
                if it.peak == SET { "set peak".into() } else { format!("{} peak", it.peak) };
            format!("{share} of the {whose}, {rate} TFLOPS")
        };
        Some(format!("MFU is {} and {}", said(self.computed), said(other)))
    }
}

/// Name of a peak that the design sets itself.
const SET: &str = "set";

/// Whether the operands of matrix products are narrower than 16 bits.
#[must_use]
pub const fn is_narrow(precision: Precision) -> bool {
    precision.operand_bytes() < Precision::Bf16.operand_bytes()
}

/// The name of the peak of a number format: formats of one width have one.
#[must_use]
pub const fn word(precision: Precision) -> &'static str {
    match precision {
        Precision::Bf16 => "BF16",
        Precision::Fp16 => "FP16",
        Precision::Fp32 => "FP32",
        Precision::Fp8Delayed
        | Precision::Fp8Tensorwise
        | Precision::Fp8Blockwise
        | Precision::Mxfp8 => "FP8",
        Precision::Nvfp4 => "FP4",
    }
}

#[cfg(test)]
mod tests {
    use model::design::Design;
    use model::estimate;

    use super::*;

    fn of(preset: &str, knobs: &str) -> (Utilisation, f64) {
        let query = format!("v=1&preset={preset}{knobs}");
        let design: Design = model::design::link::decode(&query).expect("a design");
        let plan = Plan::new(&design).expect("a legal design");
        let metrics = estimate(&plan).metrics;
        (Utilisation::of(&plan, &metrics), metrics.mfu)
    }

    #[test]
    fn fp8_is_counted_over_its_own_peak_and_over_the_one_of_bf16() {
        for knobs in ["", "&training.peak_for_mfu=none"] {
            let (found, mfu) = of("deepseek-v3-2k-h800", knobs);
            let other = found.other.expect("two peaks");
            assert_eq!([found.computed.peak, other.peak], ["FP8", "BF16"]);
            assert!((found.computed.mfu * 1_979.0 / 989.0 / other.mfu - 1.0).abs() < 1e-9);
            let own = if knobs.is_empty() { other.mfu } else { found.computed.mfu };
            assert!((own / mfu - 1.0).abs() < 1e-3, "{own} {mfu}");
            assert!(found.computed.mfu < 0.5 * other.mfu + 1e-3);
        }
    }

    #[test]
    fn one_peak_needs_no_note_and_a_set_one_is_named() {
        for knobs in ["", "&kernel.framework=ideal&training.precision=fp16"] {
            let (found, mfu) = of("pangu-ultra-moe-6k", knobs);
            assert_eq!(found.note(), None);
            assert!((found.computed.mfu / mfu - 1.0).abs() < 1e-9);
        }
        let (found, _) = of("pangu-ultra-moe-6k", "&training.peak_for_mfu=353.9");
        let note = found.note().expect("two peaks");
        assert!(note.ends_with(" of the set peak, 353.9 TFLOPS"), "{note}");
    }
}
