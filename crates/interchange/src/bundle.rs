//! Several files at once: a launch script with what it sources, a job with its model's file.

use std::collections::BTreeMap;

use model::design::Design;

use crate::draft::{Answers, Draft, Import};
use crate::files::{Files, is_inside};
use crate::{Format, MAX_BYTES, MAX_CONFIG_BYTES, import_with};

/// Files of a bundle, at most.
pub const MAX_FILES: usize = 2_000;

/// Bytes of all its files together, at most.
pub const MAX_TOTAL: usize = MAX_CONFIG_BYTES + (8 << 20);

/// Files that are tried as the one that starts the run, at most.
const MAX_TRIED: usize = 60;

/// Files by their paths, with what stands in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle(Vec<(String, String)>);

impl Bundle {
    /// A bundle of files.
    ///
    /// # Errors
    /// Too many files, too many bytes, a path that leads out, or a text that is too long.
    pub fn new(files: Vec<(String, String)>) -> Result<Self, String> {
        if files.len() > MAX_FILES {
            return Err(format!("{} files; at most {MAX_FILES} are read", files.len()));
        }
        let total = files.iter().fold(0_usize, |sum, (_, text)| sum.saturating_add(text.len()));
        if total > MAX_TOTAL {
            return Err(format!("the files have {total} bytes; at most {MAX_TOTAL} are read"));
        }
        for (path, _) in &files {
            if !is_inside(path) {
                return Err(format!("{path}: a path that leads out of the folder isn't read"));
            }
        }
        Ok(Self(files))
    }

    /// The files of a text that has several one behind another, each below a line `==> path <==`,
    /// as `head` prints them; none where its first line is no such line.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Result<Self, String>> {
        let path = |line: &str| {
            let inner = line.trim_end().strip_prefix("==> ")?.strip_suffix(" <==")?;
            Some(inner.to_owned())
        };
        path(text.lines().next()?)?;
        let mut files: Vec<(String, String)> = vec![];
        for line in text.split_inclusive('\n') {
            if let Some(path) = path(line) {
                files.push((path, String::new()));
            } else if let Some((_, text)) = files.last_mut() {
                text.push_str(line);
            }
        }
        Some(Self::new(files))
    }

    /// The files one behind another, as [`Bundle::of_text`] reads them.
    #[must_use]
    pub fn to_text(&self) -> String {
        let one = |(path, text): &(String, String)| {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            format!("==> {path} <==\n{text}{end}")
        };
        self.0.iter().map(one).collect()
    }

    /// The paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(path, _)| path.as_str())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the file that starts the run, and of the others what it reads. Which one it is can be
    /// said by `entry`, a path or its end.
    #[must_use]
    pub fn import(
        &self,
        format: Option<Format>,
        entry: Option<&str>,
        base: Option<&Design>,
        answers: &Answers,
    ) -> Import {
        let files = Files::new(self.0.clone());
        let read = |index: usize| {
            let text = self.0.get(index).map_or("", |(_, text)| text.as_str());
            let format = format.unwrap_or_else(|| Format::detect(text));
            import_with_files(format, text, base, answers, files.beginning_with(index))
        };
        let index = match entry {
            Some(entry) => files.find(entry),
            None => self.entry(&read),
        };
        let Some(index) = index else {
            let mut draft = Draft::new(Format::Megatron, base, answers);
            let detail = match entry {
                Some(entry) => format!("there is no file {entry}"),
                None => "none of the files speaks of a run".to_owned(),
            };
            draft.fault(0, "", detail);
            return draft.finish(base);
        };
        read(index)
    }

    /// The file that starts the run: of those that no other one reads, that which sets most.
    fn entry(&self, read: &dyn Fn(usize) -> Import) -> Option<usize> {
        // Words of texts, with the only file that has them; none where there are more.
        let mut words: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        // What is longer than a script speaks of modules, not of files.
        let texts = self.0.iter().enumerate().filter(|(_, (_, text))| text.len() <= MAX_BYTES);
        for (index, (_, text)) in texts {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            for word in text.split(|c| !is_part(c)).filter(|word| word.contains('.')) {
                let file = words.entry(word).or_insert(Some(index));
                if *file != Some(index) {
                    *file = None;
                }
            }
        }
        let is_read = |index: usize| {
            let path = self.0.get(index).map_or("", |(path, _)| path.as_str());
            let name = path.rsplit('/').next().unwrap_or_default();
            words.get(name).is_some_and(|file| *file != Some(index))
        };
        let kinds = [".sh", ".bash", ".slurm", ".sbatch", ".yaml", ".yml", ".toml", ".py", ".json"];
        let is_one =
            |path: &str| kinds.iter().any(|kind| path.ends_with(kind)) || !path.contains('.');
        let mut candidates: Vec<usize> = (0..self.0.len())
            .filter(|index| self.0.get(*index).is_some_and(|f| is_one(&f.0)))
            .collect();
        candidates.sort_by_key(|index| is_read(*index));
        let tried = candidates.into_iter().take(MAX_TRIED).map(|index| {
            let import = read(index);
            (index, import.design.is_some(), !is_read(index), import.set.len())
        });
        let found = tried
            .max_by_key(|(index, makes, free, sets)| (*makes, *free, *sets, usize::MAX - index))?;
        Some(found.0)
    }
}

/// Reads a text beside which there are files.
fn import_with_files(
    format: Format,
    text: &str,
    base: Option<&Design>,
    answers: &Answers,
    files: Files,
) -> Import {
    if files.is_alone() {
        return import_with(format, text, base, answers);
    }
    let mut draft = Draft::new(format, base, answers);
    draft.files = files;
    crate::read_into(text, base, &mut draft);
    draft.finish(base)
}
