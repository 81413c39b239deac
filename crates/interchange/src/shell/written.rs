//! Files that a script writes by itself: `cat > x.yaml <<EOF`, `tee x.yaml <<EOF`, and
//! `envsubst < template > x.yaml`.

use super::reader::Reader;
use super::script::Written;
use super::word::{Text, Word};

/// Files that a script writes, at most; of the others nothing is read.
const MAX_WRITTEN: usize = 64;

impl Reader<'_> {
    /// The file that the command writes its here-document to: `> x.yaml` before it or behind it, or
    /// what `tee` names.
    pub(super) fn written_to(&self, words: &[Word]) -> Option<String> {
        let named = |(word, _): &&Word| !word.starts_with('-');
        match words.first().map(|(word, _)| word.as_str()) {
            Some("cat") => self.script.output.clone().or_else(|| self.output_behind()),
            Some("tee") => words.iter().skip(1).find(named).map(|(word, _)| word.clone()),
            Some("sudo") => words.iter().skip(2).find(named).map(|(word, _)| word.clone()),
            Some("envsubst") => self.output_behind(),
            _ => None,
        }
    }

    /// The file behind `>` on the rest of the line.
    fn output_behind(&self) -> Option<String> {
        let rest = self.letters.get(self.at..)?;
        let line: String = rest.iter().take_while(|letter| **letter != '\n').take(1_000).collect();
        let (_, behind) = line.split_once('>')?;
        let word =
            behind.trim_start_matches(['>', ' ', '\t']).split([' ', ';', '|', '&']).next()?;
        let path = word.trim_matches(['"', '\'']);
        (!path.is_empty()).then(|| path.to_owned())
    }

    /// Keeps a file, with the variables in it expanded where the script's own are.
    pub(super) fn keep(&mut self, path: String, text: String, line: u64, expands: bool) {
        if self.script.skips || self.script.written.len() >= MAX_WRITTEN {
            return;
        }
        self.spend(text.len(), line);
        let text = if expands { self.expanded(&text, line) } else { text };
        self.script.written.retain(|file| file.path != path);
        self.script.written.push(Written { path, text, line });
    }

    /// The text of a file that the script wrote, and the line before its first.
    pub(super) fn own_file(&self, path: &str) -> Option<(String, u64)> {
        let own = self.script.written.iter().rev().find(|file| is_same_file(&file.path, path))?;
        Some((own.text.clone(), own.line))
    }

    /// A text line by line with its variables, so that each line stays where it is. Quotes stay,
    /// too, as they do in a here-document.
    fn expanded(&mut self, text: &str, before: u64) -> String {
        let mut made = String::new();
        for (number, line) in (before + 1..).zip(text.lines()) {
            if self.script.fault.is_some() {
                break;
            }
            let has_variable = line.contains(['$', '`']);
            if has_variable {
                let marks: Text = self.in_document(line, number);
                made.extend(marks.into_iter().map(|(letter, _)| letter));
            } else {
                made.push_str(line);
            }
            made.push('\n');
        }
        made
    }

    /// `envsubst < template > file`: the template is beside the script, or written by it.
    pub(super) fn substituted(&mut self, template: &str) {
        let Some(path) = self.script.output.clone().or_else(|| self.output_behind()) else {
            return;
        };
        if let Some((text, line)) = self.known_file(template) {
            self.keep(path, text, line, true);
        }
    }
}

/// Whether two paths of a script mean one file. Variables in front of them may not be known.
pub(super) fn is_same_file(one: &str, other: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    one == other || (!name(one).is_empty() && name(one) == name(other))
}
