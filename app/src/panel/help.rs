//! The keys that the page understands, and the switch that turns single letters off.

use leptos::prelude::*;
use maud::html;
use present::site::Page;

use crate::browser::{self, on_server};
use crate::explorer::Explorer;
use crate::reaction::handler;
use crate::widget::dialog::{Modal, modal};
use crate::widget::part::flag;

/// Keys and what they do.
const KEYS: [(&str, &str); 21] = [
    ("Ctrl K", "Search and commands; tp 16 sets a knob"),
    ("/", "Find a knob"),
    ("?", "This help"),
    ("p", "Pin this design"),
    ("c", "Compare the pinned designs"),
    ("x", "Explain the focused number"),
    ("y", "Copy the number under the pointer, full precision"),
    ("[ ]", "Previous knob, next knob"),
    ("h", "History of changes"),
    ("g and a letter", "Go to a view or page: g k knobs, g m memory, g p presets, …"),
    ("t", "Switch between dark and light"),
    ("Ctrl Z", "Undo"),
    ("Ctrl Shift Z", "Redo"),
    ("Esc", "Close the open panel, clear the search"),
    ("← →", "On a slider: the next legal value"),
    ("Shift ← →", "On a slider: ten legal values further"),
    ("↑ ↓", "In a number box: the next legal value"),
    ("W S", "On a timeline: nearer, farther"),
    ("A D", "On a timeline: to the left, to the right"),
    ("F", "On a timeline: fit what is selected, or all"),
    ("← → ↑ ↓", "On a timeline: the next task, the next stage"),
];

/// The help on keys.
pub fn help(explorer: Explorer) -> impl IntoView {
    modal(
        Modal { id: "help", open: explorer.help_open, title: "Keyboard shortcuts" },
        body(explorer),
    )
}

fn body(explorer: Explorer) -> impl IntoView {
    let rows = on_server(|| {
        let rows = html! {
            @for (key, meaning) in KEYS {
                div class="key-row" { dt { kbd { (key) } } dd { (meaning) } }
            }
        };
        rows.into_string()
    });
    // Cookies are read when the help opens: the server draws the page without them.
    let letter_keys = flag(move || !explorer.help_open.get() || browser::letter_keys());
    view! {
        <dl class="keys" inner_html=rows></dl>
        <label class="check-row">
            <input
                type="checkbox"
                class="tick-box"
                autocomplete="off"
                checked=true
                prop:checked=letter_keys
                on:change=handler(|event| browser::set_letter_keys(event_target_checked(&event)))
            />
            "Single-key shortcuts, such as / and p, work outside text boxes"
        </label>
        <p>
            <a href="/guide/views">"How to read each view"</a>
            " · "
            <a href=Page::Settings.path()>"Settings: language, units, theme"</a>
        </p>
    }
}
