//! The user guide: the Markdown files of `docs/`, as pages of the site.
//!
//! The files are written to be read where they stand, too: links between them are relative, and
//! become addresses of the site here. Names of the site's pages in `code` become links. `docs/zh`
//! has them in Chinese, heading by heading: what is generated is filled in from the English file
//! and said with the dictionary of the pages.

mod chapters;
mod markdown;

use std::sync::LazyLock;

use crate::site::language::Language;

pub use chapters::{CHAPTERS, Chapter, PATH, Text};
pub(crate) use markdown::{Heading, Rendered};

/// A chapter by its place in [`CHAPTERS`], rendered once; in English where it has no other text.
pub(crate) fn rendered(place: usize, language: Language) -> Option<&'static Rendered> {
    static ENGLISH: LazyLock<Vec<Rendered>> = LazyLock::new(|| {
        CHAPTERS.iter().map(|chapter| markdown::english(&chapter.english)).collect()
    });
    static CHINESE: LazyLock<Vec<Option<Rendered>>> = LazyLock::new(|| {
        let both = CHAPTERS.iter().zip(&*ENGLISH);
        both.map(|(chapter, english)| markdown::chinese(chapter, english)).collect()
    });
    let chinese = match language {
        Language::Chinese => CHINESE.get(place)?.as_ref(),
        Language::English => None,
    };
    chinese.or_else(|| ENGLISH.get(place))
}

macro_rules! images {
    ($($name:literal)+) => {
        /// The pictures that the chapters show.
        static IMAGES: &[(&str, &[u8])] =
            &[$(($name, include_bytes!(concat!("../../../docs/images/", $name)).as_slice()),)+];
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

/// Names of all pictures.
pub(crate) fn image_names() -> impl Iterator<Item = &'static str> {
    IMAGES.iter().map(|(name, _)| *name)
}

/// A picture, PNG, by the name of its file in `docs/images`.
pub(crate) fn image(name: &str) -> Option<&'static [u8]> {
    IMAGES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| *bytes)
}
