//! Launch commands of inference engines.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use interchange::{
    Answers, Bundle, Format, Import, Provenance, command, export_command, import, import_with,
};
use model::catalogue::preset::Preset;
use model::design::{Design, KnobId};
use model::ground::choice::{Choice as _, Engine};
use model::serving::ServingPlan;
use proptest::prelude::*;
use testing::design::from_preset;

#[track_caller]
fn has(text: &str, values: &str) -> Import {
    assert_eq!(Format::detect(text), Format::Serving, "{text}");
    let import = import(Format::Serving, text, None);
    assert_eq!(import.errors, []);
    let design = import.design.as_ref().unwrap();
    for setting in values.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        let name = if name.contains('.') { name.to_owned() } else { format!("serving.{name}") };
        let knob = KnobId::find(&name).unwrap();
        assert_eq!(design.get(knob).to_string(), value, "{name}");
    }
    assert_eq!(import.violations, [], "{text}");
    import
}

const TEXTS: [(&str, &str); 6] = [
    (
        "export VLLM_USE_V1=1\nvllm serve deepseek-ai/DeepSeek-V3 -tp 8 --data-parallel-size \
         4 \\\n \
         --enable-expert-parallel --max-num-seqs 256 --max-num-batched-tokens 4096 --port \
         8000 \\\n \
         --gpu-memory-utilization 0.92 --quantization fp8 --kv-cache-dtype fp8 \\\n \
         --speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 1}'",
        "engine=vllm tensor_parallel_size=8 data_parallel_size=4 moe_expert_parallel_size=32 \
         max_num_seqs=256 max_num_batched_tokens=4096 gpu_memory_utilization=0.92 weight_dtype=fp8 \
         kv_cache_dtype=fp8 num_speculative_tokens=1 cluster.num_devices=32 \
         transformer.num_layers=61",
    ),
    (
        "python3 -m vllm.entrypoints.openai.api_server --model /w/Qwen3-32B \
         --tensor-parallel-size=4 \
         --max-model-len 4096 --enforce-eager",
        "engine=vllm tensor_parallel_size=4 graph_mode=none transformer.num_layers=64 \
         cluster.num_devices=4 input_length=1024",
    ),
    (
        "export ASCEND_RT_VISIBLE_DEVICES=0,1\nvllm serve vllm-ascend/DeepSeek-R1-W8A8 \\\n \
         --tensor-parallel-size 4 --data-parallel-size 4 --enable-expert-parallel \\\n \
         --quantization ascend --max-num-seqs 16",
        "engine=vllm_ascend weight_dtype=int8 moe_expert_parallel_size=16 tensor_parallel_size=4 \
         cluster.accelerator=ascend-910c",
    ),
    (
        "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp 32 --dp 32 \\\n \
         --enable-dp-attention --ep-size 32 --max-running-requests 4096 --mem-fraction-static \
         0.85 \\\n \
         --chunked-prefill-size 16384 --enable-two-batch-overlap --context-length 8192 \\\n \
         --speculative-algorithm EAGLE --speculative-num-steps 2 --speculative-eagle-topk 1",
        "engine=sglang tensor_parallel_size=1 data_parallel_size=32 moe_expert_parallel_size=32 \
         max_num_seqs=128 gpu_memory_utilization=0.85 two_batch_overlap=true \
         num_speculative_tokens=2 cluster.num_devices=32",
    ),
    (
        "cat > options.yaml <<'END'\nenable_attention_dp: true\nkv_cache_config:\n  dtype: fp8\n\
         speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3\nEND\n\
         trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 16 --ep_size 16 --max_batch_size 128 \\\n \
         --max_num_tokens 8192 --extra_llm_api_options options.yaml",
        "engine=tensorrt_llm tensor_parallel_size=1 data_parallel_size=16 \
         moe_expert_parallel_size=16 \
         max_num_seqs=128 kv_cache_dtype=fp8 num_speculative_tokens=3",
    ),
    (
        "{\"BackendConfig\": {\"ModelDeployConfig\": {\"maxSeqLen\": 4096, \"maxInputTokenLen\": \
         3072,\n\
         \"ModelConfig\": [{\"modelName\": \"deepseek-r1\", \"worldSize\": 32, \"tp\": 1, \"dp\": \
         32,\n\
         \"moe_tp\": 1, \"moe_ep\": 32, \"npuMemSize\": -1}]},\n\"ScheduleConfig\": \
         {\"maxBatchSize\": 64, \"maxPrefillTokens\": 8192}}}",
        "engine=mindie tensor_parallel_size=1 data_parallel_size=32 moe_expert_parallel_size=32 \
         weight_dtype=int8 \
         max_num_seqs=64 max_num_batched_tokens=8192 input_length=3072 output_length=1024",
    ),
];

#[test]
fn each_engine_s_command_sets_the_knobs_of_serving() {
    for (text, values) in TEXTS {
        has(text, values);
    }
}

#[test]
fn how_long_requests_are_is_asked_with_the_engine_s_limit() {
    let import = has(TEXTS[1].0, "");
    let asked: Vec<&str> = import.questions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(asked, ["serving.input_length", "serving.output_length"]);
    assert!(import.questions[0].purpose.contains("at most 4096"));
}

#[test]
fn no_argument_is_dropped_in_silence() {
    let text = "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 1 --frobnicate 3 --port 80";
    let import = has(text, "tensor_parallel_size=1");
    assert_eq!(import.unknown[0].key, "--frobnicate");
    assert!(import.ignored.iter().any(|ignored| ignored.key == "--port"));
}

/// Knobs of serving that the engine's command has no word for, or says where the design leaves
/// them to the engine.
fn unsaid(engine: &str) -> &'static str {
    match engine {
        "mindie" => {
            "gpu_memory_utilization moe_tensor_parallel_size kv_cache_dtype graph_mode \
             num_speculative_tokens two_batch_overlap enable_chunked_prefill"
        }
        "tensorrt_llm" => "two_batch_overlap graph_mode enable_chunked_prefill",
        _ => "",
    }
}

#[test]
fn the_command_that_is_written_comes_back_as_its_layout() {
    for settings in [
        "engine=vllm tensor_parallel_size=4 data_parallel_size=8 moe_expert_parallel_size=32 \
         max_num_seqs=64 gpu_memory_utilization=0.85 kv_cache_dtype=fp8 graph_mode=none",
        "engine=vllm tensor_parallel_size=4 data_parallel_size=8 moe_expert_parallel_size=32 \
         two_batch_overlap=true enable_chunked_prefill=false max_num_batched_tokens=16384",
        "engine=vllm_ascend data_parallel_size=32 moe_expert_parallel_size=32 weight_dtype=int8 \
         num_speculative_tokens=1",
        "engine=vllm tensor_parallel_size=32 experts_kept=128 experts_kept_topk=6",
        "engine=sglang tensor_parallel_size=4 data_parallel_size=8 moe_expert_parallel_size=32 \
         max_num_seqs=16 num_speculative_tokens=2 two_batch_overlap=true kv_cache_dtype=fp8",
        "engine=sglang tensor_parallel_size=32 experts_on_host=96 graph_mode=none",
        "engine=sglang tensor_parallel_size=32 experts_kept=128 experts_on_host=96 \
         enable_chunked_prefill=false max_num_batched_tokens=16384",
        "engine=tensorrt_llm data_parallel_size=32 moe_expert_parallel_size=32 \
         kv_cache_dtype=fp8 num_speculative_tokens=1",
        "engine=tensorrt_llm data_parallel_size=32 moe_expert_parallel_size=32 experts_on_host=64",
        "engine=mindie tensor_parallel_size=2 data_parallel_size=16 moe_expert_parallel_size=32 \
         max_num_seqs=32 experts_kept=192",
    ] {
        let mut base = Design::from_preset("deepseek-v3").unwrap();
        base.set_text(KnobId::num_devices, "32").unwrap();
        base.set_text(KnobId::weight_dtype, "fp8").unwrap();
        let mut design = base.clone();
        for setting in settings.split_whitespace() {
            let (name, value) = setting.split_once('=').unwrap();
            let knob = KnobId::find(&format!("serving.{name}")).unwrap();
            design.set_text(knob, value).unwrap();
        }
        let plan = ServingPlan::new(&design).unwrap_or_else(|why| panic!("{why:?}"));
        let text = command(&plan);
        assert_eq!(Format::detect(&text), Format::Serving, "{text}");
        let import = import(Format::Serving, &text, Some(&base));
        assert_eq!(import.errors, [], "{text}");
        assert_eq!(import.unknown, [], "{text}");
        let found = import.design.unwrap();
        let others = unsaid(design.serving.engine.name());
        for knob in KnobId::ALL.iter().filter(|knob| knob.id().starts_with("serving.")) {
            if !others.split_whitespace().any(|name| knob.id().ends_with(name)) {
                assert_eq!(found.get(*knob), design.get(*knob), "{}: {text}", knob.id());
            }
        }
    }
}

#[test]
fn an_engine_with_a_flag_for_experts_on_the_host_is_told_by_it() {
    let mut design = from_preset(
        "deepseek-v3",
        &[
            ("cluster.num_devices", "8"),
            ("serving.engine", "sglang"),
            ("serving.tensor_parallel_size", "8"),
            ("serving.weight_dtype", "fp8"),
            ("serving.experts_on_host", "192"),
        ],
    );
    let written = |design: &Design| command(&ServingPlan::new(design).unwrap());
    let text = written(&design);
    assert!(text.contains("--kt-num-gpu-experts 64"), "{text}");
    assert!(!text.contains('#'), "{text}");
    design.set_text(KnobId::engine, "vllm").unwrap();
    let text = written(&design);
    assert!(text.contains("# moescape: serving.experts_on_host=192"), "{text}");
}

#[test]
fn every_preset_of_serving_comes_back_from_its_engine_s_command() {
    let date = Provenance { date: "2026-01-31" };
    let mut count = 0;
    for preset in Preset::served() {
        for engine in Engine::NAMES {
            let mut design = preset.design();
            design.set_text(KnobId::engine, engine).unwrap();
            let Ok(plan) = ServingPlan::new(&design) else { continue };
            let export = export_command(&plan, &date);
            assert_eq!(Format::detect(&export.text), Format::Serving, "{}", export.text);
            let import = import(Format::Serving, &export.text, None);
            assert_eq!(import.errors, [], "{}", export.text);
            assert_eq!(import.unknown, [], "{}", export.text);
            assert_eq!(import.design.as_ref(), Some(&design), "{}", export.text);
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_command_with_pieces_cut_never_panics(
        row in 0..TEXTS.len(),
        at in 0..500_usize,
        length in 0..40_usize,
    ) {
        let mut text: Vec<char> = TEXTS[row].0.chars().collect();
        let at = at.min(text.len());
        let end = (at + length).min(text.len());
        text.drain(at..end);
        let _ = import(Format::Serving, &text.into_iter().collect::<String>(), None);
    }
}

/// Reads a text that starts an engine, whatever the weights' room.
#[track_caller]
fn starts(text: &str, values: &str) -> Import {
    starts_model(text, None, values)
}

/// Imports a text that leaves the model to an answer, and checks the values of its design.
#[track_caller]
fn starts_model(text: &str, model: Option<&str>, values: &str) -> Import {
    assert_eq!(Format::detect(text), Format::Serving, "{text}");
    let answers = Answers { model: model.map(str::to_owned), ..Answers::default() };
    let import = import_with(Format::Serving, text, None, &answers);
    assert_eq!(import.errors, [], "{text}");
    let design = import.design.as_ref().unwrap();
    for setting in values.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        let name = if name.contains('.') { name.to_owned() } else { format!("serving.{name}") };
        let knob = KnobId::find(&name).unwrap();
        assert_eq!(design.get(knob).to_string(), value, "{name} of {text}");
    }
    import
}

/// After vLLM's docs, "Using Docker", and SGLang's README.
#[test]
fn what_follows_an_image_whose_entry_point_is_an_engine_is_its_arguments() {
    let text = "docker run --gpus all --ipc=host -p 8000:8000 vllm/vllm-openai:v0.11.0 --model \
                Qwen/Qwen3-235B-A22B --tensor-parallel-size 8 --max-num-batched-tokens 16384";
    let import = starts(
        text,
        "engine=vllm tensor_parallel_size=8 max_num_batched_tokens=16384 cluster.num_devices=8 \
         transformer.num_layers=94",
    );
    assert_eq!(import.unknown, []);
    let newer = "docker run --gpus all registry.local:5000/vllm/vllm-openai Qwen/Qwen3-32B -tp=4";
    starts(newer, "tensor_parallel_size=4 transformer.num_layers=64");
    let own = "docker run --entrypoint python3 vllm/vllm-openai:latest -m \
               vllm.entrypoints.openai.api_server --model Qwen/Qwen3-32B -tp 4";
    starts(own, "tensor_parallel_size=4 cluster.num_devices=4");
    let sglang = "docker run --gpus all --shm-size 32g -p 30000:30000 -v ~/.cache:/root/.cache \
                  --env HF_TOKEN=x --ipc=host --network=host --privileged lmsysorg/sglang:latest \
                  python3 -m sglang.launch_server --model-path Qwen/Qwen3-235B-A22B --tp 8";
    starts(sglang, "engine=sglang tensor_parallel_size=8 transformer.num_layers=94");
}

/// After vLLM's docs, "Server arguments", and TensorRT-LLM's `examples/llm-api`.
#[test]
fn a_file_of_an_engine_s_settings_is_read_alone_and_beside_its_command() {
    let vllm = "model: Qwen/Qwen3-30B-A3B\ntensor-parallel-size: 2\nmax-model-len: 16384\n\
                gpu-memory-utilization: 0.9\nmax-num-seqs: 64\n";
    starts(vllm, "engine=vllm tensor_parallel_size=2 max_num_seqs=64 transformer.num_layers=48");
    let tensorrt = "enable_attention_dp: true\ntensor_parallel_size: 8\nkv_cache_config:\n  dtype: \
                    fp8\ncuda_graph_config:\n  max_batch_size: 512\nmoe_expert_parallel_size: 8\n";
    let import = starts_model(
        tensorrt,
        Some("deepseek-r1"),
        "engine=tensorrt_llm tensor_parallel_size=1 data_parallel_size=8 kv_cache_dtype=fp8 \
         moe_expert_parallel_size=8",
    );
    assert!(!import.set.iter().any(|set| set.knob == KnobId::max_num_seqs));
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let command = "vllm serve --config serve.yaml --max-num-seqs 32\n";
    let files = vec![file("run.sh", command), file("serve.yaml", vllm)];
    let import = Bundle::new(files).unwrap().import(None, None, None, &Answers::default());
    let serving = import.design.unwrap().serving;
    assert_eq!((serving.tensor_parallel_size, serving.max_num_seqs), (2, 32));
    let training = "model: Qwen/Qwen3-8B\nmax_length: 8192\nper_device_train_batch_size: 2\n";
    assert_ne!(Format::detect(training), Format::Serving);
}

const POD: &str = "      containers:\n      - name: engine\n        image: IMAGE\n        \
                   COMMAND\n        env:\n        - {name: MODEL_ID, value: Qwen/Qwen3-32B}\n\
                   \x20       \
                   resources:\n          limits: {nvidia.com/gpu: \"8\"}\n";

/// After vLLM's docs, "Using Kubernetes" and "LWS"; KServe's and Dynamo's examples.
#[test]
fn a_manifest_is_the_command_that_its_container_starts_times_its_copies() {
    let deployment = |image: &str, command: &str| {
        let pod = POD.replace("IMAGE", image).replace("COMMAND", command);
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n---\nkind: Deployment\nspec:\n  \
             replicas: 3\n  template:\n    spec:\n{pod}"
        )
    };
    let image = "vllm/vllm-openai:v0.11.0";
    let arguments = "args: [--model, $(MODEL_ID), --tensor-parallel-size, \"8\"]";
    let import = starts(
        &deployment(image, arguments),
        "engine=vllm tensor_parallel_size=8 cluster.num_devices=24 transformer.num_layers=64",
    );
    assert_eq!(import.unknown, []);
    assert!(import.set.iter().any(|set| set.line == 13), "{:?}", import.set);
    let script = "command: [sh, -c, \"ray start --head; vllm serve $MODEL_ID -tp 4\"]";
    starts(&deployment("own/image", script), "tensor_parallel_size=4 transformer.num_layers=64");
    let sglang = "command: [python3, -m, sglang.launch_server]\n        args: [--model-path=\
                  Qwen/Qwen3-32B, --tp=8]";
    starts(&deployment("lmsysorg/sglang", sglang), "engine=sglang tensor_parallel_size=8");
    let trt = "command: [trtllm-serve, Qwen/Qwen3-32B, --tp_size, \"8\"]";
    starts(&deployment("nvcr.io/a/b", trt), "engine=tensorrt_llm tensor_parallel_size=8");
}

/// After the docs of `LeaderWorkerSet` in vLLM's guide, and of Docker Compose.
#[test]
fn pods_of_one_instance_and_services_of_compose_are_read() {
    let leader = "spec:\n  replicas: 2\n  leaderWorkerTemplate:\n    size: 2\n    \
                  leaderTemplate:\n      spec:\n        containers:\n        - name: a\n          \
                  image: vllm/vllm-openai\n          command: [sh, -c, \"vllm serve \
                  Qwen/Qwen3-235B-A22B --tensor-parallel-size 8 --pipeline_parallel_size 2\"]\n\
                  \x20         \
                  resources: {limits: {nvidia.com/gpu: 8}}\n    workerTemplate: {}\n";
    let text = format!("kind: LeaderWorkerSet\n{leader}");
    starts(&text, "tensor_parallel_size=8 pipeline_parallel_size=2 cluster.num_devices=32");
    let compose = "services:\n  engine:\n    image: vllm/vllm-openai:latest\n    command: >\n      \
                   --model Qwen/Qwen3-30B-A3B\n      --tensor-parallel-size 2\n    deploy:\n      \
                   resources:\n        reservations:\n          devices:\n            - {driver: \
                   nvidia, count: 2}\n";
    starts(compose, "tensor_parallel_size=2 cluster.num_devices=2 transformer.num_layers=48");
    let other = "lmdeploy serve api_server Qwen/Qwen3-30B-A3B --tp 2 --session-len 8192";
    let import = starts(other, "tensor_parallel_size=2 transformer.num_layers=48");
    assert!(import.questions.iter().any(|it| it.name == "serving.engine"));
    let elsewhere = "# MI300X\nvllm serve Qwen/Qwen3-32B --tensor-parallel-size 8";
    let import = starts(elsewhere, "tensor_parallel_size=8");
    let asked = import.questions.iter().find(|it| it.name == "cluster.accelerator");
    assert!(asked.is_some_and(|it| it.guess.is_none()));
}

/// After KServe's docs, "Hugging Face Runtime" and "LLMInferenceService", and `MindIE`'s guide.
#[test]
fn a_service_without_a_command_is_what_its_operator_starts() {
    let kserve = "kind: InferenceService\nspec:\n  predictor:\n    model:\n      modelFormat: \
                  {name: huggingface}\n      args: [--model_name=llama3, \
                  --model_id=Qwen/Qwen3-32B, --tensor-parallel-size=4]\n      resources: \
                  {limits: {nvidia.com/gpu: \"4\"}}\n";
    starts(kserve, "tensor_parallel_size=4 cluster.num_devices=4 transformer.num_layers=64");
    let service = "kind: LLMInferenceService\nspec:\n  model: {uri: \
                   hf://deepseek-ai/DeepSeek-R1, name: r1}\n  replicas: 2\n  parallelism: {data: \
                   32, dataLocal: 8, expert: true, tensor: 1}\n";
    starts(
        service,
        "data_parallel_size=32 moe_expert_parallel_size=32 cluster.num_devices=64 \
         transformer.num_layers=61",
    );
    let mindie = "{\"BackendConfig\": {\"ModelDeployConfig\": {\"ModelConfig\": [{\"modelName\": \
                  \"qwen3-32b\", \"worldSize\": 4}]}}}";
    starts(mindie, "engine=mindie tensor_parallel_size=4 cluster.num_devices=4");
}

/// After vLLM's `examples/offline_inference/basic/basic.py`, and SGLang's offline engine.
#[test]
fn an_engine_that_a_program_makes_is_read_as_its_server() {
    for text in [
        "from vllm import LLM, SamplingParams\n\n\
         llm = LLM(\n    model=\"Qwen/Qwen3-32B\",  # dense\n    \
         tensor_parallel_size=4, max_num_seqs=128,\n    enforce_eager=True,\n)\n",
        "from vllm import LLM\n\
         llm = LLM('Qwen/Qwen3-32B', tensor_parallel_size=4, max_num_seqs=128)\n",
        "import sglang as sgl\nllm = sgl.Engine(model_path=\"Qwen/Qwen3-32B\", tp_size=4, \
         max_running_requests=128)\n",
    ] {
        let import = interchange::import(Format::detect(text), text, None);
        assert_eq!(import.errors, [], "{text}");
        assert_eq!(import.format, Format::Serving);
        let design = import.design.unwrap();
        assert_eq!(design.serving.tensor_parallel_size, 4, "{text}");
        assert_eq!((design.cluster.num_devices, design.transformer.num_layers), (4, 64));
    }
}

/// After Ray's "Serving LLMs" and `helm/values.yaml` of vllm-project/production-stack.
#[test]
fn a_model_with_the_engine_s_arguments_as_keys_is_read_as_its_server() {
    for text in [
        "applications:\n- name: llm\n  import_path: ray.serve.llm:build_openai_app\n  args:\n    \
         llm_configs:\n    - model_loading_config:\n        model_id: mine\n        model_source: \
         Qwen/Qwen2.5-72B-Instruct\n      engine_kwargs:\n        tensor_parallel_size: 8\n        \
         enable_prefix_caching: true\n",
        "servingEngineSpec:\n  modelSpec:\n  - name: q\n    repository: vllm/vllm-openai\n    \
         modelURL: Qwen/Qwen2.5-72B-Instruct\n    requestGPU: 8\n    vllmConfig:\n      \
         tensorParallelSize: 8\n      extraArgs: [\"--disable-log-requests\"]\n",
    ] {
        let import = interchange::import(Format::detect(text), text, None);
        assert_eq!(import.errors, [], "{text}");
        let design = import.design.unwrap();
        assert_eq!(design.serving.tensor_parallel_size, 8, "{text}");
        assert_eq!((design.cluster.num_devices, design.transformer.num_layers), (8, 80));
    }
}
