//! The kinds of layers that a model has, and the pattern in which they follow each other.
//!
//! A layer is a mixer and an MLP. What is counted, timed or held for each layer is counted, timed
//! or held once for each kind.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::design::{Design, LayerOverrides, Size};
use crate::ground::choice::{AttentionFlops, ModelPart};
use crate::layer::deployment::Deployment;
use crate::layer::mixer::{Mix, Mixer};
use crate::layer::mlp::{Mlp, Moe, Transform};
use crate::layer::params::{Cut, Matrices, Params};

/// Kinds of layers that one model may have. Those of MTP layers are among them.
pub(crate) const MAX_KINDS: usize = 8;

/// Number of pairs of a mixer's and an MLP's variant.
const MAX_PAIRS: usize = Mixer::MAX_VARIANTS * Mlp::MAX_VARIANTS;

/// Something of each kind of layer.
pub(crate) type PerKind<T> = [T; MAX_KINDS];

/// Index of a kind among those of its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct KindId(u8);

impl KindId {
    /// Its place in what there is of each kind.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Kind of a layer without its sizes: variants of mixer and MLP, and the overrides that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    mixer: usize,
    mlp: usize,
    /// The clauses of sizes that differ by layer, a bit for each.
    clauses: u64,
}

impl Variant {
    /// A variant with the sizes of all layers.
    const fn plain(mixer: usize, mlp: usize) -> Self {
        Self { mixer, mlp, clauses: 0 }
    }

    /// The variant of a layer whose sizes may be its own.
    fn own(design: &Design, overrides: &LayerOverrides, layer: u64) -> Self {
        let clauses = overrides.at(layer);
        let is_gone = |size| overrides.size(clauses, size) == Some(0);
        let (mut mixer, mut mlp) = (Mixer::variant(design, layer), Mlp::variant(design, layer));
        if is_gone(Size::Heads) {
            mixer = Mixer::NOTHING;
        }
        if is_gone(Size::Ffn) && mlp == Mlp::DENSE {
            mlp = Mlp::NOTHING;
        }
        Self { mixer, mlp, clauses }
    }

    /// The kind of layers that it is.
    fn kind(&self, design: &Design) -> LayerKind {
        let kind = |design: &Design, values| LayerKind {
            mixer: Mixer::new(design, self.mixer).with_values(design, values),
            mlp: Mlp::new(design, self.mlp),
            has_own_sizes: self.clauses > 0,
        };
        match &design.transformer.layer_overrides {
            Some(overrides) if self.clauses > 0 => {
                let values = overrides.size(self.clauses, Size::Values);
                kind(&overridden(design, overrides, self.clauses), values)
            }
            Some(_) | None => kind(design, None),
        }
    }
}

/// A design whose layers all have the sizes of those for which these clauses hold; sizes that are
/// zero there stay.
pub(crate) fn overridden(design: &Design, overrides: &LayerOverrides, clauses: u64) -> Design {
    let mut design = design.clone();
    let to = &mut design.transformer;
    let own = |size| overrides.size(clauses, size).filter(|value| *value > 0);
    to.num_attention_heads = own(Size::Heads).unwrap_or(to.num_attention_heads);
    to.num_query_groups = own(Size::Groups).or(to.num_query_groups);
    to.kv_channels = own(Size::Width).or(to.kv_channels);
    to.v_head_dim = own(Size::Values).unwrap_or(to.v_head_dim);
    to.window_size = own(Size::Window).or(to.window_size);
    to.ffn_hidden_size = own(Size::Ffn).unwrap_or(to.ffn_hidden_size);
    to.moe_ffn_hidden_size = own(Size::Expert).or(to.moe_ffn_hidden_size);
    let shared = own(Size::Shared).or(to.moe_shared_expert_intermediate_size);
    to.moe_shared_expert_intermediate_size = shared;
    to.layer_overrides = None;
    design
}

/// The kinds of layers of sizes that differ, in the order in which they are met.
pub(crate) struct OwnSizes {
    kinds: Vec<(Variant, LayerKind)>,
    layers: Vec<KindId>,
}

impl OwnSizes {
    pub(crate) fn new(design: &Design, overrides: &LayerOverrides) -> Self {
        let mut own = Self { kinds: Vec::new(), layers: Vec::new() };
        // The kind of each variant, as far as they are known.
        let mut known: Vec<(Variant, KindId)> = Vec::new();
        for layer in 0..design.transformer.num_layers {
            let variant = Variant::own(design, overrides, layer);
            let id = known.iter().find(|(known, _)| *known == variant).map(|(_, id)| *id);
            let id = id.unwrap_or_else(|| {
                let id = KindId(own.id(variant, variant.kind(design)) as u8);
                known.push((variant, id));
                id
            });
            own.layers.push(id);
        }
        own
    }

    /// The place of a kind, which is added where it is another.
    fn id(&mut self, variant: Variant, kind: LayerKind) -> usize {
        let is_like =
            |(_, known): &(Variant, LayerKind)| known.mixer == kind.mixer && known.mlp == kind.mlp;
        self.kinds.iter().position(is_like).unwrap_or_else(|| {
            self.kinds.push((variant, kind));
            self.kinds.len() - 1
        })
    }

    /// Number of kinds.
    pub(crate) fn count(&self) -> usize {
        self.kinds.len()
    }
}

/// The kinds of a design's layers one after the other, without their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// Variants of each kind, dense layers in front.
    variants: Vec<Variant>,
    /// Layers of each kind.
    counts: PerKind<u64>,
    /// Kind of each layer, from the first to the last, MTP layers not counted.
    pub(crate) layers: Vec<KindId>,
    /// Kind of MTP layers, where the design says which.
    mtp: Option<KindId>,
}

impl Pattern {
    pub(crate) fn new(design: &Design) -> Self {
        if let Some(overrides) = &design.transformer.layer_overrides {
            return Self::with_own_sizes(design, overrides);
        }
        let mixers = Mixer::MAX_VARIANTS;
        let mut of_pairs = [0; MAX_PAIRS];
        let pair = |layer| {
            let pair = Mlp::variant(design, layer) * mixers + Mixer::variant(design, layer);
            of_pairs[pair] += 1;
            KindId(pair as u8)
        };
        let mut layers: Vec<KindId> = (0..design.transformer.num_layers).map(pair).collect();
        let mut variants = Vec::with_capacity(MAX_KINDS);
        let (mut counts, mut ids) = ([0; MAX_KINDS], [KindId::default(); MAX_PAIRS]);
        for pair in (0..MAX_PAIRS).filter(|pair| of_pairs[*pair] > 0) {
            // More kinds than there may be are a rule's to refuse.
            let id = variants.len().min(MAX_KINDS - 1);
            ids[pair] = KindId(id as u8);
            counts[id] += of_pairs[pair];
            if variants.len() < MAX_KINDS {
                variants.push(Variant::plain(pair % mixers, pair / mixers));
            }
        }
        layers.iter_mut().for_each(|layer| *layer = ids[layer.index()]);
        let mtp = Self::mtp_variants(design).map(|kind| {
            let known = variants.iter().position(|known| *known == kind);
            let id = known.unwrap_or_else(|| {
                variants.push(kind);
                variants.len() - 1
            });
            KindId(id.min(MAX_KINDS - 1) as u8)
        });
        variants.truncate(MAX_KINDS);
        Self { variants, counts, layers, mtp }
    }

    /// The pattern where sizes differ by layer: one kind for each distinct set of sizes.
    fn with_own_sizes(design: &Design, overrides: &LayerOverrides) -> Self {
        let mut own = OwnSizes::new(design, overrides);
        let pair = |variant: &Variant| variant.mlp * Mixer::MAX_VARIANTS + variant.mixer;
        let mut order: Vec<usize> = Vec::with_capacity(own.kinds.len());
        for known in 0..MAX_PAIRS {
            let ids = 0..own.kinds.len();
            order.extend(ids.filter(|id| pair(&own.kinds[*id].0) == known));
        }
        let mut counts = [0; MAX_KINDS];
        let place = |id: &mut KindId| {
            let place = order.iter().position(|known| *known == id.index()).unwrap_or(0);
            let place = place.min(MAX_KINDS - 1);
            counts[place] += 1;
            *id = KindId(place as u8);
        };
        own.layers.iter_mut().for_each(place);
        let variants = order.iter().take(MAX_KINDS).map(|id| own.kinds[*id].0).collect();
        Self { variants, counts, layers: own.layers, mtp: None }
    }

    /// Variants of the layers of MTP where a pattern of sub-layers or of ratios says which these
    /// are: the mixer and the MLP of a depth.
    fn mtp_variants(design: &Design) -> Option<Variant> {
        let transformer = &design.transformer;
        if let Some(ratios) = &transformer.attention_compress_ratios {
            let (layers, said) = (transformer.num_layers, ratios.layers.len() as u64);
            let mlp = Mlp::variant(design, layers - 1);
            let own = Variant::plain(Mixer::variant(design, layers), mlp);
            return (said > layers && transformer.mtp_num_layers > 0).then_some(own);
        }
        let pattern = transformer.hybrid_layer_pattern.as_ref()?;
        let first = pattern.mtp.first()?;
        let mixer = pattern.mtp.iter().find(|symbol| symbol.mixes()).unwrap_or(first);
        let mlp = pattern.mtp.iter().find(|symbol| !symbol.mixes()).unwrap_or(first);
        Some(Variant::plain(Mixer::of_symbol(*mixer), Mlp::of_symbol(*mlp)))
    }

    /// Layers of each kind in a range.
    pub(crate) fn counts(layers: &[KindId]) -> PerKind<f64> {
        let mut counts = [0.0; MAX_KINDS];
        layers.iter().for_each(|kind| counts[kind.index()] += 1.0);
        counts
    }
}

/// A kind of layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LayerKind {
    pub(crate) mixer: Mixer,
    pub(crate) mlp: Mlp,
    /// Whether sizes are its own, which its name tells.
    has_own_sizes: bool,
}

/// Layers that predict tokens further ahead, each with a projection and a head of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mtp {
    pub(crate) layers: u64,
    /// Their kind: that of the last layer with experts, where the model has any, else of the last.
    pub(crate) kind: KindId,
    /// Whether they are one layer, run again for each.
    pub(crate) is_repeated: bool,
}

/// Kinds and pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Architecture {
    /// Kinds, dense layers in front.
    pub(crate) kinds: Vec<LayerKind>,
    /// Layers of each kind, MTP layers not counted.
    pub(crate) layers: PerKind<u64>,
    pub(crate) pattern: Pattern,
    pub(crate) mtp: Mtp,
    /// Whether layers differ by what mixes their tokens, or have something in place of attention.
    pub(crate) is_mixed: bool,
}

impl Architecture {
    pub(crate) fn new(design: &Design) -> Self {
        let pattern = Pattern::new(design);
        let kinds: Vec<LayerKind> =
            pattern.variants.iter().map(|variant| variant.kind(design)).collect();
        let layers = pattern.counts;
        let has_experts = |id: &&KindId| kinds[id.index()].mlp.moe().is_some();
        let last = pattern.layers.iter().rev().find(has_experts).or(pattern.layers.last());
        let kind = pattern.mtp.or_else(|| last.copied()).unwrap_or_default();
        let mtp = Mtp {
            layers: design.transformer.mtp_num_layers,
            kind,
            is_repeated: design.transformer.mtp_use_repeated_layer,
        };
        Self { kinds, layers, pattern, mtp, is_mixed: design.transformer.is_mixed() }
    }

    /// The ids of this many kinds.
    pub(crate) fn ids(kinds: usize) -> impl Iterator<Item = KindId> {
        (0..kinds as u8).map(KindId)
    }

    /// The experts of its MoE layers, where it has any.
    pub(crate) fn moe(&self) -> Option<&Moe> {
        self.kinds.iter().find_map(|kind| kind.mlp.moe())
    }

    /// Layers with experts, MTP layers not counted.
    pub(crate) fn moe_layers(&self) -> u64 {
        let with = self.kinds.iter().zip(self.layers).filter(|(kind, _)| kind.mlp.moe().is_some());
        with.map(|(_, layers)| layers).sum()
    }

    /// All layers, MTP layers not counted.
    pub(crate) fn num_layers(&self) -> u64 {
        self.pattern.layers.len() as u64
    }

    /// The kind of MTP layers.
    pub(crate) fn mtp_kind(&self) -> &LayerKind {
        &self.kinds[self.mtp.kind.index()]
    }

    /// Layers of each kind, MTP layers among them.
    pub(crate) fn all_layers(&self) -> PerKind<u64> {
        let mut layers = self.layers;
        layers[self.mtp.kind.index()] += self.mtp.layers;
        layers
    }
}

impl LayerKind {
    /// Its name: by its MLP, and by its mixer where that isn't full attention; a sub-layer's by
    /// what it is.
    pub(crate) fn name(&self) -> String {
        let mixer = self.mixer.name();
        let mlp = match self.mlp {
            Mlp::Dense(dense) if self.has_own_sizes => format!("dense {}", dense.width),
            Mlp::Dense(_) | Mlp::Moe(_) | Mlp::Nothing(_) => self.mlp.layer_name().into(),
        };
        match (self.parts(), mixer) {
            (0, _) => String::from("no-op"),
            (2, None) => mlp,
            (2, Some(mixer)) => format!("{mlp}, {mixer}"),
            (_, Some(mixer)) => format!("{mixer} alone"),
            (_, None) => format!("{mlp} alone"),
        }
    }

    /// Mixer and MLP: two, or one of them in a sub-layer.
    pub(crate) fn parts(&self) -> u64 {
        u64::from(!self.mixer.is_nothing()) + u64::from(!self.mlp.is_nothing())
    }

    /// Its norms: one in front of each part, and one behind where there are sandwich norms.
    pub(crate) fn norms(&self, on: &Deployment) -> u64 {
        on.backbone.norms_per_layer() / 2 * self.parts()
    }

    /// Parameters of its norms.
    pub(crate) fn norm_params(&self, on: &Deployment) -> u128 {
        u128::from(self.norms(on)) * on.backbone.norm_params()
    }

    /// Parameters of its hyper-connections: a mapping for each part.
    pub(crate) fn stream_params(&self, on: &Deployment) -> u128 {
        u128::from(self.parts()) * on.backbone.stream_params()
    }

    /// Parameters of one layer, its norms among them.
    pub(crate) fn params(&self, on: &Deployment) -> Params {
        let around = self.norm_params(on) + self.stream_params(on);
        let norms = Params { replicated: around, ..Params::default() };
        self.mixer.params(on).plus(self.mlp.params(on)).plus(norms)
    }

    /// Parameters of one MTP layer without embedding and head: the projection of 2 h to h, two
    /// norms before it and one behind the layer come to those of a layer.
    ///
    /// # Source
    /// Megatron-Core `multi_token_prediction.py`.
    pub(crate) fn mtp_params(&self, on: &Deployment) -> Params {
        let (h, norm) = (u128::from(on.backbone.hidden), on.backbone.norm_params());
        let around = Params { replicated: 3 * norm, tensor: 2 * h * h, expert: 0 };
        self.params(on).plus(around)
    }

    /// Parameters of one layer that are trained, adapters not counted.
    pub(crate) fn trained_params(&self, on: &Deployment) -> Params {
        let mut frozen = self.mlp.frozen(on);
        if !on.tuning.trains(ModelPart::SelfAttention) {
            frozen = frozen.plus(self.mixer.params(on));
        }
        if !on.tuning.trains_norms() {
            frozen.replicated += self.norm_params(on) + self.stream_params(on);
        }
        self.params(on).without(frozen)
    }

    /// Parameters of the matrices that one token meets in a layer and that aren't trained.
    pub(crate) fn frozen_matrix_params(&self, on: &Deployment) -> f64 {
        let is_free = on.tuning.trains(ModelPart::SelfAttention);
        let mixer = if is_free { 0.0 } else { self.mixer.matrix_params(on) };
        let mapped = if on.tuning.trains_norms() { 0.0 } else { self.mapped(on) };
        mixer + self.mlp.frozen_matrix_params(on) + mapped
    }

    /// Ranks that hold each routed expert, in the mean.
    pub(crate) fn expert_copies(&self) -> f64 {
        self.mlp.moe().map_or(1.0, Moe::copies)
    }

    /// Forward FLOPs of one token in one layer.
    pub(crate) fn flops(&self, on: &Deployment, seq: u64, convention: AttentionFlops) -> f64 {
        2.0 * (self.mixer.matrix_params(on) + self.mlp.matrix_params(on) + self.mapped(on))
            + self.mixer.score_flops(seq, convention)
    }

    /// Parameters of the matrices that map streams.
    fn mapped(&self, on: &Deployment) -> f64 {
        let backbone = &on.backbone;
        (self.parts() * backbone.streams * backbone.hidden * backbone.stream_columns()) as f64
    }

    /// Weight matrices, as an optimizer that works on matrices sees them.
    pub(crate) fn matrices(&self, on: &Deployment, add: &mut dyn FnMut(Matrices)) {
        let backbone = &on.backbone;
        if backbone.streams > 1 {
            let shape = [backbone.stream_columns(), backbone.streams * backbone.hidden];
            let mapping = Matrices::dense(shape.map(|size| size as f64), Cut::Nothing);
            add(Matrices { count: self.parts() as f64, ..mapping });
        }
        self.mixer.matrices(on, add);
        self.mlp.matrices(on, add);
    }
}
