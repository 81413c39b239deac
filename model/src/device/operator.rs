//! The operators of a layer as a list: what estimates, recomputation, rooflines, pairs and ledgers
//! walk instead of knowing each operator by a name of their own.

use alloc::vec::Vec;

use crate::device::kernel::{Block, Cost};
use crate::ground::choice::{RecomputeModule, Set};
use crate::ground::tally::{Tally, Untallied};

/// Place of an operator in its layer, in the order of a forward.
///
/// Exchanges are between these places ([`crate::device::exchange::Hop`]); the operators of a place
/// run one after the other without a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In front of the mixer, on a rank's own tokens: norm, down-projections to latents.
    MixerInput,
    /// Projections in front of the mixer's core.
    Projection,
    /// The mixer's core: scores, softmax and values of attention.
    Core,
    /// The mixer's output projection.
    Output,
    /// In front of the MLP, on a rank's own tokens: residual, norm, router, copies in expert order.
    MlpInput,
    /// The dense MLP, or the shared experts.
    Mlp,
    /// Routed experts, between dispatch and combine.
    Experts,
    /// Behind the MLP, on a rank's own tokens: weighted sum of the experts, residual.
    MlpOutput,
}

impl Place {
    /// Number of places.
    pub(crate) const COUNT: usize = Self::MlpOutput as usize + 1;
}

/// When a layer's operator, exchange or saved tensor is made a second time for its backward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Again {
    /// The innermost module whose recomputation makes it again; `None` if only that of the whole
    /// layer does.
    pub(crate) module: Option<RecomputeModule>,
    /// Whether MindSpeed's `--moe-zero-memory level1` makes it again.
    pub(crate) at_level_1: bool,
    /// Whether no recomputation makes it again: its result isn't needed by any backward.
    pub(crate) never: bool,
}

impl Again {
    /// With the whole layer alone.
    pub(crate) const LAYER: Self = Self { module: None, at_level_1: false, never: false };

    /// With this module, with those that enclose it, and with the whole layer.
    pub(crate) const fn with(module: RecomputeModule) -> Self {
        Self { module: Some(module), ..Self::LAYER }
    }

    /// Also at MindSpeed's zero-memory level 1.
    pub(crate) const fn at_level_1(self) -> Self {
        Self { at_level_1: true, ..self }
    }

    /// Not at all, if that is so.
    pub(crate) const fn never_if(self, never: bool) -> Self {
        Self { never, ..self }
    }

    /// Whether recomputing this module makes it again.
    pub(crate) fn belongs_to(&self, module: RecomputeModule) -> bool {
        self.is_within(Set::EMPTY.with(module))
    }

    /// Whether recomputing any of these modules makes it again.
    pub(crate) fn is_within(&self, modules: Set<RecomputeModule>) -> bool {
        self.module.is_some_and(|own| modules.meets(enclosing(own).with(own)))
    }
}

/// The modules that a module is a part of.
pub(crate) fn enclosing(module: RecomputeModule) -> Set<RecomputeModule> {
    use RecomputeModule as Module;
    match module {
        Module::MlaUpProj => Set::EMPTY.with(Module::MlaQkv),
        Module::MlaKv => Set::EMPTY.with(Module::MlaQkv).with(Module::MlaUpProj),
        Module::MoePermute | Module::MoeAct | Module::SharedExperts => Set::EMPTY.with(Module::Moe),
        Module::CoreAttn | Module::MlaQkv | Module::Layernorm | Module::Mlp | Module::Moe => {
            Set::EMPTY
        }
    }
}

/// Whether the mixer's backward needs what this module makes again; else the MLP's does.
pub(crate) const fn is_of_mixer(module: RecomputeModule) -> bool {
    use RecomputeModule as Module;
    matches!(module, Module::CoreAttn | Module::MlaQkv | Module::MlaUpProj | Module::MlaKv)
}

/// One operator of a layer, or several of one name at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Operator<T: Tally = Untallied> {
    /// Its name on a roofline; operators of a kind of layer that share it are shown as one.
    pub(crate) name: &'static str,
    pub(crate) place: Place,
    pub(crate) again: Again,
    /// Whether its rows are known only when tokens are routed: it follows the loads, and a
    /// recorded graph of dense parts leaves it out.
    pub(crate) is_routed: bool,
    pub(crate) block: Block<T>,
}

/// The operators of one layer, in the order of a forward within each place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Operators<T: Tally = Untallied>(Vec<Operator<T>>);

impl<T: Tally> Operators<T> {
    pub(crate) fn with_capacity(operators: usize) -> Self {
        Self(Vec::with_capacity(operators))
    }

    /// Adds an operator of known rows.
    pub(crate) fn push(&mut self, name: &'static str, place: Place, again: Again, block: Block<T>) {
        self.0.push(Operator { name, place, again, is_routed: false, block });
    }

    /// Adds an operator whose rows follow from routing.
    pub(crate) fn push_routed(
        &mut self,
        name: &'static str,
        place: Place,
        again: Again,
        block: Block<T>,
    ) {
        self.0.push(Operator { name, place, again, is_routed: true, block });
    }

    /// The first `count` of them, in a list with room for as many more.
    pub(crate) fn first(&self, count: usize) -> Self {
        let mut first = Self::with_capacity(self.0.capacity());
        first.0.extend_from_slice(&self.0[..count]);
        first
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Operators that don't follow the loads.
    pub(crate) fn unrouted(&self) -> Self {
        let mut known = Self::with_capacity(self.0.len());
        known.0.extend(self.0.iter().filter(|operator| !operator.is_routed));
        known
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Operator<T>> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Operator<T>> {
        self.0.iter_mut()
    }

    /// Takes the gradients of weights away where this says so.
    pub(crate) fn freeze(&mut self, is_frozen: impl Fn(&Operator<T>) -> bool) {
        for operator in self.0.iter_mut().filter(|operator| is_frozen(operator)) {
            operator.block.weight_grad = Cost::ZERO;
        }
    }

    /// All passes of all operators.
    pub(crate) fn total(&self) -> Block<T> {
        self.0.iter().fold(Block::default(), |sum, operator| sum + operator.block)
    }

    /// The forward of those that this says are made again.
    pub(crate) fn made_again(&self, is_again: impl Fn(&Again) -> bool) -> Cost<T> {
        let again = self.0.iter().filter(|operator| is_again(&operator.again));
        again.fold(Cost::ZERO, |sum, operator| sum + operator.block.forward)
    }
}
