//! Quantities, designs and files in words: what a person or a program reads, as text.
//!
//! Pure functions, the same on the server, in the browser and on the command line.

pub mod about;
pub mod amount;
pub(crate) mod choices;
pub mod family;
pub mod format;
pub mod html;
#[cfg(feature = "ssr")]
pub mod language;
pub mod name;
pub mod provenance;
pub mod published;
pub mod range;
pub mod terms;
