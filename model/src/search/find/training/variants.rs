//! The variants at a place of the grid: chunks, schedules and pairs.

use alloc::vec::Vec;

use super::space::{Place, Space, Variant};
use super::strategy::methods;
use crate::design::{KnobId, KnobSet};
use crate::ground::choice::Method;
use crate::layer::layout;
use crate::rules;
use crate::schedule::Grid;

/// The most chunks of a stage that are looked at.
const MAX_CHUNKS_PER_STAGE: u64 = 8;

/// Knobs that differ among the variants of a place.
const OF_VARIANTS: KnobSet = KnobSet::of(&[
    KnobId::virtual_pipeline_model_parallel_size,
    KnobId::pipeline_model_parallel_layout,
    KnobId::method,
    KnobId::overlap_p2p_comm,
    KnobId::overlap_moe_expert_parallel_comm,
    KnobId::moe_shared_expert_overlap,
    KnobId::delay_wgrad_compute,
    KnobId::moe_hierarchical_alltoallv,
]);

impl Space {
    /// The most chunks of a stage, where there are this many stages.
    pub(super) fn most_chunks(&self, pp: u64) -> u64 {
        self.chunks(pp).into_iter().max().unwrap_or(1)
    }

    fn chunks(&self, pp: u64) -> Vec<u64> {
        let slots = layout::slots(&self.base);
        let most = if pp == 1 { 1 } else { (slots / pp).max(1) };
        // Beyond a few only those over which layers spread evenly.
        let is_found =
            |each: &u64| *each <= MAX_CHUNKS_PER_STAGE || slots.is_multiple_of(pp * *each);
        let own = self.at_hand.parallel.virtual_pipeline_model_parallel_size;
        self.values(KnobId::virtual_pipeline_model_parallel_size, own, (1..=most).filter(is_found))
    }

    /// Chunks, schedules and pairs on this many stages, the plainest first.
    pub(super) fn variants(&self, pp: u64) -> Vec<Variant> {
        let own = &self.at_hand;
        let present = own.schedule.method;
        let mut methods = if self.is_free(KnobId::method) {
            methods(own, &self.words)
        } else {
            Vec::from([present])
        };
        // One stage has one schedule.
        methods.retain(|method| {
            *method == present || pp > 1 || *method == Method::OneForwardOneBackward
        });
        let mut variants = Vec::new();
        for chunks in self.chunks(pp) {
            for method in &methods {
                let grid = Grid { method: *method, stages: pp, chunks };
                let plain = *method == Method::Interleaved && chunks == 1;
                if grid.wrong_chunks().is_some() || grid.odd_stages().is_some() || plain {
                    continue;
                }
                for pairs in self.pairs(*method) {
                    for hierarchical in self.hierarchical() {
                        variants.push(Variant { chunks, method: *method, pairs, hierarchical });
                    }
                }
            }
        }
        variants
    }

    fn pairs(&self, method: Method) -> Vec<bool> {
        let knob = KnobId::overlap_moe_expert_parallel_comm;
        let own = self.at_hand.schedule.overlap_moe_expert_parallel_comm;
        if !self.is_free(knob) {
            return Vec::from([own]);
        }
        let able = matches!(method, Method::OneForwardOneBackward | Method::Interleaved);
        if able && self.base.transformer.has_experts() && self.ships(knob) {
            Vec::from([false, true])
        } else {
            Vec::from([false])
        }
    }

    fn hierarchical(&self) -> Vec<bool> {
        let knob = KnobId::moe_hierarchical_alltoallv;
        let own = self.at_hand.schedule.moe_hierarchical_alltoallv;
        if !self.is_free(knob) {
            return Vec::from([own]);
        }
        if self.base.transformer.has_experts() && self.ships(knob) {
            Vec::from([false, true])
        } else {
            Vec::from([false])
        }
    }

    /// The variants that are legal at a place, up to this many, and of the others that were looked
    /// at the rules that they break.
    pub(super) fn legal_variants(
        &self,
        place: Place,
        variants: &[Variant],
        most: usize,
    ) -> (Vec<Variant>, Vec<(&'static str, u64)>) {
        let mut design = self.base.clone();
        let mut moved = KnobSet::of(KnobId::ALL);
        let (mut legal, mut broken) = (Vec::new(), Vec::new());
        for (variant, left) in variants.iter().zip((1..=variants.len() as u64).rev()) {
            self.place(&mut design, place, *variant);
            match rules::first_broken(&design, &moved) {
                None => {
                    legal.push(*variant);
                    moved = OF_VARIANTS;
                }
                Some(rule) if rule.reads.meets(&OF_VARIANTS) => broken.push((rule.name, 1)),
                Some(rule) => {
                    // No other variant mends it.
                    broken.push((rule.name, left));
                    break;
                }
            }
            if legal.len() >= most {
                break;
            }
        }
        (legal, broken)
    }
}
