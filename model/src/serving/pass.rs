//! The time of one pass of a model over what an attention group has: a step of decode, or a chunk
//! of prompts.

use alloc::vec::Vec;

use super::engine::Overheads;
use super::host::HostExperts;
use super::instance::Instance;
use super::resident::Resident;
use super::routed::routed;
use crate::catalogue::calibration::MEGATRON;
use crate::design::Design;
use crate::device::exchange::Exchanges;
use crate::device::kernel::Cost;
use crate::device::operator::Place;
use crate::device::rows::{Past, Routed, Rows};
use crate::ground::choice::GraphMode;
use crate::ground::tally::Untallied;
use crate::ground::units::Seconds;
use crate::layer::architecture::Architecture;
use crate::layer::elementwise::norm;
use crate::layer::mixer::Mix;
use crate::layer::mlp::Transform;
use crate::layer::transformer_layer::{Loss, Work};

/// Work of a pass, in each attention group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Batch {
    /// Sequences.
    pub(super) sequences: f64,
    /// New tokens of each.
    pub(super) new: u64,
    /// Cached tokens of each.
    pub(super) cached: f64,
}

/// The time of a pass of all layers, stage after stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pass {
    /// Attention over the cache.
    pub(super) core: Seconds,
    /// Mixers without it, and what stands around layers.
    pub(super) mixer: Seconds,
    /// Dense MLPs and shared experts.
    pub(super) mlp: Seconds,
    /// Routed experts, with copies in their order.
    pub(super) experts: Seconds,
    /// Embedding, head and sampling.
    pub(super) ends: Seconds,
    /// Exchanges of tensor parallelism.
    pub(super) tensor_exchanges: Seconds,
    /// Exchanges to experts and back.
    pub(super) expert_exchanges: Seconds,
    /// Sends between stages.
    pub(super) sends: Seconds,
    /// Time of experts on the host beyond the layers' MLPs on the devices.
    pub(super) on_host: Seconds,
    /// Overhead of the engine for layers.
    pub(super) layers: Seconds,
    /// Overhead of the engine for the step.
    pub(super) step: Seconds,
    /// Waiting for the host, which launches kernel by kernel.
    pub(super) host: Seconds,
}

impl Pass {
    /// All of it.
    pub(super) fn time(&self) -> Seconds {
        self.compute() + self.exchanges() + self.on_host + self.layers + self.step + self.host
    }

    /// Time of the devices' operators.
    pub(super) fn compute(&self) -> Seconds {
        self.core + self.mixer + self.mlp + self.experts + self.ends
    }

    /// Time of exchanges.
    pub(super) fn exchanges(&self) -> Seconds {
        self.tensor_exchanges + self.expert_exchanges + self.sends
    }

    /// The parts by name.
    pub(super) fn parts(&self) -> Vec<(&'static str, Seconds)> {
        [
            ("Attention over the cache", self.core),
            ("Projections and norms", self.mixer),
            ("Dense MLP and shared experts", self.mlp),
            ("Routed experts", self.experts),
            ("Embedding, head and sampling", self.ends),
            ("Tensor-parallel exchanges", self.tensor_exchanges),
            ("Expert exchanges", self.expert_exchanges),
            ("Sends between stages", self.sends),
            ("Experts on the host", self.on_host),
            ("Engine, by layer", self.layers),
            ("Engine, by step", self.step),
            ("Waiting for the host", self.host),
        ]
        .into_iter()
        .filter(|(_, time)| *time > Seconds::ZERO)
        .collect()
    }

    /// The times multiplied by a factor.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            core: self.core * factor,
            mixer: self.mixer * factor,
            mlp: self.mlp * factor,
            experts: self.experts * factor,
            ends: self.ends * factor,
            tensor_exchanges: self.tensor_exchanges * factor,
            expert_exchanges: self.expert_exchanges * factor,
            sends: self.sends * factor,
            on_host: self.on_host * factor,
            layers: self.layers * factor,
            step: self.step * factor,
            host: self.host * factor,
        }
    }
}

/// Inputs of a pass beside the batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runner<'a> {
    pub(super) design: &'a Design,
    pub(super) architecture: &'a Architecture,
    pub(super) instance: &'a Instance,
    pub(super) overheads: &'a Overheads,
    /// Mean load of the busiest expert rank over that of all.
    pub(super) skew: f64,
    /// The experts that devices have.
    pub(super) resident: Resident,
    /// Experts of the host, if there are any.
    pub(super) host: Option<HostExperts>,
}

impl Runner<'_> {
    /// Tokens of a batch, of all attention groups.
    fn tokens(&self, batch: &Batch) -> f64 {
        batch.sequences * batch.new as f64 * self.instance.deployment.ranks.dp as f64
    }

    /// The rows of a batch.
    fn rows(&self, batch: &Batch, resident: Resident) -> Rows {
        let on = &self.instance.deployment;
        let group = batch.sequences * batch.new as f64;
        let tokens = self.tokens(batch);
        let even = Routed { kept: 1.0, imbalance: 1.0, fullest: 1.0, touched: 1.0 };
        let moe = self.architecture.moe();
        Rows {
            group,
            own: group,
            seq: batch.new,
            whole: batch.new,
            sequences: (batch.sequences + 0.5) as u64,
            attention_imbalance: 1.0,
            split_share: 1.0,
            routed: moe.map_or(even, |moe| routed(moe, on, tokens, self.skew, resident)),
            past: Some(Past {
                tokens: batch.cached,
                element_bytes: self.design.serving.kv_cache_dtype.bytes(),
            }),
        }
    }

    /// The pass of a batch through all layers.
    ///
    /// Experts on the host are computed there, beside the MLP of the devices, or, for a long chunk
    /// of a prompt, sent to the devices, whichever takes less. Devices wait for what is sent: a
    /// layer's experts come, then it is computed.
    ///
    /// # Source
    /// KTransformers (SOSP 2025), section 3; `Native-Precision-Tutorial.md`, layerwise prefill, one
    /// layer at a time; its prompts of MiniMax-M2.1 in [`super::runs`] take as long as both
    /// together: of 8,192 and 32,768 tokens 12.2 s and 23.7 s on one card, where the experts alone
    /// are sent in 9 s.
    pub(super) fn pass(&self, batch: &Batch) -> Pass {
        let split = self.on_devices(batch, self.resident);
        let Some(host) = &self.host else { return split };
        let layer = host.layer(self.tokens(batch));
        let layers = self.architecture.moe_layers() as f64;
        let computed = Pass {
            on_host: (layer.computed * layers - split.mlp - split.experts).max(Seconds::ZERO),
            ..split
        };
        let Some(sent) = layer.sent else { return computed };
        let sent = Pass { on_host: sent * layers, ..self.on_devices(batch, Resident::ALL) };
        if computed.time() <= sent.time() { computed } else { sent }
    }

    /// The pass of a batch through what devices have.
    fn on_devices(&self, batch: &Batch, resident: Resident) -> Pass {
        let (on, architecture) = (&self.instance.deployment, self.architecture);
        let rows = self.rows(batch, resident);
        let work: Work = Work::new(on, architecture, &rows, Loss::FUSED);
        let mut pass = Pass::default();
        let mut launches = 0.0;
        let overheads = self.overheads;
        for (index, (kind, operators)) in architecture.kinds.iter().zip(&work.kinds).enumerate() {
            let layers = architecture.layers[index] as f64;
            for operator in operators.iter() {
                // Where no visit goes to a device, none of this runs.
                if operator.is_routed && resident.hits == 0.0 {
                    continue;
                }
                let cost = operator.block.forward;
                let part = match operator.place {
                    Place::Core => &mut pass.core,
                    _ if operator.is_routed => &mut pass.experts,
                    Place::Mlp => &mut pass.mlp,
                    Place::MixerInput
                    | Place::Projection
                    | Place::Output
                    | Place::MlpInput
                    | Place::Experts
                    | Place::MlpOutput => &mut pass.mixer,
                };
                *part += Seconds::new(layers * cost.seconds());
                launches += layers * cost.launches;
            }
            let mut exchanges = Exchanges::with_capacity(8);
            kind.mixer.exchanges(on, &rows, &mut exchanges);
            let of_mixer = ExchangeTimes::new(&exchanges);
            let mut exchanges = Exchanges::with_capacity(8);
            kind.mlp.exchanges(on, &rows, &mut exchanges);
            let of_mlp = ExchangeTimes::new(&exchanges);
            pass.tensor_exchanges += (of_mixer.all() + of_mlp.tensor) * layers;
            pass.expert_exchanges += of_mlp.expert * layers;
            let micros = if kind.mlp.moe().is_some() {
                overheads.moe_layer_micros
            } else {
                overheads.dense_layer_micros
            };
            pass.layers += Seconds::micros(layers * micros);
        }
        pass.experts = pass.experts * overheads.experts;
        let ends = self.ends(&rows, batch);
        pass.ends = Seconds::new(ends.seconds() + work.embedding.forward.seconds());
        launches += ends.launches + 1.0;
        pass.step = Seconds::millis(overheads.step_millis);
        let stages = on.ranks.pp;
        if stages > 1 {
            let bytes = on.own_bytes(&rows);
            pass.sends = on.machine.send(bytes) * (stages - 1) as f64;
        }
        if !rows.is_decode() {
            let slower = overheads.prefill[usize::from(architecture.moe().is_some())];
            pass = Pass { layers: pass.layers, step: pass.step, ..pass.times(slower) };
        } else if self.design.serving.graph_mode == GraphMode::None {
            let dispatch = self.design.kernel.dispatch_microseconds;
            let dispatch = Seconds::micros(dispatch.unwrap_or(EAGER_MICROS)) * launches;
            pass.host = (dispatch - pass.compute() - pass.exchanges()).max(Seconds::ZERO);
        }
        if self.design.serving.two_batch_overlap { self.overlapped(batch, pass) } else { pass }
    }

    /// The pass as two halves, whose exchanges run beside each other's compute.
    fn overlapped(&self, _: &Batch, pass: Pass) -> Pass {
        let hidden = pass.expert_exchanges.min(pass.compute()) * HIDDEN_SHARE;
        Pass { expert_exchanges: pass.expert_exchanges - hidden, ..pass }
    }

    /// Head and sampling of one token a sequence, or of each drafted one.
    fn ends(&self, rows: &Rows, batch: &Batch) -> Cost<Untallied> {
        let (on, wide) = (&self.instance.deployment, &self.instance.wide);
        let tokens = if rows.is_decode() { rows.group } else { batch.sequences };
        let hidden = on.backbone.hidden as f64;
        let vocab = on.split(on.backbone.vocab);
        let logits = tokens * vocab;
        let head = wide.linear(tokens, hidden, vocab).forward + norm(on, tokens, hidden).forward;
        // The largest, exponentials and their sum, and the choice.
        head + wide.elementwise(3.0 * 4.0 * logits, 3.0)
    }

    /// Drafts of a step: each depth one layer of its kind, its projection and the head, for one
    /// token of every sequence.
    pub(super) fn draft(&self, batch: &Batch) -> Seconds {
        let (on, architecture) = (&self.instance.deployment, self.architecture);
        let batch = Batch { new: 1, ..*batch };
        let rows = self.rows(&batch, self.resident);
        let work: Work = Work::new(on, architecture, &rows, Loss::FUSED);
        let kind = architecture.mtp.kind.index();
        let layer = work.kinds[kind].total().forward + work.mtp_extra.forward;
        let ends = self.ends(&rows, &batch);
        let mut exchanges = Exchanges::with_capacity(8);
        architecture.kinds[kind].mixer.exchanges(on, &rows, &mut exchanges);
        architecture.kinds[kind].mlp.exchanges(on, &rows, &mut exchanges);
        let sent = ExchangeTimes::new(&exchanges);
        let overhead = self.overheads.moe_layer_micros.max(self.overheads.dense_layer_micros);
        let tokens = self.tokens(&batch);
        let on_host = self.host.as_ref().map_or(Seconds::ZERO, |host| host.layer(tokens).computed);
        let computed = Seconds::new(layer.seconds() + ends.seconds());
        computed + sent.tensor + sent.expert + on_host + Seconds::micros(overhead)
    }
}

/// Host time of a kernel that is launched without a graph, in microseconds: as in training.
const EAGER_MICROS: f64 = MEGATRON.dispatch_micros / 5.0;

/// Share of exchanges that two halves of a batch hide.
const HIDDEN_SHARE: f64 = 0.8;

/// The time of a forward's exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ExchangeTimes {
    /// To experts and back.
    expert: Seconds,
    /// All others.
    tensor: Seconds,
}

impl ExchangeTimes {
    fn new(exchanges: &Exchanges) -> Self {
        let mut times = Self::default();
        for exchange in exchanges.iter() {
            let [(_, forward), _] = exchange.calls.passes;
            let is_expert = exchange.axis == crate::ground::axis::Axis::Ep;
            let own = if is_expert { &mut times.expert } else { &mut times.tensor };
            *own += Seconds::new(forward * exchange.seconds);
        }
        times
    }

    fn all(self) -> Seconds {
        self.tensor + self.expert
    }
}
