//! `experts`: which experts a design keeps, and what fits on which machine.

use app::site::Page;
use model::pattern::Goal;
use model::serving::ServingPlan;
use model::{MODEL_VERSION, link};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experts;
use crate::mcp::asked::DesignAsked;
use crate::mcp::said::{self, Refusal};
use crate::mcp::tool::{Answer, Call, Tool};
use crate::names::Names;

pub(in crate::mcp) struct Experts;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    #[serde(flatten)]
    of: DesignAsked,
}

/// How many experts of each layer a machine holds.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Fit {
    machine: String,
    devices: u64,
    weight_dtype: String,
    /// The most experts of each layer that fit; null where none do.
    most_kept: Option<u64>,
    kept: u64,
    fits: bool,
    weights_bytes: f64,
    limit_bytes: f64,
    /// Requests that the memory holds then.
    requests: f64,
}

/// A published accuracy with fewer experts: measured by its source, not predicted.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Published {
    model: String,
    kept: u64,
    topk: u64,
    benchmark: String,
    accuracy: f64,
    source: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Section {
    routed: u64,
    kept: u64,
    on_host: u64,
    layers: u64,
    visited_per_token: f64,
    expert_bytes: f64,
    model_bytes: f64,
    /// Distinct experts of a layer that a step of decode meets.
    touched_per_layer: f64,
    /// The load of the busiest device over the mean, by the design's `routing` knobs: generated
    /// unless `routing.balance` is `trace`.
    imbalance: f64,
    /// The share of visits that find their expert on the device; of a stated or generated load.
    hit_rate: f64,
    host_bytes: f64,
    published: Vec<Published>,
    fits: Vec<Fit>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    link: String,
    experts: Section,
    model_version: String,
}

#[derive(Deserialize)]
struct Report {
    experts: Option<Section>,
}

impl Tool for Experts {
    const NAME: &'static str = "experts";
    const TITLE: &'static str = "Experts that are kept";
    const DESCRIPTION: &'static str = "Tells of a model that serves which experts are kept, pruned \
        (serving.experts_kept) or on the host (serving.experts_on_host), how many fit on which \
        machine, and what is published of the accuracy then. Which experts matter for a task is \
        known from a router trace alone: `moescape experts --trace`.";
    type Input = Input;
    type Output = Output;

    fn run(input: Input, call: &Call) -> Answer<Output> {
        let (design, _) = input.of.read(Names::Serving)?;
        let plan = ServingPlan::new(&design).map_err(|rules| said::broken(&rules))?;
        let answer = experts::answer(&plan, None, Goal::Equal);
        let answer = answer.map_err(|why| Refusal::new("no_experts", "", why))?;
        let report: Report = said::typed(&answer)?;
        let experts = report
            .experts
            .ok_or_else(|| Refusal::new("no_experts", "", "the model has no experts"))?;
        let address = format!("{}?{}", Page::Serving.path(), link::encode(&design));
        let link = call.link(&address);
        let fits = experts.fits.iter().filter(|fit| fit.fits).map(|fit| {
            format!("{} x {} ({}), {} kept", fit.devices, fit.machine, fit.weight_dtype, fit.kept)
        });
        let text = format!(
            "{} of {} experts kept in each of {} layers, {} on the host\n{}{link}\n",
            experts.kept,
            experts.routed,
            experts.layers,
            experts.on_host,
            said::said("Fits on", &fits.collect::<Vec<_>>())
        );
        Ok((Output { link, experts, model_version: MODEL_VERSION.to_owned() }, text))
    }
}
