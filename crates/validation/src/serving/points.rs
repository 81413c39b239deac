//! Measured loads with both of their speeds: tokens a second of a device, and those of a user.
//!
//! Sources print one number to a row. What rows of the same run print together gives both: the time
//! of an output token is a user's speed; the devices' is printed, or follows by Little's law from
//! that time and the time to the first token.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use model::catalogue::accelerator::AcceleratorId;
use model::design::{Design, link};

use super::expression::express;
use super::{Measured, ServingRow, ServingRun};

/// A measured load.
#[derive(Clone, Debug)]
pub struct Point {
    /// The id of the row with the time of an output token.
    pub id: String,
    /// The source's short name.
    pub source_id: String,
    /// Engine and version, as printed.
    pub framework: String,
    /// The design.
    pub design: Design,
    /// Output tokens a second of a user.
    pub per_user: f64,
    /// Output tokens a second of a device.
    pub per_device: f64,
}

/// Every measured load of the published runs.
#[must_use]
pub fn points() -> &'static [Point] {
    static POINTS: LazyLock<Vec<Point>> = LazyLock::new(|| loads(super::published()));
    &POINTS
}

/// The measured loads of a model on an accelerator whose prompts and answers are at most this many
/// times as long or as short as a design's, and how many there are of other lengths.
#[must_use]
pub fn near(design: &Design, times: f64) -> (Vec<&'static Point>, usize) {
    let alike = |of: &Point| is_same(&of.design, design);
    let is_near = |own: u64, other: u64| {
        let ratio = own.max(1) as f64 / other.max(1) as f64;
        ratio <= times && ratio >= 1.0 / times
    };
    let (near, far): (Vec<_>, Vec<_>) =
        points().iter().filter(|point| alike(point)).partition(|point| {
            let (own, other) = (&point.design.serving, &design.serving);
            is_near(own.input_length, other.input_length)
                && is_near(own.output_length, other.output_length)
        });
    (near, far.len())
}

/// Whether two designs have the same model and accelerator.
fn is_same(one: &Design, other: &Design) -> bool {
    let part = |design: &Design| -> AcceleratorId { design.cluster.accelerator };
    part(one) == part(other) && one.transformer == other.transformer
}

/// The loads of rows.
fn loads(rows: &[ServingRow]) -> Vec<Point> {
    let scored = rows.iter().filter(|row| row.tier != "C");
    let mut runs: BTreeMap<(String, String, String), Vec<ServingRun>> = BTreeMap::new();
    for run in scored.filter_map(|row| express(row).ok()) {
        let row = &run.row;
        let key = (row.source_id.clone(), row.framework.clone(), link::encode(&run.design));
        runs.entry(key).or_default().push(run);
    }
    runs.into_values().filter_map(|runs| point(&runs)).collect()
}

/// The load that rows of one run measure together.
fn point(runs: &[ServingRun]) -> Option<Point> {
    let value = |of: Measured| runs.iter().find(|run| run.measured == of).map(|run| run.value);
    let first = runs.iter().find(|run| run.measured == Measured::Tpot)?;
    // A pool that only decodes has no prompts among its tokens.
    if first.decode_alone.is_some() {
        return None;
    }
    let serving = &first.design.serving;
    let devices = first.design.cluster.num_devices as f64;
    let answer = serving.output_length as f64;
    let by_law = || {
        let latency = value(Measured::Ttft)? + (answer - 1.0) * first.value;
        Some(serving.concurrency? as f64 * answer / latency)
    };
    let all = value(Measured::Output).or_else(by_law)?;
    Some(Point {
        id: first.row.id.clone(),
        source_id: first.row.source_id.clone(),
        framework: first.row.framework.clone(),
        per_user: 1.0 / first.value,
        per_device: all / devices,
        design: first.design.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_speeds_are_finite_and_a_user_is_never_faster_than_all_devices() {
        assert!(points().len() > 200, "{}", points().len());
        for point in points() {
            let devices = point.design.cluster.num_devices as f64;
            assert!(point.per_user > 0.0 && point.per_device > 0.0, "{}", point.id);
            let requests = point.design.serving.concurrency.unwrap_or(u64::MAX) as f64;
            let bound = requests.max(1.0) * point.per_user * 1.25;
            assert!(point.per_device * devices <= bound, "{}", point.id);
        }
    }

    #[test]
    fn what_is_near_has_the_same_model_machine_and_about_its_lengths() {
        let point = points().iter().max_by_key(|point| near(&point.design, 1.5).0.len()).unwrap();
        let (found, _) = near(&point.design, 1.5);
        assert!(found.len() > 5 && found.iter().any(|it| it.id == point.id));
        for it in found {
            assert_eq!(it.design.transformer, point.design.transformer);
            let lengths = [it, point].map(|it| it.design.serving.input_length as f64);
            assert!((lengths[0] / lengths[1]).ln().abs() <= 1.5_f64.ln() + 1e-12);
        }
    }
}
