//! The plan of a design that serves.

use super::engine::Overheads;
use super::host::{LAYER_TIME, OnHost};
use super::instance::Instance;
use super::ranks::{Layout, pools};
use super::resident::kept_alone;
use crate::catalogue::accelerator::Accelerator;
use crate::design::Design;
use crate::ground::choice::Disaggregation;
use crate::layer::architecture::Architecture;
use crate::metric::MetricId;

/// Instances of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replicas {
    /// Instances that prefill alone.
    pub prefill: u64,
    /// Instances that decode, or do all.
    pub decode: u64,
}

/// A design whose serving breaks no rule, with every size resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ServingPlan {
    pub(super) design: Design,
    /// The design as if the model had only the experts that are kept.
    pub(super) served: Design,
    pub(super) architecture: Architecture,
    /// Bytes of a parameter of an expert on the host.
    pub(super) on_host: OnHost,
    pub(super) overheads: Overheads,
    pub(super) decode: Instance,
    /// Where prompts have devices of their own.
    pub(super) prefill: Option<Instance>,
    /// Instances of both.
    pub(super) replicas: Replicas,
}

impl ServingPlan {
    /// The plan of a design that breaks no rule, with an engine's overheads: how a calibration
    /// tries values that the table doesn't hold.
    #[must_use]
    pub fn with_overheads(design: &Design, overheads: Overheads) -> Self {
        let on_host = OnHost {
            bytes_per_parameter: design.serving.weight_dtype.bytes(),
            layer_time: LAYER_TIME,
        };
        Self::on_card(design, overheads, design.cluster.accelerator.row(), on_host)
    }

    /// Plan on a card that designs can't name, with experts on the host in a way of their own.
    pub(super) fn on_card(
        design: &Design,
        overheads: Overheads,
        row: &Accelerator,
        on_host: OnHost,
    ) -> Self {
        let layout = Layout::decode(design);
        let served = kept_alone(design);
        let decode = Instance::on(&served, layout, &overheads, row);
        let is_apart = design.serving.disaggregation == Disaggregation::PrefillDecode;
        let of_prefill = Layout::prefill(design);
        let prefill = is_apart.then(|| Instance::on(&served, of_prefill, &overheads, row));
        let [prompts, answers] = pools(design);
        Self {
            architecture: Architecture::new(&served),
            served,
            on_host,
            replicas: Replicas {
                prefill: if is_apart { (prompts / of_prefill.devices()).max(1) } else { 0 },
                decode: (answers / layout.devices()).max(1),
            },
            overheads,
            decode,
            prefill,
            design: design.clone(),
        }
    }

    /// The design that was checked.
    #[must_use]
    pub const fn design(&self) -> &Design {
        &self.design
    }

    /// Parameters of the model as one of the metrics counts them; none by any other.
    #[must_use]
    pub fn params(&self, metric: MetricId) -> Option<u128> {
        let (on, architecture) = (&self.decode.deployment, &self.architecture);
        let [total, active] = [architecture.params_total(on), architecture.params_active(on)];
        let table = on.backbone.table_params();
        let known = [
            (MetricId::params_total, total),
            (MetricId::params_active, active),
            (MetricId::params_total_no_input_embedding, total - table),
            (MetricId::params_active_no_input_embedding, active - table),
        ];
        known.into_iter().find(|(known, _)| *known == metric).map(|(_, count)| count)
    }

    /// Number of instances.
    #[must_use]
    pub const fn replicas(&self) -> Replicas {
        self.replicas
    }

    /// The layout of an instance that decodes.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.decode.layout
    }

    /// The layout of an instance that prefills alone, where there are such.
    #[must_use]
    pub fn prefill_layout(&self) -> Option<Layout> {
        self.prefill.as_ref().map(|instance| instance.layout)
    }
}
