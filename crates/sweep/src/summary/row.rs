//! A kept design's numbers.

use serde::{Deserialize, Serialize};

/// A design that is kept, with the metrics of the spec's columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its index.
    pub index: u64,
    /// The columns.
    pub values: Vec<f64>,
    /// It fits by a closed form that is nearer to the limit than its own error: only a simulated
    /// step decides.
    #[serde(default, skip_serializing_if = "is_not")]
    pub near_limit: bool,
    /// The link of it with the strategy that was found, where the sweep finds one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_not(flag: &bool) -> bool {
    !*flag
}
