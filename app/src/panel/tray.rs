//! The explorer's pins: up to four designs kept in the browser, in a bar below the results.
//!
//! The server draws no pins: what the browser keeps is read after the page is taken over. Pins are
//! written as text and pressed through the bar, so that they cost the page's module little.

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use maud::html;
use model::design::link;
use present::site::chosen::{Choice, Chosen, MAX_DESIGNS, letter, named};
use present::words::name;
use web_sys::{HtmlElement, HtmlInputElement};

use crate::browser::download::closest;
use crate::browser::folder::at;
use crate::browser::pins;
use crate::explorer::Explorer;
use crate::reaction::{effect, handler};
use crate::study_client::StudyClient;
use crate::widget::part::{flag, text};

/// State of the pins for the explorer's parts.
#[derive(Clone, Copy)]
pub struct Tray {
    explorer: Explorer,
    pinned: RwSignal<Chosen>,
    /// The pins as the bar was last drawn: a name that is typed there needs no drawing, which would
    /// take what is pressed next out of the page.
    drawn: RwSignal<Chosen>,
    /// Last action, to be spoken.
    said: RwSignal<String>,
}

impl Tray {
    /// The pins that the browser keeps, once the page is taken over.
    #[must_use]
    pub fn new(explorer: Explorer) -> Self {
        let (pinned, drawn) = (RwSignal::default(), RwSignal::default());
        let tray = Self { explorer, pinned, drawn, said: RwSignal::default() };
        let read = move || {
            pinned.set(pins::read());
            drawn.set(pinned.get_untracked());
        };
        effect(move || {
            let pins = pinned.with(Chosen::query);
            if let Some(client) = StudyClient::current() {
                client.pin(pins);
            }
        });
        effect(move || {
            read();
            // Another page of the same browser has pinned a design.
            let other = window_event_listener(ev::storage, move |_| read());
            on_cleanup(move || other.remove());
        });
        tray
    }

    /// Pins the current design.
    pub fn pin(self) {
        let link = untrack(|| self.explorer.link());
        self.change(|pins| {
            if let Some(place) = pins.designs.iter().position(|pin| pin.link == link) {
                return format!("Already pinned as {}", letter(place));
            }
            if pins.designs.len() >= MAX_DESIGNS {
                return format!("{MAX_DESIGNS} designs are pinned: remove one first");
            }
            pins.designs.push(Choice::new(link));
            format!("Pinned as {}", letter(pins.designs.len() - 1))
        });
    }

    /// Opens the comparison: of the pins, and of the current design where there is but one pin.
    pub fn compare(self) {
        let address = untrack(|| self.address());
        let _ = window().location().set_href(&at(&address));
    }

    fn address(self) -> String {
        let mut pins = self.pinned.get();
        let link = self.explorer.link();
        if pins.designs.len() < 2 && pins.designs.iter().all(|pin| pin.link != link) {
            pins.designs.push(Choice::new(link));
        }
        pins.address()
    }

    /// Changes the pins, and draws them.
    fn change(self, change: impl FnOnce(&mut Chosen) -> String) {
        self.keep(change);
        self.drawn.set(self.pinned.get_untracked());
    }

    /// Changes the pins as the browser keeps them, and says what was done.
    fn keep(self, change: impl FnOnce(&mut Chosen) -> String) {
        let mut pins = pins::read();
        if pins.designs.is_empty() {
            // A browser that keeps nothing still has those of this page.
            pins = self.pinned.get_untracked();
        }
        self.said.set(change(&mut pins));
        pins::write(&pins);
        self.pinned.set(pins);
    }

    /// A press on a pin's button: it is removed. To open it is a link like those of studies, which
    /// the page follows.
    fn press(self, event: &ev::MouseEvent) {
        let button = closest(event, "[data-unpin]");
        let place = button.and_then(|it| it.get_attribute("data-unpin")?.parse().ok());
        if let Some(place) = place {
            self.change(|pins| {
                *pins = pins.without(place);
                format!("{} is removed", letter(place))
            });
            request_animation_frame(move || focus_after(place));
        }
    }

    /// A pin is called something else.
    fn rename(self, event: &ev::Event) {
        let input = event.target().and_then(|it| it.dyn_into::<HtmlInputElement>().ok());
        let place = input.as_ref().and_then(|it| it.get_attribute("data-name")?.parse().ok());
        let (Some(input), Some(place)) = (input, place) else { return };
        let name = named(&input.value());
        self.keep(|pins| {
            if let Some(pin) = pins.designs.get_mut::<usize>(place) {
                pin.name.clone_from(&name);
            }
            format!("{} is renamed", letter(place))
        });
        input.set_value(&name);
    }

    /// The button that pins the current design.
    pub fn button(self) -> impl IntoView {
        view! {
            <button
                type="button"
                class="button only-wide"
                data-act="pin"
                title="Pin this design to compare it (p)"
                aria-label="Pin this design"
                on:click=handler(move |_| self.pin())
            >
                "Pin"
            </button>
        }
    }

    /// The bar; nothing of it is in view while nothing is pinned.
    pub fn bar(self) -> impl IntoView {
        let is_empty = flag(move || self.pinned.with(|pins| pins.designs.is_empty()));
        view! {
            <section
                class="tray"
                aria-label="Pinned designs"
                hidden=is_empty
                on:click=handler(move |event| self.press(&event))
                on:change=handler(move |event| self.rename(&event))
            >
                <ul inner_html=text(move || self.drawn.with(list))></ul>
                <a class="button primary" title="Compare (c)" href=text(move || self.address())>
                    "Compare"
                </a>
            </section>
            <p class="visually-hidden" role="status">{text(move || self.said.get())}</p>
        }
    }
}

/// Focuses what is next to a pin that was removed: the one that has its place now, the last one,
/// or the button that pins.
fn focus_after(place: usize) {
    let button = |place: usize| format!(".tray [data-unpin=\"{place}\"]");
    let last = place.checked_sub(1).map(button);
    let near = [Some(button(place)), last, Some("[data-act=pin]".to_owned())];
    let mut found = near.iter().flatten().filter_map(|it| document().query_selector(it).ok()?);
    if let Some(element) = found.next().and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        // It is only a help.
        let _ = element.focus();
    }
}

/// Each pin: its letter, its name to be changed, a link to open it, a button to remove it.
fn list(pins: &Chosen) -> String {
    let pin = |(place, pin): (usize, &Choice)| {
        let letter = letter(place);
        let usual = link::decode(&pin.link).map_or_else(|_| String::new(), |it| name::line(&it));
        html! {
            li {
                a class={ "compare-letter compare-" (letter.to_ascii_lowercase()) }
                    data-step={ "design " (letter) } title={ "Open " (usual) }
                    aria-label={ "Open " (letter) ", " (usual) }
                    href={ "/?" (pin.link) } { (letter) }
                input type="text" data-name=(place) aria-label={ "Name of " (letter) }
                    autocomplete="off" placeholder=(usual) title=(usual) value=(pin.name);
                button type="button" class="info" data-unpin=(place)
                    aria-label={ "Remove " (letter) } { "×" }
            }
        }
    };
    pins.designs.iter().enumerate().map(|it| pin(it).into_string()).collect()
}

/// Acts on the keys of pins; false for any other.
#[must_use]
pub fn press_key(tray: Tray, key: &str) -> bool {
    match key {
        "p" => tray.pin(),
        "c" => tray.compare(),
        _ => return false,
    }
    true
}
