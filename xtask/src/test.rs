//! `cargo xtask test`: everything that must hold before a change is shared.

mod allow_list;
mod figures;
mod layers;
mod packages;
mod tidy;

use std::process::Command;

use anyhow::Result;

use crate::command;
use crate::count;
use crate::site::{self, Module, Quality, Site};
use crate::steps::Steps;
use crate::tool::{self, Install, Node, Tool};
use crate::workspace::Workspace;

/// What to leave out, and what may be installed.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Leave out what needs a program that isn't there
    #[arg(long, value_enum)]
    skip: Vec<Part>,
    /// Also try what a server keeps once more, with PostgreSQL in the place of SQLite
    #[arg(long)]
    on_postgres: bool,
    /// Fail where a program is missing, and say how to install it
    #[arg(long)]
    no_install: bool,
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
    /// Servers that share a store, which need PostgreSQL
    Postgres,
    /// The count of instructions, which needs valgrind
    Valgrind,
}

impl Arguments {
    /// Whether a part isn't left out.
    fn wants(&self, part: Part) -> bool {
        let needs_node = part == Part::Browser;
        !self.skip.contains(&part) && (!needs_node || self.wants(Part::Node))
    }

    /// The programs of all parts that aren't left out.
    fn tools(&self) -> Vec<Tool> {
        let always = [Tool::WasmTarget, Tool::NoStdTarget, Tool::Rustfmt, Tool::Clippy];
        let by_part = [
            (Part::Nats, Tool::NatsServer),
            (Part::Postgres, Tool::Postgres),
            (Part::Valgrind, Tool::Valgrind),
            (Part::Node, Tool::Node),
            (Part::Node, Tool::Npm),
            (Part::Browser, Tool::Chromium),
        ];
        let wanted = by_part.into_iter().filter(|(part, _)| self.wants(*part));
        always.into_iter().chain(wanted.map(|(_, tool)| tool)).collect()
    }
}

/// Runs every step, in the order in which a mistake shows soonest.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let wants = |part| arguments.wants(part);
    let (nats, postgres) = (wants(Part::Nats), wants(Part::Postgres));
    let install = if arguments.no_install { Install::Nothing } else { Install::System };
    let mut steps = Steps::new(workspace);
    let node = steps.run("tools", || {
        tool::require(&arguments.tools(), install)?;
        wants(Part::Node).then(|| tool::node(workspace, install)).transpose()
    });
    sources(workspace, nats, postgres, &mut steps);
    if nats && postgres && Tool::Nginx.is_there() {
        steps.run("tests, behind nginx", || {
            let tests = "test --package server --test reviews -- --ignored";
            command::run(&mut workspace.cargo(tests.split(' ')))
        });
    } else {
        steps.leave_out("servers behind nginx, which needs NATS and PostgreSQL, too");
    }
    if postgres && arguments.on_postgres {
        steps.run("tests, with PostgreSQL", || shared_store(workspace, nats));
    } else if !postgres {
        steps.leave_out("a store in PostgreSQL that servers share (--skip postgres)");
    }
    if wants(Part::Valgrind) {
        steps.run("instructions", || count::check(workspace));
    } else {
        steps.leave_out("the count of instructions (--skip valgrind)");
    }
    steps.run("licences, bans, advisories", || deny(workspace, install));
    if !nats {
        steps.leave_out("sweeps by workers, also after a kill of NATS or a worker (--skip nats)");
    }
    let browser = wants(Part::Browser);
    if let Some(Some(node)) = node {
        shipped(workspace, &node, browser, &mut steps);
    } else if !wants(Part::Node) {
        steps.leave_out("the optimised site, its size budget and the parity test (--skip node)");
    }
    if !browser {
        let flag = if wants(Part::Node) { "browser" } else { "node" };
        steps.leave_out(format!("the browser tests (--skip {flag})"));
    }
    steps.finish()
}

/// The steps on sources: they need Rust and, unless they are left out, NATS and PostgreSQL.
fn sources(workspace: &Workspace, nats: bool, postgres: bool, steps: &mut Steps) {
    let cargo = |line: &str| workspace.cargo(line.split_whitespace());
    let run = |line: &str| command::run(&mut cargo(line));
    steps.run("formatting", || {
        run("fmt --all --check")?;
        tidy::check(workspace)
    });
    steps.run("layers", || structure(workspace));
    steps.run("the model without std", || {
        run("check --package model --target wasm32v1-none")?;
        run("check --package model --target wasm32v1-none --features text")
    });
    steps.run("the model's dependencies", || allow_list::check(workspace));
    steps.run("lints, native", || {
        run("clippy --workspace --features validation/runs --all-targets -- --deny warnings")
    });
    steps.run("lints, browser", || {
        let modules = Module::packages(&Module::all(workspace)).join(" ");
        // `validation` as the page needs it: the report's types, without the runs.
        run(&format!(
            "clippy --package app --package present --package validation {modules} --lib \
             --features app/hydrate --target wasm32-unknown-unknown -- --deny warnings"
        ))
    });
    steps.run("documentation", || {
        let mut doc =
            cargo("doc --workspace --features validation/runs --no-deps --document-private-items");
        command::run(doc.env("RUSTDOCFLAGS", "--deny warnings"))
    });
    steps.run("tests", || {
        // Twice as many at once as there are cores: those with servers wait for half of their time.
        let threads = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        let mut tests = cargo("test --workspace --features validation/runs --");
        tests.arg(format!("--test-threads={threads}"));
        command::run(tests.args(skipped(nats, postgres)))
    });
}

/// Arguments that leave out the tests of a program, which are in modules named after it.
fn skipped(nats: bool, postgres: bool) -> impl Iterator<Item = &'static str> {
    let modules = [(nats, "with_nats"), (postgres, "with_postgres")];
    modules.into_iter().filter(|(is_there, _)| !is_there).flat_map(|(_, it)| ["--skip", it])
}

/// The structure of the code: what may import what, and figures that may only fall.
pub(crate) fn structure(workspace: &Workspace) -> Result<()> {
    layers::check(workspace)?;
    figures::check(workspace)?;
    packages::check(workspace)
}

/// The tests of what a server keeps once more, with PostgreSQL in the place of SQLite. What tests
/// do to a file of SQLite, they do to that alone.
fn shared_store(workspace: &Workspace, nats: bool) -> Result<()> {
    for line in [
        "test --package server --lib -- reviews::commit",
        "test --package server --test routes -- \
         api_v1_designs a_server_with_its_data review settings",
        "test --package server --test reviews -- \
         converge servers talk doors report with_nats with_postgres",
        "test --package server --test upkeep --",
    ] {
        let mut tests = workspace.cargo(line.split_whitespace());
        tests.env("MOESCAPE_TEST_STORE", "postgres");
        command::run(tests.args(skipped(nats, true)))?;
    }
    Ok(())
}

/// Checks what the packages in use are allowed to be; without their database, which machines that
/// reach only registries don't have, advisories are reported as left out.
fn deny(workspace: &Workspace, install: Install) -> Result<()> {
    let deny = |arguments: &[&str]| {
        let mut deny = tool::cargo_deny(workspace, install)?;
        deny.current_dir(&workspace.root).args(arguments);
        Ok::<_, anyhow::Error>(deny)
    };
    command::run(&mut deny(&["check", "licenses", "bans", "sources"])?)?;
    if deny(&["fetch", "db"])?.status()?.success() {
        return command::run(&mut deny(&["check", "--disable-fetch", "advisories"])?);
    }
    println!("left out: advisories, as their database can't be had here");
    Ok(())
}

/// The steps on the site as it is shipped, in front of the server that the tests were of: its
/// dependencies aren't compiled once more for a binary that differs in speed alone.
fn shipped(workspace: &Workspace, node: &Node, browser: bool, steps: &mut Steps) {
    steps.run("node packages", || node.install_packages(workspace));
    steps.run("types of scripts", || types(workspace, node));
    let site = steps.run("release site", || site::build(workspace, Quality::Release(node)));
    // Without a site a step failed, so the rest doesn't run.
    let Some(site) = site else { return };
    steps.run("size budget", || site.check_budget(workspace));
    steps.run("native and WASM agree", || parity(workspace, node, &site));
    steps.run("server and browser say the same", || words(workspace, node));
    if browser {
        steps.run("browser tests", || browser_tests(workspace, node, "playwright.config.ts"));
        steps.run("the site as a folder", || browser_tests(workspace, node, "static.config.ts"));
    }
}

/// Checks the page's hand-written scripts for names and calls that can't be.
fn types(workspace: &Workspace, node: &Node) -> Result<()> {
    let mut tsc = node.command(workspace.end2end().join("node_modules/.bin/tsc"))?;
    command::run(tsc.current_dir(workspace.end2end()).args(["--project", "scripts.json"]))
}

/// Compares every bit of 200 estimates, and the answers of searches, between this machine and the
/// shipped modules.
fn parity(workspace: &Workspace, node: &Node, site: &Site) -> Result<()> {
    let cases = workspace.target.join("parity.json");
    // As `cargo test` builds them, so that nothing is compiled twice.
    let build = "build --workspace --features validation/runs --examples";
    command::run(&mut workspace.cargo(build.split(' ')))?;
    let mut native = Command::new(workspace.target.join("debug/examples/parity_cases"));
    std::fs::write(&cases, command::output(&mut native)?)?;
    let mut compare = node.command("node")?;
    compare.arg(workspace.end2end().join("parity.mjs"));
    compare.arg(site.package()).args(site.module("explorer")?).args(site.module("search")?);
    compare.arg(cases);
    command::run(&mut compare)
}

/// Holds the browser's dictionary to the texts that a test of the server holds its own to.
fn words(workspace: &Workspace, node: &Node) -> Result<()> {
    let mut compare = node.command("node")?;
    compare.arg(workspace.end2end().join("words.mjs"));
    command::run(&mut compare)
}

fn browser_tests(workspace: &Workspace, node: &Node, config: &str) -> Result<()> {
    let mut playwright = node.command(workspace.end2end().join("node_modules/.bin/playwright"))?;
    playwright.current_dir(workspace.end2end()).args(["test", "--config", config]);
    playwright.env("MOESCAPE_BINARY", workspace.draft()).env("MOESCAPE_SITE", workspace.site());
    command::run(&mut playwright)
}
