//! The service worker of a folder: it keeps all of it, so that every page opens without a
//! connection after the first visit.

use super::Files;
use super::addresses::Addresses;
use super::document::{hex, listed};

/// The worker's file, whose place is its scope.
const FILE: &str = "service-worker.js";

/// Files without a hash, which it knows already.
const NAMED: [&str; 4] = ["favicon.svg", "manifest.webmanifest", "palette.json", "glossary.json"];

/// Files that no page asks for.
const UNASKED: [&str; 5] = ["licences.txt", "embed.js", ".nojekyll", "api/v1/openapi.json", FILE];

/// Whether it keeps a file, beside pages.
fn is_kept(path: &str) -> bool {
    // Who reads another language gets its files with the first page, and they are kept then.
    let is_language = path.starts_with("pkg/chinese.") || path.starts_with("pkg/translate.");
    let is_other_form = path.ends_with(".br") || path.ends_with(".html");
    !is_language && !is_other_form && !UNASKED.contains(&path) && !NAMED.contains(&path)
}

/// Tells the worker the folder's files and pages, and the version that follows from all of them.
pub(super) fn write(files: &mut Files, addresses: &Addresses) -> Result<(), String> {
    let text = files.get(FILE).cloned().ok_or("the site has no service worker")?;
    let text = String::from_utf8(text).map_err(|_| format!("{FILE} is no text"))?;
    let kept: Vec<String> =
        files.keys().filter(|path| is_kept(path)).map(|path| format!("/{path}")).collect();
    let sums: String = files.values().map(|bytes| hex(bytes)).collect();
    let version = hex(format!("{text}{sums}").as_bytes());
    let pages: Vec<String> = addresses.directories().map(|it| format!("/{it}")).collect();
    let told = [
        ("VERSION", format!("\"{}\"", &version[..16])),
        ("FILES", listed(&kept)),
        ("PAGES", listed(&pages)),
    ];
    let line = |line: &str| {
        let own = told.iter().find(|(name, _)| line.starts_with(&format!("const {name} = ")));
        own.map_or_else(|| line.to_owned(), |(name, value)| format!("const {name} = {value};"))
    };
    let text: Vec<String> = text.lines().map(line).collect();
    files.insert(FILE.to_owned(), (text.join("\n") + "\n").into_bytes());
    Ok(())
}
