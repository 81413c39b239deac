//! Answers as data: what commands, the API and packages say of a design, under public names.
//!
//! Every answer is a [`model::design::file::Tree`], the same for the same question whoever asks:
//! the command line, the API, the page or a script. What an answer is made of stands in its types
//! ([`typed`]), and the API's description follows from them. An illegal design gives the same
//! object with its metrics null and its violations listed. No formula lives here, and no clock,
//! file or socket.
//!
//! [`report`] is a prediction, [`found`] a search for a layout, [`inferred`] how a design serves,
//! [`registry`] what can be opened, set and measured.

mod cores;
pub mod typed;

pub mod predicted;
pub mod provenance;

pub mod found;
pub mod report;

pub mod experts;

pub mod registry;

pub mod inferred;

pub use cores::Cores;
