//! Addresses of the site, and the files of the folder that stand for them.

use std::collections::BTreeMap;

/// The page of what needs a server: links that lead nowhere in the folder lead there.
pub(super) const NEEDS_SERVER: &str = "/needs-server";

/// The file of a page's path: the one that a web server hands out for a directory.
pub(super) fn file_of(path: &str) -> String {
    format!("{}/index.html", path.trim_end_matches('/')).trim_start_matches('/').to_owned()
}

/// Every page of the folder.
pub(super) struct Addresses {
    /// Files by the addresses of the site, some of which have a query.
    files: BTreeMap<String, String>,
}

impl Addresses {
    pub(super) fn new(files: impl Iterator<Item = (String, String)>) -> Self {
        Self { files: files.collect() }
    }

    /// Paths of the pages, which stand for all their queries.
    pub(super) fn paths(&self) -> Vec<&str> {
        let paths = self.files.keys().map(String::as_str);
        paths.filter(|address| !address.contains('?')).collect()
    }

    /// The directories of all pages, from the folder on.
    pub(super) fn directories(&self) -> impl Iterator<Item = &str> {
        self.files.values().map(|file| directory(file))
    }

    /// An address of the site as a page in a file links to it; `None` for what stays as it is.
    pub(super) fn linked(&self, address: &str, from: &str) -> Option<String> {
        if !address.starts_with('/') || address.starts_with("//") {
            return None;
        }
        let base = base(from);
        let (whole, place) = split(address, '#');
        let (path, query) = split(whole, '?');
        let name = path.rsplit('/').next().unwrap_or_default();
        if let Some(file) = self.files.get(whole) {
            return Some(format!("{base}{}{place}", directory(file)));
        }
        if let Some(file) = self.files.get(path) {
            return Some(format!("{base}{}{query}{place}", directory(file)));
        }
        let is_file = name.contains('.') && !name.ends_with(".csv") && !name.ends_with(".md");
        let to = if is_file { path } else { NEEDS_SERVER };
        let end = if is_file { "" } else { "/" };
        Some(format!("{base}{}{end}", to.trim_start_matches('/')))
    }
}

/// The way from a file to the folder's own directory.
pub(super) fn base(file: &str) -> String {
    match file.matches('/').count() {
        0 => "./".to_owned(),
        depth => "../".repeat(depth),
    }
}

fn directory(file: &str) -> &str {
    file.strip_suffix("index.html").unwrap_or(file)
}

/// The text in front of a sign, and the rest with it.
fn split(text: &str, sign: char) -> (&str, &str) {
    text.split_at(text.find(sign).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_leads_from_file_to_file_whatever_the_folder_is_called() {
        let pages = ["/", "/find", "/guide", "/guide/find", NEEDS_SERVER];
        let pages = pages.map(|page| (page.to_owned(), file_of(page)));
        let step = ("/tour?step=3".to_owned(), "tour/3/index.html".to_owned());
        let addresses = Addresses::new(pages.into_iter().chain([step]));
        let linked = |address, from| addresses.linked(address, from);
        assert_eq!(linked("/find?v=1&tp=4#a", "index.html").unwrap(), "./find/?v=1&tp=4#a");
        assert_eq!(linked("/", "guide/find/index.html").unwrap(), "../../");
        assert_eq!(linked("/?v=1", "find/index.html").unwrap(), "../?v=1");
        assert_eq!(linked("/tour?step=3", "find/index.html").unwrap(), "../tour/3/");
        assert_eq!(linked("/pkg/a.js", "find/index.html").unwrap(), "../pkg/a.js");
        assert_eq!(linked("/compare.csv?a=1", "find/index.html").unwrap(), "../needs-server/");
        assert_eq!(linked("/d/0123", "index.html").unwrap(), "./needs-server/");
        for stays in ["#a", "?q=1", "https://a.example/", "//a.example", "find"] {
            assert_eq!(linked(stays, "index.html"), None, "{stays}");
        }
    }
}
