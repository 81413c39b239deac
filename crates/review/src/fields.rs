//! Objects whose `kind` says which other names they have, as they are read.
//!
//! What is read is put into one struct that knows every name, and made a variant of afterwards. An
//! enum that serde reads by its tag is first kept in memory as a tree of its own, once more for
//! every enum in it: that took a fifth of the browser's module, and twice the memory for a room.

/// Takes a field that a kind requires.
pub(crate) fn need<T>(field: &mut Option<T>, name: &str) -> Result<T, String> {
    field.take().ok_or_else(|| format!("missing field `{name}`"))
}

/// Reads an enum by its `kind`: from a struct of all names that variants have, and for each variant
/// those that it needs and, behind a semicolon, those that it may have. Where it is `strict`, a
/// variant has no name of another one.
macro_rules! read_by_kind {
    (
        $(#[$meta:meta])*
        $fields:ident { $($field:ident: $of:ty),* $(,)? }
        $kind:ident of $type:ident, strict: $strict:literal
        $($variant:ident { $($needed:ident),* $(; $($optional:ident),*)? })*
    ) => {
        #[derive(Clone, Copy, Debug, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum $kind { $($variant),* }

        #[derive(Clone, Debug, Deserialize)]
        $(#[$meta])*
        struct $fields {
            kind: $kind,
            $($field: Option<$of>),*
        }

        impl TryFrom<$fields> for $type {
            type Error = String;

            fn try_from(mut of: $fields) -> Result<Self, String> {
                let read = match of.kind {
                    $($kind::$variant => Self::$variant {
                        $($needed: $crate::fields::need(&mut of.$needed, stringify!($needed))?,)*
                        $($($optional: of.$optional.take(),)*)?
                    },)*
                };
                let left = [$((stringify!($field), of.$field.is_some())),*];
                match left.into_iter().find(|(_, is_left)| $strict && *is_left) {
                    None => Ok(read),
                    Some((name, _)) => {
                        Err(format!("unknown field `{name}` of a change of this kind"))
                    }
                }
            }
        }
    };
}
pub(crate) use read_by_kind;
