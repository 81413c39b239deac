//! Trainers around Hugging Face's models, with the files that start and shard them.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{Answers, Bundle, Format, Import, import};
use model::design::KnobId;

fn bundle(files: &[(&str, &str)], answers: &Answers) -> Import {
    let own = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Bundle::new(own.collect()).unwrap().import(None, None, None, answers)
}

fn read(files: &[(&str, &str)]) -> Import {
    bundle(files, &Answers::default())
}

fn on_eight(files: &[(&str, &str)]) -> Import {
    let knobs = vec![(KnobId::num_devices, "8".to_owned())];
    bundle(files, &Answers { knobs, ..Answers::default() })
}

fn asked(import: &Import) -> Vec<&str> {
    import.questions.iter().map(|question| question.name.as_str()).collect()
}

#[track_caller]
fn has(import: &Import, values: &str) {
    assert_eq!(import.errors, []);
    let design = import.design.as_ref().unwrap();
    for setting in values.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        let is_it = |knob: &&KnobId| knob.id().split_once('.').is_some_and(|id| id.1 == name);
        let knob = KnobId::ALL.iter().find(is_it).unwrap();
        assert_eq!(design.get(*knob).to_string(), value, "{name} in {:?}", import.set);
    }
}

/// After `recipes/accelerate_configs/deepspeed_zero3.yaml` and `recipes/*/sft/config_full.yaml` of
/// huggingface/alignment-handbook.
const ZERO3: &str = "compute_environment: LOCAL_MACHINE\ndeepspeed_config:\n  \
                     offload_optimizer_device: none\n  zero3_init_flag: true\n  zero_stage: 3\n\
                     distributed_type: DEEPSPEED\nmixed_precision: bf16\nnum_machines: 1\n\
                     num_processes: 8\nuse_cpu: false\n";
const RECIPE: &str = "model_name_or_path: mistralai/Mistral-7B-v0.1\ntorch_dtype: bfloat16\n\
                      bf16: true\ngradient_accumulation_steps: 1\ngradient_checkpointing: true\n\
                      learning_rate: 2.0e-05\nmax_seq_length: 2048\npacking: true\n\
                      per_device_train_batch_size: 16\nreport_to:\n- tensorboard\n";
const HANDBOOK: &str = "accelerate launch --config_file recipes/zero3.yaml --num_machines 2 \\\n \
                        --num_processes=16 scripts/run_sft.py recipes/full.yaml \\\n \
                        --gradient_accumulation_steps=4\n";

#[test]
fn a_command_is_read_with_its_recipe_and_accelerate_s_file_and_wins_over_both() {
    let import =
        read(&[("recipes/full.yaml", RECIPE), ("recipes/zero3.yaml", ZERO3), ("run.sh", HANDBOOK)]);
    has(
        &import,
        "num_devices=16 data_parallel_sharding_strategy=optim_grads_params framework=deepspeed \
         micro_batch_size=16 global_batch_size=1024 seq_length=2048 precision=bf16 \
         recompute_granularity=full num_layers=32 window_size=4096 vocab_size=32000",
    );
    assert_eq!(asked(&import), [""; 0]);
    assert_eq!(import.unknown, []);
    assert_eq!(import.dialect, "Hugging Face's Trainer");
    let file = |knob: KnobId| {
        import.set.iter().find(|set| set.knob == knob).and_then(|set| set.file.clone()).unwrap()
    };
    assert_eq!(file(KnobId::seq_length), "recipes/full.yaml");
    assert_eq!(file(KnobId::global_batch_size), "run.sh");
}

/// After `fsdp_config.yaml` of huggingface/trl, with FSDP 2 and parts of sequences.
#[test]
fn accelerate_s_degrees_divide_the_batch() {
    let file = "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n  \
                fsdp_reshard_after_forward: true\n  fsdp_activation_checkpointing: true\n\
                mixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n\
                parallelism_config:\n  parallelism_config_dp_replicate_size: 2\n  \
                parallelism_config_dp_shard_size: 2\n  parallelism_config_tp_size: 2\n  \
                parallelism_config_cp_size: 2\n";
    let run = "accelerate launch --config_file fsdp.yaml sft.py --model_name_or_path \
               Qwen/Qwen3-8B --per_device_train_batch_size 1 --gradient_accumulation_steps 8 \
               --max_length 16384\n";
    has(
        &read(&[("fsdp.yaml", file), ("run.sh", run)]),
        "num_devices=16 tensor_model_parallel_size=2 context_parallel_size=2 framework=fsdp \
         num_distributed_optimizer_instances=2 global_batch_size=32 seq_length=16384 \
         data_parallel_sharding_strategy=optim_grads_params recompute_granularity=full",
    );
}

/// A number of FSDP's strategy isn't ZeRO's of the same number: 1 is the full shard.
#[test]
fn fsdp_s_strategies_have_numbers_of_their_own() {
    let read = |strategy: &str| {
        let file = format!(
            "distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: {strategy}\n\
             num_machines: 1\nnum_processes: 8\n"
        );
        let run = "accelerate launch --config_file f.yaml x.py --model_name_or_path Qwen/Qwen3-8B";
        read(&[("f.yaml", &file), ("run.sh", run)])
    };
    has(&read("1"), "data_parallel_sharding_strategy=optim_grads_params");
    has(&read("2"), "data_parallel_sharding_strategy=optim_grads");
    has(&read("SHARD_GRAD_OP"), "data_parallel_sharding_strategy=optim_grads");
}

/// After `examples/train_full/qwen3_full_sft.yaml` and `examples/deepspeed` of
/// hiyouga/LLaMA-Factory.
const FACTORY: &str = "### model\nmodel_name_or_path: Qwen/Qwen2.5-7B-Instruct\n\n### method\n\
                       stage: sft\ndo_train: true\nfinetuning_type: full\n\
                       deepspeed: examples/deepspeed/ds_z2_offload_config.json\n\n### dataset\n\
                       dataset: identity,alpaca_en_demo\ntemplate: qwen\ncutoff_len: 16384\n\
                       packing: true\n\n### train\nper_device_train_batch_size: 2\n\
                       gradient_accumulation_steps: 4\nbf16: true\n";

#[test]
fn a_file_that_is_not_there_says_its_stage_by_its_name_and_that_is_told() {
    let run = "NNODES=2 NPROC_PER_NODE=8 llamafactory-cli train sft.yaml\n";
    let import = read(&[("run.sh", run), ("sft.yaml", FACTORY)]);
    has(
        &import,
        "num_devices=16 data_parallel_sharding_strategy=optim_grads swap_modules=optimizer \
         seq_length=16384 micro_batch_size=2 global_batch_size=128 recompute_granularity=full \
         num_layers=28",
    );
    let told = |detail: &str| import.assumed.iter().any(|it| it.detail.contains(detail));
    assert!(
        told("ds_z2_offload_config.json isn't there: its name says ZeRO stage 2"),
        "{import:?}"
    );
    // The file itself wins over its name.
    let own = "{\"bf16\": {\"enabled\": \"auto\"}, \"zero_optimization\": {\"stage\": 3}, \
               \"train_micro_batch_size_per_gpu\": \"auto\"}";
    let files = [("run.sh", run), ("sft.yaml", FACTORY), ("ds_z2_offload_config.json", own)];
    let import = read(&files);
    has(&import, "data_parallel_sharding_strategy=optim_grads_params swap_modules=none");
    has(&import, "micro_batch_size=2 precision=bf16");
    assert!(import.ignored.iter().any(|it| it.reason.starts_with("auto")), "{import:?}");
}

#[test]
fn a_file_that_is_not_there_and_says_nothing_by_its_name_is_asked_for() {
    let text = FACTORY.replace("ds_z2_offload_config.json", "own.json");
    let import = on_eight(&[("sft.yaml", &text)]);
    let question = &import.questions[0];
    assert_eq!(question.name, "parallel.data_parallel_sharding_strategy");
    assert!(question.purpose.contains("own.json") && question.guess.is_none(), "{question:?}");
}

#[test]
fn adapters_are_trained_where_a_trainer_trains_them_without_being_told() {
    let lora = FACTORY.replace("finetuning_type: full\n", "");
    has(&on_eight(&[("sft.yaml", &lora)]), "lora_rank=8");
    has(&on_eight(&[("sft.yaml", FACTORY)]), "lora_rank=none");
    let swift = "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen3-8B --max_length 4096\n";
    has(&read(&[("run.sh", swift)]), "lora_rank=8 num_devices=8 global_batch_size=16");
    let trl = "accelerate launch --num_processes 8 sft.py --model_name_or_path Qwen/Qwen3-8B \
               --max_length 2048 --use_peft --load_in_4bit --lora_target_modules all-linear\n";
    let import = read(&[("run.sh", trl)]);
    has(&import, "lora_rank=16 micro_batch_size=8 global_batch_size=64");
    assert!(import.assumed.iter().any(|it| it.detail.contains("quantized")), "{import:?}");
    // What no knob says is refused.
    let frozen = FACTORY.replace("finetuning_type: full", "finetuning_type: freeze");
    let import = on_eight(&[("sft.yaml", &frozen)]);
    assert!(import.design.is_none() && import.errors[0].detail.contains("freeze"), "{import:?}");
}

/// After `examples/qwen2/` and `docs/multi-gpu.qmd` of axolotl-ai-cloud/axolotl.
#[test]
fn axolotl_s_file_shards_by_its_section_and_cuts_sequences() {
    let file = "base_model: Qwen/Qwen2.5-14B\ndatasets:\n  - path: own/data\n    type: alpaca\n\
                sequence_len: 8192\nsample_packing: true\ncontext_parallel_size: 2\n\
                gradient_accumulation_steps: 4\nmicro_batch_size: 1\noptimizer: adamw_torch_fused\n\
                bf16: auto\ntf32: true\ngradient_checkpointing: true\nflash_attention: true\n\
                fsdp_version: 2\nfsdp_config:\n  offload_params: false\n  \
                reshard_after_forward: true\n";
    let run = "torchrun --nnodes 2 --nproc_per_node 8 -m axolotl.cli.train qwen.yml\n";
    has(
        &read(&[("qwen.yml", file), ("run.sh", run)]),
        "num_devices=16 context_parallel_size=2 context_parallel_algo=p2p seq_length=8192 \
         global_batch_size=32 data_parallel_sharding_strategy=optim_grads_params framework=fsdp \
         recompute_granularity=full precision=bf16 swap_modules=none num_layers=48",
    );
}

/// After `examples/scripts/train_sft.sh` of OpenRLHF/OpenRLHF.
#[test]
fn openrlhf_s_batch_is_the_whole_and_its_ring_cuts_sequences() {
    let run = "deepspeed --num_gpus 8 --module openrlhf.cli.train_sft --max_len 4096 \
               --dataset own/data --train_batch_size 256 --micro_train_batch_size 2 \
               --pretrain meta-llama/Meta-Llama-3-8B --zero_stage 3 --ring_attn_size 2 --bf16 \
               --gradient_checkpointing --packing_samples\n";
    let import = read(&[("run.sh", run)]);
    has(
        &import,
        "num_devices=8 global_batch_size=256 micro_batch_size=2 context_parallel_size=2 \
         context_parallel_algo=p2p data_parallel_sharding_strategy=optim_grads_params \
         framework=deepspeed seq_length=4096 recompute_granularity=full",
    );
    assert_eq!(asked(&import), [""; 0]);
}

/// After `examples/pytorch/language-modeling` of huggingface/transformers and `train.py` of
/// tatsu-lab/stanford_alpaca.
#[test]
fn words_of_training_arguments_shard_by_fsdp() {
    let run = "torchrun --nproc_per_node=8 --nnodes=2 train.py --model_name_or_path \
               huggyllama/llama-13b --per_device_train_batch_size 4 \
               --gradient_accumulation_steps 4 \
               --model_max_length 2048 --fsdp \"full_shard auto_wrap offload\" --tf32 True \
               --bf16 True --evaluation_strategy no --optim adamw_bnb_8bit\n";
    let import = import(Format::detect(run), run, None);
    has(
        &import,
        "num_devices=16 framework=fsdp data_parallel_sharding_strategy=optim_grads_params \
         swap_modules=optimizer global_batch_size=256 seq_length=2048 hidden_size=5120 \
         recompute_granularity=none optimizer=adam",
    );
    assert!(import.assumed.iter().any(|it| it.detail.contains("8 bits or 4")), "{import:?}");
    assert_eq!(import.unknown, []);
}

/// `--deepspeed` of a trainer has nothing to do with the interval of Megatron-DeepSpeed's experts.
#[test]
fn a_flag_of_one_dialect_is_no_word_of_another() {
    let run = |more: &str| {
        format!(
            "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen3-30B-A3B --tuner_type full \
             --max_length 4096 {more}\n"
        )
    };
    for flag in [
        "--deepspeed zero3",
        "--deepspeed ds_z3.json",
        "--deepspeed '{\"zero_optimization\
                  \": {\"stage\": 3}}'",
    ] {
        let import = read(&[("run.sh", &run(flag))]);
        has(
            &import,
            "moe_router_topk=8 moe_layer_freq=1 num_moe_experts=128 num_devices=8 \
             data_parallel_sharding_strategy=optim_grads_params",
        );
        assert_eq!(import.violations, [], "{flag}");
    }
    // Words of Megatron's aren't a trainer's.
    let import = read(&[("run.sh", &run("--hidden_size 64 --expert_interval 2"))]);
    has(&import, "hidden_size=2048 moe_layer_freq=1");
    let unknown: Vec<&str> = import.unknown.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(unknown, ["--hidden-size", "--expert-interval"]);
    // A comment about a trainer makes no dialect of a text.
    let megatron = "# as in LLaMA-Factory: cutoff_len 8192\npython pretrain_gpt.py --num-layers 4 \
                    --hidden-size 512 --num-attention-heads 8 --vocab-size 1024 --seq-length 256 \
                    --micro-batch-size 1 --global-batch-size 8 --bf16\n";
    has(&import_text(megatron), "num_layers=4 hidden_size=512 lora_rank=none");
}

fn import_text(text: &str) -> Import {
    import(Format::detect(text), text, None)
}

#[test]
fn what_names_no_model_is_refused_with_what_was_not_read() {
    let text = "torchrun --nproc_per_node 8 --nnodes 1 train.py --foo 3 --bar_baz 4 $ARGS \
                --tensor-model-parallel-size 2 --micro-batch-size 1\n";
    let import = import_text(text);
    assert!(import.design.is_none());
    let detail = &import.errors[0].detail;
    for word in ["--foo", "--bar-baz", "ARGS", "model"] {
        assert!(detail.contains(word), "{word}: {detail}");
    }
    // The question is there, once, and without a guess.
    assert_eq!(asked(&import).iter().filter(|name| **name == "model").count(), 1);
    assert!(!asked(&import).contains(&"transformer.num_layers"));
    assert!(import.questions.iter().all(|it| it.name != "model" || it.guess.is_none()));
    let answers = Answers { model: Some("qwen3-8b".to_owned()), ..Answers::default() };
    let answered = interchange::import_with(Format::detect(text), text, None, &answers);
    has(&answered, "num_layers=36 tensor_model_parallel_size=2");
    let answers = Answers { model: Some("qwen3-9b".to_owned()), ..Answers::default() };
    let wrong = interchange::import_with(Format::detect(text), text, None, &answers);
    assert!(wrong.errors[0].detail.contains("no model is called `qwen3-9b`"), "{wrong:?}");
}

#[test]
fn a_part_of_a_model_s_name_is_not_taken_for_the_model() {
    let named = |name: &str| {
        import_text(&format!("NPROC_PER_NODE=8 megatron sft --model {name} --max_length 4096"))
    };
    has(&named("deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"), "num_layers=64 num_moe_experts=none");
    for name in ["own/DeepSeek-R1-Distill-Own-9B", "deepseek_v3_13b", "Qwen/Qwen3-VL-8B-Instruct"] {
        let import = named(name);
        assert!(import.design.is_none(), "{name}: {:?}", import.assumed);
        assert_eq!(asked(&import)[0], "model", "{name}");
    }
    // A word that nothing explains is asked about; the design has the guess.
    let import = named("own/Qwen3-8B-gsm8k");
    has(&import, "num_layers=36");
    let question = &import.questions[0];
    assert_eq!((question.name.as_str(), question.guess.as_deref()), ("model", Some("qwen3-8b")));
    assert!(question.purpose.contains("gsm8k"), "{question:?}");
}

/// Accelerate's file may name DeepSpeed's, which says the stage.
#[test]
fn a_file_is_read_that_another_file_names() {
    let accelerate = "distributed_type: DEEPSPEED\ndeepspeed_config:\n  deepspeed_config_file: \
                      ds/zero2.json\n  zero3_init_flag: false\nnum_machines: 2\n\
                      num_processes: 16\n";
    let engine = "{\"zero_optimization\": {\"stage\": 2, \"offload_optimizer\": {\"device\": \
                  \"cpu\"}}, \"train_batch_size\": \"auto\"}";
    let run = "accelerate launch --config_file acc.yaml train.py --model_name_or_path \
               Qwen/Qwen2.5-72B --per_device_train_batch_size 1 --max_seq_length 4096 --bf16 \
               --gradient_accumulation_steps 2 --optim adafactor\n";
    let import = read(&[("acc.yaml", accelerate), ("ds/zero2.json", engine), ("run.sh", run)]);
    has(
        &import,
        "num_devices=16 data_parallel_sharding_strategy=optim_grads swap_modules=optimizer \
         global_batch_size=32 framework=deepspeed",
    );
    // An optimizer that isn't known is asked for, not taken for another.
    assert_eq!(asked(&import), ["training.optimizer"]);
}

/// DeepSpeed's `train_batch_size` is that of all devices, as its launcher counts them.
#[test]
fn deepspeed_s_batch_is_that_of_all_devices() {
    let engine = "{\"train_batch_size\": 512, \"train_micro_batch_size_per_gpu\": 4, \
                  \"zero_optimization\": {\"stage\": 1}, \"bf16\": {\"enabled\": true}}";
    let run = "deepspeed --hostfile hosts --num_nodes 4 --num_gpus 8 train.py --deepspeed_config \
               ds.json --model_name_or_path meta-llama/Llama-3.1-8B --max_len 8192\n";
    has(
        &read(&[("ds.json", engine), ("run.sh", run)]),
        "num_devices=32 global_batch_size=512 micro_batch_size=4 seq_length=8192 \
         data_parallel_sharding_strategy=optim framework=deepspeed",
    );
}

/// Source: huggingface/trl `trl/trainer/base_config.py`, `gradient_checkpointing`.
#[test]
fn trl_recomputes_all_layers_without_being_told_and_the_trainer_below_it_none() {
    let words =
        "--model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2 --max_length 4096";
    let trl = format!("accelerate launch --num_processes 8 trl/scripts/sft.py {words}");
    let own = format!("accelerate launch --num_processes 8 train.py {words}");
    for (script, recomputed) in [
        (format!("trl sft {words}"), "full"),
        (trl.clone(), "full"),
        (format!("{trl} --gradient_checkpointing false"), "none"),
        (own, "none"),
    ] {
        let values = format!("micro_batch_size=2 recompute_granularity={recomputed}");
        has(&on_eight(&[("run.sh", &script)]), &values);
    }
}

/// Sources: DeepSpeed `runtime/zero/config.py:overlap_comm_valid`; ms-swift
/// `swift/config/zero3.json`; OpenRLHF `openrlhf/utils/deepspeed/deepspeed_utils.py`.
#[test]
fn zero_reduces_gradients_beside_the_backward_in_stage_three_or_where_it_is_told() {
    let train = "deepspeed --num_gpus 8 train.py --model_name_or_path Qwen/Qwen3-8B \
                 --per_device_train_batch_size 2 --max_length 4096 --bf16 true --deepspeed ds.json";
    let file =
        |stage: u32, told: &str| format!("{{\"zero_optimization\":{{\"stage\":{stage}{told}}}}}");
    for (stage, told, on) in [
        (2, "", false),
        (2, ",\"overlap_comm\":true", true),
        (3, "", true),
        (3, ",\"overlap_comm\":false", false),
    ] {
        let import = read(&[("run.sh", train), ("ds.json", &file(stage, told))]);
        has(&import, &format!("framework=deepspeed overlap_grad_reduce={on}"));
    }
    let swift =
        "NPROC_PER_NODE=8 swift sft --model Qwen/Qwen3-8B --max_length 4096 --deepspeed zero3";
    has(&read(&[("run.sh", swift)]), "framework=deepspeed overlap_grad_reduce=false");
    let rlhf = "deepspeed --num_gpus 8 --module openrlhf.cli.train_sft --pretrain Qwen/Qwen3-8B \
                --max_len 2048 --micro_train_batch_size 2 --train_batch_size 64";
    let values = "framework=deepspeed data_parallel_sharding_strategy=optim_grads";
    has(&read(&[("run.sh", rlhf)]), &format!("{values} overlap_grad_reduce=false"));
    let told = format!("{rlhf} --overlap_comm");
    has(&read(&[("run.sh", &told)]), &format!("{values} overlap_grad_reduce=true"));
    let ddp = train.replace("--deepspeed ds.json", "");
    has(&read(&[("run.sh", &ddp)]), "overlap_grad_reduce=true");
}

/// Source: axolotl `src/axolotl/utils/schemas/config.py`.
#[test]
fn a_recomputed_layer_s_inputs_may_wait_elsewhere() {
    for word in ["true", "offload", "offload_disk", "unsloth"] {
        let text = format!(
            "base_model: Qwen/Qwen3-8B\nsequence_len: 4096\nmicro_batch_size: 2\nbf16: true\n\
             attn_implementation: flash_attention_4\ngradient_checkpointing: {word}\n"
        );
        let import = on_eight(&[("config.yaml", &text)]);
        assert_eq!(import.unknown, [], "{word}");
        has(&import, "recompute_granularity=full");
    }
}

/// Source: huggingface/accelerate `src/accelerate/commands/launch.py`, `--zero_stage` and
/// `--parallelism_config_cp_comm_strategy`.
#[test]
fn accelerate_shards_by_stage_two_and_gathers_keys_without_being_told() {
    let words = "train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2 \
                 --max_length 4096";
    let launch = "accelerate launch --num_processes 8";
    for (options, values) in [
        ("--use_deepspeed", "framework=deepspeed data_parallel_sharding_strategy=optim_grads"),
        (
            "--use_deepspeed --zero_stage 3",
            "framework=deepspeed data_parallel_sharding_strategy=optim_grads_params",
        ),
        ("--use_fsdp --parallelism_config_cp_size 2", "context_parallel_algo=allgather"),
        (
            "--use_fsdp --parallelism_config_cp_size 2 --parallelism_config_cp_comm_strategy \
             alltoall",
            "context_parallel_algo=p2p",
        ),
    ] {
        has(&read(&[("run.sh", &format!("{launch} {options} {words}"))]), values);
    }
}

/// After volcengine/verl, `examples/sft/gsm8k` and `tests/special_e2e/sft`.
#[test]
fn verl_s_fine_tuning_shards_by_fsdp_unless_its_engine_cuts_layers() {
    let old = "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer \
               data.train_batch_size=64 data.micro_batch_size_per_gpu=2 data.max_length=2048 \
               model.partial_pretrain=Qwen/Qwen2.5-0.5B-Instruct ulysses_sequence_parallel_size=2";
    let import = interchange::import(Format::detect(old), old, None);
    assert_eq!(import.dialect, "verl's fine-tuning with FSDP");
    let design = import.design.unwrap();
    assert_eq!(design.training.global_batch_size, 64);
    assert_eq!(
        design.get(KnobId::data_parallel_sharding_strategy).to_string(),
        "optim_grads_params"
    );
    let megatron = "torchrun --nnodes=1 --nproc_per_node=8 -m verl.trainer.sft_trainer \
                    model.path=Qwen/Qwen3-8B engine.tensor_model_parallel_size=4 \
                    engine.pipeline_model_parallel_size=2";
    let design = interchange::import(Format::detect(megatron), megatron, None).design.unwrap();
    assert_eq!(design.parallel.tensor_model_parallel_size, 4);
    assert_eq!(design.get(KnobId::data_parallel_sharding_strategy).to_string(), "optim");
    assert_eq!(design.training.seq_length, 1024, "as its own configuration has it");
}
