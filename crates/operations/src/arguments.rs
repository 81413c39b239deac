//! Arguments of programs: a tree read as an input, whose unknown keys are refused by name.

use model::design::file::Tree;
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::refusal::{Refusal, Wrong};

/// Maximum number of characters of an error of the reader.
const MAX_DETAIL_CHARS: usize = 400;

/// Maximum number of characters of a key that an error shows.
const MAX_KEY_CHARS: usize = 80;

/// The input of a map of arguments.
///
/// # Errors
/// Every key that the input doesn't have, with the nearest; then the first value of a wrong type.
pub fn read<T: DeserializeOwned + JsonSchema>(arguments: Tree) -> Result<T, Refusal> {
    let Tree::Map(entries) = &arguments else {
        return Err(Refusal::new("wrong_type", "", "the arguments are a map"));
    };
    let schema = T::json_schema(&mut SchemaGenerator::default());
    let known = schema.get("properties").and_then(serde_json::Value::as_object);
    let known: Vec<&str> = known.into_iter().flat_map(|it| it.keys().map(String::as_str)).collect();
    let unknown = entries.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    let refusal = Refusal::of(unknown.map(|(key, _)| unknown_argument(key, &known)));
    if !refusal.is_empty() {
        return Err(refusal);
    }
    T::deserialize(Reader(arguments)).map_err(|error| {
        let detail: String = error.to_string().chars().take(MAX_DETAIL_CHARS).collect();
        Refusal::new("wrong_arguments", "", detail)
    })
}

fn unknown_argument(key: &str, known: &[&str]) -> Wrong {
    let shown: String = key.chars().take(MAX_KEY_CHARS).collect();
    let likeness = |name: &&&str| strsim::jaro_winkler(name, &shown);
    let near = known.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
    let detail = format!("there is no argument `{shown}`; known are {}", known.join(", "));
    Wrong {
        nearest: near.map(|name| (*name).to_owned()).into_iter().collect(),
        ..Wrong::new("unknown_argument", &shown, detail)
    }
}

/// A tree that a type is read from.
struct Reader(Tree);

impl<'de> Deserializer<'de> for Reader {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Tree::Null => visitor.visit_unit(),
            Tree::Flag(flag) => visitor.visit_bool(flag),
            Tree::Unsigned(number) => visitor.visit_u64(number),
            Tree::Negative(number) => visitor.visit_i64(number),
            Tree::Real(number) => visitor.visit_f64(number),
            Tree::Text(text) => visitor.visit_string(text),
            Tree::List(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Reader)))
            }
            Tree::Map(entries) => {
                let entries = entries.into_iter().map(|(key, value)| (key, Reader(value)));
                visitor.visit_map(MapDeserializer::new(entries))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Tree::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            Tree::Text(text) => text.into_deserializer().deserialize_enum(name, variants, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Error> for Reader {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize, JsonSchema, PartialEq)]
    struct Input {
        name: String,
        #[serde(default)]
        count: Option<u64>,
        #[serde(flatten)]
        more: More,
    }

    #[derive(Debug, serde::Deserialize, JsonSchema, PartialEq)]
    struct More {
        #[serde(default)]
        set: Vec<String>,
    }

    #[test]
    fn arguments_are_read_whatever_their_order() {
        let arguments = Tree::map([
            ("set", Tree::list(["tp=8"])),
            ("name", "a".into()),
            ("count", Tree::Unsigned(u64::MAX)),
        ]);
        let more = More { set: vec!["tp=8".to_owned()] };
        let input = Input { name: "a".to_owned(), count: Some(u64::MAX), more };
        assert_eq!(read::<Input>(arguments), Ok(input));
    }

    #[test]
    fn every_unknown_argument_is_named_with_the_nearest() {
        let arguments = Tree::map([("nam", Tree::Null), ("cuont", Tree::Null)]);
        let refusal = read::<Input>(arguments).expect_err("unknown arguments");
        let nearest = refusal.errors.iter().map(|wrong| wrong.nearest.join(","));
        assert_eq!(nearest.collect::<Vec<_>>(), ["name", "count"]);
        let wrong = read::<Input>(Tree::map([("name", Tree::Unsigned(1))]));
        assert_eq!(wrong.expect_err("a number").errors[0].rule, "wrong_arguments");
    }
}
