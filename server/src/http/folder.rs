//! The site as a folder of files that any web server hands out, also below a path: every page as
//! its route answers it for its first design, with links from file to file, and the site's files.
//!
//! A file is the same whatever follows the `?` of its address, so that pages follow their address
//! in the browser: the mark `data-base` of the document says so, and where the folder begins. What
//! needs a server is a page that says it.

mod addresses;
mod document;
mod notice;
mod service_worker;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::Response;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use present::page::{ladder, trust};
use present::site::{Module, Page};

use crate::http::routes::router;
use crate::site::Site;
use crate::site::guide::{self, CHAPTERS};
use crate::site::language::Language;
use crate::state::AppState;

use addresses::Addresses;

/// The files of the folder by their paths, with slashes.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Modules whose pages need a server.
const LEFT_OUT: [Module; 2] = [Module::Sweeps, Module::Reviews];

/// Answers for scripts that are the same for everybody.
const DATA: [&str; 4] =
    ["/palette.json", "/glossary.json", trust::JSON_PATH, "/api/v1/openapi.json"];

/// Makes the files of the folder.
///
/// # Errors
/// The reason why a page can't be made, in a line.
pub(crate) async fn files(site: Site) -> Result<Files, String> {
    // Nothing is kept: the directory is a name that nobody opens.
    let state = AppState::new(site, "moescape-static".into());
    let service = TowerToHyperService::new(router(state.clone()));
    let pages = pages();
    let addresses = Addresses::new(pages.iter().cloned().chain(notice::files()));
    let mut files = site_files(&state.site);
    // GitHub Pages would look for files that it makes others of.
    files.insert(".nojekyll".to_owned(), Vec::new());
    for address in DATA {
        let (_, bytes) = asked(&service, address).await?;
        files.insert(address.trim_start_matches('/').to_owned(), bytes);
    }
    for name in guide::image_names() {
        let address = format!("{}/images/{name}", guide::PATH);
        let (_, bytes) = asked(&service, &address).await?;
        files.insert(address.trim_start_matches('/').to_owned(), bytes);
    }
    let mut documents = Vec::new();
    for (address, file) in pages {
        let (policy, html) = asked(&service, &address).await?;
        documents.push((file, policy, html));
    }
    for (address, file) in notice::files() {
        let (policy, html) = read(notice::answer(&state, &address), &address).await?;
        documents.push((file, policy, html));
    }
    let names = state.site.names().ok_or("there is no built site to make the folder of")?;
    let scripts = document::Scripts::new(names, &mut files, &addresses)?;
    for (file, policy, html) in documents {
        let html = String::from_utf8(html).map_err(|_| format!("{file} is no text"))?;
        let html = document::rewritten(&html, &file, &policy, &addresses, &scripts)?;
        files.insert(file, html.into_bytes());
    }
    service_worker::write(&mut files, &addresses)?;
    Ok(files)
}

/// Pages by their addresses, with the files that they become.
fn pages() -> Vec<(String, String)> {
    let own = Page::ALL.iter().filter(|page| !notice::is_of(**page)).map(|page| page.path());
    let own = own.chain(["/import"]).map(str::to_owned);
    let chapters = CHAPTERS.iter().skip(1).map(guide::Chapter::address);
    let mut pages: Vec<_> =
        own.chain(chapters).map(|it| (it.clone(), addresses::file_of(&it))).collect();
    for chapter in CHAPTERS.iter().filter(|chapter| chapter.chinese.is_some()) {
        let (address, id) = (chapter.address(), Language::Chinese.id());
        let file = addresses::file_of(&format!("{address}/{id}"));
        pages.push((format!("{address}?language={id}"), file));
    }
    let tour = Page::Tour.path();
    for step in 0..ladder::numbers::steps().len() {
        let file = addresses::file_of(&format!("{tour}/{step}"));
        pages.push((format!("{tour}?step={step}"), file));
    }
    pages
}

/// The files of the built site that a folder needs.
fn site_files(site: &Site) -> Files {
    let modules = site.names().map(|names| &names.modules);
    let left_out: Vec<&str> = LEFT_OUT
        .iter()
        .filter_map(|module| modules?.get(module))
        .flat_map(|files| [files.js.as_str(), files.wasm.as_str()])
        .map(|address| address.trim_start_matches('/'))
        .collect();
    let mut files = Files::new();
    for (path, file) in site.files().filter(|(path, _)| !left_out.contains(path)) {
        let plain = file.plain();
        match document::moved(path, plain) {
            // Its compressed sibling is of another text.
            Some(text) => drop(files.insert(path.to_owned(), text.into_bytes())),
            None => {
                files.insert(path.to_owned(), plain.to_vec());
                if let Some(packed) = &file.brotli {
                    files.insert(format!("{path}.br"), packed.to_vec());
                }
            }
        }
    }
    files
}

/// Policy and body of what the routes answer at an address.
async fn asked(
    service: &TowerToHyperService<Router>,
    address: &str,
) -> Result<(String, Vec<u8>), String> {
    let request = Request::get(address).header(header::ACCEPT, "text/html,*/*");
    let request = request.body(Body::empty()).map_err(|error| format!("{address}: {error}"))?;
    let Ok(response) = service.call(request).await;
    read(response, address).await
}

async fn read(response: Response, address: &str) -> Result<(String, Vec<u8>), String> {
    if response.status() != StatusCode::OK {
        return Err(format!("{address} answers {}", response.status()));
    }
    let policy = response.headers().get(header::CONTENT_SECURITY_POLICY);
    let policy = policy.and_then(|policy| policy.to_str().ok()).unwrap_or_default().to_owned();
    let bytes = to_bytes(response.into_body(), usize::MAX).await;
    Ok((policy, bytes.map_err(|error| format!("{address}: {error}"))?.to_vec()))
}
