//! Router traces as comma-separated values.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::rows::{Row, from_rows};
use crate::pattern::scores::Patterns;
use crate::routing::text::{Errors, TextError};

/// The columns; the last one has two names.
const COLUMNS: [&str; 4] = ["task", "layer", "expert", "tcess"];
const LOGIT: &str = "logit";

/// Reads patterns.
pub(super) fn read(bytes: &[u8]) -> Result<Patterns, Vec<TextError>> {
    let mut form = Errors::default();
    let mut is_first = true;
    let outcome = from_rows(|take| {
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
    // A line that can't be read is told before what is missing for it.
    if form.are_none() { outcome? } else { Err(form.into_list()) }
}

/// The lines that aren't blank, with their numbers.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.map(|(at, line)| (at + 1, line.strip_suffix(b"\r").unwrap_or(line)));
    lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace))
}

/// The fields of a line; commas inside of quotes are the field's.
fn fields(line: &str) -> Vec<&str> {
    let (mut fields, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => {
                fields.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        // No line has more than a few.
        if fields.len() > 8 {
            return fields;
        }
    }
    fields.push(&line[start..]);
    fields
}

fn bare(field: &str) -> &str {
    let field = field.trim();
    let inner = field.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
    inner.unwrap_or(field)
}

fn text(line: &[u8], number: usize) -> Result<&str, TextError> {
    core::str::from_utf8(line).map_err(|_| TextError::at(number, 0, "the line is no UTF-8"))
}

/// Where each column stands.
fn header(line: &[u8], number: usize) -> Result<[usize; 4], TextError> {
    let names: Vec<&str> = fields(text(line, number)?).into_iter().map(bare).collect();
    let mut order = [usize::MAX; 4];
    for (at, name) in names.iter().enumerate() {
        let name = if *name == LOGIT { COLUMNS[3] } else { name };
        match COLUMNS.iter().position(|known| *known == name) {
            Some(place) if order[place] == usize::MAX => order[place] = at,
            Some(_) => {
                return Err(TextError::at(number, 0, format!("column `{name}` is there twice")));
            }
            None => {
                return Err(TextError::at(
                    number,
                    0,
                    format!(
                        "column `{}` isn't known here: the columns are {}",
                        shown(name),
                        COLUMNS.join(", ")
                    ),
                ));
            }
        }
    }
    match COLUMNS.iter().zip(order).find(|(_, place)| *place == usize::MAX) {
        Some((name, _)) => Err(TextError::at(number, 0, format!("column `{name}` is missing"))),
        None => Ok(order),
    }
}

fn row(line: &[u8], number: usize, order: [usize; 4]) -> Result<Row<'_>, TextError> {
    let fields = fields(text(line, number)?);
    if fields.len() != COLUMNS.len() {
        let message = format!("the line has {} fields, its columns are 4", fields.len());
        return Err(TextError::at(number, 0, message));
    }
    let [task, layer, expert, score] = order.map(|place| bare(fields[place]));
    let wrong = |name: &str, field: &str, kind: &str| {
        TextError::at(number, 0, format!("{name} `{}` is no {kind}", shown(field)))
    };
    Ok(Row {
        task,
        layer: layer.parse().map_err(|_| wrong("layer", layer, "whole number of 32 bits"))?,
        expert: expert.parse().map_err(|_| wrong("expert", expert, "whole number of 32 bits"))?,
        score: score.parse().map_err(|_| wrong("tcess", score, "number"))?,
        line: number,
    })
}

/// At most 40 characters of what stands in a file, with what can't be printed replaced.
fn shown(field: &str) -> String {
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let short: String = field.chars().map(printable).take(40).collect();
    if field.chars().count() > 40 { format!("{short}…") } else { short }
}
