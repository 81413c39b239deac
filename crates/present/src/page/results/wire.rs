//! [`Data`] as bytes: what the server sends and the page's module reads. Both come from one build,
//! and a first byte tells builds apart.

use std::collections::BTreeMap;

use model::design::KnobId;
use model::metric::MetricId;

use super::data::{
    Axis, Cell, Counts, Data, Freed, Knob, Marginal, Objective, Pace, Pair, Rows, SimulatedCounts,
    Standing,
};

/// Changes with the format.
const FORMAT: u8 = 3;

/// Writes a sweep.
#[must_use]
pub fn encode(data: &Data) -> Vec<u8> {
    let mut bytes = vec![FORMAT];
    data.write(&mut bytes);
    bytes
}

/// Reads a sweep; `None` if the bytes are of another build or cut off.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Data> {
    let mut rest = bytes.strip_prefix(&[FORMAT])?;
    let data = Data::read(&mut rest)?;
    rest.is_empty().then_some(data)
}

/// A value as bytes, one after the other.
trait Wire: Sized {
    fn write(&self, to: &mut Vec<u8>);

    /// Takes the value from the front of the bytes.
    fn read(from: &mut &[u8]) -> Option<Self>;
}

/// Records, field by field.
macro_rules! records {
    ($($name:ident { $($field:ident),+ $(,)? })+) => {
        $(impl Wire for $name {
            fn write(&self, to: &mut Vec<u8>) {
                let Self { $($field),+ } = self;
                $($field.write(to);)+
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: Wire::read(from)?),+ })
            }
        })+
    };
}

records! {
    Data {
        id, base, name, state, counts, pace, objectives, knobs, metrics, rows, ruled_out, axes,
        pairs, simulated, freed,
    }
    Counts { designs, asked, done, legal, feasible, front, near_limit }
    Pace { rate, eta }
    Objective { metric, max }
    Knob { id, values }
    Rows { index, front, standing, closed_form, knobs, metrics, extents }
    Axis { knob, importance, values }
    Marginal { feasible, mean, best }
    Pair { knobs, bins, cells }
    Cell { at, feasible, best }
    SimulatedCounts { designs, rejected, left_out }
    Freed { knobs, tried, designs, legal, feasible }
}

/// Numbers, of which those in memory may be wider than those that are sent.
macro_rules! numbers {
    ($($name:ty as $sent:ty),+) => {
        $(impl Wire for $name {
            fn write(&self, to: &mut Vec<u8>) {
                to.extend((*self as $sent).to_le_bytes());
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                let (first, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(<$sent>::from_le_bytes(*first) as Self)
            }
        })+
    };
}

// A `u32` is the place of a knob's value, of which no knob has that many.
numbers!(u8 as u8, u32 as u16, usize as u32, u64 as u64, f64 as f64);

/// Implements `Wire` for types that are sent as another type.
macro_rules! by_way_of {
    ($($name:ty, $way:ty: $to:expr, $back:expr;)+) => {
        $(impl Wire for $name {
            fn write(&self, to: &mut Vec<u8>) {
                let value: $way = $to(self);
                value.write(to);
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                $back(<$way>::read(from)?)
            }
        })+
    };
}

by_way_of! {
    bool, u8: |it: &Self| u8::from(*it), |code| Some(code == 1);
    String, Vec<u8>: |it: &Self| it.clone().into_bytes(), |bytes| Self::from_utf8(bytes).ok();
    KnobId, String: |it: &Self| it.id(), |id: String| Self::find(&id).ok();
    MetricId, String: |it: &Self| it.metric().name.to_owned(), |name: String| Self::find(&name);
    Standing, u8: |it: &Self| *it as u8, |code| Self::ALL.get(usize::from(code)).copied();
    BTreeMap<u64, Vec<f64>>, Vec<(u64, Vec<f64>)>:
        |it: &Self| it.clone().into_iter().collect(), |all: Vec<_>| Some(all.into_iter().collect());
}

impl<T: Wire> Wire for Vec<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.len().write(to);
        self.iter().for_each(|item| item.write(to));
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let count = usize::read(from)?;
        // A count that is cut off or wrong may be anything: nothing more is reserved for it.
        let mut items = Self::with_capacity(count.min(from.len()));
        for _ in 0..count {
            items.push(T::read(from)?);
        }
        Some(items)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        self.iter().for_each(|value| value.write(to));
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        if bool::read(from)? { T::read(from).map(Some) } else { Some(None) }
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some((A::read(from)?, B::read(from)?))
    }
}

impl<T: Wire> Wire for [T; 2] {
    fn write(&self, to: &mut Vec<u8>) {
        self.iter().for_each(|item| item.write(to));
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        Some([T::read(from)?, T::read(from)?])
    }
}
