//! Files that are read, files that are refused, and files that are made to do harm.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

/// Values of a column.
enum Values {
    Wide(Vec<i64>),
    Narrow(Vec<i32>),
    Real(Vec<f64>),
    Words(Vec<&'static str>),
}

/// A column, and which of its rows have a value.
type Column = (Values, Option<Vec<i16>>);

/// A file with this schema: in each group of rows the columns in order.
fn file(schema: &str, properties: WriterProperties, groups: &[Vec<Column>]) -> Bytes {
    let schema = parse_message_type(schema).unwrap();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).unwrap();
    for group in groups {
        let mut rows = writer.next_row_group().unwrap();
        for (values, levels) in group {
            let levels = levels.as_deref();
            let mut column = rows.next_column().unwrap().unwrap();
            let outcome = match values {
                Values::Wide(values) => {
                    column.typed::<Int64Type>().write_batch(values, levels, None)
                }
                Values::Narrow(values) => {
                    column.typed::<Int32Type>().write_batch(values, levels, None)
                }
                Values::Real(values) => {
                    column.typed::<DoubleType>().write_batch(values, levels, None)
                }
                Values::Words(values) => {
                    let values: Vec<ByteArray> =
                        values.iter().map(|word| ByteArray::from(*word)).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, levels, None)
                }
            };
            outcome.unwrap();
            column.close().unwrap();
        }
        rows.close().unwrap();
    }
    writer.into_inner().unwrap().into()
}

const WIDE: &str = "message trace { required int64 step; required int64 layer; \
                    required int64 expert; required int64 tokens; }";

fn plain() -> WriterProperties {
    WriterProperties::builder().build()
}

fn wide(rows: &[[i64; 4]]) -> Vec<Column> {
    let column = |at: usize| Values::Wide(rows.iter().map(|row| row[at]).collect());
    (0..4).map(|at| (column(at), None)).collect()
}

fn errors_of(bytes: &Bytes) -> Vec<String> {
    read(bytes).unwrap_err().iter().map(ToString::to_string).collect()
}

const ROWS: [[i64; 4]; 4] = [[10, 3, 1, 5], [10, 3, 0, 3], [20, 3, 0, 4], [20, 3, 1, 4]];

fn trace() -> Trace {
    Trace::new([2, 1, 2], vec![3, 5, 4, 4]).unwrap()
}

#[test]
fn all_codecs_versions_and_groups_of_rows_give_the_same_trace() {
    for codec in
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())]
    {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for dictionary in [true, false] {
                let properties = WriterProperties::builder()
                    .set_compression(codec)
                    .set_writer_version(version)
                    .set_dictionary_enabled(dictionary)
                    .build();
                let bytes = file(WIDE, properties, &[wide(&ROWS[..1]), wide(&ROWS[1..])]);
                assert_eq!(read(&bytes), Ok(trace()), "{codec:?} {version:?} {dictionary}");
            }
        }
    }
}

#[test]
fn columns_may_be_narrow_optional_in_any_order_and_beside_others() {
    let schema = "message trace { optional int32 tokens; optional binary name (UTF8); \
                  required int32 expert (UINT_32); optional int64 layer; required int64 step; }";
    let all = || Some(vec![1; 4]);
    let columns = vec![
        (Values::Narrow(vec![5, 3, 4, 4]), all()),
        (Values::Words(vec!["a", "b"]), Some(vec![0, 1, 0, 1])),
        (Values::Narrow(vec![1, 0, 0, 1]), None),
        (Values::Wide(vec![3; 4]), all()),
        (Values::Wide(vec![10, 10, 20, 20]), None),
    ];
    assert_eq!(read(&file(schema, plain(), &[columns])), Ok(trace()));
}

#[test]
fn wrong_columns_are_named() {
    let missing = WIDE.replace("layer", "depth");
    let found = errors_of(&file(&missing, plain(), &[wide(&ROWS)]));
    assert_eq!(found, ["column `layer` is missing; the file has: step, depth, expert, tokens"]);
    let real = WIDE.replace("int64 tokens", "double tokens");
    let mut columns = wide(&ROWS);
    columns[3].0 = Values::Real(vec![1.5; 4]);
    let found = errors_of(&file(&real, plain(), &[columns]));
    assert_eq!(found, ["column `tokens` is of type DOUBLE, whole numbers are asked for"]);
    let null = WIDE.replace("required int64 tokens", "optional int64 tokens");
    let mut columns = wide(&ROWS);
    columns[3] = (Values::Wide(vec![5, 3, 4]), Some(vec![1, 1, 0, 1]));
    let found = errors_of(&file(&null, plain(), &[columns]));
    assert_eq!(found, ["column `tokens`: a value is missing"]);
}

#[test]
fn wrong_numbers_are_named_with_column_and_row() {
    let rows = [[10, 3, 0, -3], [10, 3, 99_999_999, 4], [1 << 40, 3, 0, 4]];
    let found = errors_of(&file(WIDE, plain(), &[wide(&rows[..1]), wide(&rows[1..])]));
    let expected = [
        "column `tokens`, row 1: -3 isn't between 0 and 4294967295",
        "column `step`, row 3: 1099511627776 isn't between 0 and 4294967295",
        "column `expert`, row 2: 99999999 isn't between 0 and 65535",
    ];
    assert_eq!(found, expected);
    let many = vec![[0, 0, 0, -1]; 30_000];
    assert_eq!(errors_of(&file(WIDE, plain(), &[wide(&many)])).len(), MAX_ERRORS);
}

#[test]
fn rows_that_are_missing_or_there_twice_are_named() {
    let found = errors_of(&file(WIDE, plain(), &[wide(&ROWS[..3])]));
    assert_eq!(found, ["expert 1 of step 20, layer 3 is missing"]);
    let twice = [&ROWS[..], &ROWS[1..2]].concat();
    let found = errors_of(&file(WIDE, plain(), &[wide(&twice)]));
    assert_eq!(found, ["row 5: this step, layer and expert has a line already"]);
    assert!(errors_of(&file(WIDE, plain(), &[]))[0].contains("no steps"));
}

#[test]
fn a_file_that_is_no_trace_is_not_read_to_its_end() {
    let many = vec![[0, 0, 0, 1]; 200_000];
    let found = errors_of(&file(WIDE, plain(), &[wide(&many)]));
    let expected = "the first 65536 rows are of fewer steps, layers and experts: some are there \
                    twice";
    assert_eq!(found, [expected]);
}

#[test]
fn a_small_file_that_unpacks_to_much_is_refused_before_it_does() {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(usize::MAX)
        .build();
    let zeros = || (Values::Wide(vec![0; 9 << 20]), None);
    let bytes = file(WIDE, properties, &[vec![zeros(), zeros(), zeros(), zeros()]]);
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    let found = errors_of(&bytes);
    assert!(found[0].starts_with("column `step`: a page unpacks to"), "{found:?}");
}

#[test]
fn bytes_that_are_cut_or_changed_are_refused_or_read_but_never_panic() {
    let bytes = file(WIDE, plain(), &[wide(&ROWS)]).to_vec();
    for length in 0..bytes.len() {
        assert!(read(&Bytes::from(bytes[..length].to_vec())).is_err(), "{length}");
    }
    for at in 0..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            let _ = read(&Bytes::from(changed));
        }
    }
}

/// Structures in Thrift's compact protocol.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    last: Vec<u8>,
}

impl Writer {
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn field(&mut self, id: u8, kind: u8) {
        let last = self.last.last_mut().unwrap();
        self.bytes.push((id - *last) << 4 | kind);
        *last = id;
    }

    fn number(&mut self, id: u8, kind: u8, number: i64) {
        self.field(id, kind);
        self.varint((number << 1 ^ number >> 63) as u64);
    }

    fn text(&mut self, id: u8, text: &str) {
        self.field(id, 8);
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn list(&mut self, id: u8, kind: u8, length: u64) {
        self.field(id, 9);
        self.bytes.push(0xf0 | kind);
        self.varint(length);
    }

    fn structure(&mut self, body: impl FnOnce(&mut Self)) {
        self.last.push(0);
        body(self);
        self.last.pop();
        self.bytes.push(0);
    }
}

/// A file that is only a footer: of a schema, and of one group with `rows` rows.
fn announced(schema: &[(&str, Option<i64>)], rows: i64, offset: i64, size: i64) -> Bytes {
    let mut writer = Writer::default();
    writer.structure(|w| {
        w.number(1, 5, 1);
        w.list(2, 12, schema.len() as u64);
        for (name, children) in schema {
            w.structure(|w| {
                if children.is_none() {
                    w.number(1, 5, 2);
                }
                w.number(3, 5, 0);
                w.text(4, name);
                if let Some(children) = children {
                    w.number(5, 5, *children);
                }
            });
        }
        w.number(3, 6, rows);
        w.list(4, 12, 1);
        w.structure(|w| {
            w.list(1, 12, 4);
            for name in COLUMNS {
                w.structure(|w| {
                    w.number(2, 6, 4);
                    w.field(3, 12);
                    w.structure(|w| {
                        w.number(1, 5, 2);
                        w.list(2, 5, 0);
                        w.list(3, 8, 1);
                        w.varint(name.len() as u64);
                        w.bytes.extend_from_slice(name.as_bytes());
                        w.number(4, 5, 0);
                        w.number(5, 6, rows);
                        w.number(6, 6, size);
                        w.number(7, 6, size);
                        w.number(9, 6, offset);
                    });
                });
            }
            w.number(2, 6, size);
            w.number(3, 6, rows);
        });
    });
    let length = (writer.bytes.len() as u32).to_le_bytes();
    [MAGIC.as_slice(), &writer.bytes, &length, MAGIC].concat().into()
}

const FLAT: [(&str, Option<i64>); 5] =
    [("trace", Some(4)), ("step", None), ("layer", None), ("expert", None), ("tokens", None)];

#[test]
fn a_billion_rows_that_are_announced_are_refused() {
    let found = errors_of(&announced(&FLAT, 1_000_000_000, 4, 0));
    assert_eq!(found, ["the file has 1000000000 rows, a trace has at most 67108864 counts"]);
}

#[test]
fn rows_without_pages_and_pages_outside_of_the_file_are_refused() {
    let found = errors_of(&announced(&FLAT, 60_000_000, 4, 0));
    assert!(!found[0].is_empty(), "{found:?}");
    for (offset, size) in [(4, 1 << 40), (-4, 8), (i64::MAX, i64::MAX), (4, -8)] {
        let found = errors_of(&announced(&FLAT, 8, offset, size));
        assert_eq!(found, ["column `step`: its pages lie outside of the file"], "{offset} {size}");
    }
}

#[test]
fn schemas_that_nest_or_announce_children_are_refused() {
    let mut deep = vec![("a", Some(1)); 100_000];
    deep.push(("b", None));
    assert!(errors_of(&announced(&deep, 1, 4, 0))[0].contains("columns"), "deep");
    let mut wide = FLAT;
    wide[0].1 = Some(i64::from(i32::MAX));
    assert_eq!(errors_of(&announced(&wide, 1, 4, 0)), ["the file has columns inside of columns"]);
    wide[0].1 = Some(4);
    wide[2].1 = Some(i64::from(i32::MAX));
    assert_eq!(errors_of(&announced(&wide, 1, 4, 0)), ["the file has columns inside of columns"]);
}
