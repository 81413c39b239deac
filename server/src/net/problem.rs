//! Errors over HTTP: problem details as RFC 9457 asks, with one entry per thing that is wrong.

use std::fmt;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use interchange::Fault;
use model::design::file::json;
use model::ground::knob::KnobError;
use model::routing::text::TextError;
use operations::{Kind, Origin, Refusal, Wrong};
use reports::typed::Said;

/// An answer that says what went wrong.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    errors: Vec<Entry>,
    /// Seconds after which it may be different.
    retry_secs: Option<u64>,
}

reports::said! {
    /// One thing that is wrong.
    #[derive(Clone, Debug, schemars::JsonSchema)]
    #[schemars(rename = "ProblemEntry")]
    pub(crate) struct Entry {
        /// JSON pointer to the place in the body; empty for the whole.
        pointer: String,
        /// A name for the kind of mistake.
        rule: String,
        detail: String,
        /// Values that would be accepted, nearest first.
        nearest: Vec<String>,
    }

    /// Problem details of a refused request (RFC 9457).
    #[derive(Clone, Debug, schemars::JsonSchema)]
    #[schemars(rename = "Problem", extend("example" = {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "detail": "the design can't be read: 1 error",
        "errors": [{
            "pointer": "/parallel/tpx",
            "rule": "unknown_knob",
            "detail": "there is no knob parallel.tpx",
            "nearest": ["tp"],
        }],
    }))]
    pub(crate) struct ProblemBody {
        r#type: &'static str,
        /// The status in words.
        title: &'static str,
        /// The HTTP status.
        status: u16,
        /// Cause of the problem, in a sentence.
        detail: String,
        /// One entry for each thing that is wrong.
        errors: Vec<Entry>,
    }
}

impl Entry {
    /// Entry for an error in a design that is at this place of the body.
    fn from_error(start: &str, error: KnobError) -> Self {
        Self {
            pointer: format!("{start}{}", pointer(&error.knob)),
            rule: error.rule.to_owned(),
            detail: error.detail,
            nearest: error.nearest,
        }
    }
}

impl Entry {
    /// Entry for something wrong with a call of an operation.
    fn from_wrong(wrong: Wrong, is_design: bool) -> Self {
        let at = pointer(&wrong.at);
        let pointer = match (wrong.argument.as_str(), wrong.origin) {
            ("", Origin::Request | Origin::Option) => at,
            ("", Origin::Trace) => at.replace('.', "/"),
            ("", Origin::Design | Origin::Rule) if is_design => at,
            ("", Origin::Design | Origin::Rule) => format!("/design{at}"),
            (argument, _) => format!("/{}{at}", argument.replace('.', "/")),
        };
        Self { pointer, rule: wrong.rule, detail: wrong.detail, nearest: wrong.nearest }
    }
}

impl Problem {
    /// A problem with the request as a whole.
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, detail: detail.into(), errors: Vec::new(), retry_secs: None }
    }

    /// Adds the seconds after which the answer may be different.
    pub(crate) fn with_retry(mut self, seconds: u64) -> Self {
        self.retry_secs = Some(seconds);
        self
    }

    /// The store can't be read or written: the log says what for, and why.
    pub(crate) fn unusable_store(error: &dyn fmt::Display, what_for: &'static str) -> Self {
        tracing::error!(%error, "the store can't be used for {what_for}");
        Self::store_out_of_use()
    }

    /// The store can't be used.
    pub(crate) fn store_out_of_use() -> Self {
        let detail = "the server can't use its store now; its log says why";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    /// Detail, for people.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Status code of the answer.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// A problem with each of these, which `detail` counts.
    fn of_entries(status: StatusCode, detail: String, errors: Vec<Entry>) -> Self {
        Self { errors, ..Self::new(status, detail) }
    }

    /// Something that can't be read: "the design", "the spec".
    fn unreadable(what: &str, errors: Vec<Entry>) -> Self {
        let detail = present::format::counted(errors.len() as u64, "error", "errors");
        Self::of_entries(StatusCode::BAD_REQUEST, format!("{what}: {detail}"), errors)
    }

    /// A design that can't be read.
    pub(crate) fn unreadable_design(errors: Vec<KnobError>) -> Self {
        Self::unreadable_design_at("", errors)
    }

    /// Problem of an unreadable design at this place of the body.
    pub(crate) fn unreadable_design_at(start: &str, errors: Vec<KnobError>) -> Self {
        let errors = errors.into_iter().map(|error| Entry::from_error(start, error)).collect();
        Self::unreadable("the design can't be read", errors)
    }

    /// A sweep's spec that can't be read.
    pub(crate) fn unreadable_spec(errors: Vec<KnobError>) -> Self {
        let entry = |error: KnobError| {
            let places = error.knob.split('.').filter(|place| !place.is_empty());
            let pointer = places.map(|place| format!("/{place}")).collect();
            Entry { pointer, ..Entry::from_error("", error) }
        };
        Self::unreadable("the spec can't be read", errors.into_iter().map(entry).collect())
    }

    /// A trace that can't be read. Its pointers name line and column, counted from 1, of a body
    /// that isn't a tree.
    pub(crate) fn unreadable_trace(errors: Vec<TextError>) -> Self {
        Self::of_refusal(Refusal::of(errors.into_iter().map(Wrong::from)), false)
    }

    /// A change of a review session that isn't taken.
    pub(crate) fn refused(status: StatusCode, why: review::Refusal) -> Self {
        let review::Refusal { cause, detail, nearest } = why;
        let rule = match cause {
            review::Cause::Role => "role",
            review::Cause::Missing => "missing",
            review::Cause::Invalid => "invalid",
            review::Cause::Settled => "settled",
            review::Cause::Full => "full",
        };
        let rule = rule.to_owned();
        let entry = Entry { pointer: String::new(), rule, detail: detail.clone(), nearest };
        Self::of_entries(status, detail, vec![entry])
    }

    /// A text of others that makes no design. Its pointers name lines, counted from 1.
    pub(crate) fn unreadable_text(errors: Vec<Fault>) -> Self {
        let entry = |fault: Fault| Entry {
            pointer: if fault.line == 0 { String::new() } else { format!("/line/{}", fault.line) },
            rule: "unreadable_text".to_owned(),
            detail: Fault { line: 0, ..fault }.to_string(),
            nearest: Vec::new(),
        };
        Self::unreadable("the text makes no design", errors.into_iter().map(entry).collect())
    }

    /// Files of runs that make no profile: one entry for each thing that is wrong.
    pub(crate) fn unusable_files(status: StatusCode, lines: Vec<String>) -> Self {
        let detail = present::format::counted(lines.len() as u64, "error", "errors");
        let entry = |detail: String| Entry {
            pointer: String::new(),
            rule: "unusable_files".to_owned(),
            detail,
            nearest: Vec::new(),
        };
        let errors = lines.into_iter().map(entry).collect();
        Self::of_entries(status, format!("the files make no profile: {detail}"), errors)
    }

    /// A call of an operation that isn't answered. Its pointers lead into the body, which is a
    /// design file where `is_design`, else the arguments.
    pub(crate) fn of_refusal(refusal: Refusal, is_design: bool) -> Self {
        let Refusal { kind, errors, .. } = refusal;
        let count = errors.len() as u64;
        let all_of = |origin| errors.iter().all(|wrong| wrong.origin == origin);
        let detail = present::format::counted(count, "error", "errors");
        let (status, detail) = match kind {
            Kind::Unreadable if all_of(Origin::Design) => {
                (StatusCode::BAD_REQUEST, format!("the design can't be read: {detail}"))
            }
            Kind::Unreadable if all_of(Origin::Trace) => {
                (StatusCode::BAD_REQUEST, format!("the trace can't be read: {detail}"))
            }
            Kind::Unreadable => {
                (StatusCode::BAD_REQUEST, format!("the request can't be read: {detail}"))
            }
            Kind::Unanswerable | Kind::Missed => {
                (StatusCode::UNPROCESSABLE_ENTITY, format!("there is no answer: {detail}"))
            }
            Kind::Ended => (StatusCode::SERVICE_UNAVAILABLE, format!("it ended early: {detail}")),
            Kind::Internal => {
                (StatusCode::INTERNAL_SERVER_ERROR, format!("the server failed: {detail}"))
            }
        };
        let errors = errors.into_iter().map(|wrong| Entry::from_wrong(wrong, is_design)).collect();
        Self::of_entries(status, detail, errors)
    }

    fn body(self) -> ProblemBody {
        ProblemBody {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: self.detail,
            errors: self.errors,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let content_type = HeaderValue::from_static("application/problem+json");
        let headers = [(header::CONTENT_TYPE, content_type)];
        let retry = self.retry_secs.map(|seconds| [(header::RETRY_AFTER, seconds.to_string())]);
        (self.status, headers, retry, json::print(&self.body().said())).into_response()
    }
}

/// The JSON pointer (RFC 6901) of a knob in the design file.
fn pointer(knob: &str) -> String {
    if knob.is_empty() {
        return String::new();
    }
    let escaped = knob.replace('~', "~0").replace('/', "~1");
    format!("/{}", escaped.replacen('.', "/", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_into_the_design_file() {
        assert_eq!(pointer("transformer.num_layers"), "/transformer/num_layers");
        assert_eq!(pointer("schema"), "/schema");
        assert_eq!(pointer(""), "");
        assert_eq!(pointer("a/b.c~d.e"), "/a~1b/c~0d.e");
    }
}
