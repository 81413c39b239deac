//! What only a browser does on the page: it knows the pins, and saves tables and pictures.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::pins;
use crate::download;

/// Where the pinned designs are compared; none while there are none, or these are shown already.
pub(super) fn pinned(raw: &str) -> RwSignal<Option<String>> {
    let address = RwSignal::new(None);
    let shown = super::Chosen::read(raw).0.designs;
    Effect::new(move || {
        let pinned = pins::read();
        if !pinned.designs.is_empty() && pinned.designs != shown {
            address.set(Some(pinned.address()));
        }
    });
    address
}

/// Saves what a button beside a figure is for.
pub(super) fn press(event: &MouseEvent) {
    if let Some(button) = download::closest(event, "[data-save]") {
        download::save_table(&button);
    } else if let Some(button) = download::closest(event, "[data-save-picture]") {
        download::save_picture(&button);
    }
}
