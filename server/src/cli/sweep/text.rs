//! Files that a sweep reads.

use crate::cli::Failure;

/// Reads a file of at most `most` bytes; `-` is stdin.
pub(in crate::cli) fn read_text(path: &str, most: u64) -> Result<String, Failure> {
    use std::io::Read;
    let failed = |error: std::io::Error| Failure::user(format!("can't read {path}: {error}"));
    let mut bytes = Vec::new();
    if path == "-" {
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > most {
        return Err(Failure::user(format!("{path} has more than {most} bytes")));
    }
    String::from_utf8(bytes)
        .map_err(|error| Failure::user(format!("{path} is not UTF-8 text: {error}")))
}
