//! The points of the chart of errors, and the words on each.

use maud::html;
use validation::report::Row;

use super::filter::{Filter, Sort};
use super::score::score;
use super::words::{self, NOTHING};
use crate::charts::Point;
use crate::format;
use crate::words::family::Family;

/// The points of the runs that a filter takes, by devices and then in the file's order.
#[must_use]
pub fn points_of(rows: &[Row], filter: &Filter) -> Vec<Point> {
    let places = Filter { sort: Sort::File, ..filter.clone() }.select(rows);
    let mut points: Vec<Point> = Vec::with_capacity(places.len());
    for place in places {
        let row = &rows[place];
        let (Some(error), Some(num_devices)) = (row.time_error, row.num_devices) else { continue };
        let family = Family::of(row.accelerator.as_deref().unwrap_or("?"));
        points.push(Point { num_devices, ratio: 1.0 + error, family, place });
    }
    points.sort_by_key(|point| point.num_devices);
    points
}

/// A run in words, with its links.
#[must_use]
pub fn readout_html(row: &Row) -> String {
    let query = row.design.as_ref().map(|design| design.strip_prefix('?').unwrap_or(design));
    let address = Filter { text: row.id.clone(), ..Filter::default() }.address();
    let markup = html! {
        strong { (words::run(row)) }
        " " (row.metric.as_deref().map_or("", words::metric_label)) ": "
        (words::value(row, row.measured)) " measured, "
        (words::value(row, row.predicted)) " predicted, "
        (row.error.map_or_else(|| NOTHING.to_owned(), words::error)) ". "
        @if let Some(query) = query {
            a href={ "/?" (query) } { "Open in the explorer" } " "
        }
        a href={ (address) "#runs" } { "Show in the table" }
    };
    markup.into_string()
}

/// The chart's numbers by family.
#[must_use]
pub fn family_rows(rows: Option<&Vec<Row>>) -> Vec<Vec<String>> {
    let header = ["Accelerators", "Runs", "Median error", "90th percentile", "Bias"];
    let mut table = vec![header.map(String::from).to_vec()];
    let rows: &[Row] = rows.map_or(&[], Vec::as_slice);
    for family in Family::ALL {
        let of = |row: &&Row| Family::of(row.accelerator.as_deref().unwrap_or("?")) == family;
        let rows: Vec<&Row> = rows.iter().filter(of).collect();
        if let Some(score) = score(&rows) {
            table.push(vec![
                family.label().to_owned(),
                format::whole(score.rows as u64),
                words::share(score.median),
                words::share(score.p90),
                words::error(score.bias),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_an_error_or_a_size_have_no_point() {
        let row = |time_error, num_devices| Row { time_error, num_devices, ..Row::default() };
        let rows = [
            row(Some(0.1), Some(64)),
            row(None, Some(8)),
            row(Some(0.2), None),
            row(Some(-0.5), Some(8)),
        ];
        let points = points_of(&rows, &Filter::default());
        let seen: Vec<_> = points.iter().map(|point| (point.place, point.num_devices)).collect();
        assert_eq!(seen, [(3, 8), (0, 64)]);
    }
}
