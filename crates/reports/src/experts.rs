//! The experts of a design that serves, as data: those that are kept or on the host, and what fits
//! on which machine.

use model::metric::published::Accuracy as PublishedAccuracy;
use model::serving::capacity::{Capacity, capacities};
use model::serving::experts::{Experts, published};
use model::serving::{Inference, ServingPlan};

use crate::typed::answers;

answers! {
    /// The experts of a model that serves.
    struct OfExperts {
        /// Routed experts of a layer.
        routed: u64,
        /// Of these kept.
        kept: u64,
        /// Of these on the host.
        on_host: u64,
        /// Layers with experts.
        layers: u64,
        visited_per_token: f64,
        /// Of one.
        expert_bytes: f64,
        model_bytes: f64,
        model_bytes_with_mtp: f64,
        /// Experts that a step of decode touches in a layer.
        touched_per_layer: f64,
        imbalance: f64,
        /// The share of visits to experts on devices.
        hit_rate: f64,
        host_bytes: f64,
        host_memory_gb_per_sec: f64,
        host_tflops: f64,
        host_gb_per_sec: f64,
        /// Published accuracies with a share of the experts.
        published: Vec<Accuracy>,
        /// What fits on which machine.
        fits: Vec<FitOn>,
    }

    /// A published accuracy with a share of the experts.
    struct Accuracy {
        model: &'static str,
        kept: u64,
        topk: u64,
        benchmark: &'static str,
        accuracy: f64,
        source: &'static str,
    }

    /// Whether a model's experts fit on a machine.
    struct FitOn {
        machine: &'static str,
        devices: u64,
        weight_dtype: &'static str,
        /// Experts of a layer that fit, at most; null where none do.
        most_kept: Option<u64>,
        kept: u64,
        fits: bool,
        weights_bytes: f64,
        limit_bytes: f64,
        /// Requests that there is room for beside them.
        requests: f64,
    }
}

/// The section `experts` of an inference; none of a model without experts.
#[must_use]
pub fn of_experts(plan: &ServingPlan, inference: &Inference) -> Option<OfExperts> {
    let experts = Experts::new(plan)?;
    let design = plan.design();
    Some(OfExperts {
        routed: experts.routed,
        kept: experts.kept,
        on_host: experts.on_host,
        layers: experts.layers,
        visited_per_token: experts.topk,
        expert_bytes: experts.expert_bytes.get(),
        model_bytes: experts.model_bytes.get(),
        model_bytes_with_mtp: experts.model_bytes_with_mtp.get(),
        touched_per_layer: experts.touched(plan, inference),
        imbalance: experts.imbalance,
        hit_rate: experts.hit_rate,
        host_bytes: experts.host_bytes.get(),
        host_memory_gb_per_sec: experts.host.memory_gb_per_sec,
        host_tflops: experts.host.tflops,
        host_gb_per_sec: experts.host.link_gb_per_sec,
        published: published(design).map(accuracy).collect(),
        fits: capacities(design).iter().map(fit).collect(),
    })
}

fn accuracy(row: &PublishedAccuracy) -> Accuracy {
    Accuracy {
        model: row.model,
        kept: row.kept,
        topk: row.topk,
        benchmark: row.benchmark,
        accuracy: row.figure.value,
        source: row.figure.source.title,
    }
}

fn fit(fit: &Capacity) -> FitOn {
    FitOn {
        machine: fit.machine.title,
        devices: fit.machine.devices,
        weight_dtype: fit.format(),
        most_kept: fit.most_kept,
        kept: fit.kept,
        fits: fit.is_fitting,
        weights_bytes: fit.weights.get(),
        limit_bytes: fit.limit.get(),
        requests: fit.requests.min(1e9),
    }
}
