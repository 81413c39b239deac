//! `moescape schedule`: a pipeline schedule of equal stages, task by task.

mod input;
mod picture;
mod report;

use super::Failure;
use super::output;
use input::Input;
use report::Report;

/// Which schedule, and what its tasks take.
///
/// Times are those of a whole stage for one micro-batch; of V chunks each takes 1/V.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The order of forwards and backwards: gpipe, 1f1b, interleaved, 1f1b_overlap, zb_h1, zb_2p,
    /// zb_v, v_half, v_min, dualpipe or dualpipev
    #[arg(long, value_name = "METHOD", allow_hyphen_values = true)]
    method: String,
    /// Pipeline stages (PP)
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    stages: String,
    /// Chunks of layers on each stage (VPP) [default: those of the method, 2 for interleaved]
    #[arg(long, value_name = "V", allow_hyphen_values = true)]
    chunks: Option<String>,
    /// Micro-batches of a step
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    microbatches: String,
    /// Micro-batches that a chunk runs in a row, with interleaved chunks [default: P]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    group: Option<String>,
    /// Seconds of a forward
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    forward: String,
    /// Seconds of a backward's gradients of inputs
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    backward_input: String,
    /// Seconds of a backward's gradients of weights
    #[arg(long, value_name = "T", default_value = "1", allow_hyphen_values = true)]
    backward_weight: String,
    /// Seconds of a forward and a backward that run as one [default: one after the other]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    forward_backward: Option<String>,
    /// Seconds from the end of a task to a task of another stage that needs it
    #[arg(long, value_name = "T", default_value = "0", allow_hyphen_values = true)]
    p2p: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the schedule's step time, bubble and micro-batches in flight.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let input = Input::read(arguments).map_err(Failure::User)?;
    let report = Report::new(&input);
    output::result(&if arguments.json { report.json() } else { report.text() })
}
