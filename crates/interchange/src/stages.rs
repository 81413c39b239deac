//! Pipelines whose stages are told as lists of what each holds: `[["embedding", "decoder"] , ..]`
//! of Megatron-Core, and torchtitan's lists of modules.
//!
//! Sources: Megatron-Core, `pipeline_parallel_layer_layout.py`, whose fields take lists;
//! torchtitan, `distributed/pipeline_parallel.py`, `module_fqns_per_model_part`.

/// Letters of a layout, at most: as many as a design takes layers, and more.
const MAX_LETTERS: usize = 10_000;

/// Largest number of bytes of such a list.
const MAX_TEXT: usize = 200_000;

/// The letter of a part of the model; none where no knob has the word, blank where it takes no
/// place of its own.
fn letter(word: &str) -> Option<&'static str> {
    let end = word.rsplit('.').next().unwrap_or(word);
    let is_number = !end.is_empty() && end.chars().all(|c| c.is_ascii_digit());
    Some(match end {
        "embedding" | "embed" | "tok_embeddings" | "embed_tokens" | "E" => "E",
        "decoder" | "transformer" | "t" => "t",
        "mtp" | "m" => "m",
        "loss" | "output" | "lm_head" | "L" => "L",
        "norm" | "rope" | "freqs_cis" | "rotary_emb" => "",
        _ if is_number && word.contains("layers.") => "t",
        _ => return None,
    })
}

/// The pattern of lists of words.
pub(crate) fn of_lists(lists: &[Vec<String>]) -> Option<String> {
    let mut made = String::new();
    for (index, list) in lists.iter().enumerate() {
        if index > 0 {
            made.push('|');
        }
        for word in list {
            made.push_str(letter(word)?);
        }
        if made.len() > MAX_LETTERS {
            return None;
        }
    }
    Some(made)
}

/// The pattern of an expression of lists as Python and Hydra have them:
/// `[["embedding"] + ["decoder"] * 4, ["decoder"] * 3 + ["loss"]]`.
pub(crate) fn plain(text: &str) -> Option<String> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut stages: Vec<Vec<String>> = vec![vec![]];
    let mut rest = inner.trim();
    let mut letters = 0_usize;
    while !rest.is_empty() {
        let (list, behind) = rest.strip_prefix('[')?.split_once(']')?;
        let words = list.split(',').map(|word| word.trim().trim_matches(['"', '\'']));
        let words: Vec<String> = words.filter(|w| !w.is_empty()).map(str::to_owned).collect();
        let (times, behind) = times(behind.trim_start())?;
        letters = letters.saturating_add(words.len().saturating_mul(times));
        if letters > MAX_LETTERS {
            return None;
        }
        let stage = stages.last_mut()?;
        (0..times).for_each(|_| stage.extend(words.iter().cloned()));
        rest = behind.trim_start();
        if let Some(more) = rest.strip_prefix('+') {
            rest = more.trim_start();
        } else if let Some(more) = rest.strip_prefix(',') {
            rest = more.trim_start();
            if !rest.is_empty() {
                stages.push(vec![]);
            }
        } else if !rest.is_empty() {
            return None;
        }
    }
    of_lists(&stages).filter(|pattern| pattern.contains('t'))
}

/// Number of times that a list is repeated, and the text behind.
fn times(text: &str) -> Option<(usize, &str)> {
    let Some(more) = text.strip_prefix('*') else { return Some((1, text)) };
    let more = more.trim_start();
    let end = more.find(|c: char| !c.is_ascii_digit()).unwrap_or(more.len());
    let (number, behind) = more.split_at(end);
    Some((number.parse().ok()?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_framework_are_one_pattern() {
        for (text, pattern) in [
            ("[[\"embedding\"] + [\"decoder\"] * 2, [\"decoder\", \"loss\"]]", Some("Ett|tL")),
            ("[[embedding,decoder],[decoder,mtp,loss]]", Some("Et|tmL")),
            ("[['tok_embeddings','layers.0'],['layers.1','norm','output']]", Some("Et|tL")),
            ("[[\"embedding\"] + [\"decoder\"] * 16, last_layer]", None),
            ("[[\"decoder\"] * 99999999999]", None),
            ("[[]]", None),
        ] {
            assert_eq!(plain(text).as_deref(), pattern, "{text}");
        }
    }
}
