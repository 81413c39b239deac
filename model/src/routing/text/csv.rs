//! Traces as comma-separated values.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::Write as _;

use super::errors::{Errors, TextError};
use super::rows::{Row, Sizes};
use crate::ground::decimal;
use crate::routing::trace::{Pair, Trace};

/// The columns of loads.
const LOADS: [&str; 4] = ["step", "layer", "expert", "tokens"];
/// The columns of pairs.
const PAIRS: [&str; 4] = ["layer", "expert_a", "expert_b", "tokens"];

/// The most that a column may say: experts and layers stay far below, tokens fit 32 bits.
const BOUNDS: [[u64; 4]; 2] = [
    [u32::MAX as u64, u32::MAX as u64, Trace::MAX_EXPERTS - 1, u32::MAX as u64],
    [u32::MAX as u64, Trace::MAX_EXPERTS - 1, Trace::MAX_EXPERTS - 1, u64::MAX],
];

/// One section's columns: the order of its numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Section {
    /// 0 for loads, 1 for pairs.
    kind: usize,
    /// For each column of the file, the number that it holds.
    order: [usize; 4],
}

/// A line with numbers.
struct Line {
    number: usize,
    kind: usize,
    values: [u64; 4],
}

/// Goes through the lines of a file and gives those with numbers to `take`, whose words about a
/// line become an error there. Errors of form are reported when `errors` is fresh: in a first pass.
fn lines(
    bytes: &[u8],
    errors: &mut Errors,
    reports: bool,
    mut take: impl FnMut(&Line) -> Result<(), &'static str>,
) {
    let mut section = None;
    for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let number = index + 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let is_header = is_header(line, section.is_none());
        let found = match section {
            _ if is_header => match header(line, number) {
                Ok(found) => {
                    section = Some(found);
                    continue;
                }
                Err(error) => Err(error),
            },
            Some(section) => values(line, number, section)
                .and_then(|line| take(&line).map_err(|message| TextError::at(number, 0, message))),
            None => Err(TextError::at(
                number,
                1,
                "the file starts with the names of its columns: step,layer,expert,tokens",
            )),
        };
        if let Err(error) = found {
            // Without known columns nothing that follows can be read.
            let ends = is_header || section.is_none();
            if reports || error.column == 0 {
                errors.push(error);
            }
            if ends || errors.stop_reading() {
                return;
            }
        }
    }
}

/// Does a line name columns? The first one does when it starts with a letter, a later one when it
/// names the layer, which every section has.
fn is_header(line: &[u8], is_first: bool) -> bool {
    let mut names = fields(line).map(|(_, name)| name);
    if is_first {
        names.next().is_some_and(|name| name.first().is_some_and(u8::is_ascii_alphabetic))
    } else {
        names.any(|name| name == b"layer")
    }
}

/// The columns that a line names.
fn header(line: &[u8], number: usize) -> Result<Section, TextError> {
    let fields: Vec<(usize, &[u8])> = fields(line).collect();
    let kind = usize::from(fields.iter().any(|(_, name)| name.starts_with(b"expert_")));
    let known = [LOADS, PAIRS][kind];
    let mut order = [usize::MAX; 4];
    for (at, (column, name)) in fields.iter().enumerate() {
        let position = known.iter().position(|known| known.as_bytes() == *name);
        let message = match position {
            Some(position) if order.contains(&position) => "a second time",
            Some(position) if at < 4 => {
                order[at] = position;
                continue;
            }
            Some(_) | None => "which isn't known here",
        };
        let names = known.join(", ");
        return Err(TextError::at(
            number,
            *column,
            format!("column `{}`, {message}: the columns are {names}", shown(name)),
        ));
    }
    match (0..4).find(|position| !order.contains(position)) {
        Some(missing) => {
            Err(TextError::at(number, 0, format!("column `{}` is missing", known[missing])))
        }
        None => Ok(Section { kind, order }),
    }
}

/// The fields of a line with the columns, in characters, at which they start; spaces and one pair
/// of quotes around each are dropped.
fn fields(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut column = 1;
    line.split(|byte| *byte == b',').map(move |field| {
        let start = column;
        column += characters(field) + 1;
        let trimmed = field.trim_ascii();
        let inner = trimmed.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\""));
        (start, inner.map_or(trimmed, |inner| inner.trim_ascii()))
    })
}

/// Characters of UTF-8 text: bytes that don't continue another one.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

fn values(line: &[u8], number: usize, section: Section) -> Result<Line, TextError> {
    let mut values = [0; 4];
    let mut count = 0;
    for (column, field) in fields(line) {
        if let Some(position) = section.order.get(count) {
            let name = [LOADS, PAIRS][section.kind][*position];
            let value = whole(field, BOUNDS[section.kind][*position]);
            values[*position] = value.map_err(|problem| {
                TextError::at(number, column, format!("{name} `{}` {problem}", shown(field)))
            })?;
        }
        count += 1;
    }
    if count == 4 {
        Ok(Line { number, kind: section.kind, values })
    } else {
        let message = format!("the line has {count} fields, its columns are 4");
        Err(TextError::at(number, characters(line).max(1), message))
    }
}

/// A whole number up to a bound.
fn whole(field: &[u8], most: u64) -> Result<u64, String> {
    let Ok(text) = core::str::from_utf8(field) else {
        return Err(String::from("is no text"));
    };
    if text.is_empty() {
        return Err(String::from("is missing"));
    }
    match text.parse::<u64>() {
        Ok(value) if value <= most => Ok(value),
        Ok(_) => Err(format!("is above {most}")),
        Err(_) => Err(String::from(match decimal::parse(text) {
            Some(value) if value < 0.0 => "is negative",
            Some(value) if value.is_finite() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                "is too large"
            }
            Some(value) if value.is_finite() => "is no whole number",
            Some(_) | None => "is no number",
        })),
    }
}

/// At most 40 characters of the text in a file, with what can't be printed replaced.
fn shown(field: &[u8]) -> String {
    let start = &field[..field.len().min(160)];
    let text = String::from_utf8_lossy(start);
    let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let short: String = text.chars().map(printable).take(40).collect();
    if text.chars().count() > 40 { format!("{short}…") } else { short }
}

fn row(line: &Line) -> Row {
    // Within the bounds of their columns.
    let [step, layer, expert, tokens] = line.values.map(|value| value as u32);
    Row { step, layer, expert, tokens }
}

fn pair(line: &Line) -> Pair {
    let [layer, expert_a, expert_b, tokens] = line.values;
    let [layer, expert_a, expert_b] = [layer, expert_a, expert_b].map(|value| value as u32);
    Pair { layer, expert_a, expert_b, tokens }
}

/// Reads a trace in two passes: the first finds its size, the second fills it in.
pub(super) fn read(bytes: &[u8]) -> Result<Trace, Vec<TextError>> {
    let mut errors = Errors::default();
    let (mut sizes, mut rows) = (Sizes::default(), 0_u64);
    lines(bytes, &mut errors, true, |line| {
        if line.kind == 0 {
            sizes.see(&row(line));
            rows += 1;
        }
        Ok(())
    });
    if !errors.are_none() {
        return Err(errors.into_list());
    }
    if rows == 0 {
        return Err(vec![TextError::whole("the file has no loads of experts")]);
    }
    let mut counts = sizes.counts().map_err(|error| vec![error])?;
    let mut pairs = Vec::new();
    lines(bytes, &mut errors, false, |line| {
        if line.kind == 0 {
            return counts.fill(&row(line));
        }
        let pair = pair(line);
        let layer = counts.layer(pair.layer).ok_or("no load is given of this layer")?;
        pairs.push((line.number, Pair { layer, ..pair }));
        Ok(())
    });
    let trace = counts.trace(&mut errors);
    match trace {
        Some(trace) if errors.are_none() => with_pairs(trace, &pairs),
        Some(_) | None => Err(errors.into_list()),
    }
}

/// Gives a trace its pairs, or says in which line the first wrong one is.
fn with_pairs(trace: Trace, pairs: &[(usize, Pair)]) -> Result<Trace, Vec<TextError>> {
    let list = pairs.iter().map(|(_, pair)| *pair).collect();
    trace.with_pairs(list).map_err(|fault| {
        let wrong = |(_, pair): &&(usize, Pair)| {
            fault == crate::routing::trace::TraceFault::WrongPair { pair: *pair }
        };
        let line = pairs.iter().find(wrong).map_or(0, |(line, _)| *line);
        vec![TextError { line, ..TextError::from(fault) }]
    })
}

/// Reads a file that has only pairs.
pub(super) fn read_pairs(bytes: &[u8]) -> Result<Vec<Pair>, Vec<TextError>> {
    let mut errors = Errors::default();
    let mut pairs = Vec::new();
    lines(bytes, &mut errors, true, |line| {
        if line.kind == 0 {
            return Err("a file of pairs has the columns layer, expert_a, expert_b, tokens");
        }
        pairs.push(pair(line));
        Ok(())
    });
    if errors.are_none() { Ok(pairs) } else { Err(errors.into_list()) }
}

/// Writes a trace.
pub(super) fn write(trace: &Trace) -> String {
    let mut text = String::from("step,layer,expert,tokens\n");
    for (at, row) in trace.rows() {
        let (step, layer) = (at / trace.layers(), at % trace.layers());
        for (expert, tokens) in row.iter().enumerate() {
            // Writing to a string doesn't fail.
            let _ = writeln!(text, "{step},{layer},{expert},{tokens}");
        }
    }
    if !trace.pairs().is_empty() {
        text.push_str("layer,expert_a,expert_b,tokens\n");
    }
    for pair in trace.pairs() {
        let Pair { layer, expert_a, expert_b, tokens } = pair;
        let _ = writeln!(text, "{layer},{expert_a},{expert_b},{tokens}");
    }
    text
}
