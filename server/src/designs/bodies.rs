//! Bodies of requests: types whose fields are the keys that are read, and their schemas.

use model::design::file::Tree;
use model::search::find::{Goal, Question};
use reports::typed::{DesignFile, May};
use schemars::JsonSchema;

use crate::designs::{MAX_NAME_LEN, MAX_NOTE_LEN};
use crate::report::MAX_DESIGNS;

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
            Some(Tree::Null) => Ok(None),
            other => May::asked(other).map(|May(text)| text),
        }
    }
}

impl Asked for May<String> {
    fn asked(tree: Option<&Tree>) -> Result<Self, &'static str> {
        tree.map(|tree| tree.as_text().map(str::to_owned).ok_or("a text")).transpose().map(May)
    }
}

impl Asked for Vec<String> {
    fn asked(tree: Option<&Tree>) -> Result<Self, &'static str> {
        let texts = match tree {
            None => Some(vec![]),
            Some(Tree::List(items)) => {
                items.iter().map(|item| item.as_text().map(str::to_owned)).collect()
            }
            Some(_) => None,
        };
        texts.ok_or("a list of texts")
    }
}

impl Asked for Vec<Tree> {
    fn asked(tree: Option<&Tree>) -> Result<Self, &'static str> {
        let Some(Tree::List(items)) = tree else { return Err("a list of designs") };
        Ok(items.clone())
    }
}

impl Asked for bool {
    fn asked(tree: Option<&Tree>) -> Result<Self, &'static str> {
        match tree {
            None => Ok(false),
            Some(Tree::Flag(flag)) => Ok(*flag),
            Some(_) => Err("true or false"),
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
    /// Designs to predict.
    struct Batch {
        #[schemars(with = "Vec<DesignFile>", length(min = 1, max = MAX_DESIGNS))]
        designs: Vec<Tree>,
    }

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

    /// What is searched.
    #[schemars(rename = "Query")]
    struct FindQuery {
        #[schemars(with = "DesignFile")]
        design: Option<Tree>,
        /// What the first design is best at. Fastest: the highest lower end of the 50 % range of
        /// tokens per second. Safest: within 5 % of the fastest, the most memory to spare and the
        /// fewest overlaps that must hold. Simplest: within 10 %, the fewest knobs that differ
        /// from their neutral values.
        #[schemars(default = "usual_goal", extend("enum" = Goal::ALL.map(Goal::name)))]
        goal: May<String>,
        /// What is asked of the machine: the best layout of the design as it is, or the fewest
        /// devices, the most sequences of a step (with a target that bounds its time), or the
        /// longest sequence with which a layout fits and reaches the targets.
        #[schemars(default = "usual_question", extend("enum" = Question::ALL.map(Question::name)))]
        question: May<String>,
        /// What every proposed design must reach: `METRIC>=NUMBER` or `METRIC<=NUMBER` in the
        /// metric's unit, `spare>=SHARE` of the memory, `num_devices<=NUMBER`.
        #[schemars(default)]
        targets: Vec<String>,
        /// Knobs that stay as the design has them, by id or short name.
        #[schemars(default)]
        keep: Vec<String>,
        /// Propose also what the design's framework can't be told.
        #[schemars(default)]
        any_schedule: bool,
        /// Find layouts and loads that serve the model, not strategies that train it: targets and
        /// short names are those of serving.
        #[schemars(default)]
        serve: bool,
    }
}

fn usual_goal() -> &'static str {
    Goal::default().name()
}

fn usual_question() -> &'static str {
    Question::default().name()
}
