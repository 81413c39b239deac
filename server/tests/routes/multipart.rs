//! Forms with files, as browsers send them.

/// Boundary between their fields.
pub(crate) const MARK: &str = "moescape-mark-0123";

/// A field of a form: its name, the file's name where it is one, and what it holds.
pub(crate) type Field<'a> = (&'a str, Option<&'a str>, &'a [u8]);

/// The type of such a body.
pub(crate) fn kind() -> String {
    format!("multipart/form-data; boundary={MARK}")
}

/// The body of a form.
pub(crate) fn body(fields: &[Field<'_>]) -> Vec<u8> {
    let mut body = vec![];
    for (name, file, bytes) in fields {
        let file = file.map(|file| format!("; filename=\"{file}\"")).unwrap_or_default();
        let head =
            format!("--{MARK}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{MARK}--\r\n").as_bytes());
    body
}
