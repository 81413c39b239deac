//! `explain`: how a number comes about, term by term.

use model::design::violation::Violation;
use model::design::{Design, KnobId, link};
use model::ground::knob::KnobError;
use model::metric::{MetricAddress, MetricId, MetricPart, Regime, Words};
use model::run::budget::{Assessment, Costed, lacks};
use model::serving::{ServingPlan, infer};
use model::{Breakdown, MODEL_VERSION, Plan, estimate, explain_at};
use present::format::{self, Quantity};
use present::page::budget as budget_page;
use present::site::Page;
use reports::report;
use reports::typed::Written;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::input::{BaselineInput, DesignInput};
use crate::names::Names;
use crate::numbers::Data;
use crate::operation::Operation;
use crate::refusal::Refusal;

/// Levels of terms that an agent is told of where it doesn't say how many.
const DEFAULT_DEPTH: usize = 3;

/// Maximum number of levels of terms.
const MAX_DEPTH: usize = 12;

/// The verb.
pub struct Explain;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "ExplainInput")]
pub struct Input {
    /// Design.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// The metric, whole or of a part: `mfu`, `memory_peak_bytes@stage=3`,
    /// `comm_volume_bytes@axis=ep,link=inter_node`, one of serving such as `tpot_seconds`, of a
    /// run such as `goodput_ratio`, or of the loss beside a baseline such as `loss_difference`.
    #[arg(
        long,
        value_name = "METRIC[@PART]",
        help = "Metric, whole or of a part: mfu, memory_peak_bytes@stage=3, tpot_seconds, \
                goodput_ratio, or with a baseline loss_difference"
    )]
    metric: String,
    /// The design that the loss is told beside.
    #[arg(
        long,
        value_name = "DESIGN",
        help = "Design that the loss is told beside: a preset's id, a design file, or a link"
    )]
    baseline: Option<BaselineInput>,
    /// Levels of terms, from 1 to 12; 3 unless said.
    #[arg(long, value_name = "LEVELS", help = "Levels of terms, from 1 to 12 [default: all]")]
    depth: Option<usize>,
}

/// Explanation of a metric.
pub struct Answer {
    address: MetricAddress,
    root: Breakdown,
    depth: Option<usize>,
    /// Address of the page that shows the metric.
    page: String,
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    link: String,
    metric: String,
    term: Data<report::Explained>,
    /// Whether terms below `depth` were left out.
    is_cut: bool,
    model_version: String,
}

impl Operation for Explain {
    const NAME: &'static str = "explain";
    const SUMMARY: &'static str = "Explain how one number of a design comes about, term by term";
    const TITLE: &'static str = "Explain a number";
    const DESCRIPTION: &'static str = "Explains how one metric of a design comes about: its \
        formula with today's values, down to knobs, constants and their sources. Metrics of \
        serving are explained with the design's serving knobs, those of a budget with its run.";
    type Input = Input;
    type Answer = Answer;
    type Output = report::Explained;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        if input.depth.is_some_and(|depth| !(1..=MAX_DEPTH).contains(&depth)) {
            let detail = format!("`depth` is from 1 to {MAX_DEPTH}");
            return Err(Refusal::new("out_of_range", "depth", detail));
        }
        let is_served = regime(&input.metric) == Regime::Serving;
        let names = if is_served { Names::Serving } else { Names::Training };
        let (design, _) = input.of.read(names, caller)?;
        let baseline = input.baseline.map(|it| it.read(caller)).transpose()?;
        let (address, root) = explained(&design, baseline.as_ref(), &input.metric)?;
        let mut answer = Answer::new(address, root, &design, baseline);
        answer.depth = input.depth;
        Ok(answer)
    }

    fn output(answer: &Answer) -> Written<report::Explained> {
        let (root, _) = answer.cut(usize::MAX);
        Written::stored(report::breakdown(&root))
    }

    fn text(answer: &Answer) -> String {
        let (root, _) = answer.cut(usize::MAX);
        let address = answer.address;
        let id = address.metric;
        let label = id.metric().label;
        let label = match address.part {
            MetricPart::Whole => label.to_owned(),
            MetricPart::Stage(_) | MetricPart::Axis(..) => format!("{label} ({address})"),
        };
        tree(&label, &format::measured(id, root.value), id.words(), &root)
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let (root, is_cut) = answer.cut(DEFAULT_DEPTH);
        let link = caller.link(&answer.page);
        let mut text = String::new();
        write(&root, 0, &mut text);
        text += &format!("{link}\n");
        let (metric, model_version) = (answer.address.to_string(), MODEL_VERSION.to_owned());
        let term = Data(report::explained(&root));
        (Brief { link, metric, term, is_cut, model_version }, text)
    }
}

impl Answer {
    /// Explanation of a metric of a design, beside a baseline.
    #[must_use]
    pub fn new(
        address: MetricAddress,
        root: Breakdown,
        design: &Design,
        baseline: Option<Design>,
    ) -> Self {
        let query = link::encode(design);
        let page = match address.metric.regime() {
            Regime::Model | Regime::Training => format!("/?{query}"),
            Regime::Serving => format!("{}?{query}", Page::Serving.path()),
            Regime::Budget | Regime::Quality => {
                let query = budget_page::query(design.clone(), baseline);
                format!("{}?{query}", Page::Budget.path())
            }
        };
        Self { address, root, depth: None, page }
    }

    /// The terms down to the level that was asked for, else to this one; and whether that left any
    /// out.
    fn cut(&self, default_depth: usize) -> (Breakdown, bool) {
        let mut root = self.root.clone();
        let is_cut = cut(&mut root, self.depth.unwrap_or(default_depth));
        (root, is_cut)
    }
}

/// Reason why a metric isn't explained.
#[derive(Clone, Debug, PartialEq)]
pub enum Unexplained {
    /// There is no such metric, or it isn't known of this design.
    Unknown(KnobError),
    /// The design has no such part, in a sentence.
    NoPart(String),
    /// The design breaks rules.
    Broken(Vec<Violation>),
}

impl From<Unexplained> for Refusal {
    fn from(why: Unexplained) -> Self {
        match why {
            Unexplained::Unknown(error) => error.into(),
            Unexplained::NoPart(detail) => Self::new("no_such_part", "metric", detail),
            Unexplained::Broken(rules) => Self::broken(&rules),
        }
    }
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
/// The reason why it isn't explained.
pub fn explained(
    design: &Design,
    baseline: Option<&Design>,
    metric: &str,
) -> Result<(MetricAddress, Breakdown), Unexplained> {
    let other = MetricId::find(metric).filter(|id| id.regime().table() != Regime::Training);
    let Some(id) = other else {
        let address = MetricAddress::parse(metric).map_err(Unexplained::Unknown)?;
        let plan = Plan::new(design)?;
        let no_part = || Unexplained::NoPart(missing(&plan, address));
        return Ok((address, explain_at(&plan, address).ok_or_else(no_part)?));
    };
    let explained = match id.regime() {
        Regime::Serving => {
            let plan = ServingPlan::new(design)?;
            model::Answer::Serving { plan: &plan, inference: &infer(&plan) }.explain(id)
        }
        Regime::Quality => {
            let assessment = Assessment::new(design, baseline)?;
            assessment.contest().and_then(|contest| model::Answer::Quality(contest).explain(id))
        }
        Regime::Model | Regime::Training | Regime::Budget => {
            Costed::new(design)?.answer().explain(id)
        }
    };
    let root = explained.ok_or_else(|| Unexplained::Unknown(not_known(id, design, baseline)))?;
    Ok((MetricAddress { metric: id, part: MetricPart::Whole }, root))
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

fn tree(label: &str, value: &Quantity, words: &Words, root: &Breakdown) -> String {
    let mut text = format!(
        "{label} = {value}\n    {}\n    {}  [{}]\n",
        words.definition, root.formula, root.source.title,
    );
    if let Some(substituted) = format::substituted(root) {
        text.push_str(&format!("    = {substituted}\n"));
    }
    root.children.iter().for_each(|child| term(child, 1, &mut text));
    text
}

fn term(breakdown: &Breakdown, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let value = format::in_unit(breakdown.value, breakdown.unit);
    text.push_str(&format!("{indent}{} = {value}\n", breakdown.name));
    if !breakdown.formula.is_empty() {
        text.push_str(&format!(
            "{indent}    {}  [{}]\n",
            breakdown.formula, breakdown.source.title
        ));
    }
    if let Some(substituted) = format::substituted(breakdown) {
        text.push_str(&format!("{indent}    = {substituted}\n"));
    }
    breakdown.children.iter().for_each(|child| term(child, depth + 1, text));
}

/// Removes terms below this many levels; says whether there were any.
fn cut(term: &mut Breakdown, depth: usize) -> bool {
    if depth <= 1 {
        let had_some = !term.children.is_empty();
        term.children.clear();
        return had_some;
    }
    let cuts: Vec<bool> = term.children.iter_mut().map(|term| cut(term, depth - 1)).collect();
    cuts.contains(&true)
}

fn write(term: &Breakdown, level: usize, text: &mut String) {
    let value = format::in_unit(term.value, term.unit);
    let formula =
        if term.formula.is_empty() { String::new() } else { format!(" = {}", term.formula) };
    let from = match term.source.url {
        "" => String::new(),
        url => format!(" [{}, {url}]", term.source.title),
    };
    *text += &format!("{}{}: {value}{formula}{from}\n", "  ".repeat(level), term.name);
    term.children.iter().for_each(|term| write(term, level + 1, text));
}
