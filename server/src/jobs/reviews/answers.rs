//! Requests and answers of review sessions over HTTP.

use std::collections::BTreeMap;

use review::{Change, Event, MAX_NAME_LEN, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ledger::Link;
use super::sessions::NewLink;
use crate::ground::calendar;

/// Seconds after which a link may expire, at most: ten years.
pub(crate) const MAX_LIFETIME_SECONDS: u64 = 10 * 366 * 24 * 3600;

/// A session to begin.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReviewBegin")]
pub(crate) struct Begin {
    /// The session's name.
    #[schemars(length(min = 1, max = MAX_NAME_LEN))]
    pub(crate) name: String,
    /// The design to begin with, as a link of the explorer, whole or from its `?` on.
    pub(crate) link: String,
    /// Name of the person who begins it; needed unless a proxy gives it.
    #[serde(default)]
    pub(crate) person: Option<String>,
    /// A secret of theirs, of which the server makes the person's id.
    #[serde(default)]
    pub(crate) key: Option<String>,
}

/// A session that was begun.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReviewBegun", deny_unknown_fields)]
pub(crate) struct Begun {
    pub(crate) id: String,
    /// The address of the page, which opens with a link only.
    pub(crate) page: String,
    pub(crate) links: Vec<LinkAnswer>,
}

/// A way into a session.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReviewLink", extend("additionalProperties" = false))]
pub(crate) struct LinkAnswer {
    #[serde(flatten)]
    link: Link,
    is_open: bool,
    /// Only in the answer that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    token: Option<String>,
    /// The page with the token; only in the answer that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    url: Option<String>,
}

impl LinkAnswer {
    /// A link that there is, without its secret.
    pub(crate) fn from_link(link: Link) -> Self {
        let is_open = link.is_open(calendar::now_millis());
        Self { link, is_open, token: None, url: None }
    }

    /// A new link into a page, with its secret.
    pub(crate) fn of_new(made: NewLink, page: &str) -> Self {
        let url = Some(format!("{page}?key={}", made.token));
        Self { token: Some(made.token), url, ..Self::from_link(made.link) }
    }
}

/// The ways into a session.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReviewLinks")]
pub(crate) struct Links {
    pub(crate) links: Vec<LinkAnswer>,
}

/// A way in to make.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReviewLinkAsked")]
pub(crate) struct Make {
    pub(crate) role: Role,
    /// Name of the link, for those who look at the links later.
    #[serde(default)]
    #[schemars(length(max = MAX_NAME_LEN))]
    pub(crate) name: String,
    #[schemars(range(min = 1, max = MAX_LIFETIME_SECONDS))]
    pub(crate) expires_in_seconds: Option<u64>,
}

/// Events of a session, in order.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReviewLog")]
pub(crate) struct Log {
    pub(crate) events: Vec<Event>,
}

/// Notes that people wrote with events, by the events' numbers, as HTML without scripts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReviewProse")]
pub(crate) struct Prose(
    #[schemars(with = "BTreeMap<String, String>")] pub(crate) BTreeMap<u64, String>,
);

/// A change that is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReviewDo")]
pub(crate) struct Do {
    /// The client's id of the change: sent again by the same id it happens once.
    #[schemars(regex(pattern = "^[0-9A-Za-z_-]{1,64}$"))]
    pub(crate) op: String,
    pub(crate) change: Change,
    /// Name of the person who asks; needed unless a proxy gives it.
    pub(crate) name: Option<String>,
    /// A secret of theirs, always the same.
    #[serde(default)]
    pub(crate) key: String,
}

/// The event that a change became.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReviewDone")]
pub(crate) struct Done<'a> {
    pub(crate) event: &'a Event,
}
