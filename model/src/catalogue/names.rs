//! Names by which people call the rows of the catalogue, and the look-up of the one in a text.
//!
//! A name is written in parts with spaces between: a text holds the name if it holds each part.
//! Case and punctuation don't count.

use alloc::string::String;

/// A text in lower case, with a space for whatever is neither letter nor digit.
#[must_use]
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || !letter.is_ascii() {
            folded.push(letter.to_ascii_lowercase());
        } else if !folded.is_empty() && !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

/// The row whose name a text holds; of several names the longest counts, of equals the last.
pub fn find<T>(
    text: &str,
    rows: impl IntoIterator<Item = (T, &'static [&'static str])>,
) -> Option<T> {
    let text = fold(text);
    let length = |name: &str| {
        name.split(' ')
            .map(fold)
            .try_fold(0, |length, part| text.contains(&part).then_some(length + part.len()))
    };
    let longest = |names: &[&str]| names.iter().filter_map(|name| length(name)).max();
    let held = rows.into_iter().filter_map(|(row, names)| Some((longest(names)?, row)));
    held.max_by_key(|(length, _)| *length).map(|(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_punctuation_do_not_count() {
        assert_eq!(fold("  A100-SXM4_80GB (NVLink)"), "a100 sxm4 80gb nvlink");
        assert_eq!(fold("Qwen/Qwen3.5-397B"), "qwen qwen3 5 397b");
        assert_eq!(fold("()"), "");
    }

    #[test]
    fn the_longest_name_counts_and_every_part_of_it_is_held() {
        let find = |text| {
            let rows: [(u8, &[&str]); 4] =
                [(1, &["b300"]), (2, &["gb300"]), (3, &["a100"]), (4, &["a100 40g", "a2-npu"])];
            super::find(text, rows)
        };
        assert_eq!(find("DGX-GB300"), Some(2));
        assert_eq!(find("8x B300"), Some(1));
        assert_eq!(find("A100 (ND96asr_v4, 40GB)"), Some(4));
        assert_eq!(find("A100-80G"), Some(3));
        assert_eq!(find("Ascend A2 (NPU)"), Some(4));
        assert_eq!(find("A2, 8 NPU"), None);
        assert_eq!(find(""), None);
    }
}
