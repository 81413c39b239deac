//! The words of an architecture, such as `L48 h2048 heads32 kv4 hd128 E128 top8 moe_ffn768`.
//!
//! Besides such short words there are the keys of configuration files (`num_hidden_layers=48`, in
//! the spelling of Hugging Face and nanotron, Megatron, MaxText, torchtitan or llm-foundry) and
//! plain English (`48 layers`, `parallel attention and MLP`).

mod keys;

use keys::Field;

use crate::phrase::{Phrases, phrases};

/// Sizes and switches that the words give; `None` is what they leave open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Words {
    pub(super) layers: Option<u64>,
    pub(super) dense_first: u64,
    pub(super) hidden: Option<u64>,
    pub(super) heads: Option<u64>,
    pub(super) groups: Option<u64>,
    pub(super) head_dim: Option<u64>,
    pub(super) mla: Option<Mla>,
    pub(super) ffn: Option<u64>,
    /// `ffn4h`: four times the hidden size, without a gate.
    pub(super) ffn_is_4h: bool,
    pub(super) gated: bool,
    pub(super) not_gated: bool,
    pub(super) experts: Option<u64>,
    pub(super) topk: Option<u64>,
    pub(super) expert_ffn: Option<u64>,
    pub(super) shared: Option<u64>,
    pub(super) vocab: Option<u64>,
    /// Every second layer is a MoE layer, the first one dense.
    pub(super) every_second: bool,
    pub(super) window: Option<u64>,
    pub(super) full_every: Option<u64>,
    pub(super) mtp: u64,
    /// MosaicML's MPT: no biases, no position embedding, tied embeddings.
    pub(super) mpt: bool,
    pub(super) tied: bool,
    pub(super) untied: bool,
    pub(super) qkv_bias: bool,
    pub(super) qk_norm: bool,
    pub(super) sandwich: bool,
    /// Each head of attention learns a sink.
    pub(super) sinks: bool,
    /// Attention and MLP read the same input and run side by side.
    pub(super) parallel: bool,
    /// The first and the last stage have one layer fewer than the others.
    pub(super) short_ends: bool,
    /// Assumptions that the words themselves name.
    pub(super) assumed: Vec<String>,
}

/// MLA's sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mla {
    pub(super) q_rank: Option<u64>,
    pub(super) kv_rank: Option<u64>,
    pub(super) nope_dim: Option<u64>,
    pub(super) rope_dim: Option<u64>,
    pub(super) v_dim: Option<u64>,
}

/// Phrases that say what no knob expresses.
const REFUSED: [(&str, &str); 8] = [
    ("mamba", "a hybrid of Mamba and attention"),
    ("ssm", "a hybrid of Mamba and attention"),
    ("encoder", "an encoder"),
    ("vision", "a vision model"),
    ("multimodal", "a vision model"),
    ("diffusion", "a diffusion model"),
    ("linear attention", "linear attention"),
    ("sparse attention", "sparse attention"),
];

/// Words that change neither parameters nor FLOPs, or that other words already say.
static REMARKS: Phrases = phrases!(
    "first | dense | gqa | mla | moe | rope | rotary | alibi | rmsnorm | layernorm | squared | \
     recalled | inferred | approx | approx. | printed | and | with | all | layers | layer | no | \
     bias | causal | decoder | decoder-only | vocab | experts | routed | shared | fine-grained | \
     finegrained | upcycled | transformer | per | each | heads | hidden | llama | gpt | config | \
     style | llama-style | gpt-style | x | of | model | standard | pre-norm | full | attention | \
     without | biases | token | choice | embeddings | embedding | emb | word | weights | size | \
     total | parameters | params | + | are"
);

/// Phrases of attention and MLP side by side: GPT-J, GPT-NeoX, PaLM, Falcon.
static PARALLEL: Phrases = phrases!(
    "parallel attention and mlp | parallel attention + mlp | parallel attention+mlp | \
     parallel attn and mlp | parallel attn + mlp | parallel attn+mlp | parallel attn/mlp | \
     parallel attention/mlp | attention and mlp in parallel | attn and mlp in parallel | \
     parallel attention and ffn | parallel attn/ffn | parallel attn+ffn | parallel residuals | \
     parallel residual | parallel transformer blocks | parallel transformer block | \
     parallel blocks | parallel block | parallel layers | parallel attention | parallel attn"
);

/// Reason why no knob expresses what this text speaks of.
pub(super) fn inexpressible(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    REFUSED.iter().find(|(phrase, _)| text.contains(phrase)).map(|(_, reason)| *reason)
}

const SHORT_ENDS: &str = "first and last stage one layer fewer";
const EVERY_SECOND: [&str; 4] =
    ["every 2nd moe", "every second moe", "moe every 2nd layer", "every 2nd layer moe"];

impl Words {
    /// Reads them.
    ///
    /// # Errors
    /// The word that isn't understood.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut words = Self::default();
        let mut text = text.to_owned();
        words.short_ends = take(&mut text, &[SHORT_ENDS]);
        words.every_second = take(&mut text, &EVERY_SECOND);
        words.parallel = take(&mut text, &PARALLEL);
        let mut text = text.replace(['=', ':'], " ").to_owned();
        keys::join_phrases(&mut text);
        let separators =
            |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | ';' | ',' | '|');
        let list: Vec<&str> = text.split(separators).filter(|word| !word.is_empty()).collect();
        let mut index = 0;
        while let Some(word) = list.get(index) {
            let next = list.get(index + 1).copied().unwrap_or_default();
            let after = list.get(index + 2).copied().unwrap_or_default();
            let taken = words.read_several(word, next, after);
            index += taken.max(1);
            if taken == 0 && !words.read_word(word) {
                let word: String = word.chars().take(40).collect();
                return Err(format!("its architecture has `{word}`, which isn't understood"));
            }
        }
        Ok(words)
    }

    /// Reads words that belong together and returns their number; zero if the first one is on its
    /// own.
    fn read_several(&mut self, word: &str, next: &str, after: &str) -> usize {
        // `padded 250k` only explains the vocabulary.
        if word == "padded" {
            return 2;
        }
        if let Some(taken) = self.read_key(word, next) {
            return taken;
        }
        let Some(count) = number(word) else { return 0 };
        // `3 dense` and `1 layer dense`.
        let next = next.to_lowercase();
        if next == "dense" || (matches!(next.as_str(), "layer" | "layers") && after == "dense") {
            self.dense_first = count;
            return 2;
        }
        let field = if next == "groups" { Some(Field::Groups) } else { keys::field(&next) };
        let Some(field) = field else { return 0 };
        self.set(field, count);
        2
    }

    /// A key of a configuration file with its value.
    fn read_key(&mut self, word: &str, next: &str) -> Option<usize> {
        let name = word.to_lowercase().replace('-', "_");
        let value = next.to_lowercase();
        let is_true = matches!(value.as_str(), "true" | "yes" | "on" | "1");
        let is_set = is_true || matches!(value.as_str(), "false" | "no" | "off" | "0");
        match name.as_str() {
            "tie_word_embeddings" | "tie_embeddings" | "tied_embeddings" if is_set => {
                (self.tied, self.untied) = (is_true, !is_true);
            }
            "untie_embeddings_and_output_weights" if is_set => {
                (self.untied, self.tied) = (is_true, !is_true);
            }
            "attention_bias" | "qkv_bias" | "add_qkv_bias" if is_set => self.qkv_bias = is_true,
            "qk_layernorm" | "qk_norm" | "use_qk_norm" if is_set => self.qk_norm = is_true,
            "parallel_residual" | "use_parallel_residual" | "parallel_attn" if is_set => {
                self.parallel = is_true;
            }
            "first" => self.dense_first = number(next)?,
            "hidden_act" | "activation" | "activation_function" | "mlp_activations" => {
                return self.read_activation(&value).then_some(2);
            }
            "expansion_ratio" | "ffn_multiplier" if value == "4" => self.ffn_is_4h = true,
            _ if keys::IGNORED.contains(&name.as_str()) => {}
            "vocab" | "vocab_size" | "vocabulary" | "v" if thousands(next).is_some() => {
                self.set_rounded_vocab(thousands(next));
            }
            _ => {
                // Single letters are sizes only where a number follows at once: `L 48`.
                let field = keys::field(&name).or_else(|| keys::letter(word))?;
                self.set(field, number(next)?);
            }
        }
        Some(2)
    }

    /// An activation function: SiLU is the gate of Llama's MLP in every configuration file.
    fn read_activation(&mut self, name: &str) -> bool {
        match name {
            "silu" | "swish" | "swiglu" | "geglu" | "reglu" => self.gated = true,
            "gelu" | "gelu_new" | "gelu_fast" | "relu" | "relu2" | "squared_relu" => {
                self.not_gated = true;
            }
            _ => return false,
        }
        true
    }

    fn read_word(&mut self, word: &str) -> bool {
        match word.to_lowercase().as_str() {
            "mha" => self.groups = None,
            "mqa" => self.groups = Some(1),
            "mpt" => self.mpt = true,
            "tied" => self.tied = true,
            "untied" => self.untied = true,
            "qkv_bias" | "qkv-bias" => self.qkv_bias = true,
            "qk_norm" | "qk-norm" => self.qk_norm = true,
            "sandwich" | "sandwich_norm" => self.sandwich = true,
            "sink" | "sinks" => self.sinks = true,
            "gated" => self.gated = true,
            "non-gated" | "nongated" | "ungated" => self.not_gated = true,
            "ffn4h" | "ffn_4h" | "4h" => self.ffn_is_4h = true,
            "heads?" => self.heads = None,
            "mtp" => self.mtp = 1,
            "assumed" => self.assumed.push("the source's vocabulary is assumed".to_owned()),
            // On its own, `GELU` says nothing of a gate.
            "gelu" | "relu" | "relu2" | "silu" => {}
            lower if self.read_activation(lower) || REMARKS.contains(&lower) => {}
            _ => return self.read_number(word),
        }
        true
    }

    /// `V 32k`: a vocabulary without its last digits.
    fn set_rounded_vocab(&mut self, size: Option<u64>) {
        self.vocab = size;
        self.assumed.push("the source rounds the vocabulary".to_owned());
    }

    fn read_number(&mut self, word: &str) -> bool {
        if let Some(size) = word.strip_prefix('V').and_then(thousands) {
            self.set_rounded_vocab(Some(size));
            return true;
        }
        if let Some(rest) = word.strip_suffix("+MTP") {
            self.mtp = 1;
            return self.read_number(rest);
        }
        if let Some((left, right)) = word.strip_prefix("qk").and_then(|dims| dims.split_once('+')) {
            let mla = self.mla.get_or_insert_default();
            (mla.nope_dim, mla.rope_dim) = (number(left), number(right));
            return mla.nope_dim.is_some() && mla.rope_dim.is_some();
        }
        // `32x128` and `64/8`: heads with their width, and with their groups.
        if let Some((heads, width)) = word.split_once('x')
            && let (Some(heads), Some(width)) = (number(heads), number(width))
        {
            (self.heads, self.head_dim) = (Some(heads), Some(width));
            return true;
        }
        if let Some((heads, groups)) = word.trim_start_matches("heads").split_once('/')
            && let (Some(heads), Some(groups)) = (number(heads), number(groups))
        {
            (self.heads, self.groups) = (Some(heads), Some(groups));
            return true;
        }
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let Some(value) = number(&word[name.len()..]) else { return false };
        let name = name.trim_end_matches('-');
        let lower = name.to_lowercase().replace('-', "_");
        match keys::letter(name).or_else(|| keys::field(&lower)) {
            Some(field) => self.set(field, value),
            None => return false,
        }
        true
    }

    fn set(&mut self, field: Field, value: u64) {
        let some = Some(value);
        match field {
            Field::Layers => self.layers = some,
            Field::DenseFirst => self.dense_first = value,
            Field::Hidden => self.hidden = some,
            Field::Heads => self.heads = some,
            Field::Groups => self.groups = some,
            Field::HeadDim => self.head_dim = some,
            Field::Ffn => self.ffn = some,
            Field::Experts => self.experts = some,
            Field::TopK => self.topk = some,
            Field::ExpertFfn => self.expert_ffn = some,
            Field::Shared => self.shared = some,
            Field::Vocab => self.vocab = some,
            Field::Window => self.window = some,
            Field::FullEvery => self.full_every = some,
            Field::Mtp => self.mtp = value,
            Field::MlaHeads => {
                self.heads = some;
                self.mla.get_or_insert_default();
            }
            Field::QRank => self.mla.get_or_insert_default().q_rank = some,
            Field::KvRank => self.mla.get_or_insert_default().kv_rank = some,
            Field::NopeDim => self.mla.get_or_insert_default().nope_dim = some,
            Field::RopeDim => self.mla.get_or_insert_default().rope_dim = some,
            Field::VDim => self.mla.get_or_insert_default().v_dim = some,
        }
    }

    /// Whether everything is there that parameters and FLOPs need, but for the vocabulary.
    pub(super) fn is_complete_but_for_vocab(&self) -> bool {
        let mla = self.mla.is_none_or(|mla| {
            mla.kv_rank.is_some() && mla.nope_dim.is_some() && mla.v_dim.is_some()
        });
        let ffn = self.ffn.is_some() || self.ffn_is_4h || self.expert_ffn.is_some();
        let experts = self.experts.is_none() || self.topk.is_some();
        self.layers.is_some() && self.hidden.is_some() && mla && ffn && experts
    }

    /// Whether everything is there that parameters and FLOPs need.
    pub(super) fn is_complete(&self) -> bool {
        // A GPT without a printed vocabulary has GPT-2's.
        let vocab = self.vocab.is_some() || self.ffn_is_4h;
        vocab && self.is_complete_but_for_vocab()
    }
}

/// Takes the phrases out of a text, whatever their case; was any there?
fn take(text: &mut String, phrases: &[&str]) -> bool {
    let mut found = false;
    for phrase in phrases {
        while let Some(at) = text.to_ascii_lowercase().find(phrase) {
            text.replace_range(at..at + phrase.len(), " ");
            found = true;
        }
    }
    found
}

/// 32,000 of `32k`.
fn thousands(text: &str) -> Option<u64> {
    let digits = text.strip_suffix(['k', 'K'])?;
    number(digits)?.checked_mul(1_000).filter(|size| *size < 1 << 32)
}

fn number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|value| (1..1 << 32).contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_moe_model_is_read() {
        let words = Words::read(
            "L61(3 dense) h7168 MLA128 (q_lora1536 kv_lora512 qk128+64 v128) E256 top8 \
             moe_ffn2048 shared1 dense_ffn18432 V129280 MTP1",
        )
        .unwrap();
        assert_eq!((words.layers, words.dense_first, words.mtp), (Some(61), 3, 1));
        assert_eq!((words.heads, words.shared, words.ffn), (Some(128), Some(1), Some(18_432)));
        let mla = words.mla.unwrap();
        assert_eq!((mla.q_rank, mla.kv_rank, mla.v_dim), (Some(1_536), Some(512), Some(128)));
        assert_eq!((mla.nope_dim, mla.rope_dim), (Some(128), Some(64)));
        assert!(words.is_complete());
    }

    #[test]
    fn the_first_dense_layers_have_two_spellings() {
        let words = Words::read("L4 first 1 layer dense MLA128 h5120").unwrap();
        assert_eq!((words.layers, words.dense_first), (Some(4), 1));
        assert!(!words.is_complete());
        for text in ["L61 first 3 layers are dense", "L61 (3 layers dense)", "L61, first 3 dense"] {
            let words = Words::read(text).unwrap();
            assert_eq!((words.layers, words.dense_first), (Some(61), 3), "{text}");
        }
    }

    #[test]
    fn remarks_are_read_beside_numbers() {
        let words = Words::read("L16 h2048 heads16 ffn4h MHA (V 51200 assumed)").unwrap();
        assert_eq!((words.vocab, words.assumed.len()), (Some(51_200), 1));
        let words = Words::read("L84 h13824 heads? ffn4h MHA V250880 (padded 250k)").unwrap();
        assert_eq!((words.heads, words.vocab), (None, Some(250_880)));
        let text = "L22 h2304 heads24 ffn4h; first and last stage one layer fewer";
        assert!(Words::read(text).unwrap().short_ends);
        assert_eq!(Words::read("L61+MTP h7680").unwrap().mtp, 1);
        let words = Words::read("L48 (every 2nd MoE) h=5120 E128 top1 RoPE (recalled)").unwrap();
        assert_eq!((words.every_second, words.hidden, words.dense_first), (true, Some(5_120), 0));
    }

    #[test]
    fn keys_of_configuration_files_are_read() {
        let nanotron = Words::read(
            "hidden_size=2048 num_hidden_layers=24 num_attention_heads=16 num_key_value_heads=4 \
             intermediate_size=8192 vocab_size=49152 tie_word_embeddings=true hidden_act=silu \
             max_position_embeddings=4096",
        )
        .unwrap();
        let short = Words::read("L24 h2048 heads16 kv4 ffn8192 V49152 tied gated").unwrap();
        assert_eq!(nanotron, short);
        let maxtext = "base_emb_dim: 4096, base_num_query_heads: 32, base_num_kv_heads: 8, \
                       base_mlp_dim: 14336, base_num_decoder_layers: 32, head_dim: 128, \
                       vocab_size: 128256";
        let short = Words::read("L32 h4096 heads32 kv8 hd128 ffn14336 V128256").unwrap();
        assert_eq!(Words::read(maxtext).unwrap(), short);
        let moe = Words::read(
            "num_layers 27 hidden_size 2048 num_attention_heads 16 kv_lora_rank 512 \
             qk_nope_head_dim 128 qk_rope_head_dim 64 v_head_dim 128 n_routed_experts 64 \
             num_experts_per_tok 6 moe_intermediate_size 1408 n_shared_experts 2 \
             intermediate_size 11264 first_k_dense_replace 1 vocab_size 163840",
        )
        .unwrap();
        assert!(moe.is_complete() && moe.mla.is_some());
        assert_eq!((moe.experts, moe.shared, moe.dense_first), (Some(64), Some(2), 1));
        let mosaic = Words::read("d_model=2560 n_heads=20 n_layers=32 expansion_ratio=4").unwrap();
        assert!(mosaic.ffn_is_4h && mosaic.is_complete());
    }

    #[test]
    fn plain_english_is_read() {
        let words = Words::read("30 layers h4096 ffn12288 MHA, vocab 131072").unwrap();
        assert_eq!((words.layers, words.vocab, words.groups), (Some(30), Some(131_072), None));
        let words =
            Words::read("MoE 16 experts top-4, MHA 32x128, 30 layers h4096 ffn6144").unwrap();
        assert_eq!((words.experts, words.topk), (Some(16), Some(4)));
        assert_eq!((words.heads, words.head_dim), (Some(32), Some(128)));
        let words = Words::read("L44 h6144 64 heads ffn4h, parallel attention and MLP").unwrap();
        assert!(words.parallel && words.is_complete());
        assert_eq!(words.heads, Some(64));
        let words = Words::read("L32 h4096 32 attention heads 8 KV heads ffn14336 SwiGLU").unwrap();
        assert_eq!((words.heads, words.groups, words.gated), (Some(32), Some(8), true));
        assert!(words.is_complete_but_for_vocab() && !words.is_complete());
        let words = Words::read("L56 h6144 heads48/8 fine-grained E64 top8 moe_ffn2048").unwrap();
        assert_eq!((words.groups, words.experts), (Some(8), Some(64)));
        let words = Words::read("64 routed experts, 2 shared experts, top 6").unwrap();
        assert_eq!((words.experts, words.shared, words.topk), (Some(64), Some(2), Some(6)));
        let words = Words::read("hidden size 4096, 32 layers, kv heads 8, head dim 128").unwrap();
        assert_eq!((words.hidden, words.layers), (Some(4_096), Some(32)));
        assert_eq!((words.groups, words.head_dim), (Some(8), Some(128)));
        let words = Words::read("L24 hid2048 inter8192 nh16 nkv4, tied embeddings, V32k").unwrap();
        assert_eq!((words.hidden, words.ffn, words.heads), (Some(2_048), Some(8_192), Some(16)));
        assert!(words.tied && words.vocab == Some(32_000) && words.assumed.len() == 1);
        let same = Words::read("24 layers, 2048 hidden, vocab 32k, 16 heads").unwrap();
        assert_eq!((same.layers, same.hidden, same.heads), (Some(24), Some(2_048), Some(16)));
    }

    #[test]
    fn a_word_that_is_not_understood_is_named() {
        let error = Words::read("L48 h2048 wheels4").unwrap_err();
        assert!(error.contains("wheels4"), "{error}");
        assert!(Words::read("L99999999999999999999").is_err());
        assert!(Words::read("sliding window in every second layer").is_err());
        assert_eq!(inexpressible("hybrid Mamba/attention MoE"), Some(REFUSED[0].1));
    }
}
