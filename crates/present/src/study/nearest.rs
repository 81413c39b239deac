//! The measured run that is most like the design: the particular basis of its ranges.

use maud::{Markup, html};

use crate::insight::numbers::Numbers;
use crate::words::range::nearest;

/// The run with the error there; it stays while knobs move, and says when it is far off.
pub(super) fn html(numbers: &Numbers) -> Markup {
    html! {
        p.muted.nearest data-nearest="" {
            @match nearest(&numbers.plan) {
                Some(run) => { "Nearest measured run: " (run) }
                None => "No measured run is near this design",
            }
        }
    }
}
