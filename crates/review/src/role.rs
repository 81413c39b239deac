//! What the holder of a link may do.

use serde::{Deserialize, Serialize};

/// What the holder of a link may do; each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
