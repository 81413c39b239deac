//! Models by their names: a script that says `--model Qwen/Qwen3-235B-A22B` says how many layers
//! there are.
//!
//! The shapes are those of the presets, and of a [table] of further architectures as their
//! `config.json` has them.

mod names;
mod table;

use model::catalogue::preset::{Preset, PresetKind};
use model::design::{Design, KnobId, Transformer};

use crate::spelling::nearest;

pub(crate) use names::{find, find_within};

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

/// Every name with what it is the name of: those of the presets' architectures, of the rows, and
/// the presets' ids.
fn listed() -> impl Iterator<Item = (&'static str, Known)> {
    let of_presets = Preset::names().flat_map(|it| {
        let own = (it.preset.id, it.preset.id);
        let (name, source) = it.source.map_or(own, |source| (first(it.names), source));
        let known = Known { name, source, shape: Shape::Preset(it.preset.id) };
        it.names.iter().map(move |name| (*name, known))
    });
    let rows = table::ROWS.iter().flat_map(|row| {
        let shape = Shape::Knobs(row.shape);
        let known = Known { name: first(row.names), source: row.source, shape };
        row.names.iter().map(move |name| (*name, known))
    });
    of_presets.chain(rows).chain(presets().map(|preset| {
        let shape = Shape::Preset(preset.id);
        (preset.id, Known { name: preset.id, source: preset.id, shape })
    }))
}

/// The name that is shown of several.
fn first(names: &[&'static str]) -> &'static str {
    names.first().copied().unwrap_or_default()
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

/// The known name that is spelled most like one, where it may be meant.
pub(crate) fn closest(name: &str) -> Option<String> {
    let part = name.rsplit('/').find(|part| !part.is_empty())?;
    let found = nearest(&part.to_lowercase(), names())?;
    find(&found).is_some_and(|known| names::is_near(name, &known)).then_some(found)
}

/// The models that are known by a name, each by the first of its names.
pub fn names() -> impl Iterator<Item = &'static str> {
    let releases = Preset::names().filter(|it| it.source.is_some()).map(|it| first(it.names));
    let rows = table::ROWS.iter().map(|row| first(row.names));
    presets().map(|preset| preset.id).chain(releases).chain(rows)
}

#[cfg(test)]
mod tests;
