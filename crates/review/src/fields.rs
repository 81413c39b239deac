//! Objects whose `kind` says which other names they have, as they are read.
//!
//! What is read is put into one struct that knows every name, and made a variant of afterwards. An
//! enum that serde reads by its tag is first kept in memory as a tree of its own, once more for
//! every enum in it: that took a fifth of the browser's module, and twice the memory for a room.

/// What a kind has to have.
pub(crate) fn need<T>(field: &mut Option<T>, name: &str) -> Result<T, String> {
    field.take().ok_or_else(|| format!("missing field `{name}`"))
}
