//! A model of which only a part ran: `llama3-70b 12L`, `DeepSeek-V3 cut (1 dense + 7 MoE x 8
//! experts)`, or whose experts are finer: `Mixtral-8x22B-G8T8`.

use model::design::{KnobId, LayerFreq};

use super::name::{granularity, words_of_all};
use super::{Architecture, set};
use crate::refusal::Refusal;

/// Sizes that a name gives of its part of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    layers: Option<u64>,
    /// Layer slots, of which some may be empty.
    slots: Option<u64>,
    dense: Option<u64>,
    moe: Option<u64>,
    experts: Option<u64>,
    topk: Option<u64>,
    /// Splitting of each expert: the number of parts, and how many of them a token visits.
    finer: Option<(u64, u64)>,
}

impl Cut {
    pub(super) fn read(model: &str) -> Self {
        let words = words_of_all(model);
        let mut cut = Self::default();
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1).map(String::as_str).unwrap_or_default();
            let after = words.get(index + 2).map(String::as_str).unwrap_or_default();
            if word == "top" {
                cut.topk = next.parse().ok();
            }
            cut.finer = cut.finer.or_else(|| granularity(word));
            let count = |text: &str| text.parse::<u64>().ok().filter(|count| *count < 1_000);
            if let Some(layers) = word.strip_suffix('l').and_then(count) {
                cut.layers = Some(layers);
            }
            let Some(count) = count(word) else { continue };
            match next {
                "layer" | "layers" if after == "slots" => cut.slots = Some(count),
                "layer" | "layers" => cut.layers = Some(count),
                "dense" => cut.dense = Some(count),
                "moe" => cut.moe = Some(count),
                "experts" => cut.experts = Some(count),
                _ => {}
            }
        }
        cut.layers = cut.layers.or_else(|| Some(cut.dense? + cut.moe?));
        cut
    }

    /// Did the whole model run?
    pub(super) fn is_whole(&self) -> bool {
        self.layers.is_none() && self.experts.is_none()
    }

    /// Makes the whole model the part of it.
    pub(super) fn apply(&self, architecture: &mut Architecture) -> Result<(), Refusal> {
        let design = &mut architecture.design;
        if let Some(layers) = self.layers {
            let first = match &design.transformer.moe_layer_freq {
                LayerFreq::Runs(runs) => {
                    runs.first().filter(|(is_moe, _)| !is_moe).map(|run| run.1)
                }
                LayerFreq::Every(_) => None,
            };
            set(design, KnobId::num_layers, layers)?;
            let dense = self.dense.or(first).unwrap_or_default().min(layers);
            if design.transformer.has_experts() && (dense > 0 || first.is_some()) {
                let pattern = format!("([0]*{dense}+[1]*{})", layers - dense);
                set(design, KnobId::moe_layer_freq, pattern)?;
            }
            architecture.empty_slots = self.slots.map_or(0, |slots| slots.saturating_sub(layers));
        }
        let design = &mut architecture.design;
        if let (Some(experts), Some(whole)) = (self.experts, design.transformer.num_moe_experts)
            && experts != whole
        {
            set(design, KnobId::num_moe_experts, experts)?;
            // The whole model's groups of experts are another number of experts.
            set(design, KnobId::moe_router_num_groups, "none")?;
            set(design, KnobId::moe_router_group_topk, "none")?;
        }
        if let (Some(topk), true) = (self.topk, design.transformer.has_experts()) {
            set(design, KnobId::moe_router_topk, topk)?;
        }
        self.refine(architecture)
    }

    fn refine(&self, architecture: &mut Architecture) -> Result<(), Refusal> {
        let design = &mut architecture.design;
        let transformer = &design.transformer;
        let width = transformer.moe_ffn_hidden_size.unwrap_or(transformer.ffn_hidden_size);
        let (Some((parts, topk)), Some(experts)) = (self.finer, transformer.num_moe_experts) else {
            return Ok(());
        };
        set(design, KnobId::num_moe_experts, experts.saturating_mul(parts))?;
        set(design, KnobId::moe_router_topk, topk)?;
        set(design, KnobId::moe_ffn_hidden_size, width / parts)
    }
}
