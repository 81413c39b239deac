//! Published runs beside their predictions: computed once, then only sent.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use model::design::file::json;
use operations::WithProvenance;
use operations::validate::provenance;
use present::page::trust::Served;
use present::page::trust::still::Still;
use present::words::provenance::{Provenance, csv as quoted_csv};
use reports::typed::Said;
use serde::Serialize;
use serde_json::Value;
use validation::report::serving::ServingValidation;
use validation::report::{Row, Validation};
use validation::serving;

use crate::ground::calendar;

/// The embedded runs' report in every form that is sent.
#[derive(Debug)]
pub(crate) struct Validated {
    /// Output of `moescape validate --json`.
    pub(crate) json: String,
    /// Its rows as a table.
    pub(crate) csv: String,
    /// JSON of runs of serving, in the form of `json`.
    pub(crate) serving_json: String,
    /// Changes when they do.
    pub(crate) etag: String,
    /// Data that the page is rendered from.
    pub(crate) served: Served,
}

/// The report of the embedded runs. The first call takes a while: it predicts every run.
pub(crate) fn validated() -> &'static Validated {
    static VALIDATED: OnceLock<Validated> = OnceLock::new();
    VALIDATED.get_or_init(|| {
        let report = validation::validate(validation::runs::published());
        Validated::new(report, &serving::score::validate(serving::published()))
    })
}

impl Validated {
    fn new(report: Validation, served: &ServingValidation) -> Self {
        let from = provenance(calendar::today());
        let json = json_of(&report, &from);
        let mut hasher = DefaultHasher::new();
        json.hash(&mut hasher);
        let serving_json = json_of(served, &from);
        serving_json.hash(&mut hasher);
        Self {
            csv: csv(&report.rows, &from),
            etag: format!("W/\"{}-{:016x}\"", report.model_version, hasher.finish()),
            served: Served {
                still: Still::new(&report, served, &validation::kernels::validate()),
                rows: Arc::new(report.rows),
            },
            json,
            serving_json,
        }
    }
}

/// A report as the command prints it.
fn json_of(report: impl Serialize, from: &Provenance) -> String {
    json::print(&WithProvenance::new(report, from).said())
}

/// A row's columns, in the order of its fields; behind them are the model's version and the day.
const COLUMNS: &str = "id source_id tier kind model hardware accelerator framework num_devices \
    precision metric measured predicted predicted_range error time_error left_out_error inside_50 \
    inside_90 memory_measured_gib memory_predicted_gib scored assumed refused design source \
    locator";

/// Rows as RFC 4180 asks; assumptions are joined by semicolons, and what is absent is empty.
fn csv(rows: &[Row], from: &Provenance) -> String {
    // Each row has the link of its own design already.
    let [_, version, date] = Provenance::NAMES;
    let header = COLUMNS.split(' ').chain([version, date]).map(str::to_owned).collect();
    let [_, version, date] = from.values();
    let line = |row| {
        let more = [version, date].map(str::to_owned);
        cells(row).into_iter().chain(more).collect()
    };
    let table: Vec<Vec<String>> = std::iter::once(header).chain(rows.iter().map(line)).collect();
    quoted_csv(&table)
}

fn cells(row: &Row) -> Vec<String> {
    let fields = serde_json::to_value(row).unwrap_or_default();
    COLUMNS.split(' ').map(|column| cell(&fields[column])).collect()
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.as_f64().unwrap_or_default().to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let is_range = items.iter().all(Value::is_number);
            let items: Vec<String> = items.iter().map(cell).collect();
            items.join(if is_range { ".." } else { "; " })
        }
        Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_fields_of_the_report() {
        let row = Row { assumed: vec!["MBS 1".into(), "no recompute".into()], ..Row::default() };
        let json = serde_json::to_value(&row).unwrap();
        let fields = json.as_object().unwrap();
        assert_eq!(fields.len(), COLUMNS.split(' ').count());
        for column in COLUMNS.split(' ') {
            assert!(fields.contains_key(column), "{column}");
        }
        let text = csv(&[row], &provenance(calendar::today()));
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains(",MBS 1; no recompute,"), "{text}");
        let end = format!(",{},{}\r\n", model::MODEL_VERSION, calendar::today());
        assert!(text.ends_with(&end), "{text}");
    }
}
