//! `GET /presets`: every preset with its story, the size of its model, its cluster, what the model
//! predicts, and what is published of the same model on the same cluster.
//!
//! `?q=` leaves those in view that have all of its words; a script does the same while one types.

use std::fmt::Write as _;

use app::insight::memory_state;
use app::insight::numbers::Numbers;
use app::page::trust::words;
use app::panel::header::{PRESETS_PATH, TOUR_PATH};
use app::present::format::{self, PerUnit};
use app::present::html::{element, escape_into, escaped};
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use model::design::Design;
use model::link;
use model::metric::MetricId;
use model::preset::{Preset, PresetKind};
use validation::report::Row;

use super::page::off_thread;
use crate::choices;
use crate::problem::Problem;
use crate::query;
use crate::reading::Reading;
use crate::state::AppState;
use crate::validated::validated;

const TITLE: &str = "Presets";
const ABOUT: &str = "Published training runs and models to start from: what each is, how large, on \
                     which cluster, and what the model predicts for it";

/// Published runs that are shown beside a preset at most.
const MAX_RUNS: usize = 3;

const GROUPS: [(PresetKind, &str, &str); 2] = [
    (PresetKind::Recipe, "Published runs", "Cluster and strategy are those of the source."),
    (
        PresetKind::Model,
        "Models",
        "The architecture is the published one; cluster and strategy are ours, to begin with.",
    ),
];

/// A preset as the gallery shows it.
struct Card {
    preset: &'static Preset,
    /// What the search looks at, in lower case.
    words: String,
    /// The card, but for its opening tag.
    html: String,
}

/// All cards; the same for everybody who reads the same unit, so they are made once.
fn cards() -> &'static [Card] {
    static CARDS: PerUnit<Vec<Card>> = PerUnit::new();
    CARDS.get_or_init(|| Preset::all().map(card).collect())
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
        let body = body.as_str();
        let page =
            Reading { path: PRESETS_PATH, title: TITLE, about: ABOUT, body, ..Reading::default() };
        page.answer(&state, theme.as_deref(), StatusCode::OK)
    })
    .await
}

fn body(asked: &str) -> String {
    let lower = asked.to_lowercase();
    let fits = |card: &Card| lower.split_whitespace().all(|word| card.words.contains(word));
    let found = cards().iter().filter(|card| fits(card)).count();
    let mut html = String::new();
    element(&mut html, "h1", "", TITLE);
    // Writing to a string can't fail.
    let _ = write!(
        html,
        "<p class=\"muted\">{ABOUT}. <a href=\"{TOUR_PATH}\">The tour</a> goes from the paper's \
         baseline to its final run.</p>\
         <form class=\"gallery-search\" role=\"search\" action=\"{PRESETS_PATH}\">\
         <label for=\"gallery-q\">Find a preset</label>\
         <input type=\"search\" id=\"gallery-q\" name=\"q\" data-gallery=\"\" autocomplete=\"off\" \
         maxlength=\"80\" placeholder=\"Such as deepseek, 910b or tight\" value=\"{}\">\
         <button class=\"button\">Find</button>\
         <p id=\"gallery-count\" role=\"status\">{}</p></form>",
        escaped(asked),
        format::counted(found as u64, "preset", "presets"),
    );
    let hidden = if found == 0 { "" } else { " hidden" };
    let _ = write!(
        html,
        "<p id=\"gallery-none\"{hidden}>No preset has these words. \
         <a href=\"/import\">Import a config.json</a> of your own and find its layouts.</p>"
    );
    for (kind, title, about) in GROUPS {
        let of_kind = || cards().iter().filter(|card| card.preset.kind == kind);
        let hidden = if of_kind().any(fits) { "" } else { " hidden" };
        let _ = write!(html, "<section class=\"gallery-group\"{hidden}>");
        element(&mut html, "h2", "", title);
        element(&mut html, "p", "class=\"muted\"", about);
        html.push_str("<div class=\"gallery-cards\">");
        for card in of_kind() {
            let hidden = if fits(card) { "" } else { " hidden" };
            let _ = write!(
                html,
                "<article class=\"card gallery-card\" data-preset=\"{id}\" data-words=\"{}\" \
                 aria-labelledby=\"preset-{id}\"{hidden}>{}</article>",
                escaped(&card.words),
                card.html,
                id = card.preset.id,
            );
        }
        html.push_str("</div></section>");
    }
    html
}

fn card(preset: &'static Preset) -> Card {
    let mut html = String::new();
    let _ = write!(html, "<h3 id=\"preset-{}\">", preset.id);
    match preset.refused {
        None => {
            let attributes = format!("href=\"/?v=1&amp;preset={}\"", preset.id);
            element(&mut html, "a", &attributes, preset.title);
        }
        Some(_) => escape_into(&mut html, preset.title),
    }
    html.push_str("</h3>");
    element(&mut html, "p", "", preset.story);
    let mut words = format!("{} {} {}", preset.id, preset.title, preset.story);
    match preset.refused {
        Some(reason) => {
            element(&mut html, "p", "class=\"muted\"", &format!("Can't be opened: {reason}"));
        }
        None => {
            let facts = facts(&preset.design());
            words.extend(facts.iter().map(|(_, text)| format!(" {text}")));
            html.push_str("<dl class=\"gallery-facts\">");
            for (name, text) in &facts {
                html.push_str("<div>");
                element(&mut html, "dt", "", name);
                element(&mut html, "dd", "", text);
                html.push_str("</div>");
            }
            html.push_str("</dl>");
            let find = format!("href=\"{}?v=1&amp;preset={}\"", app::page::find::PATH, preset.id);
            element(&mut html, "a", &find, "Find layouts");
            runs(&mut html, preset);
        }
    }
    html.push_str("<p class=\"muted gallery-source\">Source: ");
    let source = preset.source;
    if source.url.is_empty() {
        escape_into(&mut html, source.title);
    } else {
        let attributes = format!("href=\"{}\" rel=\"noopener\"", escaped(source.url));
        element(&mut html, "a", &attributes, source.title);
    }
    html.push_str("</p>");
    Card { preset, words: words.to_lowercase(), html }
}

/// What a design is and what the model says of it.
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

/// Runs that are published of the same model on as many of the same accelerators.
fn runs(html: &mut String, preset: &'static Preset) {
    let own = preset.design();
    let rows = validated().served.rows.iter().filter(|row| is_of(row, &own));
    let rows: Vec<&Row> = rows.take(MAX_RUNS).collect();
    let reported: Vec<_> = app::present::published::published(preset.id).collect();
    if rows.is_empty() && reported.is_empty() {
        return;
    }
    html.push_str("<h4>Published</h4><ul class=\"gallery-published\">");
    if let Some(numbers) = Numbers::of(&own) {
        for row in reported {
            element(html, "li", "", &row.beside(&numbers.estimate.metrics));
        }
    }
    for row in rows {
        let metric = row.metric.as_deref().map_or("", words::metric_label);
        let error = row.error.map_or_else(String::new, words::error);
        let text = format!(
            "{metric} {} (predicted {}, {error}), {}: ",
            words::value(row, row.measured),
            words::value(row, row.predicted),
            row.id,
        );
        html.push_str("<li>");
        escape_into(html, &text);
        if row.source.starts_with("https://") {
            let attributes = format!("href=\"{}\" rel=\"noopener\"", escaped(&row.source));
            element(html, "a", &attributes, "source");
        } else {
            escape_into(html, &row.source);
        }
        html.push_str("</li>");
    }
    html.push_str("</ul>");
}

/// Is a published run one of this design's model on this design's cluster, with a number?
fn is_of(row: &Row, own: &Design) -> bool {
    let is_compared = row.measured.is_some() && row.predicted.is_some();
    let query = row.design.as_deref().filter(|_| is_compared && row.kind == "train_step");
    let Some(Ok(design)) = query.map(link::decode) else { return false };
    design.transformer == own.transformer
        && design.cluster.accelerator == own.cluster.accelerator
        && design.cluster.num_devices == own.cluster.num_devices
}
