//! What only a browser does on the page: it knows the pins.

use leptos::prelude::*;
use present::site::chosen::Chosen;

use crate::browser::pins;
use crate::reaction::effect;

/// Address of the comparison of the pinned designs; `None` while there are none, or these are shown
/// already.
pub(super) fn pinned() -> RwSignal<Option<String>> {
    let address = RwSignal::new(None);
    effect(move || {
        let shown = Chosen::read(&window().location().search().unwrap_or_default()).0.designs;
        let pinned = pins::read();
        if !pinned.designs.is_empty() && pinned.designs != shown {
            address.set(Some(pinned.address()));
        }
    });
    address
}
