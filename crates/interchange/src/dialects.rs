//! What other frameworks call the arguments of Megatron-LM: each a table, found by what stands in a
//! text.
//!
//! An argument's name has its path, `model.num-layers`. A row of the dialect is looked for by the
//! longest end of the path; where there is none, the last word is taken for an argument of
//! Megatron's, unless the dialect has sections that speak of something else.

mod words;

mod command_line;
mod layout;
mod maxtext;
mod megatron_core;
mod mindspeed;
mod reinforcement;
mod table;
mod together;
mod torchtitan;
mod variables;

use crate::arguments::Argument;
use crate::draft::{Draft, UNTOLD};

pub(crate) use command_line::spell_out;
pub(crate) use layout::of_lists as layout_of_lists;
pub(crate) use variables::of_variables;

/// What a framework's key is in Megatron's words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    /// The same value under this name.
    Argument(&'static str),
    /// An argument with a value for each of theirs; others are told as they are.
    Choice(&'static [(&'static str, &'static str, &'static str)]),
    /// A switch that is set where theirs is false.
    Unless(&'static str),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// A framework's own words.
pub(crate) struct Dialect {
    /// What people call it.
    pub(crate) title: &'static str,
    /// What stands in its texts: all of one group.
    pub(crate) markers: &'static [&'static [&'static str]],
    /// Does the last word of a path without a row mean something else?
    pub(crate) strict: bool,
    /// Ends of paths, and what they are.
    pub(crate) rows: &'static [(&'static str, To)],
    /// What it does without being told.
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
        table::DIALECTS,
        megatron_core::DIALECTS,
    ];
    tables.into_iter().flatten()
}

/// The dialect of a text.
fn detect(text: &str) -> Option<&'static Dialect> {
    let has = |group: &&[&str]| group.iter().all(|marker| text.contains(marker));
    // A script that writes DeepSpeed's file is none.
    let is_json = text.trim_start().starts_with('{');
    all().find(|dialect| {
        (is_json || dialect.title != table::DEEPSPEED) && dialect.markers.iter().any(&has)
    })
}

/// What the dialect of a text is called.
pub(crate) fn title(text: &str) -> Option<&'static str> {
    detect(text).map(|dialect| dialect.title)
}

/// Is a text in the words of a framework that runs on Ascend alone?
pub(crate) fn is_on_ascend(text: &str) -> bool {
    let title = title(text);
    mindspeed::DIALECTS.iter().any(|dialect| Some(dialect.title) == title)
}

/// Does a framework shard as PyTorch's FSDP does?
pub(crate) fn is_fsdp(title: &str) -> bool {
    [torchtitan::TITLE, maxtext::TITLE, maxtext::LEVANTER, table::LLM_FOUNDRY].contains(&title)
        || reinforcement::SHARDED.iter().any(|sharded| sharded.title == title)
}

/// Does a framework keep settings in recipes, of which a text says only what differs?
pub(crate) fn has_recipes(title: &str) -> bool {
    title == megatron_core::BRIDGE
}

/// Is a framework torchtitan?
pub(crate) fn is_torchtitan(title: &str) -> bool {
    title == torchtitan::TITLE
}

/// The arguments in Megatron's words.
pub(crate) fn translate(text: &str, arguments: Vec<Argument>, draft: &mut Draft) -> Vec<Argument> {
    let dialect = detect(text);
    let arguments = reinforcement::together(dialect, arguments, draft);
    let arguments = together::together(dialect, arguments, draft);
    let sharded = dialect.and_then(|dialect| reinforcement::sharded(dialect.title, &arguments));
    let mut made: Vec<Argument> = vec![];
    let mut off: Vec<&str> = vec![];
    for mut argument in arguments {
        let pattern = argument.values.first().and_then(|value| layout::plain(value));
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
            made.push(Argument { name: (*name).to_owned(), values, line: UNTOLD });
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
        if is_apart {
            return draft.ignore(&name, line, "speaks of something else than a step of training");
        }
        return made.push(Argument { name: last, values, line });
    };
    let first = values.first().map_or("", String::as_str);
    match to {
        To::Argument(theirs) => made.push(Argument { name: theirs.to_owned(), values, line }),
        To::Choice(rows) => match rows.iter().find(|row| row.0.eq_ignore_ascii_case(first)) {
            Some((_, "", reason)) => {
                // What is told to be off isn't what goes without being told.
                if *reason != words::UNTOLD {
                    off.extend(rows.iter().map(|row| row.1));
                }
                draft.ignore(&name, line, *reason);
            }
            Some((_, theirs, value)) => {
                let values = vec![(*value).to_owned()];
                made.push(Argument { name: (*theirs).to_owned(), values, line });
            }
            None => draft.unknown(&format!("{name}: {first}"), line, None),
        },
        To::Unless(theirs) => {
            let values = vec![is_off(first).to_string()];
            made.push(Argument { name: theirs.to_owned(), values, line });
        }
        To::Nothing(reason) => draft.ignore(&name, line, reason),
    }
}

/// Does a word switch something off?
fn is_off(word: &str) -> bool {
    ["false", "0", "no"].iter().any(|off| off.eq_ignore_ascii_case(word))
}

/// The dialect that people call so.
pub(crate) fn named(title: &str) -> Option<&'static Dialect> {
    all().find(|dialect| dialect.title == title)
}

/// The row with the longest end of a path.
fn row(dialect: &Dialect, path: &str) -> Option<To> {
    let mut end = path;
    loop {
        if let Some((_, to)) = dialect.rows.iter().find(|(name, _)| *name == end) {
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
            for (path, to) in dialect.rows {
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
