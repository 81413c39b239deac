//! Sizes that differ by layer.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::ground::text::{closest, shorten};

/// A size that layers may have of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Query heads; none of them is no attention.
    Heads,
    /// Key and value heads.
    Groups,
    /// Width of a head.
    Width,
    /// Width of a head's value, which other attention has as wide as its key.
    Values,
    /// Tokens that a query looks back.
    Window,
    /// Inner width of a dense MLP; zero is none.
    Ffn,
    /// Inner width of a routed expert.
    Expert,
    /// Inner width of all shared experts together.
    Shared,
}

/// Their names, those of the knobs that other layers follow, with bounds.
const SIZES: [(Size, &str, u64, u64); 8] = [
    (Size::Heads, "num_attention_heads", 0, 4_096),
    (Size::Groups, "num_query_groups", 1, 4_096),
    (Size::Width, "kv_channels", 1, 4_096),
    (Size::Values, "v_head_dim", 1, 4_096),
    (Size::Window, "window_size", 1, 16_777_216),
    (Size::Ffn, "ffn_hidden_size", 0, 1_048_576),
    (Size::Expert, "moe_ffn_hidden_size", 1, 1_048_576),
    (Size::Shared, "moe_shared_expert_intermediate_size", 1, 1_048_576),
];

/// Sizes that some layers have of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clause {
    /// First and last of each row of layers.
    layers: Vec<[u64; 2]>,
    sizes: Vec<(Size, u64)>,
}

/// Sizes of single layers in place of those that all have: `0-9,17:num_query_groups=8;
/// 20:ffn_hidden_size=0`. Of several clauses of a layer the last one holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerOverrides(Vec<Clause>);

impl LayerOverrides {
    /// Clauses and layers, at most.
    const MAX_CLAUSES: usize = 64;
    const MAX_LAYER: u64 = 999;

    /// Reads the clauses; what is wanted in place of a wrong one.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let clauses: Vec<Clause> = text.split(';').map(Clause::read).collect::<Result<_, _>>()?;
        if clauses.len() > Self::MAX_CLAUSES {
            return Err(format!("at most {} clauses", Self::MAX_CLAUSES));
        }
        Ok(Self(clauses))
    }

    /// The last layer of which it says something.
    pub(crate) fn last_layer(&self) -> u64 {
        let layers = self.0.iter().flat_map(|clause| &clause.layers);
        layers.map(|[_, last]| *last).max().unwrap_or(0)
    }

    /// The clauses that hold for a layer, a bit for each.
    pub(crate) fn at(&self, layer: u64) -> u64 {
        let holds = |clause: &Clause| {
            clause.layers.iter().any(|[first, last]| (*first..=*last).contains(&layer))
        };
        let of = |(at, clause)| u64::from(holds(clause)) << at;
        self.0.iter().enumerate().map(of).sum()
    }

    /// A size of layers for which these hold, where it is their own.
    pub(crate) fn size(&self, clauses: u64, size: Size) -> Option<u64> {
        let own = self.0.iter().enumerate().filter(|(at, _)| clauses & (1 << at) != 0);
        let sizes = own.flat_map(|(_, clause)| &clause.sizes);
        sizes.rev().find(|(own, _)| *own == size).map(|(_, value)| *value)
    }
}

impl Clause {
    fn read(text: &str) -> Result<Self, String> {
        let wanted = |part: &str, wanted: &str| format!("{wanted} in `{}`", shorten(part));
        let (layers, sizes) =
            text.split_once(':').ok_or_else(|| wanted(text, "layers:size=number"))?;
        let row = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let [first, last] = [first, last].map(|end| end.trim().parse::<u64>().ok());
            let row = first.zip(last).map(|(first, last)| [first, last]);
            row.filter(|[first, last]| first <= last && *last <= LayerOverrides::MAX_LAYER)
                .ok_or_else(|| wanted(part, "layers such as 0-9"))
        };
        let size = |part: &str| {
            let (name, value) = part.split_once('=').ok_or_else(|| wanted(part, "size=number"))?;
            let known = SIZES.iter().find(|(_, known, ..)| *known == name.trim());
            let Some((size, _, low, high)) = known else {
                let near = closest(name.trim(), SIZES.iter(), |(_, known, ..)| known);
                let near = near.map_or("a size", |(_, known, ..)| *known);
                return Err(wanted(part, near));
            };
            let value = value.trim().parse().ok().filter(|value| (low..=high).contains(&value));
            let value = value.ok_or_else(|| wanted(part, &format!("{low} to {high}")))?;
            Ok((*size, value))
        };
        Ok(Self {
            layers: layers.split(',').map(row).collect::<Result<_, _>>()?,
            sizes: sizes.split(',').map(size).collect::<Result<_, _>>()?,
        })
    }
}

impl core::fmt::Display for Clause {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let row = |[first, last]: &[u64; 2]| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        let name = |size: &Size| SIZES.iter().find(|(known, ..)| known == size).map(|it| it.1);
        let size = |(size, value): &(Size, u64)| format!("{}={value}", name(size).unwrap_or(""));
        let layers: Vec<String> = self.layers.iter().map(row).collect();
        let sizes: Vec<String> = self.sizes.iter().map(size).collect();
        write!(f, "{}:{}", layers.join(","), sizes.join(","))
    }
}

impl core::fmt::Display for LayerOverrides {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let clauses: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&clauses.join(";"))
    }
}
