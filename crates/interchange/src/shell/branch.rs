//! Conditions, loops, cases and functions, as far as what they ask is known.

use std::rc::Rc;

use super::frame::{Frame, Head};
use super::reader::Reader;
use super::script::Function;
use super::test;
use super::word::Text;

/// Commands that loops repeat, at most.
const MAX_REPEATED: u32 = 5_000;

impl Reader<'_> {
    /// Reads what a keyword at this place opens or closes.
    pub(super) fn keyword(&mut self) -> bool {
        let word = self.bare_word();
        match word.as_str() {
            "if" => {
                self.skip_word(&word);
                let outside = self.script.skips;
                let holds = self.condition("then");
                self.frames.push(Frame::If { taken: holds, outside });
                self.script.skips = outside || holds == Some(false);
            }
            "elif" | "else" => return self.other_branch(&word),
            "fi" | "done" | "esac" => return self.close(&word),
            "for" => return self.for_loop(),
            "while" | "until" => self.while_loop(&word),
            "case" => return self.case(),
            "then" | "do" => self.skip_word(&word),
            _ => return self.function(&word),
        }
        true
    }

    /// The word that comes, where it has neither quotes nor variables.
    fn bare_word(&self) -> String {
        let is_plain = |c: &&char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
        let rest = self.letters.get(self.at..).unwrap_or_default();
        let word: String = rest.iter().take(64).take_while(is_plain).collect();
        let behind = rest.get(word.chars().count());
        let ends =
            behind.is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '(' | '&' | '|' | ')'));
        if ends { word } else { String::new() }
    }

    fn skip_word(&mut self, word: &str) {
        self.at += word.chars().count();
    }

    fn other_branch(&mut self, word: &str) -> bool {
        let Some(Frame::If { taken, outside }) = self.frames.last() else { return false };
        let (taken, outside) = (*taken, *outside);
        self.skip_word(word);
        self.script.skips = outside || taken == Some(true);
        if word == "else" {
            return true;
        }
        // Its condition is read in any case, so that its words are no command.
        let holds = if taken == Some(true) {
            self.condition("then").and(None)
        } else {
            self.condition("then")
        };
        let now = match (taken, holds) {
            (Some(true), _) => Some(true),
            (None, _) | (Some(false), None) => None,
            (Some(false), holds) => holds,
        };
        if let Some(Frame::If { taken, .. }) = self.frames.last_mut() {
            *taken = now;
        }
        self.script.skips = outside || taken == Some(true) || holds == Some(false);
        true
    }

    fn close(&mut self, word: &str) -> bool {
        let fits = matches!(
            (self.frames.last(), word),
            (Some(Frame::If { .. }), "fi")
                | (Some(Frame::Loop { .. } | Frame::While { .. }), "done")
                | (Some(Frame::Case { .. }), "esac")
        );
        if !fits {
            return false;
        }
        self.skip_word(word);
        match self.frames.pop() {
            Some(Frame::If { outside, .. } | Frame::Case { outside, .. }) => {
                self.script.skips = outside;
            }
            Some(Frame::Loop { name, mut left, body, line, outside }) => {
                self.script.skips = outside;
                if !left.is_empty() && !outside && self.may_repeat(body) {
                    let value = left.remove(0);
                    self.script.assign(name.clone(), vec![value], false);
                    self.frames.push(Frame::Loop { name, left, body, line, outside });
                    (self.at, self.line) = (body, line);
                }
            }
            Some(Frame::While { head, body, line, outside }) => {
                self.script.skips = outside;
                self.next_round(head, body, line, outside);
            }
            None => {}
        }
        true
    }

    fn next_round(&mut self, head: Head, body: usize, line: u64, outside: bool) {
        let behind = (self.at, self.line);
        if outside || !self.may_repeat(body) {
            return;
        }
        let again = match &head {
            Head::Once => false,
            Head::Arithmetic { condition, step } => {
                self.step(step) && self.truth(condition) == Some(true)
            }
            Head::At(at, line) => {
                (self.at, self.line) = (*at, *line);
                self.condition("do") == Some(true)
            }
        };
        if again {
            self.frames.push(Frame::While { head, body, line, outside });
            (self.at, self.line) = (body, line);
        } else {
            (self.at, self.line) = behind;
        }
    }

    fn may_repeat(&mut self, body: usize) -> bool {
        // What is read again is charged as if it were written out.
        self.spend(self.at.saturating_sub(body), self.line);
        self.script.repeated = self.script.repeated.saturating_add(1);
        self.script.repeated < MAX_REPEATED && self.script.fault.is_none()
    }

    /// `for NAME in ..; do` and `for ((i=0; i<N; i++)); do`.
    fn for_loop(&mut self) -> bool {
        let outside = self.script.skips;
        self.skip_word("for");
        self.blanks();
        if self.peek() == Some('(') && self.peek_at(1) == Some('(') {
            self.at += 2;
            let text = self.raw_until("))");
            let mut parts = text.split(';').map(|part| part.trim().to_owned());
            let (Some(first), Some(condition), Some(step)) =
                (parts.next(), parts.next(), parts.next())
            else {
                return true;
            };
            let begun = !outside && self.step(&first);
            let holds = if begun { self.truth(&condition) } else { None };
            self.up_to_do();
            let head = if holds == Some(true) {
                Head::Arithmetic { condition, step }
            } else {
                self.script.branches.get_or_insert(self.line);
                Head::Once
            };
            let (body, line) = (self.at, self.line);
            self.frames.push(Frame::While { head, body, line, outside });
            self.script.skips = outside || holds == Some(false);
            return true;
        }
        let name = self.bare_word();
        self.skip_word(&name);
        self.blanks();
        if self.bare_word() != "in" {
            self.script.branches.get_or_insert(self.line);
            self.up_to_do();
            let (body, line) = (self.at, self.line);
            self.frames.push(Frame::While { head: Head::Once, body, line, outside });
            return true;
        }
        self.skip_word("in");
        let mut left = self.loop_words();
        self.up_to_do();
        let is_open = |text: &Text| text.iter().any(|(c, _)| *c == '$');
        let (body, line) = (self.at, self.line);
        if left.is_empty() || left.iter().any(is_open) {
            self.script.branches.get_or_insert(line);
            self.frames.push(Frame::While { head: Head::Once, body, line, outside });
            return true;
        }
        let first = left.remove(0);
        self.script.assign(name.clone(), vec![first], false);
        self.frames.push(Frame::Loop { name, left, body, line, outside });
        true
    }

    /// The words of a loop up to the line's end, ranges among them spelled out.
    fn loop_words(&mut self) -> Vec<Text> {
        let mut left = vec![];
        loop {
            self.blanks();
            let start = self.at;
            match self.peek() {
                None | Some('\n' | ';') => return left,
                Some(_) => {}
            }
            for text in self.words(true) {
                let word: String = text.iter().map(|(c, _)| *c).collect();
                match range(&word) {
                    Some(numbers) => {
                        let line = text.first().map_or(self.line, |(_, line)| *line);
                        let marks = |n: i64| n.to_string().chars().map(|c| (c, line)).collect();
                        left.extend(numbers.into_iter().map(marks));
                    }
                    None => left.push(text),
                }
            }
            if self.at == start {
                self.next();
            }
            if self.script.fault.is_some() || left.len() > 4_096 {
                return left;
            }
        }
    }

    fn up_to_do(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some(';' | '\n') => {
                    self.next();
                }
                _ => break,
            }
        }
        if self.bare_word() == "do" {
            self.skip_word("do");
        }
    }

    fn while_loop(&mut self, word: &str) {
        let outside = self.script.skips;
        self.skip_word(word);
        let (at, line) = (self.at, self.line);
        let holds = self.condition("do").map(|holds| holds != (word == "until"));
        let head =
            if holds == Some(true) && word == "while" { Head::At(at, line) } else { Head::Once };
        self.frames.push(Frame::While { head, body: self.at, line: self.line, outside });
        self.script.skips = outside || holds == Some(false);
    }

    /// Result of a condition up to a word; the reader is behind the word then.
    fn condition(&mut self, end: &str) -> Option<bool> {
        let opened = self.line;
        let mut words: Vec<String> = vec![];
        let mut known = true;
        loop {
            self.blanks();
            match self.peek() {
                None => break,
                Some('\n' | ';') => {
                    self.next();
                    continue;
                }
                Some(sign @ ('&' | '|')) => {
                    self.next();
                    if self.peek() == Some(sign) {
                        self.next();
                        words.push(format!("{sign}{sign}"));
                    } else {
                        known = false;
                    }
                    continue;
                }
                Some('(') if self.peek_at(1) == Some('(') => {
                    self.at += 2;
                    let text = self.raw_until("))");
                    match self.truth(&text) {
                        Some(value) => words.push(if value { "true" } else { "false" }.to_owned()),
                        None => known = false,
                    }
                    continue;
                }
                Some('(' | ')' | '<' | '>') => {
                    known = false;
                    self.next();
                    continue;
                }
                Some(_) => {}
            }
            if self.bare_word() == end {
                self.skip_word(end);
                break;
            }
            let start = self.at;
            // Inside of brackets a word that holds nothing is a word all the same.
            let made = self.words(false);
            let text: String = made.into_iter().flatten().map(|(c, _)| c).collect();
            known &= !matches!(text.as_str(), "=~" | "-f" | "-d" | "-e" | "-x" | "-s" | "-v");
            words.push(text);
            if self.at == start {
                self.next();
            }
            if self.script.fault.is_some() || words.len() > 400 {
                break;
            }
        }
        let is_test = words.first().is_some_and(|word| {
            matches!(word.as_str(), "[" | "[[" | "test" | "true" | "false" | "!" | ":")
        });
        if self.script.skips {
            return None;
        }
        let script = &mut self.script;
        let value = if known && is_test {
            test::value(&words, &mut |name, value| {
                script.compared.push((name.to_owned(), opened, value.to_owned()));
                let marks = value.chars().map(|c| (c, opened)).collect();
                script.assign(name.to_owned(), vec![marks], false);
                value.to_owned()
            })
        } else {
            None
        };
        if value.is_none() {
            script.branches.get_or_insert(opened);
        }
        value
    }

    /// `case WORD in`, where the word is known.
    fn case(&mut self) -> bool {
        let (at, line) = (self.at, self.line);
        self.skip_word("case");
        self.blanks();
        let word: String = self.words(false).into_iter().flatten().map(|(c, _)| c).collect();
        self.blanks();
        if word.contains('$') || self.bare_word() != "in" {
            (self.at, self.line) = (at, line);
            return self.skips_case();
        }
        self.skip_word("in");
        self.frames.push(Frame::Case { word, taken: false, outside: self.script.skips });
        self.script.skips = true;
        self.pattern();
        true
    }

    /// Reads the pattern of the next branch of a case, if that is what comes.
    pub(super) fn pattern(&mut self) {
        loop {
            self.blanks();
            if matches!(self.peek(), Some('\n' | ';' | '&')) {
                self.next();
            } else {
                break;
            }
        }
        if self.peek().is_none() || self.bare_word() == "esac" {
            return;
        }
        let text = self.raw_until(")");
        let Some(Frame::Case { word, taken, outside }) = self.frames.last_mut() else { return };
        let plain = |pattern: &str| pattern.trim().trim_start_matches('(').replace(['"', '\''], "");
        let fits = text.split('|').any(|pattern| test::matches(&plain(pattern), word));
        self.script.skips = *outside || *taken || !fits;
        *taken |= fits;
    }

    /// Whether a case is open.
    pub(super) fn is_in_case(&self) -> bool {
        matches!(self.frames.last(), Some(Frame::Case { .. }))
    }

    /// `name() {` is kept until it is called; a name that is kept is called.
    fn function(&mut self, word: &str) -> bool {
        let mut name = word.to_owned();
        if word == "function" {
            let at = self.at;
            self.skip_word(word);
            self.blanks();
            name = self.bare_word();
            self.at = at;
        }
        if name.is_empty() {
            return false;
        }
        let rest = self.letters.get(self.at..).unwrap_or_default();
        let head: String = rest.iter().take(120).collect();
        let head = head.strip_prefix("function ").unwrap_or(&head);
        let behind = head.trim_start().strip_prefix(name.as_str()).map(str::trim_start);
        let has_brackets = behind.is_some_and(|text| text.starts_with("()"));
        if word != "function" && !has_brackets {
            return false;
        }
        while self.peek().is_some_and(|c| c != '{' && c != '\n') {
            self.next();
        }
        if self.peek() == Some('\n') {
            self.next();
            self.blanks();
        }
        if self.peek() != Some('{') {
            return true;
        }
        self.next();
        let (body, line) = (self.at, self.line);
        let end = self.end_of_function();
        self.spend(end.saturating_sub(body), line);
        let part = |all: &[u64]| all.get(body..end).unwrap_or_default().to_vec();
        let letters = self.letters.get(body..end).unwrap_or_default().to_vec();
        let function = Function { letters, lines: part(self.lines), line };
        self.script.functions.insert(name, Rc::new(function));
        true
    }

    /// Where a body ends: before the first bracket that begins a line, or that of this line.
    fn end_of_function(&mut self) -> usize {
        let mut begins = false;
        let mut first_line = true;
        loop {
            let at = self.at;
            match self.next() {
                None => return at,
                Some('}') if begins || (first_line && self.peek().is_none_or(|c| c == '\n')) => {
                    return at;
                }
                Some('\n') => {
                    begins = true;
                    first_line = false;
                }
                Some(_) => begins = false,
            }
        }
    }

    fn raw_until(&mut self, end: &str) -> String {
        let mut text = String::new();
        while let Some(letter) = self.next() {
            text.push(letter);
            if text.ends_with(end) {
                text.truncate(text.len() - end.len());
                break;
            }
        }
        text
    }

    /// Whether an arithmetic condition holds; `None` if it isn't known.
    fn truth(&mut self, text: &str) -> Option<bool> {
        let line = self.line;
        for sign in ["<=", ">=", "==", "!=", "<", ">"] {
            if let Some((left, right)) = text.split_once(sign) {
                let (left, right) = (self.arithmetic(left, line)?, self.arithmetic(right, line)?);
                return Some(match sign {
                    "<=" => left <= right,
                    ">=" => left >= right,
                    "==" => left == right,
                    "!=" => left != right,
                    "<" => left < right,
                    _ => left > right,
                });
            }
        }
        self.arithmetic(text, line).map(|value| value != 0)
    }

    /// Executes `i=0`, `i++`, `i+=2`.
    fn step(&mut self, text: &str) -> bool {
        let text = text.trim();
        let line = self.line;
        let (name, value) = if let Some(name) = text.strip_suffix("++") {
            (name, self.arithmetic(&format!("{name}+1"), line))
        } else if let Some(name) = text.strip_suffix("--") {
            (name, self.arithmetic(&format!("{name}-1"), line))
        } else if let Some((name, by)) = text.split_once("+=") {
            (name, self.arithmetic(&format!("{name}+({by})"), line))
        } else if let Some((name, value)) = text.split_once('=') {
            (name, self.arithmetic(value, line))
        } else {
            return false;
        };
        let Some(value) = value else { return false };
        let marks = value.to_string().chars().map(|c| (c, line)).collect();
        self.script.assign(name.trim().to_owned(), vec![marks], false);
        true
    }
}

/// The numbers of `{1..9..2}`.
fn range(word: &str) -> Option<Vec<i64>> {
    let inner = word.strip_prefix('{')?.strip_suffix('}')?;
    let numbers: Option<Vec<i64>> = inner.split("..").map(|part| part.parse().ok()).collect();
    let (first, last, by) = match *numbers?.as_slice() {
        [first, last] => (first, last, 1),
        [first, last, by] if by > 0 => (first, last, by),
        _ => return None,
    };
    let count = usize::try_from(last.checked_sub(first)?.checked_div(by)?).ok()? + 1;
    (count <= 1_024).then(|| (0..count as i64).map(|step| first + step * by).collect())
}
