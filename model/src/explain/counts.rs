//! Parameters, FLOPs and tokens as trees.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::Breakdown;
use crate::plan::Plan;
use crate::source::{DERIVED, MEGATRON};

/// A number of parameters.
fn count(name: &str, value: u128, formula: &str) -> Breakdown {
    Breakdown::given(name, value as f64, "").by(formula, MEGATRON)
}

/// So many layers of so many parameters.
fn layers(name: &str, number: u64, one: Breakdown) -> Breakdown {
    let number_of = Breakdown::given("layers", number as f64, "");
    Breakdown::product(&format!("{number} {name} layers"), "", vec![number_of, one])
        .by("layers x one layer", MEGATRON)
}

fn dense_layer(plan: &Plan) -> Breakdown {
    let (matrices, biases) =
        (plan.mlp_matrix_params(plan.shape.ffn), plan.mlp_biases(plan.shape.ffn));
    let terms = vec![
        attention(plan),
        count("MLP", matrices + biases.total(), "matrices x hidden size x FFN width"),
        norms(plan),
    ];
    Breakdown::sum("one dense layer", "", terms).by("attention + MLP + norms", MEGATRON)
}

fn moe_layer(plan: &Plan) -> Breakdown {
    let shape = &plan.shape;
    let width = shape.expert_ffn;
    let expert = plan.mlp_matrix_params(width) + plan.mlp_biases(width).total();
    let experts = vec![
        Breakdown::given("experts", shape.experts as f64, ""),
        count("one expert", expert, "matrices x hidden size x expert width"),
    ];
    let router = u128::from(shape.hidden) * u128::from(shape.experts);
    let shared = plan.mlp_matrix_params(shape.shared_ffn);
    let terms = vec![
        attention(plan),
        count("router", router, "hidden size x experts"),
        Breakdown::product("routed experts", "", experts).by("experts x one expert", MEGATRON),
        count("shared experts", shared, "matrices x hidden size x shared width"),
        norms(plan),
    ];
    Breakdown::sum("one MoE layer", "", terms)
        .by("attention + router + routed experts + shared experts + norms", MEGATRON)
}

fn attention(plan: &Plan) -> Breakdown {
    let formula = if plan.shape.mla.is_some() {
        "MLA: query down and up, key-value down and up, output"
    } else {
        "query, key and value of the groups, output"
    };
    count("attention", plan.attention_params().total(), formula)
}

fn norms(plan: &Plan) -> Breakdown {
    count("norms", plan.norm_params(), "norms x hidden size")
}

/// What all parameters are made of.
pub(super) fn param_terms(plan: &Plan) -> Vec<Breakdown> {
    let shape = &plan.shape;
    let mut terms =
        vec![count("input embedding", plan.embedding_params(), "vocabulary x hidden size")];
    if shape.dense_layers > 0 {
        terms.push(layers("dense", shape.dense_layers, dense_layer(plan)));
    }
    if shape.moe_layers > 0 {
        terms.push(layers("MoE", shape.moe_layers, moe_layer(plan)));
    }
    terms.push(count("final norm", plan.one_norm(), "hidden size"));
    terms.push(count("output head", plan.head_params(), "vocabulary x hidden size, if not tied"));
    terms
}

/// All parameters.
pub(super) fn params(plan: &Plan) -> Breakdown {
    Breakdown::sum("parameters", "", param_terms(plan)).by("sum of its parts", MEGATRON)
}

/// All parameters, and those that a token doesn't meet.
pub(super) fn active_terms(plan: &Plan) -> Vec<Breakdown> {
    let resting = plan.params_total() - plan.params_active();
    let formula = "(experts - top-k) x one expert x MoE layers";
    vec![params(plan), count("experts that a token doesn't visit", resting, formula)]
}

/// The table that a token is looked up in.
pub(super) fn input_table(plan: &Plan) -> Breakdown {
    count("input embedding", plan.table_params(), "vocabulary x hidden size")
}

/// The tokens of a step.
pub(super) fn tokens(plan: &Plan) -> Breakdown {
    let (batch, seq) = (plan.design().training.global_batch_size as f64, plan.shape.seq as f64);
    let terms = vec![
        Breakdown::given("global batch", batch, "sequences"),
        Breakdown::given("sequence length", seq, "tokens"),
    ];
    Breakdown::product("tokens of a step", "tokens", terms)
        .by("global batch x sequence length", DERIVED)
}

/// Three times the forward FLOPs of so many equal parts.
fn trained(name: &str, number: u64, forward: Breakdown) -> Breakdown {
    let passes = Breakdown::given("passes", 3.0, "")
        .by("the forward, and a backward of twice its FLOPs", MEGATRON);
    let terms = vec![passes, Breakdown::given("number", number as f64, ""), forward];
    Breakdown::product(name, "FLOP", terms).by("3 x number x forward of one", MEGATRON)
}

/// What the model FLOPs of a token are made of.
pub(super) fn flop_terms(plan: &Plan) -> Vec<Breakdown> {
    let shape = &plan.shape;
    let training = &plan.design().training;
    let convention = training.attention_flops;
    let given = |name: &str, value: f64, formula: &str| {
        Breakdown::given(name, value, "FLOP").by(formula, MEGATRON)
    };
    let scores = plan.score_flops_per_token(convention);
    let scores = || given("attention scores", scores, "2 x keys x heads x (query + value width)");
    let layer = |name: &str, all: f64| {
        let matrices = all - plan.score_flops_per_token(convention);
        let matrices = given("matrices", matrices, "2 x matrix parameters that the token meets");
        Breakdown::sum(name, "FLOP", vec![matrices, scores()]).by("matrices + scores", MEGATRON)
    };
    let mut terms = vec![];
    if shape.dense_layers > 0 {
        let one = layer("forward of one dense layer", plan.dense_layer_flops(convention));
        let name = format!("{} dense layers", shape.dense_layers);
        terms.push(trained(&name, shape.dense_layers, one));
    }
    if shape.moe_layers > 0 {
        let one = layer("forward of one MoE layer", plan.moe_layer_flops(convention));
        let name = format!("{} MoE layers", shape.moe_layers);
        terms.push(trained(&name, shape.moe_layers, one));
    }
    let head = given("forward of the head", plan.head_flops(), "2 x vocabulary x hidden size");
    terms.push(trained("output head", 1, head));
    if training.count_mtp_flops && shape.mtp_layers > 0 {
        let formula = "a layer, its projection and its own head";
        let one = given("forward of one MTP layer", plan.mtp_flops(convention), formula);
        terms.push(trained("MTP layers", shape.mtp_layers, one));
    }
    terms
}
