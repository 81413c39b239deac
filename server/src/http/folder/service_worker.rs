//! The service worker of a folder: it keeps all of it, so that every page opens without a
//! connection after the first visit.

use super::Files;
use super::addresses::Addresses;
use super::document::{hex, listed};

/// The worker's file, whose place is its scope.
const FILE: &str = "service-worker.js";

/// Files that it knows already.
const NAMED: [&str; 4] = ["favicon.svg", "manifest.webmanifest", "palette.json", "glossary.json"];

/// Whether it keeps a file.
fn is_kept(path: &str) -> bool {
    let is_read_once = path == "licences.txt" || path == "embed.js" || path == FILE;
    // The worker keeps files without a hash by itself.
    let is_named = NAMED.contains(&path);
    // Of a picture of the guide, its text says what it shows.
    let is_large = path.ends_with(".br") || path.ends_with(".png") || path.starts_with("api/");
    // Who reads another language gets its files with the first page, and they are kept then.
    let is_language = path.starts_with("pkg/chinese.") || path.starts_with("pkg/translate.");
    !is_read_once && !is_named && !is_large && !is_language && !path.ends_with(".html")
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
