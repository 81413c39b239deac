//! Hugging Face's `config.json` of real models.

use interchange::{Assumed, Format, Import, import};
use model::design::{Design, KnobId};

/// File, its text, and the parameters in billions that a recount of the published shape gives.
/// None where no knobs express the architecture.
macro_rules! models {
    ($($name:literal: $billions:expr),* $(,)?) => {
        [$(($name, include_str!(concat!("models/", $name, ".json")), $billions)),*]
    };
}

/// Every embedding is counted, MTP layers aren't.
const MODELS: [(&str, &str, Option<f64>); 31] = models! {
    "deepseek-v3": Some(671.03),
    "deepseek-v3.1": Some(671.03),
    "glm-4.5": Some(352.8),
    "glm-4.5-air": Some(106.85),
    "glm-5": Some(743.91),
    // 175.24 with its one table of embeddings counted twice.
    "gpt3-175b": Some(174.62),
    "kimi-k2": Some(1026.4),
    "llama-3-70b": Some(70.55),
    "llama-3-8b": Some(8.03),
    "llama-3.1-405b": Some(405.85),
    "llama4-maverick": Some(400.71),
    "minimax-m2": Some(228.7),
    "mixtral-8x22b": Some(140.62),
    "mixtral-8x7b": Some(46.70),
    "openpangu-r-72b-2512": None,
    "pangu-pro-moe-72b": Some(71.99),
    "pangu-ultra-135b": Some(133.9),
    "pangu-ultra-moe-718b": Some(719.09),
    "qwen3-235b-a22b": Some(235.09),
    "qwen3-30b-a3b": Some(30.53),
    "qwen3-32b": Some(32.76),
    "qwen3-8b": Some(8.19),
    "telechat3-105b-a4.7b": Some(104.5),
    "gpt-oss-20b": Some(20.91),
    "gemma-3-27b": Some(27.01),
    "qwen3-next-80b-a3b": Some(79.67),
    "kimi-linear-48b-a3b": Some(49.12),
    "deepseek-v4-flash": Some(284.33),
    "longcat-flash": Some(560.66),
    "kimi-k3": Some(2779.48),
    "minimax-m3": Some(426.17),
};

fn read(text: &str) -> Import {
    import(Format::HuggingFace, text, None)
}

#[test]
fn real_configurations_have_the_parameters_of_their_models() {
    for (name, text, billions) in MODELS {
        let import = read(text);
        let Some(expected) = billions else {
            assert_eq!(import.design, None, "{name}");
            assert!(import.errors.iter().all(|fault| fault.line > 0), "{name}");
            continue;
        };
        assert_eq!(import.errors, [], "{name}");
        let design = import.design.unwrap();
        let plan = model::Plan::new(&design).unwrap_or_else(|broken| panic!("{name}: {broken:?}"));
        let counted = model::estimate(&plan).metrics.params_total as f64 / 1e9;
        // The published recounts are rounded to their last digit.
        let digit = if (expected * 10.0_f64).fract().abs() < 1e-6 { 0.05 } else { 0.005 };
        assert!((counted - expected).abs() <= digit + 1e-9, "{name}: {counted}, not {expected}");
    }
}

#[test]
fn the_architecture_is_that_of_the_preset_of_the_same_name() {
    for (name, text, billions) in MODELS {
        if billions.is_none() {
            continue;
        }
        let found = read(text).design.unwrap();
        let preset = Design::from_preset(name).unwrap();
        let mut differing: Vec<String> =
            KnobId::in_section(model::ground::knob::Section::Transformer)
                .filter(|knob| found.get(*knob) != preset.get(*knob))
                .map(|knob| format!("{} {} {}", knob.id(), found.get(knob), preset.get(knob)))
                .collect();
        // What the file lacks and the preset has from elsewhere, or another spelling of the same.
        let same = ["add_qkv_bias", "moe_ffn_hidden_size", "qk_layernorm", "kv_channels"];
        differing.retain(|line| !same.iter().any(|knob| line.contains(knob)));
        assert_eq!(differing, [""; 0], "{name}");
    }
}

#[test]
fn no_key_is_dropped_in_silence() {
    for (name, text, _) in MODELS {
        let import = read(text);
        assert_eq!(import.unknown, [], "{name}");
        let model::design::file::Tree::Map(entries) =
            model::design::file::json::parse(text).unwrap()
        else {
            panic!("{name} is a map")
        };
        for (key, _) in entries {
            let named = |keys: &str| keys.split(", ").any(|part| part == key);
            let told = import.set.iter().any(|set| named(&set.key))
                || import.ignored.iter().any(|ignored| named(&ignored.key))
                || import.errors.iter().any(|fault| named(&fault.key));
            assert!(told || import.design.is_none(), "{name}: {key}");
        }
    }
}

#[test]
fn keys_that_nobody_knows_are_listed_with_their_line_and_the_nearest() {
    let text =
        MODELS[10].1.replacen("\"hidden_size\"", "\"hidden_sizes\": 1,\n \"hidden_size\"", 1);
    let import = read(&text);
    let unknown = import.unknown.first().unwrap();
    assert_eq!(
        (unknown.key.as_str(), unknown.nearest.as_deref()),
        ("hidden_sizes", Some("hidden_size"))
    );
    assert!(unknown.line > 1);
    assert!(import.design.is_some());
}

#[test]
fn a_base_gives_all_but_the_shape_of_the_model() {
    let base = Design::from_preset("deepseek-v3-2k-h800").unwrap();
    let mut design = import(Format::HuggingFace, MODELS[0].1, Some(&base)).design.unwrap();
    // And what no knob reads.
    assert!(design.kernel.extra_arguments.take().unwrap().contains("rotary-base 10000"));
    assert_eq!(design, base);
}

#[test]
fn what_is_missing_or_wrong_is_an_error_with_its_line() {
    for (text, part) in [
        ("", "no JSON"),
        ("[]", "map of keys"),
        ("{\"hidden_size\": 4096,\n}", "line 2"),
        ("{}", "num_hidden_layers"),
        (
            r#"{"hidden_size":16,"num_hidden_layers":"x","num_attention_heads":1,"vocab_size":1}"#,
            "`x`",
        ),
        (
            r#"{"hidden_size":1,"num_hidden_layers":9999,"num_attention_heads":1,"vocab_size":1}"#,
            "1000",
        ),
        (r#"{"schema":1,"preset":"deepseek-v3"}"#, "design file"),
    ] {
        let import = read(text);
        let lines: Vec<String> = import.errors.iter().map(ToString::to_string).collect();
        assert_eq!(import.design, None, "{text}");
        assert!(lines.join("\n").contains(part), "{text}: {lines:?}");
    }
    let deep = "[".repeat(100_000);
    assert_eq!(read(&deep).design, None);
}

#[test]
fn more_keys_than_any_configuration_has_are_refused() {
    let mut map = "{".to_owned();
    for index in 0.. {
        let entry = format!("\"_a{index}\":0,");
        if map.len() + entry.len() > (1 << 20) - 100 {
            break;
        }
        map.push_str(&entry);
    }
    map.push_str("\"_last\":0}");
    for text in [format!("{{\"text_config\":{map}}}"), map] {
        let import = read(&text);
        assert!(import.errors[0].detail.contains("at most 2000"), "{:?}", import.errors);
        assert_eq!((import.design, import.ignored.len()), (None, 0));
    }
}

#[test]
fn the_language_model_of_a_multimodal_one_is_read() {
    let text = format!("{{\"vision_config\": {{}}, \"text_config\": {}}}", MODELS[22].1);
    let import = read(&text);
    assert_eq!(import.design.unwrap().transformer.num_layers, 45);
    assert!(import.ignored.iter().any(|ignored| ignored.key == "vision_config"));
}

#[test]
fn what_a_configuration_cannot_say_of_the_run_is_assumed_and_said() {
    let text = MODELS[22].1;
    for (base, said) in [(None, "a config.json doesn't say"), (Some("deepseek-v3"), "as in deep")] {
        let base = base.map(|id| Design::from_preset(id).unwrap());
        let import = import(Format::HuggingFace, text, base.as_ref());
        let design = import.design.unwrap();
        for knob in [
            KnobId::accelerator,
            KnobId::num_devices,
            KnobId::tensor_model_parallel_size,
            KnobId::pipeline_model_parallel_size,
            KnobId::expert_model_parallel_size,
            KnobId::seq_length,
            KnobId::micro_batch_size,
            KnobId::global_batch_size,
            KnobId::precision,
            KnobId::recompute_granularity,
        ] {
            let of_it = |it: &&Assumed| it.knob == Some(knob);
            let assumed = import.assumed.iter().find(of_it).unwrap();
            let value = format!("{}: {}, ", knob.id(), design.get(knob));
            assert!(assumed.detail.starts_with(&value), "{}", assumed.detail);
            assert!(assumed.detail.contains(said), "{}", assumed.detail);
        }
    }
}

/// A short configuration and its published parameters in billions.
const SHORT: [(&str, f64); 9] = [
    (
        r#"{"model_type":"falcon","hidden_size":14848,"num_hidden_layers":80,
        "num_attention_heads":232,"num_kv_heads":8,"multi_query":true,"parallel_attn":true,
        "new_decoder_architecture":true,"bias":false,"vocab_size":65024}"#,
        179.52,
    ),
    (
        r#"{"model_type":"falcon","hidden_size":4544,"num_hidden_layers":32,
        "num_attention_heads":71,"multi_query":true,"parallel_attn":true,
        "new_decoder_architecture":false,"bias":false,"vocab_size":65024}"#,
        7.22,
    ),
    (
        r#"{"model_type":"qwen","hidden_size":8192,"intermediate_size":49152,"kv_channels":128,
        "num_hidden_layers":80,"num_attention_heads":64,"no_bias":true,
        "tie_word_embeddings":false,"vocab_size":152064}"#,
        72.3,
    ),
    (
        r#"{"model_type":"minicpm3","hidden_size":2560,"intermediate_size":6400,
        "num_hidden_layers":62,"num_attention_heads":40,"num_key_value_heads":40,
        "qk_nope_head_dim":64,"qk_rope_head_dim":32,"q_lora_rank":768,"kv_lora_rank":256,
        "vocab_size":73448}"#,
        4.07,
    ),
    (
        r#"{"model_type":"phi3small","hidden_size":4096,"ff_intermediate_size":14336,
        "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,
        "vocab_size":100352}"#,
        7.39,
    ),
    (
        r#"{"model_type":"cohere","hidden_size":8192,"intermediate_size":22528,
        "num_hidden_layers":40,"num_attention_heads":64,"num_key_value_heads":64,
        "vocab_size":256000}"#,
        34.98,
    ),
    (
        r#"{"model_type":"bloom","n_embed":14336,"n_layer":70,"num_attention_heads":112,
        "vocab_size":250880}"#,
        176.25,
    ),
    (
        r#"{"model_type":"nemotron_h","hidden_size":4096,"intermediate_size":21504,
        "num_hidden_layers":6,"num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,
        "layers_block_type":["mamba","mlp","mamba","attention","mamba","mlp"],
        "mamba_num_heads":128,"mamba_head_dim":64,"ssm_state_size":128,"n_groups":8,
        "conv_kernel":4,"vocab_size":131072}"#,
        1.80,
    ),
    (
        r#"{"model_type":"hunyuan","hidden_size":4096,"intermediate_size":3072,
        "num_hidden_layers":2,"num_attention_heads":32,"num_key_value_heads":8,
        "attention_head_dim":128,"num_experts":64,"moe_topk":[8,8],
        "moe_intermediate_size":[3072,3072],"num_shared_expert":[1,1],"use_qk_norm":true,
        "vocab_size":128167}"#,
        5.52,
    ),
];

#[test]
fn what_keys_leave_open_is_as_the_architecture_has_it() {
    for (text, billions) in SHORT {
        let import = read(text);
        assert_eq!(import.errors, [], "{text}");
        let plan = model::Plan::new(&import.design.unwrap());
        let plan = plan.unwrap_or_else(|broken| panic!("{text}: {broken:?}"));
        let counted = model::estimate(&plan).metrics.params_total as f64 / 1e9;
        assert!((counted / billions - 1.0).abs() < 0.005, "{text}: {counted}");
    }
}

#[test]
fn a_configuration_that_would_be_counted_wrong_says_why() {
    for (key, part) in [
        (r#""block_configs":[{}]"#, "a block is attention"),
        (r#""text_decoder":{"num_layers":46}"#, "MindSpeed-MM's model.json"),
        (r#""sparse_attention_config":{}"#, "lacks sparse_block_size"),
        (r#""layer_types":["linear_attention","full_attention"]"#, "of the kind linear_attention"),
        (r#""moe_layers":"4;5","num_experts":8,"num_experts_per_tok":2"#, "a list of layers"),
    ] {
        let text = format!(
            r#"{{"hidden_size":64,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":64,
            "intermediate_size":256,{key}}}"#
        );
        let import = read(&text);
        assert_eq!(import.design, None, "{key}");
        assert!(import.errors[0].detail.contains(part), "{key}: {:?}", import.errors);
    }
}

/// Configurations whose layers differ in size, what is read of them, and published billions.
const OF_SEVERAL_SIZES: [(&str, &str, f64); 2] = [
    (
        include_str!("models/nemotron-super-49b.json"),
        "6-7,11,42-51,53-70:num_attention_heads=0;62-63,66-67,69-70:ffn_hidden_size=2816;\
         54-55,57-59,64-65,68:ffn_hidden_size=5632;\
         42,45,47,49-51,53,56,60-61:ffn_hidden_size=7168;\
         0,6-7,43-44,48:ffn_hidden_size=14336;11:ffn_hidden_size=17920",
        49.9,
    ),
    (
        include_str!("models/mimo-v2-flash.json"),
        "0-47:v_head_dim=128;1-4,6-10,12-16,18-22,24-28,30-34,36-40,42-46:num_query_groups=8,\
         window_size=128",
        309.0,
    ),
];

#[test]
fn layers_of_several_sizes_are_read_each_with_its_own() {
    for (text, sizes, billions) in OF_SEVERAL_SIZES {
        let import = read(text);
        assert_eq!((import.errors, import.unknown), (vec![], vec![]));
        let design = import.design.unwrap();
        assert_eq!(design.get(KnobId::layer_overrides).to_string(), sizes);
        let plan = model::Plan::new(&design).unwrap_or_else(|broken| panic!("{broken:?}"));
        let counted = model::estimate(&plan).metrics.params_total as f64 / 1e9;
        assert!((counted / billions - 1.0).abs() < 0.005, "{counted}");
    }
}

#[test]
fn layers_with_a_window_need_not_be_regular() {
    let kinds = r#""sliding_attention","full_attention","sliding_attention","sliding_attention""#;
    let layer_types = format!(r#""layer_types":[{kinds}]"#);
    let last_two = r#""max_window_layers":2"#;
    for (key, rows) in [(layer_types.as_str(), "0,2-3"), (last_two, "2-3")] {
        let text = format!(
            r#"{{"model_type":"qwen2","hidden_size":64,"num_hidden_layers":4,
            "num_attention_heads":4,"vocab_size":64,"intermediate_size":256,
            "use_sliding_window":true,"sliding_window":128,{key}}}"#
        );
        let import = read(&text);
        assert_eq!(import.errors, [], "{key}");
        let sizes = import.design.unwrap().get(KnobId::layer_overrides).to_string();
        assert_eq!(sizes, format!("{rows}:window_size=128"));
    }
}

/// Two doors to one question have one answer: the batch is the preset's by either.
#[test]
fn a_model_that_a_preset_has_is_trained_on_its_batch() {
    let batch = |design: &Design| {
        let training = &design.training;
        (training.seq_length, training.global_batch_size)
    };
    let text = MODELS.iter().find(|model| model.0 == "qwen3-235b-a22b").unwrap().1;
    let preset = Design::from_preset("qwen3-235b-a22b").unwrap();
    let import = read(text);
    assert_eq!(batch(import.design.as_ref().unwrap()), batch(&preset));
    assert_ne!(batch(&preset), (4_096, 256), "else this shows nothing");
    let is_said = |it: &Assumed| {
        it.knob == Some(KnobId::global_batch_size) && it.detail.contains("as in qwen3-235b-a22b")
    };
    assert!(import.assumed.iter().any(is_said), "{:?}", import.assumed);
    let other = read(&text.replace("\"num_hidden_layers\": 94", "\"num_hidden_layers\": 93"));
    assert_eq!(batch(&other.design.unwrap()), (4_096, 256), "no preset has this one");
}
