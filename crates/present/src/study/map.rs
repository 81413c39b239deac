//! A metric over two knobs, or a curve over one: every cell is a design that is estimated.

use std::collections::BTreeMap;

use maud::{Markup, html};
use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Value};
use model::ground::sorting::sort_short;
use model::training::estimate::Metrics;
use model::{MemoryState, Plan, estimate, legal_values};

use super::options::{self, Options, select};
use super::pins::Pin;
use crate::format::{self, short_label};
use crate::html::design_address;
use crate::insight::memory_state;
use crate::insight::numbers::Numbers;
use crate::insight::objective::Objective;
use crate::insight::sensitivity::{rounded, usual};
use crate::site::chosen::letter;
use crate::words::name::spelled;

/// The heading.
pub(super) const TITLE: &str = "Heat map over two knobs";

/// Knobs of the map as it is opened.
const USUAL: (KnobId, KnobId) =
    (KnobId::tensor_model_parallel_size, KnobId::expert_model_parallel_size);

/// The name of no second knob.
const NONE: &str = "none";

/// Powers of two times the present value go so far to both sides.
const OCTAVES: i32 = 4;
/// Number of the nearest legal values below and above the present one that are tried too.
const NEAREST: usize = 3;
/// Maximum number of values of a knob.
const MAX_VALUES: usize = 14;
/// Factors of the real numbers that are tried below the present one.
const LESS: [f64; 4] = [0.25, 0.5, 0.75, 0.9];
/// Factors of those above it.
const MORE: [f64; 4] = [1.1, 1.25, 1.5, 2.0];
/// Number of colors.
const COLORS: usize = 7;

/// Result of a cell.
enum Cell {
    Runs {
        design: Box<Design>,
        metrics: Box<Metrics>,
    },
    /// The first rule that it breaks.
    Refused(&'static str),
}

/// Reason why cells are empty.
struct Reason {
    letter: char,
    message: String,
    cells: u64,
}

/// A knob with the values that are tried, and its present one.
struct Axis {
    knob: KnobId,
    now: Value,
    values: Vec<Value>,
}

/// Rows of cells.
struct Map {
    objective: Objective,
    across: Axis,
    down: Option<Axis>,
    rows: Vec<Vec<Cell>>,
    /// Reasons by rule.
    reasons: BTreeMap<&'static str, Reason>,
}

/// The section.
pub(super) fn html(numbers: &Numbers, options: Options<'_>, pins: &[Pin]) -> Markup {
    let map = Map::new(&numbers.plan, options);
    html! {
        section.card.map #map aria-labelledby="map-title" {
            h2 #map-title { (TITLE) }
            p.muted {
                "Each cell is this design with those two values; click it to open. Struck through: \
                 does not fit in memory; dotted: unlikely to. Italic: tight. Hatched: \
                 breaks the rule of its letter. Double frame: the best that fits."
            }
            (map.choices())
            (map.table(pins))
            (map.legend())
        }
    }
}

/// Knobs that have several values to be tried.
fn knobs() -> impl Iterator<Item = KnobId> {
    KnobId::of_training().filter(|knob| {
        matches!(
            knob.knob().kind,
            Kind::Integer(..)
                | Kind::OptionalInteger(..)
                | Kind::Real(..)
                | Kind::OptionalReal(..)
                | Kind::Flag
                | Kind::Choice(_)
        )
    })
}

fn knob_of(id: &str) -> Option<KnobId> {
    knobs().find(|knob| knob.id() == id)
}

/// Values of a knob to be tried, legal or not, in order; the present one is among them.
fn values(design: &Design, knob: KnobId) -> Vec<Value> {
    let present = design.get(knob);
    match knob.knob().kind {
        Kind::Integer(low, high) | Kind::OptionalInteger(low, high) => {
            whole_numbers(design, knob, &present, (low, high))
        }
        Kind::Real(low, high) | Kind::OptionalReal(low, high) => {
            let usual = usual(design, knob).filter(|_| present == Value::None);
            let now = if let Value::Real(now) = present { Some(now) } else { usual };
            let Some(now) = now else { return vec![present] };
            let moved = |factors: [f64; 4]| {
                let moved = factors.map(|factor| rounded(now * factor)).into_iter();
                moved.filter(|value| (low..=high).contains(value)).map(Value::Real)
            };
            // The present value stays as it is written.
            let mut values: Vec<Value> = moved(LESS).collect();
            values.push(present);
            values.extend(moved(MORE));
            values.dedup();
            values
        }
        Kind::Choice(names) => names.iter().map(|name| Value::Text((*name).to_owned())).collect(),
        Kind::Flag => vec![Value::Flag(false), Value::Flag(true)],
        Kind::Subset(_)
        | Kind::LayerFreq
        | Kind::PerStage(_)
        | Kind::PositionList(_)
        | Kind::Layout
        | Kind::LayerPattern(_)
        | Kind::Hash
        | Kind::Name
        | Kind::Arguments => vec![present],
    }
}

/// Powers of two times the present value, and the nearest legal ones.
fn whole_numbers(
    design: &Design,
    knob: KnobId,
    present: &Value,
    (low, high): (u64, u64),
) -> Vec<Value> {
    let size = |value: &Value| if let Value::Integer(number) = value { *number } else { 0 };
    let legal = legal_values(design, knob);
    let at = legal.iter().position(|value| value == present).unwrap_or(0);
    let near = legal.iter().skip(at.saturating_sub(NEAREST)).take(2 * NEAREST + 1).cloned();
    let now = size(present).max(1) as f64;
    let octaves = (-OCTAVES..=OCTAVES).map(|power| now * 2_f64.powi(power));
    let octaves = octaves.filter(|value| value.fract() == 0.0).map(|value| value as u64);
    let octaves = octaves.filter(|value| (low..=high).contains(value)).map(Value::Integer);
    let mut all: Vec<Value> = near.chain(octaves).chain([present.clone()]).collect();
    sort_short(&mut all, |one, other| size(one).cmp(&size(other)));
    all.dedup();
    // The outermost give way first, from the side that has more of them.
    while all.len() > MAX_VALUES {
        let at = all.iter().position(|value| value == present).unwrap_or(0);
        if at > all.len() / 2 {
            all.remove(0)
        } else {
            all.remove(all.len() - 1)
        };
    }
    all
}

impl Axis {
    fn new(design: &Design, knob: KnobId) -> Self {
        Self { knob, now: design.get(knob), values: values(design, knob) }
    }
}

impl Map {
    fn new(plan: &Plan, options: Options<'_>) -> Self {
        let x = knob_of(options.get("x")).unwrap_or(USUAL.0);
        let y = match options.get("y") {
            NONE => None,
            name => knob_of(name).or_else(|| [USUAL.1, USUAL.0].into_iter().find(|y| *y != x)),
        };
        let axis = |knob| Axis::new(plan.design(), knob);
        let mut map = Self {
            objective: Objective::named(options.get("metric")),
            across: axis(x),
            down: y.filter(|y| *y != x).map(axis),
            rows: Vec::new(),
            reasons: BTreeMap::new(),
        };
        let lines = map.down.as_ref().map_or(1, |down| down.values.len());
        for line in 0..lines {
            let columns = 0..map.across.values.len();
            let row = columns.map(|column| map.cell(plan, line, column)).collect();
            map.rows.push(row);
        }
        map
    }

    fn cell(&mut self, plan: &Plan, line: usize, column: usize) -> Cell {
        let mut design = plan.design().clone();
        let down = self.down.as_ref().map(|down| (down.knob, &down.values[line]));
        for (knob, value) in
            down.into_iter().chain([(self.across.knob, &self.across.values[column])])
        {
            // Values are within the bounds of their knob.
            let _ = design.set(knob, value);
        }
        match plan.variant(&design) {
            Ok(plan) => {
                let metrics = Box::new(estimate(&plan).metrics);
                Cell::Runs { design: Box::new(design), metrics }
            }
            Err(broken) => Cell::Refused(broken.first().map_or("", |rule| self.refuse(rule))),
        }
    }

    /// Counts a cell that breaks a rule.
    fn refuse(&mut self, broken: &Violation) -> &'static str {
        let index = u8::try_from(self.reasons.len().min(25)).unwrap_or(25);
        let reason = self.reasons.entry(broken.rule).or_insert_with(|| Reason {
            letter: char::from(b'a' + index),
            message: broken.message.clone(),
            cells: 0,
        });
        reason.cells += 1;
        broken.rule
    }

    fn choices(&self) -> Markup {
        let named = |knob: KnobId| (knob.id(), knob.knob().label.to_owned());
        let none = (NONE.to_owned(), "nothing".to_owned());
        let down = self.down.as_ref().map_or_else(|| NONE.to_owned(), |down| down.knob.id());
        let offered = std::iter::once(none).chain(knobs().map(named));
        html! {
            div.options {
                (options::metric(self.objective))
                (select(("x", "Across"), &self.across.knob.id(), knobs().map(named)))
                (select(("y", "Down"), &down, offered))
            }
        }
    }

    fn runs(&self) -> impl Iterator<Item = &Metrics> {
        self.rows.iter().flatten().filter_map(|cell| match cell {
            Cell::Runs { metrics, .. } => Some(metrics.as_ref()),
            Cell::Refused(_) => None,
        })
    }

    /// Table of the numbers on color steps, readable without the colors.
    fn table(&self, pins: &[Pin]) -> Markup {
        let across = &self.across;
        let corner = self.down.as_ref().map_or_else(String::new, |down| {
            format!("{} down, {} across", short_label(down.knob), short_label(across.knob))
        });
        let metric = self.objective.metric.metric().label;
        let scale = Scale::new(self);
        let now = |is_now: bool| is_now.then_some("now");
        html! {
            div.scroll-x role="region" tabindex="0" aria-label={ (TITLE) ", table" } {
                table.map-table {
                    caption.visually-hidden { (metric) }
                    thead {
                        tr {
                            th scope="col" { (corner) }
                            @for value in &across.values {
                                th scope="col" class=[now(*value == across.now)] {
                                    (spelled(value))
                                }
                            }
                        }
                    }
                    tbody {
                        @for (line, row) in self.rows.iter().enumerate() {
                            @let down = self.down.as_ref().map(|it| (&it.values[line], &it.now));
                            @let words = down.map_or_else(|| metric.to_owned(), |it| spelled(it.0));
                            @let is_now = down.map(|(value, now)| value == now);
                            tr {
                                th scope="row" class=[now(is_now == Some(true))] { (words) }
                                @for (cell, value) in row.iter().zip(&across.values) {
                                    @let is_now = is_now != Some(false) && *value == across.now;
                                    (self.draw(cell, &scale, is_now, pins))
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn draw(&self, cell: &Cell, scale: &Scale, is_now: bool, pins: &[Pin]) -> Markup {
        let (design, metrics) = match cell {
            Cell::Runs { design, metrics } => (design, metrics),
            Cell::Refused(rule) => {
                let letter = self.reasons.get(rule).map_or(' ', |reason| reason.letter);
                return html! { td.refused { (letter) } };
            }
        };
        let number = self.objective.value(metrics);
        let is_best = metrics.fits && scale.best == Some(number);
        let state = metrics.memory_state();
        html! {
            td .{ "map-" (scale.color(number)) } .tight[state == MemoryState::Tight]
                .unlikely[state == MemoryState::Unlikely]
                .over[state == MemoryState::DoesNotFit] .now[is_now] .best[is_best] {
                a href=(design_address(design)) data-step=(self.said(design))
                    title={ (format::memory(metrics.memory_peak)) ", " (memory_state::word(state)) }
                {
                    (self.objective.text(number))
                }
                @for pin in pins.iter().filter(|pin| pin.is_of(design)) {
                    @let letter = letter(pin.place);
                    sup title={ "Pinned as " (letter) } { (letter) }
                }
            }
        }
    }

    /// The values of a cell in words: `TP 8, EP 32`.
    fn said(&self, design: &Design) -> String {
        let knobs = [Some(&self.across), self.down.as_ref()].into_iter().flatten();
        let words: Vec<String> = knobs
            .map(|axis| format!("{} {}", short_label(axis.knob), spelled(&design.get(axis.knob))))
            .collect();
        words.join(", ")
    }

    /// Legend of the letters.
    fn legend(&self) -> Markup {
        let mut reasons: Vec<&Reason> = self.reasons.values().collect();
        sort_short(&mut reasons, |one, other| one.letter.cmp(&other.letter));
        html! {
            @if !reasons.is_empty() {
                ul.map-reasons {
                    @for Reason { letter, message, cells } in reasons {
                        li {
                            b { (letter) } " " (format::counted(*cells, "cell", "cells"))
                            "; for one of them: " (message)
                        }
                    }
                }
            }
        }
    }
}

/// Scale from the worst to the best numbers.
struct Scale {
    worst: f64,
    top: f64,
    /// Best value of the designs that fit.
    best: Option<f64>,
}

impl Scale {
    fn new(map: &Map) -> Self {
        let all = || map.runs().map(|metrics| map.objective.value(metrics));
        let order = |a: &f64, b: &f64| map.objective.compare(*a, *b);
        let fitting = map.runs().filter(|metrics| metrics.fits);
        Self {
            worst: all().min_by(order).unwrap_or(0.0),
            top: all().max_by(order).unwrap_or(0.0),
            best: fitting.map(|metrics| map.objective.value(metrics)).max_by(order),
        }
    }

    fn color(&self, value: f64) -> usize {
        if self.top.total_cmp(&self.worst).is_eq() {
            return COLORS - 1;
        }
        let share = (value - self.worst) / (self.top - self.worst);
        (share * (COLORS - 1) as f64).round() as usize
    }
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    fn html_of(options: &str) -> String {
        let design = model::design::link::decode("").expect("a link that decodes");
        html(&Numbers::of(&design).expect("a legal design"), Options(options), &[]).into_string()
    }

    #[test]
    fn every_cell_has_the_number_of_its_design_or_the_letter_of_a_rule() {
        let design = model::design::link::decode("").expect("a link that decodes");
        let plan = Plan::new(&design).expect("a legal design");
        let map = Map::new(&plan, Options("metric=step_time_seconds"));
        let (mut runs, mut refused) = (0, 0);
        for cell in map.rows.iter().flatten() {
            match cell {
                Cell::Runs { design, metrics } => {
                    let alone = estimate(&Plan::new(design).expect("a legal design")).metrics;
                    assert_eq!(alone, **metrics);
                    runs += 1;
                }
                Cell::Refused(rule) => {
                    assert!(map.reasons.contains_key(rule), "{rule}");
                    refused += 1;
                }
            }
        }
        assert!(runs > 10 && refused > 10, "{runs} run, {refused} are refused");
        let counted: u64 = map.reasons.values().map(|reason| reason.cells).sum();
        assert_eq!(counted, refused);
    }

    #[test]
    fn the_present_design_and_the_best_that_fits_are_marked_once() {
        let html = html_of("");
        assert_eq!(
            html.matches(" now\"").count() + html.matches(" now best\"").count(),
            1,
            "{html}"
        );
        assert!(html.contains(" best\""));
    }

    #[test]
    fn one_knob_alone_makes_a_single_row() {
        let html = html_of("x=schedule.method&y=none&metric=bubble_ratio");
        let html = Html::new(&html);
        assert_eq!(html.count("tr"), 2);
        assert_eq!(html.text("option[value=none][selected]"), "nothing");
    }

    #[test]
    fn the_values_of_every_knob_hold_its_present_one_once() {
        let design = model::design::link::decode("").expect("a link that decodes");
        for knob in knobs() {
            let values = values(&design, knob);
            let is_name = matches!(knob.knob().kind, Kind::Choice(_));
            assert!(is_name || values.len() <= MAX_VALUES, "{}", knob.id());
            let present = values.iter().filter(|value| **value == design.get(knob)).count();
            assert_eq!(present, 1, "{}: {values:?}", knob.id());
        }
    }
}
