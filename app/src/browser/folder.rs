//! Where the site begins: at the root of a server, or anywhere in a folder of files that no server
//! of ours hands out.

use leptos::prelude::document;
use web_sys::Element;

/// Where the folder begins that the page is in; such a page is written for its first state, whatever
/// its address says.
fn base() -> Option<String> {
    document().document_element()?.get_attribute("data-base")
}

/// Whether the page is in a folder of files, so that no server answers.
pub(crate) fn in_folder() -> bool {
    base().is_some()
}

/// The address of a place of the site, from where that begins.
pub(crate) fn at(address: &str) -> String {
    let Some(base) = base() else { return address.to_owned() };
    let (path, rest) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
    let path = path.trim_start_matches('/');
    let is_page = !path.is_empty() && !path.contains(['.', '/']);
    [base.as_str(), path, if is_page { "/" } else { "" }, rest].concat()
}

/// The address that a link was written with, for a page that follows it by itself; a script notes it
/// before a press on one that leads into a folder.
pub(crate) fn known(link: &Element) -> Option<String> {
    link.get_attribute("data-known").or_else(|| link.get_attribute("href"))
}

/// The path of the page, from where the site begins.
#[cfg(feature = "hydrate")]
pub(crate) fn path() -> String {
    let location = leptos::prelude::window().location();
    let Some(base) = base() else { return location.pathname().unwrap_or_default() };
    let href = location.href().unwrap_or_default();
    let path = href.split(['?', '#']).next().and_then(|path| path.strip_prefix(&base));
    ["/", path.unwrap_or_default().trim_end_matches("index.html")].concat()
}
