//! The address bar and the browser's own history, which has an entry for each step of the
//! explorer's: Back takes the last step back as undo does, Forward takes it again as redo does.
//!
//! An entry's state says which place of which history it is. One of a page that was left or loaded
//! again since is opened by its address; undo begins anew with it. The page stays where it is
//! scrolled to: an entry is a design, not a place on the page. Who leaves the page and comes back
//! finds it scrolled to where it was.

use std::mem;
use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsValue;
use model::design::link;
use present::study::Study;
use present::words::name;
use web_sys::js_sys::Math;
use web_sys::{History, ScrollRestoration};

use crate::browser::download::elements;
use crate::browser::folder::at;
use crate::browser::{Later, after_paint};
use crate::explorer::Explorer;
use crate::explorer::stored;
use crate::reaction::effect;

/// The document's mark of a page that came without the server.
const SHELL_FIELD: &str = "data-shell";

/// The document's mark of a stored design that was left for another one.
const LEFT_FIELD: &str = "data-left";

/// The address bar follows a gesture that goes on, and what takes long follows any change, when the
/// knobs have been still for this long.
const DEBOUNCE: Duration = Duration::from_millis(250);

/// The browser goes to another of its entries sooner than this, or has none to go to.
const NAVIGATION_TIMEOUT: Duration = Duration::from_secs(1);

/// State of the browser's entries.
#[derive(Clone, Copy)]
struct Entries {
    /// Tells this history from that of another load of the page.
    load: StoredValue<String>,
    /// The page's title as it was opened.
    title: StoredValue<String>,
    /// The last place that has an entry.
    last: StoredValue<usize>,
    /// The link of the entry that the browser is at.
    shown: StoredValue<String>,
    /// The place of a navigation that the browser hasn't finished.
    asked: StoredValue<Option<usize>>,
    patience: Later,
}

/// Ties address bar, browser history and title to the explorer.
pub(super) fn install(explorer: Explorer) {
    let entries = Entries {
        load: StoredValue::new(String::new()),
        title: StoredValue::new(String::new()),
        last: StoredValue::new(0),
        shown: StoredValue::new(untrack(|| explorer.link())),
        asked: StoredValue::new(None),
        patience: Later::new(NAVIGATION_TIMEOUT),
    };
    let rest = Later::new(DEBOUNCE);
    let mut is_first = true;
    effect(move || {
        explorer.with_design(|_| ());
        let (goes_on, _) = (explorer.in_gesture(), explorer.place());
        if mem::take(&mut is_first) {
            // The page as it was opened: its address stays as it was written.
            let spot = state().as_deref().and_then(Spot::read);
            entries.load.set_value(format!("{:x}", Math::random().to_bits()));
            entries.title.set_value(document().title());
            entries.mark(0);
            return spot.into_iter().for_each(|spot| request_animation_frame(move || spot.show()));
        }
        if !goes_on {
            // An entry costs as much as the numbers, and browsers lay the page out for it.
            after_paint(Box::new(move || entries.write(explorer)));
        }
        rest.run(move || {
            entries.write(explorer);
            explorer.rest();
        });
    });
    effect(move || {
        let back = window_event_listener(ev::popstate, move |_| entries.arrive(explorer));
        let left = window_event_listener(ev::Custom::<ev::Event>::new("pagehide"), move |_| {
            entries.keep_spot();
        });
        on_cleanup(move || {
            back.remove();
            left.remove();
        });
        if let Ok(history) = window().history() {
            // Browsers know only where the document is scrolled to, and scroll it at each step.
            let _ = history.set_scroll_restoration(ScrollRestoration::Manual);
        }
        take_shell(explorer);
    });
}

/// The state of the entry that the browser is at.
fn state() -> Option<String> {
    window().history().ok()?.state().ok()?.as_string()
}

/// Scroll position of the page: the study at its upper edge, and how many pixels below the edge
/// that begins. What lies above is made only when it is in view, so that its height tells nothing.
struct Spot {
    study: Study,
    below: i32,
}

impl Spot {
    /// Spot that the page is at; `None` at its top.
    fn now() -> Option<Self> {
        let results = document().get_element_by_id("results")?;
        let edge = results.get_bounding_client_rect().top().max(0.0);
        let is_at_top = results.scroll_top() == 0 && window().scroll_y().unwrap_or(0.0) < 1.0;
        let mut studies = elements(&results, "[data-study]");
        let first = studies.find(|study| study.get_bounding_client_rect().bottom() > edge);
        let first = first.filter(|_| !is_at_top)?;
        let below = first.get_bounding_client_rect().top() - edge;
        let study = Study::of_id(&first.get_attribute("data-study")?)?;
        Some(Self { study, below: below.round() as i32 })
    }

    /// Scrolls there: the results where they scroll by themselves, else the document.
    fn show(&self) {
        let Some(results) = document().get_element_by_id("results") else { return };
        let selector = format!("[data-study=\"{}\"]", self.study.id());
        let Some(study) = results.query_selector(&selector).ok().flatten() else { return };
        let missing = || {
            let edge = results.get_bounding_client_rect().top().max(0.0);
            study.get_bounding_client_rect().top() - edge - f64::from(self.below)
        };
        // Twice: the header, which stood above the results, may have left the screen.
        for _ in 0..2 {
            results.set_scroll_top(results.scroll_top() + missing().round() as i32);
            window().scroll_by_with_x_and_y(0.0, missing());
        }
    }

    /// Spot of an entry's state, behind its place.
    fn read(state: &str) -> Option<Self> {
        let mut fields = state.split(':').skip(2);
        let (study, below) = (fields.next()?, fields.next()?);
        Some(Self { study: Study::of_id(study)?, below: below.parse().ok()? })
    }
}

/// Method that writes an entry: its state, a title that browsers ignore, its address.
type Write = fn(&History, &JsValue, &str, Option<&str>) -> Result<(), JsValue>;

impl Entries {
    /// The place of the entry that the browser is at; `None` if it is of another history.
    fn at(self) -> Option<usize> {
        let state = state()?;
        let mut fields = state.split(':');
        let (load, place) = (fields.next()?, fields.next()?);
        self.load.with_value(|own| own == load).then(|| place.parse().ok()).flatten()
    }

    fn state(self, place: usize) -> JsValue {
        JsValue::from_str(&self.load.with_value(|load| format!("{load}:{place}")))
    }

    /// Says of the entry that the browser is at which place it is.
    fn mark(self, place: usize) {
        if let Ok(history) = window().history() {
            // Without an address it stays the same.
            let _ = history.replace_state_with_url(&self.state(place), "", None);
        }
        self.last.set_value(place);
    }

    /// Notes in the entry that is left where the page is scrolled to.
    fn keep_spot(self) {
        let (Ok(history), Some(place)) = (window().history(), self.at()) else { return };
        let place = self.load.with_value(|load| format!("{load}:{place}"));
        let state = match Spot::now() {
            Some(Spot { study, below }) => format!("{place}:{}:{below}", study.id()),
            None => place,
        };
        // A browser that refuses shows the page's top when it comes back.
        let _ = history.replace_state_with_url(&JsValue::from_str(&state), "", None);
    }

    /// Brings the browser to where the explorer is.
    fn write(self, explorer: Explorer) {
        if explorer.is_dragged() || self.asked.try_get_value() != Some(None) {
            return;
        }
        self.lead(explorer);
        // At the address of a stored design the title is the server's, which knows the name that
        // somebody gave it.
        let title = match stored_link() {
            Some(_) => self.title.get_value(),
            None => name::document(&untrack(|| explorer.title())),
        };
        document().set_title(&title);
    }

    /// Makes the browser's entries those of the explorer's history, or goes to the one that it is
    /// at.
    fn lead(self, explorer: Explorer) {
        let here = untrack(|| explorer.place());
        let Some(at) = self.at() else { return self.replace(explorer, here) };
        if at != here && here <= self.last.get_value() {
            self.go(explorer, at, here);
        } else if at < here {
            (at + 1..=here).for_each(|place| self.push(explorer, place));
        } else if let Some(link) = explorer.link_at(here)
            && self.shown.with_value(|shown| *shown != link)
        {
            self.replace(explorer, here);
        }
    }

    /// Makes an entry for a place behind the one that the browser is at.
    fn push(self, explorer: Explorer, place: usize) {
        self.enter(explorer, place, History::push_state_with_url);
    }

    /// Makes the entry that the browser is at that of a place.
    fn replace(self, explorer: Explorer, place: usize) {
        self.enter(explorer, place, History::replace_state_with_url);
    }

    fn enter(self, explorer: Explorer, place: usize, write: Write) {
        let (Ok(history), Some(link)) = (window().history(), explorer.link_at(place)) else {
            return;
        };
        let hash = window().location().hash().unwrap_or_default();
        let address = at(&format!("/?{link}{hash}"));
        // A browser refuses only when entries are made too often; the next change makes it.
        if write(&history, &self.state(place), "", Some(&address)).is_ok() {
            self.last.set_value(place);
            self.come_to(link);
        }
    }

    /// Asks the browser to go from the entry of one place to that of another.
    fn go(self, explorer: Explorer, from: usize, to: usize) {
        let by = i32::try_from(to as i64 - from as i64).unwrap_or(0);
        let gone = window().history().and_then(|history| history.go_with_delta(by));
        if gone.is_err() {
            return self.replace(explorer, to);
        }
        self.asked.set_value(Some(to));
        self.patience.run(move || {
            // Browsers forget entries when there are many.
            if let Some(Some(place)) = self.asked.try_update_value(Option::take) {
                self.replace(explorer, place);
                self.write(explorer);
            }
        });
    }

    /// The browser has gone to another entry.
    fn arrive(self, explorer: Explorer) {
        let Ok(design) = link::decode(&query()) else {
            // An address that was edited by hand: the server's page says what is wrong with it.
            return drop(window().location().reload());
        };
        let link = link::encode(&design);
        self.come_to(link.clone());
        let at = self.at();
        if let Some(asked) = self.asked.try_update_value(Option::take).flatten() {
            if at != Some(asked) {
                self.replace(explorer, asked);
            }
            // Knobs may have moved in the meantime.
            return self.write(explorer);
        }
        match at {
            Some(place) if explorer.link_at(place).as_ref() == Some(&link) => explorer.go(place),
            // A place on the page.
            None if untrack(|| explorer.with_design(|shown| *shown == design)) => {
                self.mark(untrack(|| explorer.place()));
            }
            _ => {
                explorer.begin_with(design);
                self.mark(0);
            }
        }
    }

    /// The browser is at an entry of that link.
    fn come_to(self, link: String) {
        self.shown.set_value(link);
        let Some(root) = document().document_element() else { return };
        // A fixed, valid attribute name can always be set and removed.
        let _ = if stored_link().is_some() {
            root.remove_attribute(LEFT_FIELD)
        } else {
            root.set_attribute(LEFT_FIELD, "true")
        };
    }
}

/// Takes over a page that came without the server: one that was written for the first design,
/// whatever its address says.
fn take_shell(explorer: Explorer) {
    take_address(|query| link::decode(query).map(|design| explorer.follow(design)));
}

/// Lets a page that was written for its first state follow what its address asks for.
fn take_address<E>(follow: impl FnOnce(&str) -> Result<(), E>) {
    let Some(root) = document().document_element().filter(|_| is_shell()) else { return };
    // Fixed, valid attribute names can always be set and removed.
    let _ = root.remove_attribute(SHELL_FIELD);
    let query = query();
    if !query.is_empty() && follow(&query).is_err() {
        // The server's page would say what is wrong with it.
        let _ = root.set_attribute("data-unread", "true");
    }
}

/// The same in an effect of a page.
pub(crate) fn follow_address<T: 'static, E: 'static>(
    read: fn(&str) -> Result<T, E>,
    ask: impl Fn(T) + 'static,
) {
    effect(move || take_address(|query| untrack(|| read(query).map(&ask))));
}

fn is_shell() -> bool {
    document().document_element().is_some_and(|root| root.has_attribute(SHELL_FIELD))
}

/// The query string that the page was written for; that of a stored design comes with the document.
#[must_use]
pub fn query() -> String {
    if is_shell() {
        return String::new();
    }
    stored_link().unwrap_or_else(|| window().location().search().unwrap_or_default())
}

/// The link of the stored design whose address this is.
fn stored_link() -> Option<String> {
    let path = window().location().pathname().unwrap_or_default();
    let is_stored = path.strip_prefix(stored::PATH).is_some_and(|id| id.starts_with('/'));
    let selector = format!("meta[name={}]", stored::LINK_FIELD);
    let field = is_stored.then(|| document().query_selector(&selector).ok().flatten()).flatten();
    field.and_then(|field| field.get_attribute("content"))
}
