//! Review sessions on the server: access to them, what is kept of them, and their participants.
//!
//! What happens in a session is defined in the crate `review`; here it is written down and
//! published. A session that is open has a [`keeper`], one task that puts all changes into one
//! order. The store has the last word: an event is published only once it is written down, and it
//! is written behind the last one or not at all, so that several servers can use one store.

mod commit;
mod foreign;
mod keeper;
mod ledger;
mod message;
mod notice;
mod participant;
mod rate;
pub(crate) mod report;
mod secret;
mod sessions;
mod shared;
mod socket;

pub(crate) use commit::Outcome;
pub(crate) use ledger::Link;
pub(crate) use participant::Grant;
pub(crate) use sessions::{
    NewLink, Reviews, SOCKETS_PER_ADDRESS, Trouble, check_name, check_op, new_id, person,
};
pub(crate) use socket::Visitor;
