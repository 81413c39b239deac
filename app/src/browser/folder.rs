//! Where the site begins: at the root of a server, or anywhere in a folder of files that no server
//! of ours hands out.

use leptos::prelude::{document, window};
use leptos::wasm_bindgen::JsCast;
use web_sys::{Element, HtmlAnchorElement};

/// Where the site begins, in a folder of files that no server of ours hands out; such a page is
/// written for its first state, whatever its address says.
fn base() -> Option<String> {
    document().document_element()?.get_attribute("data-base")
}

/// Whether the page is in a folder of files, so that no server answers.
pub(crate) fn in_folder() -> bool {
    base().is_some()
}

/// The address of a place of the site; a folder of files begins elsewhere than a server.
pub(crate) fn at(address: &str) -> String {
    let Some(base) = base() else { return address.to_owned() };
    let (path, rest) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
    let path = path.trim_start_matches('/');
    let is_file = path.is_empty() || path.contains('.') || path.starts_with("api/");
    [base.as_str(), path, if is_file { "" } else { "/" }, rest].concat()
}

/// The address that a link of the page stands for, from where the site begins; [`at`] the other way
/// round.
pub(crate) fn known(link: &Element) -> Option<String> {
    let written = link.get_attribute("href")?;
    let Some(base) = base().filter(|_| !written.starts_with(['/', '#'])) else {
        return Some(written);
    };
    let whole = link.dyn_ref::<HtmlAnchorElement>().map_or(written, HtmlAnchorElement::href);
    let Some(address) = whole.strip_prefix(&base) else { return Some(whole) };
    let (path, rest) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
    Some(["/", path.trim_end_matches('/'), rest].concat())
}

/// The path of the page, from where the site begins.
#[cfg(feature = "hydrate")]
pub(crate) fn path() -> String {
    let path = window().location().pathname().unwrap_or_default();
    let Some(base) = base() else { return path };
    let path =
        path.strip_prefix(&path_of(&base)).unwrap_or_default().trim_end_matches("index.html");
    format!("/{path}")
}

/// The path below which cookies of the site are sent.
pub(crate) fn cookie_path() -> String {
    base().map_or_else(|| "/".to_owned(), |base| path_of(&base))
}

/// The path of an address on this host.
fn path_of(address: &str) -> String {
    let origin = window().location().origin().unwrap_or_default();
    address.strip_prefix(&origin).unwrap_or(address).to_owned()
}
