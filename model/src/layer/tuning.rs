//! What of a model is trained: all of it, all but frozen parts, or adapters of low rank alone.

use crate::design::Design;
use crate::ground::choice::{LoraModule, ModelPart, Set};

/// Trained part of a model.
///
/// # Source
/// LoRA (arXiv 2106.09685); Megatron-Bridge, `peft/lora.py`: all weights of the model are frozen,
/// norms and embeddings among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// r, rank of the adapters, where there are some.
    pub(crate) rank: Option<u64>,
    targets: Set<LoraModule>,
    frozen: Set<ModelPart>,
}

impl Tuning {
    /// Every weight is trained, or none, as in serving.
    pub(crate) const FULL: Self = Self { rank: None, targets: Set::EMPTY, frozen: Set::EMPTY };

    pub(crate) fn new(design: &Design) -> Self {
        let training = &design.training;
        let rank = training.lora_rank;
        let (targets, frozen) = match rank {
            Some(_) => (training.lora_target_modules, Set::all()),
            None => (Set::EMPTY, training.freeze_parameters),
        };
        Self { rank, targets, frozen }
    }

    /// Whether every weight is trained.
    pub(crate) const fn is_full(&self) -> bool {
        self.rank.is_none() && self.frozen.is_empty()
    }

    /// Whether the matrices of a part are trained.
    pub(crate) fn trains(&self, part: ModelPart) -> bool {
        !self.frozen.has(part)
    }

    /// Whether norms, biases and what maps residual streams are trained: not beside adapters.
    pub(crate) const fn trains_norms(&self) -> bool {
        self.rank.is_none()
    }

    /// Whether such linear layers have adapters.
    pub(crate) fn adapts(&self, module: LoraModule) -> bool {
        self.targets.has(module)
    }
}
