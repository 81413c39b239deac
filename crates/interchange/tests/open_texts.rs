//! Texts that leave things open: models by name, variables, arguments, and other frameworks' words.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{Answers, Format, Import, import, import_with};
use model::design::{Design, KnobId};
use proptest::prelude::*;

#[track_caller]
fn has(import: &Import, values: &str) {
    assert_eq!(import.errors, []);
    let design = import.design.as_ref().unwrap();
    for setting in values.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        let is_it = |knob: &&KnobId| knob.id().split_once('.').is_some_and(|id| id.1 == name);
        let knob = KnobId::ALL.iter().find(is_it).unwrap();
        assert_eq!(design.get(*knob).to_string(), value, "{name} in {:?}", import.assumed);
    }
}

#[track_caller]
fn read(text: &str) -> Import {
    import(Format::detect(text), text, None)
}

#[test]
fn a_text_of_another_framework_is_called_by_its_name() {
    let torchtitan = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n\
                      [parallelism]\ntensor_parallel_degree = 2\n";
    let import = read(torchtitan);
    assert_eq!((import.format, import.dialect), (Format::Megatron, "torchtitan"));
    let script = read("python pretrain_gpt.py --num-layers 8 --hidden-size 1024");
    assert_eq!((script.format, script.dialect), (Format::Megatron, "Megatron-LM's arguments"));
    let shape = read("{\"hidden_size\": 1024}");
    assert_eq!(shape.dialect, Format::HuggingFace.title());
}

fn asked(import: &Import) -> Vec<&str> {
    import.questions.iter().map(|question| question.name.as_str()).collect()
}

#[test]
fn a_model_that_is_named_has_its_shape_and_the_text_overrides_it() {
    let text = "NPROC_PER_NODE=8 \\\nmegatron sft --model Qwen/Qwen3-30B-A3B-Instruct-2507 \\\n \
                --expert_model_parallel_size 4 --max_length 8192 --recompute_granularity full \\\n \
                --recompute_method uniform --recompute_num_layers 1 --sequence_parallel true";
    let import = read(text);
    has(
        &import,
        "num_layers=48 num_moe_experts=128 expert_model_parallel_size=4 seq_length=8192 \
                  num_devices=8 global_batch_size=16 precision=bf16 expert_tensor_parallel_size=1",
    );
    let shape = &import.design.as_ref().unwrap().transformer;
    assert_eq!(*shape, Design::from_preset("qwen3-30b-a3b").unwrap().transformer);
    assert_eq!(asked(&import), [""; 0]);
    // Megatron turns sequence parallelism off where there is no TP, and says so once.
    assert!(import.ignored.iter().any(|it| it.reason.contains("turns it off")), "{import:?}");
    let fewer = format!("{text} --num_layers 8");
    has(&read(&fewer), "num_layers=8 num_moe_experts=128");
}

/// A name that says more than a model's may be of another shape.
#[test]
fn a_smaller_model_of_a_known_name_is_asked_for() {
    let named = |name: &str| {
        read(&format!("megatron sft --model {name} --max_length 4096 --micro_batch_size 2"))
    };
    for name in ["kimi_k3_tiny", "deepseek_v3_proxy", "glm5_4layers"] {
        let import = named(name);
        assert_eq!(asked(&import)[0], "model", "{name}");
        assert!(import.questions[0].purpose.contains(name), "{:?}", import.questions);
    }
    for name in ["deepseek_v3_671b_16nodes", "/data/test/DeepSeek-V3"] {
        assert!(!asked(&named(name)).contains(&"model"), "{name}");
    }
    has(&named("kimi_k3_curve"), "num_layers=24 hidden_size=2048 moe_latent_size=1024");
    let answers = Answers { model: Some("kimi-k3".to_owned()), ..Answers::default() };
    let text = "megatron sft --model kimi_k3_tiny --max_length 4096 --micro_batch_size 2";
    let import = import_with(Format::Megatron, text, None, &answers);
    assert!(!asked(&import).contains(&"model"));
    has(&import, "num_layers=93");
}

/// Primus keeps Megatron's switch of latent attention off, and names the mixers by the model.
#[test]
fn primus_names_kimis_mixers_by_the_kind_of_model() {
    let text = "work_group: ${PRIMUS_TEAM:amd}\nmodel_type: kimi_k3\nnum_layers: 8\n\
                hidden_size: 512\nnum_attention_heads: 8\nvocab_size: 1024\n\
                multi_latent_attention: false\nmla_use_output_gate: true\nq_lora_rank: 64\n\
                kv_lora_rank: 64\nlinear_attention_freq: \"([1]*3+[0])*2\"\nnum_experts: 8\n\
                routed_expert_hidden_size: 256\nattn_res_block_size: 4\nseq_length: 256\n\
                micro_batch_size: 1\n";
    has(
        &read(text),
        "experimental_attention_variant=kda multi_latent_attention=true moe_latent_size=256 \
         attention_output_gate=true attention_residual_block_size=4",
    );
}

#[test]
fn a_model_that_nobody_knows_is_asked_for() {
    let text = "megatron sft --model org/Own-Model-9000 --max_length 4096 --micro_batch_size 2";
    let import = read(text);
    assert_eq!(asked(&import)[0], "model");
    assert!(import.questions[0].follows.contains("config.json"));
    let answers = Answers { model: Some("deepseek-v3".to_owned()), ..Answers::default() };
    let import = import_with(Format::Megatron, text, None, &answers);
    has(&import, "num_layers=61 micro_batch_size=2");
    assert!(!asked(&import).contains(&"model"));
}

const OPEN: &str = "MODEL_ARGS=\"--hidden-size 512 --num-attention-heads 8 --vocab-size 1024 \
                    --bf16\"\n\
                    python pretrain_gpt.py $MODEL_ARGS --num-layers $2 --micro-batch-size \
                    ${MBS} \\\n\
                    --seq-length 1024 --global-batch-size 8 --lr $LR --nproc_per_node 8 --nnodes 1";

#[test]
fn what_is_missing_is_asked_and_the_design_has_a_guess() {
    let import = read(OPEN);
    assert_eq!(asked(&import), ["arg 2", "env MBS"]);
    let first = &import.questions[1];
    assert_eq!((first.line, first.guess.as_deref()), (2, Some("1")));
    assert!(import.design.is_some());
    let answers = Answers {
        arguments: vec!["x".to_owned(), "24".to_owned()],
        variables: [("MBS".to_owned(), "2".to_owned())].into(),
        knobs: vec![(KnobId::global_batch_size, "16".to_owned())],
        model: None,
    };
    let import = import_with(Format::Megatron, OPEN, None, &answers);
    has(&import, "num_layers=24 micro_batch_size=2 global_batch_size=16");
    assert_eq!(asked(&import), [""; 0]);
}

#[test]
fn an_answer_wins_over_a_value_that_can_t_be() {
    let text = format!("{} --hidden-size 0", OPEN.replace("$2", "4"));
    assert!(read(&text).design.is_none());
    let answers =
        Answers { knobs: vec![(KnobId::hidden_size, "512".to_owned())], ..Answers::default() };
    has(&import_with(Format::Megatron, &text, None, &answers), "hidden_size=512");
}

#[test]
fn conditions_loops_cases_and_functions_are_followed_where_they_are_known() {
    let small = "--hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --micro-batch-size 1 \
                 --seq-length 128 --global-batch-size 1 --bf16";
    for (script, layers) in [
        ("S=b\nif [ $S = a ]; then\n L=1\nelif [[ $S == b* ]]; then\n L=2\nelse\n L=3\nfi", 2),
        ("L=4\nif [ -n \"${9}\" ]; then L=$9; fi", 4),
        ("N=2\nif [ $N -gt 1 ] && [ -z \"$X\" ]; then L=5; else L=6; fi", 5),
        ("if [ $SIZE = small ]; then L=7; elif [ $SIZE = big ]; then L=8; fi", 7),
        ("S=b\ncase $S in\n a) L=1;;\n b|c) L=9;;\n *) L=2;;\nesac", 9),
        ("L=0\nfor i in 1 2 3; do\n L=$((L + i))\ndone", 6),
        ("L=1\nfor ((i=0; i<3; i++)); do\n L=$((L * 2))\ndone", 8),
        ("A=()\nfor i in {1..5}; do\n if (( i < 4 )); then A+=(x); fi\ndone\nL=${#A[@]}", 3),
        ("set_l() {\n  L=$1\n}\nset_l 11", 11),
        ("V=a12\nL=${V#a}", 12),
        ("V=13_x\nL=${V%_*}", 13),
        ("V=2x4\nL=${V/x/}", 24),
        ("A=(14 15)\nL=${A[1]}", 15),
        ("L=$(echo \"4*4\" | bc)", 16),
        ("L=$(expr 3 \\* 6)", 18),
        ("P=(8 9)\nprintf -v L \"%s\" \"$(IFS=,; echo ${P[0]})\"", 8),
        ("while [ $# -gt 0 ]; do\n L=1\n shift\ndone\nL=19", 19),
    ] {
        let text = format!("{script}\npython x.py --num-layers $L {small}");
        has(&import(Format::Megatron, &text, None), &format!("num_layers={layers}"));
    }
    // What a condition compares and nothing sets is asked for, with the first value as the guess.
    let text = format!("if [ $SIZE = small ]; then L=7; fi\npython x.py --num-layers $L {small}");
    let import = read(&text);
    let question = import.questions.iter().find(|question| question.name == "env SIZE").unwrap();
    assert_eq!(question.guess.as_deref(), Some("small"));
}

#[test]
fn a_loop_that_never_ends_is_left() {
    let text = format!("A=1\nwhile true; do\n A=2\ndone\nf() {{\n f\n}}\nf\n{OPEN}");
    assert!(read(&text).design.is_some());
}

#[test]
fn a_file_that_a_script_writes_is_read() {
    let shape = "num_layers: $LAYERS\nhidden_size: 512\nnum_attention_heads: 8\n\
                 seq_length: 256\nvocab_size: 1024\nbf16: true\nmicro_batch_size: 2\n";
    let run = "torchrun --nproc_per_node 8 --nnodes 2 train.py --config conf/own.yaml \
               --global_batch_size 64\n";
    for write in [
        format!("cat > conf/own.yaml <<EOF\n{shape}EOF\n"),
        format!("cat <<EOF > conf/own.yaml\n{shape}EOF\n"),
        format!("tee conf/own.yaml <<EOF\n{shape}EOF\n"),
        format!("cat > t.yaml <<'EOF'\n{shape}EOF\nenvsubst < t.yaml > conf/own.yaml\n"),
    ] {
        let text = format!("LAYERS=6\n{write}{run}");
        let import = read(&text);
        has(&import, "num_layers=6 hidden_size=512 num_devices=16 global_batch_size=64");
        let set = import.set.iter().find(|set| set.knob == KnobId::hidden_size).unwrap();
        let line = text.lines().position(|line| line.starts_with("hidden_size")).unwrap() + 1;
        assert_eq!(set.line, line as u64, "{text}");
    }
    // In quotes the end says that nothing in the document is a variable.
    let text = format!("LAYERS=6\ncat > own.yaml <<'EOF'\n{shape}EOF\n{run}");
    assert!(read(&text).errors[0].detail.contains("$LAYERS"), "{:?}", read(&text));
    // A script that a script writes is run.
    let text = "cat > run.sh <<EOF\npython x.py --num-layers 6 --hidden-size 512 \\\n  \
                --num-attention-heads 8 --seq-length 256 --vocab-size 1024 --bf16\nEOF\n\
                bash run.sh\n";
    has(&read(text), "num_layers=6 hidden_size=512 seq_length=256");
}

#[test]
fn an_accelerator_that_is_named_by_the_way_is_a_guess_that_is_asked() {
    let text = "#SBATCH --partition=gb200_long\ncd /data/GB200/runs\npython x.py --num-layers 6 \
                --hidden-size 512 --num-attention-heads 8 --seq-length 256 --bf16 --nproc_per_node \
                4 --nnodes 2";
    let import = read(text);
    has(&import, "accelerator=gb200 num_devices=8");
    let question = import.questions.iter().find(|it| it.name == "cluster.accelerator").unwrap();
    assert_eq!((question.line, question.guess.as_deref()), (1, Some("gb200")));
    let answers =
        Answers { knobs: vec![(KnobId::accelerator, "b200".to_owned())], ..Answers::default() };
    let import = import_with(Format::Megatron, text, None, &answers);
    has(&import, "accelerator=b200");
    assert!(!asked(&import).contains(&"cluster.accelerator"));
}

#[test]
fn the_list_that_a_loop_builds_is_read() {
    let text = "N=6\na=()\nfor ((i=0; i<N; i++)); do\n  if (( i < 1 )); \
                then\n    a+=(0)\n  else\n    \
                a+=(1)\n  fi\ndone\nprintf -v F \"[%s]\" \"$(IFS=', '; echo \"${a[*]}\")\"\n\
                python x.py --num-layers 6 --hidden-size 512 --num-attention-heads 8 \
                --num-experts 8 --moe-layer-freq \"$F\" --vocab-size 1024 --seq-length 128 --bf16";
    has(&read(text), "moe_layer_freq=([0]*1+[1]*5)");
}

#[test]
fn anchors_aliases_merge_keys_and_defaults_of_yaml_are_followed() {
    let text = "base: &base\n  hidden_size: 512\n  num_attention_heads: 8\nmodel:\n  <<: *base\n  \
                num_layers: ${LAYERS:12}\n  num_attention_heads: 4\n  seq_length: &s 2048\n  \
                vocab_size: ${.seq_length}\n  micro_batch_size: 1\n  global_batch_size: 4\n";
    let import = read(text);
    has(&import, "hidden_size=512 num_layers=12 num_attention_heads=4 vocab_size=2048");
    let answers =
        Answers { variables: [("LAYERS".to_owned(), "6".to_owned())].into(), ..Answers::default() };
    has(&import_with(Format::Megatron, text, None, &answers), "num_layers=6");
}

/// A text in a framework's words, and what it makes.
const DIALECTS: [(&str, &str); 15] = [
    (
        "model:\n  model_id: own\n  model_name_or_path: /w/Qwen3-235B-A22B/\ndata:\n  cutoff_len: \
         4096\n\
         parallel:\n  fsdp_size: 64\n  fsdp_modules:\n    - model.layers.{*}\n  ep_size: 32\n  \
         cp_size: 1\n  recompute: True\ntraining:\n  per_device_train_batch_size: 1\n  \
         gradient_accumulation_steps: 4\n  optimizer: adamw\n",
        "num_layers=94 num_devices=64 expert_model_parallel_size=32 seq_length=4096 \
         data_parallel_sharding_strategy=optim_grads_params global_batch_size=256 \
         recompute_granularity=full",
    ),
    (
        "trainer:\n  model_name: 'own'\nrunner_config:\n  batch_size: 1\nmoe_config:\n  \
         expert_num: 8\n  num_experts_chosen: 2\nparallel_config:\n  data_parallel: 4\n  \
         model_parallel: 2\n  pipeline_stage: 2\n  expert_parallel: 4\n  use_seq_parallel: True\n  \
         micro_batch_num: 8\nrecompute_config:\n  recompute: False\nmodel:\n  model_config:\n    \
         type: LlamaConfig\n    seq_length: 8192\n    hidden_size: 4096\n    \
         intermediate_size: 6144\n    num_layers: 30\n    num_heads: 32\n    n_kv_heads: 8\n    \
         vocab_size: 32000\n    compute_dtype: \"bfloat16\"\n",
        "num_layers=30 num_query_groups=8 num_moe_experts=8 tensor_model_parallel_size=2 \
         pipeline_model_parallel_size=2 num_devices=16 global_batch_size=32 precision=bf16 \
         gated_linear_unit=true sequence_parallel=true",
    ),
    (
        "python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 \\\n \
         data.max_response_length=1024 actor_rollout_ref.model.path=deepseek-ai/DeepSeek-V3 \\\n \
         actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.rollout.n=8 \\\n \
         actor_rollout_ref.rollout.tensor_model_parallel_size=32 \\\n \
         actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=16 \\\n \
         +actor_rollout_ref.actor.megatron.override_transformer_config.\
          num_layers_in_first_pipeline_stage=4 \\\n \
         +actor_rollout_ref.actor.megatron.override_transformer_config.\
          num_layers_in_last_pipeline_stage=1 \\\n \
         actor_rollout_ref.actor.megatron.expert_model_parallel_size=16 \\\n \
         actor_rollout_ref.ref.megatron.pipeline_model_parallel_size=2 \\\n \
         trainer.nnodes=32 trainer.n_gpus_per_node=8",
        "num_layers=61 pipeline_model_parallel_size=16 tensor_model_parallel_size=1 \
         num_devices=256 \
         seq_length=2048 global_batch_size=512 expert_model_parallel_size=16",
    ),
    (
        "MODEL_ARGS=(--num-layers 8 --hidden-size 1024 --num-attention-heads 8 --vocab-size 1024)\n\
         ray job submit -- python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 8 \\\n \
         --hf-checkpoint /w/own --context-parallel-size 2 --max-tokens-per-gpu 1024 \\\n \
         --rollout-batch-size 32 --n-samples-per-prompt 4 --num-steps-per-rollout 2 \\\n \
         ${MODEL_ARGS[@]}",
        "num_layers=8 num_devices=16 seq_length=2048 global_batch_size=64 precision=bf16",
    ),
    (
        "modules:\n  pre_trainer:\n    framework: megatron\n    model: \
         ${PRIMUS_MODEL:grok2}.yaml\n    \
         overrides:\n      micro_batch_size: 2\n      seq_length: 8192\n      \
         tensor_model_parallel_size: ${PRIMUS_TP:1}\n      num_layers: 8\n      fp8: hybrid\n",
        "num_layers=8 hidden_size=8192 num_moe_experts=8 micro_batch_size=2 precision=fp8_delayed",
    ),
    (
        "[model]\nname = \"deepseek_v3\"\nflavor = \"671B\"\n[training]\nlocal_batch_size = 4\n\
         seq_len = 4096\nglobal_batch_size = 1024\n[parallelism]\ntensor_parallel_degree = 4\n\
         data_parallel_shard_degree = -1\nexpert_parallel_degree = 8\n\
         [activation_checkpoint]\nmode = \"full\"\n",
        "num_layers=61 tensor_model_parallel_size=4 expert_model_parallel_size=8 \
         micro_batch_size=4 \
         recompute_granularity=full data_parallel_sharding_strategy=optim_grads_params",
    ),
    (
        "base_emb_dim: 2048\nbase_num_decoder_layers: 16\nbase_mlp_dim: 8192\n\
         base_num_query_heads: 16\nbase_num_kv_heads: 8\nhead_dim: 128\nvocab_size: 32000\n\
         per_device_batch_size: 2\nmax_target_length: 4096\nici_fsdp_parallelism: 16\n\
         remat_policy: full\n",
        "num_layers=16 hidden_size=2048 num_query_groups=8 num_devices=16 micro_batch_size=2 \
         recompute_granularity=full position_embedding_type=rope",
    ),
    (
        "variables:\n  max_seq_len: 2048\nmax_seq_len: ${variables.max_seq_len}\nmodel:\n  \
         name: mpt_causal_lm\n  d_model: 512\n  n_layers: 6\n  n_heads: 8\n  expansion_ratio: 4\n  \
         vocab_size: 50368\nglobal_train_batch_size: 64\ndevice_train_microbatch_size: 4\n\
         precision: amp_bf16\noptimizer:\n  name: decoupled_adamw\nfsdp_config:\n  \
         sharding_strategy: FULL_SHARD\n",
        "num_layers=6 hidden_size=512 ffn_hidden_size=2048 seq_length=2048 global_batch_size=64 \
         precision=bf16 optimizer=adam data_parallel_sharding_strategy=optim_grads_params",
    ),
    (
        "{\n  # parallelism\n  \"pipe_parallel_size\": 2,\n  \"model_parallel_size\": 2,\n  \
         \"num_layers\": 12,\n  \"hidden_size\": 768,\n  \"num_attention_heads\": 12,\n  \
         \"seq_length\": 2048,\n  \"pos_emb\": \"rotary\",\n  \"no_weight_tying\": true,\n  \
         \"zero_optimization\": {\"stage\": 1, \"overlap_comm\": True,},\n  \
         \"train_micro_batch_size_per_gpu\": 4,\n  \"gradient_accumulation_steps\": 8,\n  \
         \"checkpoint_activations\": true,\n  \"fp16\": {\"enabled\": true},\n}\n",
        "num_layers=12 pipeline_model_parallel_size=2 tensor_model_parallel_size=2 precision=fp16 \
         position_embedding_type=rope data_parallel_sharding_strategy=optim global_batch_size=32 \
         recompute_granularity=full",
    ),
    (
        "trainer:\n  num_nodes: 2\n  devices: 8\n  precision: bf16\nexp_manager:\n  name: \
         own\nmodel:\n  \
         mcore_gpt: true\n  num_layers: 8\n  hidden_size: 1024\n  num_attention_heads: 8\n  \
         encoder_seq_length: 4096\n  bias: false\n  activation: fast-swiglu\n  \
         share_embeddings_and_output_weights: false\n  position_embedding_type: rope\n  \
         num_query_groups: 4\n  global_batch_size: 32\n  micro_batch_size: 1\n  optim:\n    \
         name: mcore_distributed_optim\n",
        "num_layers=8 num_devices=16 gated_linear_unit=true add_bias_linear=false seq_length=4096 \
         num_query_groups=4 data_parallel_sharding_strategy=optim precision=bf16",
    ),
    (
        "{\"train_micro_batch_size_per_gpu\": 2, \"gradient_accumulation_steps\": 4, \
         \"zero_optimization\": {\"stage\": 3, \"offload_optimizer\": {\"device\": \"cpu\"}}, \
         \"bf16\": {\"enabled\": true}}",
        "micro_batch_size=2 data_parallel_sharding_strategy=optim_grads_params precision=bf16 \
         swap_modules=optimizer",
    ),
    (
        "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n  \
         fsdp_sharding_strategy: FULL_SHARD\n  fsdp_activation_checkpointing: true\n\
         mixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n",
        "num_devices=16 data_parallel_sharding_strategy=optim_grads_params precision=bf16 \
         recompute_granularity=full",
    ),
    (
        "system:\n  no_shared_fs: true\n  tensor_model_parallel_size: 2\nmodel:\n  num_layers: \
         8\n  \
         hidden_size: 1024\n  num_attention_heads: 8\n  seq_length: 4096\n  micro_batch_size: 1\n  \
         bf16: true\n",
        "num_layers=8 tensor_model_parallel_size=2 precision=bf16",
    ),
    (
        "from megatron.bridge.recipes import base\n\ndef \
         deepseek_v3_pretrain_256gpu_h100_config():\n    \
         cfg = base()\n    cfg.model.tensor_model_parallel_size = 2\n    \
         cfg.model.pipeline_model_parallel_size = 8\n    cfg.train.global_batch_size = 4096\n    \
         cfg.model.recompute_modules = [\"mla_up_proj\", \"mlp\"]\n    cfg.model.seq_length = \
         4096\n    \
         set_pipeline_model_parallel_layout(cfg.model, \"Et|(tt|)*30mL\")\n    return cfg\n",
        "num_layers=61 num_devices=256 tensor_model_parallel_size=2 global_batch_size=4096 \
         recompute_modules=mla_up_proj,mlp virtual_pipeline_model_parallel_size=4",
    ),
    (
        "export MODEL=Qwen3-235B-A22B\nexport MBS=1\nTP=2 PP=4 EP=32 NNODES=32 GBS=2048 \
         SEQ_LEN=4096 \
         bash ./launch.sh --recompute-granularity full",
        "num_layers=94 tensor_model_parallel_size=2 expert_model_parallel_size=32 num_devices=256 \
         sequence_parallel=true precision=bf16",
    ),
];

#[test]
fn other_frameworks_words_are_read() {
    for (text, values) in DIALECTS {
        has(&read_as(text, "qwen3-8b"), values);
    }
}

/// A text that doesn't say which model is trained, with the answer.
fn read_as(text: &str, model: &str) -> Import {
    let import = read(text);
    if !asked(&import).contains(&"model") {
        return import;
    }
    assert!(import.design.is_none() && import.questions[0].guess.is_none(), "{text}");
    let answers = Answers { model: Some(model.to_owned()), ..Answers::default() };
    import_with(Format::detect(text), text, None, &answers)
}

const TITAN: &str = "[model]\nname = \"deepseek_v3\"\nflavor = \"16B\"\n[training]\n\
                     local_batch_size = 8\nseq_len = 4096\n[parallelism]\n\
                     data_parallel_shard_degree = -1\ntensor_parallel_degree = 1\n\
                     expert_parallel_degree = 8\n[activation_checkpoint]\n\
                     mode = \"selective\"\nselective_ac_option = \"op\"\n";

#[test]
fn torchtitan_groups_experts_and_computes_again_what_it_does_not_keep() {
    let import = read(TITAN);
    has(
        &import,
        "num_layers=27 ffn_hidden_size=10944 vocab_size=102400 framework=fsdp \
         moe_grouped_gemm=true moe_token_dispatcher_type=alltoall overlap_grad_reduce=true \
         overlap_param_gather=true \
         recompute_granularity=selective recompute_modules=mla_up_proj,layernorm,moe",
    );
    assert!(import.assumed.iter().any(|it| it.detail.contains("every second matrix product")));
    let every_third = read(&TITAN.replace("\"op\"", "\"3\""));
    has(&every_third, "recompute_method=block recompute_num_layers=9");
    let untold = read(&TITAN.replace("selective_ac_option = \"op\"\n", ""));
    has(&untold, "recompute_num_layers=13");
    let dense = TITAN.replace("deepseek_v3", "llama3").replace("16B", "8B");
    has(&read(&dense), "recompute_granularity=full recompute_num_layers=16");
}

#[test]
fn torchtitan_splits_experts_by_tp_where_ep_is_off() {
    let tp = TITAN.replace("tensor_parallel_degree = 1", "tensor_parallel_degree = 8");
    has(&read(&tp), "expert_model_parallel_size=8 expert_tensor_parallel_size=1");
    let ep_off = tp.replace("expert_parallel_degree = 8", "expert_parallel_degree = 1");
    let import = read(&ep_off);
    has(&import, "expert_model_parallel_size=1 expert_tensor_parallel_size=8");
    assert!(!asked(&import).contains(&"parallel.expert_tensor_parallel_size"));
}

#[test]
fn a_batch_that_follows_from_the_cluster_follows_from_the_answer() {
    let answers =
        Answers { knobs: vec![(KnobId::num_devices, "64".to_owned())], ..Answers::default() };
    let import = import_with(Format::detect(TITAN), TITAN, None, &answers);
    has(&import, "num_devices=64 global_batch_size=512");
    assert!(import.violations.is_empty());
    assert!(!import.assumed.iter().any(|it| it.detail.contains("the fewest that hold it")));
}

#[test]
fn a_part_of_the_optimizer_on_the_host_is_said_to_be_taken_as_all_of_it() {
    let text = |fraction: &str| {
        format!(
            "--num-layers 28 --hidden-size 1024 --num-attention-heads 16 --seq-length 4096 \
             --optimizer-cpu-offload --optimizer-offload-fraction {fraction}"
        )
    };
    let half = read(&text("0.5"));
    has(&half, "swap_modules=optimizer");
    assert!(half.assumed.iter().any(|it| it.detail.contains("keeps 50 %")), "{half:?}");
    let twin = r#"{"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true},
        "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "ratio": 0.3}}}"#;
    let answers = Answers { model: Some("qwen3-30b-a3b".to_owned()), ..Answers::default() };
    let import = import_with(Format::detect(twin), twin, None, &answers);
    assert!(import.assumed.iter().any(|it| it.detail.contains("keeps 70 %")), "{import:?}");
    let whole = read(&text("1.0"));
    assert!(!whole.assumed.iter().any(|it| it.detail.contains("keeps")), "{whole:?}");
}

#[test]
fn what_verl_offloads_between_phases_is_on_the_device_while_it_trains() {
    let text = "python3 -m verl.trainer.main_ppo data.max_prompt_length=2048 \
                data.max_response_length=4096 trainer.nnodes=64 trainer.n_gpus_per_node=8 \
                actor_rollout_ref.model.path=deepseek-ai/DeepSeek-V3 \
                actor_rollout_ref.actor.ppo_mini_batch_size=512 \
                actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=16 \
                actor_rollout_ref.actor.megatron.expert_model_parallel_size=32 \
                actor_rollout_ref.actor.megatron.optimizer_offload=True \
                +actor_rollout_ref.actor.megatron.override_transformer_config.\
                num_layers_in_first_pipeline_stage=3 \
                +actor_rollout_ref.actor.megatron.override_transformer_config.\
                num_layers_in_last_pipeline_stage=2";
    let import = read(text);
    has(&import, "swap_modules=none seq_length=6144 num_devices=512");
    assert!(import.ignored.iter().any(|it| it.reason.contains("between phases")));
    let keys: Vec<&str> = import.set.iter().map(|set| set.key.as_str()).collect();
    assert!(keys.iter().any(|key| key.contains("first") && key.contains("last")), "{keys:?}");
    let own = text.replace(
        "megatron.optimizer_offload",
        "optim.override_optimizer_config.\
                            optimizer_cpu_offload",
    );
    has(&read(&own), "swap_modules=optimizer");
}

#[test]
fn swift_trains_no_mtp_layers_of_a_model_without_being_told() {
    let text = "megatron sft --model ZhipuAI/GLM-4.5-Air --max_length 4096 --micro_batch_size 2";
    let import = read(text);
    has(&import, "num_layers=46 mtp_num_layers=0");
    assert!(import.assumed.iter().any(|it| it.detail.starts_with("no --mtp-num-layers: 0")));
    has(&read(&format!("{text} --mtp_num_layers 1")), "mtp_num_layers=1");
}

#[test]
fn chunks_that_drop_layers_say_how_many_and_what_would_not() {
    let text = "--num-layers 80 --hidden-size 1024 --num-attention-heads 16 --seq-length 4096 \
                --pipeline-model-parallel-size 16 --num-layers-per-virtual-pipeline-stage 2";
    let faults = read(text).errors;
    assert_eq!(faults.len(), 1);
    assert!(faults[0].detail.contains("trains 64 layers and drops 16; whole: 1, 5"), "{faults:?}");
}

#[test]
fn layouts_are_read_in_every_spelling() {
    let chunks = |layout: &str| {
        let text = format!(
            "python x.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --vocab-size \
             1024 \
             --seq-length 128 --bf16 --pipeline-model-parallel-size 4 \
             --pipeline-model-parallel-layout {layout}"
        );
        let import = read(&text);
        assert_eq!(import.errors, [], "{layout}");
        import.design.unwrap().parallel.pipeline_model_parallel_layout.unwrap().chunks
    };
    let plain = chunks("'Ett|tt|tt|ttL'");
    for layout in ["'Et*2|t*2|t*2|t*2L'", "\"'Ett|(tt|)*2ttL'\"", "'Et,t|t,t|t,t|t,t,L'"] {
        assert_eq!(chunks(layout), plain, "{layout}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn random_text_ends_soon_and_never_panics(
        text in "[a-z$(){}\\[\\]|;&<>=\"'`\\\\ \n:*.#,0-9-]{0,400}",
    ) {
        for format in Format::ALL {
            let _ = import(format, &text, None);
        }
    }

    #[test]
    fn a_text_with_pieces_cut_and_doubled_never_panics(
        row in 0..DIALECTS.len(),
        cut in 0..600_usize,
        length in 0..80_usize,
        piece in "(\\$\\{[a-z:/#%@]{0,6}\\}?|if |done\n|esac|case x in|for i in |\\(\\(|\\)\
                  |&a |\\*a|<<: )",
    ) {
        let mut text: Vec<char> = DIALECTS[row].0.chars().collect();
        let at = cut.min(text.len());
        let end = (at + length).min(text.len());
        text.splice(at..end, piece.chars());
        let text: String = text.into_iter().collect();
        let _ = import(Format::detect(&text), &text, None);
    }
}

#[test]
fn texts_that_take_long_if_they_are_let_end_soon() {
    let references: String =
        (1..18).map(|n| format!("a{n}: {}\n", format!("${{a{}}}", n - 1).repeat(40))).collect();
    let recipe: String = (0..20)
        .map(|n| {
            format!("def f{n}_config():\n{}", format!("    c = f{}_config()\n", n + 1).repeat(40))
        })
        .collect();
    let loops = format!("{}echo x\n{}", "for i in {1..1000}; do\n".repeat(8), "done\n".repeat(8));
    let globs = format!("A={}\n{}", "ab".repeat(8_000), "B=${A##*a*a*a*a*a*a*x}\n".repeat(20_000));
    let calls = format!("f() {{\n{}}}\nf\n", "f\n".repeat(20_000));
    let started = std::time::Instant::now();
    for text in [format!("a0: 1\n{references}num_layers: 2\n"), recipe, loops, globs, calls] {
        let _ = read(&text);
    }
    let seconds = started.elapsed().as_secs_f64();
    assert!(seconds < 10.0, "{seconds} s");
}
