//! Run: days, money and failures of a whole training run, and the loss that published laws expect.

pub mod quality;
pub mod budget;
