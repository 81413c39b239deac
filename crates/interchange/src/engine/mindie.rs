//! `MindIE`'s service, whose configuration is JSON.

use crate::arguments::Argument;

/// `"key": value` of `MindIE`'s configuration, whole or in part.
pub(super) fn arguments(text: &str) -> Vec<Argument> {
    let mut made = vec![];
    for (line, content) in (1..).zip(text.lines()) {
        let mut rest = content;
        while let Some((_, behind)) = rest.split_once('"') {
            let Some((key, value)) = behind.split_once('"') else { break };
            rest = value;
            let Some(value) = value.trim_start().strip_prefix(':') else { continue };
            let word: String = value
                .trim_start()
                .trim_start_matches('"')
                .chars()
                .take_while(|c| !matches!(c, ',' | '"' | '}' | ']' | '{' | '['))
                .collect();
            let word = word.trim();
            if !word.is_empty() {
                let name = hyphened(key);
                made.push(Argument { name, values: vec![word.to_owned()], line });
            }
        }
    }
    made
}

/// `maxBatchSize` and `moe_ep` as `max-batch-size` and `moe-ep`.
fn hyphened(key: &str) -> String {
    let mut made = String::new();
    for letter in key.chars() {
        if letter.is_ascii_uppercase() && !made.is_empty() {
            made.push('-');
        }
        made.push(if letter == '_' { '-' } else { letter.to_ascii_lowercase() });
    }
    made
}
