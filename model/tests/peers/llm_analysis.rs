//! llm-analysis: counts of whole models, of one device's share, and saved tensors.

use super::{Case, Kind, cases, same};

fn all() -> Vec<Case> {
    cases(include_str!("llm_analysis.json"))
}

impl Case {
    fn kind(&self) -> Kind {
        if self.has(Kind::Moe) { Kind::Moe } else { Kind::Dense }
    }

    /// Layers of a stage.
    fn stage_depth(&self) -> f64 {
        self.design.transformer.num_layers as f64
            / self.design.parallel.pipeline_model_parallel_size as f64
    }

    /// Parameters of a router; zero in a dense layer.
    fn router(&self) -> f64 {
        self.hidden() * self.design.transformer.num_moe_experts.unwrap_or(0) as f64
    }

    /// Bytes that llm-analysis holds beyond ours on a device of the first stage: the final norm,
    /// split over TP; but it splits the routers too.
    fn held_beyond(&self) -> f64 {
        let split_routers = self.router() * (1.0 - 1.0 / self.tp()) * self.stage_depth();
        self.hidden() / self.tp() - split_routers
    }

    fn is_recomputed(&self, what: &str) -> bool {
        self.name.ends_with(what)
    }
}

/// llm-analysis has one table for embedding and head: right for GPT-3, whose tables are tied, and
/// too little for Llama and Mixtral.
#[test]
fn parameters_differ_from_llm_analysis_by_the_untied_head() {
    for case in all() {
        let transformer = &case.design.transformer;
        let untied = transformer.untie_embeddings_and_output_weights;
        let table = transformer.vocab_size as f64 * case.hidden();
        let head = if untied { table } else { 0.0 };
        let plan = case.plan();
        let ours = [plan.params_total(), plan.params_active()].map(|count| count as f64 - head);
        same(&case.name, ours[0], case.theirs("num_params_total"));
        same(&case.name, ours[1], case.theirs("num_active_params_total"));
        same(&case.name, table, case.theirs("num_params_total_embedding"));
    }
}

/// A third of the three passes, and what is recomputed. llm-analysis recomputes the head with all
/// layers, which no framework does; and it counts one expert for top-2, without its router.
#[test]
fn flops_differ_from_llm_analysis_by_recomputation_and_by_the_second_expert() {
    for case in all() {
        let ours = case.plan().flops_per_token().get() * case.tokens();
        let transformer = &case.design.transformer;
        let layers = transformer.num_layers as f64;
        let expert = 3.0 * case.hidden() * transformer.ffn_hidden_size as f64;
        let more = if case.is_recomputed("full") {
            ours / 3.0
        } else if case.is_recomputed("attn recompute") {
            4.0 * case.tokens() * case.design.training.seq_length as f64 * case.hidden() * layers
        } else if case.has(Kind::Moe) {
            let skipped = (transformer.moe_router_topk - 1) as f64 * expert + case.router();
            -3.0 * 2.0 * skipped * case.tokens() * layers
        } else {
            0.0
        };
        same(&case.name, ours + more, case.theirs("num_flops_total_per_micro_batch"));
    }
}

/// In llm-analysis the final norm is on every stage and split over TP, as are routers and the
/// gradients of all norms. Megatron replicates the three, and only the last stage has the norm.
#[test]
fn static_memory_differs_from_llm_analysis_by_norms_and_routers() {
    for case in all() {
        let memory = case.estimate().stages[0].memory;
        let beyond = case.held_beyond();
        let weights = memory.weights.get() + 2.0 * beyond;
        same(&case.name, weights, case.theirs("weight_memory_per_gpu"));
        let norms = 2.0 * case.hidden() * case.stage_depth() * (1.0 - 1.0 / case.tp());
        let gradients = memory.gradients.get() + 4.0 * (beyond - norms);
        same(&case.name, gradients, case.theirs("gradient_memory_per_gpu"));
        let shards = case.plan().data_parallel_size() as f64;
        let states = memory.optimizer.get() + 12.0 * beyond / shards;
        same(&case.name, states, case.theirs("optimizer_state_memory_per_gpu"));
    }
}

/// Bytes that llm-analysis counts beyond ours in one layer on one device: a dropout mask, the
/// inputs of norms in fp32, as many keys and values as queries, and with flash attention two more
/// tensors as large as the queries and twice our log-sum of exponentials. Of an MLP's gate it
/// forgets one of two inputs.
fn beyond(case: &Case) -> f64 {
    let transformer = &case.design.transformer;
    let (tokens, hidden) = (case.tokens() / case.tp(), case.hidden_elements());
    let groups = transformer.num_query_groups.unwrap_or(transformer.num_attention_heads) as f64;
    let masks = hidden;
    let norms = 4.0 * hidden;
    let keys_values = 4.0 * hidden * (1.0 - groups / case.heads());
    let flash = if case.design.kernel.flash_attention {
        4.0 * hidden + 4.0 * tokens * case.heads()
    } else {
        0.0
    };
    let visits = if case.has(Kind::Moe) { transformer.moe_router_topk as f64 } else { 1.0 };
    let width = transformer.ffn_hidden_size as f64 * visits;
    let gate = if transformer.gated_linear_unit { 2.0 * tokens * width } else { 0.0 };
    masks + norms + keys_values + flash - gate + routing(case, visits)
}

/// Bytes that llm-analysis counts beyond ours in a MoE layer's routing: the softmax's input as
/// large as the router's, the rows of the weighted sum, not split, and a weight for each; the
/// experts' input is split, where ours is gathered by the ranks that share an expert. Router
/// probabilities and map are missing.
fn routing(case: &Case, visits: f64) -> f64 {
    let Some(experts) = case.design.transformer.num_moe_experts else { return 0.0 };
    let rows = 2.0 * case.tokens() * case.hidden() * visits;
    let softmax = 2.0 * case.hidden_elements();
    let weights = 2.0 * case.tokens() * visits;
    let gathered = rows * (1.0 - 1.0 / case.tp());
    let map = 5.0 * case.tokens() / case.tp() * experts as f64;
    softmax + rows + weights - gathered - map
}

#[test]
fn saved_bytes_differ_from_llm_analysis_by_named_tensors() {
    for case in all().iter().filter(|case| !case.is_recomputed("full")) {
        let layers = case.estimate().stages[0].peak_in_flight * case.stage_depth();
        let theirs: f64 = ["attn", "mlp", "layernorm"]
            .iter()
            .map(|part| case.theirs(&format!("activation_memory_{part}_per_gpu")))
            .sum();
        let saved = case.layer_saved(case.kind());
        same(&case.name, (saved + beyond(case)) * layers, theirs);
    }
}

#[test]
fn checkpoints_are_those_of_llm_analysis() {
    let all = all();
    let case = all.iter().find(|case| case.is_recomputed("full")).unwrap();
    let memory = case.estimate().stages[0].memory;
    let theirs = case.theirs("activation_memory_layernorm_per_gpu");
    same(&case.name, memory.activations.get(), theirs);
}
