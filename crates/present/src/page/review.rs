//! The page `/r/ID`: a review session in words.

pub mod labels;
pub mod deltas;
pub mod mentions;
pub mod settings;
