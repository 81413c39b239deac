//! What only a browser does on this page: it keeps form and text in step, asks the server what the
//! sweep would cost, and starts it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::wasm_bindgen::closure::Closure;
use leptos::wasm_bindgen::{JsCast, JsValue};
use maud::html;
use model::design::KnobId;
use model::design::file::{Tree, json};
use present::insight::spec::space::{self, Form};
use present::insight::spec::{self, number, set, shown, texts, values};
use present::page::sweep::cost::{cost_text, problems, problems_text};
use present::page::sweep::form::{self, Problem};
use present::site::Page;
use wasm_bindgen_futures::JsFuture;
use web_sys::js_sys::Function;
use web_sys::{Blob, DragEvent, Element, Event, HtmlInputElement, HtmlTextAreaElement};

use crate::browser;
use crate::browser::dom::{Target, is_typing, write_part, write_part_after};
use crate::reaction::effect;

/// Time that form and text have been still before the server is queried.
const DEBOUNCE: Duration = Duration::from_millis(350);

/// A press of a button is over after this long: the form waits for it.
const PRESS_DELAY: Duration = Duration::from_millis(250);

/// The page, shared by everything that it hears of.
type Shared = Rc<RefCell<Builder>>;

struct Builder {
    spec: Tree,
    /// Problems that the server found.
    problems: Vec<Problem>,
    /// Counts requests, so that late answers are known as such.
    asked: u64,
    waiting: Option<TimeoutHandle>,
    form: String,
}

/// Takes the page over.
pub(super) fn install() {
    effect(|| {
        let (Some(main), Some(text)) = (document().get_element_by_id("build"), text_box()) else {
            return;
        };
        let spec = spec::parse(&text.value()).unwrap_or(Tree::Map(vec![]));
        let builder =
            Builder { spec, problems: vec![], asked: 0, waiting: None, form: String::new() };
        let shared = Rc::new(RefCell::new(builder));
        listen(&shared, &main);
        ask_cost(&shared);
    });
}

fn text_box() -> Option<HtmlTextAreaElement> {
    document().get_element_by_id("spec")?.dyn_into().ok()
}

fn listen(shared: &Shared, main: &Element) {
    let page = Rc::clone(shared);
    let handler = Closure::<dyn FnMut(Event)>::new(move |event: Event| heard(&page, &event));
    let callback: &Function = handler.as_ref().unchecked_ref();
    for name in ["click", "change", "input", "submit", "dragover", "drop"] {
        // Fails only without a callback.
        let _ = main.add_event_listener_with_callback(name, callback);
    }
    // It listens until the page is left.
    handler.forget();
}

fn heard(page: &Shared, event: &Event) {
    let kind = event.type_();
    match kind.as_str() {
        "submit" => return event.prevent_default(),
        "dragover" | "drop" => return dropped(page, event, kind == "drop"),
        _ => {}
    }
    let Some(target) = Target::of(event) else { return };
    match (target.act.as_str(), kind.as_str()) {
        ("text", "input") => {
            if let Some(text) = text_box() {
                read_text(page, &text.value());
            }
        }
        ("file", "change") => {
            let input = event.target().and_then(|it| it.dyn_into::<HtmlInputElement>().ok());
            let file = input.and_then(|input| input.files()).and_then(|files| files.get(0));
            if let Some(file) = file {
                open_file(page, file.into());
            }
        }
        ("start", "click") => start(page),
        ("copy", "click") => copy(text_box().map(|text| text.value()).unwrap_or_default()),
        ("curl", "click") => copy(curl(&page.borrow().spec)),
        ("text" | "file", _) => {}
        (_, "click") if target.is_button => change(page, &target),
        (_, "change") if !target.is_button => change(page, &target),
        _ => {}
    }
}

/// A file that is dropped on the page.
fn dropped(page: &Shared, event: &Event, has_landed: bool) {
    event.prevent_default();
    let files = event.dyn_ref::<DragEvent>().and_then(DragEvent::data_transfer);
    if let Some(files) = files.filter(|_| has_landed) {
        match files.files().and_then(|files| files.get(0)) {
            Some(file) => open_file(page, file.into()),
            None => {
                let text = files.get_data("text/plain").unwrap_or_default();
                take_text(page, &text);
            }
        }
    }
}

fn open_file(page: &Shared, file: Blob) {
    /// No spec is larger.
    const MAX_BYTES: f64 = 1_000_000.0;
    let page = Rc::clone(page);
    leptos::task::spawn_local(async move {
        let text = if file.size() <= MAX_BYTES {
            JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string())
        } else {
            None
        };
        match text {
            Some(text) => take_text(&page, &text),
            None => write_part("part-text-wrong", "<p>This file can't be read as a spec.</p>"),
        }
    });
}

/// Puts a text into the box and reads it.
fn take_text(page: &Shared, text: &str) {
    if let Some(node) = text_box() {
        node.set_value(text);
    }
    read_text(page, text);
}

/// The text has changed: the form follows.
fn read_text(page: &Shared, text: &str) {
    match spec::parse(text) {
        Ok(tree) => {
            page.borrow_mut().spec = tree;
            write_part("part-text-wrong", "");
            write_form(page, None);
            changed(page);
        }
        Err(error) => {
            write_part("part-text-wrong", &html! { pre { (error) } }.into_string());
            forbid("The text isn't valid yet.");
            let mut builder = page.borrow_mut();
            builder.asked += 1;
            if let Some(waiting) = builder.waiting.take() {
                waiting.clear();
            }
        }
    }
}

/// The form has changed: the text follows.
fn change(page: &Shared, target: &Target) {
    {
        let mut builder = page.borrow_mut();
        apply(&mut builder.spec, target);
        // What was wrong may be right now; the server says it again.
        builder.problems.clear();
        if let Some(node) = text_box() {
            node.set_value(&spec::print(&builder.spec));
        }
    }
    write_part("part-text-wrong", "");
    if target.is_text {
        // What is pressed next would be replaced under the pointer, and lose the focus.
        let (later, taken) = (Rc::clone(page), target.value.clone());
        set_timeout(move || write_form(&later, Some(&taken)), PRESS_DELAY);
    } else {
        write_form(page, None);
    }
    changed(page);
}

fn changed(page: &Shared) {
    let mut builder = page.borrow_mut();
    if let Some(waiting) = builder.waiting.take() {
        waiting.clear();
    }
    let later = Rc::clone(page);
    builder.waiting = set_timeout_with_handle(move || ask_cost(&later), DEBOUNCE).ok();
}

/// Writes the form; `taken` is a text that is in the spec by now.
fn write_form(page: &Shared, taken: Option<&str>) {
    let mut builder = page.borrow_mut();
    let html = form::form(&builder.spec, &builder.problems);
    if html != builder.form {
        write_part_after("part-form", &html, taken);
        builder.form = html;
    }
}

/// Changes the part of the spec that a control is about.
fn apply(spec: &mut Tree, target: &Target) {
    let (with, value) = (target.with.as_str(), target.value.as_str());
    let text = |value: &str| Some(Tree::from(value)).filter(|_| !value.is_empty());
    let some = |value: &str| Some(number(value)).filter(|_| !value.trim().is_empty());
    match target.act.as_str() {
        "name" => set(spec, &["name"], text(value)),
        "preset" => set(spec, &["design", "preset"], text(value)),
        "closed" => {
            let timing = if target.checked { "closed_form" } else { "simulated" };
            set(spec, &["design", "schedule", "timing"], text(timing));
        }
        "add-knob" => {
            if let (Ok(knob), Some(base)) = (KnobId::find(value), form::base(spec)) {
                space::add(spec, knob, Tree::from(&base.get(knob)));
            }
        }
        "metric" | "goal" | "no-goal" | "add-goal" => objective(spec, target),
        "rule" | "no-rule" => constraint(spec, target),
        "method" => {
            if value == "grid" {
                set(spec, &["sampling"], None);
            } else {
                set(spec, &["sampling", "method"], text(value));
                if spec::at(spec, &["sampling", "count"]).is_none() {
                    // What refines needs few.
                    let count = if value == "refine" { "10000" } else { "100000" };
                    set(spec, &["sampling", "count"], some(count));
                    set(spec, &["sampling", "seed"], some("1"));
                }
            }
        }
        "count" | "seed" => set(spec, &["sampling", &target.act], some(value)),
        "sample" => set(spec, &["sample"], some(value)),
        _ => {
            let key = with.split('=').next().unwrap_or(with);
            let entry = space::entries(spec).into_iter().find(|entry| entry.key() == key);
            if let Some(entry) = entry {
                let tree = knob(&entry, target);
                space::put(spec, &entry, tree);
            }
        }
    }
}

/// Variation of a knob after a change; `None` takes it out of the space.
fn knob(entry: &space::Entry, target: &Target) -> Option<Tree> {
    let value = target.value.as_str();
    let mut tree = entry.tree.clone();
    let some = |value: &str| Some(number(value)).filter(|_| !value.trim().is_empty());
    match target.act.as_str() {
        "without" => return None,
        "form" => {
            if let (Some(form), Some(knob)) = (Form::find(value), entry.knob) {
                tree = form.start(knob, &tree);
            }
        }
        "values" => tree = Tree::List(values(value)),
        "option" => {
            let option = target.with.split_once('=').map_or("", |(_, option)| option);
            let mut all = if let Tree::List(all) = tree { all } else { vec![] };
            all.retain(|known| shown(known) != option);
            if target.checked {
                all.extend(values(option));
            }
            tree = Tree::List(all);
        }
        "from" | "to" | "step" | "times" | "over" => set(&mut tree, &[&target.act], some(value)),
        "dense" => set(&mut tree, &["dense_layers"], some(value)),
        "divisors" => set(&mut tree, &["divisors_of"], some(value)),
        "same" => set(&mut tree, &["same_as"], Some(Tree::from(value))),
        "low" | "high" => {
            let mut ends = match tree.get("powers_of_two") {
                Some(Tree::List(ends)) => ends.clone(),
                _ => vec![],
            };
            ends.resize(2, Tree::Unsigned(1));
            ends[usize::from(target.act == "high")] = number(value);
            set(&mut tree, &["powers_of_two"], Some(Tree::List(ends)));
        }
        _ => {}
    }
    Some(tree)
}

fn objective(spec: &mut Tree, target: &Target) {
    let mut all = texts(spec, "objectives");
    let place = target.with.parse::<usize>().unwrap_or(usize::MAX);
    let value = target.value.as_str();
    if target.act == "add-goal" {
        if !value.is_empty() {
            all.push(format!("{value} min"));
        }
    } else if place < all.len() {
        if target.act == "no-goal" {
            all.remove(place);
        } else {
            let (name, goal) = all[place].rsplit_once(' ').unwrap_or((&all[place], "max"));
            all[place] = match target.act.as_str() {
                "metric" => format!("{value} {goal}"),
                _ => format!("{name} {value}"),
            };
        }
    }
    set(spec, &["objectives"], Some(Tree::list(all.iter().map(String::as_str))));
}

fn constraint(spec: &mut Tree, target: &Target) {
    let mut all = texts(spec, "constraints");
    let place = target.with.parse::<usize>().unwrap_or(usize::MAX);
    let value = target.value.trim();
    match (target.act.as_str(), all.get_mut(place)) {
        ("rule", Some(known)) if !value.is_empty() => value.clone_into(known),
        (_, Some(_)) => drop(all.remove(place)),
        ("rule", None) if !value.is_empty() => all.push(value.to_owned()),
        _ => {}
    }
    set(spec, &["constraints"], Some(Tree::list(all.iter().map(String::as_str))));
}

/// The button can't be pressed, and why.
fn forbid(why: &str) {
    write_part("part-cost", &html! { p.muted { (why) } }.into_string());
    enable(false);
}

fn enable(on: bool) {
    if let Some(button) = document().get_element_by_id("start") {
        // A fixed, valid attribute name can always be set.
        let _ = if on {
            button.remove_attribute("disabled")
        } else {
            button.set_attribute("disabled", "")
        };
    }
}

/// Sends the spec; the answer is its status and its JSON.
async fn post(address: &str, spec: &Tree) -> Option<(u16, Tree)> {
    let body = JsValue::from_str(&json::print(spec));
    let (status, text) = browser::posted(address, &body).await?;
    Some((status, json::parse(&text).unwrap_or(Tree::Null)))
}

/// Asks what the sweep would cost.
fn ask_cost(page: &Shared) {
    let (spec, turn) = {
        let mut builder = page.borrow_mut();
        builder.asked += 1;
        (builder.spec.clone(), builder.asked)
    };
    let page = Rc::clone(page);
    leptos::task::spawn_local(async move {
        let answer = post("/api/v1/sweeps/cost", &spec).await;
        if page.borrow().asked == turn {
            take_cost(&page, answer);
        }
    });
}

fn take_cost(page: &Shared, answer: Option<(u16, Tree)>) {
    let problems = match answer {
        Some((200, cost)) => {
            write_part("part-cost", &cost_text(&cost));
            enable(true);
            vec![]
        }
        Some((_, problem)) => {
            let problems = problems(&problem);
            let detail = problem.get("detail").and_then(Tree::as_text);
            let detail = detail.unwrap_or("the server's answer can't be read");
            write_part("part-cost", &problems_text(detail, &problems));
            enable(false);
            problems
        }
        None => {
            forbid("The server can't be reached; change something to try again.");
            vec![]
        }
    };
    page.borrow_mut().problems = problems;
    // Who is typing isn't disturbed: the form follows the next change.
    if !is_typing("part-form") {
        write_form(page, None);
    }
}

/// Starts the sweep and goes to its page.
fn start(page: &Shared) {
    enable(false);
    let spec = page.borrow().spec.clone();
    let page = Rc::clone(page);
    leptos::task::spawn_local(async move {
        match post("/api/v1/sweeps", &spec).await {
            Some((201, answer)) => {
                let id = answer.get("id").and_then(Tree::as_text).unwrap_or_default();
                let to = format!("{}/{id}", Page::Results.path());
                // A navigation that is refused leaves the page as it is.
                let _ = window().location().assign(&to);
            }
            other => take_cost(&page, other),
        }
    });
}

/// Command that starts the sweep from a terminal.
fn curl(spec: &Tree) -> String {
    let origin = window().location().origin().unwrap_or_default();
    let text = json::print(spec).replace('\'', "'\\''");
    format!("curl -sS {origin}/api/v1/sweeps \\\n  --data-binary '{}'\n", text.trim_end())
}

/// Puts a text on the clipboard and says whether that worked.
fn copy(text: String) {
    browser::copy(text.clone(), move |copied| {
        let said = html! {
            @if copied {
                p.build-said { "Copied." }
            } @else {
                // The text is there to be copied by hand.
                p { "The browser blocks copying; here it is:" }
                pre { (text) }
            }
        };
        write_part("part-text-wrong", &said.into_string());
    });
}
