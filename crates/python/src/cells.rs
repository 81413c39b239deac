//! The rows of a sweep as Arrow's columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, UInt64Builder,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use model::ground::knob::Value;
use model::{MODEL_VERSION, design::link};
use sweep::table::{CellType, Column, Record, Table};
use sweep::{Outcome, Space, Spec};

/// The table of a sweep's rows: those of feasible designs, or of every legal one with the
/// constraint that it breaks.
pub(crate) fn table(space: &Space, every_legal: bool) -> Table<'_> {
    let breaks = every_legal.then_some(Column::Breaks);
    let link = space.spec().find.is_some().then_some(Column::Link);
    Table::new(space).with([Column::NearLimit]).with(breaks).with(link)
}

/// The schema of a sweep's rows.
///
/// Knobs and metrics have their public ids as names; an unset one is null. A metric's field gives
/// its unit.
pub(crate) fn schema(table: &Table<'_>, spec: &Spec) -> SchemaRef {
    let field = |column: &Column| {
        let label = if let Column::Metric(_, id) = column { Some(id.metric().label) } else { None };
        let words = [("unit", column.unit()), ("label", label)];
        let words = words.into_iter();
        let words = words.filter_map(|(name, text)| Some((name.to_owned(), text?.to_owned())));
        let data_type = Cells::of(column.cells()).array().data_type().clone();
        Field::new(column.name(), data_type, column.is_optional())
            .with_metadata(words.collect::<HashMap<_, _>>())
    };
    let fields: Vec<Field> = table.columns().iter().map(field).collect();
    let from = [
        ("moescape.model_version", MODEL_VERSION.to_owned()),
        ("moescape.design", link::encode(&spec.base)),
        ("moescape.sweep", spec.digest()),
    ];
    let from = from.map(|(name, text)| (name.to_owned(), text));
    Arc::new(Schema::new_with_metadata(fields, HashMap::from(from)))
}

/// Rows that are being collected.
pub(crate) struct Collector<'a> {
    table: &'a Table<'a>,
    every_legal: bool,
    columns: Vec<Cells>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(table: &'a Table<'a>) -> Self {
        let every_legal = table.columns().contains(&Column::Breaks);
        let columns = table.columns().iter().map(|column| Cells::of(column.cells())).collect();
        Self { table, every_legal, columns }
    }

    /// Adds the row of an outcome that has one.
    pub(crate) fn add(&mut self, outcome: &Outcome<'_>) {
        let has_row = |record: &Record<'_>| self.every_legal || record.broken.is_none();
        let Some(record) = self.table.record_of(outcome).filter(has_row) else { return };
        for (cells, cell) in self.columns.iter_mut().zip(self.table.cells(&record)) {
            cells.add(&cell);
        }
    }

    /// The rows as a batch.
    pub(crate) fn batch(mut self, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.iter_mut().map(Cells::array).collect();
        RecordBatch::try_new(schema.clone(), columns)
    }
}

/// The cells of a column.
enum Cells {
    Index(UInt64Builder),
    Whole(Int64Builder),
    Real(Float64Builder),
    Flag(BooleanBuilder),
    Text(StringBuilder),
}

impl Cells {
    fn of(cells: CellType) -> Self {
        match cells {
            CellType::Index => Self::Index(UInt64Builder::new()),
            CellType::Integer => Self::Whole(Int64Builder::new()),
            CellType::Real => Self::Real(Float64Builder::new()),
            CellType::Flag => Self::Flag(BooleanBuilder::new()),
            CellType::Text => Self::Text(StringBuilder::new()),
        }
    }

    fn add(&mut self, cell: &Value) {
        match self {
            Self::Index(cells) => cells.append_option(cell.as_integer()),
            Self::Whole(cells) => {
                cells.append_option(cell.as_integer().map(|number| number as i64));
            }
            Self::Real(cells) => cells.append_option(cell.as_real()),
            Self::Flag(cells) => cells.append_option(cell.as_flag()),
            Self::Text(cells) => cells.append_option(cell.text()),
        }
    }

    fn array(&mut self) -> ArrayRef {
        match self {
            Self::Index(cells) => Arc::new(cells.finish()),
            Self::Whole(cells) => Arc::new(cells.finish()),
            Self::Real(cells) => Arc::new(cells.finish()),
            Self::Flag(cells) => Arc::new(cells.finish()),
            Self::Text(cells) => Arc::new(cells.finish()),
        }
    }
}
