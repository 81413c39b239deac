//! The line below the cards: what bounds the design, or which rules it breaks and how to mend them.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use model::design::violation::{Nearest, Violation};
use model::metric::published::of_preset;
use present::format::{self, short_label};
use present::insight::bottleneck::{Bottleneck, bottleneck};
use present::site::find_address;
use present::words::name::spelled;
use present::words::published;

use crate::explorer::{Explorer, NumbersOf};
use crate::reaction::{Handler, handler, memo};
use crate::widget::part::{IntoPart, Live, Part, live, text};

/// Bottlenecks of the design, or the broken rules.
pub fn verdict(explorer: Explorer) -> Live {
    legal_or_broken(explorer, bounds)
}

/// What is said of a legal design, or the rules that it breaks.
fn legal_or_broken(explorer: Explorer, legal: fn(Explorer) -> Part) -> Live {
    let is_legal = memo(move || explorer.with_violations(<[Violation]>::is_empty));
    live(move || Some(if is_legal.get() { legal(explorer) } else { broken_rules(explorer) }))
}

fn bounds(explorer: Explorer) -> Part {
    let said = memo(move || {
        explorer.with_numbers(|numbers| {
            let said = bottleneck(&numbers.plan, &numbers.estimate);
            format!("{} {}", said.time, said.memory)
        })
    });
    view! {
        <section class="verdict" aria-label="What bounds this design">
            <p>{text(move || said.get())}</p>
            <p class="muted">{text(move || beside_published(explorer))}</p>
        </section>
    }
    .part()
}

/// The broken rules, or what is published of a preset's run.
pub fn rules(explorer: Explorer) -> Live {
    legal_or_broken(explorer, anchor)
}

/// Published values of the run, and the way to what makes a design fit that doesn't.
fn anchor(explorer: Explorer) -> Part {
    let fits = memo(move || explorer.with_numbers(|it| it.estimate.metrics.fits));
    let way_out = live(move || {
        let link = || view! { " · "<a href="#change">"See what makes it fit"</a> }.part();
        (!fits.get()).then(link)
    });
    view! { <p class="anchor">{text(move || beside_published(explorer))} {way_out}</p> }.part()
}

/// Sentence on the time of the step.
pub fn time(explorer: Explorer) -> impl IntoView {
    sentence(explorer, |said| said.time)
}

/// Sentence on the use of the memory.
pub fn memory(explorer: Explorer) -> impl IntoView {
    sentence(explorer, |said| said.memory)
}

fn sentence(explorer: Explorer, read: fn(Bottleneck) -> String) -> impl IntoView {
    let said = memo(move || {
        explorer.with_numbers(|numbers| read(bottleneck(&numbers.plan, &numbers.estimate)))
    });
    view! { <p class="answer">{text(move || said.get())}</p> }
}

/// The preset's published figures while it is unchanged, or how many knobs differ from it.
fn beside_published(explorer: Explorer) -> String {
    let preset = explorer.preset();
    match explorer.changed().with(Vec::len) {
        0 => {
            let rows: Vec<String> = explorer.with_numbers(|numbers| {
                let metrics = &numbers.estimate.metrics;
                of_preset(preset.id).map(|row| published::comparison(row, metrics)).collect()
            });
            if rows.is_empty() {
                return format!("{}, unchanged", preset.title);
            }
            format!("Published in {}: {}", preset.source.title, rows.join("; "))
        }
        1 => format!("1 knob differs from {}", preset.title),
        count => format!("{} knobs differ from {}", format::whole(count as u64), preset.title),
    }
}

fn broken_rules(explorer: Explorer) -> Part {
    let rules = live(move || {
        let rules = explorer.with_violations(|violations| {
            violations.iter().map(|violation| broken_rule(explorer, violation)).collect::<Vec<_>>()
        });
        Some(rules.part())
    });
    let shown = text(move || {
        let shown = match explorer.shown() {
            NumbersOf::Design | NumbersOf::LastLegal => {
                "Showing the numbers of the last legal design"
            }
            NumbersOf::Preset => "Showing the numbers of the unchanged preset",
        };
        shown.to_owned()
    });
    view! {
        <section class="verdict broken" aria-label="Broken rules">
            <p><strong>"This design can't run."</strong>" "{shown}</p>
            <ul>{rules}</ul>
            <p>
                <a href=text(move || explorer.with_design(find_address))>"Find layouts that can"</a>
            </p>
        </section>
    }
    .part()
}

fn broken_rule(explorer: Explorer, violation: &Violation) -> impl IntoView + use<> {
    let ways = ways_out(explorer, &violation.nearest);
    view! {
        <li data-rule=violation.rule>
            <span>{violation.message.clone()}</span>
            <span class="ways">{ways}</span>
        </li>
    }
}

/// One button for each way out of a violation.
pub fn ways_out(explorer: Explorer, ways: &[Nearest]) -> Vec<impl IntoView + use<>> {
    ways.iter()
        .map(|way| {
            let label = format!("Set {} to {}", short_label(way.knob), spelled(&way.value));
            let way = way.clone();
            way_out(label, handler(move |_| explorer.mend(&way)))
        })
        .collect()
}

/// A button that mends something.
pub fn way_out(label: String, act: Handler<MouseEvent>) -> impl IntoView {
    view! { <button type="button" class="button way" on:click=act>{label}</button> }
}

/// Warnings about the estimate.
pub fn notes(explorer: Explorer) -> impl IntoView {
    let warnings = memo(move || explorer.with_numbers(|numbers| numbers.estimate.warnings.clone()));
    let items = live(move || {
        let warnings = warnings.get().into_iter();
        Some(warnings.map(|warning| view! { <li>{warning}</li> }).collect::<Vec<_>>().part())
    });
    view! {
        <section class="card notes" aria-labelledby="notes-title">
            <h2 id="notes-title">"What this estimate assumes"</h2>
            <ul>
                {items}
                <li>
                    "The error on published runs is given with each number: use it to compare \
                     designs, not for the last digit."
                </li>
                <li>
                    "Model version " {model::MODEL_VERSION}
                    ". 1 GiB is 2^30 bytes, 1 GB is 10^9 bytes; one device is one rank."
                </li>
            </ul>
        </section>
    }
}
