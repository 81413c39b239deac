//! Sections of a report, and the blocks that they are made of.

/// A part of a report.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(super) title: &'static str,
    pub(super) blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub(super) enum Block {
    /// A heading inside of it, of anybody's words.
    Heading(String),
    /// A paragraph of anybody's words.
    Text(String),
    /// A list of anybody's words.
    List(Vec<String>),
    /// A table; the first row is its head, the first column names each row.
    Table(Vec<Vec<Cell>>),
    /// Words of a person, in Markdown.
    Said { who: String, text: String },
    /// A chart of our own.
    Chart { svg: String, says: String },
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(super) enum Cell {
    Text(String),
    /// Text that opens a design.
    Design {
        text: String,
        link: String,
    },
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
