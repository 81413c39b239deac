//! The pinned designs, as the browser keeps them: the query string of their comparison.

use leptos::prelude::window;
use present::site::chosen::Chosen;

/// The name under which the browser keeps them.
pub const KEY: &str = "moescape.pins";

/// The pins; `None` if the browser keeps nothing.
#[must_use]
pub fn read() -> Chosen {
    let stored = window().local_storage().ok().flatten();
    let text = stored.and_then(|storage| storage.get_item(KEY).ok().flatten());
    Chosen::read(&text.unwrap_or_default()).0
}

/// Keeps the pins. A browser that keeps nothing forgets them with the page.
pub fn write(pins: &Chosen) {
    if let Ok(Some(storage)) = window().local_storage() {
        let _ = storage.set_item(KEY, &pins.query());
    }
}
