//! What the holder of a link may do.

use serde::Serialize;

use crate::json::read_by_name;

/// Rights of a link's holder; each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ReviewRole"))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees everything.
    View,
    /// Comments, suggests, asks.
    Comment,
    /// Changes the design, answers proposals, decides.
    Edit,
    /// Makes links and withdraws them.
    Own,
}

impl Role {
    /// Every role, weakest first.
    pub const ALL: [Self; 4] = [Self::View, Self::Comment, Self::Edit, Self::Own];

    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Comment => "comment",
            Self::Edit => "edit",
            Self::Own => "own",
        }
    }

    /// The role of that name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The reason that a link of this role is refused what needs another.
    #[must_use]
    pub fn refusal(self, needed: Self) -> String {
        let allowed = match self {
            Self::View => "viewing",
            Self::Comment => "comments",
            Self::Edit => "edits",
            Self::Own => "everything",
        };
        let holder = match needed {
            Self::View => "a viewer's",
            Self::Comment => "a commenter's",
            Self::Edit => "an editor's",
            Self::Own => "an owner's",
        };
        format!("this link allows {allowed}; this needs {holder} link")
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

read_by_name! {
    Role { "view" => View, "comment" => Comment, "edit" => Edit, "own" => Own }
}
