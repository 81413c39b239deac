//! The folder as a whole, of a site whose scripts do nothing.

use std::path::Path;

use present::site::Module;

use super::*;

/// A built site of empty files.
fn site(directory: &Path, folder: &'static str) -> Site {
    let mut written = vec![
        ("manifest.webmanifest".to_owned(), r#"{"start_url":"/"}"#),
        ("favicon.svg".to_owned(), "<svg/>"),
        (
            "service-worker.js".to_owned(),
            "const VERSION = \"\";\nconst FILES = [];\nconst PAGES = [];\n",
        ),
        ("pkg/a.js".to_owned(), "import \"/pkg/b.js\";"),
        ("pkg/folder.js".to_owned(), folder),
        ("pkg/early.js".to_owned(), "early()"),
    ];
    let modules = Module::ALL.iter().map(|module| {
        let name = module.name();
        for kind in ["js", "wasm"] {
            written.push((format!("pkg/{name}.{kind}"), name));
        }
        format!(r#""{name}":{{"js":"/pkg/{name}.js","wasm":"/pkg/{name}.wasm"}}"#)
    });
    let modules = modules.collect::<Vec<_>>().join(",");
    let scripts = ["worker", "share", "import", "save", "find", "finder", "habits"];
    let scripts = scripts.map(|name| format!(r#""{name}":"/pkg/a.js","#)).concat();
    let names = format!(
        r#"{{"css":"/pkg/a.js","font":"/pkg/a.js","modules":{{{modules}}},"scripts":{{{scripts}
        "early":"/pkg/early.js","folder":"/pkg/folder.js"}}}}"#
    );
    std::fs::create_dir_all(directory.join("pkg")).unwrap();
    for (path, text) in &written {
        std::fs::write(directory.join(path), text).unwrap();
    }
    std::fs::write(directory.join("site.json"), names).unwrap();
    Site::from_directory(directory).unwrap()
}

/// Values of an attribute.
fn values<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// The file that a link in another one leads to.
fn target(from: &str, link: &str) -> String {
    let path = link.split(['?', '#']).next().unwrap_or_default();
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    let whole = parts.join("/");
    if path.ends_with('/') { format!("{whole}/index.html") } else { whole }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_a_file_and_every_link_leads_to_one() {
    let directory = tempfile::tempdir().unwrap();
    let site = site(directory.path(), "import \"/pkg/a.js\"; const PAGES = [\"PAGES\"];");
    let files = files(site).await.unwrap();
    for page in Page::ALL.iter().filter(|page| !page.has_id()) {
        assert!(files.contains_key(&addresses::file_of(page.path())), "{page:?}");
    }
    let mut links = 0;
    for (path, bytes) in files.iter().filter(|(path, _)| path.ends_with(".html")) {
        let html = std::str::from_utf8(bytes).unwrap();
        assert!(html.contains("http-equiv=\"Content-Security-Policy\""), "{path}");
        assert!(!html.contains("nonce"), "{path} has a nonce");
        for link in ["href", "src", "action"].iter().flat_map(|name| values(html, name)) {
            let is_elsewhere = link.contains(':') || link.starts_with(['#', '?']);
            if is_elsewhere || link.is_empty() {
                continue;
            }
            let to = target(path, link).trim_start_matches('/').to_owned();
            let is_there = files.contains_key(&to) || files.contains_key(&addresses::file_of(&to));
            assert!(is_there, "{path} links to {link}: there is no {to}");
            links += 1;
        }
    }
    assert!(links > 1_000, "{links} links");
    let text = |path: &str| String::from_utf8(files[path].clone()).unwrap();
    assert_eq!(text("pkg/a.js"), "import \"./b.js\";");
    assert!(text("service-worker.js").contains("\"/find/\""), "{}", text("service-worker.js"));
    assert!(!files.contains_key("pkg/reviews.wasm") && !files.contains_key("pkg/folder.js"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_that_lacks_what_a_folder_loads_makes_none() {
    let directory = tempfile::tempdir().unwrap();
    let refusal = files(site(directory.path(), "import(\"/pkg/writer.js\")")).await.unwrap_err();
    assert!(refusal.contains("lacks pkg/writer.js"), "{refusal}");
}
