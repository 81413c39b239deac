//! Architectures whose configurations have keys, layers or MLPs of their own.
//!
//! The shapes are those of published models; what they lack is what the class of `transformers`
//! or the model's own code takes. The count stands beside each: by the published number where it is
//! exact, else by the formula in the comment, without norms.

use interchange::{Format, Import, import};
use model::design::KnobId;

fn read(text: &str) -> Import {
    import(Format::HuggingFace, text, None)
}

fn billions(import: &Import) -> f64 {
    let design = import.design.as_ref().unwrap_or_else(|| panic!("{:?}", import.errors));
    let plan = model::Plan::new(design).unwrap_or_else(|broken| panic!("{broken:?}"));
    model::estimate(&plan).metrics.params_total as f64 / 1e9
}

/// A configuration, and its parameters in billions.
const FAMILIES: &[(&str, f64)] = &[
    // 40 x (16 x 3 x 6144 x 10752 + 6144 x (48 + 16) x 128 + 6144^2) + 2 x 100352 x 6144.
    (include_str!("models/dbrx.json"), 131.6),
    // 32 x 12 x 4096^2 + 50432 x 4096.
    (
        r#"{"model_type":"mpt","d_model":4096,"n_heads":32,"n_layers":32,"expansion_ratio":4,
        "vocab_size":50432,"no_bias":true,"attn_config":{"alibi":true,"attn_type":
        "multihead_attention","clip_qkv":null}}"#,
        6.65,
    ),
    // 30 x (2 x 3072^2 + 2 x 3072 x 256 + 2 x 3072 x 12288) + 49152 x 3072.
    (
        r#"{"model_type":"starcoder2","hidden_size":3072,"intermediate_size":12288,
        "num_hidden_layers":30,"num_attention_heads":24,"num_key_value_heads":2,
        "hidden_act":"gelu_pytorch_tanh","sliding_window":4096,"use_bias":true,
        "rope_theta":999999.4,"vocab_size":49152}"#,
        3.03,
    ),
    // 44 x 12 x 6144^2 + 2 x 50432 x 6144.
    (
        r#"{"model_type":"gpt_neox","hidden_size":6144,"intermediate_size":24576,
        "num_hidden_layers":44,"num_attention_heads":64,"hidden_act":"gelu_fast",
        "rotary_pct":0.25,"vocab_size":50432}"#,
        20.55,
    ),
    // 28 x 12 x 4096^2 + 2 x 50400 x 4096.
    (
        r#"{"model_type":"gptj","n_embd":4096,"n_head":16,"n_inner":null,"n_layer":28,
        "activation_function":"gelu_new","rotary_dim":64,"tie_word_embeddings":false,
        "vocab_size":50400}"#,
        6.05,
    ),
    // 64 x 12 x 9216^2 + 50272 x 9216.
    (
        r#"{"model_type":"opt","hidden_size":9216,"ffn_dim":36864,"num_hidden_layers":64,
        "num_attention_heads":72,"activation_function":"relu","word_embed_proj_dim":9216,
        "vocab_size":50272}"#,
        65.72,
    ),
    // 32 x 12 x 2560^2 + 2 x 51200 x 2560.
    (
        r#"{"model_type":"phi","hidden_size":2560,"intermediate_size":10240,
        "num_hidden_layers":32,"num_attention_heads":32,"hidden_act":"gelu_new",
        "partial_rotary_factor":0.4,"vocab_size":51200}"#,
        2.78,
    ),
    // 96 x (2 x 18432^2 + 2 x 18432 x 1536 + 2 x 18432 x 73728) + 2 x 256000 x 18432.
    (
        r#"{"model_type":"nemotron","hidden_size":18432,"intermediate_size":73728,
        "num_hidden_layers":96,"num_attention_heads":96,"num_key_value_heads":8,
        "hidden_act":"relu2","vocab_size":256000}"#,
        341.0,
    ),
    // 35 x (128 x 3 x 7168 x 4864 + 3 x 7168^2 + 7168 x 72 x 128 + 7168^2) + 2 x 32000 x 7168.
    (
        r#"{"model_type":"arctic","hidden_size":7168,"intermediate_size":4864,
        "num_hidden_layers":35,"num_attention_heads":56,"num_key_value_heads":8,
        "num_local_experts":128,"num_experts_per_tok":2,"moe_layer_frequency":1,
        "parallel_attn_mlp_res":true,"vocab_size":32000}"#,
        478.6,
    ),
    // 64 x (3 x 8192 x (32768 + 8 x 16384) + 8192 x 80 x 128 + 8192^2) + 2 x 131072 x 8192.
    (include_str!("models/grok-2.json"), 269.5),
    // The shape of Llama 4 Scout, 107.77, in Meta's own words.
    (include_str!("models/llama4-scout-native.json"), 107.77),
    // That of DeepSeek-V3 in its own.
    (include_str!("models/deepseek-v3-native.json"), 671.03),
    // 10922 x 1.3 rounded up to 1024 is 14336: Llama 3 8B.
    (
        r#"{"dim":4096,"n_layers":32,"n_heads":32,"n_kv_heads":8,"vocab_size":128256,
        "multiple_of":1024,"ffn_dim_multiplier":1.3,"norm_eps":1e-05,"rope_theta":500000.0}"#,
        8.03,
    ),
    // Mixtral 8x7B in Mistral's words.
    (
        r#"{"dim":4096,"n_layers":32,"head_dim":128,"hidden_dim":14336,"n_heads":32,
        "n_kv_heads":8,"norm_eps":1e-05,"vocab_size":32000,
        "moe":{"num_experts_per_tok":2,"num_experts":8}}"#,
        46.7,
    ),
    // 32 x 3 x 4096 x 14336 + 3 x 4096 x (32 + 16) x 128 + 3 x 4096^2 + 29 Mamba-2 layers of
    // 4096 x (2 x 8192 + 2 x 128 + 128) + 8192 x 4096 + 2 x 128256 x 4096.
    (
        r#"{"model_type":"bamba","hidden_size":4096,"intermediate_size":14336,
        "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,
        "attn_layer_indices":[9,18,27],"mamba_n_heads":128,"mamba_d_head":64,"mamba_d_state":128,
        "mamba_n_groups":1,"mamba_d_conv":4,"mamba_expand":2,"mamba_chunk_size":256,
        "vocab_size":128256}"#,
        9.78,
    ),
    (include_str!("models/granite-4-h-small.json"), 32.2),
    // Without experts its shared expert is the MLP: 40 x 3 x 2048 x 8192 + 36 x (2048 x (2 x 4096 +
    // 2 x 128 + 64) + 4096 x 2048) + 4 x (2048 x 48 x 64 + 2048^2) + 100352 x 2048.
    (
        r#"{"model_type":"granitemoehybrid","hidden_size":2048,"intermediate_size":8192,
        "shared_intermediate_size":8192,"num_local_experts":0,"num_experts_per_tok":0,
        "num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":8,
        "mamba_n_heads":64,"mamba_d_head":64,"mamba_d_state":128,"mamba_n_groups":1,
        "mamba_d_conv":4,"position_embedding_type":"nope","vocab_size":100352,
        "tie_word_embeddings":true,"layer_types":[
        "mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba",
        "mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba",
        "mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba",
        "mamba","mamba","mamba","mamba","mamba","attention","mamba","mamba","mamba","mamba"]}"#,
        3.19,
    ),
    // 27 x (64 + 2) x 3 x 2560 x 1536 + 3 x 2560 x 12288 + 28 x (2560 x 28 x 128 + 2560^2) +
    // 103424 x 2560.
    (
        r#"{"model_type":"ernie4_5_moe","hidden_size":2560,"intermediate_size":12288,
        "num_hidden_layers":28,"num_attention_heads":20,"num_key_value_heads":4,
        "moe_num_experts":64,"moe_intermediate_size":1536,"moe_num_shared_experts":2,"moe_k":6,
        "moe_layer_start_index":1,"moe_layer_end_index":-1,"moe_layer_interval":1,
        "use_bias":false,"vocab_size":103424}"#,
        21.83,
    ),
    // 64 x (3 x 5120 x 27648 + 5120 x 96 x 128 + 80 x 128 x 5120) + 2 x 155136 x 5120.
    (
        r#"{"model_type":"seed_oss","hidden_size":5120,"intermediate_size":27648,
        "num_hidden_layers":64,"num_attention_heads":80,"num_key_value_heads":8,"head_dim":128,
        "attention_bias":true,"attention_out_bias":false,"mlp_bias":false,"vocab_size":155136}"#,
        36.15,
    ),
    // 61 x (128 + 2) x 3 x 4096 x 1408 + 3 x 4096 x 10944 + 62 x 4 x 4096^2 + 2 x 152064 x 4096.
    (
        r#"{"model_type":"dots1","hidden_size":4096,"intermediate_size":10944,
        "moe_intermediate_size":1408,"num_hidden_layers":62,"num_attention_heads":32,
        "num_key_value_heads":32,"n_routed_experts":128,"n_shared_experts":2,
        "num_experts_per_tok":6,"first_k_dense_replace":1,"moe_layer_freq":1,"n_group":1,
        "topk_group":1,"sliding_window":null,"vocab_size":152064}"#,
        142.8,
    ),
    // 28 x ((64 + 2) x 3 x 2048 x 1408 + 2048 x 24 x 128 + 2048^2) + 2 x 126464 x 2048.
    (
        r#"{"model_type":"bailing_moe","hidden_size":2048,"intermediate_size":5632,
        "moe_intermediate_size":1408,"num_hidden_layers":28,"num_attention_heads":16,
        "num_key_value_heads":4,"num_experts":64,"num_shared_experts":2,"num_experts_per_tok":6,
        "use_qkv_bias":false,"norm_head":false,"vocab_size":126464}"#,
        16.8,
    ),
    // 28 x (3 x 4096 x 13696 + 4096 x 36 x 128 + 4096^2) + 2 x 65024 x 4096.
    (
        r#"{"model_type":"chatglm","hidden_size":4096,"ffn_hidden_size":13696,"num_layers":28,
        "num_attention_heads":32,"multi_query_attention":true,"multi_query_group_num":2,
        "kv_channels":128,"add_qkv_bias":true,"add_bias_linear":false,"padded_vocab_size":65024,
        "seq_length":8192}"#,
        6.24,
    ),
    // Layers with a window have 96 heads: 12 x (64 + 16) + 33 x (96 + 16) heads of 4096 x 128 and
    // 12 x 64 + 33 x 96 of the output, 42 x (288 + 1) x 3 x 4096 x 1280, 3 x 3 x 4096 x 11264, and
    // 2 x 128896 x 4096.
    (include_str!("models/step-3.5-flash.json"), 196.9),
];

#[test]
fn architectures_with_keys_of_their_own_have_the_parameters_of_their_models() {
    for (text, expected) in FAMILIES {
        let import = read(text);
        assert_eq!(import.errors, [], "{text}");
        let counted = billions(&import);
        assert!((counted / expected - 1.0).abs() < 0.005, "{text}: {counted}");
    }
}

const SMALL: &str = r#""hidden_size":512,"num_hidden_layers":8,"num_attention_heads":8,
    "num_key_value_heads":4,"head_dim":64,"intermediate_size":1024,"vocab_size":1024"#;

/// Keys of a window, the window, every which layer has none, and sizes by layer.
const WINDOWS: [(&str, &str); 12] = [
    (r#""sliding_window_pattern":4"#, "128 4 none"),
    (r#""_sliding_window_pattern":4"#, "128 4 none"),
    (r#""sliding_window_pattern":"LLLG""#, "128 4 none"),
    (r#""sliding_window_pattern":"LG""#, "128 2 none"),
    (r#""global_attn_every_n_layers":4"#, "128 4 none"),
    (r#""full_attention_interval":2"#, "128 2 none"),
    (r#""full_attn_every_n_layers":8"#, "128 8 none"),
    (r#""hybrid_layer_pattern":[0,1,1,1,1,1,1,0]"#, "none none 1-6:window_size=128"),
    (
        r#""layer_types":["full_attention","sliding_attention","full_attention",
        "sliding_attention","full_attention","sliding_attention","full_attention",
        "sliding_attention"]"#,
        "none none 1,3,5,7:window_size=128",
    ),
    (
        r#""sliding_window_pattern":4,"global_head_dim":128,"num_global_key_value_heads":2"#,
        "none none 3,7:num_query_groups=2,kv_channels=128;0-2,4-6:window_size=128",
    ),
    (r#""sliding_window_pattern":4,"use_sliding_window":false"#, "none none none"),
    (r#""attention_dropout":0.0"#, "128 none none"),
];

#[test]
fn a_window_is_in_the_layers_that_keys_say_whatever_the_architecture() {
    for (keys, expected) in WINDOWS {
        let text = format!(r#"{{"model_type":"another","sliding_window":128,{SMALL},{keys}}}"#);
        let design = read(&text).design.unwrap_or_else(|| panic!("{keys}"));
        let knobs = [KnobId::window_size, KnobId::window_attn_skip_freq, KnobId::layer_overrides];
        let found = knobs.map(|knob| design.get(knob).to_string()).join(" ");
        assert_eq!(found, expected, "{keys}");
        assert!(model::Plan::new(&design).is_ok(), "{keys}");
    }
    // Qwen's code doesn't use it unless it is told to.
    let text = format!(r#"{{"model_type":"qwen2","sliding_window":128,{SMALL}}}"#);
    assert_eq!(read(&text).design.unwrap().transformer.window_size, None);
}

#[test]
fn an_mlp_has_a_gate_by_the_architecture_and_else_by_its_activation() {
    for (keys, expected) in [
        (r#""model_type":"another","hidden_act":"silu""#, "true false"),
        (r#""model_type":"another","hidden_act":"xielu""#, "false false"),
        (r#""model_type":"another","mlp_hidden_act":"relu2""#, "false false"),
        (r#""model_type":"another","hidden_act":"gelu""#, "true true"),
        (r#""model_type":"another","hidden_act":"gelu","use_glu":false"#, "false false"),
        (r#""model_type":"gemma","hidden_act":"gelu_pytorch_tanh""#, "true false"),
        (r#""model_type":"starcoder2","hidden_act":"gelu_pytorch_tanh""#, "false false"),
        (r#""model_type":"bitnet","hidden_act":"relu2""#, "true false"),
        (r#""model_type":"arcee","hidden_act":"relu2""#, "false false"),
    ] {
        let import = read(&format!(r#"{{{keys},"rope_theta":10000,{SMALL}}}"#));
        let is_asked = import.questions.iter().any(|it| it.name.contains("gated_linear_unit"));
        let gated = import.design.map(|design| design.transformer.gated_linear_unit);
        assert_eq!(format!("{} {is_asked}", gated.unwrap()), expected, "{keys}");
    }
}

#[test]
fn kinds_of_layers_are_read_by_their_older_and_newer_names() {
    let with = |layers: &str, keys: &str| {
        let import = read(&format!(r#"{{{SMALL},{keys},"layer_types":[{layers}]}}"#));
        assert_eq!(import.errors, [], "{layers}");
        import.design.unwrap().transformer
    };
    let times = |kind: &str, count: usize| vec![format!("\"{kind}\""); count].join(",");
    let latent = r#""q_lora_rank":128,"kv_lora_rank":64,"qk_nope_head_dim":32,
        "qk_rope_head_dim":32,"v_head_dim":64,"index_topk":256,"index_n_heads":4,
        "index_head_dim":64"#;
    let dsa = ["deepseek_sparse_attention", "indexed_attention"]
        .map(|kind| with(&times(kind, 8), latent));
    assert_eq!(dsa[0], dsa[1]);
    assert_eq!(dsa[0].dsa_indexer_topk, 256);
    // Full, full, then two that take its keys, over and over.
    let shared = [
        r#""index_topk_pattern":"FFSSFSSF""#,
        r#""indexer_types":["full","full","shared","shared","full","shared","shared","full"]"#,
        r#""index_topk_freq":3"#,
    ]
    .map(|keys| with(&times("indexed_attention", 8), &format!("{latent},{keys}")));
    let of = shared.map(|it| (it.dsa_indexer_topk_freq, it.dsa_indexer_skip_topk_offset));
    assert_eq!(of, [(3, 2); 3]);
    let odd = read(&format!(r#"{{{SMALL},{latent},"index_topk_pattern":"FSSFFSSF"}}"#));
    assert!(odd.errors.iter().any(|it| it.key == "index_topk_pattern"), "{:?}", odd.errors);
    let mamba = r#""mamba_n_heads":16,"mamba_d_head":64,"mamba_d_state":64,"mamba_n_groups":1"#;
    for names in [["mamba", "attention"], ["linear_attention", "full_attention"]] {
        let layers = format!("{},{}", times(names[0], 7), times(names[1], 1));
        let pattern = with(&layers, mamba).hybrid_layer_pattern.unwrap();
        assert_eq!(pattern.layers.len(), 16, "{names:?}");
    }
    // Without Mamba's sizes it is linear attention, here a gated delta net.
    let delta = r#""linear_num_key_heads":4,"linear_num_value_heads":8,"linear_key_head_dim":64,
        "linear_value_head_dim":64"#;
    let layers = [times("linear_attention", 3), times("full_attention", 1)].join(",");
    let text = [layers.as_str(), layers.as_str()].join(",");
    let linear = with(&text, delta);
    assert_eq!(linear.linear_num_value_heads, 8);
    assert_eq!(linear.hybrid_layer_pattern, None);
}

#[test]
fn compressed_attention_may_be_said_by_the_kinds_of_layers() {
    let known = include_str!("models/deepseek-v4-flash.json");
    let model::design::file::Tree::Map(mut entries) =
        model::design::file::json::parse(known).unwrap()
    else {
        panic!("a map")
    };
    let before = read(known).design.unwrap().transformer;
    let at = entries.iter().position(|(key, _)| key == "compress_ratios").unwrap();
    let kind = |ratio: &model::design::file::Tree| {
        let is = |number| *ratio == model::design::file::Tree::Unsigned(number);
        let compressed =
            if is(4) { "compressed_sparse_attention" } else { "heavily_compressed_attention" };
        if is(0) { "sliding_attention" } else { compressed }
    };
    let model::design::file::Tree::List(ratios) = &entries[at].1 else { panic!("a list") };
    let kinds = model::design::file::Tree::list(ratios.iter().map(kind));
    entries[at] = ("layer_types".to_owned(), kinds);
    let text = model::design::file::json::print(&model::design::file::Tree::Map(entries));
    let import = read(&text);
    assert_eq!(import.errors, []);
    assert_eq!(import.design.unwrap().transformer, before);
}

#[test]
fn a_list_of_sizes_is_that_of_most_layers_and_those_of_the_others() {
    let text = r#"{"model_type":"llama","hidden_size":512,"num_hidden_layers":4,"vocab_size":1024,
        "num_attention_heads":8,"num_key_value_heads":[4,4,2,4],
        "intermediate_size":[1024,2048,1024,1024],"use_sliding_window":true,"sliding_window":128,
        "layer_types":["full_attention","sliding_attention","sliding_attention",
        "sliding_attention"]}"#;
    let import = read(text);
    assert_eq!(import.errors, []);
    let design = import.design.unwrap();
    let knobs = [KnobId::num_query_groups, KnobId::ffn_hidden_size, KnobId::layer_overrides];
    let found = knobs.map(|knob| design.get(knob).to_string()).join(" ");
    let sizes = "2:num_query_groups=2;1:ffn_hidden_size=2048;1-3:window_size=128";
    assert_eq!(found, format!("4 1024 {sizes}"));
    let one = import.set.iter().find(|set| set.knob == KnobId::layer_overrides).unwrap();
    let keys = "num_key_value_heads, intermediate_size, sliding_window, layer_types";
    assert_eq!(one.key, keys);
    assert!(model::Plan::new(&design).is_ok());
}

#[test]
fn a_dense_mlp_beside_the_experts_is_their_shared_expert() {
    let experts = r#""num_experts":64,"moe_intermediate_size":256,"top_k_experts":4"#;
    let text = |is_on: bool| {
        format!(r#"{{"model_type":"gemma4_text",{SMALL},{experts},"enable_moe_block":{is_on}}}"#)
    };
    let on = read(&text(true)).design.unwrap().transformer;
    assert_eq!((on.num_moe_experts, on.moe_router_topk), (Some(64), 4));
    assert_eq!(on.moe_shared_expert_intermediate_size, Some(1024));
    let off = read(&text(false)).design.unwrap().transformer;
    assert_eq!((off.num_moe_experts, off.ffn_hidden_size), (None, 1024));
}

#[test]
fn what_no_knob_says_is_refused_by_its_key() {
    for (key, part) in [
        (r#""attention_k_eq_v":true"#, "one matrix for keys and values"),
        (r#""num_kv_shared_layers":10"#, "another layer's keys"),
        (r#""hidden_size_per_layer_input":256"#, "in each layer"),
        (r#""use_cla":true"#, "another layer's keys"),
        (r#""cross_attention_layers":[3,8]"#, "an encoder"),
        (r#""mamba_dt_rank":128"#, "the first kind"),
        (r#""share_q_dim":2048"#, "query latent"),
        (r#""model_type":"mamba2""#, "without attention"),
        (r#""model_type":"rwkv6""#, "recurrence"),
        (r#""architectures":["FalconH1ForCausalLM"]"#, "side by side"),
        (r#""architectures":["Gemma3nForConditionalGeneration"]"#, "AltUp"),
        (r#""layer_types":["conv","full_attention"]"#, "of the kind conv"),
        (r#""layer_types":["sliding_attention","full_attention"]"#, "how far"),
        (r#""layer_types":["deepseek_sparse_attention"]"#, "index_topk"),
        (r#""n_shared_experts":[1,2],"num_experts":8,"num_experts_per_tok":2"#, "differs by layer"),
    ] {
        let import = read(&format!(r#"{{{key},{SMALL}}}"#));
        let own = key.split('"').nth(1).unwrap();
        let fault = import.errors.iter().find(|fault| fault.key == own);
        let fault = fault.unwrap_or_else(|| panic!("{key}: {:?}", import.errors));
        assert!(fault.detail.contains(part) && fault.line == 1, "{key}: {fault:?}");
    }
    // What says that there is none of it changes nothing.
    let none = r#""attention_k_eq_v":false,"num_kv_shared_layers":0,"cross_attention_layers":[],
        "share_q_dim":null,"is_encoder_decoder":false"#;
    assert_eq!(read(&format!("{{{none},{SMALL}}}")).errors, []);
}

#[test]
fn a_model_within_others_is_found_and_its_tied_table_outside() {
    let text = format!(
        r#"{{"model_type":"qwen3_omni_moe","tie_word_embeddings":true,"talker_config":{{}},
        "thinker_config":{{"audio_config":{{"num_hidden_layers":32}},
        "text_config":{{"model_type":"qwen3_omni_moe_text",{SMALL}}}}}}}"#
    );
    let import = read(&text);
    assert_eq!(import.errors, []);
    assert!(!import.design.unwrap().transformer.untie_embeddings_and_output_weights);
    let beside: Vec<&str> = import.ignored.iter().map(|it| it.key.as_str()).collect();
    for key in ["talker_config", "audio_config"] {
        assert!(beside.contains(&key), "{key}: {beside:?}");
    }
}

#[test]
fn a_key_under_another_name_is_told_of_by_the_name_in_the_text() {
    let import = read(include_str!("models/dbrx.json"));
    let groups = import.set.iter().find(|it| it.knob == KnobId::num_query_groups).unwrap();
    assert_eq!((groups.key.as_str(), groups.line), ("attn_config.kv_n_heads", 9));
    assert_eq!(import.unknown, []);
    let both = read(&format!(r#"{{"n_kv_heads":2,{SMALL}}}"#));
    assert_eq!(both.design.unwrap().transformer.num_query_groups, Some(4));
    let is_told = |it: &interchange::Ignored| {
        it.key == "n_kv_heads" && it.reason == "num_key_value_heads says it"
    };
    assert!(both.ignored.iter().any(is_told), "{:?}", both.ignored);
}

#[test]
fn what_python_and_editors_write_around_json_is_read() {
    let plain = format!(r#"{{"model_type":"llama",{SMALL}}}"#);
    let marked = format!("\u{feff}{plain}\r\n \n\0\0");
    let odd = plain.replacen('{', r#"{"time_step_limit":[0.0,Infinity],"rope_theta":NaN,"#, 1);
    for text in [&marked, &odd] {
        assert_eq!(Format::detect(text), Format::HuggingFace);
        let import = read(text);
        assert_eq!(import.errors, []);
        assert_eq!(import.design, read(&plain).design);
    }
    let named = plain.replacen("llama", "Infinity", 1);
    assert!(read(&named).assumed.iter().any(|it| it.detail.contains("isn't known here")));
    let broken = read("{\"a\": Infinityx,\n\"b\": 1}");
    assert!(broken.errors[0].detail.contains("line 1"), "{:?}", broken.errors);
}

#[test]
fn a_long_list_of_modules_is_passed_over_up_to_the_limit_in_bytes() {
    let modules = "\"model.layers.0.mlp.experts.0.down_proj\",\n".repeat(60_000);
    let text = format!(
        "{{\"quantization_config\": {{\"ignore\": [{modules}\"lm_head\"]}},\n{SMALL},\n\
         \"model_type\": \"llama\"}}"
    );
    assert!(text.len() > interchange::MAX_BYTES * 2);
    assert_eq!(Format::detect(&text), Format::HuggingFace);
    let import = read(&text);
    assert_eq!(import.errors, []);
    let line = import.set.iter().find(|it| it.knob == KnobId::hidden_size).unwrap().line;
    assert_eq!(line, 60_002);
    let longer = format!("{text}{}", " ".repeat(interchange::MAX_CONFIG_BYTES));
    assert!(read(&longer).errors[0].detail.contains("at most 16777216"));
    // Scripts are no longer than before.
    let script = "a".repeat(interchange::MAX_BYTES + 1);
    assert!(import_of(&script).errors[0].detail.contains("at most 1048576"));
}

fn import_of(script: &str) -> Import {
    import(Format::Megatron, script, None)
}

#[test]
fn a_quantisation_beside_a_configuration_is_named_as_one() {
    let text = r#"{"producer":{"name":"modelopt"},"quantization":{"quant_algo":"NVFP4"}}"#;
    let errors = read(text).errors;
    assert_eq!(errors.len(), 1);
    assert!(errors[0].detail.contains("hf_quant_config.json"), "{errors:?}");
}

/// Sources: `configuration_glm4.py`, `configuration_glm4v_moe.py` and `modeling_kolibri1.py` of
/// huggingface/transformers.
#[test]
fn biases_and_norms_that_no_key_says_are_the_architecture_s_own() {
    let sizes = r#""hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":8,
        "num_attention_heads":8,"num_key_value_heads":2,"vocab_size":1024"#;
    for (kind, more, bias, norms) in [
        ("glm4", "", true, true),
        ("glm4", r#","attention_bias":false"#, false, true),
        ("glm4v_moe_text", "", true, false),
        ("kolibri1", "", false, true),
        ("qwen3", "", false, false),
    ] {
        let import = read(&format!("{{\"model_type\":\"{kind}\",{sizes}{more}}}"));
        let transformer = import.design.unwrap().transformer;
        assert_eq!((transformer.add_qkv_bias, transformer.sandwich_norm), (bias, norms), "{kind}");
    }
}
