//! Figures of the structure, each with a limit that is only ever lowered.
//!
//! What a reader meets first is counted: modules at a crate's root, doc comments that open with a
//! riddle in place of a noun, words of the API's description, commands that reach into the pages,
//! formulas that read designs. A change that passes a limit is told which file has how many.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::command;
use crate::workspace::Workspace;

/// Words that a doc comment doesn't begin with: it says the noun first.
const RIDDLES: [&str; 10] =
    ["What", "How", "Who", "That of", "Those", "The same", "So many", "Of", "Is", "Whether what"];

/// Folders of the model whose formulas read deployments and plans, never designs.
const FORMULAS: [&str; 6] = ["answer", "device", "layer", "schedule", "serving", "training"];

/// Starts of what describes the API, in the files of its endpoints.
const DESCRIPTIONS: [&str; 6] = [
    "endpoints!",
    "parameter_list!",
    "const ",
    "pub(super) const ",
    "impl JsonSchema",
    "fn groups",
];

/// A figure: its name, its limit, and how much of it there is in a file.
struct Figure {
    name: &'static str,
    limit: usize,
    count: fn(&str, &str) -> usize,
}

/// Every figure. Whoever brings one down lowers its limit.
const FIGURES: [Figure; 9] = [
    Figure {
        name: "modules at the root of the model",
        limit: 14,
        count: |path, text| modules("model", path, text),
    },
    Figure {
        name: "modules at the root of the app",
        limit: 14,
        count: |path, text| modules("app", path, text),
    },
    Figure {
        name: "modules at the root of the server",
        limit: 14,
        count: |path, text| modules("server", path, text),
    },
    Figure { name: "doc comments that open with a riddle", limit: 159, count: riddles },
    Figure { name: "lines of the API's description by hand", limit: 386, count: by_hand },
    Figure { name: "files of commands and tools that reach into the app", limit: 0, count: pages },
    Figure { name: "designs read in formulas", limit: 31, count: designs },
    Figure { name: "functions of the model that take a whole plan", limit: 105, count: plans },
    Figure {
        name: "lines of Rust",
        limit: 250_000,
        count: |path, text| {
            if is_rust(path) { text.lines().count() } else { 0 }
        },
    },
];

/// Fails with every figure above its limit, and where most of it is.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut git = std::process::Command::new("git");
    git.current_dir(&workspace.root).args(["ls-files", "*.rs"]);
    let mut files = Vec::new();
    for path in command::output(&mut git)?.lines() {
        let file = workspace.root.join(path);
        // A file that was removed is listed until that is committed.
        if file.exists() {
            let text = std::fs::read_to_string(&file).with_context(|| format!("reading {path}"))?;
            files.push((path.to_owned(), text));
        }
    }
    let complaints: Vec<String> =
        FIGURES.iter().filter_map(|figure| complaint(figure, &files)).collect();
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}

fn complaint(figure: &Figure, files: &[(String, String)]) -> Option<String> {
    let counts = files.iter().map(|(path, text)| ((figure.count)(path, text), path));
    let mut counts: Vec<(usize, &String)> = counts.filter(|(count, _)| *count > 0).collect();
    let sum: usize = counts.iter().map(|(count, _)| count).sum();
    counts.sort_by(|one, other| other.cmp(one));
    let most = counts.iter().take(5).map(|(count, path)| format!("{path} {count}"));
    (sum > figure.limit).then(|| {
        let most: Vec<String> = most.collect();
        format!("{}: {sum}, not {}: {}", figure.name, figure.limit, most.join(", "))
    })
}

fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}

/// Modules that the root of a crate lists.
fn modules(name: &str, path: &str, text: &str) -> usize {
    if path != format!("{name}/src/lib.rs") {
        return 0;
    }
    let declared = |line: &&str| {
        let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
        line.starts_with("mod ")
    };
    text.lines().filter(declared).count()
}

/// Doc comments whose first word doesn't say what they are about.
fn riddles(path: &str, text: &str) -> usize {
    if !is_rust(path) {
        return 0;
    }
    let doc = |line: &str| line.trim_start().strip_prefix("///").map(str::to_owned);
    let mut before = None;
    let mut count = 0;
    for line in text.lines() {
        let own = doc(line);
        if let (Some(opening), None) = (&own, &before) {
            let words = opening.trim_start();
            let is_riddle = |riddle: &&str| {
                let rest = words.strip_prefix(riddle);
                rest.is_some_and(|rest| !rest.starts_with(|it: char| it.is_alphanumeric()))
            };
            count += usize::from(RIDDLES.iter().any(is_riddle));
        }
        before = own;
    }
    count
}

/// Lines with words that describe the API and that no type keeps right: the doc comments and texts
/// of endpoints and parameters, examples among them.
fn by_hand(path: &str, text: &str) -> usize {
    let is_words = path == "server/src/http/endpoint/words.rs";
    let has_endpoints = text.contains("\nendpoints! {") || text.contains("-> Vec<Group> {");
    if !path.starts_with("server/src/http/") || !(is_words || has_endpoints) {
        return 0;
    }
    let (mut describes, mut is_open, mut count) = (false, false, 0);
    for line in text.lines() {
        if !is_open && line.starts_with(|it: char| it.is_ascii_alphabetic()) {
            describes = is_words || DESCRIPTIONS.iter().any(|start| line.starts_with(start));
        }
        let is_quoted = is_open || line.contains('"');
        is_open ^= line.matches('"').count() % 2 == 1;
        let words = line.trim_start();
        let is_doc = line.starts_with(' ') && words.starts_with("/// ");
        let is_route = ["get ", "post ", "delete "].iter().any(|it| words.starts_with(it));
        count += usize::from(describes && (is_doc || is_quoted && !is_route));
    }
    count
}

/// Whether a command or a tool for agents imports pages.
fn pages(path: &str, text: &str) -> usize {
    let is_door = ["server/src/cli", "server/src/mcp"].iter().any(|door| path.starts_with(door));
    usize::from(is_door && is_rust(path) && text.contains("app::"))
}

/// Designs that formulas read.
fn designs(path: &str, text: &str) -> usize {
    let Some(inner) = path.strip_prefix("model/src/") else { return 0 };
    let room = inner.split(['/', '.']).next().unwrap_or_default();
    if FORMULAS.contains(&room) { text.matches(".design()").count() } else { 0 }
}

/// Functions that take a plan as a whole.
fn plans(path: &str, text: &str) -> usize {
    if path.starts_with("model/src/") { text.matches("plan: &Plan").count() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_riddle_is_the_first_line_of_a_comment_alone() {
        let text = "/// What it is.\n/// How it goes.\nfn a() {}\n    /// Island.\n/// Is it?\n\n";
        assert_eq!(riddles("a.rs", text), 1);
        assert_eq!(riddles("a.rs", "/// Those.\n\n/// Of a\n/// The sameness\n"), 2);
        assert_eq!(riddles("a.ts", text), 0);
    }

    #[test]
    fn the_roots_modules_are_counted_whatever_their_visibility() {
        let text = "//! mod a;\npub mod b;\nmod c;\npub(crate) mod d;\n    mod e;\n";
        assert_eq!(modules("model", "model/src/lib.rs", text), 3);
        assert_eq!(modules("model", "model/src/design.rs", text), 0);
    }

    #[test]
    fn a_figure_above_its_limit_names_the_files_that_have_most_of_it() {
        let figure = Figure { name: "plans", limit: 2, count: plans };
        let file = |path: &str, count: usize| {
            (format!("model/src/{path}.rs"), "fn f(plan: &Plan);\n".repeat(count))
        };
        assert_eq!(complaint(&figure, &[file("a", 1), file("b", 1)]), None);
        let found = complaint(&figure, &[file("a", 1), file("b", 2)]);
        assert_eq!(found.unwrap(), "plans: 3, not 2: model/src/b.rs 2, model/src/a.rs 1");
    }

    #[test]
    fn words_of_the_api_are_doc_comments_and_texts_of_its_endpoints() {
        let text = "/// No part.\nfn f() { g(\"x\") }\nendpoints! {\n    /// Sum.\n    ///\n    \
                    /// More.\n    get \"/a\" => a as a {\n        .takes(of::<T>)\n        \
                    .example(r#\"{\"b\":\n            1}\"#)\n    }\n}\nconst B: &str = \"c\";\n";
        assert_eq!(by_hand("server/src/http/routes/a.rs", text), 5);
        assert_eq!(by_hand("server/src/cli/a.rs", text), 0);
        assert_eq!(by_hand("server/src/http/endpoint/words.rs", "const A: &str = \"b\";\n"), 1);
    }

    #[test]
    fn formulas_are_the_rooms_that_have_them() {
        assert_eq!(designs("model/src/training/step.rs", "plan.design().a + plan.design().b"), 2);
        assert_eq!(designs("model/src/search/find.rs", "plan.design()"), 0);
        assert_eq!(pages("server/src/cli/find.rs", "use app::site;"), 1);
    }
}
