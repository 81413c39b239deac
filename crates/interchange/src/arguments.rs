//! Command-line arguments as a shell script or a YAML file gives them.

/// One argument with what follows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Argument {
    /// Its name without the dashes in front, and with `-` for `_`.
    pub(crate) name: String,
    /// The words behind it.
    pub(crate) values: Vec<String>,
    /// Line of the text, from 1.
    pub(crate) line: u64,
}

/// A name as the tables spell it: `--num_layers` is `num-layers`.
pub(crate) fn spelled(name: &str) -> String {
    name.trim_start_matches('-').replace('_', "-")
}

/// Path and value of an override as Hydra has them: `a.b.c=1`, `+a.b=1`; `a=1` among others.
fn overridden(word: &str, among_others: bool) -> Option<(&str, &str)> {
    let (path, value) = word.trim_start_matches(['+', '~']).split_once('=')?;
    let is_path = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let begins = path.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_whole = || among_others && !path.contains(|c: char| c.is_ascii_uppercase());
    let has_section = path.contains('.') && !path.ends_with('.');
    (is_path && begins && (has_section || is_whole())).then_some((path, value))
}

/// Arguments of words. Words before the first argument are the command.
pub(crate) fn of_words(words: &[(String, u64)]) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = vec![];
    let has_overrides = words.iter().filter(|(word, _)| overridden(word, false).is_some()).count();
    for (word, line) in words {
        match word.strip_prefix("--").filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                let (name, value) =
                    rest.split_once('=').map_or((rest, None), |(n, v)| (n, Some(v)));
                let values = value.into_iter().map(str::to_owned).collect();
                arguments.push(Argument { name: spelled(name), values, line: *line });
            }
            None => {
                if let Some((path, value)) = overridden(word, has_overrides > 1) {
                    let values = vec![value.trim_matches(['"', '\'']).to_owned()];
                    arguments.push(Argument { name: spelled(path), values, line: *line });
                } else if let Some(last) = arguments.last_mut() {
                    last.values.push(word.clone());
                }
            }
        }
    }
    arguments
}
