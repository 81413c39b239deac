//! `compare`: two to four designs beside each other, each difference with how sure it is.

use model::metric::{MetricId, Regime};
use model::{MODEL_VERSION, design::link};
use present::format;
use present::insight::numbers::Numbers;
use present::page::compare::numbers::{
    self, Hindrance, State, Sure, Verdict, columns, delta, hindrances, orders,
};
use present::site::chosen::{Choice, Chosen, MAX_DESIGNS};
use reports::predicted;
use reports::report::{BrokenRule, broken};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::predict::HEADLINE;
use operations::Names;
use operations::DesignInput;
use operations::{self as said, Number, Refusal, Data};
use crate::mcp::tool::{Answer, Tool};
use operations::Caller;

pub(in crate::mcp) struct Compare;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    /// Two to four designs; the first one is what the others are measured against.
    designs: Vec<Named>,
}

/// A design with a name.
#[derive(Deserialize, JsonSchema)]
struct Named {
    /// What to call it; its preset and changes unless said.
    name: Option<String>,
    #[serde(flatten)]
    of: DesignInput,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    /// Opens the comparison.
    link: String,
    designs: Vec<Column>,
    /// Which designs are faster than the first, and how likely.
    orders: Vec<String>,
    /// Why designs can't be compared as they stand.
    hindrances: Vec<String>,
    model_version: String,
}

#[derive(Serialize, JsonSchema)]
struct Column {
    /// `A` to `D`.
    letter: char,
    name: String,
    link: String,
    legal: bool,
    numbers: Vec<Number>,
    violations: Data<Vec<BrokenRule>>,
    /// How it differs from the first design.
    differences: Vec<Difference>,
}

#[derive(Serialize, JsonSchema)]
struct Difference {
    metric: String,
    unit: String,
    /// The value less the first design's.
    absolute: f64,
    /// The same as a share of the first design's.
    relative: Option<f64>,
    /// same, better, worse, or neither.
    verdict: &'static str,
    /// How likely the order is right; null where it is exact or nobody knows.
    probability: Option<f64>,
    /// Whether it can be counted on: exact, or likely with 90 %.
    is_clear: bool,
}

impl Tool for Compare {
    const NAME: &'static str = "compare";
    const TITLE: &'static str = "Compare designs";
    const DESCRIPTION: &'static str = "Compares two to four designs for training: their numbers, \
        how each differs from the first, and how likely that order is right. A difference that \
        isn't clear is within the model's errors: say so.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &dyn Caller) -> Answer<Output> {
        let count = input.designs.len();
        if !(2..=MAX_DESIGNS).contains(&count) {
            let detail = format!(
                "2 to {MAX_DESIGNS} designs are compared, not {count}; `sweep` evaluates many"
            );
            return Err(Refusal::new("too_many_designs", "designs", detail));
        }
        let (mut choices, mut errors) = (vec![], vec![]);
        for (place, named) in input.designs.into_iter().enumerate() {
            match named.of.read(Names::Training, call) {
                Ok((design, _)) => choices.push(Choice {
                    link: link::encode(&design),
                    name: named.name.unwrap_or_default().chars().take(60).collect(),
                }),
                Err(refused) => errors.extend(refused.errors.into_iter().map(|mut wrong| {
                    wrong.at = format!("designs.{place}.{}", wrong.at);
                    wrong
                })),
            }
        }
        if !errors.is_empty() {
            return Err(Refusal::of(errors));
        }
        let chosen = Chosen { designs: choices, ..Chosen::default() };
        let columns = columns(&chosen);
        let base = columns.first().and_then(|column| column.numbers());
        let column = |column: &numbers::Column| {
            let numbers = column.numbers();
            let rules = match &column.state {
                State::Broken(_, rules) => rules.iter().map(broken).collect(),
                State::Legal(_) | State::Unreadable(_) => vec![],
            };
            let differences = match (numbers, base) {
                (Some(own), Some(base)) if !std::ptr::eq(own, base) => {
                    MetricId::of(Regime::Training).map(|id| difference(id, own, base)).collect()
                }
                _ => vec![],
            };
            Column {
                letter: column.letter,
                name: column.name.clone(),
                link: call.design(&column.link),
                legal: numbers.is_some(),
                numbers: numbers.map_or_else(Vec::new, |own| {
                    let metrics = &own.estimate.metrics;
                    let ranges = predicted::ranges(&own.plan, metrics);
                    said::numbers(predicted::metrics(metrics), ranges, &HEADLINE)
                }),
                violations: Data(rules),
                differences,
            }
        };
        let hindrance = |(why, letters): &(Hindrance, Vec<char>)| {
            let letters: Vec<String> = letters.iter().map(char::to_string).collect();
            format!("{}: {}", letters.join(", "), why.words())
        };
        let output = Output {
            link: call.link(&chosen.address()),
            designs: columns.iter().map(column).collect(),
            orders: orders(&columns, 0),
            hindrances: hindrances(&columns, 0).iter().map(hindrance).collect(),
            model_version: MODEL_VERSION.to_owned(),
        };
        let text = output.text();
        Ok((output, text))
    }
}

fn difference(id: MetricId, own: &Numbers, base: &Numbers) -> Difference {
    let found = delta(id, own, base);
    let (verdict, sure) = match found.verdict {
        Verdict::Same => ("same", Some(Sure::Exact)),
        Verdict::Better(sure) => ("better", Some(sure)),
        Verdict::Worse(sure) => ("worse", Some(sure)),
        Verdict::Neither => ("neither", None),
    };
    Difference {
        metric: id.metric().name.to_owned(),
        unit: id.metric().unit.name().to_owned(),
        absolute: found.absolute,
        relative: found.relative,
        verdict,
        probability: match sure {
            Some(Sure::With(probability)) => Some(probability),
            Some(Sure::Exact | Sure::Unknown) | None => None,
        },
        is_clear: sure.is_some_and(Sure::is_clear),
    }
}

impl Output {
    fn text(&self) -> String {
        let column = |column: &Column| {
            format!(
                "{} {}\n{}{}",
                column.letter,
                column.name,
                said::broken_lines(&column.violations.0),
                said::lines(&column.numbers)
            )
        };
        let columns: Vec<String> = self.designs.iter().map(column).collect();
        let orders = said::titled("Order", &self.orders);
        let hindrances = said::titled("To know", &self.hindrances);
        let count = format::counted(self.designs.len() as u64, "design", "designs");
        format!("{count}\n{}{orders}{hindrances}{}\n", columns.concat(), self.link)
    }
}
