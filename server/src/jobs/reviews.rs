//! Review sessions on the server: access to them, what is kept of them, and their participants.
//!
//! What happens in a session is defined in the crate `review`; here it is written down and
//! published. A session that is open has a [`keeper`], one task that puts all changes into one
//! order. The store has the last word: an event is published only once it is written down, and it
//! is written behind the last one or not at all, so that several servers can use one store.
//!
//! A change comes by a [`socket`], which checks rate, size and name. The keeper takes what waits,
//! asks the store for events of other servers, for changes that it knows by name and for links that
//! have ended, and lets the room take or refuse each in turn. All that is taken is added in one
//! transaction; if the last event is another one by then, the room is loaded and everything tried
//! again. Then it is published to all clients, and to other servers by a notice; without NATS
//! they look into the store every two seconds. Who is there, and knobs on their way, are sent on
//! as well as it goes and kept nowhere. Every so many events the whole room is kept, so that
//! opening a session doesn't start from the first one.

mod notice;
mod participant;
mod rate;
pub(crate) mod report;
mod secret;
mod ledger;
mod commit;
mod message;
mod foreign;
mod shared;
mod keeper;
mod sessions;
mod answers;
mod socket;

pub(crate) use answers::{
    Begin, Begun, Do, Done, LinkAnswer, Links, Log, MAX_LIFETIME_SECONDS, Make, Prose,
};
pub(crate) use commit::Outcome;
pub(crate) use participant::Grant;
pub(crate) use sessions::{
    Reviews, SOCKETS_PER_ADDRESS, Trouble, check_name, check_op, new_id, person,
};
pub(crate) use socket::Visitor;
