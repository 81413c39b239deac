//! Commands whose output is known without running them, and the other forms of `${..}`.

use std::rc::Rc;

use super::reader::Reader;
use super::word::{Text, Word};
use super::{input, test};

/// Characters that a pattern counts as.
const PATTERN_COST: usize = 4_096;

/// Names of nodes that a list of them has, at most.
const MAX_NAMES: u64 = 4_096;

fn digits(count: u64, line: u64) -> Text {
    count.to_string().chars().map(|letter| (letter, line)).collect()
}

impl Reader<'_> {
    /// The output of `echo ..`, `expr ..`, `printf ..` and of arithmetic that is piped to `bc`.
    pub(super) fn output(&mut self, inner: &str, line: u64, depth: u32) -> Option<Text> {
        let inner = inner.trim();
        if let Some(text) = self.counted(inner, line, depth).or_else(|| self.file_text(inner, line))
        {
            return Some(text);
        }
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
        if let Some(words) = inner.strip_prefix("printf ").filter(|words| is_plain(words)) {
            let words = self.words_of(words, line, depth);
            return Some(input::printed(&words, line));
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

    /// Counts of a job's nodes, of a node's devices and of a file's lines; and the nodes' names.
    fn counted(&mut self, inner: &str, line: u64, depth: u32) -> Option<Text> {
        let counts = ["wc -l", "wc -w", "grep -c"].iter().any(|word| inner.contains(word));
        let job = Rc::clone(&self.script.job);
        if inner.contains("scontrol show hostname") {
            let nodes = job.node_count()?;
            if counts {
                return Some(digits(nodes, line));
            }
            let is_list = !inner.contains('|') || inner.contains("| tr ");
            let names: Vec<String> =
                (1..=nodes.min(MAX_NAMES)).map(|node| format!("node{node}")).collect();
            let names = names.join("\n");
            return is_list.then(|| names.chars().map(|letter| (letter, line)).collect());
        }
        let of_devices = ["nvidia-smi", "rocm-smi", "npu-smi"].iter().any(|it| inner.contains(it));
        if (of_devices && counts) || inner.contains("device_count()") {
            return job.node_devices().map(|count| digits(count, line));
        }
        if !counts || depth > 2 {
            return None;
        }
        let once = inner.contains("uniq") || inner.contains("-u ");
        let is_path = |word: &&str| word.contains(['$', '/', '.']) || word.contains("host");
        let mut words = inner.split([' ', '<', '|', '"']).filter(|word| !word.is_empty());
        let path = words.find(is_path)?;
        if path.contains("PBS_NODEFILE") || path.contains("LSB_DJOB_HOSTFILE") {
            let nodes = job.node_count();
            let count = if once { nodes } else { job.rank_count().or(nodes) };
            return count.map(|count| digits(count, line));
        }
        let path: String = self.evaluated(path, line, depth).into_iter().map(|(c, _)| c).collect();
        let (text, _) = self.known_file(&path)?;
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        self.spend(text.len(), line);
        Some(digits(lines as u64, line))
    }

    /// `cat file`, `< file` and `cat <<EOF`.
    fn file_text(&mut self, inner: &str, line: u64) -> Option<Text> {
        let rest = inner.strip_prefix("cat ").or_else(|| inner.strip_prefix('<'))?.trim();
        if let Some(document) = rest.strip_prefix("<<") {
            let (end, body) = document.trim_start_matches('-').split_once('\n')?;
            let plain = end.trim_start().starts_with(['\'', '"', '\\']);
            let end = end.trim().trim_matches(['\'', '"', '\\']);
            let lines = body.lines().take_while(|line| line.trim() != end);
            let mut made: Text = vec![];
            for (number, content) in (line + 1..).zip(lines) {
                if !made.is_empty() {
                    made.push(('\n', number - 1));
                }
                if !plain && content.contains(['$', '`']) {
                    made.extend(self.in_document(content.trim_end_matches('\\'), number));
                } else {
                    let content = if plain { content } else { content.trim_end_matches('\\') };
                    made.extend(content.chars().map(|letter| (letter, number)));
                }
                if self.script.fault.is_some() {
                    return None;
                }
            }
            return Some(made);
        }
        let is_path = !rest.is_empty() && !rest.contains([' ', '|', ';', '$', '<', '>', '`']);
        let (text, first) = self.known_file(rest.trim_matches('"')).filter(|_| is_path)?;
        self.spend(text.len(), line);
        let lines = (first + 1..).zip(text.trim_end().split_inclusive('\n'));
        Some(lines.flat_map(|(at, line)| line.chars().map(move |c| (c, at))).collect())
    }

    /// A text's words, as a command has them.
    fn words_of(&mut self, text: &str, line: u64, depth: u32) -> Vec<Word> {
        let letters: Vec<char> = text.chars().chain([')']).collect();
        if depth > 2 || self.depth > 8 {
            return vec![];
        }
        let script = std::mem::take(&mut self.script);
        let depth = self.depth + 1;
        let mut reader =
            Reader { letters: &letters, lines: &[], at: 0, line, script, frames: vec![], depth };
        let list = reader.list();
        self.script = reader.script;
        let word = |text: Text| (text.into_iter().map(|(letter, _)| letter).collect(), line);
        list.into_iter().map(word).collect()
    }

    fn computed(&mut self, text: &Text, line: u64) -> Option<Text> {
        let expression: String = text.iter().map(|(c, _)| *c).collect();
        let value = self.arithmetic(&expression, line)?;
        Some(value.to_string().chars().map(|c| (c, line)).collect())
    }

    /// The element of a list by its place, or of a list of pairs by its key: `${A[1]}`, `${A[$i]}`,
    /// `${A[key]}`.
    fn element(&mut self, name: &str, place: &str) -> Option<Text> {
        let place = place.trim_matches(['"', '\'']);
        let variable = place.strip_prefix('$').map(|it| it.trim_matches(['{', '}']));
        let key = match variable {
            Some(variable) => {
                let value = self.script.variables.get(variable)?.first()?;
                value.iter().take(256).map(|(letter, _)| *letter).collect()
            }
            None => place.to_owned(),
        };
        let elements = self.script.variables.get(name)?;
        if let Ok(place) = key.parse::<usize>() {
            return elements.get(place).cloned();
        }
        let cost = elements.len().min(MAX_PAIRS).saturating_mul(1 + key.len() / 8);
        let found = entry(elements, &key);
        self.spend(cost, self.line);
        found
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
        if let Some(place) = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return self.element(name, place);
        }
        let elements = self.script.variables.get(name)?;
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

/// Pairs of a list that are looked at.
const MAX_PAIRS: usize = 1_024;

/// The value of a key in a list of pairs, the last one that has it: `([tp]=2 [pp]=4)`.
fn entry(elements: &[Text], key: &str) -> Option<Text> {
    let is_quote = |letter: char| matches!(letter, '"' | '\'');
    elements.iter().rev().take(MAX_PAIRS).find_map(|element| {
        let mut letters = element.iter().map(|(letter, _)| *letter).enumerate().peekable();
        letters.next_if(|(_, letter)| *letter == '[')?;
        letters.next_if(|(_, letter)| is_quote(*letter));
        for own in key.chars() {
            letters.next_if(|(_, letter)| *letter == own)?;
        }
        letters.next_if(|(_, letter)| is_quote(*letter));
        letters.next_if(|(_, letter)| *letter == ']')?;
        let (equals, _) = letters.next_if(|(_, letter)| *letter == '=')?;
        element.get(equals + 1..).map(<[_]>::to_vec)
    })
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
