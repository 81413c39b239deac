//! The figure of a timeline in the page: what the server writes, and what takes it over.
//!
//! Either the page's own module draws it, [`timeline`], or another one that comes when the figure
//! is looked at: then the page writes into the figure's attribute [`PLAN`](super::PLAN) what is to
//! be shown, and that module [takes it over](take_over).

use std::rc::Rc;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use present::timeline::{Scene, server_html};

use super::widget::Live;
use crate::reaction::effect;
use crate::widget::part::{maybe_text, text};

/// The attribute of a figure that a module draws.
pub(super) const LIVE: &str = "data-live";

/// Gives what is shown, or says in a sentence why there is nothing.
type Show = Arc<dyn Fn() -> Result<Scene, String> + Send + Sync>;

/// Inputs of a figure of a timeline. `show` is called untracked.
pub struct TimelineFigure {
    /// The id of its heading, and part of its files' names.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// One sentence that says what is shown.
    pub caption: Signal<String>,
    /// The timeline. It is computed when the figure comes into view or is used.
    pub show: Show,
    /// Notifies when there is another timeline to show.
    pub changes: Signal<()>,
}

/// Subject of a figure that is drawn in the browser.
pub struct Subject {
    /// The figure's id, which is part of its files' names.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// One sentence that says what is shown.
    pub caption: Rc<dyn Fn() -> String>,
    /// The timeline. It is computed when the figure comes into view or is used.
    pub show: Rc<dyn Fn() -> Result<Scene, String>>,
}

/// Draws a timeline with everything around it.
pub fn timeline(spec: TimelineFigure) -> impl IntoView {
    let TimelineFigure { id, title, caption, show, changes } = spec;
    let figure = NodeRef::<html::Figure>::new();
    let shown = show.clone();
    let mut live = None::<Live>;
    effect(move || {
        changes.get();
        if let Some(live) = &live {
            return live.change();
        }
        let Some(figure) = figure.get() else { return };
        let show = shown.clone();
        let show = Rc::new(move || untrack(|| show()));
        let caption = Rc::new(move || caption.get_untracked());
        let figure = web_sys::Element::from(figure);
        live = Live::new(&figure, Subject { id, title, caption, show });
    });
    frame((id, title), caption, || None, move || show(), figure)
}

/// The figure with its heading and all that the server writes into it. `plan` is what it says in
/// the attribute [`PLAN`](super::PLAN), for another module that draws it.
pub fn frame(
    (id, title): (&'static str, &'static str),
    caption: Signal<String>,
    plan: impl Fn() -> Option<String> + Send + 'static,
    show: impl FnOnce() -> Result<Scene, String> + 'static,
    node: NodeRef<html::Figure>,
) -> impl IntoView {
    // The server writes the whole figure with its numbers. The browser finds it on the page, and
    // doesn't read this text when it takes the page over.
    let first = if cfg!(feature = "ssr") {
        server_html::body(id, title, untrack(show).as_ref())
    } else {
        String::new()
    };
    let heading = format!("{id}-title");
    view! {
        <figure
            class="figure card timeline"
            aria-labelledby=heading
            id=id
            data-plan=maybe_text(plan)
            node_ref=node
        >
            <figcaption>
                <h2 id=heading.clone()>{title}</h2>
                <p>{text(move || caption.get())}</p>
            </figcaption>
            <div class="timeline-body" inner_html=first></div>
        </figure>
    }
}

/// Takes over the figure that the page's own module leaves to this one, as long as the page is
/// open. It asks for what is shown whenever the figure's attribute
/// [`PLAN`](super::PLAN) changes.
pub fn take_over(what: Subject) {
    let live = document()
        .get_element_by_id(what.id)
        .filter(|figure| !figure.has_attribute(LIVE))
        .and_then(|figure| Live::new(&figure, what));
    std::mem::forget(live);
}
