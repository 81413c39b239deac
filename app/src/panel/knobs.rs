//! The knobs in three groups: those that matter most in view, the rest folded with their changes
//! counted, and a search over all of them.
//!
//! The rows of a fold are most of the page's controls, and out of view: the server writes the
//! values alone, and a fold makes its rows when it is first opened, or told that it is.

use leptos::ev::{Event, KeyboardEvent};
use leptos::html;
use leptos::prelude::*;
use maud::html as markup;
use model::design::KnobId;
use model::ground::knob::Section;
use present::format;
use present::words::about::About;
use present::words::name::spelled;

use super::knob::knob;
use super::presets::presets;
use super::studies;
use crate::browser::on_server;
use crate::explorer::Explorer;
use crate::reaction::{effect, handler, memo};
use crate::widget::part::{Text, flag, maybe_text, text};

/// The id of the search box, which the key `/` goes to.
pub const SEARCH_ID: &str = "knob-search";

/// A fold of a group: its title and the section whose lesser knobs it holds.
type Fold = (&'static str, Section);

/// A group of knobs.
struct Group {
    title: &'static str,
    folds: &'static [Fold],
}

static GROUPS: [Group; 3] = [
    Group {
        title: "Strategy",
        folds: &[
            ("More parallelism", Section::Parallel),
            ("Overlap and dispatch", Section::Schedule),
            ("Precision and counting", Section::Training),
            ("Recompute, swap and states", Section::Memory),
            ("Routing", Section::Routing),
            ("Kernels", Section::Kernel),
        ],
    },
    Group { title: "Model", folds: &[("More of the model", Section::Transformer)] },
    Group { title: "Cluster", folds: &[("Links and limits", Section::Cluster)] },
];

impl Group {
    fn knobs(&self) -> impl Iterator<Item = KnobId> {
        self.folds.iter().flat_map(|(_, section)| offered(*section))
    }
}

/// The knobs of a section that the estimate uses.
fn offered(section: Section) -> impl Iterator<Item = KnobId> {
    KnobId::in_section(section).filter(|id| id.knob().not_offered.is_none())
}

/// The panel of knobs, with the presets on top.
pub fn knobs(explorer: Explorer) -> impl IntoView {
    panel(explorer, presets(explorer))
}

/// The panel of knobs, with something else on top.
pub fn panel(explorer: Explorer, top: impl IntoView) -> impl IntoView {
    let groups: Vec<_> = GROUPS.iter().map(|spec| group(explorer, spec)).collect();
    view! {
        <aside
            id="knobs"
            class="knobs"
            tabindex="-1"
            class:open=flag(move || explorer.sheet_open.get())
            aria-label="Knobs"
        >
            {top}
            {search(explorer)}
            {groups}
        </aside>
    }
}

fn search(explorer: Explorer) -> impl IntoView {
    let node = NodeRef::<html::Input>::new();
    let is_empty = memo(move || explorer.search.with(String::is_empty));
    let found = memo(move || {
        explorer.search.with(|search| {
            let all = GROUPS.iter().flat_map(Group::knobs);
            explorer.abouts.with(|abouts| all.filter(|id| matches(abouts, *id, search)).count())
        })
    });
    let clear = move || {
        explorer.search.set(String::new());
        if let Some(input) = node.get_untracked() {
            input.set_value("");
        }
    };
    view! {
        <div class="search" role="search">
            <label class="visually-hidden" for=SEARCH_ID>"Find a knob"</label>
            <input
                type="search"
                id=SEARCH_ID
                node_ref=node
                autocomplete="off"
                spellcheck="false"
                placeholder="Find a knob, such as EP or recompute (/)"
                on:input=handler(move |event: Event| {
                    studies::ask_abouts(explorer);
                    explorer.search.set(event_target_value(&event).trim().to_ascii_lowercase());
                })
                on:keydown=handler(move |event: KeyboardEvent| {
                    if event.key() == "Escape" {
                        clear();
                    }
                })
            />
            <p class="search-count" role="status">
                {text(move || match (is_empty.get(), found.get()) {
                    (true, _) => String::new(),
                    (false, 0) => "No knob of that name".to_owned(),
                    (false, count) => format::counted(count as u64, "knob found", "knobs found"),
                })}
            </p>
        </div>
    }
}

fn group(explorer: Explorer, spec: &'static Group) -> impl IntoView {
    let ids: Vec<KnobId> = spec.knobs().collect();
    let title_id = format!("group-{}", spec.title.to_ascii_lowercase());
    let primary: Vec<_> = ids
        .iter()
        .filter(|id| id.knob().primary)
        .map(|id| knob(explorer, *id, is_found(explorer, *id)))
        .collect();
    let folds: Vec<_> =
        spec.folds.iter().filter_map(|(title, section)| fold(explorer, title, *section)).collect();
    let is_bare = any_found(explorer, ids.clone());
    view! {
        <section
            class="group"
            aria-labelledby=title_id
            hidden=flag(move || !is_bare.get())
        >
            <div class="group-head">
                <h2 id=title_id.clone() class="group-title">{spec.title}</h2>
                <span class="muted">{changes(explorer, ids)}</span>
            </div>
            {primary}
            {folds}
        </section>
    }
}

fn fold(explorer: Explorer, title: &'static str, section: Section) -> Option<impl IntoView> {
    let ids: Vec<KnobId> = lesser(section).collect();
    if ids.is_empty() {
        return None;
    }
    let place = NodeRef::<html::Div>::new();
    let waits = StoredValue::new(true);
    let make = move || {
        if let (Some(true), Some(node)) = (waits.try_get_value(), place.get_untracked()) {
            waits.set_value(false);
            make_rows(explorer, section, node.into());
        }
    };
    // Opened before there was anybody to make them.
    effect(move || {
        if place.get().is_some_and(|node| matches!(node.closest("details[open]"), Ok(Some(_)))) {
            make();
        }
    });
    let any = any_found(explorer, ids.clone());
    let searching = memo(move || !explorer.search.with(String::is_empty));
    let count = format::counted(ids.len() as u64, "knob", "knobs");
    let broken = {
        let ids = ids.clone();
        memo(move || {
            explorer.with_violations(|violations| {
                violations.iter().any(|rule| rule.knobs.iter().any(|id| ids.contains(id)))
            })
        })
    };
    let view = view! {
        <details
            class="fold"
            open=flag(move || searching.get() && any.get())
            hidden=flag(move || !any.get())
            on:toggle=handler(move |_| make())
        >
            <summary on:click=handler(move |_| make())>
                <span>{title}</span>
                <span class="muted">{count}</span>
                <span class="fold-changes">{changes(explorer, ids)}</span>
                <span class="fold-broken">
                    {maybe_text(move || broken.get().then(|| "in a broken rule".to_owned()))}
                </span>
            </summary>
            <div
                class="fold-rows"
                node_ref=place
                inner_html=on_server(|| values(explorer, section))
            ></div>
        </details>
    };
    Some(view)
}

/// The lesser knobs of a section.
fn lesser(section: Section) -> impl Iterator<Item = KnobId> {
    offered(section).filter(|id| !id.knob().primary)
}

/// The lesser knobs of a section with their values, as text.
fn values(explorer: Explorer, section: Section) -> String {
    explorer.with_design(|design| {
        let list = markup! {
            dl {
                @for id in lesser(section) {
                    @let knob = id.knob();
                    div data-knob=(id.id()) {
                        dt {
                            (knob.label)
                            @if !knob.unit.is_empty() { span { ", " (knob.unit) } }
                        }
                        dd { (spelled(&design.get(id))) }
                    }
                }
            }
        };
        list.into_string()
    })
}

/// Makes the rows of a fold in place of their values. They stay as long as the page.
#[cfg(feature = "hydrate")]
fn make_rows(explorer: Explorer, section: Section, place: web_sys::HtmlElement) {
    let rows = move || {
        let row = |id| knob(explorer, id, is_found(explorer, id));
        lesser(section).map(row).collect::<Vec<_>>()
    };
    place.set_inner_html("");
    leptos::mount::mount_to(place, rows).forget();
}

/// No row is made outside of a browser.
#[cfg(not(feature = "hydrate"))]
fn make_rows(_: Explorer, _: Section, _: web_sys::HtmlElement) {}

/// `n changed`, or nothing.
fn changes(explorer: Explorer, ids: Vec<KnobId>) -> Text {
    let count = memo(move || {
        explorer.changed().with(|changed| ids.iter().filter(|id| changed.contains(id)).count())
    });
    text(move || match count.get() {
        0 => String::new(),
        count => format!("{} changed", format::whole(count as u64)),
    })
}

fn is_found(explorer: Explorer, id: KnobId) -> Memo<bool> {
    any_found(explorer, vec![id])
}

fn any_found(explorer: Explorer, ids: Vec<KnobId>) -> Memo<bool> {
    memo(move || {
        explorer.search.with(|search| {
            explorer.abouts.with(|abouts| ids.iter().any(|id| matches(abouts, *id, search)))
        })
    })
}

/// Whether a knob matches a search in lower case: by label, id, other names and meaning.
fn matches(abouts: &[About], id: KnobId, search: &str) -> bool {
    let knob = id.knob();
    let holds = |text: &str| text.to_ascii_lowercase().contains(search);
    search.is_empty()
        || holds(knob.label)
        || holds(knob.name)
        || holds(knob.section.name())
        || knob.aliases.iter().any(|alias| holds(alias))
        || abouts.get(id as usize).is_some_and(|about| about.meaning.contains(search))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offered_knob_has_its_place() {
        let mut shown: Vec<KnobId> = GROUPS.iter().flat_map(Group::knobs).collect();
        shown.sort_unstable();
        assert_eq!(shown, KnobId::of_training().collect::<Vec<_>>());
    }

    #[test]
    fn a_knob_is_found_by_label_id_alias_and_meaning() {
        let (ep, abouts) = (KnobId::expert_model_parallel_size, present::words::about::abouts());
        for search in ["expert par", "model_parallel", "ep", "mindspeed"] {
            assert!(matches(&abouts, ep, search), "{search}");
        }
        assert!(matches(&abouts, KnobId::num_moe_experts, "n_routed"));
        assert!(!matches(&abouts, ep, "vocabulary"));
    }
}
