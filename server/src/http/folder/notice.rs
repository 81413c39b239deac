//! Pages of the folder in place of those that need a server: each says so in a line.

use axum::http::StatusCode;
use axum::response::Response;
use maud::html;
use present::site::{Page, SCHEDULE_OF_DESIGN_PATH};

use super::addresses::{NEEDS_SERVER, file_of};
use crate::http::static_page::Reading;
use crate::state::AppState;

/// A page that says what it needs a server for.
struct Notice {
    path: &'static str,
    page: Option<Page>,
    title: &'static str,
    line: &'static str,
}

/// Class of `<main>` on the sheets that the explorer shows as a dialog.
const SHEET: &str = "share";

static NOTICES: [Notice; 8] = [
    Notice {
        path: Page::Sweep.path(),
        page: Some(Page::Sweep),
        title: Page::Sweep.title(),
        line: "Sweeps run on a server, and these pages have none.",
    },
    Notice {
        path: Page::Calibrate.path(),
        page: Some(Page::Calibrate),
        title: Page::Calibrate.title(),
        line: "Runs are read and fitted on a server, and these pages have none.",
    },
    Notice {
        path: Page::Settings.path(),
        page: Some(Page::Settings),
        title: "Settings",
        line: "Theme and language are in the menu; other settings need a server, and these pages \
               have none.",
    },
    Notice {
        path: Page::Review.entrance(),
        page: Some(Page::Review),
        title: "Start a review",
        line: "A review session is kept on a server, and these pages have none.",
    },
    Notice {
        path: "/share",
        page: None,
        title: "Share this design",
        line: "The address of the page is the design's full link. Short links, pictures and \
               embedded panels need a server, and these pages have none.",
    },
    Notice {
        path: "/export",
        page: None,
        title: "Export this design",
        line: "Launch scripts and files of a design are written by a server, and these pages have \
               none.",
    },
    Notice {
        path: SCHEDULE_OF_DESIGN_PATH,
        page: None,
        title: "Schedule of a design",
        line: "The address of this page has a design, whose schedule it leads to.",
    },
    Notice {
        path: NEEDS_SERVER,
        page: None,
        title: "This needs a server",
        line: "What you opened is made by a server, and these pages have none.",
    },
];

/// Whether such a page stands in the place of a page of the site.
pub(super) fn is_of(page: Page) -> bool {
    page.has_id() || NOTICES.iter().any(|notice| notice.page == Some(page))
}

/// The addresses of these pages and their files.
pub(super) fn files() -> impl Iterator<Item = (String, String)> {
    NOTICES.iter().map(|notice| (notice.path.to_owned(), file_of(notice.path)))
}

/// The page of an address.
pub(super) fn answer(state: &AppState, path: &str) -> Response {
    let notice = NOTICES.iter().find(|notice| notice.path == path);
    let Notice { page, title, line, path } = notice.unwrap_or(&NOTICES[NOTICES.len() - 1]);
    let is_sheet = matches!(*path, "/share" | "/export");
    let body = html! {
        h1 #sheet-title tabindex="-1" { (title) }
        p { (line) }
        p { "With the program: " code { "moescape serve" } "." }
        @if !is_sheet { p { a.button href=(Page::Explorer.path()) { "Open the explorer" } } }
    };
    let class = if is_sheet { SHEET } else { "" };
    let page = Reading { page: *page, title, about: line, class, body, ..Reading::default() };
    page.answer(state, None, StatusCode::OK)
}
