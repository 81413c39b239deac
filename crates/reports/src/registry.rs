//! What can be opened, set and measured, as data: presets, knobs, metrics.

use model::design::KnobId;
use model::file::Tree;
use model::knob::{Kind, Knob};
use model::measure::Measure;
use model::metric::{Better, Metric, Words};
use model::preset::{Preset, PresetKind};

use crate::report::source;

/// Every preset, those that can't be opened with the reason.
#[must_use]
pub fn presets() -> Tree {
    let presets = Preset::all().chain(Preset::served()).map(|preset| {
        Tree::map([
            ("id", preset.id.into()),
            ("title", preset.title.into()),
            ("kind", kind_name(preset.kind).into()),
            ("story", preset.story.into()),
            ("source", source(preset.source)),
            ("refused", preset.refused.into()),
        ])
    });
    Tree::map([("presets", Tree::List(presets.collect()))])
}

/// Every knob with what it takes, those that aren't offered with the reason.
#[must_use]
pub fn knobs() -> Tree {
    let knobs = KnobId::ALL.iter().map(|id| knob(*id));
    Tree::map([("knobs", Tree::List(knobs.collect()))])
}

/// Every metric with its definition, those of training in front.
#[must_use]
pub fn metrics() -> Tree {
    let rows = Measure::all().map(|it| metric(it.kind(), it.metric(), it.words()));
    Tree::map([("metrics", Tree::List(rows.collect()))])
}

fn metric(regime: &str, metric: &Metric, words: &Words) -> Tree {
    Tree::map([
        ("id", metric.name.into()),
        ("regime", regime.into()),
        ("label", metric.label.into()),
        ("unit", metric.unit.into()),
        ("better", metric.better.map(Better::name).into()),
        ("definition", words.definition.into()),
        ("formula", words.formula.into()),
        ("source", source(words.source)),
    ])
}

/// A preset's kind, by its public name.
#[must_use]
pub const fn kind_name(kind: PresetKind) -> &'static str {
    match kind {
        PresetKind::Model => "model",
        PresetKind::Recipe => "recipe",
        PresetKind::Serving => "serving",
    }
}

fn knob(id: KnobId) -> Tree {
    let knob = id.knob();
    let takes = Takes::for_knob(knob);
    Tree::map([
        ("id", id.id().into()),
        ("label", knob.label.into()),
        ("type", takes.kind.into()),
        ("optional", takes.optional.into()),
        ("min", takes.min.into()),
        ("max", takes.max.into()),
        ("values", takes.values.map(|names| Tree::list(names.iter().copied())).into()),
        ("unit", knob.unit.into()),
        ("meaning", id.words().meaning.into()),
        ("source", source(id.words().source)),
        ("aliases", Tree::list(knob.aliases.iter().copied())),
        ("primary", knob.primary.into()),
        ("not_offered", knob.not_offered.into()),
    ])
}

/// The values that a knob takes, flat.
#[derive(Clone, Debug)]
pub struct Takes {
    /// The public name of the type.
    pub kind: &'static str,
    /// Whether it can be unset, `none`.
    pub optional: bool,
    /// The least number.
    pub min: Option<Tree>,
    /// The largest number.
    pub max: Option<Tree>,
    /// The names to choose from.
    pub values: Option<&'static [&'static str]>,
}

impl Takes {
    /// What a knob takes.
    #[must_use]
    pub fn for_knob(knob: &Knob) -> Self {
        let plain = |kind, optional| Self { kind, optional, min: None, max: None, values: None };
        let between = |kind, optional, min: Tree, max: Tree| Self {
            min: Some(min),
            max: Some(max),
            ..plain(kind, optional)
        };
        let names = |kind, optional, values| Self { values: Some(values), ..plain(kind, optional) };
        match knob.kind {
            Kind::Integer(min, max) => between("integer", false, min.into(), max.into()),
            Kind::OptionalInteger(min, max) => between("integer", true, min.into(), max.into()),
            Kind::Real(min, max) => between("real", false, min.into(), max.into()),
            Kind::OptionalReal(min, max) => between("real", true, min.into(), max.into()),
            Kind::Flag => plain("flag", false),
            Kind::Choice(values) => names("choice", false, values),
            Kind::Subset(values) => names("subset", true, values),
            Kind::LayerFreq => plain("layer_freq", false),
            Kind::PerStage(max) => between("per_stage", true, Tree::Unsigned(0), max.into()),
            Kind::PositionList(max) => between("positions", true, Tree::Unsigned(0), max.into()),
            Kind::LayerPattern(_) => plain("layer_pattern", true),
            Kind::Layout => plain("layout", true),
            Kind::Hash => plain("hash", true),
            Kind::Name => plain("name", true),
        }
    }
}
