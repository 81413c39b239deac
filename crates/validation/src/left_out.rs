//! Errors of runs under constants that were fitted without their source: what whoever asks the
//! model has to expect, as nobody's cluster was in the fit.
//!
//! `cargo xtask calibrate` writes them, since a fit for each source takes minutes.

use model::catalogue::calibration::ModelKind;
use model::ground::choice::Choice;
use serde::{Deserialize, Serialize};

use crate::calibrate::Case;
use crate::imputation;

/// The errors that were written last.
static TABLE: &str = include_str!("../runs/left_out.csv");

/// Error of a run's prediction by a model that hasn't seen its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The run's id in its file.
    pub id: String,
    /// The source that published it.
    pub source: String,
    /// The family of accelerators that it ran on.
    pub family: String,
    /// The kind of its model, as [`ModelKind::name`].
    pub kind: String,
    /// Table, release, model, accelerator, devices and number format: runs of one source that share
    /// them differ in their layout.
    pub like: String,
    /// ln(measured / predicted) of the step time: positive where it took longer than predicted.
    pub log_ratio: f64,
}

/// The errors that the ranges of the model are made of.
///
/// # Panics
/// Never: a test reads the table.
#[must_use]
pub fn left_out() -> Vec<LeftOut> {
    let mut reader = csv::Reader::from_reader(TABLE.as_bytes());
    reader.deserialize().map_while(Result::ok).collect()
}

impl LeftOut {
    /// The kind of its model.
    #[must_use]
    pub fn model_kind(&self) -> ModelKind {
        let known = ModelKind::ALL.into_iter().find(|kind| kind.name() == self.kind);
        known.unwrap_or(ModelKind::Mixed)
    }

    /// The error of a run: predicted / measured - 1 of its step time.
    #[must_use]
    pub fn new(case: &Case<'_>, time_error: f64) -> Self {
        let design = case.plan().design();
        let release = imputation::facts(case.run).release;
        let like = [
            case.run.source.clone(),
            release.map(|release| release.to_string()).unwrap_or_default(),
            case.run.model.clone(),
            design.cluster.accelerator.name().to_owned(),
            design.cluster.num_devices.to_string(),
            design.training.precision.name().to_owned(),
        ];
        Self {
            id: case.run.id.clone(),
            source: case.source.to_owned(),
            family: case.family.to_owned(),
            kind: case.kind.name().to_owned(),
            like: like.join(" "),
            // Five decimals, as the table has them.
            log_ratio: (-time_error.ln_1p() * 1e5).round() / 1e5,
        }
    }
}

/// The table of these errors.
///
/// # Errors
/// None, as long as memory suffices.
pub fn table(errors: &[LeftOut]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(vec![]);
    errors.iter().try_for_each(|error| writer.serialize(error))?;
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole_and_written_as_it_was() {
        let errors = left_out();
        assert_eq!(errors.len() + 1, TABLE.lines().count());
        assert_eq!(table(&errors).expect("a table"), TABLE);
    }
}
