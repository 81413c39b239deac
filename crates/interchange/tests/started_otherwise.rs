//! Runs that start in other ways: through schedulers of clouds, containers, sessions and lists of
//! pairs, on machines of other makers, and with words of launchers in the run's own file.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{Answers, Bundle, Format, Import, import};
use model::design::KnobId;

fn read(text: &str) -> Import {
    import(Format::detect(text), text, None)
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
        let id = name.contains('.').then(|| KnobId::find(name).unwrap());
        let is_it = |knob: &&KnobId| knob.id().split_once('.').is_some_and(|id| id.1 == name);
        let knob = id.unwrap_or_else(|| *KnobId::ALL.iter().find(is_it).unwrap());
        assert_eq!(design.get(knob).to_string(), value, "{name} in {:?}", import.set);
    }
}

/// A model of 13 billions in Megatron-LM's words.
const MODEL: &str = "--num-layers 40 --hidden-size 5120 --ffn-hidden-size 13824 \
                     --num-attention-heads 40 --swiglu --vocab-size 32000 --seq-length 4096 \
                     --micro-batch-size 1 --global-batch-size 64 --bf16";

#[test]
fn a_list_of_pairs_has_a_value_for_each_key() {
    // After the tables of sizes in scripts of llm-jp and of Megatron-LM's `run_*.sh`.
    let text = format!(
        "declare -A CFG=([tp]=2 [\"pp\"]=4)\ndeclare -A SIZE\nSIZE[13b]=40\nNAME=13b\n\
         LIST=(x y)\nLIST[1]=8\nI=1\n\
         printf -v PAR -- '--tensor-model-parallel-size %d' ${{CFG[tp]}}\n\
         torchrun --nproc-per-node ${{LIST[$I]}} --nnodes 2 pretrain_gpt.py $PAR {MODEL} \
         --pipeline-model-parallel-size ${{CFG[pp]}} --num-layers ${{SIZE[$NAME]}}\n"
    );
    let import = read(&text);
    has(
        &import,
        "tensor_model_parallel_size=2 pipeline_model_parallel_size=4 num_layers=40 num_devices=16",
    );
    assert_eq!(asked(&import), [""; 0]);
}

#[test]
fn a_launcher_without_python_has_its_processes_on_one_node() {
    for inner in ["python pretrain_gpt.py", "nsys profile -o out python pretrain_gpt.py"] {
        let text = format!(
            "torchrun --nproc_per_node 8 --no-python bash -c '{inner} {MODEL} \
             --tensor-model-parallel-size 2'"
        );
        has(&read(&text), "num_devices=8 tensor_model_parallel_size=2 num_layers=40");
    }
}

#[test]
fn tasks_with_a_device_each_leave_a_node_as_many_as_its_tasks() {
    let text = format!(
        "#!/bin/bash\n#SBATCH --ntasks=32\n#SBATCH --gpus-per-task=1\n\
         #SBATCH --ntasks-per-node=4\nsrun --ntasks=$SLURM_NTASKS python pretrain_gpt.py {MODEL}\n"
    );
    has(&read(&text), "num_devices=32 devices_per_node=4");
}

#[test]
fn a_session_or_container_may_be_called_as_the_program_it_runs() {
    for start in [
        "tmux new-session -d -s vllm \"vllm serve Qwen/Qwen3-8B --tensor-parallel-size 4\"",
        "docker run --name vllm --gpus all vllm/vllm-openai:latest --model Qwen/Qwen3-8B -tp 4",
        "IMAGE=\"${IMAGE:-vllm/vllm-openai:v0.10.0}\"\nsudo docker run --gpus '\"device=0,1\"' \
         $IMAGE --model Qwen/Qwen3-8B -tp 4",
    ] {
        let import = read(start);
        assert_eq!(import.format, Format::Serving, "{start}");
        has(&import, "serving.tensor_parallel_size=4 num_devices=4 num_layers=36");
    }
}

#[test]
fn a_command_in_an_option_of_a_cloud_s_scheduler_is_the_run() {
    // After MaxText's `docs/run_maxtext/run_maxtext_via_xpk.md`, and PAI's `dlc submit`.
    let train = "python3 -m MaxText.train src/MaxText/configs/base.yml model_name=llama3.1-70b \
                 per_device_batch_size=4 max_target_length=8192 ici_fsdp_parallelism=64 \
                 remat_policy=full";
    for start in [
        "xpk workload create --cluster c --workload w --tpu-type=v5p-128 --num-slices=1",
        "gcloud compute tpus tpu-vm ssh name --worker=all --zone z",
    ] {
        let import = read(&format!("{start} --command=\"{train}\"\n"));
        has(&import, "num_layers=80 seq_length=8192 micro_batch_size=4 num_devices=64");
        assert_eq!(asked(&import), ["cluster.accelerator"], "{start}");
    }
    let text = format!(
        "runai submit job -g 8 -i image -- torchrun --nproc_per_node 8 --nnodes 1 \
         pretrain_gpt.py {MODEL} --tensor-model-parallel-size 2\n"
    );
    has(&read(&text), "num_devices=8 tensor_model_parallel_size=2");
}

#[test]
fn cards_without_a_profile_are_asked_for() {
    for start in [
        "#!/bin/bash\n#SBATCH --gres=gpu:l40s:8\n",
        "# on 8 x RTX4090\n",
        "docker run --device=/dev/kfd --device=/dev/dri img \\\n ",
        "podman run rocm630/megatron \\\n ",
    ] {
        let import = read(&format!("{start}torchrun --nproc_per_node 8 --nnodes 1 p.py {MODEL}\n"));
        assert_eq!(asked(&import), ["cluster.accelerator"], "{start}");
        assert_eq!(import.questions[0].guess, None);
    }
}

#[test]
fn flags_of_mindspeed_alone_say_that_it_runs_on_ascend() {
    let text = format!(
        "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py {MODEL} \
         --pipeline-model-parallel-size 4 --num-layer-list 9,10,10,11\n"
    );
    let import = read(&text);
    assert_eq!(import.format, Format::Mindspeed);
    has(&import, "accelerator=ascend-910b3 framework=mindspeed");
}

#[test]
fn megatron_deepspeed_shards_as_its_stage_says() {
    // After `examples_deepspeed/pretrain_llama2_distributed.sh` of Megatron-DeepSpeed.
    let text = format!(
        "ZERO_STAGE=1\nds_args=\" --deepspeed --deepspeed_config=ds.json\"\n\
         ds_args=\" --zero-stage=$ZERO_STAGE ${{ds_args}}\"\n\
         deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py {MODEL} $ds_args\n"
    );
    has(&read(&text), "data_parallel_sharding_strategy=optim num_devices=16");
}

#[test]
fn gpt_neox_says_its_machine_in_the_words_of_deepspeed_s_launcher() {
    // After `configs/` of EleutherAI/gpt-neox; `num_nodes: -1` is every host.
    let text = "\"num_gpus\": 8\n\"num_nodes\": 2\n\"pipe_parallel_size\": 1\n\
                \"model_parallel_size\": 2\n\"num_layers\": 32\n\"hidden_size\": 4096\n\
                \"num_attention_heads\": 32\n\"seq_length\": 2048\n\
                \"train_micro_batch_size_per_gpu\": 4\n\"gas\": 8\n";
    has(&read(text), "num_devices=16 micro_batch_size=4 global_batch_size=256");
    let import = read(&text.replace("\"num_nodes\": 2", "\"num_nodes\": -1"));
    assert_eq!(import.errors, []);
}

#[test]
fn layers_of_another_kind_in_lists_of_lists_are_refused() {
    // After `configs/mamba/mamba-130M.yml` of EleutherAI/gpt-neox.
    let text = "\"pipe_parallel_size\": 1\n\"num_layers\": 24\n\"hidden_size\": 1024\n\
                \"num_attention_heads\": 16\n\"attention_config\": [[[\"mamba\"], 24]]\n";
    let import = read(text);
    assert!(import.errors.iter().any(|error| error.key == "--attention-config"));
}

#[test]
fn a_trainer_s_own_file_says_which_trainer_a_script_is() {
    // After `examples/accelerate/fsdp_config.yaml` of hiyouga/LLaMA-Factory.
    let files = [
        ("run.sh", "accelerate launch --config_file fsdp.yaml src/train.py examples/qwen.yaml\n"),
        (
            "fsdp.yaml",
            "distributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n\
             mixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n",
        ),
        (
            "examples/qwen.yaml",
            "model_name_or_path: Qwen/Qwen2.5-72B-Instruct\nstage: sft\ndo_train: true\n\
             finetuning_type: full\ncutoff_len: 4096\nper_device_train_batch_size: 1\n\
             gradient_accumulation_steps: 8\nbf16: true\n",
        ),
    ];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    let import = Bundle::new(files.into()).unwrap().import(None, None, None, &Answers::default());
    has(
        &import,
        "seq_length=4096 num_devices=16 global_batch_size=128 num_layers=80 \
         recompute_granularity=full data_parallel_sharding_strategy=optim_grads_params",
    );
    assert_eq!(asked(&import), [""; 0]);
}

#[test]
fn calls_within_a_call_give_their_arguments() {
    // After `examples/conversion` and `tutorials` of NVIDIA-NeMo/Megatron-Bridge.
    let text = "from megatron.bridge import AutoBridge\n\
                model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-8B\").to_megatron_provider()\n\
                model.seq_length = 8192\n\
                cfg = ConfigContainer(model=model, train=TrainingConfig(global_batch_size=128, \
                micro_batch_size=2, train_iters=100))\n";
    has(&read(text), "global_batch_size=128 micro_batch_size=2 num_layers=36");
}

#[test]
fn a_family_and_a_size_are_a_recipe_s_name_in_parts() {
    // After `scripts/performance/README.md` of NVIDIA-NeMo/Megatron-Bridge, release 0.2.
    let text = "python scripts/performance/setup_experiment.py --model_name qwen3 --model_size \
                30b_a3b --gpu h100 --num_gpus 16 --seq_length 4096 -ep 8 -mb 1 -gb 512\n";
    has(&read(text), "num_layers=48 num_moe_experts=128 num_devices=16");
}

#[test]
fn what_differs_by_layer_under_a_key_that_isn_t_known_is_refused() {
    let config = |more: &str| {
        format!(
            "{{\"architectures\":[\"SomeForCausalLM\"],\"model_type\":\"some\",\
             \"hidden_size\":4096,\
             \"intermediate_size\":14336,\"num_attention_heads\":32,\"num_hidden_layers\":4,\
             \"vocab_size\":32000,\"hidden_act\":\"silu\"{more}}}"
        )
    };
    for (key, more) in [
        ("window_sizes", ",\"window_sizes\":[512,-1,512,-1]"),
        ("mixer_types", ",\"mixer_types\":[\"a\",\"b\",\"b\",\"a\"]"),
        ("total_ut_steps", ",\"total_ut_steps\":4"),
        ("dense_attention_every_n_layers", ",\"dense_attention_every_n_layers\":2"),
        ("word_embed_proj_dim", ",\"word_embed_proj_dim\":512"),
    ] {
        let import = import(Format::HuggingFace, &config(more), None);
        assert!(import.errors.iter().any(|error| error.key == key), "{key}: {:?}", import.errors);
    }
    // What is alike in all layers, or of another length, says nothing of one of them.
    for more in [",\"widths\":[8,8,8,8]", ",\"sizes\":[1,2]", ",\"word_embed_proj_dim\":4096"] {
        assert_eq!(import(Format::HuggingFace, &config(more), None).errors, [], "{more}");
    }
}

#[test]
fn a_name_that_says_another_model_is_no_guess() {
    for name in [
        "zai-org/GLM-4.5V",
        "bigscience/bloomz-7b1",
        "jingyaogong/MiniMind2",
        "deepseek-ai/DeepSeek-Math-V2",
        "AngelSlim/Qwen3-8B_eagle3",
        "microsoft/Phi-4-multimodal-instruct",
        "nvidia/Mistral-NeMo-Minitron-8B-Base",
    ] {
        let import = read(&format!("vllm serve {name} --tensor-parallel-size 8\n"));
        assert!(asked(&import).contains(&"model"), "{name}");
        assert_eq!(import.questions[0].guess, None, "{name}");
    }
    // One that says it is still one.
    let import = read("vllm serve Qwen/Qwen3-8B-FP8 --tensor-parallel-size 8\n");
    has(&import, "num_layers=36");
}

#[test]
fn nemo_automodel_s_recipe_is_read_by_its_sections() {
    // After `examples/llm_finetune/llama3_2/*.yaml` of NVIDIA-NeMo/Automodel.
    let text = "model:\n  pretrained_model_name_or_path: meta-llama/Llama-3.2-3B\n\
                step_scheduler:\n  global_batch_size: 64\n  local_batch_size: 8\n\
                distributed:\n  strategy: fsdp2\n  dp_size: none\n  tp_size: 2\n  cp_size: 1\n\
                validation_dataset:\n  batch_size: 4\npacked_sequence:\n  \
                packed_sequence_size: 4096\n";
    let knobs = vec![(KnobId::num_devices, "8".to_owned())];
    let answers = Answers { knobs, ..Answers::default() };
    let import = interchange::import_with(Format::detect(text), text, None, &answers);
    has(
        &import,
        "tensor_model_parallel_size=2 micro_batch_size=8 global_batch_size=64 seq_length=4096 \
         data_parallel_sharding_strategy=optim_grads_params framework=fsdp num_layers=28",
    );
}

#[test]
fn devices_of_other_makers_in_a_manifest_or_a_variable_are_asked_for() {
    for start in ["export RCCL_MSCCL_ENABLE=0\n", "export ZE_AFFINITY_MASK=0\n"] {
        let import = read(&format!("{start}torchrun --nproc_per_node 8 --nnodes 1 p.py {MODEL}\n"));
        assert_eq!(asked(&import), ["cluster.accelerator"], "{start}");
    }
    let text = format!(
        "apiVersion: batch/v1\nkind: Job\nspec:\n  parallelism: 2\n  template:\n    spec:\n      \
         containers:\n      - command: [\"bash\", \"-c\"]\n        args:\n        - torchrun \
         --nproc_per_node 8 --nnodes 2 p.py {MODEL}\n        resources:\n          \
         limits:\n            \
         amd.com/gpu: 8\n"
    );
    assert_eq!(asked(&read(&text)), ["cluster.accelerator"]);
}

#[test]
fn verl_s_fine_tuning_is_read_with_what_its_file_sets() {
    // After `examples/sft/gsm8k/run_qwen_05_sp2.sh` of volcengine/verl.
    let text = "torchrun --standalone --nnodes=1 --nproc_per_node=8 \\\n \
                -m verl.trainer.fsdp_sft_trainer \\\n data.train_files=x data.max_length=2048 \\\n \
                data.train_batch_size=128 data.micro_batch_size_per_gpu=4 \\\n \
                model.partial_pretrain=Qwen/Qwen2.5-7B ulysses_sequence_parallel_size=2\n";
    has(
        &read(text),
        "num_layers=28 num_devices=8 seq_length=2048 global_batch_size=128 micro_batch_size=4 \
         context_parallel_size=2 recompute_granularity=full framework=fsdp \
         data_parallel_sharding_strategy=optim_grads_params",
    );
}
