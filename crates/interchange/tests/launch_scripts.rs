//! Launch scripts and argument files.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{Format, Import, import};
use model::design::{Design, KnobId};

const DEEPSEEK_A2: &str = include_str!("scripts/deepseek_v3_a2.sh");
const DEEPSEEK_A3: &str = include_str!("scripts/deepseek_v3_a3.sh");
const QWEN: &str = include_str!("scripts/qwen3_235b_a3.sh");
const KIMI: &str = include_str!("scripts/kimi_k2_a3.sh");
const MIXTRAL: &str = include_str!("scripts/mixtral_8x7b.yaml");

#[track_caller]
fn clean(format: Format, text: &str) -> (Design, Import) {
    let import = import(format, text, None);
    assert_eq!(import.errors, []);
    // A tokenizer's path is left to the environment.
    assert_eq!(import.unknown, []);
    assert!(import.violations.is_empty(), "{:?}", import.violations);
    (import.design.clone().unwrap(), import)
}

#[track_caller]
fn has(design: &Design, values: &str) {
    for setting in values.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        let is_it = |knob: &&KnobId| knob.id().split_once('.').is_some_and(|id| id.1 == name);
        let knob = KnobId::ALL.iter().find(is_it).unwrap();
        assert_eq!(design.get(*knob).to_string(), value, "{name}");
    }
}

#[test]
fn mindspeed_trains_deepseek_v3_on_512_npus() {
    let (design, import) = clean(Format::Mindspeed, DEEPSEEK_A2);
    has(
        &design,
        "num_layers=61 noop_layers=61,62 mtp_num_layers=1 moe_layer_freq=([0]*3+[1]*58) \
         num_devices=512 accelerator=ascend-910b3 tensor_model_parallel_size=4 \
         pipeline_model_parallel_size=8 expert_model_parallel_size=32 \
         expert_tensor_parallel_size=1 method=dualpipev overlap_moe_expert_parallel_comm=false \
         recompute_granularity=full swap_modules=optimizer global_batch_size=3840 \
         aux_loss=sequence tp_comm_overlap=true precision=bf16",
    );
    let preset = Design::from_preset("deepseek-v3").unwrap();
    assert_eq!(design.transformer, preset.transformer);
    let line = import.set.iter().find(|set| set.knob == KnobId::num_layers).unwrap().line;
    assert!(DEEPSEEK_A2.lines().nth(line as usize - 1).unwrap().contains("--num-layers 64"));
}

#[test]
fn mindspeed_trains_deepseek_v3_on_512_dies() {
    let (design, _) = clean(Format::Mindspeed, DEEPSEEK_A3);
    let preset = Design::from_preset("deepseek-v3-512-910c").unwrap();
    assert_eq!(design.preset.id, preset.preset.id, "the nearest preset is the recipe");
    assert_eq!(design.transformer, preset.transformer);
    assert_eq!(design.parallel, preset.parallel);
    assert_eq!(design.cluster, preset.cluster);
    has(&design, "recompute_num_layers=8 recompute_method=block");
}

#[test]
fn mindspeed_trains_qwen3_235b_on_256_dies() {
    let (design, _) = clean(Format::Mindspeed, QWEN);
    has(
        &design,
        "num_devices=256 accelerator=ascend-910c pipeline_model_parallel_size=4 \
         virtual_pipeline_model_parallel_size=3 expert_model_parallel_size=32 method=interleaved \
         noop_layers=94,95 recompute_num_layers=24 reuse_fp32_param=true \
         moe_alltoall_overlap_comm=true",
    );
    let preset = Design::from_preset("qwen3-235b-a22b").unwrap();
    assert_eq!(design.transformer, preset.transformer);
}

#[test]
fn mindspeed_trains_kimi_k2_on_512_dies() {
    let (design, _) = clean(Format::Mindspeed, KIMI);
    has(
        &design,
        "num_devices=512 tensor_model_parallel_size=2 pipeline_model_parallel_size=8 \
         expert_model_parallel_size=64 noop_layers=61,62,63 num_moe_experts=384",
    );
    let preset = Design::from_preset("kimi-k2").unwrap();
    assert_eq!(design.transformer, preset.transformer);
}

#[test]
fn megatron_s_argument_files_are_read() {
    let (design, import) = clean(Format::Megatron, MIXTRAL);
    has(
        &design,
        "num_query_groups=8 expert_model_parallel_size=8 recompute_modules=core_attn,layernorm \
         data_parallel_sharding_strategy=optim num_devices=16 precision=bf16",
    );
    assert!(import.ignored.iter().any(|ignored| ignored.key.contains("CUDA")));
    let nested = "language_model:\n  num_layers: 24\n  hidden_size: 1024\n  \
                  gated_linear_unit: True\nmodel_parallel:\n  tensor_model_parallel_size: 2\n  \
                  bf16: true\nnum_attention_heads: 16\nvocab_size: 1024\nmicro_batch_size: 1\n";
    let (design, _) = clean(Format::Megatron, nested);
    has(&design, "tensor_model_parallel_size=2 gated_linear_unit=true");
}

const SMALL: &str = "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --vocab-size 1024 \
    --micro-batch-size 1 --bf16";

#[track_caller]
fn small(more: &str) -> Import {
    import(Format::Megatron, &format!("python pretrain_gpt.py {SMALL} {more}"), None)
}

#[test]
fn the_shell_is_evaluated_as_scripts_use_it() {
    for (script, layers) in [
        ("A=24; python x.py --num-layers $A", 24),
        ("export A=${N:-12}\npython x.py --num-layers ${A}", 12),
        ("A=3\nB=$((A * (4 + $A)))\npython x.py --num-layers \"$B\"", 21),
        ("ARGS='--num-layers 5'\nARGS+=\" --lr 1\"\npython x.py $ARGS > log 2>&1", 5),
        ("ARGS=(\n --num-layers 6 # six\n)\nARGS+=(--lr 1)\npython x.py ${ARGS[@]}", 6),
        ("python x.py \\\n  --num-layers=7 \\\n  --lr 1 && echo done", 7),
        ("cat <<EOF\n--num-layers 1\nEOF\npython x.py --num-layers 9", 9),
        ("if [ -z \"$X\" ]; then\n  L=10\nfi\npython x.py --num-layers $L", 10),
        ("L=3\ncase $1 in\n  --num-layers=*) L=4;;\nesac\npython x.py --num-layers $L --lr 1", 3),
        ("ARGS=\"--num-layers 11 \\\n  --lr 1\"", 11),
        ("--num-layers 13\n--lr 1", 13),
        ("pip install --upgrade x\npython x.py --num-layers 14", 14),
        // Of a name that is set but empty only `:-` takes the default.
        ("N=\npython x.py --num-layers ${N:-15} --lr 1", 15),
        ("N=\npython x.py --num-layers 16 --lr 1 ${N-17}", 16),
        ("N=18\npython x.py --num-layers ${N-17} --lr 1", 18),
        // `=` keeps the default for later, `-` doesn't.
        ("A=${N:=19}\nB=${N:-1}\npython x.py --num-layers $B --lr 1", 19),
        ("A=${N:-1}\npython x.py --num-layers ${N:-20} --lr 1", 20),
        // An array without `[@]` is its first element, also where that has a default.
        ("A=(21 22)\npython x.py --num-layers ${A:-3} --lr 1", 21),
        ("A=(--num-layers 22)\npython x.py ${A[*]} --lr 1", 22),
        ("M=23\npython x.py --num-layers ${N:-${M:-4}} --lr 1", 23),
    ] {
        let text = script.replace("--lr 1", &SMALL.replace("--num-layers 8 ", ""));
        let text = if text.contains("--hidden-size") {
            text
        } else {
            format!("{text} {}", SMALL.replace("--num-layers 8 ", ""))
        };
        let found = import(Format::Megatron, &text, None);
        assert_eq!(found.errors, [], "{text}");
        assert_eq!(found.design.unwrap().transformer.num_layers, layers, "{text}");
    }
}

#[test]
fn what_isn_t_known_is_listed_with_its_line_and_the_nearest() {
    let import = small("\\\n --nun-experts 8 --frobnicate $WHAT \\\n --swiglu stray");
    let keys: Vec<_> =
        import.unknown.iter().map(|u| (u.key.as_str(), u.line, u.nearest.as_deref())).collect();
    assert_eq!(
        keys,
        [
            ("--nun-experts", 2, Some("--num-experts")),
            ("--frobnicate", 2, None),
            ("stray", 3, None)
        ]
    );
    assert!(import.design.is_some());
}

#[test]
fn a_variable_that_nothing_sets_is_told_of() {
    let import = small("--seq-length $SEQ_LEN");
    has(import.design.as_ref().unwrap(), "seq_length=4096");
    let question = &import.questions[0];
    assert_eq!((question.name.as_str(), question.line), ("env SEQ_LEN", 1));
    assert!(question.purpose.contains("nothing in the text sets it"), "{question:?}");
    assert_eq!(question.guess.as_deref(), Some("4096"));
    let import = small("$EXTRA_ARGS");
    assert_eq!(import.unknown[0].key, "${EXTRA_ARGS}");
}

#[test]
fn an_expansion_of_another_form_is_left_as_it_is_written() {
    for form in ["${EXTRA#x}", "${EXTRA/x/y}", "${!EXTRA}", "${:-x}", "${}"] {
        let import = small(form);
        assert_eq!(import.unknown.len(), 1, "{form}: {:?}", import.unknown);
        assert_eq!(import.unknown[0].key, form);
    }
}

#[test]
fn defaults_within_defaults_end_somewhere() {
    let nested = |depth: usize| format!("{}9{}", "${N:-".repeat(depth), "}".repeat(depth));
    let of = |depth| small(&format!("--seq-length {}", nested(depth)));
    assert_eq!(of(16).errors, []);
    let errors = of(17).errors;
    assert!(errors[0].to_string().contains("too deep"), "{errors:?}");
}

#[test]
fn files_that_a_script_reads_are_told_of() {
    let text = format!("source common.sh\npython x.py {SMALL}");
    let import = import(Format::Megatron, &text, None);
    let ignored: Vec<_> = import.ignored.iter().map(|i| (i.key.as_str(), i.line)).collect();
    assert_eq!(ignored, [("source", 1)]);
    assert!(import.design.is_some());
}

#[test]
fn what_megatron_assumes_is_assumed_and_said() {
    let import = small("--num-experts 8 --tensor-model-parallel-size 2 --sequence-parallel");
    let design = import.design.unwrap();
    has(
        &design,
        "expert_tensor_parallel_size=2 ffn_hidden_size=2048 moe_token_dispatcher_type=allgather \
         data_parallel_sharding_strategy=no_shard add_bias_linear=true",
    );
    for knob in [KnobId::expert_tensor_parallel_size, KnobId::accelerator, KnobId::num_devices] {
        assert!(import.assumed.iter().any(|assumed| assumed.knob == Some(knob)), "{}", knob.id());
    }
}

#[test]
fn sends_are_whole_with_and_without_megatron_s_switch() {
    let knob = KnobId::scatter_gather_tensors_in_pipeline;
    for (more, sets) in [("", false), ("--no-scatter-gather-tensors-in-pipeline", true)] {
        let found = small(more);
        assert_eq!(found.set.iter().any(|set| set.knob == knob), sets, "{more}");
        has(&found.design.unwrap(), "scatter_gather_tensors_in_pipeline=false");
    }
}

#[test]
fn a_script_s_environment_says_whether_launches_block() {
    for (line, blocks) in [
        ("export CUDA_LAUNCH_BLOCKING=1", "true"),
        ("export ASCEND_LAUNCH_BLOCKING=1", "true"),
        ("export ASCEND_LAUNCH_BLOCKING=0", "false"),
        ("export CUDA_DEVICE_MAX_CONNECTIONS=1", "false"),
    ] {
        let script = format!("{line}\npython pretrain_gpt.py {SMALL}");
        let (design, found) = clean(Format::Megatron, &script);
        has(&design, &format!("launch_blocking={blocks}"));
        let told = found.set.iter().find(|set| set.knob == KnobId::launch_blocking);
        assert_eq!(told.map(|set| set.line), (blocks == "true").then_some(1), "{line}");
    }
    let script = format!("{}\n{SMALL} --overlap-grad-reduce", "export CUDA_LAUNCH_BLOCKING=1");
    let found = import(Format::Megatron, &script, None);
    assert_eq!(found.violations.len(), 1, "{:?}", found.violations);
    assert!(found.violations[0].message.contains("waits for each kernel"));
}

#[test]
fn heads_are_padded_as_mindspeed_s_arguments_say() {
    let (design, _) = clean(Format::Mindspeed, DEEPSEEK_A2);
    has(&design, "mla_fa_without_pad=true padded_base_length=128");
    let switch = "--mla-fa-without-pad";
    for (given, length) in [
        ("", "128"),
        ("--padded-base-length 64", "64"),
        // Values alone are padded, to the keys' 128 + 64.
        ("--shape-order BNSD", "192"),
        ("--shape-order BNSD --padded-base-length 64", "192"),
        ("--shape-order SBH --padded-base-length 64", "64"),
    ] {
        let (design, import) = clean(Format::Mindspeed, &DEEPSEEK_A2.replace(switch, given));
        has(&design, "mla_fa_without_pad=false");
        has(&design, &format!("padded_base_length={length}"));
        let knob = Some(KnobId::mla_fa_without_pad);
        assert!(import.assumed.iter().any(|assumed| assumed.knob == knob), "{given}");
    }
    // Megatron-LM has no such kernel, and models without MLA no such heads. It overlaps no experts
    // of layers that it computes again.
    let megatron = DEEPSEEK_A2.replace(switch, "").replace("--moe-fb-overlap", "");
    let (design, _) = clean(Format::Megatron, &megatron);
    has(&design, "mla_fa_without_pad=true");
    let (design, import) =
        clean(Format::Mindspeed, &QWEN.replace("--bf16", "--bf16 --padded-base-length 64"));
    has(&design, "mla_fa_without_pad=true padded_base_length=128");
    assert!(import.ignored.iter().any(|ignored| ignored.key == "--padded-base-length"));
}

#[test]
fn uneven_stages_become_a_layout() {
    for (more, layout) in [
        (
            "--decoder-first-pipeline-num-layers 3 --decoder-last-pipeline-num-layers 1",
            "Et*3|t*2|t*2|tL",
        ),
        ("--mtp-num-layers 1 --position-embedding-type rope", "Et*2|t*2|t*2|t*2mL"),
        ("--num-layer-list 1,3,3,1", "Et|t*3|t*3|tL"),
    ] {
        let import = small(&format!("--pipeline-model-parallel-size 4 {more}"));
        assert_eq!(import.errors, [], "{more}");
        assert!(import.violations.is_empty(), "{more} {:?}", import.violations);
        has(&import.design.unwrap(), &format!("pipeline_model_parallel_layout={layout}"));
    }
    let import = small(
        "--num-layers 6 --pipeline-model-parallel-size 4 \
        --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split",
    );
    has(&import.design.unwrap(), "pipeline_model_parallel_layout=Et|t*2|t*2|tL");
}

#[test]
fn the_format_is_found_by_what_stands_in_a_text() {
    assert_eq!(Format::detect("\n {\"a\": 1}"), Format::HuggingFace);
    assert_eq!(Format::detect(SMALL), Format::Megatron);
    for text in [DEEPSEEK_A2, DEEPSEEK_A3, QWEN, KIMI] {
        assert_eq!(Format::detect(text), Format::Mindspeed);
    }
    assert_eq!(Format::detect(MIXTRAL), Format::Megatron);
}

#[test]
fn yaml_that_could_grow_or_never_ends_is_refused() {
    for text in [
        "a: &x [1, 2]\nb: *x\n".to_owned(),
        // Each anchor doubles what is before it.
        (1..40).fold("a0: &a0 [1, 2]\n".to_owned(), |text, n| {
            format!("{text}a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)
        }),
        format!("a: {}", "[".repeat(10_000)),
        "a: {b: {c: ".repeat(100),
        "a: b: c".to_owned(),
        "a: \"\n".to_owned(),
    ] {
        let import = import(Format::Megatron, &text, None);
        assert!(import.design.is_none() && !import.errors.is_empty(), "{text:.40}");
    }
}

#[test]
fn variables_that_grow_without_end_are_refused() {
    let mut text = "A=--num-layers\n".to_owned();
    text.push_str(&"A=$A$A\n".repeat(40));
    text.push_str("python x.py $A");
    let import = import(Format::Megatron, &text, None);
    assert!(import.errors[0].detail.contains("characters"), "{:?}", import.errors);
}

#[test]
fn arrays_of_empty_elements_that_grow_without_end_are_refused() {
    let mut text = "A=(\"\" \"\")\n".to_owned();
    text.push_str(&"A=(\"${A[@]}\" \"${A[@]}\")\n".repeat(35));
    text.push_str("python x.py --num-layers 1 ${A[@]}");
    let import = import(Format::Megatron, &text, None);
    assert!(import.errors[0].detail.contains("elements"), "{:?}", import.errors);
}

#[test]
fn arithmetic_that_names_a_long_variable_again_and_again_is_refused() {
    let long = format!("{}1", "0".repeat(100_000));
    let sum = vec!["A"; 1_000].join("+");
    let text = format!("A={long}\npython x.py --num-layers $(({sum}))");
    let import = import(Format::Megatron, &text, None);
    assert!(import.errors[0].detail.contains("elements"), "{:?}", import.errors);
}

#[test]
fn more_arguments_than_any_run_has_are_refused() {
    let text = format!("python x.py --num-layers 2 {}", "--unheard-of 1 ".repeat(60_000));
    let import = import(Format::Megatron, &text, None);
    assert!(import.errors[0].detail.contains("arguments"), "{:?}", import.errors);
    assert_eq!((import.design, import.unknown.len()), (None, 0));
}

#[test]
fn no_position_embedding_leaves_rotary_embeddings() {
    for (more, kind) in [
        ("--no-position-embedding", "none"),
        ("--no-position-embedding --position-embedding-type rope", "rope"),
        ("--position-embedding-type rope --no-position-embedding", "rope"),
    ] {
        let design = small(more).design.unwrap();
        has(&design, &format!("position_embedding_type={kind}"));
    }
}

#[test]
fn a_layer_of_longcat_is_two_of_which_one_has_experts() {
    let text = "python pretrain_gpt.py --spec mindspeed_llm.tasks.models.spec.longcat_spec \
                layer_spec --num-layers 28 --hidden-size 6144 --ffn-hidden-size 12288 \
                --num-attention-heads 64 --multi-latent-attention --q-lora-rank 1536 \
                --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128 \
                --qk-layernorm --swiglu --disable-bias-linear --num-experts 512 \
                --num-zero-experts 256 --moe-router-topk 12 --moe-ffn-hidden-size 2048 \
                --untie-embeddings-and-output-weights --padded-vocab-size 131072 --seq-length 4096 \
                --position-embedding-type rope --micro-batch-size 1 --global-batch-size 16 --bf16 \
                --tensor-model-parallel-size 16 --pipeline-model-parallel-size 4 \
                --expert-model-parallel-size 32 --sequence-parallel --nproc_per_node 16 --nnodes 8";
    let design = import(Format::Mindspeed, text, None).design.unwrap();
    assert_eq!(design.transformer, Design::from_preset("longcat-flash").unwrap().transformer);
}

/// GPT-NeoX-20B's published 20.55B need its 50,432 rows; a vocabulary that no one names stays open.
#[test]
fn a_tokenizer_that_the_text_names_says_how_many_rows_there_are() {
    let rows = |more: &str| {
        let text = format!(
            "python pretrain_gpt.py --num-layers 6 --hidden-size 1024 --num-attention-heads 8 \
             --tensor-model-parallel-size 2 --seq-length 2048 --micro-batch-size 1 \
             --global-batch-size 8 {more}"
        );
        let import = import(Format::Megatron, &text, None);
        assert_eq!(import.errors, [], "{more}");
        import.design.unwrap().transformer.vocab_size
    };
    assert_eq!(rows("--vocab-file /data/gpt2-vocab.json"), 50_432);
    let first = "--vocab-file gpt2-vocab.json --make-vocab-size-divisible-by";
    assert_eq!(rows(&format!("{first} 1024")), 51_200);
    assert_eq!(rows("--tokenizer-name-or-path t5-small --pad-vocab-size-to 51200"), 51_200);
    assert_eq!(rows("--vocab-file ./20B_checkpoints/20B_tokenizer.json"), 50_432);
    assert_eq!(rows("--vocab-file gpt2-vocab.json --vocab-size 1024"), 1_024);
    assert_eq!(rows("--tokenizer-type GPT2BPETokenizer --vocab-file a.json"), 50_432);
    let own = "--tokenizer-model /src/llm-jp-tokenizer-100k.ver3.0b1.model";
    assert_eq!(rows(own), 99_584);
}

/// Mixtral's published 46.7B need its 32,000 rows.
#[test]
fn a_vocabulary_that_no_one_names_is_that_of_the_model_of_this_shape() {
    let text = "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 --swiglu \
                --ffn-hidden-size 14336 --num-attention-heads 32 --group-query-attention \
                --num-query-groups 8 --num-experts 8 --moe-router-topk 2 --seq-length 4096 \
                --tokenizer-type Llama2Tokenizer --micro-batch-size 1 --global-batch-size 256";
    let read = import(Format::Megatron, text, None);
    has(read.design.as_ref().unwrap(), "vocab_size=32000");
    let says = |part: &str| read.assumed.iter().any(|it| it.detail.contains(part));
    assert!(says("32000, that of mixtral-8x7b"), "{:?}", read.assumed);
}

/// A specification of layers says what no argument of Megatron's does.
#[test]
fn gated_delta_nets_are_known_by_their_specification() {
    let mindspeed = "torchrun pretrain_gpt.py --use-mcore-models \
                     --spec mindspeed_llm.tasks.models.spec.qwen3_next_spec layer_spec \
                     --full-attention-interval 4 --mamba-d-conv 4 --linear-key-head-dim 128 \
                     --linear-num-key-heads 16 --linear-num-value-heads 32 --shared-expert-gate \
                     --num-experts 8 --moe-router-topk 2 --n-shared-experts 1";
    let read = import(Format::Mindspeed, &format!("{mindspeed} {SMALL} --seq-length 64"), None);
    has(
        read.design.as_ref().unwrap(),
        "experimental_attention_variant=gdn linear_attention_freq=4 attention_output_gate=true \
         moe_shared_expert_gate=true linear_conv_kernel_dim=4 linear_num_value_heads=32",
    );
    let slime = "python train.py --spec slime_plugins.models.qwen3_5 get_qwen3_5_spec \
                 --hf-checkpoint /root/Qwen3.5-27B --rollout-batch-size 8 --attention-output-gate";
    let read = import(Format::Megatron, &format!("{slime} {SMALL} --seq-length 64"), None);
    has(
        read.design.as_ref().unwrap(),
        "experimental_attention_variant=gdn linear_attention_freq=4 linear_num_value_heads=48",
    );
}

/// Gemma 2's layers look back 4,096 tokens in turns, and its MLP is gated.
#[test]
fn words_of_mindspeed_and_of_the_years_before_mean_what_they_did() {
    let text = format!(
        "torchrun pretrain_gpt.py --gelu-tanh --interleave-sliding-window 4096 \
         --checkpoint-activations --activations-checkpoint-method uniform {SMALL} --seq-length 64"
    );
    let read = import(Format::Mindspeed, &text, None);
    has(
        read.design.as_ref().unwrap(),
        "gated_linear_unit=true window_size=4096 window_attn_skip_freq=2 \
         recompute_granularity=full recompute_method=uniform",
    );
    assert_eq!(read.unknown, []);
}

#[test]
fn mindspeeds_sparse_attention_has_an_indexer() {
    let latent = "--multi-latent-attention --q-lora-rank 64 --kv-lora-rank 64 \
                  --enable-dsa-indexer --index-topk 1024 --use-sparse-flash-attn";
    let ranks = "--context-parallel-size 2 --nproc-per-node 8 --nnodes 1";
    let text = format!("torchrun pretrain_gpt.py {latent} {ranks} {SMALL} --seq-length 64");
    let read = import(Format::Mindspeed, &text, None);
    let values = "experimental_attention_variant=dsa dsa_indexer_topk=1024 kv_lora_rank=64 \
                  context_parallel_size=2 context_parallel_algo=allgather";
    has(read.design.as_ref().unwrap(), values);
    assert_eq!(read.unknown, []);
}

/// 1.3B with 128 experts in every second layer is published as 52B.
#[test]
fn megatron_deepspeed_has_experts_in_every_second_layer() {
    let text = "deepspeed pretrain_gpt.py --num-layers 24 --hidden-size 2048 --seq-length 2048 \
                --num-attention-heads 16 --vocab-file gpt2-vocab.json --num-experts 128 \
                --micro-batch-size 4 --global-batch-size 512 --deepspeed --deepspeed_config a.json";
    let read = |more: &str| import(Format::Megatron, &format!("{text} {more}"), None);
    let design = read("").design.unwrap();
    let layers: u64 =
        (0..24).map(|it| u64::from(design.transformer.moe_layer_freq.marks(it))).sum();
    assert_eq!((layers, design.transformer.moe_router_topk), (12, 1));
    assert!(!design.transformer.moe_layer_freq.marks(0));
    has(&read("--expert-interval 1 --topk 2").design.unwrap(), "moe_router_topk=2");
}

#[test]
fn a_list_of_windows_says_of_each_layer_whether_it_has_one() {
    let read = |freq: &str| {
        let text = format!(
            "python pretrain_gpt.py --num-layers 6 --hidden-size 1024 --num-attention-heads 8 \
             --window-size 128,0 --window-attn-skip-freq '{freq}' --seq-length 4096 \
             --vocab-size 32000 --micro-batch-size 1 --global-batch-size 8 --bf16"
        );
        let import = import(Format::Megatron, &text, None);
        assert_eq!(import.errors, [], "{freq}");
        import.design.unwrap()
    };
    has(&read("3"), "window_size=128 window_attn_skip_freq=3 layer_overrides=none");
    let sizes = "layer_overrides=0,2-4:window_size=128";
    has(&read("[1,0]+[1]*3+[0]"), &format!("window_size=none window_attn_skip_freq=none {sizes}"));
}

/// Rank and targets of LoRA and frozen parameters, by a script's arguments.
fn trained(text: &str) -> (Option<u64>, String, String) {
    let import = import(Format::Megatron, text, None);
    assert_eq!(import.errors, [], "{text}");
    let training = import.design.unwrap().training;
    (training.lora_rank, training.lora_target_modules.text(), training.freeze_parameters.text())
}

const SIZES: &str = "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \
    --num-attention-heads 32 --seq-length 4096 --global-batch-size 64 --world-size 8";

#[test]
fn adapters_are_read_in_the_words_of_each_framework() {
    let mindspeed = format!(
        "torchrun posttrain_gpt.py {SIZES} --lora-r 16 --lora-alpha 32 \\\n    \
         --lora-target-modules linear_qkv linear_proj"
    );
    let (rank, targets, _) = trained(&mindspeed);
    assert_eq!((rank, targets.as_str()), (Some(16), "linear_qkv,linear_proj"));
    let swift = format!(
        "megatron sft {SIZES} --train_type lora --lora_rank 8 --lora_alpha 32 \
         --target_modules q_proj o_proj down_proj"
    );
    let (rank, targets, _) = trained(&swift);
    assert_eq!(rank, Some(8));
    assert_eq!(targets, "linear_qkv,linear_proj,linear_fc2,experts.linear_fc2");
    // Without a rank ms-swift takes 8, and all linear layers.
    let (rank, targets, _) = trained(&format!("megatron sft {SIZES} --tuner_type lora"));
    assert_eq!(rank, Some(8));
    assert!(targets.contains("linear_qkv") && !targets.contains("router"), "{targets}");
    let full = format!("megatron sft {SIZES} --train_type full --lora_rank 8");
    assert_eq!(trained(&full).0, None);
}

#[test]
fn adapters_of_a_recipe_in_python_are_read() {
    let recipe = "from megatron.bridge.recipes.llama import llama3_70b_peft_config\n\
        def llama3_70b_lora_8gpu_config():\n    \
        cfg = llama3_70b_peft_config(peft_scheme=\"lora\")\n    \
        cfg.peft.dim = 16\n    cfg.peft.alpha = 32\n    \
        cfg.peft.target_modules = [\"linear_qkv\"]\n    \
        cfg.model.seq_length = 4096\n    cfg.train.global_batch_size = 32\n    \
        cfg.train.micro_batch_size = 1\n";
    let import = import(Format::Megatron, recipe, None);
    assert_eq!(import.unknown, []);
    let training = import.design.unwrap().training;
    assert_eq!(training.lora_rank, Some(16));
    assert_eq!(training.lora_target_modules.text(), "linear_qkv");
}

#[test]
fn frozen_parts_are_read_by_the_ends_of_their_paths() {
    let script = format!("megatron sft {SIZES} --freeze_parameters embedding decoder.output_layer");
    assert_eq!(trained(&script), (None, trained(SIZES_ONLY).1, "embedding,output_layer".into()));
}

const SIZES_ONLY: &str = "torchrun pretrain_gpt.py --num-layers 32 --hidden-size 4096 \
    --ffn-hidden-size 14336 --num-attention-heads 32 --seq-length 4096 --global-batch-size 64 \
    --world-size 8";

#[test]
fn adapters_are_written_for_mindspeed_and_come_back() {
    let mut design = model::design::Design::from_preset("llama-3-8b").unwrap();
    design.training.lora_rank = Some(16);
    let provenance = interchange::Provenance { date: "2026-01-31" };
    let text = interchange::export(interchange::Target::Mindspeed, &design, &provenance).text;
    assert!(text.contains("--lora-r 16") && text.contains("--lora-target-modules linear_qkv"));
    let text = interchange::export(interchange::Target::Megatron, &design, &provenance).text;
    assert!(!text.contains("--lora") && text.contains("training.lora_rank=16"), "{text}");
}
