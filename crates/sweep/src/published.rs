//! Sweeps that anyone may want to run again, by name.

/// A sweep that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedSpec {
    /// The public name.
    pub name: &'static str,
    /// The spec, TOML.
    pub text: &'static str,
}

/// Every sweep that comes with the program.
#[must_use]
pub fn published() -> &'static [PublishedSpec] {
    &[
        PublishedSpec {
            name: "pangu-architecture",
            text: include_str!("../specs/pangu-architecture.toml"),
        },
        PublishedSpec {
            name: "pangu-architecture-found",
            text: include_str!("../specs/pangu-architecture-found.toml"),
        },
        PublishedSpec {
            name: "pangu-pro-300i-duo",
            text: include_str!("../specs/pangu-pro-300i-duo.toml"),
        },
        PublishedSpec {
            name: "pangu-pro-800i-a2",
            text: include_str!("../specs/pangu-pro-800i-a2.toml"),
        },
        PublishedSpec {
            name: "pangu-strategy",
            text: include_str!("../specs/pangu-strategy.toml"),
        },
    ]
}
