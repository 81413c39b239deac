//! What an architecture's code does that its configuration doesn't say.

use model::design::file::Tree;

/// The name of what isn't known.
pub(super) const UNKNOWN: &str = "";

/// An architecture of `transformers` or of a model's own code.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "one answer for each thing that keys may leave open"
)]
pub(super) struct Family {
    /// `model_type` without punctuation.
    pub(super) name: &'static str,
    /// MLPs have a gate.
    pub(super) gated: bool,
    /// Input embedding and output head are one table.
    pub(super) tied: bool,
    /// Query, key and value have biases.
    pub(super) qkv_bias: bool,
    /// Every linear layer has one.
    pub(super) linear_bias: bool,
    /// Query and key have norms.
    pub(super) qk_norm: bool,
    /// There is a norm behind attention and MLP, too.
    pub(super) sandwich_norm: bool,
    /// Positions are learned.
    pub(super) learned_positions: bool,
    /// A window, where there is one, holds for all layers.
    pub(super) every_layer_has_window: bool,
    /// It holds for all but each so many-th; zero says nothing.
    pub(super) full_attention_every: u64,
    /// Each head of attention learns a sink.
    pub(super) sinks: bool,
    /// Its layers are sub-layers of a pattern.
    pub(super) sub_layers: bool,
    /// Its attention marks no positions.
    pub(super) no_positions: bool,
    /// The linear attention that some layers have.
    pub(super) linear: &'static str,
    /// Each head's output has a gate.
    pub(super) output_gate: bool,
    /// The shared experts' output has one.
    pub(super) shared_gate: bool,
    /// The vocabulary of those that don't write it.
    pub(super) vocab: u64,
    /// Shared experts that no key counts.
    pub(super) shared_experts: u64,
    /// `intermediate_size` is the experts' width.
    pub(super) narrow: bool,
    /// A layer is attention and an MLP twice, with experts beside the first MLP.
    pub(super) shortcut: bool,
    /// `intermediate_size` is the width of gate and up-projection together.
    pub(super) doubled_width: bool,
}

const LLAMA: Family = Family {
    name: "llama",
    gated: true,
    tied: false,
    qkv_bias: false,
    linear_bias: false,
    qk_norm: false,
    sandwich_norm: false,
    learned_positions: false,
    every_layer_has_window: false,
    full_attention_every: 0,
    sinks: false,
    sub_layers: false,
    no_positions: false,
    linear: "",
    output_gate: false,
    shared_gate: false,
    vocab: 0,
    shared_experts: 0,
    narrow: false,
    shortcut: false,
    doubled_width: false,
};
const QWEN3_NEXT: Family = Family {
    name: "qwen3next",
    qk_norm: true,
    linear: "gdn",
    output_gate: true,
    shared_gate: true,
    ..LLAMA
};
const LLAMA4: Family = Family { name: "llama4", shared_experts: 1, narrow: true, ..LLAMA };
const GEMMA2: Family =
    Family { name: "gemma2", tied: true, sandwich_norm: true, full_attention_every: 2, ..LLAMA };
const DEEPSEEK_V4: Family =
    Family { name: "deepseekv4", sinks: true, every_layer_has_window: true, ..LLAMA };
const BIASED: Family = Family { qkv_bias: true, linear_bias: true, ..LLAMA };
const GPT2: Family = Family {
    name: "gpt2",
    gated: false,
    tied: true,
    qkv_bias: true,
    linear_bias: true,
    learned_positions: true,
    ..LLAMA
};

/// Source: `modeling_*.py` and `configuration_*.py` of `huggingface/transformers`, and for Kimi,
/// MiniMax and Pangu the code beside their weights.
static FAMILIES: &[Family] = &[
    LLAMA,
    LLAMA4,
    Family { name: "llama4text", ..LLAMA4 },
    Family { name: "mistral", every_layer_has_window: true, ..LLAMA },
    Family { name: "mixtral", every_layer_has_window: true, ..LLAMA },
    Family { name: "qwen2", qkv_bias: true, ..LLAMA },
    Family { name: "qwen2moe", qkv_bias: true, ..LLAMA },
    QWEN3_NEXT,
    Family { name: "qwen35", shared_gate: false, ..QWEN3_NEXT },
    Family { name: "qwen35text", shared_gate: false, ..QWEN3_NEXT },
    Family { name: "qwen35moe", ..QWEN3_NEXT },
    Family { name: "qwen35moetext", ..QWEN3_NEXT },
    Family { name: "nemotronh", gated: false, sub_layers: true, no_positions: true, ..LLAMA },
    Family { name: "kimilinear", linear: "kda", ..LLAMA },
    Family { name: "minimaxm1", linear: "lightning", ..LLAMA },
    Family { name: "minimaxtext01", linear: "lightning", ..LLAMA },
    Family { name: "mpt", gated: false, tied: true, ..LLAMA },
    Family { name: "apertus", gated: false, qk_norm: true, ..LLAMA },
    Family { name: "arcee", gated: false, ..LLAMA },
    Family { name: "nemotron", gated: false, ..LLAMA },
    Family { name: "persimmon", gated: false, linear_bias: true, qk_norm: true, ..LLAMA },
    Family { name: "starcoder2", gated: false, tied: true, every_layer_has_window: true, ..BIASED },
    Family { name: "gptneox", gated: false, ..BIASED },
    Family { name: "gptj", gated: false, linear_bias: true, ..LLAMA },
    Family { name: "codegen", gated: false, linear_bias: true, ..LLAMA },
    Family { name: "phi", gated: false, ..BIASED },
    Family { name: "opt", ..GPT2 },
    Family { name: "gptbigcode", ..GPT2 },
    Family { name: "gptneo", ..GPT2 },
    Family { name: "grok1", sandwich_norm: true, ..LLAMA },
    Family { name: "grok1model", sandwich_norm: true, ..LLAMA },
    Family { name: "grok2", sandwich_norm: true, ..LLAMA },
    Family { name: "ernie45", tied: true, ..LLAMA },
    Family { name: "ernie45moe", tied: true, ..LLAMA },
    Family { name: "seedoss", qkv_bias: true, ..LLAMA },
    Family { name: "smollm3", tied: true, ..LLAMA },
    Family { name: "internlm", qkv_bias: true, ..LLAMA },
    Family { name: "chatglm", qkv_bias: true, ..LLAMA },
    Family { name: "glm", qkv_bias: true, ..LLAMA },
    Family { name: "minicpm", tied: true, ..LLAMA },
    Family { name: "minimax", linear: "lightning", ..LLAMA },
    Family { name: "qwen2vl", qkv_bias: true, ..LLAMA },
    Family { name: "qwen25vl", qkv_bias: true, ..LLAMA },
    Family { name: "qwen2vltext", qkv_bias: true, ..LLAMA },
    Family { name: "qwen25vltext", qkv_bias: true, ..LLAMA },
    Family { name: "mimo", qkv_bias: true, ..LLAMA },
    Family { name: "gemma4text", qk_norm: true, ..GEMMA2 },
    Family { name: "gemma4unifiedtext", qk_norm: true, ..GEMMA2 },
    Family { name: "vaultgemma", tied: true, full_attention_every: 2, ..LLAMA },
    Family { name: "afmoe", qk_norm: true, sandwich_norm: true, output_gate: true, ..LLAMA },
    Family { name: "cohere2moe", tied: true, full_attention_every: 4, ..LLAMA },
    Family { name: "graniteswa", tied: true, ..LLAMA },
    Family { name: "youtu", tied: true, ..LLAMA },
    Family { name: "modernbertdecoder", tied: true, ..LLAMA },
    Family { name: "jais2", gated: false, qkv_bias: true, ..LLAMA },
    Family { name: "nanochat", gated: false, qk_norm: true, ..LLAMA },
    Family { name: "apertus1p5text", gated: false, qk_norm: true, ..LLAMA },
    Family { name: "gemma3", qk_norm: true, full_attention_every: 6, vocab: 262_208, ..GEMMA2 },
    Family { name: "longcatflash", shortcut: true, ..LLAMA },
    DEEPSEEK_V4,
    // The width of the first product, which gate and up-projection share.
    Family { name: "qwen", qkv_bias: true, doubled_width: true, ..LLAMA },
    Family { name: "falcon", gated: false, ..LLAMA },
    Family { name: "refinedweb", gated: false, ..LLAMA },
    Family { name: "refinedwebmodel", gated: false, ..LLAMA },
    Family { name: "cohere", tied: true, ..LLAMA },
    Family { name: "cohere2", tied: true, full_attention_every: 4, ..LLAMA },
    Family { name: "minicpm3", tied: true, ..LLAMA },
    Family { name: "phi3small", tied: true, qkv_bias: true, linear_bias: true, ..LLAMA },
    Family {
        name: "bloom",
        gated: false,
        tied: true,
        qkv_bias: true,
        linear_bias: true,
        no_positions: true,
        ..LLAMA
    },
    Family { name: "hunyuan", qk_norm: true, tied: true, ..LLAMA },
    Family { name: "glm4", qkv_bias: true, sandwich_norm: true, ..LLAMA },
    Family { name: "glm4vmoetext", qkv_bias: true, ..LLAMA },
    Family { name: "kolibri1", qk_norm: true, sandwich_norm: true, ..LLAMA },
    Family { name: "dory", qk_norm: true, sandwich_norm: true, ..LLAMA },
    Family {
        name: "gptoss",
        qkv_bias: true,
        linear_bias: true,
        full_attention_every: 2,
        sinks: true,
        ..LLAMA
    },
    Family { name: "panguultramoe", sandwich_norm: true, ..LLAMA },
    Family { name: "phi3", every_layer_has_window: true, ..LLAMA },
    Family { name: "phimoe", every_layer_has_window: true, ..LLAMA },
    Family { name: "gemma", tied: true, ..LLAMA },
    GEMMA2,
    Family { name: "gemma3text", qk_norm: true, full_attention_every: 6, vocab: 262_208, ..GEMMA2 },
    GPT2,
];

/// Architectures that are Llama's in all of this, and those that have norms of query and key
/// beside, a blank between two.
static GROUPS: [(Family, &str); 2] = [
    (
        Family { name: "as Llama", ..LLAMA },
        "deepseekv2 deepseekv3 deepseekv32 nemotronnas mistralnemo ministral ministral3 \
         mistral3 olmo dbrx bitnet stablelm bamba arctic step3text bailingmoe internlm2 \
         internlm3 glm4moelite baichuan yi exaone mimov2flash glmmoedsa \
         kimik2 telechat3 glm4moe pangupromoe panguembedded granite granitemoe \
         granitemoeshared granitemoehybrid granitemoeswa helium cwm ariatext axk1 \
         sarvammla sarvammoe iquestcoder hyperclovax solaropen",
    ),
    (
        Family { name: "as Qwen 3", qk_norm: true, ..LLAMA },
        "qwen3 qwen3moe olmo2 olmo3 flexolmo step3p5 bailingmoev2 dots1 exaone4 \
         qwen3vltext qwen3vlmoetext qwen3omnimoetext minimaxm2 minimaxm3 minimaxm3vl \
         olmoe exaonemoe mellum hyv3 laguna minimaxm3vltext flint \
         hunyuanv1dense hunyuanv1moe",
    ),
];

static OTHER: Family = Family { name: UNKNOWN, ..LLAMA };
static NATIVE: Family = Family { every_layer_has_window: true, ..LLAMA };
static NATIVE_V4: Family = DEEPSEEK_V4;
static NATIVE4: Family = LLAMA4;

/// Architectures of which no knobs make a model, a blank between two, and why.
///
/// Source: `modeling_*.py` of `huggingface/transformers`, and the code beside the weights.
static REFUSED: &[(&str, &str)] = &[
    (
        "mamba mamba2 falconmamba",
        "a model of state-space layers alone, without attention, isn't modelled",
    ),
    ("rwkv rwkv5 rwkv6 rwkv7 xlstm retnet", "its recurrence in place of attention isn't modelled"),
    ("recurrentgemma", "its RG-LRU layers aren't modelled"),
    ("jamba", "Mamba of the first kind isn't modelled, only Mamba-2"),
    ("zamba zamba2", "blocks of attention that several layers share aren't modelled"),
    ("falconh1 hymba", "attention and Mamba-2 side by side in one layer aren't modelled"),
    ("plamo2", "its Mamba layers aren't modelled: they are neither of Mamba's two kinds"),
    ("lfm2 lfm2moe", "short convolutions in place of attention aren't modelled"),
    ("gemma3n gemma3ntext", "AltUp, LAuReL and the embeddings of each layer aren't modelled"),
    ("openelm", "heads and widths that grow by layer aren't modelled"),
    ("jetmoe", "experts of attention aren't modelled"),
    ("diffllama", "differential attention isn't modelled"),
    ("t5 mt5 umt5 bart mbart pegasus t5gemma", "an encoder beside a decoder isn't modelled"),
    (
        "bert roberta xlmroberta electra deberta debertav2 modernbert",
        "an encoder alone isn't modelled",
    ),
];

impl Family {
    /// The architecture of a configuration, by `model_type` or the class's name.
    ///
    /// # Errors
    /// Why no knobs make it.
    pub(super) fn for_config(config: &Tree) -> Result<&'static Self, &'static str> {
        let class = match config.get("architectures") {
            Some(Tree::List(classes)) => classes.first().and_then(Tree::as_text),
            _ => None,
        };
        let class = class.map(|class| class.split("For").next().unwrap_or_default());
        let names = config.get("model_type").and_then(Tree::as_text).into_iter().chain(class);
        let mut is_named = false;
        for name in names {
            is_named = true;
            let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            let plain = plain.to_ascii_lowercase();
            let is_refused = |(names, _): &&(&str, _)| names.split(' ').any(|it| it == plain);
            if let Some((_, reason)) = REFUSED.iter().find(is_refused) {
                return Err(reason);
            }
            if let Some(family) = FAMILIES.iter().find(|family| family.name == plain) {
                return Ok(family);
            }
            let is_one = |(_, names): &&(Family, &str)| names.split(' ').any(|it| it == plain);
            if let Some((family, _)) = GROUPS.iter().find(is_one) {
                return Ok(family);
            }
        }
        // Files of DeepSeek's, Meta's and Mistral's own code name none.
        let is_native =
            !is_named && config.get("dim").is_some() && config.get("n_layers").is_some();
        let has = |key| config.get(key).is_some();
        Ok(match is_native {
            true if has("moe_args") => &NATIVE4,
            true if has("compress_ratios") => &NATIVE_V4,
            true => &NATIVE,
            false => &OTHER,
        })
    }
}
