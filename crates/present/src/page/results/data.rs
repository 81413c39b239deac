//! What a sweep's page shows, as tables of numbers: small to send, quick to go through.

mod reader;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use model::MemoryState;
use model::design::KnobId;
use model::metric::{MetricId, Regime};

use crate::format;
use crate::insight::memory_state;
use crate::site::Page;

pub use reader::read;

use super::view::{End, Range};
use reader::by_value;

/// A sweep as its page shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// Its id on this server.
    pub id: String,
    /// Its name; may be empty.
    pub name: String,
    /// The link of the design that it varies; only the server has it, and writes it once.
    pub base: String,
    /// State of the sweep: `running`, `paused`, `done` or `failed`.
    pub state: String,
    /// Designs of the space, those requested, done, with an estimate, and keeping everything.
    pub counts: Counts,
    /// Places a second and seconds to go, while it runs.
    pub pace: Pace,
    /// Objectives of the sweep.
    pub objectives: Vec<Objective>,
    /// Knobs that differ between designs: those that vary, then those that follow.
    pub knobs: Vec<Knob>,
    /// Metrics of each design, the objectives' first.
    pub metrics: Vec<MetricId>,
    /// The designs that are kept.
    pub rows: Rows,
    /// Reasons that rule out designs, each with its number of designs, the most first.
    pub ruled_out: Vec<(String, u64)>,
    /// Marginals of each knob that varies.
    pub axes: Vec<Axis>,
    /// Results by pairs of knobs.
    pub pairs: Vec<Pair>,
    /// Numbers of designs simulated at the end; `None` if there were none.
    pub simulated: Option<SimulatedCounts>,
    /// Fixed knobs that would let designs through if they varied; only if nothing was found.
    pub freed: Vec<Freed>,
}

/// Numbers of designs that were simulated at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedCounts {
    /// All of them.
    pub designs: u64,
    /// Simulated designs that don't keep all constraints any more, or can't be decided.
    pub rejected: u64,
    /// Designs of the front that were left out.
    pub left_out: u64,
}

/// Status of a design's constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It keeps them as the sweep times it.
    #[default]
    AsTimed,
    /// By a closed form that is nearer to the limit than its own error.
    NearLimit,
    /// By the simulation, too.
    Simulated,
    /// By the simulation its peak is over the limit.
    Unfit,
    /// By the simulation it breaks another constraint.
    Broken,
}

impl Standing {
    /// All of them, by their codes.
    pub const ALL: [Self; 5] =
        [Self::AsTimed, Self::NearLimit, Self::Simulated, Self::Unfit, Self::Broken];

    /// Label of the status; empty if there is nothing to say.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::AsTimed => "",
            Self::NearLimit => "near the limit: not simulated",
            Self::Simulated => "simulated",
            Self::Unfit => "simulated: over the limit",
            Self::Broken => "breaks a constraint",
        }
    }
}

/// Fixed knobs and what letting them vary lets through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freed {
    /// The knobs' ids.
    pub knobs: Vec<String>,
    /// Designs that were looked at, of all with these knobs varied.
    pub tried: u64,
    /// All of those.
    pub designs: u64,
    /// Designs that break no rule.
    pub legal: u64,
    /// Legal designs that keep all constraints, too.
    pub feasible: u64,
}

/// Numbers of designs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// In the space.
    pub designs: u64,
    /// To be looked at.
    pub asked: u64,
    /// Looked at.
    pub done: u64,
    /// With an estimate.
    pub legal: u64,
    /// That keep all constraints.
    pub feasible: u64,
    /// On the front.
    pub front: u64,
    /// Feasible by a closed form that is near the limit.
    pub near_limit: u64,
}

/// Speed of the sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Designs a second.
    pub rate: Option<f64>,
    /// Seconds to go.
    pub eta: Option<f64>,
}

/// A metric to be made large or small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Its place among the metrics.
    pub metric: usize,
    /// Whether more is better.
    pub max: bool,
}

/// A knob that differs between designs.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// The knob.
    pub id: KnobId,
    /// Its values in order, as people read them.
    pub values: Vec<String>,
}

/// Designs, column by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Their indices in the space.
    pub index: Vec<u64>,
    /// Whether each is on the front.
    pub front: Vec<bool>,
    /// Status of each one's constraints.
    pub standing: Vec<Standing>,
    /// The metrics by the closed form of those that were simulated, by index.
    pub closed_form: BTreeMap<u64, Vec<f64>>,
    /// For each knob the place of its value.
    pub knobs: Vec<Vec<u32>>,
    /// For each metric its value.
    pub metrics: Vec<Vec<f64>>,
    /// For each metric its smallest and largest value; `None` without designs.
    pub extents: Vec<Option<(f64, f64)>>,
}

impl Rows {
    /// Number of designs.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.index.len()
    }

    /// Looks for the smallest and largest of each metric: once, as pictures ask for them often.
    #[must_use]
    pub fn measured(mut self) -> Self {
        let extent = |column: &Vec<f64>| {
            let low = column.iter().copied().reduce(f64::min)?;
            Some((low, column.iter().copied().fold(low, f64::max)))
        };
        self.extents = self.metrics.iter().map(extent).collect();
        self
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.index.is_empty()
    }
}

/// Marginals of a knob that varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its place among the knobs.
    pub knob: usize,
    /// Importance for the first objective: span of its values' means over the largest mean.
    pub importance: Option<f64>,
    /// Each value.
    pub values: Vec<Marginal>,
}

/// Marginal of one value of a knob, over all designs that have it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Marginal {
    /// Designs that keep everything.
    pub feasible: u64,
    /// Mean of the first objective.
    pub mean: Option<f64>,
    /// Best of the first objective, and the design that has it.
    pub best: Option<(f64, u64)>,
}

/// Results by a pair of knobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The knobs.
    pub knobs: [usize; 2],
    /// Bins of each; fewer than values where an axis is long.
    pub bins: [usize; 2],
    /// The cells that have a feasible design.
    pub cells: Vec<Cell>,
}

/// A cell of two knobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Bins of both knobs.
    pub at: [usize; 2],
    /// Designs that keep everything.
    pub feasible: u64,
    /// The best by the first objective, and the design that has it.
    pub best: (f64, u64),
}

/// A column of designs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// The knob at a place.
    Knob(usize),
    /// The metric at a place.
    Metric(usize),
}

impl Data {
    /// Whether nothing will happen any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !matches!(self.state.as_str(), "running" | "paused")
    }

    /// Every column, knobs first.
    pub fn dims(&self) -> impl Iterator<Item = Dim> + use<> {
        let knobs = (0..self.knobs.len()).map(Dim::Knob);
        knobs.chain((0..self.metrics.len()).map(Dim::Metric))
    }

    /// The public id of a column.
    #[must_use]
    pub fn dim_id(&self, dim: Dim) -> String {
        match dim {
            Dim::Knob(place) => self.knobs.get(place).map_or(String::new(), |knob| knob.id.id()),
            Dim::Metric(place) => {
                self.metrics.get(place).map_or(String::new(), |id| id.metric().name.to_owned())
            }
        }
    }

    /// The column of an id.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Dim> {
        self.dims().find(|dim| self.dim_id(*dim) == id)
    }

    /// Label of a column.
    #[must_use]
    pub fn label(&self, dim: Dim) -> &'static str {
        match dim {
            Dim::Knob(place) => {
                self.knobs.get(place).map_or("", |knob| format::short_label(knob.id))
            }
            Dim::Metric(place) => self.metrics.get(place).map_or("", |id| id.metric().label),
        }
    }

    /// A number of a design: a metric, or the place of a knob's value.
    #[must_use]
    pub fn number(&self, dim: Dim, row: usize) -> f64 {
        let rows = &self.rows;
        let found = match dim {
            Dim::Knob(place) => {
                rows.knobs.get(place).and_then(|all| all.get(row)).map(|at| f64::from(*at))
            }
            Dim::Metric(place) => rows.metrics.get(place).and_then(|all| all.get(row)).copied(),
        };
        found.unwrap_or(0.0)
    }

    /// Text of a design's value in a column, with its unit.
    #[must_use]
    pub fn text(&self, dim: Dim, row: usize) -> String {
        self.spelled(dim, self.number(dim, row))
    }

    /// Status of a design's constraints.
    #[must_use]
    pub fn standing(&self, row: usize) -> Standing {
        self.rows.standing.get(row).copied().unwrap_or_default()
    }

    /// Whether this design was simulated at the end.
    #[must_use]
    pub fn is_simulated(&self, index: u64) -> bool {
        self.rows.closed_form.contains_key(&index)
    }

    /// The closed form's number of a design that was simulated, where it reads otherwise.
    #[must_use]
    pub fn closed_text(&self, dim: Dim, row: usize) -> Option<String> {
        let Dim::Metric(place) = dim else { return None };
        let closed = self.rows.closed_form.get(self.rows.index.get(row)?)?.get(place)?;
        let text = self.spelled(dim, *closed);
        (text != self.text(dim, row)).then_some(text)
    }

    /// Simulated result of a design that is shown by its closed form, such as the best of a cell:
    /// its number, or what it breaks. `None` if it wasn't simulated.
    #[must_use]
    pub fn simulated_text(&self, dim: Dim, index: u64) -> Option<String> {
        let row = self.row_of(index).filter(|_| self.is_simulated(index))?;
        match self.standing(row) {
            Standing::AsTimed => None,
            Standing::Simulated => Some(format!("simulated {}", self.text(dim, row))),
            standing @ (Standing::NearLimit | Standing::Unfit | Standing::Broken) => {
                Some(standing.label().to_owned())
            }
        }
    }

    /// Whether the simulation says that this design breaks a constraint which its closed form
    /// keeps.
    #[must_use]
    pub fn is_refuted(&self, index: u64) -> bool {
        let standing = self.row_of(index).map(|row| self.standing(row));
        matches!(standing, Some(Standing::Unfit | Standing::Broken))
    }

    /// Whether this design can be called one of the best: it keeps all constraints as far as
    /// anything says; if the best were simulated, it is one of those.
    #[must_use]
    pub fn is_sure(&self, row: usize) -> bool {
        match self.standing(row) {
            Standing::Simulated => true,
            Standing::AsTimed => self.simulated.is_none(),
            Standing::NearLimit | Standing::Unfit | Standing::Broken => false,
        }
    }

    /// A number of a column as people read it.
    #[must_use]
    pub fn spelled(&self, dim: Dim, number: f64) -> String {
        match dim {
            Dim::Knob(place) => {
                let values = self.knobs.get(place).map(|knob| &knob.values);
                let value = values.and_then(|values| values.get(number.max(0.0) as usize));
                value.cloned().unwrap_or_default()
            }
            Dim::Metric(place) => {
                self.metrics.get(place).map_or(String::new(), |id| shown(*id, number))
            }
        }
    }

    /// Smallest and largest number of a column; `None` without designs.
    #[must_use]
    pub fn extent(&self, dim: Dim) -> Option<(f64, f64)> {
        match dim {
            Dim::Knob(place) => {
                let last = self.knobs.get(place)?.values.len().saturating_sub(1);
                Some((0.0, last as f64))
            }
            Dim::Metric(place) => self.rows.extents.get(place).copied().flatten(),
        }
    }

    /// Whether a column's knob follows from others: its values are those of the designs that are
    /// kept, so that their places change with these.
    #[must_use]
    pub fn follows(&self, dim: Dim) -> bool {
        match dim {
            Dim::Knob(place) => !self.axes.iter().any(|axis| axis.knob == place),
            Dim::Metric(_) => false,
        }
    }

    /// An end of a range as it is written down: something that stays when other designs are kept.
    #[must_use]
    pub fn end(&self, dim: Dim, number: f64) -> End {
        if self.follows(dim) && number.is_finite() {
            End::Value(self.spelled(dim, number.round()))
        } else {
            End::Number(number)
        }
    }

    /// The numbers of a range of a column. An end between values that are there is next to them.
    #[must_use]
    pub fn numbers(&self, dim: Dim, range: &Range) -> (f64, f64) {
        let values = match dim {
            Dim::Knob(place) => self.knobs.get(place).map_or(&[][..], |knob| &knob.values),
            Dim::Metric(_) => &[],
        };
        let below = |text: &String, with: bool| {
            let is_below = |known: &String| match by_value(known, text) {
                Ordering::Less => true,
                Ordering::Equal => with,
                Ordering::Greater => false,
            };
            values.partition_point(is_below) as f64
        };
        let from = match &range.from {
            End::Number(number) => *number,
            End::Value(text) => below(text, false),
        };
        let to = match &range.to {
            End::Number(number) => *number,
            End::Value(text) => below(text, true) - 1.0,
        };
        (from, to)
    }

    /// The first objective, if there is one.
    #[must_use]
    pub fn first(&self) -> Option<Objective> {
        self.objectives.first().copied()
    }

    /// The design of an index, if it is kept.
    #[must_use]
    pub fn row_of(&self, index: u64) -> Option<usize> {
        // Rows are in the order of their indices.
        self.rows.index.binary_search(&index).ok()
    }

    /// Address that opens a design.
    #[must_use]
    pub fn design_address(&self, index: u64) -> String {
        format!("{}/{}/design/{index}", Page::Results.path(), self.id)
    }

    /// Whether its designs are for serving.
    #[must_use]
    pub fn is_serving(&self) -> bool {
        self.metrics.iter().any(|id| id.regime() == Regime::Serving)
    }

    /// Whether it has metrics of published loss laws: their caveat is beside it then.
    #[must_use]
    pub fn has_quality(&self) -> bool {
        self.metrics.iter().any(|id| id.regime() == Regime::Quality)
    }

    /// Label of a link to one of its designs.
    #[must_use]
    pub fn open_label(&self) -> &'static str {
        if self.is_serving() { "Open in serving" } else { "Open in the explorer" }
    }

    /// Address of the search for layouts around a design.
    #[must_use]
    pub fn find_address(&self, index: u64) -> String {
        format!("{}/{}/find/{index}", Page::Results.path(), self.id)
    }

    /// Address of the comparison of these designs.
    #[must_use]
    pub fn comparison_address(&self, designs: &[u64]) -> String {
        let list: Vec<String> = designs.iter().map(u64::to_string).collect();
        format!("{}/{}/compare?designs={}", Page::Results.path(), self.id, list.join(","))
    }
}

/// A metric as people read it.
#[must_use]
pub fn shown(id: MetricId, number: f64) -> String {
    let text = format::measured(id, number).to_string();
    if id == MetricId::fit_probability {
        return format!("{text}, {}", memory_state::word(MemoryState::of(number)));
    }
    text
}
