//! Sweeps over NATS: chunks of them are messages in a stream of work, what was found is messages
//! in a stream of results.
//!
//! Whoever runs a sweep is its [`Coordinator`]: it hands out chunks and adds up what comes back.
//! A [`worker`](work_for) takes a chunk, evaluates it, publishes its result and only then
//! acknowledges it, so that a chunk whose worker vanishes goes to another one. Nothing breaks when
//! a chunk is evaluated twice, since its result is the same and is known by sweep and place.
//!
//! | subject | what |
//! |---|---|
//! | `moescape.work.VERSION.SWEEP` | chunks for workers of a version of the model |
//! | `moescape.result.COORDINATOR.SWEEP.START` | what was found in a chunk |
//! | `moescape.stop` | a sweep that was paused or removed; not kept |
//! | `moescape.review.ID` | what is new in a review session; not kept |

mod coordinator;
mod link;
mod message;
mod notice;
mod worker;

pub(crate) use coordinator::{Chunks, Claim, Coordinator, Outcome};
pub(crate) use link::{Address, NatsError};
pub(crate) use notice::{Notice, NoticeKind, Notices};
pub(crate) use worker::work_for;

use std::time::Duration;

/// How long a worker may be silent about a chunk before another one gets it.
const SILENCE: Duration = Duration::from_secs(5);

/// How long a request for messages waits for them.
const FETCH_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause before something is tried again that failed because NATS was away.
const PAUSE: Duration = Duration::from_millis(300);

/// The version of the model as a part of a subject, which dots would end.
fn version_token(version: &str) -> String {
    version.replace('.', "_")
}
