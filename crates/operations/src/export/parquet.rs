//! Tables as Parquet: typed columns, groups of rows, and in the footer where they come from.

use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;
use model::ground::knob::Value;
use present::words::provenance::Provenance;
use sweep::table::CellType;

/// Column of a table.
pub struct Field<'a> {
    /// Name.
    pub name: Cow<'a, str>,
    /// Type of the cells.
    pub cells: CellType,
    /// Whether a cell can be unset: then it is null.
    pub is_optional: bool,
}

impl Field<'_> {
    fn schema(&self) -> Result<Arc<Type>, ParquetError> {
        let (physical, logical) = match self.cells {
            CellType::Index | CellType::Integer => (Physical::INT64, None),
            CellType::Real => (Physical::DOUBLE, None),
            CellType::Flag | CellType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition =
            [Repetition::REQUIRED, Repetition::OPTIONAL][usize::from(self.is_optional)];
        let field = Type::primitive_type_builder(&self.name, physical);
        field.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    }
}

/// Writer of a table.
pub struct ParquetTable<'a, W: Write + Send> {
    fields: Vec<Field<'a>>,
    file: SerializedFileWriter<W>,
}

impl<'a, W: Write + Send> ParquetTable<'a, W> {
    /// A table of rows of that name; its footer has the provenance, and what is noted beside.
    pub fn new(
        to: W,
        name: &str,
        fields: Vec<Field<'a>>,
        from: &Provenance,
        note: Option<(&'static str, String)>,
    ) -> Result<Self, ParquetError> {
        let from = from.entries().map(|(name, value)| (name, value.to_owned()));
        let notes = from.into_iter().chain(note);
        let notes = notes.map(|(name, text)| KeyValue::new(format!("moescape.{name}"), text));
        let properties = WriterProperties::builder().set_key_value_metadata(Some(notes.collect()));
        let columns = fields.iter().map(Field::schema).collect::<Result<_, _>>()?;
        let schema = Type::group_type_builder(name).with_fields(columns).build()?;
        let file = SerializedFileWriter::new(to, schema.into(), properties.build().into())?;
        Ok(Self { fields, file })
    }

    /// Writes a group of rows, column by column: `cells` has those of a column, by its place.
    pub fn write_group<'c, C: Iterator<Item = Cow<'c, Value>>>(
        &mut self,
        cells: impl Fn(usize) -> C,
    ) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for (place, field) in self.fields.iter().enumerate() {
            let Some(mut to) = group.next_column()? else { break };
            let cells = cells(place);
            match field.cells {
                CellType::Index | CellType::Integer => {
                    let cells = cells.map(|cell| cell.as_integer().map(|number| number as i64));
                    write_cells::<Int64Type>(field, cells, &mut to)?;
                }
                CellType::Real => {
                    write_cells::<DoubleType>(field, cells.map(|cell| cell.as_real()), &mut to)?;
                }
                CellType::Flag | CellType::Text => {
                    let cells = cells.map(|cell| cell.text().map(|text| ByteArray::from(&*text)));
                    write_cells::<ByteArrayType>(field, cells, &mut to)?;
                }
            }
            to.close()?;
        }
        group.close().map(drop)
    }

    /// Writes the footer.
    pub fn close(self) -> Result<(), ParquetError> {
        self.file.close().map(drop)
    }
}

fn write_cells<T: DataType>(
    field: &Field<'_>,
    cells: impl Iterator<Item = Option<T::T>>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    for cell in cells {
        levels.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    let levels = field.is_optional.then_some(levels.as_slice());
    to.typed::<T>().write_batch(&values, levels, None).map(drop)
}
