//! What other frameworks call the arguments of Megatron-LM: each a table, found by what stands in a
//! text.
//!
//! An argument's name has its path, `model.num-layers`. A row of the dialect is looked for by the
//! longest end of the path; where there is none, the last word is taken for an argument of
//! Megatron's, unless the dialect has sections that speak of something else.

mod words;
mod command_line;
mod maxtext;
mod mindspeed;
mod reinforcement;
mod megatron_core;
mod table;
mod torchtitan;
mod trainers;
mod together;
mod sharded;
mod variables;

use crate::arguments::Argument;
use crate::draft::{DEFAULTED, Draft};
use crate::stages;

pub(crate) use command_line::spell_out;
pub(crate) use variables::of_variables;

/// Translation of a framework's key into Megatron's arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    /// Argument of this name with the same value.
    Argument(&'static str),
    /// An argument with a value for each of theirs; others are reported as they are.
    Choice(&'static [(&'static str, &'static str, &'static str)]),
    /// A switch that is set where theirs is false.
    Unless(&'static str),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// The word of a last choice that hands on what none of the others is, to be asked for.
const ANY: &str = "*";

/// A framework's own words.
pub(crate) struct Dialect {
    /// Name that people use for it.
    pub(crate) title: &'static str,
    /// Groups of markers: a text is of the dialect if it has all of one group.
    pub(crate) markers: &'static [&'static [&'static str]],
    /// Whether the last word of a path without a row means something else.
    pub(crate) strict: bool,
    /// Ends of paths, and what they are.
    pub(crate) rows: &'static [(&'static str, To)],
    /// Settings that the framework has by default.
    pub(crate) defaults: &'static [(&'static str, &'static str)],
}

/// Keys of no framework in particular, by their whole paths.
const GENERIC: [(&str, To); 4] = [
    ("precision", To::Choice(words::PRECISION)),
    ("training.precision", To::Choice(words::PRECISION)),
    ("train.precision", To::Choice(words::PRECISION)),
    ("model.precision", To::Choice(words::PRECISION)),
];

/// Every dialect, the most particular first.
fn all() -> impl Iterator<Item = &'static Dialect> {
    let tables = [
        reinforcement::DIALECTS,
        mindspeed::DIALECTS,
        torchtitan::DIALECTS,
        maxtext::DIALECTS,
        trainers::DIALECTS,
        table::DIALECTS,
        megatron_core::DIALECTS,
        trainers::FILES,
    ];
    tables.into_iter().flatten()
}

/// The dialect of a text.
fn detect(text: &str) -> Option<&'static Dialect> {
    // A mark with `!` before it stands in none of its texts.
    let has = |text: &str, group: &[&str]| {
        group.iter().all(|mark| match mark.strip_prefix('!') {
            Some(other) => !text.contains(other),
            None => text.contains(mark),
        })
    };
    // What a comment says of a trainer is of another run.
    let is_code = |line: &&str| !line.trim_start().starts_with('#');
    let code: String = text.split_inclusive('\n').filter(is_code).collect();
    // A script that writes DeepSpeed's file is none.
    let is_json = text.trim_start().starts_with('{');
    all().find(|dialect| {
        let text = if trainers::is_trainer(dialect.title) { code.as_str() } else { text };
        (is_json || dialect.title != trainers::DEEPSPEED)
            && dialect.markers.iter().any(|group| has(text, group))
    })
}

/// Title of a text's dialect.
pub(crate) fn title(text: &str) -> Option<&'static str> {
    detect(text).map(|dialect| dialect.title)
}

/// Whether a text is in the words of a framework that runs on Ascend alone.
pub(crate) fn is_on_ascend(text: &str) -> bool {
    let title = title(text);
    mindspeed::DIALECTS.iter().any(|dialect| Some(dialect.title) == title)
}

/// Whether a framework is one of the trainers around Hugging Face's models.
pub(crate) fn is_trainer(title: &str) -> bool {
    trainers::is_trainer(title) || trainers::is_beside(title)
}

/// Whether a word sets anything of a step in the words of a trainer or of MaxText.
pub(crate) fn is_word(word: &str) -> bool {
    trainers::is_word(word) || maxtext::is_word(word)
}

/// The arguments of a file that another one names, in Megatron's words where it is one that says
/// how a trainer's run is started and sharded. What it leaves to the trainer is left out.
pub(crate) fn of_file(text: &str, arguments: Vec<Argument>, draft: &mut Draft) -> Vec<Argument> {
    let Some(dialect) = detect(text) else { return arguments };
    if !trainers::is_beside(dialect.title) {
        draft.beside = draft.beside.or(Some(dialect.title));
        return arguments;
    }
    let is_open = |argument: &Argument| argument.values.first().is_some_and(|it| it == "auto");
    let (open, given): (Vec<_>, Vec<_>) = arguments.into_iter().partition(is_open);
    for argument in open {
        draft.ignore(&argument.name, argument.line, "auto: the trainer's own arguments say it");
    }
    let mut made = vec![];
    for argument in sharded::together(Some(dialect), given, draft) {
        translate_one(Some(dialect), argument, &mut made, &mut vec![], draft);
    }
    made
}

/// Whether a framework shards as PyTorch's FSDP does.
pub(crate) fn is_fsdp(title: &str) -> bool {
    [torchtitan::TITLE, maxtext::TITLE, maxtext::LEVANTER, table::LLM_FOUNDRY, table::AUTOMODEL]
        .contains(&title)
        || reinforcement::SHARDED.iter().any(|sharded| sharded.title == title)
}

/// Whether a framework keeps settings in recipes, of which a text says only what differs.
pub(crate) fn has_recipes(title: &str) -> bool {
    title == megatron_core::BRIDGE
}

/// Whether a framework is Megatron-DeepSpeed, and not a trainer that DeepSpeed shards.
pub(crate) fn is_megatron_deepspeed(title: &str) -> bool {
    title == megatron_core::MEGATRON_DEEPSPEED
}

/// Whether a framework is torchtitan.
pub(crate) fn is_torchtitan(title: &str) -> bool {
    title == torchtitan::TITLE
}

/// The arguments in Megatron's words.
pub(crate) fn translate(text: &str, arguments: Vec<Argument>, draft: &mut Draft) -> Vec<Argument> {
    let dialect = trainers::more_particular(detect(text), draft.beside.and_then(named));
    let arguments = reinforcement::together(dialect, arguments, draft);
    let arguments = together::together(dialect, arguments, draft);
    let arguments = sharded::together(dialect, arguments, draft);
    let sharded = dialect.and_then(|dialect| reinforcement::sharded(dialect.title, &arguments));
    let mut made: Vec<Argument> = vec![];
    let mut off: Vec<&str> = vec![];
    for mut argument in arguments {
        let pattern = argument.values.first().and_then(|value| stages::plain(value));
        if let Some(pattern) = pattern {
            argument.values = vec![pattern];
        }
        translate_one(dialect, argument, &mut made, &mut off, draft);
    }
    let Some(dialect) = dialect.filter(|_| !made.is_empty()) else { return made };
    draft.title = Some(sharded.map_or(dialect.title, |sharded| sharded.title));
    for (name, value) in sharded.map_or(dialect.defaults, |sharded| sharded.defaults) {
        if made.iter().all(|argument| argument.name != *name) && !off.contains(name) {
            let values = if value.is_empty() { vec![] } else { vec![(*value).to_owned()] };
            made.push(Argument { name: (*name).to_owned(), values, line: DEFAULTED });
        }
    }
    made
}

fn translate_one(
    dialect: Option<&Dialect>,
    argument: Argument,
    made: &mut Vec<Argument>,
    off: &mut Vec<&'static str>,
    draft: &mut Draft,
) {
    let Argument { name, values, line } = argument;
    let last = name.rsplit('.').next().unwrap_or(&name).to_owned();
    let found = dialect.and_then(|dialect| {
        row(dialect, &name).or_else(|| megatron_core::field(dialect.title, &name))
    });
    let generic = || GENERIC.iter().find(|(path, _)| dialect.is_none() && *path == name);
    let is_apart = dialect.is_some_and(|dialect| dialect.strict) && name.contains('.');
    let found = found.or_else(|| generic().map(|(_, to)| *to));
    let found = found.or_else(|| megatron_core::any_field(&last).filter(|_| !is_apart));
    let Some(to) = found else {
        if dialect.is_some_and(|dialect| is_trainer(dialect.title)) && !trainers::is_end(&name) {
            return foreign(&name, line, draft);
        }
        let is_aside = || crate::flags::find(&name).is_none() && trainers::aside(&name).is_some();
        if dialect.is_some_and(|dialect| dialect.title == table::MEGATRON_SWIFT) && is_aside() {
            return foreign(&name, line, draft);
        }
        if is_apart {
            return draft.ignore(&name, line, "speaks of something else than a step of training");
        }
        return made.push(Argument { name: last, values, line });
    };
    // A switch on a command line has no word behind it.
    let first = values.first().map_or("true", String::as_str);
    match to {
        To::Argument(theirs) => made.push(Argument { name: theirs.to_owned(), values, line }),
        To::Choice(rows) => match rows.iter().find(|row| row.0.eq_ignore_ascii_case(first)) {
            Some((_, "", reason)) => {
                // A value that is the default switches nothing off.
                if *reason != words::DEFAULTED {
                    off.extend(rows.iter().map(|row| row.1));
                }
                draft.ignore(&name, line, *reason);
            }
            Some((_, theirs, value)) => {
                let values = vec![(*value).to_owned()];
                made.push(Argument { name: (*theirs).to_owned(), values, line });
            }
            None if matches!(first, "null" | "None" | "~" | "auto") => {
                draft.ignore(&name, line, "it leaves it to the framework");
            }
            None => match rows.last().filter(|row| row.0 == ANY) {
                Some((_, theirs, _)) => {
                    made.push(Argument { name: (*theirs).to_owned(), values, line });
                }
                None => draft.unknown(&format!("{name}: {first}"), line, None),
            },
        },
        To::Unless(theirs) => {
            let values = vec![is_off(first).to_string()];
            made.push(Argument { name: theirs.to_owned(), values, line });
        }
        To::Nothing(reason) => draft.ignore(&name, line, reason),
    }
}

/// A word that a trainer's tables have not: what changes nothing, or what isn't known.
fn foreign(name: &str, line: u64, draft: &mut Draft) {
    match trainers::aside(name) {
        Some(reason) => draft.ignore(name, line, reason),
        None if name.contains('.') => {
            draft.ignore(name, line, "speaks of something else than a step of training");
        }
        None => draft.unknown(&format!("--{name}"), line, None),
    }
}

/// Whether a word switches something off.
fn is_off(word: &str) -> bool {
    ["false", "0", "no"].iter().any(|off| off.eq_ignore_ascii_case(word))
}

/// The dialect that people call so.
pub(crate) fn named(title: &str) -> Option<&'static Dialect> {
    all().find(|dialect| dialect.title == title)
}

/// The row with the longest end of a path.
fn row(dialect: &Dialect, path: &str) -> Option<To> {
    let tables = trainers::tables(dialect);
    let mut end = path;
    loop {
        let mut rows = tables.iter().flat_map(|table| table.iter());
        if let Some((_, to)) = rows.find(|(name, _)| *name == end) {
            return Some(*to);
        }
        match end.split_once('.') {
            Some((_, rest)) => end = rest,
            None => break,
        }
    }
    // Arguments of calls in Python have no section.
    let is_bare = dialect.title == torchtitan::TITLE && !path.contains('.');
    let last = |name: &str| name.rsplit('.').next() == Some(path);
    let found = dialect.rows.iter().find(|(name, _)| is_bare && last(name));
    found.map(|(_, to)| *to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags;

    #[test]
    fn every_row_ends_in_an_argument_that_is_known() {
        for dialect in all() {
            let known =
                |name: &str| assert!(flags::find(name).is_some(), "{}: {name}", dialect.title);
            for (path, to) in trainers::tables(dialect).into_iter().flatten() {
                assert!(!path.contains('_'), "{path}");
                match to {
                    To::Argument(name) | To::Unless(name) => known(name),
                    To::Choice(rows) => {
                        rows.iter().filter(|row| !row.1.is_empty()).for_each(|row| known(row.1));
                    }
                    To::Nothing(_) => {}
                }
            }
            dialect.defaults.iter().for_each(|(name, _)| known(name));
            let mut paths: Vec<&str> = dialect.rows.iter().map(|row| row.0).collect();
            paths.sort_unstable();
            let repeated: Vec<_> = paths.windows(2).filter(|pair| pair[0] == pair[1]).collect();
            assert!(repeated.is_empty(), "{}: {repeated:?}", dialect.title);
        }
    }
}
