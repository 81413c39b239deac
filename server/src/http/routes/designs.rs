//! `/api/v1/designs`: stores designs under short ids, and reads, lists and forgets them.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use model::design::Design;
use model::design::file::{self, Tree, json};
use model::design::link;
use reports::typed::Said;

use super::json::json_response;
use super::kept;
use crate::designs::bodies::StoreDesign;
use crate::designs::{
    self, Entry, Refusal, Removed, StoredAnswer, StoredDesign, StoredDesigns, StoringOutcome, Words,
};
use crate::ground::calendar;
use crate::http::endpoint::{JSON, endpoints, of};
use crate::net::client::Client;
use crate::net::problem::Problem;
use crate::net::query::{self, Parameter, parameter_list};
use crate::net::request_body;
use crate::net::work::off_thread;
use crate::people::audit_events::Kind;
use crate::people::owner::{Owner, Storing, Visitor};
use crate::state::AppState;
use crate::store::Store;

/// Designs in a list, unless the asker says how many.
const USUAL_LIST: u32 = 50;

/// Designs in a list, at most.
const MAX_LIST_LEN: u32 = 200;

const ID: Parameter =
    Parameter::path("id", "The design's id: 16 letters and digits.").example("{design}");

parameter_list! { OF_STORED:
    /// As it stands in the link that was passed on.
    note(query::text),
}

parameter_list! { OF_LIST:
    /// Only your own designs are listed; the name alone is enough.
    mine(query::text).example("").required(),
    /// Only designs stored before the one with this id: the last of the page before.
    before(query::text).example("{design}"),
    /// Designs at most.
    limit(|| query::limit_schema(USUAL_LIST, MAX_LIST_LEN)).example("20"),
}

const DESIGN: &str = r#"{"name": "Two at once", "note": "To be compared with one.",
    "design": {"schema": 1, "preset": "pangu-ultra-moe-6k", "training": {"micro_batch_size": 4}}}"#;

const LINK: &str = r#"{"link":
    "http://127.0.0.1:3000/?v=1&preset=pangu-ultra-moe-6k&training.micro_batch_size=4"}"#;

endpoints! {
    /// Your stored designs, newest first
    ///
    /// Those that were stored with the cookie of this request. Nobody else's are listed.
    get "/api/v1/designs" => list as listDesigns {
        .with(OF_LIST).answers(of::<StoredDesigns>).refuses([out_of_use()])
    }

    /// Store a design under a short link
    ///
    /// The id is a hash of the design and of the model's version: storing the same design again
    /// gives the same id. With it the server stores the headline metrics as the model gives them
    /// now. A name or note that is sent replaces yours; one that is absent stays. The first answer
    /// sets a cookie that makes you the owner.
    post "/api/v1/designs" => store as storeDesign {
        .takes(of::<StoreDesign>)
        .named_example("design", "A design", DESIGN).named_example("link", "A link", LINK)
        .answers_as(JSON, of::<StoredAnswer>,
            "You had it stored already; it has the words that you sent.")
        .stores(of::<StoredAnswer>, "It is stored. The header `Location` has its address.")
        .fails(422, "Name or note are too long, or have characters that aren't text.")
        .fails(429, "You stored many designs within an hour. The header `Retry-After` says in how \
            many seconds to try again.")
        .refuses([out_of_use()])
    }

    /// A stored design
    ///
    /// The design, and what the model said of it when it was stored. Name and note are yours, or
    /// those of the owner whose link has this `note`.
    get "/api/v1/designs/{id}" => stored as readDesign {
        .with([ID]).with(OF_STORED).answers(of::<StoredAnswer>)
        .refuses([unknown(), out_of_use()])
    }

    /// Delete a design of yours
    ///
    /// Its link opens no more, unless somebody else has stored the same design.
    delete "/api/v1/designs/{id}" => forget as deleteDesign {
        .with([ID]).ends(204, "You have it no more.")
        .refuses([not_theirs(), unknown(), out_of_use()])
    }
}

pub(super) async fn store(
    State(state): State<AppState>,
    Client(client): Client,
    storing: Storing,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let (design, words) = read(body)?;
    let storing = kept::check(&state, Kind::Design, storing, &client).await?;
    let Storing { owner, cookie, .. } = storing;
    let kept = keep(&state, &client, owner, design, words).await?;
    let status = if kept.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let location = format!("/api/v1/designs/{}", kept.stored.id);
    let location = HeaderValue::try_from(location).map_err(|_| unknown())?;
    let headers = [(header::LOCATION, location), (header::SET_COOKIE, cookie)];
    let answer = json_response(&StoredAnswer::new(&kept.stored, Some(&kept.entry), true).said());
    Ok((status, headers, answer).into_response())
}

/// Stores a design where the client has room.
pub(super) async fn keep(
    state: &AppState,
    client: &str,
    owner: Owner,
    design: Design,
    words: Words,
) -> Result<StoringOutcome, Problem> {
    state.quota.take(client, calendar::now_secs()).map_err(|seconds| {
        let minutes = seconds.div_ceil(60);
        let detail = format!("that were many designs in an hour; there is room in {minutes} min");
        Problem::new(StatusCode::TOO_MANY_REQUESTS, detail).with_retry(seconds)
    })?;
    let state = state.clone();
    let kept = off_thread(move || {
        let store = state.store.open()?;
        designs::keep(&store, &owner, &design, words)
    });
    kept.await?.map_err(|refusal| match refusal {
        Refusal::Full(detail) => Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail),
        Refusal::Store(error) => broken(&error),
    })
}

/// The design and the words of a request.
fn read(body: Result<Bytes, BytesRejection>) -> Result<(Design, Words), Problem> {
    let wrong = |detail: String| Problem::new(StatusCode::BAD_REQUEST, detail);
    let text = request_body::text(body, "a design")?;
    let tree = json::parse(&text).map_err(|error| Problem::unreadable_design(vec![error]))?;
    let Tree::Map(entries) = &tree else { return Err(wrong("not an object".to_owned())) };
    let known = StoreDesign::KEYS;
    if let Some((key, _)) = entries.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        let key: String = key.chars().take(80).collect();
        return Err(wrong(format!("there is no `{key}` here; known are {}", known.join(", "))));
    }
    let mut mistakes = vec![];
    let asked = StoreDesign::read(&tree, |_, detail| mistakes.push(detail));
    if !mistakes.is_empty() {
        return Err(wrong(mistakes.join("; ")));
    }
    let design = match (&asked.design, &asked.link) {
        (Some(design), None) => {
            file::read(design).map_err(|errors| Problem::unreadable_design_at("/design", errors))?
        }
        (None, Some(address)) => link::of_address(address).map_err(Problem::unreadable_design)?,
        _ => return Err(wrong("one of `design` and `link` is needed, not both".to_owned())),
    };
    let words = Words::new(asked.name.as_deref(), asked.note.as_deref());
    let words = words.map_err(|(key, why)| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("`{key}` can't be kept: {why}"))
    })?;
    Ok((design, words))
}

pub(super) async fn stored(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Visitor(owner): Visitor,
    RawQuery(asked): RawQuery,
) -> Result<Response, Problem> {
    let asked = asked.unwrap_or_default();
    let [tag] = query::parameters(&asked, OF_STORED)?;
    let tag = tag.map(std::borrow::Cow::into_owned);
    let (found, entry) = find(&state, &id, owner.clone(), tag).await?.ok_or_else(unknown)?;
    let mine = is_theirs(&state, &id, owner).await?;
    Ok(json_response(&StoredAnswer::new(&found, entry.as_ref(), mine).said()))
}

pub(super) async fn list(
    State(state): State<AppState>,
    Visitor(owner): Visitor,
    RawQuery(asked): RawQuery,
) -> Result<Response, Problem> {
    let asked = asked.unwrap_or_default();
    let [mine, before, limit] = query::parameters(&asked, OF_LIST)?;
    if mine.is_none() {
        let detail = "only your own designs are listed: ask for ?mine";
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    let limit = query::limit(limit, USUAL_LIST, MAX_LIST_LEN)?;
    let before = before.map(std::borrow::Cow::into_owned);
    let designs = of_owner(&state, owner, before, limit).await?;
    let designs =
        designs.iter().map(|(stored, entry)| StoredAnswer::new(stored, Some(entry), true));
    Ok(json_response(&StoredDesigns { designs: designs.collect() }.said()))
}

pub(super) async fn forget(
    State(state): State<AppState>,
    Path(id): Path<String>,
    Visitor(owner): Visitor,
) -> Result<StatusCode, Problem> {
    remove(&state, &id, owner).await.map(|()| StatusCode::NO_CONTENT)
}

/// Forgets an owner's design.
pub(super) async fn remove(
    state: &AppState,
    id: &str,
    owner: Option<Owner>,
) -> Result<(), Problem> {
    let Some(owner) = owner else {
        let is_there = find(state, id, None, None).await?.is_some();
        return Err(if is_there { not_theirs() } else { unknown() });
    };
    let sought = id.to_owned();
    let removed = with_store(state, id, move |store| designs::remove(store, &sought, &owner));
    match removed.await?.unwrap_or(Removed::Unknown) {
        Removed::Yes => Ok(()),
        Removed::NotTheirs => Err(not_theirs()),
        Removed::Unknown => Err(unknown()),
    }
}

/// The design of an id, with what is said of it by the asker, or by whoever's tag is given.
pub(super) async fn find(
    state: &AppState,
    id: &str,
    owner: Option<Owner>,
    tag: Option<String>,
) -> Result<Option<(StoredDesign, Option<Entry>)>, Problem> {
    let sought = id.to_owned();
    let found = with_store(state, id, move |store| {
        let Some(stored) = designs::find(store, &sought)? else { return Ok(None) };
        let entry = designs::entry(store, &sought, owner.as_ref(), tag.as_deref())?;
        Ok(Some((stored, entry)))
    });
    Ok(found.await?.flatten())
}

/// Whether an owner has a design of their own under an id.
pub(super) async fn is_theirs(
    state: &AppState,
    id: &str,
    owner: Option<Owner>,
) -> Result<bool, Problem> {
    let Some(owner) = owner else { return Ok(false) };
    let sought = id.to_owned();
    let entry =
        with_store(state, id, move |store| designs::entry(store, &sought, Some(&owner), None));
    Ok(entry.await?.flatten().is_some())
}

/// An owner's designs, newest first.
pub(super) async fn of_owner(
    state: &AppState,
    owner: Option<Owner>,
    before: Option<String>,
    most: u32,
) -> Result<Vec<(StoredDesign, Entry)>, Problem> {
    let Some(owner) = owner.filter(|_| state.store.exists()) else { return Ok(Vec::new()) };
    let state = state.clone();
    let listed =
        off_thread(move || designs::list(&state.store.open()?, &owner, before.as_deref(), most));
    listed.await?.map_err(|error| broken(&error))
}

/// Looks for an id in the store, off the threads that answer requests. What can't be there isn't
/// looked for, and whoever only reads makes no file.
async fn with_store<T: Send + 'static>(
    state: &AppState,
    id: &str,
    work: impl FnOnce(&Store) -> Result<T, crate::store::StoreError> + Send + 'static,
) -> Result<Option<T>, Problem> {
    if !designs::is_id(id) || !state.store.exists() {
        return Ok(None);
    }
    let state = state.clone();
    let done = off_thread(move || work(&state.store.open()?));
    done.await?.map(Some).map_err(|error| broken(&error))
}

pub(super) fn unknown() -> Problem {
    let detail = "there is no stored design of that id; it may have been deleted";
    Problem::new(StatusCode::NOT_FOUND, detail)
}

fn out_of_use() -> Problem {
    Problem::store_out_of_use()
}

fn not_theirs() -> Problem {
    let detail = "only who stored a design can delete it, in the browser that stored it";
    Problem::new(StatusCode::FORBIDDEN, detail)
}

fn broken(error: &dyn std::fmt::Display) -> Problem {
    Problem::unusable_store(error, "stored designs")
}
