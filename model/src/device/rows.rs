//! The tokens that one pass of a layer works on: the only thing in which training, prefill and
//! decode differ for a layer.

/// Rows of one pass on one device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rows {
    /// T, tokens that the TP ranks of one CP rank work on together: s b / c.
    pub(crate) group: f64,
    /// T', those of them that one rank keeps between blocks: s b / (c t) with SP.
    pub(crate) own: f64,
    /// s, tokens of a sequence that see each other, in the mean: of its documents, where it has
    /// more than one.
    pub(crate) seq: u64,
    /// Tokens of a sequence, whatever it is made of.
    pub(crate) whole: u64,
    /// b, sequences.
    pub(crate) sequences: u64,
    /// Attention work of the busiest of the ranks that wait for each other, over the mean.
    pub(crate) attention_imbalance: f64,
    /// Share of the tokens that context-parallel ranks exchange.
    pub(crate) split_share: f64,
    pub(crate) routed: Routed,
    /// Cache of these sequences in front of the pass; `None` in training.
    pub(crate) past: Option<Past>,
}

/// Cached tokens in front of a pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Past {
    /// c, tokens of a sequence, in the mean.
    pub(crate) tokens: f64,
    /// Bytes of a cached element of keys and values.
    pub(crate) element_bytes: f64,
}

/// Effect of routing on the copies that go to experts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Routed {
    /// Copies kept over copies routed: at most one without padding, the capacity factor with it.
    pub(crate) kept: f64,
    /// Rows of the fullest rank over the mean, which the others wait for.
    pub(crate) imbalance: f64,
    /// Rows that a rank must have memory for, over the mean.
    pub(crate) fullest: f64,
    /// Share of the busiest rank's experts that get a row: one but for few tokens.
    pub(crate) touched: f64,
}

/// New tokens of a sequence from which on a pass is a prefill: kernels work on blocks of queries,
/// latents are taken up to heads, scans run in chunks.
///
/// # Source
/// SGLang and vLLM take latents up to heads for prompts alone; a step of decode has one token and
/// those that are drafted.
const PREFILL_TOKENS: u64 = 64;

impl Rows {
    /// Whether the pass adds few tokens to what is cached.
    pub(crate) fn is_decode(&self) -> bool {
        self.past.is_some() && self.seq < PREFILL_TOKENS
    }

    /// Tokens cached in front of each sequence of the pass.
    pub(crate) fn cached(&self) -> f64 {
        self.past.map_or(0.0, |past| past.tokens)
    }

    /// Tokens that a query may look at, itself among them, in the mean: c + (q + 1) / 2.
    pub(crate) fn context(&self) -> f64 {
        self.cached() + (self.seq as f64 + 1.0) / 2.0
    }

    /// Mean keys that a query of a pass behind a cache looks at, of at most this many.
    ///
    /// Of q tokens behind c cached ones the mean of min(c + i, w), the sum taken as an integral.
    pub(crate) fn keys(&self, most: Option<f64>) -> f64 {
        let (first, new) = (self.cached(), self.seq as f64);
        let last = first + new;
        let most = most.unwrap_or(f64::INFINITY);
        if last <= most {
            return first + new / 2.0;
        }
        let area = |end: f64| {
            if end <= most { end * end / 2.0 } else { most * (end - most / 2.0) }
        };
        (area(last) - area(first)) / new
    }
}
