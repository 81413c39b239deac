//! The line below the cards: what bounds the design, or which rules it breaks and how to mend them.

use leptos::either::Either;
use leptos::prelude::*;
use model::design::violation::{Nearest, Violation};
use model::metric::published::of_preset;
use present::format::{self, short_label};
use present::insight::bottleneck::{Bottleneck, bottleneck};
use present::site::find_address;
use present::words::name::spelled;
use present::words::published;

use crate::explorer::{Explorer, NumbersOf};

/// Bottlenecks of the design, or the broken rules.
pub fn verdict(explorer: Explorer) -> impl IntoView {
    let is_legal = Memo::new(move |_| explorer.with_violations(<[Violation]>::is_empty));
    move || {
        if is_legal.get() {
            Either::Left(bounds(explorer))
        } else {
            Either::Right(broken_rules(explorer))
        }
    }
}

fn bounds(explorer: Explorer) -> impl IntoView {
    let said = Memo::new(move |_| {
        explorer.with_numbers(|numbers| bottleneck(&numbers.plan, &numbers.estimate))
    });
    view! {
        <section class="verdict" aria-label="What bounds this design">
            <p>{move || said.with(|said| format!("{} {}", said.time, said.memory))}</p>
            <p class="muted">{move || beside_published(explorer)}</p>
        </section>
    }
}

/// The broken rules, or what is published of a preset's run.
pub fn rules(explorer: Explorer) -> impl IntoView {
    let is_legal = Memo::new(move |_| explorer.with_violations(<[Violation]>::is_empty));
    move || {
        if is_legal.get() {
            Either::Left(anchor(explorer))
        } else {
            Either::Right(broken_rules(explorer))
        }
    }
}

/// Published values of the run, and the way to what makes a design fit that doesn't.
fn anchor(explorer: Explorer) -> impl IntoView {
    let fits = Memo::new(move |_| explorer.with_numbers(|it| it.estimate.metrics.fits));
    let way_out = move || {
        let link = || view! { " · "<a href="#change">"See what makes it fit"</a> };
        (!fits.get()).then(link)
    };
    view! { <p class="anchor">{move || beside_published(explorer)} {way_out}</p> }
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
    let text = Memo::new(move |_| {
        explorer.with_numbers(|numbers| read(bottleneck(&numbers.plan, &numbers.estimate)))
    });
    view! { <p class="answer">{move || text.get()}</p> }
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

fn broken_rules(explorer: Explorer) -> impl IntoView {
    let rules = move || {
        explorer.with_violations(|violations| {
            violations.iter().map(|violation| broken_rule(explorer, violation)).collect::<Vec<_>>()
        })
    };
    let shown = move || match explorer.shown() {
        NumbersOf::Design | NumbersOf::LastLegal => "Showing the numbers of the last legal design",
        NumbersOf::Preset => "Showing the numbers of the unchanged preset",
    };
    view! {
        <section class="verdict broken" aria-label="Broken rules">
            <p><strong>"This design can't run."</strong>" "{shown}</p>
            <ul>{rules}</ul>
            <p>
                <a href=move || explorer.with_design(find_address)>"Find layouts that can"</a>
            </p>
        </section>
    }
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
            view! {
                <button type="button" class="button way" on:click=move |_| explorer.mend(&way)>
                    {label}
                </button>
            }
        })
        .collect()
}

/// Warnings about the estimate.
pub fn notes(explorer: Explorer) -> impl IntoView {
    let warnings =
        Memo::new(move |_| explorer.with_numbers(|numbers| numbers.estimate.warnings.clone()));
    let items = move || {
        let warnings = warnings.get().into_iter();
        warnings.map(|warning| view! { <li>{warning}</li> }).collect::<Vec<_>>()
    };
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
