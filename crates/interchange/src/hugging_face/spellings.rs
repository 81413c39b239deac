//! Keys by the names under which they are read, and sizes that follow from others.

use model::design::file::Tree;

use super::keys;
use crate::draft::MAX_KEYS;

/// A key, and its other names, a blank between two; a dot stands before the key of a map.
///
/// Sources: `configuration_*.py` of `huggingface/transformers` (DBRX, MPT, OPT, GPT-Neo, Gemma 4,
/// Arctic, ERNIE 4.5) and of stepfun-ai/Step-3; deepseek-ai/DeepSeek-V3 `inference/model.py`,
/// `ModelArgs`; meta-llama/llama-models `models/llama4/args.py`; mistralai/mistral-inference
/// `args.py` and `moe.py`.
const NAMES: &[(&str, &str)] = &[
    (
        "num_key_value_heads",
        "n_kv_heads kv_n_heads attn_config.kv_n_heads num_attention_groups n_head_kv \
         num_key_value_heads_per_layer",
    ),
    ("intermediate_size", "inter_dim hidden_dim ffn_dim ffn_config.ffn_hidden_size d_ff"),
    (
        "moe_intermediate_size",
        "moe_inter_dim expert_intermediate_size moe.expert_hidden_dim moe_ffn_hidden_size",
    ),
    ("first_k_dense_replace", "n_dense_layers moe.first_k_dense_replace"),
    (
        "num_experts_per_tok",
        "n_activated_experts top_k_experts moe_top_k ffn_config.moe_top_k moe.num_experts_per_tok \
         moe_args.top_k num_selected_experts moe_router_topk",
    ),
    ("num_experts", "ffn_config.moe_num_experts moe.num_experts moe_args.num_experts"),
    ("n_group", "n_expert_groups moe.num_expert_groups"),
    ("topk_group", "n_limited_groups moe.num_expert_groups_per_tok"),
    ("n_shared_experts", "moe.num_shared_experts"),
    (
        "interleave_moe_layer_step",
        "moe_args.interleave_moe_layer_step moe.route_every_n moe_layer_interval \
         moe_layer_frequency",
    ),
    ("moe_layers", "moe_layers_enum"),
    (
        "shared_expert_intermediate_size",
        "share_expert_dim share_expert_dims shared_experts_intermediate_size",
    ),
    ("routed_scaling_factor", "route_scale moe.routed_scale moe_router_scaling_factor"),
    ("scoring_func", "score_func"),
    ("num_nextn_predict_layers", "n_mtp_layers"),
    ("sliding_window", "window_size local_attention"),
    ("sliding_window_pattern", "_sliding_window_pattern"),
    ("qk_rope_head_dim", "rope_head_dim"),
    ("max_position_embeddings", "max_seq_len"),
    (
        "hidden_act",
        "hidden_activation activation_function mlp_hidden_act ffn_config.ffn_act_fn act_fn \
         activation",
    ),
    ("tie_word_embeddings", "tied_embeddings use_embedding_sharing"),
    ("gated", "use_gated_activation use_glu use_gated_mlp gated_mlp mlp_gated"),
    ("alibi", "attn_config.alibi"),
    ("qk_layernorm", "attn_config.qk_ln"),
    ("conv_kernel", "mamba_d_conv"),
];

/// Maps whose keys are the model's own.
const MAPS: [&str; 4] = ["attn_config", "ffn_config", "moe", "moe_args"];

/// Bytes of layers in a text, at most.
const MAX_LIST: usize = 8_192;

/// The keys of a configuration.
pub(super) struct Entries {
    /// Under the names by which they are read.
    pub(super) read: Vec<(String, Tree)>,
    /// Names by which keys are read, with those that stand in the text.
    pub(super) written: Vec<(String, String)>,
    /// Keys that say nothing because another one does.
    pub(super) doubled: Vec<(String, String)>,
    /// Maps whose keys stand in `read`.
    pub(super) opened: Vec<&'static str>,
}

impl Entries {
    pub(super) fn of(entries: &[(String, Tree)]) -> Self {
        let mut all = Self { read: vec![], written: vec![], doubled: vec![], opened: vec![] };
        for (key, value) in entries {
            if all.count() > MAX_KEYS {
                break;
            }
            let map = MAPS.iter().find(|map| **map == key);
            let (Some(map), Tree::Map(inner)) = (map, value) else {
                all.add(key, value, entries);
                continue;
            };
            all.opened.push(map);
            for (key, value) in inner.iter().take(MAX_KEYS) {
                all.add(&format!("{map}.{key}"), value, entries);
            }
        }
        all.follow();
        all
    }

    fn add(&mut self, key: &str, value: &Tree, given: &[(String, Tree)]) {
        let own = key.rsplit('.').next().unwrap_or(key);
        let plain = (own != key && keys::find(own).is_some()).then_some(own);
        let known = NAMES.iter().find(|(_, names)| names.split(' ').any(|name| name == key));
        let name = known.map(|(name, _)| *name).or(plain);
        let (Some(name), true) = (name, *value != Tree::Null) else {
            return self.read.push((key.to_owned(), value.clone()));
        };
        let says = |(own, value): &(String, Tree)| own == name && *value != Tree::Null;
        if given.iter().any(says) || self.read.iter().any(says) {
            let other = self.written.iter().find(|(own, _)| own == name);
            let by = other.map_or(name, |(_, written)| written).to_owned();
            return self.doubled.push((key.to_owned(), by));
        }
        self.read.retain(|(own, _)| own != name);
        self.written.push((name.to_owned(), key.to_owned()));
        // An activation is a name, or a map with one; layers stand in a list, or in a text.
        let value = match (value, name) {
            (Tree::Map(_), "hidden_act") => value.get("name").unwrap_or(value).clone(),
            (Tree::Text(text), "moe_layers") => layers(text).unwrap_or_else(|| value.clone()),
            _ => value.clone(),
        };
        self.read.push((name.to_owned(), value));
    }

    /// Number of keys.
    pub(super) fn count(&self) -> usize {
        self.read.len() + self.doubled.len()
    }

    fn get(&self, key: &str) -> Option<&Tree> {
        self.read.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    fn number(&self, keys: &[&str]) -> Option<f64> {
        keys.iter().find_map(|key| match self.get(key)? {
            Tree::Unsigned(number) => Some(*number as f64),
            Tree::Real(number) => Some(*number),
            Tree::Null
            | Tree::Flag(_)
            | Tree::Negative(_)
            | Tree::Text(_)
            | Tree::List(_)
            | Tree::Map(_) => None,
        })
    }

    /// Adds a size that follows from another key, where none says it.
    fn size(&mut self, name: &str, value: f64, key: &str) {
        if (1.0..1e9).contains(&value) && self.get(name).is_none() {
            self.read.push((name.to_owned(), Tree::Unsigned(value as u64)));
            self.written.push((name.to_owned(), key.to_owned()));
        }
    }

    /// Adds the sizes that follow from others.
    fn follow(&mut self) {
        let hidden = self.number(&["hidden_size", "dim", "d_model", "n_embd"]).unwrap_or(0.0);
        if let Some(ratio) = self.number(&["expansion_ratio"]) {
            self.size("intermediate_size", (ratio * hidden).trunc(), "expansion_ratio");
        }
        if let Some(multiple) = self.number(&["multiple_of"]).filter(|it| *it >= 1.0) {
            self.widths(hidden, multiple);
        }
        let shares_one = |kind: &Tree| kind.as_text() == Some("multiquery_attention");
        if self.get("attn_config.attn_type").is_some_and(shares_one) {
            self.size("num_key_value_heads", 1.0, "attn_config.attn_type");
        }
    }

    /// Widths of MLPs in the words of Meta's own files.
    ///
    /// Source: meta-llama/llama-models `models/llama3/model.py`, `FeedForward`, and
    /// `models/llama4/moe.py`, `MoE`.
    fn widths(&mut self, hidden: f64, multiple: f64) {
        let factor = self.number(&["ffn_dim_multiplier"]);
        let times = |width: f64| factor.map_or(width, |factor| (factor * width).trunc());
        let whole = |width: f64| (width / multiple).ceil() * multiple;
        let dense = whole(times((8.0 * hidden / 3.0).trunc()));
        if self.opened.contains(&"moe_args") {
            let capacity = self.number(&["moe_args.capacity_factor"]).unwrap_or(1.0);
            let scales = self.get("moe_args.auto_scale_F") != Some(&Tree::Flag(false));
            let shared = if scales { capacity + 1.0 } else { 1.0 };
            let width = self.number(&["ffn_exp"]).unwrap_or(4.0) * hidden;
            let width = times((2.0 * width.trunc() / 3.0).trunc());
            let expert = whole((width / shared).trunc());
            self.size("intermediate_size", expert, "multiple_of");
            self.size("intermediate_size_mlp", dense, "multiple_of");
        } else {
            self.size("intermediate_size", dense, "multiple_of");
        }
    }
}

/// The layers of a text such as `3,4,5`.
fn layers(text: &str) -> Option<Tree> {
    let text = Some(text).filter(|text| text.len() <= MAX_LIST)?;
    let layers = text.split(',').map(|layer| layer.trim().parse().ok().map(Tree::Unsigned));
    layers.collect::<Option<Vec<Tree>>>().map(Tree::List)
}
