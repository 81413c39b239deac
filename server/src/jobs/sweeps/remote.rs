//! Sweeps over NATS: chunks of them are messages in a stream of work, what was found is messages
//! in a stream of results.
//!
//! Whoever runs a sweep is its [`Coordinator`]: it hands out chunks and adds up what comes back.
//! A [`worker`](work_for) takes a chunk, evaluates it, publishes its result and only then
//! acknowledges it, so that a chunk whose worker vanishes goes to another one. Nothing breaks when
//! a chunk is evaluated twice, since its result is the same and is known by sweep and place.
//!
//! | subject | messages |
//! |---|---|
//! | `moescape.work.VERSION.SWEEP` | chunks for workers of a version of the model |
//! | `moescape.result.COORDINATOR.SWEEP.START` | what was found in a chunk |
//! | `moescape.stop` | a sweep that was paused or removed; not kept |

mod link;
mod message;
mod coordinator;
mod worker;

pub(crate) use coordinator::Coordinator;
pub(crate) use worker::work_for;
