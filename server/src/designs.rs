//! Designs that were stored on purpose, each under a short id.
//!
//! An id is a hash of the design and of the model's version: storing the same one again, by
//! whomever, gives the same id. With a design stands what the model said of it then, so that a link
//! opened years later can say what has changed. Each owner has an entry of their own, with a name
//! and a note; who opens the bare link doesn't read those of others, as an id can be guessed by
//! whoever has the same design. The link that is handed out with a name has the entry's tag.

mod quota;
mod result;
mod stored;
mod answer;
mod ledger;
pub(crate) mod exports;
pub(crate) mod card;
pub(crate) mod bodies;

pub(crate) use answer::{StoredAnswer, StoredDesigns};
pub(crate) use ledger::{Removed, entry, find, list, remove};
pub(crate) use quota::Quota;
pub(crate) use result::{Change, changes, result};
pub(crate) use stored::{Entry, MAX_NAME_LEN, MAX_NOTE_LEN, StoredDesign, StoringOutcome, Words};

use model::design::Design;
use model::{MODEL_VERSION, design::link};

use crate::ground::calendar;
use crate::people::owner::Owner;
use crate::store::{Store, StoreError};

/// Designs that a server keeps, at most.
const MAX_DESIGNS: u64 = 1_000_000;

/// Characters of an id: about 95 bits.
const ID_LENGTH: usize = 16;

/// Characters of an entry's tag: about 60 bits.
const TAG_LENGTH: usize = 10;

/// Context of the hash of a design, so that no other hash of the same text is one.
const ID_CONTEXT: &str = "moescape 2026-11 design id";

/// Context of the hash of an entry.
const TAG_CONTEXT: &str = "moescape 2026-11 design entry tag";

/// Reason why a design isn't stored.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Too many are there already.
    Full(String),
    /// The store can't be used.
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Stores a design for an owner, with what the model says of it now.
pub(crate) fn keep(
    store: &Store,
    owner: &Owner,
    design: &Design,
    words: Words,
) -> Result<StoringOutcome, Refusal> {
    let link = link::encode(design);
    let stored = StoredDesign {
        id: id(&link, MODEL_VERSION),
        result: result(design),
        link,
        model_version: MODEL_VERSION.to_owned(),
        created_at_secs: calendar::now_secs(),
    };
    if ledger::count(store)? >= MAX_DESIGNS {
        let most = present::format::whole(MAX_DESIGNS);
        return Err(Refusal::Full(format!("the server keeps {most} designs, and at most {most}")));
    }
    let tag = tag(&stored.id, owner);
    Ok(ledger::keep(store, owner, stored, tag, words)?)
}

/// The id of a design under a version of the model.
pub(crate) fn id(link: &str, model_version: &str) -> String {
    hash(ID_CONTEXT, &[model_version, link], ID_LENGTH)
}

fn tag(id: &str, owner: &Owner) -> String {
    hash(TAG_CONTEXT, &[id, owner.as_str()], TAG_LENGTH)
}

/// Whether a text is spelled as an id is. Anything else needs no look into the store.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == ID_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Hash of texts that hold no line break, as `length` digits to the base of 62.
fn hash(context: &str, texts: &[&str], length: usize) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hasher = blake3::Hasher::new_derive_key(context);
    for text in texts {
        hasher.update(text.as_bytes());
        hasher.update(b"\n");
    }
    let mut bytes = [0; 16];
    hasher.finalize_xof().fill(&mut bytes);
    let mut number = u128::from_be_bytes(bytes);
    let digits = (0..length).map(|_| {
        let digit = DIGITS[(number % 62) as usize];
        number /= 62;
        char::from(digit)
    });
    digits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_of_the_design_and_the_model() {
        let link = "v=1&preset=deepseek-v3";
        // Ids are in links: the way to make them never changes.
        assert_eq!(id(link, "0.1.0"), "LvGQJjw2tjX8CXfK");
        assert!(is_id(&id(link, "0.1.0")));
        assert_ne!(id(link, "0.1.0"), id(link, "0.2.0"));
        assert_ne!(id(link, "0.1.0"), id("v=1&preset=deepseek-v2", "0.1.0"));
        assert!(!is_id("../etc/passwd...") && !is_id("short") && !is_id(""));
    }
}
