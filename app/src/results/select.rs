//! Which designs are meant: what was kept, what is brushed, and in which order the table has them.

use std::cmp::Ordering;

use super::data::{Data, Dim};
use super::view::{Range, View};

/// Places of designs in the order of their indices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// For each design: 0 when it was cut away, 1 when it is there, 2 when it is brushed too.
    pub level: Vec<u8>,
    /// How many are there.
    pub kept: usize,
    /// How many of them are brushed.
    pub brushed: usize,
}

impl Selection {
    /// Is this design meant?
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

fn holds(data: &Data, bounds: &[Bound], row: usize) -> bool {
    bounds.iter().all(|bound| (bound.from..=bound.to).contains(&data.number(bound.dim, row)))
}

/// Goes through all designs.
#[must_use]
pub fn select(data: &Data, view: &View) -> Selection {
    let cuts: Vec<(bool, Vec<Bound>)> =
        view.cuts.iter().map(|cut| (cut.keep, bounds(data, &cut.ranges))).collect();
    let brushes = bounds(data, &view.brushes);
    let mut selection = Selection::default();
    for row in 0..data.rows.len() {
        let kept = (!view.front_only || data.rows.front[row])
            && cuts.iter().all(|(keep, bounds)| holds(data, bounds, row) == *keep);
        let brushed = kept && holds(data, &brushes, row);
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
    let words: Vec<&str> = words.split_whitespace().collect();
    let dims: Vec<Dim> = data.dims().collect();
    let has_words = |row: usize| {
        words.is_empty() || {
            let cells = dims.iter().map(|dim| {
                format!("{}={} ", data.label(*dim), data.text(*dim, row)).to_lowercase()
            });
            let front = if data.rows.front[row] { "front" } else { "" };
            let text = format!(" {} {front} {}", data.rows.index[row], cells.collect::<String>());
            // `tp=1` doesn't mean 16.
            let has = |word: &&str| match word.contains('=') {
                true => text.contains(&format!(" {word} ")),
                false => text.contains(*word),
            };
            words.iter().all(has)
        }
    };
    let (dim, _) = order(data, view);
    let all = (0..data.rows.len()).filter(|row| selection.is_brushed(*row) && has_words(*row));
    all.map(|row| (data.number(dim, row), row)).collect()
}

/// The number that this share of the kept designs is not above; none without designs.
#[must_use]
pub fn quantiles(data: &Data, selection: &Selection, dim: Dim) -> Option<(f64, f64)> {
    let kept = (0..data.rows.len()).filter(|row| selection.level[*row] > 0);
    let mut all: Vec<f64> = kept.map(|row| data.number(dim, row)).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all.get((share * all.len() as f64) as usize).copied();
    at(0.05).zip(at(0.95))
}
