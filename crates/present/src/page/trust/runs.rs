//! The runs that are picked: the values to pick by, and how well they are predicted.

use maud::html;
use validation::report::Row;

use super::filter::{Facet, Filter};
use super::score::score;
use super::words;
use crate::form::option;
use crate::format;

/// Number of runs that are picked, and how well they are predicted.
#[must_use]
pub fn summary(rows: &[Row], found: &[usize], filter: &Filter) -> String {
    let count = |number: usize| format::whole(number as u64);
    let all = format::counted(rows.len() as u64, "run", "runs");
    let mut text = if filter.takes_all() {
        format!("{all}. ")
    } else {
        format!("{} of {all}. ", count(found.len()))
    };
    let found: Vec<&Row> = found.iter().filter_map(|index| rows.get(*index)).collect();
    match score(&found) {
        Some(score) => {
            let counts = found.iter().any(|row| row.scored);
            let verb = if counts { "count towards the targets" } else { "compared, none counts" };
            text.push_str(&format!("{} {verb}. {}", count(score.rows), words::score(&score)));
        }
        None => text.push_str("None is compared."),
    }
    html! { (text) }.into_string()
}

/// The values that runs have, in alphabetical order, and the wanted one even if none has it.
#[must_use]
pub fn options(rows: &[Row], facet: Facet, wanted: &str) -> String {
    let mut values: Vec<&str> = rows.iter().map(|row| facet.value(row)).chain([wanted]).collect();
    values.sort_unstable();
    values.dedup();
    let label = |value| match facet {
        Facet::Accelerator => words::accelerator_label(value),
        Facet::Metric => words::metric_label(value),
        Facet::Source | Facet::Tier | Facet::Precision => value,
    };
    let markup = html! {
        (option("", "All", false))
        @for value in values.into_iter().filter(|value| !value.is_empty()) {
            (option(value, label(value), value == wanted))
        }
    };
    markup.into_string()
}

#[cfg(test)]
mod tests {
    use testing::page::Page as Html;

    use super::*;

    fn row(tier: &str, error: Option<f64>) -> Row {
        Row { tier: tier.to_owned(), error, time_error: error, ..Row::default() }
    }

    #[test]
    fn a_facet_offers_what_runs_have_and_what_is_wanted() {
        let rows = [row("B", None), row("A", None), row("B", None), row("", None)];
        let html = options(&rows, Facet::Tier, "A");
        let html = Html::new(&format!("<select>{html}</select>"));
        assert_eq!(html.texts("option"), ["All", "A", "B"]);
        assert_eq!(html.attribute("option[selected]", "value"), "A");
        let strange = options(&rows, Facet::Tier, "<Z>");
        let strange = Html::new(&format!("<select>{strange}</select>"));
        assert_eq!(strange.attribute("option[selected]", "value"), "<Z>");
    }

    #[test]
    fn the_summary_counts_what_is_picked() {
        let rows = [row("A", Some(0.1)), row("B", None)];
        let text = summary(&rows, &[0, 1], &Filter::default());
        assert!(text.starts_with("2 runs. 1 compared, none counts. Half are"), "{text}");
        let text = summary(&rows, &[1], &Filter::from_query("tier=B"));
        assert_eq!(text, "1 of 2 runs. None is compared.");
    }
}
