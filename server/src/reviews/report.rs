//! What a session came to, for those who weren't there: as Markdown and as a page of its own.
//!
//! [`content()`] says what is in it, in sections and tables; [`markdown()`] and [`html()`] write
//! these. What people wrote can break neither.

mod content;
mod html;
mod markdown;

pub(crate) use content::{Content, content};
pub(crate) use html::html;
pub(crate) use markdown::markdown;

/// A part of a report.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    title: &'static str,
    blocks: Vec<Block>,
}

/// What a section is made of.
#[derive(Clone, Debug)]
enum Block {
    /// A heading inside of it, of anybody's words.
    Heading(String),
    /// A paragraph of anybody's words.
    Text(String),
    /// A list of anybody's words.
    List(Vec<String>),
    /// A table; the first row is its head, the first column names each row.
    Table(Vec<Vec<Cell>>),
    /// What somebody said, in Markdown.
    Said { who: String, text: String },
    /// A chart of our own.
    Chart { svg: String, says: String },
}

/// A cell of a table.
#[derive(Clone, Debug)]
enum Cell {
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
