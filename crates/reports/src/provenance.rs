//! Where an answer comes from.

use crate::typed::answers;

answers! {
    /// Where a file comes from. What is digested knows nothing of it.
    struct Provenance {
        /// The link that opens the design; of a sweep the design that it varies.
        design: String,
        model_version: &'static str,
        /// The day in UTC, such as `2026-01-31`.
        date: String,
    }
}
