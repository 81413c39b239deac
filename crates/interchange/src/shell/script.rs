//! What has been read of a script: its variables, commands, functions and files.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::job::Job;
use super::word::{Text, Word};
use crate::draft::Answers;
use crate::files::Files;

/// A function's body.
pub(super) struct Function {
    pub(super) letters: Vec<char>,
    pub(super) lines: Vec<u64>,
    /// The line that it begins on.
    pub(super) line: u64,
}

/// A file that the script writes.
pub(super) struct Written {
    /// Its path, as the script says it.
    pub(super) path: String,
    /// Its content.
    pub(super) text: String,
    /// The line of the script that stands before its first.
    pub(super) line: u64,
}

/// A command, and what is known of the machine that it runs on.
pub(super) struct Command {
    pub(super) words: Vec<Word>,
    pub(super) job: Rc<Job>,
    /// Variables that are set for it alone: `TP=2 bash run.sh`.
    pub(super) own: Vec<(String, Vec<Text>)>,
}

/// State of the script, as far as it has been read.
#[derive(Default)]
pub(super) struct Script {
    /// Each variable's elements; one where it is no array.
    pub(super) variables: BTreeMap<String, Vec<Text>>,
    /// In the order in which they were first set.
    pub(super) order: Vec<String>,
    pub(super) commands: Vec<Command>,
    /// Variables that are set for the command at hand.
    pub(super) own: Vec<(String, Vec<Text>)>,
    /// Variables whose default was taken, with it.
    pub(super) defaults: BTreeMap<String, String>,
    /// The line of the first condition or loop.
    pub(super) branches: Option<u64>,
    pub(super) expanded: usize,
    /// Whether a condition says that what comes isn't run.
    pub(super) skips: bool,
    /// Commands that loops repeated.
    pub(super) repeated: u32,
    /// Functions, and how many calls there were.
    pub(super) functions: BTreeMap<String, Rc<Function>>,
    pub(super) called: u32,
    /// Machine as far as it is known here, and whether a script is handed in with it.
    pub(super) job: Rc<Job>,
    pub(super) submits: bool,
    /// Variables that are answered: nothing that follows from the text is put over them.
    pub(super) answered: BTreeSet<String>,
    /// Variables that the conditions compare, and that nothing sets, with line and first value.
    pub(super) compared: Vec<(String, u64, String)>,
    /// Files that it may source, and how many it did.
    pub(super) files: Files,
    pub(super) sourced: u32,
    /// Files that it writes, and where the command at hand writes to.
    pub(super) written: Vec<Written>,
    pub(super) output: Option<String>,
    pub(super) appends: bool,
    /// Input of the command at hand; and whether the next one reads what it writes.
    pub(super) input: Option<Text>,
    pub(super) is_piped: bool,
    /// Rest of the line behind the beginning of its here-document.
    pub(super) behind: String,
    pub(super) fault: Option<(u64, String)>,
}

impl Script {
    /// A script before its first line: what whoever runs it adds, and the files beside it.
    pub(super) fn new(answers: &Answers, files: &Files) -> Self {
        let mut script = Self { files: files.clone(), ..Self::default() };
        let places = (1_u32..).map(|place| place.to_string());
        let arguments = places.zip(answers.arguments.iter().cloned());
        let variables = answers.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
        for (name, value) in variables.chain(arguments) {
            let marks: Text = value.chars().map(|c| (c, 0)).collect();
            script.assign(name, vec![marks], false);
        }
        // What is answered isn't among the text's own arguments.
        script.order.clear();
        script.answered = answers.variables.keys().cloned().collect();
        script
    }

    pub(super) fn assign(&mut self, name: String, value: Vec<Text>, append: bool) {
        if self.skips {
            return;
        }
        if !self.variables.contains_key(&name) {
            self.order.push(name.clone());
        }
        let old = self.variables.entry(name).or_default();
        match (append, value.as_slice()) {
            (false, _) => *old = value,
            // `A+=" more"` lengthens a string.
            (true, [more]) if old.len() == 1 => {
                if let Some(first) = old.first_mut() {
                    first.extend(more);
                }
            }
            (true, _) => old.extend(value),
        }
    }

    /// `NAME+=(..)`.
    pub(super) fn lengthen(&mut self, name: String, value: Vec<Text>) {
        if !self.skips {
            match self.variables.get_mut(&name) {
                Some(elements) => elements.extend(value),
                None => self.assign(name, value, false),
            }
        }
    }

    pub(super) fn fail(&mut self, line: u64, detail: impl Into<String>) {
        if self.fault.is_none() {
            self.fault = Some((line, detail.into()));
        }
    }
}
