//! A small site for servers of tests.

use std::collections::BTreeMap;

use present::site::Module;
use serde_json::json;
use tempfile::TempDir;

/// The scripts of pages.
const SCRIPTS: [&str; 9] =
    ["worker", "share", "import", "save", "find", "finder", "habits", "early", "folder"];

/// Its directory; a file holds the end of its own name.
pub(crate) fn directory() -> TempDir {
    let site = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(site.path().join(path), text).unwrap();
    std::fs::create_dir(site.path().join("pkg")).unwrap();
    let file = |name: &str| {
        write(&format!("pkg/{name}"), name.rsplit('.').next().unwrap());
        format!("/pkg/{name}")
    };
    // Every module is the same.
    let module = json!({ "js": file("app.0123.js"), "wasm": file("app_bg.4567.wasm") });
    let modules = Module::ALL.iter().map(|it| (it.name(), &module)).collect::<BTreeMap<_, _>>();
    let scripts = SCRIPTS.map(|name| (name, file(&format!("{name}.0123.js"))));
    let names = json!({
        "css": file("app.89ab.css"),
        "font": file("inter.89ab.woff2"),
        "modules": modules,
        "scripts": BTreeMap::from(scripts),
    });
    write("pkg/app.0123.js.br", "js in brotli");
    write("favicon.svg", "<svg/>");
    write("site.json", &names.to_string());
    site
}
