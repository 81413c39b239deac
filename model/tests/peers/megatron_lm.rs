//! Megatron-LM's own estimate, `theoretical_memory_usage.py`.

use super::{Case, Kind, cases, close, rounds_to, same};

fn all() -> Vec<Case> {
    cases(include_str!("megatron_lm.json"))
}

impl Case {
    fn table(&self) -> f64 {
        self.design.transformer.vocab_size as f64 * self.hidden()
    }

    /// Parameters of all routed experts.
    fn experts(&self) -> f64 {
        let transformer = &self.design.transformer;
        let Some(experts) = transformer.num_moe_experts else { return 0.0 };
        let plan = self.plan();
        let resting = (experts - transformer.moe_router_topk) as f64;
        (plan.params_total() - plan.params_active()) as f64 / resting * experts as f64
    }

    /// Parameters that Megatron's estimate takes as replicated over TP: norms and routers.
    fn replicated(&self) -> f64 {
        let experts = self.design.transformer.num_moe_experts.unwrap_or(0) as f64;
        let norms = 2.0 * self.design.transformer.num_layers as f64 + 1.0;
        self.hidden() * (norms + self.count(Kind::Moe) * experts)
    }

    /// Dense and expert parameters of a device of the first stage by Megatron's estimate.
    fn first_shard(&self) -> (f64, f64) {
        let parallel = &self.design.parallel;
        let stages = parallel.pipeline_model_parallel_size as f64;
        let dense = self.plan().params_total() as f64 - self.experts() - 2.0 * self.table();
        let split = (dense - self.replicated()) / stages + self.table();
        let expert_ranks = stages * parallel.expert_model_parallel_size as f64;
        (split / self.tp() + self.replicated() / stages, self.experts() / expert_ranks)
    }

    /// Bytes of weight, gradient and states per dense and per expert parameter.
    fn bytes_per_param(&self) -> (f64, f64) {
        let plan = self.plan();
        let bytes = |ranks: u64| 6.0 + 12.0 / ranks as f64;
        (bytes(plan.data_parallel_size()), bytes(plan.expert_data_parallel_size()))
    }
}

#[test]
fn parameters_are_those_of_megatron() {
    for case in all() {
        let (name, plan) = (&case.name, case.plan());
        let total = plan.params_total() as f64;
        rounds_to(name, total / 1e9, case.theirs("params_total_billions"), 2);
        let active = plan.params_active() as f64;
        rounds_to(name, active / 1e9, case.theirs("params_active_billions"), 2);
        let layers = total - 2.0 * case.table();
        rounds_to(name, layers / 1e9, case.theirs("params_layers_billions"), 2);
        rounds_to(name, 2.0 * case.table() / 1e9, case.theirs("params_embedding_billions"), 2);
    }
}

/// Megatron's estimate gives every stage the same share of all layers, the final norm included,
/// and splits MLA's down-projections over TP, which its own layers hold on every rank.
#[test]
fn static_memory_follows_from_our_parameters_by_megatrons_rules() {
    for case in all() {
        let (dense, expert) = case.first_shard();
        rounds_to(&case.name, (dense + expert) / 1e9, case.theirs("fullest_shard_billions"), 4);
        let (per_dense, per_expert) = case.bytes_per_param();
        let bytes = dense * per_dense + expert * per_expert;
        close(&case.name, bytes, case.theirs("weight_optimizer_bytes"), 1e-9);
    }
}

/// Where layers divide evenly and there is no MLA, a stage differs by its share of the final norm.
#[test]
fn static_memory_of_an_even_stage_differs_from_megatron_by_the_final_norm() {
    let even = |case: &Case| {
        let stages = case.design.parallel.pipeline_model_parallel_size;
        case.design.transformer.num_layers.is_multiple_of(stages)
    };
    let mut checked = 0;
    for case in all().iter().filter(|case| even(case)) {
        let memory = case.estimate().stages[0].memory;
        let ours = memory.weights.get() + memory.gradients.get() + memory.optimizer.get();
        let stages = case.design.parallel.pipeline_model_parallel_size as f64;
        let norm = case.hidden() / stages * case.bytes_per_param().0;
        close(&case.name, ours + norm, case.theirs("weight_optimizer_bytes"), 1e-9);
        checked += 1;
    }
    assert_eq!(checked, 2);
}

#[test]
fn micro_batches_in_flight_are_those_of_megatron() {
    for case in all() {
        let ours = case.estimate().stages[0].peak_in_flight;
        rounds_to(&case.name, ours, case.theirs("in_flight"), 0);
        if let Some(penalty) = case.known("interleaving_penalty") {
            let stages = case.design.parallel.pipeline_model_parallel_size as f64;
            rounds_to(&case.name, ours / stages, penalty, 2);
        }
    }
}

/// Bytes of one layer by Megatron's estimate: Korthikanti's layer with two dropout masks, as many
/// keys as queries, and an MLP without gate.
fn megatron_layer(case: &Case) -> f64 {
    let ffn = case.design.transformer.ffn_hidden_size as f64;
    case.tokens() * (18.0 * case.hidden() + 4.0 * ffn) / case.tp()
}

/// All layers, the embedding's input and its dropout mask, times the interleaving's penalty.
#[test]
fn saved_bytes_of_megatron_are_its_formula() {
    for case in all() {
        let layer = megatron_layer(&case);
        rounds_to(&case.name, layer / 1_048_576.0, case.theirs("layer_saved_mib"), 1);
        let stages = case.design.parallel.pipeline_model_parallel_size as f64;
        let layers = layer * case.design.transformer.num_layers as f64;
        let embedding = case.tokens() * (8.0 + case.hidden()) * stages / case.tp();
        let penalty = case.estimate().stages[0].peak_in_flight / stages;
        same(&case.name, (layers + embedding) * penalty, case.theirs("activation_bytes"));
    }
}

/// A dense layer as it is: no dropout, grouped keys and values, a gate's two inputs, and the
/// log-sum of exponentials. Megatron's estimate is right for none of the models that it is run on.
#[test]
fn saved_bytes_of_a_dense_layer_differ_from_megatron_by_named_tensors() {
    let all = all();
    let case = all.iter().find(|case| case.name.starts_with("llama3")).unwrap();
    let transformer = &case.design.transformer;
    let rank = case.tokens() / case.tp();
    let masks = 2.0 * rank * case.hidden();
    let groups = transformer.num_query_groups.unwrap() as f64 / case.heads();
    let keys_values = 4.0 * rank * case.hidden() * (1.0 - groups);
    let gate = 2.0 * rank * transformer.ffn_hidden_size as f64;
    let exponentials = 4.0 * rank * case.heads();
    // Norms and residuals are split only with sequence parallelism, which the estimate assumes.
    let ours = case.layer_saved(Kind::Dense);
    same(&case.name, ours + masks + keys_values - gate - exponentials, megatron_layer(case));
}

/// The estimate prices a MoE layer as its dense MLP: less than half of what the layer keeps.
#[test]
fn saved_bytes_of_a_moe_layer_are_more_than_twice_megatrons() {
    let all = all();
    let case = all.iter().find(|case| case.name == "deepseek-v3").unwrap();
    let ratio = case.layer_saved(Kind::Moe) / megatron_layer(case);
    assert!((2.3..2.4).contains(&ratio), "{ratio}");
}
