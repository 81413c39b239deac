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

/// Arguments of words. Words before the first argument are the command.
pub(crate) fn of_words(words: &[(String, u64)]) -> Vec<Argument> {
    let mut arguments: Vec<Argument> = vec![];
    for (word, line) in words {
        match word.strip_prefix("--").filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                let (name, value) =
                    rest.split_once('=').map_or((rest, None), |(n, v)| (n, Some(v)));
                let values = value.into_iter().map(str::to_owned).collect();
                arguments.push(Argument { name: spelled(name), values, line: *line });
            }
            None => {
                if let Some(last) = arguments.last_mut() {
                    last.values.push(word.clone());
                }
            }
        }
    }
    arguments
}
