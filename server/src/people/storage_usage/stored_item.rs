//! Something that is kept, as it is listed.

use crate::people::audit_events::Kind;

/// Seconds of a day.
pub(crate) const SECONDS_PER_DAY: u64 = 86_400;

/// Something that is kept, as one of its owners has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredItem {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    /// Owner; `None` for what was made before there were owners.
    pub(crate) owner: Option<String>,
    pub(crate) bytes: u64,
    pub(crate) created_at_secs: u64,
    /// Time when something happened to it, or it was opened, last.
    pub(crate) used_at_secs: u64,
}
