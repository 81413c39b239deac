//! Designs exported and imported again; texts of all kinds.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{Format, Provenance, Target, export, import};
use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::ground::knob::{Kind, LayerText};
use proptest::prelude::*;

const DATE: Provenance<'_> = Provenance { date: "2026-01-31" };

#[track_caller]
fn comes_back(target: Target, design: &Design) -> String {
    let text = export(target, design, &DATE).text;
    assert_eq!(Format::detect(&text), target.format(), "{text}");
    let import = import(target.format(), &text, None);
    assert_eq!(import.errors, [], "{text}");
    assert_eq!(import.unknown, [], "{text}");
    assert_eq!(import.questions, [], "{text}");
    assert_eq!(import.design.as_ref(), Some(design), "{text}");
    text
}

fn presets() -> impl Iterator<Item = &'static Preset> {
    Preset::all().filter(|preset| preset.refused.is_none())
}

#[test]
fn every_preset_comes_back_from_every_framework_s_words() {
    for preset in presets() {
        for target in Target::ALL {
            let text = comes_back(target, &preset.design());
            assert!(text.contains(&format!("preset={}", preset.id)));
            assert!(text.contains(&format!("model version: {}", model::MODEL_VERSION)));
            assert!(text.contains("date: 2026-01-31"));
        }
    }
}

#[test]
fn a_vocabulary_that_padding_makes_too_large_comes_back() {
    let mut design = Design::from_preset("llama-3-8b").unwrap();
    design.set_text(KnobId::vocab_size, "4193425").unwrap();
    design.set_text(KnobId::tensor_model_parallel_size, "918").unwrap();
    for target in Target::ALL {
        comes_back(target, &design);
    }
}

/// A comment that says the accelerator moves the framework along, unless one says that, too.
#[test]
fn a_framework_comes_back_from_words_of_another_and_from_another_machine() {
    for (id, framework) in [("deepseek-v3", "mindspeed"), ("pangu-ultra-moe-6k", "megatron")] {
        let mut design = Design::from_preset(id).unwrap();
        design.set_text(KnobId::framework, framework).unwrap();
        for target in Target::ALL {
            comes_back(target, &design);
        }
    }
}

#[test]
fn knobs_with_an_argument_need_no_comment() {
    let unsaid =
        |target, id: &str| export(target, &Design::from_preset(id).unwrap(), &DATE).unsaid.len();
    for (target, id) in [
        (Target::Megatron, "llama-3-8b"),
        (Target::Megatron, "mixtral-8x22b"),
        (Target::Mindspeed, "deepseek-v3-512-910c"),
        (Target::Bridge, "llama-3-8b"),
    ] {
        assert_eq!(unsaid(target, id), 0, "{target:?} {id}");
    }
}

/// Knobs that a framework has a key for, whatever preset is written.
const SAID: [(Target, &str); 5] = [
    (
        Target::Bridge,
        "transformer.num_layers transformer.hidden_size transformer.ffn_hidden_size \
         transformer.num_attention_heads transformer.num_query_groups transformer.kv_channels \
         transformer.multi_latent_attention transformer.q_lora_rank transformer.kv_lora_rank \
         transformer.gated_linear_unit transformer.add_bias_linear transformer.qk_layernorm \
         transformer.position_embedding_type transformer.vocab_size \
         transformer.untie_embeddings_and_output_weights transformer.num_moe_experts \
         transformer.moe_router_topk transformer.moe_ffn_hidden_size transformer.moe_layer_freq \
         transformer.moe_shared_expert_intermediate_size transformer.mtp_num_layers \
         transformer.moe_router_num_groups transformer.moe_router_group_topk \
         cluster.num_devices parallel.tensor_model_parallel_size parallel.sequence_parallel \
         parallel.pipeline_model_parallel_size parallel.virtual_pipeline_model_parallel_size \
         parallel.context_parallel_size parallel.expert_model_parallel_size \
         parallel.expert_tensor_parallel_size parallel.data_parallel_sharding_strategy \
         parallel.num_distributed_optimizer_instances schedule.moe_token_dispatcher_type \
         schedule.overlap_grad_reduce schedule.overlap_param_gather schedule.tp_comm_overlap \
         schedule.delay_wgrad_compute \
         training.seq_length training.micro_batch_size training.global_batch_size \
         training.precision training.optimizer memory.recompute_granularity \
         memory.recompute_method memory.gradient_dtype memory.main_params_dtype \
         memory.exp_avg_dtype memory.exp_avg_sq_dtype memory.cross_entropy_loss_fusion \
         kernel.moe_grouped_gemm kernel.flash_attention",
    ),
    (
        Target::Mindformers,
        "transformer.num_layers transformer.hidden_size transformer.ffn_hidden_size \
         transformer.num_attention_heads transformer.num_query_groups transformer.kv_channels \
         transformer.multi_latent_attention transformer.q_lora_rank transformer.kv_lora_rank \
         transformer.gated_linear_unit transformer.qk_layernorm transformer.vocab_size \
         transformer.untie_embeddings_and_output_weights transformer.num_moe_experts \
         transformer.moe_router_topk transformer.moe_ffn_hidden_size transformer.mtp_num_layers \
         transformer.moe_shared_expert_intermediate_size cluster.num_devices \
         parallel.tensor_model_parallel_size parallel.sequence_parallel \
         parallel.pipeline_model_parallel_size parallel.virtual_pipeline_model_parallel_size \
         parallel.context_parallel_size parallel.expert_model_parallel_size \
         training.seq_length training.micro_batch_size training.global_batch_size \
         training.optimizer memory.recompute_granularity kernel.moe_grouped_gemm \
         kernel.flash_attention",
    ),
    (
        Target::Torchtitan,
        "cluster.num_devices parallel.tensor_model_parallel_size parallel.sequence_parallel \
         parallel.pipeline_model_parallel_size parallel.context_parallel_size \
         parallel.expert_model_parallel_size parallel.expert_tensor_parallel_size \
         parallel.num_distributed_optimizer_instances training.seq_length \
         training.micro_batch_size training.global_batch_size training.optimizer",
    ),
    (
        Target::Deepspeed,
        "training.micro_batch_size training.global_batch_size training.optimizer \
         parallel.tensor_model_parallel_size parallel.data_parallel_sharding_strategy \
         memory.gradient_dtype schedule.overlap_grad_reduce",
    ),
    (
        Target::Accelerate,
        "cluster.num_devices parallel.tensor_model_parallel_size parallel.context_parallel_size \
         parallel.data_parallel_sharding_strategy",
    ),
];

#[test]
fn what_a_framework_has_a_key_for_needs_no_comment() {
    for (target, said) in SAID {
        let said: Vec<KnobId> =
            said.split_whitespace().map(|id| KnobId::find(id).unwrap()).collect();
        for preset in presets() {
            let design = preset.design();
            let export = export(target, &design, &DATE);
            // Groups of which none are left out mean nothing to Megatron-Core.
            let idle = KnobId::moe_router_num_groups;
            let is_idle = |knob| knob == idle && design.transformer.moe_router_group_balanced;
            let is_wrong = |knob| said.contains(&knob) && !is_idle(knob);
            let wrong: Vec<_> = export.unsaid.iter().filter(|one| is_wrong(one.knob)).collect();
            assert!(wrong.is_empty(), "{target:?} {}: {wrong:?}\n{}", preset.id, export.text);
        }
    }
}

#[test]
fn a_model_that_torchtitan_has_is_named_by_its_flavor() {
    for (id, name, flavor) in
        [("llama-3-8b", "llama3", "8B"), ("qwen3-235b-a22b", "qwen3", "235B-A22B")]
    {
        let text = export(Target::Torchtitan, &Design::from_preset(id).unwrap(), &DATE).text;
        assert!(text.contains(&format!("name = \"{name}\"\nflavor = \"{flavor}\"")), "{text}");
        assert!(!text.contains("moescape: transformer."), "{text}");
    }
}

#[test]
fn copies_of_parts_multiply_in_torchtitan() {
    let text = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nseq_len = 4096\n\
                [parallelism]\ndata_parallel_replicate_degree = 2\n\
                data_parallel_shard_degree = 8\ntensor_parallel_degree = 4\n";
    let design = import(Format::Megatron, text, None).design.unwrap();
    assert_eq!(design.cluster.num_devices, 64);
    assert_eq!(design.parallel.num_distributed_optimizer_instances, 2);
}

/// Values of a knob, of which some are legal in no design.
fn values(knob: KnobId) -> BoxedStrategy<String> {
    let whole = |low: u64, high: u64| {
        prop_oneof![low..=high, (low..=high.min(low.saturating_add(64))).prop_map(|n| n)]
            .prop_map(|number| number.to_string())
            .boxed()
    };
    match knob.knob().kind {
        Kind::Integer(low, high) => whole(low, high),
        Kind::OptionalInteger(low, high) => {
            prop_oneof![Just("none".to_owned()), whole(low, high)].boxed()
        }
        Kind::Real(low, high) => (low..high).prop_map(|real| real.to_string()).boxed(),
        Kind::OptionalReal(low, high) => {
            prop_oneof![Just("none".to_owned()), (low..high).prop_map(|real| real.to_string())]
                .boxed()
        }
        Kind::Flag => prop_oneof![Just("true".to_owned()), Just("false".to_owned())].boxed(),
        Kind::Choice(names) => prop::sample::select(names).prop_map(str::to_owned).boxed(),
        Kind::Subset(names) => prop::sample::subsequence(names, 0..=names.len())
            .prop_map(|names| if names.is_empty() { "none".into() } else { names.join(",") })
            .boxed(),
        Kind::LayerFreq => prop::sample::select(vec!["1", "2", "([0]*3+[1]*58)", "([0,1]*16)"])
            .prop_map(str::to_owned)
            .boxed(),
        Kind::PerStage(high) => prop_oneof![
            Just("none".to_owned()),
            whole(0, high),
            prop::collection::vec(0..=high, 2..6).prop_map(|numbers| joined(&numbers))
        ]
        .boxed(),
        Kind::PositionList(_) => {
            prop::collection::vec(0..100_u64, 0..5).prop_map(|numbers| joined(&numbers)).boxed()
        }
        Kind::LayerPattern(LayerText::Ratios) => {
            let ratios = ["none", "([0]*2+[4,128]*20+[4]+[0])", "([128]*61)"];
            prop::sample::select(ratios.to_vec()).prop_map(str::to_owned).boxed()
        }
        Kind::LayerPattern(text @ (LayerText::Overrides | LayerText::Lengths)) => {
            prop::sample::select(vec!["none", text.example()]).prop_map(str::to_owned).boxed()
        }
        Kind::LayerPattern(LayerText::SubLayers) => {
            let patterns = ["none", "M*-E", "M-M*|MEME/*E", "+-G-"];
            prop::sample::select(patterns.to_vec()).prop_map(str::to_owned).boxed()
        }
        Kind::Layout => {
            let layouts = ["none", "Et*3|(tt|)*29mL", "Et*8|t*8nhL", "E||tL"];
            prop::sample::select(layouts.to_vec()).prop_map(str::to_owned).boxed()
        }
        Kind::Hash => Just("none".to_owned()).boxed(),
        Kind::Arguments => {
            let lists = [
                "none",
                "rotary-base 10000 --norm-epsilon 1e-6 --use-rope-scaling",
                "moe-aux-loss-coeff 1e-4 --lr 1e-5 --normalization LayerNorm --split 99,1,0",
                "data-path 0.3 '/a b/$(x)' 0.7 \"`y`\"\\;rm --save ${DIR}/x --tokenizer-kwargs ''",
                "num-layers 3 --nproc-per-node 2 --wandb-api-key abc --norm-epsilon 1e-6",
            ];
            prop::sample::select(lists.to_vec()).prop_map(str::to_owned).boxed()
        }
        Kind::Name => {
            let names = ["none", "ours", "1's \"own\", # $(x) `y` \\ 100 % \u{6607}"];
            prop::sample::select(names.to_vec()).prop_map(str::to_owned).boxed()
        }
    }
}

fn joined(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    if numbers.is_empty() { "none".to_owned() } else { numbers.join(",") }
}

fn designs() -> impl Strategy<Value = Design> {
    let presets: Vec<_> = Preset::all().filter(|preset| preset.refused.is_none()).collect();
    let knob = prop::sample::select(KnobId::ALL)
        .prop_flat_map(|knob| values(knob).prop_map(move |value| (knob, value)));
    (prop::sample::select(presets), prop::collection::vec(knob, 0..24)).prop_map(
        |(preset, settings)| {
            let mut design = preset.design();
            for (knob, value) in settings {
                design.set_text(knob, &value).unwrap();
            }
            design
        },
    )
}

/// Pieces that scripts, YAML and JSON are made of, in no order.
fn texts() -> impl Strategy<Value = String> {
    // With a tilde between two.
    let pieces: Vec<&str> = "\
        --num-layers~ 8~=~\"~'~\\\n~\n~$A~${A:-~}~$((~))~(~)~A=~ARGS+=(~[@]~`~<<EOF~EOF~#\
        ~# moescape: ~parallel.noop_layers=1~{~[~:~, ~- ~a: ~&x ~*x~if ~then~|~>~2>&1~-1~1e9\
        ~--noop-layers 1,2~--hidden-size 64~--pipeline-model-parallel-layout~Et*3|mL~null\
        ~99999999999999999999~\u{0}~é~\"hidden_size\"~\"num_hidden_layers\"~true"
        .split('~')
        .collect();
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

/// Accelerate knows no pipeline: by its words alone the batch would be sixteen times as large, and
/// above what the knob takes.
#[test]
fn a_comment_wins_over_words_that_can_t_be_right() {
    let mut design = Preset::find("pangu-ultra-moe-4k-baseline@2").unwrap().design();
    design.training.global_batch_size = 1_670_848;
    comes_back(Target::Accelerate, &design);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_design_comes_back_from_its_arguments(design in designs()) {
        for target in Target::ALL {
            comes_back(target, &design);
        }
    }

    #[test]
    fn no_text_makes_an_import_panic(text in texts(), any in any::<String>()) {
        for format in Format::ALL {
            let _ = import(format, &text, None);
            let _ = import(format, &any, None);
        }
    }
}
