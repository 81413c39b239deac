//! `GET /presets`: every preset with its story, the size of its model, its cluster, what the model
//! predicts, and what is published of the same model on the same cluster.
//!
//! `?q=` leaves those in view that have all of its words; a script does the same while one types.

use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use model::Answer;
use model::catalogue::preset::{Preset, PresetKind};
use model::design::{Design, link};
use model::metric::MetricId;
use model::metric::published::of_preset;
use model::serving::{ServingPlan, infer};
use present::form::input;
use present::format::{self, PerUnit};
use present::insight::memory_state;
use present::insight::numbers::Numbers;
use present::page::trust::words;
use present::site::Page;
use present::words::published;
use validation::report::Row;

use crate::answers::validated::validated;
use crate::http::static_page::Reading;
use crate::net::problem::Problem;
use crate::net::query;
use crate::net::work::off_thread;
use crate::site::choices;
use crate::state::AppState;

const TITLE: &str = "Presets";
const ABOUT: &str = "Published runs and models to start from: what each is, how large, on \
                     which cluster, and what the model predicts for it";

/// Published runs that are shown beside a preset at most.
const MAX_RUNS: usize = 3;

const GROUPS: [(PresetKind, &str, &str); 3] = [
    (PresetKind::Recipe, "Published runs", "Cluster and strategy are those of the source."),
    (
        PresetKind::Model,
        "Models",
        "The architecture is published; cluster and strategy are our defaults.",
    ),
    (
        PresetKind::Serving,
        "Published runs of serving",
        "Machine, layout and load are those of the source, but for what the story says.",
    ),
];

/// A preset as the gallery shows it.
struct Card {
    preset: &'static Preset,
    /// Text that the search looks at, in lower case.
    words: String,
    /// The card, but for its opening tag.
    html: Markup,
}

/// All cards; the same for everybody who reads the same unit, so they are made once.
fn cards() -> &'static [Card] {
    static CARDS: PerUnit<Vec<Card>> = PerUnit::new();
    CARDS.get_or_init(|| Preset::all().chain(Preset::served()).map(card).collect())
}

/// The gallery.
pub(super) async fn presets(
    State(state): State<AppState>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default().replace('+', "%20");
    let [asked] = query::parameters(&query, ["q"])?;
    let asked = asked.unwrap_or_default().into_owned();
    let theme = choices::theme(&headers);
    off_thread(move || {
        let body = body(&asked);
        let page = Reading {
            page: Some(Page::Presets),
            title: TITLE,
            about: ABOUT,
            body,
            ..Reading::default()
        };
        page.answer(&state, theme.as_deref(), StatusCode::OK)
    })
    .await
}

fn body(asked: &str) -> Markup {
    let lower = asked.to_lowercase();
    let fits = |card: &Card| lower.split_whitespace().all(|word| card.words.contains(word));
    let found = cards().iter().filter(|card| fits(card)).count();
    let search = input("search").id("gallery-q").name("q").set("data-gallery", "");
    let search =
        search.set("maxlength", "80").set("placeholder", "Such as deepseek, 910b or tight");
    html! {
        h1 { (TITLE) }
        p.muted {
            (ABOUT) ". " a href=(Page::Tour.path()) { "The tour" }
            " goes from the paper's baseline to its final run."
        }
        form.gallery-search role="search" action=(Page::Presets.path()) {
            (search.value(asked).labelled("Find a preset"))
            button.button { "Find" }
            p #gallery-count role="status" {
                (format::counted(found as u64, "preset", "presets"))
            }
        }
        p #gallery-none hidden[found > 0] {
            "No preset matches. " a href="/import" { "Import a config.json" }
            " of your own and find its layouts."
        }
        @for (place, (kind, title, about)) in GROUPS.into_iter().enumerate() {
            @let of_kind = || cards().iter().filter(|card| card.preset.kind == kind);
            // The first alone is long enough; a search opens what it finds.
            details.gallery-group hidden[!of_kind().any(fits)]
                open[place == 0 || !lower.is_empty()] {
                summary { h2 { (title) " (" (of_kind().count()) ")" } }
                p.muted { (about) }
                div.gallery-cards {
                    @for card in of_kind() {
                        article.card.gallery-card data-preset=(card.preset.id)
                            data-words=(card.words) aria-labelledby={ "preset-" (card.preset.id) }
                            hidden[!fits(card)] { (card.html) }
                    }
                }
            }
        }
    }
}

fn card(preset: &'static Preset) -> Card {
    let is_served = preset.kind == PresetKind::Serving;
    let facts = match preset.refused {
        Some(_) => Vec::new(),
        None if is_served => served_facts(&preset.design()),
        None => facts(&preset.design()),
    };
    let page = if is_served { Page::Serving } else { Page::Explorer };
    let mut words = format!("{} {} {}", preset.id, preset.title, preset.story);
    words.extend(facts.iter().map(|(_, text)| format!(" {text}")));
    let source = preset.source;
    let html = html! {
        h3 id={ "preset-" (preset.id) } {
            @if preset.refused.is_some() { (preset.title) }
            @else { a href={ (page.path()) "?v=1&preset=" (preset.id) } { (preset.title) } }
        }
        p { (preset.story) }
        @if let Some(reason) = preset.refused {
            p.muted { "Can't be opened: " (reason) }
        } @else {
            dl.gallery-facts {
                @for (name, text) in &facts { div { dt { (name) } dd { (text) } } }
            }
            @if !is_served {
                a href={ (Page::Find.path()) "?v=1&preset=" (preset.id) } { "Find layouts" }
                (runs(preset))
            }
        }
        p.muted.gallery-source {
            "Source: "
            @if source.url.is_empty() { (source.title) }
            @else { a href=(source.url) rel="noopener" { (source.title) } }
        }
    };
    Card { preset, words: words.to_lowercase(), html }
}

/// Facts on a design: its cluster, and what the model predicts.
fn facts(design: &Design) -> Vec<(&'static str, String)> {
    let cluster = &design.cluster;
    let devices =
        format!("{} × {}", format::whole(cluster.num_devices), cluster.accelerator.row().title,);
    let Some(numbers) = Numbers::of(design) else { return vec![("Cluster", devices)] };
    let metrics = &numbers.estimate.metrics;
    let value = |id: MetricId| format::metric(id, metrics.get(id)).to_string();
    let size = format!(
        "{} parameters, {} active",
        value(MetricId::params_total),
        value(MetricId::params_active)
    );
    let rate = format!("{} per device", value(MetricId::tokens_per_second_per_device));
    vec![
        ("Model", size),
        ("Cluster", devices),
        ("Predicted MFU", value(MetricId::mfu)),
        ("Throughput", rate),
        ("Step time", value(MetricId::step_time_seconds)),
        (
            "Memory",
            format!("{}. {}", value(MetricId::memory_peak_bytes), memory_state::sentence(&numbers)),
        ),
    ]
}

/// Facts on a design that serves: its cluster, and what the model predicts.
fn served_facts(design: &Design) -> Vec<(&'static str, String)> {
    let cluster = &design.cluster;
    let devices =
        format!("{} × {}", format::whole(cluster.num_devices), cluster.accelerator.row().title);
    let Ok(plan) = ServingPlan::new(design) else { return vec![("Cluster", devices)] };
    let inference = infer(&plan);
    let answer = Answer::Serving { plan: &plan, inference: &inference };
    let shown = |id: MetricId| (id.metric().label, format::metric(id, answer.get(id)));
    let numbers = [
        MetricId::output_tokens_per_second_per_device,
        MetricId::tpot_seconds,
        MetricId::ttft_seconds,
        MetricId::kv_limited_concurrency,
    ];
    let numbers = numbers.map(shown).map(|(label, value)| (label, value.to_string()));
    std::iter::once(("Cluster", devices)).chain(numbers).collect()
}

/// Runs that are published of the same model on as many of the same accelerators.
fn runs(preset: &'static Preset) -> Markup {
    let own = preset.design();
    let rows = validated().served.rows.iter().filter(|row| is_of(row, &own));
    let rows: Vec<&Row> = rows.take(MAX_RUNS).collect();
    let reported: Vec<_> = of_preset(preset.id).collect();
    html! {
        @if !rows.is_empty() || !reported.is_empty() {
            h4 { "Published" }
            ul.gallery-published {
                @if let Some(numbers) = Numbers::of(&own) {
                    @let metrics = &numbers.estimate.metrics;
                    @for row in reported { li { (published::comparison(row, metrics)) } }
                }
                @for row in rows {
                    li {
                        (row.metric.as_deref().map_or("", words::metric_label)) " "
                        (words::value(row, row.measured)) " (predicted "
                        (words::value(row, row.predicted)) ", "
                        (row.error.map_or_else(String::new, words::error)) "), " (row.id) ": "
                        @if row.source.starts_with("https://") {
                            a href=(row.source) rel="noopener" { "source" }
                        } @else { (row.source) }
                    }
                }
            }
        }
    }
}

/// Whether a published run is one of this design's model on this design's cluster, with a number.
fn is_of(row: &Row, own: &Design) -> bool {
    let is_compared = row.measured.is_some() && row.predicted.is_some();
    let query = row.design.as_deref().filter(|_| is_compared && row.kind == "train_step");
    let Some(Ok(design)) = query.map(link::decode) else { return false };
    design.transformer == own.transformer
        && design.cluster.accelerator == own.cluster.accelerator
        && design.cluster.num_devices == own.cluster.num_devices
}
