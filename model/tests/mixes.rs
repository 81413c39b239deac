//! Models whose layers differ by their mixers: published counts, and what one layer changes.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::design::KnobId;
use model::training::estimate::Metrics;
use model::{Plan, estimate};
use testing::design::{estimated, from_preset};

fn metrics(preset: &str, knobs: &[(&str, &str)]) -> Metrics {
    estimated(&from_preset(preset, knobs)).metrics
}

/// Preset, and its published parameters in billions: all, and those of a token without the input
/// embedding, where they are published.
const PUBLISHED: [(&str, f64, Option<f64>); 16] = [
    ("gpt-oss-120b", 116.83, Some(5.13)),
    ("gpt-oss-20b", 20.91, Some(3.61)),
    ("gemma-3-27b", 27.01, None),
    ("qwen3-next-80b-a3b", 79.67, None),
    ("kimi-linear-48b-a3b", 49.1, None),
    ("minimax-m1", 456.0, None),
    ("nemotron-h-8b", 8.10, None),
    ("nemotron-h-56b", 56.4, None),
    ("nemotron-3-nano-30b-a3b", 31.6, None),
    ("nemotron-3-super-120b-a12b", 120.6, None),
    ("nemotron-3-ultra-550b-a55b", 550.0, None),
    ("deepseek-v4-flash", 284.0, None),
    // 1.6T, to one digit; the file's own sizes make 1,573.
    ("deepseek-v4-pro", 1573.0, Some(49.0)),
    // About 27 in the mean.
    ("longcat-flash", 560.0, Some(27.1)),
    ("minimax-m3", 428.0, None),
    // 2.8T, to two digits; 2.72T of them are routed experts, 3 x 3,584 x 3,072 x 896 x 92.
    ("kimi-k3", 2780.0, None),
];

#[test]
fn parameters_are_those_that_are_published() {
    for (preset, total, active) in PUBLISHED {
        let metrics = metrics(preset, &[]);
        let found = metrics.params_total as f64 / 1e9;
        assert!((found / total - 1.0).abs() < 0.005, "{preset}: {found} of {total}");
        if let Some(active) = active {
            let found = metrics.params_active_no_input_embedding as f64 / 1e9;
            assert!((found / active - 1.0).abs() < 0.005, "{preset}: {found} of {active}");
        }
    }
}

type Printed = (&'static str, &'static [(&'static str, &'static str)], f64);

/// Preset, what is set, and GFLOP of a token as its trainer prints them. Routers and MTP's
/// projections are counted here and not there: 0.1 to 1.2 %.
///
/// Megatron's formula has Mamba-2 layers as wide as twice the hidden size, whatever their heads: so
/// many they get here.
const PRINTED: [Printed; 4] = [
    ("gpt-oss-120b", &[("seq_length", "4096")], 32.61),
    ("nemotron-3-nano-30b-a3b", &[("mamba_num_heads", "84"), ("mamba_num_groups", "7")], 22.27),
    ("nemotron-3-super-120b-a12b", &[], 84.7),
    ("deepseek-v4-flash", &[], 90.95),
];

#[test]
fn flops_of_a_token_are_those_that_are_printed() {
    for (preset, knobs, printed) in PRINTED {
        let found = metrics(preset, knobs).flops_per_token.get() / 1e9;
        assert!((-0.005..0.012).contains(&(found / printed - 1.0)), "{preset}: {found}");
    }
}

#[test]
fn sinks_are_one_parameter_for_each_head_and_no_flops() {
    let plain = metrics("gpt-oss-20b", &[("softmax_type", "off-by-one")]);
    let sinks = metrics("gpt-oss-20b", &[]);
    assert_eq!(sinks.params_total - plain.params_total, 24 * 64);
    assert_eq!(sinks.flops_per_token, plain.flops_per_token);
}

#[test]
fn one_layer_replaced_changes_its_own_terms_alone() {
    for (variant, preset) in [
        ("gdn", "qwen3-next-80b-a3b"),
        ("gdn2", "qwen3-next-80b-a3b"),
        ("kda", "kimi-linear-48b-a3b"),
        ("lightning", "minimax-m1"),
    ] {
        let layers: usize = if preset == "minimax-m1" { 80 } else { 48 };
        let of = |linear: usize| {
            let freq = format!("([1]*{linear}+[0]*{})", layers - linear);
            let layers = layers.to_string();
            let knobs = [
                ("num_layers", layers.as_str()),
                ("moe_layer_freq", "1"),
                ("experimental_attention_variant", variant),
                ("linear_num_key_heads", "32"),
                ("linear_num_value_heads", "32"),
                ("linear_attention_freq", freq.as_str()),
                ("pipeline_model_parallel_size", "1"),
                ("virtual_pipeline_model_parallel_size", "1"),
                ("method", "1f1b"),
            ];
            metrics(preset, &knobs)
        };
        let counts = [9, 10, 11].map(of);
        let params = counts.each_ref().map(|it| it.params_total as f64);
        let flops = counts.each_ref().map(|it| it.flops_per_token.get());
        let seconds = counts.each_ref().map(|it| it.step_time.get());
        for [one, two, three] in [params, flops, seconds] {
            assert!((two - one).abs() > 0.0, "{variant}");
            assert!(((three - two) / (two - one) - 1.0).abs() < 1e-5, "{variant}: {one} {two}");
        }
    }
}

#[test]
fn a_scan_takes_no_longer_for_a_token_of_a_longer_sequence() {
    for variant in ["gdn", "gdn2", "kda", "lightning"] {
        let flops = |seq: &str| {
            let knobs = [
                ("experimental_attention_variant", variant),
                ("linear_num_key_heads", "32"),
                ("linear_num_value_heads", "32"),
                ("linear_attention_freq", "([1]*48)"),
                ("seq_length", seq),
            ];
            metrics("qwen3-next-80b-a3b", &knobs).flops_per_token.get()
        };
        assert!((flops("4096") - flops("65536")).abs() < 1.0, "{variant}");
    }
}

#[test]
fn layers_are_named_by_their_mixers() {
    let names = |preset: &str| -> Vec<(String, u64)> {
        let plan = Plan::new(&from_preset(preset, &[])).unwrap();
        model::ledger(&plan).into_iter().map(|layer| (layer.name, layer.num_layers)).collect()
    };
    let named = |name: &str, layers| (name.to_owned(), layers);
    let next = [named("MoE", 12), named("MoE, gated delta net", 36)];
    assert_eq!(names("qwen3-next-80b-a3b"), next);
    let kimi = [named("dense, KDA", 1), named("MoE", 7), named("MoE, KDA", 19)];
    assert_eq!(names("kimi-linear-48b-a3b"), kimi);
    let nano = [named("MoE alone", 23), named("attention alone", 6), named("Mamba-2 alone", 23)];
    assert_eq!(names("nemotron-3-nano-30b-a3b"), nano);
    assert_eq!(names("minimax-m1"), [named("MoE", 10), named("MoE, lightning attention", 70)]);
}

#[test]
fn ranks_of_context_parallelism_exchange_the_heads_of_scans() {
    use model::ground::axis::Axis;
    let sent = |cp: &str| {
        let knobs = [("context_parallel_size", cp), ("seq_length", "32768")];
        let estimate = estimated(&from_preset("qwen3-next-80b-a3b", &knobs));
        let rows = estimate.communication.iter().filter(|row| row.axis == Axis::Cp);
        rows.map(|row| row.bytes.get()).sum::<f64>()
    };
    assert!(sent("1") < 1.0 && sent("2") > 0.0);
    let uneven = from_preset("qwen3-next-80b-a3b", &[("linear_num_key_heads", "12")]);
    let broken = Plan::new(&uneven).unwrap_err();
    let rule = broken.iter().find(|it| it.rule == "linear_value_heads_are_a_multiple_of_key_heads");
    assert!(!rule.unwrap().nearest.is_empty());
}

#[test]
fn a_pattern_of_sub_layers_is_a_model_of_whole_layers_cut_in_two() {
    let whole = metrics("qwen3-8b", &[]);
    let pattern = "*-".repeat(36);
    let halves = [("num_layers", "72"), ("hybrid_layer_pattern", pattern.as_str())];
    let cut = metrics("qwen3-8b", &halves);
    assert_eq!(cut.params_total, whole.params_total);
    let same = |one: f64, other: f64| assert!((one / other - 1.0).abs() < 1e-12, "{one} {other}");
    same(cut.flops_per_token.get(), whole.flops_per_token.get());
    same(cut.step_time.get(), whole.step_time.get());
}

#[test]
fn what_a_pattern_says_nothing_else_may_say() {
    let broken = |knobs: &[(&str, &str)]| -> Vec<&'static str> {
        let violations = Plan::new(&from_preset("nemotron-3-nano-30b-a3b", knobs)).unwrap_err();
        assert!(violations.iter().all(|it| !it.nearest.is_empty()), "{violations:?}");
        violations.iter().map(|violation| violation.rule).collect()
    };
    assert_eq!(broken(&[("num_layers", "51")]), ["sub_layers_are_those_of_the_pattern"]);
    assert_eq!(broken(&[("moe_layer_freq", "2")]), ["sub_layers_have_no_frequencies"]);
    assert_eq!(broken(&[("mtp_num_layers", "1")]), ["mtp_is_that_of_the_pattern"]);
    let few = [("mamba_num_heads", "60")];
    assert_eq!(broken(&few), ["mamba_heads_are_a_multiple_of_groups_and_ranks"]);
}

#[test]
fn bars_say_what_each_stage_holds() {
    let half = "MEMEM*EMEMEM*E";
    let pattern = format!("{half}|{half}MEME");
    let knobs = [
        ("num_layers", "32"),
        ("hybrid_layer_pattern", pattern.as_str()),
        ("pipeline_model_parallel_size", "2"),
        ("num_devices", "32"),
    ];
    let estimate = estimated(&from_preset("nemotron-3-nano-30b-a3b", &knobs));
    let [first, last] = [0, 1].map(|stage| estimate.stages[stage].memory.weights.get());
    assert!(last > first, "{first} {last}");
}

#[test]
fn exchanges_of_latent_experts_carry_the_latent() {
    use model::ground::axis::{Axis, Collective};
    let sent = |latent: &str| {
        let knobs = [("moe_latent_size", latent), ("num_devices", "64")];
        let estimate = estimated(&from_preset("nemotron-3-nano-30b-a3b", &knobs));
        let is_of_experts = |row: &&model::training::estimate::Communication| {
            row.axis == Axis::Ep && row.collective == Collective::AllToAll
        };
        let rows = estimate.communication.iter().filter(is_of_experts);
        rows.map(|row| row.bytes.get()).sum::<f64>()
    };
    let ratio = sent("672") / sent("none");
    assert!((ratio - 0.25).abs() < 1e-9, "{ratio}");
}

#[test]
fn a_repeated_mtp_layer_is_held_once() {
    let of = |repeated| {
        let knobs = [("mtp_use_repeated_layer", repeated)];
        Plan::new(&from_preset("nemotron-3-super-120b-a12b", &knobs)).unwrap().params_mtp()
    };
    assert_eq!(of("false"), 2 * of("true"));
}

#[test]
fn sparse_attention_over_all_keys_does_the_scores_of_latent_attention() {
    let of = |knobs: &[(&str, &str)]| metrics("deepseek-v3.2", knobs).flops_per_token.get();
    // 61 layers and MTP, heads of 192 + 128 whole and 1,088 as latents, half of 4,096 keys each.
    let (sparse, whole) =
        (of(&[("dsa_indexer_topk", "4096")]), of(&[("experimental_attention_variant", "none")]));
    let more = 3.0 * 62.0 * 2.0 * 128.0 * (1_088.0 - 320.0) * 2_048.0;
    let indexer = 3.0 * 62.0 * 2.0 * (1_536.0 * 64.0 * 128.0 + 7_168.0 * (128.0 + 64.0));
    let scores = 3.0 * 62.0 * 2.0 * 4_097.0 / 2.0 * 64.0 * 129.0 * 2.0 / 3.0;
    assert!(((sparse - whole) / (more + indexer + scores) - 1.0).abs() < 1e-9);
    // Beyond the chosen keys, only the indexer grows with the sequence.
    let [one, two] = ["65536", "131072"].map(|seq| of(&[("seq_length", seq)]));
    let grown = 3.0 * 62.0 * 2.0 * 32_768.0 * 64.0 * 129.0 * 2.0 / 3.0;
    assert!(((two - one) / grown - 1.0).abs() < 0.02, "{one} {two}");
}

#[test]
fn layers_that_take_over_a_choice_of_keys_have_no_indexer() {
    let shared = [("dsa_indexer_topk_freq", "4"), ("dsa_indexer_skip_topk_offset", "3")];
    let plan = Plan::new(&from_preset("deepseek-v3.2", &shared)).unwrap();
    let names: Vec<_> =
        model::ledger(&plan).into_iter().map(|it| (it.name, it.num_layers)).collect();
    let named = |name: &str, layers| (name.to_owned(), layers);
    // 0 to 2, then 6, 10, ... 58; the last layer and MTP take one over.
    let expected = [
        named("dense, sparse attention", 3),
        named("MoE, sparse attention", 14),
        named("MoE, sparse attention, keys as before", 45),
    ];
    assert_eq!(names, expected);
}

#[test]
fn blocks_of_all_keys_do_the_scores_of_attention() {
    let of = |knobs: &[(&str, &str)]| metrics("minimax-m3", knobs).flops_per_token.get();
    let all = [("dsa_indexer_topk", "4096")];
    let whole = [("experimental_attention_variant", "none")];
    // 57 layers, and MTP's: four queries and a key of 128, over 4,097 / 2 keys in the mean.
    let indexer = 2.0 * 6_144.0 * 5.0 * 128.0 + 2.0 * 4_097.0 / 2.0 * 4.0 * 128.0 * 2.0 / 3.0;
    assert!(((of(&all) - of(&whole)) / (3.0 * 58.0 * indexer) - 1.0).abs() < 1e-9);
    // Keys of 16 blocks of 128 for each query but the first 2,048, half of one's own block.
    let half = 2_048.0 * 2_048.0 / 2.0 + 2_048.0 * (2_048.0 - 127.0 / 2.0);
    let saved = 3.0 * 58.0 * 4.0 * 64.0 * 128.0 * (2_048.0 - half / 4_096.0);
    assert!(((of(&all) - of(&[])) / saved - 1.0).abs() < 1e-9);
}

#[test]
fn layers_that_choose_no_blocks_are_attention() {
    let plan = Plan::new(&from_preset("minimax-m3", &[])).unwrap();
    let names: Vec<_> =
        model::ledger(&plan).into_iter().map(|it| (it.name, it.num_layers)).collect();
    let expected = [("dense".to_owned(), 3), ("MoE, sparse attention over blocks".to_owned(), 58)];
    assert_eq!(names, expected);
}

#[test]
fn blocks_that_cannot_be_are_refused_with_a_way_out() {
    for (knob, value, rule) in [
        ("sparse_block_size", "300", "chosen_blocks_are_whole_and_of_each_group"),
        ("dsa_indexer_n_heads", "8", "chosen_blocks_are_whole_and_of_each_group"),
        ("sparse_attention_freq", "([0]*3+[1]*4)", "sparse_pattern_has_every_layer"),
        ("window_size", "4096", "sparse_attention_is_of_latents"),
    ] {
        let broken = Plan::new(&from_preset("minimax-m3", &[(knob, value)])).unwrap_err();
        let found = broken.iter().find(|it| it.rule == rule).unwrap();
        assert!(!found.nearest.is_empty(), "{knob}");
    }
}

#[test]
fn attention_residuals_cost_what_they_mix_hold_and_send() {
    use model::ground::axis::Axis;
    let of = |block: &str| {
        let knobs = [("attention_residual_block_size", block), ("recompute_granularity", "none")];
        let estimate = estimated(&from_preset("kimi-k3", &knobs));
        let rows = estimate.communication.iter().filter(|row| row.axis == Axis::Pp);
        let sent: f64 = rows.map(|row| row.bytes.get()).sum();
        let held: Vec<f64> = estimate.stages.iter().map(|it| it.memory.activations.get()).collect();
        (estimate.metrics, sent, held)
    };
    let (plain, sent, held) = of("none");
    let (mixed, more_sent, more_held) = of("12");
    // A norm and a query of 7,168 in front of 93 mixers and MLPs, and of the head.
    assert_eq!(mixed.params_total - plain.params_total, 2 * 7_168 * (2 * 93 + 1));
    // Stages end behind layers 11, 23, 35, ... 83: 1, 2, ... 7 blocks in front, 4 in the mean.
    assert!((more_sent / sent - 5.0).abs() < 1e-9, "{more_sent} {sent}");
    let state = 4_096.0 * 7_168.0 * 2.0;
    // Eight micro-batches are in flight on the first stage, one on the last; each layer keeps the
    // running sum in front of both of its parts.
    let expected = [8.0 * (1.0 + 2.0 * 11.0) * state, (8.0 + 2.0 * 10.0) * state];
    for (found, expected) in
        [more_held[0] - held[0], more_held[7] - held[7]].into_iter().zip(expected)
    {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }
    // The paper has less than 4 % for Kimi-Linear in blocks of 6 layers.
    let step = |block| {
        metrics("kimi-linear-48b-a3b", &[("attention_residual_block_size", block)]).step_time.get()
    };
    assert!((1.0..1.04).contains(&(step("6") / step("none"))));
    assert!(step("3") > step("6"));
}

#[test]
fn compressed_attention_grows_with_the_keys_that_are_compressed() {
    // 43 layers and MTP; a window of 128 alone, then also s / 128 keys or the best 512 of s / 4.
    let of = |ratio: &str, seq: &str| {
        let ratios = format!("([{ratio}]*44)");
        let knobs = [("attention_compress_ratios", ratios.as_str()), ("seq_length", seq)];
        metrics("deepseek-v4-flash", &knobs).flops_per_token.get()
    };
    let key = 3.0 * 44.0 * 4.0 * 64.0 * 512.0;
    let grown = |ratio: &str| of(ratio, "32768") - of(ratio, "16384");
    let own = grown("0");
    assert!((own / (key * 128.0 * 128.0 / 65_536.0) - 1.0).abs() < 1e-4, "{own}");
    assert!(((grown("128") - own) / (key * 64.0) - 1.0).abs() < 1e-9);
    let indexer = 3.0 * 44.0 * 4_096.0 * 64.0 * 129.0 * 2.0 / 3.0;
    let chosen = key * (512.0 * 512.0 / 2.0) * (1.0 / 4_096.0 - 1.0 / 8_192.0);
    assert!(((grown("4") - own) / (indexer + chosen) - 1.0).abs() < 1e-9);
}

#[test]
fn streams_multiply_what_stages_send_and_layers_keep() {
    use model::ground::axis::Axis;
    let of = |streams: &str| {
        let knobs = [("mhc_num_residual_streams", streams)];
        let estimate = estimated(&from_preset("deepseek-v4-pro", &knobs));
        let rows = estimate.communication.iter().filter(|row| row.axis == Axis::Pp);
        let sent: f64 = rows.map(|row| row.bytes.get()).sum();
        (sent, estimate.stages[0].memory.activations.get())
    };
    let (two, four) = (of("2"), of("4"));
    assert!((four.0 / two.0 - 2.0).abs() < 1e-9);
    assert!(four.1 > two.1);
    // One stream is none: what is added up has no weights.
    let plain = metrics("deepseek-v4-pro", &[("enable_mhc_connections", "false")]);
    let mapped = metrics("deepseek-v4-pro", &[]);
    let mapping = 61 * 2 * ((4 * 7_168 + 1) * 24 + 3) + (4 * 7_168 + 1) * 4 + 1;
    assert_eq!(mapped.params_total - plain.params_total, mapping);
}

#[test]
fn ratios_are_written_as_they_are_read() {
    let knob = KnobId::attention_compress_ratios;
    for (text, written) in [
        ("[0,0]+[4,128]*20+[4,0]", "([0]*2+[4,128]*20+[4]+[0])"),
        ("([4,4,4,128])", "([4]*3+[128])"),
        ("([128,4]*2+[128])", "([128,4]*2+[128])"),
    ] {
        let ratios = from_preset("deepseek-v4-flash", &[("attention_compress_ratios", text)]);
        assert_eq!(ratios.get(knob).to_string(), written);
    }
    let mut refused = from_preset("deepseek-v4-flash", &[]);
    for text in ["([8]*43)", "4", "([4]*0)", "[4,]"] {
        assert!(refused.set_text(knob, text).is_err(), "{text}");
    }
}

#[test]
fn zero_experts_take_their_share_of_the_choices() {
    let of = |zeros: &str| metrics("longcat-flash", &[("moe_zero_experts", zeros)]);
    let active = |it: &Metrics| it.params_active_no_input_embedding as f64 / 1e9;
    let (none, some) = (of("none"), of("256"));
    // 31.3 billion where all of twelve choices are experts, 18.6 where none is.
    assert!((active(&none) - 31.3).abs() < 0.05, "{}", active(&none));
    let expert = 3.0 * 6_144.0 * 2_048.0 * 28.0 / 1e9;
    assert!((active(&some) - 8.0 * expert - 18.6).abs() < 0.1, "{}", active(&some));
    assert!((active(&none) - active(&some) - 4.0 * expert).abs() < 0.05);
    assert_eq!(some.params_total - none.params_total, 28 * 256 * 6_144);
}

#[test]
fn tokens_meet_fewer_or_more_parameters_than_the_mean_one() {
    let plan = Plan::new(&from_preset("longcat-flash", &[])).unwrap();
    let metrics = estimate(&plan).metrics;
    let [fewer, more] = plan.active_params_by_token().unwrap().map(|it| it / 1e9);
    let experts = 12.0 * 28.0 * 3.0 * 6_144.0 * 2_048.0 / 1e9;
    assert!(((more - fewer) / experts - 1.0).abs() < 1e-9);
    // 18.6 to 31.3 are published, without the input embedding.
    let mean = metrics.params_active_no_input_embedding as f64 / 1e9;
    assert!((mean + fewer - 18.6).abs() < 0.1, "{}", mean + fewer);
    assert!((mean + more - 31.3).abs() < 0.1, "{}", mean + more);
    let plain = Plan::new(&from_preset("deepseek-v3.2", &[])).unwrap();
    assert_eq!(plain.active_params_by_token(), None);
}

#[test]
fn zero_experts_need_no_dispatch() {
    use model::ground::axis::{Axis, Collective};
    let sent = |zeros: &str| {
        let knobs = [("moe_zero_experts", zeros), ("moe_token_dispatcher_type", "alltoall")];
        let estimate = estimated(&from_preset("longcat-flash", &knobs));
        let rows = estimate.communication.iter();
        let rows =
            rows.filter(|row| (row.axis, row.collective) == (Axis::Ep, Collective::AllToAll));
        rows.map(|row| row.bytes.get()).sum::<f64>()
    };
    assert!((sent("256") / sent("none") - 2.0 / 3.0).abs() < 1e-9);
    let dense = from_preset("llama-3-8b", &[("moe_zero_experts", "256")]);
    let broken = Plan::new(&dense).unwrap_err();
    assert_eq!(broken[0].rule, "zero_experts_stand_beside_experts");
    assert!(!broken[0].nearest.is_empty());
}

#[test]
fn layers_may_have_sizes_of_their_own() {
    let of = |sizes: &str| metrics("llama-3-8b", &[("layer_overrides", sizes)]);
    let (plain, h) = (of("none"), 4_096);
    // Four heads fewer of keys and values, each of 128, in twenty layers.
    let groups = of("0-18,31:num_query_groups=4");
    assert_eq!(plain.params_total - groups.params_total, 20 * 2 * 4 * 128 * h);
    let widths = of("0-18,31:num_query_groups=4;5:ffn_hidden_size=7168");
    assert_eq!(groups.params_total - widths.params_total, 3 * h * 7_168);
    // No attention and no MLP: not even norms, and no time.
    let halves = of("3:num_attention_heads=0;4:ffn_hidden_size=0");
    let gone = of("3:num_attention_heads=0,ffn_hidden_size=0");
    assert_eq!(halves.params_total, gone.params_total);
    let fewer = metrics("llama-3-8b", &[("num_layers", "31")]);
    assert_eq!(gone.params_total, fewer.params_total);
    assert_eq!(gone.flops_per_token, fewer.flops_per_token);
    assert!((gone.step_time.get() / fewer.step_time.get() - 1.0).abs() < 1e-3);
    // Sizes that are those of all layers change nothing.
    let same = of("0-9:ffn_hidden_size=14336,num_query_groups=8");
    assert_eq!(same.step_time, plain.step_time);
    assert_eq!(same.memory_peak, plain.memory_peak);
    assert!(of("0-9:window_size=128").step_time < plain.step_time);
    assert!(of("0-9:v_head_dim=64").params_total < plain.params_total);
}

#[test]
fn sizes_by_layer_that_cannot_be_are_refused_with_a_way_out() {
    let broken = |sizes: &str| {
        let violations = Plan::new(&from_preset("llama-3-8b", &[("layer_overrides", sizes)]));
        let violations = violations.unwrap_err();
        assert!(violations.iter().all(|it| !it.nearest.is_empty()), "{violations:?}");
        let of = |it: model::design::violation::Violation| (it.rule, it.message);
        violations.into_iter().map(of).next().unwrap()
    };
    let (rule, message) = broken("0-3:num_query_groups=5");
    assert_eq!(rule, "sizes_by_layer_keep_the_rules");
    assert!(message.starts_with("in layer 0: "), "{message}");
    assert_eq!(broken("32:ffn_hidden_size=0").0, "sizes_by_layer_are_of_the_layers");
    let widths = |layer| format!("{layer}:ffn_hidden_size={}", 256 * (layer + 1));
    let many: Vec<String> = (0..8).map(widths).collect();
    assert_eq!(broken(&many.join(";")).1, "layers are of 9 kinds, at most 8");
    let knob = KnobId::layer_overrides;
    let mut refused = from_preset("llama-3-8b", &[]);
    for (text, part) in [
        ("0-9", "layers:size=number"),
        ("9-0:kv_channels=1", "layers such as 0-9"),
        ("1:query_groups=1", "num_query_groups"),
        ("1:ffn_hidden_size", "size=number"),
        ("1:kv_channels=0", "1 to 4096"),
    ] {
        let error = refused.set_text(knob, text).unwrap_err();
        assert!(error.detail.contains(part), "{text}: {error}");
    }
}

#[test]
fn compression_that_is_not_of_all_layers_is_refused_with_a_way_out() {
    let broken = |knobs: &[(&str, &str)]| {
        let violations = Plan::new(&from_preset("deepseek-v4-flash", knobs)).unwrap_err();
        assert!(violations.iter().all(|it| !it.nearest.is_empty()), "{violations:?}");
        violations[0].rule
    };
    let short = [("attention_compress_ratios", "([4]*42)")];
    assert_eq!(broken(&short), "compression_is_given_for_every_layer");
    for knob in [("window_size", "none"), ("q_lora_rank", "none"), ("window_attn_skip_freq", "2")] {
        assert_eq!(broken(&[knob]), "compressed_attention_is_of_latents");
    }
    let halves = [("tensor_model_parallel_size", "16"), ("sequence_parallel", "true")];
    assert_eq!(broken(&halves), "output_groups_are_of_whole_heads");
}
