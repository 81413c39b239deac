//! Loads as heat maps: ranks and layers, experts over steps, experts chosen together.

use std::fmt::Write as _;

use maud::{Markup, html};
use model::answer::loads::Report;
use model::routing::measure;

use super::super::Width;
use super::super::figure::Figure;
use crate::charts::{self, HeatMap};
use crate::format;

/// Steps of a trace that are drawn, at most.
const MAX_STEPS: usize = 64;

/// The id of the map of experts over steps.
const EXPERTS: &str = "load-experts";

/// A heat map with its words.
pub(super) struct Map {
    pub(super) id: &'static str,
    title: &'static str,
    caption: String,
    chart: HeatMap,
    /// Words for a row and a column.
    row: &'static str,
    column: &'static str,
    /// Factor from a column's index to its number.
    every: usize,
}

/// Every heat map that a report has something for.
pub(super) fn all(report: &Report) -> impl Iterator<Item = Map> {
    let planned = !report.outcome.migrations.is_empty();
    let devices = [Some(false), planned.then_some(true)].into_iter().flatten();
    let devices = devices.map(|planned| devices_map(report, planned));
    let every = report.trace.steps().div_ceil(MAX_STEPS).max(1);
    devices.chain([experts(report, every)]).chain(together(report))
}

/// All cells of a heat map by its id, as CSV: also of steps that are too many to be drawn.
pub(super) fn csv(report: &Report, id: &str) -> Option<String> {
    if id == EXPERTS {
        return Some(experts(report, 1).csv());
    }
    all(report).find(|map| map.id == id).map(|map| map.csv())
}

impl Map {
    pub(super) fn html(&self, width: Width) -> Markup {
        let Self { id, title, caption, chart, row, column, .. } = self;
        let below = save_all(
            id,
            "The table lists the min and max of each row",
            "Save every cell \
            as CSV",
        );
        Figure {
            id,
            title,
            caption,
            chart: &width.chart(|width| charts::heat_map(chart, width)),
            rows: &charts::heat_map_table(chart, row, column),
        }
        .html(&below)
    }

    /// Every cell: a row of the map is a row of the file.
    fn csv(&self) -> String {
        let columns = self.chart.rows.first().map_or(0, Vec::len);
        let mut csv = self.row.to_owned();
        for column in 0..columns {
            // Writing to a string can't fail.
            let _ = write!(csv, ",{} {}", self.column, column * self.every);
        }
        for (index, row) in self.chart.rows.iter().enumerate() {
            let _ = write!(csv, "\r\n{index}");
            for number in row {
                let _ = write!(csv, ",{number}");
            }
        }
        csv.push_str("\r\n");
        csv
    }
}

/// Note on the cells or steps that a table leaves out, and the button that saves all of it.
pub(super) fn save_all(id: &str, said: &str, button: &str) -> Markup {
    html! {
        p.figure-save {
            (said) ". "
            button type="button" class="text-button" data-save-cells=(id) { (button) }
        }
    }
}

/// Tokens of each rank over the mean, by layer.
fn devices_map(report: &Report, planned: bool) -> Map {
    let rows = report.device_loads(planned);
    let worst = rows.iter().map(|row| measure::imbalance(row)).fold(1.0, f64::max);
    let (id, title) = if planned {
        ("load-after", "Ranks and layers, with the planner")
    } else {
        ("load-before", "Ranks and layers, without a planner")
    };
    let caption =
        format!("Tokens over the mean; the fullest rank gets {}", format::decimals(worst, 2));
    let chart = HeatMap {
        label: format!("{title}. {caption}."),
        x_title: "Expert-parallel rank".to_owned(),
        y_title: "MoE layer, from the first down".to_owned(),
        rows,
    };
    Map { id, title, caption, chart, row: "Layer", column: "rank", every: 1 }
}

/// Tokens of each expert over the mean, by step, of the layer with the largest imbalance.
fn experts(report: &Report, every: usize) -> Map {
    let layer = report.most_uneven_layer();
    let shown = report.expert_loads(layer, every);
    let rows: Vec<Vec<f64>> = (0..report.trace.experts())
        .map(|expert| shown.iter().map(|step| step[expert]).collect())
        .collect();
    let worst = rows.iter().flatten().copied().fold(1.0, f64::max);
    let steps = every * report.stride;
    let title = "Experts over steps";
    let caption = format!(
        "MoE layer {layer}, the most uneven; its fullest expert gets {} times the mean",
        format::decimals(worst, 2)
    );
    let chart = HeatMap {
        label: format!("{title}. {caption}."),
        x_title: format!("Step, every {steps}"),
        y_title: "Expert, from the first down".to_owned(),
        rows,
    };
    Map { id: EXPERTS, title, caption, chart, row: "Expert", column: "step", every: steps }
}

/// Rate at which experts of a layer are chosen together, over the rate by chance; `None` if the
/// trace has no pairs.
fn together(report: &Report) -> Option<Map> {
    let layer = report.trace.pairs().first()?.layer;
    let experts = report.trace.experts();
    let mut rows = vec![vec![0.0; experts]; experts];
    for pair in report.trace.pairs().iter().filter(|pair| pair.layer == layer) {
        let (a, b) = (pair.expert_a as usize, pair.expert_b as usize);
        rows[a][b] = pair.tokens as f64;
        rows[b][a] = pair.tokens as f64;
    }
    let mean = rows.iter().flatten().sum::<f64>() / (experts * experts).max(1) as f64;
    for number in rows.iter_mut().flatten() {
        *number /= mean.max(f64::MIN_POSITIVE);
    }
    let title = "Experts chosen together";
    let caption = format!("MoE layer {layer}; tokens of each pair over the mean of all pairs");
    let chart = HeatMap {
        label: format!("{title}. {caption}."),
        x_title: "Expert".to_owned(),
        y_title: "Expert, from the first down".to_owned(),
        rows,
    };
    let (row, column) = ("Expert", "with");
    Some(Map { id: "load-together", title, caption, chart, row, column, every: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_map_has_every_cell() {
        let query = "?routing.balance=skewed&routing.skew=0.4&routing.planner=sliding_window";
        let design = model::design::link::decode(query).expect("a link that decodes");
        let plan = model::Plan::new(&design).expect("a legal design");
        let report = Report::of(&plan, None).expect("uneven loads");
        let ids: Vec<&str> = all(&report).map(|map| map.id).collect();
        assert_eq!(ids, ["load-before", "load-after", "load-experts"]);
        for map in all(&report) {
            let csv = map.csv();
            let mut lines = csv.lines();
            let columns = lines.next().expect("a header").split(',').count();
            let rows: Vec<&str> = lines.collect();
            assert_eq!(rows.len(), map.chart.rows.len(), "{}", map.id);
            for (row, numbers) in rows.iter().zip(&map.chart.rows) {
                let cells: Vec<f64> =
                    row.split(',').skip(1).map(|cell| cell.parse().expect("a number")).collect();
                assert_eq!(cells.len() + 1, columns);
                assert_eq!(&cells, numbers);
            }
        }
        let steps = csv(&report, EXPERTS).expect("every step of the map");
        let columns = steps.lines().next().expect("a header").split(',').count();
        assert_eq!(columns, report.trace.steps() + 1);
        assert!(steps.starts_with("Expert,step 0,step "), "{}", &steps[..40]);
        assert!(csv(&report, "load-steps").is_none());
    }
}
