//! Measured times of single kernels beside what the model predicts for them in a microbenchmark.
//!
//! The tables are in `crates/validation/kernels`, with where they come from. Shapes are cut in two
//! halves by a hash of their sizes: one to fit the levels of `model::catalogue::calibration` on,
//! one to hold them to.

mod table;
mod attention;
mod cast;
pub mod collective;
pub mod deepep;
mod gemm;
mod grouped;
mod scan;

use std::collections::BTreeMap;

use model::MODEL_VERSION;
use model::answer::microbench::Burst;
use model::catalogue::accelerator::{Accelerator, AcceleratorId};
use model::ground::choice::{Choice, Precision};

use crate::report::Target;
use crate::report::kernels::{KernelGroup, KernelValidation, Measured, PartRatio};
use crate::statistics;

/// Work of a kernel: enough to predict its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Work {
    /// A matrix product.
    Product(gemm::Product),
    /// Flash attention, causal, forward.
    Attention(attention::Attention),
    /// A layer of experts.
    Experts(grouped::Experts),
    /// 16-bit elements made 8-bit ones.
    Cast(cast::Cast),
    /// A chunked scan, or the convolution in front of it.
    Scan(scan::Kernel),
}

impl Work {
    /// Time in a microbenchmark, in microseconds.
    pub(crate) fn micros(&self, burst: &Burst) -> f64 {
        1e6 * match self {
            Self::Product(product) => product.seconds(burst),
            Self::Attention(attention) => attention.seconds(burst),
            Self::Experts(experts) => experts.seconds(burst),
            Self::Cast(cast) => cast.seconds(burst),
            Self::Scan(kernel) => kernel.seconds(burst),
        }
    }
}

/// A kernel of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    /// Its kind, as in [`Measured::kind`].
    pub(crate) kind: &'static str,
    /// The part that it was measured on.
    pub(crate) part: AcceleratorId,
    /// Its precision.
    pub(crate) precision: Precision,
    /// Its sizes.
    pub(crate) shape: String,
    /// Its work.
    pub(crate) work: Work,
    /// Measured time, in microseconds.
    pub(crate) measured_us: f64,
}

impl Case {
    /// Whether it is of the half that no constant is fitted on.
    pub(crate) fn is_held_out(&self) -> bool {
        is_held_out(&self.shape)
    }

    /// Time on an accelerator in microseconds; NaN if it has no peak at this precision.
    pub(crate) fn micros(&self, accelerator: &Accelerator) -> f64 {
        let burst = Burst::new(accelerator, self.precision);
        burst.map_or(f64::NAN, |burst| self.work.micros(&burst))
    }

    fn measured(&self, accelerator: &Accelerator) -> Measured {
        Measured {
            table: "aiconfigurator".to_owned(),
            kind: self.kind.to_owned(),
            part: self.part.name().to_owned(),
            precision: precision_name(self.precision).to_owned(),
            shape: self.shape.clone(),
            measured_us: self.measured_us,
            predicted_us: self.micros(accelerator),
            is_held_out: self.is_held_out(),
        }
    }
}

/// Whether a shape is kept from the fit: one half is, by a hash (FNV-1a) of its name, so that a
/// shape is on the same side for every accelerator.
pub(crate) fn is_held_out(shape: &str) -> bool {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    // The lowest bits of a product depend on few of the letters.
    shape.bytes().fold(0xcbf2_9ce4_8422_2325, step) >> 32 & 1 == 1
}

/// The kernels that `model::catalogue::calibration` has levels of.
pub(crate) fn cases() -> Vec<Case> {
    [
        gemm::cases(),
        attention::cases(),
        attention::latent_cases(),
        grouped::cases(),
        cast::cases(),
        scan::cases(),
    ]
    .concat()
}

/// The tables' names of number formats.
const PRECISIONS: [(&str, Precision); 4] = [
    ("bf16", Precision::Bf16),
    ("fp8", Precision::Fp8Tensorwise),
    ("fp8_block", Precision::Fp8Blockwise),
    ("nvfp4", Precision::Nvfp4),
];

fn precision_name(precision: Precision) -> &'static str {
    PRECISIONS.iter().find(|(_, known)| *known == precision).map_or("", |(name, _)| name)
}

/// The tables' names of parts.
const PARTS: [(&str, AcceleratorId); 7] = [
    ("a100_sxm", AcceleratorId::A100Sxm80gb),
    ("h100_sxm", AcceleratorId::H100Sxm80gb),
    ("h200_sxm", AcceleratorId::H200Sxm141gb),
    ("b200_sxm", AcceleratorId::B200),
    ("b300_sxm", AcceleratorId::B300),
    ("gb200", AcceleratorId::Gb200),
    ("gb300", AcceleratorId::Gb300),
];

/// The accelerator that a table names.
pub(crate) fn part(system: &str) -> Option<AcceleratorId> {
    PARTS.iter().find(|(name, _)| *name == system).map(|(_, part)| *part)
}

/// Predicts every measured kernel and scores the predictions.
#[must_use]
pub fn validate() -> KernelValidation {
    validate_on(AcceleratorId::row)
}

/// Validation with other accelerators in place of the measured ones: what wrong constants do.
#[must_use]
pub fn validate_on(
    accelerator: impl Fn(AcceleratorId) -> &'static Accelerator,
) -> KernelValidation {
    let measured = |case: &Case| case.measured(accelerator(case.part));
    let mut measured: Vec<Measured> = cases().iter().map(measured).collect();
    measured.extend(collective::measured());
    measured.extend(deepep::measured());
    let (groups, ratios) = (groups(&measured), ratios(&measured));
    KernelValidation {
        targets: targets(&groups, &ratios),
        groups,
        ratios,
        measured,
        model_version: MODEL_VERSION.to_owned(),
    }
}

/// Measured over predicted.
fn level(kernel: &Measured) -> f64 {
    kernel.measured_us / kernel.predicted_us
}

/// The family of a part; empty for one that the model doesn't have.
fn family(part: &str) -> &'static str {
    AcceleratorId::from_name(part).map_or("", |part| part.row().kernels.family)
}

/// Groups by kind, part and precision, with errors after one factor for a kind on a family's parts.
fn groups(measured: &[Measured]) -> Vec<KernelGroup> {
    type Key<'a> = (&'a str, &'a str, &'a str);
    let mut factors: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    let mut groups: BTreeMap<Key<'_>, Vec<&Measured>> = BTreeMap::new();
    for kernel in measured {
        let key = (kernel.kind.as_str(), kernel.part.as_str(), kernel.precision.as_str());
        groups.entry(key).or_default().push(kernel);
        if !kernel.is_held_out {
            factors.entry((key.0, family(key.1))).or_default().push(level(kernel));
        }
    }
    let group = |((kind, part, precision), kernels): (Key<'_>, Vec<&Measured>)| {
        let factor = factors
            .get(&(kind, family(part)))
            .filter(|_| !LINKS.contains(&kind))
            .map_or(1.0, |levels| statistics::percentile(levels, 0.5));
        let levels: Vec<f64> = kernels.iter().map(|kernel| level(kernel)).collect();
        let held_out = kernels.iter().filter(|kernel| kernel.is_held_out);
        let errors: Vec<f64> =
            held_out.map(|kernel| (factor / level(kernel) - 1.0).abs()).collect();
        let at =
            |share| if errors.is_empty() { 0.0 } else { statistics::percentile(&errors, share) };
        KernelGroup {
            kind: kind.to_owned(),
            part: part.to_owned(),
            precision: precision.to_owned(),
            shapes: kernels.len(),
            level: statistics::percentile(&levels, 0.5),
            held_out: errors.len(),
            median: at(0.5),
            p90: at(0.9),
        }
    };
    groups.into_iter().map(group).collect()
}

/// Parts that a published ratio is known of, the faster first.
const RATIOS: [[AcceleratorId; 2]; 4] = [
    [AcceleratorId::H200Sxm141gb, AcceleratorId::H100Sxm80gb],
    [AcceleratorId::Gb200, AcceleratorId::B200],
    [AcceleratorId::B300, AcceleratorId::B200],
    [AcceleratorId::Gb300, AcceleratorId::Gb200],
];

/// Microseconds from which on a product tells of its part's level: below, launches and memory
/// count.
pub(crate) const LARGE_US: f64 = 50.0;

fn ratios(measured: &[Measured]) -> Vec<PartRatio> {
    let products = measured.iter().filter(|kernel| kernel.kind == "gemm");
    let times: BTreeMap<(&str, &str, &str), &Measured> = products
        .map(|kernel| ((&*kernel.part, &*kernel.precision, &*kernel.shape), kernel))
        .collect();
    let mut ratios = vec![];
    for parts in RATIOS {
        let [first, second] = parts.map(Choice::name);
        for (precision, _) in PRECISIONS {
            let both = times.iter().filter_map(|((part, of, shape), fast)| {
                let is_it = *part == first && *of == precision && fast.measured_us >= LARGE_US;
                is_it.then(|| Some((*fast, *times.get(&(second, precision, *shape))?)))?
            });
            let both: Vec<(&Measured, &Measured)> = both.collect();
            if both.is_empty() {
                continue;
            }
            let median = |of: fn(&Measured) -> f64| {
                let all: Vec<f64> = both.iter().map(|(fast, slow)| of(slow) / of(fast)).collect();
                statistics::percentile(&all, 0.5)
            };
            ratios.push(PartRatio {
                parts: [first.to_owned(), second.to_owned()],
                precision: precision.to_owned(),
                shapes: both.len(),
                measured: median(|kernel| kernel.measured_us),
                predicted: median(|kernel| kernel.predicted_us),
            });
        }
    }
    ratios
}

/// Kinds with the largest median error on shapes held out that a part and precision may have.
const LIMITS: [(&str, f64); 8] = [
    ("gemm", 0.08),
    ("attention", 0.12),
    ("mla", 0.12),
    ("grouped", 0.2),
    ("scan", 0.25),
    ("convolution", 0.25),
    ("collective", 0.2),
    ("deepep", 0.2),
];

/// Kinds that no factor of a family is taken off before they are compared: they wait for links.
const LINKS: [&str; 2] = ["collective", "deepep"];

/// Names of kinds in the texts of targets.
const WORDS: [(&str, &str); 7] = [
    ("gemm", "matrix products"),
    ("mla", "latent attention"),
    ("grouped", "layers of experts"),
    ("scan", "chunked scans"),
    ("convolution", "convolutions over time"),
    ("collective", "collectives of 64 KB and more"),
    ("deepep", "exchanges of experts"),
];

/// Largest relative error of a ratio between parts.
const RATIO_LIMIT: f64 = 0.05;

/// The largest of these errors; beyond any limit where one is no number, or nothing was compared.
fn largest(errors: impl Iterator<Item = f64>) -> f64 {
    let errors = errors.map(|error| if error.is_nan() { f64::INFINITY } else { error });
    errors.reduce(f64::max).unwrap_or(f64::INFINITY)
}

fn targets(groups: &[KernelGroup], ratios: &[PartRatio]) -> Vec<Target> {
    let target = |name: &str, asked: String, reached: f64, limit: f64| Target {
        name: name.to_owned(),
        asked,
        reached,
        limit,
        met: reached <= limit,
    };
    let of_kind = |(kind, limit): (&str, f64)| {
        let medians = groups.iter().filter(|group| group.kind == kind).map(|group| group.median);
        let words = WORDS.iter().find(|(of, _)| *of == kind).map_or(kind, |(_, words)| words);
        let asked = format!("largest median error of {words} on shapes held out");
        target(kind, asked, largest(medians), limit)
    };
    let off = |ratio: &PartRatio| (ratio.predicted / ratio.measured - 1.0).abs();
    let asked = "largest error of a ratio between two parts' matrix products".to_owned();
    let worst = largest(ratios.iter().map(off));
    let mut targets: Vec<Target> = LIMITS.into_iter().map(of_kind).collect();
    targets.push(target("parts", asked, worst, RATIO_LIMIT));
    targets
}
