//! The experts of a design that serves, as data: those that are kept or on the host, what fits on
//! which machine, and what a trace of tasks says of them.

mod traced;

use model::file::Tree;
use model::pattern::{Goal, Patterns};
use model::serving::experts::{Experts, Published, published};
use model::serving::fits::{Fit, fits};
use model::serving::traced::Traced;
use model::serving::{Inference, ServingPlan, infer};

/// The object of `moescape experts --json`: the experts of a design, and what a router trace says
/// of them, null without one.
///
/// # Errors
/// What of the trace isn't the model's.
pub fn answer(plan: &ServingPlan, patterns: Option<&Patterns>, goal: Goal) -> Result<Tree, String> {
    let said = |patterns| Traced::new(plan, patterns, goal).map(|it| traced::json(&it, patterns));
    let trace = patterns.map(said).transpose()?.unwrap_or(Tree::Null);
    Ok(Tree::map([("experts", section(plan, &infer(plan))), ("trace", trace)]))
}

/// The section `experts` of an inference; null of a model without experts.
#[must_use]
pub fn section(plan: &ServingPlan, inference: &Inference) -> Tree {
    let Some(experts) = Experts::new(plan) else { return Tree::Null };
    let numbers = [
        ("visited_per_token", experts.topk),
        ("expert_bytes", experts.expert_bytes),
        ("model_bytes", experts.model_bytes),
        ("model_bytes_with_mtp", experts.model_bytes_with_mtp),
        ("touched_per_layer", experts.touched(plan, inference)),
        ("imbalance", experts.imbalance),
        ("hit_rate", experts.hit_rate),
        ("host_bytes", experts.host_bytes),
        ("host_memory_gb_per_sec", experts.host.memory_gb_per_sec),
        ("host_tflops", experts.host.tflops),
        ("host_gb_per_sec", experts.host.link_gb_per_sec),
    ];
    let counts = [
        ("routed", experts.routed),
        ("kept", experts.kept),
        ("on_host", experts.on_host),
        ("layers", experts.layers),
    ];
    let design = plan.design();
    let mut entries: Vec<(String, Tree)> =
        counts.map(|(name, count)| (name.to_owned(), Tree::Unsigned(count))).to_vec();
    entries.extend(numbers.map(|(name, number)| (name.to_owned(), Tree::number(number))));
    entries.push(("published".to_owned(), Tree::List(published(design).map(accuracy).collect())));
    entries.push(("fits".to_owned(), Tree::List(fits(design).iter().map(fit).collect())));
    Tree::Map(entries)
}

fn accuracy(row: &Published) -> Tree {
    Tree::map([
        ("model", row.model.into()),
        ("kept", Tree::Unsigned(row.kept)),
        ("topk", Tree::Unsigned(row.topk)),
        ("benchmark", row.benchmark.into()),
        ("accuracy", Tree::number(row.accuracy)),
        ("source", row.source.title.into()),
    ])
}

fn fit(fit: &Fit) -> Tree {
    let [weights, limit] = fit.weights;
    Tree::map([
        ("machine", fit.machine.title.into()),
        ("devices", Tree::Unsigned(fit.machine.devices)),
        ("weight_dtype", fit.format().into()),
        ("most_kept", fit.most_kept.map_or(Tree::Null, Tree::Unsigned)),
        ("kept", Tree::Unsigned(fit.kept)),
        ("fits", fit.is_fitting.into()),
        ("weights_bytes", Tree::number(weights)),
        ("limit_bytes", Tree::number(limit)),
        ("requests", Tree::number(fit.requests.min(1e9))),
    ])
}
