//! Forms that take files or a pasted text: how what a browser sends is read.

use axum::extract::multipart::{Multipart, MultipartError, MultipartRejection};
use axum::http::StatusCode;

/// Characters of a file's name that are kept.
const MAX_NAME_LEN: usize = 200;

/// A form as it was sent.
#[derive(Default)]
pub(crate) struct FileFields {
    /// Names and bytes of files that aren't empty: where none is chosen, browsers send such a one.
    pub(crate) files: Vec<(String, Vec<u8>)>,
    /// Names and bytes of its other fields.
    pub(crate) texts: Vec<(String, Vec<u8>)>,
}

/// Reads a form to its end. The reason why that can't be done is a sentence without its dot;
/// `too_large` is the one for too many bytes.
pub(crate) async fn read(
    form: Result<Multipart, MultipartRejection>,
    too_large: fn() -> String,
) -> Result<FileFields, (StatusCode, String)> {
    let broken = |error: MultipartError| match error.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => (status, too_large()),
        status => (status, format!("the form can't be read: {}", error.body_text())),
    };
    let mut form = form.map_err(|error| (error.status(), error.body_text()))?;
    let mut sent = FileFields::default();
    while let Some(field) = form.next_field().await.map_err(broken)? {
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().unwrap_or_default().chars().take(MAX_NAME_LEN).collect();
        let bytes = field.bytes().await.map_err(broken)?.to_vec();
        match name == "file" {
            true if bytes.is_empty() => {}
            true => sent.files.push((file, bytes)),
            false => sent.texts.push((name, bytes)),
        }
    }
    Ok(sent)
}
