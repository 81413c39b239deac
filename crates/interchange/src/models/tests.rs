//! Models by their names: a name is taken for one model, or for none.

use model::catalogue::preset::Preset;

use super::*;

#[test]
fn every_knob_of_every_row_is_set_and_every_name_is_one_model() {
    let mut seen: Vec<&str> = vec![];
    for row in table::ROWS {
        let mut design = Design::from_preset(Preset::DEFAULT_ID).unwrap();
        design.transformer = Transformer::default();
        for (name, value) in row.shape.split_whitespace().filter_map(|it| it.split_once('=')) {
            let knob = KnobId::find(&format!("transformer.{name}")).unwrap();
            design.set_text(knob, value).unwrap();
        }
        if !row.shape.contains('=') {
            assert!(Design::from_preset(row.shape).is_ok(), "{}", row.shape);
        }
        for name in row.names {
            assert!(!seen.contains(name), "{name} stands twice");
            seen.push(name);
            assert_eq!(find(name).map(|known| known.name), row.names.first().copied(), "{name}");
        }
    }
}

#[test]
fn a_name_is_found_however_it_is_written() {
    for (written, name) in [
        ("Qwen/Qwen3-235B-A22B", "qwen3-235b-a22b"),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b"),
        ("/root/ckpt/Qwen3-30B-A3B_torch_dist/", "qwen3-30b-a3b"),
        ("/data/Qwen3-8B/iter_0001000", "qwen3-8b"),
        ("qwen2.5_72B.yaml", "qwen2.5-72b"),
        ("qwen2_5_32b.sh", "qwen2.5-32b"),
        ("qwen2p5_7b", "qwen2.5-7b"),
        ("deepseek_v3", "deepseek-v3"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-r1"),
        ("meta-llama/Meta-Llama-3.1-70B", "llama-3.1-70b"),
        ("mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"),
        ("$BASE_DIR/Kimi-K2-Instruct/", "kimi-k2"),
    ] {
        assert_eq!(find(written).map(|known| known.name), Some(name), "{written}");
    }
    // Sizes that share all but a point are two models.
    assert_ne!(find("qwen2-57b-a14b").map(|known| known.name), Some("qwen2.5-7b"));
    assert_eq!(find("/path/to/my/model"), None);
    assert_eq!(closest("org/deepsek-v3").as_deref(), Some("deepseek-v3"));
}

/// Names as the hub has them, with the parameters that are published, in billions; none where the
/// shape isn't known here, and no other one may be taken for it.
#[rustfmt::skip]
const NAMES: &[(&str, Option<f64>)] = &[
    // Qwen.
    ("Qwen/Qwen1.5-7B-Chat", Some(7.7)), ("Qwen/Qwen1.5-14B", Some(14.2)),
    ("Qwen/Qwen1.5-32B", Some(32.5)), ("Qwen/Qwen1.5-72B-Chat", Some(72.3)),
    ("Qwen/Qwen1.5-110B", None), ("Qwen/Qwen1.5-MoE-A2.7B", Some(14.3)),
    ("Qwen/Qwen2-0.5B", Some(0.49)), ("Qwen/Qwen2-7B-Instruct", Some(7.6)),
    ("Qwen/Qwen2-57B-A14B", Some(57.4)), ("Qwen/Qwen2-72B", Some(72.7)),
    ("Qwen/Qwen2.5-0.5B", Some(0.49)), ("Qwen/Qwen2.5-1.5B", Some(1.54)),
    ("Qwen/Qwen2.5-3B-Instruct", Some(3.09)), ("Qwen/Qwen2.5-7B-Instruct-1M", Some(7.6)),
    ("Qwen/Qwen2.5-14B", Some(14.7)), ("Qwen/Qwen2.5-32B-Instruct-AWQ", Some(32.5)),
    ("Qwen/Qwen2.5-72B", Some(72.7)), ("Qwen/Qwen2.5-Coder-32B-Instruct", Some(32.5)),
    ("Qwen/Qwen2.5-Math-7B", Some(7.6)), ("Qwen/Qwen2.5-VL-7B-Instruct", None),
    ("Qwen/Qwen2.5-Omni-7B", None), ("Qwen/QwQ-32B", Some(32.5)),
    ("Qwen/QwQ-32B-Preview", Some(32.5)), ("Qwen/Qwen3-0.6B", Some(0.6)),
    ("Qwen/Qwen3-1.7B-Base", Some(1.7)), ("Qwen/Qwen3-4B-Thinking-2507", Some(4.0)),
    ("Qwen/Qwen3-8B", Some(8.2)), ("Qwen/Qwen3-14B-FP8", Some(14.8)),
    ("Qwen/Qwen3-32B-GPTQ-Int4", Some(32.8)), ("Qwen/Qwen3-30B-A3B-Instruct-2507", Some(30.5)),
    ("Qwen/Qwen3-235B-A22B-Thinking-2507-FP8", Some(235.0)),
    ("Qwen/Qwen3-Coder-30B-A3B-Instruct", Some(30.5)),
    ("Qwen/Qwen3-Coder-480B-A35B-Instruct", Some(480.0)),
    ("Qwen/Qwen3-Next-80B-A3B-Instruct", Some(80.0)), ("Qwen/Qwen3-Coder-Next", Some(80.0)),
    ("Qwen/Qwen3-VL-8B-Instruct", None), ("Qwen/Qwen3-Omni-30B-A3B-Instruct", None),
    ("Qwen/Qwen3.5-27B", Some(27.0)), ("Qwen/Qwen3.5-35B-A3B", Some(35.0)),
    ("Qwen/Qwen3.5-122B-A10B", Some(122.0)), ("Qwen/Qwen3.5-397B-A17B", Some(397.0)),
    ("Qwen/Qwen3.5-0.8B", Some(0.77)), ("Qwen/Qwen3.5-2B-Base", Some(1.9)),
    ("Qwen/Qwen3.5-4B", Some(4.2)), ("Qwen/Qwen3.5-9B", Some(9.0)), ("Qwen/Qwen3.5-14B", None),
    // Llama.
    ("huggyllama/llama-7b", Some(6.7)), ("huggyllama/llama-13b", Some(13.0)),
    ("huggyllama/llama-30b", Some(32.5)), ("huggyllama/llama-65b", Some(65.2)),
    ("meta-llama/Llama-2-7b-hf", Some(6.7)), ("meta-llama/Llama-2-13b-chat-hf", Some(13.0)),
    ("meta-llama/Llama-2-70b-hf", Some(69.0)), ("codellama/CodeLlama-34b-hf", Some(33.7)),
    ("meta-llama/Meta-Llama-3-8B-Instruct", Some(8.03)),
    ("meta-llama/Meta-Llama-3-70B", Some(70.6)), ("meta-llama/Llama-3.1-8B", Some(8.03)),
    ("meta-llama/Llama-3.1-405B-FP8", Some(405.9)), ("meta-llama/Llama-3.2-1B", Some(1.24)),
    ("meta-llama/Llama-3.2-3B-Instruct", Some(3.21)),
    ("meta-llama/Llama-3.2-11B-Vision-Instruct", None),
    ("meta-llama/Llama-3.3-70B-Instruct", Some(70.6)),
    ("meta-llama/Llama-4-Scout-17B-16E-Instruct", Some(107.8)),
    ("meta-llama/Llama-4-Maverick-17B-128E-Instruct", Some(400.7)),
    ("TinyLlama/TinyLlama-1.1B-Chat-v1.0", Some(1.1)), ("meta-llama/Llama-3-13B", None),
    ("nvidia/Llama-3.1-Nemotron-70B-Instruct-HF", Some(70.6)),
    ("nvidia/Llama-3.1-Nemotron-Nano-8B-v2", None),
    ("nvidia/Llama-3_3-Nemotron-Super-49B-v1", None),
    // DeepSeek, and what is distilled of it.
    ("deepseek-ai/DeepSeek-V3", Some(671.0)), ("deepseek-ai/DeepSeek-V3-0324", Some(671.0)),
    ("deepseek-ai/DeepSeek-V3.1-Terminus", Some(671.0)),
    ("deepseek-ai/DeepSeek-V3.2-Exp", Some(671.9)), ("deepseek-ai/DeepSeek-R1", Some(671.0)),
    ("deepseek-ai/DeepSeek-R1-Zero", Some(671.0)), ("deepseek-ai/DeepSeek-R1-0528", Some(671.0)),
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", Some(1.78)),
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", Some(7.6)),
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-14B", Some(14.7)),
    ("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", Some(32.5)),
    ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", Some(8.03)),
    ("deepseek-ai/DeepSeek-R1-Distill-Llama-70B", Some(70.6)),
    ("deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", Some(8.2)),
    ("someone/DeepSeek-R1-Distill-Phi-4", None), ("someone/DeepSeek-R1-Distill-13B", None),
    ("deepseek-ai/DeepSeek-V2", Some(236.0)), ("deepseek-ai/DeepSeek-V2.5", Some(236.0)),
    ("deepseek-ai/DeepSeek-V2-Lite-Chat", Some(15.7)), ("deepseek_v2_16B.yaml", Some(15.7)),
    ("deepseek-ai/DeepSeek-Coder-V2-Instruct", Some(236.0)),
    ("deepseek-ai/DeepSeek-Coder-V2-Lite-Base", Some(15.7)),
    ("deepseek-ai/deepseek-llm-7b-base", Some(6.9)),
    ("deepseek-ai/deepseek-llm-67b-chat", Some(67.4)),
    ("deepseek-ai/deepseek-coder-6.7b-base", Some(6.74)),
    ("deepseek-ai/deepseek-coder-33b-instruct", Some(33.3)),
    ("deepseek-ai/deepseek-moe-16b-base", Some(16.4)), ("deepseek-ai/deepseek-vl2-tiny", None),
    ("deepseek-ai/DeepSeek-V4-Flash", Some(284.0)), ("deepseek-v3-lite", None),
    ("deepseek_v3_13b", None),
    // Mistral.
    ("mistralai/Mistral-7B-v0.3", Some(7.25)), ("mistralai/Mistral-7B-v0.1", Some(7.24)),
    ("mistralai/Mixtral-8x7B-Instruct-v0.1", Some(46.7)),
    ("mistralai/Mixtral-8x22B-v0.1", Some(140.6)), ("mistralai/Mistral-Nemo-Base-2407", Some(12.2)),
    ("mistralai/Mistral-Small-24B-Instruct-2501", Some(23.6)),
    ("mistralai/Mistral-Small-3.2-24B-Instruct-2506", Some(23.6)),
    ("mistralai/Mistral-Small-Instruct-2409", Some(22.2)),
    ("mistralai/Devstral-Small-2505", Some(23.6)),
    ("mistralai/Mistral-Large-Instruct-2407", Some(122.6)),
    ("mistralai/Ministral-8B-Instruct-2410", Some(8.0)), ("mistralai/Ministral-3-3B-Base", None),
    ("mistralai/Codestral-22B-v0.1", Some(22.2)), ("mistralai/Mistral-Large-3-675B", None),
    // GLM, Kimi, MiniMax, gpt-oss.
    ("zai-org/GLM-4.5", Some(355.0)), ("zai-org/GLM-4.5-Air-FP8", Some(106.0)),
    ("zai-org/GLM-4.6", Some(355.0)), ("zai-org/GLM-4.5V", None), ("zai-org/GLM-5", Some(744.0)),
    ("zai-org/glm-4-9b-chat", Some(9.4)), ("zai-org/GLM-4-32B-0414", Some(32.6)),
    ("moonshotai/Kimi-K2-Instruct-0905", Some(1026.0)),
    ("moonshotai/Kimi-K2-Thinking", Some(1026.0)),
    ("moonshotai/Kimi-K2.7-Code", Some(1026.0)),
    ("moonshotai/Kimi-Dev-72B", Some(72.7)), ("moonshotai/Moonlight-16B-A3B", Some(16.0)),
    ("moonshotai/Kimi-Linear-48B-A3B-Instruct", Some(49.0)), ("moonshotai/Kimi-VL-A3B", None),
    ("MiniMaxAI/MiniMax-M1-80k", Some(456.0)), ("MiniMaxAI/MiniMax-M2", Some(229.0)),
    ("openai/gpt-oss-20b", Some(20.9)), ("openai/gpt-oss-120b", Some(116.8)),
    // Phi, Gemma, Nemotron.
    ("microsoft/Phi-3-mini-4k-instruct", Some(3.8)),
    ("microsoft/Phi-3-medium-128k-instruct", Some(14.0)), ("microsoft/phi-4", Some(14.7)),
    ("microsoft/Phi-4-mini-instruct", Some(3.8)), ("microsoft/Phi-3.5-MoE-instruct", Some(41.9)),
    ("microsoft/Phi-4-multimodal-instruct", None), ("microsoft/phi-3-small-8k", None),
    ("google/gemma-2b-it", Some(2.5)), ("google/gemma-7b", Some(8.5)),
    ("google/gemma-2-2b-it", Some(2.6)), ("google/gemma-2-9b", Some(9.2)),
    ("google/gemma-2-27b-it", Some(27.2)), ("google/gemma-3-1b-it", Some(1.0)),
    ("google/gemma-3-4b-it", Some(3.88)), ("google/gemma-3-12b-pt", Some(11.8)),
    ("google/gemma-3-27b-it", Some(27.0)), ("google/gemma-3n-E4B-it", None),
    ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", Some(31.6)),
    ("nvidia/Nemotron-H-8B-Base-8K", Some(8.1)), ("nvidia/Nemotron-4-340B-Base", None),
    ("nvidia/NVIDIA-Nemotron-Nano-9B-v2", None),
    // Others.
    ("baidu/ERNIE-4.5-300B-A47B-PT", Some(300.0)), ("baidu/ERNIE-4.5-21B-A3B-PT", Some(21.8)),
    ("baidu/ERNIE-4.5-VL-28B-A3B-PT", None), ("tencent/Hunyuan-A13B-Instruct", Some(80.0)),
    ("tencent/Hunyuan-Large", None), ("inclusionAI/Ling-lite", Some(16.8)),
    ("inclusionAI/Ling-mini-2.0", Some(16.3)), ("inclusionAI/Ling-flash-2.0", Some(103.0)),
    ("inclusionAI/Ling-plus", None), ("allenai/OLMoE-1B-7B-0924", Some(6.9)),
    ("allenai/Olmo-3-7B-Instruct", Some(7.3)),
    ("allenai/Olmo-3-1125-32B", Some(32.2)), ("inclusionAI/Ling-1T", Some(1000.0)),
    ("allenai/OLMo-2-1124-7B", Some(7.3)), ("allenai/OLMo-2-0325-32B-Instruct", Some(32.2)),
    ("xai-org/grok-1", Some(314.0)), ("xai-org/grok-2", Some(270.0)), ("xai-org/grok-3", None),
    ("01-ai/Yi-34B", Some(34.4)), ("01-ai/Yi-1.5-9B-Chat", Some(8.8)), ("01-ai/Yi-6B", Some(6.1)),
    ("baichuan-inc/Baichuan2-7B-Base", Some(7.5)), ("baichuan-inc/Baichuan2-13B-Chat", Some(13.9)),
    ("internlm/internlm2-20b", Some(19.9)), ("internlm/internlm2_5-7b-chat", Some(7.7)),
    ("internlm/internlm3-8b-instruct", Some(8.8)), ("internlm/internlm2-1_8b", None),
    ("databricks/dbrx-instruct", Some(131.6)), ("CohereLabs/c4ai-command-r-v01", Some(35.0)),
    ("ByteDance-Seed/Seed-OSS-36B-Instruct", Some(36.2)),
    ("HuggingFaceTB/SmolLM2-1.7B", Some(1.7)),
    ("HuggingFaceTB/SmolLM-360M", Some(0.36)), ("HuggingFaceTB/SmolLM2-135M", Some(0.135)),
    ("HuggingFaceH4/zephyr-7b-beta", Some(7.24)), ("mistralai/Devstral-Small-2507", Some(23.6)),
    ("HuggingFaceTB/SmolLM3-3B", Some(3.1)),
    ("EleutherAI/gpt-neox-20b", Some(20.6)), ("openai-community/gpt2-xl", Some(1.56)),
    ("bigscience/bloom", Some(176.2)), ("bigscience/bloom-7b1", None),
    ("tiiuae/falcon-180B", Some(180.0)), ("tiiuae/falcon-40b", None),
    ("openbmb/MiniCPM3-4B", Some(4.1)), ("openbmb/MiniCPM-V-4.6", None),
    ("stepfun-ai/Step-3.5-Flash", Some(196.0)),
    ("XiaomiMiMo/MiMo-7B-RL", Some(7.6)), ("XiaomiMiMo/MiMo-V2-Flash", Some(309.0)),
];

#[test]
fn a_public_name_is_a_model_of_the_published_size_or_none() {
    for (name, billions) in NAMES {
        let found = find(name).or_else(|| {
            let (known, doubt) = find_within(name)?;
            doubt.is_none().then_some(known)
        });
        let (Some(known), Some(billions)) = (found, billions) else {
            assert_eq!(found.map(|known| known.name), billions.map(|_| ""), "{name}");
            continue;
        };
        let [total, _] = names::parameters(&known).unwrap();
        let off = total / 1e9 / billions - 1.0;
        assert!(off.abs() < 0.04, "{name} is {}: {total} of {billions}", known.name);
    }
    assert!(NAMES.len() >= 100, "{}", NAMES.len());
}

/// A run's name has more words than a model's: those that say another shape leave it unknown, and
/// those that say nothing make a question of it.
#[test]
fn a_run_s_name_is_a_model_where_all_of_it_is_explained() {
    let found = |name: &str| find_within(name).map(|(known, doubt)| (known.name, doubt));
    for (name, model) in [
        ("dsv3-32nodes", "deepseek-r1"),
        ("deepseek_v3_pretrain_1024gpu", "deepseek-v3"),
        ("deepseek_v3_671b_16nodes", "deepseek-r1"),
        ("llama3-8b-tp2-pp1-gbs1024-h100", "llama-3-8b"),
        ("qwen3_30b_a3b_sft_2025", "qwen3-30b-a3b"),
        ("sft-qwen3-8b-lr1e5-seq4096", "qwen3-8b"),
    ] {
        assert_eq!(found(name), Some((model, None)), "{name}");
    }
    for name in [
        "deepseek-v3-distill-run",
        "kimi_k3_tiny",
        "deepseek_v3_16l",
        "glm5_4layers",
        "deepseek_v2_70b_run",
        "deepseek-r1-lite-preview",
        "qwen3-8b-vl",
    ] {
        assert_eq!(found(name), None, "{name}");
    }
    let (known, doubt) = found("qwen3-8b-gsm8k-baseline").unwrap();
    assert_eq!((known, doubt.as_deref()), ("qwen3-8b", Some("gsm8k")));
}

#[test]
fn a_near_name_is_no_guess_where_it_says_another_shape() {
    for name in [
        "org/Llama-3-13B",
        "Qwen3.5-14B",
        "Qwen/Qwen2.5-VL-7B-Instruct",
        "deepseek-v3-lite",
        "org/own",
        "qwen3moe-30b",
        "baichuan-13b",
        "glm5_4layers",
        "x",
    ] {
        assert_eq!(closest(name), None, "{name}");
    }
}
