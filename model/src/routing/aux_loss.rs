//! Over which tokens an auxiliary loss balances, and what that costs.

use crate::ground::choice::AuxLoss;

/// The groups of ranks that tokens are spread over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranks {
    /// Tokens of a sequence.
    pub seq_length: f64,
    /// Sequences of a micro-batch.
    pub micro_batch_size: f64,
    /// Ranks that share a sequence: TP (with sequence parallelism) x CP.
    pub sequence: f64,
    /// Ranks of an expert-parallel group: EP x ETP.
    pub expert: f64,
    /// Data-parallel ranks.
    pub data: f64,
    /// Experts of a layer.
    pub experts: f64,
}

/// Scope of a loss: the tokens that it looks at, and the counts that ranks exchange for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scope {
    /// Tokens among which each expert's share is counted.
    pub tokens: f64,
    /// Ranks that add up their counts.
    pub ranks: f64,
    /// Bytes that a rank adds up for one layer and micro-batch: a four-byte count for each expert,
    /// and for the loss of sequences one for each sequence.
    pub bytes: f64,
}

/// Scope of a loss.
///
/// | loss | tokens | ranks that add up counts |
/// |---|---|---|
/// | sequence | s | those that share a sequence |
/// | micro-batch | s b | those that share a sequence |
/// | EP group | s b times the micro-batches in the group | those of the EP group |
/// | DP group | s b DP | all that hold tokens of the layer |
///
/// The fewer the tokens, the stricter the loss: each set of tokens must be even by itself, see
/// [`strictness`]. What it does to loads is modelled for micro-batches: tokens that a loss evens
/// out by themselves vary less among each other. No source gives what it does to a step's loads,
/// so that the generator's skew stays what the design says.
///
/// # Source
/// Pangu Ultra MoE, arXiv 2505.04519 (EP-group loss, and the order); Qiu et al. 2025,
/// arXiv 2501.11873 (counts summed over ranks); Megatron-Core, `router.py`. Bytes are derived.
#[must_use]
pub fn scope(loss: AuxLoss, ranks: &Ranks) -> Scope {
    let count = 4.0 * ranks.experts;
    let micro_batch = ranks.seq_length * ranks.micro_batch_size;
    match loss {
        AuxLoss::None => Scope::default(),
        AuxLoss::Sequence => Scope {
            tokens: ranks.seq_length,
            ranks: ranks.sequence,
            bytes: count * ranks.micro_batch_size,
        },
        AuxLoss::MicroBatch => Scope { tokens: micro_batch, ranks: ranks.sequence, bytes: count },
        AuxLoss::EpGroup => {
            let all = ranks.sequence.max(ranks.expert);
            Scope { tokens: micro_batch * all / ranks.sequence, ranks: all, bytes: count }
        }
        AuxLoss::DpGroup => Scope {
            tokens: micro_batch * ranks.data,
            ranks: ranks.sequence * ranks.data,
            bytes: count,
        },
    }
}

/// Place in the order of strictness, the strictest first; none without a loss.
///
/// # Source
/// Pangu Ultra MoE, arXiv 2505.04519.
#[must_use]
pub const fn strictness(loss: AuxLoss) -> Option<u8> {
    match loss {
        AuxLoss::Sequence => Some(0),
        AuxLoss::MicroBatch => Some(1),
        AuxLoss::EpGroup => Some(2),
        AuxLoss::DpGroup => Some(3),
        AuxLoss::None => None,
    }
}
