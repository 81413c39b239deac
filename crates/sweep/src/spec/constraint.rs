//! Constraints and objectives, as people write them.

use model::design::{Design, KnobId};
use model::ground::knob::{KnobError, Value};
use model::ground::text::shorten;
use model::metric::{MetricId, Regime};

use super::error::error;
use super::sweep::{Constraint, Goal, Objective, Operator, Subject};

/// The comparisons; those that begin with another one come before it.
const OPERATORS: [(&str, Operator); 6] = [
    ("%", Operator::MultipleOf),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("<", Operator::Below),
    (">", Operator::Above),
];

/// Reads `fits`, `mfu >= 0.2`, `hidden_size % 256 == 0`, `tp <= 8`.
pub(super) fn constraint(text: &str, base: &Design) -> Result<Constraint, KnobError> {
    let wrong = |detail: String| error("wrong_constraint", "constraints", detail);
    let shown = shorten(text);
    let whole = text.trim();
    if whole == MetricId::fits.metric().name {
        let subject = Subject::Metric(MetricId::fits);
        return Ok(Constraint {
            text: whole.to_owned(),
            subject,
            operator: Operator::Equal,
            bound: 1.0,
        });
    }
    let found = OPERATORS.iter().find_map(|(sign, operator)| {
        let (left, right) = whole.split_once(sign)?;
        Some((left.trim(), *operator, right.trim()))
    });
    let Some((left, operator, right)) = found else {
        return Err(wrong(format!(
            "`{shown}` is no constraint; it takes `fits`, or a knob or metric, one of <= >= < > == \
             or % N == 0, and a number"
        )));
    };
    let number = if operator == Operator::MultipleOf {
        let (divisor, rest) = right.split_once("==").unwrap_or((right, ""));
        if rest.trim() != "0" {
            return Err(wrong(format!("`{shown}` lacks `== 0` at its end")));
        }
        divisor.trim()
    } else {
        right
    };
    let bound: Option<f64> = number.parse().ok().filter(|bound: &f64| bound.is_finite());
    let bound =
        bound.ok_or_else(|| wrong(format!("`{}` in `{shown}` is no number", shorten(number))))?;
    if operator == Operator::MultipleOf && !(bound >= 1.0 && bound.fract() <= 0.0) {
        return Err(wrong(format!("`{shown}` asks for a multiple of {bound}, not of a count")));
    }
    let subject = subject(left, base)?;
    Ok(Constraint { text: whole.to_owned(), subject, operator, bound })
}

fn wrong_fits() -> KnobError {
    error("wrong_constraint", "constraints", "`fits` is compared with nothing")
}

/// A metric by its id, or a knob with a number.
fn subject(name: &str, base: &Design) -> Result<Subject, KnobError> {
    if let Some(metric) = MetricId::find(name) {
        if metric == MetricId::fits {
            return Err(wrong_fits());
        }
        return Ok(Subject::Metric(metric));
    }
    let knob = KnobId::find(name).map_err(|mut unknown| {
        unknown.rule = "unknown_name";
        unknown.detail = format!("there is no knob or metric `{}`", shorten(name));
        unknown.nearest.extend(nearest_metric(name).map(String::from));
        unknown
    })?;
    match base.get(knob) {
        Value::Integer(_) | Value::Real(_) | Value::None => Ok(Subject::Knob(knob)),
        Value::Flag(_) | Value::Text(_) | Value::List(_) => {
            let detail = format!("{} is no number: give its values in `space`", knob.id());
            Err(error("wrong_constraint", "constraints", detail))
        }
    }
}

/// Reads `mfu max`.
pub(super) fn objective(text: &str) -> Result<Objective, KnobError> {
    let wrong = |detail: String| error("wrong_objective", "objectives", detail);
    let shown = shorten(text);
    let (name, goal) = text.trim().rsplit_once(' ').ok_or_else(|| {
        wrong(format!("`{shown}` is no objective: it takes a metric and `max` or `min`"))
    })?;
    let goal = match goal {
        "max" => Goal::Max,
        "min" => Goal::Min,
        _ => return Err(wrong(format!("`{shown}` ends neither in `max` nor in `min`"))),
    };
    let metric = metric(name.trim(), "objectives")?;
    Ok(Objective { metric, goal })
}

/// A metric that is a number.
pub(super) fn metric(name: &str, place: &str) -> Result<MetricId, KnobError> {
    match MetricId::find(name) {
        Some(MetricId::fits) => Err(error(
            "not_a_number",
            place,
            "`fits` is true or false; it is a constraint, `memory_peak_bytes` is a number",
        )),
        Some(metric) => Ok(metric),
        None => {
            let detail = format!("there is no metric `{}`", shorten(name));
            let nearest = nearest_metric(name).map(String::from).into_iter().collect();
            Err(KnobError { nearest, ..error("unknown_metric", place, detail) })
        }
    }
}

/// The metric that begins so, or has the most of its beginning in common.
fn nearest_metric(name: &str) -> Option<&'static str> {
    let common = |known: &str| known.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let names = MetricId::ALL.iter().map(|id| id.metric().name);
    names.filter(|known| common(known) > 1).max_by_key(|known| common(known))
}

/// Metrics that aren't of the regime of all others.
pub(super) fn strangers<'a>(
    regime: Regime,
    metrics: impl Iterator<Item = (&'static str, &'a MetricId)>,
) -> Vec<KnobError> {
    let strangers = metrics.filter(|(_, metric)| !metric.is_of(regime));
    let say = |(place, metric): (&'static str, &MetricId)| {
        let (name, own) = (metric.metric().name, metric.regime().base().name());
        let detail = format!(
            "`{name}` is of {own} and other objectives of {}: a sweep is of one of them",
            regime.name()
        );
        error("mixed_regimes", place, detail)
    };
    strangers.map(say).collect()
}

/// The constraints that no number keeps together.
pub(super) fn contradictions(constraints: &[Constraint]) -> Vec<KnobError> {
    let mut errors = Vec::new();
    for (index, one) in constraints.iter().enumerate() {
        for other in &constraints[index + 1..] {
            if one.subject == other.subject && (excludes(one, other) || excludes(other, one)) {
                let detail = format!("no design keeps both `{}` and `{}`", one.text, other.text);
                errors.push(error("contradictory_constraints", "constraints", detail));
            }
        }
    }
    errors
}

/// Whether no value satisfies both: all that `low` allows is above all that `high` does.
fn excludes(low: &Constraint, high: &Constraint) -> bool {
    let strict =
        matches!(low.operator, Operator::Above) || matches!(high.operator, Operator::Below);
    let bounds_below =
        matches!(low.operator, Operator::AtLeast | Operator::Above | Operator::Equal);
    let bounds_above =
        matches!(high.operator, Operator::AtMost | Operator::Below | Operator::Equal);
    bounds_below && bounds_above && (low.bound > high.bound || (strict && low.bound >= high.bound))
}
