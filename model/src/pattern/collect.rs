//! Scores of a task from the logits of its tokens.

use alloc::vec;
use alloc::vec::Vec;

/// The scores of one task while its tokens pass.
#[derive(Clone, Debug)]
pub struct Collector {
    experts: usize,
    best: usize,
    sums: Vec<f64>,
    tokens: Vec<u64>,
}

impl Collector {
    /// Of so many layers and experts, where the best k of a token count.
    #[must_use]
    pub fn new(layers: usize, experts: usize, k: usize) -> Self {
        Self {
            experts,
            best: k.clamp(1, experts.max(1)),
            sums: vec![0.0; layers * experts],
            tokens: vec![0; layers],
        }
    }

    /// Adds the logits of one token in one layer: those of its best experts, of equals the one of
    /// the lower number. Logits of another number than that of the experts, or that are no numbers,
    /// are refused.
    pub fn add(&mut self, layer: usize, logits: &[f32]) -> bool {
        if logits.len() != self.experts
            || layer >= self.tokens.len()
            || logits.iter().any(|logit| !logit.is_finite())
        {
            return false;
        }
        let mut order: Vec<usize> = (0..logits.len()).collect();
        order.sort_by(|one, other| logits[*other].total_cmp(&logits[*one]));
        for expert in order.into_iter().take(self.best) {
            self.sums[layer * self.experts + expert] += f64::from(logits[expert]);
        }
        self.tokens[layer] += 1;
        true
    }

    /// The scores, layer after layer: sums over the layer's tokens; 0 where there were none.
    #[must_use]
    pub fn scores(&self) -> Vec<f32> {
        let of_layer = |(layer, sums): (usize, &[f64])| {
            let tokens = self.tokens[layer].max(1) as f64;
            sums.iter().map(|sum| (sum / tokens) as f32).collect::<Vec<_>>()
        };
        self.sums.chunks(self.experts.max(1)).enumerate().flat_map(of_layer).collect()
    }
}
