//! Router traces as JSON, read record by record.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::rows::{Row, from_rows};
use crate::routing::pattern::scores::Patterns;
use crate::routing::text::TextError;

/// Reads patterns.
pub(super) fn read(bytes: &[u8], visited: usize) -> Result<Patterns, Vec<TextError>> {
    from_rows(visited, |take| {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let outcome = Records { take }.deserialize(&mut reader);
        outcome.and_then(|is_whole| if is_whole { reader.end() } else { Ok(()) }).map_err(|error| {
            // serde_json ends its message with the place, which the error has already.
            let text = error.to_string();
            let message = text.split(" at line ").next().unwrap_or(&text);
            vec![TextError::at(error.line(), error.column(), message)]
        })
    })?
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'a> {
    #[serde(borrow)]
    task: Cow<'a, str>,
    #[serde(default)]
    token: Option<u64>,
    layer: u32,
    expert: u32,
    #[serde(alias = "logit")]
    tcess: f64,
}

/// Gives every record of a list, until no more are needed; says whether it came to the end.
struct Records<'t> {
    take: &'t mut dyn FnMut(Row<'_>) -> bool,
}

impl<'de> DeserializeSeed<'de> for Records<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Records<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of records with `task`, `layer`, `expert` and `tcess`")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let mut line = 0;
        let mut takes = true;
        while let Some(record) = list.next_element::<Record<'de>>()? {
            line += 1;
            let Record { task, token, layer, expert, tcess } = &record;
            let (token, layer, expert) = (*token, *layer, *expert);
            let row = Row { task, token, layer, expert, score: *tcess, line };
            // What follows is only checked for its form.
            takes = takes && (self.take)(row);
        }
        Ok(takes)
    }
}
