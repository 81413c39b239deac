//! The panel that explains a number: definition, formula, source and the tree of its terms.

use std::collections::BTreeMap;

use leptos::either::Either;
use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use model::explain::Breakdown;
use model::metric::MetricId;
use model::source::Source;
use web_sys::{HtmlDetailsElement, HtmlElement};

use super::conventions;
use crate::browser::download::elements;
use crate::explorer::Explorer;
use crate::present::format;
use crate::present::range::expected;
use crate::site::Page;
use crate::widget::dialog::{SidePanel, side_panel};
use crate::widget::part::{IntoPart, Part};

/// So many levels of the tree stand open at first.
const OPEN_LEVELS: usize = 2;

/// The terms that were folded or unfolded, by the names on the way to them: they stay so when their
/// numbers change.
type Folds = StoredValue<BTreeMap<String, bool>>;

/// The explanation of the metric that was asked for.
pub fn explanation(explorer: Explorer) -> impl IntoView {
    let asked = explorer.explained;
    let title = move || asked.get().map_or("", |id| id.metric().label).to_owned();
    let panel = SidePanel {
        id: "explanation",
        open: Signal::derive(move || asked.with(Option::is_some)),
        title: Signal::derive(title),
        on_close: Callback::new(move |()| asked.set(None)),
    };
    side_panel(panel, move || move || asked.get().map(|id| explained(explorer, id)))
}

fn explained(explorer: Explorer, id: MetricId) -> impl IntoView {
    let metric = id.metric();
    let value = move || {
        explorer.with_numbers(|numbers| {
            format::metric(id, numbers.estimate.metrics.get(id)).to_string()
        })
    };
    let folds = Folds::default();
    let terms = move || {
        keep_focus();
        let whole = explorer.with_numbers(|numbers| model::explain(&numbers.plan, id));
        let terms: Vec<_> = whole.children.iter().map(|part| term(part, 1, "", folds)).collect();
        view! {
            {substituted(&whole)}
            <ul class="terms">{terms}</ul>
        }
    };
    view! {
        <p class="explained-value" data-explained=metric.name>{value}</p>
        {counts_flops(id).then(|| conventions::button(explorer.conventions_open))}
        <dl class="explained">
            <dt>"Definition"</dt>
            <dd>{metric.definition}</dd>
            <dt>"Formula"</dt>
            <dd class="formula">{metric.formula}</dd>
            <dt>"Source"</dt>
            <dd>{source(metric.source)}</dd>
            <dt>"Expected error"</dt>
            <dd>{error(explorer, id)}</dd>
            <dt>"Id"</dt>
            <dd>
                <a href=format!("/guide/metrics#{}", metric.name)><code>{metric.name}</code></a>
            </dd>
        </dl>
        <h3>"Terms"</h3>
        {terms}
    }
}

/// The formula with its terms' values put in.
fn substituted(breakdown: &Breakdown) -> impl IntoView + use<> {
    format::substituted(breakdown).map(|text| view! { <p class="substituted">"= "{text}</p> })
}

/// Do conventions differ on it?
fn counts_flops(id: MetricId) -> bool {
    matches!(
        id,
        MetricId::mfu
            | MetricId::hfu
            | MetricId::model_tflops_per_device
            | MetricId::flops_per_token
    )
}

/// How far the number may be off, and where that comes from.
fn error(explorer: Explorer, id: MetricId) -> impl IntoView {
    let sentence = move || {
        explorer.with_numbers(|numbers| {
            expected(&numbers.plan, id).sentence(id, &numbers.estimate.metrics)
        })
    };
    view! {
        {sentence}
        " "
        <a href=Page::Trust.path()>"How predictions compare with published runs"</a>
    }
}

/// Focuses the term again that has the focus, once the terms are made anew.
fn keep_focus() {
    if !cfg!(feature = "hydrate") {
        return;
    }
    let path = || document().active_element()?.get_attribute("data-term");
    let Some(path) = path() else { return };
    request_animation_frame(move || {
        let Some(panel) = document().get_element_by_id("explanation") else { return };
        let mut terms = elements(&panel, "[data-term]");
        let term = terms.find(|it| it.get_attribute("data-term").as_ref() == Some(&path));
        if let Some(term) = term.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
            // It is only a help.
            let _ = term.focus();
        }
    });
}

/// A term with its own terms below it; erased, since its type would hold itself.
fn term(breakdown: &Breakdown, level: usize, above: &str, folds: Folds) -> Part {
    let value = format::in_unit(breakdown.value, breakdown.unit).to_string();
    let head = view! {
        <span class="term-name">{breakdown.name.clone()}</span>
        <span class="term-value">{value}</span>
    };
    let formula = (!breakdown.formula.is_empty())
        .then(|| view! { <p class="formula">{breakdown.formula.clone()}</p> });
    if breakdown.children.is_empty() {
        return view! { <li class="term"><div class="term-head">{head}</div>{formula}</li> }.part();
    }
    let path = format!("{above}/{}", breakdown.name);
    let children = breakdown.children.iter().map(|child| term(child, level + 1, &path, folds));
    let children: Vec<_> = children.collect();
    let open = folds.with_value(|folds| folds.get(&path).copied()).unwrap_or(level < OPEN_LEVELS);
    let own = path.clone();
    let fold = move |event: ev::Event| {
        let details = event.target().and_then(|it| it.dyn_into::<HtmlDetailsElement>().ok());
        if let Some(details) = details {
            folds.update_value(|folds| _ = folds.insert(own.clone(), details.open()));
        }
    };
    view! {
        <li class="term">
            <details open=open on:toggle=fold>
                <summary class="term-head" data-term=path>{head}</summary>
                {formula}
                {substituted(breakdown)}
                <p class="muted">{source(breakdown.source)}</p>
                <ul class="terms">{children}</ul>
            </details>
        </li>
    }
    .part()
}

/// A source: a link where it can be read somewhere.
pub fn source(source: Source) -> impl IntoView {
    if source.url.is_empty() {
        return Either::Left(source.title);
    }
    Either::Right(view! { <a href=source.url target="_blank" rel="noopener">{source.title}</a> })
}
