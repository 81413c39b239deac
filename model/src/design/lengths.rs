//! A histogram of documents by their length.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::ground::decimal;
use crate::ground::knob::LayerText;

/// Lengths in tokens with their shares of the documents.
#[derive(Clone, Debug, PartialEq)]
pub struct LengthHistogram {
    /// Tokens and share, the shortest first. Shares are as written: they need not sum to one.
    pub bins: Vec<(u64, f64)>,
}

/// Lengths that one histogram may have.
const MAX_BINS: usize = 64;
/// Tokens of a document, at most.
const MAX_LENGTH: u64 = 16_777_216;

impl LengthHistogram {
    /// Reads `1024:0.3,4096:0.5`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut bins: Vec<(u64, f64)> = Vec::new();
        for (index, part) in text.split(',').enumerate() {
            if index >= MAX_BINS {
                return Err(format!("at most {MAX_BINS} lengths"));
            }
            let pair = part.split_once(':').and_then(|(length, share)| {
                let (length, share) = (length.trim().parse().ok()?, decimal::parse(share.trim())?);
                Some((length, share))
            });
            let Some((length, share)) = pair else {
                let example = LayerText::Lengths.example();
                return Err(format!("lengths with their shares such as {example}"));
            };
            if !(1..=MAX_LENGTH).contains(&length) {
                return Err(format!("lengths from 1 to {MAX_LENGTH} tokens"));
            }
            if !(1e-9..=1e9).contains(&share) {
                return Err(String::from("shares above zero, up to 1e9"));
            }
            if bins.last().is_some_and(|(last, _)| *last >= length) {
                return Err(String::from("each length once, the shortest first"));
            }
            bins.push((length, share));
        }
        Ok(Self { bins })
    }
}

impl fmt::Display for LengthHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (length, share)) in self.bins.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{length}:{share}")?;
        }
        Ok(())
    }
}
