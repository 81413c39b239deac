//! Laws of loss: published coefficients give the reference values, and comparisons what stands in
//! the literature.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::design::file::{Tree, json};
use model::design::{Design, KnobId, Memory, Parallel, Schedule};
use model::run::quality::{
    Comparison, Flag, Refusal, Shape, batch_advice, compare, effective_tokens, laws, leverage,
};
use proptest::prelude::*;
use testing::design::plan;

/// Tokens of Pangu Ultra MoE.
const TOKENS: f64 = 19e12;

fn shape(settings: &[(&str, &str)]) -> Shape {
    let mut design = Design::from_preset("pangu-ultra-moe-718b").unwrap();
    // Any layout: laws don't read it.
    design.parallel = Parallel::default();
    design.schedule = Schedule::default();
    design.memory = Memory::default();
    design.cluster.num_devices = 1;
    for (knob, value) in settings {
        design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
    }
    Shape::new(&plan(&design))
}

fn beside(settings: &[(&str, &str)], tokens: f64) -> Comparison {
    compare((&shape(settings), tokens), (&shape(&[]), tokens), None).unwrap()
}

fn number(tree: &Tree, key: &str) -> f64 {
    match tree.get(key).unwrap_or_else(|| panic!("no {key}")) {
        Tree::Unsigned(number) => *number as f64,
        Tree::Real(number) => *number,
        other @ (Tree::Null
        | Tree::Flag(_)
        | Tree::Negative(_)
        | Tree::Text(_)
        | Tree::List(_)
        | Tree::Map(_)) => panic!("{key} is {other:?}"),
    }
}

/// The shape that has this compute, for formulas of compute.
fn of_compute(compute: f64, tokens: f64) -> Shape {
    Shape { active_body: compute / 6.0 / tokens, ..shape(&[]) }
}

/// `quality/vectors.json`: inputs and outputs of every formula, computed by a second program from
/// the coefficients that the papers print.
#[test]
fn every_law_gives_its_reference_values() {
    let Tree::List(cases) = json::parse(include_str!("quality/vectors.json")).unwrap() else {
        panic!("no list")
    };
    assert_eq!(cases.len(), 26);
    for case in &cases {
        let Some(Tree::Text(name)) = case.get("fn") else { panic!("no name: {case:?}") };
        let (given, out) = (case.get("in").unwrap(), case.get("out").unwrap());
        let of = |key| number(given, key);
        let tolerance = number(case, "rtol");
        let near = |found: f64, wanted: f64| {
            assert!((found / wanted - 1.0).abs() < tolerance, "{case:?}: {found}");
        };
        let found = match name.as_str() {
            "dense_epoch" => laws::dense(of("N"), of("D")),
            "ling_EL" => laws::leverage(of("A"), of("G"), of("C")),
            "joint" => laws::joint(of("N"), of("D"), of("E")),
            "joint_EL" => laws::joint_leverage(of("N"), of("D"), of("E")),
            "zhao" => laws::zhao(of("N"), of("D"), of("Na"), of("G"), of("S")),
            "abnar" => laws::abnar(of("N"), of("D"), of("S")),
            "clark_sbase" => laws::clark(of("N"), of("E")),
            "krajewski" => laws::krajewski(of("N"), of("D"), of("G")),
            "D_eff_repeat" => effective_tokens(of("U"), of("D")),
            "batch_opt_tokens" => {
                let advice = batch_advice(&of_compute(of("C"), of("D")), of("D"));
                near(advice.step_law, number(out, "steplaw"));
                near(advice.critical, number(out, "zhang"));
                near(advice.deepseek, number(out, "deepseek"));
                near(advice.ling, number(out, "ling"));
                continue;
            }
            other => panic!("no law {other}"),
        };
        near(found, number(case, "out"));
    }
}

#[test]
fn the_model_of_the_paper_has_the_sizes_that_its_references_have() {
    let shape = shape(&[]);
    for (found, wanted) in
        [(shape.total_body, 716.7e9), (shape.active, 39.19e9), (shape.active_body, 38.01e9)]
    {
        assert!((found / wanted - 1.0).abs() < 1e-3, "{found} of {wanted}");
    }
    assert!((shape.granularity() - 7.5).abs() < 1e-12);
    assert!((shape.expansion() - 257.0 / 9.0).abs() < 1e-12);
}

/// Median, minimum and maximum against 256 experts at 19T tokens, and tokens to equal loss.
#[test]
fn more_experts_lower_the_loss_by_the_reference_differences() {
    let table = [
        ("64", [0.0269, 0.0146, 0.0355], [4.9, 2.7, 6.8]),
        ("128", [0.0118, 0.0064, 0.0161], [1.93, 1.59, 1.98]),
        ("384", [-0.0057, -0.0077, -0.0029], [0.77, 0.75, 0.79]),
        ("512", [-0.0093, -0.0123, -0.0047], [0.665, 0.637, 0.673]),
    ];
    for (experts, nats, factors) in table {
        let found = beside(&[("num_moe_experts", experts)], TOKENS);
        let loss = found.loss_difference;
        for (found, wanted) in [loss.median, loss.min, loss.max].into_iter().zip(nats) {
            assert!((found - wanted).abs() < 1.5e-4, "{experts}: {found}, not {wanted}");
        }
        let tokens = found.tokens_to_equal_loss.unwrap();
        for (found, wanted) in [tokens.median, tokens.min, tokens.max].into_iter().zip(factors) {
            assert!((found / wanted - 1.0).abs() < 0.02, "{experts}: {found}, not {wanted}");
        }
        assert!(!found.is_tie && found.is_ranked(), "{experts}");
        assert!(found.flags.contains(&Flag::BeyondCompute));
    }
}

/// Median loss differences at 2T tokens.
#[test]
fn fewer_tokens_move_the_differences_as_the_references_do() {
    for (experts, nats) in [("64", 0.0307), ("128", 0.0137), ("384", -0.0068), ("512", -0.0111)] {
        let found = beside(&[("num_moe_experts", experts)], 2e12).loss_difference.median;
        assert!((found - nats).abs() < 1.5e-4, "{experts}: {found}, not {nats}");
    }
}

#[test]
fn depth_against_width_is_a_tie_that_no_law_ranks() {
    let found = beside(
        &[("num_layers", "54"), ("moe_layer_freq", "([0]*3+[1]*51)"), ("hidden_size", "8192")],
        TOKENS,
    );
    assert!(found.is_tie && !found.is_ranked(), "{found:?}");
    assert!(found.flags.contains(&Flag::DepthOrWidthAlone));
    assert!((found.loss_difference.median - 0.0025).abs() < 5e-4, "{found:?}");
}

#[test]
fn the_band_of_the_leverage_has_its_three_published_values() {
    let band = leverage(&shape(&[]), TOKENS);
    assert!((band.low / 2.31 - 1.0).abs() < 0.01, "{band:?}");
    assert!((band.middle / 6.75 - 1.0).abs() < 0.01, "{band:?}");
    assert!((band.high / (1.5 * 12.3) - 1.0).abs() < 0.01, "{band:?}");
}

#[test]
fn coarse_designs_are_asked_of_the_joint_law_alone() {
    let found = beside(&[("num_moe_experts", "64"), ("moe_router_topk", "1")], TOKENS);
    assert_eq!(found.by_member.len(), 1);
    assert!(found.flags.contains(&Flag::Coarse));
}

#[test]
fn laws_are_not_asked_where_they_say_nothing_and_every_reason_is_named() {
    let own = shape(&[]);
    let sparse = Shape { experts: 2048.0, ..own };
    let refused = compare((&sparse, 1e11), (&sparse, 1e11), Some(1e9)).unwrap_err();
    for (place, name) in
        ["too_sparse", "too_few_tokens", "too_many_epochs", "nothing_seen"].into_iter().enumerate()
    {
        assert_eq!(refused[place].name(), name, "{refused:?}");
        assert!(!refused[place].words().is_empty());
    }
    let other = Shape { experts: 128.0, ..own };
    assert_eq!(
        compare((&other, TOKENS), (&own, TOKENS), Some(1e12)).unwrap_err(),
        [Refusal::TooManyEpochs(19.0)]
    );
    assert!(laws::dense_tokens(70e9, 1.8).is_none());
}

#[test]
fn repeated_tokens_are_flagged_and_worth_less() {
    let (own, other) = (shape(&[]), shape(&[("num_moe_experts", "128")]));
    let found = compare((&own, TOKENS), (&other, TOKENS), Some(2e12)).unwrap();
    assert!(found.flags.contains(&Flag::RepeatedTokens));
    assert!(effective_tokens(2e12, TOKENS) < TOKENS);
}

proptest! {
    /// Loss falls with tokens and with parameters.
    #[test]
    fn laws_fall_with_tokens_and_parameters(
        params in 1e9_f64..1e12, tokens in 1e11_f64..1e14, more in 1.01_f64..10.0,
        expansion in 1.0_f64..64.0,
    ) {
        prop_assert!(laws::dense(params, tokens * more) < laws::dense(params, tokens));
        prop_assert!(laws::dense(params * more, tokens) < laws::dense(params, tokens));
        let joint = laws::joint(params, tokens, expansion);
        prop_assert!(laws::joint(params, tokens * more, expansion) < joint);
    }

    /// A model's gain on another is the other's loss on it.
    #[test]
    fn differences_are_antisymmetric(experts in 32_u64..1024, others in 32_u64..1024) {
        let sized = |experts: u64| {
            let base = Shape { experts: experts as f64, ..shape_of_paper() };
            Shape { total_body: 20e9 + experts as f64 * 2.7e9, ..base }
        };
        prop_assume!(experts != others);
        let (one, other) = (sized(experts), sized(others));
        let there = compare((&one, TOKENS), (&other, TOKENS), None).unwrap();
        let back = compare((&other, TOKENS), (&one, TOKENS), None).unwrap();
        prop_assert!((there.loss_difference.median + back.loss_difference.median).abs() < 1e-12);
        prop_assert_eq!(there.is_tie, back.is_tie);
        prop_assert!(there.loss_difference.min <= there.loss_difference.median);
        prop_assert!(there.loss_difference.median <= there.loss_difference.max);
    }

    /// Tokens for a loss are those after which the law has it.
    #[test]
    fn tokens_for_a_loss_have_that_loss(params in 1e9_f64..1e12, tokens in 1e11_f64..1e14) {
        let found = laws::dense_tokens(params, laws::dense(params, tokens)).unwrap();
        prop_assert!((found / tokens - 1.0).abs() < 1e-6);
    }
}

/// The paper's model without its plan, quick to make.
const fn shape_of_paper() -> Shape {
    Shape {
        experts: 256.0,
        topk: 8.0,
        shared: 1.0,
        hidden: 7_680.0,
        expert_width: 2_048.0,
        layers: 61,
        active: 39.19e9,
        active_body: 38.01e9,
        total_body: 716.7e9,
    }
}
