//! A Chrome trace of the PyTorch profiler, event by event: what is kept doesn't grow with it.
//!
//! Kernels are events of category `kernel` with a duration in microseconds. With
//! `record_shapes=True` the operator that launched one, an event of category `cpu_op` with the same
//! `External id`, has its `Input Dims`. Source: Kineto, `output_json.cpp`; PyTorch,
//! `torch/csrc/autograd/profiler_kineto.cpp`.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Class, Profile, Shape, elements};

/// Operators with a shape, and kernels before theirs, that are remembered, at most.
const MAX_LINKS: usize = 1_000_000;

/// Bytes of a string, at most.
const MAX_STRING: usize = 1 << 20;

/// Reads a trace.
///
/// # Errors
/// Text that is no trace, with line and column, or a trace without kernels.
pub(crate) fn read(file: impl Read) -> Result<Profile, String> {
    let mut builder = Builder::default();
    let file = std::io::BufReader::new(Guarded::new(file));
    let mut reader = serde_json::Deserializer::from_reader(file);
    reader
        .deserialize_any(Trace(&mut builder))
        .map_err(|error| format!("line {}: it is no trace: {error}", error.line()))?;
    let profile = builder.finished();
    if profile.classes.is_empty() {
        return Err(
            "the trace has no kernels (events of category `kernel`); of Ascend's profiler \
                    give kernel_details.csv"
                .to_owned(),
        );
    }
    Ok(profile)
}

/// A reader that fails inside a string that is too long to be one of a trace.
struct Guarded<R> {
    file: R,
    since: usize,
    is_inside: bool,
    is_escaped: bool,
}

impl<R> Guarded<R> {
    const fn new(file: R) -> Self {
        Self { file, since: 0, is_inside: false, is_escaped: false }
    }
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        for byte in buffer.iter().take(read) {
            self.since += 1;
            // Numbers are kept while they are read, as strings are.
            if !self.is_inside && !matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E') {
                self.since = 0;
            }
            match byte {
                b'"' if !self.is_escaped => {
                    self.is_inside = !self.is_inside;
                    self.since = 0;
                }
                _ => {}
            }
            self.is_escaped = self.is_inside && *byte == b'\\' && !self.is_escaped;
            if self.since > MAX_STRING {
                return Err(std::io::Error::other("a string is too long"));
            }
        }
        Ok(read)
    }
}

/// A trace being counted.
#[derive(Default)]
struct Builder {
    profile: Profile,
    /// Shapes of operators, by their id.
    operators: BTreeMap<u64, (Class, Shape)>,
    /// Time of kernels of a class, by the id of their operator.
    kernels: BTreeMap<(u64, Class), f64>,
}

impl Builder {
    fn take(&mut self, event: &Event) {
        match event.cat.as_str() {
            "kernel" => self.kernel(event),
            "gpu_memcpy" if event.name.contains("DtoD") => self.kernel(event),
            "cpu_op" => {
                let shape = operator(&event.name, &event.args.dims.0);
                if let (Some(id), Some(found)) = (event.args.id, shape)
                    && self.operators.len() < MAX_LINKS
                {
                    self.operators.insert(id, found);
                }
            }
            "user_annotation" => {
                let step = event.name.strip_prefix("ProfilerStep#");
                if let Some(step) = step.and_then(|step| step.parse().ok()) {
                    self.profile.add_step(step);
                }
            }
            _ => {}
        }
    }

    fn kernel(&mut self, event: &Event) {
        let Some(micros) = event.dur else { return };
        self.profile.add(&event.name, 1.0, micros);
        let key = event.args.id.map(|id| (id, Class::of(&event.name)));
        if let Some(key) = key.filter(|(_, class)| *class != Class::Vector)
            && (self.kernels.len() < MAX_LINKS || self.kernels.contains_key(&key))
        {
            *self.kernels.entry(key).or_default() += micros;
        }
    }

    /// The profile, each operator's kernels with its shape.
    fn finished(mut self) -> Profile {
        for (id, (class, shape)) in &self.operators {
            if let Some(micros) = self.kernels.get(&(*id, *class)) {
                self.profile.add_shape(*shape, *micros);
            }
        }
        self.profile
    }
}

/// The class of an operator's kernels and its shape, by the dimensions of its inputs.
fn operator(name: &str, dims: &[Vec<u64>]) -> Option<(Class, Shape)> {
    let input = |place: usize| dims.get(place).map(Vec::as_slice);
    let product = |x: &[u64], w: &[u64]| match (x, w) {
        (&[m, k], &[depth, n]) if k == depth => Some(Shape::Product { m, k, n, count: 1 }),
        (&[count, m, k], &[all, depth, n]) if k == depth && count == all => {
            Some(Shape::Product { m, k, n, count })
        }
        _ => None,
    };
    let found = match name {
        "aten::mm" | "aten::bmm" => product(input(0)?, input(1)?)?,
        "aten::addmm" => product(input(1)?, input(2)?)?,
        _ if name.contains("flash_attn") || name.contains("flash_attention") => {
            let is_backward = name.contains("backward");
            // The gradient of the output comes first.
            let [sequences, second, third, width] = *input(usize::from(is_backward))? else {
                return None;
            };
            // ATen's operators have heads in front of tokens, FlashAttention's behind.
            let is_aten = name.starts_with("aten::_scaled_dot_product");
            let [tokens, heads] = if is_aten { [third, second] } else { [second, third] };
            let class =
                if is_backward { Class::AttentionBackward } else { Class::AttentionForward };
            elements(&[sequences, tokens, heads, width])?;
            let shape = Shape::Attention { sequences, tokens, heads, width, is_backward };
            return Some((class, shape));
        }
        _ => return None,
    };
    let Shape::Product { m, k, n, count } = found else { return None };
    elements(&[m, k, n, count])?;
    Some((Class::Product, found))
}

/// The whole trace: an object with `traceEvents`, or the events alone.
struct Trace<'a>(&'a mut Builder);

impl<'de> Visitor<'de> for Trace<'_> {
    type Value = ();

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("an object with `traceEvents`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "traceEvents" => map.next_value_seed(Events(self.0))?,
                "deviceProperties" => {
                    let Devices(name) = map.next_value()?;
                    self.0.profile.device = name;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        Events(self.0).visit_seq(seq)
    }
}

struct Events<'a>(&'a mut Builder);

impl<'de> serde::de::DeserializeSeed<'de> for Events<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = ();

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(event) = seq.next_element::<Event>()? {
            self.0.take(&event);
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Event {
    #[serde(default)]
    name: String,
    #[serde(default)]
    cat: String,
    #[serde(default)]
    dur: Option<f64>,
    #[serde(default)]
    args: Arguments,
}

#[derive(Default, Deserialize)]
struct Arguments {
    #[serde(rename = "External id", default)]
    id: Option<u64>,
    #[serde(rename = "Input Dims", default)]
    dims: Dims,
}

/// The name of the first device.
struct Devices(Option<String>);

impl<'de> Deserialize<'de> for Devices {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Device {
            #[serde(default)]
            name: Option<String>,
        }
        struct First;
        impl<'de> Visitor<'de> for First {
            type Value = Devices;
            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("a list of devices")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Devices, A::Error> {
                let first = seq.next_element::<Device>()?.and_then(|device| device.name);
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Devices(first))
            }
        }
        reader.deserialize_seq(First)
    }
}

/// Dimensions of inputs, at most sixteen of eight; what isn't a list of numbers has none.
#[derive(Clone, Debug, Default, PartialEq)]
struct Dims(Vec<Vec<u64>>);

impl<'de> Deserialize<'de> for Dims {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(DimsVisitor)
    }
}

struct DimsVisitor;

impl<'de> Visitor<'de> for DimsVisitor {
    type Value = Dims;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("dimensions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Dims, A::Error> {
        let mut dims = vec![];
        while let Some(Side(sides)) = seq.next_element()? {
            if dims.len() < 16 {
                dims.push(sides);
            }
        }
        Ok(Dims(dims))
    }

    fn visit_str<E>(self, _: &str) -> Result<Dims, E> {
        Ok(Dims::default())
    }

    fn visit_unit<E>(self) -> Result<Dims, E> {
        Ok(Dims::default())
    }
}

/// The sides of one input.
struct Side(Vec<u64>);

impl<'de> Deserialize<'de> for Side {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(SideVisitor)
    }
}

struct SideVisitor;

impl<'de> Visitor<'de> for SideVisitor {
    type Value = Side;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("sides")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Side, A::Error> {
        let mut sides = vec![];
        while let Some(Side(inner)) = seq.next_element()? {
            if sides.len() < 8 {
                // A list of tensors has lists in it, which are no sides.
                sides.extend(inner.first().filter(|_| inner.len() == 1));
            }
        }
        Ok(Side(sides))
    }

    fn visit_u64<E>(self, side: u64) -> Result<Side, E> {
        Ok(Side(vec![side]))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Side, E> {
        Ok(Side(vec![]))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Side, E> {
        Ok(Side(vec![]))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Side, E> {
        Ok(Side(vec![]))
    }

    fn visit_str<E>(self, _: &str) -> Result<Side, E> {
        Ok(Side(vec![]))
    }

    fn visit_unit<E>(self) -> Result<Side, E> {
        Ok(Side(vec![]))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Side, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Side(vec![]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_get_the_shape_of_the_operator_that_launched_them() {
        let text = r#"{"schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
            "traceEvents": [
            {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 0, "dur": 9},
            {"ph": "X", "cat": "kernel", "name": "nvjet_tst", "ts": 1.5, "dur": 700.25,
             "args": {"External id": 7, "stream": 7}},
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2, "args": {
             "External id": 7, "Input Dims": [[4096, 4096], [4096, 14336], []],
             "Input type": ["c10::BFloat16"]}},
            {"ph": "X", "cat": "cpu_op", "name": "aten::cat",
             "args": {"External id": 8, "Input Dims": [[[4, 4], [4, 4]], []]}},
            {"ph": "X", "cat": "kernel", "name": "void vectorized_elementwise_kernel", "dur": 20},
            {"ph": "i", "s": "p", "name": "x", "args": {"Input Dims": "no", "External id": null}}
            ], "traceName": "x"}"#;
        let profile = read(text.as_bytes()).unwrap();
        let shape = Shape::Product { m: 4_096, k: 4_096, n: 14_336, count: 1 };
        let shapes: Vec<_> =
            profile.shapes.iter().map(|(shape, sum)| (*shape, sum.micros)).collect();
        assert_eq!(shapes, [(shape, 700.25)]);
        assert_eq!(profile.steps.len(), 1);
        assert_eq!(profile.device.as_deref(), Some("NVIDIA H100 80GB HBM3"));
        assert!((profile.classes[&Class::Vector].micros - 20.0).abs() < 1e-12);
    }

    #[test]
    fn text_that_is_no_trace_is_refused_with_its_line() {
        assert!(read(&b"{\"traceEvents\": [\n{\"name\": }"[..]).unwrap_err().starts_with("line 2"));
        assert!(read(&b"{\"a\": 1}"[..]).unwrap_err().contains("no kernels"));
        let long =
            format!("{{\"traceEvents\": [{{\"name\": \"{}\"}}]}}", "\\\"".repeat(MAX_STRING));
        assert!(read(long.as_bytes()).unwrap_err().contains("too long"));
        let deep = "[".repeat(100_000);
        assert!(read(deep.as_bytes()).is_err());
    }
}
