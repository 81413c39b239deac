//! `experts`: which experts a design keeps, what fits where, and what a router trace of tasks says
//! of them.

mod text;
mod traced;

use std::path::PathBuf;

use clap::builder::PossibleValue;
use model::MODEL_VERSION;
use model::design::link;
use model::routing::pattern::{Generator, Goal, Patterns};
use model::serving::experts::Experts as Kept;
use model::serving::traced::Traced;
use model::serving::{Inference, ServingPlan, infer};
use present::site::Page;
use reports::experts::{OfExperts, of_experts};
use reports::typed::{Written, answers};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::input::DesignInput;
use crate::names::Names;
use crate::numbers::{Data, titled};
use crate::operation::Operation;
use crate::refusal::Refusal;
use traced::{OfTrace, of_trace};

/// The verb.
pub struct Experts;

/// Arguments of the verb.
#[derive(clap::Args, Deserialize, JsonSchema)]
#[schemars(rename = "ExpertsInput")]
pub struct Input {
    /// Design.
    #[command(flatten)]
    #[serde(flatten)]
    of: DesignInput,
    /// Take the router scores of tasks in this file: CSV, JSON or Parquet with task, layer, expert,
    /// tcess (or logit), or with token and logit the logits of tokens
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    #[serde(skip)]
    trace: Option<PathBuf>,
    /// Generate scores of so many tasks instead, marked as generated
    #[arg(long, value_name = "TASKS")]
    #[serde(skip)]
    generate: Option<usize>,
    /// The seed of what is generated
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    #[serde(skip)]
    seed: u64,
    /// How kept experts are shared out over layers, where there is a trace
    #[arg(long, value_name = "HOW", default_value = "equal")]
    #[serde(skip)]
    share: Share,
    /// Print published runs with experts on the host, beside what is predicted of them
    #[arg(long)]
    #[serde(skip)]
    host_runs: bool,
}

/// Objective by which kept experts are shared out over layers.
#[derive(Clone, Copy, Debug)]
struct Share(Goal);

impl Default for Share {
    fn default() -> Self {
        Self(Goal::Equal)
    }
}

impl clap::ValueEnum for Share {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Goal::Equal), Self(Goal::Mean), Self(Goal::Least)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            Goal::Equal => "As many of each layer",
            Goal::Mean => "So that all layers together are covered best",
            Goal::Least => "So that the layer that is covered least is covered best",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

impl Input {
    /// Input of a design's link, beside which the caller may have router scores; or they are
    /// generated, of a number of tasks by a seed.
    #[must_use]
    pub fn of_link(link: String, generated: Option<(usize, u64)>, goal: Goal) -> Self {
        let (generate, seed) = (generated.map(|it| it.0), generated.map_or(1, |it| it.1));
        let (of, share) = (DesignInput::of_link(link), Share(goal));
        Self { of, trace: None, generate, seed, share, host_runs: false }
    }

    /// Router scores that the caller has, or that are generated.
    fn patterns(&self, kept: &Kept, caller: &dyn Caller) -> Result<Option<Patterns>, Refusal> {
        let recorded = caller.patterns(self.trace.as_deref(), kept.visited())?;
        let Some(tasks) = self.generate else { return Ok(recorded) };
        if recorded.is_some() {
            let detail = "there is a trace and `generate`: one of them is enough";
            return Err(Refusal::new("several_traces", "generate", detail));
        }
        let (layers, routed) = (kept.layers as usize, kept.routed as usize);
        let most = Patterns::MAX_SCORES;
        let detail = format!("tasks x layers x experts are between 1 and {most}");
        let refused = || Refusal::new("out_of_range", "generate", detail);
        Generator::new(self.seed, tasks, layers, routed).patterns().ok_or_else(refused).map(Some)
    }
}

/// Experts of a design.
pub struct Answer {
    plan: ServingPlan,
    inference: Inference,
    kept: Kept,
    experts: OfExperts,
    /// Router scores of tasks, and what they say of the design.
    traced: Option<(Patterns, Traced)>,
    has_host_runs: bool,
}

answers! {
    /// The object of `moescape experts --json`.
    #[cfg_attr(feature = "schema", schemars(rename = "Experts"))]
    struct ExpertsSaid {
        /// Null for a model without experts.
        experts: Option<OfExperts>,
        /// What a router trace says; null without one.
        trace: Option<OfTrace>,
    }
}

/// Answer for agents.
#[derive(Serialize, JsonSchema)]
pub struct Brief {
    link: String,
    experts: Data<OfExperts>,
    model_version: String,
}

impl Operation for Experts {
    const NAME: &'static str = "experts";
    const SUMMARY: &'static str = "Tell which experts to keep: what fits where, what a trace of \
        tasks covers, what changes cost";
    const TITLE: &'static str = "Experts that are kept";
    const DESCRIPTION: &'static str = "Tells of a model that serves which experts are kept, pruned \
        (serving.experts_kept) or on the host (serving.experts_on_host), how many fit on which \
        machine, and what is published of the accuracy then. Which experts matter for a task is \
        known from a router trace alone: `moescape experts --trace`.";
    const HAS_ROUTE: bool = false;
    type Input = Input;
    type Answer = Answer;
    type Output = ExpertsSaid;
    type Brief = Brief;

    fn run(input: Input, caller: &dyn Caller) -> Result<Answer, Refusal> {
        let (design, _) = input.of.read(Names::Serving, caller)?;
        let plan = ServingPlan::new(&design).map_err(|rules| Refusal::broken(&rules))?;
        let inference = infer(&plan);
        let experts = Kept::new(&plan).zip(of_experts(&plan, &inference));
        let (kept, experts) =
            experts.ok_or_else(|| Refusal::new("no_experts", "", "the model has no experts"))?;
        let traced = |patterns| {
            let traced = Traced::new(&plan, &patterns, input.share.0);
            let traced = traced.map_err(|why| Refusal::new("other_trace", "", why));
            traced.map(|traced| (patterns, traced))
        };
        let traced = input.patterns(&kept, caller)?.map(traced).transpose()?;
        Ok(Answer { plan, inference, kept, experts, traced, has_host_runs: input.host_runs })
    }

    fn output(answer: &Answer) -> Written<ExpertsSaid> {
        let trace = answer.traced.as_ref();
        Written::of(ExpertsSaid {
            experts: Some(answer.experts.clone()),
            trace: trace.map(|(patterns, traced)| of_trace(traced, patterns)),
        })
    }

    fn text(answer: &Answer) -> String {
        let mut text = text::experts(&answer.plan, &answer.kept, &answer.inference);
        if let Some((patterns, traced)) = &answer.traced {
            text.push_str(&text::traced(traced, patterns));
        }
        if answer.has_host_runs {
            text.push_str(&text::host_runs());
        }
        text
    }

    fn brief(answer: &Answer, caller: &dyn Caller) -> (Brief, String) {
        let experts = answer.experts.clone();
        let query = link::encode(answer.plan.design());
        let link = caller.link(&format!("{}?{query}", Page::Serving.path()));
        let fits = experts.fits.iter().filter(|fit| fit.fits).map(|fit| {
            format!("{} x {} ({}), {} kept", fit.devices, fit.machine, fit.weight_dtype, fit.kept)
        });
        let text = format!(
            "{} of {} experts kept in each of {} layers, {} on the host\n{}{link}\n",
            experts.kept,
            experts.routed,
            experts.layers,
            experts.on_host,
            titled("Fits on", &fits.collect::<Vec<_>>())
        );
        let (experts, model_version) = (Data(experts), MODEL_VERSION.to_owned());
        (Brief { link, experts, model_version }, text)
    }
}
