//! What fills the fullest stage, tensor by tensor, and what freeing each module brings and costs.

use model::choice::{Choice, RecomputeGranularity, RecomputeModule, Set, SwapModule, Timing};
use model::design::Design;
use model::estimate::{Estimate, Metrics, StageEstimate, StageMemory};
use model::ledger::{Fate, LayerLedger, SavedTensor, Tensor};
use model::units::Bytes;
use model::{Plan, estimate, layout_loads, ledger};

use crate::bottleneck::fullest_stage;
use crate::format;

/// Where the activations stand among a stage's parts.
pub const ACTIVATIONS: usize = 3;

/// A share of a stage's memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The part of the stage that it belongs to, by its place in [`StageMemory::LABELS`].
    pub part: usize,
    /// What it is.
    pub label: String,
    /// Its size on the stage at its fullest moment.
    pub bytes: Bytes,
}

/// A tensor of a kind of layer, on the fullest stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Of a MoE layer, or of a dense one.
    pub is_moe: bool,
    /// The tensor as one layer saves it for one micro-batch.
    pub saved: SavedTensor,
    /// What all of them take of the stage's memory.
    pub on_stage: Bytes,
}

/// What fills the fullest stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// The stage.
    pub stage: StageEstimate,
    /// Its memory in shares, in the order of [`StageMemory::LABELS`]; they add up to its peak.
    pub shares: Vec<Share>,
    /// Every tensor that its layers save.
    pub rows: Vec<Row>,
    /// Are whole layers computed again? Then a layer keeps its input alone.
    pub whole_layers: bool,
}

/// What fills the fullest stage of a plan; `None` without stages.
///
/// Activations = bytes of the ledger x layers of the stage x micro-batches in flight, scaled so
/// that they add up to the stage's activations: micro-batches in flight hold unlike chunks.
#[must_use]
pub fn composition(plan: &Plan, estimate: &Estimate) -> Option<Composition> {
    let stage = *fullest_stage(estimate)?;
    let design = plan.design();
    let whole_layers = design.memory.recompute_granularity == RecomputeGranularity::Full;
    let ledgers = ledger(plan);
    let counts = Counts::of(plan, stage.stage as usize, &ledgers);
    let mut rows: Vec<Row> = Vec::new();
    for layer in &ledgers {
        let layers = if layer.is_moe { counts.moe } else { counts.dense };
        for saved in layer.tensors.iter().filter(|_| layers > 0.0) {
            let kept = saved.fate == Fate::Kept && !whole_layers;
            let on_stage = if kept { saved.bytes * layers } else { Bytes::ZERO };
            rows.push(Row { is_moe: layer.is_moe, saved: *saved, on_stage });
        }
    }
    let head = layer_input(design, &ledgers) * (2.0 * counts.heads);
    let head = if whole_layers { Bytes::ZERO } else { head };
    let sum = rows.iter().map(|row| row.on_stage.get()).sum::<f64>() + head.get();
    let scale = if sum > 0.0 { stage.memory.activations.get() / sum } else { 0.0 };
    for row in &mut rows {
        row.on_stage = row.on_stage * scale;
    }
    let shares = shares(&stage, &rows, head * scale);
    Some(Composition { stage, shares, rows, whole_layers })
}

fn shares(stage: &StageEstimate, rows: &[Row], head: Bytes) -> Vec<Share> {
    let mut shares = Vec::new();
    for (part, bytes) in stage.memory.parts().into_iter().enumerate() {
        let split = part == ACTIVATIONS && rows.iter().any(|row| row.on_stage.get() > 0.0);
        if !split {
            let label = StageMemory::LABELS[part].to_owned();
            shares.push(Share { part, label, bytes });
            continue;
        }
        let tensors =
            rows.iter().map(|row| Share { part, label: row.label(), bytes: row.on_stage });
        shares.extend(tensors);
        shares.push(Share { part, label: "LM head: input".to_owned(), bytes: head });
    }
    shares.retain(|share| share.bytes.get() > 0.0);
    shares
}

impl Row {
    /// The layer's kind and the tensor: `MoE: queries`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}: {}", kind(self.is_moe), self.saved.tensor.label())
    }

    /// What becomes of the tensor.
    #[must_use]
    pub const fn fate(&self) -> &'static str {
        fate(self.saved.fate)
    }
}

impl Composition {
    /// The largest tensor of the activations.
    #[must_use]
    pub fn largest(&self) -> Option<&Row> {
        let kept = self.rows.iter().filter(|row| row.on_stage.get() > 0.0);
        kept.max_by(|a, b| a.on_stage.get().total_cmp(&b.on_stage.get()))
    }

    /// When the stage is fullest, where that was simulated.
    #[must_use]
    pub fn moment(&self) -> Option<String> {
        let task = self.stage.fullest?;
        Some(format!(
            "when the forward of micro-batch {} starts on chunk {}",
            task.micro_batch, task.chunk
        ))
    }
}

/// A kind of layer in a word.
#[must_use]
pub const fn kind(is_moe: bool) -> &'static str {
    if is_moe { "MoE" } else { "Dense" }
}

/// What becomes of a tensor, in a word.
#[must_use]
pub const fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "kept",
        Fate::Swapped => "swapped",
        Fate::Recomputed => "recomputed",
    }
}

/// The values of the knobs that free a tensor: `recompute mla_qkv or mla_up_proj; swap probs`.
#[must_use]
pub fn freed_by(tensor: Tensor, is_moe: bool) -> String {
    let modules = tensor.recomputed_by(is_moe).iter().map(|module| module.name());
    let modules: Vec<&str> = modules.collect();
    let recompute = (!modules.is_empty()).then(|| format!("recompute {}", modules.join(" or ")));
    let swap = tensor.swapped_by(is_moe).map(|module| format!("swap {}", module.name()));
    let ways: Vec<String> = recompute.into_iter().chain(swap).collect();
    if ways.is_empty() { "whole-layer recomputation only".to_owned() } else { ways.join("; ") }
}

/// Layers of each kind on a stage, MTP layers counted, and heads.
struct Counts {
    dense: f64,
    moe: f64,
    heads: f64,
}

impl Counts {
    /// By the stage's share in what all layers of a kind compute: these are alike.
    fn of(plan: &Plan, stage: usize, ledgers: &[LayerLedger]) -> Self {
        let loads = layout_loads(plan);
        let share = |part: usize| {
            let all: f64 = loads.iter().map(|load| load.parts()[part]).sum();
            let own = loads.get(stage).map_or(0.0, |load| load.parts()[part]);
            if all > 0.0 { own / all } else { 0.0 }
        };
        let mtp = plan.design().transformer.mtp_num_layers as f64;
        let has_moe = ledgers.iter().any(|layer| layer.is_moe);
        let layers = |is_moe: bool| {
            let all = ledgers.iter().find(|layer| layer.is_moe == is_moe);
            let own_mtp = if has_moe == is_moe { mtp } else { 0.0 };
            let all = all.map_or(0.0, |layer| layer.num_layers as f64);
            (all - own_mtp) * share(if is_moe { 2 } else { 1 }) + own_mtp * share(4)
        };
        Self { dense: layers(false), moe: layers(true), heads: share(3) + mtp * share(5) }
    }
}

/// The input of one layer for one micro-batch: of the norms' inputs one.
fn layer_input(design: &Design, ledgers: &[LayerLedger]) -> Bytes {
    let norms = if design.transformer.sandwich_norm { 4.0 } else { 2.0 };
    let mut tensors = ledgers.iter().flat_map(|layer| &layer.tensors);
    let inputs = tensors.find(|saved| saved.tensor == Tensor::NormInputs);
    inputs.map_or(Bytes::ZERO, |saved| saved.bytes * (1.0 / norms))
}

/// What can be freed by a knob of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// By computing it again.
    Recompute(RecomputeModule),
    /// By taking it to the host.
    Swap(SwapModule),
}

impl Module {
    /// Its name with the knob's: `recompute moe_act`.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Self::Recompute(module) => format!("recompute {}", module.name()),
            Self::Swap(module) => format!("swap {}", module.name()),
        }
    }

    /// Every module, in the order of the knobs.
    pub fn all() -> impl Iterator<Item = Self> {
        let recompute = RecomputeModule::ALL.iter().map(|module| Self::Recompute(*module));
        recompute.chain(SwapModule::ALL.iter().map(|module| Self::Swap(*module)))
    }
}

/// What a module alone brings and costs a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// The module.
    pub module: Module,
    /// Is it on in the design?
    pub is_on: bool,
    /// Bytes of the peak that are free with it and not without it.
    pub frees: Bytes,
    /// The share of MFU that is lost with it: 0.01 is one point.
    pub costs: f64,
}

/// What prices are taken against: a design as it is timed, or with the closed form.
pub struct Pricing {
    design: Design,
    now: Metrics,
}

impl Pricing {
    /// Estimates the design; `None` while it breaks a rule.
    #[must_use]
    pub fn new(design: &Design, closed_form: bool) -> Option<Self> {
        let mut quick = design.clone();
        quick.schedule.timing = Timing::ClosedForm;
        // A schedule without a closed form is simulated at once.
        let plan = if closed_form { Plan::new(&quick).ok() } else { None };
        let plan = plan.or_else(|| Plan::new(design).ok())?;
        Some(Self { design: plan.design().clone(), now: estimate(&plan).metrics })
    }

    /// The price of a module turned alone; `None` for one that brings nothing or can't be turned.
    #[must_use]
    pub fn price(&self, module: Module) -> Option<Price> {
        let full = self.design.memory.recompute_granularity == RecomputeGranularity::Full;
        if full && matches!(module, Module::Recompute(_)) {
            return None;
        }
        let other = estimate(&Plan::new(&toggled(&self.design, module)).ok()?).metrics;
        let is_on = is_on(&self.design, module);
        let (with, without) = if is_on { (self.now, other) } else { (other, self.now) };
        let frees = Bytes::new(without.memory_peak.get() - with.memory_peak.get());
        let price = Price { module, is_on, frees, costs: without.mfu - with.mfu };
        (is_on || frees.get() > 0.0).then_some(price)
    }
}

/// The price of every module, with the closed form or as the design is timed.
#[must_use]
pub fn prices(design: &Design, closed_form: bool) -> Vec<Price> {
    let pricing = Pricing::new(design, closed_form);
    pricing.map_or_else(Vec::new, |pricing| {
        Module::all().filter_map(|module| pricing.price(module)).collect()
    })
}

/// Those that no other one beats in both what it frees and what it costs, by what they free.
#[must_use]
pub fn pareto(prices: &[Price]) -> Vec<&Price> {
    let mut sorted: Vec<&Price> = prices.iter().filter(|price| price.frees.get() > 0.0).collect();
    sorted
        .sort_by(|a, b| b.frees.get().total_cmp(&a.frees.get()).then(a.costs.total_cmp(&b.costs)));
    let mut best = f64::INFINITY;
    sorted.retain(|price| {
        let is_best = price.costs < best;
        best = best.min(price.costs);
        is_best
    });
    sorted.reverse();
    sorted
}

/// Is a module on in a design?
#[must_use]
pub fn is_on(design: &Design, module: Module) -> bool {
    match module {
        Module::Recompute(module) => recomputed(design).has(module),
        Module::Swap(module) => design.memory.swap_modules.has(module),
    }
}

/// The design with a module turned on or off.
#[must_use]
pub fn toggled(design: &Design, module: Module) -> Design {
    let mut after = design.clone();
    let memory = &mut after.memory;
    match module {
        Module::Recompute(module) => {
            memory.recompute_modules = flipped(recomputed(design), module);
            memory.recompute_granularity = if memory.recompute_modules.is_empty() {
                RecomputeGranularity::None
            } else {
                RecomputeGranularity::Selective
            };
        }
        Module::Swap(module) => memory.swap_modules = flipped(memory.swap_modules, module),
    }
    after
}

/// The modules that are computed again one by one.
fn recomputed(design: &Design) -> Set<RecomputeModule> {
    let memory = &design.memory;
    match memory.recompute_granularity {
        RecomputeGranularity::Selective => memory.recompute_modules,
        RecomputeGranularity::None | RecomputeGranularity::Full => Set::EMPTY,
    }
}

fn flipped<C: Choice>(set: Set<C>, value: C) -> Set<C> {
    if !set.has(value) {
        return set.with(value);
    }
    set.iter().filter(|other| *other != value).fold(Set::EMPTY, Set::with)
}

/// What a design computes again and swaps, in words.
#[must_use]
pub fn freed_in_words(design: &Design) -> String {
    let memory = &design.memory;
    let recompute = match memory.recompute_granularity {
        RecomputeGranularity::None => "recompute nothing".to_owned(),
        RecomputeGranularity::Full => "recompute whole layers".to_owned(),
        RecomputeGranularity::Selective => format!("recompute {}", named(memory.recompute_modules)),
    };
    let swap = match memory.swap_modules {
        modules if modules.is_empty() => "swap nothing".to_owned(),
        modules => format!("swap {}", named(modules)),
    };
    format!("{recompute}; {swap}")
}

fn named<C: Choice>(set: Set<C>) -> String {
    let names: Vec<String> = set.iter().map(|value| value.name().to_owned()).collect();
    format::list(&names)
}
