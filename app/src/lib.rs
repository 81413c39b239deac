//! The explorer: the page that shows what a training design costs while its knobs are turned.
//!
//! The server renders it (`ssr`), the browser takes it over (`hydrate`); both run the same model on
//! the design that stands in the query string, so the first paint is already right. Data flows one
//! way: address, design, checked plan, estimate, panels, widgets.

// The types of views nest as deep as the page does.
#![recursion_limit = "256"]

#[cfg(all(feature = "hydrate", feature = "ssr"))]
compile_error!("`hydrate` and `ssr` are the two sides of one page: build with one of them");

pub mod asked;
pub mod balance;
pub mod better;
pub mod bottleneck;
pub mod browser;
pub mod charts;
pub mod compare;
pub mod desk;
mod download;
pub mod explorer;
pub mod find;
pub mod format;
pub mod found;
pub mod history;
pub mod html;
pub mod ladder;
#[cfg(feature = "ssr")]
pub mod language;
pub mod memory_state;
pub mod memory_view;
pub mod name;
pub mod numbers;
pub mod objective;
pub mod panels;
mod parameters;
pub mod parity;
pub mod predicted;
pub mod provenance;
pub mod published;
pub mod range;
pub mod recorded;
pub mod results;
pub mod review_page;
pub mod schedule_page;
pub mod schedules;
pub mod sensitivity;
#[cfg(feature = "ssr")]
mod shell;
pub mod stored;
pub mod study;
pub mod sweep_page;
pub mod timeline;
pub mod transfer;
pub mod trust;
pub mod widgets;

#[cfg(feature = "hydrate")]
pub mod hydration;

#[cfg(feature = "ssr")]
use leptos::either::EitherOf9;
#[cfg(feature = "ssr")]
use leptos::prelude::*;
#[cfg(feature = "ssr")]
use model::link;

#[cfg(feature = "ssr")]
pub use shell::shell;

/// The page that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    /// The explorer.
    #[default]
    Explorer,
    /// Published runs beside their predictions.
    Trust,
    /// A published run from its baseline on, one change at a time.
    Ladder,
    /// Pipeline schedules alone.
    Schedule,
    /// Builds a sweep.
    Sweep,
    /// A sweep's results.
    Results,
    /// Designs beside each other.
    Compare,
    /// A review session, or the form that begins one.
    Review,
}

impl Page {
    /// The page at a path.
    #[must_use]
    pub fn at(path: &str) -> Self {
        match path.trim_end_matches('/') {
            trust::PATH => Self::Trust,
            ladder::PATH => Self::Ladder,
            schedule_page::PATH => Self::Schedule,
            sweep_page::PATH => Self::Sweep,
            compare::PATH => Self::Compare,
            path if path.strip_prefix(results::PATH).is_some_and(|id| id.starts_with('/')) => {
                Self::Results
            }
            path if path.strip_prefix(review_page::PATH).is_some_and(|id| id.starts_with('/')) => {
                Self::Review
            }
            _ => Self::Explorer,
        }
    }
}

/// The query string as it was sent, still percent-encoded, with or without the question mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawQuery(pub String);

/// The theme that a visitor chose: `dark`, `light`, or none for the system's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThemeCookie(pub Option<String>);

/// What a preview of the page's link shows beside title and description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// The page's whole address.
    pub page: String,
    /// The whole address of its picture, of 1200 by 630 pixels.
    pub picture: String,
}

/// Where the built site's files are, by their hashed names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFiles {
    /// The explorer's module.
    pub explorer: ModuleFiles,
    /// The module of the other pages.
    pub pages: ModuleFiles,
    /// The module of sweeps.
    pub sweeps: ModuleFiles,
    /// The module of review sessions.
    pub reviews: ModuleFiles,
    /// The script of the worker that makes the explorer's studies.
    pub worker: String,
    /// The script of the explorer's sheets, to share and to export.
    pub share: String,
    /// The script that takes files to import.
    pub import: String,
    /// The script that saves charts as pictures.
    pub save: String,
    /// The script that follows a search for layouts.
    pub find: String,
    /// The script of the worker that searches for layouts.
    pub finder: String,
    /// The script of keys and palette, on every page.
    pub habits: String,
    /// The style sheet.
    pub css: String,
}

/// A module of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFiles {
    /// The script that loads it.
    pub js: String,
    /// The module itself.
    pub wasm: String,
}

/// The [`Page`] that is asked for, as the server writes it; the explorer shows the link in
/// [`RawQuery`], or what is wrong with it.
#[cfg(feature = "ssr")]
#[component]
pub fn App() -> impl IntoView {
    let raw = use_context::<RawQuery>().unwrap_or_default().0;
    match use_context::<Page>().unwrap_or_default() {
        Page::Explorer => match link::decode(&raw) {
            Ok(design) => EitherOf9::A(panels::page::page(design)),
            Err(errors) => EitherOf9::B(panels::broken_link::broken_link(&raw, &errors)),
        },
        Page::Trust => EitherOf9::C(trust::page(&raw)),
        Page::Ladder => EitherOf9::D(ladder::page()),
        Page::Schedule => EitherOf9::E(schedule_page::page(&raw)),
        Page::Sweep => EitherOf9::F(sweep_page::page()),
        Page::Results => EitherOf9::G(results::page(&raw)),
        Page::Compare => EitherOf9::H(compare::page(&raw)),
        Page::Review => EitherOf9::I(review_page::page()),
    }
}
