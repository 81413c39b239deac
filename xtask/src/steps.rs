//! A list of steps with the seconds that each took: a table and the count at the end, and
//! `steps.json` in cargo's target directory.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::asked;
use crate::workspace::Workspace;

/// The steps done so far.
pub(crate) struct Steps {
    /// File in which they are recorded after each.
    file: PathBuf,
    taken: Vec<Step>,
    left_out: Vec<String>,
}

/// A step that has ended.
struct Step {
    name: &'static str,
    seconds: f64,
    failed: bool,
}

impl Steps {
    /// None yet.
    pub(crate) fn new(workspace: &Workspace) -> Self {
        Self { file: workspace.target.join("steps.json"), taken: Vec::new(), left_out: Vec::new() }
    }

    /// Runs a step, unless an earlier one failed; gives what it made.
    pub(crate) fn run<T>(
        &mut self,
        name: &'static str,
        step: impl FnOnce() -> Result<T>,
    ) -> Option<T> {
        if self.failure().is_some() {
            return None;
        }
        println!("-- {name}");
        let start = Instant::now();
        let outcome = step();
        let seconds = start.elapsed().as_secs_f64();
        match &outcome {
            Ok(_) => println!("ok {name} ({seconds:.1} s)"),
            Err(error) => println!("FAILED {name} ({seconds:.1} s): {error:#}"),
        }
        self.taken.push(Step { name, seconds, failed: outcome.is_err() });
        if let Err(error) = self.write_down() {
            eprintln!("{error:#}");
        }
        outcome.ok()
    }

    /// Notes what the run doesn't show.
    pub(crate) fn leave_out(&mut self, what: impl Into<String>) {
        self.left_out.push(what.into());
    }

    /// Prints the table and the count, alone on the last line, and fails if a step did.
    pub(crate) fn finish(self) -> Result<()> {
        let names = self.taken.iter().map(|step| step.name.len());
        let width = names.max().unwrap_or(0).max("since the command".len());
        println!();
        for step in &self.taken {
            let failed = if step.failed { "  FAILED" } else { "" };
            println!("{:width$} {:8.1} s{failed}", step.name, step.seconds);
        }
        let total: f64 = self.taken.iter().map(|step| step.seconds).sum();
        println!("{:width$} {total:8.1} s", "all");
        if let Some(seconds) = asked::seconds_ago() {
            println!("{:width$} {seconds:8.1} s", "since the command");
        }
        for what in &self.left_out {
            println!("left out: {what}");
        }
        let failure = self.failure();
        if let Some(name) = failure {
            println!("the steps after {name} did not run");
        }
        let failed = usize::from(failure.is_some());
        println!("{} passed, {failed} failed", self.taken.len() - failed);
        if let Some(name) = failure {
            bail!("{name} failed");
        }
        Ok(())
    }

    fn failure(&self) -> Option<&'static str> {
        self.taken.iter().find(|step| step.failed).map(|step| step.name)
    }

    fn write_down(&self) -> Result<()> {
        let steps: Vec<_> = self
            .taken
            .iter()
            .map(|step| {
                serde_json::json!({
                    "step": step.name,
                    "seconds": (step.seconds * 10.0).round() / 10.0,
                    "passed": !step.failed,
                })
            })
            .collect();
        let text = format!("{:#}\n", serde_json::Value::from(steps));
        std::fs::write(&self.file, text)
            .with_context(|| format!("can't write {}", self.file.display()))
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    fn steps(name: &str) -> Steps {
        let directory = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        Steps::new(&Workspace { root: directory.clone(), target: directory, packages: Vec::new() })
    }

    #[test]
    fn what_follows_a_failed_step_does_not_run_and_the_file_says_how_far_it_came() {
        let mut steps = steps("steps-failed");
        let file = steps.file.clone();
        assert_eq!(steps.run("first", || Ok(1)), Some(1));
        assert_eq!(steps.run("second", || Err::<(), _>(anyhow!("no"))), None);
        assert_eq!(steps.run("third", || -> Result<()> { unreachable!() }), None);
        let written: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let told: Vec<_> =
            written.as_array().unwrap().iter().map(|it| (&it["step"], &it["passed"])).collect();
        assert_eq!(told, [(&"first".into(), &true.into()), (&"second".into(), &false.into())]);
        assert_eq!(steps.finish().unwrap_err().to_string(), "second failed");
    }
}
