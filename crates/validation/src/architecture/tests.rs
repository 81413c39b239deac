//! Architectures as sources print them.

use super::*;
use crate::runs;

fn named(model: &str) -> Result<Architecture, Refusal> {
    for_run(&Run { model: model.to_owned(), ..Run::default() })
}

fn spoken(model: &str, architecture: &str) -> Transformer {
    let run = Run {
        model: model.to_owned(),
        architecture: architecture.to_owned(),
        tensor_parallel: Some(8),
        ..Run::default()
    };
    for_run(&run).unwrap().design.transformer
}

#[test]
fn a_name_finds_its_preset_whatever_its_spelling() {
    for (model, preset) in [
        ("LLAMA3_70B", "llama-3-70b"),
        ("LLaMA3.1 70B", "llama-3-70b"),
        ("LLAMA3.1_405B", "llama-3.1-405b"),
        ("DeepSeekV3", "deepseek-v3"),
        ("DeepSeek-V3 671B (+3 noop; MTP1)", "deepseek-v3"),
        ("Qwen3_30B_a3B", "qwen3-30b-a3b"),
        ("Qwen3-235B-A22B", "qwen3-235b-a22b"),
        ("Mixtral 8x7B", "mixtral-8x7b"),
        ("Kimi K2", "kimi-k2"),
        ("llama4-maverick-400b", "llama4-maverick"),
        ("Pangu Ultra MoE 718B-A39B (optimised)", "pangu-ultra-moe-718b"),
        ("GPT-3 175B (MLPerf)", "gpt3-175b"),
    ] {
        let design = named(model).unwrap().design;
        assert_eq!(design.preset.id, preset, "{model}");
    }
}

#[test]
fn a_name_finds_what_no_preset_has() {
    let transformer = named("LLaMA2-7B bf16 pretrain").unwrap().design.transformer;
    assert_eq!((transformer.num_layers, transformer.vocab_size), (32, 32_000));
    let transformer = named("Gemma 2B").unwrap().design.transformer;
    assert_eq!((transformer.kv_channels, transformer.num_query_groups), (Some(256), Some(1)));
    assert!(!transformer.untie_embeddings_and_output_weights);
    let transformer = named("llama3-70b 12L").unwrap().design.transformer;
    assert_eq!((transformer.num_layers, transformer.hidden_size), (12, 8_192));
}

#[test]
fn what_stands_beside_a_name_is_no_part_of_it() {
    let layers = |model: &str| named(model).unwrap().design.transformer.num_layers;
    for (model, count) in [
        ("DeepSeek-V3 671B + torch.compile AutoFuse", 61),
        ("CodeLlama-34B 16p", 48),
        ("Qwen3-30B-A3B full finetune", 48),
        ("Pangu Ultra MoE 718B baseline", 61),
        ("ChatGLM3-6B (DeepSpeed)", 28),
        ("Llama3 70B 2-node", 80),
        ("Moonlight-16B-A3B", 27),
        ("Llama2-34B", 48),
    ] {
        assert_eq!(layers(model), count, "{model}");
    }
}

#[test]
fn a_part_of_a_model_has_what_its_name_says() {
    let architecture =
        named("DeepSeek-V3 cut: 4 layer slots (1 dense,1 MoE 16 experts top-8,2 noop)+MTP")
            .unwrap();
    let transformer = &architecture.design.transformer;
    assert_eq!((transformer.num_layers, architecture.empty_slots), (2, 2));
    assert_eq!((transformer.num_moe_experts, transformer.moe_router_num_groups), (Some(16), None));
    let runs = |runs: &[(bool, u64)]| model::design::LayerFreq::Runs(runs.to_vec());
    assert_eq!(transformer.moe_layer_freq, runs(&[(false, 1), (true, 1)]));
    let phi = named("Phi-3.5-MoE 8 layers (16 experts top-2)").unwrap().design.transformer;
    assert_eq!((phi.num_layers, phi.moe_router_topk), (8, 2));
    let fine = named("Mixtral-8x22B-G8T8").unwrap().design.transformer;
    assert_eq!((fine.num_moe_experts, fine.moe_router_topk), (Some(64), 8));
    assert_eq!(fine.moe_ffn_hidden_size, Some(2_048));
    // Brackets alone may say everything.
    let bare = named("Wheel (30 layers h4096 heads32 ffn12288 MHA, vocab 131072)").unwrap();
    assert_eq!(bare.design.transformer.vocab_size, 131_072);
}

#[test]
fn a_family_says_the_vocabulary_and_the_size_the_gate() {
    let run = |model: &str, architecture: &str, billions| Run {
        model: model.to_owned(),
        architecture: architecture.to_owned(),
        params_billions: billions,
        ..Run::default()
    };
    let llama = for_run(&run("llama2 proxy", "L8 h4096 heads32 ffn11008", None)).unwrap();
    assert_eq!(llama.design.transformer.vocab_size, 32_000);
    assert!(llama.assumed.iter().any(|words| words.contains("vocabulary")));
    let words = "L24 h2048 heads16 ffn8192 V50304";
    let gated = |billions| {
        for_run(&run("x", words, billions)).unwrap().design.transformer.gated_linear_unit
    };
    assert!(gated(None) && gated(Some(1.8)) && !gated(Some(1.4)));
}

#[test]
fn every_known_architecture_is_complete_and_has_its_parameters() {
    let lines = include_str!("../../architectures.csv").lines().count();
    assert_eq!(known::KNOWN.len(), lines - 1, "every row is read");
    for known in known::KNOWN.iter() {
        let words = Words::read(&known.words).unwrap();
        assert!(words.is_complete(), "{}", known.name);
        let Ok(architecture) = named(&known.name) else { panic!("{}", known.name) };
        // A size in billions in the name is the number of parameters, about.
        let sizes = known.name.rsplit('-').find_map(|word| {
            let lower = word.to_lowercase();
            let number = lower.strip_suffix('b')?;
            (!number.starts_with('a')).then(|| number.parse::<f64>().ok())?
        });
        let Some(billions) = sizes else { continue };
        let found = params_billions(&architecture.design).unwrap();
        let ratio = found / billions;
        // Names round, and some leave the embedding out: Qwen1.5-0.5B has 0.62B, MiniCPM-2B 2.7B.
        assert!((0.85..1.4).contains(&ratio), "{}: {found}", known.name);
    }
}

#[test]
fn what_no_knob_expresses_is_refused_with_the_reason() {
    for model in ["Nemotron 3.5", "T5-11B"] {
        let refusal = named(model).unwrap_err();
        assert!(refusal.inexpressible, "{model}: {refusal}");
    }
    for model in ["DeepSeek-R1 671B RL update stage, real routing", "DeepSeek-R1 671B GRPO"] {
        let refusal = named(model).unwrap_err();
        assert!(refusal.inexpressible && refusal.reason.contains("reinforcement"), "{model}");
    }
    for model in ["Wheel 7B", "Kimi K2 30B", ""] {
        let unknown = named(model).unwrap_err();
        assert!(!unknown.inexpressible, "{model}: {unknown}");
    }
}

#[test]
fn styles_follow_from_the_words() {
    let gpt = spoken("GPT 22B", "L48 h6144 heads64 ffn4h MHA V51200");
    assert_eq!((gpt.ffn_hidden_size, gpt.gated_linear_unit), (24_576, false));
    assert!(gpt.add_bias_linear && !gpt.untie_embeddings_and_output_weights);
    let mpt = spoken("MPT-7b", "MPT L32 h4096 heads32 ffn4h MHA V50368");
    assert!(!mpt.add_bias_linear && !mpt.gated_linear_unit);
    let nemotron = spoken("nemotron4-15b", "L32 h6144 heads48 kv8 ffn24576 (non-gated) V256000");
    assert!(!nemotron.gated_linear_unit && nemotron.untie_embeddings_and_output_weights);
    let qwen = spoken("Qwen3-30B-A3B", "L48 h2048 heads32 kv4 hd128 E128 top8 moe_ffn768 V151936");
    assert!(qwen.qk_layernorm && qwen.gated_linear_unit);
    assert_eq!(qwen.num_moe_experts, Some(128));
}

#[test]
fn experts_and_dense_layers_follow_from_the_words() {
    let deepseek = spoken(
        "deepseekv3 4L",
        "L4 first 1 layer dense MLA128 h7168 dense_ffn18432 E256 top8 moe_ffn2048 shared2048 \
         q_lora1536 kv_lora512 qk128+64 v128 V129280",
    );
    assert_eq!(
        deepseek.moe_layer_freq,
        model::design::LayerFreq::Runs(vec![(false, 1), (true, 3)])
    );
    assert_eq!((deepseek.mtp_num_layers, deepseek.moe_router_num_groups), (0, Some(8)));
    assert_eq!(deepseek.moe_shared_expert_intermediate_size, Some(2_048));
    let two = spoken("x", "L4 h64 heads8 E8 top2 moe_ffn128 shared2 V1024");
    assert_eq!(two.moe_shared_expert_intermediate_size, Some(256));
    let llama = spoken("Llama3-8x70B", "L80 h8192 heads64 kv8 E8 top2 ffn28672 V128256");
    assert_eq!(llama.moe_ffn_hidden_size, Some(28_672));
}

#[test]
fn the_number_of_heads_suits_tp_where_it_is_not_printed() {
    let heads = |settings: &str, hidden, tp| {
        let settings = settings.to_owned();
        let run = Run { settings, tensor_parallel: Some(tp), ..Run::default() };
        plausible_heads(&run, hidden)
    };
    assert_eq!(heads("", 13_824, 8), 96);
    assert_eq!(heads("", 13_312, 8), 104);
    assert_eq!(heads("", 12_288, 8), 96);
    assert_eq!(heads("", 20_480, 1), 160);
    assert_eq!(heads("", 0, 8), 1);
    assert_eq!(heads("num_attention_heads=64", 13_824, 8), 64);
}

#[test]
fn the_printed_size_tells_whether_embeddings_are_one_table() {
    let run = |billions| Run {
        model: "GPT 1.7B".to_owned(),
        architecture: "L24 h2048 heads16 ffn4h MHA V131072".to_owned(),
        params_billions: Some(billions),
        ..Run::default()
    };
    let untied =
        |run: &Run| for_run(run).unwrap().design.transformer.untie_embeddings_and_output_weights;
    assert!(untied(&run(1.7)));
    assert!(!untied(&run(1.48)));
}

#[test]
fn words_that_leave_something_open_have_to_agree_with_the_name() {
    let run = |layers: u64| Run {
        model: "Pangu Ultra MoE 718B".to_owned(),
        architecture: format!("L{layers}+MTP h7680 MLA128 E256 top8 shared1 moe_ffn2048"),
        ..Run::default()
    };
    assert_eq!(for_run(&run(61)).unwrap().design.preset.id, "pangu-ultra-moe-718b");
    assert!(for_run(&run(60)).is_err());
}

#[test]
fn every_architecture_of_the_files_is_read_or_refused() {
    for run in runs::published().iter().filter(|run| !run.architecture.is_empty()) {
        if let Err(refusal) = for_run(run) {
            let text = refusal.to_string();
            let expected =
                text.contains("Mamba") || run.kind == "kernel" || text.contains("isn't known");
            assert!(expected, "{}: {text}", run.id);
        }
    }
}
