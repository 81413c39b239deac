//! The panel beside the results: comments, suggestions, candidates, decisions and history.

use std::sync::Arc;

use leptos::ev;
use leptos::prelude::*;
use present::format;
use review::Numbers;

use super::session::{Session, Tab};
use super::{agenda, browser, candidates, decisions, discussion, history, links, proposals};
use crate::reaction::{handler, memo};
use crate::widget::part::{IntoPart, Part, flag, live, text};
use crate::widget::sheet::guide_focus;

/// Draws the panel; one part of it is open.
pub(super) fn panel(session: Session) -> Part {
    // Made anew only when the working design moves; the comments on it are many threads.
    let design = memo(move || session.with_room(|room| room.design.clone()));
    let numbers = Memo::new_with_compare(
        move |_| design.with(|design| Arc::new(Numbers::of(design))),
        |_, _| true,
    );
    let body = live(move || {
        Some(match session.tab.get() {
            Tab::Discuss => {
                vec![agenda::agenda(session), discussion::discussion(session, numbers)].part()
            }
            Tab::Designs => {
                vec![proposals::proposals(session), candidates::candidates(session)].part()
            }
            Tab::Decide => decisions::decisions(session),
            Tab::History => history::history(session),
            Tab::Share => links::links(session),
        })
    });
    guide_focus("panel", session.panel_open);
    view! {
        <aside
            id="panel"
            class="review-panel"
            tabindex="-1"
            class:open=flag(move || session.panel_open.get())
            aria-label="Review"
        >
            {tabs(session)}
            <div
                id="panel-body"
                class="panel-body"
                role="tabpanel"
                tabindex="0"
                aria-labelledby=text(move || tab_id(session.tab.get()).to_owned())
            >
                {body}
            </div>
        </aside>
    }
    .part()
}

/// The names of the parts; arrow keys go from one to the next.
fn tabs(session: Session) -> Part {
    let tabs: Vec<_> = Tab::ALL.into_iter().map(|tab| one_tab(session, tab)).collect();
    let by_key = move |event: ev::KeyboardEvent| {
        let count = Tab::ALL.len();
        let at = Tab::ALL.iter().position(|tab| *tab == session.tab.get_untracked()).unwrap_or(0);
        let next = match event.key().as_str() {
            "ArrowRight" => (at + 1) % count,
            "ArrowLeft" => (at + count - 1) % count,
            "Home" => 0,
            "End" => count - 1,
            _ => return,
        };
        event.prevent_default();
        let tab = Tab::ALL[next];
        session.tab.set(tab);
        browser::focus(tab_id(tab));
    };
    view! {
        <div class="tabs" role="tablist" aria-label="Parts of the review" on:keydown=by_key>
            {tabs}
        </div>
    }
    .part()
}

const fn tab_id(tab: Tab) -> &'static str {
    match tab {
        Tab::Discuss => "tab-discuss",
        Tab::Designs => "tab-designs",
        Tab::Decide => "tab-decide",
        Tab::History => "tab-history",
        Tab::Share => "tab-share",
    }
}

fn one_tab(session: Session, tab: Tab) -> Part {
    let open = move |yes: &'static str, no: &'static str| {
        text(move || (if session.tab.get() == tab { yes } else { no }).to_owned())
    };
    let count = move || match tab {
        Tab::Discuss => {
            let open = session.with_room(|room| {
                room.threads.iter().filter(|thread| thread.resolved.is_none()).count()
            });
            if open == 0 { String::new() } else { format::whole(open as u64) }
        }
        Tab::Designs => proposals::count(session),
        Tab::Decide | Tab::History | Tab::Share => String::new(),
    };
    let count = memo(count);
    view! {
        <button
            type="button"
            role="tab"
            id=tab_id(tab)
            aria-controls="panel-body"
            aria-selected=open("true", "false")
            tabindex=open("0", "-1")
            on:click=handler(move |_| session.tab.set(tab))
        >
            {tab.label()}
            {live(move || {
                let count = count.get();
                let is_empty = count.is_empty();
                (!is_empty).then(|| view! { <span class="count">{count}</span> }.part())
            })}
        </button>
    }
    .part()
}
