//! Router traces as comma-separated values.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::rows::{Row, from_rows};
use crate::routing::pattern::scores::Patterns;
use crate::routing::text::{Errors, TextError};

/// The columns, of which the score has two names and the token may be missing.
const COLUMNS: [&str; 5] = ["task", "layer", "expert", "tcess", "token"];
const LOGIT: &str = "logit";
const TOKEN: usize = 4;

/// Places of the columns; none for one that is missing.
type Order = [Option<usize>; 5];

/// Reads patterns.
pub(super) fn read(bytes: &[u8], visited: usize) -> Result<Patterns, Vec<TextError>> {
    let mut form = Errors::default();
    let mut is_first = true;
    let outcome = from_rows(visited, |take| {
        let mut lines = lines(bytes);
        let Some((number, line)) = lines.next() else {
            return Err(vec![TextError::whole("the file has no scores")]);
        };
        let order = header(line, number).map_err(|error| vec![error])?;
        for (number, line) in lines {
            match row(line, number, order) {
                Ok(row) if !take(row) => break,
                Ok(_) => {}
                // The second pass meets the same ones again.
                Err(error) if is_first => form.push(error),
                Err(_) => {}
            }
            if form.stop_reading() {
                break;
            }
        }
        is_first = false;
        Ok(())
    });
    // A line that can't be read is reported before what is missing for it.
    if form.are_none() { outcome? } else { Err(form.into_list()) }
}

/// The lines that aren't blank, with their numbers.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.map(|(at, line)| (at + 1, line.strip_suffix(b"\r").unwrap_or(line)));
    lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace))
}

/// Fields of a line that are told apart, at most: no header has as many.
const MAX_FIELDS: usize = 8;

/// The fields of a line; commas inside of quotes are the field's.
fn fields(line: &str) -> ([&str; MAX_FIELDS], usize) {
    let (mut fields, mut count, mut start, mut is_quoted) = ([""; MAX_FIELDS], 0, 0, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted && count + 1 < MAX_FIELDS => {
                fields[count] = &line[start..at];
                (count, start) = (count + 1, at + 1);
            }
            _ => {}
        }
    }
    fields[count] = &line[start..];
    (fields, count + 1)
}

fn bare(field: &str) -> &str {
    let field = field.trim();
    let inner = field.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
    inner.unwrap_or(field)
}

fn text(line: &[u8], number: usize) -> Result<&str, TextError> {
    core::str::from_utf8(line).map_err(|_| TextError::at(number, 0, "the line is no UTF-8"))
}

/// Place of each column.
fn header(line: &[u8], number: usize) -> Result<Order, TextError> {
    let (fields, count) = fields(text(line, number)?);
    let wrong = |message: String| TextError::at(number, 0, message);
    let mut order = [None; 5];
    for (at, name) in fields.into_iter().take(count).map(bare).enumerate() {
        let name = if name == LOGIT { COLUMNS[3] } else { name };
        match COLUMNS.iter().position(|known| *known == name) {
            Some(place) if order[place].is_none() => order[place] = Some(at),
            Some(_) => return Err(wrong(format!("column `{name}` is there twice"))),
            None => {
                return Err(wrong(format!(
                    "column `{}` isn't known here: the columns are {}",
                    shown(name),
                    COLUMNS.join(", ")
                )));
            }
        }
    }
    match COLUMNS.iter().zip(order).take(TOKEN).find(|(_, place)| place.is_none()) {
        Some((name, _)) => Err(wrong(format!("column `{name}` is missing"))),
        None => Ok(order),
    }
}

fn row(line: &[u8], number: usize, order: Order) -> Result<Row<'_>, TextError> {
    let (fields, count) = fields(text(line, number)?);
    let columns = order.iter().flatten().count();
    if count != columns {
        let message = format!("the line has {count} fields, its columns are {columns}");
        return Err(TextError::at(number, 0, message));
    }
    let field = |column: usize| order[column].map_or("", |place| bare(fields[place]));
    let wrong = |column: usize, kind: &str| {
        let (name, field) = (COLUMNS[column], shown(field(column)));
        TextError::at(number, 0, format!("{name} `{field}` is no {kind}"))
    };
    let whole =
        |column: usize| field(column).parse().map_err(|_| wrong(column, "whole number of 32 bits"));
    let token = match order[TOKEN] {
        Some(_) => field(TOKEN).parse().map(Some).map_err(|_| wrong(TOKEN, "whole number"))?,
        None => None,
    };
    Ok(Row {
        task: field(0),
        token,
        layer: whole(1)?,
        expert: whole(2)?,
        score: field(3).parse().map_err(|_| wrong(3, "number"))?,
        line: number,
    })
}

/// At most 40 characters of the text in a file, with what can't be printed replaced.
fn shown(field: &str) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let short: String = field.chars().map(printable).take(40).collect();
    if field.chars().count() > 40 { format!("{short}…") } else { short }
}
