//! Links to the session: who may do what, until when.

use leptos::ev;
use leptos::prelude::*;
use present::page::review::labels;
use review::json::{Fields, Read, Tree};
use review::{MAX_NAME_LEN, Role};
use serde::Serialize;

use super::browser;
use super::compose::{self, button, line};
use super::session::Session;
use crate::browser::{copy as copy_text, refusal};
use crate::reaction::{effect, handler};
use crate::widget::part::{IntoPart, Part, live};

/// A link as the server lists it, without its secret.
#[derive(Clone, Debug, PartialEq)]
struct Listed {
    id: String,
    role: Role,
    name: Option<String>,
    expires_at_millis: Option<u64>,
    withdrawn_at_millis: Option<u64>,
}

impl Read for Listed {
    fn read(tree: Tree) -> Result<Self, String> {
        let mut of = Fields::read(tree)?;
        Ok(Self {
            id: of.take("id")?,
            role: of.take("role")?,
            name: of.take("name")?,
            expires_at_millis: of.take("expires_at_millis")?,
            withdrawn_at_millis: of.take("withdrawn_at_millis")?,
        })
    }
}

/// Lifetimes of a link: label and seconds.
const LASTING: [(&str, Option<u64>); 4] = [
    ("Until it is withdrawn", None),
    ("For a day", Some(86_400)),
    ("For a week", Some(604_800)),
    ("For an hour", Some(3_600)),
];

/// The links of the session, for its owner; everybody else sees what their link may do.
pub(super) fn links(session: Session) -> Part {
    let open = live(move || {
        let link = session.working_link();
        Some(
            view! {
                <section aria-labelledby="open-title">
                    <h3 id="open-title">"A design of your own"</h3>
                    <p class="muted">
                        "A design of your own begins with this one; nothing that you do there "
                        "comes here."
                    </p>
                    <a class="button" href=format!("/?{link}") target="_blank" rel="noopener">
                        "Open in the explorer"
                    </a>
                </section>
            }
            .part(),
        )
    });
    let owns = session.can(Role::Own);
    let invite =
        live(move || {
            if owns.get() {
                return Some(for_owner(session));
            }
            let may = labels::role(session.role.get());
            Some(view! {
            <section aria-labelledby="links-title">
                <h3 id="links-title">"Links"</h3>
                <p>{format!("{may} by your link.")}</p>
                <p class="muted">"The owner of the session makes links and withdraws them."</p>
            </section>
        }
        .part())
        });
    view! { {invite}{open} }.part()
}

/// Fields of the form that makes a link.
#[derive(Clone, Copy)]
struct LinkForm {
    role: RwSignal<Role>,
    /// Index into [`LASTING`].
    lasting: RwSignal<usize>,
    name: RwSignal<String>,
}

impl LinkForm {
    fn body(self) -> String {
        let lasting = LASTING.get(self.lasting.get_untracked());
        let body = Body {
            role: self.role.get_untracked(),
            name: self.name.get_untracked().trim().to_owned(),
            expires_in_seconds: lasting.and_then(|(_, seconds)| *seconds),
        };
        // Neither a map with keys that aren't text nor a number that isn't one is in it.
        serde_json::to_string(&body).unwrap_or_default()
    }
}

/// Body of the request that makes a link, as the server reads it.
#[derive(Serialize)]
struct Body {
    role: Role,
    name: String,
    expires_in_seconds: Option<u64>,
}

fn for_owner(session: Session) -> Part {
    let listed = RwSignal::new(Vec::<Listed>::new());
    let made = RwSignal::new(None::<(Role, String)>);
    let asked = LinkForm {
        role: RwSignal::new(Role::Edit),
        lasting: RwSignal::new(0),
        name: RwSignal::new(String::new()),
    };
    let refresh = move || {
        leptos::task::spawn_local(async move {
            let answer = browser::fetch("GET", &session.address("links"), None).await;
            if let Some(all) = answer.and_then(|(_, text)| list(&text)) {
                // The part may be closed by now.
                let _ = listed.try_set(all);
            }
        });
    };
    effect(refresh);
    let make = move || {
        let (role, body) = (asked.role.get_untracked(), asked.body());
        leptos::task::spawn_local(async move {
            let answer = browser::fetch("POST", &session.address("links"), Some(&body)).await;
            match answer.as_ref().and_then(|(_, text)| address(text)) {
                Some(address) => {
                    let _ = made.try_set(Some((role, address)));
                    refresh();
                }
                None => {
                    session.say(refusal(answer, "The server didn't make that link; try again."));
                }
            }
        });
    };
    view! {
        <section aria-labelledby="invite-title">
            <h3 id="invite-title">"Invite people"</h3>
            {form(asked, Callback::new(move |()| make()))}
            {live(move || made.get().map(|(role, address)| fresh(session, role, address)))}
        </section>
        <section aria-labelledby="links-title">
            <h3 id="links-title">"Links"</h3>
            <ul class="threads">
                {live(move || {
                    let again = Callback::new(move |()| refresh());
                    let one = |link| one(session, link, again);
                    Some(listed.get().into_iter().map(one).collect::<Vec<Part>>().part())
                })}
            </ul>
        </section>
        {end(session)}
    }
    .part()
}

/// Deletes the session, once its owner has read what is lost with it.
fn end(session: Session) -> Part {
    let delete = move || {
        leptos::task::spawn_local(async move {
            let address = session.address("");
            match browser::fetch("DELETE", address.trim_end_matches('/'), None).await {
                Some((200..=299 | 404, _)) => browser::leave(),
                answer => {
                    let otherwise = "The server didn't delete the session; try again.";
                    session.say(refusal(answer, otherwise));
                }
            }
        });
    };
    view! {
        <section aria-labelledby="end-title">
            <h3 id="end-title">"Delete the session"</h3>
            <details class="reply">
                <summary>"Delete this session…"</summary>
                <p>
                    "Its designs, comments, suggestions and decisions are deleted for everyone, "
                    "and all its links end at once. This can't be undone."
                </p>
                <p class="acts">
                    <a class="button" href=session.address("report.md") download="">
                        "Save a copy first"
                    </a>
                    <button type="button" class="button danger" on:click=handler(move |_| delete())>
                        "Delete it for everyone"
                    </button>
                </p>
            </details>
        </section>
    }
    .part()
}

/// Form that makes a link.
fn form(asked: LinkForm, make: Callback<()>) -> Part {
    let LinkForm { role, lasting, name } = asked;
    let roles = Role::ALL.map(|role| {
        view! {
            <option value=role.name() selected=role == Role::Edit>{labels::role(role)}</option>
        }
    });
    let times: Vec<_> = LASTING
        .iter()
        .enumerate()
        .map(|(index, (label, _))| view! { <option value=index>{*label}</option> })
        .collect();
    let fields = view! {
        <label for="link-role">"Whoever has the link"</label>
        <select
            id="link-role"
            class="select"
            autocomplete="off"
            on:change=handler(move |event: ev::Event| {
                if let Some(chosen) = Role::find(&event_target_value(&event)) {
                    role.set(chosen);
                }
            })
        >
            {roles.into_iter().collect::<Vec<_>>()}
        </select>
        <label for="link-time">"It lasts"</label>
        <select
            id="link-time"
            class="select"
            autocomplete="off"
            on:change=handler(move |event: ev::Event| {
                lasting.set(event_target_value(&event).parse().unwrap_or(0));
            })
        >
            {times}
        </select>
        {line("link-name", "Label, to tell links apart", Some(MAX_NAME_LEN), name)}
        <button type="submit" class="button primary">"Make a link"</button>
    };
    compose::form("composer", move || make.run(()), fields.part())
}

/// A link that was just made: it is shown once.
fn fresh(session: Session, role: Role, address: String) -> Part {
    let shown = address.clone();
    let copy = move || {
        copy_text(address.clone(), move |copied| {
            session.say(if copied {
                "The link is copied."
            } else {
                "The browser blocks copying; select it and copy it."
            });
        });
    };
    let role = labels::role(role).to_ascii_lowercase();
    view! {
        <div class="thread card fresh">
            <label for="fresh-link">
                {format!("New link: {role}. It is shown only now.")}
            </label>
            <input id="fresh-link" type="text" readonly autocomplete="off" value=shown/>
            {button("Copy it", copy)}
        </div>
    }
    .part()
}

fn one(session: Session, link: Listed, refresh: Callback<()>) -> Part {
    let Listed { id, role, name, expires_at_millis, withdrawn_at_millis } = link;
    let is_over = withdrawn_at_millis.is_some();
    let until = match (withdrawn_at_millis, expires_at_millis) {
        (Some(at), _) => format!("withdrawn {}", labels::moment(at)),
        (None, Some(at)) => format!("until {}", labels::moment(at)),
        (None, None) => "until it is withdrawn".to_owned(),
    };
    let address = session.address(&format!("links/{id}"));
    let withdraw = move || {
        let address = address.clone();
        leptos::task::spawn_local(async move {
            match browser::fetch("DELETE", &address, None).await {
                Some((200..=299, _)) => refresh.run(()),
                answer => {
                    let otherwise = "The server didn't withdraw that link; try again.";
                    session.say(refusal(answer, otherwise));
                }
            }
        });
    };
    let name = name.filter(|name| !name.is_empty());
    let title = name.map_or_else(
        || labels::role(role).to_owned(),
        |name| format!("{name}: {}", labels::role(role).to_ascii_lowercase()),
    );
    view! {
        <li class="thread card" class:resolved=is_over>
            <p><strong>{title}</strong>" "<span class="muted">{until}</span></p>
            {(!is_over).then(|| button("Withdraw", withdraw))}
        </li>
    }
    .part()
}

/// The links in an answer that lists them.
fn list(text: &str) -> Option<Vec<Listed>> {
    browser::read::<Fields>(text)?.take("links").ok()
}

/// The address of a link that was made.
fn address(text: &str) -> Option<String> {
    let url: String = browser::read::<Fields>(text)?.take("url").ok()?;
    Some(if url.starts_with('/') { browser::absolute(&url) } else { url })
}
