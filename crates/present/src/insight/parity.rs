//! Every number of an estimate in a fixed order, so that the browser's bits can be compared with
//! the server's.

use model::design::link;
use model::metric::{MetricId, Regime};
use model::training::estimate::Estimate;
use model::{Plan, estimate};

use crate::format::number;

/// The numbers of the design in a link; none when it doesn't decode or breaks a rule.
#[must_use]
pub fn estimate_numbers(query: &str) -> Vec<f64> {
    let plan = link::decode(query).ok().and_then(|design| Plan::new(&design).ok());
    plan.map(|plan| flatten(&estimate(&plan))).unwrap_or_default()
}

fn flatten(estimate: &Estimate) -> Vec<f64> {
    let metrics = MetricId::of(Regime::Training).map(|id| number(estimate.metrics.get(id)));
    let mut numbers: Vec<f64> = metrics.collect();
    numbers.extend(estimate.step.parts().map(|(_, time)| time.get()));
    for stage in &estimate.stages {
        numbers.extend([f64::from(stage.stage), f64::from(stage.num_layers), stage.params as f64]);
        numbers.extend(stage.memory.parts().map(|part| part.get()));
        numbers.extend([stage.host_memory.get(), stage.peak_in_flight]);
        let times = [stage.forward, stage.backward, stage.compute, stage.exposed, stage.idle];
        numbers.extend(times.map(|time| time.get()));
    }
    for row in &estimate.communication {
        numbers.extend([row.bytes_per_call.get(), row.bytes.get()]);
        numbers.extend([row.time.get(), row.exposed.get()]);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_part_stage_and_traffic_row_is_there() {
        let design = link::decode("").expect("the default preset");
        let plan = Plan::new(&design).expect("a legal design");
        let estimate = estimate(&plan);
        let numbers = estimate_numbers("");
        let expected = MetricId::of(Regime::Training).count()
            + estimate.step.parts().count()
            + 16 * estimate.stages.len()
            + 4 * estimate.communication.len();
        assert_eq!(numbers.len(), expected);
        assert!(numbers.iter().all(|number| number.is_finite()));
    }

    #[test]
    fn a_design_that_has_no_estimate_has_no_numbers() {
        assert!(estimate_numbers("?v=1&no_such_knob=1").is_empty());
        assert!(estimate_numbers("?parallel.pipeline_model_parallel_size=12").is_empty());
    }
}
