//! The modules: compiled by cargo, bound by wasm-bindgen, made smaller by wasm-opt.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use super::Quality;
use crate::command;
use crate::tool::Node;
use crate::workspace::Workspace;

/// The platform that modules are compiled for.
pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// WebAssembly features that rustc's output may use; wasm-opt must know each, and may not add
/// others.
const WASM_FEATURES: &str = "--enable-bulk-memory --enable-multivalue --enable-mutable-globals \
    --enable-nontrapping-float-to-int --enable-reference-types --enable-sign-ext";

/// Output files of wasm-bindgen.
pub(crate) struct Parts {
    /// The stem of its files.
    pub(crate) name: String,
    pub(crate) wasm: PathBuf,
    pub(crate) js: PathBuf,
    /// JavaScript that crates bring with them; the directory may be absent.
    pub(crate) snippets: PathBuf,
}

/// A module of the site: a package in `app/modules` whose manifest says what it may weigh.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// The name of its directory: the stem of its files.
    pub(crate) name: String,
    /// The package that it is compiled from.
    package: String,
    /// Largest size on the wire.
    pub(crate) max_bytes: u64,
    /// Whether pages load it in a folder of files alone, so that no draft for a server has it.
    folder_only: bool,
}

impl Module {
    /// All of them, in the order of their names.
    pub(crate) fn all(workspace: &Workspace) -> Vec<Self> {
        workspace.packages.iter().filter_map(Self::of_package).collect()
    }

    fn of_package(package: &serde_json::Value) -> Option<Self> {
        let site = &package["metadata"]["site"];
        let max_bytes = site["max-bytes"].as_u64()?;
        let folder_only = site["folder-only"].as_bool().unwrap_or(false);
        let directory = Path::new(package["manifest_path"].as_str()?).parent()?;
        let name = directory.file_name()?.to_str()?.to_owned();
        let package = package["name"].as_str()?.to_owned();
        Some(Self { name, package, max_bytes, folder_only })
    }

    /// Those that a site of that quality has.
    fn of_quality(workspace: &Workspace, quality: Quality<'_>) -> Vec<Self> {
        let mut modules = Self::all(workspace);
        modules.retain(|module| matches!(quality, Quality::Release(_)) || !module.folder_only);
        modules
    }

    /// The packages of modules, as arguments for cargo.
    pub(crate) fn packages(modules: &[Self]) -> Vec<String> {
        let packages = modules.iter().map(|module| module.package.clone());
        packages.flat_map(|package| ["--package".to_owned(), package]).collect()
    }
}

/// Settings of the profile `dev` for a draft: views run in the browser at every move of a knob, so
/// that the page is as quick as the optimised one within a factor of two.
const DRAFT: [&str; 3] = [
    "profile.dev.package.app.opt-level=1",
    "profile.dev.package.present.opt-level=1",
    "profile.dev.package.model.opt-level=3",
];

/// Compiles modules for the browser, each to a file of its own. They share one compilation of
/// `app`, and a draft shares the macros of its dependencies with the server's build.
pub(crate) fn compile(
    workspace: &Workspace,
    quality: Quality<'_>,
) -> Result<Vec<(Module, PathBuf)>> {
    let mut build = workspace.cargo(["build", "--target", TARGET]);
    let modules = Module::of_quality(workspace, quality);
    build.args(Module::packages(&modules));
    let profile = match quality {
        Quality::Draft => {
            build.args(DRAFT.iter().flat_map(|setting| ["--config", setting]));
            "debug"
        }
        Quality::Release(_) => {
            build.args(["--profile", "wasm-release", "--config", &short_paths(workspace)?]);
            "wasm-release"
        }
    };
    command::run(&mut build)?;
    let directory = workspace.target.join(TARGET).join(profile);
    let compiled = |module: Module| {
        let file = directory.join(module.package.replace('-', "_")).with_extension("wasm");
        (module, file)
    };
    Ok(modules.into_iter().map(compiled).collect())
}

/// Setting of cargo that takes the directories of dependencies out of the places that panics name:
/// a module is smaller, and the same wherever it is built.
fn short_paths(workspace: &Workspace) -> Result<String> {
    let mut metadata = workspace.cargo(["metadata", "--locked", "--format-version", "1"]);
    metadata.args(["--filter-platform", TARGET]);
    let metadata: serde_json::Value = serde_json::from_str(&command::output(&mut metadata)?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    let manifests = foreign.filter_map(|package| package["manifest_path"].as_str());
    let directories: BTreeSet<_> =
        manifests.filter_map(|manifest| Path::new(manifest).parent()?.parent()?.to_str()).collect();
    let flags = directories.into_iter().map(|it| format!("'--remap-path-prefix={it}='"));
    let flags = flags.collect::<Vec<_>>().join(",");
    Ok(format!("target.{TARGET}.rustflags=[{flags}]"))
}

/// Functions with this in their names belong to streams of requests, which leptos brings and no
/// page makes: as long as they are exported, no optimiser may leave them out.
const UNUSED: &str = "intounderlying";

/// Writes a module's JavaScript glue. Names of functions stay where wasm-opt is to read them.
pub(crate) fn bind(
    workspace: &Workspace,
    module: &Module,
    compiled: &Path,
    quality: Quality<'_>,
) -> Result<Parts> {
    let name = &module.name;
    let directory = workspace.target.join("site.parts").join(name);
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    let mut bound = Bindgen::new()
        .input_path(compiled)
        .out_name(name)
        .web(true)?
        .typescript(false)
        .remove_name_section(matches!(quality, Quality::Draft))
        .remove_producers_section(true)
        .generate_output()
        .context("wasm-bindgen failed")?;
    let exports = &mut bound.wasm_mut().exports;
    let unused = exports.iter().filter(|it| it.name.contains(UNUSED)).map(|it| it.id());
    let unused: Vec<_> = unused.collect();
    unused.into_iter().for_each(|export| exports.delete(export));
    bound.emit(&directory).context("wasm-bindgen's output can't be written")?;
    Ok(Parts {
        name: name.clone(),
        wasm: directory.join(format!("{name}_bg.wasm")),
        js: directory.join(format!("{name}.js")),
        snippets: directory.join("snippets"),
    })
}

/// Passes of wasm-opt that make a module smallest with brotli. `-O1` first: more passes make fewer
/// bytes that compress worse, `-Oz` is 6 % larger. Then those that take out parameters and blocks
/// without making code less regular: 0.8 % less. Functions in the order of their names are beside
/// similar ones: 0.6 % less.
const PASSES: &str = "-O1 --dae-optimizing --merge-blocks --rse --vacuum --dae-optimizing \
    --merge-blocks --rse --vacuum -O1 --reorder-functions-by-name --strip-debug \
    --strip-target-features";

/// Makes a module smaller in place. Never with `--fast-math`: numbers must not change.
pub(crate) fn optimize(workspace: &Workspace, node: &Node, parts: &Parts) -> Result<()> {
    let program = workspace.end2end().join("node_modules/.bin/wasm-opt");
    let optimized = parts.wasm.with_extension("optimized");
    let mut wasm_opt = node.command(program)?;
    wasm_opt
        .args(PASSES.split(' '))
        .args(WASM_FEATURES.split(' '))
        .arg(&parts.wasm)
        .arg("--output")
        .arg(&optimized);
    command::run(&mut wasm_opt)?;
    fs::rename(optimized, &parts.wasm)?;
    Ok(())
}

/// Module and glue speak a private protocol that changes with every release of wasm-bindgen.
pub(crate) fn check_versions(lock: &str) -> Result<()> {
    let module = locked_version(lock, "wasm-bindgen")?;
    let tool = locked_version(lock, "wasm-bindgen-cli-support")?;
    ensure!(
        module == tool,
        "Cargo.lock has wasm-bindgen {module} but wasm-bindgen-cli-support {tool}; \
         set the latter to \"={module}\" in xtask/Cargo.toml",
    );
    Ok(())
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Result<&'a str> {
    let entry = format!("name = \"{package}\"\nversion = \"");
    let after = lock.split_once(&entry).map(|(_, after)| after);
    let version = after.and_then(|after| after.split('"').next());
    version.with_context(|| format!("Cargo.lock has no {package}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(module: &str, tool: &str) -> String {
        format!(
            "[[package]]\nname = \"wasm-bindgen\"\nversion = \"{module}\"\n\n\
             [[package]]\nname = \"wasm-bindgen-cli-support\"\nversion = \"{tool}\"\n"
        )
    }

    #[test]
    fn equal_versions_of_module_and_glue_pass() {
        check_versions(&lock("0.2.130", "0.2.130")).unwrap();
    }

    #[test]
    fn different_versions_of_module_and_glue_name_the_one_to_set() {
        let error = check_versions(&lock("0.2.131", "0.2.130")).unwrap_err().to_string();
        assert!(error.contains("\"=0.2.131\""), "{error}");
    }
}
