//! The memory estimator of mbridge, which builds Megatron-Core's modules and adds their outputs.

use super::{Case, Kind, cases, rounds_to, same};

const MEBI: f64 = 1_048_576.0;

fn all() -> Vec<Case> {
    cases(include_str!("mbridge.json"))
}

impl Case {
    fn is_checkpointed(&self) -> bool {
        self.name.contains("full recompute")
    }

    /// Layers of each kind on each stage.
    fn layers_of_stages(&self) -> Vec<[f64; 2]> {
        let mut layer = 0;
        let stages = self.estimate().stages;
        let next = |stage: &model::training::estimate::StageEstimate| {
            let mut kinds = [0.0; 2];
            for _ in 0..stage.num_layers {
                kinds[usize::from(self.design.transformer.is_moe_layer(layer))] += 1.0;
                layer += 1;
            }
            kinds
        };
        stages.iter().map(next).collect()
    }

    /// Parameters of one layer that mbridge doesn't count: the router, and norms that
    /// Transformer Engine fuses into the linear layer behind them.
    fn uncounted(&self, kind: Kind) -> f64 {
        let transformer = &self.design.transformer;
        let attention = if transformer.multi_latent_attention {
            (transformer.q_lora_rank.unwrap() + transformer.kv_lora_rank) as f64
        } else {
            self.hidden()
        };
        attention
            + match kind {
                Kind::Dense => self.hidden(),
                Kind::Moe => self.hidden() * transformer.num_moe_experts.unwrap() as f64,
            }
    }

    /// Parameters that mbridge doesn't count, on each stage.
    fn uncounted_of_stages(&self) -> Vec<f64> {
        let sum = |counts: &[f64; 2]| {
            let kinds = Kind::BOTH.into_iter().zip(counts).filter(|(_, count)| **count > 0.0);
            kinds.map(|(kind, count)| count * self.uncounted(kind)).sum()
        };
        self.layers_of_stages().iter().map(sum).collect()
    }
}

#[test]
fn parameters_differ_from_mbridge_by_routers_and_fused_norms() {
    for case in all() {
        let theirs = case.list("stage_params");
        let stages = case.estimate().stages;
        assert_eq!(stages.len(), theirs.len());
        for ((stage, missing), theirs) in stages.iter().zip(case.uncounted_of_stages()).zip(theirs)
        {
            same(&case.name, stage.params as f64 - missing, theirs);
        }
    }
}

#[test]
fn static_memory_differs_from_mbridge_by_the_same_parameters() {
    for case in all() {
        let shards = case.plan().data_parallel_size() as f64;
        let (two, three) =
            (case.list("weights_and_gradients_gib"), case.list("weights_gradients_optimizer_gib"));
        for (index, missing) in case.uncounted_of_stages().into_iter().enumerate() {
            let memory = &case.estimate().stages[index].memory;
            let ours = memory.weights.to_gib() + memory.gradients.to_gib();
            let missing = missing / super::GIB;
            rounds_to(&case.name, ours - 6.0 * missing, two[index], 2);
            let ours = ours + memory.optimizer.to_gib();
            rounds_to(&case.name, ours - (6.0 + 12.0 / shards) * missing, three[index], 2);
        }
    }
}

/// Elements that mbridge counts beyond ours in one layer on one device.
///
/// It adds the outputs of modules. So queries and keys count twice under MLA, as outputs of the
/// projections and as inputs of attention, and outside MLA two more tensors as large as the
/// queries; a norm's output, the latents' included, counts instead of its input and output; the
/// router counts the hidden state twice, and its probabilities and map not at all. The
/// log-sum of exponentials is missing.
fn beyond(case: &Case, kind: Kind) -> f64 {
    let transformer = &case.design.transformer;
    let hidden = case.hidden_elements();
    let (own, heads) = (case.tokens() / case.sp(), case.tokens() * case.heads() / case.tp());
    let nope = transformer.qk_head_dim as f64;
    let rope = transformer.qk_pos_emb_head_dim as f64;
    let attention = if transformer.multi_latent_attention {
        let latents = (transformer.q_lora_rank.unwrap() + transformer.kv_lora_rank) as f64;
        let keys_again = 2.0 * (nope + rope) + nope - (nope + rope);
        heads * keys_again - own * latents - hidden
    } else {
        heads * 2.0 * transformer.kv_channels.unwrap_or(128) as f64 - 2.0 * hidden
    };
    let exponentials = 2.0 * heads;
    let shared = f64::from(u8::from(transformer.moe_shared_expert_intermediate_size.is_some()));
    attention - exponentials
        + match kind {
            Kind::Dense => 0.0,
            Kind::Moe => {
                let routing = 2.5 * own * transformer.num_moe_experts.unwrap() as f64;
                (3.0 - shared) * hidden - routing
            }
        }
}

#[test]
fn saved_elements_of_a_layer_differ_from_mbridge_by_named_tensors() {
    for case in all() {
        for kind in Kind::BOTH.into_iter().filter(|kind| case.has(*kind)) {
            let ours = case.layer_saved(kind) / 2.0 + beyond(&case, kind);
            let theirs = case.theirs(&kind.key("saved_mebi_elements"));
            same(&case.name, ours / MEBI, theirs);
        }
    }
}

/// A stage keeps its layers times the micro-batches in flight, as here. The first one also counts
/// the embedding's output, the last one the final norm's and three copies of the logits, which
/// here are the loss's own buffers.
#[test]
fn saved_elements_of_a_stage_are_those_of_mbridge() {
    for case in all().iter().filter(|case| !case.is_checkpointed()) {
        let estimate = case.estimate();
        let last = estimate.stages.len() - 1;
        let layers = case.layers_of_stages();
        for (index, theirs) in case.list("stage_saved_elements").into_iter().enumerate() {
            let mut elements: f64 = Kind::BOTH
                .into_iter()
                .zip(layers[index])
                .filter(|(_, count)| *count > 0.0)
                .map(|(kind, count)| count * case.theirs(&kind.key("saved_mebi_elements")))
                .sum();
            if index == 0 {
                elements += case.theirs("embedding_saved_mebi_elements");
            }
            if index == last {
                let vocab = case.design.transformer.vocab_size as f64 / case.tp();
                let logits = case.tokens() * vocab / MEBI;
                rounds_to(&case.name, logits, case.theirs("head_saved_mebi_elements"), 2);
                elements += case.theirs("final_norm_saved_mebi_elements") + 3.0 * logits;
            }
            let held = elements * estimate.stages[index].peak_in_flight;
            same(&case.name, held * MEBI, theirs);
        }
    }
}

/// With full recomputation a stage less in flight is one checkpoint per layer less.
#[test]
fn checkpoints_are_those_of_mbridge() {
    let all = all();
    let case = all.iter().find(|case| case.is_checkpointed()).unwrap();
    let stages = case.estimate().stages;
    let theirs = case.list("stage_saved_elements");
    for index in 1..stages.len() - 2 {
        let kept = |index: usize| stages[index].memory.activations.get() / 2.0;
        same(&case.name, kept(index) - kept(index + 1), theirs[index] - theirs[index + 1]);
    }
}
