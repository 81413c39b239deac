//! `moescape schedule`: a pipeline schedule of equal stages, task by task.

mod input;
mod picture;
mod report;

use super::Failure;
use super::output;
pub(super) use input::Arguments;
use input::Input;
use report::Report;

/// Prints the schedule's step time, bubble and micro-batches in flight.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = Input::read(arguments).map_err(Failure::User)?;
    let report = Report::new(&input);
    output::result(&if arguments.json { report.json() } else { report.text() })
}
