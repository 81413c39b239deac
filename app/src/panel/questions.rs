//! The questions that the explorer answers, one of them at a time: why this fast, does it fit, what
//! to change, how experts are loaded.
//!
//! The current one is behind the `#` of the address, so that a link keeps it. Without a script the
//! style sheet shows the one that the address names.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use present::choices::choices;
use present::format;
use present::insight::memory_state;
use web_sys::HtmlElement;

use crate::explorer::{Explorer, NumbersOf};
use crate::reaction::{effect, handler, memo};
use crate::widget::part::{maybe_text, text};

choices! {
    /// A question.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Question {
        /// Its section's id, and what an address says of it.
        id: &'static str,
        /// Its wording.
        words: &'static str;
        /// Breakdown of the time.
        Why = "why", "Why this speed?";
        /// Breakdown of the memory.
        Fit = "fit", "Does it fit?";
        /// Changes that would improve the design.
        Change = "change", "What should I change?";
        /// Load of the experts, and what balances it.
        Load = "load", "Expert load";
    }
}

impl Question {
    /// The question whose section holds the element of that id.
    fn around(id: &str) -> Option<Self> {
        let element = document().get_element_by_id(id)?;
        let section = element.closest(".question").ok()??;
        Self::ALL.into_iter().find(|question| question.id() == section.id())
    }
}

/// The current question; `None` before a script has looked at the address.
#[derive(Clone, Copy)]
pub struct CurrentQuestion(RwSignal<Option<Question>>);

impl CurrentQuestion {
    /// The one that the address names; without any the first one, or that of loads that are
    /// missing.
    #[must_use]
    pub fn new(explorer: Explorer) -> Self {
        let asked = Self(RwSignal::new(None));
        effect(move || {
            // Missing loads are requested where they are shown.
            let lacks_loads = untrack(|| explorer.lacks_loads().is_some());
            asked.follow_address(if lacks_loads { Question::Load } else { Question::Why });
            let followed = window_event_listener(ev::hashchange, move |_| {
                asked.follow_address(Question::Why);
            });
            on_cleanup(move || followed.remove());
        });
        asked
    }

    /// The id of the question; nothing before a script has looked.
    pub fn id(self) -> Option<&'static str> {
        self.0.get().map(Question::id)
    }

    fn follow_address(self, first: Question) {
        let hash = window().location().hash().unwrap_or_default();
        let id = hash.trim_start_matches('#');
        let named = Question::around(id);
        if named.is_some() || self.0.get_untracked().is_none() {
            self.0.set(Some(named.unwrap_or(first)));
        }
        let is_inside = named.is_some_and(|question| question.id() != id);
        if let Some(place) = document().get_element_by_id(id).filter(|_| is_inside) {
            // What was hidden until now couldn't be scrolled to.
            request_animation_frame(move || place.scroll_into_view());
        }
    }

    fn ask(self, question: Question) {
        self.0.set(Some(question));
        if let Ok(history) = window().history() {
            let state = history.state().unwrap_or_default();
            let address = format!("#{}", question.id());
            // A browser that refuses shows the question all the same.
            let _ = history.replace_state_with_url(&state, "", Some(&address));
        }
        // Its views begin where the bar is, wherever the reader was.
        request_animation_frame(move || {
            if let Some(section) = document().get_element_by_id(question.id()) {
                section.scroll_into_view();
            }
        });
    }
}

/// Number of looks for a loss that isn't there yet, and the pause between them.
const MAX_LOOKS: u32 = 30;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The bar of questions, which stays in view, with the headline in short.
pub fn bar(explorer: Explorer, asked: CurrentQuestion) -> impl IntoView {
    let links: Vec<_> = Question::ALL
        .into_iter()
        .map(|question| {
            let is_asked = move || asked.0.get().unwrap_or(Question::Why) == question;
            let is_asked = maybe_text(move || is_asked().then(|| "true".to_owned()));
            let ask = handler(move |event: ev::MouseEvent| {
                if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                    event.prevent_default();
                    asked.ask(question);
                }
            });
            view! {
                <a href=format!("#{}", question.id()) aria-current=is_asked on:click=ask>
                    {question.words()}
                </a>
            }
        })
        .collect();
    let short = memo(move || in_short(explorer));
    view! {
        <nav class="questions" aria-label="Questions">
            <div class="question-links">{links}</div>
            <p class="in-short" aria-hidden="true">{text(move || short.get())}</p>
        </nav>
    }
}

/// The headline in a few words.
fn in_short(explorer: Explorer) -> String {
    if explorer.shown() != NumbersOf::Design {
        return "Can't run".to_owned();
    }
    explorer.with_numbers(|numbers| {
        let metrics = &numbers.estimate.metrics;
        format!(
            "{} MFU · {}, {}",
            format::percent(metrics.mfu, 1),
            memory_state::of_limit(metrics.memory_peak, metrics.memory_limit),
            memory_state::word(metrics.memory_state()),
        )
    })
}

/// Opens the loss of a mark of the first chart: the question what to change, and there the row of
/// that loss.
pub(super) fn open_loss(name: String) {
    let link = format!(".questions a[href=\"#{}\"]", Question::Change.id());
    // Not within the press that asks for it: its handler can't run inside itself.
    request_animation_frame(move || {
        let link = document().query_selector(&link).ok().flatten();
        if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlElement>().ok()) {
            link.click();
        }
        reveal(name, MAX_LOOKS);
    });
}

/// Opens a loss, which may have to be found first; one that is too small for a row leads to those
/// that have one.
fn reveal(name: String, looks: u32) {
    let Some(row) = document().get_element_by_id(&name) else {
        if looks > 0 {
            set_timeout(move || reveal(name, looks - 1), POLL_INTERVAL);
        } else if let Some(losses) = document().query_selector(".losses").ok().flatten() {
            losses.scroll_into_view();
        }
        return;
    };
    // A fixed, valid attribute name can always be set.
    let _ = row.set_attribute("open", "");
    request_animation_frame(move || {
        row.scroll_into_view();
        let summary = row.query_selector("summary").ok().flatten();
        if let Some(summary) = summary.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
            let _ = summary.focus();
        }
    });
}
