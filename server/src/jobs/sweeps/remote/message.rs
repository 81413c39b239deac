//! The messages between coordinators and workers.
//!
//! A result can be larger than a message may be: it is compressed, and cut into pieces that are
//! put together again.

use std::collections::HashMap;
use std::io::{Read, Write};

use async_nats::HeaderMap;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use sweep::{Batch, Progress};

use crate::jobs::sweeps::rows::Format;

/// The header of a piece that says how many there are, itself included.
const PIECES: &str = "Moescape-Pieces";

/// The header of a piece that says which it is, from 0.
const PIECE: &str = "Moescape-Piece";

/// Bytes of a result, at most; and of a part of it, so that no sender makes us take more.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// Pieces of a result, at most.
const MAX_PIECES: usize = 65_536;

/// A chunk for a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    /// The version of the model that must evaluate it.
    pub(super) model_version: String,
    /// Coordinator that hands it out.
    pub(super) coordinator: String,
    /// The sweep's name among those of all coordinators.
    pub(super) sweep: String,
    /// Raised when the sweep's chunks were taken back.
    pub(super) run: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    /// The index of each design, for a sweep that refines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) picked: Option<Vec<u64>>,
    /// The form of the rows of feasible designs, where they are wanted.
    pub(super) rows: Option<String>,
    /// JSON.
    pub(super) spec: String,
}

impl Task {
    pub(super) fn batch(&self) -> Batch {
        Batch { places: self.start..self.end, picked: self.picked.clone() }
    }

    pub(super) fn format(&self) -> Option<Format> {
        self.rows.as_deref().and_then(Format::from_name)
    }

    /// Subject of the result.
    pub(super) fn answer_subject(&self) -> String {
        format!("moescape.result.{}.{}.{}", self.coordinator, self.sweep, self.start)
    }

    /// Its name: one that is published twice is there once.
    pub(super) fn id(&self) -> String {
        format!("{}.{}.{}.{}", self.coordinator, self.run, self.sweep, self.start)
    }
}

/// Chunks of a sweep, up to a run, aren't wanted any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stop {
    pub(super) coordinator: String,
    pub(super) sweep: String,
    pub(super) run: u64,
}

impl Stop {
    /// Its subject.
    pub(super) const SUBJECT: &'static str = "moescape.stop";

    /// Whether this is one of its chunks.
    pub(super) fn means(&self, task: &Task) -> bool {
        self.coordinator == task.coordinator && self.sweep == task.sweep && task.run <= self.run
    }
}

/// Result of a chunk.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) head: Head,
    pub(super) rows: Vec<u8>,
}

/// An answer without its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) model_version: String,
    pub(super) sweep: String,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Progress in the chunk; `None` if the worker failed.
    pub(super) part: Option<Progress>,
    /// Reason why the worker failed.
    pub(super) failure: Option<String>,
}

impl Answer {
    /// Cuts it into pieces of at most `most` bytes.
    pub(super) fn pieces(&self, most: usize) -> Vec<(HeaderMap, Vec<u8>)> {
        let head = serde_json::to_vec(&self.head).unwrap_or_default();
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
        let length = (head.len() as u64).to_le_bytes();
        for part in [length.as_slice(), &head, &self.rows] {
            // Memory takes everything.
            let _ = packed.write_all(part);
        }
        let bytes = packed.finish().unwrap_or_default();
        let pieces = bytes.chunks(most.max(1));
        let count = pieces.len().to_string();
        pieces
            .enumerate()
            .map(|(place, piece)| {
                let mut headers = HeaderMap::new();
                headers.insert(PIECES, count.as_str());
                headers.insert(PIECE, place.to_string().as_str());
                (headers, piece.to_vec())
            })
            .collect()
    }

    /// Its bytes, before they are compressed, without the few of the length of the head.
    pub(super) fn size(&self) -> u64 {
        serde_json::to_vec(&self.head).unwrap_or_default().len() as u64 + self.rows.len() as u64
    }

    fn unpack(bytes: &[u8], most: u64) -> Result<Self, String> {
        // One more than may be there, to tell too many from just enough.
        let mut packed = ZlibDecoder::new(bytes).take(most + 1);
        let mut length = [0; 8];
        let short = |error: std::io::Error| format!("a result can't be unpacked: {error}");
        packed.read_exact(&mut length).map_err(short)?;
        let mut head = Vec::new();
        (&mut packed).take(u64::from_le_bytes(length)).read_to_end(&mut head).map_err(short)?;
        let mut rows = Vec::new();
        packed.read_to_end(&mut rows).map_err(short)?;
        if packed.limit() == 0 {
            return Err(format!("a result has more than {most} bytes"));
        }
        let head = serde_json::from_slice(&head)
            .map_err(|error| format!("a result can't be read: {error}"))?;
        Ok(Self { head, rows })
    }
}

/// Results of which pieces are missing, by their subject.
#[derive(Debug, Default)]
pub(super) struct Puzzle(HashMap<String, Vec<Option<Vec<u8>>>>);

impl Puzzle {
    /// Adds a piece; gives the result when it was the last.
    pub(super) fn add(
        &mut self,
        subject: &str,
        headers: Option<&HeaderMap>,
        bytes: &[u8],
    ) -> Option<Result<Answer, String>> {
        let number = |name: &str| headers?.get(name)?.as_str().parse::<usize>().ok();
        let (Some(count @ 1..=MAX_PIECES), Some(place)) = (number(PIECES), number(PIECE)) else {
            return Some(Err("a result's piece lacks its number".to_owned()));
        };
        let pieces = self.0.entry(subject.to_owned()).or_insert_with(|| vec![None; count]);
        if pieces.len() != count {
            *pieces = vec![None; count];
        }
        let Some(piece) = pieces.get_mut(place) else {
            return Some(Err("a result's piece has a number that is too large".to_owned()));
        };
        *piece = Some(bytes.to_vec());
        if pieces.iter().any(Option::is_none) {
            return None;
        }
        let pieces = self.0.remove(subject)?;
        let bytes: Vec<u8> = pieces.into_iter().flatten().flatten().collect();
        Some(Answer::unpack(&bytes, MAX_BYTES))
    }

    /// Forgets the pieces of a sweep.
    pub(super) fn forget(&mut self, coordinator: &str, sweep: &str) {
        let subjects = format!("moescape.result.{coordinator}.{sweep}.");
        self.0.retain(|subject, _| !subject.starts_with(&subjects));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rows: usize) -> Answer {
        let head = Head {
            model_version: "1.2.3".to_owned(),
            sweep: "a".to_owned(),
            start: 3,
            end: 9,
            part: None,
            failure: Some("why".to_owned()),
        };
        // Bytes that don't get smaller.
        let noise = std::iter::successors(Some(1_u64), |last| {
            Some(last.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
        });
        let noise = noise.map(|number| (number >> 56) as u8).take(rows);
        Answer { head, rows: noise.collect() }
    }

    #[test]
    fn a_result_is_put_together_from_pieces_in_any_order_and_with_repeats() {
        let whole = answer(5_000);
        let pieces = whole.pieces(700);
        assert!(pieces.len() > 5 && pieces.iter().all(|(_, bytes)| bytes.len() <= 700));
        let mut puzzle = Puzzle::default();
        let mut add = |place: usize| puzzle.add("x", Some(&pieces[place].0), &pieces[place].1);
        for place in (1..pieces.len()).rev() {
            assert!(add(place).is_none());
            assert!(add(place).is_none());
        }
        assert_eq!(add(0), Some(Ok(whole)));
        assert!(add(0).is_none(), "the next result of that name begins anew");
    }

    #[test]
    fn a_result_that_is_too_large_is_an_error_and_none_that_is_cut_off() {
        let whole = answer(5_000);
        let (_, bytes) = whole.pieces(1 << 20).remove(0);
        let size = whole.size() + 8;
        assert_eq!(Answer::unpack(&bytes, size), Ok(whole));
        let refused = Answer::unpack(&bytes, size - 1).unwrap_err();
        assert!(refused.contains("more than"), "{refused}");
    }

    #[test]
    fn what_is_no_result_is_an_error() {
        let mut puzzle = Puzzle::default();
        assert!(puzzle.add("x", None, b"x").is_some_and(|result| result.is_err()));
        for (count, place) in [("0", "0"), ("1", "1"), ("99999999999", "0"), ("a", "0")] {
            let mut headers = HeaderMap::new();
            headers.insert(PIECES, count);
            headers.insert(PIECE, place);
            let result = puzzle.add("x", Some(&headers), b"x");
            assert!(result.is_some_and(|result| result.is_err()), "{count} {place}");
        }
        let (headers, mut bytes) = answer(10).pieces(1_000).remove(0);
        bytes.truncate(bytes.len() / 2);
        assert!(puzzle.add("x", Some(&headers), &bytes).is_some_and(|result| result.is_err()));
    }
}
