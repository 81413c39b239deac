//! The dictionaries. Pages are written in English; a layer of the server and a script of the
//! browser say their words in another language (see the server's `language`).

/// English to simplified Chinese, as JSON: one object in each text.
pub const CHINESE: [&str; 3] = [
    include_str!("language/zh/model.json"),
    include_str!("language/zh/explorer.json"),
    include_str!("language/zh/pages.json"),
];
