//! Where the next source's runs are to be expected, from the errors of sources that were left out
//! of the fit: the spreads of [`model::catalogue::calibration`].

use std::collections::{BTreeMap, BTreeSet};

use model::catalogue::calibration::{AMPERE, ASCEND, BLACKWELL, HOPPER, ModelKind, Spread};

use model::training::range::MIN_SOURCES;

use crate::left_out::LeftOut;
use crate::statistics::weighted_percentile;

/// An error with the source that it is from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sourced<'a> {
    /// Publisher of the run.
    pub source: &'a str,
    /// ln(measured / predicted).
    pub log_ratio: f64,
}

/// Standard normal quantiles at 75 and 95 %: the ends of ranges of 50 and 90 %.
const NORMAL_ENDS: [f64; 2] = [0.674_490, 1.644_854];

/// Factor by which a range is widened for what n sources don't say of the next one: their spread,
/// Student's quantile with n - 1 degrees of freedom over the normal one, and their middle, the root
/// of 1 + 1 / n.
fn next_source(sources: usize, z: f64) -> f64 {
    student(sources, z) * (1.0 + 1.0 / sources.max(1) as f64).sqrt()
}

/// Student's quantile with n - 1 degrees of freedom over the normal one.
///
/// Source: Abramowitz and Stegun 26.7.5, the first four terms.
fn student(sources: usize, z: f64) -> f64 {
    let freedom = sources.saturating_sub(1).max(1) as f64;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    (z + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)) / z
}

/// The ranges of 50 and 90 % of these errors.
///
/// Each source has the same weight in all. The quantiles' distances from the median are widened by
/// [`next_source`].
fn ends(errors: &[Sourced<'_>]) -> [[f64; 2]; 2] {
    let mut of_source: BTreeMap<&str, f64> = BTreeMap::new();
    for error in errors {
        *of_source.entry(error.source).or_default() += 1.0;
    }
    let weigh = |error: &Sourced<'_>| {
        (error.log_ratio, 1.0 / of_source.get(error.source).copied().unwrap_or(1.0))
    };
    let weighed: Vec<(f64, f64)> = errors.iter().map(weigh).collect();
    let quantile = |share| weighted_percentile(&weighed, share);
    let median = quantile(0.5);
    let [half, most] = NORMAL_ENDS.map(|z| next_source(of_source.len(), z));
    let end = |share, factor: f64| median + factor * (quantile(share) - median);
    [[end(0.25, half), end(0.75, half)], [end(0.05, most), end(0.95, most)]]
}

/// Shares of errors inside ranges that were made without their source, each source with the same
/// weight.
fn coverage(errors: &[Sourced<'_>]) -> [f64; 2] {
    let sources: BTreeSet<&str> = errors.iter().map(|error| error.source).collect();
    if sources.len() < 2 {
        return [0.0; 2];
    }
    let of = |source: &str| -> [f64; 2] {
        let (own, others): (Vec<Sourced<'_>>, Vec<Sourced<'_>>) =
            errors.iter().partition(|error| error.source == source);
        ends(&others).map(|[low, high]| {
            let inside = own.iter().filter(|it| (low..=high).contains(&it.log_ratio)).count();
            inside as f64 / own.len() as f64
        })
    };
    let all: Vec<[f64; 2]> = sources.iter().map(|source| of(source)).collect();
    [0, 1].map(|index| all.iter().map(|shares| shares[index]).sum::<f64>() / all.len() as f64)
}

/// Errors of a family and kind; those of all families where it is empty.
fn of_kind<'a>(errors: &'a [LeftOut], family: &str, kind: ModelKind) -> Vec<Sourced<'a>> {
    errors
        .iter()
        .filter(|error| error.kind == kind.name())
        .filter(|error| family.is_empty() || error.family == family)
        .map(|error| Sourced { source: &error.source, log_ratio: error.log_ratio })
        .collect()
}

/// The ranges of 50 and 90 % that a run of this family, kind and source has by the other sources:
/// of its family where that has enough of them, else of all.
pub(crate) fn without(
    errors: &[LeftOut],
    (family, kind, source): (&str, ModelKind, &str),
) -> [[f64; 2]; 2] {
    let others = |family: &str| -> Vec<Sourced<'_>> {
        of_kind(errors, family, kind).into_iter().filter(|it| it.source != source).collect()
    };
    let sources = |errors: &[Sourced<'_>]| {
        errors.iter().map(|error| error.source).collect::<BTreeSet<&str>>().len()
    };
    let has_enough = sources(&of_kind(errors, family, kind)) >= MIN_SOURCES as usize;
    ends(&others(if has_enough { family } else { "" }))
}

/// The spread of these errors.
#[must_use]
pub fn spread(family: &'static str, kind: ModelKind, errors: &[Sourced<'_>]) -> Spread {
    let [half, most] = ends(errors);
    let sources: BTreeSet<&str> = errors.iter().map(|error| error.source).collect();
    Spread {
        family,
        kind,
        is_of_time: true,
        half,
        most,
        coverage: coverage(errors),
        rows: errors.len() as u32,
        sources: sources.len() as u32,
    }
}

/// The spreads of the step time: families with dense and with expert models, then all together.
#[must_use]
pub fn spreads(errors: &[LeftOut]) -> Vec<Spread> {
    let families = [ASCEND.family, AMPERE.family, HOPPER.family, BLACKWELL.family, ""];
    let mut spreads = vec![];
    for family in families {
        for kind in ModelKind::ALL {
            let of = of_kind(errors, family, kind);
            if !of.is_empty() {
                spreads.push(spread(family, kind, &of));
            }
        }
    }
    spreads
}

/// The spread of the ratio of two step times: pairs of runs of one table, release, model,
/// accelerator, number of devices and number format, which differ in their layout. Errors of both
/// signs are taken, as which of a pair is first means nothing.
#[must_use]
pub fn pair_spread(errors: &[LeftOut]) -> Spread {
    let mut pairs = vec![];
    for (index, first) in errors.iter().enumerate() {
        for second in errors[index + 1..].iter().filter(|other| other.like == first.like) {
            let log_ratio = second.log_ratio - first.log_ratio;
            for log_ratio in [log_ratio, -log_ratio] {
                pairs.push(Sourced { source: &first.source, log_ratio });
            }
        }
    }
    let both_signs = spread("", ModelKind::Experts, &pairs);
    Spread { rows: both_signs.rows / 2, ..both_signs }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_sources_make_a_range_as_much_wider_as_students_distribution() {
        // Quantiles at 95 % of Student's distribution with 3 and with 30 degrees of freedom.
        for (sources, quantile) in [(4, 2.353), (31, 1.697)] {
            let found = student(sources, NORMAL_ENDS[1]) * NORMAL_ENDS[1];
            assert!((found / quantile - 1.0).abs() < 0.01, "{found} for {quantile}");
        }
    }

    #[test]
    fn a_source_with_many_runs_counts_as_one_with_few() {
        let many = (0..90).map(|_| Sourced { source: "many", log_ratio: 0.2 });
        let few = [("a", -0.2), ("b", 0.0), ("c", 0.1)]
            .map(|(source, log_ratio)| Sourced { source, log_ratio });
        let all: Vec<Sourced<'_>> = many.chain(few).collect();
        let each: Vec<Sourced<'_>> = all[89..].to_vec();
        let [of_all, of_each] = [&all, &each].map(|errors| spread("", ModelKind::Experts, errors));
        for (one, other) in of_all.most.iter().zip(of_each.most) {
            assert!((one - other).abs() < 0.02, "{of_all:?} {of_each:?}");
        }
    }

    #[test]
    fn the_coverage_of_a_source_is_by_ranges_of_the_others() {
        let at = |source, log_ratio| Sourced { source, log_ratio };
        let alike = [at("a", -0.1), at("b", 0.1), at("c", -0.1), at("d", 0.1), at("e", 3.0)];
        let [_, most] = coverage(&alike);
        assert!((most - 0.8).abs() < 1e-12, "{most}");
        assert!(coverage(&alike[..1]).iter().all(|share| *share <= 0.0));
    }
}
