//! What a `$` becomes, and how words are split.

use super::arithmetic;
use super::reader::Reader;
use super::word::{MAX_EXPANDED, Made, Text};

/// Defaults within defaults, at most.
const MAX_DEPTH: u32 = 16;

/// Positional arguments, at most.
const MAX_ARGUMENTS: u32 = 1_000;

impl Reader<'_> {
    /// Reads an expansion: a variable, arithmetic or a command's output.
    pub(super) fn dollar(&mut self, made: &mut Made, quoted: bool, depth: u32) {
        let line = self.line;
        let sign = self.next();
        match (sign, self.peek(), self.peek_at(1)) {
            (Some('`'), _, _) => {
                let mut inner = String::new();
                while let Some(letter) = self.next().filter(|c| *c != '`') {
                    inner.push(letter);
                }
                self.substituted_by(&inner, line, made, quoted, depth);
            }
            (_, Some('('), Some('(')) => {
                self.at += 2;
                let expression = self.up_to_closing('(', ')', 2);
                let value = self.arithmetic_at(&expression, line, depth);
                let text = value.map_or_else(|| format!("$(({expression}))"), |v| v.to_string());
                self.text(&text, line, made, true);
            }
            (_, Some('('), _) => {
                self.at += 1;
                let inner = self.up_to_closing('(', ')', 1);
                self.substituted_by(&inner, line, made, quoted, depth);
            }
            (_, Some('{'), _) => {
                self.at += 1;
                let inner = self.up_to_closing('{', '}', 1);
                self.braced(&inner, line, made, quoted, depth);
            }
            (_, Some('@' | '*'), _) => {
                self.next();
                self.positional(1, line, made, quoted);
            }
            (_, Some('#'), _) => {
                self.next();
                let count = self.arguments().len();
                self.text(&count.to_string(), line, made, true);
            }
            (_, Some('?' | '$' | '!' | '-'), _) => {
                self.next();
            }
            (_, Some(c), _) if c.is_ascii_alphanumeric() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.at += 1;
                    if name.starts_with(|c: char| c.is_ascii_digit()) {
                        break;
                    }
                }
                self.variable(&name, line, made, quoted, false, false);
            }
            _ => made.push(('$', line)),
        }
    }

    /// Expands a command substitution to its output, if that is known without running the command.
    fn substituted_by(
        &mut self,
        inner: &str,
        line: u64,
        made: &mut Made,
        quoted: bool,
        depth: u32,
    ) {
        match self.output(inner, line, depth) {
            Some(text) => {
                self.spend(text.len(), line);
                made.value(&[text], quoted, false);
            }
            None => self.text("$(..)", line, made, true),
        }
    }

    /// The text up to the bracket that closes `open` ones; the reader stands behind it.
    pub(super) fn up_to_closing(&mut self, opening: char, closing: char, open: u32) -> String {
        let opened = self.line;
        let (outer, mut open, mut text) = (open.saturating_sub(1), open, String::new());
        while let Some(letter) = self.next() {
            if letter == opening {
                open = open.saturating_add(1);
            } else if letter == closing {
                open -= 1;
                if open == 0 {
                    // Of `))` the first one stands in the text by now.
                    let kept = text.chars().count().saturating_sub(outer as usize);
                    return text.chars().take(kept).collect();
                }
            }
            text.push(letter);
        }
        self.script.fail(opened, format!("the `{opening}` that opens here never ends"));
        text
    }

    /// Arithmetic with the expansions in it.
    fn arithmetic_at(&mut self, expression: &str, line: u64, depth: u32) -> Option<i64> {
        let expands = ["$(", "`", ":-", "${#", "[", "$#"].iter().any(|it| expression.contains(it));
        if !expands || depth + 1 >= MAX_DEPTH {
            return self.arithmetic(expression, line);
        }
        let text: String = self.evaluated(expression, line, depth).iter().map(|it| it.0).collect();
        self.arithmetic(&text, line)
    }

    pub(super) fn arithmetic(&mut self, expression: &str, line: u64) -> Option<i64> {
        let (variables, before) = (&self.script.variables, self.script.expanded);
        let mut spent = 0_usize;
        let value = arithmetic::value(expression, &mut |name| {
            let first = variables.get(name)?.first()?;
            // Charged before it is copied: an expression can name a long variable many times.
            spent = spent.saturating_add(cost(first));
            if before.saturating_add(spent) > MAX_EXPANDED {
                return None;
            }
            let text: String = first.iter().map(|(c, _)| *c).collect();
            text.trim().parse().ok()
        });
        self.spend(spent, line);
        value
    }

    /// `${NAME}`, `${NAME[@]}`, `${NAME:-default}`; any other form is left as it is written.
    fn braced(&mut self, inner: &str, line: u64, made: &mut Made, quoted: bool, depth: u32) {
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let (name, rest) = inner.split_at(end.unwrap_or(inner.len()));
        let all = rest == "[@]" || rest == "[*]";
        if rest.is_empty() || all {
            return self.variable(name, line, made, quoted, all, rest != "[*]");
        }
        if let Some(first) = inner.strip_prefix("@:").or_else(|| inner.strip_prefix("*:")) {
            let first = first.split(':').next().and_then(|first| first.trim().parse().ok());
            return self.positional(first.unwrap_or(1), line, made, quoted);
        }
        if inner == "@" || inner == "*" {
            return self.positional(1, line, made, quoted);
        }
        if let Some(text) = self.form(inner) {
            self.spend(text.len(), line);
            return made.value(&[text], quoted, false);
        }
        let colon = rest.strip_prefix(':').unwrap_or(rest);
        let Some(default) = colon.strip_prefix(['-', '=']).filter(|_| !name.is_empty()) else {
            return self.text(&format!("${{{inner}}}"), line, made, true);
        };
        let set = self.script.variables.get(name);
        // Without `[@]` an array is its first element, however many it has.
        let empty = set.is_some_and(|elements| elements.first().is_none_or(Vec::is_empty));
        if set.is_some() && !(empty && rest.starts_with(':')) {
            return self.variable(name, line, made, quoted, false, false);
        }
        let default = self.evaluated(default, line, depth);
        let shown: String = default.iter().take(80).map(|(c, _)| *c).collect();
        self.script.defaults.insert(name.to_owned(), shown);
        self.spend(default.len(), line);
        if colon.starts_with('=') {
            self.script.assign(name.to_owned(), vec![default.clone()], false);
        }
        made.value(&[default], quoted, false);
    }

    /// A default's own variables, by a reader of its text; quotes in it are taken off.
    pub(super) fn evaluated(&mut self, text: &str, line: u64, depth: u32) -> Text {
        if depth >= MAX_DEPTH {
            self.script.fail(line, "defaults stand too deep within each other");
            return vec![];
        }
        self.inner(text, line, depth + 1, true)
    }

    /// A line of a here-document with its variables: quotes in it are letters.
    pub(super) fn in_document(&mut self, text: &str, line: u64) -> Text {
        self.inner(text, line, 0, false)
    }

    /// A text within the script with its variables, until something is wrong in it.
    fn inner(&mut self, text: &str, line: u64, depth: u32, has_quotes: bool) -> Text {
        let letters: Vec<char> = text.chars().collect();
        let script = std::mem::take(&mut self.script);
        let deep = self.depth;
        let mut reader = Reader {
            letters: &letters,
            lines: &[],
            at: 0,
            line,
            script,
            frames: vec![],
            depth: deep,
        };
        let mut made = Made::new(false);
        while reader.script.fault.is_none()
            && let Some(letter) = reader.peek()
        {
            match letter {
                '$' | '`' => reader.dollar(&mut made, true, depth),
                '"' | '\'' if has_quotes => {
                    reader.next();
                }
                _ => {
                    reader.next();
                    made.push((letter, line));
                }
            }
        }
        self.script = reader.script;
        made.finish().join(&(' ', line))
    }

    /// The script's arguments from a place on.
    fn positional(&mut self, first: usize, line: u64, made: &mut Made, quoted: bool) {
        let all = self.arguments();
        let words = all.get(first.saturating_sub(1)..).unwrap_or_default();
        self.spend(words.iter().map(cost).sum(), line);
        if self.script.fault.is_none() {
            made.value(words, quoted, true);
        }
    }

    /// The script's arguments, as far as they are given without a gap.
    pub(super) fn arguments(&self) -> Vec<Text> {
        let places = (1_u32..MAX_ARGUMENTS)
            .map_while(|place| self.script.variables.get(&place.to_string())?.first().cloned());
        places.collect()
    }

    /// A variable: of an array all elements, which in quotes are words apart or one.
    fn variable(
        &mut self,
        name: &str,
        line: u64,
        made: &mut Made,
        quoted: bool,
        all: bool,
        apart: bool,
    ) {
        // Without `[@]` an array is its first element.
        let most = if all { usize::MAX } else { 1 };
        let Some(elements) = self.script.variables.get(name) else {
            return self.text(&format!("${{{name}}}"), line, made, true);
        };
        let count = elements.len().min(most);
        self.spend(elements.iter().take(count).map(cost).sum(), line);
        if self.script.fault.is_some() {
            return;
        }
        let elements = self.script.variables.get(name).and_then(|all| all.get(..count));
        made.value(elements.unwrap_or_default(), quoted, apart);
    }

    fn text(&mut self, text: &str, line: u64, made: &mut Made, quoted: bool) {
        let marks: Text = text.chars().map(|c| (c, line)).collect();
        self.spend(marks.len(), line);
        made.value(&[marks], quoted, false);
    }

    pub(super) fn spend(&mut self, count: usize, line: u64) {
        self.script.expanded = self.script.expanded.saturating_add(count);
        if self.script.expanded > MAX_EXPANDED {
            let detail = format!(
                "variables and loops make more than {MAX_EXPANDED} characters and elements"
            );
            self.script.fail(line, detail);
        }
    }
}

/// Cost of an element against [`MAX_EXPANDED`]: an empty one takes memory, too.
fn cost(element: &Text) -> usize {
    element.len().saturating_add(1)
}
