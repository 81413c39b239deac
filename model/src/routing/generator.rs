//! A seeded generator of expert loads with temporal locality.

use alloc::vec;
use alloc::vec::Vec;

use super::placement::in_order;
use super::random::{normal, stream, substream};
use super::trace::{Trace, TraceFault};
use crate::ground::choice::TRAINED_SKEW;

/// Dimensions of a generated trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Steps recorded.
    pub steps: usize,
    /// Steps of the run from one recorded step to the next, from 1 on.
    pub stride: usize,
    /// MoE layers.
    pub layers: usize,
    /// Experts of a layer.
    pub experts: usize,
    /// Tokens of a step.
    pub tokens: u64,
    /// Experts that a token visits.
    pub topk: u64,
}

/// A seeded generator of expert loads.
///
/// Expert e of layer l has popularity exp(sigma_l z), z standard normal: log-normal. From step to
/// step z_t = rho z_(t-1) + sqrt(1 - rho^2) e_t with e_t standard normal: an AR(1) process whose
/// lag-1 correlation rho is the `locality`. A step's copies are shared out in proportion to
/// popularity, in whole tokens by largest remainder; no expert gets a token twice. Every random
/// number is a function of seed, layer, expert and step alone.
///
/// **sigma** (`skew`) is the mean over the layers. [`TRAINED_SKEW`] is 0.21: with E experts the
/// most popular one is at z = 2.39 (64 experts) on average, so that max / mean - 1, MaxVio, is
/// exp(2.39 sigma - sigma^2 / 2) - 1. Models trained with an auxiliary loss have a global MaxVio of
/// 0.72 (1B, 64 experts) and 0.52 (3B): sigma = 0.24 and 0.18, mean 0.21. With a bias in place of
/// the loss it is 0.04: sigma = 0.016. A second source agrees: the Gini coefficient of a log-normal
/// is erf(sigma / 2), and those of DeepSeek-MoE-16B and Nemotron-30B on text, 0.105 and 0.150,
/// give sigma = 0.19 and 0.27; others are above 0.24, which is sigma = 0.43.
///
/// **rho** is [`Self::LOCALITY`]: where loads are stable, those of the next 1,000 and 2,000 steps
/// are predicted within 1.3 % and 1.8 % on average. The error grows like a square root, as that of
/// a slow AR(1) does: its mean over a horizon H is (2/3) sqrt(2/pi) sqrt(v H) with
/// v = sigma^2 (1 - rho^2). Both figures give v = 5.9e-7, hence with sigma = 0.21
/// rho = 1 - v / (2 sigma^2) = 0.9999934.
///
/// **Layers** differ as DeepSeek-R1's do: of the standard deviations of tokens per rank at EP 32
/// that TensorRT-LLM prints, the first three MoE layers have 0.41 of the mean over all layers, and
/// the last three spread by 0.27 around each other in the logarithm. sigma_l grows from 0.41 to
/// a plateau, is spread by a normal of 0.27 in the logarithm, and is scaled to the mean `skew`.
///
/// # Source
/// Wang et al. 2024, arXiv 2408.15664, table 2 (MaxVio); Ma et al. 2026, arXiv 2605.20982 (Gini);
/// Cong et al. 2024, arXiv 2404.16914 (prediction of loads); TensorRT-LLM,
/// `examples/ep_load_balancer/README.md` (layers).
///
/// # Assumes
/// That loads are log-normal; that experts change independently of each other; that the growth
/// over depth takes the first quarter of the layers; that every micro-batch of a step has the
/// step's loads. All measurements but those of MaxVio and of prediction are of inference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generator {
    /// Which of the possible runs this is.
    pub seed: u64,
    /// sigma: standard deviation of the logarithm of popularity, mean over the layers.
    pub skew: f64,
    /// rho: correlation of that logarithm from one step to the next, 0 to 1.
    pub locality: f64,
    /// Groups of experts of which each gets as many copies of every token: MoGE's; 1 without.
    pub groups: usize,
    /// The step of the run from which on popularity is drawn anew, as when the data changes.
    pub shift: Option<u64>,
}

impl Default for Generator {
    fn default() -> Self {
        Self { seed: 1, skew: TRAINED_SKEW, locality: Self::LOCALITY, groups: 1, shift: None }
    }
}

/// Share of the mean spread that the first MoE layer has. Derivation: standard deviations 187.96,
/// 202.73 and 209.34 of layers 3 to 5 over the mean 491.65 of all.
const FIRST_LAYER: f64 = 0.41;
/// Share of the depth over which the spread grows to its plateau.
const GROWTH_DEPTH: f64 = 0.25;
/// Spread of the layers around that, in the logarithm: of 570.88, 341.34 and 381.05, layers 58 to
/// 60.
const LAYER_SPREAD: f64 = 0.27;

impl Generator {
    /// The correlation of an expert's load from step to step where loads are stable.
    pub const LOCALITY: f64 = 0.999_993_4;

    /// sigma of each of these layers.
    #[must_use]
    pub fn layer_skews(&self, layers: usize) -> Vec<f64> {
        let plateau = (1.0 - FIRST_LAYER * GROWTH_DEPTH / 2.0) / (1.0 - GROWTH_DEPTH / 2.0);
        let spread = stream(&[self.seed, 1]);
        let mut skews: Vec<f64> = (0..layers)
            .map(|layer| {
                let depth = (layer as f64 + 0.5) / layers as f64;
                let grown = (depth / GROWTH_DEPTH).min(1.0);
                let mean = FIRST_LAYER + (plateau - FIRST_LAYER) * grown;
                mean * libm::exp(LAYER_SPREAD * normal(spread, layer as u64))
            })
            .collect();
        let mean = skews.iter().sum::<f64>() / layers.max(1) as f64;
        for skew in &mut skews {
            *skew *= self.skew / mean;
        }
        skews
    }

    /// A trace of this size.
    ///
    /// # Errors
    /// A size without counts or above [`Trace`]'s bounds, or without tokens, or with more tokens
    /// than a count holds.
    pub fn trace(&self, size: &Size) -> Result<Trace, TraceFault> {
        let shape = [size.steps, size.layers, size.experts];
        let counts = Trace::counts(shape.map(|count| count as u64))?;
        let tokens = size.tokens.min(u64::from(u32::MAX));
        let topk = size.topk.min(size.experts as u64);
        let mut list = Vec::with_capacity(counts);
        let mut run = Run::new(self, size);
        let groups = if size.experts.is_multiple_of(self.groups.max(1)) { self.groups } else { 1 };
        let mut sharing = Sharing::default();
        let mut row = vec![0_u32; size.experts];
        for step in 0..size.steps {
            run.advance(self, step as u64 * size.stride as u64);
            for layer in 0..size.layers {
                let popularity = run.popularity(layer);
                let width = size.experts / groups.max(1);
                for (group, part) in row.chunks_mut(width).enumerate() {
                    let copies = share_of(tokens * topk, groups as u64, group as u64);
                    let part_popularity = &popularity[group * width..][..part.len()];
                    sharing.share_out(part_popularity, copies, tokens, part);
                }
                list.extend_from_slice(&row);
            }
        }
        Trace::new(shape, list)
    }
}

/// Part number `part` of a number that is shared out evenly over `parts`.
fn share_of(whole: u64, parts: u64, part: u64) -> u64 {
    let parts = parts.max(1);
    whole / parts + u64::from(part < whole % parts)
}

/// A run while it is generated.
struct Run {
    experts: usize,
    skews: Vec<f64>,
    streams: Vec<u64>,
    states: Vec<f64>,
    popularity: Vec<f64>,
    shifted: bool,
    started: bool,
    /// Correlation from one recorded step to the next, and what is new in it.
    carried: [f64; 2],
}

impl Run {
    fn new(generator: &Generator, size: &Size) -> Self {
        let carried = libm::pow(generator.locality.clamp(0.0, 1.0), size.stride.max(1) as f64);
        let mut run = Self {
            experts: size.experts,
            skews: generator.layer_skews(size.layers),
            streams: vec![0; size.layers * size.experts],
            states: vec![0.0; size.layers * size.experts],
            popularity: vec![0.0; size.experts],
            shifted: false,
            started: false,
            carried: [carried, libm::sqrt((1.0 - carried * carried).max(0.0))],
        };
        run.seed(generator, 0);
        run
    }

    fn seed(&mut self, generator: &Generator, epoch: u64) {
        let layers = self.streams.chunks_mut(self.experts.max(1));
        for (layer, streams) in layers.enumerate() {
            let of_layer = stream(&[generator.seed, 2 + epoch, layer as u64]);
            for (expert, own) in streams.iter_mut().enumerate() {
                *own = substream(of_layer, expert as u64);
            }
        }
    }

    /// Takes every expert to this step of the run.
    fn advance(&mut self, generator: &Generator, step: u64) {
        let shifts = !self.shifted && generator.shift.is_some_and(|shift| step >= shift);
        if shifts {
            self.shifted = true;
            self.seed(generator, 1);
        }
        let fresh = shifts || !self.started;
        let [kept, new] = if fresh { [0.0, 1.0] } else { self.carried };
        self.started = true;
        for (state, own) in self.states.iter_mut().zip(&self.streams) {
            *state = kept * *state + new * normal(*own, step);
        }
    }

    fn popularity(&mut self, layer: usize) -> &[f64] {
        let skew = self.skews[layer];
        let states = &self.states[layer * self.experts..][..self.experts];
        for (popularity, state) in self.popularity.iter_mut().zip(states) {
            // Far beyond any measured load, and far from overflow.
            *popularity = libm::exp((skew * state).clamp(-300.0, 300.0));
        }
        &self.popularity
    }
}

/// Shares whole copies out in proportion.
#[derive(Default)]
struct Sharing {
    exact: Vec<f64>,
    /// Tokens that experts lost by rounding down, as a number that sorts the most first, and the
    /// expert.
    lost: Vec<(i64, u32)>,
}

impl Sharing {
    /// Whole shares that sum to `copies`, each within one of its exact share, none above `most`:
    /// the exact shares rounded down, the rest to those that lost most (Hamilton's method).
    fn share_out(&mut self, weights: &[f64], copies: u64, most: u64, shares: &mut [u32]) {
        let copies = copies.min(most.saturating_mul(weights.len() as u64));
        self.exact_shares(weights, copies as f64, most as f64);
        let mut given = 0;
        for (share, exact) in shares.iter_mut().zip(&self.exact) {
            // At most `most`, which fits 32 bits; exact shares are rounded to what is left.
            let whole = (*exact as u64).min(copies - given);
            *share = whole as u32;
            given += whole;
        }
        while given < copies {
            let both = shares.iter().zip(&self.exact).enumerate();
            let open = both.filter(|(_, (share, _))| u64::from(**share) < most);
            self.lost.clear();
            self.lost.extend(
                open.map(|(at, (share, exact))| (!in_order(*exact - f64::from(*share)), at as u32)),
            );
            let missing = ((copies - given) as usize).min(self.lost.len());
            if missing < self.lost.len() {
                self.lost.select_nth_unstable(missing);
            }
            for (_, at) in &self.lost[..missing] {
                shares[*at as usize] += 1;
            }
            given += missing as u64;
        }
    }

    /// Shares in proportion; what is above `most` goes to the others.
    fn exact_shares(&mut self, weights: &[f64], copies: f64, most: f64) {
        self.exact.clear();
        self.exact.extend_from_slice(weights);
        let (mut rest, mut sum) = (copies, weights.iter().sum::<f64>());
        let scale = if sum > 0.0 { rest / sum } else { 0.0 };
        let heaviest =
            weights.iter().fold(0.0, |most, weight| if *weight > most { *weight } else { most });
        if heaviest * scale < most && heaviest < f64::INFINITY {
            self.exact.iter_mut().for_each(|weight| *weight *= scale);
            return;
        }
        loop {
            let scale = if sum > 0.0 { rest / sum } else { 0.0 };
            let full = |weight: f64| weight * scale >= most;
            let (mut left, mut full_count) = (0.0, 0.0);
            for weight in self.exact.iter_mut().filter(|weight| weight.is_finite()) {
                if full(*weight) {
                    full_count += 1.0;
                    *weight = f64::INFINITY;
                } else {
                    left += *weight;
                }
            }
            if full_count > 0.0 {
                rest = (rest - full_count * most).max(0.0);
                sum = left;
                continue;
            }
            for weight in &mut self.exact {
                *weight = if weight.is_finite() { *weight * scale } else { most };
            }
            return;
        }
    }
}
