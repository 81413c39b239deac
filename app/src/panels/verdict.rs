//! The line below the cards: what bounds the design, or which rules it breaks and how to mend them.

use std::time::Duration;

use leptos::either::Either;
use leptos::html;
use leptos::prelude::*;
use model::choice::RecomputeGranularity;
use model::design::{Design, KnobId};
use model::fit::Fit;
use model::knob::Value;
use model::violation::{Nearest, Violation};
use model::{Plan, make_it_fit};

use crate::advice::Advice;
use crate::bottleneck::bottleneck;
use crate::charts::sentence;
use crate::explorer::{Explorer, Numbers, Shown};
use crate::format;
use crate::memory_view::{composition, freed_in_words};
use crate::published::published;

/// The bottleneck, or the broken rules.
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
    let said = Memo::new(move |_| explorer.with_numbers(|numbers| bottleneck(&numbers.estimate)));
    view! {
        <section class="verdict" aria-label="What bounds this design">
            <p>
                <strong>{move || said.with(|said| format!("{}.", said.verdict))}</strong>
                " "
                {move || said.with(|said| said.detail.clone())}
            </p>
            <p class="muted">{move || beside_published(explorer)}</p>
            {advice(explorer)}
            {fitting(explorer)}
        </section>
    }
}

/// The search for what to recompute and swap: the design that it was asked for and, once it is
/// done, what it found.
type Search = Option<(Design, Option<Option<Fit>>)>;

/// What doesn't fit, and a button that looks for the cheapest recomputation and swapping that does.
fn fitting(explorer: Explorer) -> impl IntoView {
    let search = RwSignal::new(Search::None);
    let button = NodeRef::<html::Button>::new();
    let label = Memo::new(move |_| explorer.with_numbers(search_label));
    let excess = Memo::new(move |_| explorer.with_numbers(excess));
    let own = move || {
        // What was found for another design says nothing of this one.
        let found = search.get()?;
        explorer.with_design(|design| *design == found.0).then_some(found)
    };
    let is_working = Memo::new(move |_| matches!(own(), Some((_, None))));
    let start = move |_| {
        if !is_working.get_untracked() {
            look(explorer, search);
        }
    };
    let found = move || {
        let (design, found) = own()?;
        let found = found?;
        Some(explorer.with_numbers(|numbers| said(explorer, &design, numbers, found, button)))
    };
    view! {
        <div class="fitting">
            <p>{move || excess.get()}</p>
            <button
                type="button"
                class="button way"
                node_ref=button
                hidden=move || label.with(|label| label.is_empty())
                aria-disabled=move || if is_working.get() { "true" } else { "false" }
                on:click=start
            >
                {move || if is_working.get() { "Trying every set …" } else { label.get() }}
            </button>
            <div role="status">{found}</div>
        </div>
    }
}

/// What the button offers; nothing where nothing is recomputed or swapped and all fits.
fn search_label(numbers: &Numbers) -> &'static str {
    let memory = &numbers.plan.design().memory;
    let frees = memory.recompute_granularity != RecomputeGranularity::None
        || !memory.swap_modules.is_empty();
    match (numbers.estimate.metrics.fits, frees) {
        (false, _) => "Make it fit",
        (true, true) => "Find the fastest set that fits",
        (true, false) => "",
    }
}

/// The binding stage, its largest tensor and its fullest moment, of a design that doesn't fit.
fn excess(numbers: &Numbers) -> Option<String> {
    let metrics = &numbers.estimate.metrics;
    if metrics.fits {
        return None;
    }
    let found = composition(&numbers.plan, &numbers.estimate)?;
    let mut text = format!(
        "Stage {} doesn't fit: it needs {} of {}",
        found.stage.stage,
        format::memory(metrics.memory_peak),
        format::memory(metrics.memory_limit),
    );
    if let Some(moment) = found.moment() {
        text.push_str(&format!(" {moment}"));
    }
    if let Some(row) = found.largest() {
        let size = format::memory(row.on_stage);
        text.push_str(&format!("; its largest tensor is {}, {size}", row.label()));
    }
    text.push('.');
    Some(text)
}

/// Searches in a later task, so that the page first shows that it does.
fn look(explorer: Explorer, search: RwSignal<Search>) {
    let design = untrack(|| explorer.with_design(Clone::clone));
    search.set(Some((design.clone(), None)));
    request_animation_frame(move || {
        set_timeout(
            move || {
                let found = Plan::new(&design).ok().and_then(|plan| make_it_fit(&plan));
                // The page may show something else by now.
                let _ = search.try_set(Some((design, Some(found))));
            },
            Duration::ZERO,
        );
    });
}

/// What was found, with a button that applies it.
fn said(
    explorer: Explorer,
    design: &Design,
    numbers: &Numbers,
    found: Option<Fit>,
    button: NodeRef<html::Button>,
) -> impl IntoView + use<> {
    let Some(fit) = found else {
        let helps = explorer.advice().is_some_and(|all| !all.is_empty());
        let else_helps = if helps {
            "The single changes above make it fit."
        } else {
            "More stages, more sharding or a smaller micro-batch may, together."
        };
        let words = format!("No set of recomputation and swapping fits. {else_helps}");
        return Either::Left(view! { <p>{words}</p> });
    };
    let tried = format::counted(fit.tried as u64, "set", "sets");
    if fit.design == *design {
        let words = format!("This set is the fastest that fits; {tried} were tried.");
        return Either::Left(view! { <p>{words}</p> });
    }
    let (before, after) = (&numbers.estimate.metrics, &fit.estimate.metrics);
    let words = format!(
        "{}: peak memory {} → {}, MFU {} → {}; {tried} were tried.",
        sentence(&freed_in_words(&fit.design)),
        format::memory(before.memory_peak),
        format::memory(after.memory_peak),
        format::percent(before.mfu, 1),
        format::percent(after.mfu, 1),
    );
    let after = fit.design;
    let apply = move |_| {
        explorer.replace("recomputation and swapping".to_owned(), after.clone());
        // This button goes: the one beside it takes the focus.
        if let Some(button) = button.get_untracked() {
            let _ = button.focus();
        }
    };
    Either::Right(view! {
        <p>{words}</p>
        <button type="button" class="button way" on:click=apply>"Apply"</button>
    })
}

/// Single changes that would help, as buttons.
fn advice(explorer: Explorer) -> impl IntoView {
    let fits = Memo::new(move |_| explorer.with_numbers(|numbers| numbers.estimate.metrics.fits));
    let lead = move || match (fits.get(), explorer.advice().is_none_or(|all| all.is_empty())) {
        (true, false) => "Would help (throughput, peak memory)",
        (true, true) => "No single change of the strategy makes it faster",
        (false, false) => "Would make it fit (throughput, peak memory)",
        (false, true) => "No single change of the strategy makes it fit",
    };
    let buttons = move || {
        let all = explorer.advice().unwrap_or_default();
        all.into_iter().map(|advice| advised(explorer, advice)).collect::<Vec<_>>()
    };
    view! {
        <div class="advice">
            <p>{lead}</p>
            <div class="ways">{buttons}</div>
        </div>
    }
}

fn advised(explorer: Explorer, advice: Advice) -> impl IntoView {
    let label = format!("{} → {}", short_label(advice.change.knob), spelled(&advice.change.value));
    let effect = advice.effect();
    view! {
        <button type="button" class="button way" on:click=move |_| explorer.mend(&advice.change)>
            {label}
            <span class="muted">{effect}</span>
        </button>
    }
}

/// The preset's published figures while it is unchanged, or how many knobs differ from it.
fn beside_published(explorer: Explorer) -> String {
    let preset = explorer.preset();
    match explorer.changed().with(Vec::len) {
        0 => {
            let rows: Vec<String> = explorer.with_numbers(|numbers| {
                let metrics = &numbers.estimate.metrics;
                published(preset.id).map(|row| row.beside(metrics)).collect()
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
        Shown::Design | Shown::LastLegal => "The numbers are those of the last legal design",
        Shown::Preset => "The numbers are those of the unchanged preset",
    };
    view! {
        <section class="verdict broken" aria-label="Broken rules">
            <p><strong>"This design can't run."</strong>" "{shown}</p>
            <ul>{rules}</ul>
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

/// A value in words: flags are on or off.
#[must_use]
pub fn spelled(value: &Value) -> String {
    match value {
        Value::Flag(true) => "on".to_owned(),
        Value::Flag(false) => "off".to_owned(),
        Value::None | Value::Integer(_) | Value::Real(_) | Value::Text(_) | Value::List(_) => {
            value.to_string()
        }
    }
}

/// The axis word in a label's brackets, or the label: `PP`, `No-op layers`.
#[must_use]
pub fn short_label(knob: KnobId) -> &'static str {
    let label = knob.knob().label;
    let inner = label.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    inner.map_or(label, |(short, _)| short)
}

/// What the reader should know about the estimate.
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
                    "Expert load is taken as uniform. How far predictions are off on published \
                     runs stands below each number: compare designs rather than trusting the last \
                     digit."
                </li>
                <li>
                    "Model version " {model::MODEL_VERSION}
                    ". 1 GiB is 2^30 bytes, 1 GB is 10^9 bytes; one device is one rank."
                </li>
            </ul>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_labels_are_the_axis_words() {
        assert_eq!(short_label(KnobId::pipeline_model_parallel_size), "PP");
        assert_eq!(short_label(KnobId::noop_layers), "No-op layers");
    }
}
