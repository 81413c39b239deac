//! How a knob varies: a list of values, a range, powers of two, divisors, or a tie.

use model::design::file::{self, Tree};
use model::design::{Design, KnobId};
use model::ground::knob::{Kind, KnobError, Value};
use model::ground::text::shorten;

use super::error::{error, kind};
use super::sweep::{Axis, Spec, Tie, TieRule};

/// Entry of a knob in `space`.
pub(super) enum Entry {
    /// It varies by itself.
    Axis(Axis),
    /// It follows from others.
    Tie(Tie),
}

/// Reads how a knob varies. `varying` says which values another knob takes.
pub(super) fn entry(knob: KnobId, tree: &Tree, base: &Design) -> Result<Entry, Vec<KnobError>> {
    let id = knob.id();
    if let Tree::List(values) = tree {
        return listed(knob, values, base).map(Entry::Axis);
    }
    let Tree::Map(entries) = tree else {
        let detail = format!(
            "{id} in `space` takes a list of values or a map such as {{ from = 1, to = 8 }}, not \
             {}; one value that doesn't vary belongs into `design`",
            kind(tree)
        );
        return Err(vec![error("wrong_type", &id, detail)]);
    };
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    let entry = match keys.as_slice() {
        ["from", "to"] | ["from", "step", "to"] => range(knob, tree).map(Entry::Axis),
        ["powers_of_two"] => powers(knob, tree).map(Entry::Axis),
        ["divisors_of"] => {
            let of = tree.get("divisors_of");
            let of = of.map_or(Ok(Of::Number(1)), |of| whole_or_knob(&id, of));
            of.and_then(|of| divisors(knob, of, base)).map(Entry::Axis)
        }
        ["dense_layers"] | ["fill"] => tie(knob, tree).map(Entry::Tie),
        ["same_as"] | ["same_as", "times"] => tie(knob, tree).map(Entry::Tie),
        ["over", "same_as"] | ["over", "same_as", "times"] => tie(knob, tree).map(Entry::Tie),
        _ => Err(unknown_form(&id)),
    };
    entry.map_err(|error| vec![error])
}

fn unknown_form(id: &str) -> KnobError {
    let detail = format!(
        "{id} takes {{ from, to, step }}, {{ powers_of_two = [from, to] }}, {{ divisors_of }}, \
         {{ same_as, times, over }}, {{ dense_layers }} or {{ fill = \"chunks\" }}"
    );
    error("unknown_form", id, detail)
}

/// Values one by one, each read as a design file reads it.
fn listed(knob: KnobId, values: &[Tree], base: &Design) -> Result<Axis, Vec<KnobError>> {
    if values.is_empty() {
        let detail = format!("{} has no value to take", knob.id());
        return Err(vec![error("empty_axis", &knob.id(), detail)]);
    }
    if values.len() as u64 > Spec::MAX_VALUES {
        return Err(vec![too_many(knob, values.len() as u128)]);
    }
    let (mut read, mut errors) = (Vec::new(), Vec::new());
    for value in values {
        match of_file(knob, value, base) {
            Ok(value) if read.contains(&value) => {
                let detail = format!("{} takes {value} twice", knob.id());
                errors.push(error("repeated_value", &knob.id(), detail));
            }
            Ok(value) => read.push(value),
            Err(wrong) => errors.extend(wrong),
        }
        if errors.len() >= 20 {
            break;
        }
    }
    if errors.is_empty() { Ok(Axis { knob, values: read, divides: None }) } else { Err(errors) }
}

/// A value as a design file of the base's preset would have it.
fn of_file(knob: KnobId, value: &Tree, base: &Design) -> Result<Value, Vec<KnobError>> {
    let row = knob.knob();
    let section = Tree::map([(row.name, value.clone())]);
    let tree = Tree::map([
        ("schema", Tree::Unsigned(file::SCHEMA)),
        ("preset", base.preset.id.into()),
        (row.section.name(), section),
    ]);
    file::read(&tree).map(|design| design.get(knob))
}

/// The bounds of a knob of whole numbers.
fn whole_bounds(knob: KnobId) -> Option<(u64, u64)> {
    let kind = knob.knob().kind;
    if let Kind::Integer(low, high) | Kind::OptionalInteger(low, high) = kind {
        return Some((low, high));
    }
    if let Kind::PerStage(high) = kind { Some((0, high)) } else { None }
}

/// The bounds of a knob of real numbers.
fn real_bounds(knob: KnobId) -> Option<(f64, f64)> {
    let (Kind::Real(low, high) | Kind::OptionalReal(low, high)) = knob.knob().kind else {
        return None;
    };
    Some((low, high))
}

fn no_numbers(knob: KnobId) -> KnobError {
    let detail = format!("{} takes no plain numbers: list its values", knob.id());
    error("not_a_number", &knob.id(), detail)
}

fn too_many(knob: KnobId, count: u128) -> KnobError {
    let detail = format!("{} would take {count} values, more than {}", knob.id(), Spec::MAX_VALUES);
    error("too_many_values", &knob.id(), detail)
}

fn out_of_bounds(knob: KnobId, low: &impl ToString, high: &impl ToString) -> KnobError {
    let (low, high) = (low.to_string(), high.to_string());
    let detail = format!("{} takes numbers from {low} to {high}", knob.id());
    KnobError { nearest: vec![low, high], ..error("out_of_range", &knob.id(), detail) }
}

/// `{ from, to, step }`.
fn range(knob: KnobId, tree: &Tree) -> Result<Axis, KnobError> {
    let id = knob.id();
    let values = if let Some((low, high)) = whole_bounds(knob) {
        let number = |key| tree.get(key).map_or(Ok(1), |value| whole(&id, key, value));
        let (from, to, step) = (number("from")?, number("to")?, number("step")?);
        if step == 0 || from > to {
            return Err(empty_range(&id));
        }
        if from < low || to > high {
            return Err(out_of_bounds(knob, &low, &high));
        }
        let count = (to - from) / step + 1;
        if count > Spec::MAX_VALUES {
            return Err(too_many(knob, count.into()));
        }
        (0..count).map(|place| Value::Integer(from + place * step)).collect()
    } else {
        let (low, high) = real_bounds(knob).ok_or_else(|| no_numbers(knob))?;
        let number = |key| tree.get(key).map_or(Ok(1.0), |value| real(&id, key, value));
        let (from, to, step) = (number("from")?, number("to")?, number("step")?);
        if step <= 0.0 || from > to {
            return Err(empty_range(&id));
        }
        if from < low || to > high {
            return Err(out_of_bounds(knob, &low, &high));
        }
        // The end counts even when the steps to it round a little beyond.
        let count = ((to - from) / step * (1.0 + 1e-12)).floor() + 1.0;
        if count > Spec::MAX_VALUES as f64 {
            return Err(too_many(knob, count as u128));
        }
        (0..count as u64).map(|place| Value::Real((from + place as f64 * step).min(to))).collect()
    };
    Ok(Axis { knob, values, divides: None })
}

fn empty_range(id: &str) -> KnobError {
    error("empty_axis", id, format!("{id} has no value to take: from <= to and step > 0"))
}

/// `{ powers_of_two = [1, 64] }`: those from the first to the second.
fn powers(knob: KnobId, tree: &Tree) -> Result<Axis, KnobError> {
    let id = knob.id();
    let bounds = match tree.get("powers_of_two") {
        Some(Tree::List(bounds)) => bounds.as_slice(),
        _ => &[],
    };
    let [from, to] = bounds else {
        let detail = format!("{id}: powers_of_two takes the smallest and the largest, as [1, 64]");
        return Err(error("wrong_type", &id, detail));
    };
    let (from, to) = (whole(&id, "powers_of_two", from)?, whole(&id, "powers_of_two", to)?);
    let (low, high) = whole_bounds(knob).ok_or_else(|| no_numbers(knob))?;
    let powers = (0..64).map(|bit| 1_u64 << bit).filter(|power| (from..=to).contains(power));
    let values: Vec<u64> = powers.collect();
    match (values.first(), values.last()) {
        (Some(first), Some(last)) if *first >= low && *last <= high => {}
        (None, _) | (_, None) => {
            let detail = format!("{id}: there is no power of two from {from} to {to}");
            return Err(error("empty_axis", &id, detail));
        }
        _ => return Err(out_of_bounds(knob, &low, &high)),
    }
    Ok(Axis { knob, values: values.into_iter().map(Value::Integer).collect(), divides: None })
}

/// Operand of `divisors_of`.
#[derive(Clone, Copy)]
enum Of {
    Number(u64),
    Knob(KnobId),
}

fn whole_or_knob(id: &str, tree: &Tree) -> Result<Of, KnobError> {
    match tree.as_text() {
        Some(name) => KnobId::find(name).map(Of::Knob),
        None => whole(id, "divisors_of", tree).map(Of::Number),
    }
}

/// `{ divisors_of = 256 }` or of a knob; where that knob varies, the reader widens the list.
fn divisors(knob: KnobId, of: Of, base: &Design) -> Result<Axis, KnobError> {
    let (number, divides) = match of {
        Of::Number(number) => (number, None),
        Of::Knob(other) => {
            let Value::Integer(number) = base.get(other) else {
                let detail = format!("{}: {} is no whole number", knob.id(), other.id());
                return Err(error("not_a_number", &knob.id(), detail));
            };
            (number, Some(other))
        }
    };
    Ok(Axis { knob, values: divisors_within(knob, &[number])?, divides })
}

/// The divisors of any of these numbers that are in a knob's bounds, ascending.
pub(super) fn divisors_within(knob: KnobId, numbers: &[u64]) -> Result<Vec<Value>, KnobError> {
    let (low, high) = whole_bounds(knob).ok_or_else(|| no_numbers(knob))?;
    let mut all: Vec<u64> = Vec::new();
    for number in numbers {
        if *number == 0 || *number > 1 << 40 {
            let detail = format!("{}: divisors are of numbers from 1 to 2^40", knob.id());
            return Err(error("out_of_range", &knob.id(), detail));
        }
        let small = (1..).take_while(|small| small * small <= *number);
        let pairs = small.filter(|small| number.is_multiple_of(*small));
        all.extend(pairs.flat_map(|small| [small, number / small]));
    }
    all.sort_unstable();
    all.dedup();
    all.retain(|divisor| (low..=high).contains(divisor));
    if all.len() as u64 > Spec::MAX_VALUES {
        return Err(too_many(knob, all.len() as u128));
    }
    if all.is_empty() {
        return Err(empty_range(&knob.id()));
    }
    Ok(all.into_iter().map(Value::Integer).collect())
}

/// `{ same_as = "parallel.x", times = 2, over = 1 }`, `{ dense_layers = 3 }` or
/// `{ fill = "chunks" }`.
fn tie(knob: KnobId, tree: &Tree) -> Result<Tie, KnobError> {
    let id = knob.id();
    if let Some(count) = tree.get("dense_layers") {
        if knob != KnobId::moe_layer_freq {
            let detail = format!("dense_layers is for transformer.moe_layer_freq, not for {id}");
            return Err(error("wrong_tie", &id, detail));
        }
        return Ok(Tie { knob, rule: TieRule::DenseLayers(whole(&id, "dense_layers", count)?) });
    }
    if let Some(fill) = tree.get("fill") {
        if knob != KnobId::noop_layers || fill.as_text() != Some("chunks") {
            let detail = "fill = \"chunks\" is for parallel.noop_layers alone";
            return Err(error("wrong_tie", &id, detail));
        }
        return Ok(Tie { knob, rule: TieRule::FillChunks });
    }
    let name = tree
        .get("same_as")
        .and_then(Tree::as_text)
        .ok_or_else(|| error("wrong_type", &id, format!("{id}: same_as takes the id of a knob")))?;
    let of = KnobId::find(name)?;
    for end in [knob, of] {
        whole_bounds(end).ok_or_else(|| no_numbers(end))?;
    }
    let number = |key| tree.get(key).map_or(Ok(1), |value| whole(&id, key, value));
    let (times, over) = (number("times")?, number("over")?);
    if times == 0 || over == 0 || times > 1 << 20 || over > 1 << 20 {
        let detail = format!("{id}: times and over are from 1 to {}", 1 << 20);
        return Err(error("out_of_range", &id, detail));
    }
    Ok(Tie { knob, rule: TieRule::Ratio { of, times, over } })
}

/// A whole number of the file.
pub(super) fn whole(place: &str, key: &str, tree: &Tree) -> Result<u64, KnobError> {
    if let Tree::Unsigned(number) = tree {
        return Ok(*number);
    }
    let detail = format!("{key} takes a whole number, not {}", shown(tree));
    Err(error("wrong_type", place, detail))
}

/// A number of the file.
pub(super) fn real(place: &str, key: &str, tree: &Tree) -> Result<f64, KnobError> {
    let number = match tree {
        Tree::Unsigned(number) => *number as f64,
        Tree::Negative(number) => *number as f64,
        Tree::Real(number) if number.is_finite() => *number,
        Tree::Null
        | Tree::Flag(_)
        | Tree::Real(_)
        | Tree::Text(_)
        | Tree::List(_)
        | Tree::Map(_) => {
            let detail = format!("{key} takes a number, not {}", shown(tree));
            return Err(error("wrong_type", place, detail));
        }
    };
    Ok(number)
}

/// A scalar as written in the file.
fn shown(tree: &Tree) -> String {
    match tree {
        Tree::Unsigned(number) => number.to_string(),
        Tree::Negative(number) => number.to_string(),
        Tree::Real(number) => number.to_string(),
        Tree::Text(text) => format!("`{}`", shorten(text)),
        Tree::Null | Tree::Flag(_) | Tree::List(_) | Tree::Map(_) => kind(tree).to_owned(),
    }
}
