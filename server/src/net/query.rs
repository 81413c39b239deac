//! The part of an address behind its `?`, for programs: a few names, each once.

use std::borrow::Cow;

use axum::http::StatusCode;
use schemars::{Schema, json_schema};

use crate::net::problem::Problem;

/// A parameter of a request: the name that is read, and what the API's description tells of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// `query`, `path` or `header`.
    pub(crate) place: &'static str,
    pub(crate) meaning: &'static str,
    pub(crate) schema: fn() -> Schema,
    pub(crate) example: Option<&'static str>,
    pub(crate) is_required: bool,
}

impl Parameter {
    /// A parameter behind the address's `?`, which may be absent.
    pub(crate) const fn query(name: &'static str, meaning: &'static str) -> Self {
        Self { name, place: "query", meaning, schema: text, example: None, is_required: false }
    }

    /// A part of the path.
    pub(crate) const fn path(name: &'static str, meaning: &'static str) -> Self {
        Self { place: "path", is_required: true, ..Self::query(name, meaning) }
    }

    /// A header.
    pub(crate) const fn header(name: &'static str, meaning: &'static str) -> Self {
        Self { place: "header", ..Self::query(name, meaning) }
    }

    /// This parameter with values other than any text.
    pub(crate) const fn takes(self, schema: fn() -> Schema) -> Self {
        Self { schema, ..self }
    }

    /// This parameter with an example.
    pub(crate) const fn example(self, example: &'static str) -> Self {
        Self { example: Some(example), ..self }
    }

    /// This parameter, which can't be absent.
    pub(crate) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }
}

/// Schema of a parameter that takes any text.
pub(crate) fn text() -> Schema {
    json_schema!({"type": "string"})
}

/// Schema of a parameter that takes a preset's id.
pub(crate) fn preset() -> Schema {
    json_schema!({"$ref": "#/components/schemas/PresetId"})
}

/// Schema of a parameter that takes one of these choices.
pub(crate) fn one_of<T>(choices: &[(&'static str, T)]) -> Schema {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    json_schema!({"type": "string", "enum": names})
}

/// Schema of a parameter that takes one of these choices, the first where it is absent.
pub(crate) fn first_of<T>(choices: &[(&'static str, T)]) -> Schema {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    json_schema!({"type": "string", "enum": names, "default": names.first()})
}

/// Schema of a parameter that takes a whole number from this one on.
pub(crate) fn whole_from(least: u64) -> Schema {
    json_schema!({"type": "integer", "minimum": least})
}

/// Schema of a parameter that takes a whole number from 1 on.
pub(crate) fn whole_to(most: u64) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": most})
}

/// Schema of a [`limit`].
pub(crate) fn limit_schema(usual: u32, most: u32) -> Schema {
    json_schema!({"type": "integer", "minimum": 1, "maximum": most, "default": usual})
}

impl From<Parameter> for &'static str {
    fn from(parameter: Parameter) -> Self {
        parameter.name
    }
}

/// An array of parameters behind an address's `?`, whose doc comments say what they mean. The
/// parentheses hold the schema of what each takes, and behind them stand methods of [`Parameter`].
macro_rules! parameter_list {
    ($all:ident: $(
        $(#[doc = $doc:literal])+
        $name:ident($takes:expr) $(.$method:ident($($value:expr)?))*
    ),+ $(,)?) => {
        const $all: [$crate::net::query::Parameter; [$(stringify!($name)),+].len()] = [$(
            $crate::net::query::Parameter::query(stringify!($name), concat!($($doc, "\n"),+))
                .takes($takes)
                $(.$method($($value)?))*
        ),+];
    };
}
pub(crate) use parameter_list;

/// The values of these names, in their order; names that aren't known are refused.
pub(crate) fn parameters<'a, const N: usize>(
    query: &'a str,
    names: [impl Into<&'static str>; N],
) -> Result<[Option<Cow<'a, str>>; N], Problem> {
    let names = names.map(Into::into);
    let mut values = [const { None }; N];
    for pair in split(query) {
        let (name, value) = pair?;
        let Some(place) = names.iter().position(|known| name == *known) else {
            let name: String = name.chars().take(80).collect();
            let detail = format!("there is no `{name}` here; known are {}", names.join(", "));
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        };
        if values[place].replace(value).is_some() {
            let detail = format!("`{name}` stands in the address twice");
            return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
        }
    }
    Ok(values)
}

/// Every name with its value, in their order.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>, Problem> {
    split(query).map(|pair| pair.map(|(name, value)| (name.into(), value.into()))).collect()
}

/// A name with its value, decoded.
type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

fn split(query: &str) -> impl Iterator<Item = Result<Pair<'_>, Problem>> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decoded(name)?, decoded(value)?))
    })
}

/// A text whose percent signs are read as addresses have them: `%61` is `a`. One that no two
/// hexadecimal digits follow stands for itself.
pub(crate) fn decoded(text: &str) -> Result<Cow<'_, str>, Problem> {
    if !text.contains('%') {
        return Ok(Cow::Borrowed(text));
    }
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let (bytes, mut read, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = digit(bytes.get(at + 1)).zip(digit(bytes.get(at + 2)));
        match digits.filter(|_| *byte == b'%') {
            Some((high, low)) => {
                read.push((high * 16 + low) as u8);
                at += 3;
            }
            None => {
                read.push(*byte);
                at += 1;
            }
        }
    }
    let detail = "the address isn't UTF-8 once its percent signs are read";
    let read = String::from_utf8(read).map_err(|_| Problem::new(StatusCode::BAD_REQUEST, detail));
    read.map(Cow::Owned)
}

/// Number of entries of a list that are requested: from 1 to `most`, `usual` if absent.
pub(crate) fn limit(text: Option<Cow<'_, str>>, usual: u32, most: u32) -> Result<u32, Problem> {
    let limit = text.map_or(Some(usual), |text| text.parse().ok());
    limit.filter(|limit| (1..=most).contains(limit)).ok_or_else(|| {
        let detail = format!("`limit` is a number from 1 to {most}");
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })
}

/// One of these choices.
pub(crate) fn choice<T: Copy>(
    name: &str,
    value: &str,
    choices: &[(&str, T)],
) -> Result<T, Problem> {
    let chosen = choices.iter().find(|(known, _)| *known == value);
    chosen.map(|(_, choice)| *choice).ok_or_else(|| {
        let known: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
        let value: String = value.chars().take(80).collect();
        let detail = format!("`{name}` is one of {}, not `{value}`", known.join(", "));
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_and_stand_once() {
        let read = |query| parameters(query, ["format", "of"]);
        assert!(matches!(read(""), Ok([None, None])));
        let values = |query| read(query).unwrap().map(|value| value.unwrap().into_owned());
        assert_eq!(values("of=front&format=csv"), ["csv", "front"]);
        assert_eq!(values("o%66=%61ll&format=50%&"), ["50%", "all"]);
        assert!(read("of=%FF").is_err() && read("of=a&o%66=b").is_err());
        assert!(read("of=front&of=best").is_err());
        assert!(read("for=x").is_err());
        assert!(choice("of", "x", &[("a", 1), ("b", 2)]).is_err());
        assert!(matches!(choice("of", "b", &[("a", 1), ("b", 2)]), Ok(2)));
    }
}
