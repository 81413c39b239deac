//! The layers of the code: what may import what.
//!
//! `lib.rs` lists a crate's modules from ground to roof, and a module imports only modules above it
//! in that list, so that each can be read without the ones that come later. There is no second
//! table of layers to keep. The same text shows which files import each other in a circle, and a
//! few rules that no list shows.

mod circles;
mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::command;
use crate::workspace::Workspace;
use imports::Token;

/// Crates with the most files that a circle of their imports may have. All of such a circle are of
/// one concept, such as the page of a review session; the numbers only shrink.
const CRATES: [(&str, usize); 10] = [
    ("model", 3),
    ("app", 9),
    ("server", 0),
    ("crates/interchange", 2),
    ("crates/python", 0),
    ("crates/reports", 0),
    ("crates/review", 0),
    ("crates/sweep", 0),
    ("crates/testing", 0),
    ("crates/validation", 2),
];

/// Folders of modules that import nothing of each other, as `page/trust` and `page/ladder`, and
/// the modules in them that all of them share.
const APART: [(&str, &[&str]); 2] =
    [("page", &[]), ("study", &["answer", "figure", "options", "pins"])];

/// Folders that are text and numbers alone, so that every side can use them.
const PURE: [&str; 3] = ["present", "insight", "draw"];

/// Names that such folders may not use.
const VIEWS: [&str; 5] = ["leptos", "web_sys", "js_sys", "wasm_bindgen", "axum"];

/// Fails with every import that breaks a rule, each with its place.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut complaints = dependencies(workspace)?;
    for (name, limit) in CRATES {
        let tree = Tree::read(&workspace.root, &format!("{name}/src"))?;
        complaints.extend(tree.complaints(limit));
    }
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}

/// The files of a crate.
struct Tree {
    files: Vec<File>,
    /// The modules of `lib.rs`, from ground to roof.
    order: Vec<String>,
    /// Aliases that `lib.rs` exports: for each the module that it comes from.
    names: BTreeMap<String, Vec<String>>,
}

/// A source file.
struct File {
    /// Path in the repository.
    path: String,
    /// The module that it is, such as `["pair", "graph"]`; empty for `lib.rs`.
    module: Vec<String>,
    text: String,
}

impl Tree {
    /// The files of a directory that git knows; `main.rs` is a crate of its own.
    fn read(root: &Path, directory: &str) -> Result<Self> {
        let mut git = std::process::Command::new("git");
        git.current_dir(root).args(["ls-files", directory]);
        let mut files = Vec::new();
        for path in command::output(&mut git)?.lines().filter(|path| path.ends_with(".rs")) {
            let file = root.join(path);
            // A file that was removed is listed until that is committed.
            if file.exists() && path != format!("{directory}/main.rs") {
                let text = std::fs::read_to_string(file).with_context(|| path.to_owned())?;
                files.push((path.to_owned(), text));
            }
        }
        Ok(Self::new(directory, files))
    }

    fn new(directory: &str, files: Vec<(String, String)>) -> Self {
        let is_test = |file: &File| file.module.iter().any(|part| part == "tests");
        let files = files.into_iter().map(|(path, text)| {
            let inner = path.trim_start_matches(directory).trim_start_matches('/');
            let module = inner.trim_end_matches(".rs").split('/').map(str::to_owned);
            let module = module.filter(|part| part != "lib").collect();
            File { path, module, text }
        });
        let mut tree = Self {
            files: files.filter(|file| !is_test(file)).collect(),
            order: Vec::new(),
            names: BTreeMap::new(),
        };
        if let Some(root) = tree.file(&[]) {
            let tokens = imports::tokens(&root.text);
            let modules =
                tokens.windows(3).filter(|found| found[0].text == "mod" && found[2].text == ";");
            let order = modules.map(|found| found[1].text.to_owned()).collect();
            let paths = imports::paths(&tokens).into_iter();
            let names = paths.filter_map(|path| Some((path.alias?, path.parts))).collect();
            (tree.order, tree.names) = (order, names);
        }
        tree
    }

    /// The file of a module.
    fn file(&self, module: &[String]) -> Option<&File> {
        self.files.iter().find(|file| file.module == module)
    }

    /// The files of its own crate that a file imports, each by the first line that does.
    fn imports(&self, file: &File, tokens: &[Token<'_>]) -> Vec<(usize, &File)> {
        let mut found: Vec<(usize, &File)> = Vec::new();
        for path in imports::paths(tokens) {
            let mut target = self.resolve(&file.module, &path.parts).unwrap_or_default();
            // A path ends in an item, which may be in the file of any module before it.
            while !target.is_empty() && self.file(&target).is_none() {
                target.pop();
            }
            let Some(other) = self.file(&target).filter(|other| !other.module.is_empty()) else {
                continue;
            };
            if other.module != file.module
                && found.iter().all(|(_, known)| known.path != other.path)
            {
                found.push((path.line, other));
            }
        }
        found
    }

    /// A path as written in a module, from the crate's root.
    fn resolve(&self, module: &[String], parts: &[String]) -> Option<Vec<String>> {
        let supers = parts.iter().take_while(|part| *part == "super").count();
        let first = parts.first()?;
        let (base, rest) = match first.as_str() {
            "crate" => {
                let rest = &parts[1..];
                let known = rest.first().filter(|name| !self.order.contains(name));
                match known.and_then(|name| self.names.get(name)) {
                    Some(path) => return Some(path.clone()),
                    None => (&[][..], rest),
                }
            }
            "super" => (&module[..module.len().checked_sub(supers)?], &parts[supers..]),
            "self" => (module, &parts[1..]),
            _ => {
                let child = [module, &parts[..1]].concat();
                self.file(&child)?;
                (module, parts)
            }
        };
        Some([base, rest].concat())
    }

    /// Complaints about everything that is against the rules.
    fn complaints(&self, limit: usize) -> Vec<String> {
        let mut complaints = Vec::new();
        let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for file in self.files.iter().filter(|file| !file.module.is_empty()) {
            let tokens = imports::tokens(&file.text);
            let imports = self.imports(file, &tokens);
            let others = imports.iter().map(|(_, other)| other.path.as_str());
            graph.insert(&file.path, others.collect());
            for (line, other) in imports {
                let [one, two] = [file, other].map(|file| file.module.join("::"));
                let sentence = format!("{}:{line}: {one} imports {two}, which stands", file.path);
                if self.is_upward(file, other) {
                    complaints.push(format!("{sentence} later in lib.rs"));
                } else if are_apart(file, other) {
                    complaints.push(format!("{sentence} apart from it"));
                }
            }
            complaints.extend(views(file, &tokens));
        }
        complaints.extend(too_large(limit, &circles::largest(&graph)));
        complaints
    }

    /// Whether one file's module comes before the other's in `lib.rs`.
    fn is_upward(&self, file: &File, other: &File) -> bool {
        let place = |file: &File| self.order.iter().position(|name| *name == file.module[0]);
        place(file) < place(other)
    }
}

/// Whether two modules are in one folder of those that know nothing of each other.
fn are_apart(file: &File, other: &File) -> bool {
    let ([folder, one, ..], [same, two, ..]) = (&*file.module, &*other.module) else {
        return false;
    };
    let is_shared = |shared: &[&str]| [one, two].iter().any(|name| shared.contains(&name.as_str()));
    let apart = APART.iter().find(|(name, _)| name == folder);
    folder == same && one != two && apart.is_some_and(|(_, shared)| !is_shared(shared))
}

/// A circle of more files than there may be.
fn too_large(limit: usize, circle: &BTreeSet<&str>) -> Option<String> {
    let count = circle.len();
    let files: Vec<&str> = circle.iter().copied().collect();
    (count > limit).then(|| {
        format!("{count} files import each other in a circle, not {limit}: {}", files.join(", "))
    })
}

/// Names of views in folders that are to be pure.
fn views(file: &File, tokens: &[Token<'_>]) -> Option<String> {
    PURE.contains(&file.module[0].as_str()).then_some(())?;
    let found = tokens.iter().find(|token| VIEWS.contains(&token.text))?;
    Some(format!("{}:{}: names {}, and is to be pure", file.path, found.line, found.text))
}

/// The dependencies of the workspace's packages that lead upwards.
fn dependencies(workspace: &Workspace) -> Result<Vec<String>> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let text = command::output(&mut workspace.cargo(arguments))?;
    Ok(upward(&serde_json::from_str(&text)?))
}

/// `model` and what lies in `crates` depend on neither `app` nor `server`, `app` not on `server`.
fn upward(metadata: &serde_json::Value) -> Vec<String> {
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let mut complaints = Vec::new();
    for package in list(&metadata["packages"]) {
        let (name, path) = (package["name"].as_str(), package["manifest_path"].as_str());
        let forbidden: &[&str] = match name {
            Some("app") => &["server"],
            Some("model") => &["app", "server"],
            _ if path.is_some_and(|path| path.contains("/crates/")) => &["app", "server"],
            _ => &[],
        };
        for dependency in list(&package["dependencies"]) {
            let other = dependency["name"].as_str().unwrap_or_default();
            if forbidden.contains(&other) {
                complaints.push(format!("{} depends on {other}", path.unwrap_or_default()));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(limit: usize, files: &[(&str, &str)]) -> Vec<String> {
        let path = |path: &str| format!("a/src/{path}");
        let files = files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
        Tree::new("a/src", files).complaints(limit)
    }

    #[test]
    fn a_module_imports_those_above_it() {
        let files = [
            ("lib.rs", "mod ground;\nmod roof;\nuse roof::Roof;"),
            ("ground.rs", "fn f() {}"),
            ("roof.rs", "use crate::ground;\nmod tile;"),
            ("roof/tile.rs", "use crate::ground::{self, f};"),
        ];
        assert!(complaints(0, &files).is_empty());
    }

    #[test]
    fn an_upward_import_is_named_with_its_place_also_through_the_root() {
        let files = [
            ("lib.rs", "pub mod ground;\nmod roof;\npub use roof::{Roof, tile as slate};"),
            ("ground.rs", "\nmod floor;"),
            ("ground/floor.rs", "use super::super::roof;\nfn f(_: crate::Roof) {}"),
            ("ground/wall.rs", "\nuse crate::slate;"),
            ("roof.rs", ""),
        ];
        let expected = [
            "a/src/ground/floor.rs:1: ground::floor imports roof, which stands later in lib.rs",
            "a/src/ground/wall.rs:2: ground::wall imports roof, which stands later in lib.rs",
        ];
        assert_eq!(complaints(0, &files), expected);
    }

    #[test]
    fn a_circle_of_more_files_than_may_be_is_named() {
        let files = [
            ("lib.rs", "mod one;"),
            ("one.rs", "mod inner;\nuse inner::A;"),
            ("one/inner.rs", "use super::B;"),
        ];
        assert!(complaints(2, &files).is_empty());
        let found = complaints(0, &files);
        let files = "a/src/one.rs, a/src/one/inner.rs";
        assert_eq!(found, [format!("2 files import each other in a circle, not 0: {files}")]);
    }

    #[test]
    fn pages_know_nothing_of_each_other_and_studies_share_a_few_modules() {
        let files = [
            ("lib.rs", "mod study;\nmod page;"),
            ("study/map.rs", "use super::figure::Figure;"),
            ("study/figure.rs", ""),
            ("page/trust.rs", "use crate::study::map;"),
            ("page/ladder.rs", "use super::trust::PATH;"),
        ];
        assert_eq!(
            complaints(0, &files),
            ["a/src/page/ladder.rs:1: page::ladder imports page::trust, \
                 which stands apart from it"]
        );
    }

    #[test]
    fn what_is_to_be_pure_names_no_views() {
        let files = [
            ("lib.rs", "mod draw;"),
            ("draw/axis.rs", "//! No leptos.\nfn f() {\n  web_sys::window();\n}"),
        ];
        assert_eq!(
            complaints(0, &files),
            ["a/src/draw/axis.rs:3: names web_sys, and is to be pure"]
        );
    }

    #[test]
    fn a_crate_of_the_ground_depends_on_none_above() {
        let metadata = serde_json::json!({"packages": [
            {"name": "model", "manifest_path": "/m/Cargo.toml", "dependencies": [{"name": "libm"}]},
            {"name": "app", "manifest_path": "/a/Cargo.toml", "dependencies": [{"name": "server"}]},
            {"name": "sweep", "manifest_path": "/crates/s/Cargo.toml",
             "dependencies": [{"name": "app"}, {"name": "model"}]},
        ]});
        let expected = ["/a/Cargo.toml depends on server", "/crates/s/Cargo.toml depends on app"];
        assert_eq!(upward(&metadata), expected);
    }
}
