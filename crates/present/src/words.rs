//! What things are called and said to be: knobs, values, models, runs, terms and files.

pub mod about;
pub mod family;
pub mod knob_note;
pub mod language;
pub mod name;
pub mod provenance;
pub mod published;
pub mod range;
pub mod terms;
