//! Published figures: one row each, with its unit and where its source prints it.

mod figure;
mod accuracy;
mod host_run;
mod quality;
mod run_input;
mod training_run;

pub use accuracy::{ACCURACIES, Accuracy};
pub use figure::Figure;
pub use host_run::{Card, Experiment, HOST_RUNS, HostRun, Phase};
pub use quality::{ACCEPTANCE_LENGTHS, DROP_RATIOS};
pub use run_input::{
    CHECKPOINT_RATES, FAILURE_INTERVALS, POWER_USAGE_EFFECTIVENESS, RunInput, TRAIN_TOKENS,
};
pub use training_run::{RunFigure, TRAINING_RUNS, of_preset};

/// Every figure.
pub fn figures() -> impl Iterator<Item = &'static Figure> {
    let inputs = [TRAIN_TOKENS, FAILURE_INTERVALS, CHECKPOINT_RATES].into_iter().flatten();
    (inputs.map(|row| &row.figure))
        .chain(POWER_USAGE_EFFECTIVENESS)
        .chain(TRAINING_RUNS.iter().map(|row| &row.figure))
        .chain(ACCURACIES.iter().map(|row| &row.figure))
        .chain(HOST_RUNS.iter().map(|row| &row.figure))
        .chain(DROP_RATIOS)
        .chain(ACCEPTANCE_LENGTHS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::preset::Preset;
    use crate::ground::source::ALL;
    use crate::metric::Unit;

    #[test]
    fn every_figure_has_a_source_of_the_bibliography_and_a_place_there() {
        assert!(figures().count() > 70, "{}", figures().count());
        for figure in figures() {
            assert!(ALL.contains(&figure.source) && !figure.source.url.is_empty(), "{figure:?}");
            assert!(!figure.place.is_empty() && figure.value > 0.0, "{figure:?}");
        }
    }

    #[test]
    fn every_figure_of_a_preset_is_of_one_that_opens() {
        let presets = (TRAINING_RUNS.iter().map(|row| row.preset))
            .chain(ACCURACIES.iter().flat_map(|row| row.presets.iter().copied()))
            .chain(HOST_RUNS.iter().map(|row| row.experiment.preset));
        for preset in presets {
            assert!(Preset::find(preset).is_ok(), "{preset}");
        }
    }

    #[test]
    fn a_run_is_published_where_its_preset_says_and_in_its_metrics_unit() {
        for row in TRAINING_RUNS {
            assert_eq!(Preset::find(row.preset).unwrap().source, row.figure.source, "{row:?}");
            let is_share = |unit: Unit| unit.is_share();
            let (unit, metric) = (row.figure.unit, row.metric.metric().unit);
            assert!(unit == metric || is_share(unit) && is_share(metric), "{row:?}");
        }
    }
}
