//! Valid texts of every kind.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use interchange::{Provenance, Target, command, export};
use model::design::file::{self, Extent, json};
use model::design::link;
use model::design::{Design, KnobId};
use model::serving::ServingPlan;

const DATE: Provenance<'_> = Provenance { date: "2026-01-31" };

type Texts = Vec<Vec<u8>>;

fn texts(all: &[&str]) -> Texts {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn designs() -> Vec<Design> {
    let ids = ["llama-3-8b", "mixtral-8x7b", "deepseek-v3", "qwen3-next-80b-a3b"];
    ids.map(|id| Design::from_preset(id).unwrap()).to_vec()
}

fn exports(target: Target) -> Texts {
    designs().iter().map(|design| export(target, design, &DATE).text.into_bytes()).collect()
}

pub(super) fn models() -> Texts {
    texts(&[
        include_str!("../models/deepseek-v3.json"),
        include_str!("../models/gpt-oss-20b.json"),
        include_str!("../models/kimi-linear-48b-a3b.json"),
        include_str!("../models/nemotron-super-49b.json"),
        include_str!("../models/minimax-m3.json"),
        include_str!("../models/dbrx.json"),
        include_str!("../models/granite-4-h-small.json"),
        include_str!("../models/llama4-scout-native.json"),
        include_str!("../models/step-3.5-flash.json"),
    ])
}

pub(super) fn arguments() -> Texts {
    texts(&[
        "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32 \
         --group-query-attention --num-query-groups 8 --swiglu --seq-length 4096 --bf16 \
         --moe-layer-freq ([0]*3+[1]*29) --num-experts 8 --micro-batch-size 1",
        "--noop-layers 3,7 --num-layers 8 --hidden-size 512 --num-attention-heads 8 \
         --pipeline-model-parallel-size 4 --pipeline-model-parallel-layout 'Et*2|(t|)*5mL' \
         --recompute-num-layers 1 --recompute-granularity full --recompute-method block",
    ])
}

pub(super) fn scripts() -> Texts {
    let mut all = texts(&[
        include_str!("../scripts/deepseek_v3_a3.sh"),
        include_str!("../scripts/qwen3_235b_a3.sh"),
        "set -e\nLAYERS=${1:-8}\nif [[ $LAYERS -gt 4 ]]; then\n  PP=2\nelse\n  PP=1\nfi\n\
         for size in 512 1024; do HIDDEN=$size; done\ncase $PP in 2) TP=2;; *) TP=1;; esac\n\
         run() {\n  torchrun --nproc_per_node 8 x.py --num-layers $LAYERS \\\n\
         --hidden-size $HIDDEN --num-attention-heads $((HIDDEN / 64))\x20\
         --tensor-model-parallel-size $TP \"$@\"\n}\n\
         cat > extra.yaml <<EOF\nseq_length: $((LAYERS * 512))\nEOF\nrun --bf16 ${EXTRA:+--x}\n",
        include_str!("../scripts/slurm_container.sh"),
        include_str!("../scripts/pbs_mpiexec.sh"),
        include_str!("../scripts/handed_in.sh"),
    ]);
    all.extend(exports(Target::Megatron).into_iter().take(2));
    all
}

pub(super) fn yamls() -> Texts {
    let mut all = texts(&[
        include_str!("../scripts/mixtral_8x7b.yaml"),
        "base: &base\n  num_layers: 8\n  hidden_size: 512\nmodel:\n  <<: *base\n  \
         seq_length: ${oc.env:SEQ,4096}\n  ffn: ${.hidden_size}\n  list: [1, 2]\n",
        include_str!("../scripts/pytorch_job.yaml"),
    ]);
    all.extend(exports(Target::Mindformers));
    all.extend(exports(Target::Accelerate));
    all.extend(exports(Target::Deepspeed));
    all
}

/// A trainer's command with the files that start and shard it.
pub(super) fn trainers() -> Texts {
    texts(&[
        "==> run.sh <==\naccelerate launch --config_file acc.yaml --num_processes=16 sft.py \\\n  \
         job.yaml --gradient_accumulation_steps=4 --fsdp 'full_shard auto_wrap' \\\n  \
         --deepspeed '{\"zero_optimization\": {\"stage\": 2}}' --include localhost:0,1@b:2\n\
         ==> acc.yaml <==\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  \
         deepspeed_config_file: ds/zero3.json\n  zero_stage: 3\nnum_machines: 2\n\
         num_processes: 16\n==> job.yaml <==\nmodel_name_or_path: Qwen/Qwen3-30B-A3B-Base-2507\n\
         per_device_train_batch_size: 2\nmax_prompt_length: 512\nmax_completion_length: 1024\n\
         optim: adamw_8bit\nuse_peft: true\n",
        "==> sft.yaml <==\nmodel_name_or_path: own/DeepSeek-R1-Distill-Qwen2p5-7B-4layers-v2\n\
         stage: dpo\nfinetuning_type: lora\ndeepspeed: examples/ds_z2_offload.json\n\
         cutoff_len: 4096\nquantization_bit: 4\nper_device_train_batch_size: 1\n\
         ==> run.sh <==\nNNODES=2 NPROC_PER_NODE=8 llamafactory-cli train sft.yaml\n",
    ])
}

pub(super) fn tomls() -> Texts {
    exports(Target::Torchtitan)
}

pub(super) fn recipes() -> Texts {
    exports(Target::Bridge)
}

pub(super) fn overrides() -> Texts {
    texts(&[
        "python3 -m verl.trainer.main_ppo --config-name=ppo_megatron \\\n  \
         actor_rollout_ref.model.path=Qwen/Qwen3-30B-A3B \\\n  \
         actor_rollout_ref.actor.ppo_mini_batch_size=256 data.max_prompt_length=2048 \\\n  \
         data.max_response_length=8192 actor_rollout_ref.rollout.n=16 \\\n  \
         +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform \
         \\\n  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 trainer.nnodes=4 \
         trainer.n_gpus_per_node=8\n",
        "python -m megatron.training model.num_layers=8 model.hidden_size=512 ~x.y=1 +a.b=[1,2]\n",
    ])
}

pub(super) fn commands() -> Texts {
    let mut all = texts(&[
        "cat > o.yaml <<'END'\nenable_attention_dp: true\nkv_cache_config:\n  dtype: fp8\nEND\n\
         trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 16 --ep_size 16 \
         --extra_llm_api_options o.yaml\n",
        "vllm serve deepseek-ai/DeepSeek-V3 -tp 8 --data-parallel-size 4 --enable-expert-parallel \
         --speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 1}'\n",
    ]);
    for engine in ["vllm", "sglang", "tensorrt_llm", "mindie"] {
        let mut design = Design::from_preset("llama-3-8b").unwrap();
        design.set_text(KnobId::engine, engine).unwrap();
        all.push(command(&ServingPlan::new(&design).unwrap()).into_bytes());
    }
    all
}

pub(super) fn design_files() -> Texts {
    let whole = |design: &Design| json::print(&file::write(design, Extent::Full)).into_bytes();
    let mut all: Texts = designs().iter().map(whole).collect();
    all.extend(texts(&[
        "# design: /?v=1&preset=pangu-ultra-moe-6k\nschema = 1\npreset = \"pangu-ultra-moe-6k\"\n\n\
         [parallel]\nvirtual_pipeline_model_parallel_size = 1\nnoop_layers = [1, 2]\n\n\
         [memory]\nrecompute_modules = [\"mla_qkv\", \"moe_act\"]\n\n[training]\n\
         moe_expert_capacity_factor = 1.5\n",
    ]));
    all
}

pub(super) fn links() -> Texts {
    let mut design = Design::from_preset("deepseek-v3").unwrap();
    design.set_text(KnobId::pipeline_model_parallel_layout, "Et*3|(tt|)*29mL").unwrap();
    let old = "v=1&preset=deepseek-v3&tp=8&moe_layer_freq=(%5B0%5D*3%2B%5B1%5D*58)&noop_layers=1,2";
    vec![link::encode(&design).into_bytes(), old.as_bytes().to_vec()]
}

/// The head of a table and its first rows.
fn rows(text: &str) -> Texts {
    vec![text.lines().take(24).collect::<Vec<_>>().join("\n").into_bytes()]
}

pub(super) fn runs() -> Texts {
    rows(include_str!("../../../validation/runs/published_runs.csv"))
}

pub(super) fn serving_runs() -> Texts {
    rows(include_str!("../../../validation/runs/serving_runs.csv"))
}

pub(super) fn loads() -> Texts {
    texts(&[
        "step,layer,expert,tokens\n0,3,0,5\n0,3,1,3\n10,3,0,4\n10,3,1,4\n\
         layer,expert_a,expert_b,tokens\n3,0,1,2\n",
        "{\"steps\": 2, \"layers\": 1, \"experts\": 2, \"tokens\": [[[3, 5]], [[4, 4]]], \
         \"co_activation\": [{\"layer\": 0, \"expert_a\": 0, \"expert_b\": 1, \"tokens\": 2}]}",
        "[{\"step\": 9, \"layer\": 3, \"expert\": 1, \"tokens\": 5},\n\
         {\"step\": 9, \"layer\": 3, \"expert\": 0, \"tokens\": 5}]",
    ])
}

pub(super) fn patterns() -> Texts {
    texts(&[
        "task,layer,expert,tcess\nmath,3,0,0.25\nmath,3,1,0.75\ncode,3,0,1\n",
        "[{\"task\":\"math\",\"layer\":3,\"expert\":1,\"logit\":3},\n\
         {\"task\":\"code\",\"layer\":3,\"expert\":0,\"logit\":0.5}]",
    ])
}

pub(super) fn archives() -> Texts {
    let files: [(&str, &[u8]); 3] = [
        ("s/run.sh", include_bytes!("../scripts/qwen3_235b_a3.sh")),
        ("s/own.yaml", b"num_layers: 8\nhidden_size: 512\n"),
        ("s/config.json", include_bytes!("../models/qwen3-8b.json")),
    ];
    let tape = tar(&files);
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(&tape).unwrap();
    vec![stored(&files), encoder.finish().unwrap(), tape]
}

fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tape = vec![];
    for (name, data) in files {
        let mut head = [0_u8; 512];
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[124..135].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
        head[156] = b'0';
        head[257..262].copy_from_slice(b"ustar");
        tape.extend(head);
        tape.extend(*data);
        tape.resize(tape.len().div_ceil(512) * 512, 0);
    }
    tape.extend([0; 1024]);
    tape
}

/// A zip whose files aren't packed.
fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut bytes, mut directory) = (vec![], vec![]);
    for (name, data) in files {
        let at = bytes.len() as u32;
        let size = (data.len() as u32).to_le_bytes();
        let length = (name.len() as u16).to_le_bytes();
        bytes.extend(b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0");
        bytes.extend([size, size].concat());
        bytes.extend(length);
        bytes.extend([0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(*data);
        directory.extend(b"PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0\0\0\0\0\0\0");
        directory.extend([size, size].concat());
        directory.extend(length);
        directory.extend([0; 8]);
        directory.extend((0o100_644_u32 << 16).to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (at, count) = ((bytes.len() as u32).to_le_bytes(), (files.len() as u16).to_le_bytes());
    let size = (directory.len() as u32).to_le_bytes();
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([count, count].concat());
    bytes.extend(size);
    bytes.extend(at);
    bytes.extend([0, 0]);
    bytes
}
