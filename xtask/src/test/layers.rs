//! The layers of the code: what may import what.
//!
//! The root of a crate lists its rooms from ground to roof, and each room its modules likewise: a
//! module imports only those above it in the list where their ways part, so that each can be read
//! without the ones that come later. There is no second table of layers to keep. The same text
//! shows which files import each other in a circle, and a few rules that no list shows.

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
const CRATES: [(&str, usize); 13] = [
    ("model", 3),
    ("app", 4),
    ("server", 0),
    ("crates/interchange", 2),
    ("crates/operations", 0),
    ("crates/present", 6),
    ("crates/python", 0),
    ("crates/reports", 0),
    ("crates/review", 0),
    ("crates/sweep", 0),
    ("crates/testing", 0),
    ("crates/validation", 2),
    ("xtask", 2),
];

/// Folders whose modules import each other in a circle, so that no order of them is one from ground
/// to roof; there are only to be fewer.
const CIRCULAR: [&str; 12] = [
    "app/src/page/results.rs",
    "app/src/timeline.rs",
    "crates/interchange/src/engine.rs",
    "crates/present/src/charts.rs",
    "crates/present/src/insight.rs",
    "crates/present/src/page/compare.rs",
    "crates/present/src/page/results.rs",
    "model/src/design.rs",
    "model/src/rules.rs",
    "model/src/serving.rs",
    "model/src/training/anchor.rs",
    "model/src/training/step.rs",
];

/// Folders of modules that import nothing of each other, as `page/trust` and `page/ladder`, and
/// the modules in them that all of them share.
const APART: [(&str, &[&str]); 2] =
    [("page", &[]), ("study", &["answer", "figure", "options", "pins"])];

/// Modules that write no pages: the command line and the tools of MCP.
const PAGELESS: [&str; 2] = ["cli", "mcp"];

/// Crates that such modules name nothing of.
const VIEWS: [&str; 2] = ["app", "leptos"];

/// Fails with every import that breaks a rule, each with its place.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut complaints = upward(&workspace.packages);
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
    /// Place of the root in the repository.
    directory: String,
    /// Modules that each file lists, from ground to roof, by the file's module.
    orders: BTreeMap<Vec<String>, Vec<String>>,
    /// Names that the root gives to items of its modules, with the module of each.
    names: BTreeMap<String, Vec<String>>,
}

/// A source file.
struct File {
    /// Path in the repository.
    path: String,
    /// The module that it is, such as `["pair", "graph"]`; empty for the root.
    module: Vec<String>,
    text: String,
}

impl Tree {
    /// The files of a directory that git knows; beside `lib.rs`, `main.rs` is a crate of its own.
    fn read(root: &Path, directory: &str) -> Result<Self> {
        let mut git = std::process::Command::new("git");
        git.current_dir(root).args(["ls-files", directory]);
        let mut files = Vec::new();
        let is_library = root.join(directory).join("lib.rs").exists();
        for path in command::output(&mut git)?.lines().filter(|path| path.ends_with(".rs")) {
            let file = root.join(path);
            // A file that was removed is listed until that is committed.
            if file.exists() && !(is_library && path == format!("{directory}/main.rs")) {
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
            let module = module.filter(|part| !["lib", "main"].contains(&part.as_str())).collect();
            File { path, module, text }
        });
        let mut tree = Self {
            files: files.filter(|file| !is_test(file)).collect(),
            directory: directory.to_owned(),
            orders: BTreeMap::new(),
            names: BTreeMap::new(),
        };
        for file in &tree.files {
            let tokens = imports::tokens(&file.text);
            let modules =
                tokens.windows(3).filter(|found| found[0].text == "mod" && found[2].text == ";");
            let order = modules.map(|found| found[1].text.to_owned()).collect();
            tree.orders.insert(file.module.clone(), order);
            if file.module.is_empty() {
                let paths = imports::paths(&tokens).into_iter();
                tree.names = paths.filter_map(|path| Some((path.alias?, path.parts))).collect();
            }
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
                let known = rest.first().filter(|name| !self.orders[&vec![]].contains(name));
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
        let mut circular = BTreeSet::new();
        let mut graph: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for file in self.files.iter().filter(|file| !file.module.is_empty()) {
            let tokens = imports::tokens(&file.text);
            let imports = self.imports(file, &tokens);
            complaints.extend(views(file, &tokens));
            let others = imports.iter().map(|(_, other)| other.path.as_str());
            graph.insert(&file.path, others.collect());
            for (line, other) in imports {
                let [one, two] = [file, other].map(|file| file.module.join("::"));
                let sentence = format!("{}:{line}: {one} imports {two}, which stands", file.path);
                if let Some(list) = self.upward(file, other) {
                    if CIRCULAR.contains(&list.as_str()) {
                        circular.insert(list);
                    } else {
                        complaints.push(format!("{sentence} later in {list}"));
                    }
                } else if are_apart(file, other) {
                    complaints.push(format!("{sentence} apart from it"));
                }
            }
        }
        let known = CIRCULAR.iter().filter(|list| list.starts_with(&self.directory));
        let mended = known.filter(|list| !circular.contains(**list));
        complaints.extend(mended.map(|list| format!("{list}: is no circle any more")));
        complaints.extend(too_large(limit, &circles::largest(&graph)));
        complaints
    }

    /// The file whose list names one file's module before the other's, where their ways part.
    fn upward(&self, file: &File, other: &File) -> Option<String> {
        let shared = file.module.iter().zip(&other.module).take_while(|(one, two)| one == two);
        let (folder, [one, ..]) = file.module.split_at_checked(shared.count())? else {
            return None;
        };
        let two = other.module.get(folder.len())?;
        let order = self.orders.get(folder)?;
        let place = |name: &String| order.iter().position(|listed| listed == name);
        (place(one) < place(two))
            .then(|| self.file(folder).map_or_else(String::new, |file| file.path.clone()))
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

/// Crates of views in modules that write no pages.
fn views(file: &File, tokens: &[Token<'_>]) -> Option<String> {
    PAGELESS.contains(&file.module[0].as_str()).then_some(())?;
    let found = tokens.iter().find(|token| VIEWS.contains(&token.text))?;
    Some(format!("{}:{}: names {}, and writes no page", file.path, found.line, found.text))
}

/// `model` and what lies in `crates` depend on neither `app` nor `server`, `app` not on `server`.
fn upward(packages: &[serde_json::Value]) -> Vec<String> {
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let mut complaints = Vec::new();
    for package in packages {
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
        let expected = [("floor.rs:1", "floor"), ("wall.rs:2", "wall")].map(|(place, module)| {
            let sentence = format!("ground::{module} imports roof, which stands later in");
            format!("a/src/ground/{place}: {sentence} a/src/lib.rs")
        });
        assert_eq!(complaints(0, &files), expected);
    }

    #[test]
    fn a_room_lists_its_modules_from_ground_to_roof() {
        let files = [
            ("lib.rs", "mod room;"),
            ("room.rs", "mod floor;\nmod wall;"),
            ("room/floor.rs", "use super::wall::Wall;"),
            ("room/wall.rs", ""),
            ("room/wall/window.rs", "use crate::room::floor;"),
        ];
        let expected =
            ["a/src/room/floor.rs:1: room::floor imports room::wall, which stands later in \
             a/src/room.rs"];
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
    fn what_writes_no_page_names_no_crate_of_views() {
        let files =
            [("lib.rs", "mod mcp;"), ("mcp/said.rs", "//! No leptos.\nfn f() {\n  app::f();\n}")];
        assert_eq!(complaints(0, &files), ["a/src/mcp/said.rs:3: names app, and writes no page"]);
    }

    #[test]
    fn a_crate_of_the_ground_depends_on_none_above() {
        let packages = serde_json::json!([
            {"name": "model", "manifest_path": "/m/Cargo.toml", "dependencies": [{"name": "libm"}]},
            {"name": "app", "manifest_path": "/a/Cargo.toml", "dependencies": [{"name": "server"}]},
            {"name": "sweep", "manifest_path": "/crates/s/Cargo.toml",
             "dependencies": [{"name": "app"}, {"name": "model"}]},
        ]);
        let expected = ["/a/Cargo.toml depends on server", "/crates/s/Cargo.toml depends on app"];
        assert_eq!(upward(packages.as_array().unwrap()), expected);
    }
}
