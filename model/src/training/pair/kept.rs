//! Pairs of single layers that are kept from plan to plan.

use alloc::collections::BTreeMap;
use core::hash::{Hash, Hasher};

use crate::ground::axis::LinkLevel;
use crate::layer::architecture::KindId;
use crate::training::layer_key::LayerKey;
use crate::training::stage::{LayerHops, Parts, PerAxis};

/// Pairs that are kept, about half a KiB each.
const MAX_PAIRS: usize = 16_384;

/// Exposed seconds in pairs of single layers, of plans that differ in nothing but what a
/// [`PairKey`] tells apart.
#[derive(Debug, Default)]
pub(crate) struct LayerPairs {
    /// By digest of the key; of two with the same digest the last one.
    known: BTreeMap<u64, (PairKey, PerAxis)>,
}

/// Key of a pair of single layers where all its exchanges may be hidden, beside what a [`LayerKey`]
/// takes for granted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PairKey {
    layer: LayerKey,
    kind: KindId,
    /// Whole layers computed again, delayed gradients of weights, two levels of exchange.
    flags: [bool; 3],
    /// Bits of the seconds of kernels that are computed again alone.
    again: [u64; 2],
    /// Bits of the seconds of exchanges.
    hops: [u64; LayerHops::SECONDS],
    /// Bits of the seconds of sends between stages, by link.
    sends: [[u64; 2]; 3],
}

impl PairKey {
    fn new(layer: &LayerKey, parts: &Parts, kind: KindId) -> Self {
        let Parts { schedule, overlap, .. } = parts;
        let mut sends = [[0; 2]; 3];
        if schedule.stages > 1 {
            let share = schedule.sends_of_pair();
            for (bits, leg) in sends.iter_mut().zip(parts.boundary.legs()) {
                bits[usize::from(leg.link == LinkLevel::InterNode)] =
                    (share * leg.seconds).to_bits();
            }
        }
        let own = parts.layer(kind);
        let has_experts = own.cost.has_experts;
        Self {
            layer: if has_experts { *layer } else { layer.without_experts() },
            kind,
            flags: [
                parts.repeats_layers,
                schedule.splits_weight_grads,
                has_experts && overlap.is_hierarchical,
            ],
            again: own.recomputed_places.map(f64::to_bits),
            hops: own.hops.bits(),
            sends,
        }
    }
}

/// A number that keys which differ hardly ever share.
#[derive(Default)]
struct Digest(u64);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

impl LayerPairs {
    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// Exposed seconds in a pair of one kind of layer: known, or found now.
    pub(crate) fn exposed(
        &mut self,
        layer: &LayerKey,
        parts: &Parts,
        kind: KindId,
        find: impl FnOnce() -> PerAxis,
    ) -> PerAxis {
        if !parts.overlap.in_pairs {
            return find();
        }
        if self.known.len() >= MAX_PAIRS {
            self.known.clear();
        }
        let key = PairKey::new(layer, parts, kind);
        let mut digest = Digest::default();
        key.hash(&mut digest);
        match self.known.get(&digest.finish()) {
            Some((known, exposed)) if *known == key => *exposed,
            Some(_) | None => {
                let exposed = find();
                self.known.insert(digest.finish(), (key, exposed));
                exposed
            }
        }
    }
}
