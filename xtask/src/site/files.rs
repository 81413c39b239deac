//! The files of the site: hashed names, compressed siblings, `site.json`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use brotli::enc::BrotliEncoderParams;
use brotli::enc::command::BrotliDistanceParams;
use rayon::prelude::*;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::Quality;
use super::wasm::Parts;
use crate::workspace::Workspace;

/// A file below some directory.
pub(crate) struct File {
    /// Relative to that directory.
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// Every file below a directory, in a stable order; none when there is no such directory.
pub(crate) fn read_tree(directory: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    let mut rest = vec![directory.to_owned()];
    while let Some(next) = rest.pop() {
        if !next.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&next)? {
            let path = entry?.path();
            if path.is_dir() {
                rest.push(path);
            } else {
                let bytes = fs::read(&path)?;
                files.push(File { path: path.strip_prefix(directory)?.to_owned(), bytes });
            }
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The files of the site that are written by hand, beside the public ones.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a> {
    /// The scripts of pages and of workers, by their names.
    pub(crate) scripts: &'a [(&'static str, String)],
    /// The scripts of keys and palette by their names, each behind those that it imports.
    pub(crate) habits: &'a [(&'static str, String)],
    /// The service worker.
    pub(crate) service_worker: &'a str,
    /// The style sheet, bundled.
    pub(crate) style: &'a str,
    /// The typeface of the page, which the style sheet asks for as [`FONT`].
    pub(crate) font: &'a [u8],
}

/// The typeface as the style sheet names it.
pub(crate) const FONT: &str = "./fonts/inter.woff2";

/// Writes the whole site beside the old one and then takes its place.
pub(crate) fn assemble(
    workspace: &Workspace,
    quality: Quality<'_>,
    modules: &[Parts],
    texts: Texts<'_>,
    public: &[File],
) -> Result<()> {
    let site = workspace.site();
    let fresh = workspace.target.join("site.new");
    remove(&fresh)?;
    fs::create_dir_all(fresh.join("pkg"))?;
    for file in public {
        write(&fresh.join(&file.path), &file.bytes)?;
    }

    let package = Package { directory: fresh.join("pkg") };
    let font = format!("/pkg/{}", package.add("inter", "woff2", texts.font)?);
    ensure!(texts.style.contains(FONT), "the style sheet doesn't name {FONT}");
    let css = package.add("app", "css", texts.style.replace(FONT, &font).as_bytes())?;
    let mut names = json!({ "css": format!("/pkg/{css}"), "font": font });
    // Scripts name the files of modules as if they had no hash.
    let mut placeholders = Vec::new();
    for parts in modules {
        let stem = format!("{}_bg", parts.name);
        let wasm = package.add(&stem, "wasm", &fs::read(&parts.wasm)?)?;
        // The glue names its module, so that it can't meet another build's.
        let glue = fs::read_to_string(&parts.js)?.replace(&format!("{stem}.wasm"), &wasm);
        let js = package.add(&parts.name, "js", glue.as_bytes())?;
        placeholders.push((format!("/pkg/{}.js", parts.name), format!("/pkg/{js}")));
        placeholders.push((format!("/pkg/{stem}.wasm"), format!("/pkg/{wasm}")));
        names["modules"][&parts.name] =
            json!({ "js": format!("/pkg/{js}"), "wasm": format!("/pkg/{wasm}") });
        for snippet in read_tree(&parts.snippets)? {
            write(&package.directory.join("snippets").join(snippet.path), &snippet.bytes)?;
        }
    }
    let linked = |text: &str| {
        let pairs = placeholders.iter();
        pairs.fold(text.to_owned(), |text, (placeholder, file)| text.replace(placeholder, file))
    };
    for (name, script) in texts.scripts {
        let file = package.add(name, "js", linked(script).as_bytes())?;
        names["scripts"][*name] = format!("/pkg/{file}").into();
    }
    let habits: Vec<_> = texts.habits.iter().map(|(name, text)| (*name, linked(text))).collect();
    let habits = package.add_linked(&habits)?;
    if let Some(main) = habits.last() {
        names["scripts"]["habits"] = main.clone().into();
    }
    if let Some(folder) = habits.iter().find(|it| it.starts_with(FOLDER)) {
        names["scripts"]["folder"] = folder.clone().into();
    }
    package.compress(quality)?;
    write(&fresh.join("site.json"), format!("{names:#}\n").as_bytes())?;
    let service_worker = service_worker(texts.service_worker, &names, &habits);
    write(&fresh.join("service-worker.js"), service_worker.as_bytes())?;

    remove(&site)?;
    fs::rename(&fresh, &site).with_context(|| format!("cannot write {}", site.display()))
}

/// Beginning of the address of the script that only a folder of files has.
const FOLDER: &str = "/pkg/folder.";

/// Names of the files that make up the explorer.
const EXPLORER: [&str; 10] = [
    "/modules/explorer/js",
    "/modules/explorer/wasm",
    "/css",
    "/font",
    "/scripts/worker",
    "/scripts/share",
    "/scripts/import",
    "/scripts/save",
    "/modules/studies/js",
    "/modules/studies/wasm",
];

/// The service worker of this site: it knows the files that make up the explorer by their names, so
/// that its bytes change with every build that a visitor would notice.
fn service_worker(text: &str, names: &serde_json::Value, habits: &[String]) -> String {
    let name = |path: &str| names.pointer(path).and_then(|name| name.as_str());
    let own = EXPLORER.into_iter().filter_map(|path| name(path).map(str::to_owned));
    // Who reads another language gets its files with the first page, and they are kept then.
    // A server's pages need no script of a folder.
    let is_common = |file: &&String| {
        !["/pkg/chinese.", "/pkg/translate.", FOLDER].iter().any(|it| file.starts_with(it))
    };
    let habits = habits.iter().filter(is_common).cloned();
    let files: Vec<String> = own.chain(habits).collect();
    let list = json!(files).to_string();
    // All names: a page of any kind that is of another build is a new version.
    let version = hash(format!("{text}{names}{list}").as_bytes());
    let named = |path: &str| json!(name(path)).to_string();
    text.replace("\"VERSION\"", &format!("\"{}\"", &version[..16]))
        .replace("[\"FILES\"]", &list)
        .replace("\"MODULE\"", &named("/modules/explorer/wasm"))
        .replace("\"STYLE\"", &named("/css"))
}

/// The directory of files that browsers may keep forever.
struct Package {
    directory: PathBuf,
}

impl Package {
    /// Writes a file under a name that changes with its bytes.
    fn add(&self, stem: &str, extension: &str, bytes: &[u8]) -> Result<String> {
        let name = format!("{stem}.{}.{extension}", &hash(bytes)[..16]);
        write(&self.directory.join(&name), bytes)?;
        Ok(name)
    }

    /// Writes the compressed sibling of every file that isn't compressed by itself.
    fn compress(&self, quality: Quality<'_>) -> Result<()> {
        let mut files = read_tree(&self.directory)?;
        files.retain(|file| file.path.extension().is_none_or(|it| it != "woff2"));
        files
            .par_iter()
            .try_for_each(|file| compress(&self.directory.join(&file.path), &file.bytes, quality))
    }

    /// Writes scripts that import each other by name; gives their addresses in the same order. One
    /// may import only those in front of it.
    fn add_linked(&self, scripts: &[(&'static str, String)]) -> Result<Vec<String>> {
        let mut done: Vec<(String, String)> = Vec::new();
        for (name, text) in scripts {
            let mut text = text.clone();
            for (import, address) in &done {
                text = text.replace(import, address);
            }
            ensure!(!text.contains("\"./"), "{name}.js imports a script that stands behind it");
            let address = format!("/pkg/{}", self.add(name, "js", text.as_bytes())?);
            done.push((format!("\"./{name}.js\""), format!("\"{address}\"")));
        }
        Ok(done.into_iter().map(|(_, address)| address.trim_matches('"').to_owned()).collect())
    }
}

/// The compressed sibling of a file.
pub(crate) fn compressed(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".br");
    name.into()
}

/// SHA-256 in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes any text");
        text
    })
}

fn compress(path: &Path, bytes: &[u8], quality: Quality<'_>) -> Result<()> {
    let defaults = BrotliEncoderParams::default();
    let params = BrotliEncoderParams {
        quality: quality.brotli().cast_signed(),
        lgwin: 24,
        // The encoder makes better choices when it knows what comes.
        size_hint: bytes.len(),
        // Short distances as they are: modules repeat what came a few bytes before, 0.2 % less.
        dist: BrotliDistanceParams { num_direct_distance_codes: 8, ..defaults.dist },
        ..defaults
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut packed, &params)?;
    write(&compressed(path), &packed)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

fn remove(directory: &Path) -> Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)
            .with_context(|| format!("cannot remove {}", directory.display()))?;
    }
    Ok(())
}
