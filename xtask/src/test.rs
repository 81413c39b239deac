//! `cargo xtask test`: everything that must hold before a change is shared.

mod allow_list;
mod tidy;

use std::process::Command;

use anyhow::Result;

use crate::command;
use crate::site::{self, Quality, Site};
use crate::steps::Steps;
use crate::tool::{self, Tool};
use crate::workspace::Workspace;

/// What to leave out.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Leave out what needs a program that isn't there
    #[arg(long, value_enum)]
    skip: Vec<Part>,
}

/// A part of the tests that needs a program beyond Rust and C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// The browser tests, which need Chromium
    Browser,
    /// All that needs node: the optimiser, the size budget, the parity and the browser tests
    Node,
    /// Sweeps by workers, which need nats-server
    Nats,
}

/// Runs every step, in the order in which a mistake shows soonest.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let node = !arguments.skip.contains(&Part::Node);
    let browser = node && !arguments.skip.contains(&Part::Browser);
    let nats = !arguments.skip.contains(&Part::Nats);
    let mut steps = Steps::default();
    steps.run("tools", || tool::require(&needed(node, browser, nats)));
    sources(workspace, nats, &mut steps);
    if !nats {
        steps.leave_out("sweeps by workers, also after a kill of NATS or a worker (--skip nats)");
    }
    if node {
        release(workspace, browser, &mut steps);
    } else {
        steps.leave_out("the optimised site, its size budget and the parity test (--skip node)");
    }
    if !browser {
        let flag = if node { "browser" } else { "node" };
        steps.leave_out(format!("the browser tests (--skip {flag})"));
    }
    steps.finish()
}

fn needed(node: bool, browser: bool, nats: bool) -> Vec<Tool> {
    let mut tools = vec![Tool::WasmTarget, Tool::NoStdTarget, Tool::CCompiler];
    if nats {
        tools.push(Tool::NatsServer);
    }
    if node {
        tools.extend([Tool::Node, Tool::Npm]);
    }
    if browser {
        tools.push(Tool::Chromium);
    }
    tools
}

/// The steps on sources: they need Rust, C and, unless it is left out, NATS.
fn sources(workspace: &Workspace, nats: bool, steps: &mut Steps) {
    let cargo = |line: &str| workspace.cargo(line.split_whitespace());
    let run = |line: &str| command::run(&mut cargo(line));
    steps.run("formatting", || {
        run("fmt --all --check")?;
        tidy::check(workspace)
    });
    steps.run("the model without std", || {
        run("check --package model --target wasm32v1-none")?;
        run("check --package model --target wasm32v1-none --features text")
    });
    steps.run("the model's dependencies", || allow_list::check(workspace));
    steps.run("lints, native", || {
        run("clippy --workspace --features validation/runs --all-targets -- --deny warnings")
    });
    steps.run("lints, browser", || {
        run("clippy --package app --lib --target wasm32-unknown-unknown \
             --no-default-features --features hydrate -- --deny warnings")?;
        let modules = site::module_packages().join(" ");
        run(&format!("clippy {modules} --target wasm32-unknown-unknown -- --deny warnings"))?;
        // What the page needs of it: the report's types, without the runs.
        run("clippy --package validation --lib --target wasm32-unknown-unknown -- --deny warnings")
    });
    steps.run("documentation", || {
        let mut doc =
            cargo("doc --workspace --features validation/runs --no-deps --document-private-items");
        command::run(doc.env("RUSTDOCFLAGS", "--deny warnings"))
    });
    steps.run("tests", || {
        let mut tests = cargo("test --workspace --features validation/runs");
        if !nats {
            tests.env("MOESCAPE_SKIP_NATS", "1");
        }
        command::run(&mut tests)
    });
}

/// The steps on what is shipped.
fn release(workspace: &Workspace, browser: bool, steps: &mut Steps) {
    let mut site = None;
    steps.run("node packages", || tool::install_node_packages(workspace));
    steps.run("release site", || {
        site = Some(site::build(workspace, Quality::Release)?);
        Ok(())
    });
    // Without a site a step failed, so the rest doesn't run.
    let Some(site) = site else { return };
    steps.run("size budget", || site.check_budget());
    steps.run("release binary", || workspace.build_binary());
    steps.run("native and WASM agree", || parity(workspace, &site));
    if browser {
        steps.run("browser tests", || browser_tests(workspace));
    }
}

/// Compares every bit of 200 estimates between this machine and the shipped module.
fn parity(workspace: &Workspace, site: &Site) -> Result<()> {
    let cases = workspace.target.join("parity.json");
    // As `cargo test` builds them, so that nothing is compiled twice.
    let build = "build --workspace --features validation/runs --examples";
    command::run(&mut workspace.cargo(build.split(' ')))?;
    let mut native = Command::new(workspace.target.join("debug/examples/parity_cases"));
    std::fs::write(&cases, command::output(&mut native)?)?;
    let mut node = Command::new("node");
    node.arg(workspace.end2end().join("parity.mjs"));
    command::run(node.args([site.package(), site.js(), site.wasm(), cases]))
}

fn browser_tests(workspace: &Workspace) -> Result<()> {
    let mut playwright = Command::new(workspace.end2end().join("node_modules/.bin/playwright"));
    playwright.current_dir(workspace.end2end()).arg("test");
    command::run(playwright.env("MOESCAPE_BINARY", workspace.binary()))
}
