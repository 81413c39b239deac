//! The rows of a sweep as Arrow's columns: index, knobs that vary or follow, metrics.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use model::design::KnobId;
use model::ground::knob::{Kind, Value};
use model::{MODEL_VERSION, design::link};
use sweep::{Outcome, Space};

/// Selection of the designs that have a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Designs that keep every constraint.
    Feasible,
    /// Designs that keep the model's rules, with the constraint that they break.
    Legal,
}

/// The schema of a sweep's rows.
///
/// Knobs and metrics have their public ids as names; an unset one is null. A metric's field gives
/// its unit.
pub(crate) fn schema(space: &Space, rows: Rows) -> SchemaRef {
    let mut fields = vec![Field::new("index", DataType::UInt64, false)];
    for knob in sweep::varying(space) {
        let unit = HashMap::from([("unit".to_owned(), knob.knob().unit.to_owned())]);
        let field = Field::new(knob.id(), Cells::of(knob, 0).data_type(), true);
        fields.push(field.with_metadata(unit));
    }
    for id in &space.spec().columns {
        let metric = id.metric();
        let words = [("unit", metric.unit.name()), ("label", metric.label)];
        let words = words.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let field = Field::new(metric.name, DataType::Float64, false);
        fields.push(field.with_metadata(HashMap::from(words)));
    }
    fields.push(Field::new("near_limit", DataType::Boolean, false));
    if rows == Rows::Legal {
        fields.push(Field::new("breaks", DataType::Utf8, true));
    }
    if space.spec().find.is_some() {
        fields.push(Field::new("link", DataType::Utf8, false));
    }
    let from = [
        ("moescape.model_version", MODEL_VERSION.to_owned()),
        ("moescape.design", link::encode(&space.spec().base)),
        ("moescape.sweep", space.spec().digest()),
    ];
    let from = from.map(|(name, text)| (name.to_owned(), text));
    Arc::new(Schema::new_with_metadata(fields, HashMap::from(from)))
}

/// Rows that are being collected.
pub(crate) struct Collector<'a> {
    space: &'a Space,
    schema: &'a SchemaRef,
    rows: Rows,
    index: Vec<u64>,
    /// The knobs that vary, each by the place of its value.
    axes: Vec<Cells>,
    /// The knobs that follow.
    ties: Vec<(KnobId, Cells)>,
    metrics: Vec<Vec<f64>>,
    near_limit: BooleanBuilder,
    breaks: StringBuilder,
    link: StringBuilder,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(space: &'a Space, schema: &'a SchemaRef, rows: Rows) -> Self {
        let spec = space.spec();
        Self {
            space,
            schema,
            rows,
            index: Vec::new(),
            axes: space.axes().iter().map(|axis| Cells::of(axis.knob, 0)).collect(),
            ties: spec.ties.iter().map(|tie| (tie.knob, Cells::of(tie.knob, 0))).collect(),
            metrics: vec![Vec::new(); spec.columns.len()],
            near_limit: BooleanBuilder::new(),
            breaks: StringBuilder::new(),
            link: StringBuilder::new(),
        }
    }

    /// Adds the row of an outcome that has one.
    pub(crate) fn add(&mut self, outcome: &Outcome<'_>) {
        let Outcome::Legal { index, coordinates, values, broken, near_limit, found } = *outcome
        else {
            return;
        };
        if self.rows == Rows::Feasible && broken.is_some() {
            return;
        }
        self.index.push(index);
        for ((cells, axis), digit) in self.axes.iter_mut().zip(self.space.axes()).zip(coordinates) {
            cells.add(&axis.values[*digit]);
        }
        let has_link = self.space.spec().find.is_some();
        if !self.ties.is_empty() || has_link {
            let own = found.is_none().then(|| self.space.design(index));
            let Some(design) = found.or(own.as_ref()) else { return };
            for (knob, cells) in &mut self.ties {
                cells.add(&design.get(*knob));
            }
            // A link takes longer than all other cells of a row.
            if has_link {
                self.link.append_value(format!("/?{}", link::encode(design)));
            }
        }
        for (column, value) in self.metrics.iter_mut().zip(values) {
            column.push(*value);
        }
        self.near_limit.append_value(near_limit);
        self.breaks.append_option(broken);
    }

    /// Number of rows.
    pub(crate) const fn len(&self) -> usize {
        self.index.len()
    }

    /// The rows as a batch.
    pub(crate) fn batch(mut self) -> Result<RecordBatch, ArrowError> {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from(self.index))];
        columns.extend(self.axes.iter_mut().map(Cells::array));
        columns.extend(self.ties.iter_mut().map(|(_, cells)| cells.array()));
        let metrics = self.metrics.into_iter();
        columns.extend(
            metrics.map(|column| -> ArrayRef { Arc::new(arrow_array::Float64Array::from(column)) }),
        );
        columns.push(Arc::new(self.near_limit.finish()));
        if self.rows == Rows::Legal {
            columns.push(Arc::new(self.breaks.finish()));
        }
        if self.space.spec().find.is_some() {
            columns.push(Arc::new(self.link.finish()));
        }
        RecordBatch::try_new(self.schema.clone(), columns)
    }
}

/// The cells of a knob's column.
enum Cells {
    Whole(Int64Builder),
    Real(Float64Builder),
    Flag(BooleanBuilder),
    Text(StringBuilder),
}

impl Cells {
    fn of(knob: KnobId, capacity: usize) -> Self {
        match knob.knob().kind {
            Kind::Integer(..) | Kind::OptionalInteger(..) => {
                Self::Whole(Int64Builder::with_capacity(capacity))
            }
            Kind::Real(..) | Kind::OptionalReal(..) => {
                Self::Real(Float64Builder::with_capacity(capacity))
            }
            Kind::Flag => Self::Flag(BooleanBuilder::with_capacity(capacity)),
            Kind::Choice(_)
            | Kind::Subset(_)
            | Kind::LayerFreq
            | Kind::PerStage(_)
            | Kind::PositionList(_)
            | Kind::Layout
            | Kind::LayerPattern(_)
            | Kind::Hash
            | Kind::Name
            | Kind::Arguments => Self::Text(StringBuilder::with_capacity(capacity, 0)),
        }
    }

    const fn data_type(&self) -> DataType {
        match self {
            Self::Whole(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
            Self::Flag(_) => DataType::Boolean,
            Self::Text(_) => DataType::Utf8,
        }
    }

    fn add(&mut self, value: &Value) {
        match self {
            // Bounds of knobs are below 2^63.
            Self::Whole(cells) => {
                let whole = if let Value::Integer(number) = value { Some(*number) } else { None };
                cells.append_option(whole.and_then(|number| i64::try_from(number).ok()));
            }
            Self::Real(cells) => {
                cells.append_option(if let Value::Real(number) = value {
                    Some(*number)
                } else {
                    None
                });
            }
            Self::Flag(cells) => {
                cells.append_option(if let Value::Flag(flag) = value { Some(*flag) } else { None });
            }
            Self::Text(cells) if *value == Value::None => cells.append_null(),
            Self::Text(cells) => cells.append_value(value.to_string()),
        }
    }

    fn array(&mut self) -> ArrayRef {
        match self {
            Self::Whole(cells) => Arc::new(cells.finish()),
            Self::Real(cells) => Arc::new(cells.finish()),
            Self::Flag(cells) => Arc::new(cells.finish()),
            Self::Text(cells) => Arc::new(cells.finish()),
        }
    }
}
