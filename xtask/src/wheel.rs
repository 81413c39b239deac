//! `cargo xtask wheel`: the Python package, built as it is shipped and tested as it is installed.
//!
//! All that it needs besides Python comes from PyPI into an environment below cargo's target
//! directory.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command;
use crate::python::Environment;
use crate::steps::Steps;
use crate::workspace::{Workspace, shown};

/// Packages that build the wheel and test it, in the versions that it is tested with.
const TOOLS: [&str; 5] =
    ["maturin==1.16.0", "mypy==2.4.1", "pyarrow==26.0.1", "pyright==1.1.414", "pytest>=8,<10"];

/// What to do beside the tests.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Write the outputs of the notebook and its chapter of the guide anew
    #[arg(long)]
    write: bool,
}

/// Builds the wheel, and tests it in environments where nothing else of ours is.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let package = workspace.root.join("crates/python");
    let tools = Environment::new(workspace.target.join("python"));
    let bare = Environment::new(workspace.target.join("python-bare"));
    let mut steps = Steps::new(workspace);
    steps.run("tools of Python", || {
        tools.make()?;
        tools.add(TOOLS)
    });
    let wheel = steps.run("wheel", || build(workspace, &tools, &package));
    let Some(wheel) = wheel else { return steps.finish() };
    steps.run("wheel in an empty environment", || {
        bare.make()?;
        bare.install(&wheel)?;
        let code = "import moescape as m; print(m.predict(m.Design.from_preset('deepseek-v3')))";
        command::output(bare.python().args(["-c", code])).map(drop)
    });
    steps.run("program", || workspace.build_draft());
    steps.run("package", || {
        tools.install(&wheel)?;
        let mut pytest = tools.python();
        pytest.args(["-m", "pytest", "--quiet", "-p", "no:cacheprovider"]).arg(&package);
        command::run(pytest.env("MOESCAPE_BINARY", workspace.draft()))
    });
    let script = workspace.target.join("notebook_cells.py");
    steps.run("notebook", || {
        let mut notebook = tools.python();
        notebook.arg(package.join("tests/notebook.py"));
        notebook.args(arguments.write.then_some("--write")).arg(&script);
        command::run(&mut notebook)
    });
    steps.run("types of Python", || {
        let mut mypy = tools.python();
        mypy.args(["-m", "mypy", "--config-file"]).arg(package.join("pyproject.toml"));
        mypy.arg("--python-executable").arg(tools.interpreter());
        command::run(mypy.args(["moescape", "tests"].map(|part| package.join(part))).arg(&script))?;
        let stubs = ["-m", "mypy.stubtest", "moescape", "--ignore-missing-stub"];
        command::run(tools.python().args(stubs).current_dir(&workspace.target))?;
        let mut pyright = tools.python();
        pyright.args(["-m", "pyright", "--pythonpath"]).arg(tools.interpreter());
        command::run(pyright.arg(package.join("moescape")).arg(&script))
    });
    println!("{}", shown(&wheel));
    steps.finish()
}

/// The wheel as it is shipped, alone in its directory.
fn build(workspace: &Workspace, tools: &Environment, package: &Path) -> Result<PathBuf> {
    let wheels = workspace.target.join("wheels");
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels)?;
    }
    let mut maturin = tools.python();
    maturin.args(["-m", "maturin", "build", "--release", "--locked", "--out"]).arg(&wheels);
    command::run(maturin.current_dir(package))?;
    let mut files = std::fs::read_dir(&wheels)?.filter_map(Result::ok).map(|entry| entry.path());
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "whl");
    files.find(is_wheel).context("maturin built no wheel")
}
