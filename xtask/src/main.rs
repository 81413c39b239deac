//! `cargo xtask`: the tasks of this repository. A fresh machine needs rustup and little else.
//!
//! One module per task (`serve`, `build` and `site`, `dist`, `wheel`, `witness`, `test`, `bench`,
//! `count`, `soak`, `calibrate`); what they share is the site's pipeline (`site`), the places of
//! things (`workspace`), how other programs are run (`command`, `tool`, `python`) and how long ago
//! a task was asked for (`asked`).
#![expect(clippy::print_stdout, reason = "a task's report is its output")]

mod asked;
mod command;
mod python;
mod workspace;
mod calibrate;
mod steps;
mod tool;
mod site;
mod bench;
mod build;
mod count;
mod dist;
mod serve;
mod soak;
mod test;
mod wheel;
mod witness;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// The tasks of Moescape's repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build everything and serve the explorer
    Serve(serve::Arguments),
    /// Build the release binary with the optimised site inside
    Build(build::Release),
    /// Build the site alone, for `moescape serve --site target/site`
    Site(build::Draft),
    /// Pack the release binary with what it takes to install it, and its sha256
    Dist(dist::Arguments),
    /// Check and test everything
    Test(test::Arguments),
    /// Check which module imports which
    Layers,
    /// Measure the model and the page
    Bench(bench::Arguments),
    /// Count the instructions that fixed amounts of work take
    Count(count::Arguments),
    /// Build and test the Python package
    Wheel(wheel::Arguments),
    /// Ask Megatron-Core whether it starts the designs that `find` names
    Witness(witness::Arguments),
    /// Kill servers that share a store, while clients edit, for minutes
    Soak(soak::Arguments),
    /// Fit the model's constants to the published runs
    Calibrate(calibrate::Arguments),
}

fn main() -> ExitCode {
    let task = Arguments::parse().task;
    let outcome = Workspace::find().and_then(|workspace| match task {
        Task::Serve(arguments) => serve::run(&workspace, &arguments),
        Task::Build(release) => build::run(&workspace, &release),
        Task::Site(arguments) => build::site(&workspace, &arguments),
        Task::Dist(arguments) => dist::run(&workspace, &arguments),
        Task::Test(arguments) => test::run(&workspace, &arguments),
        Task::Layers => test::structure(&workspace),
        Task::Bench(arguments) => bench::run(&workspace, &arguments),
        Task::Count(arguments) => count::run(&workspace, &arguments),
        Task::Wheel(arguments) => wheel::run(&workspace, &arguments),
        Task::Witness(arguments) => witness::run(&workspace, &arguments),
        Task::Soak(arguments) => soak::run(&workspace, &arguments),
        Task::Calibrate(arguments) => calibrate::run(&workspace, &arguments),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
