//! A small site for servers of tests.

use tempfile::TempDir;

/// Names in `site.json`, and the files below `pkg/` that they stand for.
const FILES: &[(&str, &str)] = &[
    ("js", "app.0123.js"),
    ("wasm", "app_bg.4567.wasm"),
    ("pages_js sweeps_js serving_js budget_js reviews_js", "pages.0123.js"),
    ("pages_wasm sweeps_wasm serving_wasm budget_wasm reviews_wasm", "pages_bg.4567.wasm"),
    ("worker", "worker.0123.js"),
    ("share", "share.0123.js"),
    ("import", "import.0123.js"),
    ("save", "save.0123.js"),
    ("find", "find.0123.js"),
    ("finder", "finder.0123.js"),
    ("habits", "habits.0123.js"),
    ("css", "app.89ab.css"),
    ("font", "inter.89ab.woff2"),
];

/// Its directory; a file holds the end of its own name.
pub(crate) fn directory() -> TempDir {
    let site = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(site.path().join(path), text).unwrap();
    std::fs::create_dir(site.path().join("pkg")).unwrap();
    let mut names = serde_json::Map::new();
    for (keys, file) in FILES {
        write(&format!("pkg/{file}"), file.rsplit('.').next().unwrap());
        names.extend(keys.split(' ').map(|key| (key.to_owned(), format!("/pkg/{file}").into())));
    }
    write("pkg/app.0123.js.br", "js in brotli");
    write("favicon.svg", "<svg/>");
    write("site.json", &serde_json::Value::Object(names).to_string());
    site
}
