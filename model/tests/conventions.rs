//! Ways to count that published counters were found to have, against what was found of each.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use model::design::{Design, KnobId};
use model::training::convention::Convention;
use model::{Plan, conventions, estimate};

fn ways(design: &Design) -> Vec<Convention> {
    let plan = Plan::new(design).unwrap();
    conventions(&plan, &estimate(&plan))
}

fn flops(ways: &[Convention], name: &str) -> f64 {
    ways.iter().find(|way| way.name == name).unwrap().flops_per_token.get()
}

fn with(preset: &str, settings: &str) -> Design {
    let mut design = Design::from_preset(preset).unwrap();
    for setting in settings.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        design.set_text(KnobId::find(name).unwrap(), value).unwrap();
    }
    design
}

/// jax-ml/scaling-book#31: 6 x 37e9 x 14.8e12 / (2.79e6 h x 3,600 x 1.513e15) is 21.6 %, three
/// times what 2 N D gave.
#[test]
fn six_times_the_active_parameters_is_what_tokens_and_hours_of_deepseek_v3_give() {
    let per_token = flops(&ways(&with("deepseek-v3-2k-h800", "")), "MFU, 6 x active parameters");
    let utilisation = per_token * 14.8e12 / (2.79e6 * 3_600.0 * 1.513e15);
    assert!((utilisation - 0.216).abs() < 0.003, "{utilisation}");
}

/// tenstorrent/tt-metal#50114: TinyLlama's MFU of 35 % is 33.2 % without the input embedding.
#[test]
fn an_input_embedding_that_is_counted_makes_tinyllama_five_to_six_percent_faster() {
    let tiny = with(
        "llama-3-8b",
        "num_layers=22 hidden_size=2048 ffn_hidden_size=5632 num_attention_heads=32 \
         num_query_groups=4 kv_channels=64 vocab_size=32000 tp=1 sp=false seq=2048",
    );
    let ways = ways(&tiny);
    let without = flops(&ways, "MFU, 6 x active parameters");
    let counted = flops(&ways, "MFU, input embedding counted, too");
    let attention = 12.0 * 22.0 * 2_048.0 * 2_048.0;
    let ratio = (counted + attention) / (without + attention);
    assert!((ratio - 35.0 / 33.2).abs() < 0.002, "{ratio}");
}

/// alibaba/Pai-Megatron-Patch#485: `ffn_hidden_size` in place of `moe_ffn_hidden_size`.
#[test]
fn experts_of_the_dense_width_count_so_many_times_their_own() {
    let qwen = ways(&with("qwen3-30b-a3b", ""));
    let dense = flops(&qwen, "MFU, experts as wide as the dense MLP");
    let full = flops(&qwen, "MFU, full attention");
    // 48 layers, top-8, three matrices of 2,048 x (6,144 - 768); the router isn't counted.
    let more = 3.0 * 48.0 * 2.0 * 3.0 * 8.0 * 2_048.0 * (6_144.0 - 768.0);
    let router = 3.0 * 48.0 * 2.0 * 2_048.0 * 128.0;
    assert!(((dense - full) / (more - router) - 1.0).abs() < 1e-9, "{dense} {full} {more}");
    assert!(ways(&with("mixtral-8x7b", "")).len() == 7 && ways(&with("llama-3-8b", "")).len() == 7);
}
