//! Published sweeps: whether the model orders their runs as they were measured.

use maud::{Markup, html};
use validation::report::{Row, Sweep, Validation};

use crate::format;
use crate::page::trust::sheet::{Cell, folded, table};
use crate::page::trust::words::{self, NOTHING};

/// The card with all sweeps, the worst first; empty of none.
pub(super) fn html(report: &Validation) -> Markup {
    let mut sweeps: Vec<&Sweep> = report.summary.sweeps.iter().collect();
    if sweeps.is_empty() {
        return Markup::default();
    }
    sweeps.sort_by(|one, other| one.rank_correlation.total_cmp(&other.rank_correlation));
    let intro = "Does the model rank the runs of a published sweep as measured? A rank correlation \
                 of 1 means the same order. Pairs in order are those of its \
                 designs that are more than 3 % apart. Spread is the largest measured value over \
                 the smallest; where it is small, runs differ by less than the errors of \
                 prediction and measurement, and their order is chance.";
    let (worse, better) = sweeps.split_at(sweeps.len().div_ceil(2));
    let columns = ["Sweep", "Runs", "Spread", "Pairs in order", "Rank correlation"];
    let half = |caption: &str, half: &[&Sweep]| {
        let lines = half.iter().map(|sweep| line(sweep, &report.rows));
        html! { @if !half.is_empty() { (table(caption, &columns, lines)) } }
    };
    let content = html! {
        div.trust-grid.halves {
            (half("Sweeps, worst first", worse))
            (half("Sweeps, the rest", better))
        }
    };
    folded("Order", intro, &content)
}

fn line(sweep: &Sweep, rows: &[Row]) -> Vec<Cell> {
    let of_it = |row: &&Row| row.scored && name(row) == sweep.name;
    let first = rows.iter().find(of_it);
    let values = rows.iter().filter(of_it).filter_map(|row| row.measured);
    let (least, most) = values
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)));
    let spread = match most / least {
        spread if spread >= 1.0 => format!("{} ×", format::decimals(spread, 2)),
        _ => NOTHING.to_owned(),
    };
    vec![
        first.map_or_else(|| Cell::text(&sweep.name), label),
        Cell::text(&format::whole(sweep.rows as u64)),
        Cell::text(&spread),
        Cell::text(&format!(
            "{} of {}",
            format::whole(sweep.pairs_in_order as u64),
            format::whole(sweep.pairs as u64)
        )),
        Cell::text(&format::decimals(sweep.rank_correlation, 2)),
    ]
}

/// The name that a report gives the sweep of a run.
fn name(row: &Row) -> String {
    let accelerator = row.accelerator.as_deref().unwrap_or_default();
    let metric = row.metric.as_deref().unwrap_or_default();
    format!("{}, {} on {accelerator} ({metric})", row.source_id, row.model)
}

/// Label of a run's sweep, in words.
fn label(row: &Row) -> Cell {
    let accelerator = words::accelerator_label(row.accelerator.as_deref().unwrap_or_default());
    let metric = words::metric_label(row.metric.as_deref().unwrap_or_default());
    let note = format!("{metric} on {accelerator}, {}", row.source_id);
    Cell { note, ..Cell::text(&row.model) }
}

#[cfg(test)]
mod tests {
    use validation::report::Summary;

    use super::*;

    fn report() -> Validation {
        let row = |measured| Row {
            source_id: "llm_foundry".to_owned(),
            model: "MPT-7b".to_owned(),
            accelerator: Some("a100-sxm-40gb".to_owned()),
            metric: Some("tokens_per_second_per_device".to_owned()),
            measured: Some(measured),
            scored: true,
            ..Row::default()
        };
        let sweep = |name: &str, rank_correlation| Sweep {
            name: name.to_owned(),
            rows: 9,
            rank_correlation,
            pairs: 20,
            pairs_in_order: 19,
        };
        let raw = "llm_foundry, MPT-7b on a100-sxm-40gb (tokens_per_second_per_device)";
        let sweeps = vec![sweep("best", 1.0), sweep(raw, 0.52), sweep("<middle>", 0.7)];
        let summary = Summary { sweeps, ..Summary::default() };
        Validation { rows: vec![row(2_000.0), row(2_500.0)], summary, model_version: "1".into() }
    }

    #[test]
    fn a_sweep_is_named_in_words_with_its_spread() {
        let html = html(&report()).into_string();
        assert!(!html.contains("tokens_per_second_per_device"), "{html}");
        assert!(html.contains("NVIDIA A100 SXM 40 GB"), "{html}");
        assert!(html.contains("1.25 ×"), "{html}");
    }

    #[test]
    fn the_worst_sweep_stands_first() {
        let html = html(&report()).into_string();
        let places: Vec<_> =
            ["MPT-7b", "&lt;middle&gt;", "best"].iter().map(|name| html.find(name)).collect();
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
    }

    #[test]
    fn without_sweeps_there_is_no_card() {
        let html = html(&Validation { summary: Summary::default(), ..report() });
        assert_eq!(html.into_string(), "");
    }
}
