//! `/calibrate`: files of one's own runs become a profile of one's software, and the page says how
//! far it goes.
//!
//! The form works without a script. Nothing is stored: the profile is in the link that the page
//! leads on to.

use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use maud::{Markup, html};
use model::catalogue::accelerator::AcceleratorId;
use model::ground::choice::Choice;
use operations::calibrate::{agreement, measured, verdict};
use present::form::files::{FileForm, listed, presets};
use present::form::{Control, copied, input, options, select, textarea};
use present::format::{counted, percent, significant, unbroken};
use present::page::trust::words;
use present::site::Page;
use validation::own::Calibration;
use validation::own::report::{ConstantChange, Measured};

use super::calibrate::{Form, MAX_BYTES, Refused, found, read_form, too_large};
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
    const PART: &str = "Part of a design file";
    html! {
        h1 { "Your profile" }
        section.card.import-card {
            p { strong translate="no" { (found.name) } }
            @if let Some(agreed) = &found.agreement { p {
                (unbroken(&agreement(found.runs.len(), agreed)))
            } }
            @if let Some(verdict) = verdict(found) { p { (verdict) } }
            @if !found.knobs.is_empty() {
                (output(input("text").value(&found.query), "profile-knobs", "Knobs, for any link"))
                (output(textarea(found.knobs.len() + 2, &found.toml), "profile-toml", PART))
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

/// A text to be copied, in every language the same, under its label.
fn output(text: Control, id: &str, label: &str) -> Markup {
    let text = text.id(id).flag("readonly", true).set("translate", "no");
    html! { div.import-field { (text.label(label)) (copied(&text, label)) } }
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
    let about = "Errors are of the step time. Left out: by constants that were fitted without this \
                 design. No constant here moves memory.";
    html! {
        (listed("runs", "Runs", false, about, &names, found.runs.iter().map(row)))
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
    let about = "Told: how much of what isn't known of a constant beforehand these runs tell, \
                 beside the constants that they move. What they don't tell stays the family's.";
    listed("constants", "Constants", false, about, &names, found.constants.iter().map(row))
}

fn unused(found: &Calibration) -> Markup {
    let remarks = found.remarks.iter().map(|remark| vec![remark.clone()]);
    let refused = found.refused.iter().map(|it| vec![it.id.clone(), it.reason.clone()]);
    let no_rate = "Operator times that give no rate.";
    let no_design = "These can't be predicted.";
    html! {
        (listed("remarks", "Not told", false, no_rate, &["Kernels and why"], remarks))
        (listed("unused", "Not used", false, no_design, &["Run or file", "Why"], refused))
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
        (fields(form))
    }
}

fn fields(form: &Form) -> Markup {
    let known = AcceleratorId::ALL.iter().map(|it| (it.name(), it.row().title));
    let known = [("", "The preset's, or the table's")].into_iter().chain(known);
    let accelerator =
        select(options(known, &form.accelerator)).id("calibrate-accelerator").name("accelerator");
    let preset = presets(&form.preset).id("calibrate-preset");
    let name = input("text").id("calibrate-name").name("name").set("maxlength", "100");
    let set = textarea(2, &form.set).id("calibrate-set").name("set").set("spellcheck", "false");
    let set = set.set("placeholder", "cluster.inter_node_gb_per_sec=20");
    let form = FileForm {
        action: Page::Calibrate.path(),
        bytes: Some(MAX_BYTES),
        label: "Files",
        accept: ".csv,.log,.txt,.out,.json,.jsonl,.gz",
        hints: ["Several together; packed by gzip or not.", "Or drop files anywhere on this page."],
        text: (textarea(6, &form.text), "Or paste a table or a log"),
        rest: html! {
            div.import-choices {
                (accelerator.field("import-field", "Accelerator of logs, which don't name it", ""))
                (preset.field("import-field", "For what a log doesn't say, use", ""))
                (name.value(&form.name).field("import-field", "Name of the profile", ""))
            }
            (set.field("import-field", "Knobs to set in every run, one a line", ""))
        },
        button: ["Calibrate", "Calibrating"],
    };
    form.html()
}
