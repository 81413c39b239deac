//! The user guide: the Markdown files of `docs/`, as pages of the site.
//!
//! The files are written to be read where they stand, too: links between them are relative, and
//! become addresses of the site here. Names of the site's pages in `code` become links.

mod chapters;
mod markdown;

use std::sync::LazyLock;

pub use chapters::{CHAPTERS, Chapter, PATH};
pub use markdown::{Heading, Rendered};

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
