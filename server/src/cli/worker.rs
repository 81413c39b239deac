//! `moescape worker`: computes chunks of sweeps for whoever hands them out over NATS.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::sweep::stop;
use super::{Failure, log, output};
use crate::jobs::nats::Address;
use crate::jobs::sweeps;

/// Where work comes from.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// NATS with JetStream that sweeps are handed out over, such as nats://127.0.0.1:4222
    #[arg(long, value_name = "nats://HOST:PORT")]
    engine: Address,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    log: log::Arguments,
}

/// Works until told to end.
pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.log.begin();
    let threads = arguments.threads.or_else(|| std::thread::available_parallelism().ok());
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let ended = Arc::new(AtomicBool::new(false));
    stop::on_signal(&ended);
    let mut said = Ok(());
    let worked = sweeps::work_for(&arguments.engine, threads, &ended, || {
        said = output::result(&format!(
            "working for {} with {threads} threads and version {} of the model\n",
            arguments.engine,
            model::MODEL_VERSION
        ));
    });
    worked.map_err(|error| Failure::Internal(error.to_string()))?;
    said
}
