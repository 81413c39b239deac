//! What fills the fullest stage, tensor by tensor, and what freeing each module brings and costs.

use model::answer::ledger::{Fate, LayerLedger, SavedTensor, Tensor};
use model::design::Design;
use model::ground::choice::{Choice, RecomputeGranularity, RecomputeModule, Set, SwapModule};
use model::ground::pareto::front;
use model::ground::sorting::sort_short;
use model::ground::units::Bytes;
use model::schedule::Task;
use model::training::estimate::{Estimate, Metrics, StageEstimate};
use model::{Content, Filling, Plan, contents, estimate, ledger};

use crate::insight::bottleneck::fullest_stage;

/// Memory contents of the fullest stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// The stage.
    pub stage: StageEstimate,
    /// Its contents at the moment of its peak, the largest first; the parts add up to the peak.
    pub contents: Vec<Filling>,
    /// Activations that each kind of layer saves for one micro-batch.
    pub ledgers: Vec<LayerLedger>,
}

/// Memory contents of a plan's fullest stage; `None` without stages.
#[must_use]
pub fn composition(plan: &Plan, estimate: &Estimate) -> Option<Composition> {
    let stage = *fullest_stage(estimate)?;
    Some(Composition { stage, contents: contents(plan, &stage), ledgers: ledger(plan) })
}

impl Composition {
    /// The tensors that layers save, in the order of a forward, each once.
    #[must_use]
    pub fn tensors(&self) -> Vec<Tensor> {
        let all = self.ledgers.iter().flat_map(|layer| &layer.tensors);
        let mut tensors = Vec::new();
        for saved in all {
            if !tensors.contains(&saved.tensor) {
                tensors.push(saved.tensor);
            }
        }
        tensors
    }

    /// The kinds of layers, those with experts in front, and a tensor as each saves it; `None`
    /// where a kind hasn't got it.
    pub fn saved(
        &self,
        tensor: Tensor,
    ) -> impl Iterator<Item = (&LayerLedger, Option<&SavedTensor>)> {
        self.ledgers
            .iter()
            .rev()
            .map(move |layer| (layer, layer.tensors.iter().find(|saved| saved.tensor == tensor)))
    }

    /// Bytes of a part on the stage.
    #[must_use]
    pub fn on_stage(&self, content: Content) -> Bytes {
        let part = self.contents.iter().find(|part| part.content == content);
        part.map_or(Bytes::ZERO, |part| part.bytes)
    }
}

/// The moment at which a stage is fullest, in words.
#[must_use]
pub fn moment(task: Task) -> String {
    format!("when the forward of micro-batch {} starts on chunk {}", task.micro_batch, task.chunk)
}

/// Word for the fate of a tensor.
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
pub fn freed_by(saved: &SavedTensor) -> String {
    let modules: Vec<&str> = saved.recomputed_by.iter().map(|module| module.name()).collect();
    let recompute = (!modules.is_empty()).then(|| format!("recompute {}", modules.join(" or ")));
    let swap = saved.swapped_by.map(|module| format!("swap {}", module.name()));
    let ways: Vec<String> = recompute.into_iter().chain(swap).collect();
    if ways.is_empty() { "whole-layer recomputation only".to_owned() } else { ways.join("; ") }
}

/// Module whose memory a knob of its own frees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// Recomputation in the backward pass.
    Recompute(RecomputeModule),
    /// Swap to host memory.
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

    /// Its name alone: `moe_act`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Recompute(module) => module.name(),
            Self::Swap(module) => module.name(),
        }
    }

    /// Every module, in the order of the knobs.
    pub fn all() -> impl Iterator<Item = Self> {
        let recompute = RecomputeModule::ALL.iter().map(|module| Self::Recompute(*module));
        recompute.chain(SwapModule::ALL.iter().map(|module| Self::Swap(*module)))
    }
}

/// Effect of a module alone on a design: bytes freed and MFU lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// The module.
    pub module: Module,
    /// Whether the module is on in the design.
    pub is_on: bool,
    /// Bytes of the peak that are free with it and not without it.
    pub frees: Bytes,
    /// Share of MFU that is lost with it: 0.01 is one point.
    pub costs: f64,
}

/// The price of every module that can be turned alone and brings something.
#[must_use]
pub fn prices(plan: &Plan) -> Vec<Price> {
    let now = estimate(plan).metrics;
    Module::all().filter_map(|module| price(plan, &now, module)).collect()
}

fn price(plan: &Plan, now: &Metrics, module: Module) -> Option<Price> {
    let design = plan.design();
    let full = design.memory.recompute_granularity == RecomputeGranularity::Full;
    if full && matches!(module, Module::Recompute(_)) {
        return None;
    }
    let other = estimate(&plan.variant(&toggled(design, module)).ok()?).metrics;
    let is_on = is_on(design, module);
    let (with, without) = if is_on { (now, &other) } else { (&other, now) };
    let frees = Bytes::new(without.memory_peak.get() - with.memory_peak.get());
    let price = Price { module, is_on, frees, costs: without.mfu - with.mfu };
    (is_on || frees.get() > 0.0).then_some(price)
}

/// Pareto-optimal prices in freed bytes and cost, by freed bytes.
#[must_use]
pub fn pareto(prices: &[Price]) -> Vec<&Price> {
    let freeing = prices.iter().filter(|price| price.frees.get() > 0.0);
    let mut best = front(freeing, |price| [price.frees.get(), -price.costs]);
    sort_short(&mut best, |a, b| a.frees.get().total_cmp(&b.frees.get()));
    best
}

/// Whether a module is on in a design.
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
