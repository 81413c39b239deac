//! The runs: the form that picks them, how well those picked are predicted, and their table.

use leptos::prelude::*;
use present::form::options;
use present::page::trust::filter::{Facet, Filter, Show};
use present::page::trust::runs::{self, summary};
use present::page::trust::{Rows, table};
use present::site::Page;
use validation::report::Row;

use crate::browser::on_server;
use crate::reaction::memo;

/// State of the page that can change.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    /// The runs; in the browser none until they are fetched.
    pub(super) rows: RwSignal<Option<Rows>>,
    /// Whether the browser has fetched them, so that the filter works without loading the page.
    pub(super) live: RwSignal<bool>,
    /// Whether they could not be fetched.
    pub(super) failed: RwSignal<bool>,
    /// Filter of the runs that are shown.
    pub(super) filter: RwSignal<Filter>,
    /// Their places, in the table's order.
    found: Memo<Vec<usize>>,
}

impl Runs {
    pub(super) fn new(rows: Option<Rows>, filter: Filter) -> Self {
        let (rows, filter) = (RwSignal::new(rows), RwSignal::new(filter));
        let found = memo(move || {
            rows.with(|rows| match rows {
                Some(rows) => filter.with(|filter| filter.select(rows)),
                None => Vec::new(),
            })
        });
        Self { rows, live: RwSignal::new(false), failed: RwSignal::new(false), filter, found }
    }

    /// HTML made of the runs; empty while they aren't there, which leaves what the server wrote.
    fn html(self, write: impl FnOnce(&[Row], &[usize], &Filter) -> String) -> String {
        self.rows.with(|rows| match rows {
            Some(rows) => {
                self.found.with(|found| self.filter.with(|filter| write(rows, found, filter)))
            }
            None => String::new(),
        })
    }

    fn pick(self, facet: Facet, value: &str) {
        self.filter.update(|filter| *filter = filter.with_facet(facet, value));
    }
}

/// Form, score, table, pages.
pub(super) fn runs(runs: Runs) -> impl IntoView {
    let pages = move || runs.html(|_, found, filter| table::pager(found.len(), filter));
    view! {
        <section
            class="card trust-card"
            id="runs"
            tabindex="-1"
            aria-labelledby="runs-title"
            data-live=move || runs.live.get().then_some("true")
        >
            <h2 id="runs-title">"Every run"</h2>
            {form(runs)}
            <p role="status" inner_html=move || runs.html(summary)></p>
            <p role="alert" hidden=move || !runs.failed.get()>
                "The runs couldn't be fetched, so the filter doesn't work. "
                <a href="">"Reload the page"</a>
            </p>
            <div
                class="scroll-x runs-table"
                role="region"
                tabindex="0"
                aria-label="Table of runs"
                inner_html=move || runs.html(table::html)
            ></div>
            <nav class="pager" aria-label="Pages of the table" inner_html=pages></nav>
        </section>
    }
}

fn form(runs: Runs) -> impl IntoView {
    let facets: Vec<_> = Facet::ALL.iter().map(|facet| facet_select(runs, *facet)).collect();
    let shown = move || runs.filter.with(|filter| filter.show.key());
    let shows = on_server(|| {
        let entries = Show::ALL.iter().map(|show| (show.key(), show.label()));
        options(entries, untrack(shown)).into_string()
    });
    let pick_show = move |event| {
        let key = event_target_value(&event);
        let show = Show::ALL.iter().copied().find(|show| show.key() == key);
        runs.filter.update(|filter| (filter.show, filter.page) = (show.unwrap_or_default(), 0));
    };
    let search = move |event| {
        let text = event_target_value(&event);
        runs.filter.update(|filter| (filter.text, filter.page) = (text, 0));
    };
    view! {
        <form
            class="filters"
            role="search"
            method="get"
            action=Page::Trust.path()
            on:submit=|event| event.prevent_default()
        >
            <label>
                "Search"
                <input
                    type="search"
                    name="q"
                    class="select"
                    autocomplete="off"
                    maxlength="100"
                    placeholder="Model, run, source"
                    value=runs.filter.with_untracked(|filter| filter.text.clone())
                    prop:value=move || runs.filter.with(|filter| filter.text.clone())
                    on:input=search
                />
            </label>
            <label>
                "Runs"
                <select
                    name="show"
                    class="select"
                    autocomplete="off"
                    prop:value=shown
                    on:change=pick_show
                    inner_html=shows
                ></select>
            </label>
            {facets}
            <a class="button" href=format!("{}#runs", Page::Trust.path())>"Clear"</a>
            // The style sheet takes it away where the filter works by itself.
            <button class="button primary only-plain">"Filter"</button>
        </form>
    }
}

fn facet_select(runs: Runs, facet: Facet) -> impl IntoView {
    let value = move || runs.filter.with(|filter| filter.facet(facet).to_owned());
    let options = move || {
        runs.rows.with(|rows| match rows {
            Some(rows) => runs::options(rows, facet, &untrack(value)),
            None => String::new(),
        })
    };
    view! {
        <label>
            {facet.label()}
            <select
                name=facet.key()
                class="select"
                autocomplete="off"
                prop:value=value
                on:change=move |event| runs.pick(facet, &event_target_value(&event))
                inner_html=options
            ></select>
        </label>
    }
}
