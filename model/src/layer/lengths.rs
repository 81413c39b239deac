//! What documents of other lengths than their sequence's make of attention: how far a token sees,
//! and how much more the busiest rank has to do.
//!
//! Documents follow each other in sequences of s tokens and are cut where a sequence ends;
//! attention stays inside of each. A token sees `E[sum of pieces^2] / E[l]` tokens instead of s,
//! which is exact: of a document of l tokens, tokens at a distance d are in one sequence with
//! probability 1 - d / s, so that its pieces' squares sum to l^2 - l^3 / (3 s), or s l - s^2 / 3
//! where it is longer than s.
//!
//! How much more the busiest of n ranks has than their mean is drawn: sequences of documents from
//! a fixed seed, of whose work the largest of n is expected by the order statistics of the draws.
//! Beyond the draws' number it goes on as a normal's largest does. Against 20,000 draws of other
//! seeds the excess over one is right to 15 % (`model/tests/lengths.rs`).
//!
//! Sources: Megatron-Bridge, `flop_utils.py:accumulate_flops_metadata` (the sum of squares of a
//! pack); Megatron-Core, `hybrid_cp_schedule.py:BalancedCPScheduler`, for dynamic context
//! parallelism: documents go to as many ranks as their length needs, until loads are within
//! [`BALANCE_SLACK`].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::design::Design;
use crate::ground::choice::LengthDistribution;
use crate::ground::sorting::sort_numbers;
use crate::layer::ranks::Ranks;
use crate::routing::random::{quantile, stream, uniform};

/// Largest gap of the least busy rank below the busiest under dynamic context parallelism, as a
/// share.
///
/// # Source
/// Megatron-Core, `BalancedCPScheduler.next_hdp_group`: `delta`.
pub const BALANCE_SLACK: f64 = 0.05;

/// Effect of ragged sequences on attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ragged {
    /// Tokens of a document, in the mean over documents.
    pub mean_length: f64,
    /// Tokens that a token sees before causality halves them, in the mean over tokens.
    pub attended: f64,
    /// Attention work of the busiest over the mean of the ranks that meet, each with its own
    /// sequences.
    pub imbalance: f64,
    /// Attention work of the busiest rank over the mean under dynamic context parallelism.
    pub dynamic_imbalance: f64,
    /// Share of the tokens whose documents are longer than a context-parallel rank's share.
    pub split_share: f64,
    /// Ranks that meet, and sequences that each has by then.
    pub meeting: [u64; 2],
}

/// Samples drawn of the lengths of one design, by the number of sequences in a sum: designs with
/// the same lengths reuse them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawn {
    of: Option<(Lengths, u64)>,
    sums: BTreeMap<u64, Vec<f64>>,
}

/// Distribution of the lengths of documents.
#[derive(Clone, Debug, PartialEq)]
enum Lengths {
    /// Evenly from nothing to this.
    Uniform(f64),
    /// The mean and the standard deviation of the logarithm.
    LogNormal([f64; 2]),
    /// Lengths with their shares, which sum to one.
    Histogram(Vec<(f64, f64)>),
}

/// Documents of a sum of sequences from which on it is taken for normal.
const MANY_DOCUMENTS: f64 = 512.0;
/// Documents that are drawn, about, and sums of sequences.
const DRAWN_DOCUMENTS: f64 = 32_768.0;
const SUMS: [f64; 2] = [64.0, 1_024.0];
/// Sequences of one sum: of more the deviation falls as their root.
const MAX_SEQUENCES: u64 = 16;
/// The stream that documents are drawn from.
const SEED: [u64; 1] = [0x006c_656e_6774_6873];

/// The standard normal's distribution function.
fn normal_share(x: f64) -> f64 {
    0.5 * libm::erfc(-x / core::f64::consts::SQRT_2)
}

impl Lengths {
    /// Lengths of a design's documents; `None` if every sequence is one document.
    fn of(design: &Design) -> Option<Self> {
        let training = &design.training;
        let mean = training.length_mean;
        match training.length_distribution {
            LengthDistribution::None => None,
            LengthDistribution::Uniform => Some(Self::Uniform(2.0 * mean)),
            LengthDistribution::LogNormal => {
                let sigma = training.length_sigma;
                Some(Self::LogNormal([libm::log(mean) - sigma * sigma / 2.0, sigma]))
            }
            LengthDistribution::Histogram => {
                let bins = &training.length_histogram.as_ref()?.bins;
                let all: f64 = bins.iter().map(|(_, share)| share).sum();
                let shares = bins.iter().map(|(length, share)| (*length as f64, share / all));
                Some(Self::Histogram(shares.collect()))
            }
        }
    }

    /// E[l^k] of the documents of at most `most` tokens, the others counted as nothing.
    fn moment(&self, k: i32, most: f64) -> f64 {
        let power = |length: f64| libm::pow(length, f64::from(k));
        match self {
            Self::Uniform(longest) => {
                let end = if most < *longest { most } else { *longest };
                power(end) * end / (f64::from(k + 1) * longest)
            }
            Self::LogNormal([center, sigma]) => {
                let k = f64::from(k);
                let whole = libm::exp(k * center + k * k * sigma * sigma / 2.0);
                let above = libm::log(most) - center - k * sigma * sigma;
                if *sigma > 0.0 {
                    whole * normal_share(above / sigma)
                } else if above >= 0.0 {
                    whole
                } else {
                    0.0
                }
            }
            Self::Histogram(bins) => {
                let short = bins.iter().filter(|(length, _)| *length <= most);
                short.map(|(length, share)| power(*length) * share).sum()
            }
        }
    }

    /// E[min(l, s)^k].
    fn cut_moment(&self, k: i32, s: f64) -> f64 {
        let longer = (1.0 - self.moment(0, s)).max(0.0);
        self.moment(k, s) + libm::pow(s, f64::from(k)) * longer
    }

    /// Tokens of a document, in the mean.
    fn mean(&self) -> f64 {
        self.moment(1, f64::INFINITY)
    }

    /// The length below which this share of the documents is.
    fn quantile(&self, share: f64) -> f64 {
        let length = match self {
            Self::Uniform(longest) => share * longest,
            Self::LogNormal([center, sigma]) => libm::exp(center + sigma * quantile(share)),
            Self::Histogram(bins) => {
                let mut below = 0.0;
                let bin = bins.iter().find(|(_, of_bin)| {
                    below += of_bin;
                    share < below
                });
                bin.or(bins.last()).map_or(1.0, |(length, _)| *length)
            }
        };
        length.max(1.0)
    }

    /// Work of this many sequences of s tokens after another, over s, as often as draws allow; in
    /// rising order.
    fn sums(&self, s: f64, sequences: u64, documents: f64) -> Vec<f64> {
        let count = (DRAWN_DOCUMENTS / documents).clamp(SUMS[0], SUMS[1]) as usize;
        let (draws, mut drawn) = (stream(&SEED), 0);
        let (mut sums, mut left) = (Vec::with_capacity(count), 0.0);
        for _ in 0..count {
            let mut work = 0.0;
            for _ in 0..sequences {
                let mut room = s;
                while room > 0.0 {
                    if left <= 0.0 {
                        drawn += 1;
                        left = self.quantile(uniform(draws, drawn));
                    }
                    let piece = if left < room { left } else { room };
                    work += piece * piece;
                    room -= piece;
                    left -= piece;
                }
            }
            sums.push(work / s);
        }
        sort_numbers(&mut sums);
        sums
    }

    /// By how much the busiest of n ranks is over their mean, after this many sequences each.
    ///
    /// Of many documents a sum is normal, with the variance of a renewal process: documents x
    /// E[(l^2 - a l)^2], for a the tokens that a token sees.
    fn excess(&self, seq: u64, attended: f64, [n, sequences]: [u64; 2], known: &mut Drawn) -> f64 {
        let s = seq as f64;
        if n < 2 {
            return 0.0;
        }
        let (n, each) = (n as f64, (s / self.mean()).max(1.0));
        let drawn = sequences.min(MAX_SEQUENCES);
        if each * drawn as f64 <= MANY_DOCUMENTS {
            let documents = (each + 1.0) * drawn as f64;
            if known.of.as_ref().is_none_or(|(of, at)| of != self || *at != seq) {
                *known = Drawn { of: Some((self.clone(), seq)), sums: BTreeMap::new() };
            }
            let sums = known.sums.entry(drawn);
            let sums = sums.or_insert_with(|| self.sums(s, drawn, documents));
            let excess = largest_over_mean(sums, n) - 1.0;
            return excess * libm::sqrt(drawn as f64 / sequences as f64);
        }
        let [second, third, fourth] = [2, 3, 4].map(|k| self.cut_moment(k, s));
        let spread = (fourth - 2.0 * attended * third + attended * attended * second).max(0.0);
        let deviation = libm::sqrt(each * spread / sequences as f64) / (s * attended);
        deviation * largest_normal(n)
    }
}

/// The expected largest of n standard normals (Blom's approximation).
fn largest_normal(n: f64) -> f64 {
    quantile((n - 0.375) / (n + 0.25))
}

/// The expected largest of n draws over their mean, of samples in rising order.
fn largest_over_mean(samples: &[f64], n: f64) -> f64 {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let drawn = n.min(count);
    let mut largest = 0.0;
    for (index, sample) in samples.iter().enumerate() {
        // The chance that the largest of n is the sample at this place.
        let below = |place: f64| libm::pow(place / count, drawn);
        largest += sample * (below(index as f64 + 1.0) - below(index as f64));
    }
    let squares = samples.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>();
    // Of more than were drawn, as much further as of a normal.
    let beyond = if n > count { largest_normal(n) - largest_normal(count) } else { 0.0 };
    let further = libm::sqrt(squares / count) * beyond;
    (largest + further) / mean
}

impl Ragged {
    /// Effect of a design's lengths on attention on these ranks.
    pub(crate) fn of(design: &Design, ranks: &Ranks, known: &mut Drawn) -> Option<Self> {
        let lengths = Lengths::of(design)?;
        let seq = design.training.seq_length;
        let s = seq as f64;
        let (mean_length, longer) = (lengths.mean(), 1.0 - lengths.moment(0, s));
        // Squares of the pieces of documents up to a sequence's length, and of longer ones.
        let short = lengths.moment(2, s) - lengths.moment(3, s) / (3.0 * s);
        let long = s * (mean_length - lengths.moment(1, s)) - s * s / 3.0 * longer;
        let attended = ((short + long) / mean_length).clamp(f64::MIN_POSITIVE, s);
        let meeting = meeting(design, ranks);
        let excess = lengths.excess(seq, attended, meeting, known).max(0.0);
        // No rank has more than one document in each of its sequences.
        let imbalance = (1.0 + excess).min(s / attended);
        let of_short = lengths.moment(1, s / ranks.cp as f64) / mean_length;
        Some(Self {
            mean_length,
            attended,
            imbalance,
            dynamic_imbalance: imbalance.min(1.0 / (1.0 - BALANCE_SLACK)),
            split_share: (1.0 - of_short).clamp(0.0, 1.0),
            meeting,
        })
    }
}

/// Data-parallel ranks that wait for each other, and sequences that each has worked on by then:
/// those of an exchange of experts after every micro-batch; where none reaches another
/// data-parallel rank, all of them once a step.
fn meeting(design: &Design, ranks: &Ranks) -> [u64; 2] {
    let training = &design.training;
    let in_exchange = (ranks.ep * ranks.etp / (ranks.tp * ranks.cp).max(1)).min(ranks.dp);
    if design.transformer.has_experts() && in_exchange > 1 {
        return [in_exchange, training.micro_batch_size];
    }
    [ranks.dp, (training.global_batch_size / ranks.dp.max(1)).max(1)]
}
