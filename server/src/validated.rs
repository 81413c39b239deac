//! Published runs beside their predictions: computed once, then only sent.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use app::trust::Served;
use app::trust::still::Still;
use validation::report::{Row, Validation};

/// The embedded runs' report in every form that is sent.
#[derive(Debug)]
pub(crate) struct Validated {
    /// What `moescape validate --json` prints.
    pub(crate) json: String,
    /// Its rows as a table.
    pub(crate) csv: String,
    /// Changes when they do.
    pub(crate) etag: String,
    /// What the page is rendered from.
    pub(crate) served: Served,
}

/// The report of the embedded runs. The first call takes a while: it predicts every run.
pub(crate) fn validated() -> &'static Validated {
    static VALIDATED: OnceLock<Validated> = OnceLock::new();
    VALIDATED.get_or_init(|| Validated::new(validation::validate(validation::runs::published())))
}

impl Validated {
    fn new(report: Validation) -> Self {
        let json = json(&report);
        let mut hasher = DefaultHasher::new();
        json.hash(&mut hasher);
        Self {
            csv: csv(&report.rows),
            etag: format!("W/\"{}-{:016x}\"", report.model_version, hasher.finish()),
            served: Served { still: Still::new(&report), rows: Arc::new(report.rows) },
            json,
        }
    }
}

/// A report as JSON, with the names of its fields.
pub(crate) fn json(report: &Validation) -> String {
    // Only maps with keys that aren't text, and writers, can fail.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// A row's columns, in the order of its fields.
const COLUMNS: [&str; 23] = [
    "id",
    "source_id",
    "tier",
    "kind",
    "model",
    "hardware",
    "accelerator",
    "framework",
    "num_devices",
    "precision",
    "metric",
    "measured",
    "predicted",
    "error",
    "time_error",
    "memory_measured_gib",
    "memory_predicted_gib",
    "scored",
    "assumed",
    "refused",
    "design",
    "source",
    "locator",
];

/// Rows as RFC 4180 asks; assumptions are joined by semicolons, and what is absent is empty.
fn csv(rows: &[Row]) -> String {
    let mut text = COLUMNS.join(",");
    text.push_str("\r\n");
    for row in rows {
        text.push_str(&cells(row).map(|cell| quoted(&cell)).join(","));
        text.push_str("\r\n");
    }
    text
}

fn cells(row: &Row) -> [String; COLUMNS.len()] {
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
    [
        row.id.clone(),
        row.source_id.clone(),
        row.tier.clone(),
        row.kind.clone(),
        row.model.clone(),
        row.hardware.clone(),
        optional(&row.accelerator),
        optional(&row.framework),
        row.num_devices.map(|count| count.to_string()).unwrap_or_default(),
        row.precision.clone(),
        optional(&row.metric),
        number(row.measured),
        number(row.predicted),
        number(row.error),
        number(row.time_error),
        number(row.memory_measured_gib),
        number(row.memory_predicted_gib),
        row.scored.to_string(),
        row.assumed.join("; "),
        optional(&row.refused),
        optional(&row.design),
        row.source.clone(),
        row.locator.clone(),
    ]
}

/// In quotes where it has to be.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_with_commas_or_quotes_stays_one_cell() {
        assert_eq!(quoted("plain text"), "plain text");
        assert_eq!(quoted("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
    }

    #[test]
    fn the_table_has_the_fields_of_the_report() {
        let row = Row { assumed: vec!["MBS 1".into(), "no recompute".into()], ..Row::default() };
        let json: serde_json::Value = serde_json::to_value(&row).unwrap();
        let fields = json.as_object().unwrap();
        assert_eq!(fields.len(), COLUMNS.len());
        for column in COLUMNS {
            assert!(fields.contains_key(column), "{column}");
        }
        let text = csv(&[row]);
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains(",MBS 1; no recompute,"), "{text}");
    }
}
