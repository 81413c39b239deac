//! The rows of a sweep as one table: its columns, and the cells of a record.
//!
//! Text, JSON, Parquet, Arrow and the page's sample are encodings of it: each walks the columns, and
//! takes each cell as its type has it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use model::design::file::Tree;
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
    /// Text.
    Text,
}

impl CellType {
    const fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Integer(..) | Kind::OptionalInteger(..) => Self::Integer,
            Kind::Real(..) | Kind::OptionalReal(..) => Self::Real,
            Kind::Flag => Self::Flag,
            Kind::Choice(_)
            | Kind::Subset(_)
            | Kind::LayerFreq
            | Kind::PerStage(_)
            | Kind::PositionList(_)
            | Kind::Layout
            | Kind::LayerPattern(_)
            | Kind::Hash
            | Kind::Name
            | Kind::Arguments => Self::Text,
        }
    }
}

/// Source of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Index of the design.
    Index,
    /// Knob that varies, by its place among the axes.
    Axis(usize),
    /// Knob that follows, by its place among the ties.
    Tie(usize),
    /// Metric, by its place among the spec's columns.
    Metric(usize),
    /// Verdict by a closed form that is nearer to the limit than its own error.
    NearLimit,
    /// Constraint that the design breaks.
    Breaks,
    /// Address of the design, with its strategy where the sweep finds one.
    Link,
    /// Caveat on losses.
    Caveat,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Public id of the knob or the metric, or a name of its own.
    pub name: Cow<'static, str>,
    /// Label for people, of a metric.
    pub label: Option<&'static str>,
    /// Unit of a knob or a metric; empty without one.
    pub unit: Option<&'static str>,
    /// Type of its cells.
    pub cells: CellType,
    /// Source of its cells.
    pub source: Source,
}

impl Column {
    /// Index of each design.
    pub const INDEX: Self = Self::named("index", CellType::Index, Source::Index);
    /// Whether each design is near the limit.
    pub const NEAR_LIMIT: Self = Self::named("near_limit", CellType::Flag, Source::NearLimit);
    /// Constraint that each design breaks.
    pub const BREAKS: Self = Self::named("breaks", CellType::Text, Source::Breaks);
    /// Address of each design.
    pub const LINK: Self = Self::named("link", CellType::Text, Source::Link);
    /// Caveat on losses, the same in each row.
    pub const CAVEAT: Self = Self::named("caveat", CellType::Text, Source::Caveat);

    const fn named(name: &'static str, cells: CellType, source: Source) -> Self {
        Self { name: Cow::Borrowed(name), label: None, unit: None, cells, source }
    }

    fn of_knob(id: KnobId, source: Source) -> Self {
        let knob = id.knob();
        Self {
            name: Cow::Owned(id.id()),
            label: None,
            unit: Some(knob.unit),
            cells: CellType::of_kind(knob.kind),
            source,
        }
    }

    fn of_metric(id: MetricId, source: Source) -> Self {
        let metric = id.metric();
        let (label, unit) = (Some(metric.label), Some(metric.unit.name()));
        Self { label, unit, ..Self::named(metric.name, CellType::Real, source) }
    }

    /// Whether its cells are values of a knob.
    #[must_use]
    pub const fn is_knob(&self) -> bool {
        matches!(self.source, Source::Axis(_) | Source::Tie(_))
    }

    /// Whether a cell can be unset.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        self.is_knob() || matches!(self.source, Source::Breaks)
    }
}

/// Columns of a sweep's rows.
#[derive(Clone, Debug)]
pub struct Table<'a> {
    space: &'a Space,
    columns: Vec<Column>,
}

impl<'a> Table<'a> {
    /// Index, knobs that vary, knobs that follow, metrics.
    #[must_use]
    pub fn new(space: &'a Space) -> Self {
        let (axes, spec) = (space.axes().iter().enumerate(), space.spec());
        let (ties, metrics) = (spec.ties.iter().enumerate(), spec.columns.iter().enumerate());
        let mut columns = vec![Column::INDEX];
        columns.extend(axes.map(|(place, axis)| Column::of_knob(axis.knob, Source::Axis(place))));
        columns.extend(ties.map(|(place, tie)| Column::of_knob(tie.knob, Source::Tie(place))));
        columns.extend(metrics.map(|(place, id)| Column::of_metric(*id, Source::Metric(place))));
        Self { space, columns }
    }

    /// The table with more columns behind.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(more);
        self
    }

    /// Space of its designs.
    pub(crate) const fn space(&self) -> &'a Space {
        self.space
    }

    /// Its columns, in order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Record of a design with these metrics.
    #[must_use]
    pub fn record<'r>(&self, index: u64, values: &'r [f64]) -> Record<'r>
    where
        'a: 'r,
    {
        Record {
            space: self.space,
            index,
            values,
            near_limit: false,
            broken: None,
            found: None,
            design: OnceCell::new(),
        }
    }

    /// Record of an outcome; `None` if the model has no estimate.
    #[must_use]
    pub fn record_of<'r>(&self, outcome: &Outcome<'r>) -> Option<Record<'r>>
    where
        'a: 'r,
    {
        match *outcome {
            Outcome::RuledOut { .. } => None,
            Outcome::Legal { index, values, broken, near_limit, found, .. } => {
                Some(Record { near_limit, broken, found, ..self.record(index, values) })
            }
        }
    }

    /// Cells of a record, one for each column.
    pub fn cells<'r>(&self, record: &'r Record<'_>) -> impl Iterator<Item = Cell<'r>> {
        self.columns.iter().map(|column| record.cell(column))
    }

    /// Knobs of a record, by their ids.
    #[must_use]
    pub fn knobs(&self, record: &Record<'_>) -> Named<KnobValue> {
        let knobs = self.columns.iter().filter(|column| column.is_knob());
        Named::of(knobs.map(|it| (&it.name, KnobValue(record.cell(it).into()))))
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
    index: u64,
    values: &'a [f64],
    near_limit: bool,
    broken: Option<&'a str>,
    found: Option<&'a Design>,
    design: OnceCell<Box<Design>>,
}

impl Record<'_> {
    /// Cell of a column.
    #[must_use]
    pub fn cell(&self, column: &Column) -> Cell<'_> {
        match column.source {
            Source::Index => Value::Integer(self.index).into(),
            Source::Axis(place) => Cell::Value(Cow::Borrowed(self.space.value(place, self.index))),
            Source::Tie(place) => self.design().get(self.space.spec().ties[place].knob).into(),
            Source::Metric(place) => Value::Real(self.values[place]).into(),
            Source::NearLimit => Value::Flag(self.near_limit).into(),
            Source::Breaks => self.broken.map_or(Value::None.into(), Cell::Text),
            Source::Link => Value::Text(format!("/?{}", link::encode(self.design()))).into(),
            Source::Caveat => Cell::Text(CAVEAT),
        }
    }

    /// Index of the design.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// Metrics of the spec's columns.
    #[must_use]
    pub const fn values(&self) -> &[f64] {
        self.values
    }

    /// Whether the design keeps every constraint.
    #[must_use]
    pub const fn is_feasible(&self) -> bool {
        self.broken.is_none()
    }

    /// The design, with its strategy where the sweep found one.
    #[must_use]
    pub fn design(&self) -> &Design {
        let made = || Box::new(self.space.design(self.index));
        self.found.unwrap_or_else(|| self.design.get_or_init(made))
    }
}

/// A cell of the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Value of a knob, or one like it.
    Value(Cow<'a, Value>),
    /// Text that stands elsewhere.
    Text(&'a str),
}

impl Cell<'_> {
    fn value(&self) -> Option<&Value> {
        if let Self::Value(value) = self { Some(value) } else { None }
    }

    /// Whole number; `None` if it is unset or no such number.
    #[must_use]
    pub fn integer(&self) -> Option<u64> {
        if let Some(Value::Integer(number)) = self.value() { Some(*number) } else { None }
    }

    /// Real number; `None` if it is unset or no such number.
    #[must_use]
    pub fn real(&self) -> Option<f64> {
        if let Some(Value::Real(number)) = self.value() { Some(*number) } else { None }
    }

    /// Truth of a flag; `None` if it is unset or no flag.
    #[must_use]
    pub fn flag(&self) -> Option<bool> {
        if let Some(Value::Flag(flag)) = self.value() { Some(*flag) } else { None }
    }

    /// Text of any cell; `None` if it is unset.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::Value(value) => match &**value {
                Value::None => None,
                Value::Text(text) => Some(Cow::Borrowed(text)),
                Value::Flag(_) | Value::Integer(_) | Value::Real(_) | Value::List(_) => {
                    Some(Cow::Owned(value.to_string()))
                }
            },
        }
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<Value> for Cell<'_> {
    fn from(value: Value) -> Self {
        Self::Value(Cow::Owned(value))
    }
}

impl From<Cell<'_>> for Tree {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Value(value) => Self::from(&*value),
            Cell::Text(text) => Self::from(text),
        }
    }
}
