//! `compare`: two to four designs beside each other, each difference with how sure it is.

use std::str::FromStr;

use model::MODEL_VERSION;
use model::design::file::Tree;
use model::design::link;
use model::metric::{MetricId, Regime};
use present::format;
use present::insight::numbers::Numbers;
use present::page::compare::numbers::{
    Column, Hindrance, State, Sure, Verdict, columns, delta, hindrances, metrics, orders,
};
use present::site::chosen::{Choice, Chosen, MAX_DESIGNS};
use reports::predicted::{self, Range};
use reports::report::{BrokenRule, broken};
use reports::typed::{MetricSaid, Named, Real, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arguments;
use crate::caller::Caller;
use crate::columns::table;
use crate::input::{DesignInput, is_file};
use crate::names::Names;
use crate::numbers::{self, Data, HEADLINE, Number};
use crate::operation::Operation;
use crate::refusal::{Refusal, Wrong};

/// Maximum number of characters of a design's name.
const MAX_NAME_CHARS: usize = 60;

/// The verb.
pub struct Compare;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "CompareInput")]
pub struct Input {
    /// Two to four designs; the first one is what the others are measured against.
    #[arg(
        value_name = "DESIGN",
        required = true,
        help = "Two to four designs, each a preset's id, a design file or a link; the first one \
                is what the others are measured against"
    )]
    #[schemars(with = "Vec<NamedDesign>")]
    designs: Vec<Compared>,
}

/// A design with a name.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Named")]
struct NamedDesign {
    /// What to call it; its preset and changes unless said.
    name: Option<String>,
    #[serde(flatten)]
    of: DesignInput,
}

/// A design as it is given: at a terminal in one word.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Tree")]
enum Compared {
    Word(String),
    Tree(Tree),
}

impl FromStr for Compared {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::Word(text.to_owned()))
    }
}

impl From<Tree> for Compared {
    fn from(tree: Tree) -> Self {
        Self::Tree(tree)
    }
}

/// Designs beside each other.
pub struct Answer {
    chosen: Chosen,
    columns: Vec<Column>,
}

reports::said! {
    /// The object of `moescape compare --json`.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct Comparison {
        /// Address of the comparison.
        link: String,
        designs: Vec<ComparedDesign>,
        /// Which designs are faster than the first, and how likely.
        orders: Vec<String>,
        /// Why designs can't be compared as they stand.
        hindrances: Vec<String>,
        model_version: &'static str,
    }

    /// A design that is compared.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct ComparedDesign {
        /// `A` to `D`.
        letter: String,
        name: String,
        /// The query of a link that opens the design.
        link: String,
        /// Every metric by its id; empty where the design breaks rules.
        metrics: Named<MetricSaid>,
        ranges: Named<Range>,
        violations: Vec<BrokenRule>,
        /// How it differs from the first design.
        differences: Vec<Difference>,
    }

    /// A metric's difference from the first design's.
    #[derive(Clone, Debug, JsonSchema)]
    pub struct Difference {
        metric: &'static str,
        unit: &'static str,
        /// The value less the first design's.
        absolute: Real,
        /// The same as a share of the first design's.
        relative: Option<Real>,
        /// same, better, worse, or neither.
        verdict: &'static str,
        /// How likely the order is right; null where it is exact or nobody knows.
        probability: Option<Real>,
        /// Whether it can be counted on: exact, or likely with 90 %.
        is_clear: bool,
    }
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    /// Opens the comparison.
    link: String,
    designs: Vec<BriefColumn>,
    /// Which designs are faster than the first, and how likely.
    orders: Vec<String>,
    /// Why designs can't be compared as they stand.
    hindrances: Vec<String>,
    model_version: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Column")]
struct BriefColumn {
    /// `A` to `D`.
    letter: String,
    name: String,
    link: String,
    legal: bool,
    numbers: Vec<Number>,
    violations: Data<Vec<BrokenRule>>,
    /// How it differs from the first design.
    differences: Data<Vec<Difference>>,
}

impl Operation for Compare {
    const NAME: &'static str = "compare";
    const SUMMARY: &'static str =
        "Compare two to four designs: how each differs from the first, and how likely that is";
    const TITLE: &'static str = "Compare designs";
    const DESCRIPTION: &'static str = "Compares two to four designs for training: their numbers, \
        how each differs from the first, and how likely that order is right. A difference that \
        isn't clear is within the model's errors: say so.";
    const HAS_TABLE: bool = true;
    type Input = Input;
    type Answer = Answer;
    type Output = Comparison;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let count = input.designs.len();
        if !(2..=MAX_DESIGNS).contains(&count) {
            let detail = format!(
                "2 to {MAX_DESIGNS} designs are compared, not {count}; `sweep` evaluates many"
            );
            return Err(Refusal::new("too_many_designs", "designs", detail));
        }
        let (mut designs, mut errors) = (vec![], vec![]);
        for (place, design) in input.designs.into_iter().enumerate() {
            match design.read(caller) {
                Ok(choice) => designs.push(choice),
                Err(refusal) => {
                    errors.extend(refusal.within(&format!("designs.{place}")).errors);
                }
            }
        }
        if !errors.is_empty() {
            return Err(Refusal::of(errors));
        }
        let chosen = Chosen { designs, ..Chosen::default() };
        let columns = columns(&chosen);
        Ok(Answer { chosen, columns })
    }

    fn output(answer: &Answer) -> Written<Comparison> {
        Written::of(answer.comparison())
    }

    fn text(answer: &Answer) -> String {
        answer.text()
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let comparison = answer.comparison();
        let column = |design: ComparedDesign| BriefColumn {
            letter: design.letter,
            name: design.name,
            link: caller.design(&design.link),
            legal: !design.metrics.0.is_empty(),
            numbers: numbers::numbers(design.metrics, design.ranges, &HEADLINE),
            violations: Data(design.violations),
            differences: Data(design.differences),
        };
        let brief = Brief {
            link: caller.link(&comparison.link),
            designs: comparison.designs.into_iter().map(column).collect(),
            orders: comparison.orders,
            hindrances: comparison.hindrances,
            model_version: comparison.model_version.to_owned(),
        };
        let text = brief.text();
        (brief, text)
    }

    fn table(answer: &Answer, caller: &dyn Caller) -> Result<String, Refusal> {
        Ok(present::page::compare::csv(&answer.chosen.query(), &caller.today()))
    }
}

impl Compared {
    fn read(self, caller: &dyn Caller) -> Result<Choice, Refusal> {
        let (name, of) = match self {
            Self::Word(word) => (None, DesignInput::of_word(&word)),
            Self::Tree(tree) if is_file(&tree) => (None, DesignInput::of_file(tree)),
            Self::Tree(tree) => {
                let NamedDesign { name, of } = arguments::read(tree)?;
                (name, of)
            }
        };
        let (design, _) = of.read(Names::Training, caller)?;
        let name = name.unwrap_or_default().chars().take(MAX_NAME_CHARS).collect();
        Ok(Choice { link: link::encode(&design), name })
    }
}

impl Answer {
    fn comparison(&self) -> Comparison {
        let base = self.columns.first().and_then(Column::numbers);
        Comparison {
            link: self.chosen.address(),
            designs: self.columns.iter().map(|column| compared(column, base)).collect(),
            orders: orders(&self.columns, 0),
            hindrances: self.hindrances(),
            model_version: MODEL_VERSION,
        }
    }

    fn hindrances(&self) -> Vec<String> {
        let hindrance = |(why, letters): &(Hindrance, Vec<char>)| {
            let letters: Vec<String> = letters.iter().map(char::to_string).collect();
            format!("{}: {}", letters.join(", "), why.words())
        };
        hindrances(&self.columns, 0).iter().map(hindrance).collect()
    }

    /// The comparison for people: the metrics in which designs differ, and what to know of it.
    fn text(&self) -> String {
        let count = format::counted(self.columns.len() as u64, "design", "designs");
        let mut sections =
            vec![format!("{count}\n{}", self.columns.iter().map(head).collect::<String>())];
        let legal: Vec<&Column> =
            self.columns.iter().filter(|column| column.numbers().is_some()).collect();
        let letters = legal.iter().map(|column| column.letter.to_string());
        let mut rows: Vec<Vec<String>> =
            vec![std::iter::once(String::new()).chain(letters).collect()];
        rows.extend(metrics(&self.columns, false).into_iter().map(|id| {
            let value = |column: &&Column| {
                let value = column.numbers().and_then(|own| own.estimate.metrics.get(id));
                format::metric(id, value).to_string()
            };
            let label = id.metric().label.to_owned();
            std::iter::once(label).chain(legal.iter().map(value)).collect()
        }));
        let columns = format!("l{}", "r".repeat(legal.len()));
        sections.push(format!("What differs\n{}", table(&columns, &rows)));
        let known = orders(&self.columns, 0).into_iter().chain(self.hindrances());
        let known: Vec<String> = known.map(|line| format!("  {line}\n")).collect();
        if !known.is_empty() {
            sections.push(format!("To know\n{}", known.concat()));
        }
        sections.push(format!("link {}\nmodel {MODEL_VERSION}\n", self.chosen.address()));
        sections.join("\n")
    }
}

/// A design's line, and the rules that it breaks.
fn head(column: &Column) -> String {
    let broken = match &column.state {
        State::Broken(_, rules) => {
            rules.iter().map(|rule| format!("     {}\n", Wrong::from(rule).line())).collect()
        }
        State::Legal(_) | State::Unreadable(_) => String::new(),
    };
    format!("  {}  {}\n     link /?{}\n{broken}", column.letter, column.name, column.link)
}

/// A design beside the first one.
fn compared(column: &Column, base: Option<&Numbers>) -> ComparedDesign {
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
    let metrics = numbers.map(|own| predicted::metrics(&own.estimate.metrics));
    let ranges = numbers.map(|own| predicted::ranges(&own.plan, &own.estimate.metrics));
    ComparedDesign {
        letter: column.letter.to_string(),
        name: column.name.clone(),
        link: column.link.clone(),
        metrics: metrics.unwrap_or(Named::none()),
        ranges: ranges.unwrap_or(Named::none()),
        violations: rules,
        differences,
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
        metric: id.metric().name,
        unit: id.metric().unit.name(),
        absolute: Real(found.absolute),
        relative: found.relative.map(Real),
        verdict,
        probability: match sure {
            Some(Sure::With(probability)) => Some(Real(probability)),
            Some(Sure::Exact | Sure::Unknown) | None => None,
        },
        is_clear: sure.is_some_and(Sure::is_clear),
    }
}

impl Brief {
    fn text(&self) -> String {
        let column = |column: &BriefColumn| {
            format!(
                "{} {}\n{}{}",
                column.letter,
                column.name,
                numbers::broken_lines(&column.violations.0),
                numbers::lines(&column.numbers)
            )
        };
        let columns: Vec<String> = self.designs.iter().map(column).collect();
        let orders = numbers::titled("Order", &self.orders);
        let hindrances = numbers::titled("To know", &self.hindrances);
        let count = format::counted(self.designs.len() as u64, "design", "designs");
        format!("{count}\n{}{orders}{hindrances}{}\n", columns.concat(), self.link)
    }
}
