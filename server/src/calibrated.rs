//! A calibration as data: what `moescape calibrate --json` prints and `POST /api/v1/calibrate`
//! answers.

use app::present::provenance::Provenance;
use validation::own::Calibration;

use crate::{calendar, validated};

/// Files of one call, at most.
pub(crate) const MAX_FILES: usize = 200;

/// The profile with what it rests on.
#[must_use]
pub(crate) fn json(found: &Calibration) -> String {
    validated::json(found, &Provenance { design: found.link.clone(), date: calendar::today() })
}
