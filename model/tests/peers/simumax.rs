//! SimuMax: parameters, FLOPs, saved tensors, states and gradients, exact where it prints integers.

use model::ground::axis::{Axis, Collective};
use model::training::estimate::Estimate;

use super::{Case, GIB, Kind, call_bytes, cases, close, rounds_to, same, step_bytes};

fn all() -> Vec<Case> {
    cases(include_str!("simumax.json"))
}

/// Devices that share dense gradients, and those that share experts'.
fn shards(case: &Case) -> (f64, f64) {
    let plan = case.plan();
    (plan.data_parallel_size() as f64, plan.expert_data_parallel_size() as f64)
}

#[test]
fn parameters_are_those_of_simumax() {
    for case in all() {
        let (name, plan) = (&case.name, case.plan());
        rounds_to(name, plan.params_total() as f64 / 1e9, case.theirs("params_total_billions"), 2);
        let active = plan.params_active() as f64 / 1e9;
        rounds_to(name, active, case.theirs("params_active_billions"), 2);
    }
}

#[test]
fn a_device_of_the_first_stage_holds_what_simumax_counts() {
    for case in all() {
        let name = &case.name;
        let stage = case.estimate().stages[0];
        let (dense, expert) =
            (case.theirs("dp_reduce_scatter_bytes"), case.theirs("edp_reduce_scatter_bytes"));
        // It reports no expert bytes when only one device holds them.
        let (dp, edp) = shards(&case);
        if edp > 1.0 || !case.has(Kind::Moe) {
            same(name, stage.params as f64, (dense + expert) / 4.0);
            same(name, stage.memory.weights.get(), (dense + expert) / 2.0);
            same(name, stage.memory.gradients.get(), dense + expert);
        }
        if edp > 1.0 {
            same(name, stage.memory.optimizer.get(), 3.0 * (dense / dp + expert / edp));
        }
    }
}

#[test]
fn every_stage_has_the_weights_gradients_and_states_of_simumax() {
    for case in all() {
        let stages = case.estimate().stages;
        // First, middle and last stage, or the only one.
        let last = stages.len() - 1;
        let places: &[usize] = if last == 0 { &[0] } else { &[0, 1, last] };
        let weights = case.list("weight_gib");
        let (gradients, states) = (case.list("grad_gib"), case.list("state_gib"));
        for (place, index) in places.iter().enumerate() {
            let memory = &stages[*index].memory;
            // Dense and expert parts are rounded apart.
            let close = |ours: f64, theirs: f64| {
                assert!((ours - theirs).abs() <= 1.01e-4, "{}: {ours}, {theirs}", case.name);
            };
            close(memory.weights.to_gib(), weights[place]);
            close(memory.gradients.to_gib(), gradients[place]);
            close(memory.optimizer.to_gib(), states[place]);
        }
    }
}

#[test]
fn data_parallel_volumes_are_those_of_simumax() {
    for case in all() {
        let (name, estimate) = (&case.name, case.estimate());
        let parallel = &case.design.parallel;
        // Theirs is the first stage's: the mean over stages follows where layers lie evenly.
        if parallel.pipeline_model_parallel_layout.is_some() {
            continue;
        }
        // Middle stages have no table; the last one has the final norm too.
        let stages = parallel.pipeline_model_parallel_size as f64;
        let table = case.design.transformer.vocab_size as f64 * case.hidden() / case.tp();
        let more =
            if stages > 1.0 { (case.hidden() - (stages - 2.0) * table) / stages } else { 0.0 };
        let (dp, edp) = shards(&case);
        for (axis, ranks, key, more) in [(Axis::Dp, dp, "dp", more), (Axis::Edp, edp, "edp", 0.0)] {
            // Theirs is the whole buffer, ours what a rank sends of it.
            let share = (ranks - 1.0) / ranks;
            let scatter = case.theirs(&format!("{key}_reduce_scatter_bytes")) + more * 4.0;
            let gather = case.theirs(&format!("{key}_all_gather_bytes")) + more * 2.0;
            let ours = |collective| call_bytes(&estimate, axis, collective);
            same(name, ours(Collective::ReduceScatter), scatter * share);
            same(name, ours(Collective::AllGather), gather * share);
            same(name, step_bytes(&estimate, axis), (scatter + gather) * share);
        }
    }
}

/// Rows of a device's experts: ours are the mean, SimuMax rounds each expert's up to 16.
fn padding_rows(case: &Case) -> f64 {
    let transformer = &case.design.transformer;
    let theirs = case.theirs("expert_input_bytes") / 2.0 / case.hidden();
    let ours = case.tokens() / case.tp() * transformer.moe_router_topk as f64;
    let local = (transformer.num_moe_experts.unwrap()
        / case.design.parallel.expert_model_parallel_size) as f64;
    same(&case.name, theirs, (ours / local / 16.0).ceil() * 16.0 * local);
    theirs - ours
}

/// FLOPs of that padding in one layer on one device.
fn padding_flops(case: &Case, kind: Kind) -> f64 {
    if kind == Kind::Dense {
        return 0.0;
    }
    let width = case.design.transformer.moe_ffn_hidden_size;
    let width = width.unwrap_or(case.design.transformer.ffn_hidden_size) as f64;
    padding_rows(case) * 2.0 * 3.0 * case.hidden() * width
}

#[test]
fn forward_flops_are_those_of_simumax() {
    for case in all() {
        let (name, tp) = (&case.name, case.tp());
        let mut padding = 0.0;
        for kind in Kind::BOTH.into_iter().filter(|kind| case.has(*kind)) {
            let theirs = case.theirs(&kind.key("forward_flops"));
            let ours = case.forward_flops(kind.part()) / tp;
            same(name, ours + padding_flops(&case, kind), theirs);
            padding += case.count(kind) * padding_flops(&case, kind);
        }
        same(name, case.forward_flops("head") / tp, case.theirs("head_forward_flops"));
        let whole = case.plan().flops_per_token().get() / 3.0 * case.tokens();
        same(name, whole / tp + padding, case.theirs("forward_flops"));
    }
}

/// Model FLOPs count two products per forward product. Flash attention runs five for its two:
/// SimuMax counts what runs.
#[test]
fn backward_flops_differ_from_simumax_by_the_scores_computed_again() {
    for case in all() {
        let name = &case.name;
        let core = case.theirs("attention_core_forward_flops");
        for kind in Kind::BOTH.into_iter().filter(|kind| case.has(*kind)) {
            let ours = 2.0 * case.forward_flops(kind.part()) / case.tp();
            let theirs = case.theirs(&kind.key("backward_flops"));
            same(name, ours + 0.5 * core + 2.0 * padding_flops(&case, kind), theirs);
        }
    }
}

/// Executed FLOPs: SimuMax computes all scores, ours only those that a causal mask leaves. It takes
/// flash attention's backward as 2.5 of its forward whatever the widths. Of the five products three
/// are those of queries and keys: under MLA, whose queries are wider than its values, that is more.
#[test]
fn executed_flops_differ_from_simumax_by_the_masked_scores() {
    for case in all().iter().filter(|case| case.design.parallel.pipeline_model_parallel_size == 1) {
        let metrics = case.estimate().metrics;
        let counted = case.plan().flops_per_token().get() * case.tokens();
        let ours = counted * metrics.hfu / metrics.mfu;
        let layers = case.design.transformer.num_layers as f64;
        let core = layers * case.theirs("attention_core_forward_flops");
        let (qk, v) = case.head_widths();
        let backward = (3.0 * qk + 2.0 * v) / (qk + v);
        let masked = core * (1.0 + 2.5) - core * (1.0 + backward) / 2.0;
        let padding = 3.0 * case.count(Kind::Moe) * padding_flops(case, Kind::Moe);
        let theirs = case.theirs("forward_flops") + case.theirs("backward_flops");
        close(&case.name, ours + masked + padding, theirs, 1e-9);
    }
}

/// SimuMax keeps the log-sum of exponentials in two bytes and drops the latents' rotary columns;
/// it keeps eight bytes per token and expert for the permutation, ours five.
#[test]
fn saved_bytes_of_a_layer_differ_from_simumax_by_named_tensors() {
    for case in all() {
        let transformer = &case.design.transformer;
        let rotary = if transformer.multi_latent_attention {
            2.0 * transformer.qk_pos_emb_head_dim as f64
        } else {
            0.0
        };
        let attention = case.tokens() * (2.0 * case.heads() / case.tp() + rotary / case.sp());
        for kind in Kind::BOTH.into_iter().filter(|kind| case.has(*kind)) {
            let mut ours = case.layer_saved(kind) - attention;
            if kind == Kind::Moe {
                ours += routing_bytes(&case);
            }
            same(&case.name, ours, case.theirs(&kind.key("saved_bytes")));
        }
    }
}

/// Bytes that SimuMax keeps beyond ours in a MoE layer outside attention.
fn routing_bytes(case: &Case) -> f64 {
    let transformer = &case.design.transformer;
    let experts = transformer.num_moe_experts.unwrap() as f64;
    let width = transformer.moe_ffn_hidden_size.unwrap_or(transformer.ffn_hidden_size) as f64;
    let map = case.tokens() / case.sp() * experts * (8.0 - 5.0);
    map + padding_rows(case) * 2.0 * (case.hidden() + 3.0 * width)
}

#[test]
fn the_head_saves_what_simumax_counts() {
    for case in all() {
        let name = &case.name;
        let one = case.layers(if case.has(Kind::Moe) { Kind::Moe } else { Kind::Dense }, 1);
        let two = case.layers(if case.has(Kind::Moe) { Kind::Moe } else { Kind::Dense }, 2);
        let kept = |estimate: &Estimate| estimate.stages[0].memory.activations.get();
        let head = 2.0 * kept(&one) - kept(&two);
        let theirs = case.theirs("final_norm_saved_bytes") + case.theirs("head_saved_bytes");
        same(name, head, theirs);
        let vocab = case.design.transformer.vocab_size as f64 / case.tp();
        same(name, case.tokens() * vocab * 2.0, case.theirs("loss_saved_bytes"));
    }
}

#[test]
fn checkpoints_are_those_of_simumax() {
    let all = all();
    let case = all.iter().find(|case| case.name.contains("full recompute")).unwrap();
    let stages = case.estimate().stages;
    for (index, theirs) in [0, 1].into_iter().zip(case.list("micro_batch_saved_gib")) {
        let memory = &stages[index].memory;
        rounds_to(
            &case.name,
            memory.activations.get() / stages[index].peak_in_flight / GIB,
            theirs,
            4,
        );
    }
}

#[test]
fn dispatched_bytes_are_those_of_simumax() {
    for case in all().into_iter().filter(|case| case.has(Kind::Moe)) {
        let ranks = case.design.parallel.expert_model_parallel_size as f64;
        let rows = case.theirs("expert_input_bytes") - padding_rows(&case) * case.hidden() * 2.0;
        let ours = call_bytes(&case.estimate(), Axis::Ep, Collective::AllToAll);
        same(&case.name, ours, rows * (ranks - 1.0) / ranks);
    }
}
