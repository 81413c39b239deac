//! Names that are spelled alike.

/// The known name that fewest edits make of a name, by Levenshtein's distance over 64 characters.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    // Names that share next to nothing are no help.
    let length = name.chars().count();
    let most = length.max(4) / 2;
    // As many edits as lengths differ by it takes at least.
    let likely = known.filter(|known| known.len().abs_diff(length) <= most);
    let near = likely.map(|known| (distance(name, known), known));
    let best = near.min_by_key(|(edits, _)| *edits).filter(|(edits, _)| *edits <= most);
    best.map(|(_, known)| known.to_owned())
}

fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().take(64).enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        for (b, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = *cell;
            *cell = substituted.min(before + 1).min(diagonal + 1);
            before = *cell;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_the_one_with_fewest_edits() {
        let known = ["num-layers", "hidden-size", "seq-length"];
        let found = |name| nearest(name, known.into_iter());
        assert_eq!(found("num-layer").as_deref(), Some("num-layers"));
        assert_eq!(found("seqlength").as_deref(), Some("seq-length"));
        assert_eq!(found("wandb-project"), None);
    }
}
