//! The arguments of a launch script: as much of the shell as such scripts are written in.
//!
//! Variables, arrays, quotes, continued lines, comments, `${VAR:-default}` and `$((..))` are
//! evaluated in order. Nothing is run: a command's output is unknown, and of conditions and loops
//! every line is read once. Where a word stood is kept, through variables, for messages. Commands
//! in strings, here-documents and files are read where a shell would run them, and what starts a
//! command ([`wrapper`]) is told apart from it; what that says of the machine is the [`job`]'s.
//!
//! The reader is our own. A grammar that exists (`brush-parser`, the one of bash's words under a
//! licence that fits) makes a tree alone: every expansion with its lines, branch and loop would
//! stay ours. Alone it is nearly three times as large in WASM as all of this, runs out of stack
//! where brackets are nested deep, and takes exponential time on open ones. `yash-syntax` is under
//! the GPL, `conch-parser` knows no arrays, and `tree-sitter-bash` is C.

mod arithmetic;
mod test;
mod word;
mod frame;
mod wrapper;
mod job;
mod script;
mod reader;
mod branch;
mod expand;
mod input;
mod manifest;
mod substitute;
mod within;
mod written;
mod launcher;

pub(crate) use manifest::is_manifest;

use std::rc::Rc;

use model::design::KnobId;

use script::{Command, Script};
use word::{Text, Word};

use crate::arguments::{Argument, of_words, spelled};
use crate::beside;
use crate::dialects;
use crate::draft::Draft;
use crate::files::is_file;
use crate::flags;
use crate::tree;

/// Commands that are looked at for what they read.
const MAX_TOLD: usize = 1_000;

/// Words of a command by which it is known, at most: containers have many switches before it.
const MAX_FIRST: usize = 64;

/// The script of a text, or of the containers of a manifest.
fn read(text: &str, draft: &Draft) -> Script {
    let script = Script::new(&draft.answers, &draft.files);
    if manifest::is_manifest(text) {
        manifest::read(text, script)
    } else {
        reader::read(text, script)
    }
}

/// The arguments of the command that trains.
pub(crate) fn arguments(text: &str, draft: &mut Draft) -> Vec<Argument> {
    let mut script = read(text, draft);
    if let Some((line, detail)) = script.fault.take() {
        draft.fault(line, "", detail);
        return vec![];
    }
    script.commands.iter_mut().for_each(|it| dialects::spell_out(&mut it.words));
    let Launched { mut words, job, own } = launched(&script, draft);
    let machine = launcher::machine(&script, &mut words, &job, draft);
    if let Some(line) = script.branches {
        let detail = format!(
            "conditions and loops, from line {line} on, are not decided: each of their lines is \
             read once, and those of a case not at all"
        );
        draft.assume(None, detail);
    }
    for (index, (word, line)) in script.commands.iter().filter_map(|c| c.words.first()).enumerate()
    {
        if index < MAX_TOLD && matches!(word.as_str(), "source" | ".") {
            draft.ignore(word, *line, "the file isn't there: what it sets isn't known");
        }
    }
    for (name, value) in &script.defaults {
        draft.assume(None, format!("${name} is not set in the script: its default {value}"));
    }
    environment(&script, draft);
    for (name, line, value) in std::mem::take(&mut script.compared) {
        let purpose = format!("a condition compares ${name}, which nothing in the text sets");
        draft.ask(tree::variable(&name, line, &purpose, Some(value)));
    }
    report_bare_variables(&words, draft);
    crate::launch::foreign::command(&words, draft);
    let mut arguments = machine;
    // What stands on the command line wins over the files that it names.
    for (word, _) in words.iter().filter(|(word, _)| is_file(word)).take(16) {
        let own = script.written.iter().rev().find(|file| written::is_same_file(&file.path, word));
        arguments.extend(match own {
            Some(file) => beside::of_text(&file.path, &file.text, file.line, draft),
            None => beside::of_path(word, draft),
        });
    }
    arguments.extend(of_words(&words));
    // What a program of Python is told stands in its arguments; a script reads variables.
    let is_told = weight(&words) > 2
        && words.iter().take(MAX_FIRST).any(|(word, _)| word.ends_with(".py") || word == "-m");
    if !is_told && arguments.iter().all(|argument| argument.name != "num-layers") {
        let more = dialects::of_variables(&arguments, |name| {
            let given = own.iter().find(|(own, _)| own == name).map(|(_, value)| value);
            let value = given.or_else(|| script.variables.get(name))?.first()?;
            Some((value.iter().map(|(c, _)| *c).collect(), value.first()?.1))
        });
        arguments.extend(more);
    }
    arguments
}

/// The words of the last command that is one of these.
pub(crate) fn command(text: &str, draft: &mut Draft, is: &dyn Fn(&str) -> bool) -> Vec<Word> {
    let mut script = read(text, draft);
    if let Some((line, detail)) = script.fault.take() {
        draft.fault(line, "", detail);
        return vec![];
    }
    let joined = |words: &Vec<Word>| {
        let few: Vec<&str> = words.iter().take(MAX_FIRST).map(|(word, _)| word.as_str()).collect();
        is(&few.join(" "))
    };
    let found = script.commands.iter().rev().find(|command| joined(&command.words));
    found.map(|command| command.words.clone()).unwrap_or_default()
}

/// Variables that change how a run runs without being an argument.
const BLOCKING: [&str; 2] = ["CUDA_LAUNCH_BLOCKING", "ASCEND_LAUNCH_BLOCKING"];

fn environment(script: &Script, draft: &mut Draft) {
    for name in BLOCKING {
        let value = script.variables.get(name).and_then(|elements| elements.first());
        if let Some(&[('1', line)]) = value.map(Vec::as_slice) {
            draft.set(KnobId::launch_blocking, "true", name, line);
        }
    }
}

/// Words that are a variable's name because nothing set it: what they hold isn't read.
fn report_bare_variables(words: &[Word], draft: &mut Draft) {
    let mut behind_argument = false;
    for (word, line) in words {
        if word.starts_with("--") {
            behind_argument = true;
        } else {
            // Behind an argument it is its value, and the argument says so where it matters.
            if word.starts_with("${") && !behind_argument {
                draft.unknown(word, *line, None);
            }
            behind_argument = false;
        }
    }
}

/// Command that starts the training.
struct Launched {
    words: Vec<Word>,
    job: Rc<job::Job>,
    /// Variables that are set for it alone.
    own: Vec<(String, Vec<Text>)>,
}

/// The command with most arguments that set something.
fn launched(script: &Script, draft: &mut Draft) -> Launched {
    let begins_bare =
        |command: &&Command| command.words.first().is_some_and(|word| is_argument(&word.0));
    let bare = script.commands.iter().filter(begins_bare).flat_map(|command| &command.words);
    let bare: Vec<Word> = bare.cloned().collect();
    let commands = script.commands.iter().filter(|command| !begins_bare(command));
    let best = commands.map(|own| (weight(&own.words), own)).max_by_key(|(weight, _)| *weight);
    match best {
        Some((most, best)) if most > weight(&bare) => {
            let best = first_run(script, most, best, draft);
            let others = script.commands.iter().filter(|other| !std::ptr::eq(*other, best));
            for other in others.filter(|other| weight(&other.words) > 0) {
                if let Some((word, line)) = other.words.first() {
                    draft.ignore(
                        word,
                        *line,
                        "another command; the one with most arguments counts",
                    );
                }
            }
            let Command { words, job, own } = best;
            Launched { words: words.clone(), job: Rc::clone(job), own: own.clone() }
        }
        _ => {
            let words = if weight(&bare) > 0 { bare } else { from_variables(script, draft) };
            let mut all = script.commands.iter().rev().map(|command| &command.own);
            let own = all.find(|own| !own.is_empty()).cloned().unwrap_or_default();
            Launched { words, job: Rc::clone(&script.job), own }
        }
    }
}

/// First run of a program that a loop or a list of experiments starts repeatedly, if it has at
/// least half as many arguments as the run with most.
fn first_run<'a>(
    script: &'a Script,
    most: usize,
    best: &'a Command,
    draft: &mut Draft,
) -> &'a Command {
    let place = |command: &Command| command.words.first().map(|(_, line)| *line);
    let name = program(&best.words);
    let is_run = |own: &&Command| {
        let is_same = match name {
            Some(name) => program(&own.words) == Some(name),
            None => place(own) == place(best),
        };
        is_same && (2 * weight(&own.words) >= most || !own.own.is_empty())
    };
    let first = script.commands.iter().find(is_run).unwrap_or(best);
    let is_other = |own: &&Command| own.words != first.words || own.own != first.own;
    if script.commands.iter().filter(is_run).any(|own| is_other(&own)) {
        let line = place(first).unwrap_or_default();
        let detail =
            format!("the text starts several runs, one after another: that of line {line} is read");
        draft.assume(None, detail);
    }
    first
}

/// The program or script that a command starts.
fn program(words: &[Word]) -> Option<&str> {
    let mut words = words.iter().take(MAX_FIRST).map(|(word, _)| word.as_str());
    let is_program = |word: &&str| [".py", ".sh"].iter().any(|end| word.ends_with(end));
    words.find(is_program).map(wrapper::base)
}

/// A piece of a script that only sets variables: the arguments in all of them.
fn from_variables(script: &Script, draft: &mut Draft) -> Vec<Word> {
    let elements = script.order.iter().filter_map(|name| script.variables.get(name)).flatten();
    let words: Vec<Word> = elements.flat_map(|text| word::split(text)).collect();
    let first = words.iter().position(|(word, _)| is_argument(word));
    let Some(first) = first else { return vec![] };
    draft.assume(None, "no command starts the training: the arguments in all variables are read");
    words.into_iter().skip(first).collect()
}

fn is_argument(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(path, _)| path.contains('.') && !path.starts_with(['/', '-', '.']))
        || word
            .strip_prefix("--")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Number of words that are arguments and set something.
fn weight(words: &[Word]) -> usize {
    // The arguments of what starts processes count less than those of the training.
    let names = words.iter().filter(|(word, _)| is_argument(word));
    names.filter(|(word, _)| !word.starts_with("--") || sets_something(word)).count()
}

#[cfg(test)]
mod tests;

/// Whether a word such as `--num-layers` or `--seq-length=4096` sets anything, in anyone's words.
fn sets_something(word: &str) -> bool {
    let name = spelled(word.split_once('=').map_or(word, |(name, _)| name));
    flags::sets_something(&name) || dialects::is_word(&name)
}
