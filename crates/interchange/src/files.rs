//! The files beside a text, and lines that know theirs.

use std::rc::Rc;

use crate::MAX_BYTES;

/// Bits of a line that say its file.
const FILE_SHIFT: u32 = 40;

/// Whether a path stays within its folder.
pub(crate) fn is_inside(path: &str) -> bool {
    let parts = path.split(['/', '\\']);
    !path.starts_with(['/', '\\']) && !path.contains('\0') && parts.clone().all(|part| part != "..")
}

/// The files beside a text; the first is the text itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files(Vec<(Rc<str>, Rc<str>)>);

impl Files {
    /// Files by their paths.
    pub(crate) fn new(files: Vec<(String, String)>) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.into(), text.into())).collect())
    }

    /// Whether there is no file beside the text.
    pub(crate) fn is_alone(&self) -> bool {
        self.0.len() < 2
    }

    /// These files with the one at an index before the others.
    pub(crate) fn beginning_with(&self, index: usize) -> Self {
        let mut files = self.0.clone();
        if index < files.len() {
            let first = files.remove(index);
            files.insert(0, first);
        }
        Self(files)
    }

    /// The file that a path in a script means: the one that shares most of its end.
    pub(crate) fn find(&self, path: &str) -> Option<usize> {
        // What stands before a variable's end isn't known.
        let known = path.rsplit('}').next().unwrap_or(path);
        let wanted: Vec<&str> = parts(known).collect();
        let name = wanted.last()?;
        let shared = |file: &str| {
            let own: Vec<&str> = parts(file).collect();
            own.iter().rev().zip(wanted.iter().rev()).take_while(|(a, b)| a == b).count()
        };
        let named = self
            .0
            .iter()
            .enumerate()
            .filter(|(_, (file, _))| parts(file).next_back() == Some(name));
        named.max_by_key(|(index, (file, _))| (shared(file), usize::MAX - index)).map(|(i, _)| i)
    }

    /// A file's text, and the line that stands before its first.
    pub(crate) fn text(&self, index: usize) -> Option<(String, u64)> {
        let (_, text) = self.0.get(index)?;
        (text.len() <= MAX_BYTES).then(|| (text.to_string(), (index as u64) << FILE_SHIFT))
    }

    /// Line and file of a line that knows its file.
    pub(crate) fn place(&self, line: u64) -> (u64, Option<String>) {
        let index = usize::try_from(line >> FILE_SHIFT).unwrap_or(usize::MAX);
        let file = self.0.get(index).filter(|_| self.0.len() > 1 && line > 0);
        (line & ((1 << FILE_SHIFT) - 1), file.map(|(path, _)| path.to_string()))
    }
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|part| !matches!(*part, "" | "." | ".."))
}

/// Whether a word names a file of arguments.
pub(crate) fn is_file(word: &str) -> bool {
    [".yaml", ".yml", ".toml", ".json"].iter().any(|kind| word.ends_with(kind))
}
