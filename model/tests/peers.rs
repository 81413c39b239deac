//! Counts of other tools beside ours, on their own inputs: parameters, FLOPs, saved tensors, static
//! memory, volumes of communication, schedules.
//!
//! Where a definition is the same, the numbers are equal. Where they differ, a test adds the named
//! difference to our number and finds theirs, so that each verdict below is a checked fact. The
//! numbers in `peers/*.json` were computed by the tool at the commit that is named there; its
//! inputs are written as our knobs.
//!
//! SimuMax
//! - Equal: parameters; weights, gradients and states of every stage; buffers of data parallelism
//!   (theirs whole, ours the (n - 1) / n that a rank sends); forward FLOPs of layers and head; what
//!   head and loss save; checkpoints; dispatched bytes.
//! - It rounds the rows of each expert up to 16; ours are the mean. Both hold: its kernels pad.
//! - Backward FLOPs: it counts what flash attention runs, 2.5 forwards; model FLOPs count two.
//!   Both hold, by definition. Of what runs, ours is right: a causal kernel skips masked scores,
//!   and it computes all of them.
//! - Saved: it keeps the log-sum of exponentials in two bytes. Ours is right: the kernel writes
//!   fp32.
//! - Saved: it drops the rotary columns of MLA's latent. Ours is right unless the norm copies its
//!   input: they are one tensor with the columns that are normed.
//! - Saved: eight bytes per token and expert for routing, ours five. Open: ours are probabilities
//!   in fp32 and a map of bytes, a fused permutation has a wider map.
//!
//! Megatron-LM, `theoretical_memory_usage.py`
//! - Equal: parameters; micro-batches in flight; static memory of even stages but for the final
//!   norm, of which it gives every stage a share.
//! - It spreads 61 layers evenly over 16 stages and splits MLA's down-projections over TP. Ours is
//!   right: Megatron's stages have whole layers, and its down-projections are replicated.
//! - Saved: it has dropout, as many keys as queries, no gate and no experts. Ours is right: it
//!   prices a MoE layer of DeepSeek-V3 at less than half of what the layer keeps.
//!
//! mbridge
//! - Equal: micro-batches in flight; checkpoints; stages as sums of layers.
//! - It leaves out routers and the norms that are fused into a linear layer, in parameters and in
//!   static memory. Ours is right: both have weights, gradients and states.
//! - Saved: it adds outputs of modules, so that queries and keys count twice under MLA and the
//!   queries three times outside. Ours is right: attention keeps its inputs once.
//!
//! llm-analysis
//! - Equal: parameters of tied models; FLOPs of dense models; checkpoints.
//! - It has one table where embedding and head are untied. Ours is right for Llama and Mixtral.
//! - FLOPs: it recomputes the head with the layers, and counts one expert for top-2, without its
//!   router. Ours is right.
//! - Static memory: it splits routers, final norm and gradients of norms over TP, and has the final
//!   norm on every stage. Ours is right: they are replicated, and the last stage has the norm.
//! - Saved: norms in fp32, as many keys as queries, one input of a gate. Ours is right: kernels
//!   keep 16 bits, keys are grouped, a gate has two inputs. Its dropout mask is a choice.
//!
//! Calculon
//! - Equal: volumes of TP and PP (theirs whole, ours what a rank sends); checkpoints; layers in
//!   flight, of which it counts the one at work apart.
//! - Parameters: it has no final norm, its weights have no biases and no tables. Ours is right:
//!   GPT-3 has them, and its own number of parameters counts the biases.
//! - FLOPs: it adds vector kernels. Both hold, by definition.
//! - Saved: masks of dropout. Both hold: GPT-3 had dropout, ours has none. Its selective
//!   recomputation without sequence parallelism forgets two of the masks.
//!
//! Primus, zero-bubble, PP-Schedule-Visualization
//! - Equal: every step of equal stages to 1e-9, and every count in flight that Primus gives.
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

#[path = "peers/calculon.rs"]
mod calculon;
#[path = "peers/llm_analysis.rs"]
mod llm_analysis;
#[path = "peers/mbridge.rs"]
mod mbridge;
#[path = "peers/megatron_lm.rs"]
mod megatron_lm;
#[path = "peers/schedules.rs"]
mod schedules;
#[path = "peers/simumax.rs"]
mod simumax;

use model::design::{Design, KnobId};
use model::ground::axis::{Axis, Collective};
use model::ground::choice::RecomputeGranularity;
use model::metric::{MetricAddress, MetricId};
use model::training::estimate::Estimate;
use model::{Plan, estimate, explain_at};
use serde_json::Value;

pub(crate) const GIB: f64 = 1_073_741_824.0;

/// One run of another tool: its inputs as a design, and what it computed.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) design: Design,
    theirs: Value,
}

/// The runs in a file.
pub(crate) fn cases(text: &str) -> Vec<Case> {
    let file: Value = serde_json::from_str(text).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    cases.iter().map(Case::read).collect()
}

impl Case {
    fn read(value: &Value) -> Self {
        let mut design = Design::from_preset(value["preset"].as_str().unwrap()).unwrap();
        for (knob, value) in value["settings"].as_object().unwrap() {
            set(&mut design, knob, value.as_str().unwrap());
        }
        let name = value["name"].as_str().unwrap().to_owned();
        Self { name, design, theirs: value["theirs"].clone() }
    }

    /// Value that the other tool computed.
    #[track_caller]
    pub(crate) fn theirs(&self, key: &str) -> f64 {
        self.known(key).unwrap_or_else(|| panic!("{} has no {key}", self.name))
    }

    /// Value of the other tool, where it reports that for some runs only.
    pub(crate) fn known(&self, key: &str) -> Option<f64> {
        self.theirs.get(key).and_then(Value::as_f64)
    }

    /// Values of the other tool, one per stage.
    pub(crate) fn list(&self, key: &str) -> Vec<f64> {
        let list = self.theirs[key].as_array().unwrap();
        list.iter().map(|number| number.as_f64().unwrap()).collect()
    }

    pub(crate) fn plan(&self) -> Plan {
        self.legal(&self.design)
    }

    fn legal(&self, design: &Design) -> Plan {
        Plan::new(design).unwrap_or_else(|broken| panic!("{}: {broken:#?}", self.name))
    }

    pub(crate) fn estimate(&self) -> Estimate {
        estimate(&self.plan())
    }

    /// Layers of this kind.
    pub(crate) fn count(&self, kind: Kind) -> f64 {
        let transformer = &self.design.transformer;
        let layers = 0..transformer.num_layers;
        let is_of_kind = |layer: &u64| transformer.is_moe_layer(*layer) == (kind == Kind::Moe);
        layers.filter(is_of_kind).count() as f64
    }

    pub(crate) fn has(&self, kind: Kind) -> bool {
        self.count(kind) > 0.0
    }

    /// Estimate of the run cut down to `count` layers of one kind on one stage.
    pub(crate) fn layers(&self, kind: Kind, count: u64) -> Estimate {
        let mut design = self.design.clone();
        let world = design.cluster.num_devices / design.parallel.pipeline_model_parallel_size;
        let flag = u8::from(kind == Kind::Moe);
        for (knob, value) in [
            ("num_devices", world.to_string()),
            ("num_layers", count.to_string()),
            ("moe_layer_freq", format!("([{flag}]*{count})")),
            ("pipeline_model_parallel_size", "1".to_owned()),
            ("virtual_pipeline_model_parallel_size", "1".to_owned()),
            ("pipeline_model_parallel_layout", "none".to_owned()),
            ("noop_layers", "none".to_owned()),
            ("method", "1f1b".to_owned()),
        ] {
            set(&mut design, knob, &value);
        }
        if design.memory.recompute_granularity == RecomputeGranularity::Full {
            set(&mut design, "recompute_granularity", "none");
        }
        estimate(&self.legal(&design))
    }

    /// Bytes that one layer keeps of one micro-batch on one device.
    pub(crate) fn layer_saved(&self, kind: Kind) -> f64 {
        let kept = |count| self.layers(kind, count).stages[0].memory.activations.get();
        kept(2) - kept(1)
    }

    /// Parameters of one layer on one device.
    pub(crate) fn layer_params(&self, kind: Kind) -> u128 {
        let held = |count| self.layers(kind, count).stages[0].params;
        held(2) - held(1)
    }

    /// Forward FLOPs of a micro-batch in a part of the model, over all its devices: `"dense"`,
    /// `"MoE"` (one layer) or `"head"`.
    pub(crate) fn forward_flops(&self, part: &str) -> f64 {
        let sum =
            explain_at(&self.plan(), MetricAddress::whole(MetricId::flops_per_token)).unwrap();
        let term = sum.children.iter().find(|term| term.name.contains(part)).unwrap();
        let layers = term.name.split(' ').next().unwrap().parse::<f64>().unwrap_or(1.0);
        term.value / 3.0 / layers * self.tokens()
    }

    /// Tokens of a micro-batch.
    pub(crate) fn tokens(&self) -> f64 {
        let training = &self.design.training;
        (training.seq_length * training.micro_batch_size) as f64
    }

    /// TP.
    pub(crate) fn tp(&self) -> f64 {
        self.design.parallel.tensor_model_parallel_size as f64
    }

    /// Ranks that split norms and residuals.
    pub(crate) fn sp(&self) -> f64 {
        if self.design.parallel.sequence_parallel { self.tp() } else { 1.0 }
    }

    /// Widths of a head's query and value.
    pub(crate) fn head_widths(&self) -> (f64, f64) {
        let t = &self.design.transformer;
        if t.multi_latent_attention {
            return ((t.qk_head_dim + t.qk_pos_emb_head_dim) as f64, t.v_head_dim as f64);
        }
        let width = t.kv_channels.unwrap_or(t.hidden_size / t.num_attention_heads) as f64;
        (width, width)
    }

    pub(crate) fn hidden(&self) -> f64 {
        self.design.transformer.hidden_size as f64
    }

    pub(crate) fn heads(&self) -> f64 {
        self.design.transformer.num_attention_heads as f64
    }

    /// Elements of the hidden state of a micro-batch on one device between blocks.
    pub(crate) fn hidden_elements(&self) -> f64 {
        self.tokens() / self.sp() * self.hidden()
    }

    /// Micro-batches of a step.
    pub(crate) fn micro_batches(&self) -> f64 {
        self.plan().num_microbatches() as f64
    }
}

fn set(design: &mut Design, knob: &str, value: &str) {
    design.set_text(KnobId::find(knob).unwrap(), value).unwrap();
}

/// The two kinds of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Dense,
    Moe,
}

impl Kind {
    pub(crate) const BOTH: [Self; 2] = [Self::Dense, Self::Moe];

    /// As our own terms spell it.
    pub(crate) fn part(self) -> &'static str {
        if self == Self::Dense { "dense" } else { "MoE" }
    }

    /// As the files of numbers spell it.
    pub(crate) fn key(self, rest: &str) -> String {
        format!("{}_{rest}", if self == Self::Dense { "dense_layer" } else { "moe_layer" })
    }
}

/// Bytes that one call of this kind sends, on all links together; zero without such calls.
pub(crate) fn call_bytes(estimate: &Estimate, axis: Axis, collective: Collective) -> f64 {
    let rows = estimate.communication.iter();
    rows.filter(|row| (row.axis, row.collective) == (axis, collective))
        .map(|row| row.bytes_per_call.get())
        .sum()
}

/// Bytes that a device sends on an axis in a step, mean over all devices.
pub(crate) fn step_bytes(estimate: &Estimate, axis: Axis) -> f64 {
    let rows = estimate.communication.iter();
    rows.filter(|row| row.axis == axis).map(|row| row.bytes.get()).sum()
}

/// Checks a number for equality by the same definition.
#[track_caller]
pub(crate) fn same(what: &str, ours: f64, theirs: f64) {
    close(what, ours, theirs, 1e-12);
}

/// Checks a number for equality up to rounding on the way.
#[track_caller]
pub(crate) fn close(what: &str, ours: f64, theirs: f64, relative: f64) {
    let scale = ours.abs().max(theirs.abs());
    assert!((ours - theirs).abs() <= relative * scale, "{what}: ours {ours}, theirs {theirs}");
}

/// Checks a number for equality where the other tool prints this many decimals.
#[track_caller]
pub(crate) fn rounds_to(what: &str, ours: f64, theirs: f64, decimals: i32) {
    let half = 0.500_001 * 10_f64.powi(-decimals);
    assert!((ours - theirs).abs() <= half, "{what}: ours {ours}, theirs {theirs}");
}
