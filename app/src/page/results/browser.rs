//! What only a browser does on this page: it gets the data, hears of progress, and listens.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::wasm_bindgen::closure::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use present::page::results::beside::links;
use present::page::results::data::{Counts, Data, Pace};
use present::page::results::wire;
use present::site::Page;
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::{Array, Function, JSON, Reflect, Uint8Array};
use web_sys::{
    Event, EventSource, EventTarget, MessageEvent, MutationObserver, MutationObserverInit,
    ResizeObserver, Response,
};

use super::beside::Neighbour;
use super::live::Live;
use crate::browser::{fetched, pins, refusal, sent};
use crate::reaction::effect;

/// Least time between two gets of the data, in milliseconds: four redraws a second at most.
const MIN_PAUSE: f64 = 250.0;

/// Ratio of the pause to the time of the last get, so that a slow server isn't pressed.
const POLL_BACKOFF: f64 = 3.0;

/// Pause before another request after an answer that can't be used, in milliseconds.
const RETRY_DELAY_MILLIS: f64 = 3_000.0;

/// The page, shared by everything that it hears of.
pub(super) type Shared = Rc<RefCell<Live>>;

/// Events of the page.
const EVENTS: [&str; 11] = [
    "click",
    "dblclick",
    "change",
    "input",
    "keydown",
    "pointerdown",
    "pointermove",
    "pointerup",
    "pointercancel",
    "pointerout",
    "toggle",
];

/// Takes the page over.
pub(super) fn install(raw: String) {
    effect(move || {
        let path = window().location().pathname().unwrap_or_default();
        let id = path.trim_start_matches(Page::Results.path()).trim_matches('/').to_owned();
        let Some(main) = document().get_element_by_id("results") else { return };
        if document().get_element_by_id("part-status").is_none() {
            // There is no such sweep.
            return;
        }
        let live = Rc::new(RefCell::new(Live::new(id, &raw)));
        listen(&live, &main);
        get(&live);
        get_beside(&live);
    });
}

/// Gets the numbers of the base design, to which the page's head links, and of the pins.
fn get_beside(live: &Shared) {
    let live = Rc::clone(live);
    let link = document().get_element_by_id("base-design");
    let base = link.and_then(|link| link.get_attribute("href")).unwrap_or_default();
    let links = links(base.trim_start_matches("/?"), &pins::read());
    leptos::task::spawn_local(async move {
        for (label, link) in links {
            let address = format!("{}?{link}", live.borrow().address("beside"));
            let numbers = fetched(&address).await;
            if let Some(design) = numbers.and_then(|numbers| Neighbour::read(label, &numbers)) {
                live.borrow_mut().put_beside(design);
                due(&live);
            }
        }
    });
}

/// Hears of events, of the size of pictures and of the theme, as long as the page is there.
fn listen(live: &Shared, main: &web_sys::Element) {
    let shared = Rc::clone(live);
    let handler = Closure::<dyn FnMut(JsValue)>::new(move |what: JsValue| {
        match what.dyn_ref::<Event>() {
            Some(event) if EVENTS.contains(&event.type_().as_str()) => {
                super::pointer::event(&shared, event);
            }
            _ => shared.borrow_mut().resized = true,
        }
        due(&shared);
    });
    let callback: &Function = handler.as_ref().unchecked_ref();
    for event in EVENTS {
        // Fails only without a callback.
        let _ = main.add_event_listener_with_callback_and_bool(event, callback, true);
    }
    let mut others: Vec<EventTarget> = vec![window().into()];
    if let Ok(Some(query)) = window().match_media("(prefers-color-scheme: dark)") {
        others.push(query.into());
    }
    for (target, event) in others.iter().zip(["resize", "change"]) {
        let _ = target.add_event_listener_with_callback(event, callback);
    }
    if let Ok(sizes) = ResizeObserver::new(callback) {
        for name in ["scatter", "heat", "parallel"] {
            if let Some(box_of) = document().get_element_by_id(name) {
                sizes.observe(&box_of);
            }
        }
    }
    if let (Ok(theme), Some(root)) =
        (MutationObserver::new(callback), document().document_element())
    {
        let options = MutationObserverInit::new();
        options.set_attribute_filter(&Array::of1(&JsValue::from_str("data-theme")));
        let _ = theme.observe_with_options(&root, &options);
    }
    // It listens until the page is left.
    handler.forget();
}

/// Draws with the next frame what has changed.
pub(super) fn due(live: &Shared) {
    if live.borrow_mut().take_turn() {
        let live = Rc::clone(live);
        request_animation_frame(move || {
            let wanted = live.borrow_mut().draw();
            if let Some(address) = wanted {
                why(&live, address);
            }
            if super::pointer::catch_up(&live) || live.borrow().has_more() {
                due(&live);
            }
        });
    }
}

/// Gets the data.
fn get(live: &Shared) {
    let live = Rc::clone(live);
    live.borrow_mut().is_getting = true;
    leptos::task::spawn_local(async move {
        let start = now();
        let address = live.borrow().address("data");
        let got = bytes(&address).await;
        let took = now() - start;
        {
            let mut page = live.borrow_mut();
            page.is_getting = false;
            page.next_get = now() + MIN_PAUSE.max(POLL_BACKOFF * took);
            match got {
                // An answer to a request from before the removal says that it runs.
                _ if page.is_leaving => {}
                Ok(Some(data)) => page.put(data),
                Ok(None) => page.is_outdated = true,
                Err(gone) if gone => page.end("removed"),
                Err(_) => {
                    page.is_stale = true;
                    page.next_get = now() + RETRY_DELAY_MILLIS;
                }
            }
        }
        follow(&live);
        // An event that came meanwhile, perhaps the last one, isn't in this answer.
        get_later(&live);
        due(&live);
    });
}

/// Data at an address; `None` if it is of another build, an error that says whether the sweep is
/// gone.
async fn bytes(address: &str) -> Result<Option<Data>, bool> {
    let response = JsFuture::from(window().fetch_with_str(address)).await.map_err(|_| false)?;
    let response: Response = response.dyn_into().map_err(|_| false)?;
    if !response.ok() {
        return Err(response.status() == 404);
    }
    let buffer = response.array_buffer().map_err(|_| false)?;
    let buffer = JsFuture::from(buffer).await.map_err(|_| false)?;
    Ok(wire::decode(&Uint8Array::new(&buffer).to_vec()))
}

/// Hears of progress, once.
fn follow(live: &Shared) {
    let wants = {
        let mut page = live.borrow_mut();
        let wants = page.data.as_ref().is_some_and(|data| !data.is_over()) && !page.is_followed;
        page.is_followed |= wants;
        wants
    };
    if !wants {
        return;
    }
    let address = format!("/api/v1/sweeps/{}/events", live.borrow().id);
    let Ok(source) = EventSource::new(&address) else { return };
    let shared = Rc::clone(live);
    let events = source.clone();
    let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        if hear(&shared, &event) {
            // Otherwise it would connect again and again.
            events.close();
        }
        due(&shared);
    });
    let callback: &Function = heard.as_ref().unchecked_ref();
    for name in ["progress", "done", "failed", "removed"] {
        let _ = source.add_event_listener_with_callback(name, callback);
    }
    heard.forget();
    let shared = Rc::clone(live);
    let ended = source.clone();
    let broken = Closure::<dyn FnMut(Event)>::new(move |_: Event| {
        // A browser connects again by itself unless the answer was no stream: it may be gone.
        if ended.ready_state() == EventSource::CLOSED {
            {
                let mut page = shared.borrow_mut();
                page.is_stale = true;
                // The data says whether there is something to hear of still.
                page.source = None;
                page.is_followed = false;
                page.next_get = page.next_get.max(now() + RETRY_DELAY_MILLIS);
            }
            get_later(&shared);
        }
    });
    let _ = source
        .add_event_listener_with_callback("error", broken.as_ref().unchecked_ref::<Function>());
    broken.forget();
    live.borrow_mut().source = Some(source);
}

/// Takes an event in; true when it was the last.
fn hear(live: &Shared, event: &MessageEvent) -> bool {
    let parsed = event.data().as_string().and_then(|text| JSON::parse(&text).ok());
    let Some(parsed) = parsed else { return false };
    let value = |key: &str| Reflect::get(&parsed, &key.into()).unwrap_or(JsValue::NULL);
    let count = |key: &str| value(key).as_f64().unwrap_or(0.0) as u64;
    let state = value("state").as_string().unwrap_or_else(|| event.type_());
    let pace =
        Pace { rate: value("designs_per_second").as_f64(), eta: value("eta_seconds").as_f64() };
    let mut page = live.borrow_mut();
    if page.is_leaving {
        return true;
    }
    if let Some(data) = page.data.as_mut().filter(|_| value("done").as_f64().is_some()) {
        data.counts = Counts {
            done: count("done"),
            legal: count("legal"),
            feasible: count("feasible"),
            front: count("front_size"),
            ..data.counts
        };
        data.pace = pace;
    }
    page.set_state(&state);
    page.is_stale = true;
    let over = page.data.as_ref().is_some_and(Data::is_over);
    drop(page);
    get_later(live);
    over
}

/// Gets the data when it is time to.
fn get_later(live: &Shared) {
    let wait = {
        let mut page = live.borrow_mut();
        if !page.is_stale || page.is_getting || page.is_waiting || page.is_leaving {
            return;
        }
        page.is_waiting = true;
        (page.next_get - now()).max(0.0)
    };
    let live = Rc::clone(live);
    set_timeout(
        move || {
            {
                let mut page = live.borrow_mut();
                page.is_waiting = false;
                page.is_stale = false;
            }
            get(&live);
        },
        Duration::from_millis(wait as u64),
    );
}

/// Asks why cells of the heatmap are empty.
fn why(live: &Shared, address: String) {
    let live = Rc::clone(live);
    leptos::task::spawn_local(async move {
        let text = fetched(&address).await.unwrap_or_default();
        live.borrow_mut().take_reasons(&address, &text);
        due(&live);
    });
}

/// Pauses, resumes or removes the sweep.
pub(super) fn ask(live: &Shared, act: &str) {
    let id = live.borrow().id.clone();
    let (method, address) = match act {
        "remove" => ("DELETE", format!("/api/v1/sweeps/{id}")),
        act => ("POST", format!("/api/v1/sweeps/{id}/{act}")),
    };
    live.borrow_mut().is_leaving = act == "remove";
    let (live, act) = (Rc::clone(live), act.to_owned());
    leptos::task::spawn_local(async move {
        let answer = sent(method, &address, &JsValue::UNDEFINED).await;
        let ok = matches!(answer, Some((200..=299 | 409, _)));
        {
            let mut page = live.borrow_mut();
            match (ok, act.as_str()) {
                (true, "remove") => page.end("removed"),
                (true, "pause") => page.set_state("paused"),
                (true, _) => page.set_state("running"),
                (false, _) => {
                    page.is_leaving = false;
                    page.say(&refusal(answer, "The server didn't take that; try again."));
                }
            }
            page.is_stale = !page.is_leaving;
        }
        get_later(&live);
        due(&live);
    });
}

fn now() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}
