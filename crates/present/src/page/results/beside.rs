//! Designs beside those of the sweep, each where it lies in the scatter: the one that the sweep
//! varies, and those that the reader has pinned.

use model::metric::MetricId;

use crate::site::chosen::{Chosen, letter};

/// Name of the design that the sweep varies.
const BASE: &str = "You are here";

/// A design beside those of the sweep.
pub trait ReferenceDesign {
    /// Label written at it.
    fn label(&self) -> &str;

    /// A metric of it.
    fn metric(&self, id: MetricId) -> Option<f64>;
}

/// Designs drawn beside those of a sweep of that base: labels and links.
pub fn links(base: &str, pins: &Chosen) -> Vec<(String, String)> {
    let base = Some(base).filter(|base| !base.is_empty());
    let pinned = pins.designs.iter().enumerate();
    let pinned = pinned.filter(|(_, choice)| Some(choice.link.as_str()) != base);
    let pinned = pinned.map(|(place, choice)| (letter(place).to_string(), choice.link.clone()));
    base.map(|link| (BASE.to_owned(), link.to_owned())).into_iter().chain(pinned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_stands_once_and_pins_keep_their_letters() {
        let pins = Chosen::of_links(["v=1", "v=1&vpp=1"]);
        let all = links("v=1", &pins);
        let all: Vec<(&str, &str)> = all.iter().map(|(label, link)| (&**label, &**link)).collect();
        assert_eq!(all, [(BASE, "v=1"), ("B", "v=1&vpp=1")]);
        assert!(links("", &Chosen::default()).is_empty());
    }
}
