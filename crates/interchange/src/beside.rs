//! Files of arguments that a text names: a job's model, what a file extends, what a command is
//! given.

use crate::arguments::Argument;
use crate::draft::Draft;
use crate::files::is_file;
use crate::{dialects, recipe, toml_text, tree, yaml};

/// Files that name each other, at most.
const MAX_DEPTH: u32 = 12;

/// Files that commands name, at most.
const MAX_NAMED: usize = 16;

/// Arguments whose values may be a file's text.
const TEXTS: [&str; 3] = ["deepspeed", "deepspeed-config", "ds-config"];

/// Keys whose values name files that come before the file itself.
const KEYS: [&str; 13] = [
    "model",
    "extends",
    "include",
    "base",
    "config",
    "train",
    "defaults",
    // How a trainer's run is started and sharded.
    "deepspeed",
    "deepspeed-config",
    "deepspeed-config-file",
    "fsdp-config",
    "accelerate-config",
    "config-file",
];

/// The arguments with those of the files that they name before them, so that the file's own win.
pub(crate) fn with_files(own: Vec<Argument>, draft: &mut Draft) -> Vec<Argument> {
    with_files_at(own, draft, 0)
}

fn with_files_at(own: Vec<Argument>, draft: &mut Draft, depth: u32) -> Vec<Argument> {
    let mut before = vec![];
    if depth < MAX_DEPTH {
        for argument in &own {
            let key = argument.name.rsplit('.').next().unwrap_or_default();
            if !KEYS.contains(&key) {
                continue;
            }
            for value in &argument.values {
                let word = value.trim();
                // Hydra's `train: hetero` is `train/hetero.yaml`.
                let path =
                    if is_file(word) { word.to_owned() } else { format!("{key}/{word}.yaml") };
                before.extend(of_file(&path, draft, depth + 1));
            }
        }
    }
    before.extend(own);
    before
}

/// The arguments of a file beside the text; none where there is none.
pub(crate) fn of_path(path: &str, draft: &mut Draft) -> Vec<Argument> {
    of_file(path, draft, 0)
}

fn of_file(path: &str, draft: &mut Draft, depth: u32) -> Vec<Argument> {
    let found = draft.files.find(path).filter(|index| *index > 0);
    // A file counts as many references.
    if found.is_some() && !(0..50).all(|_| draft.follow()) {
        return vec![];
    }
    let Some((text, base)) = found.and_then(|index| draft.files.text(index)) else {
        return vec![];
    };
    of_text_at(path, (&text, base), draft, depth + 1)
}

/// The arguments, with those of files whose text stands in place of their names before them:
/// `--deepspeed '{"zero_optimization": ..}'`.
pub(crate) fn with_texts(own: Vec<Argument>, draft: &mut Draft) -> Vec<Argument> {
    let mut before = vec![];
    for argument in own.iter().filter(|it| TEXTS.contains(&it.name.as_str())) {
        for value in argument.values.iter().filter(|value| value.trim_start().starts_with('{')) {
            let base = argument.line.saturating_sub(1);
            before.extend(of_text(&format!("--{}", argument.name), value, base, draft));
        }
    }
    before.extend(own);
    before
}

/// The arguments of a file's text, behind so many lines.
pub(crate) fn of_text(path: &str, text: &str, base: u64, draft: &mut Draft) -> Vec<Argument> {
    of_text_at(path, (text, base), draft, 1)
}

fn of_text_at(
    path: &str,
    (text, base): (&str, u64),
    draft: &mut Draft,
    depth: u32,
) -> Vec<Argument> {
    let tree = if toml_text::is_toml(text) {
        toml_text::read(text)
    } else if recipe::is_python(text) {
        return vec![];
    } else {
        match yaml::read(text) {
            Ok(tree) => tree,
            Err((line, detail)) => {
                draft.ignore(path, base + line, format!("it isn't read: {detail}"));
                return vec![];
            }
        }
    };
    let mut made = tree::arguments(&tree, draft);
    made.iter_mut().for_each(|argument| argument.line += base);
    let whole = with_files_at(made, draft, depth);
    dialects::of_file(text, whole, draft)
}

/// The arguments of the files that a command names which has none itself: `llamafactory-cli train
/// sft.yaml`.
pub(crate) fn of_commands(text: &str, draft: &mut Draft) -> Vec<Argument> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(str::split_whitespace).filter(|word| is_file(word)).take(MAX_NAMED);
    let mut seen: Vec<&str> = vec![];
    let mut made = vec![];
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
            made.extend(of_path(word, draft));
        }
    }
    made
}
