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

pub(crate) use wasm::Module;

/// The scripts of keys and palette, each behind those that it imports; the last is the page's.
const HABITS: &str = "dictionary translate page folder match places designs palette menu choose \
    gloss tour gallery offline timeline habits";

/// The scripts of pages and of workers, as `site.json` calls them, and their files.
const SCRIPTS: [(&str, &str); 7] = [
    ("worker", "study_worker.js"),
    ("finder", "find_worker.js"),
    ("share", "share.js"),
    ("import", "import.js"),
    ("save", "save.js"),
    ("find", "find.js"),
    ("early", "early.js"),
];

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

/// A built site, with the names of its files as `site.json` holds them.
#[derive(Debug)]
pub(crate) struct Site {
    directory: PathBuf,
    names: serde_json::Value,
}

impl Site {
    /// The site in a directory, by its `site.json`.
    fn open(directory: &Path) -> Result<Self> {
        let text = fs::read_to_string(directory.join("site.json")).context("no site.json")?;
        Ok(Self { directory: directory.to_owned(), names: serde_json::from_str(&text)? })
    }

    /// The directory that holds the modules and their glue.
    pub(crate) fn package(&self) -> PathBuf {
        self.directory.join("pkg")
    }

    /// A module's glue and the module itself.
    pub(crate) fn module(&self, name: &str) -> Result<[PathBuf; 2]> {
        let file = |kind: &str| {
            let address = self.names["modules"][name][kind].as_str();
            address.with_context(|| format!("site.json lacks {name}")).map(|it| self.file(it))
        };
        Ok([file("js")?, file("wasm")?])
    }

    /// Fails when a module is too heavy to download.
    pub(crate) fn check_budget(&self, workspace: &Workspace) -> Result<()> {
        for Module { name, max_bytes, .. } in Module::all(workspace) {
            let [_, wasm] = self.module(&name)?;
            let bytes = size(&files::compressed(&wasm))?;
            ensure!(
                bytes <= max_bytes,
                "the module {name} is {} with brotli, more than the budget of {}",
                kilobytes(bytes),
                kilobytes(max_bytes),
            );
        }
        Ok(())
    }

    fn file(&self, url: &str) -> PathBuf {
        self.directory.join(url.trim_start_matches('/'))
    }

    fn print_sizes(&self) -> Result<()> {
        for path in files::read_tree(&self.package())?.into_iter().map(|file| file.path) {
            let path = self.package().join(path);
            let packed = files::compressed(&path);
            if packed.exists() {
                let (raw, brotli) = (kilobytes(size(&path)?), kilobytes(size(&packed)?));
                println!("{}: {raw} raw, {brotli} with brotli", shown(&path));
            }
        }
        Ok(())
    }
}

/// Builds the site; when nothing changed since the last time, only cargo runs.
pub(crate) fn build(workspace: &Workspace, quality: Quality<'_>) -> Result<Site> {
    let modules = wasm::compile(workspace, quality)?;
    let script = |name: &str| {
        let path = workspace.root.join("app/src/script").join(name);
        fs::read_to_string(&path).with_context(|| format!("no {}", path.display()))
    };
    let scripts = SCRIPTS.into_iter().map(|(name, file)| Ok((name, script(file)?)));
    let scripts = scripts.collect::<Result<Vec<_>>>()?;
    let mut habits = vec![("chinese", language::chinese(workspace)?)];
    for name in HABITS.split(' ') {
        habits.push((name, script(&format!("{name}.js"))?));
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

    let mut written = vec![service_worker.as_str(), &style];
    written.extend(scripts.iter().chain(&habits).map(|(_, text)| text.as_str()));
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
        let bound = wasm::bind(workspace, module, compiled, quality)?;
        if let Quality::Release(node) = quality {
            wasm::optimize(workspace, node, &bound)?;
        }
        Ok(bound)
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let texts = files::Texts {
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
