//! What commands of the shell read and write: `read`, `mapfile`, `printf -v`, `echo > file`.

use super::reader::Reader;
use super::word::{Mark, Text, Word};

/// Words and lines that a command reads, at most.
const MAX_WORDS: usize = 4_096;

/// Characters that looking for a file among all counts as.
const SEARCH_COST: usize = 256;

impl Reader<'_> {
    /// Keeps a here-document for the command that reads it.
    pub(super) fn read_from(&mut self, text: &str, line: u64, expands: bool) {
        if self.script.skips {
            return;
        }
        self.spend(text.len(), line);
        let mut made: Text = vec![];
        for (number, content) in (line + 1..).zip(text.split_inclusive('\n')) {
            if self.script.fault.is_some() {
                return;
            }
            if expands && content.contains(['$', '`']) {
                made.extend(self.in_document(content, number));
            } else {
                made.extend(content.chars().map(|letter| (letter, number)));
            }
        }
        self.script.input = Some(made);
    }

    /// Keeps what stands in a file that the script wrote or that is beside it.
    pub(super) fn read_from_file(&mut self, path: &str) {
        if let Some((text, line)) = self.known_file(path) {
            self.read_from(&text, line, false);
        }
    }

    /// The text of a file that the script wrote, or that is beside it; looking for it costs.
    pub(super) fn known_file(&mut self, path: &str) -> Option<(String, u64)> {
        self.spend(SEARCH_COST, self.line);
        self.script.known_file(path)
    }

    /// Separators for this command alone.
    fn separators(&mut self) -> String {
        let own = self.script.variables.remove("IFS");
        let text = own.as_ref().and_then(|elements| elements.first());
        text.map_or_else(|| " \t\n".to_owned(), |text| text.iter().map(|(c, _)| *c).collect())
    }

    /// `IFS=, read -r A B <<< "1,2"`, `read -ra A`, and `read -r -d '' A <<EOF`.
    pub(super) fn read_into(&mut self, words: &[Word]) {
        let separators = self.separators();
        let Some(text) = self.script.input.take() else { return };
        let (mut whole, mut list, mut names) = (false, false, vec![]);
        let mut rest = words.iter().skip(1);
        while let Some((word, _)) = rest.next() {
            let Some(options) = word.strip_prefix('-') else {
                names.push(word.clone());
                continue;
            };
            list |= options.contains('a');
            whole |= options.contains('d');
            // These have a value of their own, and `-a` the name.
            if options.ends_with(['d', 'n', 'N', 'p', 't', 'u', 'i']) {
                rest.next();
            }
        }
        self.spend(text.len(), self.line);
        let line: Text = if whole {
            text
        } else {
            text.into_iter().take_while(|(letter, _)| *letter != '\n').collect()
        };
        let is_blank = |letter: char| separators.contains(letter) && letter.is_whitespace();
        let trimmed = trim(&line, is_blank);
        let [first @ .., last] = names.as_slice() else { return };
        if list {
            let parts = parts(trimmed, &separators, MAX_WORDS);
            return self.script.assign(last.clone(), parts, false);
        }
        let parts = parts(trimmed, &separators, first.len());
        let values = parts.into_iter().chain(std::iter::repeat(vec![]));
        for (name, value) in names.into_iter().zip(values) {
            self.script.assign(name, vec![value], false);
        }
    }

    /// `mapfile -t A <<< "$LINES"`.
    pub(super) fn lines_into(&mut self, words: &[Word]) {
        let Some(text) = self.script.input.take() else { return };
        let Some((name, _)) = words.iter().skip(1).rev().find(|word| !word.0.starts_with('-'))
        else {
            return;
        };
        self.spend(text.len(), self.line);
        let end = text.len() - usize::from(text.last().is_some_and(|(letter, _)| *letter == '\n'));
        let lines = text.get(..end).unwrap_or_default().split(|(letter, _)| *letter == '\n');
        let lines = lines.take(MAX_WORDS).map(<[_]>::to_vec).collect();
        self.script.assign(name.clone(), lines, false);
    }

    /// `printf -v NAME FORMAT ..`.
    pub(super) fn print_into(&mut self, words: &[Word]) {
        let [_, _, (name, line), rest @ ..] = words else { return };
        let made = printed(rest, *line);
        self.spend(made.len(), *line);
        self.script.assign(name.clone(), vec![made], false);
    }

    /// `echo .. > file` and `printf .. >> file`.
    pub(super) fn write(&mut self, path: String, words: &[Word], appends: bool) {
        let [(name, line), rest @ ..] = words else { return };
        let mut made: String = if name == "printf" {
            printed(rest, *line).into_iter().map(|(letter, _)| letter).collect()
        } else {
            let skip = usize::from(
                rest.first()
                    .is_some_and(|(word, _)| matches!(word.as_str(), "-e" | "-n" | "-ne" | "-en")),
            );
            let words: Vec<&str> = rest.iter().skip(skip).map(|(word, _)| word.as_str()).collect();
            words.join(" ") + "\n"
        };
        let mut before = line.saturating_sub(1);
        if let Some((own, first)) = self.own_file(&path).filter(|_| appends) {
            self.spend(own.len(), *line);
            (made, before) = (own + &made, first);
        }
        if self.script.fault.is_none() {
            self.keep(path, made, before, false);
        }
    }
}

/// Output of `printf`: its format again and again, as long as there are words.
pub(super) fn printed(words: &[Word], line: u64) -> Text {
    let words = if words.first().is_some_and(|it| it.0 == "--") { words.get(1..) } else { None }
        .unwrap_or(words);
    let [(format, _), values @ ..] = words else { return vec![] };
    let format = format.replace("\\n", "\n").replace("\\t", "\t");
    let mut values = values.iter().take(MAX_WORDS);
    let mut made = String::new();
    loop {
        let left = values.len();
        let mut letters = format.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                made.push(letter);
                continue;
            }
            // A width, such as that of `%02d`, is no part of a count.
            match letters.find(|c| !(c.is_ascii_digit() || matches!(c, '-' | '.'))) {
                Some('%') => made.push('%'),
                Some(_) => made.push_str(values.next().map_or("", |(word, _)| word)),
                None => {}
            }
        }
        if values.len() == 0 || values.len() == left || made.len() > 1 << 16 {
            break;
        }
    }
    made.chars().map(|letter| (letter, line)).collect()
}

fn trim(text: &[Mark], is_blank: impl Fn(char) -> bool) -> &[Mark] {
    let begin = text.iter().position(|(letter, _)| !is_blank(*letter)).unwrap_or(text.len());
    let end = text.iter().rposition(|(letter, _)| !is_blank(*letter)).map_or(begin, |at| at + 1);
    text.get(begin..end).unwrap_or_default()
}

/// A text split at its separators, at most `most` times; blanks among them count once.
fn parts(text: &[Mark], separators: &str, most: usize) -> Vec<Text> {
    let is_one = |letter: char| separators.contains(letter);
    let mut made: Vec<Text> = vec![];
    let mut rest = text;
    while made.len() < most {
        let Some(at) = rest.iter().position(|(letter, _)| is_one(*letter)) else { break };
        made.push(rest.get(..at).unwrap_or_default().to_vec());
        let sign = rest.get(at).map_or(' ', |(letter, _)| *letter);
        let behind = rest.get(at + 1..).unwrap_or_default();
        rest = if sign.is_whitespace() {
            trim_front(behind, |letter| is_one(letter) && letter.is_whitespace())
        } else {
            behind
        };
    }
    if !rest.is_empty() {
        made.push(rest.to_vec());
    }
    made
}

fn trim_front(text: &[Mark], is_blank: impl Fn(char) -> bool) -> &[Mark] {
    let begin = text.iter().position(|(letter, _)| !is_blank(*letter)).unwrap_or(text.len());
    text.get(begin..).unwrap_or_default()
}
