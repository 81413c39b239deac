//! The texts of a folder.

use std::path::Path;
use std::{fs, io};

use interchange::MAX_FILES;
use operations::{Caller, Refusal, files};

/// Folders within each other, at most.
const MAX_DEPTH: u32 = 16;

/// Endings of files that scripts are made of.
const KINDS: [&str; 12] =
    ["sh", "bash", "slurm", "sbatch", "yaml", "yml", "toml", "json", "py", "conf", "env", "txt"];

/// Adds the texts of a folder and of those in it; links aren't followed.
pub(super) fn read(
    root: &Path,
    folder: &Path,
    depth: u32,
    caller: &dyn Caller,
    texts: &mut Vec<(String, String)>,
) -> Result<(), Refusal> {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    let failed = |error| unreadable(folder, &error);
    let mut entries = vec![];
    for entry in fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?);
    }
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !hidden {
            read(root, &path, depth + 1, caller, texts)?;
        } else if kind.is_file() && is_text(&path) {
            // What is no text, or too long to be a script, is none.
            if let Ok(text) = files::imported_text(&path, caller) {
                let own = path.strip_prefix(root).unwrap_or(&path);
                texts.push((own.display().to_string(), text));
            }
        }
        if texts.len() > MAX_FILES {
            let shown = root.display();
            let detail = format!("{shown} has more than {MAX_FILES} files");
            return Err(Refusal::new("too_many_files", "", detail));
        }
    }
    Ok(())
}

fn is_text(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_none_or(|ending| KINDS.contains(&ending))
}

/// Refusal of a file or folder that can't be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Refusal {
    let detail = format!("can't read {}: {error}", files::shown(path));
    Refusal::new("unreadable_file", "", detail)
}
