//! A trace of expert loads from a file: read by the worker, kept on the server when it is shared.

use leptos::html;
use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use model::ground::choice::Balance;
use present::insight::recorded::Recorded;
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::{Reflect, Uint8Array};
use web_sys::{File, RequestInit, Response};

use crate::browser::download::{download, here};
use crate::browser::folder::in_folder;
use crate::explorer::Explorer;
use crate::reaction::{effect, handler};
use crate::study_client::{Done, Errand, StudyClient};
use crate::widget::part::{IntoPart, Part, flag, live, maybe_text};

/// Path of the stored traces.
pub const PATH: &str = "/api/v1/traces";

/// Maximum number of a file's mistakes that are reported.
const MAX_ERRORS: usize = 8;

/// The file's button, and what is known of it.
pub fn trace(explorer: Explorer) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let kept = RwSignal::new(String::new());
    fetch_when_missing(explorer);
    let opened = handler(move |_| {
        if let Some(file) = chosen(input) {
            kept.set(String::new());
            read(explorer, file);
        }
    });
    let keep = handler(move |_| {
        let Some(file) = chosen(input) else { return };
        leptos::task::spawn_local(async move {
            let outcome = post(&file).await;
            let _ = kept.try_set(kept_words(outcome));
        });
    });
    let can_keep = move || {
        let at_hand = explorer.recorded.with(|recorded| matches!(recorded, Recorded::AtHand(_)));
        at_hand && !in_folder() && kept.with(String::is_empty) && chosen(input).is_some()
    };
    let outcome = maybe_text(move || Some(kept.get()).filter(|words| !words.is_empty()));
    view! {
        <section class="card trace" aria-label="Trace of expert loads">
            <label class="button">
                "Open a trace of expert loads"
                <input
                    type="file"
                    class="visually-hidden"
                    accept=".csv,.json,.parquet"
                    node_ref=input
                    on:change=opened
                />
            </label>
            <p class="muted">
                "CSV with step, layer, expert, tokens; JSON; Parquet goes through the server"
            </p>
            <div role="status">{live(move || Some(said(explorer)))}</div>
            <button type="button" class="button" hidden=flag(move || !can_keep()) on:click=keep>
                "Keep it on this server, for links"
            </button>
            <p role="status">{outcome}</p>
        </section>
    }
}

fn said(explorer: Explorer) -> Part {
    let said = explorer.recorded.with(|recorded| match recorded {
        Recorded::None => Vec::new(),
        Recorded::Reading => vec!["Reading the trace …".to_owned()],
        Recorded::AtHand(hash) => vec![format!("Trace {hash} is loaded.")],
        Recorded::Refused(errors) => {
            let more = errors.len().saturating_sub(MAX_ERRORS);
            let more = (more > 0).then(|| format!("and {more} more"));
            errors.iter().take(MAX_ERRORS).cloned().chain(more).collect()
        }
    });
    said.into_iter().map(|words| view! { <p>{words}</p> }).collect::<Vec<_>>().part()
}

fn kept_words(outcome: Result<String, String>) -> String {
    match outcome {
        Ok(_) => "Kept: whoever opens a link to this design has its trace.".to_owned(),
        Err(why) => format!("The server didn't keep it: {why}"),
    }
}

fn chosen(input: NodeRef<html::Input>) -> Option<File> {
    input.get_untracked()?.files()?.get(0)
}

/// Reads a file: what only the server can read goes there first.
fn read(explorer: Explorer, file: File) {
    explorer.recorded.set(Recorded::Reading);
    leptos::task::spawn_local(async move {
        let is_parquet = file.name().to_ascii_lowercase().ends_with(".parquet");
        let bytes = if is_parquet {
            match post(&file).await {
                Ok(hash) => get(&hash).await,
                Err(why) => Err(why),
            }
        } else {
            let bytes = JsFuture::from(file.array_buffer()).await;
            bytes.map_err(|_| "the file can't be read".to_owned())
        };
        take(explorer, bytes);
    });
}

/// Gives bytes to the worker.
fn take(explorer: Explorer, bytes: Result<JsValue, String>) {
    let client = StudyClient::current();
    match (bytes, client) {
        (Ok(bytes), Some(client)) => client.send(Errand::Read(Uint8Array::new(&bytes))),
        (Err(why), _) => drop(explorer.recorded.try_set(Recorded::Refused(vec![why]))),
        (Ok(_), None) => {}
    }
}

/// Takes in the result of an errand.
pub fn hear(explorer: Explorer, done: Done) {
    match done {
        Done::Read(Ok(hash)) => {
            let _ = explorer.recorded.try_set(Recorded::AtHand(hash.clone()));
            let mut design = untrack(|| explorer.with_design(Clone::clone));
            design.routing.balance = Balance::Trace;
            design.routing.trace = Some(hash);
            explorer.replace("the trace".to_owned(), design);
        }
        Done::Read(Err(errors)) => drop(explorer.recorded.try_set(Recorded::Refused(errors))),
        Done::Effect(query, Some(numbers)) => {
            if let Ok(design) = model::design::link::decode(&query) {
                explorer.take_loads(&design, &numbers);
            }
        }
        Done::Cells(map, Some(csv)) => {
            let csv = here().in_csv(&csv);
            download(&format!("moescape-{map}.csv"), "text/csv;charset=utf-8", &csv);
        }
        Done::Cells(_, None) => {}
        Done::Abouts(all) => drop(explorer.abouts.try_set(all)),
        Done::Effect(_, None) => {
            let why = "The trace isn't of this design: it has other experts, or another hash.";
            let _ = explorer.recorded.try_set(Recorded::Refused(vec![why.to_owned()]));
        }
    }
}

/// Asks for what the trace does to a design that lacks it, and for the trace of a link that names
/// one.
fn fetch_when_missing(explorer: Explorer) {
    effect(move || {
        let Some(design) = explorer.lacks_loads() else { return };
        let named = design.routing.trace.clone();
        match explorer.recorded.get() {
            Recorded::AtHand(hash) if named.as_ref().is_none_or(|named| *named == hash) => {
                if let Some(client) = StudyClient::current() {
                    client.send(Errand::Effect(model::design::link::encode(&design)));
                }
            }
            Recorded::None => {
                let Some(hash) = named else { return };
                explorer.recorded.set(Recorded::Reading);
                leptos::task::spawn_local(async move {
                    take(explorer, get(&hash).await);
                });
            }
            Recorded::Reading | Recorded::AtHand(_) | Recorded::Refused(_) => {}
        }
    });
}

/// The trace of that hash, from the server.
async fn get(hash: &str) -> Result<JsValue, String> {
    let missing = || "This link's trace isn't kept on this server: open its file.".to_owned();
    if in_folder() {
        return Err(missing());
    }
    let address = format!("{PATH}/{hash}");
    let response = JsFuture::from(window().fetch_with_str(&address)).await;
    let response: Response = response.map_err(|_| missing())?.unchecked_into();
    let bytes = response.ok().then(|| response.array_buffer()).and_then(Result::ok);
    JsFuture::from(bytes.ok_or_else(missing)?).await.map_err(|_| missing())
}

/// Sends a file to the server; the hash by which it is kept there.
async fn post(file: &File) -> Result<String, String> {
    let unreachable = |_: JsValue| "the server can't be reached".to_owned();
    if in_folder() {
        return Err("a server reads Parquet, and these pages have none".to_owned());
    }
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(file);
    let response = window().fetch_with_str_and_init(PATH, &init);
    let response: Response = JsFuture::from(response).await.map_err(unreachable)?.unchecked_into();
    let json = response.json().map_err(unreachable)?;
    let json = JsFuture::from(json).await.map_err(unreachable)?;
    let text = |key: &str| Reflect::get(&json, &key.into()).ok().and_then(|it| it.as_string());
    match text("hash") {
        Some(hash) if response.ok() => Ok(hash),
        _ => Err(text("detail").unwrap_or_else(|| "the file is refused".to_owned())),
    }
}
