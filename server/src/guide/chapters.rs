//! The chapters of the guide, in the order in which they are read.

/// Where the guide is.
pub const PATH: &str = app::site::Page::Guide.path();

/// A file of the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chapter {
    /// The last part of its address; empty for the first page.
    pub name: &'static str,
    /// Where it is in the repository.
    pub file: &'static str,
    /// Its text.
    pub markdown: &'static str,
}

macro_rules! chapters {
    ($($name:literal $file:literal;)+) => {
        /// Every file, in the order in which they are read; the first one is the table of contents.
        pub static CHAPTERS: &[Chapter] = &[$(Chapter {
            name: $name,
            file: concat!("docs/", $file),
            markdown: include_str!(concat!("../../../docs/", $file)),
        },)+];
    };
}

chapters! {
    "" "guide/README.md";
    "start" "guide/start.md";
    "find" "guide/find.md";
    "views" "guide/views.md";
    "metrics" "guide/metrics.md";
    "knobs" "guide/knobs.md";
    "conventions" "guide/conventions.md";
    "modelled" "guide/modelled.md";
    "trust" "guide/trust.md";
    "calibrate" "guide/calibrate.md";
    "sharing" "guide/sharing.md";
    "sweeps" "guide/sweeps.md";
    "exchange" "guide/exchange.md";
    "troubleshooting" "guide/troubleshooting.md";
    "designs" "designs.md";
    "cli" "cli.md";
    "api" "api.md";
}

impl Chapter {
    /// The chapter of that name, with its place.
    #[must_use]
    pub fn find(name: &str) -> Option<(usize, &'static Self)> {
        CHAPTERS.iter().enumerate().find(|(_, chapter)| chapter.name == name)
    }

    /// Its address on the site.
    #[must_use]
    pub fn address(&self) -> String {
        if self.name.is_empty() { PATH.to_owned() } else { format!("{PATH}/{}", self.name) }
    }
}
