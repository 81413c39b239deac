//! The figure of a timeline in the page: what the server writes, and what takes it over.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::widget::Live;
use super::{Scene, server_html};

/// Gives what is shown, or says in a sentence why there is nothing.
pub type Show = Arc<dyn Fn() -> Result<Scene, String> + Send + Sync>;

/// What a figure of a timeline needs. `show` is called untracked.
pub struct TimelineFigure {
    /// The id of its heading, and part of its files' names.
    pub id: &'static str,
    /// The heading.
    pub title: &'static str,
    /// One sentence that says what is shown.
    pub caption: Signal<String>,
    /// The timeline. It is asked for when the figure comes into view or is used.
    pub show: Show,
    /// Notifies when there is another timeline to show.
    pub changes: Signal<()>,
}

/// Draws a timeline with everything around it.
pub fn timeline(spec: TimelineFigure) -> impl IntoView {
    let TimelineFigure { id, title, caption, show, changes } = spec;
    // The server writes the whole figure with its numbers. The browser finds it on the page, and
    // doesn't read what stands here when it takes the page over.
    let first = if cfg!(feature = "ssr") {
        server_html::body(id, title, untrack(|| show()).as_ref())
    } else {
        String::new()
    };
    let figure = NodeRef::<html::Figure>::new();
    Effect::new(move |live: Option<Option<Live>>| {
        changes.get();
        match live.flatten() {
            Some(live) => {
                live.change();
                Some(live)
            }
            None => {
                let figure = web_sys::Element::from(figure.get()?);
                Live::new(&figure, id, title, caption, show.clone())
            }
        }
    });
    let heading = format!("{id}-title");
    view! {
        <figure class="figure card timeline" aria-labelledby=heading id=id node_ref=figure>
            <figcaption>
                <h2 id=heading.clone()>{title}</h2>
                <p>{move || caption.get()}</p>
            </figcaption>
            <div class="timeline-body" inner_html=first></div>
        </figure>
    }
}
