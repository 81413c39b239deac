//! `cargo xtask witness`: asks Megatron-Core itself whether it starts the designs that `find`
//! names.
//!
//! Its rules are ours to copy, so nothing of ours can show that they are copied well. The package
//! of PyPI parses and validates the arguments of exported scripts with its own code; only `torch`
//! is a stub, since no tensor is made. It needs the network, so it is no part of `test`.

use anyhow::Result;

use crate::command;
use crate::python::Environment;
use crate::workspace::Workspace;

/// Release of Megatron-Core under test: the newest.
const MEGATRON: &str = "megatron-core==0.19.2";
/// Packages that it imports and uses before a tensor is made.
const TOOLS: [&str; 3] = ["numpy>=2,<3", "packaging>=24.2", "typing_extensions>=4.12"];
/// Its Python alone is read, so that one wheel does for every machine, and for a Python that is
/// older than the one it asks for.
const WHEEL: &str = "--quiet --upgrade --no-deps --only-binary :all: --platform \
                     manylinux_2_28_x86_64 --implementation cp --python-version 3.12 \
                     --ignore-requires-python";
/// The answers that are kept.
const RECORD: &str = "xtask/witness/answers.txt";

/// What to do beside asking.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the answers into xtask/witness/answers.txt
    #[arg(long)]
    write: bool,
}

/// Prints what Megatron-Core says of each design, and fails if it refuses one.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let environment = Environment::new(workspace.target.join("python-witness"));
    environment.make()?;
    environment.add(TOOLS)?;
    let megatron = workspace.target.join("python-witness/megatron");
    let mut install = environment.python();
    install.args(["-m", "pip", "install"]).args(WHEEL.split_whitespace());
    command::run(install.arg("--target").arg(&megatron).arg(MEGATRON))?;
    workspace.build_draft()?;
    let mut check = environment.python();
    check.arg(workspace.root.join("xtask/witness/check.py")).arg(workspace.draft());
    check.args(arguments.write.then(|| workspace.root.join(RECORD)));
    command::run(check.env("PYTHONPATH", megatron))
}
