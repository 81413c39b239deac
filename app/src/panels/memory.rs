//! What fills the fullest stage, and what each module would free at which cost.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use model::choice::Timing;
use model::design::Design;

use crate::charts;
use crate::explorer::{Explorer, Numbers};
use crate::format;
use crate::memory_view::{Module, Price, Pricing, composition, is_on, prices, toggled};
use crate::widgets::figure::{Draw, Figure, figure};

/// The prices are simulated so long after the knobs have come to rest.
const DELAY: Duration = Duration::from_millis(300);

/// Both charts.
pub fn memory(explorer: Explorer) -> impl IntoView {
    view! {
        <section class="memory" aria-label="Memory">
            {composition_chart(explorer)} {tradeoff(explorer)}
        </section>
    }
}

fn composition_chart(explorer: Explorer) -> impl IntoView {
    let draw: Draw = Arc::new(move |width| {
        explorer.with_numbers_untracked(|numbers| {
            composition(&numbers.plan, &numbers.estimate)
                .map_or_else(String::new, |found| charts::memory_composition(&found, width))
        })
    });
    figure(Figure {
        id: "composition",
        title: "What fills the fullest stage",
        caption: Signal::derive(move || explorer.with_numbers(caption)),
        first: charts::for_any_width(|width| draw(width)),
        draw,
        rows: Arc::new(move || {
            explorer.with_numbers_untracked(|numbers| {
                composition(&numbers.plan, &numbers.estimate)
                    .map_or_else(Vec::new, |found| charts::memory_composition_table(&found))
            })
        }),
        changes: Signal::derive(move || explorer.with_numbers(|_| ())),
        room: Signal::derive(move || explorer.explained.with(|_| ())),
    })
}

fn caption(numbers: &Numbers) -> String {
    let Some(found) = composition(&numbers.plan, &numbers.estimate) else { return String::new() };
    let mut text = format!(
        "Stage {}, {} of {}",
        found.stage.stage,
        format::memory(found.stage.memory.peak()),
        format::memory(numbers.estimate.metrics.memory_limit),
    );
    if let Some(row) = found.largest() {
        let largest = format!("{}, {}", row.label(), format::memory(row.on_stage));
        text.push_str(&format!("; the largest tensor is {largest}"));
    }
    text
}

/// The prices of the modules of the design at rest.
#[derive(Clone, PartialEq)]
struct Shown {
    prices: Vec<Price>,
    is_simulated: bool,
}

fn tradeoff(explorer: Explorer) -> impl IntoView {
    let simulated = RwSignal::new(None::<(Design, Vec<Price>)>);
    let shown = Memo::new(move |_| {
        explorer.with_resting(|design| {
            simulated.with(|simulated| match simulated {
                Some((of, prices)) if of == design => {
                    Shown { prices: prices.clone(), is_simulated: true }
                }
                _ => Shown { prices: prices(design, true), is_simulated: false },
            })
        })
    });
    Effect::new(move || {
        let design = explorer.with_resting(Clone::clone);
        if design.schedule.timing == Timing::Simulated {
            set_timeout(move || simulate(explorer, simulated, &design), DELAY);
        }
    });
    let press = move |event: leptos::ev::MouseEvent| {
        let element = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let mark = element.and_then(|element| element.closest(".chart g").ok().flatten());
        let title = mark.and_then(|mark| mark.query_selector("title").ok().flatten());
        let Some(words) = title.and_then(|title| title.text_content()) else { return };
        let mut all = Module::all();
        let is_named = |module: &Module| words.starts_with(&format!("{}:", module.label()));
        if let Some(module) = all.find(is_named) {
            toggle(explorer, module);
        }
    };
    let draw: Draw =
        Arc::new(move |width| shown.with(|shown| charts::memory_tradeoff(&shown.prices, width)));
    let chart = figure(Figure {
        id: "tradeoff",
        title: "Memory freed against MFU lost",
        caption: Signal::derive(move || shown.with(|shown| explained(shown).to_owned())),
        first: charts::for_any_width(|width| untrack(|| draw(width))),
        draw,
        rows: Arc::new(move || shown.with(|shown| charts::memory_tradeoff_table(&shown.prices))),
        changes: Signal::derive(move || shown.with(|_| ())),
        room: Signal::derive(move || explorer.explained.with(|_| ())),
    });
    let buttons: Vec<_> = Module::all().map(|module| button(explorer, shown, module)).collect();
    view! {
        <div class="tradeoff">
            <div class="tradeoff-chart" on:click=press>{chart}</div>
            <div class="ways" role="group" aria-label="Recompute and swap modules">{buttons}</div>
        </div>
    }
}

fn explained(shown: &Shown) -> &'static str {
    match (shown.prices.is_empty(), shown.is_simulated) {
        (true, _) => "No module can be turned alone",
        (false, true) => "Each module turned alone, as simulated; press one to turn it",
        (false, false) => "Each module turned alone, by the closed form; press one to turn it",
    }
}

/// Turns a module, as the button beside its point does.
fn button(explorer: Explorer, shown: Memo<Shown>, module: Module) -> impl IntoView {
    let price = Memo::new(move |_| {
        shown.with(|shown| shown.prices.iter().find(|price| price.module == module).copied())
    });
    let effect = move || {
        price.get().map_or_else(String::new, |price| {
            let lost = format::signed(-price.costs * 100.0, 2);
            format!("{}, {lost} pt", format::memory(price.frees))
        })
    };
    let is_on = move || explorer.with_design(|design| is_on(design, module));
    view! {
        <button
            type="button"
            class="button way"
            aria-pressed=move || if is_on() { "true" } else { "false" }
            hidden=move || price.with(Option::is_none)
            on:click=move |_| toggle(explorer, module)
        >
            {module.label()}
            " "
            <span class="muted">{effect}</span>
        </button>
    }
}

fn toggle(explorer: Explorer, module: Module) {
    let after = untrack(|| explorer.with_design(|design| toggled(design, module)));
    explorer.replace(module.label(), after);
}

/// Simulates the prices one by one, each in a task of its own, as long as nothing moves.
fn simulate(
    explorer: Explorer,
    simulated: RwSignal<Option<(Design, Vec<Price>)>>,
    design: &Design,
) {
    if simulated.try_with_untracked(|_| ()).is_none() || !is_still(explorer, design) {
        return;
    }
    let Some(pricing) = Pricing::new(design, false) else { return };
    let search = Rc::new(Search { explorer, simulated, design: design.clone(), pricing });
    next(search, Module::all().collect(), Vec::new());
}

struct Search {
    explorer: Explorer,
    simulated: RwSignal<Option<(Design, Vec<Price>)>>,
    design: Design,
    pricing: Pricing,
}

/// One module more; the last one shows them all.
fn next(search: Rc<Search>, mut left: std::collections::VecDeque<Module>, mut found: Vec<Price>) {
    let gone = search.simulated.try_with_untracked(|_| ()).is_none();
    if gone || !is_still(search.explorer, &search.design) {
        return;
    }
    let Some(module) = left.pop_front() else {
        let _ = search.simulated.try_set(Some((search.design.clone(), found)));
        return;
    };
    found.extend(search.pricing.price(module));
    set_timeout(move || next(search, left, found), Duration::ZERO);
}

fn is_still(explorer: Explorer, design: &Design) -> bool {
    untrack(|| explorer.with_design(|now| now == design))
}
