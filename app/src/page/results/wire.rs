//! [`Data`] as bytes: what the server sends and the page's module reads. Both come from one build,
//! and a first byte tells builds apart.

use model::design::KnobId;
use model::metric::MetricId;

use super::data::{
    Axis, Cell, Counts, Data, Freed, Knob, Marginal, Objective, Pace, Pair, Rows, SimulatedCounts,
    Standing,
};

/// Changes with the format.
const FORMAT: u8 = 2;

/// Writes a sweep.
#[must_use]
pub fn encode(data: &Data) -> Vec<u8> {
    let mut to = Writer(vec![FORMAT]);
    to.text(&data.id);
    to.text(&data.name);
    to.text(&data.state);
    let Counts { designs, asked, done, legal, feasible, front, near_limit } = data.counts;
    let counts = [designs, asked, done, legal, feasible, front, near_limit];
    counts.into_iter().for_each(|count| to.whole(count));
    to.optional(data.pace.rate);
    to.optional(data.pace.eta);
    to.all(&data.objectives, |to, one| {
        to.size(one.metric);
        to.whole(u64::from(one.max));
    });
    to.all(&data.knobs, |to, knob| {
        to.text(&knob.id.id());
        to.all(&knob.values, |to, value| to.text(value));
    });
    to.all(&data.metrics, |to, id| to.text(id.metric().name));
    to.all(&data.rows.index, |to, index| to.whole(*index));
    to.all(&data.rows.front, |to, front| to.0.push(u8::from(*front)));
    to.all(&data.rows.standing, |to, standing| to.0.push(*standing as u8));
    let closed_form: Vec<_> = data.rows.closed_form.iter().collect();
    to.all(&closed_form, |to, (index, values)| {
        to.whole(**index);
        to.all(values, |to, value| to.real(*value));
    });
    to.all(&data.rows.knobs, |to, column| {
        to.all(column, |to, place| to.0.extend((*place as u16).to_le_bytes()));
    });
    to.all(&data.rows.metrics, |to, column| to.all(column, |to, value| to.real(*value)));
    to.all(&data.ruled_out, |to, (reason, designs)| {
        to.text(reason);
        to.whole(*designs);
    });
    to.all(&data.axes, |to, axis| {
        to.size(axis.knob);
        to.optional(axis.importance);
        to.all(&axis.values, |to, value| {
            to.whole(value.feasible);
            to.optional(value.mean);
            to.optional(value.best.map(|(best, _)| best));
            to.whole(value.best.map_or(0, |(_, index)| index));
        });
    });
    to.all(&data.pairs, |to, pair| {
        pair.knobs.into_iter().chain(pair.bins).for_each(|number| to.size(number));
        to.all(&pair.cells, |to, cell| {
            cell.at.into_iter().for_each(|number| to.size(number));
            to.whole(cell.feasible);
            to.real(cell.best.0);
            to.whole(cell.best.1);
        });
    });
    let simulated: Vec<SimulatedCounts> = data.simulated.into_iter().collect();
    to.all(&simulated, |to, counts| {
        let SimulatedCounts { designs, rejected, left_out } = *counts;
        [designs, rejected, left_out].into_iter().for_each(|count| to.whole(count));
    });
    to.all(&data.freed, |to, freed| {
        to.all(&freed.knobs, |to, knob| to.text(knob));
        let Freed { tried, designs, legal, feasible, .. } = *freed;
        [tried, designs, legal, feasible].into_iter().for_each(|count| to.whole(count));
    });
    to.0
}

/// Reads a sweep; none where the bytes are of another build or cut off.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Data> {
    let mut from = Reader(bytes);
    if from.take::<1>()? != [FORMAT] {
        return None;
    }
    let (id, name, state) = (from.text()?, from.text()?, from.text()?);
    let mut count = || from.whole();
    let counts = Counts {
        designs: count()?,
        asked: count()?,
        done: count()?,
        legal: count()?,
        feasible: count()?,
        front: count()?,
        near_limit: count()?,
    };
    let pace = Pace { rate: from.optional()?, eta: from.optional()? };
    let objectives =
        from.all(|from| Some(Objective { metric: from.size()?, max: from.whole()? == 1 }))?;
    let knobs = from.all(|from| {
        let id = KnobId::find(&from.text()?).ok()?;
        Some(Knob { id, values: from.all(Reader::text)? })
    })?;
    let metrics = from.all(|from| MetricId::find(&from.text()?))?;
    let rows = Rows {
        index: from.all(Reader::whole)?,
        front: from.all(|from| Some(from.take::<1>()? == [1]))?,
        standing: from.all(|from| {
            let [code] = from.take()?;
            Standing::ALL.get(usize::from(code)).copied()
        })?,
        closed_form: from
            .all(|from| Some((from.whole()?, from.all(Reader::real)?)))?
            .into_iter()
            .collect(),
        knobs: from
            .all(|from| from.all(|from| Some(u32::from(u16::from_le_bytes(from.take::<2>()?)))))?,
        metrics: from.all(|from| from.all(Reader::real))?,
        extents: vec![],
    }
    .measured();
    let ruled_out = from.all(|from| Some((from.text()?, from.whole()?)))?;
    let axes = from.all(|from| {
        let (knob, importance) = (from.size()?, from.optional()?);
        let values = from.all(|from| {
            let (feasible, mean) = (from.whole()?, from.optional()?);
            let (best, index) = (from.optional()?, from.whole()?);
            Some(Marginal { feasible, mean, best: best.map(|best| (best, index)) })
        })?;
        Some(Axis { knob, importance, values })
    })?;
    let pairs = from.all(|from| {
        let knobs = [from.size()?, from.size()?];
        let bins = [from.size()?, from.size()?];
        let cells = from.all(|from| {
            let at = [from.size()?, from.size()?];
            let feasible = from.whole()?;
            Some(Cell { at, feasible, best: (from.real()?, from.whole()?) })
        })?;
        Some(Pair { knobs, bins, cells })
    })?;
    let simulated = from.all(|from| {
        let (designs, rejected, left_out) = (from.whole()?, from.whole()?, from.whole()?);
        Some(SimulatedCounts { designs, rejected, left_out })
    })?;
    let freed = from.all(|from| {
        let knobs = from.all(Reader::text)?;
        let (tried, designs) = (from.whole()?, from.whole()?);
        Some(Freed { knobs, tried, designs, legal: from.whole()?, feasible: from.whole()? })
    })?;
    let data = Data {
        id,
        base: String::new(),
        name,
        state,
        counts,
        pace,
        objectives,
        knobs,
        metrics,
        rows,
        ruled_out,
        axes,
        pairs,
        simulated: simulated.first().copied(),
        freed,
    };
    from.0.is_empty().then_some(data)
}

struct Writer(Vec<u8>);

impl Writer {
    fn whole(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn size(&mut self, number: usize) {
        self.0.extend((number as u32).to_le_bytes());
    }

    fn real(&mut self, number: f64) {
        self.0.extend(number.to_le_bytes());
    }

    fn optional(&mut self, number: Option<f64>) {
        // Nothing that is sent is a NaN.
        self.real(number.unwrap_or(f64::NAN));
    }

    fn text(&mut self, text: &str) {
        self.size(text.len());
        self.0.extend(text.as_bytes());
    }

    fn all<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.size(items.len());
        items.iter().for_each(|item| write(self, item));
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn whole(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn size(&mut self) -> Option<usize> {
        self.take().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    fn real(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    fn optional(&mut self) -> Option<Option<f64>> {
        self.real().map(|number| Some(number).filter(|number| !number.is_nan()))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.size()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn all<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.size()?;
        // A count that is cut off or wrong may be anything: nothing is reserved for it.
        let mut items = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            items.push(read(self)?);
        }
        Some(items)
    }
}
