//! Pipeline schedules as lists of tasks, one list per stage, and their simulation.
//!
//! A [`Schedule`] says in which order each stage runs forwards and backwards of chunks and
//! micro-batches; [`Schedule::simulate`] runs the lists on the stages' own times and gives a
//! [`Timeline`]: when each task starts and ends, how long stages work, what they hold.
//! [`Schedule::closed_form_seconds`] is the published formula for equal stages.

use crate::ground::choice::Method;

mod form;
mod fault;
mod order;
mod task;
mod times;
mod dualpipe;
mod gpipe;
mod interleaved;
mod one_f_one_b;
mod v_pattern;
mod zb_v;
mod zero_bubble;
mod closed_form;
mod timeline;
mod simulation;
#[cfg(feature = "text")]
pub mod trace;

pub(crate) use closed_form::{Formula, StageTimes};
pub use fault::Fault;
pub(crate) use fault::{Grid, Sizes};
pub(crate) use form::{Form, Placement};
pub use order::Schedule;
pub(crate) use simulation::Run;
pub use task::{Task, TaskKind, TaskLists};
pub use timeline::Timeline;
pub use times::{ChunkTimes, StageSeconds, Times};

impl Schedule {
    /// Tasks of all stages, without building them.
    #[must_use]
    pub fn num_tasks(&self) -> u64 {
        let [p, v, m] = [self.stages, self.chunks, self.micro_batches].map(u64::from);
        match self.method {
            Method::Gpipe | Method::OneForwardOneBackward | Method::Interleaved => 2 * p * v * m,
            Method::OneForwardOneBackwardOverlap => interleaved::num_overlapped_tasks(self),
            Method::ZbH1 | Method::Zb2p | Method::ZbV | Method::VHalf | Method::VMin => {
                3 * p * v * m
            }
            Method::DualPipe | Method::DualPipeV => dualpipe::num_tasks(self),
        }
    }

    /// The tasks of each stage in order; empty with more than [`Schedule::MAX_TASKS`].
    #[must_use]
    pub fn tasks(&self) -> TaskLists {
        let mut lists = TaskLists::default();
        self.write(&mut lists);
        lists
    }

    /// Puts the tasks of each stage in place of what the lists held.
    pub(crate) fn write(&self, lists: &mut TaskLists) {
        lists.clear();
        let count = self.num_tasks();
        let Some(room) = usize::try_from(count).ok().filter(|_| count <= Self::MAX_TASKS) else {
            return;
        };
        lists.reserve(room, self.stages());
        match self.method {
            Method::Gpipe => gpipe::write(self, lists),
            Method::OneForwardOneBackward => one_f_one_b::write(self, lists),
            Method::Interleaved => interleaved::write(self, lists),
            Method::OneForwardOneBackwardOverlap => interleaved::write_overlapped(self, lists),
            Method::ZbH1 => zero_bubble::write_h1(self, lists),
            Method::Zb2p => zero_bubble::write_h2(self, lists),
            Method::ZbV => zb_v::write(self, lists),
            Method::VHalf | Method::VMin => v_pattern::write(self, lists),
            Method::DualPipe | Method::DualPipeV => dualpipe::write(self, lists),
        }
    }
}
