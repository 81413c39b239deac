//! Line icons, drawn with the colour of the text around them.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

/// The icons of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// Take a step back.
    Undo,
    /// Take it again.
    Redo,
    /// A link.
    Link,
    /// To others.
    Share,
    /// Dark and light.
    Theme,
    /// Another language.
    Language,
    /// Keys.
    Keyboard,
    /// Close.
    Close,
    /// A pin.
    Pin,
    /// A list of steps.
    Steps,
    /// Look for something.
    Search,
    /// Settings for all pages.
    Settings,
    /// Unfolds something below.
    Down,
    /// Menu of seldom used actions.
    More,
    /// To a file.
    Export,
    /// From a file.
    Import,
    /// To others, together.
    People,
    /// On paper.
    Print,
}

impl Icon {
    const fn path(self) -> &'static str {
        match self {
            Self::Undo => "M6 3 2.5 6.5 6 10M3 6.5h6.5a4 4 0 0 1 0 8H6",
            Self::Redo => "m10 3 3.5 3.5L10 10m3-3.5H6.5a4 4 0 0 0 0 8H10",
            Self::Link => {
                "M6.5 9.5a3 3 0 0 0 4.2 0l2.4-2.4a3 3 0 0 0-4.2-4.2L8 3.8M9.5 6.5a3 3 0 0 0-4.2 0\
                 L2.9 8.9a3 3 0 0 0 4.2 4.2l.9-.9"
            }
            Self::Share => "M8 10V2m-3 3 3-3 3 3M3 8v6h10V8",
            Self::Theme => "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z",
            Self::Language => {
                "M1.5 8h13M8 1.5a9 9 0 0 1 0 13 9 9 0 0 1 0-13M14.5 8a6.5 6.5 0 1 1-13 0 6.5 6.5 0 \
                 0 1 13 0z"
            }
            Self::Keyboard => {
                "M1.5 4h13v8h-13zM4 6.5h.01M6.5 6.5h.01M9 6.5h.01M11.5 6.5h.01M4.5 9.5h7"
            }
            Self::Close => "m4 4 8 8m0-8-8 8",
            Self::Steps => "M6 3.5h8M6 8h8M6 12.5h8M2.5 3.5h.01M2.5 8h.01M2.5 12.5h.01",
            Self::Search => "M11.5 11.5 14.5 14.5M7 12.5a5.5 5.5 0 1 1 0-11 5.5 5.5 0 0 1 0 11z",
            Self::Settings => "M2 4.5h6M11 4.5h3M2 11.5h3M8 11.5h6M9.5 3v3M6.5 10v3",
            Self::Down => "m4.5 6.5 3.5 3.5 3.5-3.5",
            Self::More => "M3 8h.01M8 8h.01M13 8h.01",
            Self::Export => "M9 2H3.5v12h9V5.5zM9 2v3.5h3.5M8 8v4m-1.5-1.5L8 12l1.5-1.5",
            Self::Import => "M8 2v7.5m-3-3 3 3 3-3M2 11v3h12v-3",
            Self::People => {
                "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 2.7a\
                 2.5 2.5 0 0 1 0 4.6M12.2 9.6a4.5 4.5 0 0 1 2.3 3.9"
            }
            Self::Print => "M4.5 6V2h7v4M4.5 11.5h-3v-5h13v5h-3M4.5 9.5h7V14h-7z",
            Self::Pin => "M5.5 2.5h5M6.5 2.5v4l-2 2.5h7l-2-2.5v-4M8 9v4.5",
        }
    }
}

/// Draws an icon; its meaning has to be beside it or in the button's label.
pub fn icon(icon: Icon) -> impl IntoView {
    InertElement::new(written(icon))
}

/// The icon as text.
#[must_use]
pub fn written(icon: Icon) -> String {
    let head = "<svg class=\"icon\" viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" \
                aria-hidden=\"true\"><path d=\"";
    [head, icon.path(), "\"></path></svg>"].concat()
}
