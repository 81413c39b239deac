//! Words of frameworks around Megatron-Core and beside it: uneven pipelines, recipes by their
//! names, meshes, and accelerators that have no profile.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{Format, Import, import};
use model::design::KnobId;

fn read(text: &str) -> Import {
    import(Format::detect(text), text, None)
}

/// Reads a text that is a design of these values and breaks no rule.
#[track_caller]
fn has(text: &str, values: &str) -> Import {
    let import = read(text);
    assert_eq!(import.errors, [], "{text}");
    let design = import.design.as_ref().unwrap();
    for setting in values.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        let knob = KnobId::find(name).unwrap();
        assert_eq!(design.get(knob).to_string(), value, "{name} of {text}");
    }
    assert_eq!(import.violations, [], "{text}");
    import
}

/// Layers of each chunk of a design's layout.
#[track_caller]
fn layers(import: &Import) -> Vec<usize> {
    let design = import.design.as_ref().unwrap();
    let layout = design.parallel.pipeline_model_parallel_layout.as_ref().unwrap();
    layout.chunks.iter().map(|chunk| chunk.matches('t').count()).collect()
}

fn asked(import: &Import) -> Vec<&str> {
    import.questions.iter().map(|question| question.name.as_str()).collect()
}

/// After verl's examples of Qwen3-235B-A22B with Megatron (volcengine/verl,
/// `examples/grpo_trainer`).
const VERL: &str = "python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer \
    data.max_prompt_length=2048 data.max_response_length=6144 \
    actor_rollout_ref.model.path=Qwen/Qwen3-235B-A22B actor_rollout_ref.rollout.n=4 \
    actor_rollout_ref.actor.ppo_mini_batch_size=32 trainer.nnodes=8 trainer.n_gpus_per_node=8 \
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 \
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=8 \
    actor_rollout_ref.actor.megatron.expert_tensor_parallel_size=1 \
    actor_rollout_ref.actor.megatron.expert_model_parallel_size=4 ";

/// `expert_tensor_parallel_size` is null in verl's configuration of Megatron, and Megatron-Core
/// then takes that of TP.
#[test]
fn experts_of_verl_with_megatron_are_split_by_tp_unless_they_are_told_otherwise() {
    let etp = "actor_rollout_ref.actor.megatron.expert_tensor_parallel_size=";
    let fewer = VERL.replace("pipeline_model_parallel_size=8", "pipeline_model_parallel_size=2");
    for (told, split) in [("1", 1), ("2", 2), ("null", 4)] {
        let script = fewer.replace(&format!("{etp}1"), &format!("{etp}{told}"));
        has(&script, &format!("expert_tensor_parallel_size={split}"));
    }
    has(&fewer.replace(&format!("{etp}1"), ""), "expert_tensor_parallel_size=4");
}

#[test]
fn fields_of_megatron_core_are_read_in_the_section_that_overrides_them() {
    let over = "+actor_rollout_ref.actor.megatron.override_transformer_config.";
    let both = format!(
        "{VERL}{over}account_for_embedding_in_pipeline_split=True \
         {over}account_for_loss_in_pipeline_split=True"
    );
    let import = has(&both, "num_layers=94 num_devices=64 framework=megatron");
    assert_eq!(layers(&import), [11, 12, 12, 12, 12, 12, 12, 11]);
    assert_eq!(import.unknown, []);
    let ends = format!(
        "{VERL}{over}num_layers_in_first_pipeline_stage=5 \
         {over}num_layers_in_last_pipeline_stage=5"
    );
    assert_eq!(layers(&has(&ends, "num_layers=94")), [5, 14, 14, 14, 14, 14, 14, 5]);
    let lists = format!(
        "{}{over}pipeline_model_parallel_layout='[[embedding,decoder,decoder],[decoder,loss]]'",
        VERL.replace("pipeline_model_parallel_size=8", "pipeline_model_parallel_size=2")
    );
    let import = read(&format!("{lists} {over}num_layers=3"));
    assert_eq!(layers(&import), [2, 1]);
}

/// After verl's examples with FSDP (volcengine/verl, `examples/grpo_trainer/run_qwen3*.sh`).
#[test]
fn verl_shards_its_actor_as_fsdp_does_unless_megatron_is_named() {
    let text = "python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 \
                data.max_response_length=7168 actor_rollout_ref.model.path=Qwen/Qwen3-32B \
                actor_rollout_ref.actor.strategy=fsdp2 actor_rollout_ref.rollout.n=8 \
                actor_rollout_ref.actor.ppo_mini_batch_size=128 \
                actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
                actor_rollout_ref.actor.ulysses_sequence_parallel_size=4 \
                actor_rollout_ref.actor.fsdp_config.fsdp_size=16 \
                actor_rollout_ref.rollout.tensor_model_parallel_size=4 \
                trainer.nnodes=4 trainer.n_gpus_per_node=8";
    let values = "framework=fsdp parallel.tensor_model_parallel_size=1 context_parallel_size=4 \
                  context_parallel_algo=a2a num_distributed_optimizer_instances=2 \
                  data_parallel_sharding_strategy=optim_grads_params num_devices=32 \
                  recompute_granularity=full global_batch_size=1024";
    assert_eq!(has(text, values).dialect, "verl with FSDP");
    let off = format!("{text} actor_rollout_ref.model.enable_gradient_checkpointing=False");
    has(&off, "recompute_granularity=none");
}

/// After NVIDIA-NeMo/RL, `examples/configs/recipes/llm`.
const NEMO_RL: &str = "policy:\n  model_name: deepseek-ai/DeepSeek-V3\n  \
    max_total_sequence_length: 4096\n  train_global_batch_size: 512\n  \
    train_micro_batch_size: 1\n  dtensor_cfg:\n    enabled: false\n    tensor_parallel_size: 8\n  \
    megatron_cfg:\n    enabled: true\n    pipeline_model_parallel_size: 16\n    \
    expert_model_parallel_size: 16\n    num_layers_in_first_pipeline_stage: 3\n    \
    num_layers_in_last_pipeline_stage: 2\n  generation:\n    backend: vllm\n    vllm_cfg:\n      \
    tensor_parallel_size: 32\n      precision: fp8\n    vllm_kwargs:\n      \
    speculative_config: {method: mtp, num_speculative_tokens: 1}\n\
    cluster: {gpus_per_node: 8, num_nodes: 32}\n";

#[test]
fn nemo_rl_is_read_by_the_trainer_that_runs() {
    let import = has(
        NEMO_RL,
        "num_devices=256 seq_length=4096 global_batch_size=512 precision=bf16 \
         parallel.pipeline_model_parallel_size=16 parallel.tensor_model_parallel_size=1",
    );
    assert_eq!(asked(&import), [""; 0]);
    assert_eq!(layers(&import), [3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2]);
    let other = NEMO_RL.replace("enabled: true", "enabled: off").replace("false", "true");
    let import = read(&other.replace("enabled: off", "enabled: false"));
    assert_eq!(import.dialect, "NeMo-RL with DTensor");
    let design = import.design.unwrap();
    assert_eq!(design.parallel.tensor_model_parallel_size, 8);
    assert_eq!(design.parallel.pipeline_model_parallel_size, 1);
}

#[test]
fn what_a_recipe_extends_may_say_which_trainer_runs() {
    let text = "defaults: grpo_math_70B_megatron.yaml\npolicy:\n  model_name: Qwen/Qwen3-32B\n  \
                megatron_cfg:\n    tensor_model_parallel_size: 4\ncluster: {num_nodes: 2, \
                gpus_per_node: 8}\n";
    let import = read(text);
    assert_eq!(import.dialect, "NeMo-RL");
    assert_eq!(import.design.unwrap().parallel.tensor_model_parallel_size, 4);
    assert_eq!(import.unknown, []);
}

#[test]
fn stages_of_a_model_that_is_asked_for_are_no_fault_of_the_guess() {
    let text = "torchrun --nproc_per_node 8 --nnodes 4 pretrain.py \
                --model-name-or-path own/Qwen3-30B-A3B-Made \
                --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 --seq-length 4096 \
                --micro-batch-size 1 --decoder-first-pipeline-num-layers 1 \
                --decoder-last-pipeline-num-layers 2";
    let import = read(text);
    assert_eq!(import.errors, []);
    assert!(asked(&import).contains(&"model"));
    assert!(import.ignored.iter().any(|it| it.reason.contains("of the guess")));
}

/// After bigscience-workshop/bigscience, `train/tr11-176B-ml`.
#[test]
fn megatron_deepspeed_balances_its_stages_by_what_it_is_told_to_count() {
    let text = |method: &str, stages: u64, more: &str| {
        format!(
            "pretrain_gpt.py --pp-partition-method {method} --num-layers 70 --hidden-size 8192 \
             --num-attention-heads 64 --seq-length 2048 --vocab-size 50304 --bf16 \
             --nnodes {stages} --nproc_per_node 8 --tensor-model-parallel-size 4 \
             --micro-batch-size 1 \
             --pipeline-model-parallel-size {stages} --global-batch-size 64 {more}"
        )
    };
    let tied = read(&text("'type:transformer|embedding'", 12, ""));
    assert_eq!(layers(&tied), [5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5]);
    assert_eq!(tied.violations, []);
    let untied = "--untie-embeddings-and-output-weights";
    let import = read(&text("'type:transformer|embedding'", 12, untied));
    assert_eq!(layers(&import)[0], 5, "the head isn't an embedding then");
    let even = read(&text("type:transformer", 10, ""));
    assert!(even.design.unwrap().parallel.pipeline_model_parallel_layout.is_none());
    let uneven = read(&text("type:transformer", 12, ""));
    assert_eq!(uneven.violations, []);
    assert_eq!(layers(&uneven).iter().sum::<usize>(), 70);
    let wide = text("parameters", 10, "").replace("50304", "250880");
    let weighed = layers(&read(&wide));
    assert!(weighed[0] < weighed[5], "{weighed:?}");
    assert!(read(&text("profile", 10, "")).errors[0].detail.contains("uniform"));
}

/// After Megatron-LM's tests of `account_for_embedding_in_pipeline_split`, and MindSpeed's
/// `docs/features/unaligned-pipeline.md`.
#[test]
fn ends_that_count_as_layers_and_stages_of_any_size_make_a_layout() {
    let text = |more: &str| {
        format!(
            "torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py --num-layers 62 --hidden-size \
             4096 --num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 \
             --global-batch-size 128 --tensor-model-parallel-size 2 --vocab-size 32000 --bf16 \
             --pipeline-model-parallel-size 8 {more}"
        )
    };
    let both = "--num-virtual-stages-per-pipeline-rank 2 \
                --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split";
    let counts = layers(&has(&text(both), "virtual_pipeline_model_parallel_size=2"));
    assert_eq!((counts[0], counts[1], counts[15]), (3, 4, 3));
    let unaligned = "--pipeline-num-transformer-layers [[7],[8],[8],[8],[8],[8],[8],[7]]";
    assert_eq!(layers(&has(&text(unaligned), "num_layers=62")), [7, 8, 8, 8, 8, 8, 8, 7]);
    let wrong = read(&text("--pipeline-num-transformer-layers [[7],[8]]"));
    assert!(wrong.errors[0].key.contains("pipeline-num-transformer-layers"));
}

/// After pytorch/torchtitan, `torchtitan/models/deepseek_v3/train_configs/deepseek_v3_671b.toml`.
#[test]
fn torchtitan_shares_layers_out_by_its_ends_or_by_lists_of_modules() {
    let text = |more: &str| {
        format!(
            "[model]\nname = \"deepseek_v3\"\nflavor = \"671B\"\n[training]\nseq_len = 4096\n\
             local_batch_size = 8\n[parallelism]\ndata_parallel_shard_degree = 16\n\
             pipeline_parallel_degree = 4\npipeline_parallel_schedule = \"1F1B\"\n{more}"
        )
    };
    let import = has(&text(""), "num_layers=61 mtp_num_layers=0");
    assert_eq!(layers(&import), [15, 16, 16, 14]);
    assert!(import.assumed.iter().any(|it| it.detail.contains("less for the embedding")));
    let less = text("pipeline_parallel_first_stage_less_layers = 0\n");
    assert_eq!(layers(&has(&less, "num_layers=61")), [16, 16, 15, 14]);
    let modules = |from: u64, to: u64| {
        let names: Vec<String> = (from..to).map(|it| format!("\"layers.{it}\"")).collect();
        names.join(", ")
    };
    let lists = format!(
        "module_fqns_per_model_part = [[\"tok_embeddings\", {}], [{}],\n [{}], [{}, \"norm\", \
         \"output\"]]\n",
        modules(0, 14),
        modules(14, 31),
        modules(31, 47),
        modules(47, 61)
    );
    assert_eq!(layers(&has(&text(&lists), "num_layers=61")), [14, 17, 16, 14]);
}

/// After pytorch/torchtitan, `run_train.sh` and `torchtitan/models/llama3/config_registry.py`.
#[test]
fn torchtitan_s_registry_of_configurations_names_the_model() {
    let command = "torchrun --nnodes 16 --nproc_per_node 8 -m torchtitan.train --module llama3 \
                   --config llama3_70b --parallelism.tensor_parallel_degree 8 \
                   --training.local_batch_size 2 --training.seq_len 8192";
    let import = has(command, "num_layers=80 num_devices=128 micro_batch_size=2 framework=fsdp");
    assert_eq!(import.unknown, []);
    let python = "from torchtitan.trainer import Trainer\n\ndef llama3_70b() -> \
                  Trainer.Config:\n    return Trainer.Config(\n        \
                  training=TrainingConfig(local_batch_size=8, \
                  seq_len=8192),\n        parallelism=ParallelismConfig(\n            \
                  tensor_parallel_degree=8,\n        ),\n        \
                  activation_checkpoint=ActivationCheckpointConfig(mode=\"full\"),\n    )\n";
    has(
        python,
        "num_layers=80 micro_batch_size=8 seq_length=8192 recompute_granularity=full \
         parallel.tensor_model_parallel_size=8",
    );
}

/// After NVIDIA-NeMo/Megatron-Bridge, `scripts/training/run_recipe.py` and `scripts/performance`.
#[test]
fn a_recipe_s_name_is_its_model_s_and_its_settings_are_said_to_be_elsewhere() {
    let text = "torchrun --nnodes 16 --nproc_per_node 8 scripts/training/run_recipe.py --recipe \
                qwen3_235b_a22b_pretrain_config model.tensor_model_parallel_size=4 \
                model.pipeline_model_parallel_size=8 model.expert_model_parallel_size=4 \
                train.global_batch_size=512 train.micro_batch_size=1 model.seq_length=4096";
    let import = has(text, "num_layers=94 num_devices=128 global_batch_size=512");
    assert!(import.assumed.iter().any(|it| it.detail.contains("aren't in the text")));
    assert_eq!(layers(&import)[0], 11, "the embedding counts as a layer");
    let other = read(&text.replace("qwen3_235b_a22b", "qwen3_235b_a22b_proxy"));
    assert!(asked(&other).contains(&"model"), "a proxy is another model");
    let measured = "python scripts/performance/setup_experiment.py --account a --partition batch \
                    -m qwen -mr qwen3_30b_a3b -g gb200 -ng 64 -gn 4 -c fp8_mx -tp 1 -pp 1 -ep 8 \
                    -mb 4 -gb 512";
    has(
        measured,
        "num_layers=48 num_devices=64 accelerator=gb200 precision=mxfp8 micro_batch_size=4 \
         expert_model_parallel_size=8 global_batch_size=512",
    );
    // `_set_recompute_overrides` of its scripts/performance/utils/overrides.py.
    let layers = read(&format!("{measured} -rl 6 -ms 50 -hf token"));
    assert_eq!(layers.unknown, []);
    has(
        &format!("{measured} -rl 6"),
        "recompute_granularity=full recompute_method=block recompute_num_layers=6",
    );
    let modules = format!("{measured} --recompute_modules moe_act,layernorm");
    has(&modules, "recompute_granularity=selective recompute_modules=moe_act,layernorm");
}

/// After NVIDIA/NeMo, `nemo/collections/llm/recipes` and the user guide of NeMo-Run.
#[test]
fn a_recipe_of_nemo_is_named_by_its_factory_or_its_module() {
    let command = "nemo llm pretrain --factory \"llama3_70b(num_nodes=16, num_gpus_per_node=8)\" \
                   trainer.strategy.tensor_model_parallel_size=4 data.global_batch_size=512";
    has(command, "num_layers=80 num_devices=128 global_batch_size=512");
    let python = "import nemo_run as run\nfrom nemo.collections import llm\n\ndef \
                  configure_recipe():\n    recipe = llm.llama31_405b.pretrain_recipe(\n        \
                  name=\"a\", num_nodes=72, num_gpus_per_node=8,\n    )\n    \
                  recipe.trainer.strategy.tensor_model_parallel_size = 8\n    \
                  recipe.data.global_batch_size = 288\n    return recipe\n";
    has(python, "num_layers=126 num_devices=576 parallel.tensor_model_parallel_size=8");
}

/// After NVIDIA-NeMo/Megatron-Bridge, `src/megatron/bridge/recipes/deepseek/deepseek_v3.py`.
#[test]
fn a_model_on_the_hub_names_the_shape_of_a_recipe_and_lists_its_stages() {
    let text = "from megatron.bridge import AutoBridge\nHF_PATH = \"deepseek-ai/DeepSeek-V3\"\n\n\
                def deepseek_pretrain_256gpu_config():\n    cfg = _pretrain_common()\n    \
                cfg.model = AutoBridge.from_hf_pretrained(HF_PATH, trust_remote_code=True)\n    \
                cfg.model.pipeline_model_parallel_size = 4\n    \
                cfg.model.expert_model_parallel_size = 64\n    \
                cfg.model.pipeline_model_parallel_layout = [\n        [\"embedding\"] + \
                [\"decoder\"] * 15,\n        [\"decoder\"] * 16,\n        [\"decoder\"] * 16,\n\
                \x20       [\"decoder\"] * 14 + [\"mtp\", \"loss\"],\n    ]\n    \
                cfg.train.global_batch_size = 4096\n    return cfg\n";
    let import = has(text, "num_layers=61 num_devices=256 global_batch_size=4096");
    assert_eq!(layers(&import), [15, 16, 16, 14]);
}

/// After NVIDIA-NeMo/Megatron-Bridge, `docs/recipe-usage.md`.
#[test]
fn a_script_that_takes_a_recipe_has_the_recipe_s_model() {
    let text = "from megatron.bridge.recipes.llama import llama31_70b_pretrain_config\n\n\
                if __name__ == \"__main__\":\n    config = llama31_70b_pretrain_config()\n    \
                config.model.tensor_model_parallel_size = 8\n    \
                config.train.global_batch_size = 128\n    config.model.seq_length = 8192\n";
    let import = has(text, "num_layers=80 parallel.tensor_model_parallel_size=8");
    assert!(import.assumed.iter().any(|it| it.detail.contains("aren't in the text")));
    let own = "from megatron.bridge import AutoBridge\n\ndef base_pretrain_config():\n    \
               cfg.model = AutoBridge.from_hf_pretrained(\"Qwen/Qwen3-8B\")\n    return cfg\n\ndef \
               wide_pretrain_config():\n    cfg = base_pretrain_config()\n    \
               cfg.model.tensor_model_parallel_size = 2\n    return cfg\n";
    let import = read(own);
    assert_eq!(import.design.unwrap().transformer.num_layers, 36);
}

/// After AMD-AGI/Primus, `examples/maxtext/configs`, and a launcher's own YAML.
#[test]
fn names_that_only_we_have_for_knobs_set_none_in_a_text_of_others() {
    let text = "experiment:\n  method: pretrain\n  framework: megatron\n  timing: true\n  planner: \
                slurm\nmodel:\n  num_layers: 32\n  hidden_size: 4096\n  num_attention_heads: 32\n  \
                num_moe_experts: 8\n  seq_length: 4096\n  micro_batch_size: 1\n  \
                global_batch_size: 64\n  skew: 3\n";
    let import = has(text, "num_moe_experts=8 framework=megatron method=1f1b");
    assert_eq!(asked(&import), ["cluster.num_devices"]);
    let unknown: Vec<&str> = import.unknown.iter().map(|it| it.key.as_str()).collect();
    assert_eq!(unknown, ["--method", "--framework", "--timing", "--planner", "--skew"]);
    let primus = "modules:\n  pre_trainer:\n    framework: maxtext\n    model: mixtral_8x7B.yaml\n\
                  \x20   \
                  overrides:\n      per_device_batch_size: 4\n      max_target_length: 4096\n";
    assert!(!asked(&read(primus)).contains(&"kernel.framework"));
}

/// After EleutherAI/gpt-neox, `configs/125M-dmoe.yml`.
#[test]
fn experts_of_neox_stand_in_every_so_many_layers() {
    let text = |more: &str| {
        format!(
            "{{\"pipe_parallel_size\": 1, \"model_parallel_size\": 1, \"num_layers\": 16, \
             \"hidden_size\": 1024, \"num_attention_heads\": 16, \"seq_length\": 2048, \
             \"zero_optimization\": {{\"stage\": 1}}, {more} \
             \"train_micro_batch_size_per_gpu\": 4}}"
        )
    };
    let every = "\"moe_num_experts\": 16, \"moe_top_k\": 2,";
    has(&text(every), "num_moe_experts=16 moe_router_topk=2 moe_layer_freq=1");
    let second = "\"moe_num_experts\": 64, \"moe_expert_interval\": 2,";
    has(&text(second), "num_moe_experts=64 moe_router_topk=1 moe_layer_freq=2");
    has(&text("\"moe_num_experts\": 1, \"moe_top_k\": 1,"), "num_moe_experts=none");
}

/// After AI-Hypercomputer/maxtext, `src/maxtext/configs/models/deepseek2-16b.yml`.
#[test]
fn maxtext_s_models_have_latents_and_shared_experts() {
    let text = "base_emb_dim: 2048\nbase_num_query_heads: 16\nbase_num_kv_heads: 16\n\
                base_num_decoder_layers: 27\nbase_mlp_dim: 10944\nbase_moe_mlp_dim: 1408\n\
                vocab_size: 102400\nnum_experts: 64\nnum_experts_per_tok: 6\nshared_experts: 2\n\
                first_num_dense_layers: 1\nattention_type: \"mla\"\nq_lora_rank: 0\n\
                kv_lora_rank: 512\nqk_nope_head_dim: 128\nqk_rope_head_dim: 64\nv_head_dim: 128\n\
                decoder_block: \"deepseek\"\nmlp_activations: [\"silu\",\"linear\"]\n";
    let import = has(
        text,
        "multi_latent_attention=true q_lora_rank=none num_moe_experts=64 \
         moe_shared_expert_intermediate_size=2816 gated_linear_unit=true",
    );
    assert_eq!(import.unknown, []);
    let plain = text.replace("[\"silu\",\"linear\"]", "[\"gelu\"]");
    has(&plain, "gated_linear_unit=false");
}

/// After AI-Hypercomputer/maxtext, `src/maxtext/configs/models`.
#[test]
fn maxtext_s_models_are_known_by_its_own_names() {
    for (name, values) in [
        ("kimi-k2-1t", "num_layers=61 num_moe_experts=384"),
        ("deepseek4-284b", "num_layers=43 num_moe_experts=256 moe_router_topk=6"),
        ("qwen3-480b-a35b", "num_layers=62 num_moe_experts=160"),
        ("olmo3-7b-pt", "num_layers=32 window_size=4096 window_attn_skip_freq=4"),
    ] {
        let text = format!(
            "python3 -m maxtext.trainers.pre_train.train maxtext/configs/base.yml \
             model_name={name} per_device_batch_size=1 max_target_length=4096 \
             ici_fsdp_parallelism=64"
        );
        has(&text, values);
    }
}

/// After AI-Hypercomputer/maxtext, `README.md` and `end_to_end/tpu`.
#[test]
fn maxtext_s_mesh_says_how_many_devices_share_what() {
    let text = |words: &str| {
        format!("python3 -m maxtext.trainers.pre_train.train maxtext/configs/base.yml {words}")
    };
    let slices = "model_name=mixtral-8x7b per_device_batch_size=4 max_target_length=4096 \
                  ici_fsdp_parallelism=8 dcn_data_parallelism=2 remat_policy=full";
    has(
        &text(slices),
        "num_layers=32 num_devices=16 micro_batch_size=4 global_batch_size=64 framework=fsdp \
         num_distributed_optimizer_instances=2 recompute_granularity=full",
    );
    let tensor = "model_name=llama3.1-70b per_device_batch_size=2 max_target_length=8192 \
                  ici_fsdp_parallelism=64 ici_tensor_parallelism=4 remat_policy=none hardware=gpu";
    let import = has(
        &text(tensor),
        "num_devices=256 micro_batch_size=8 global_batch_size=512 recompute_granularity=none",
    );
    assert!(!asked(&import).contains(&"cluster.accelerator"), "it says that it isn't a TPU");
}

/// After AMD-AGI/Primus, `examples/megatron/configs/MI300X`; AWS' guide of NxD Training; Google's
/// guide of TPU v5p; Cambricon's fork of Megatron-LM.
#[test]
fn an_accelerator_without_a_profile_is_asked_for_without_a_guess() {
    let plain = "torchrun --nproc_per_node 8 train.py --num-layers 16 --hidden-size 2048 \
                 --num-attention-heads 16 --seq-length 4096 --micro-batch-size 1";
    let primus = "work_group: amd\nexp_name: llama3.1_8B-pretrain\nmodules:\n  pre_trainer:\n    \
                  framework: megatron\n    model: llama3.1_8B.yaml\n    overrides:\n      \
                  micro_batch_size: 2\n      seq_length: 8192\n";
    for text in [
        primus.to_owned(),
        format!("# MI355X\n{plain}"),
        format!("export HIP_VISIBLE_DEVICES=0,1,2,3\n{plain}"),
        format!("export NEURON_CC_FLAGS=--model-type=transformer\n{plain}"),
        format!("hl-smi -Q name\n{plain}"),
        format!("gcloud create --accelerator-type=v5p-256\n{plain}"),
        format!("export MLU_VISIBLE_DEVICES=0,1\n{plain}"),
        format!("docker run rocm/megatron-lm\n{plain}"),
    ] {
        let import = read(&text);
        let asked = import.questions.iter().find(|it| it.name == "cluster.accelerator");
        assert!(asked.is_some_and(|it| it.guess.is_none()), "{text}: {:?}", import.questions);
    }
    assert!(!asked(&read(plain)).contains(&"cluster.accelerator"));
    let accelerate = format!("tpu_env: []\ntpu_use_cluster: false\n{plain}");
    assert!(!asked(&read(&accelerate)).contains(&"cluster.accelerator"));
}

/// After Ascend/MindSpeed-LLM, `examples/fsdp2/qwen3_moe` and `examples/mcore/deepseek4_flash`.
#[test]
fn what_runs_on_ascend_alone_has_a_device_of_ascend() {
    let text = "model:\n  model_id: qwen3_moe\n  model_name_or_path: ./Qwen3-30B-A3B\ndata:\n  \
                cutoff_len: 8192\nparallel:\n  fsdp_modules:\n    - model.layers.{*}\n  recompute: \
                True\ntraining:\n  stage: pt\n  optimizer: fused_adamw\n";
    has(text, "accelerator=ascend-910b3 framework=mindspeed flash_attention=true optimizer=adam");
    let v4 = "python pretrain_gpt.py --use-mcore-models --noop-layers 3 --num-layers 4 \
              --hidden-size 4096 --num-attention-heads 64 --multi-latent-attention \
              --enable-dsa-indexer --compress-ratios 0 0 4 --sliding-window-size 128 \
              --seq-length 8192 --micro-batch-size 1 --loss-compute-mode chunk --loss-chunk-size \
              2048 --position-embedding-type deepseek4 --bf16";
    let design = read(v4).design.unwrap();
    let ratios = design.get(KnobId::attention_compress_ratios).to_string();
    assert!(ratios.contains("[0]*2") && ratios.contains('4'), "{ratios}");
    assert_eq!(design.get(KnobId::loss_chunks).to_string(), "4");
    assert_eq!(design.get(KnobId::experimental_attention_variant).to_string(), "none");
    assert_eq!(design.get(KnobId::position_embedding_type).to_string(), "rope");
}

/// After Ascend/MindSpeed-LLM, `examples/mcore/pangu_pro_moe`, and Megatron-LM's arguments.
#[test]
fn router_groups_of_which_none_are_left_out_have_no_effect() {
    let text = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 1024 \
                --num-attention-heads 16 --seq-length 2048 --micro-batch-size 1 --num-experts 64 \
                --moe-router-topk 8 --moe-router-num-groups 8 --bf16";
    let import = has(text, "moe_router_num_groups=none");
    assert!(import.ignored.iter().any(|it| it.key == "--moe-router-num-groups"));
    let kept = format!("{text} --moe-router-group-topk 4");
    has(&kept, "moe_router_num_groups=8 moe_router_group_topk=4");
}

/// After AI-Hypercomputer/maxtext, `configs/models`, and marin-community/levanter, `config`.
#[test]
fn frameworks_on_jax_name_models_and_stages_by_words_of_their_own() {
    let text = "python3 MaxText/train.py MaxText/configs/base.yml model_name=deepseek2-16b \
                per_device_batch_size=1 max_target_length=4096 ici_fsdp_parallelism=8";
    has(text, "num_layers=27 q_lora_rank=none num_devices=8 mtp_num_layers=0");
    let stages = "python3 MaxText/train.py MaxText/configs/base.yml model_name=llama3.1-70b \
                  per_device_batch_size=1 max_target_length=4096 ici_pipeline_parallelism=4 \
                  ici_fsdp_parallelism=8 num_layers_per_pipeline_stage=4";
    has(
        stages,
        "virtual_pipeline_model_parallel_size=5 parallel.pipeline_model_parallel_size=4 \
         num_devices=32 micro_batch_size=1 global_batch_size=32",
    );
    let levanter = "model:\n  type: llama\n  hidden_dim: 4096\n  intermediate_dim: 14336\n  \
                    num_layers: 32\n  num_heads: 32\n  num_kv_heads: 8\n  seq_len: 4096\n\
                    trainer:\n  train_batch_size: 1024\n  per_device_parallelism: 4\n";
    has(
        levanter,
        "num_layers=32 ffn_hidden_size=14336 num_query_groups=8 seq_length=4096 \
         global_batch_size=1024 micro_batch_size=4 framework=fsdp",
    );
}

#[test]
fn fields_of_megatron_core_mean_the_same_in_a_text_of_no_framework() {
    let text = "model:\n  num_layers: 32\n  hidden_size: 4096\n  num_attention_heads: 32\n  \
                gated_linear_unit: true\n  add_bias_linear: false\n  seq_length: 4096\n  \
                micro_batch_size: 1\n  global_batch_size: 64\n  pipeline_model_parallel_size: 4\n  \
                num_layers_in_first_pipeline_stage: 7\n  num_layers_in_last_pipeline_stage: 7\n";
    let import = has(text, "gated_linear_unit=true add_bias_linear=false");
    assert_eq!(layers(&import), [7, 9, 9, 7]);
}

/// After mindspore-lab/mindformers, `configs/glm4`: as many layers as a stage has a number.
#[test]
fn numbers_of_layers_that_stages_compute_again_are_read() {
    let text = "run_mode: 'finetune'\nparallel_config:\n  data_parallel: 2\n  model_parallel: 1\n  \
                pipeline_stage: 4\n  micro_batch_num: 8\nrunner_config:\n  batch_size: 1\n\
                recompute_config:\n  recompute: [6, 3, 2, 3]\nmodel:\n  model_config:\n    \
                type: x\n    seq_length: 4096\n    hidden_size: 4096\n    num_layers: 40\n    \
                num_heads: 32\n    vocab_size: 32000\n    intermediate_size: 11008\n";
    let design = read(text).design.unwrap();
    assert_eq!(design.get(KnobId::recompute_granularity).to_string(), "full");
    assert_eq!(design.get(KnobId::recompute_num_layers).to_string(), "6,3,2,3");
    let used = text.replace("'finetune'", "'predict'");
    assert!(read(&used).errors[0].to_string().contains("no step of training"));
}

/// After bigscience-workshop/bigscience, `train/tr13-mtf`: the stage stands beside the switch.
#[test]
fn megatron_deepspeed_s_stage_says_what_is_sharded() {
    let text = "torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers 30 \
                --hidden-size 4096 --num-attention-heads 32 --seq-length 2048 --micro-batch-size 1 \
                --global-batch-size 64 --fp16 --deepspeed --deepspeed_config ds.json \
                --zero-stage 1 --deepspeed-activation-checkpointing";
    let import = read(text);
    assert_eq!(import.dialect, "Megatron-DeepSpeed");
    assert_eq!(import.unknown, []);
    let design = import.design.unwrap();
    assert_eq!(design.get(KnobId::data_parallel_sharding_strategy).to_string(), "optim");
}

#[test]
fn a_recipe_s_name_says_its_precision_where_nothing_else_does() {
    let text = "torchrun --nnodes 8 --nproc_per_node 8 scripts/training/run_recipe.py --recipe \
                qwen3_30b_a3b_pretrain_mxfp8_config";
    let import = read(text);
    let design = import.design.unwrap();
    assert_eq!(design.get(KnobId::precision).to_string(), "mxfp8");
    assert!(import.assumed.iter().any(|it| it.knob == Some(KnobId::precision)));
}

/// Source: torchtitan `config/job_config.py`, later `config/configs.py`.
#[test]
fn torchtitan_gathers_keys_for_parts_of_sequences_without_being_told() {
    let text = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\n\
                local_batch_size = 1\nseq_len = 8192\n[parallelism]\ncontext_parallel_degree = 4\n";
    has(text, "context_parallel_size=4 context_parallel_algo=allgather");
    let ring = format!("{text}context_parallel_rotate_method = \"alltoall\"\n");
    has(&ring, "context_parallel_size=4 context_parallel_algo=p2p");
}

/// Source: MindSpeed-LLM `mindspeed_llm/fsdp2/utils/arguments.py`, `cp_type`.
#[test]
fn mindspeed_s_fsdp2_may_gather_keys() {
    let text = "model:\n  model_name_or_path: Qwen/Qwen3-8B\ndata:\n  cutoff_len: 4096\n\
                parallel:\n  fsdp_size: 8\n  cp_size: 2\n  ep_fsdp_size: 1\n  cp_type: ring\n\
                training:\n  per_device_train_batch_size: 1\n";
    has(text, "context_parallel_size=2 context_parallel_algo=p2p");
    let all = text.replace("ring", "kvallgather");
    has(&all, "context_parallel_size=2 context_parallel_algo=allgather");
}

#[test]
fn an_accelerator_without_a_profile_is_no_assumption_once_it_is_answered() {
    let text = "work_group: amd\nexp_name: llama3.1_8B-MI300X\nmodules:\n  pre_trainer:\n    \
                framework: megatron\n    model: llama3.1_8B.yaml\n";
    let knob = KnobId::accelerator;
    assert!(read(text).assumed.iter().any(|it| it.knob == Some(knob)));
    let knobs = vec![(knob, "h200-sxm-141gb".to_owned())];
    let answers = interchange::Answers { knobs, ..Default::default() };
    let import = interchange::import_with(Format::detect(text), text, None, &answers);
    assert!(!import.assumed.iter().any(|it| it.knob == Some(knob)));
    assert!(!asked(&import).contains(&"cluster.accelerator"));
}
