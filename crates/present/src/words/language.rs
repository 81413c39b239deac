//! The dictionaries. Pages are written in English; a layer of the server and a script of the
//! browser say their words in another language (see the server's `language`).

/// English to simplified Chinese, as JSON: one object in each text.
pub const CHINESE: [&str; 3] = [
    include_str!("language/zh/model.json"),
    include_str!("language/zh/explorer.json"),
    include_str!("language/zh/pages.json"),
];

/// The names in braces that keys of [`CHINESE`] have, each with the texts that may stand in its
/// place and their Chinese, as JSON: sentences that differ in such a text alone are one entry.
pub const CHINESE_PARTS: &str = include_str!("language/zh/parts.json");
