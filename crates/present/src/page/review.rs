//! The page `/r/ID`: a review session in words.

pub mod deltas;
pub mod labels;
pub mod mentions;
pub mod settings;
