//! The words of an architecture, such as `L48 h2048 heads32 kv4 hd128 E128 top8 moe_ffn768`.

/// What the words say; `None` is what they leave open.
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
    pub(super) mtp: u64,
    /// MosaicML's MPT: no biases, no position embedding, tied embeddings.
    pub(super) mpt: bool,
    pub(super) tied: bool,
    pub(super) untied: bool,
    pub(super) qkv_bias: bool,
    pub(super) qk_norm: bool,
    /// The first and the last stage have one layer fewer than the others.
    pub(super) short_ends: bool,
    /// What the words themselves call an assumption.
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
const REFUSED: [(&str, &str); 10] = [
    ("mamba", "a hybrid of Mamba and attention"),
    ("ssm", "a hybrid of Mamba and attention"),
    ("encoder", "an encoder"),
    ("vision", "a vision model"),
    ("multimodal", "a vision model"),
    ("diffusion", "a diffusion model"),
    ("lora", "LoRA trains few weights only"),
    ("linear attention", "linear attention"),
    ("sparse attention", "sparse attention"),
    ("sink", "attention sinks"),
];

/// Words that change neither parameters nor FLOPs, or that other words already say.
const REMARKS: [&str; 31] = [
    "first",
    "dense",
    "dense,",
    "gqa",
    "mla",
    "moe",
    "rope",
    "rotary",
    "alibi",
    "rmsnorm",
    "layernorm",
    "gelu",
    "squared",
    "relu",
    "relu2",
    "recalled",
    "inferred",
    "approx",
    "approx.",
    "printed",
    "and",
    "with",
    "all",
    "layers",
    "layer",
    "no",
    "bias",
    "causal",
    "decoder",
    "vocab",
    "experts",
];

/// Why no knob expresses what this text speaks of.
pub(super) fn inexpressible(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    REFUSED.iter().find(|(phrase, _)| text.contains(phrase)).map(|(_, reason)| *reason)
}

const SHORT_ENDS: &str = "first and last stage one layer fewer";
const EVERY_SECOND: [&str; 4] =
    ["every 2nd MoE", "every second MoE", "MoE every 2nd layer", "every 2nd layer MoE"];

impl Words {
    /// Reads them.
    ///
    /// # Errors
    /// The word that isn't understood.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut words = Self { short_ends: text.contains(SHORT_ENDS), ..Self::default() };
        let mut text = text.replace(SHORT_ENDS, " ").replace('=', "");
        for phrase in EVERY_SECOND {
            words.every_second |= text.contains(phrase);
            text = text.replace(phrase, " ");
        }
        let separators = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ';' | ',' | '|');
        let list: Vec<&str> = text.split(separators).filter(|word| !word.is_empty()).collect();
        let mut index = 0;
        while let Some(word) = list.get(index) {
            let next = list.get(index + 1).copied().unwrap_or_default();
            index += 1;
            if words.read_pair(word, next) {
                index += 1;
                continue;
            }
            if !words.read_word(word) {
                let word: String = word.chars().take(40).collect();
                return Err(format!("its architecture has `{word}`, which isn't understood"));
            }
        }
        Ok(words)
    }

    /// Two words that belong together.
    fn read_pair(&mut self, word: &str, next: &str) -> bool {
        if word == "V" && number(next).is_some() {
            self.vocab = number(next);
            return true;
        }
        // `3 dense` and `first 1 layer dense`.
        if let Some(count) = number(word)
            && matches!(next, "dense" | "layer" | "layers")
        {
            self.dense_first = count;
            return true;
        }
        // `padded 250k` only explains the vocabulary.
        word == "padded"
    }

    fn read_word(&mut self, word: &str) -> bool {
        match word {
            "MHA" => self.groups = None,
            "MQA" => self.groups = Some(1),
            "MPT" => self.mpt = true,
            "tied" => self.tied = true,
            "untied" => self.untied = true,
            "qkv_bias" => self.qkv_bias = true,
            "qk_norm" | "qk-norm" => self.qk_norm = true,
            "gated" | "SwiGLU" | "GeGLU" | "swiglu" | "geglu" => self.gated = true,
            "non-gated" | "nongated" => self.not_gated = true,
            "ffn4h" => self.ffn_is_4h = true,
            "heads?" => self.heads = None,
            "MTP" => self.mtp = 1,
            "assumed" => self.assumed.push("the source's vocabulary is assumed".to_owned()),
            _ if REMARKS.contains(&word.to_lowercase().as_str()) => {}
            _ => return self.read_number(word),
        }
        true
    }

    fn read_number(&mut self, word: &str) -> bool {
        if let Some(rest) = word.strip_suffix("+MTP") {
            self.mtp = 1;
            return self.read_number(rest);
        }
        if let Some((left, right)) = word.strip_prefix("qk").and_then(|dims| dims.split_once('+')) {
            let mla = self.mla.get_or_insert_default();
            (mla.nope_dim, mla.rope_dim) = (number(left), number(right));
            return mla.nope_dim.is_some() && mla.rope_dim.is_some();
        }
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let Some(value) = number(&word[name.len()..]) else { return false };
        let mla = |words: &mut Self, set: fn(&mut Mla, u64)| {
            set(words.mla.get_or_insert_default(), value);
        };
        match name {
            "L" => self.layers = Some(value),
            "h" => self.hidden = Some(value),
            "heads" => self.heads = Some(value),
            "kv" => self.groups = Some(value),
            "hd" => self.head_dim = Some(value),
            "ffn" | "dense_ffn" => self.ffn = Some(value),
            "E" => self.experts = Some(value),
            "top" => self.topk = Some(value),
            "moe_ffn" => self.expert_ffn = Some(value),
            "shared" => self.shared = Some(value),
            "V" => self.vocab = Some(value),
            "SWA" => self.window = Some(value),
            "MTP" => self.mtp = value,
            "MLA" => {
                self.heads = Some(value);
                self.mla.get_or_insert_default();
            }
            "q_lora" => mla(self, |mla, value| mla.q_rank = Some(value)),
            "kv_lora" => mla(self, |mla, value| mla.kv_rank = Some(value)),
            "v" => mla(self, |mla, value| mla.v_dim = Some(value)),
            _ => return false,
        }
        true
    }

    /// Is everything there that parameters and FLOPs need?
    pub(super) fn is_complete(&self) -> bool {
        let mla = self.mla.is_none_or(|mla| {
            mla.kv_rank.is_some() && mla.nope_dim.is_some() && mla.v_dim.is_some()
        });
        let ffn = self.ffn.is_some() || self.ffn_is_4h || self.expert_ffn.is_some();
        let experts = self.experts.is_none() || self.topk.is_some();
        // A GPT without a printed vocabulary has GPT-2's.
        let vocab = self.vocab.is_some() || self.ffn_is_4h;
        self.layers.is_some() && self.hidden.is_some() && mla && ffn && experts && vocab
    }
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
    fn a_word_that_is_not_understood_is_named() {
        let error = Words::read("L48 h2048 wheels4").unwrap_err();
        assert!(error.contains("wheels4"), "{error}");
        assert!(Words::read("L99999999999999999999").is_err());
        assert!(Words::read("sliding window in every second layer").is_err());
        assert_eq!(inexpressible("hybrid Mamba/attention MoE"), Some(REFUSED[0].1));
    }
}
