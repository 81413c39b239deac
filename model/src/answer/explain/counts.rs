//! Parameters, FLOPs and tokens as trees.

use alloc::vec::Vec;
use alloc::{format, vec};

use super::Breakdown;
use crate::ground::source::{DERIVED, LORA, MEGATRON};
use crate::layer::architecture::{Architecture, LayerKind};
use crate::layer::backbone::Backbone;
use crate::layer::deployment::Deployment;
use crate::layer::mixer::Mix;
use crate::layer::mlp::Transform;
use crate::metric::Unit;
use crate::training::plan::{Batch, Plan};

/// Parameters of this number of equal layers.
fn layers(name: &str, number: u64, one: Breakdown) -> Breakdown {
    let number_of = Breakdown::given("layers", number as f64, Unit::Count);
    Breakdown::product(&format!("{number} {name} layers"), Unit::Count, vec![number_of, one])
        .by("layers x one layer", MEGATRON)
}

/// One layer of a kind.
fn layer(on: &Deployment, kind: &LayerKind) -> Breakdown {
    let mixer = kind.mixer.params(on).total();
    let mut terms = vec![];
    if !kind.mixer.is_nothing() {
        terms.push(Breakdown::params("attention", mixer, kind.mixer.params_formula()));
    }
    terms.extend(kind.mlp.param_terms(on));
    let streams = kind.stream_params(on);
    if streams > 0 {
        let formula = "(streams x hidden size + 1) x (streams^2 + 2 streams)";
        terms.push(Breakdown::params("hyper-connections", streams, formula));
    }
    let norms = kind.norm_params(on);
    terms.push(Breakdown::params("norms", norms, "norms x hidden size"));
    Breakdown::sum(&format!("one {} layer", kind.name()), Unit::Count, terms)
        .by(kind.mlp.params_formula(), MEGATRON)
}

/// Terms of the sum of all parameters.
pub(super) fn param_terms(on: &Deployment, architecture: &Architecture) -> Vec<Breakdown> {
    let backbone = &on.backbone;
    let embedding = backbone.embedding_params();
    let mut terms =
        vec![Breakdown::params("input embedding", embedding, "vocabulary x hidden size")];
    let kinds = architecture.kinds.iter().zip(architecture.layers);
    for (kind, number) in kinds.filter(|(_, number)| *number > 0) {
        terms.push(layers(&kind.name(), number, layer(on, kind)));
    }
    terms.push(Breakdown::params("final norm", backbone.norm_params(), "hidden size"));
    if backbone.joint_params() > 0 {
        let (name, formula) = match backbone.residual_block {
            Some(_) => ("attention residuals", "2 x hidden size"),
            None => ("hyper-connections", "(streams x hidden size + 1) x streams"),
        };
        terms.push(Breakdown::params(name, backbone.joint_params(), formula));
    }
    let formula = "vocabulary x hidden size, if not tied";
    terms.push(Breakdown::params("output head", backbone.head_params(), formula));
    terms
}

/// All parameters.
pub(super) fn params(on: &Deployment, architecture: &Architecture) -> Breakdown {
    Breakdown::sum("parameters", Unit::Count, param_terms(on, architecture))
        .by("sum of its parts", MEGATRON)
}

/// All parameters, and those that a token doesn't meet.
pub(super) fn active_terms(on: &Deployment, architecture: &Architecture) -> Vec<Breakdown> {
    let resting = architecture.params_total(on) - architecture.params_active(on);
    let formula = "(experts - those that a token visits) x one expert x MoE layers";
    let resting = Breakdown::params("experts that a token doesn't visit", resting, formula);
    vec![params(on, architecture), resting]
}

/// The table that a token is looked up in.
pub(super) fn input_table(backbone: &Backbone) -> Breakdown {
    Breakdown::params("input embedding", backbone.table_params(), "vocabulary x hidden size")
}

/// The tokens of a step.
pub(super) fn tokens(batch: &Batch) -> Breakdown {
    let terms = vec![
        Breakdown::given("global batch", batch.global as f64, Unit::Sequences),
        Breakdown::given("sequence length", batch.seq as f64, Unit::Tokens),
    ];
    Breakdown::product("tokens of a step", Unit::Tokens, terms)
        .by("global batch x sequence length", DERIVED)
}

/// Three times the forward FLOPs of this many equal parts.
fn trained(name: &str, number: u64, forward: Breakdown) -> Breakdown {
    let passes = Breakdown::given("passes", 3.0, Unit::Count)
        .by("the forward, and a backward of twice its FLOPs", MEGATRON);
    let terms = vec![passes, Breakdown::given("number", number as f64, Unit::Count), forward];
    Breakdown::product(name, Unit::Flop, terms).by("3 x number x forward of one", MEGATRON)
}

/// Terms of the model FLOPs of a token.
pub(super) fn flop_terms(plan: &Plan) -> Vec<Breakdown> {
    let (on, architecture) = (&plan.deployment, &plan.architecture);
    let (seq, convention) = (plan.attended(), plan.flops.attention);
    let given = |name: &str, value: f64, formula: &str| {
        Breakdown::given(name, value, Unit::Flop).by(formula, MEGATRON)
    };
    let mut terms = vec![];
    let kinds = architecture.kinds.iter().zip(architecture.layers);
    for (kind, number) in kinds.filter(|(_, number)| *number > 0) {
        let scores = kind.mixer.score_flops(seq, convention);
        let matrices = kind.flops(on, seq, convention) - scores;
        let parts = vec![
            given("matrices", matrices, "2 x matrix parameters that the token meets"),
            given("attention scores", scores, kind.mixer.score_formula()),
        ];
        let name = kind.name();
        let one = Breakdown::sum(&format!("forward of one {name} layer"), Unit::Flop, parts)
            .by("matrices + scores", MEGATRON);
        terms.push(trained(&format!("{number} {name} layers"), number, one));
    }
    let head = given("forward of the head", plan.head_flops(), "2 x vocabulary x hidden size");
    terms.push(trained("output head", 1, head));
    if plan.flops.counts_mtp && architecture.mtp.layers > 0 {
        let formula = "a layer, its projection and its own head";
        let one = given("forward of one MTP layer", plan.mtp_flops(convention), formula);
        terms.push(trained("MTP layers", architecture.mtp.layers, one));
    }
    if !on.tuning.is_full() {
        let [frozen, adapters] = plan.tuning_flops(plan.flops.counts_mtp);
        let formula = "- 2 x parameters of frozen matrices that the token meets";
        terms.push(given("gradients of frozen weights", -frozen, formula));
        let formula = "3 x 2 x LoRA rank x (inputs + outputs) of each adapter";
        terms.push(Breakdown::given("adapters", adapters, Unit::Flop).by(formula, LORA));
    }
    terms
}
