//! `GET /find`: a model on a machine, and the layouts that it should run with.
//!
//! The address is the whole question. The browser searches, in a worker; without a script it is led
//! on to an address at which the server searches and writes the same into the page. What a form
//! sends is led on to the address of the design that it comes to.

use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{PreEscaped, html};
use model::design::link;
use model::ground::knob::KnobError;
use model::search::find::StrategySearch;
use operations::Refusal;
use operations::find::search;
use present::form::find_bar;
use present::page::find::answer;
use present::page::find::form::{self, ResultPart};
use present::page::find::request::{Request, address};
use present::site;

use super::operations::searched;
use crate::http::static_page::Reading;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::site::choices;
use crate::state::AppState;

/// The page of a question.
pub(super) async fn page(
    State(state): State<AppState>,
    Client(client): Client,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
) -> Response {
    let (request, wrong) = Request::read(&raw.unwrap_or_default());
    let page = Page { state: &state, headers: &headers, request: &request, wrong: &wrong };
    if !wrong.is_empty() {
        return page.answer(StatusCode::BAD_REQUEST, ResultPart::None);
    }
    if request.is_form {
        return Redirect::to(&next(&request)).into_response();
    }
    if !request.is_asked {
        return page.answer(StatusCode::OK, ResultPart::None);
    }
    if !request.on_server {
        let worker = state.site.names().map(|names| names.finder.as_str());
        return page.answer(StatusCode::OK, ResultPart::Browser(worker));
    }
    let query = request.query.clone();
    let html = searched(&state, &client, move |waiting| {
        match search::<StrategySearch>(&query, None, waiting) {
            Ok(found) => Ok(answer::html(&query, &found.answer, true)),
            Err(Refusal { violations, .. }) if !violations.is_empty() => {
                Ok(answer::refused(&query, &violations))
            }
            Err(refusal) => Err(Problem::of_refusal(refusal, false)),
        }
    });
    match html.await.flatten() {
        Ok(html) => page.answer(StatusCode::OK, ResultPart::Written(&html)),
        Err(problem) => page.answer(problem.status(), ResultPart::Refused(problem.detail())),
    }
}

/// The address of what a form asks for.
fn next(request: &Request) -> String {
    if request.on_server { form::on_server(&request.query) } else { address(&request.query) }
}

/// Inputs of a page.
struct Page<'a> {
    state: &'a AppState,
    headers: &'a HeaderMap,
    request: &'a Request,
    wrong: &'a [KnobError],
}

impl Page<'_> {
    fn answer(&self, status: StatusCode, shown: ResultPart<'_>) -> Response {
        let names = self.state.site.names();
        let there = form::on_server(&self.request.query);
        let head = html! {
            // A config.json can be dropped here, too.
            @if let Some(names) = names { script type="module" src=(names.import) {} }
            @if matches!(shown, ResultPart::Browser(_)) {
                noscript { meta http-equiv="refresh" content={ "0;url=" (there) }; }
            }
        };
        let line = find_bar::boxes(&self.request.query.design).into_string();
        let design = link::encode(&self.request.query.design);
        let page = Reading {
            page: Some(site::Page::Find),
            design: if self.request.is_asked { &design } else { "" },
            title: site::Page::Find.title(),
            about: if self.request.is_asked { "" } else { site::Page::Find.about() },
            script: names.map(|names| names.find.as_str()),
            class: "reading find",
            head,
            body: PreEscaped(form::html(self.request, self.wrong, shown, &line)),
            ..Reading::default()
        };
        page.answer(self.state, choices::theme(self.headers).as_deref(), status)
    }
}

#[cfg(test)]
mod tests {
    use present::page::find::request::ON_SERVER;

    use super::*;

    #[test]
    fn where_a_form_leads_the_server_still_searches_for_who_has_no_script() {
        let (request, wrong) = Request::read("preset=glm-4.5&find.devices=256&find.on=server");
        assert!(wrong.is_empty() && request.is_form);
        let next = next(&request);
        assert!(next.ends_with(&format!("cluster.num_devices=256&{ON_SERVER}")), "{next}");
    }
}
