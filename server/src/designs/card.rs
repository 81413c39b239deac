//! The card of a design: the picture that a link brings along where links have previews.
//!
//! Its content is a [`Card`], made of the page's own words and numbers; [`picture`] only draws it.

mod content;
mod picture;

pub(crate) use content::Card;
pub(crate) use picture::{draw, prepare};
