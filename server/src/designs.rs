//! Designs that were stored on purpose, each under a short id.
//!
//! An id is a hash of the design and of the model's version: storing the same one again, by
//! whomever, gives the same id. With a design stands what the model said of it then, so that a link
//! opened years later can say what has changed. Each owner has an entry of their own, with a name
//! and a note; who opens the bare link doesn't read those of others, as an id can be guessed by
//! whoever has the same design. The link that is handed out with a name has the entry's tag.

mod ledger;
mod quota;
mod result;

pub(crate) use ledger::{Removed, entry, find, list, remove};
pub(crate) use quota::Quota;
pub(crate) use result::{Change, changes, result};

use model::design::Design;
use model::{MODEL_VERSION, link};

use crate::calendar;
use crate::owner::Owner;
use crate::store::{Store, StoreError};

/// Characters of a name, at most.
pub(crate) const MAX_NAME_LEN: usize = 120;

/// Characters of a note, at most.
pub(crate) const MAX_NOTE_LEN: usize = 2_000;

/// Designs that a server keeps, at most.
const MAX_DESIGNS: u64 = 1_000_000;

/// Characters of an id: about 95 bits.
const ID_LENGTH: usize = 16;

/// Characters of an entry's tag: about 60 bits.
const TAG_LENGTH: usize = 10;

/// What the hash of a design is for, so that no other hash of the same text is one.
const ID_CONTEXT: &str = "moescape 2026-11 design id";

/// What the hash of an entry is for.
const TAG_CONTEXT: &str = "moescape 2026-11 design entry tag";

/// A stored design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) id: String,
    /// The design as a query string.
    pub(crate) link: String,
    pub(crate) model_version: String,
    pub(crate) created_at_secs: u64,
    /// The headline metrics as JSON; none for a design that broke rules.
    pub(crate) result: Option<String>,
}

impl Stored {
    /// Is it of the model that this program has?
    pub(crate) fn is_current(&self) -> bool {
        self.model_version == MODEL_VERSION
    }
}

/// What an owner says of a design.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) tag: String,
    pub(crate) name: String,
    pub(crate) note: String,
    pub(crate) created_at_secs: u64,
}

impl Entry {
    /// The address that shows others what the owner says, where they say something.
    pub(crate) fn address(&self, id: &str) -> String {
        let is_silent = self.name.is_empty() && self.note.is_empty();
        if is_silent { format!("/d/{id}") } else { format!("/d/{id}?note={}", self.tag) }
    }
}

/// A name and a note; what is none leaves the one that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    name: Option<String>,
    note: Option<String>,
}

impl Words {
    /// Those that can be kept: short, and text. A note may have lines.
    ///
    /// # Errors
    /// Which of both is wrong, and why.
    pub(crate) fn new(
        name: Option<&str>,
        note: Option<&str>,
    ) -> Result<Self, (&'static str, String)> {
        let name = name.map(str::trim).map(ToOwned::to_owned);
        // Forms send lines as CRLF.
        let note = note.map(|note| note.replace("\r\n", "\n").trim().to_owned());
        if let Some(name) = &name {
            check(name, MAX_NAME_LEN, &[]).map_err(|why| ("name", why))?;
        }
        if let Some(note) = &note {
            check(note, MAX_NOTE_LEN, &['\n', '\t']).map_err(|why| ("note", why))?;
        }
        Ok(Self { name, note })
    }
}

impl Words {
    /// Those of an entry that is there.
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { name: Some(entry.name.clone()), note: Some(entry.note.clone()) }
    }
}

fn check(text: &str, most: usize, allowed: &[char]) -> Result<(), String> {
    let count = text.chars().count();
    if count > most {
        let most = app::present::format::whole(most as u64);
        let count = app::present::format::whole(count as u64);
        return Err(format!("it has {count} characters, and at most {most}"));
    }
    let is_odd = |char: char| {
        // Marks that turn the direction of text make it read as what it isn't.
        let turns = matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (char.is_control() && !allowed.contains(&char)) || turns
    };
    if text.contains(is_odd) {
        return Err("it has characters that control a terminal or the direction of text".to_owned());
    }
    Ok(())
}

/// Why a design isn't stored.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// There are too many already.
    Full(String),
    /// The store can't be used.
    Store(StoreError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What came of storing a design.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) stored: Stored,
    pub(crate) entry: Entry,
    /// Had the owner none of it before?
    pub(crate) is_new: bool,
}

/// Stores a design for an owner, with what the model says of it now.
pub(crate) fn keep(
    store: &Store,
    owner: &Owner,
    design: &Design,
    words: Words,
) -> Result<Kept, Refusal> {
    let link = link::encode(design);
    let stored = Stored {
        id: id(&link, MODEL_VERSION),
        result: result(design),
        link,
        model_version: MODEL_VERSION.to_owned(),
        created_at_secs: calendar::now_secs(),
    };
    if ledger::count(store)? >= MAX_DESIGNS {
        let most = app::present::format::whole(MAX_DESIGNS);
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

/// Is this spelled as an id is? What isn't needs no look into the store.
pub(crate) fn is_id(text: &str) -> bool {
    text.len() == ID_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// So many digits to the base of 62 of a hash of texts that hold no line break.
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
        // Ids stand in links: the way to make them never changes.
        assert_eq!(id(link, "0.1.0"), "LvGQJjw2tjX8CXfK");
        assert!(is_id(&id(link, "0.1.0")));
        assert_ne!(id(link, "0.1.0"), id(link, "0.2.0"));
        assert_ne!(id(link, "0.1.0"), id("v=1&preset=deepseek-v2", "0.1.0"));
        assert!(!is_id("../etc/passwd...") && !is_id("short") && !is_id(""));
    }

    #[test]
    fn names_and_notes_are_short_text() {
        let words = |name: &str, note: &str| Words::new(Some(name), Some(note));
        let long = "ä".repeat(MAX_NAME_LEN);
        assert!(words(&long, &"x\n".repeat(MAX_NOTE_LEN / 2)).is_ok());
        assert_eq!(words(&format!("{long}ä"), "").unwrap_err().0, "name");
        assert_eq!(words("a", &"x".repeat(MAX_NOTE_LEN + 1)).unwrap_err().0, "note");
        for bad in ["a\nb", "a\u{0}b", "\u{1b}[31m", "\u{202e}gnp"] {
            assert_eq!(words(bad, "").unwrap_err().0, "name", "{bad:?}");
        }
        assert_eq!(words("", "a\u{7}").unwrap_err().0, "note");
        let kept = words("  Base ", "one\r\ntwo\n").unwrap();
        assert_eq!((kept.name.as_deref(), kept.note.as_deref()), (Some("Base"), Some("one\ntwo")));
    }
}
