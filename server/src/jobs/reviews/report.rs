//! The report of a session for those who weren't there: as Markdown and as a page of its own.
//!
//! [`content()`] says what is in it, in sections and tables; [`markdown()`] and [`html()`] write
//! these. What people wrote can break neither.

mod section;
mod content;
mod html;
mod markdown;

pub(crate) use content::{Content, content};
pub(crate) use html::html;
pub(crate) use markdown::markdown;
