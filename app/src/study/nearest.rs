//! The measured run that is most like the design: what its ranges stand on in particular.

use super::Width;
use crate::insight::numbers::Numbers;
use crate::present::html::element;
use crate::present::range::nearest;

/// The run with the error there; it stays while knobs move, and says when it is far off.
pub(super) fn html(numbers: &Numbers, _: Width) -> String {
    let text = nearest(&numbers.plan).map_or_else(
        || "No measured run is near this design".to_owned(),
        |run| format!("Nearest measured run: {run}"),
    );
    let mut html = String::new();
    element(&mut html, "p", "class=\"muted nearest\" data-nearest=\"\"", &text);
    html
}
