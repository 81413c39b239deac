//! `GET /d/{id}`: the explorer, opened on a stored design, with what the server says of it.
//!
//! Its numbers are computed again, as everywhere. Where the model has changed since, the page says
//! what was computed then and what is now; *Keep* shows the stored numbers beside, *Recompute*
//! stores those of today under an id of their own.

use app::document::Preview;
use app::explorer::stored::Stored as Shown;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use leptos::prelude::provide_context;
use maud::{Markup, html};
use model::{MODEL_VERSION, design::link};
use present::site::Page;

use super::kept;
use super::{designs, page};
use crate::designs::{Change, Entry, StoredDesign, Words, changes};
use crate::http::not_found;
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::people::audit_events::Kind;
use crate::people::owner::{Storing, Visitor};
use crate::state::AppState;
use crate::{ground::calendar, net::public_url};

/// Parameters behind the `?` of a stored design's address. Whatever else is there is of others, who
/// add to links that they pass on.
#[derive(Debug, Default)]
struct Asked {
    /// Tag of the entry whose name and note to show.
    tag: Option<String>,
    /// Whether the stored numbers are to be shown beside today's.
    keeps: bool,
}

impl Asked {
    fn from_query(query: &str) -> Self {
        let mut asked = Self::default();
        for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            match key {
                "note" => asked.tag = Some(value.to_owned()),
                "numbers" => asked.keeps = value == "stored",
                _ => {}
            }
        }
        asked
    }

    /// The address of this page with or without the stored numbers.
    fn address(&self, id: &str, keeps: bool) -> String {
        let tag = self.tag.as_ref().map(|tag| format!("note={tag}"));
        let numbers = keeps.then(|| "numbers=stored".to_owned());
        let asked: Vec<String> = tag.into_iter().chain(numbers).collect();
        let mark = if asked.is_empty() { "" } else { "?" };
        format!("/d/{id}{mark}{}", asked.join("&"))
    }
}

/// The page of a stored design.
pub(super) async fn open(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Visitor(owner): Visitor,
    request: Request,
) -> Result<Response, Problem> {
    let asked = Asked::from_query(request.uri().query().unwrap_or_default());
    let found = designs::find(&state, &id, owner, asked.tag.clone()).await?;
    let Some((stored, entry)) = found else {
        return Ok(not_found::no_such_design(&state, &request));
    };
    let (query, address) = (stored.link.clone(), format!("/d/{id}"));
    let status = match link::decode(&query) {
        Ok(_) => StatusCode::OK,
        // A later version can't read it any more; the page says what it can't read.
        Err(_) => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let url = public_url::of_request(state.public_url.as_deref(), request.headers());
    let preview = url.map(|url| Preview {
        page: format!("{}{address}", url.as_str()),
        picture: format!("{}{address}/card.png", url.as_str()),
    });
    let shown = off_thread(move || Shown {
        link: stored.link.clone(),
        name: entry.as_ref().map(|entry| entry.name.clone()).unwrap_or_default(),
        banner: banner(&stored, entry.as_ref(), &asked).into_string(),
    });
    let shown = shown.await?;
    let contexts = move || {
        provide_context(shown.clone());
        preview.iter().cloned().for_each(provide_context);
    };
    Ok(page::render_link(state, request, query, Page::Explorer, status, contexts).await)
}

/// `POST /d/{id}/recompute`: stores what the model says now, and leads there.
pub(super) async fn recompute(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Client(client): Client,
    storing: Storing,
) -> Result<Response, Problem> {
    let storing = kept::check(&state, Kind::Design, storing, &client).await?;
    let Storing { owner, cookie, .. } = storing;
    let (stored, entry) = designs::find(&state, &id, Some(owner.clone()), None)
        .await?
        .ok_or_else(designs::unknown)?;
    let design = link::decode(&stored.link).map_err(Problem::unreadable_design)?;
    let words = entry.map_or_else(Words::default, |entry| Words::from_entry(&entry));
    let kept = designs::keep(&state, &client, owner, design, words).await?;
    let address = kept.entry.address(&kept.stored.id);
    let address = HeaderValue::try_from(address).map_err(|_| designs::unknown())?;
    let headers = [(header::LOCATION, address), (header::SET_COOKIE, cookie)];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

/// Box on the page about a stored design.
fn banner(stored: &StoredDesign, entry: Option<&Entry>, asked: &Asked) -> Markup {
    let name = entry.map_or("", |entry| &entry.name);
    let note = entry.map_or("", |entry| &entry.note);
    html! {
        section.stored-box.card aria-label="Stored design" {
            p.stored-left {
                "You have edited a stored design. "
                a href={ "/d/" (stored.id) } { "Open it again" }
            }
            div.stored-here {
                @if name.is_empty() { h2 { "Stored design" } }
                @else { h2 translate="no" { (name) } }
                p.muted {
                    "Stored on " (calendar::day(stored.created_at_secs)) " with model "
                    (stored.model_version)
                }
                @if !note.is_empty() { p.stored-note translate="no" { (note) } }
                @if let Ok(design) = link::decode(&stored.link) {
                    @let changes = changes(stored.result.as_deref(), &design);
                    @if !stored.is_current() { (since_then(stored, &changes, asked)) }
                    @if asked.keeps { (kept_numbers(stored, &changes, asked)) }
                }
            }
        }
    }
}

/// Changes since a design was stored, and what to do about them.
fn since_then(stored: &StoredDesign, changes: &[Change], asked: &Asked) -> Markup {
    let changed: Vec<&Change> = changes.iter().filter(|change| change.shows()).collect();
    let id = &stored.id;
    html! {
        p.stored-since {
            "Computed with model " (stored.model_version) ", now " (MODEL_VERSION)
            @if changed.is_empty() { ": no headline number has changed." } @else { ":" }
        }
        @if !changed.is_empty() {
            ul.stored-changes { @for change in &changed { li {
                (change.id.metric().label) " " span.then { (change.then_text()) } " "
                span aria-hidden="true" { "→" } span.visually-hidden { " is now " } " "
                strong { (change.now_text()) }
            } } }
        }
        div.stored-actions {
            @if !asked.keeps { a.button href=(asked.address(id, true)) { "Keep" } }
            form method="post" action={ "/d/" (id) "/recompute" } {
                button.button.primary { "Recompute" }
            }
            p.muted {
                @if !asked.keeps { "Keep shows the stored numbers beside today's. " }
                "Recompute stores today's under a new short link; this one stays as it is."
            }
        }
    }
}

/// The stored numbers, marked as such.
fn kept_numbers(stored: &StoredDesign, changes: &[Change], asked: &Asked) -> Markup {
    html! {
        div.stored-numbers {
            h3 { "Stored numbers, model " (stored.model_version) }
            dl { @for change in changes {
                div.fact { dt { (change.id.metric().label) } dd { (change.then_text()) } }
            } }
            p { a href=(asked.address(&stored.id, false)) { "Hide the stored numbers" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(model_version: &str) -> StoredDesign {
        let design = link::decode("mbs=4").unwrap();
        let result = crate::designs::result(&design).unwrap();
        StoredDesign {
            id: "0123456789abcdef".to_owned(),
            link: link::encode(&design),
            model_version: model_version.to_owned(),
            created_at_secs: 86_400,
            result: Some(result.replacen("\"mfu\": 0.", "\"mfu\": 0.00", 1)),
        }
    }

    #[test]
    fn an_older_model_is_told_with_each_number_that_changed() {
        let html = banner(&stored("0.0.1"), None, &Asked::default()).0;
        assert!(
            html.contains(&format!("Computed with model 0.0.1, now {MODEL_VERSION}:")),
            "{html}"
        );
        assert_eq!(html.matches("<li>").count(), 1, "{html}");
        assert!(html.contains("<li>MFU ") && html.contains("Recompute"), "{html}");
        assert!(!html.contains("Stored numbers"), "{html}");
        let kept =
            banner(&stored("0.0.1"), None, &Asked::from_query("numbers=stored&utm_source=x")).0;
        assert!(kept.contains("Stored numbers, model 0.0.1") && !kept.contains(">Keep<"), "{kept}");
        let tagged = banner(&stored("0.0.1"), None, &Asked::from_query("note=abc")).0;
        assert!(tagged.contains("?note=abc&amp;numbers=stored\">Keep<"), "{tagged}");
    }

    #[test]
    fn a_design_of_this_model_is_only_named() {
        let html = banner(&stored(MODEL_VERSION), None, &Asked::default()).0;
        assert!(html.contains("Stored on 1970-01-02") && !html.contains("Recompute"), "{html}");
    }

    #[test]
    fn what_people_wrote_is_only_text() {
        let text = "<img src=x onerror=alert(1)>\"'&";
        let entry = Entry { name: text.to_owned(), note: text.to_owned(), ..Entry::default() };
        let html = banner(&stored("<0>"), Some(&entry), &Asked::from_query("note=\"><script>")).0;
        assert!(!html.contains("<img") && !html.contains("<script") && !html.contains("<0>"));
        assert_eq!(html.matches("&lt;img src=x onerror").count(), 2, "{html}");
    }
}
