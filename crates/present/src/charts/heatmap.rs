//! Many numbers around 1 as a field of cells, in steps of color that the style sheet chooses.
//!
//! Cells of one color are one path: thousands of cells take as little as the field's outline.

use std::fmt::Write as _;

use plotters_backend::text_anchor::HPos;

use crate::draw::canvas::{self, LINE, drawn_width, empty, svg, text};
use crate::draw::ink::Ink;
use crate::draw::legend::{Key, Legend, Swatch};
use crate::draw::text::{finite, fixed};

/// The upper ends of the steps of color; the last step has none.
const STEPS: [f64; 7] = [0.5, 0.8, 0.95, 1.05, 1.25, 1.6, 2.5];

/// Height of the field in pixels, about; a row is a whole number of pixels high where it can be.
const HEIGHT: i32 = 220;

/// A field of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    /// Description of the chart, in words.
    pub label: String,
    /// Title of the horizontal axis.
    pub x_title: String,
    /// Title of the vertical axis.
    pub y_title: String,
    /// The numbers, 1 in the middle; every row is as long.
    pub rows: Vec<Vec<f64>>,
}

/// A field of numbers around 1.
#[must_use]
pub fn heat_map(chart: &HeatMap, width: u32) -> String {
    let width = drawn_width(width);
    let columns = chart.rows.first().map_or(0, Vec::len);
    if columns == 0 {
        return empty(width, "There is nothing to show");
    }
    let rows = chart.rows.len() as i32;
    let height = if rows > 2 * HEIGHT { HEIGHT } else { rows * (HEIGHT / rows).max(1) };
    let legend = Legend::new(width, (0..=STEPS.len()).map(key).collect());
    let top = legend.height() + LINE + 4;
    svg(width, top + height + LINE, &chart.label, &|canvas| {
        legend.draw(canvas);
        text(canvas, &chart.y_title, (0, top - LINE / 2 - 2), Ink::Quiet, HPos::Left);
        for step in 0..=STEPS.len() {
            let path = cells(chart, step, columns, (width, height), top);
            if !path.is_empty() {
                canvas::cells(canvas, step, &path);
            }
        }
        let below = (width / 2, top + height + LINE / 2 + 2);
        text(canvas, &chart.x_title, below, Ink::Quiet, HPos::Center);
    })
}

/// The ends of each row of [`heat_map`], the header first; `row` and `column` name what is counted.
#[must_use]
pub fn heat_map_table(chart: &HeatMap, row: &str, column: &str) -> Vec<Vec<String>> {
    let header =
        [row.to_owned(), "Least".to_owned(), "Most".to_owned(), format!("Most, {column}")].to_vec();
    let rows = chart.rows.iter().enumerate().map(|(index, numbers)| {
        let ends = numbers.iter().copied().map(finite).enumerate();
        let least = ends.clone().fold(f64::MAX, |least, (_, number)| least.min(number));
        let (at, most) =
            ends.fold(
                (0, f64::MIN),
                |most, (at, number)| {
                    if number > most.1 { (at, number) } else { most }
                },
            );
        vec![index.to_string(), fixed(least, 2), fixed(most, 2), at.to_string()]
    });
    std::iter::once(header).chain(rows).collect()
}

fn step_of(number: f64) -> usize {
    STEPS.iter().position(|end| finite(number) < *end).unwrap_or(STEPS.len())
}

/// The cells of a step of color; neighbours in a row are one piece.
fn cells(chart: &HeatMap, step: usize, columns: usize, size: (i32, i32), top: i32) -> String {
    let (width, height) = (f64::from(size.0), f64::from(size.1));
    let x = |column: usize| (width * column as f64 / columns as f64).round() as i32;
    let count = chart.rows.len().max(1);
    let y = |row: usize| top + (height * row as f64 / count as f64).round() as i32;
    let mut path = String::new();
    for (index, row) in chart.rows.iter().enumerate() {
        let mut column = 0;
        while column < row.len() {
            let start = column;
            while column < row.len() && step_of(row[column]) == step {
                column += 1;
            }
            if column > start {
                let (left, right) = (x(start), x(column));
                let (from, to) = (y(index), y(index + 1));
                let _ = write!(path, "M{left} {from}H{right}V{to}H{left}z");
            }
            column += 1;
        }
    }
    path
}

/// The words of a step of color.
fn words(step: usize) -> String {
    match step {
        0 => format!("< {}", fixed(STEPS[0], 1)),
        step if step == STEPS.len() => format!("> {}", fixed(STEPS[step - 1], 1)),
        step => format!("to {}", fixed(STEPS[step], 2).trim_end_matches('0')),
    }
}

fn key(step: usize) -> Key {
    Key { ink: Ink::Quiet, swatch: Swatch::Heat(step), text: words(step) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_is_drawn_once_and_neighbours_are_one_piece() {
        let rows = vec![vec![1.0, 1.0, 3.0], vec![0.1, 1.0, 1.0]];
        let chart = HeatMap {
            label: String::from("x"),
            x_title: String::from("x"),
            y_title: String::from("y"),
            rows,
        };
        let all: String =
            (0..=STEPS.len()).map(|step| cells(&chart, step, 3, (300, 100), 0)).collect();
        assert_eq!(all.matches('z').count(), 4);
        assert!(heat_map(&chart, 320).contains("chart-heat-3"));
        assert!(!heat_map(&HeatMap { rows: Vec::new(), ..chart }, 320).contains("chart-heat"));
    }
}
