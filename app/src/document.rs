//! The document that the server writes around each page.

mod shell;

use std::collections::BTreeMap;

use present::site::Module;

pub use shell::shell;

/// The id of the end of a document's body.
pub const END: &str = "document-end";

/// The query string as it was sent, still percent-encoded, with or without the question mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawQuery(pub String);

/// The theme that a visitor chose: `dark`, `light`, or none for the system's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThemeCookie(pub Option<String>);

/// Addresses in a preview of the page's link, beside title and description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// The page's whole address.
    pub page: String,
    /// The whole address of its picture, of 1200 by 630 pixels.
    pub picture: String,
}

/// Addresses of the built site's files, by their hashed names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFiles {
    /// The modules that take pages over.
    pub modules: BTreeMap<Module, ModuleFiles>,
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
    /// The script in front of all others in a folder of files that no server of ours hands out.
    pub early: String,
    /// The script that writes there what else the server writes.
    pub folder: String,
    /// The style sheet.
    pub css: String,
    /// The typeface that the style sheet asks for.
    pub font: String,
}

/// A module of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleFiles {
    /// The script that loads it.
    pub js: String,
    /// The module itself.
    pub wasm: String,
}
