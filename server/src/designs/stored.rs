//! Stored designs, and what their owners write beside them.

use model::MODEL_VERSION;

/// Characters of a name, at most.
pub(crate) const MAX_NAME_LEN: usize = 120;

/// Characters of a note, at most.
pub(crate) const MAX_NOTE_LEN: usize = 2_000;

/// A stored design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredDesign {
    pub(crate) id: String,
    /// The design as a query string.
    pub(crate) link: String,
    pub(crate) model_version: String,
    pub(crate) created_at_secs: u64,
    /// The headline metrics as JSON; `None` for a design that broke rules.
    pub(crate) result: Option<String>,
}

impl StoredDesign {
    /// Whether it is of the model version that this program has.
    pub(crate) fn is_current(&self) -> bool {
        self.model_version == MODEL_VERSION
    }
}

/// Entry of an owner for a design.
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
    pub(super) name: Option<String>,
    pub(super) note: Option<String>,
}

impl Words {
    /// Name and note that can be kept: short, and text. A note may have lines.
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
    /// Name and note of an entry that is there.
    pub(crate) fn from_entry(entry: &Entry) -> Self {
        Self { name: Some(entry.name.clone()), note: Some(entry.note.clone()) }
    }
}

fn check(text: &str, most: usize, allowed: &[char]) -> Result<(), String> {
    let count = text.chars().count();
    if count > most {
        let most = present::format::whole(most as u64);
        let count = present::format::whole(count as u64);
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

/// Outcome of storing a design.
#[derive(Clone, Debug)]
pub(crate) struct StoringOutcome {
    pub(crate) stored: StoredDesign,
    pub(crate) entry: Entry,
    /// Whether the owner didn't have it before.
    pub(crate) is_new: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

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
