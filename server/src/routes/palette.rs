//! `GET /palette.json`: what the palette of every page can find by name.
//!
//! Not a part of the API: it has what the palette shows and nothing else, so that it is light.

use axum::response::Response;
use model::design::KnobId;
use model::file::Tree;
use model::metric::MetricId;
use model::preset::Preset;

use super::json::json_response;
use crate::registry::Takes;

/// `{"knobs":[{"id","label","unit","aliases","values"}],"metrics":[{"id","label","about"}],
/// "presets":[{"id","title","story"}]}`: what can't be turned or opened isn't there.
pub(super) async fn palette() -> Response {
    let knobs = KnobId::ALL.iter().filter(|id| id.knob().not_offered.is_none()).map(|id| {
        let knob = id.knob();
        let values = Takes::for_knob(knob).values.map(|names| Tree::list(names.iter().copied()));
        Tree::map([
            ("id", id.id().into()),
            ("label", knob.label.into()),
            ("unit", knob.unit.into()),
            ("aliases", Tree::list(knob.aliases.iter().copied())),
            ("values", values.into()),
        ])
    });
    let metrics = MetricId::ALL.iter().map(|id| {
        let metric = id.metric();
        Tree::map([
            ("id", metric.name.into()),
            ("label", metric.label.into()),
            ("about", metric.definition.into()),
        ])
    });
    let presets = Preset::all().filter(|preset| preset.refused.is_none()).map(|preset| {
        Tree::map([
            ("id", preset.id.into()),
            ("title", preset.title.into()),
            ("story", preset.story.into()),
        ])
    });
    json_response(&Tree::map([
        ("knobs", Tree::List(knobs.collect())),
        ("metrics", Tree::List(metrics.collect())),
        ("presets", Tree::List(presets.collect())),
    ]))
}
