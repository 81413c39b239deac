//! The selection of designs: those kept, those brushed, and their order in the table.

use std::cmp::Ordering;

use super::data::{Data, Dim};
use super::view::{Range, View};

/// Places of designs in the order of their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// For each design: 0 when it was cut away, 1 when it is there, 2 when it is brushed too.
    pub level: Vec<u8>,
    /// Number of designs that are there.
    pub kept: usize,
    /// Number of designs of these that are brushed.
    pub brushed: usize,
}

impl Selection {
    /// Whether a design is brushed.
    #[must_use]
    pub fn is_brushed(&self, row: usize) -> bool {
        self.level.get(row) == Some(&2)
    }
}

/// A range with its column.
struct Bound {
    dim: Dim,
    from: f64,
    to: f64,
}

fn bounds(data: &Data, ranges: &[Range]) -> Vec<Bound> {
    let bound = |range: &Range| {
        let dim = data.find(&range.dim)?;
        // An address has six digits of a number.
        let slack = |end: f64| if end.is_finite() { end.abs() * 1e-6 + 1e-9 } else { 0.0 };
        let (from, to) = data.numbers(dim, range);
        let (from, to) = (from - slack(from), to + slack(to));
        Some(Bound { dim, from, to })
    };
    ranges.iter().filter_map(bound).collect()
}

/// Mask of the designs that are in all of these ranges. A column at a time: there may be a hundred
/// thousand rows, and a range is dragged from frame to frame.
fn held(data: &Data, bounds: &[Bound]) -> Vec<bool> {
    let rows = &data.rows;
    let mut held = vec![true; rows.len()];
    for bound in bounds {
        let range = bound.from..=bound.to;
        match bound.dim {
            Dim::Metric(place) => {
                for (held, number) in
                    held.iter_mut().zip(rows.metrics.get(place).into_iter().flatten())
                {
                    *held &= range.contains(number);
                }
            }
            Dim::Knob(place) => {
                for (held, value) in
                    held.iter_mut().zip(rows.knobs.get(place).into_iter().flatten())
                {
                    *held &= range.contains(&f64::from(*value));
                }
            }
        }
    }
    held
}

/// Goes through all designs.
#[must_use]
pub fn select(data: &Data, view: &View) -> Selection {
    let mut kept = vec![true; data.rows.len()];
    if view.front_only {
        kept.clone_from(&data.rows.front);
    }
    for cut in &view.cuts {
        let held = held(data, &bounds(data, &cut.ranges));
        kept.iter_mut().zip(held).for_each(|(kept, held)| *kept &= held == cut.keep);
    }
    let brushed = held(data, &bounds(data, &view.brushes));
    let mut selection = Selection { level: Vec::with_capacity(kept.len()), kept: 0, brushed: 0 };
    for (kept, held) in kept.into_iter().zip(brushed) {
        let brushed = kept && held;
        selection.level.push(u8::from(kept) + u8::from(brushed));
        selection.kept += usize::from(kept);
        selection.brushed += usize::from(brushed);
    }
    selection
}

/// The column that orders the table, and whether the largest come first.
#[must_use]
pub fn order(data: &Data, view: &View) -> (Dim, bool) {
    let first = data.first();
    match data.find(&view.sort) {
        Some(dim) => (dim, view.reversed),
        None => {
            let dim = Dim::Metric(first.map_or(0, |one| one.metric));
            (dim, first.is_some_and(|one| one.max))
        }
    }
}

/// The designs of the table, in its order.
#[must_use]
pub fn rows(data: &Data, view: &View, selection: &Selection) -> Vec<usize> {
    let (mut all, by_rank) = (listed(data, view, selection), rank(data, view));
    all.sort_unstable_by(by_rank);
    all.into_iter().map(|(_, row)| row).collect()
}

/// Some of them, from a place on, and how many there are in all. What comes behind isn't sorted:
/// of a hundred thousand designs the table shows a few.
#[must_use]
pub fn some_rows(
    data: &Data,
    view: &View,
    selection: &Selection,
    places: std::ops::Range<usize>,
) -> (Vec<usize>, usize) {
    let (mut all, by_rank) = (listed(data, view, selection), rank(data, view));
    let count = all.len();
    if places.end < count {
        all.select_nth_unstable_by(places.end, &by_rank);
        all.truncate(places.end);
    }
    all.sort_unstable_by(by_rank);
    (all.into_iter().skip(places.start).map(|(_, row)| row).collect(), count)
}

/// Designs that are pinned together.
const FIRST: usize = 3;

/// The first designs of the table that are on the front and keep all constraints for certain.
#[must_use]
pub fn first_of_front(data: &Data, view: &View, selection: &Selection) -> Vec<u64> {
    let rows = rows(data, view, selection).into_iter();
    let good = rows.filter(|row| data.rows.front[*row] && data.is_sure(*row));
    good.take(FIRST).map(|row| data.rows.index[row]).collect()
}

/// The order of the table: by its column, of equals the one that is first.
fn rank(data: &Data, view: &View) -> impl Fn(&(f64, usize), &(f64, usize)) -> Ordering + use<> {
    let (_, descending) = order(data, view);
    move |one, other| {
        let order = one.0.total_cmp(&other.0);
        let order = if descending { order.reverse() } else { order };
        order.then(one.1.cmp(&other.1))
    }
}

/// The designs of the table in no order, each with what orders it.
fn listed(data: &Data, view: &View, selection: &Selection) -> Vec<(f64, usize)> {
    let words = view.words.to_lowercase();
    let words: Vec<Word<'_>> = words.split_whitespace().map(|word| Word::new(data, word)).collect();
    let (dim, _) = order(data, view);
    let all = (0..data.rows.len()).filter(|row| selection.is_brushed(*row));
    let all = all.filter(|row| words.iter().all(|word| word.is_in(data, *row)));
    all.map(|row| (data.number(dim, row), row)).collect()
}

/// A word that a design is searched for: a cell with it, its index, or `front`.
///
/// Cells are made once for each value of a knob, and those of a metric only for designs that have
/// the word nowhere else: to write all cells of a hundred thousand designs takes seconds.
struct Word<'a> {
    word: &'a str,
    /// Columns of knobs, and which of their values have it.
    knobs: Vec<(Dim, Vec<bool>)>,
    /// Columns of metrics whose cells may have it.
    metrics: Vec<Dim>,
    /// Whether it is all digits, so that indices may have it.
    is_number: bool,
}

impl<'a> Word<'a> {
    fn new(data: &Data, word: &'a str) -> Self {
        let (mut knobs, mut metrics) = (Vec::new(), Vec::new());
        for dim in data.dims() {
            match dim {
                Dim::Knob(place) => {
                    let values = data.knobs.get(place).map_or(0, |knob| knob.values.len());
                    let cell =
                        |at: usize| has(data.label(dim), &data.spelled(dim, at as f64), word);
                    let values: Vec<bool> = (0..values).map(cell).collect();
                    if values.contains(&true) {
                        knobs.push((dim, values));
                    }
                }
                Dim::Metric(_) => {
                    let label = data.label(dim).to_lowercase();
                    // The part before the sign is a column's name, or its last word.
                    let may = word.split_once('=').is_none_or(|(name, _)| {
                        label.rsplit(char::is_whitespace).next() == Some(name)
                    });
                    metrics.extend(may.then_some(dim));
                }
            }
        }
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        Self { word, knobs, metrics, is_number }
    }

    fn is_in(&self, data: &Data, row: usize) -> bool {
        let knob = |(dim, values): &(Dim, Vec<bool>)| {
            values.get(data.number(*dim, row) as usize).copied().unwrap_or(false)
        };
        let cell = |dim: &Dim| has(data.label(*dim), &data.text(*dim, row), self.word);
        self.knobs.iter().any(knob)
            || data.rows.front[row] && "front".contains(self.word)
            || self.is_number && data.rows.index[row].to_string().contains(self.word)
            || self.metrics.iter().any(cell)
    }
}

/// Whether a cell has that word; `tp=1` doesn't mean 16.
fn has(label: &str, text: &str, word: &str) -> bool {
    let cell = format!(" {label}={text} ").to_lowercase();
    if word.contains('=') { cell.contains(&format!(" {word} ")) } else { cell.contains(word) }
}

/// The 5th and 95th percentile of a column over the kept designs; `None` without designs.
#[must_use]
pub fn quantiles(data: &Data, selection: &Selection, dim: Dim) -> Option<(f64, f64)> {
    let kept = (0..data.rows.len()).filter(|row| selection.level[*row] > 0);
    let mut all: Vec<f64> = kept.map(|row| data.number(dim, row)).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all.get((share * all.len() as f64) as usize).copied();
    at(0.05).zip(at(0.95))
}
