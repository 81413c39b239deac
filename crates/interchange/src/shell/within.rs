//! What a script runs within itself: functions, files beside it, and commands in strings and
//! here-documents.

use std::rc::Rc;

use super::job::{self, Job};
use super::reader::Reader;
use super::script::Command;
use super::word::{MAX_EXPANDED, Strings, Text, Word};
use super::wrapper::{self, Found, Then};

/// Functions that call each other, at most.
const MAX_CALLS: u32 = 400;

/// Files and strings that are run, at most.
const MAX_SOURCED: u32 = 1_000;

/// Scripts within each other, at most.
const MAX_DEPTH: u32 = 8;

/// Commands that start each other, at most: `sudo env A=B srun timeout 9 bash -c ..`.
const MAX_WRAPPERS: u32 = 12;

/// Whether a command is one of the shells.
fn is_shell(word: &str) -> bool {
    matches!(wrapper::base(word), "bash" | "sh" | "zsh" | "dash" | "ksh")
}

fn marks((word, line): &Word) -> Text {
    word.chars().map(|letter| (letter, *line)).collect()
}

impl Reader<'_> {
    /// Reads a script from its first letter to its last.
    fn run(&mut self, letters: &[char], lines: &[u64], line: u64) {
        let script = std::mem::take(&mut self.script);
        let (frames, depth) = (vec![], self.depth + 1);
        let mut inner = Reader { letters, lines, at: 0, line, script, frames, depth };
        while inner.at < letters.len() && inner.script.fault.is_none() {
            inner.command();
        }
        self.script = inner.script;
        self.script.skips = false;
    }

    /// Whether another script may be read within this one. It is charged as if it were written out.
    fn enters(&mut self, length: usize, line: u64) -> bool {
        self.script.sourced = self.script.sourced.saturating_add(1);
        self.spend(length, line);
        self.depth <= MAX_DEPTH && self.script.sourced <= MAX_SOURCED && self.script.fault.is_none()
    }

    /// Runs a function's body with these words as its arguments.
    pub(super) fn call(&mut self, words: &[Word]) -> bool {
        let Some((name, _)) = words.first() else { return false };
        let Some(body) = self.script.functions.get(name).map(Rc::clone) else { return false };
        self.script.called += 1;
        self.spend(body.letters.len(), body.line);
        if self.depth > MAX_DEPTH || self.script.called > MAX_CALLS || self.script.fault.is_some() {
            return true;
        }
        let outer = self.arguments();
        self.forget();
        self.give(words.get(1..).unwrap_or_default());
        self.run(&body.letters, &body.lines, body.line);
        self.forget();
        for (place, value) in (1_u32..).zip(outer) {
            self.script.assign(place.to_string(), vec![value], false);
        }
        true
    }

    /// Unsets the positional arguments.
    pub(super) fn forget(&mut self) {
        for place in 1..=self.arguments().len() {
            self.script.variables.remove(&place.to_string());
        }
    }

    /// Sets the positional arguments.
    fn give(&mut self, words: &[Word]) {
        for (place, word) in (1_u32..).zip(words) {
            self.script.assign(place.to_string(), vec![marks(word)], false);
        }
    }

    /// Reads a file that is sourced, or run by a shell, where it is beside the script or written by
    /// it.
    pub(super) fn source(&mut self, words: &[Word]) -> bool {
        let Some((first, _)) = words.first() else { return false };
        let runs = is_shell(first) || matches!(first.as_str(), "source" | ".");
        // A scheduler's script is run by its own first line.
        let is_script =
            [".sh", ".slurm", ".sbatch", ".bash"].iter().any(|end| first.ends_with(end));
        let place = if runs { after_options(words) } else { is_script.then_some(0) };
        let Some(rest) = place.and_then(|place| words.get(place..)) else { return false };
        let Some((path, _)) = rest.first() else { return false };
        let Some((text, base)) = self.known_file(path) else { return false };
        if !self.enters(text.len(), base) {
            return true;
        }
        let outer = self.arguments();
        self.give(rest.get(1..).unwrap_or_default());
        let job = Rc::clone(&self.script.job);
        self.directives(&text, base);
        let letters: Vec<char> = text.chars().collect();
        self.run(&letters, &[], base + 1);
        self.script.job = job;
        for (place, value) in (1_u32..).zip(outer) {
            self.script.assign(place.to_string(), vec![value], false);
        }
        true
    }

    /// Takes the job from the head of a script, and sets the variables that its scheduler sets.
    pub(super) fn directives(&mut self, text: &str, base: u64) {
        let mut job = Job::directives(text, base);
        if self.script.submits {
            // What a command line says wins over the script that it hands in.
            job.overlay(&self.script.job);
        } else if job.is_empty() || !self.script.job.is_empty() {
            // To a shell they are comments.
            return;
        }
        self.script.submits = false;
        self.set_variables(&job);
        self.script.job = Rc::new(job);
    }

    /// Sets the variables that a scheduler sets, but for those that are answered.
    fn set_variables(&mut self, job: &Job) {
        for (name, value, line) in job.variables() {
            if !self.script.answered.contains(name) {
                let marks = value.chars().map(|letter| (letter, line)).collect();
                self.script.variables.insert(name.to_owned(), vec![marks]);
            }
        }
    }

    /// Runs the functions that nothing called: a file may be nothing but functions.
    pub(super) fn call_the_rest(&mut self) {
        if self.script.called == 0 && self.script.commands.len() < 4 {
            let names: Vec<String> = self.script.functions.keys().cloned().collect();
            names.into_iter().take(64).for_each(|name| {
                self.call(&[(name, 0)]);
            });
        }
    }

    /// Keeps a command, without what only starts it; one in a string is read as a script. What
    /// starts it is told of the machine, and sets variables, for this command alone.
    pub(super) fn started(&mut self, words: Vec<Word>, strings: &[(usize, Text)]) {
        let Some(found) = wrapper::find(&words) else { return self.program(words, strings) };
        let outer = Rc::clone(&self.script.job);
        let own = |name: &str| self.script.variables.get(name);
        let lengths = job::VARIABLES.iter().filter_map(|name| own(name)).flatten().map(Vec::len);
        let (length, line) = (lengths.sum(), found.line);
        let variables = job::VARIABLES.map(|name| (name, own(name).cloned()));
        self.spend(length, line);
        if self.script.fault.is_some() {
            return;
        }
        self.start(found, &words, strings);
        for (name, value) in variables {
            match value {
                Some(value) => self.script.variables.insert(name.to_owned(), value),
                None => self.script.variables.remove(name),
            };
        }
        self.script.submits = false;
        self.script.job = outer;
    }

    fn start(&mut self, first: Found<'_>, words: &[Word], strings: &[(usize, Text)]) {
        let (mut next, mut at) = (Some(first), 0);
        for _ in 0..MAX_WRAPPERS {
            let Some(found) = next else { break };
            self.wrapped(&found);
            at += found.command;
            if let Some(word) = found.wrap {
                self.read_text(&marks(&word), &[]);
                return;
            }
            let inner = words.get(at..).unwrap_or_default();
            match found.then {
                Then::One if inner.len() > 1 => {}
                Then::Text | Then::One => return self.typed(inner, at, strings),
                Then::Command => {}
                Then::Image(image) => {
                    if let Some(inner) = wrapper::of_image(&found, image, inner) {
                        return self.program(inner, &[]);
                    }
                }
            }
            next = wrapper::find(inner);
        }
        let Some(inner) = words.get(at..).filter(|inner| !inner.is_empty()) else {
            return self.document(true);
        };
        if !self.call(inner) && !self.source(inner) {
            let shift =
                |(place, text): &(usize, Text)| Some((place.checked_sub(at)?, text.clone()));
            let strings: Strings = strings.iter().filter_map(shift).collect();
            self.program(inner.to_vec(), &strings);
        }
    }

    /// Words that a shell reads as one text, without the keys that end it.
    fn typed(&mut self, words: &[Word], first: usize, strings: &[(usize, Text)]) {
        let is_key = |(word, _): &&Word| matches!(word.as_str(), "Enter" | "C-m");
        let keys = words.iter().rev().take_while(is_key).count();
        let words = words.get(..words.len() - keys).unwrap_or_default();
        if words.is_empty() {
            self.document(true);
        } else {
            self.read_text(&joined(words, first, strings), &[]);
        }
    }

    /// A command that nothing else starts: a shell with a string, or a program.
    fn program(&mut self, words: Vec<Word>, strings: &[(usize, Text)]) {
        let Some((first, _)) = words.first() else { return };
        let is_done = if is_shell(first) {
            let Some(place) = after_options(&words) else { return self.document(true) };
            self.string(&words, place, strings)
        } else {
            let rest = words.get(1..).unwrap_or_default();
            first == "eval" && self.read_text(&joined(rest, 1, strings), &[])
        };
        if !is_done {
            let job = Rc::clone(&self.script.job);
            let own = std::mem::take(&mut self.script.own);
            self.script.commands.push(Command { words, job, own });
        }
    }

    /// `bash -lc "cmd" NAME ARGUMENT ..`, with the string at a place.
    fn string(&mut self, words: &[Word], place: usize, strings: &[(usize, Text)]) -> bool {
        let mut options = words.get(1..place).unwrap_or_default().iter();
        let is_string = |(word, _): &Word| {
            word.starts_with('-') && !word.starts_with("--") && word.contains('c')
        };
        if !options.any(is_string) {
            return false;
        }
        let mut text = joined(words.get(place..=place).unwrap_or_default(), place, strings);
        let given = words.get(place + 1..).unwrap_or_default();
        let is_place = |letter: char| letter.is_ascii_digit() || matches!(letter, '@' | '*' | '{');
        let mut pairs = text.windows(2);
        let reads = pairs.any(|pair| matches!(pair, [('$', _), (letter, _)] if is_place(*letter)));
        if reads || given.is_empty() {
            return self.read_text(&text, given.get(1..).unwrap_or_default());
        }
        // `"cmd ${ARGS[@]}"` is several words, of which a shell takes the first: as it is meant.
        text.push((' ', text.last().map_or(0, |(_, line)| *line)));
        text.extend(joined(given, place + 1, strings));
        self.read_text(&text, &[])
    }

    /// Reads a text as a script. Where it is none that a shell would read, what it did is kept.
    fn read_text(&mut self, text: &Text, given: &[Word]) -> bool {
        let Some((_, line)) = text.first().copied() else { return false };
        if !self.enters(text.len(), line) {
            return false;
        }
        let (letters, lines): (Vec<char>, Vec<u64>) = text.iter().copied().unzip();
        let outer = if given.is_empty() { vec![] } else { self.arguments() };
        self.give(given);
        let before = self.script.commands.len();
        self.run(&letters, &lines, line);
        for (place, value) in (1_u32..).zip(outer) {
            self.script.assign(place.to_string(), vec![value], false);
        }
        // A quote that is meant for someone else is no reason to refuse the whole.
        if self.script.expanded <= MAX_EXPANDED && self.script.fault.take().is_some() {
            self.script.commands.truncate(before);
            return false;
        }
        true
    }

    /// The command that reads what the one before it writes: `cat <<EOF | sbatch`.
    pub(super) fn read_behind(&mut self, next: &str) {
        let line = self.line;
        let text: Text = next.chars().map(|letter| (letter, line)).collect();
        if self.depth <= MAX_DEPTH {
            self.read_text(&text, &[]);
        }
    }

    /// A here-document that a shell or a scheduler reads as its script.
    fn document(&mut self, is_read: bool) {
        let Some(text) = self.script.input.take().filter(|_| is_read) else { return };
        let line = text.first().map_or(0, |(_, line)| *line);
        let letters: String = text.iter().map(|(letter, _)| *letter).collect();
        let job = Rc::clone(&self.script.job);
        if self.depth <= MAX_DEPTH {
            self.directives(&letters, line.saturating_sub(1));
            self.read_text(&text, &[]);
        }
        self.script.job = job;
    }

    /// Takes what a command that starts others says of the machine.
    fn wrapped(&mut self, found: &Found<'_>) {
        for (name, value, line) in &found.assigned {
            let marks = value.chars().map(|letter| (letter, *line)).collect();
            self.script.assign((*name).to_owned(), vec![marks], false);
        }
        let mut job = (*self.script.job).clone();
        job.take(found, &mut |path| self.script.host_file(path));
        self.script.submits |= found.name == "sbatch";
        if matches!(found.name, "srun" | "salloc") {
            self.set_variables(&job);
        }
        self.script.job = Rc::new(job);
    }
}

/// The place of the first word behind a shell's options; `-o` has a value.
fn after_options(words: &[Word]) -> Option<usize> {
    let mut place = 1;
    while let Some((word, _)) = words.get(place) {
        if !word.starts_with(['-', '+']) {
            return Some(place);
        }
        let has_value = word.len() == 2 && word.ends_with(['o', 'O']);
        place += 1 + usize::from(has_value);
        if word == "-s" {
            return None;
        }
    }
    None
}

/// Words as one text, a blank between two; those that hold blanks keep their lines.
fn joined(words: &[Word], first: usize, strings: &[(usize, Text)]) -> Text {
    let mut text: Text = vec![];
    for (place, word) in (first..).zip(words) {
        if !text.is_empty() {
            text.push((' ', word.1));
        }
        match strings.binary_search_by_key(&place, |(own, _)| *own) {
            Ok(found) => text.extend(strings.get(found).map_or(&[][..], |(_, text)| text)),
            Err(_) => text.extend(marks(word)),
        }
    }
    text
}
