//! What can be opened, set and measured, as data: presets, knobs, metrics.

use model::catalogue::preset::{Preset, PresetKind};
use model::design::KnobId;
use model::design::file::Tree;
use model::ground::knob::{Kind, Knob};
use model::metric::{Better, MetricId};

use crate::report::{Published, published};
use crate::typed::{Number, Said, answers};

answers! {
    /// Every preset.
    struct Presets {
        presets: Vec<OnePreset>,
    }

    /// A design to start from.
    #[cfg_attr(feature = "schema", schemars(rename = "Preset"))]
    struct OnePreset {
        id: &'static str,
        title: &'static str,
        /// `model`, `recipe` or `serving`.
        kind: &'static str,
        story: &'static str,
        source: Published,
        /// Why it can't be opened; null where it can.
        refused: Option<&'static str>,
    }

    /// Every knob.
    struct Knobs {
        knobs: Vec<OneKnob>,
    }

    /// A knob with what it takes.
    #[cfg_attr(feature = "schema", schemars(rename = "Knob"))]
    struct OneKnob {
        id: String,
        label: &'static str,
        /// `integer`, `real`, `flag`, `choice`, or another form, which the meaning tells.
        r#type: &'static str,
        /// Can it be unset, `none`?
        optional: bool,
        min: Option<Number>,
        max: Option<Number>,
        /// The names to choose from.
        values: Option<Vec<&'static str>>,
        /// Empty for counts and shares.
        unit: &'static str,
        meaning: &'static str,
        source: Published,
        aliases: Vec<&'static str>,
        /// Is it among those that are shown first?
        primary: bool,
        /// Why it isn't offered; null where it is.
        not_offered: Option<&'static str>,
    }

    /// Every metric.
    struct Metrics {
        metrics: Vec<OneMetric>,
    }

    /// A metric with its definition.
    #[cfg_attr(feature = "schema", schemars(rename = "Metric"))]
    struct OneMetric {
        id: &'static str,
        /// `training` or `serving`.
        regime: &'static str,
        label: &'static str,
        /// Empty for counts and ratios.
        unit: &'static str,
        /// `higher`, `lower`, or null where neither is better by itself.
        better: Option<&'static str>,
        definition: &'static str,
        formula: &'static str,
        source: Published,
    }
}

/// Every preset, those that can't be opened with the reason.
#[must_use]
pub fn presets() -> Tree {
    let presets = Preset::all().chain(Preset::served()).map(|preset| OnePreset {
        id: preset.id,
        title: preset.title,
        kind: kind_name(preset.kind),
        story: preset.story,
        source: published(preset.source),
        refused: preset.refused,
    });
    Presets { presets: presets.collect() }.said()
}

/// Every knob with what it takes, those that aren't offered with the reason.
#[must_use]
pub fn knobs() -> Tree {
    Knobs { knobs: KnobId::ALL.iter().map(|id| knob(*id)).collect() }.said()
}

/// Every metric with its definition, those of training in front.
#[must_use]
pub fn metrics() -> Tree {
    Metrics { metrics: MetricId::ALL.iter().copied().map(metric).collect() }.said()
}

fn metric(id: MetricId) -> OneMetric {
    let (metric, words) = (id.metric(), id.words());
    OneMetric {
        id: metric.name,
        regime: metric.regime.name(),
        label: metric.label,
        unit: metric.unit.name(),
        better: metric.better.map(Better::name),
        definition: words.definition,
        formula: words.formula,
        source: published(words.source),
    }
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

fn knob(id: KnobId) -> OneKnob {
    let knob = id.knob();
    let takes = Takes::for_knob(knob);
    OneKnob {
        id: id.id(),
        label: knob.label,
        r#type: takes.kind,
        optional: takes.optional,
        min: takes.min.map(Number),
        max: takes.max.map(Number),
        values: takes.values.map(<[_]>::to_vec),
        unit: knob.unit,
        meaning: id.words().meaning,
        source: published(id.words().source),
        aliases: knob.aliases.to_vec(),
        primary: knob.primary,
        not_offered: knob.not_offered,
    }
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
    /// Type and limits of a knob's values.
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
            Kind::Arguments => plain("arguments", true),
        }
    }
}
