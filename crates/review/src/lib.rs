//! Review sessions: a team looks at a design together, changes it, talks about it and decides.
//!
//! A session is a list of [`Event`]s and nothing else. A [`Room`] is what comes of them: the
//! working design, candidates, proposals, threads, questions, decisions. Server and browser make
//! it with the same code.
//!
//! 1. A client asks for a [`Change`]. [`Room::admit`] says whether its [`Role`] may, whether the
//!    change makes sense, and fills in what a client must not claim, such as the value that a
//!    comment was made at.
//! 2. The server numbers it. From then on it is an event: stored, never changed, sent to all.
//! 3. [`Room::apply`] takes it. The order of numbers is the order of everything; of two edits of
//!    one knob the later one counts.
//! 4. In the browser a [`Replica`] shows a client's own edits before they are confirmed, puts them
//!    on top of whatever the others did meanwhile, and sends them again after a lost connection.
//!
//! Nothing here knows a clock, a socket or a file.
#![deny(missing_docs)]

pub mod json;
mod role;
mod refusal;
mod text;
mod person;
mod anchor;
mod change;
mod event;
mod room;
mod admit;
#[cfg(feature = "markdown")]
mod markdown;
mod replica;
mod standing;
pub mod wire;

pub use anchor::{Anchor, AnchorError};
pub use change::{Change, Outcome, Said, SaidValue, Setting};
pub use event::Event;
#[cfg(feature = "markdown")]
pub use markdown::to_html;
pub use person::{Person, Seq};
pub use refusal::{Cause, Refusal};
pub use replica::{Replica, Taken, Undo, Unsent};
pub use role::Role;
pub use room::{
    Candidate, Decision, Edited, Note, Proposal, ProposalState, Question, Room, Thread,
};
pub use standing::{Numbers, Stale};
pub use text::{MAX_NAME_LEN, MAX_TEXT_LEN, clean_name, clean_text};
