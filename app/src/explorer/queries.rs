//! What scripts beside the explorer's module ask it of a design, as text.

use model::design::KnobId;
use model::metric::{MetricId, MetricValue};
use model::{Plan, design::link, estimate, legal_values};
use present::words::name;

/// The legal values of a knob, in order, a line each.
fn values(query: &str, id: &str) -> Option<String> {
    let (design, knob) = (link::decode(query).ok()?, KnobId::find(id).ok()?);
    let values = legal_values(&design, knob);
    Some(values.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// A metric at full precision, and its unit: `0.3021875…`, `21.93… s`.
fn exact(query: &str, id: &str) -> Option<String> {
    let (design, metric) = (link::decode(query).ok()?, MetricId::find(id)?);
    let metrics = estimate(&Plan::new(&design).ok()?).metrics;
    let number = match metrics.get(metric)? {
        MetricValue::Number(number) => number.to_string(),
        MetricValue::Flag(flag) => flag.to_string(),
    };
    Some(format!("{number} {}", metric.metric().unit.name()).trim_end().to_owned())
}

/// Answer to a question; `None` if the link, the id or the question isn't known, or the design
/// can't run.
#[must_use]
pub fn answer(question: &str, query: &str, id: &str) -> Option<String> {
    match question {
        "values" => values(query, id),
        "exact" => exact(query, id),
        "name" => link::decode(query).ok().map(|design| name::line(&design)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_legal_ones() {
        let values = answer("values", "v=1&preset=pangu-ultra-moe-6k", "tp").unwrap_or_default();
        assert!(values.lines().any(|value| value == "8"), "{values}");
        assert!(!values.lines().any(|value| value == "7"), "{values}");
        assert_eq!(answer("values", "", "nope"), None);
        assert_eq!(answer("values", "preset=nope", "tp"), None);
    }

    #[test]
    fn an_exact_number_reads_back_as_the_same_bits() {
        let plan = Plan::new(&link::decode("").expect("the default")).expect("a legal design");
        let metrics = estimate(&plan).metrics;
        let mfu = answer("exact", "", "mfu").unwrap_or_default();
        assert_eq!(mfu.parse().map(f64::to_bits), Ok(metrics.mfu.to_bits()));
        let step = answer("exact", "", "step_time_seconds").unwrap_or_default();
        let step = step.strip_suffix(" s").and_then(|number| number.parse().ok());
        assert_eq!(step.map(f64::to_bits), Some(metrics.step_time.get().to_bits()));
        assert_eq!(answer("exact", "", "fits").as_deref(), Some("true"));
        assert_eq!(answer("exact", "tp=7", "mfu"), None);
    }

    #[test]
    fn a_design_has_the_name_that_it_has_elsewhere() {
        let name = answer("name", "vpp=1", "");
        assert_eq!(name.as_deref(), Some("Pangu Ultra MoE · 6,144 x 910B3 · TP8 PP16 EP32, VPP 1"));
        assert_eq!(answer("weather", "", ""), None);
    }
}
