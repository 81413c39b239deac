//! Models by their names: a script that says `--model Qwen/Qwen3-235B-A22B` says how many layers
//! there are.
//!
//! The shapes are those of the presets, and of a [table] of further architectures as their
//! `config.json` has them.

mod table;

use model::design::{Design, KnobId, Transformer};
use model::preset::{Preset, PresetKind};

use crate::spelling::nearest;

/// A model whose shape is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Known {
    /// Its name as the hub spells it, in lower case and without its owner.
    pub(crate) name: &'static str,
    /// Where its shape is published: the page on the hub, or the preset.
    pub(crate) source: &'static str,
    /// Knobs of the section `transformer` that differ from a plain Llama of 32 layers.
    shape: Shape,
}

/// A model whose configuration is a file beside the text.
pub(crate) const BESIDE: Known =
    Known { name: "config.json", source: "config.json", shape: Shape::Knobs("") };

/// Where the shape stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Preset(&'static str),
    Knobs(&'static str),
}

impl Known {
    /// The shape.
    pub(crate) fn transformer(&self) -> Transformer {
        let text = match self.shape {
            Shape::Preset(id) => {
                return Design::from_preset(id)
                    .map_or_else(|_| Transformer::default(), |design| design.transformer);
            }
            Shape::Knobs(text) => text,
        };
        let Ok(mut design) = Design::from_preset(Preset::DEFAULT_ID) else {
            return Transformer::default();
        };
        design.transformer = Transformer::default();
        for (name, value) in text.split_whitespace().filter_map(|knob| knob.split_once('=')) {
            if let Ok(knob) = KnobId::find(&format!("transformer.{name}")) {
                // A test sets each of them.
                let _ = design.set_text(knob, value);
            }
        }
        design.transformer
    }
}

/// Endings of names that say how a model was trained on, stored or converted, not what shape it
/// has.
const ENDINGS: [&str; 40] = [
    ".yaml",
    ".yml",
    ".json",
    ".toml",
    "instruct",
    "base",
    "chat",
    "thinking",
    "reasoning",
    "fp8",
    "bf16",
    "nvfp4",
    "mxfp4",
    "int4",
    "awq",
    "gptq",
    "hf",
    "mcore",
    "torchdist",
    "slime",
    "mg",
    "pretrain",
    "sft",
    "original",
    "exp",
    "v0.1",
    "v0.2",
    "v0.3",
    "2507",
    "2512",
    "0324",
    "0528",
    "0711",
    "0905",
    "128e",
    "16e",
    "terminus",
    "speciale",
    "it",
    "online",
];

/// Beginnings that name an owner.
const BEGINNINGS: [&str; 4] = ["meta", "nvidia", "hf", "xai"];

/// A name without what doesn't change the shape, and without its dashes.
fn plain(name: &str) -> String {
    let lower = name.trim().trim_matches(['"', '\'', '/']).to_lowercase();
    let mut plain: String = lower.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect();
    loop {
        let before = plain.len();
        for ending in ENDINGS {
            if let Some(rest) = plain.strip_suffix(ending).filter(|rest| !rest.is_empty()) {
                plain = rest.to_owned();
            }
        }
        if plain.len() == before {
            break;
        }
    }
    for beginning in BEGINNINGS {
        if let Some(rest) = plain.strip_prefix(beginning).filter(|rest| !rest.is_empty()) {
            return rest.to_owned();
        }
    }
    plain
}

/// The model of a name or path: `Qwen/Qwen3-8B`, `/data/Qwen3-8B_torch_dist/`, `qwen3_8b.yaml`.
pub(crate) fn find(name: &str) -> Option<Known> {
    let parts = name.split(['/', ':', '@', '#']).filter(|part| !part.is_empty());
    parts.rev().take(4).find_map(by_part)
}

/// The model that a run's or file's name begins with or has inside: `dsv3-32nodes`,
/// `deepseek_v3_pretrain_1024gpu`.
pub(crate) fn find_within(name: &str) -> Option<Known> {
    let name: String = name.chars().take(200).collect();
    let words: Vec<&str> =
        name.split(['-', '_', '/', ' ', ':']).filter(|word| !word.is_empty()).collect();
    let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    (0..words.len().min(12)).find_map(|first| {
        let most = words.len().min(first + 6);
        (first + 1..=most).rev().find_map(|end| {
            let part = words.get(first..end)?.join("-");
            if has_digit(&part) && part.len() > 3 { by_part(&part) } else { None }
        })
    })
}

fn by_part(part: &str) -> Option<Known> {
    if part.len() > 120 {
        return None;
    }
    let wanted = plain(part);
    let row = table::ROWS.iter().find(|row| row.names.iter().any(|name| plain(name) == wanted));
    if let Some(row) = row {
        let name = row.names.first().copied().unwrap_or_default();
        let shape = if row.shape.contains('=') {
            Shape::Knobs(row.shape)
        } else {
            Shape::Preset(row.shape)
        };
        return Some(Known { name, source: row.source, shape });
    }
    let preset = presets().find(|preset| plain(preset.id) == wanted)?;
    Some(Known { name: preset.id, source: preset.id, shape: Shape::Preset(preset.id) })
}

fn presets() -> impl Iterator<Item = &'static Preset> {
    Preset::all().filter(|preset| preset.kind == PresetKind::Model && preset.refused.is_none())
}

/// The model that has as many layers, as wide, with as many heads and experts as a shape.
pub(crate) fn of_shape(shape: &Transformer) -> Option<Known> {
    let sizes = |it: &Transformer| {
        let experts = (it.num_moe_experts, it.moe_ffn_hidden_size);
        let heads = (it.num_attention_heads, it.num_query_groups, it.multi_latent_attention);
        (it.num_layers, it.hidden_size, it.ffn_hidden_size, heads, experts)
    };
    let wanted = sizes(shape);
    names().filter_map(find).find(|known| sizes(&known.transformer()) == wanted)
}

/// The known name that is spelled most like one.
pub(crate) fn closest(name: &str) -> Option<String> {
    let part = name.rsplit('/').find(|part| !part.is_empty())?;
    nearest(&part.to_lowercase(), names())
}

/// The known names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    let rows = table::ROWS.iter().filter_map(|row| row.names.first().copied());
    presets().map(|preset| preset.id).chain(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_knob_of_every_row_is_set_and_every_name_is_one_model() {
        let mut seen: Vec<String> = vec![];
        for row in table::ROWS {
            let mut design = Design::from_preset(Preset::DEFAULT_ID).unwrap();
            design.transformer = Transformer::default();
            for (name, value) in row.shape.split_whitespace().filter_map(|it| it.split_once('=')) {
                let knob = KnobId::find(&format!("transformer.{name}")).unwrap();
                design.set_text(knob, value).unwrap();
            }
            if !row.shape.contains('=') {
                assert!(Design::from_preset(row.shape).is_ok(), "{}", row.shape);
            }
            for name in row.names {
                let plain = plain(name);
                assert!(!seen.contains(&plain), "{name} stands twice");
                seen.push(plain);
            }
        }
    }

    #[test]
    fn a_name_is_found_however_it_is_written() {
        for (written, name) in [
            ("Qwen/Qwen3-235B-A22B", "qwen3-235b-a22b"),
            ("Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b"),
            ("/root/ckpt/Qwen3-30B-A3B_torch_dist/", "qwen3-30b-a3b"),
            ("qwen2.5_72B.yaml", "qwen2.5-72b"),
            ("deepseek_v3", "deepseek-v3"),
            ("deepseek-ai/DeepSeek-R1", "deepseek-r1"),
            ("meta-llama/Meta-Llama-3.1-70B", "llama-3.1-70b"),
            ("mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"),
            ("$BASE_DIR/Kimi-K2-Instruct/", "kimi-k2"),
        ] {
            assert_eq!(find(written).map(|known| known.name), Some(name), "{written}");
        }
        // Sizes that share all but a point are two models.
        assert_ne!(find("qwen2-57b-a14b").map(|known| known.name), Some("qwen2.5-7b"));
        assert_eq!(find("/path/to/my/model"), None);
        assert_eq!(closest("org/deepseek-v33").as_deref(), Some("deepseek-v3"));
    }

    #[test]
    fn a_row_has_the_parameters_that_its_name_says() {
        for (name, billions) in [
            ("qwen2.5-72b", 72.7),
            ("qwen2.5-7b", 7.6),
            ("qwen3-14b", 14.8),
            ("qwen3-4b", 4.0),
            ("qwen1.5-moe-a2.7b", 14.3),
            ("qwen2-57b-a14b", 57.4),
            ("qwen3-coder-480b-a35b", 480.0),
            ("deepseek-v2", 236.0),
            ("deepseek-v2-lite", 15.7),
            ("grok-1", 314.0),
            ("grok-2", 270.0),
            ("llama-2-7b", 6.7),
            ("llama-2-70b", 69.0),
            ("glm-4.7-flash", 30.0),
            ("qwen3.5-397b-a17b", 397.0),
            ("gpt-neox-20b", 20.6),
        ] {
            let preset = Preset::find(Preset::DEFAULT_ID).unwrap();
            let mut design = Design::neutral(preset);
            design.transformer = find(name).unwrap().transformer();
            let found = parameters(&design) / 1e9;
            assert!((found / billions - 1.0).abs() < 0.05, "{name}: {found} of {billions}");
        }
    }

    fn parameters(design: &Design) -> f64 {
        let plan = model::Plan::new(design).unwrap_or_else(|broken| panic!("{broken:?}"));
        model::estimate(&plan).metrics.params_total as f64
    }
}
