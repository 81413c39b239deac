//! The machine that a model's layers run on, cut into ranks: all that a formula of a layer reads
//! beside the sizes of its kind and the rows that it works on.
//!
//! Nothing here knows of batches, schedules or optimizers, so that training, prefill and decode
//! call the same formulas.

use crate::catalogue::accelerator::Accelerator;
use crate::catalogue::calibration::Host;
use crate::design::{Design, Kernel};
use crate::device::kernel::Device;
use crate::device::rows::Rows;
use crate::device::topology::{Machine, ulysses_ranks};
use crate::ground::choice::{
    ContextParallelAlgo, Dispatcher, FlexBackend, LoraModule, ModelPart, Precision,
};
use crate::layer::backbone::Backbone;
use crate::layer::ranks::Ranks;
use crate::layer::tuning::Tuning;

/// Backbone, ranks, machine and kernels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Deployment {
    pub(crate) backbone: Backbone,
    pub(crate) ranks: Ranks,
    pub(crate) machine: Machine,
    pub(crate) accelerator: Accelerator,
    /// Costs of the framework's host.
    pub(crate) host: Host,
    pub(crate) device: Device,
    /// Which kernels the framework runs.
    pub(crate) kernel: Kernel,
    pub(crate) precision: Precision,
    pub(crate) dispatch: Dispatch,
    pub(crate) context: ContextParallelAlgo,
    pub(crate) tuning: Tuning,
}

/// Dispatch of tokens to their experts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dispatch {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) backend: FlexBackend,
    /// Whether an all-to-all takes its two levels one after the other.
    pub(crate) is_hierarchical: bool,
}

impl Dispatch {
    pub(crate) fn new(design: &Design) -> Self {
        let schedule = &design.schedule;
        Self {
            dispatcher: schedule.moe_token_dispatcher_type,
            backend: schedule.moe_flex_dispatcher_backend,
            is_hierarchical: schedule.moe_hierarchical_alltoallv,
        }
    }
}

impl Deployment {
    /// The deployment of a design on an accelerator with these constants, whose matrix products
    /// have this peak.
    pub(crate) fn new(design: &Design, accelerator: Accelerator, host: Host, peak: f64) -> Self {
        let context = design.parallel.context_parallel_algo;
        let ulysses = match context {
            ContextParallelAlgo::A2a => design.parallel.context_parallel_size,
            ContextParallelAlgo::Hybrid => ulysses_ranks(design),
            ContextParallelAlgo::P2p | ContextParallelAlgo::Allgather => 1,
        };
        Self {
            backbone: Backbone::new(design),
            ranks: Ranks::new(design, ulysses),
            machine: Machine::new(design, &accelerator),
            device: Device::new(design, &accelerator, &host, peak),
            accelerator,
            host,
            kernel: design.kernel.clone(),
            precision: design.training.precision,
            dispatch: Dispatch::new(design),
            context,
            tuning: Tuning::new(design),
        }
    }

    /// The share of a width that one TP rank has.
    pub(crate) fn split(&self, width: u64) -> f64 {
        width as f64 / self.ranks.tp as f64
    }

    /// Bytes of one stored activation element.
    pub(crate) fn element_bytes(&self) -> f64 {
        self.precision.stored_bytes()
    }

    /// Bytes of rows on all residual streams, as one rank keeps them: n T' h.
    pub(crate) fn stream_bytes(&self, rows: &Rows) -> f64 {
        self.own_bytes(rows) * self.backbone.streams as f64
    }

    /// Bytes of rows as wide as one residual stream, as one rank keeps them: T' h.
    pub(crate) fn own_bytes(&self, rows: &Rows) -> f64 {
        rows.own * self.backbone.hidden as f64 * self.element_bytes()
    }

    /// Bytes of an element that a linear layer keeps for the gradient of its weight.
    pub(crate) fn linear_input_bytes(&self) -> f64 {
        self.element_bytes().min(self.precision.operand_bytes())
    }

    /// Bytes of an element that a linear layer of this part keeps of its input: as the gradient of
    /// its weight reads it, in 16 bits as its adapter does, or 0 if nothing of it is trained.
    pub(crate) fn kept_input_bytes(&self, part: ModelPart, module: LoraModule) -> f64 {
        if self.tuning.trains(part) {
            self.linear_input_bytes()
        } else if self.tuning.adapts(module) {
            self.element_bytes()
        } else {
            0.0
        }
    }

    /// Whether the input embedding's table is trained; tied to the head it is frozen with it.
    pub(crate) fn trains_embedding(&self) -> bool {
        let is_free = self.tuning.trains(ModelPart::Embedding);
        is_free && (self.backbone.is_untied || self.tuning.trains(ModelPart::OutputLayer))
    }

    /// Whether the output head's table is trained; tied to the embedding it is frozen with it.
    pub(crate) fn trains_head(&self) -> bool {
        let is_free = self.tuning.trains(ModelPart::OutputLayer);
        is_free && (self.backbone.is_untied || self.tuning.trains(ModelPart::Embedding))
    }
}
