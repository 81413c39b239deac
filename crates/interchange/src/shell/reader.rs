//! Goes through a script from its first to its last character.

use super::frame::Frame;
use super::script::Script;
use super::word::{Made, Strings, Text, Word};

/// Words that open or part a condition or loop, and stand before a command.
const KEYWORDS: [&str; 12] =
    ["if", "then", "else", "elif", "fi", "while", "until", "do", "done", "{", "}", "!"];
/// Variables that are set before a command, with what they were.
type Own = Vec<(String, Option<Vec<Text>>)>;

/// Words before an assignment or a command that change neither.
const PREFIXES: [&str; 5] = ["export", "local", "readonly", "declare", "typeset"];

/// The script with its variables and commands.
pub(super) fn read(text: &str, script: Script) -> Script {
    let letters: Vec<char> = text.chars().collect();
    let mut reader =
        Reader { letters: &letters, lines: &[], at: 0, line: 1, script, frames: vec![], depth: 0 };
    reader.directives(text, 0);
    while reader.at < letters.len() && reader.script.fault.is_none() {
        reader.command();
    }
    reader.script.skips = false;
    reader.call_the_rest();
    reader.script
}

pub(super) struct Reader<'a> {
    pub(super) letters: &'a [char],
    /// The line of each letter; none where they are counted.
    pub(super) lines: &'a [u64],
    pub(super) at: usize,
    pub(super) line: u64,
    pub(super) script: Script,
    /// Conditions, loops and cases that are open.
    pub(super) frames: Vec<Frame>,
    /// Functions within each other.
    pub(super) depth: u32,
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += 1;
        match self.lines.get(self.at).or(self.lines.last()) {
            Some(line) => self.line = *line,
            None => self.line += u64::from(letter == '\n'),
        }
        Some(letter)
    }

    /// Skips blanks, continued lines and comments, but no line's end.
    pub(super) fn blanks(&mut self) {
        loop {
            match (self.peek(), self.peek_at(1), self.peek_at(2)) {
                (Some(' ' | '\t' | '\r'), _, _) => {
                    self.next();
                }
                (Some('\\'), Some('\n'), _) => {
                    self.next();
                    self.next();
                }
                (Some('\\'), Some('\r'), Some('\n')) => {
                    self.at += 1;
                    self.next();
                    self.next();
                }
                (Some('#'), _, _) => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                _ => return,
            }
        }
    }

    /// Reads one simple command, with the assignments before it.
    pub(super) fn command(&mut self) {
        let mut words: Vec<Word> = vec![];
        let mut strings: Strings = vec![];
        let mut beginning = true;
        let mut own: Own = vec![];
        loop {
            self.blanks();
            let start = self.at;
            match self.peek() {
                None => break,
                Some(';') if self.peek_at(1) == Some(';') && self.is_in_case() => {
                    self.at += 2;
                    self.finish_with(own, words, &strings);
                    return self.pattern();
                }
                Some(end @ ('\n' | ';' | '|' | '&' | '(' | ')')) => {
                    self.next();
                    self.script.is_piped = end == '|' && self.peek() != Some('|');
                    break;
                }
                Some('<' | '>') => {
                    self.redirection(&mut words, start);
                    continue;
                }
                Some(_) => {}
            }
            if beginning && self.keyword() {
                continue;
            }
            if beginning && self.assignment(&mut own) {
                continue;
            }
            let line = self.line;
            let made = self.words(true);
            if self.at == start {
                self.next();
            }
            for text in made {
                let word: String = text.iter().map(|(c, _)| *c).collect();
                let line = text.first().map_or(line, |(_, line)| *line);
                if beginning && self.is_before_command(&word, line) {
                    continue;
                }
                beginning = false;
                // What may be a command itself keeps the lines of its letters.
                if word.contains(char::is_whitespace) {
                    strings.push((words.len(), text));
                }
                words.push((word, line));
            }
            if self.script.fault.is_some() {
                break;
            }
        }
        self.finish_with(own, words, &strings);
    }

    /// Finishes a command, as [`Self::finish`], with the variables that are set for it alone.
    fn finish_with(&mut self, own: Own, words: Vec<Word>, strings: &[(usize, Text)]) {
        if words.is_empty() || own.is_empty() {
            self.script.own.clear();
            return self.finish(words, strings);
        }
        let value = |name: &String| Some((name.clone(), self.script.variables.get(name)?.clone()));
        self.script.own = own.iter().filter_map(|(name, _)| value(name)).collect();
        self.finish(words, strings);
        for (name, before) in own.into_iter().rev() {
            match before {
                Some(before) => self.script.variables.insert(name, before),
                None => self.script.variables.remove(&name),
            };
        }
    }

    /// Keeps a command, or does it where it is the shell's own.
    fn finish(&mut self, words: Vec<Word>, strings: &[(usize, Text)]) {
        let output = self.script.output.take();
        let appends = std::mem::take(&mut self.script.appends);
        let is_piped = std::mem::take(&mut self.script.is_piped);
        let behind = std::mem::take(&mut self.script.behind);
        if words.is_empty() || self.script.skips {
            self.script.input = None;
            return;
        }
        match words.first().map(|(word, _)| word.as_str()) {
            Some("shift") => {
                let all = self.arguments();
                let by = words.get(1).and_then(|(word, _)| word.parse().ok()).unwrap_or(1);
                self.forget();
                for (place, value) in (1_u32..).zip(all.into_iter().skip(by)) {
                    self.script.assign(place.to_string(), vec![value], false);
                }
            }
            Some("printf") if words.get(1).is_some_and(|(word, _)| word == "-v") => {
                self.print_into(&words);
            }
            Some("read") => self.read_into(&words),
            Some("mapfile" | "readarray") => self.lines_into(&words),
            Some("echo" | "printf") if output.is_some() => {
                self.write(output.unwrap_or_default(), &words, appends);
            }
            // What it writes is what the next command reads.
            Some("cat") if words.len() == 1 && self.script.input.is_some() => {
                if is_piped {
                    return;
                }
                if let Some((_, next)) = behind.split_once('|') {
                    self.read_behind(next);
                }
            }
            _ => {
                if !self.call(&words) && !self.source(&words) {
                    self.started(words, strings);
                }
            }
        }
        self.script.input = None;
    }

    /// Skips a `case`: its patterns look like arguments, and which one holds isn't known.
    pub(super) fn skips_case(&mut self) -> bool {
        let rest = self.letters.get(self.at..).unwrap_or_default();
        if !(rest.starts_with(&['c', 'a', 's', 'e']) && rest.get(4).is_some_and(|c| *c == ' ')) {
            return false;
        }
        self.script.branches.get_or_insert(self.line);
        let mut last = String::new();
        while let Some(letter) = self.next() {
            if letter.is_whitespace() || letter == ';' {
                if last == "esac" {
                    break;
                }
                last.clear();
            } else if last.len() < 8 {
                last.push(letter);
            }
        }
        true
    }

    /// Whether the word is a keyword, prefix or switch before a command.
    fn is_before_command(&mut self, word: &str, line: u64) -> bool {
        if matches!(word, "if" | "while" | "until" | "for" | "case") {
            self.script.branches.get_or_insert(line);
        }
        KEYWORDS.contains(&word) || PREFIXES.contains(&word) || self.is_switch(word)
    }

    /// Whether a word, which ends here, is a switch of `declare` and the like: `declare -A`.
    fn is_switch(&self, word: &str) -> bool {
        let is_one = word.strip_prefix('-').is_some_and(|rest| {
            (1..4).contains(&rest.len()) && rest.chars().all(|c| c.is_ascii_alphabetic())
        });
        let before = self.at.saturating_sub(word.len());
        let near = self.letters.get(before.saturating_sub(16)..before).unwrap_or_default();
        let near: String = near.iter().collect();
        is_one && near.split_whitespace().next_back().is_some_and(|it| PREFIXES.contains(&it))
    }

    /// Reads `NAME=value`, `NAME+=value` or `NAME=(..)`, if that is what comes.
    fn assignment(&mut self, own: &mut Own) -> bool {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut end = self.at;
        while self.letters.get(end).copied().is_some_and(is_name) {
            end += 1;
        }
        let name: String = self.letters.get(self.at..end).unwrap_or_default().iter().collect();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        if self.letters.get(end) == Some(&'[') {
            return self.pair(name, end);
        }
        let append = self.letters.get(end) == Some(&'+');
        let equals = end + usize::from(append);
        if self.letters.get(equals) != Some(&'=') {
            return false;
        }
        self.at = equals + 1;
        let value = if self.peek() == Some('(') {
            self.next();
            let list = self.list();
            if append {
                self.script.lengthen(name, list);
                return true;
            }
            list
        } else {
            vec![self.words(false).into_iter().flatten().collect()]
        };
        self.blanks();
        if !matches!(self.peek(), None | Some('\n' | ';' | '&' | '|' | ')')) {
            // A command may follow, which has it for itself.
            let before = self.script.variables.get(&name).cloned();
            self.spend(before.iter().flatten().map(Vec::len).sum(), self.line);
            own.push((name.clone(), before));
        }
        self.script.assign(name, value, append);
        true
    }

    /// `NAME[key]=value`, which is kept as a list's `[key]=value`.
    fn pair(&mut self, name: String, open: usize) -> bool {
        let rest = self.letters.get(open..).unwrap_or_default().iter().take(128);
        let Some(close) = rest.clone().position(|letter| matches!(letter, ']' | '\n' | ' ')) else {
            return false;
        };
        let signs = self.letters.get(open + close..open + close + 2);
        if !matches!(signs, Some([']', '='])) {
            return false;
        }
        let key: String = rest.clone().skip(1).take(close.saturating_sub(1)).collect();
        let line = self.line;
        let mut element: Text = rest.take(close + 1).map(|letter| (*letter, line)).collect();
        element.push(('=', line));
        self.at = open + close + 2;
        let value: Text = self.words(false).into_iter().flatten().collect();
        let place = key.parse::<usize>().ok();
        let own = self.script.variables.get_mut(&name).filter(|_| !self.script.skips);
        if let Some(slot) = own.and_then(|own| own.get_mut(place?)) {
            *slot = value;
            return true;
        }
        element.extend(value.iter().copied());
        self.script.lengthen(name, vec![if place.is_some() { value } else { element }]);
        true
    }

    /// The words up to the closing bracket of an array.
    pub(super) fn list(&mut self) -> Vec<Text> {
        let opened = self.line;
        let mut elements = vec![];
        loop {
            self.blanks();
            match self.peek() {
                None => {
                    self.script.fail(opened, "the list that opens here never ends");
                    return elements;
                }
                Some(')') => {
                    self.next();
                    return elements;
                }
                Some('\n' | ';' | '|' | '&' | '(' | '<' | '>') => {
                    self.next();
                }
                Some(_) => {
                    let start = self.at;
                    elements.extend(self.words(true));
                    if self.at == start {
                        self.next();
                    }
                }
            }
            if self.script.fault.is_some() {
                return elements;
            }
        }
    }

    /// Reads `> file`, `2>&1`, `< file` and a here-document. Where one goes to a file, that file is
    /// kept.
    fn redirection(&mut self, words: &mut Vec<Word>, start: usize) {
        // The number just before the sign is the stream's, not a word.
        let touches = start > 0 && self.letters.get(start - 1).is_some_and(char::is_ascii_digit);
        if touches && words.last().is_some_and(|(word, _)| word.len() == 1) {
            words.pop();
        }
        let mut signs = String::new();
        while let Some(sign @ ('<' | '>' | '&' | '-')) = self.peek() {
            signs.push(sign);
            self.next();
        }
        self.blanks();
        if signs == "<" && self.peek() == Some('<') && self.peek_at(1) == Some('(') {
            // `< <(command)`: what a command puts out.
            self.at += 2;
            let line = self.line;
            let inner = self.up_to_closing('(', ')', 1);
            self.script.input = self.output(&inner, line, 0);
            return;
        }
        // In quotes the end says that nothing in the document is expanded.
        let plain = matches!(self.peek(), Some('\'' | '"' | '\\'));
        let target: Text = self.words(false).into_iter().flatten().collect();
        if signs == "<<<" {
            self.script.input = Some(target);
            return;
        }
        let target: String = target.iter().map(|(c, _)| *c).collect();
        if signs.starts_with("<<") {
            let path = self.written_to(words);
            let (text, line, behind) = self.here_document(&target);
            self.script.behind = behind;
            match path {
                Some(path) => self.keep(path, text, line, !plain),
                None => self.read_from(&text, line, !plain),
            }
        } else if signs == "<" && words.first().is_some_and(|(word, _)| word == "envsubst") {
            self.substituted(&target);
        } else if signs.starts_with('>') && !signs.contains('&') {
            self.script.output = Some(target);
            self.script.appends = signs.starts_with(">>");
        } else if signs == "<" {
            self.read_from_file(&target);
        }
    }

    /// The lines of a here-document, the line before its first, and what stands behind its
    /// beginning on that line.
    fn here_document(&mut self, end: &str) -> (String, u64, String) {
        let (mut text, mut line) = (String::new(), String::new());
        let (mut before, mut behind) = (None, String::new());
        while let Some(letter) = self.next() {
            if letter != '\n' {
                line.push(letter);
                continue;
            }
            if before.is_some() {
                if line.trim() == end {
                    // The line's end is the command's, too.
                    self.at -= 1;
                    self.line = self.line.saturating_sub(1);
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            } else {
                behind.clone_from(&line);
            }
            before.get_or_insert(self.line.saturating_sub(1));
            line.clear();
        }
        (text, before.unwrap_or(self.line), behind)
    }

    /// Reads a word. Where it may split, an unquoted variable makes as many as it holds, or none.
    pub(super) fn words(&mut self, split: bool) -> Vec<Text> {
        let mut made = Made::new(split);
        while let Some(letter) = self.peek() {
            let line = self.line;
            match letter {
                ' ' | '\t' | '\r' | '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>' => break,
                '\\' => {
                    self.next();
                    match self.next() {
                        None | Some('\n') => {}
                        Some('\r') if self.peek() == Some('\n') => {
                            self.next();
                        }
                        Some(escaped) => made.push((escaped, line)),
                    }
                }
                '\'' => self.single_quoted(&mut made),
                '"' => self.double_quoted(&mut made),
                '$' | '`' => self.dollar(&mut made, false, 0),
                _ => {
                    self.next();
                    made.push((letter, line));
                }
            }
            if self.script.fault.is_some() {
                break;
            }
        }
        made.finish()
    }

    fn single_quoted(&mut self, made: &mut Made) {
        let opened = self.line;
        self.next();
        made.begin();
        loop {
            let line = self.line;
            match self.next() {
                None => return self.script.fail(opened, "the quote that opens here never ends"),
                Some('\'') => return,
                Some(letter) => made.push((letter, line)),
            }
        }
    }

    fn double_quoted(&mut self, made: &mut Made) {
        let opened = self.line;
        self.next();
        made.begin();
        while self.script.fault.is_none() {
            let line = self.line;
            match self.peek() {
                None => return self.script.fail(opened, "the quote that opens here never ends"),
                Some('"') => {
                    self.next();
                    return;
                }
                Some('$' | '`') => self.dollar(made, true, 0),
                Some('\\') => {
                    self.next();
                    match self.next() {
                        None | Some('\n') => {}
                        Some(escaped @ ('$' | '"' | '\\' | '`')) => made.push((escaped, line)),
                        // A blank between the backslash and the line's end is a common slip.
                        Some(' ' | '\t' | '\r') => made.push((' ', line)),
                        Some(other) => {
                            made.push(('\\', line));
                            made.push((other, line));
                        }
                    }
                }
                Some(letter) => {
                    self.next();
                    made.push((letter, line));
                }
            }
        }
    }
}
