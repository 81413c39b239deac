//! A metric of any regime as a tree of its terms, by the name that someone asks for.

use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::ground::knob::KnobError;
use model::metric::{MetricAddress, MetricId, MetricPart, Regime};
use model::run::budget::{Assessment, Costed, lacks};
use model::serving::{ServingPlan, infer};
use model::{Answer, Breakdown, Plan, estimate, explain_at};

/// Why a metric isn't explained.
#[derive(Clone, Debug, PartialEq)]
pub enum Unexplained {
    /// There is no such metric, or it isn't known of this design.
    Unknown(KnobError),
    /// The design has no such part, in a sentence.
    NoPart(String),
    /// The design breaks rules.
    Broken(Vec<Violation>),
}

impl From<Vec<Violation>> for Unexplained {
    fn from(broken: Vec<Violation>) -> Self {
        Self::Broken(broken)
    }
}

/// The regime whose plan a metric needs: that of training for parts and what isn't known.
#[must_use]
pub fn regime(metric: &str) -> Regime {
    MetricId::find(metric).map_or(Regime::Training, |id| id.regime().table())
}

/// Explanation of a metric of a design, whole or of a part; of quality beside a baseline.
///
/// # Errors
/// Why it isn't explained.
pub fn explained(
    design: &Design,
    baseline: Option<&Design>,
    metric: &str,
) -> Result<Breakdown, Unexplained> {
    let other = MetricId::find(metric).filter(|id| id.regime().table() != Regime::Training);
    let Some(id) = other else {
        let address = MetricAddress::parse(metric).map_err(Unexplained::Unknown)?;
        let plan = Plan::new(design)?;
        let no_part = || Unexplained::NoPart(missing(&plan, address));
        return explain_at(&plan, address).ok_or_else(no_part);
    };
    let explained = match id.regime() {
        Regime::Serving => {
            let plan = ServingPlan::new(design)?;
            Answer::Serving { plan: &plan, inference: &infer(&plan) }.explain(id)
        }
        Regime::Quality => {
            let assessment = Assessment::new(design, baseline)?;
            assessment.contest().and_then(|contest| Answer::Quality(contest).explain(id))
        }
        Regime::Model | Regime::Training | Regime::Budget => {
            Costed::new(design)?.answer().explain(id)
        }
    };
    explained.ok_or_else(|| Unexplained::Unknown(not_known(id, design, baseline)))
}

/// Reason why a metric isn't known.
#[must_use]
pub fn not_known(id: MetricId, design: &Design, baseline: Option<&Design>) -> KnobError {
    let name = id.metric().name;
    let lacking: Vec<String> = lacks(id, design).into_iter().map(KnobId::id).collect();
    let detail = if !lacking.is_empty() {
        format!("{name} isn't known: set {}", lacking.join(", "))
    } else if id.regime() == Regime::Quality && baseline.is_none() {
        format!("{name} is told beside a baseline")
    } else {
        format!("{name} isn't known of this design")
    };
    KnobError { rule: "unknown_run", knob: "metric".to_owned(), detail, nearest: lacking }
}

/// Message about a part that a plan doesn't have.
#[must_use]
pub fn missing(plan: &Plan, address: MetricAddress) -> String {
    match address.part {
        MetricPart::Stage(stage) => {
            let stages = estimate(plan).stages.len();
            format!("the design has no stage {stage}: it has {stages}, from 0 on")
        }
        MetricPart::Axis(axis, _) => format!("the design has no such traffic of {}", axis.name()),
        MetricPart::Whole => "the design has no such part".to_owned(),
    }
}
