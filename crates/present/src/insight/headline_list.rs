//! The headline numbers as a list, where no card has them.

use maud::{Markup, html};

use super::headline::headlines;
use super::memory_state;
use super::numbers::Numbers;

/// The headline numbers as a list of this class, and whether they fit.
#[must_use]
pub fn listed(numbers: &Numbers, class: &str) -> Markup {
    let memory = memory_state::said_class(numbers.estimate.metrics.memory_state());
    html! {
        dl class=(class) {
            @for headline in headlines(numbers) {
                div data-metric=(headline.metric.metric().name) {
                    dt { (headline.title) }
                    dd.embed-number { (headline.shown) }
                    dd.muted { (headline.line) }
                }
            }
        }
        p class=(memory) { (memory_state::sentence(numbers)) }
    }
}
