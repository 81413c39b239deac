//! How knobs vary in a spec: each with the form that its values have.

use model::design::KnobId;
use model::design::file::Tree;
use model::ground::knob::Section;
use model::ground::sorting::sort_short;

use crate::choices::choices;
use crate::insight::spec::{self, set};

choices! {
    /// Form in which a knob varies; a person can choose all but the last.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Form {
        /// Its name in controls.
        name: &'static str,
        /// Label for people.
        label: &'static str;
        /// These values.
        Values = "values", "these values";
        /// Range from one number to another in steps.
        Range = "range", "a range";
        /// Powers of two from one number to another.
        Powers = "powers_of_two", "powers of two";
        /// Divisors of a number or of another knob.
        Divisors = "divisors_of", "divisors of";
        /// Tied to another knob, or to a ratio of it.
        Same = "same_as", "tied to a knob";
        /// Number of dense layers in front.
        Dense = "dense_layers", "dense layers in front";
        /// Number of no-op layers that fills the chunks.
        Fill = "fill", "fills the chunks";
        /// No known form.
        Other = "other", "see the text";
    }
}

impl Form {
    /// The form of a name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }

    /// The form of a knob's entry.
    #[must_use]
    pub fn of(tree: &Tree) -> Self {
        let Tree::Map(entries) = tree else {
            return if matches!(tree, Tree::List(_)) { Self::Values } else { Self::Other };
        };
        let has = |name: &str| entries.iter().any(|(key, _)| key == name);
        if has("from") || has("to") {
            return Self::Range;
        }
        let named = [Self::Powers, Self::Divisors, Self::Same, Self::Dense, Self::Fill];
        named.into_iter().find(|form| has(form.name())).unwrap_or(Self::Other)
    }

    /// Whether a knob can vary in this form.
    #[must_use]
    pub fn suits(self, knob: KnobId) -> bool {
        use model::ground::knob::Kind;
        let (whole, real) = match knob.knob().kind {
            Kind::Integer(..) | Kind::OptionalInteger(..) | Kind::PerStage(_) => (true, true),
            Kind::Real(..) | Kind::OptionalReal(..) => (false, true),
            Kind::Flag
            | Kind::Choice(_)
            | Kind::Subset(_)
            | Kind::LayerFreq
            | Kind::PositionList(_)
            | Kind::Layout
            | Kind::LayerPattern(_)
            | Kind::Hash
            | Kind::Name
            | Kind::Arguments => (false, false),
        };
        match self {
            Self::Values | Self::Other => true,
            Self::Range => real,
            Self::Powers | Self::Divisors | Self::Same => whole,
            Self::Dense => knob == KnobId::moe_layer_freq,
            Self::Fill => knob == KnobId::noop_layers,
        }
    }

    /// Initial entry of a knob that gets this form, derived from its entry before.
    #[must_use]
    pub fn start(self, knob: KnobId, before: &Tree) -> Tree {
        let (low, high) = ends(before);
        let whole = |number: f64| spec::number(&number.to_string());
        match self {
            Self::Values if matches!(before, Tree::List(_)) => before.clone(),
            Self::Values => Tree::List(vec![whole(low)]),
            Self::Range => Tree::map([("from", whole(low)), ("to", whole(high.max(low)))]),
            Self::Powers => {
                Tree::map([("powers_of_two", Tree::List(vec![whole(low), whole(high.max(low))]))])
            }
            Self::Divisors => Tree::map([("divisors_of", whole(high.max(1.0)))]),
            Self::Same => {
                let other = if knob == KnobId::moe_shared_expert_intermediate_size {
                    KnobId::moe_ffn_hidden_size
                } else {
                    KnobId::expert_model_parallel_size
                };
                Tree::map([("same_as", Tree::from(other.id().as_str()))])
            }
            Self::Dense => Tree::map([("dense_layers", Tree::Unsigned(3))]),
            Self::Fill => Tree::map([("fill", Tree::from("chunks"))]),
            Self::Other => before.clone(),
        }
    }
}

/// Least and most of the numbers in a knob's entry.
fn ends(tree: &Tree) -> (f64, f64) {
    let mut numbers = Vec::new();
    collect(tree, &mut numbers);
    let low = numbers.iter().copied().reduce(f64::min).unwrap_or(1.0);
    (low, numbers.iter().copied().reduce(f64::max).unwrap_or(8.0))
}

fn collect(tree: &Tree, numbers: &mut Vec<f64>) {
    match tree {
        Tree::Unsigned(number) => numbers.push(*number as f64),
        Tree::Real(number) => numbers.push(*number),
        Tree::List(items) => items.iter().for_each(|item| collect(item, numbers)),
        Tree::Map(entries) => entries
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "step" | "times" | "over"))
            .for_each(|(_, item)| collect(item, numbers)),
        Tree::Null | Tree::Flag(_) | Tree::Negative(_) | Tree::Text(_) => {}
    }
}

/// A knob of the space, with its place in the spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// The knob; `None` if the name isn't known.
    pub knob: Option<KnobId>,
    /// The form in which it varies.
    pub tree: Tree,
}

impl Entry {
    /// Its place in words that an id can have.
    #[must_use]
    pub fn key(&self) -> String {
        self.path[1..].join(".")
    }
}

/// The knobs of a spec's space, in the registry's order; unknown ones come last.
#[must_use]
pub fn entries(spec: &Tree) -> Vec<Entry> {
    let Some(Tree::Map(space)) = spec.get("space") else { return vec![] };
    let mut found = Vec::new();
    for (name, value) in space {
        let section = Section::ALL.into_iter().any(|section| section.name() == name);
        if let (Tree::Map(knobs), true) = (value, section) {
            found.extend(knobs.iter().map(|(short, tree)| {
                let long = format!("{name}.{short}");
                let knob = KnobId::find(&long).or_else(|_| KnobId::find(short)).ok();
                Entry {
                    path: vec!["space".into(), name.clone(), short.clone()],
                    knob,
                    tree: tree.clone(),
                }
            }));
        } else {
            found.push(Entry {
                path: vec!["space".into(), name.clone()],
                knob: KnobId::find(name).ok(),
                tree: value.clone(),
            });
        }
    }
    let place = |entry: &Entry| entry.knob.map_or(usize::MAX, |knob| knob as usize);
    sort_short(&mut found, |one, other| place(one).cmp(&place(other)));
    found
}

/// Changes how a knob varies, or takes it out of the space.
pub fn put(spec: &mut Tree, entry: &Entry, tree: Option<Tree>) {
    let path: Vec<&str> = entry.path.iter().map(String::as_str).collect();
    set(spec, &path, tree);
}

/// Lets another knob vary, beginning with its value in the design.
pub fn add(spec: &mut Tree, knob: KnobId, now: Tree) {
    let row = knob.knob();
    let value = if row.kind == model::ground::knob::Kind::Flag {
        Tree::List(vec![Tree::Flag(false), Tree::Flag(true)])
    } else {
        Tree::List(vec![now])
    };
    set(spec, &["space", row.section.name(), row.name], Some(value));
}
