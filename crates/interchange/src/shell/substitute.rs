//! Commands whose output is known without running them, and the other forms of `${..}`.

use super::reader::Reader;
use super::{Text, test};

/// Characters that a pattern counts as.
const PATTERN_COST: usize = 4_096;

impl Reader<'_> {
    /// The output of `echo ..`, `expr ..`, `printf ..` and of arithmetic that is piped to `bc`.
    pub(super) fn output(&mut self, inner: &str, line: u64, depth: u32) -> Option<Text> {
        let inner = inner.trim();
        let (comma, inner) = match inner.strip_prefix("IFS=") {
            Some(rest) => {
                let (separator, rest) = rest.split_once(';')?;
                (separator.trim_matches(['"', '\'']).chars().next(), rest.trim())
            }
            None => (None, inner),
        };
        let is_plain =
            |text: &str| !text.contains(['|', ';', '<', '>', '`']) && !text.contains("$(");
        if let Some(words) = inner.strip_prefix("expr ").filter(|words| is_plain(words)) {
            let text = self.evaluated(&words.replace('\\', ""), line, depth);
            return self.computed(&text, line);
        }
        let words = inner.strip_prefix("echo ")?;
        let (words, piped) = words.split_once('|').map_or((words, None), |(w, p)| (w, Some(p)));
        let words = words.trim().trim_start_matches("-n ");
        if !is_plain(words) {
            return None;
        }
        let text = self.evaluated(words, line, depth);
        match piped.map(str::trim) {
            Some("bc") => self.computed(&text, line),
            Some(_) => None,
            None => {
                let joined = |(letter, line): (char, u64)| {
                    (if letter == ' ' { comma.unwrap_or(' ') } else { letter }, line)
                };
                Some(text.into_iter().map(joined).collect())
            }
        }
    }

    fn computed(&mut self, text: &Text, line: u64) -> Option<Text> {
        let expression: String = text.iter().map(|(c, _)| *c).collect();
        let value = self.arithmetic(&expression, line)?;
        Some(value.to_string().chars().map(|c| (c, line)).collect())
    }

    /// `${#A[@]}`, `${A[1]}`, `${A/x/y}`, `${A#x}`, `${A%x}`, `${A,,}`, `${A:1:2}` of a variable
    /// that is set; `None` for any other form.
    pub(super) fn form(&mut self, inner: &str) -> Option<Text> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let line = self.line;
        if let Some(name) = inner.strip_prefix('#') {
            let name = name.strip_suffix("[@]").or_else(|| name.strip_suffix("[*]"));
            let count = self.script.variables.get(name?)?.len();
            return Some(count.to_string().chars().map(|c| (c, line)).collect());
        }
        let end = inner.find(|c: char| !is_name(c))?;
        let (name, rest) = inner.split_at(end);
        let elements = self.script.variables.get(name)?;
        if let Some(place) = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return elements.get(place.parse::<usize>().ok()?).cloned();
        }
        let value: String = elements.first()?.iter().take(16_384).map(|(c, _)| *c).collect();
        let at = elements.first()?.first().map_or(line, |(_, line)| *line);
        if inner.contains('$') {
            return None;
        }
        let made = if let Some(rest) = rest.strip_prefix("//") {
            let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
            (!from.is_empty() && to.len() <= 32).then(|| value.replace(from, to))?
        } else if let Some(rest) = rest.strip_prefix('/') {
            let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
            value.replacen(from, to, 1)
        } else if let Some(pattern) = rest.strip_prefix("##") {
            cut_front(&value, pattern, true)
        } else if let Some(pattern) = rest.strip_prefix('#') {
            cut_front(&value, pattern, false)
        } else if let Some(pattern) = rest.strip_prefix("%%") {
            cut_back(&value, pattern, true)
        } else if let Some(pattern) = rest.strip_prefix('%') {
            cut_back(&value, pattern, false)
        } else if rest == ",," {
            value.to_lowercase()
        } else if rest == "^^" {
            value.to_uppercase()
        } else {
            return None;
        };
        // A pattern is tried at many places.
        self.spend(PATTERN_COST, line);
        Some(made.chars().map(|c| (c, at)).collect())
    }
}

/// Without the shortest or longest beginning that matches.
fn cut_front(value: &str, pattern: &str, longest: bool) -> String {
    let places = value.char_indices().map(|(at, c)| at + c.len_utf8()).take(128);
    let mut ends = std::iter::once(0).chain(places);
    let fits = |end: &usize| value.get(..*end).is_some_and(|part| test::matches(pattern, part));
    let end = if longest { ends.filter(fits).last() } else { ends.find(fits) };
    value.get(end.unwrap_or(0)..).unwrap_or_default().to_owned()
}

/// Without the shortest or longest end that matches.
fn cut_back(value: &str, pattern: &str, longest: bool) -> String {
    let mut starts: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
    starts.push(value.len());
    let fits =
        |start: &&usize| value.get(**start..).is_some_and(|part| test::matches(pattern, part));
    let last = starts.iter().rev().take(128);
    let mut fitting = last.filter(fits);
    let found = if longest { fitting.next_back() } else { fitting.next() };
    value.get(..found.copied().unwrap_or(value.len())).unwrap_or_default().to_owned()
}
