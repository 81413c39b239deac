//! Circles of imports: files that can't be understood, moved or reused one without the other.

use std::collections::{BTreeMap, BTreeSet};

/// The largest set of files of which each leads to every other; none where there is no circle.
pub(super) fn largest<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|file| (*file, reach(imports, file))).collect();
    let circle = |file: &&str| -> BTreeSet<&'a str> {
        let back = |other: &&&str| reached.get(**other).is_some_and(|from| from.contains(file));
        reached[file].iter().filter(back).copied().collect()
    };
    imports.keys().map(circle).max_by_key(BTreeSet::len).unwrap_or_default()
}

/// The files that a file imports, that these import, and so on.
fn reach<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>, file: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![file];
    while let Some(next) = open.pop() {
        let new = imports.get(next).into_iter().flatten().filter(|other| found.insert(**other));
        open.extend(new);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(imports: &[(&'static str, &[&'static str])]) -> Vec<&'static str> {
        let imports =
            imports.iter().map(|(file, others)| (*file, others.iter().copied().collect()));
        largest(&imports.collect()).into_iter().collect()
    }

    #[test]
    fn a_chain_is_no_circle() {
        assert!(circle(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &[])]).is_empty());
    }

    #[test]
    fn the_largest_circle_is_named_with_all_its_files() {
        let imports: &[(_, &[_])] =
            &[("a", &["b"]), ("b", &["a"]), ("c", &["d", "a"]), ("d", &["e"]), ("e", &["c"])];
        assert_eq!(circle(imports), ["c", "d", "e"]);
    }
}
