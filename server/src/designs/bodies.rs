//! Bodies of requests: types whose fields are the keys that are read, and their schemas.

use model::design::file::Tree;
use reports::typed::DesignFile;
use schemars::JsonSchema;

use crate::designs::{MAX_NAME_LEN, MAX_NOTE_LEN};

/// Value of a key in a request's body.
trait Asked: Default {
    /// The value of a key that may be absent.
    ///
    /// # Errors
    /// What the key takes.
    fn asked(tree: Option<&Tree>) -> Result<Self, &'static str>;
}

impl Asked for Option<Tree> {
    fn asked(tree: Option<&Tree>) -> Result<Self, &'static str> {
        Ok(tree.cloned())
    }
}

impl Asked for Option<String> {
    fn asked(tree: Option<&Tree>) -> Result<Self, &'static str> {
        match tree {
            None | Some(Tree::Null) => Ok(None),
            Some(tree) => tree.as_text().map(|text| Some(text.to_owned())).ok_or("a text"),
        }
    }
}

/// Structs that are read with their fields as keys.
macro_rules! bodies {
    ($($(#[$meta:meta])* struct $name:ident {
        $($(#[$of_field:meta])* $field:ident: $type:ty,)+
    })+) => {$(
        #[derive(JsonSchema)]
        #[schemars(deny_unknown_fields)]
        $(#[$meta])*
        pub(crate) struct $name { $($(#[$of_field])* pub(crate) $field: $type,)+ }

        impl $name {
            /// The keys, in their order.
            pub(crate) const KEYS: &'static [&'static str] = &[$(stringify!($field)),+];

            /// The values of the keys; `wrong` hears of a key what it would take.
            pub(crate) fn read(tree: &Tree, mut wrong: impl FnMut(&'static str, String)) -> Self {
                $(
                    let key = stringify!($field);
                    let $field = <$type as Asked>::asked(tree.get(key)).unwrap_or_else(|takes| {
                        wrong(key, format!("`{key}` takes {takes}"));
                        Default::default()
                    });
                )+
                Self { $($field),+ }
            }
        }
    )+};
}

bodies! {
    /// A design to store: its file or its link, not both.
    #[schemars(extend("oneOf" = [
        {
            "required": ["design"],
            "properties": {"design": {"type": "object"}, "link": {"type": "null"}},
        },
        {
            "required": ["link"],
            "properties": {"link": {"type": "string"}},
            "not": {"required": ["design"]},
        },
    ]))]
    struct StoreDesign {
        #[schemars(with = "Option<DesignFile>")]
        design: Option<Tree>,
        /// A link of the explorer, whole or from its `?` on.
        link: Option<String>,
        /// One line of text.
        #[schemars(length(max = MAX_NAME_LEN))]
        name: Option<String>,
        /// Lines of text.
        #[schemars(length(max = MAX_NOTE_LEN))]
        note: Option<String>,
    }
}
