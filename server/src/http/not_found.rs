//! Answers for what there isn't and what is too long: a page for people, a problem for programs.

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use crate::http::static_page::Reading;
use crate::net::problem::Problem;
use crate::site::choices;
use crate::state::AppState;

const ROUTES: &str = "GET /api/v1/openapi.json lists what there is";

/// An address that nothing answers.
pub(crate) fn not_found(state: &AppState, request: &Request) -> Response {
    if is_for_people(request) {
        let text = html! {
            p {
                "A design is a link to the explorer; published runs beside their predictions are \
                at " a href="/trust" { "/trust" } "."
            }
        };
        let title = "There is nothing at this address";
        return page(state, request, StatusCode::NOT_FOUND, title, &text);
    }
    Problem::new(StatusCode::NOT_FOUND, format!("nothing has this address; {ROUTES}"))
        .into_response()
}

/// A stored design that isn't there.
pub(crate) fn no_such_design(state: &AppState, request: &Request) -> Response {
    let detail = "there is no stored design of that id; it may have been deleted";
    if is_for_people(request) {
        let text = html! {
            p {
                "Whoever stored it may have deleted it, or the link isn't whole. A full link, with \
                 the whole design in it, never expires."
            }
        };
        let title = "There is no design at this link";
        return page(state, request, StatusCode::NOT_FOUND, title, &text);
    }
    Problem::new(StatusCode::NOT_FOUND, detail).into_response()
}

/// Answer to a request whose address has `limit` bytes or more.
pub(crate) fn too_long(state: &AppState, request: &Request, limit: usize) -> Response {
    let limit = present::format::whole(limit as u64);
    if is_for_people(request) {
        let text = html! {
            p {
                "Addresses with " (limit) " bytes or more are refused. A link needs only the knobs \
                that differ from its preset: start from a closer preset, or keep the design as a \
                file and run " code { "moescape predict FILE" } "."
            }
        };
        return page(state, request, StatusCode::URI_TOO_LONG, "This link is too long", &text);
    }
    let detail = format!(
        "addresses with {limit} bytes or more are refused; send the design to POST /api/v1/predict"
    );
    Problem::new(StatusCode::URI_TOO_LONG, detail).into_response()
}

/// A name of another server; it is plain, so that it can be in a page.
pub(crate) fn misdirected(state: &AppState, request: &Request, host: &str) -> Response {
    let status = StatusCode::MISDIRECTED_REQUEST;
    if is_for_people(request) {
        let title = "This server doesn't have that name";
        let body = html! {
            h1 { (title) }
            p { span { "You asked for" } " " code { (host) } }
            p {
                span { "Whoever runs the server can give it that name:" } " "
                code { "moescape serve --host " (host) }
            }
        };
        let page = Reading { title, class: "broken-link", body, ..Reading::default() };
        return page.answer(state, choices::theme(request.headers()).as_deref(), status);
    }
    unknown_host(host).into_response()
}

/// Problem of an unknown host, for programs.
pub(crate) fn unknown_host(host: &str) -> Problem {
    let detail = format!(
        "this server doesn't have the name {host}; who runs it gives it that name by --host \
         {host}, or by --public-url"
    );
    Problem::new(StatusCode::MISDIRECTED_REQUEST, detail)
}

/// A method that the route doesn't have; the header `Allow` names those that it has.
pub(crate) async fn wrong_method(request: Request) -> Response {
    let detail = format!("{} isn't answered here; {ROUTES}", request.method());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, detail).into_response()
}

/// Whether a browser asks for a page.
fn is_for_people(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    !request.uri().path().starts_with("/api/")
        && accept.is_some_and(|accept| accept.contains("text/html"))
}

/// A small page.
fn page(
    state: &AppState,
    request: &Request,
    status: StatusCode,
    title: &str,
    text: &Markup,
) -> Response {
    let body = html! {
        h1 { (title) }
        (text)
        p {
            a.button.primary href="/" { "Open the explorer" } " "
            a.button href="/find" { "Find a layout" }
        }
    };
    let page = Reading { title, class: "broken-link", body, ..Reading::default() };
    page.answer(state, choices::theme(request.headers()).as_deref(), status)
}
