//! `GET /d/{id}`: the explorer, opened on a stored design, with what the server says of it.
//!
//! Its numbers are computed again, as everywhere. Where the model has changed since, the page says
//! what was computed then and what is now; *Keep* shows the stored numbers beside, *Recompute*
//! stores those of today under an id of their own.

use std::fmt::Write as _;

use app::document::Preview;
use app::explorer::stored::Stored as Shown;
use app::present::html::{element, escape_into, escaped};
use app::site::Page;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use leptos::prelude::provide_context;
use model::{MODEL_VERSION, link};

use super::{designs, page};
use crate::client::Client;
use crate::designs::{Change, Entry, StoredDesign, Words, changes};
use crate::not_found;
use crate::owner::{Storing, Visitor};
use crate::problem::Problem;
use crate::state::AppState;
use crate::{calendar, public_url};

/// What can stand behind the `?` of a stored design's address. Whatever else is there is of others,
/// who add to links that they pass on.
#[derive(Debug, Default)]
struct Asked {
    /// Whose name and note to show.
    tag: Option<String>,
    /// Are the stored numbers to be shown beside today's?
    keeps: bool,
}

impl Asked {
    fn of(query: &str) -> Self {
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

    /// The address of this page with or without the stored numbers, as an attribute has it.
    fn address(&self, id: &str, keeps: bool) -> String {
        let tag = self.tag.as_ref().map(|tag| format!("note={}", escaped(tag)));
        let numbers = keeps.then(|| "numbers=stored".to_owned());
        let asked: Vec<String> = tag.into_iter().chain(numbers).collect();
        let mark = if asked.is_empty() { "" } else { "?" };
        format!("/d/{id}{mark}{}", asked.join("&amp;"))
    }
}

/// The page of a stored design.
pub(super) async fn open(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Visitor(owner): Visitor,
    request: Request,
) -> Result<Response, Problem> {
    let asked = Asked::of(request.uri().query().unwrap_or_default());
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
    let url = public_url::of_request(
        state.public_url.as_deref(),
        request.headers(),
        request.extensions(),
    );
    let preview = url.map(|url| Preview {
        page: format!("{}{address}", url.as_str()),
        picture: format!("{}{address}/card.png", url.as_str()),
    });
    let shown = page::off_thread(move || Shown {
        link: stored.link.clone(),
        name: entry.as_ref().map(|entry| entry.name.clone()).unwrap_or_default(),
        banner: banner(&stored, entry.as_ref(), &asked),
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
    let Storing { owner, cookie } = storing;
    let (stored, entry) = designs::find(&state, &id, Some(owner.clone()), None)
        .await?
        .ok_or_else(designs::unknown)?;
    let design = link::decode(&stored.link).map_err(Problem::unreadable_design)?;
    let words = entry.map_or_else(Words::default, |entry| Words::of(&entry));
    let kept = designs::keep(&state, &client, owner, design, words).await?;
    let address = kept.entry.address(&kept.stored.id);
    let address = HeaderValue::try_from(address).map_err(|_| designs::unknown())?;
    let headers = [(header::LOCATION, address), (header::SET_COOKIE, cookie)];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}

/// What the page says of a stored design.
fn banner(stored: &StoredDesign, entry: Option<&Entry>, asked: &Asked) -> String {
    let mut html = String::from("<section class=\"stored-box card\" aria-label=\"Stored design\">");
    let _ = write!(
        html,
        "<p class=\"stored-left\">You have moved on from a stored design. \
         <a href=\"/d/{0}\">Open it again</a></p><div class=\"stored-here\">",
        stored.id
    );
    let name = entry.map_or("", |entry| &entry.name);
    let (name, own) =
        if name.is_empty() { ("Stored design", "") } else { (name, "translate=\"no\"") };
    element(&mut html, "h2", own, name);
    let since = format!(
        "Stored on {} with model {}",
        calendar::day(stored.created_at_secs),
        stored.model_version
    );
    element(&mut html, "p", "class=\"muted\"", &since);
    let note = entry.map_or("", |entry| &entry.note);
    if !note.is_empty() {
        element(&mut html, "p", "class=\"stored-note\" translate=\"no\"", note);
    }
    if let Ok(design) = link::decode(&stored.link) {
        let changes = changes(stored.result.as_deref(), &design);
        if !stored.is_current() {
            html.push_str(&since_then(stored, &changes, asked));
        }
        if asked.keeps {
            html.push_str(&kept_numbers(stored, &changes, asked));
        }
    }
    html.push_str("</div></section>");
    html
}

/// What has changed since a design was stored, and what to do about it.
fn since_then(stored: &StoredDesign, changes: &[Change], asked: &Asked) -> String {
    let changed: Vec<&Change> = changes.iter().filter(|change| change.shows()).collect();
    let mut html = String::from("<p class=\"stored-since\">");
    let versions = format!("Computed with model {}, now {MODEL_VERSION}", stored.model_version);
    escape_into(&mut html, &versions);
    html.push_str(match changed.len() {
        0 => ": no headline number has changed.</p>",
        _ => ":</p><ul class=\"stored-changes\">",
    });
    for change in &changed {
        let _ = write!(
            html,
            "<li>{} <span class=\"then\">{}</span> <span aria-hidden=\"true\">→</span>\
             <span class=\"visually-hidden\"> is now </span> <strong>{}</strong></li>",
            escaped(change.id.metric().label),
            escaped(&change.then_text()),
            escaped(&change.now_text()),
        );
    }
    if !changed.is_empty() {
        html.push_str("</ul>");
    }
    let id = &stored.id;
    html.push_str("<div class=\"stored-actions\">");
    if !asked.keeps {
        let link = asked.address(id, true);
        let _ = write!(html, "<a class=\"button\" href=\"{link}\">Keep</a>");
    }
    let _ = write!(
        html,
        "<form method=\"post\" action=\"/d/{id}/recompute\">\
         <button class=\"button primary\">Recompute</button></form><p class=\"muted\">"
    );
    if !asked.keeps {
        html.push_str("Keep shows the stored numbers beside today's. ");
    }
    html.push_str(
        "Recompute stores today's under a new short link; this one stays as it is.</p></div>",
    );
    html
}

/// The stored numbers, marked as such.
fn kept_numbers(stored: &StoredDesign, changes: &[Change], asked: &Asked) -> String {
    let mut html = String::from("<div class=\"stored-numbers\"><h3>");
    escape_into(&mut html, &format!("Stored numbers, model {}", stored.model_version));
    html.push_str("</h3><dl>");
    for change in changes {
        html.push_str("<div class=\"fact\">");
        element(&mut html, "dt", "", change.id.metric().label);
        element(&mut html, "dd", "", &change.then_text());
        html.push_str("</div>");
    }
    let link = asked.address(&stored.id, false);
    let _ = write!(html, "</dl><p><a href=\"{link}\">Hide the stored numbers</a></p></div>");
    html
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
        let html = banner(&stored("0.0.1"), None, &Asked::default());
        assert!(
            html.contains(&format!("Computed with model 0.0.1, now {MODEL_VERSION}:")),
            "{html}"
        );
        assert_eq!(html.matches("<li>").count(), 1, "{html}");
        assert!(html.contains("<li>MFU ") && html.contains("Recompute"), "{html}");
        assert!(!html.contains("Stored numbers"), "{html}");
        let kept = banner(&stored("0.0.1"), None, &Asked::of("numbers=stored&utm_source=x"));
        assert!(kept.contains("Stored numbers, model 0.0.1") && !kept.contains(">Keep<"), "{kept}");
        let tagged = banner(&stored("0.0.1"), None, &Asked::of("note=abc"));
        assert!(tagged.contains("?note=abc&amp;numbers=stored\">Keep<"), "{tagged}");
    }

    #[test]
    fn a_design_of_this_model_is_only_named() {
        let html = banner(&stored(MODEL_VERSION), None, &Asked::default());
        assert!(html.contains("Stored on 1970-01-02") && !html.contains("Recompute"), "{html}");
    }

    #[test]
    fn what_people_wrote_is_only_text() {
        let text = "<img src=x onerror=alert(1)>\"'&";
        let entry = Entry { name: text.to_owned(), note: text.to_owned(), ..Entry::default() };
        let html = banner(&stored("<0>"), Some(&entry), &Asked::of("note=\"><script>"));
        assert!(!html.contains("<img") && !html.contains("<script") && !html.contains("<0>"));
        assert_eq!(html.matches("&lt;img src=x onerror").count(), 2, "{html}");
    }
}
