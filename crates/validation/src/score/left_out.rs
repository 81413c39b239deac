//! Errors of sources that no constant was fitted on, and whether the ranges hold for them.

use std::collections::{BTreeMap, BTreeSet};

use model::catalogue::calibration::{AMPERE, ASCEND, BLACKWELL, HOPPER, ModelKind};
use model::metric::MetricId;
use model::training::range::MIN_SOURCES;
use model::{Plan, range};

use super::Scored;
use crate::calibrate;
use crate::left_out::LeftOut;
use crate::report::{LeftOutScore, Row};
use crate::{ranges, statistics};

/// Left-out errors and ranges of the runs that constants were fitted on.
pub(super) struct Known {
    errors: BTreeMap<String, LeftOut>,
    /// The ranges by the other sources, of each family, kind and source.
    ranges: BTreeMap<(String, ModelKind, String), [[f64; 2]; 2]>,
}

impl Known {
    pub(super) fn new() -> Self {
        let errors = crate::left_out::left_out();
        let mut ranges = BTreeMap::new();
        for error in &errors {
            let LeftOut { family, source, .. } = error;
            let kind = error.model_kind();
            ranges
                .entry((family.clone(), kind, source.clone()))
                .or_insert_with(|| ranges::without(&errors, (family, kind, source)));
        }
        let errors = errors.into_iter().map(|error| (error.id.clone(), error)).collect();
        Self { errors, ranges }
    }

    /// Tells a row its left-out error and whether it is inside its ranges: those that were made
    /// without its source.
    ///
    /// The run of another file is known by its source as well as by its id: two tables may number
    /// theirs alike. A run whose devices' clock is an input was in no fit, and says nothing of one.
    pub(super) fn fill(&self, row: &mut Row, plan: &Plan) {
        if calibrate::has_own_clock(plan) {
            return;
        }
        let known = self.errors.get(&row.id).filter(|known| known.source == row.source_id);
        let (log_ratio, ends) = if let Some(known) = known {
            let key = (known.family.clone(), known.model_kind(), known.source.clone());
            (known.log_ratio, self.ranges.get(&key).copied())
        } else {
            let Some(error) = row.time_error else { return };
            let range = range(plan, MetricId::step_time_seconds);
            let ends = range.map(|range| [range.half, range.most].map(|it| it.map(f64::ln)));
            (-error.ln_1p(), ends)
        };
        row.left_out_error = Some((-log_ratio).exp_m1());
        let inside =
            |index: usize| ends.map(|ends| (ends[index][0]..=ends[index][1]).contains(&log_ratio));
        (row.inside_50, row.inside_90) = (inside(0), inside(1));
    }
}

/// The family of accelerators of a run that has a prediction, and the kind of its model.
pub(super) fn kind(plan: &Plan) -> (&'static str, ModelKind) {
    let design = plan.design();
    let family = design.cluster.accelerator.row().kernels.family;
    (family, plan.model_kind())
}

/// The scores by family and kind of model, then of all families, then of all.
pub(super) fn scores(scored: &[Scored<'_>]) -> Vec<LeftOutScore> {
    let families = [ASCEND.family, AMPERE.family, HOPPER.family, BLACKWELL.family, ""];
    let groups = families
        .into_iter()
        .flat_map(|family| ModelKind::ALL.map(|kind| (family, Some(kind))))
        .chain([("", None)]);
    let scores = groups.map(|(family, kind)| {
        let rows: Vec<&Row> = scored
            .iter()
            .filter(|it| it.row.scored && it.row.left_out_error.is_some())
            .filter(|it| {
                // A class of its own, which is not part of all.
                it.of.is_some_and(|(own, own_kind)| {
                    (family.is_empty() || own == family)
                        && kind.map_or(own_kind != ModelKind::Mixed, |kind| kind == own_kind)
                })
            })
            .map(|it| &it.row)
            .collect();
        score(family, kind, &rows)
    });
    scores.filter(|score| score.rows > 0).collect()
}

fn score(family: &str, kind: Option<ModelKind>, rows: &[&Row]) -> LeftOutScore {
    let errors: Vec<f64> = rows.iter().filter_map(|row| row.left_out_error).map(f64::abs).collect();
    let sources: BTreeSet<&str> = rows.iter().map(|row| row.source_id.as_str()).collect();
    let inside = |flag: fn(&Row) -> Option<bool>| {
        let share = |source: &&str| {
            let own = rows.iter().filter(|row| row.source_id == **source);
            let flags = own.filter_map(|row| flag(row)).map(|it| f64::from(u8::from(it)));
            statistics::mean(&flags.collect::<Vec<f64>>())
        };
        statistics::mean(&sources.iter().map(share).collect::<Vec<f64>>())
    };
    let has_enough = sources.len() >= MIN_SOURCES as usize;
    LeftOutScore {
        family: family.to_owned(),
        kind: kind.map(|kind| kind.name().to_owned()),
        rows: errors.len(),
        sources: sources.len(),
        median: statistics::percentile(&errors, 0.5),
        p90: statistics::percentile(&errors, 0.9),
        coverage: has_enough.then(|| [inside(|row| row.inside_50), inside(|row| row.inside_90)]),
    }
}
