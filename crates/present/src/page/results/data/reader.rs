//! Reads the result of a sweep, as the API has it, into columns.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use model::design::KnobId;
use model::design::file::Tree;
use model::ground::decimal;
use model::ground::knob::Value;
use model::metric::MetricId;

use super::{
    Axis, Cell, Counts, Data, Freed, Knob, Marginal, Objective, Pair, SimulatedCounts, Standing,
};
use crate::format;

/// Reads a result as the API has it; what it lacks is left empty.
#[must_use]
pub fn read(id: &str, state: &str, result: &Tree) -> Data {
    let mut data = Data {
        id: id.to_owned(),
        name: text(result, "name").unwrap_or_default(),
        state: state.to_owned(),
        ..Data::default()
    };
    let count = |key| result.get(key).and_then(whole).unwrap_or(0);
    let columns = result.get("sample").and_then(|sample| sample.get("columns"));
    let columns: Vec<&str> = list(columns).iter().filter_map(Tree::as_text).collect();
    let known = |name: &&str| KnobId::ALL.iter().copied().find(|knob| knob.id() == **name);
    let knobs: Vec<KnobId> = columns.iter().filter_map(known).collect();
    data.metrics = columns.iter().filter_map(|name| MetricId::find(name)).collect();
    let designs = designs(result, &knobs, &data.metrics);
    data.knobs = knobs.iter().map(|id| Knob { id: *id, values: vec![] }).collect();
    data.counts = Counts {
        designs: count("designs"),
        asked: count("asked"),
        done: count("done"),
        legal: count("legal"),
        feasible: count("feasible"),
        front: list(result.get("front")).len() as u64,
        near_limit: count("near_limit"),
    };
    data.simulated = result.get("simulated").and_then(simulated_counts);
    data.freed = list(result.get("freed")).iter().map(freed).collect();
    data.objectives = objectives(result, &data.metrics);
    let ruled_out = list(result.get("ruled_out")).iter();
    data.ruled_out = ruled_out
        .filter_map(|entry| Some((text(entry, "reason")?, entry.get("designs").and_then(whole)?)))
        .collect();
    read_axes(&mut data, result);
    fill(&mut data, designs);
    data.pairs = pairs(result, &data.knobs);
    data
}

fn simulated_counts(tree: &Tree) -> Option<SimulatedCounts> {
    let count = |key| tree.get(key).and_then(whole);
    Some(SimulatedCounts {
        designs: count("designs")?,
        rejected: list(tree.get("rejected")).len() as u64,
        left_out: count("front_left_out").unwrap_or(0),
    })
}

fn freed(tree: &Tree) -> Freed {
    let count = |key| tree.get(key).and_then(whole).unwrap_or(0);
    let knobs = match tree.get("knobs") {
        Some(Tree::Map(knobs)) => knobs.iter().map(|(id, _)| id.clone()).collect(),
        _ => vec![],
    };
    Freed {
        knobs,
        tried: count("tried"),
        designs: count("designs"),
        legal: count("legal"),
        feasible: count("feasible"),
    }
}

/// A design that is kept.
#[derive(Default)]
struct Kept {
    front: bool,
    standing: Standing,
    knobs: Vec<String>,
    metrics: Vec<f64>,
    closed_form: Option<Vec<f64>>,
}

/// Designs by their indices.
type Designs = BTreeMap<u64, Kept>;

/// The designs of a result: front, best and sample.
fn designs(result: &Tree, knobs: &[KnobId], metrics: &[MetricId]) -> Designs {
    let sample = |key| list(result.get("sample").and_then(|sample| sample.get(key))).iter();
    let sampled = sample("rows").filter_map(|row| {
        let (index, cells) = list(Some(row)).split_first()?;
        let (of_knobs, of_metrics) = cells.split_at_checked(knobs.len())?;
        let knobs = of_knobs.iter().map(spelled).collect();
        let metrics = of_metrics.iter().map(real).collect();
        Some((whole(index)?, Kept { knobs, metrics, ..Kept::default() }))
    });
    let mut designs: Designs = sampled.collect();
    for index in sample("near_limit").filter_map(whole) {
        designs.entry(index).and_modify(|kept| kept.standing = Standing::NearLimit);
    }
    let rejected = list(result.get("simulated").and_then(|it| it.get("rejected"))).iter();
    let best = list(result.get("objectives")).iter().flat_map(|one| list(one.get("best")));
    let front = list(result.get("front")).iter().map(|row| (true, row));
    let beside = |row| (false, row);
    for (is_front, row) in best.map(beside).chain(front).chain(rejected.map(beside)) {
        let Some(index) = row.get("index").and_then(whole) else { continue };
        let value = |knob: &KnobId| row.get("knobs")?.get(&knob.id()).map(spelled);
        let numbers = |tree: &Tree| -> Vec<f64> {
            let number = |id: &MetricId| tree.get(id.metric().name).map_or(0.0, real);
            metrics.iter().map(number).collect()
        };
        let was_front = designs.get(&index).is_some_and(|known| known.front);
        let kept = Kept {
            front: is_front || was_front,
            standing: standing(row),
            knobs: knobs.iter().map(|knob| value(knob).unwrap_or_default()).collect(),
            metrics: row.get("metrics").map(numbers).unwrap_or_default(),
            closed_form: row.get("closed_form").map(numbers),
        };
        designs.insert(index, kept);
    }
    designs
}

/// Status of a row of the front, the best or the rejected.
fn standing(row: &Tree) -> Standing {
    let is_near = row.get("near_limit") == Some(&Tree::Flag(true));
    let broken = text(row, "breaks");
    match row.get("closed_form") {
        Some(_) if broken.as_deref() == Some("constraint: fits") => Standing::Unfit,
        Some(_) if broken.is_some() => Standing::Broken,
        _ if is_near => Standing::NearLimit,
        Some(_) => Standing::Simulated,
        None => Standing::AsTimed,
    }
}

/// Puts the designs into columns.
fn fill(data: &mut Data, designs: Designs) {
    for (place, knob) in data.knobs.iter_mut().enumerate() {
        if knob.values.is_empty() {
            let mut values: Vec<String> =
                designs.values().filter_map(|kept| kept.knobs.get(place).cloned()).collect();
            values.sort_by(|one, other| by_value(one, other));
            values.dedup();
            knob.values = values;
        }
    }
    let rows = &mut data.rows;
    rows.knobs = vec![Vec::with_capacity(designs.len()); data.knobs.len()];
    rows.metrics = vec![Vec::with_capacity(designs.len()); data.metrics.len()];
    for (index, kept) in designs {
        rows.index.push(index);
        rows.front.push(kept.front);
        rows.standing.push(kept.standing);
        rows.closed_form.extend(kept.closed_form.map(|closed| (index, closed)));
        for (place, knob) in data.knobs.iter().enumerate() {
            let value = kept.knobs.get(place).map(String::as_str).unwrap_or_default();
            let at = knob.values.iter().position(|known| known == value).unwrap_or(0);
            rows.knobs[place].push(at as u32);
        }
        for (place, column) in rows.metrics.iter_mut().enumerate() {
            column.push(kept.metrics.get(place).copied().unwrap_or(0.0));
        }
    }
    data.rows = std::mem::take(rows).measured();
}

/// The order of a knob's values: numbers first.
pub(super) fn by_value(one: &str, other: &str) -> Ordering {
    let number = |text: &str| decimal::parse(text).unwrap_or(f64::MAX);
    number(one).total_cmp(&number(other)).then_with(|| one.cmp(other))
}

fn objectives(result: &Tree, metrics: &[MetricId]) -> Vec<Objective> {
    let all = list(result.get("objectives")).iter();
    all.filter_map(|one| {
        let name = text(one, "metric")?;
        let metric = metrics.iter().position(|id| id.metric().name == name)?;
        Some(Objective { metric, max: text(one, "goal").as_deref() == Some("max") })
    })
    .collect()
}

/// The knobs that vary, and the values that they take.
fn read_axes(data: &mut Data, result: &Tree) {
    for axis in list(result.get("axes")) {
        let id = text(axis, "knob").unwrap_or_default();
        let Some(knob) = data.knobs.iter().position(|knob| knob.id.id() == id) else { continue };
        let values = list(axis.get("values"));
        data.knobs[knob].values =
            values.iter().map(|value| value.get("value").map_or(String::new(), spelled)).collect();
        let marginal = |value: &Tree| Marginal {
            feasible: value.get("feasible").and_then(whole).unwrap_or(0),
            mean: number(value, "mean"),
            best: number(value, "best").zip(value.get("best_index").and_then(whole)),
        };
        let importance = number(axis, "importance");
        data.axes.push(Axis { knob, importance, values: values.iter().map(marginal).collect() });
    }
}

fn pairs(result: &Tree, knobs: &[Knob]) -> Vec<Pair> {
    let two = |tree: Option<&Tree>, read: &dyn Fn(&Tree) -> Option<usize>| {
        let all: Vec<usize> = list(tree).iter().filter_map(read).collect();
        <[usize; 2]>::try_from(all).ok()
    };
    let place = |tree: &Tree| {
        let id = tree.as_text()?;
        knobs.iter().position(|knob| knob.id.id() == id)
    };
    let size = |tree: &Tree| whole(tree).map(|size| size as usize);
    let pairs = list(result.get("pairs")).iter().filter_map(|pair| {
        let cells = list(pair.get("cells")).iter().filter_map(|cell| {
            let [first, second, feasible, value, index] = list(Some(cell)) else { return None };
            let at = [size(first)?, size(second)?];
            Some(Cell { at, feasible: whole(feasible)?, best: (real(value), whole(index)?) })
        });
        let knobs = two(pair.get("knobs"), &place)?;
        let bins = two(pair.get("bins"), &size)?;
        Some(Pair { knobs, bins, cells: cells.collect() })
    });
    pairs.collect()
}

fn list(tree: Option<&Tree>) -> &[Tree] {
    if let Some(Tree::List(items)) = tree { items } else { &[] }
}

fn text(tree: &Tree, key: &str) -> Option<String> {
    tree.get(key).and_then(Tree::as_text).map(str::to_owned)
}

fn number(tree: &Tree, key: &str) -> Option<f64> {
    tree.get(key).filter(|value| **value != Tree::Null).map(real)
}

const fn whole(tree: &Tree) -> Option<u64> {
    if let Tree::Unsigned(number) = tree { Some(*number) } else { None }
}

const fn real(tree: &Tree) -> f64 {
    match tree {
        Tree::Real(number) => *number,
        Tree::Unsigned(number) => *number as f64,
        Tree::Negative(number) => *number as f64,
        Tree::Null | Tree::Flag(_) | Tree::Text(_) | Tree::List(_) | Tree::Map(_) => 0.0,
    }
}

/// A knob's value as people read it.
fn spelled(tree: &Tree) -> String {
    format::spelled(&value(tree))
}

fn value(tree: &Tree) -> Value {
    match tree {
        Tree::Flag(flag) => Value::Flag(*flag),
        Tree::Unsigned(number) => Value::Integer(*number),
        Tree::Negative(number) => Value::Real(*number as f64),
        Tree::Real(number) => Value::Real(*number),
        Tree::Text(text) => Value::Text(text.clone()),
        Tree::List(items) => Value::List(items.iter().map(value).collect()),
        Tree::Null | Tree::Map(_) => Value::None,
    }
}
