//! Tokens of every expert, by step and layer.

use alloc::vec::Vec;
use core::fmt;

/// Number of tokens that chose two experts of a layer together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The layer, as counted in the trace.
    pub layer: u32,
    /// One expert.
    pub expert_a: u32,
    /// The other.
    pub expert_b: u32,
    /// Tokens that visit both.
    pub tokens: u64,
}

/// Error in the numbers of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFault {
    /// There are no steps, no layers or no experts.
    Empty,
    /// More counts than [`Trace::MAX_COUNTS`], or more layers or experts than their bounds.
    TooLarge {
        /// Steps, layers and experts asked for.
        size: [u64; 3],
    },
    /// The list doesn't have one count for each step, layer and expert.
    WrongLength {
        /// Counts given.
        found: usize,
        /// Steps times layers times experts.
        expected: usize,
    },
    /// A step and layer in which no token goes anywhere.
    NoTokens {
        /// The step's position.
        step: usize,
        /// The layer's position.
        layer: usize,
    },
    /// Copies got lost, or there are too many.
    NotConserved {
        /// The step's position.
        step: usize,
        /// The layer's position.
        layer: usize,
        /// Their sum over the experts.
        found: u64,
        /// Tokens times top-k.
        expected: u64,
    },
    /// An expert has more tokens than there are.
    TooManyTokens {
        /// The step's position.
        step: usize,
        /// The layer's position.
        layer: usize,
        /// The expert.
        expert: usize,
        /// Its tokens.
        found: u32,
        /// Tokens routed.
        tokens: u64,
    },
    /// A pair of experts names a layer or an expert that isn't there, or an expert twice.
    WrongPair {
        /// The pair.
        pair: Pair,
    },
}

impl fmt::Display for TraceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the trace has no steps, no layers or no experts"),
            Self::TooLarge { size: [steps, layers, experts] } => write!(
                f,
                "{steps} steps x {layers} layers x {experts} experts are too much: a trace has at \
                 most {} counts, {} layers and {} experts",
                Trace::MAX_COUNTS,
                Trace::MAX_LAYERS,
                Trace::MAX_EXPERTS
            ),
            Self::WrongLength { found, expected } => {
                write!(f, "the trace has {found} counts, its size asks for {expected}")
            }
            Self::NoTokens { step, layer } => {
                write!(f, "no token goes anywhere in step {step}, layer {layer}")
            }
            Self::NotConserved { step, layer, found, expected } => write!(
                f,
                "step {step}, layer {layer} has {found} copies of tokens, {expected} are routed"
            ),
            Self::TooManyTokens { step, layer, expert, found, tokens } => write!(
                f,
                "expert {expert} of step {step}, layer {layer} has {found} tokens of {tokens}"
            ),
            Self::WrongPair { pair } => write!(
                f,
                "experts {} and {} of layer {} are no pair of this trace",
                pair.expert_a, pair.expert_b, pair.layer
            ),
        }
    }
}

/// Tokens of every expert, by step and layer.
#[derive(Clone, Debug)]
pub struct Trace {
    steps: usize,
    layers: usize,
    experts: usize,
    tokens: Vec<u32>,
    pairs: Vec<Pair>,
    /// The hash, where it is kept.
    pub(super) hash: Option<u128>,
}

impl PartialEq for Trace {
    fn eq(&self, other: &Self) -> bool {
        let of = |trace: &Self| [trace.steps, trace.layers, trace.experts];
        of(self) == of(other) && self.tokens == other.tokens && self.pairs == other.pairs
    }
}

impl Eq for Trace {}

impl Trace {
    /// The most counts that a trace holds: 256 MiB of them.
    pub const MAX_COUNTS: u64 = 64 << 20;
    /// The most layers.
    pub const MAX_LAYERS: u64 = 4_096;
    /// The most experts of a layer.
    pub const MAX_EXPERTS: u64 = 65_536;

    /// A trace of `steps` x `layers` x `experts` counts, the experts of a layer side by side and
    /// the layers of a step.
    ///
    /// # Errors
    /// A size without counts, above the bounds or other than the list's, or a step and layer
    /// without tokens.
    pub fn new(size: [usize; 3], tokens: Vec<u32>) -> Result<Self, TraceFault> {
        let [steps, layers, experts] = size;
        let counts = Self::counts(size.map(|count| count as u64))?;
        if tokens.len() != counts {
            return Err(TraceFault::WrongLength { found: tokens.len(), expected: counts });
        }
        let trace = Self { steps, layers, experts, tokens, pairs: Vec::new(), hash: None };
        let idle = trace.rows().find(|(_, row)| row.iter().all(|count| *count == 0));
        if let Some(at) = idle.map(|(at, _)| at) {
            return Err(TraceFault::NoTokens { step: at / layers, layer: at % layers });
        }
        Ok(trace)
    }

    /// Number of counts that a trace of this size holds.
    ///
    /// # Errors
    /// A size without counts or above the bounds.
    pub fn counts(size: [u64; 3]) -> Result<usize, TraceFault> {
        let [steps, layers, experts] = size;
        if size.contains(&0) {
            return Err(TraceFault::Empty);
        }
        let counts = steps.checked_mul(layers).and_then(|rows| rows.checked_mul(experts));
        match counts {
            Some(counts)
                if counts <= Self::MAX_COUNTS
                    && layers <= Self::MAX_LAYERS
                    && experts <= Self::MAX_EXPERTS =>
            {
                // At most 2^26, which fits a machine word everywhere.
                Ok(counts as usize)
            }
            _ => Err(TraceFault::TooLarge { size }),
        }
    }

    /// The trace with the number of tokens that chose two experts together.
    ///
    /// # Errors
    /// A pair that names a layer or an expert which isn't there, or one expert twice.
    pub fn with_pairs(mut self, pairs: Vec<Pair>) -> Result<Self, TraceFault> {
        let (layers, experts) = (self.layers as u64, self.experts as u64);
        let wrong = pairs.iter().find(|pair| {
            u64::from(pair.layer) >= layers
                || u64::from(pair.expert_a.max(pair.expert_b)) >= experts
                || pair.expert_a == pair.expert_b
        });
        match wrong {
            Some(pair) => Err(TraceFault::WrongPair { pair: *pair }),
            None => {
                self.pairs = pairs;
                self.hash = None;
                Ok(self)
            }
        }
    }

    /// Steps recorded.
    #[must_use]
    pub const fn steps(&self) -> usize {
        self.steps
    }

    /// MoE layers.
    #[must_use]
    pub const fn layers(&self) -> usize {
        self.layers
    }

    /// Experts of a layer.
    #[must_use]
    pub const fn experts(&self) -> usize {
        self.experts
    }

    /// Tokens that chose two experts together; empty if that wasn't recorded.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The tokens of each expert in a step and layer; empty if the trace has no such row.
    #[must_use]
    pub fn row(&self, step: usize, layer: usize) -> &[u32] {
        if step >= self.steps || layer >= self.layers {
            return &[];
        }
        let start = (step * self.layers + layer) * self.experts;
        self.tokens.get(start..start + self.experts).unwrap_or(&[])
    }

    /// The rows, step by step, each with its position.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &[u32])> {
        self.tokens.chunks_exact(self.experts).enumerate()
    }

    /// Rows whose copies don't add up: to `tokens` x `topk`, and none of an expert above `tokens`.
    ///
    /// Holds of a run without a capacity, in which no copy is dropped.
    #[must_use]
    pub fn faults(&self, tokens: u64, topk: u64) -> Vec<TraceFault> {
        let expected = tokens.saturating_mul(topk);
        let mut faults = Vec::new();
        for (at, row) in self.rows() {
            let (step, layer) = (at / self.layers, at % self.layers);
            let found = sum(row);
            if found != expected {
                faults.push(TraceFault::NotConserved { step, layer, found, expected });
            }
            let most = row.iter().enumerate().find(|(_, count)| u64::from(**count) > tokens);
            if let Some((expert, found)) = most {
                let found = *found;
                faults.push(TraceFault::TooManyTokens { step, layer, expert, found, tokens });
            }
        }
        faults
    }

    /// Do all layers of each step route as many copies, as they do when none is dropped?
    #[must_use]
    pub fn is_dropless(&self) -> bool {
        let rows = self.layers * self.experts;
        self.tokens.chunks_exact(rows).all(|step| {
            let mut sums = step.chunks_exact(self.experts).map(sum);
            let first = sums.next();
            sums.all(|other| Some(other) == first)
        })
    }
}

/// The copies of a row.
pub(super) fn sum(row: &[u32]) -> u64 {
    row.iter().map(|count| u64::from(*count)).sum()
}
