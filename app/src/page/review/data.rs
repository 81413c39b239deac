//! What the server puts into the page, so that the browser draws the same.

use std::sync::Arc;

use leptos::prelude::*;
#[cfg(feature = "ssr")]
use present::site::Page;
use review::json::{Fields, Read, Tree};
use review::{Role, Room};
use serde::Serialize;

use crate::browser::on_server;

/// The id of the element that holds it.
const ID: &str = "review-data";

/// Content of a page under `/r`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Served {
    /// The form that begins a session.
    Start {
        /// The design to begin with.
        link: String,
        /// The session's name as it was typed.
        name: String,
        /// Problem with what was typed.
        problem: Option<String>,
    },
    /// A session.
    Room {
        /// Its id.
        id: String,
        /// Role that the visitor's link gives.
        role: Role,
        /// State of the session so far.
        room: Box<Room>,
    },
    /// There is no such session, or the link to it has ended.
    Missing,
}

impl Read for Served {
    fn read(tree: Tree) -> Result<Self, String> {
        let mut of = Fields::read(tree)?;
        let kind: String = of.take("kind")?;
        match kind.as_str() {
            "start" => {
                let (link, name) = (of.take("link")?, of.take("name")?);
                Ok(Self::Start { link, name, problem: of.take("problem")? })
            }
            "room" => {
                let (id, role) = (of.take("id")?, of.take("role")?);
                Ok(Self::Room { id, role, room: of.take("room")? })
            }
            _ => Ok(Self::Missing),
        }
    }
}

/// Content of the page: from the server's context there, out of the document here.
pub(super) fn served() -> Arc<Served> {
    #[cfg(feature = "ssr")]
    let served = use_context::<Arc<Served>>();
    #[cfg(not(feature = "ssr"))]
    let served = document()
        .get_element_by_id(ID)
        .and_then(|element| element.text_content())
        .and_then(|text| super::browser::read(&text))
        .map(Arc::new);
    served.unwrap_or_else(|| Arc::new(Served::Missing))
}

/// The element that holds it. A browser doesn't run it: its type is no script's.
pub(super) fn element(served: &Served) -> impl IntoView + use<> {
    let json = on_server(|| json(served));
    view! { <script type="application/json" id=ID inner_html=json></script> }
}

fn json(served: &Served) -> String {
    // No text in it may end the element.
    serde_json::to_string(served).map(|json| json.replace('<', "\\u003c")).unwrap_or_default()
}

/// Title and description of the page.
#[cfg(feature = "ssr")]
pub(crate) fn summary() -> (String, String) {
    let title = match &*served() {
        Served::Start { .. } => "Start a review".to_owned(),
        Served::Room { room, .. } => format!("{} · Review", room.name),
        Served::Missing => "No such review".to_owned(),
    };
    (format!("{title} · Moescape"), Page::Review.about().to_owned())
}
