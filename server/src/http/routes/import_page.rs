//! `/import`: a model, a launch script or a design file becomes a design, and the page says all
//! that there is to say about how.
//!
//! The form works without a script; `import.js` takes files that are dropped and texts that are
//! pasted. Nothing is stored: the design is in the link that the page leads on to.

mod answer;
mod ask;

use std::borrow::Cow;

use axum::extract::multipart::{Multipart, MultipartRejection};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use interchange::{Answers, Bundle, Format, import_with, is_archive, unpacked};
use maud::Markup;
use model::design::Design;
use operations::{Wrong, import};
use present::draw::text::sentence;

use crate::http::file_form::{self, FileFields};
use crate::http::static_page::Reading;
use crate::net::problem::Problem;
use crate::net::work::off_thread;
use crate::site::choices;
use crate::state::AppState;
use ask::{Asked, Form};

/// Bytes of a form, at most: of a text, and of what the form puts around it.
pub(super) const MAX_BYTES: usize = interchange::MAX_CONFIG_BYTES + (64 << 10);

/// The empty form; `?large` says that a file was too large to be sent.
pub(super) async fn form(State(state): State<AppState>, request: Request) -> Response {
    let is_large = request.uri().query() == Some("large");
    let why = is_large.then(|| (StatusCode::PAYLOAD_TOO_LARGE, too_large()));
    let asked = Asked { why, ..Asked::default() };
    shown(&state, request.headers(), &asked, None)
}

/// Answers the form: the import of its text or files.
pub(super) async fn import_form(
    State(state): State<AppState>,
    headers: HeaderMap,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let form = match read(form).await {
        Ok(form) => form,
        Err(why) => {
            let asked = Asked { why: Some(why), ..Asked::default() };
            return Ok(shown(&state, &headers, &asked, None));
        }
    };
    // Off the threads that answer others: a text may have a million characters.
    off_thread(move || {
        let mut asked = Asked::from_form(&form);
        let answer = answered(&form, &mut asked).map_err(|why| asked.why = Some(why)).ok();
        shown(&state, &headers, &asked, answer.as_ref())
    })
    .await
}

/// The answer to a form, or why there is none.
fn answered(form: &Form, asked: &mut Asked) -> Result<Markup, (StatusCode, String)> {
    let bad = |why: String| (StatusCode::BAD_REQUEST, why);
    let (text, files) = given(form).map_err(bad)?;
    let text = text.as_ref();
    if text.trim().is_empty() {
        return Err(bad("There is no text to import: choose a file, or paste its text.".into()));
    }
    // The text goes back into the box, to be mended there, where it has room.
    if text.len() <= interchange::MAX_BYTES {
        text.clone_into(&mut asked.text);
    }
    let format = match form.format.as_str() {
        "" | "auto" => None,
        name => Some(
            Format::ALL
                .into_iter()
                .find(|format| format.name() == name)
                .ok_or_else(|| bad("The kind of text is one of those in the list.".into()))?,
        ),
    };
    let mut answers = Answers::default();
    for (name, value) in &form.answers {
        let added = import::add(&mut answers, name, value);
        added.map_err(|refusal| bad(refusal.errors.iter().map(Wrong::line).collect()))?;
    }
    let base = Some(form.preset.as_str()).filter(|preset| !preset.is_empty());
    let base = base.map(Design::from_preset).transpose();
    let base = base.map_err(|error| bad(format!("The preset: {error}")))?;
    let made = match &files {
        Some(files) => files.import(format, None, base.as_ref(), &answers),
        None => {
            let format = format.unwrap_or_else(|| Format::detect(text));
            import_with(format, text, base.as_ref(), &answers)
        }
    };
    if made.design.is_none() {
        asked.status = StatusCode::UNPROCESSABLE_ENTITY;
    }
    let name = form.files.first().filter(|_| files.is_none()).map(|(name, _)| name.as_str());
    Ok(answer::html(&made, &form.answers, name))
}

/// The text of a form; with several files or an archive, all of them one behind another.
fn given(form: &Form) -> Result<(Cow<'_, str>, Option<Bundle>), String> {
    let files = match form.files.as_slice() {
        [] => match Bundle::of_text(&form.text) {
            Some(files) => files?,
            None => return Ok((Cow::Borrowed(&form.text), None)),
        },
        [(_, bytes)] if is_archive(bytes) => unpacked(bytes)?,
        [(name, bytes)] => {
            let text = decoded(bytes).map_err(|why| format!("{name}: {why}"))?;
            return Ok((Cow::Borrowed(text), None));
        }
        several => {
            // What is no text among them is no script.
            let texts = several.iter().filter_map(|(name, bytes)| {
                Some((name.trim_start_matches('/').to_owned(), decoded(bytes).ok()?.to_owned()))
            });
            Bundle::new(texts.collect())?
        }
    };
    Ok((Cow::Owned(files.to_text()), Some(files)))
}

/// The text of a file, without the mark that some programs put before it.
fn decoded(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        format!("line {line} isn't UTF-8 text. Save the file as UTF-8, and choose a text file.")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Reads a form to its end; fields that it doesn't know are passed over.
async fn read(
    multipart: Result<Multipart, MultipartRejection>,
) -> Result<Form, (StatusCode, String)> {
    let sent = file_form::read(multipart, too_large).await;
    let FileFields { files, texts } = sent.map_err(|(status, why)| (status, sentence(&why)))?;
    let mut form = Form { files, ..Form::default() };
    for (name, bytes) in texts {
        let text = decoded(&bytes).map(str::to_owned);
        let text = text.map_err(|why| (StatusCode::BAD_REQUEST, format!("The text: {why}")))?;
        match (name.as_str(), name.strip_prefix("answer ")) {
            ("format", _) => form.format = text,
            ("preset", _) => form.preset = text,
            ("text", _) => form.text = text,
            (_, Some(question)) => form.answers.push((question.to_owned(), text)),
            (_, None) => {}
        }
    }
    Ok(form)
}

fn too_large() -> String {
    format!(
        "A text has at most {} bytes; real ones have a few thousand.",
        present::format::whole(interchange::MAX_CONFIG_BYTES as u64)
    )
}

/// The page: the answer above the form, or the form alone.
fn shown(
    state: &AppState,
    headers: &HeaderMap,
    asked: &Asked,
    answer: Option<&Markup>,
) -> Response {
    let status = asked.why.as_ref().map_or(asked.status, |(status, _)| *status);
    let page = Reading {
        title: "Import a design",
        script: state.site.names().map(|names| names.import.as_str()),
        class: "import",
        body: ask::html(asked, answer),
        ..Reading::default()
    };
    page.answer(state, choices::theme(headers).as_deref(), status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_utf_8_with_or_without_its_mark() {
        assert_eq!(decoded("a\u{fc}".as_bytes()), Ok("aü"));
        assert_eq!(decoded(b"\xef\xbb\xbf{}"), Ok("{}"));
        assert!(decoded(b"a\nb\xff").unwrap_err().starts_with("line 2 "));
        // UTF-16, as some editors save it.
        assert!(decoded(b"\xff\xfe{\0}\0").is_err());
    }
}
