//! The view of a sweep: axes, ranges, what is kept out, order, pins. All of it is in the address,
//! so that a link shows the same.

use model::ground::decimal;

use crate::site::parameters::{self, unescape};

use super::data::{Data, Dim};

/// Most pins.
pub const MAX_PINS: usize = crate::site::chosen::MAX_DESIGNS;

/// Most steps of keeping and excluding that an address holds.
const MAX_CUTS: usize = 8;

/// An end of a range.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// A metric's number, or the place of a value of a knob that varies.
    Number(f64),
    /// A value of a knob that follows from others.
    Value(String),
}

/// A range of a column, by its id.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The column.
    pub dim: String,
    /// The smallest that is taken.
    pub from: End,
    /// The largest that is taken.
    pub to: End,
}

/// Designs that were kept or excluded before.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// Whether those in the ranges are kept; otherwise they are excluded.
    pub keep: bool,
    /// All of these hold for a design that is meant.
    pub ranges: Vec<Range>,
}

/// View of the designs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Columns of the scatter, across and up; empty takes the first objectives.
    pub scatter: [String; 2],
    /// Columns with a logarithmic axis.
    pub logs: Vec<String>,
    /// Leaves out of the scatter what is beyond the 5th and 95th percentile.
    pub clip: bool,
    /// Shows only the front.
    pub front_only: bool,
    /// Knobs of the heatmap, across and up; empty takes those that matter most.
    pub heat: [String; 2],
    /// Columns of the parallel coordinates in order; empty takes all.
    pub axes: Vec<String>,
    /// Ranges that are brushed.
    pub brushes: Vec<Range>,
    /// Cuts made before, which keep or exclude designs, in order.
    pub cuts: Vec<Cut>,
    /// Words that a row of the table must have.
    pub words: String,
    /// The column that orders the table; empty takes the first objective.
    pub sort: String,
    /// Whether the order is reversed.
    pub reversed: bool,
    /// The page of the table, from zero.
    pub page: usize,
    /// Designs to be compared, by index.
    pub pins: Vec<u64>,
    /// The design that is looked at.
    pub at: Option<u64>,
}

impl View {
    /// View of a query string; parts that aren't understood keep their defaults.
    #[must_use]
    pub fn from_query(raw: &str) -> Self {
        let mut view = Self::default();
        for pair in raw.strip_prefix('?').unwrap_or(raw).split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unescape(value);
            let list = || value.split(',').filter(|part| !part.is_empty()).map(str::to_owned);
            match key {
                "x" => view.scatter[0] = value,
                "y" => view.scatter[1] = value,
                "log" => view.logs = list().collect(),
                "clip" => view.clip = value == "1",
                "front" => view.front_only = value == "1",
                "heat_x" => view.heat[0] = value,
                "heat_y" => view.heat[1] = value,
                "axes" => view.axes = list().collect(),
                "brush" => view.brushes = ranges(&value),
                "keep" | "drop" if view.cuts.len() < MAX_CUTS => {
                    let cut = Cut { keep: key == "keep", ranges: ranges(&value) };
                    view.cuts.extend(Some(cut).filter(|cut| !cut.ranges.is_empty()));
                }
                "q" => view.words = value.chars().take(100).collect(),
                "sort" => {
                    view.reversed = value.starts_with('-');
                    view.sort = value.trim_start_matches('-').to_owned();
                }
                "page" => view.page = value.parse::<usize>().unwrap_or(1).max(1) - 1,
                "pins" => {
                    view.pins = list().filter_map(|pin| pin.parse().ok()).collect();
                    view.pins.dedup();
                    view.pins.truncate(MAX_PINS);
                }
                "at" => view.at = value.parse().ok(),
                _ => {}
            }
        }
        view
    }

    /// The query string without the question mark; empty when everything is left open.
    #[must_use]
    pub fn query(&self) -> String {
        let mut query = String::new();
        let mut put = |key: &str, value: &str| parameters::put(&mut query, key, value, b"!,");
        let flag = |on: bool| if on { "1" } else { "" };
        put("x", &self.scatter[0]);
        put("y", &self.scatter[1]);
        put("log", &self.logs.join(","));
        put("clip", flag(self.clip));
        put("front", flag(self.front_only));
        put("heat_x", &self.heat[0]);
        put("heat_y", &self.heat[1]);
        put("axes", &self.axes.join(","));
        put("brush", &ranges_text(&self.brushes));
        for cut in &self.cuts {
            put(if cut.keep { "keep" } else { "drop" }, &ranges_text(&cut.ranges));
        }
        put("q", &self.words);
        let sign = if self.reversed { "-" } else { "" };
        put("sort", &format!("{sign}{}", self.sort));
        if self.page > 0 {
            put("page", &(self.page + 1).to_string());
        }
        let pins: Vec<String> = self.pins.iter().map(u64::to_string).collect();
        put("pins", &pins.join(","));
        put("at", &self.at.map(|at| at.to_string()).unwrap_or_default());
        query
    }

    /// Whether pictures show the same, but for what is held and pinned.
    #[must_use]
    pub fn pictures_as(&self, other: &Self) -> bool {
        let Self { words, sort, reversed, page, pins, at, .. } = other.clone();
        Self { words, sort, reversed, page, pins, at, ..self.clone() } == *other
    }

    /// Whether this column's axis is logarithmic.
    #[must_use]
    pub fn is_log(&self, id: &str) -> bool {
        self.logs.iter().any(|log| log == id)
    }

    /// Makes a column's axis logarithmic, or not.
    pub fn set_log(&mut self, id: &str, log: bool) {
        self.logs.retain(|known| known != id);
        if log {
            self.logs.push(id.to_owned());
        }
    }

    /// The range that is brushed of a column.
    #[must_use]
    pub fn brush(&self, id: &str) -> Option<&Range> {
        self.brushes.iter().find(|range| range.dim == id)
    }

    /// Brushes a range of a column, or none of it.
    pub fn set_brush(&mut self, id: &str, range: Option<(End, End)>) {
        self.page = 0;
        let place = self.brushes.iter().position(|known| known.dim == id);
        match (range, place) {
            (Some((from, to)), Some(place)) => {
                self.brushes[place] = Range { dim: id.to_owned(), from, to };
            }
            (Some((from, to)), None) => {
                self.brushes.push(Range { dim: id.to_owned(), from, to });
            }
            (None, Some(place)) => drop(self.brushes.remove(place)),
            (None, None) => {}
        }
    }

    /// Keeps or excludes what is brushed.
    pub fn cut(&mut self, keep: bool) {
        if !self.brushes.is_empty() && self.cuts.len() < MAX_CUTS {
            let ranges = std::mem::take(&mut self.brushes);
            self.cuts.push(Cut { keep, ranges });
            self.page = 0;
        }
    }

    /// Pins a design, or takes its pin away. False when all pins are taken.
    pub fn pin(&mut self, index: u64) -> bool {
        if let Some(place) = self.pins.iter().position(|pin| *pin == index) {
            self.pins.remove(place);
            return true;
        }
        let room = self.pins.len() < MAX_PINS;
        if room {
            self.pins.push(index);
        }
        room
    }

    /// Pins some designs as well as there is room for them; false when all pins are taken.
    pub fn pin_all(&mut self, indices: impl Iterator<Item = u64>) -> bool {
        for index in indices {
            if !self.pins.contains(&index) && !self.pin(index) {
                return false;
            }
        }
        true
    }

    /// The columns of the scatter.
    #[must_use]
    pub fn scatter_dims(&self, data: &Data) -> [Dim; 2] {
        let first = data.objectives.first().map_or(0, |one| one.metric);
        let second = data.objectives.get(1).map_or(1.min(data.metrics.len()), |one| one.metric);
        // What costs goes to the right, what one wants goes up.
        let usual = [Dim::Metric(second), Dim::Metric(first)];
        [0, 1].map(|side| data.find(&self.scatter[side]).unwrap_or(usual[side]))
    }

    /// The range that is brushed of a column, as numbers of that column.
    #[must_use]
    pub fn brushed(&self, data: &Data, dim: Dim) -> Option<(f64, f64)> {
        self.brush(&data.dim_id(dim)).map(|range| data.numbers(dim, range))
    }

    /// The columns of the parallel coordinates, in order.
    #[must_use]
    pub fn axis_dims(&self, data: &Data) -> Vec<Dim> {
        let named: Vec<Dim> = self.axes.iter().filter_map(|id| data.find(id)).collect();
        if named.len() >= 2 { named } else { usual_axes(data) }
    }

    /// The knobs of the heatmap, by their places among the axes; `None` with fewer than two.
    #[must_use]
    pub fn heat_knobs(&self, data: &Data) -> Option<[usize; 2]> {
        let mut ranked: Vec<(f64, usize)> = data
            .axes
            .iter()
            .filter(|axis| axis.values.len() > 1)
            .map(|axis| (axis.importance.unwrap_or(0.0), axis.knob))
            .collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let known = |id: &str| match data.find(id) {
            Some(Dim::Knob(knob)) => data.axes.iter().any(|axis| axis.knob == knob).then_some(knob),
            Some(Dim::Metric(_)) | None => None,
        };
        let first = known(&self.heat[0]).or_else(|| ranked.first().map(|(_, knob)| *knob))?;
        let second = known(&self.heat[1]).filter(|second| *second != first);
        let other = ranked.iter().map(|(_, knob)| *knob).find(|knob| *knob != first);
        Some([first, second.or(other)?])
    }
}

/// Every knob that varies, then the objectives.
fn usual_axes(data: &Data) -> Vec<Dim> {
    let knobs = data.axes.iter().filter(|axis| axis.values.len() > 1);
    let mut knobs: Vec<usize> = knobs.map(|axis| axis.knob).collect();
    knobs.sort_unstable();
    let metrics = data.objectives.iter().map(|objective| Dim::Metric(objective.metric));
    let mut dims: Vec<Dim> = knobs.into_iter().map(Dim::Knob).chain(metrics).collect();
    let more = (0..data.metrics.len()).map(Dim::Metric).find(|dim| !dims.contains(dim));
    if dims.len() < 2 {
        dims.extend(more);
    }
    dims
}

/// `mfu~0.1~0.3!tp~0~2`.
fn ranges_text(ranges: &[Range]) -> String {
    let one =
        |range: &Range| format!("{}~{}~{}", range.dim, end_text(&range.from), end_text(&range.to));
    ranges.iter().map(one).collect::<Vec<_>>().join("!")
}

/// A value has a sign before it that no number has.
fn end_text(end: &End) -> String {
    match end {
        End::Number(number) => short(*number),
        End::Value(value) => format!("={value}"),
    }
}

/// Seven digits: an address holds what a hand can set, not more.
fn short(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "max" } else { "min" }.to_owned();
    }
    let text = format!("{number:.6e}");
    if number == 0.0 || (1e-3..1e6).contains(&number.abs()) {
        return decimal::parse(&text).map_or(text, |rounded| rounded.to_string());
    }
    text
}

fn ranges(text: &str) -> Vec<Range> {
    let read = |part: &str| {
        let mut parts = part.split('~');
        let (dim, from, to) = (parts.next()?, parts.next()?, parts.next()?);
        let end = |text: &str| match text {
            "min" => Some(End::Number(f64::NEG_INFINITY)),
            "max" => Some(End::Number(f64::INFINITY)),
            text => match text.strip_prefix('=') {
                Some(value) => Some(End::Value(value.to_owned())),
                None => {
                    let number = decimal::parse(text).filter(|number| number.is_finite());
                    number.map(End::Number)
                }
            },
        };
        Some(Range { dim: dim.to_owned(), from: end(from)?, to: end(to)? })
    };
    text.split('!').filter_map(read).take(64).collect()
}

/// All of how the page is looked at that the scatter's axes depend on, and its size.
#[derive(Clone, Debug, PartialEq)]
pub struct Plotted {
    dims: [String; 2],
    logs: Vec<String>,
    flags: [bool; 2],
    cuts: Vec<Cut>,
    size: (f64, f64),
}

impl Plotted {
    /// Scales of a view on a picture of that size.
    pub fn new(view: &View, size: (f64, f64)) -> Self {
        Self {
            dims: view.scatter.clone(),
            logs: view.logs.clone(),
            flags: [view.clip, view.front_only],
            cuts: view.cuts.clone(),
            size,
        }
    }
}
