//! The form that begins a session, and the page of a session that there isn't.

use leptos::ev;
use leptos::prelude::*;
use present::site::Page;
use review::MAX_NAME_LEN;

use super::browser;
use crate::panel::header;
use crate::reaction::{effect, handler};
use crate::widget::part::{IntoPart, Part, text};

/// A page with a title and a little text.
fn sheet(title: &'static str, body: Part) -> Part {
    view! {
        <div class="review-sheet">
            <a class="skip" href="#results">"Skip to the content"</a>
            {header::plain(Page::Review)}
            <main id="results" class="sheet-main">
                <h1>{title}</h1>
                {body}
            </main>
        </div>
    }
    .part()
}

/// The form. It works without a script.
pub(super) fn start(link: &str, name: &str, problem: Option<&str>) -> Part {
    let person = RwSignal::new(String::new());
    let key = RwSignal::new(String::new());
    effect(move || {
        person.set(browser::name().unwrap_or_default());
        key.set(browser::key());
    });
    let problem = problem.map(|problem| {
        view! { <p id="problem" class="problem" role="alert">{problem.to_owned()}</p> }
    });
    let body = view! {
        <p>
            "In a review a team edits one design together, comments, suggests and decides. You get \
             the owner's link and create links for the others."
        </p>
        <form
            class="composer"
            method="post"
            action=Page::Review.path()
            on:submit=handler(move |_| browser::keep_name(person.get_untracked().trim()))
        >
            {problem}
            <label for="name">"Name of the review"</label>
            <input
                id="name"
                name="name"
                type="text"
                required
                maxlength=MAX_NAME_LEN
                autocomplete="off"
                value=name.to_owned()
            />
            <label for="person">"Your name"</label>
            <input
                id="person"
                name="person"
                type="text"
                required
                maxlength=MAX_NAME_LEN
                autocomplete="name"
                prop:value=text(move || person.get())
                on:input=handler(move |event: ev::Event| person.set(event_target_value(&event)))
            />
            <input type="hidden" name="link" value=link.to_owned()/>
            <input type="hidden" name="key" prop:value=text(move || key.get())/>
            <button type="submit" class="button primary">"Start the review"</button>
        </form>
        <p class="muted">
            "It begins with "
            <a href=format!("/?{link}")>"this design"</a>
            ". Your own page of the explorer stays as it is."
        </p>
    };
    sheet("Start a review", body.part())
}

/// There is nothing, or it isn't for this visitor; the page doesn't tell which.
pub(super) fn missing() -> Part {
    let body = view! {
        <p>
            "There is no review at this address, or the link to it was withdrawn or has expired. "
            "Ask whoever gave you the link for a new one: a link holds a key, and is only good as "
            "a whole."
        </p>
        <p><a class="button primary" href="/">"Go to the explorer"</a></p>
    };
    sheet("No such review", body.part())
}
