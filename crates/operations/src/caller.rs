//! The caller of an operation: who waits for the answer, and the world around it.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

use model::routing::Trace;
use model::routing::pattern::Patterns;
use schemars::JsonSchema;
use serde::Serialize;

use crate::refusal::{Kind, Refusal};

/// What a search may take.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Limits {
    /// Seconds of a call.
    pub seconds: u64,
    /// Estimates of a search.
    pub estimates: u64,
}

/// Whoever waits for an answer, with the clock, the files and the addresses of its door.
pub trait Caller: Sync {
    /// Prefix of links, such as `https://moescape.example`; empty where they begin with `/`.
    fn base(&self) -> &str {
        ""
    }

    /// Whether somebody still waits, and the time isn't over.
    fn waits(&self) -> bool {
        true
    }

    /// Whether nobody waits any more, so that not even a part of the answer is of use.
    fn is_cancelled(&self) -> bool {
        !self.waits()
    }

    /// Whether a search goes on: as long as somebody waits.
    fn flow(&self) -> ControlFlow<()> {
        if self.waits() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Refusal of a call that ended before its answer; the advice says what would be shorter.
    fn ended(&self, advice: &str) -> Refusal {
        Refusal::new("cancelled", "", format!("the call was cancelled; {advice}"))
            .of_kind(Kind::Ended)
    }

    /// Hears how far the answer is: a share of 1, and words.
    fn hear(&self, share: f64, words: &dyn Fn() -> String) {
        let _ = (share, words);
    }

    /// Hears a remark beside the answer, a line for people.
    fn remark(&self, line: &str) {
        let _ = line;
    }

    /// Bounds of a call.
    fn limits(&self) -> Limits {
        Limits { seconds: u64::MAX, estimates: u64::MAX }
    }

    /// Seconds since the call began.
    fn seconds(&self) -> f64;

    /// Today's date, `2026-11-28`.
    fn today(&self) -> String;

    /// Whether a design that isn't named is the default one. A person at a terminal has seen the
    /// help; a program is asked rather than guessed for.
    fn has_default_design(&self) -> bool {
        false
    }

    /// Bytes of a file that the input names, `-` for what is piped in, up to a limit.
    ///
    /// # Errors
    /// It can't be read, is longer, or this door reads no files.
    fn bytes(&self, path: &Path, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
        let _ = max_bytes;
        Err(no_files(path))
    }

    /// Whether there is a file of this name that [`Caller::bytes`] may read.
    fn has_file(&self, path: &Path) -> bool {
        let _ = path;
        false
    }

    /// Content of a file that the input names, to be read bit by bit.
    ///
    /// # Errors
    /// As of [`Caller::bytes`].
    fn open(&self, path: &Path) -> Result<Box<dyn Read>, Refusal> {
        Err(no_files(path))
    }

    /// Texts of a folder that the input names, each with its path in there; `None` where it is no
    /// folder.
    ///
    /// # Errors
    /// It can't be read, or has too many files.
    fn folder(&self, path: &Path) -> Result<Option<Vec<(String, String)>>, Refusal> {
        let _ = path;
        Ok(None)
    }

    /// Trace of expert loads in a file that the input names.
    ///
    /// # Errors
    /// As of [`Caller::bytes`], or it is no trace.
    fn trace(&self, path: &Path) -> Result<Trace, Refusal> {
        self.bytes(path, 0).and(Err(Refusal::new("no_traces", "", "traces can't be read here")))
    }

    /// Router scores of tasks, in a file that the input names or sent beside the input; of the
    /// logits of a token the best `visited` count.
    ///
    /// # Errors
    /// As of [`Caller::trace`].
    fn patterns(&self, path: Option<&Path>, visited: usize) -> Result<Option<Patterns>, Refusal> {
        let _ = visited;
        path.map_or(Ok(None), |path| self.trace(path).map(|_| None))
    }

    /// An address of the site as a whole link.
    fn link(&self, address: &str) -> String {
        format!("{}{address}", self.base())
    }

    /// The explorer's link of a design's query.
    fn design(&self, query: &str) -> String {
        let query = query.trim_start_matches('/').trim_start_matches('?');
        format!("{}/?{query}", self.base())
    }
}

/// Refusal of a door that reads no files.
fn no_files(path: &Path) -> Refusal {
    let detail = format!("{} can't be read here: send what is in it", path.display());
    Refusal::new("no_files", "", detail)
}
