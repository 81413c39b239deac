//! The designs that a reader has pinned: the first is the ghost in the charts of another one, and
//! each is a point of a map.

use model::design::Design;
use model::design::link;

use crate::charts::{Compared, PinnedRoofline};
use crate::insight::numbers::Numbers;
use crate::site::chosen::Chosen;
use crate::words::name;

/// A pinned design that can be estimated.
#[derive(Clone, Debug)]
pub struct Pin {
    /// Its place among the pins: A, B, C, D.
    pub place: usize,
    name: String,
    numbers: Numbers,
}

/// The pins, as the browser keeps them; without those that break a rule or need a trace.
#[must_use]
pub fn read(text: &str) -> Vec<Pin> {
    let pins = Chosen::read(text).0.designs.into_iter().enumerate();
    let pin = |(place, choice): (usize, crate::site::chosen::Choice)| {
        let numbers = Numbers::of(&link::decode(&choice.link).ok()?)?;
        let name = Some(choice.name).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| name::line(numbers.plan.design()));
        Some(Pin { place, name, numbers })
    };
    pins.filter_map(pin).collect()
}

impl Pin {
    /// The pin that charts of a design show beside it: the first, unless it is that design.
    pub(super) fn beside<'p>(pins: &'p [Self], numbers: &Numbers) -> Option<&'p Self> {
        pins.first().filter(|pin| !pin.is_of(numbers.plan.design()))
    }

    /// Whether the pin is of that design.
    pub(super) fn is_of(&self, design: &Design) -> bool {
        self.numbers.plan.design() == design
    }

    /// Its micro-batches per step and data-parallel rank.
    pub(super) fn microbatches(&self) -> u64 {
        self.numbers.plan.num_microbatches()
    }

    /// Its operators in the roofline of another design.
    pub(super) fn beside_operators(&self) -> PinnedRoofline<'_> {
        let Numbers { plan, estimate } = &self.numbers;
        let roofline = model::roofline(plan, &estimate.communication);
        PinnedRoofline { pin: self.compared(), roofline }
    }

    /// It in a chart of several.
    pub(super) fn compared(&self) -> Compared<'_> {
        let (place, name) = (self.place, self.name.clone());
        Compared { place, name, estimate: &self.numbers.estimate }
    }
}
