//! The accelerator that a text names by the way: in a path, a comment, a partition's or a run's
//! name. No argument says it, so that it is a guess, and asked.

/// What a line of ours begins with, behind `#`.
pub(crate) const MARK: &str = "moescape:";

/// Is a line one that an export says of its own design?
pub(crate) fn is_own(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['"', '#', ' ']);
    line.starts_with(MARK) || line.starts_with("design: ")
}

/// Names of accelerators in lower case, the longest of a beginning first. `910B` alone is that of
/// Atlas 800T A2.
const NAMES: [(&str, &str); 16] = [
    ("gb300", "gb300"),
    ("gb200", "gb200"),
    ("b300", "b300"),
    ("b200", "b200"),
    ("h200", "h200-sxm-141gb"),
    ("h100", "h100-sxm-80gb"),
    ("h800", "h800-sxm-80gb"),
    ("h20", "h20"),
    ("a100", "a100-sxm-80gb"),
    ("a800", "a800-sxm-80gb"),
    ("910b1", "ascend-910b1"),
    ("910b2", "ascend-910b2"),
    ("910b3", "ascend-910b3"),
    ("910b4", "ascend-910b4"),
    ("910b", "ascend-910b3"),
    ("910c", "ascend-910c"),
];

/// An accelerator that a text names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    /// The profile's id.
    pub(crate) id: &'static str,
    /// The word that names it.
    pub(crate) word: String,
    /// Its line, from 1.
    pub(crate) line: u64,
    /// Does a scheduler give it, rather than a path or a comment name it?
    pub(crate) is_asked_for: bool,
}

/// Does a line ask a scheduler for devices of a kind? `--gres=gpu:h100:8`, `--constraint=a100`,
/// `nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3`. Of `PCIE` and 40 GB there is no profile.
fn asks(line: &str) -> bool {
    let kinds = ["gpu:", "--constraint", "gpu.product", "--gpus"];
    let others = ["pcie", "40gb", "nvl"];
    let is_other = || {
        let lower = line.to_ascii_lowercase();
        others.iter().any(|word| lower.contains(word))
    };
    kinds.iter().any(|kind| line.contains(kind)) && !is_other()
}

/// How many words of other lines one of a scheduler's counts.
const ASKED: usize = 1_000;

/// The accelerator that most words of a text name, the first of equals. What an export says of its
/// own design is no hint.
pub(crate) fn named(text: &str) -> Option<Card> {
    let mut found: Vec<(Card, usize)> = vec![];
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !is_own(line));
    for (line, content) in lines {
        let is_asked_for = asks(content);
        let weight = if is_asked_for { ASKED } else { 1 };
        let words = content.split(|letter: char| !letter.is_ascii_alphanumeric());
        for (word, id) in words.filter_map(|word| Some((word, card(word)?))) {
            match found.iter_mut().find(|(card, _)| card.id == id) {
                Some((card, count)) => {
                    *count += weight;
                    if is_asked_for && !card.is_asked_for {
                        *card = Card { id, word: word.to_owned(), line, is_asked_for };
                    }
                }
                None => {
                    found.push((Card { id, word: word.to_owned(), line, is_asked_for }, weight));
                }
            }
        }
    }
    let most = found.iter().map(|(_, count)| *count).max()?;
    found.into_iter().find(|(_, count)| *count == most).map(|(card, _)| card)
}

/// The accelerator of a word: its name, and behind it nothing that makes it another number or word.
fn card(word: &str) -> Option<&'static str> {
    // Longer words are hashes and the like.
    let word = Some(word.to_ascii_lowercase()).filter(|word| word.len() <= 12)?;
    let word = word.strip_prefix("ascend").unwrap_or(&word);
    let row = NAMES.iter().find(|(name, _)| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || ENDINGS.iter().any(|end| rest.starts_with(end)))
    });
    row.map(|(_, id)| *id)
}

/// What stands behind an accelerator's name: `h100sxm`, `h100x8`, `a100s`.
const ENDINGS: [&str; 6] = ["sxm", "x", "s", "gpu", "nvl", "pcie"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_paths_comments_and_partitions() {
        for (text, id) in [
            ("#SBATCH --partition=h100_8x\n", Some("h100-sxm-80gb")),
            ("cd /data/GB200-runs/a", Some("gb200")),
            ("# run on 64 Ascend910B3\n", Some("ascend-910b3")),
            ("export NAME=dsv3-910B-512", Some("ascend-910b3")),
            ("# H100SXM\n# H20 later\n# once more: h100", Some("h100-sxm-80gb")),
            ("--lr 1e-4 --num-layers 61 --seed 200 --hash a100f93b", None),
            ("Qwen3-30B-A3B B2000 H1000 sha=b2001234", None),
            ("# design: /?cluster.accelerator=h20", None),
        ] {
            assert_eq!(named(text).map(|card| card.id), id, "{text}");
        }
    }
}
