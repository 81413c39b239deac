//! The user guide: the Markdown files of `docs/`, as pages of the site.
//!
//! The files are written to be read where they stand, too: links between them are relative, and
//! become addresses of the site here. Names of the site's pages in `code` become links.

mod markdown;

use std::sync::LazyLock;

pub use markdown::{Heading, Rendered};

/// Where the guide is.
pub const PATH: &str = app::panel::header::GUIDE;

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
            markdown: include_str!(concat!("../../docs/", $file)),
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

/// A chapter by its place in [`CHAPTERS`], rendered once.
#[must_use]
pub fn rendered(place: usize) -> Option<&'static Rendered> {
    static RENDERED: LazyLock<Vec<Rendered>> =
        LazyLock::new(|| CHAPTERS.iter().map(markdown::render).collect());
    RENDERED.get(place)
}

macro_rules! images {
    ($($name:literal)+) => {
        /// The pictures that the chapters show.
        static IMAGES: &[(&str, &[u8])] =
            &[$(($name, include_bytes!(concat!("../../docs/images/", $name)).as_slice()),)+];
    };
}

images! {
    "explanation-light.png"
    "timeline-light.png"
    "sensitivity-dark.png"
    "explorer-phone.png"
    "trust-dark.png"
    "schedule-light.png"
    "compare-dark.png"
    "sweep-light.png"
}

/// A picture, PNG, by the name of its file in `docs/images`.
pub(crate) fn image(name: &str) -> Option<&'static [u8]> {
    IMAGES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}
