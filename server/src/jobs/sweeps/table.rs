//! The feasible designs of a sweep as a Parquet table.
//!
//! Parquet can't be continued behind its end, so that a sweep which may be interrupted writes its
//! rows in a plain binary form first; this turns them into the table, a group of rows at a time.

use std::io::{self, Read, Write};

use parquet::errors::ParquetError;
use sweep::Space;
use sweep::table::{Column, Table};

use super::rows;
use operations::export::parquet::{Field, ParquetTable};

use crate::designs::exports::provenance;

/// Rows of a group.
const GROUP: usize = 65_536;

/// Writes the rows of the binary form as a table. Its footer has the result, and where it comes
/// from: the design that the sweep varies, the model's version and the day.
pub(crate) fn write(
    space: &Space,
    mut rows: impl Read,
    to: impl Write + Send,
    result: String,
) -> io::Result<()> {
    let (table, from) = (Table::new(space), provenance(&space.spec().base));
    let columns = table.columns();
    let field = |column: &Column| Field {
        name: column.name(),
        cells: column.cells(),
        is_optional: column.is_optional(),
    };
    let fields = columns.iter().map(field).collect();
    let note = Some(("result", result));
    let mut file = ParquetTable::new(to, "design", fields, &from, note).map_err(failed)?;
    loop {
        let group = rows::next(space, &mut rows, GROUP)?;
        if group.is_empty() {
            return file.close().map_err(failed);
        }
        let records: Vec<_> =
            group.iter().map(|(index, values)| table.record(*index, values)).collect();
        let cells = |place| records.iter().map(move |record| record.cell(columns[place]));
        file.write_group(cells).map_err(failed)?;
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands it over")]
fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error.to_string())
}
