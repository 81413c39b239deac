//! Loads of one micro-batch, which vary around those of its step.

use super::aux_loss::{Ranks, scope};
use super::random::quantile;
use crate::design::Design;
use crate::ground::choice::Balance;
use crate::ground::fitted::{Evidence, Fitted};

/// Relative variance of an expert's load among T tokens, times T: c, in tokens.
///
/// A document prefers experts of its subject, so that its tokens don't choose independently. Among
/// T tokens of documents of about L tokens each, of which an expert's share varies by v from
/// document to document, the variance of its share is v L / T: c = v L is all that counts, neither
/// v nor L is known apart. Independent choices would give E / k - 1: 15 for 128 experts of which a
/// token visits 8.
///
/// Fitted on Qwen3-235B-A22B on 256 H100 with sequences of 16,384 tokens (moe_modelzoo-008), which
/// runs at 0.803 of the speed with routing balanced by force. Checked on its runs at 32,768, 65,536
/// and 131,072 tokens (010, 012 and 014), published at 0.827, 0.870 and 0.918: within 0.01 by this
/// law. If whole sequences were the unit in place of tokens, they would be off by 0.05, 0.04 and
/// 0.03, which a long sequence packed of many documents explains. So these three runs chose between
/// the two laws, but the constant isn't fitted on them.
pub(crate) const CORRELATED_TOKENS: Fitted = Fitted::provisional(
    45_000.0,
    Evidence::Rows(&["moe_modelzoo-008"]),
    "one model of one source is published with natural and with forced routing",
);

/// The tokens of one exchange between the ranks of an expert-parallel group, and whom they load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    /// Tokens of a micro-batch that the group's ranks hold together.
    tokens: f64,
    /// Tokens among which an auxiliary loss evens the loads out; none without one.
    balanced: Option<f64>,
    devices: f64,
    experts: f64,
    topk: f64,
    /// Groups of experts of which each gets as many copies of every token.
    groups: f64,
}

impl Exchange {
    /// The exchange of a design's uneven loads; `None` if they are even, or padded to be.
    pub(super) fn of(design: &Design) -> Option<Self> {
        let (parallel, transformer) = (&design.parallel, &design.transformer);
        let training = &design.training;
        let pads = training.moe_expert_capacity_factor.is_some()
            && training.moe_pad_expert_input_to_capacity;
        if design.routing.balance == Balance::Uniform || pads {
            return None;
        }
        let experts = transformer.num_moe_experts? as f64;
        let sequence =
            (parallel.tensor_model_parallel_size * parallel.context_parallel_size).max(1) as f64;
        let expert = parallel.expert_model_parallel_size * parallel.expert_tensor_parallel_size;
        let pipelines = sequence * parallel.pipeline_model_parallel_size.max(1) as f64;
        let ranks = Ranks {
            seq_length: training.seq_length as f64,
            micro_batch_size: training.micro_batch_size as f64,
            sequence,
            expert: expert as f64,
            data: (design.cluster.num_devices as f64 / pipelines).max(1.0),
            experts,
        };
        let balanced = scope(design.routing.aux_loss, &ranks).tokens;
        let balanced_groups = transformer.moe_router_group_balanced;
        let groups = if balanced_groups { transformer.moe_router_num_groups } else { None };
        Some(Self {
            tokens: ranks.seq_length * ranks.micro_batch_size * ranks.expert / sequence,
            balanced: (balanced > 0.0).then_some(balanced),
            devices: parallel.expert_model_parallel_size.max(1) as f64,
            experts,
            topk: transformer.moe_router_topk.max(1) as f64,
            groups: groups.unwrap_or(1) as f64,
        })
    }

    /// Imbalance of the fullest device where all experts are as popular over a step: the mean over
    /// micro-batches of max / mean - 1.
    ///
    /// 1. Relative variance of an expert's load among the T tokens of an exchange:
    ///    v = c (1 / T - 1 / S). S are the tokens among which an auxiliary loss keeps loads even:
    ///    the variance of the mean of a part of a finite whole. Zero where S is within the
    ///    exchange, as it is for the loss of an EP group, and c / T without a loss.
    /// 2. Of a device with E / m of E experts: v m / E. Where r devices share a group of experts
    ///    that gets as many copies of every token, as MoGE's do, (1 - 1 / r) of it.
    /// 3. With sigma^2 = ln(1 + that), as of a log-normal, and the mean z of the largest of m
    ///    standard normals: exp(z sigma - sigma^2 / 2) - 1. By Blom, z is the normal's quantile at
    ///    (m - 3/8) / (m + 1/4).
    ///
    /// # Source
    /// Qiu et al. 2025, arXiv 2501.11873: a loss over a micro-batch evens out each sequence, one
    /// over the global batch only the corpus, and experts then specialise in subjects. Blom 1958.
    /// Derivation: the steps above.
    ///
    /// # Assumes
    /// That experts of a device are chosen independently of each other; that every expert's load
    /// varies by as much, in every model as in Qwen3-235B-A22B; that a loss evens its tokens out
    /// up to the popularity that the generator's skew describes, which was measured with such
    /// losses.
    pub(super) fn noise(&self) -> f64 {
        let part = 1.0 / self.tokens.max(1.0) - self.balanced.map_or(0.0, |tokens| 1.0 / tokens);
        let shared = (self.devices / self.groups.max(1.0)).max(1.0);
        let alike = if self.groups > 1.0 { 1.0 - 1.0 / shared } else { 1.0 };
        let of_expert = CORRELATED_TOKENS.get() * part.max(0.0) * alike;
        let of_device = of_expert * self.devices / self.experts.max(1.0);
        if of_device <= 0.0 || self.devices <= 1.0 {
            return 0.0;
        }
        let variance = libm::log1p(of_device);
        let largest = quantile((self.devices - 0.375) / (self.devices + 0.25));
        (libm::exp(largest * libm::sqrt(variance) - variance / 2.0) - 1.0)
            .clamp(0.0, self.most() - 1.0)
    }

    /// No device has more than all copies, or than one of every token for each of its experts.
    pub(super) fn most(&self) -> f64 {
        self.devices.min(self.experts / self.topk).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::random::{normal, stream};
    use super::*;

    const QWEN3: Exchange = Exchange {
        tokens: 32_768.0,
        balanced: None,
        devices: 8.0,
        experts: 128.0,
        topk: 8.0,
        groups: 1.0,
    };

    /// Mean of max / mean - 1 over drawn exchanges, each expert's load log-normal.
    fn drawn(exchange: &Exchange) -> f64 {
        let part = 1.0 / exchange.tokens - exchange.balanced.map_or(0.0, |tokens| 1.0 / tokens);
        let variance = libm::log1p(CORRELATED_TOKENS.get() * part);
        let per_device = (exchange.experts / exchange.devices) as u64;
        let draws = 4_000;
        let sum: f64 = (0..draws)
            .map(|draw| {
                let devices: Vec<f64> = (0..exchange.devices as u64)
                    .map(|device| {
                        let own = stream(&[draw, device]);
                        let load = |expert| {
                            libm::exp(libm::sqrt(variance) * normal(own, expert) - variance / 2.0)
                        };
                        (0..per_device).map(load).sum()
                    })
                    .collect();
                super::super::measure::imbalance(&devices) - 1.0
            })
            .sum();
        sum / draws as f64
    }

    #[test]
    fn the_formula_is_the_mean_of_drawn_exchanges() {
        for (devices, experts, tokens) in [
            (8.0, 128.0, 32_768.0),
            (8.0, 128.0, 262_144.0),
            (32.0, 256.0, 65_536.0),
            (64.0, 256.0, 262_144.0),
            (16.0, 64.0, 1e6),
        ] {
            let exchange = Exchange { devices, experts, tokens, ..QWEN3 };
            let (formula, drawn) = (exchange.noise(), drawn(&exchange));
            assert!((formula / drawn - 1.0).abs() < 0.15, "{exchange:?}: {formula} {drawn}");
        }
    }

    #[test]
    fn more_tokens_or_a_narrower_loss_are_less_noise() {
        let noise = |exchange: Exchange| exchange.noise();
        let all = noise(QWEN3);
        assert!(noise(Exchange { tokens: 65_536.0, ..QWEN3 }) < all);
        let balanced = |tokens| noise(Exchange { balanced: Some(tokens), ..QWEN3 });
        assert!(balanced(262_144.0) < all && balanced(65_536.0) < balanced(262_144.0));
        for tokens in [32_768.0, 4_096.0] {
            assert_eq!(balanced(tokens).to_bits(), 0.0_f64.to_bits());
        }
    }

    #[test]
    fn no_noise_reaches_balanced_groups_or_a_single_rank() {
        for exchange in [Exchange { groups: 8.0, ..QWEN3 }, Exchange { devices: 1.0, ..QWEN3 }] {
            assert_eq!(exchange.noise().to_bits(), 0.0_f64.to_bits());
        }
        let shared = Exchange { groups: 4.0, ..QWEN3 }.noise();
        assert!(shared > 0.0 && shared < QWEN3.noise());
    }
}
