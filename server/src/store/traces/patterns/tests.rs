//! Files that are read, and files that are refused.

use std::sync::Arc;

use parquet::data_type::ByteArray;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

/// Values of a column.
enum Values {
    Words(Vec<&'static str>),
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
}

fn file(schema: &str, columns: &[Values]) -> Bytes {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    for values in columns {
        let mut column = rows.next_column().unwrap().unwrap();
        match values {
            Values::Words(values) => {
                let values: Vec<_> = values.iter().map(|word| ByteArray::from(*word)).collect();
                column.typed::<ByteArrayType>().write_batch(&values, None, None)
            }
            Values::Narrow(values) => column.typed::<Int32Type>().write_batch(values, None, None),
            Values::Wide(values) => column.typed::<Int64Type>().write_batch(values, None, None),
            Values::Single(values) => column.typed::<FloatType>().write_batch(values, None, None),
            Values::Double(values) => column.typed::<DoubleType>().write_batch(values, None, None),
        }
        .unwrap();
        column.close().unwrap();
    }
    rows.close().unwrap();
    writer.into_inner().unwrap().into()
}

const SCHEMA: &str = "message trace { required binary task (UTF8); required int32 layer; \
                      required int64 expert; required float logit; }";

fn columns(experts: Vec<i64>) -> Vec<Values> {
    vec![
        Values::Words(vec!["math", "math", "code"]),
        Values::Narrow(vec![3, 3, 3]),
        Values::Wide(experts),
        Values::Single(vec![0.5, 1.5, 2.0]),
    ]
}

#[test]
fn a_file_says_the_same_as_text() {
    let text = "task,layer,expert,tcess\nmath,3,0,0.5\nmath,3,2,1.5\ncode,3,1,2\n";
    let expected = model::routing::pattern::text::read(text.as_bytes(), 1).unwrap();
    assert_eq!(read(&file(SCHEMA, &columns(vec![0, 2, 1])), 1).unwrap(), expected);
    let wide = SCHEMA.replace("float logit", "double tcess");
    let mut all = columns(vec![0, 2, 1]);
    all[3] = Values::Double(vec![0.5, 1.5, 2.0]);
    assert_eq!(read(&file(&wide, &all), 1).unwrap(), expected);
}

#[test]
fn logits_of_tokens_are_read_as_from_text() {
    let schema = SCHEMA.replace("required float", "required int64 token; required float");
    let mut all = columns(vec![0, 2, 1]);
    all.insert(3, Values::Wide(vec![7, 7, 0]));
    let text = "task,token,layer,expert,logit\nmath,7,3,0,0.5\nmath,7,3,2,1.5\ncode,0,3,1,2\n";
    for visited in [1, 2] {
        let expected = model::routing::pattern::text::read(text.as_bytes(), visited).unwrap();
        assert_eq!(read(&file(&schema, &all), visited).unwrap(), expected);
    }
}

#[test]
fn what_is_wrong_is_named_with_its_row_or_column() {
    let said = |bytes: &Bytes| read(bytes, 1).unwrap_err()[0].message.clone();
    assert!(said(&file(SCHEMA, &columns(vec![0, -2, 1]))).contains("column `expert`, row 2: -2"));
    let twice = read(&file(SCHEMA, &columns(vec![0, 0, 1])), 1).unwrap_err();
    assert_eq!(twice[0].line, 2);
    let named = SCHEMA.replace("logit", "score");
    let columns = columns(vec![0, 2, 1]);
    assert_eq!(said(&file(&named, &columns)), "column `tcess` is missing");
    let whole = file(SCHEMA, &columns);
    for end in [0, 4, 60, whole.len() - 5] {
        assert!(read(&whole.slice(..end), 1).is_err(), "{end}");
    }
}

#[test]
fn no_flipped_byte_makes_the_reader_panic() {
    let whole = file(SCHEMA, &columns(vec![0, 2, 1])).to_vec();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        let _ = read(&Bytes::from(bytes), 1);
    }
}
