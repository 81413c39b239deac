//! A list of steps with the seconds that each took, and the count at the end.

use std::time::Instant;

use anyhow::{Result, bail};

/// The steps done so far.
#[derive(Default)]
pub(crate) struct Steps {
    passed: usize,
    failure: Option<&'static str>,
    left_out: Vec<String>,
}

impl Steps {
    /// Runs a step, unless an earlier one failed.
    pub(crate) fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) {
        if self.failure.is_some() {
            return;
        }
        println!("-- {name}");
        let start = Instant::now();
        let outcome = step();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => {
                println!("ok {name} ({seconds:.1} s)");
                self.passed += 1;
            }
            Err(error) => {
                println!("FAILED {name} ({seconds:.1} s): {error:#}");
                self.failure = Some(name);
            }
        }
    }

    /// Notes what the run doesn't show.
    pub(crate) fn leave_out(&mut self, what: impl Into<String>) {
        self.left_out.push(what.into());
    }

    /// Prints the count, alone on the last line, and fails if a step did.
    pub(crate) fn finish(self) -> Result<()> {
        for what in &self.left_out {
            println!("left out: {what}");
        }
        if let Some(name) = self.failure {
            println!("the steps after {name} did not run");
        }
        println!("{} passed, {} failed", self.passed, usize::from(self.failure.is_some()));
        if let Some(name) = self.failure {
            bail!("{name} failed");
        }
        Ok(())
    }
}
