//! A link that can't be opened, and a design that breaks rules, with the ways out.

use maud::html;
use model::design::violation::{Nearest, Violation};
use model::ground::knob::KnobError;

use crate::site::Page;

/// Text of a page about a link that it can't open.
#[must_use]
pub fn broken_link(errors: &[KnobError], page: Page) -> String {
    let markup = html! {
        h1 { "This link can't be opened as it is" }
        p { "These parts couldn't be read, and nothing was substituted." }
        ul.link-errors {
            @for error in errors { li { strong { (error.knob) } p { (error.detail) } } }
        }
        p { a.button href=(page.path()) { "Open the example" } }
    };
    markup.into_string()
}

/// Broken rules with their ways out, each to the address that it leads to.
#[must_use]
pub fn problems(violations: &[Violation], address: impl Fn(&Nearest) -> String) -> String {
    let markup = html! {
        @for (place, violation) in violations.iter().enumerate() {
            p { (violation.message) "." }
            p.ways {
                @for (way, nearest) in violation.nearest.iter().take(3).enumerate() {
                    a.button #{ "mend-" (place) "-" (way) } href=(address(nearest)) {
                        (nearest.knob.knob().label) " " (nearest.value)
                    }
                    " "
                }
            }
        }
    };
    markup.into_string()
}
