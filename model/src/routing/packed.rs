//! Traces as bytes, for a store and for the wire.
//!
//! | bytes | what |
//! |---|---|
//! | 16 | `moescape-trace-1` |
//! | 4 x 8 | numbers of steps, layers, experts and pairs |
//! | 4 each | tokens of every step, layer and expert, the experts of a layer side by side |
//! | 4 + 4 + 4 + 8 each | layer, both experts and tokens of every pair |
//!
//! Numbers are unsigned and little-endian. These are the bytes that [`Trace::content_hash`] is of.

use alloc::vec::Vec;
use core::fmt;

use super::trace::{Pair, Trace, TraceFault};

/// First bytes of a packed trace.
pub(super) const MAGIC: &[u8; 16] = b"moescape-trace-1";
/// Bytes before the counts.
const HEAD: usize = MAGIC.len() + 4 * 8;
/// Bytes of a pair.
const PAIR: usize = 3 * 4 + 8;

/// Why bytes are no packed trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackedFault {
    /// They don't begin as one does.
    Magic,
    /// There are more or fewer than the head asks for.
    Length {
        /// Bytes given.
        found: usize,
    },
    /// The numbers are no trace's.
    Trace(TraceFault),
}

impl fmt::Display for PackedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("the bytes aren't those of a packed trace"),
            Self::Length { found } => {
                write!(f, "{found} bytes aren't as many as the packed trace says")
            }
            Self::Trace(fault) => fault.fmt(f),
        }
    }
}

impl From<TraceFault> for PackedFault {
    fn from(fault: TraceFault) -> Self {
        Self::Trace(fault)
    }
}

/// The bytes of a trace.
#[must_use]
pub fn write(trace: &Trace) -> Vec<u8> {
    let counts = trace.steps() * trace.layers() * trace.experts();
    let mut bytes = Vec::with_capacity(HEAD + 4 * counts + PAIR * trace.pairs().len());
    pieces(trace, |piece| match piece {
        Piece::Bytes(piece) => bytes.extend_from_slice(piece),
        Piece::Counts(counts) => bytes.extend(counts.iter().flat_map(|count| count.to_le_bytes())),
    });
    bytes
}

/// A part of a packed trace.
pub(super) enum Piece<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// Numbers of four bytes each.
    Counts(&'a [u32]),
}

/// Gives a packed trace piece by piece.
pub(super) fn pieces(trace: &Trace, mut give: impl FnMut(Piece<'_>)) {
    let mut take = |bytes: &[u8]| give(Piece::Bytes(bytes));
    take(MAGIC);
    for number in [trace.steps(), trace.layers(), trace.experts(), trace.pairs().len()] {
        take(&(number as u64).to_le_bytes());
    }
    trace.rows().for_each(|(_, row)| give(Piece::Counts(row)));
    for pair in trace.pairs() {
        give(Piece::Counts(&[pair.layer, pair.expert_a, pair.expert_b]));
        give(Piece::Bytes(&pair.tokens.to_le_bytes()));
    }
}

/// The trace of these bytes.
///
/// # Errors
/// Bytes that are no packed trace, or too few, or too many; nothing is kept before that is known.
pub fn read(bytes: &[u8]) -> Result<Trace, PackedFault> {
    let length = PackedFault::Length { found: bytes.len() };
    let rest = bytes.strip_prefix(MAGIC.as_slice()).ok_or(PackedFault::Magic)?;
    let (head, rest) = rest.split_at_checked(HEAD - MAGIC.len()).ok_or(length)?;
    let mut numbers = head.chunks_exact(8).map(eight);
    let mut next = || numbers.next().unwrap_or(0);
    let size = [next(), next(), next()];
    let pairs = next();
    let counts = Trace::counts(size)?;
    let (tokens, rest) = rest.split_at_checked(4 * counts).ok_or(length)?;
    if (rest.len() / PAIR) as u64 != pairs || !rest.len().is_multiple_of(PAIR) {
        return Err(length);
    }
    let tokens = tokens.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let pair = |bytes: &[u8]| Pair {
        layer: four(&bytes[..4]),
        expert_a: four(&bytes[4..8]),
        expert_b: four(&bytes[8..12]),
        tokens: eight(&bytes[12..]),
    };
    // Each is at most the number of counts, which fits a machine word.
    let trace = Trace::new(size.map(|number| number as usize), tokens)?;
    Ok(trace.with_pairs(rest.chunks_exact(PAIR).map(pair).collect())?)
}

fn four(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn eight(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
