//! The part *Experts*: which are kept, what of accuracy is published of that, what fits where, and
//! what a router trace of tasks says, which is read in the browser and goes nowhere; only Parquet
//! is read by the server, which keeps nothing of it.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use model::design::file::{Tree, json};
use model::routing::pattern::{Generator, Goal, Patterns, text};
use model::serving::ServingPlan;
use model::serving::experts::Experts;
use model::serving::traced::Traced;
use present::page::serving::SCORES_PATH;
use present::page::serving::experts::{kept, traced, wrong};
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, HtmlInputElement};

use super::state::State;
use crate::browser::{download, posted};
use crate::reaction::memo;

/// Bytes of a trace that the browser reads.
const MAX_BYTES: f64 = 64e6;
/// Magic bytes of a Parquet file.
const PARQUET: &str = "PAR1";
/// Tasks and seed of the example.
const EXAMPLE: (usize, u64) = (4, 1);

/// A trace, or what is wrong with it.
type Trace = Result<Arc<Patterns>, Vec<String>>;

/// The part of the page.
pub(super) fn part(state: State) -> impl IntoView {
    let kept = memo(move || state.outcome.with_shown(kept));
    let trace = RwSignal::new(None::<Trace>);
    let goal = RwSignal::new(Goal::Equal);
    let traced =
        memo(move || trace.with(|trace| trace.as_ref().map(|it| beside(state, it, goal.get()))));
    let open = move |event: ev::Event| {
        if let Some(file) = chosen(&event_target::<HtmlInputElement>(&event)) {
            let visited = untrack(|| experts(state)).map_or(1, |it| it.visited());
            leptos::task::spawn_local(async move {
                // The page may be gone by then.
                let _ = trace.try_set(Some(read(&file, visited).await.map(Arc::new)));
            });
        }
    };
    let example = move |_| {
        let experts = untrack(|| experts(state));
        let (tasks, seed) = EXAMPLE;
        if let Some(experts) = experts {
            let (layers, routed) = (experts.layers as usize, experts.routed as usize);
            let patterns = Generator::new(seed, tasks, layers, routed).patterns();
            trace.set(patterns.map(|patterns| Ok(Arc::new(patterns))));
        }
    };
    let save = move |_| {
        let text = untrack(|| {
            let trace = trace.get();
            let patterns = trace.as_ref()?.as_ref().ok()?;
            let traced = traced_of(state, patterns, goal.get())?.ok()?;
            Some(json::print(&traced::kept(&traced, patterns)))
        });
        if let Some(text) = text {
            download::download("moescape-kept-experts.json", "application/json", &text);
        }
    };
    let share = move |event: ev::Event| {
        let name = event_target_value(&event);
        if let Some((_, chosen)) = Goal::ALL.into_iter().find(|(known, _)| *known == name) {
            goal.set(chosen);
        }
    };
    let has_none = move || !trace.with(|trace| matches!(trace, Some(Ok(_))));
    view! {
        <section class="card schedule-card" aria-labelledby="experts-title">
            <h2 id="experts-title">"Experts"</h2>
            <div class="scroll-x" role="region" tabindex="0" aria-label="Experts, tables"
                inner_html=move || kept.get()
            ></div>
            <p>
                <label for="router-trace">"Router trace of tasks: CSV, JSON or Parquet"</label>
                " "
                <input type="file" id="router-trace" accept=".csv,.json,.parquet" on:change=open />
                " "
                <button type="button" class="button" on:click=example>"Generate an example"</button>
            </p>
            <p hidden=has_none>
                <label for="share-experts">"Share kept experts out"</label>
                " "
                <select class="select" id="share-experts" autocomplete="off" on:change=share>
                    <option value="equal">"as many of each layer"</option>
                    <option value="mean">"so that all layers together are covered best"</option>
                    <option value="least">"so that the least covered layer is covered best"</option>
                </select>
                " "
                <button type="button" class="button" on:click=save>"Save kept experts"</button>
            </p>
            <div class="scroll-x" role="region" tabindex="0" aria-label="What tasks need"
                aria-live="polite" inner_html=move || traced.get().unwrap_or_default()
            ></div>
        </section>
    }
}

/// The experts of the design when its numbers have been still for a while; `None` if it has none or
/// can't serve.
fn experts(state: State) -> Option<Experts> {
    let plan = state.with_resting(|design| ServingPlan::new(design).ok())?;
    Experts::new(&plan)
}

/// A trace beside the design when its numbers have been still for a while; `None` if the design
/// can't serve.
fn traced_of(state: State, patterns: &Patterns, goal: Goal) -> Option<Result<Traced, String>> {
    let plan = state.with_resting(|design| ServingPlan::new(design).ok())?;
    Some(Traced::new(&plan, patterns, goal))
}

fn beside(state: State, trace: &Trace, goal: Goal) -> String {
    match trace {
        Err(errors) => wrong(errors).into_string(),
        Ok(patterns) => match traced_of(state, patterns, goal) {
            Some(Ok(traced)) => traced::shown(&traced, patterns),
            Some(Err(message)) => wrong(&[message]).into_string(),
            None => String::new(),
        },
    }
}

fn chosen(input: &HtmlInputElement) -> Option<File> {
    input.files()?.get(0)
}

/// Reads the file that was chosen; of the logits of a token the best `visited` count.
async fn read(file: &File, visited: usize) -> Result<Patterns, Vec<String>> {
    let too_large = || vec!["This file can't be read here; up to 64 MB can.".to_owned()];
    if file.size() > MAX_BYTES {
        return Err(too_large());
    }
    let start = file.slice_with_i32_and_i32(0, PARQUET.len() as i32);
    let start = match start {
        Ok(start) => JsFuture::from(start.text()).await.ok().and_then(|it| it.as_string()),
        Err(_) => None,
    };
    let (content, visited) = if start.as_deref() == Some(PARQUET) {
        (scores(file, visited).await?, 1)
    } else {
        let text = JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string());
        (text.ok_or_else(too_large)?, visited)
    };
    text::read(content.as_bytes(), visited)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

/// The scores of a file of Parquet as text, by the server.
async fn scores(file: &File, visited: usize) -> Result<String, Vec<String>> {
    let address = format!("{SCORES_PATH}?visited={visited}");
    match posted(&address, file.unchecked_ref()).await {
        Some((200, text)) => Ok(text),
        Some((_, problem)) => Err(said(&json::parse(&problem).unwrap_or(Tree::Null))),
        None => Err(vec!["The server that reads Parquet doesn't answer.".to_owned()]),
    }
}

/// Messages of a problem.
fn said(problem: &Tree) -> Vec<String> {
    let detail = |tree: &Tree| match tree.get("detail") {
        Some(Tree::Text(detail)) => Some(detail.clone()),
        _ => None,
    };
    match problem.get("errors") {
        Some(Tree::List(errors)) if !errors.is_empty() => {
            errors.iter().filter_map(detail).collect()
        }
        _ => detail(problem).into_iter().collect(),
    }
}
