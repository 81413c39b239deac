//! `/calibrate`: files of one's own runs become a profile of one's software, and the page says how
//! far it goes.
//!
//! The form works without a script. Nothing is stored: the profile is in the link that the page
//! leads on to.

use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use model::catalogue::accelerator::AcceleratorId;
use model::ground::choice::Choice;
use operations::calibrate::{agreement, measured, verdict};
use present::format::{counted, percent, significant, unbroken};
use present::html::{option, table};
use present::page::trust::words;
use present::site::Page;
use validation::own::Calibration;
use validation::own::report::{ConstantChange, Measured, Unused};

use super::calibrate::{Form, MAX_BYTES, Refused, found, read_form, too_large};
use super::preset_options::preset_options;
use crate::http::static_page::Reading;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::work::in_turn;
use crate::site::choices;
use crate::state::AppState;

/// The empty form; `?large` says that files were too large to be sent.
pub(super) async fn form(State(state): State<AppState>, request: Request) -> Response {
    let is_large = request.uri().query() == Some("large");
    let why = is_large.then(|| (StatusCode::PAYLOAD_TOO_LARGE, vec![too_large()]));
    shown(&state, request.headers(), &Form::default(), why.map(Err).as_ref())
}

/// Answers the form: a profile of the files' runs.
pub(super) async fn calibrate_form(
    State(state): State<AppState>,
    Client(client): Client,
    headers: HeaderMap,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let mut form = match read_form(form).await {
        Ok(form) => form,
        Err(why) => return Ok(shown(&state, &headers, &Form::default(), Some(&Err(why)))),
    };
    let traces = std::sync::Arc::clone(&state.traces);
    let answer = move || {
        let found = found(&mut form).map(|answer| answer.found);
        shown(&state, &headers, &form, Some(&found))
    };
    in_turn(&traces.readers, &client, answer).await
}

/// The page: the answer above the form, or the form alone.
fn shown(
    state: &AppState,
    headers: &HeaderMap,
    form: &Form,
    answer: Option<&Result<Calibration, Refused>>,
) -> Response {
    let status = match answer {
        Some(Err((status, _))) => *status,
        Some(Ok(_)) | None => StatusCode::OK,
    };
    let share = state.site.names().map(|names| names.share.as_str());
    let page = Reading {
        page: Some(Page::Calibrate),
        title: Page::Calibrate.title(),
        // An answer is its visitor's alone.
        about: if answer.is_none() { Page::Calibrate.about() } else { "" },
        script: state.site.names().map(|names| names.import.as_str()),
        head: html! { @if let Some(share) = share { script type="module" src=(share) {} } },
        class: "import calibrate",
        body: html! {
            @match answer {
                Some(Ok(found)) => (profile(found)),
                Some(Err((_, lines))) => {
                    h1 { "Calibrate to your own runs" }
                    section.card.import-card role="alert" {
                        p { "There is no profile of these files:" }
                        ul.import-errors { @for line in lines { li { (line) } } }
                        noscript { p { "Choose the files again: the browser forgot them." } }
                    }
                }
                None => { h1 { "Calibrate to your own runs" } }
            }
            section.card.import-card { (asked(form, matches!(answer, Some(Ok(_))))) }
        },
        ..Reading::default()
    };
    page.answer(state, choices::theme(headers).as_deref(), status)
}

/// The profile, the runs with and without it, and every constant.
fn profile(found: &Calibration) -> Markup {
    html! {
        h1 { "Your profile" }
        section.card.import-card {
            p { strong translate="no" { (found.name) } }
            @if let Some(agreed) = &found.agreement { p {
                (unbroken(&agreement(found.runs.len(), agreed)))
            } }
            @if let Some(verdict) = verdict(found) { p { (verdict) } }
            @if !found.knobs.is_empty() {
                (copied("profile-knobs", "Knobs, for any link", &found.query))
                div.import-field {
                    label for="profile-toml" { "Part of a design file" }
                    div.share-row {
                        textarea id="profile-toml" rows=(found.knobs.len() + 2) readonly
                            translate="no" { "\n" (found.toml) }
                        (copy_button("profile-toml", "Part of a design file"))
                    }
                }
                div.import-ways {
                    a.button.primary href=(found.link) { "Open in the explorer" }
                    a.button href={ "/export" (found.link.trim_start_matches('/')) } { "Export" }
                }
            }
        }
        @if !found.runs.is_empty() { (runs(found)) }
        (constants(found))
        (unused(found))
    }
}

/// A text to be copied.
fn copied(id: &str, label: &str, text: &str) -> Markup {
    html! {
        div.import-field {
            label for=(id) { (label) }
            div.share-row {
                input id=(id) readonly autocomplete="off" translate="no" value=(text);
                (copy_button(id, label))
            }
        }
    }
}

/// A button that copies a field, shown where a script does so.
fn copy_button(id: &str, label: &str) -> Markup {
    html! {
        button type="button" class="button" data-copy=(id) aria-live="polite" hidden {
            "Copy" span.visually-hidden { " " (label) }
        }
    }
}

fn listed(id: &str, title: &str, about: &str, rows: &[Vec<String>]) -> Markup {
    html! {
        section.card.import-card #(id) {
            h2 { (title) }
            p.muted { (about) }
            div.scroll-x.import-list role="region" tabindex="0" aria-label={ (title) ", table" } {
                (PreEscaped(table(title, rows)))
            }
        }
    }
}

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn runs(found: &Calibration) -> Markup {
    let row = |run: &Measured| {
        let mut cells = measured(run);
        let memory = match run.memory_measured_gib {
            Some(gib) => format!(
                "{} / {} GiB",
                significant(run.memory_predicted_gib, 3),
                significant(gib, 3)
            ),
            None => words::NOTHING.to_owned(),
        };
        cells.push(memory);
        cells
    };
    let names = [
        "Run",
        "Measured",
        "Without the profile",
        "Error without it",
        "With the profile",
        "Error",
        "Left out",
        "Memory, predicted / measured",
    ];
    let rows: Vec<_> = [header(&names)].into_iter().chain(found.runs.iter().map(row)).collect();
    let about = "Errors are of the step time. Left out: by constants that were fitted without this \
                 design. No constant here moves memory.";
    html! {
        (listed("runs", "Runs", about, &rows))
        @let assumed: Vec<&Measured> =
            found.runs.iter().filter(|run| !run.assumed.is_empty()).collect();
        @if !assumed.is_empty() {
            section.card.import-card #assumed {
                h2 { "Assumed" }
                p.muted { "What the files leave open, run by run." }
                details {
                    summary {
                        (counted(
                            assumed.iter().map(|run| run.assumed.len() as u64).sum(),
                            "assumption",
                            "assumptions",
                        ))
                    }
                    @for run in assumed {
                        h3 { a href=(run.link) translate="no" { (run.id) } }
                        ul { @for words in &run.assumed { li { (words) } } }
                    }
                }
            }
        }
    }
}

fn constants(found: &Calibration) -> Markup {
    let row = |told: &ConstantChange| {
        let unit = if told.unit.is_empty() { String::new() } else { format!(" {}", told.unit) };
        let number = |value: f64| format!("{}{unit}", significant(value, 3));
        let [least, most] = told.range;
        let range = format!("{} – {}", significant(least, 3), number(most));
        let is_own = told.from != "family";
        vec![
            told.label.to_owned(),
            number(told.before),
            if is_own { number(told.value) } else { words::NOTHING.to_owned() },
            if is_own { range } else { words::NOTHING.to_owned() },
            percent(told.told, 0).to_string(),
            told.why.to_owned(),
        ]
    };
    let names = ["Constant", "Family's", "Yours", "Nine of ten", "Told by the runs", "Remark"];
    let rows: Vec<_> =
        [header(&names)].into_iter().chain(found.constants.iter().map(row)).collect();
    let about = "Told: how much of what isn't known of a constant beforehand these runs tell, \
                 beside the constants that they move. What they don't tell stays the family's.";
    listed("constants", "Constants", about, &rows)
}

fn unused(found: &Calibration) -> Markup {
    let remarks: Vec<_> = [header(&["Kernels and why"])]
        .into_iter()
        .chain(found.remarks.iter().map(|remark| vec![remark.clone()]))
        .collect();
    let row = |it: &Unused| vec![it.id.clone(), it.reason.clone()];
    let rows: Vec<_> = [header(&["Run or file", "Why"])]
        .into_iter()
        .chain(found.refused.iter().map(row))
        .collect();
    html! {
        @if !found.remarks.is_empty() {
            (listed("remarks", "Not told", "Operator times that give no rate.", &remarks))
        }
        @if !found.refused.is_empty() {
            (listed("unused", "Not used", "These can't be predicted.", &rows))
        }
    }
}

/// The form.
fn asked(form: &Form, has_answer: bool) -> Markup {
    html! {
        @if has_answer { h2 { "Calibrate again" } } @else {
            p {
                "A few runs of yours become the state of your software, as a few knobs: tables of \
                 runs, logs of Megatron-LM, MindSpeed-LLM and others, and operator times of a \
                 profile. The page says how far the runs agree and which constants they tell. \
                 Nothing is stored."
            }
            p {
                a href="/guide/calibrate#2-compare-runs" { "Columns of the table" } " · "
                a href="/guide/calibrate" { "How to measure" }
            }
        }
        form id="import-form" class="import-form" method="post" action=(Page::Calibrate.path())
            enctype="multipart/form-data" data-waits data-bytes=(MAX_BYTES) {
            div.import-field {
                label for="import-file" { "Files" }
                input id="import-file" type="file" name="file" multiple
                    accept=".csv,.log,.txt,.out,.json,.jsonl,.gz";
                p.muted { "Several together; packed by gzip or not." }
                p.muted.only-scripted { "Or drop files anywhere on this page." }
            }
            div.import-field {
                label for="import-text" { "Or paste a table or a log" }
                textarea id="import-text" name="text" rows="6" spellcheck="false"
                    autocomplete="off" { "\n" (form.text) }
            }
            div.import-choices {
                div.import-field {
                    label for="calibrate-accelerator" { "Accelerator of logs, which don't name it" }
                    select id="calibrate-accelerator" name="accelerator" autocomplete="off" {
                        (option("", "The preset's, or the table's", form.accelerator.is_empty()))
                        @for id in AcceleratorId::ALL {
                            (option(id.name(), id.row().title, form.accelerator == id.name()))
                        }
                    }
                }
                div.import-field {
                    label for="calibrate-preset" { "For what a log doesn't say, use" }
                    select id="calibrate-preset" name="preset" autocomplete="off" {
                        (preset_options(&form.preset))
                    }
                }
                div.import-field {
                    label for="calibrate-name" { "Name of the profile" }
                    input id="calibrate-name" name="name" autocomplete="off" maxlength="100"
                        value=(form.name);
                }
            }
            div.import-field {
                label for="calibrate-set" { "Knobs to set in every run, one a line" }
                textarea id="calibrate-set" name="set" rows="2" spellcheck="false"
                    autocomplete="off" placeholder="cluster.inter_node_gb_per_sec=20"
                    { "\n" (form.set) }
            }
            p.import-send {
                button.button.primary { "Calibrate" }
                progress id="import-progress" aria-label="Calibrating" hidden {}
                span #import-status role="status" {}
            }
        }
    }
}
