//! Architectures that runs name without printing them, and that no preset has.
//!
//! Each from its public configuration file; names are compared without case and punctuation.

use std::sync::LazyLock;

use serde::Deserialize;

/// A model: its name, its architecture in words, and where that is published.
#[derive(Debug, Deserialize)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) words: String,
    #[expect(dead_code, reason = "stands beside the numbers for the reader")]
    pub(super) source: String,
}

/// The models of `architectures.csv`.
pub(super) static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let mut reader = csv::Reader::from_reader(include_str!("../../architectures.csv").as_bytes());
    // The embedded table is read in a test, so that no row can be faulty here.
    reader.deserialize().filter_map(Result::ok).collect()
});

/// Models whose name alone says that no knob expresses them, and why.
pub(super) static REFUSED: &[(&str, &str)] = &[
    ("nemotron35", "a hybrid of Mamba and attention whose sizes aren't published"),
    ("llava", "a vision model"),
    ("t5", "an encoder"),
    ("bert", "an encoder"),
    ("vit", "a vision model"),
];
