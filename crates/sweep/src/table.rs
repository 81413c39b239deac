//! The rows of a sweep as one table: its columns, and the cells of a record.
//!
//! Text, JSON, Parquet, Arrow and the page's sample are encodings of it: each walks the columns,
//! and takes each cell as its type has it.

use std::borrow::Cow;
use std::cell::OnceCell;

use model::design::{Design, KnobId, link};
use model::ground::knob::{Kind, Value};
use model::metric::MetricId;
use model::run::quality::CAVEAT;
use reports::typed::{KnobValue, Named, Real};

use crate::outcome::Outcome;
use crate::space::Space;

/// Type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellType {
    /// Index of a design, below 2^62.
    Index,
    /// Whole number below 2^63.
    Integer,
    /// Real number.
    Real,
    /// True or false.
    Flag,
    /// Text: every value has one.
    Text,
}

/// Column of the table, by the source of its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Index of each design.
    Index,
    /// Knob that varies, at a place among the axes.
    Axis(usize, KnobId),
    /// Knob that follows.
    Tie(KnobId),
    /// Metric, at a place among the spec's columns.
    Metric(usize, MetricId),
    /// Verdict by a closed form that is nearer to the limit than its own error.
    NearLimit,
    /// Constraint that each design breaks.
    Breaks,
    /// Address of each design, with its strategy where the sweep finds one.
    Link,
    /// Caveat on losses, the same in each row.
    Caveat,
}

impl Column {
    /// Name: the public id of a knob or a metric, or one of its own.
    #[must_use]
    pub fn name(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Index => "index",
            Self::Axis(_, knob) | Self::Tie(knob) => return Cow::Owned(knob.id()),
            Self::Metric(_, id) => id.metric().name,
            Self::NearLimit => "near_limit",
            Self::Breaks => "breaks",
            Self::Link => "link",
            Self::Caveat => "caveat",
        })
    }

    /// The knob whose values its cells are.
    #[must_use]
    pub const fn knob(self) -> Option<KnobId> {
        if let Self::Axis(_, knob) | Self::Tie(knob) = self { Some(knob) } else { None }
    }

    /// Unit of a knob or a metric; empty without one.
    #[must_use]
    pub fn unit(self) -> Option<&'static str> {
        let metric = if let Self::Metric(_, id) = self { Some(id.metric()) } else { None };
        self.knob().map(|id| id.knob().unit).or_else(|| Some(metric?.unit.name()))
    }

    /// Type of its cells.
    #[must_use]
    pub fn cells(self) -> CellType {
        match self {
            Self::Index => CellType::Index,
            Self::Metric(..) => CellType::Real,
            Self::NearLimit => CellType::Flag,
            Self::Breaks | Self::Link | Self::Caveat => CellType::Text,
            Self::Axis(_, id) | Self::Tie(id) => match id.knob().kind {
                Kind::Integer(..) | Kind::OptionalInteger(..) => CellType::Integer,
                Kind::Real(..) | Kind::OptionalReal(..) => CellType::Real,
                Kind::Flag => CellType::Flag,
                Kind::Choice(_)
                | Kind::Subset(_)
                | Kind::LayerFreq
                | Kind::PerStage(_)
                | Kind::PositionList(_)
                | Kind::Layout
                | Kind::LayerPattern(_)
                | Kind::Hash
                | Kind::Name
                | Kind::Arguments => CellType::Text,
            },
        }
    }

    /// Whether a cell can be unset.
    #[must_use]
    pub fn is_optional(self) -> bool {
        self.knob().is_some() || self == Self::Breaks
    }
}

/// Columns of a sweep's rows.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    pub(crate) space: &'a Space,
    columns: Vec<Column>,
}

impl<'a> Table<'a> {
    /// Index, knobs that vary, knobs that follow, metrics.
    #[must_use]
    pub fn new(space: &'a Space) -> Self {
        let (axes, metrics) = (space.axes().iter(), space.spec().columns.iter());
        let axes = axes.enumerate().map(|(place, axis)| Column::Axis(place, axis.knob));
        let ties = space.spec().ties.iter().map(|tie| Column::Tie(tie.knob));
        let metrics = metrics.enumerate().map(|(place, id)| Column::Metric(place, *id));
        let columns = std::iter::once(Column::Index).chain(axes).chain(ties).chain(metrics);
        Self { space, columns: columns.collect() }
    }

    /// The table with more columns behind.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(more);
        self
    }

    /// Its columns, in order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Record of a design with these metrics.
    #[must_use]
    pub fn record(&self, index: u64, values: &'a [f64]) -> Record<'a> {
        let (space, design) = (self.space, OnceCell::new());
        Record { space, index, values, near_limit: false, broken: None, found: None, design }
    }

    /// Record of an outcome; `None` if the model has no estimate.
    #[must_use]
    pub fn record_of(&self, outcome: &Outcome<'a>) -> Option<Record<'a>> {
        let Outcome::Legal { index, values, broken, near_limit, found, .. } = *outcome else {
            return None;
        };
        Some(Record { near_limit, broken, found, ..self.record(index, values) })
    }

    /// Cells of a record, one for each column.
    pub fn cells<'r>(&self, record: &'r Record<'_>) -> impl Iterator<Item = Cow<'r, Value>> {
        self.columns.iter().map(|column| record.cell(*column))
    }

    /// Knobs of a record, by their ids.
    #[must_use]
    pub fn knobs(&self, record: &Record<'_>) -> Named<KnobValue> {
        let knobs = self.columns.iter().filter(|column| column.knob().is_some());
        Named::of(knobs.map(|it| (it.name(), KnobValue((&*record.cell(*it)).into()))))
    }

    /// Metrics of the spec's columns, by their names.
    #[must_use]
    pub fn metrics(&self, values: &[f64]) -> Named<Real> {
        let columns = self.space.spec().columns.iter().zip(values);
        Named::of(columns.map(|(id, value)| (id.metric().name, Real(*value))))
    }
}

/// A row of the table: a design with its metrics, and what became of it.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    space: &'a Space,
    /// Index of the design.
    pub index: u64,
    /// Metrics of the spec's columns.
    pub values: &'a [f64],
    /// Whether it is feasible by a closed form that is nearer to the limit than its own error.
    pub near_limit: bool,
    /// Constraint that the design breaks.
    pub broken: Option<&'a str>,
    found: Option<&'a Design>,
    design: OnceCell<Box<Design>>,
}

impl Record<'_> {
    /// The design, with its strategy where the sweep found one.
    #[must_use]
    pub fn design(&self) -> &Design {
        let made = || Box::new(self.space.design(self.index));
        self.found.unwrap_or_else(|| self.design.get_or_init(made))
    }

    /// Cell of a column.
    #[must_use]
    pub fn cell(&self, column: Column) -> Cow<'_, Value> {
        let text = |text: &str| Value::Text(text.to_owned());
        Cow::Owned(match column {
            Column::Axis(place, _) => return Cow::Borrowed(self.space.value(place, self.index)),
            Column::Tie(knob) => self.design().get(knob),
            Column::Index => Value::Integer(self.index),
            Column::Metric(place, _) => Value::Real(self.values[place]),
            Column::NearLimit => Value::Flag(self.near_limit),
            Column::Breaks => self.broken.map_or(Value::None, text),
            Column::Link => Value::Text(format!("/?{}", link::encode(self.design()))),
            Column::Caveat => text(CAVEAT),
        })
    }
}
