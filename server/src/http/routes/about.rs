//! `GET /about`: which model computes the numbers, what it knows and what not, its licence, and the
//! bibliography with what rests on each source.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use model::MODEL_VERSION;
use model::catalogue::preset::Preset;
use model::design::KnobId;
use model::ground::source::{self, Source};
use model::metric::{MetricId, Regime};
use present::site::Page;

use crate::http::static_page::Reading;
use crate::site::choices;
use crate::state::AppState;

/// The page.
pub(super) async fn page(State(state): State<AppState>, headers: HeaderMap) -> Response {
    let page = Reading {
        page: Some(Page::About),
        title: Page::About.title(),
        about: Page::About.about(),
        body: body(),
        ..Reading::default()
    };
    page.answer(&state, choices::theme(&headers).as_deref(), StatusCode::OK)
}

/// Items that rest on a source: names with the addresses where they are described.
fn rests_on(source: Source) -> Vec<(&'static str, String)> {
    let metrics = MetricId::of(Regime::Training).filter(|id| id.words().source == source);
    let metrics =
        metrics.map(MetricId::metric).map(|it| (it.label, format!("/guide/metrics#{}", it.name)));
    let knobs = KnobId::ALL.iter().filter(|id| id.words().source == source).map(|id| id.knob());
    let knobs = knobs.map(|it| (it.label, format!("/guide/knobs#{}", it.name)));
    let presets = Preset::all().filter(|it| it.source == source && it.refused.is_none());
    let presets = presets.map(|it| (it.title, format!("/?v=1&preset={}", it.id)));
    presets.chain(metrics).chain(knobs).collect()
}

fn body() -> Markup {
    let all = source::ALL.iter().map(|source| (source, rests_on(*source)));
    let (named, others): (Vec<_>, Vec<_>) = all.partition(|(_, names)| !names.is_empty());
    html! {
        h1 { (Page::About.title()) }
        dl.about-facts {
            dt { "Model version" }
            dd { (MODEL_VERSION) }
            dt { "What it covers" }
            dd { a href="/guide/modelled" { "What is modelled and what is not" } }
            dt { "How far it may be off" }
            dd { a href=(Page::Trust.path()) { "Published runs beside their predictions" } }
            dt { "Licence" }
            dd { a href="https://www.apache.org/licenses/LICENSE-2.0" { "Apache-2.0" } }
        }
        h2 { "Presets, numbers and knobs by their source" }
        div.guide-table.about-sources tabindex="0" { table {
            thead { tr { th scope="col" { "Source" } th scope="col" { "What depends on it" } } }
            tbody { @for (source, names) in &named { tr {
                th scope="row" { (link(source)) }
                td { @for (place, (name, address)) in names.iter().enumerate() {
                    @if place > 0 { ", " }
                    a href=(address) { (name) }
                } }
            } } }
        } }
        h2 { "Sources of formulas, rates and data sheets" }
        ul.about-others { @for (source, _) in &others { li { (link(source)) } } }
    }
}

/// A source by its title; one of our own is to be read nowhere else.
fn link(source: &Source) -> Markup {
    html! {
        @if source.url.is_empty() { (source.title) }
        @else { a href=(source.url) { (source.title) } }
    }
}
