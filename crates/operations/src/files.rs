//! Files that an input names: their bytes as text, within the limits of what they may be.

use std::path::Path;

use crate::caller::Caller;
use crate::refusal::Refusal;

/// Maximum number of bytes of a design file.
const MAX_FILE_BYTES: u64 = interchange::MAX_BYTES as u64;

/// Maximum number of bytes of another's file that is imported, where it is JSON.
const MAX_CONFIG_BYTES: u64 = interchange::MAX_CONFIG_BYTES as u64;

/// Text of a file.
///
/// # Errors
/// It can't be read, is too long, or is no text.
pub fn text(path: &Path, caller: &dyn Caller) -> Result<String, Refusal> {
    text_of(path, caller.bytes(path, MAX_FILE_BYTES)?)
}

/// Text of a file that others may have written.
///
/// # Errors
/// It can't be read, is too long, or is no text.
pub fn imported_text(path: &Path, caller: &dyn Caller) -> Result<String, Refusal> {
    text_of(path, caller.bytes(path, MAX_CONFIG_BYTES)?)
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
        return Err(too_long(path, max_bytes));
    }
    String::from_utf8(bytes).map_err(|error| {
        Refusal::new("not_text", "", format!("{} is not UTF-8 text: {error}", shown(path)))
    })
}

/// Refusal of a file that is longer than this.
#[must_use]
pub fn too_long(path: &Path, max_bytes: u64) -> Refusal {
    let shown = shown(path);
    let detail = format!("{shown} has more than {max_bytes} bytes; a design has a few thousand");
    Refusal::new("too_long", "", detail)
}

/// Name of a file as errors have it.
#[must_use]
pub fn shown(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}
