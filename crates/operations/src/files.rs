//! Files that an input names: their bytes as text, within the limits of what they may be.

use std::path::Path;

use model::design::Design;
use model::design::file::{self, Extent};
use present::words::provenance::Provenance;

use crate::caller::Caller;
use crate::refusal::{Kind, Refusal};

/// Rule of a file that is longer than it may be.
const TOO_LONG: &str = "too_long";

/// Maximum number of bytes of a design file.
const MAX_FILE_BYTES: u64 = interchange::MAX_BYTES as u64;

/// Maximum number of bytes of another's file that is imported, where it is JSON.
const MAX_CONFIG_BYTES: u64 = interchange::MAX_CONFIG_BYTES as u64;

/// Text of a file.
///
/// # Errors
/// It can't be read, is too long, or is no text.
pub fn text(path: &Path, caller: &dyn Caller) -> Result<String, Refusal> {
    text_of(path, bytes(path, MAX_FILE_BYTES, caller)?)
}

/// Text of a file that others may have written.
///
/// # Errors
/// It can't be read, is too long, or is no text.
pub fn imported_text(path: &Path, caller: &dyn Caller) -> Result<String, Refusal> {
    text_of(path, bytes(path, MAX_CONFIG_BYTES, caller)?)
}

/// Bytes of a file of a design.
///
/// # Errors
/// It can't be read, or is too long.
pub(crate) fn bytes(path: &Path, max_bytes: u64, caller: &dyn Caller) -> Result<Vec<u8>, Refusal> {
    caller.bytes(path, max_bytes).map_err(with_usual_length)
}

/// The text that bytes of a file are; only JSON may be longer than a design.
///
/// # Errors
/// It is too long, or no text.
pub fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, Refusal> {
    let plain = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let is_json = plain.trim_ascii_start().starts_with(b"{");
    let max_bytes = if is_json { MAX_CONFIG_BYTES } else { MAX_FILE_BYTES };
    if bytes.len() as u64 > max_bytes {
        return Err(with_usual_length(too_long(path, max_bytes)));
    }
    utf_8(path, bytes)
}

/// The text that bytes of a file are, whatever their number.
///
/// # Errors
/// They are no text.
pub fn utf_8(path: &Path, bytes: Vec<u8>) -> Result<String, Refusal> {
    String::from_utf8(bytes).map_err(|error| {
        Refusal::new("not_text", "", format!("{} is not UTF-8 text: {error}", shown(path)))
    })
}

/// Refusal of a file that is longer than this.
#[must_use]
pub fn too_long(path: &Path, max_bytes: u64) -> Refusal {
    let detail = format!("{} has more than {max_bytes} bytes", shown(path));
    Refusal::new(TOO_LONG, "", detail)
}

/// The refusal of a file that is too long for a design, with how long designs are.
fn with_usual_length(mut refusal: Refusal) -> Refusal {
    for wrong in refusal.errors.iter_mut().filter(|wrong| wrong.rule == TOO_LONG) {
        wrong.detail.push_str("; a design has a few thousand");
    }
    refusal
}

/// Whether a file is TOML, by its extension; if that tells nothing, a text that begins with one of
/// these is JSON.
pub(crate) fn is_toml(path: &Path, text: &str, json: &[char]) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => true,
        Some("json") => false,
        _ => !text.trim_start().starts_with(json),
    }
}

/// A design as a TOML file, below where it comes from.
///
/// # Errors
/// It has a value that TOML has no form for.
pub fn toml(design: &Design, extent: Extent, from: &Provenance) -> Result<String, Refusal> {
    let text = toml::to_string(&file::write(design, extent));
    let failed = |error| {
        Refusal::new("internal", "", format!("can't write TOML: {error}")).of_kind(Kind::Internal)
    };
    Ok(format!("{}{}", from.comment(), text.map_err(failed)?))
}

/// Name of a file as errors have it.
#[must_use]
pub fn shown(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}
