//! The site's pipeline: the explorer as WASM, its glue, the style sheet, and the public files.
//!
//! `cargo build` -> wasm-bindgen -> wasm-opt (release only) -> hashed names -> brotli ->
//! `site.json`. The server embeds the result, and learns the hashed names from `site.json`.

mod style;
mod wasm;
mod files;
mod language;
mod licences;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;

use crate::tool::Node;
use crate::workspace::{Workspace, shown};

use wasm::Module;
pub(crate) use wasm::module_packages;

/// Largest size of a module on the wire, in bytes.
const WASM_BUDGET_BYTES: u64 = 400_000;

/// Largest size of the module of studies: all views beyond the first screen, the timeline's picture
/// among them, and the model that they use: more kinds of layers than there were, what frameworks
/// refuse and can be told, and the search for what makes a design fit. It is loaded behind the
/// page, when a view is opened. Metrics of all regimes in one table took it up by a thousandth; it
/// is meant to come down to 470 kB.
const STUDIES_BUDGET_BYTES: u64 = 471_000;

/// Largest size of the module of review sessions: the explorer, the session's panel and the numbers
/// of serving that it speaks of in one. It is meant to come down to the others' budget; the rules
/// of frameworks took it up by a hundredth.
const REVIEWS_BUDGET_BYTES: u64 = 552_500;

/// The scripts of keys and palette, each behind those that it imports; the last is the page's.
const HABITS: &str = "dictionary translate page match places designs palette menu choose gloss \
    tour gallery offline timeline habits";

/// The modules and scripts that come beside the explorer's, as `site.json` calls them.
const OTHERS: &str = "search_wasm search_js studies_wasm studies_js worker share import save find \
    finder habits pages_wasm pages_js sweeps_wasm sweeps_js serving_wasm \
    serving_js budget_wasm budget_js reviews_wasm reviews_js";

/// The file of the site that has the licences of all that it and the server are made of.
pub(crate) const LICENCES: &str = "licences.txt";

/// Effort spent on small files.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quality<'a> {
    /// For working: no optimiser, so no node, and quick compression.
    Draft,
    /// For shipping; the optimiser runs on node.
    Release(&'a Node),
}

impl Quality<'_> {
    /// Brotli's level.
    fn brotli(self) -> u32 {
        match self {
            Self::Draft => 5,
            Self::Release(_) => 11,
        }
    }
}

/// A built site: the names that the page asks for, as `site.json` holds them.
#[derive(Debug)]
pub(crate) struct Site {
    directory: PathBuf,
    js: String,
    wasm: String,
    /// The modules and scripts that come beside the explorer's.
    others: Vec<String>,
    css: String,
}

impl Site {
    /// The site in a directory, by its `site.json`.
    fn open(directory: &Path) -> Result<Self> {
        let text = fs::read_to_string(directory.join("site.json")).context("no site.json")?;
        let names: serde_json::Value = serde_json::from_str(&text)?;
        let name = |key: &str| {
            names[key].as_str().map(str::to_owned).with_context(|| format!("site.json lacks {key}"))
        };
        Ok(Self {
            directory: directory.to_owned(),
            js: name("js")?,
            wasm: name("wasm")?,
            others: OTHERS.split(' ').map(name).collect::<Result<_>>()?,
            css: name("css")?,
        })
    }

    /// The directory that holds the module and its glue.
    pub(crate) fn package(&self) -> PathBuf {
        self.directory.join("pkg")
    }

    /// The glue's file.
    pub(crate) fn js(&self) -> PathBuf {
        self.file(&self.js)
    }

    /// The module's file.
    pub(crate) fn wasm(&self) -> PathBuf {
        self.file(&self.wasm)
    }

    /// The glue and the module of the search for layouts.
    pub(crate) fn search(&self) -> [PathBuf; 2] {
        let [wasm, js, ..] = self.others.as_slice() else { return [self.js(), self.wasm()] };
        [self.file(js), self.file(wasm)]
    }

    /// Fails when a module is too heavy to download.
    pub(crate) fn check_budget(&self) -> Result<()> {
        let modules = std::iter::once(&self.wasm).chain(&self.others);
        for module in modules.filter(|name| name.ends_with(".wasm")) {
            let bytes = size(&files::compressed(&self.file(module)))?;
            let budget = match module.trim_start_matches("/pkg/") {
                name if name.starts_with("reviews") => REVIEWS_BUDGET_BYTES,
                name if name.starts_with("studies") => STUDIES_BUDGET_BYTES,
                _ => WASM_BUDGET_BYTES,
            };
            ensure!(
                bytes <= budget,
                "{module} is {} with brotli, more than the budget of {}",
                kilobytes(bytes),
                kilobytes(budget),
            );
        }
        Ok(())
    }

    fn file(&self, url: &str) -> PathBuf {
        self.directory.join(url.trim_start_matches('/'))
    }

    fn print_sizes(&self) -> Result<()> {
        for url in [&self.wasm, &self.js].into_iter().chain(&self.others).chain([&self.css]) {
            let path = self.file(url);
            let (raw, brotli) = (size(&path)?, size(&files::compressed(&path))?);
            println!("{url}: {} raw, {} with brotli", kilobytes(raw), kilobytes(brotli));
        }
        Ok(())
    }
}

/// Builds the site; when nothing changed since the last time, only cargo runs.
pub(crate) fn build(workspace: &Workspace, quality: Quality<'_>) -> Result<Site> {
    let modules = wasm::compile(workspace, quality)?;
    let script = |name: &str| fs::read_to_string(workspace.root.join("app/src/script").join(name));
    let (worker, finder) = (script("study_worker.js")?, script("find_worker.js")?);
    let (share, import) = (script("share.js")?, script("import.js")?);
    let (save, find) = (script("save.js")?, script("find.js")?);
    let mut habits = vec![("chinese", language::chinese(workspace)?)];
    for name in HABITS.split(' ') {
        let path = workspace.root.join(format!("app/src/script/{name}.js"));
        let text = fs::read_to_string(&path);
        habits.push((name, text.with_context(|| format!("no {}", path.display()))?));
    }
    let service_worker = script("service_worker.js")?;
    let style = style::bundle(&workspace.root.join("style/main.css"))?;
    let font = workspace.root.join("style").join(files::FONT);
    let font = fs::read(&font).with_context(|| format!("no {}", font.display()))?;
    let mut public = files::read_tree(&workspace.root.join("public"))?;
    public.push(files::File {
        path: LICENCES.into(),
        bytes: licences::text(workspace)?.into_bytes(),
    });
    let directory = workspace.site();

    let mut written = vec![worker.as_str(), &finder, &share, &import, &save, &find];
    written.extend([service_worker.as_str(), &style]);
    written.extend(habits.iter().map(|(_, text)| text.as_str()));
    let mut stamp = stamp(workspace, quality, &modules, &written, &public)?;
    stamp.push_str(&format!("\n{}", files::hash(&font)));
    let stamp_file = workspace.target.join("site.stamp");
    if fs::read_to_string(&stamp_file).is_ok_and(|last| last == stamp)
        && let Ok(site) = Site::open(&directory)
    {
        println!("site unchanged in {}", shown(&directory));
        return Ok(site);
    }

    wasm::check_versions(&fs::read_to_string(workspace.root.join("Cargo.lock"))?)?;
    let parts = modules.par_iter().map(|(module, compiled)| {
        let bound = wasm::bind(workspace, *module, compiled, quality)?;
        if let Quality::Release(node) = quality {
            wasm::optimize(workspace, node, &bound)?;
        }
        Ok(bound)
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let scripts =
        [("share", share.as_str()), ("import", &import), ("save", &save), ("find", &find)];
    let texts = files::Texts {
        workers: &[("worker", worker.as_str()), ("finder", &finder)],
        scripts: &scripts,
        habits: &habits,
        service_worker: &service_worker,
        style: &style,
        font: &font,
    };
    files::assemble(workspace, quality, &parts, texts, &public)?;
    fs::write(stamp_file, stamp)?;
    let site = Site::open(&directory)?;
    site.print_sizes()?;
    Ok(site)
}

/// Changes when anything changes that the site is made of, this program included.
fn stamp(
    workspace: &Workspace,
    quality: Quality<'_>,
    modules: &[(Module, PathBuf)],
    texts: &[&str],
    public: &[files::File],
) -> Result<String> {
    let program = fs::metadata(std::env::current_exe()?)?;
    let tools = match quality {
        Quality::Draft => Vec::new(),
        Quality::Release(_) => fs::read(workspace.end2end().join("package-lock.json"))?,
    };
    let mut parts = vec![
        format!("{} {} {:?}", quality.brotli(), program.len(), program.modified()?),
        files::hash(&tools),
    ];
    parts.extend(texts.iter().map(|text| files::hash(text.as_bytes())));
    for (_, module) in modules {
        parts.push(files::hash(&fs::read(module)?));
    }
    parts.extend(
        public.iter().map(|file| format!("{} {}", file.path.display(), files::hash(&file.bytes))),
    );
    Ok(parts.join("\n"))
}

fn size(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).with_context(|| format!("no {}", path.display()))?;
    Ok(metadata.len())
}

/// In the unit of the budget: 1 kB is 1,000 bytes.
fn kilobytes(bytes: u64) -> String {
    format!("{}.{} kB", bytes / 1000, bytes % 1000 / 100)
}
