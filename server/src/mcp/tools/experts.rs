//! `experts`: which experts a design keeps, and what fits on which machine.

use model::serving::{ServingPlan, infer};
use model::{MODEL_VERSION, design::link};
use present::site::Page;
use reports::experts::{OfExperts, of_experts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use operations::Names;
use operations::DesignInput;
use operations::{self as said, Refusal, Data};
use crate::mcp::tool::{Answer, Tool};
use operations::Caller;

pub(in crate::mcp) struct Experts;

#[derive(Deserialize, JsonSchema)]
pub(in crate::mcp) struct Input {
    #[serde(flatten)]
    of: DesignInput,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Output {
    link: String,
    experts: Data<OfExperts>,
    model_version: String,
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

    fn run(input: Input, call: &dyn Caller) -> Answer<Output> {
        let (design, _) = input.of.read(Names::Serving, call)?;
        let plan = ServingPlan::new(&design).map_err(|rules| Refusal::broken(&rules))?;
        let experts = of_experts(&plan, &infer(&plan))
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
            said::titled("Fits on", &fits.collect::<Vec<_>>())
        );
        let (experts, model_version) = (Data(experts), MODEL_VERSION.to_owned());
        Ok((Output { link, experts, model_version }, text))
    }
}
