//! A comparison as a table for other programs: every knob and metric, unrounded.

use model::MODEL_VERSION;
use model::design::KnobId;
use model::metric::{MetricId, MetricValue, Regime};

use super::numbers::{Column, columns, delta};
use super::serving::{Served, served};
use crate::site::chosen::Chosen;
use crate::words::provenance;

/// Every knob and metric of the designs in a raw query string, with the differences of metrics from
/// the baseline. The origins are in rows, as designs are columns here.
#[must_use]
pub fn csv(raw: &str, date: &str) -> String {
    let (chosen, _) = Chosen::read(raw);
    let columns = columns(&chosen);
    let mut rows = vec![header(&columns, chosen.baseline)];
    rows.push(row("name", "", columns.iter().map(|column| harmless(&column.name))));
    rows.push(row("link", "", columns.iter().map(|column| harmless(&column.link))));
    let same = |value: &str| columns.iter().map(|_| value.to_owned()).collect::<Vec<_>>();
    rows.push(row("model_version", "", same(MODEL_VERSION).into_iter()));
    rows.push(row("date", "", same(date).into_iter()));
    rows.extend(MetricId::of(Regime::Training).map(|id| metric(id, &columns, chosen.baseline)));
    if let Some(served) = served(&columns) {
        let metrics = MetricId::of(Regime::Serving);
        rows.extend(metrics.map(|id| of_serving(id, &served, chosen.baseline)));
    }
    rows.extend(KnobId::ALL.iter().map(|id| {
        let value = |column: &Column| {
            column.design().map_or_else(String::new, |design| design.get(*id).to_string())
        };
        row(&id.id(), id.knob().unit, columns.iter().map(value))
    }));
    provenance::csv(&rows)
}

fn header(columns: &[Column], baseline: usize) -> Vec<String> {
    let letters = columns.iter().map(|column| column.letter.to_string());
    let mut header = row("id", "unit", letters);
    let base = columns.get(baseline).map_or('A', |column| column.letter);
    let others = columns.iter().filter(|column| column.letter != base);
    header.extend(others.map(|column| format!("{} - {base}", column.letter)));
    header
}

/// A text of someone's own that no program for tables takes for a formula.
fn harmless(text: &str) -> String {
    let quote = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    format!("{quote}{text}")
}

fn row(id: &str, unit: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    [id.to_owned(), unit.to_owned()].into_iter().chain(cells).collect()
}

fn of_serving(id: MetricId, served: &[Option<Served>], baseline: usize) -> Vec<String> {
    let value = |one: &Option<Served>| one.as_ref()?.answer().number(id);
    let said = |number: Option<f64>| number.map_or_else(String::new, |it| it.to_string());
    let mut cells =
        row(id.metric().name, id.metric().unit.name(), served.iter().map(|one| said(value(one))));
    let base = served.get(baseline).and_then(value);
    let others = served.iter().enumerate().filter(|(place, _)| *place != baseline);
    cells.extend(others.map(|(_, one)| said(value(one).zip(base).map(|(now, then)| now - then))));
    cells
}

fn metric(id: MetricId, columns: &[Column], baseline: usize) -> Vec<String> {
    let value = |column: &Column| {
        column.numbers().map_or_else(String::new, |numbers| {
            match numbers.estimate.metrics.get(id) {
                Some(MetricValue::Number(number)) => number.to_string(),
                Some(MetricValue::Flag(flag)) => flag.to_string(),
                None => String::new(),
            }
        })
    };
    let mut cells = row(id.metric().name, id.metric().unit.name(), columns.iter().map(value));
    let base = columns.get(baseline).and_then(Column::numbers);
    let others = columns.iter().enumerate().filter(|(place, _)| *place != baseline);
    cells.extend(others.map(|(_, column)| match (column.numbers(), base) {
        (Some(numbers), Some(base)) => delta(id, numbers, base).absolute.to_string(),
        _ => String::new(),
    }));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_a_formula() {
        let csv = csv("a=v=1&a.name=%3DHYPERLINK(%22a%22)&b=v=1&b.name=%2B1&baseline=a", "");
        let names = csv.lines().nth(1).unwrap();
        assert_eq!(names, "name,,\"'=HYPERLINK(\"\"a\"\")\",'+1");
    }

    #[test]
    fn a_file_has_every_knob_and_metric_once_and_cells_for_each_design() {
        let csv = csv("a=v=1&b=vpp%3D1&c=pp%3D12&b.name=one%2C+two&baseline=b", "2026-01-31");
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "id,unit,A,B,C,A - B,C - B");
        assert!(lines[1].contains("\"one, two\""), "{}", lines[1]);
        assert_eq!(lines.len(), 5 + MetricId::of(Regime::Training).count() + KnobId::ALL.len());
        assert!(lines.contains(&"date,,2026-01-31,2026-01-31,2026-01-31"));
        for id in MetricId::of(Regime::Training) {
            let start = format!("{},", id.metric().name);
            assert_eq!(lines.iter().filter(|line| line.starts_with(&start)).count(), 1);
        }
    }
}
