//! The places of the studies on the page.

use std::rc::Rc;

use leptos::ev::{Event, MouseEvent};
use leptos::html::Div;
use leptos::prelude::*;
use leptos::wasm_bindgen::{JsCast, JsValue};
use model::design::link;
use present::study::{Study, answer};
use web_sys::js_sys::Reflect;
use web_sys::{Element, HtmlSelectElement};

use super::{questions, trace};
use crate::browser::download::{closest, elements};
use crate::browser::folder::known;
use crate::explorer::{Explorer, NumbersOf};
use crate::reaction::effect;
use crate::study_client::{Errand, StudyClient, link_of};

/// Places of the studies on the page.
#[derive(Clone, Copy)]
pub struct Studies {
    explorer: Explorer,
    hosts: [NodeRef<Div>; Study::ALL.len()],
}

impl Studies {
    /// Places that are kept up to date with the explorer.
    #[must_use]
    pub fn new(explorer: Explorer) -> Self {
        let hosts = Study::ALL.map(|_| NodeRef::new());
        let mut client = None::<Rc<StudyClient>>;
        effect(move || {
            let query = match explorer.shown() {
                NumbersOf::Design => explorer.link(),
                NumbersOf::LastLegal | NumbersOf::Preset => {
                    explorer.with_numbers(|numbers| link::encode(numbers.plan.design()))
                }
            };
            let rests = explorer.rests();
            let client = client.get_or_insert_with(|| {
                let hosts = Study::ALL.into_iter().zip(hosts);
                StudyClient::new(hosts, move |done| trace::hear(explorer, done))
            });
            client.follow(query, rests);
        });
        Self { explorer, hosts }
    }

    /// The place of a study, with what the server writes there.
    pub fn place(self, study: Study) -> impl IntoView {
        view! {
            <div
                class="study"
                data-study=study.id()
                node_ref=self.hosts[study as usize]
                inner_html=self.first(study)
            ></div>
        }
    }

    /// The study as the page is opened; in the browser it is there already.
    fn first(self, study: Study) -> String {
        if cfg!(feature = "hydrate") {
            return String::new();
        }
        self.explorer.with_numbers_untracked(|numbers| answer::first(study, numbers))
    }
}

/// A study that is shown on request: `options` are what the reader has chosen to see, `None` while
/// there is no request.
pub fn asked(study: Study, options: impl Fn() -> Option<String> + 'static) -> impl IntoView {
    let host = NodeRef::<Div>::new();
    effect(move || {
        let (options, host) = (options(), host.get());
        let Some(client) = StudyClient::current() else { return };
        match (options, host) {
            (Some(options), Some(host)) => client.show(study, host.unchecked_into(), options),
            _ => client.hide(study),
        }
    });
    on_cleanup(move || {
        if let Some(client) = StudyClient::current() {
            client.hide(study);
        }
    });
    view! { <div class="asked" node_ref=host></div> }
}

/// Asks what each knob is, unless that is known.
pub fn ask_abouts(explorer: Explorer) {
    let is_known = explorer.abouts.with_untracked(|all| !all.is_empty());
    if let Some(client) = StudyClient::current().filter(|_| !is_known) {
        client.send(Errand::Abouts);
    }
}

/// Opens the design of a link in a study here instead of as a page; a mark of a chart stands for
/// the link of its name.
pub fn press(explorer: Explorer, event: &MouseEvent) {
    let other_page = event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key();
    if other_page || event.default_prevented() {
        return;
    }
    if let Some(map) = closest(event, "[data-save-cells]") {
        let map = map.get_attribute("data-save-cells").unwrap_or_default();
        return StudyClient::current()
            .into_iter()
            .for_each(|client| client.send(Errand::Cells(map.clone())));
    }
    let Some(link) = pressed(event) else { return };
    let (href, step) = (known(&link), link.get_attribute("data-step"));
    let query = href.as_deref().and_then(|href| href.strip_prefix("/?"));
    if let (Some(Ok(design)), Some(step)) = (query.map(link::decode), step) {
        event.prevent_default();
        explorer.replace(step, design);
    }
}

/// Shows a study as it was chosen in it.
pub fn choose(event: &Event) {
    let host = closest(event, "[data-option]").and_then(|it| it.closest(".study").ok().flatten());
    if let Some(host) = host {
        choose_in(&host);
    }
}

fn choose_in(host: &Element) {
    let study = host.get_attribute("data-study").and_then(|id| Study::of_id(&id));
    let chosen = elements(host, "[data-option]").filter_map(|choice| {
        let name = choice.get_attribute("data-option")?;
        // A list or a box: both have a value.
        let value = Reflect::get(&choice, &JsValue::from_str("value")).ok()?;
        Some(format!("{name}={}", value.as_string()?))
    });
    let chosen: Vec<String> = chosen.collect();
    if let (Some(study), Some(client)) = (study, StudyClient::current()) {
        client.choose(study, chosen.join("&"));
    }
}

fn pressed(event: &MouseEvent) -> Option<Element> {
    if let Some(link) = closest(event, "a[data-step]") {
        return Some(link);
    }
    let mark = closest(event, "[data-opens]")?;
    let study = mark.closest(".study").ok()??;
    let name = mark.get_attribute("data-opens")?;
    if name.starts_with("loss-") {
        questions::open_loss(name);
        return None;
    }
    if let Some(choice) = study.query_selector("select[data-option=operator]").ok().flatten() {
        choice.unchecked_into::<HtmlSelectElement>().set_value(&name);
        choose_in(&study);
        return None;
    }
    link_of(&study, &name).map(JsCast::unchecked_into)
}
