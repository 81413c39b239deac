//! Arguments of programs: a tree read as an input, whose unknown keys are refused by name.

use model::design::file::Tree;
use model::ground::text::shorten;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use crate::refusal::{Refusal, Wrong};

/// Maximum number of characters of an error of the reader.
const MAX_DETAIL_CHARS: usize = 400;

/// Maximum number of characters of a key that an error shows.
const MAX_KEY_CHARS: usize = 80;

/// The input of a map of arguments.
///
/// # Errors
/// Every key that the input doesn't have, with the nearest, and every value of a wrong type.
pub fn read<T: DeserializeOwned + JsonSchema>(arguments: Tree) -> Result<T, Refusal> {
    check(&T::json_schema(&mut SchemaGenerator::default()), &arguments)?;
    T::deserialize(Reader(arguments)).map_err(|error| {
        let detail: String = error.to_string().chars().take(MAX_DETAIL_CHARS).collect();
        Refusal::new("wrong_arguments", "", detail)
    })
}

/// Checks the names and the types of arguments.
///
/// # Errors
/// As of [`read`].
pub(crate) fn check(form: &Schema, arguments: &Tree) -> Result<(), Refusal> {
    let Tree::Map(entries) = arguments else {
        return Err(Refusal::new("wrong_type", "", "the arguments are a map"));
    };
    let wrong = entries.iter().filter_map(|(key, value)| match property(form, key) {
        None => Some(unknown_argument(key, &known(form))),
        Some(form) => wrong_type(key, value, form),
    });
    let refusal = Refusal::of(wrong);
    if refusal.is_empty() { Ok(()) } else { Err(refusal) }
}

/// Arguments with those of an address: a parameter is a flag, a number or a text, as the form of
/// the input has it, and of a list an item.
///
/// # Errors
/// An argument that is given twice.
pub(crate) fn merged(
    form: &Schema,
    arguments: Tree,
    parameters: Vec<(String, String)>,
) -> Result<Tree, Refusal> {
    let Tree::Map(mut entries) = arguments else { return Ok(arguments) };
    for (name, text) in parameters {
        let kinds = property(form, &name).map_or(vec![], kinds);
        let is_list = kinds.contains(&"array");
        match entries.iter_mut().find(|(key, _)| *key == name) {
            Some((_, Tree::List(items))) if is_list => items.push(text.into()),
            Some(_) => {
                let detail = format!("`{}` is given twice", shorten(&name));
                return Err(Refusal::new("repeated_argument", &shorten(&name), detail));
            }
            None if is_list => entries.push((name, Tree::list([text]))),
            None => entries.push((name, parameter(text, &kinds))),
        }
    }
    Ok(Tree::Map(entries))
}

/// Value of an address's parameter.
fn parameter(text: String, kinds: &[&str]) -> Tree {
    let takes = |kind: &str| kinds.contains(&kind);
    let flag = text.parse().ok().filter(|_| takes("boolean")).map(Tree::Flag);
    let is_number = takes("integer") || takes("number");
    let whole = || text.parse().ok().filter(|_| is_number).map(Tree::Unsigned);
    let real = || text.parse().ok().filter(|_| takes("number")).map(Tree::Real);
    flag.or_else(whole).or_else(real).unwrap_or_else(|| text.into())
}

fn known(form: &Schema) -> Vec<&str> {
    let properties = form.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(|it| it.keys().map(String::as_str)).collect()
}

fn property<'a>(form: &'a Schema, key: &str) -> Option<&'a Value> {
    form.get("properties")?.get(key)
}

/// Types of JSON that a form takes; none where it doesn't say.
fn kinds(form: &Value) -> Vec<&str> {
    let kinds = &form["type"];
    let several = kinds.as_array().into_iter().flatten().filter_map(Value::as_str);
    kinds.as_str().into_iter().chain(several).collect()
}

/// Error of a value that isn't of the form.
fn wrong_type(key: &str, value: &Tree, form: &Value) -> Option<Wrong> {
    // Who reads a list of maps says of each what is wrong.
    let items = Some(kinds(&form["items"])).filter(|items| !items.contains(&"object"));
    let items = items.unwrap_or_default();
    let takes = kinds(form);
    let is_wrong = if let Tree::List(list) = value
        && takes.contains(&"array")
    {
        list.iter().any(|item| !fits(item, &items))
    } else {
        !fits(value, &takes)
    };
    let named = takes.into_iter().filter_map(|kind| match (kind, items.first()) {
        ("string", _) => Some("a text"),
        ("boolean", _) => Some("true or false"),
        ("integer", _) => Some("a whole number"),
        ("number", _) => Some("a number"),
        ("object", _) => Some("a map"),
        ("array", Some(&"string")) => Some("a list of texts"),
        ("array", _) => Some("a list"),
        _ => None,
    });
    let named = || named.collect::<Vec<_>>().join(" or ");
    is_wrong.then(|| Wrong::new("wrong_arguments", key, format!("`{key}` takes {}", named())))
}

/// Whether a value is of one of these types.
fn fits(value: &Tree, kinds: &[&str]) -> bool {
    let own: &[&str] = match value {
        Tree::Null => &["null"],
        Tree::Flag(_) => &["boolean"],
        Tree::Unsigned(_) | Tree::Negative(_) => &["integer", "number"],
        Tree::Real(_) => &["number"],
        Tree::Text(_) => &["string"],
        Tree::List(_) => &["array"],
        Tree::Map(_) => &["object"],
    };
    kinds.is_empty() || own.iter().any(|kind| kinds.contains(kind))
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
        if self.0 == Tree::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if let Tree::Text(text) = self.0 {
            text.into_deserializer().deserialize_enum(name, variants, visitor)
        } else {
            self.deserialize_any(visitor)
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

    #[test]
    fn every_value_of_a_wrong_type_is_said_with_what_it_takes() {
        let texts = Tree::List(vec![Tree::Unsigned(1)]);
        let arguments = Tree::map([("name", "a".into()), ("count", "many".into()), ("set", texts)]);
        let refusal = read::<Input>(arguments).expect_err("wrong types");
        let details = refusal.errors.iter().map(|wrong| wrong.detail.as_str());
        let wanted = ["`count` takes a whole number", "`set` takes a list of texts"];
        assert_eq!(details.collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn parameters_of_an_address_are_arguments_of_their_types() {
        let form = Input::json_schema(&mut SchemaGenerator::default());
        let merged = |arguments: Tree, parameters: &[(&str, &str)]| {
            let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
            merged(&form, arguments, parameters.iter().map(owned).collect())
        };
        let name = || Tree::map([("name", "7".into())]);
        let whole = merged(name(), &[("count", "3"), ("set", "tp=8"), ("set", "pp=2")]);
        let more = More { set: vec!["tp=8".to_owned(), "pp=2".to_owned()] };
        let input = Input { name: "7".to_owned(), count: Some(3), more };
        assert_eq!(whole.and_then(read::<Input>), Ok(input));
        let twice = merged(name(), &[("name", "8")]).expect_err("a name twice");
        assert_eq!(twice.errors[0].rule, "repeated_argument");
        let unknown = merged(name(), &[("nam", "8")]).and_then(read::<Input>);
        assert_eq!(unknown.expect_err("an unknown name").errors[0].rule, "unknown_argument");
    }
}
