//! Traces as JSON.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::errors::{Errors, TextError};
use super::rows::{Row, Sizes};
use crate::routing::trace::{Pair, Trace};

/// Reads a trace.
pub(super) fn read(bytes: &[u8]) -> Result<Trace, Vec<TextError>> {
    let content: Content = serde_json::from_slice(bytes).map_err(|error| {
        // serde_json ends its message with the place, which the error has already.
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text);
        vec![TextError::at(error.line(), error.column(), message)]
    })?;
    match content {
        Content::Nested(nested) => {
            let size = nested.size().map_err(|message| vec![TextError::whole(message)])?;
            let trace = Trace::new(size, nested.tokens.counts);
            let trace = trace.and_then(|trace| trace.with_pairs(nested.pairs));
            trace.map_err(|fault| vec![fault.into()])
        }
        Content::Records(records) => from_records(&records),
    }
}

fn from_records(records: &[Record]) -> Result<Trace, Vec<TextError>> {
    if records.is_empty() {
        return Err(vec![TextError::whole("the file has no loads of experts")]);
    }
    let row = |record: &Record| Row {
        step: record.step,
        layer: record.layer,
        expert: record.expert,
        tokens: record.tokens,
    };
    let mut sizes = Sizes::default();
    records.iter().for_each(|record| sizes.see(&row(record)));
    let mut counts = sizes.counts().map_err(|error| vec![error])?;
    let mut errors = Errors::default();
    for (index, record) in records.iter().enumerate() {
        if counts.fill(&row(record)).is_err() {
            errors.push(TextError::whole(format!(
                "record {} repeats step {}, layer {}, expert {}",
                index + 1,
                record.step,
                record.layer,
                record.expert
            )));
        }
    }
    counts.trace(&mut errors).ok_or_else(|| errors.into_list())
}

/// Content of a file.
enum Content {
    Nested(Nested),
    Records(Vec<Record>),
}

/// Counts as lists in lists.
#[derive(Default)]
struct Nested {
    sizes: [Option<u64>; 3],
    tokens: Counts,
    pairs: Vec<Pair>,
}

/// Keys of the sizes.
const SIZES: [&str; 3] = ["steps", "layers", "experts"];

impl Nested {
    /// The size that the lists have, which the sizes in words must be.
    fn size(&self) -> Result<[usize; 3], alloc::string::String> {
        let found = [self.tokens.steps, self.tokens.layers, self.tokens.experts];
        for ((name, said), found) in SIZES.iter().zip(self.sizes).zip(found) {
            if let Some(said) = said
                && said != found as u64
            {
                return Err(format!("`{name}` is {said}, `tokens` has {found}"));
            }
        }
        Ok(found)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    step: u32,
    layer: u32,
    expert: u32,
    tokens: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PairRecord {
    layer: u32,
    expert_a: u32,
    expert_b: u32,
    tokens: u64,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `tokens`, or a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
        let mut records = Vec::new();
        while let Some(record) = list.next_element()? {
            records.push(record);
        }
        Ok(Content::Records(records))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let mut nested = Nested::default();
        let mut has_tokens = false;
        while let Some(key) = map.next_key::<alloc::string::String>()? {
            if let Some(at) = SIZES.iter().position(|name| *name == key) {
                nested.sizes[at] = Some(map.next_value()?);
            } else if key == "tokens" && !has_tokens {
                map.next_value_seed(Steps(&mut nested.tokens))?;
                has_tokens = true;
            } else if key == "co_activation" {
                let pairs: Vec<PairRecord> = map.next_value()?;
                nested.pairs = pairs.iter().map(pair).collect();
            } else {
                let key: alloc::string::String = key.chars().take(40).collect();
                return Err(A::Error::custom(format!(
                    "unknown or repeated key `{key}`: a trace has steps, layers, experts, tokens \
                     and co_activation"
                )));
            }
        }
        if has_tokens {
            Ok(Content::Nested(nested))
        } else {
            Err(A::Error::missing_field("tokens"))
        }
    }
}

fn pair(record: &PairRecord) -> Pair {
    let PairRecord { layer, expert_a, expert_b, tokens } = *record;
    Pair { layer, expert_a, expert_b, tokens }
}

/// Counts while they are read, one after the other.
#[derive(Default)]
struct Counts {
    counts: Vec<u32>,
    steps: usize,
    layers: usize,
    experts: usize,
}

/// The list of steps.
struct Steps<'a>(&'a mut Counts);
/// The list of a step's layers, with the step.
struct Layers<'a>(&'a mut Counts, usize);
/// The list of a layer's experts, with step and layer.
struct Experts<'a>(&'a mut Counts, usize, usize);

macro_rules! list_of {
    ($List:ident, $expecting:literal) => {
        impl<'de> DeserializeSeed<'de> for $List<'_> {
            type Value = ();
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.deserialize_seq(self)
            }
        }

        impl<'de> Visitor<'de> for $List<'_> {
            type Value = ();
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($expecting)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<(), A::Error> {
                self.take(list)
            }
        }
    };
}

list_of!(Steps, "a list of steps");
list_of!(Layers, "a list of a step's layers");
list_of!(Experts, "a list of a layer's tokens per expert");

impl Steps<'_> {
    fn take<'de, A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut step = 0;
        while list.next_element_seed(Layers(self.0, step))?.is_some() {
            step += 1;
        }
        self.0.steps = step;
        Ok(())
    }
}

impl Layers<'_> {
    fn take<'de, A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Layers(counts, step) = self;
        let mut layer = 0;
        while list.next_element_seed(Experts(counts, step, layer))?.is_some() {
            layer += 1;
        }
        if step == 0 {
            counts.layers = layer;
        }
        let wanted = counts.layers;
        if layer == wanted {
            Ok(())
        } else {
            Err(A::Error::custom(format!("step {step} has {layer} layers, step 0 has {wanted}")))
        }
    }
}

impl Experts<'_> {
    fn take<'de, A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Experts(counts, step, layer) = self;
        let mut experts = 0;
        while let Some(count) = list.next_element::<u32>()? {
            if counts.counts.len() as u64 == Trace::MAX_COUNTS {
                let most = Trace::MAX_COUNTS;
                return Err(A::Error::custom(format!("a trace has at most {most} counts")));
            }
            counts.counts.push(count);
            experts += 1;
        }
        if (step, layer) == (0, 0) {
            counts.experts = experts;
        }
        let wanted = counts.experts;
        if experts == wanted {
            Ok(())
        } else {
            Err(A::Error::custom(format!(
                "layer {layer} of step {step} has {experts} experts, others have {wanted}"
            )))
        }
    }
}
