//! The values of one knob that make a design legal: for sliders, and as ways out of a violation.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use super::checks::keeps_rules_of;
use super::rule::Rule;
use crate::design::violation::Nearest;
use crate::design::{Design, KnobId};
use crate::ground::knob::{Kind, Value};
use crate::ground::sorting::sort_short;
use crate::layer::layout;
use crate::rules::vocabulary::Vocabulary;

/// More no-op layers than this are no way out.
const MAX_NOOPS: u64 = 64;

/// Whole numbers are tried this far from the current one.
const MAX_SEARCH_DISTANCE: u64 = 8_192;

/// The values of a knob, ascending, that break no rule that names it; the current one included.
///
/// Numbers are taken from powers of two times small odd numbers, from small steps around the
/// current value and from simple ratios of it; names and flags are all tried.
#[must_use]
pub fn legal_values(design: &Design, id: KnobId) -> Vec<Value> {
    let current = design.get(id);
    let mut trial = design.clone();
    let mut values: Vec<Value> = candidates(design, id)
        .into_iter()
        .filter(|value| {
            *value == current || (trial.set(id, value).is_ok() && keeps_rules_of(&trial, id))
        })
        .collect();
    if !values.contains(&current) {
        values.insert(0, current);
    }
    if let [Value::None | Value::Integer(_), ..] = values.as_slice() {
        let number = |value: &Value| if let Value::Integer(it) = value { *it } else { 0 };
        sort_short(&mut values, |one, other| number(one).cmp(&number(other)));
    }
    values
}

/// Values that a slider offers, legal or not, in order.
fn candidates(design: &Design, id: KnobId) -> Vec<Value> {
    match id.knob().kind {
        Kind::Integer(low, high) => integer_ladder(design, id, low, high),
        Kind::OptionalInteger(low, high) => {
            let mut values = vec![Value::None];
            values.extend(integer_ladder(design, id, low, high));
            values
        }
        Kind::Flag => vec![Value::Flag(false), Value::Flag(true)],
        Kind::Choice(names) => names.iter().map(|name| Value::Text(name.to_string())).collect(),
        Kind::Real(..)
        | Kind::OptionalReal(..)
        | Kind::Subset(_)
        | Kind::LayerFreq
        | Kind::PerStage(_)
        | Kind::PositionList(_)
        | Kind::Layout
        | Kind::LayerPattern(_)
        | Kind::Hash
        | Kind::Name
        | Kind::Arguments => vec![design.get(id)],
    }
}

fn integer_ladder(design: &Design, id: KnobId, low: u64, high: u64) -> Vec<Value> {
    let current = if let Value::Integer(current) = design.get(id) { current } else { 1 };
    let mut numbers: Vec<u64> = Vec::new();
    // Degrees of parallelism and micro-batches: 1 to 16 and then 2^a times 1, 3, 5, 7.
    let top = current.saturating_mul(16).max(64);
    for odd in [1_u64, 3, 5, 7] {
        let mut number = odd;
        while number <= top {
            numbers.push(number);
            number *= 2;
        }
    }
    for (times, over) in [(1, 4), (1, 3), (1, 2), (2, 3), (3, 4), (5, 4), (4, 3), (3, 2), (2, 1)] {
        numbers.push(current.saturating_mul(times) / over);
    }
    // Large sizes move in steps of an aligned tile, small counts by one.
    let step = if current >= 2_048 { 256 } else { 1 };
    for distance in 1..=16 {
        numbers.push(current.saturating_sub(distance * step));
        numbers.push(current.saturating_add(distance * step));
    }
    numbers.push(current);
    numbers.retain(|number| (low..=high).contains(number));
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(Value::Integer).collect()
}

/// Changes of one knob after which the rule holds: those that mend the whole design first.
pub(crate) fn nearest(design: &Design, rule: &Rule, is_legal: fn(&Design) -> bool) -> Vec<Nearest> {
    let mut whole = Vec::new();
    let mut partial = Vec::new();
    let mut trial = design.clone();
    for id in rule.knobs.iter().copied() {
        let mut values = mending(&mut trial, design, rule, id);
        if values.is_empty() {
            // Too far to search: the preset's own value, or the neutral one.
            let usual = [design.preset.design().get(id), Design::neutral(design.preset).get(id)];
            values = usual
                .into_iter()
                .filter(|value| {
                    *value != design.get(id)
                        && trial.set(id, value).is_ok()
                        && !rule.is_broken(&trial)
                })
                .take(1)
                .collect();
        }
        for value in values {
            let mended = trial.set(id, &value).is_ok() && is_legal(&trial);
            let list = if mended { &mut whole } else { &mut partial };
            list.push(Nearest { knob: id, value });
        }
        // The trial goes back to the design for the next knob.
        let _ = trial.set(id, &design.get(id));
    }
    if whole.is_empty() { partial } else { whole }
}

/// The closest values of one knob, at most one on either side, after which the rule holds.
fn mending(trial: &mut Design, design: &Design, rule: &Rule, id: KnobId) -> Vec<Value> {
    let mut holds = |value: &Value| trial.set(id, value).is_ok() && !rule.is_broken(trial);
    match (id.knob().kind, design.get(id)) {
        (Kind::Integer(low, high) | Kind::OptionalInteger(low, high), Value::Integer(current)) => {
            let down = (1..=MAX_SEARCH_DISTANCE.min(current.saturating_sub(low)))
                .map(|distance| Value::Integer(current - distance))
                .find(&mut holds);
            let up = (1..=MAX_SEARCH_DISTANCE.min(high.saturating_sub(current)))
                .map(|distance| Value::Integer(current + distance))
                .find(&mut holds);
            let mut found: Vec<Value> = down.into_iter().chain(up).collect();
            if found.is_empty() && holds(&Value::None) {
                found.push(Value::None);
            }
            found
        }
        (Kind::PositionList(_), Value::List(positions)) => {
            noop_lists(design, &positions).into_iter().find(&mut holds).into_iter().collect()
        }
        (Kind::Flag | Kind::Choice(_), current) => candidates(design, id)
            .into_iter()
            .filter(|value| *value != current && holds(value))
            .take(2)
            .collect(),
        (Kind::LayerFreq, _) => {
            let is_of_experts = id == KnobId::moe_layer_freq;
            let usual = || Some(Value::Integer(4));
            let pattern = if is_of_experts { pattern_of_all_layers(design) } else { usual() };
            pattern.filter(&mut holds).into_iter().collect()
        }
        (Kind::Layout, _) => {
            let even =
                layout::text::even_layout(design, Vocabulary::of(design).ends()).map(Value::Text);
            core::iter::once(Value::None).chain(even).filter(&mut holds).collect()
        }
        (
            Kind::OptionalInteger(..)
            | Kind::OptionalReal(..)
            | Kind::PerStage(_)
            | Kind::LayerPattern(_)
            | Kind::Hash
            | Kind::Name
            | Kind::Arguments,
            _,
        ) => Some(Value::None).filter(&mut holds).into_iter().collect(),
        (Kind::Subset(names), _) => core::iter::once(Value::List(vec![]))
            .chain(names.iter().map(|name| Value::List(vec![Value::Text(name.to_string())])))
            .find(&mut holds)
            .into_iter()
            .collect(),
        (Kind::Integer(..) | Kind::Real(..) | Kind::PositionList(_), _) => Vec::new(),
    }
}

/// No-op positions to try: as many more behind the last slot as fill the chunks, then fewer.
fn noop_lists(design: &Design, positions: &[Value]) -> Vec<Value> {
    let (slots, chunks) = (layout::slots(design), layout::chunks(design));
    let missing = slots.next_multiple_of(chunks) - slots;
    let mut lists = Vec::new();
    if missing > 0 && missing <= MAX_NOOPS {
        let extra = (0..missing).map(|extra| Value::Integer(slots + extra));
        lists.push(Value::List(positions.iter().cloned().chain(extra).collect()));
    }
    for kept in (0..positions.len()).rev() {
        lists.push(Value::List(positions[..kept].to_vec()));
    }
    lists
}

/// The pattern with its dense layers kept in front and MoE layers behind, for the current depth.
fn pattern_of_all_layers(design: &Design) -> Option<Value> {
    let layers = design.transformer.num_layers;
    let dense = (0..layers).take_while(|layer| !design.transformer.moe_layer_freq.marks(*layer));
    let dense = dense.count() as u64;
    if dense == 0 || dense >= layers {
        return Some(Value::Integer(1));
    }
    let text = alloc::format!("([0]*{dense}+[1]*{})", layers - dense);
    Some(Value::Text(text))
}
