//! The bibliography: where formulas, knobs and figures come from.

/// Something published that a formula or figure rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// A short name to print beside a number.
    pub title: &'static str,
    /// Where it is to be read; empty where it is a derivation of our own.
    pub url: &'static str,
}

macro_rules! sources {
    ($($(#[$doc:meta])* $NAME:ident = $title:literal, $url:literal;)*) => {
        $($(#[$doc])* pub const $NAME: Source = Source { title: $title, url: $url };)*

        /// The whole bibliography.
        pub const ALL: &[Source] = &[$($NAME,)*];
    };
}

sources! {
    /// Pangu Ultra MoE: the recipe, its bubble rates, overlap and throughput.
    PANGU_ULTRA_MOE = "Pangu Ultra MoE, arXiv 2505.04519", "https://arxiv.org/abs/2505.04519";
    /// Pangu Ultra: dense 135B on Ascend, bubble formula.
    PANGU_ULTRA = "Pangu Ultra, arXiv 2504.07866", "https://arxiv.org/abs/2504.07866";
    /// Pangu Pro MoE: grouped experts (MoGE).
    PANGU_PRO_MOE = "Pangu Pro MoE, arXiv 2505.21411", "https://arxiv.org/abs/2505.21411";
    /// DeepSeek-V3 technical report.
    DEEPSEEK_V3 = "DeepSeek-V3, arXiv 2412.19437", "https://arxiv.org/abs/2412.19437";
    /// vLLM's arguments.
    VLLM = "vLLM, engine/arg_utils.py and config", "https://github.com/vllm-project/vllm";
    /// TensorRT-LLM's expert parallelism and attention data parallelism.
    TENSORRT_LLM = "TensorRT-LLM, docs/source/features/parallel-strategy.md",
        "https://github.com/NVIDIA/TensorRT-LLM";
    /// SGLang's server arguments.
    SGLANG = "SGLang, python/sglang/srt/server_args.py", "https://github.com/sgl-project/sglang";
    /// AIConfigurator: measured kernels of serving, and how it mixes prefill and decode.
    AICONFIGURATOR = "AIConfigurator, arXiv 2601.06288", "https://arxiv.org/abs/2601.06288";
    /// PreMoe: experts that a task needs, kept and loaded by pattern.
    PREMOE = "PreMoe, arXiv 2505.17639", "https://arxiv.org/abs/2505.17639";
    /// KTransformers: experts in host memory.
    KTRANSFORMERS = "KTransformers, doc/en",
        "https://github.com/kvcache-ai/ktransformers";
    /// Huawei's pages of Atlas servers: processors and their memory.
    ATLAS = "Huawei, Atlas 800 servers: technical specifications",
        "https://support.huawei.com/enterprise/en/ascend-computing/atlas-800t-a2-pid-254184911";
    /// Megatron-Core's configuration dataclasses.
    MEGATRON = "Megatron-Core, transformer_config.py and arguments.py",
        "https://github.com/NVIDIA/Megatron-LM";
    /// Muon, as Megatron-Core has it.
    MUON = "Megatron-Core, optimizer/muon.py and layer_wise_optimizer.py",
        "https://github.com/NVIDIA/Megatron-LM";
    /// BigScience: the benchmarks before BLOOM's training, how they were run.
    BIGSCIENCE = "BigScience, tr11-176B-ml/chronicles-prequel.md",
        "https://github.com/bigscience-workshop/bigscience";
    /// MindSpeed's feature documents.
    MINDSPEED = "MindSpeed, docs/features", "https://gitee.com/ascend/MindSpeed";
    /// MindSpeed-LLM: its arguments and its multi-latent attention.
    MINDSPEED_LLM = "MindSpeed-LLM, multi_latent_attention.py",
        "https://gitee.com/ascend/MindSpeed-LLM";
    /// gpt-oss: windows in every second layer, sinks.
    GPT_OSS = "gpt-oss model card, arXiv 2508.10925", "https://arxiv.org/abs/2508.10925";
    /// Gemma 3: five layers with a window for each without.
    GEMMA_3 = "Gemma 3, arXiv 2503.19786", "https://arxiv.org/abs/2503.19786";
    /// Gated delta nets and their chunked form.
    GDN = "Gated Delta Networks, arXiv 2412.06464", "https://arxiv.org/abs/2412.06464";
    /// Qwen3-Next: gated delta nets in three layers of four.
    QWEN3_NEXT = "Qwen3-Next model card", "https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct";
    /// Kimi Linear: KDA in three layers of four.
    KIMI_LINEAR = "Kimi Linear, arXiv 2510.26692", "https://arxiv.org/abs/2510.26692";
    /// `MiniMax-M1`: lightning attention in seven layers of eight.
    MINIMAX_M1 = "MiniMax-M1, arXiv 2506.13585", "https://arxiv.org/abs/2506.13585";
    /// Mamba-2: states in chunks.
    MAMBA_2 = "Mamba-2, arXiv 2405.21060", "https://arxiv.org/abs/2405.21060";
    /// Nemotron-H: Mamba-2 and a little attention.
    NEMOTRON_H = "Nemotron-H, arXiv 2504.03624", "https://arxiv.org/abs/2504.03624";
    /// Nemotron 3: experts beside Mamba-2, of latents in the larger ones.
    NEMOTRON_3 = "NVIDIA Nemotron 3, arXiv 2512.20856", "https://arxiv.org/abs/2512.20856";
    /// `DeepSeek-V3.2`: sparse attention with an indexer.
    DEEPSEEK_V3_2 = "DeepSeek-V3.2, arXiv 2512.02556", "https://arxiv.org/abs/2512.02556";
    /// `DeepSeek-V4`: compressed attention.
    DEEPSEEK_V4 = "DeepSeek-V4, configuration and code beside the weights",
        "https://huggingface.co/deepseek-ai/DeepSeek-V4-Pro";
    /// Residuals as attention over the depth.
    ATTENTION_RESIDUALS = "Attention Residuals, arXiv 2603.15031, and Megatron-Bridge's Kimi K3",
        "https://arxiv.org/abs/2603.15031";
    /// Model configuration.
    KIMI_K3_BRIDGE = "Kimi K3's configuration, and Megatron-Bridge's models/kimi",
        "https://huggingface.co/moonshotai/Kimi-K3";
    /// Work of packed sequences.
    MEGATRON_BRIDGE = "Megatron-Bridge, training/utils/flop_utils.py",
        "https://github.com/NVIDIA-NeMo/Megatron-Bridge";
    /// Context-parallel groups by the length of each document.
    DYNAMIC_CP = "Megatron-Core, pipeline_parallel/hybrid_cp_schedule.py",
        "https://github.com/NVIDIA/Megatron-LM";
    /// Adapters of low rank, as Megatron-Bridge adds them.
    LORA = "LoRA, arXiv 2106.09685, and Megatron-Bridge's peft/lora.py",
        "https://arxiv.org/abs/2106.09685";
    /// Sparse attention over blocks of keys.
    MSA = "MiniMax Sparse Attention, arXiv 2606.13392", "https://arxiv.org/abs/2606.13392";
    /// LongCat-Flash: zero-computation experts, MoE beside dense parts.
    LONGCAT_FLASH = "LongCat-Flash, arXiv 2509.01322", "https://arxiv.org/abs/2509.01322";
    /// Hyper-connections with a constrained residual mapping.
    MHC = "Manifold-Constrained Hyper-Connections, arXiv 2512.24880",
        "https://arxiv.org/abs/2512.24880";
    /// Narayanan et al. 2021: 1F1B, interleaving.
    NARAYANAN_2021 = "Narayanan et al. 2021, arXiv 2104.04473, section 2.2",
        "https://arxiv.org/abs/2104.04473";
    /// Korthikanti et al. 2022: sequence parallelism, activation memory.
    KORTHIKANTI_2022 = "Korthikanti et al. 2022, arXiv 2205.05198",
        "https://arxiv.org/abs/2205.05198";
    /// Huang et al. 2019: GPipe.
    GPIPE = "GPipe, arXiv 1811.06965", "https://arxiv.org/abs/1811.06965";
    /// Qi et al. 2023: zero-bubble schedules.
    ZERO_BUBBLE = "Zero Bubble Pipeline Parallelism, arXiv 2401.10241",
        "https://arxiv.org/abs/2401.10241";
    /// Qi et al. 2024: the V schedules.
    CONTROLLABLE_MEMORY = "Pipeline Parallelism with Controllable Memory, arXiv 2405.15362",
        "https://arxiv.org/abs/2405.15362";
    /// DualPipe and DualPipeV.
    DUALPIPE = "DualPipe, README of deepseek-ai/DualPipe",
        "https://github.com/deepseek-ai/DualPipe";
    /// Rajbhandari et al. 2019: ZeRO.
    ZERO = "ZeRO, arXiv 1910.02054", "https://arxiv.org/abs/1910.02054";
    /// Thakur et al. 2005: costs of ring collectives.
    THAKUR_2005 = "Thakur, Rabenseifner and Gropp 2005, section 4",
        "https://doi.org/10.1177/1094342005051521";
    /// Williams et al. 2009: the roofline.
    ROOFLINE = "Williams, Waterman and Patterson 2009", "https://doi.org/10.1145/1498765.1498785";
    /// Jacobs et al. 2023: Ulysses.
    ULYSSES = "DeepSpeed Ulysses, arXiv 2309.14509", "https://arxiv.org/abs/2309.14509";
    /// Liu et al. 2023: ring attention.
    RING_ATTENTION = "Ring Attention, arXiv 2310.01889", "https://arxiv.org/abs/2310.01889";
    /// Dao 2023: attention without the score matrix.
    FLASH_ATTENTION = "FlashAttention-2, arXiv 2307.08691", "https://arxiv.org/abs/2307.08691";
    /// Huawei's device profiles and default efficiencies.
    MSMODELING = "Ascend/msmodeling, device profiles", "https://github.com/Ascend/msmodeling";
    /// CANN's platform files: cores, clocks, caches.
    CANN = "CANN 8.1.RC1, platform_config", "https://www.hiascend.com/software/cann";
    /// FlagPerf's measurements of Atlas 800T A2.
    FLAGPERF = "FlagPerf, base/benchmarks (Atlas 800T A2)",
        "https://github.com/FlagOpen/FlagPerf";
    /// Micro-benchmarks of 910B against A800.
    LIMULIDAE = "gameofdimension/limulidae, 910B micro-benchmarks",
        "https://github.com/gameofdimension/limulidae";
    /// MindFormers' tables of runs on A2 nodes, and their configurations.
    MINDFORMERS = "MindFormers r1.3.0, README tables and configurations",
        "https://github.com/mindspore-lab/mindformers";
    /// Gains of operators and host in June 2025.
    HUAWEI_OPERATORS = "Huawei on Pangu Ultra MoE's operators and host, June 2025 (press)",
        "https://reportify.cn/social-media/683556930650477";
    /// CANN's training recipes: fused operators against small ones on A3.
    CANN_RECIPES = "CANN recipes for training, docs/llm_pretrain",
        "https://github.com/hicann/cann-recipes-train";
    /// Matmul on one die, with times by shape.
    PTO_ISA = "PTO tile library, gemm_performance", "https://github.com/hw-native-sys/pto-isa";
    /// Attention on one die, with times by length.
    TILELANG_ASCEND = "TileLang on Ascend, fa_opt/bench_mark.md",
        "https://github.com/tile-ai/tilelang-ascend";
    /// HCCS, RoCE and host link measurements on A2 and A3.
    HIXL = "HIXL benchmarks on A2 and A3", "https://github.com/xiaojia151/Hixl";
    /// CloudMatrix384: the super-node of 910C.
    CLOUDMATRIX = "CloudMatrix384, arXiv 2506.12708", "https://arxiv.org/abs/2506.12708";
    /// DeepSeek on 96 H100 and Kimi K2 on 128 H200 by SGLang.
    LMSYS_EP = "LMSYS, large-scale expert parallelism with SGLang",
        "https://lmsys.org/blog/2025-05-05-large-scale-ep/";
    /// Measured latency and throughput of served models.
    NIM = "NVIDIA NIM for LLMs, performance",
        "https://docs.nvidia.com/nim/benchmarking/llm/1.0.0/performance.html";
    /// SimuMax's calibrated operator classes on B200.
    SIMUMAX = "SimuMax, B200 calibration", "https://github.com/MooreThreads/SimuMax";
    /// Published best GEMM rates of accelerators.
    BEST_GEMM = "Best measured dense GEMM rates (MAMF), published tables",
        "https://github.com/stas00/ml-engineering";
    /// NVIDIA's data sheets.
    NVIDIA = "NVIDIA data sheets", "https://www.nvidia.com/en-us/data-center/";
    /// DeepSpeed's engine and its configuration.
    DEEPSPEED = "DeepSpeed, runtime/engine.py and config.py",
        "https://github.com/deepspeedai/DeepSpeed";
    /// torchtitan's models and trainer.
    TORCHTITAN_CODE = "torchtitan, models and trainer.py", "https://github.com/pytorch/torchtitan";
    /// TorchTitan's description of its 96 GB H100.
    TORCHTITAN = "TorchTitan, benchmarks", "https://github.com/pytorch/torchtitan";
    /// Model configuration.
    QWEN3 = "Qwen3 model cards", "https://huggingface.co/Qwen";
    /// Model configuration.
    MIXTRAL = "Mixtral model cards", "https://huggingface.co/mistralai";
    /// Model configuration.
    LLAMA_3 = "Llama 3 model cards", "https://huggingface.co/meta-llama";
    /// Model configuration.
    KIMI = "Kimi K2, arXiv 2507.20534", "https://arxiv.org/abs/2507.20534";
    /// Model configuration.
    GLM = "GLM model cards", "https://huggingface.co/zai-org";
    /// Model configuration.
    QWEN3_5 = "Qwen3.5 model cards", "https://huggingface.co/Qwen";
    /// Model configuration.
    MIMO_V2 = "MiMo-V2-Flash model card", "https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash";
    /// Model configuration.
    LLAMA_4_SCOUT = "Llama 4 model card", "https://huggingface.co/meta-llama";
    /// Model configuration.
    LLAMA_4 = "TensorRT-LLM, test configuration of Llama 4 Maverick",
        "https://github.com/NVIDIA/TensorRT-LLM";
    /// Model configuration.
    GPT_3 = "GPT-3, arXiv 2005.14165, and Megatron-LM's script", "https://arxiv.org/abs/2005.14165";
    /// Model configuration.
    MINIMAX = "MiniMax-M2 model card", "https://huggingface.co/MiniMaxAI";
    /// Model configuration.
    TELECHAT3 = "TeleChat3, README and mindformers configuration",
        "https://github.com/Tele-AI/TeleChat3";
    /// Wang et al. 2024: the load imbalance with an auxiliary loss, and with a bias instead.
    LOSS_FREE_BALANCING = "Auxiliary-Loss-Free Load Balancing, arXiv 2408.15664, table 2",
        "https://arxiv.org/abs/2408.15664";
    /// Chinchilla's law, fitted again on its own points.
    CHINCHILLA_REPLICATION = "Chinchilla Scaling: a replication attempt, arXiv 2404.10102",
        "https://arxiv.org/abs/2404.10102";
    /// Ling: how much dense compute experts stand for.
    LING_LEVERAGE = "Ling, efficiency leverage of MoE, arXiv 2507.17702",
        "https://arxiv.org/abs/2507.17702";
    /// The joint law of active parameters, tokens and experts.
    JOINT_SCALING = "Joint MoE Scaling Laws, arXiv 2502.05172", "https://arxiv.org/abs/2502.05172";
    /// A law of experts, granularity and sharing.
    ZHAO_2025 = "Zhao et al. 2025, arXiv 2509.23678", "https://arxiv.org/abs/2509.23678";
    /// A law of parameters, tokens and sparsity.
    ABNAR_2025 = "Abnar et al. 2025, arXiv 2501.12370", "https://arxiv.org/abs/2501.12370";
    /// A law of routed layers.
    CLARK_2022 = "Clark et al. 2022, arXiv 2202.01169", "https://arxiv.org/abs/2202.01169";
    /// A law of granularity.
    KRAJEWSKI_2024 = "Krajewski et al. 2024, arXiv 2402.07871", "https://arxiv.org/abs/2402.07871";
    /// Tokens that are repeated.
    MUENNIGHOFF_2023 = "Muennighoff et al. 2023, arXiv 2305.16264",
        "https://arxiv.org/abs/2305.16264";
    /// Laws of loss coupled to a model of systems: the closest to the budget's third axis.
    MOSAIC = "MOSAIC, arXiv 2608.10605", "https://arxiv.org/abs/2608.10605";
    /// Llama 3: 419 unexpected interruptions in 54 days on 16,384 GPUs, and its storage.
    LLAMA_3_HERD = "The Llama 3 Herd of Models, arXiv 2407.21783, section 3.3",
        "https://arxiv.org/abs/2407.21783";
    /// Failures of two research clusters.
    RESEARCH_CLUSTERS = "Revisiting Reliability in Large-Scale ML Research Clusters, arXiv \
        2410.21680", "https://arxiv.org/abs/2410.21680";
    /// The model card of the openly published Pangu Ultra MoE.
    OPENPANGU = "openPangu-Ultra-MoE-718B, model card",
        "https://ai.gitcode.com/ascend-tribe/openpangu-ultra-moe-718b-model";
    /// `MegaScale`: finding and mending failures on more than 10,000 GPUs.
    MEGASCALE = "MegaScale, arXiv 2402.15627, section 4", "https://arxiv.org/abs/2402.15627";
    /// `ByteCheckpoint`: snapshots and uploads of checkpoints behind the training.
    BYTECHECKPOINT = "ByteCheckpoint, arXiv 2407.20143", "https://arxiv.org/abs/2407.20143";
    /// Facilities' power over that of their machines, of Google's fleet.
    GOOGLE_ENVIRONMENT = "Google, Environmental Report 2024",
        "https://sustainability.google/reports/google-2024-environmental-report/";
    /// Facilities' power over that of their machines, as operators answered.
    UPTIME_SURVEY = "Uptime Institute, Global Data Center Survey 2024",
        "https://uptimeinstitute.com/resources/research-and-reports/\
            uptime-institute-global-data-center-survey-results-2024";
    /// Daly 2006: expected time of a run with checkpoints and failures.
    DALY_2006 = "Daly 2006, A higher order estimate of the optimum checkpoint interval",
        "https://doi.org/10.1016/j.future.2004.11.016";
    /// Young 1974: the best interval to first order.
    YOUNG_1974 = "Young 1974, A first order approximation to the optimum checkpoint interval",
        "https://doi.org/10.1145/361147.361115";
    /// Our own derivation, written out beside the formula.
    DERIVED = "Derived, see the formula", "";
    /// A decision of this tool, to be replaced by calibration.
    ASSUMED = "Assumed, not yet calibrated", "";
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;
    use crate::design::KnobId;
    use crate::metric::MetricId;
    use crate::rules::{Rule, rules};

    #[test]
    fn every_source_has_a_name_of_its_own_and_what_rests_on_it_finds_it() {
        let titles: BTreeSet<_> = ALL.iter().map(|source| source.title).collect();
        assert_eq!(titles.len(), ALL.len());
        assert!(KnobId::ALL.iter().all(|id| ALL.contains(&id.words().source)));
        assert!(rules().iter().filter_map(Rule::source).all(|source| ALL.contains(&source)));
        assert!(MetricId::ALL.iter().all(|id| ALL.contains(&id.words().source)));
    }
}
