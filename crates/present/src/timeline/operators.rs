//! The operators of a pair as lanes, one for each resource, and in words.

use model::training::pair::{PairOperator, PairTimeline, Pass, Resource};

use super::lanes::{Lanes, Spot};
use super::look::{Kind, Look, Looks};
use super::tasks::seconds;
use crate::format;

/// A pass in a few words.
pub(super) const fn pass_words(pass: Pass) -> &'static str {
    match pass {
        Pass::Forward => "forward",
        Pass::InputGrad => "gradients of inputs (dX)",
        Pass::WeightGrad => "gradients of weights (dW)",
        Pass::Recompute => "recomputation",
        Pass::Swap => "swap",
    }
}

const fn kind(pass: Pass) -> Kind {
    match pass {
        Pass::Forward => Kind::Forward,
        Pass::InputGrad => Kind::InputGrad,
        Pass::WeightGrad => Kind::WeightGrad,
        Pass::Recompute => Kind::Recompute,
        Pass::Swap => Kind::Swap,
    }
}

/// A name that is short enough for the front of a lane.
const fn short_name(resource: Resource) -> &'static str {
    match resource {
        Resource::Compute => "Compute",
        Resource::IntraNode => "Inside node",
        Resource::InterNode => "Between nodes",
        Resource::HostCopy => "Host copies",
    }
}

/// One lane: operators that follow each other.
struct Lane {
    resource: Resource,
    operators: Vec<PairOperator>,
    starts: Vec<f64>,
    ends: Vec<f64>,
}

/// A pair's operators as lanes.
pub struct Operators {
    lanes: Vec<Lane>,
    total: f64,
}

impl Operators {
    /// One lane for each resource, or more where its operators overlap, as copies to the host and
    /// from it do.
    pub fn new(pair: Option<PairTimeline>) -> Self {
        let mut operators = pair.map(|pair| pair.operators).unwrap_or_default();
        operators.retain(|operator| operator.end > operator.start);
        // They come in almost this order, and a general sort would be a large part of the module.
        for end in 1..operators.len() {
            let mut place = end;
            while place > 0 && operators[place].start < operators[place - 1].start {
                operators.swap(place, place - 1);
                place -= 1;
            }
        }
        let total = operators.iter().map(|operator| operator.end).fold(0.0, f64::max);
        let mut lanes: Vec<Lane> = Vec::new();
        for resource in Resource::ALL {
            let first = lanes.len();
            lanes.push(Lane::new(resource));
            for operator in operators.iter().filter(|operator| operator.resource == resource) {
                let free = |lane: &Lane| lane.ends.last().is_none_or(|end| *end <= operator.start);
                match lanes[first..].iter().position(free) {
                    Some(index) => lanes[first + index].push(*operator),
                    None => {
                        let mut lane = Lane::new(resource);
                        lane.push(*operator);
                        lanes.push(lane);
                    }
                }
            }
        }
        Self { lanes, total }
    }

    /// The operator at a spot.
    pub fn at(&self, spot: Spot) -> Option<&PairOperator> {
        self.lanes.get(spot.lane)?.operators.get(spot.index)
    }

    /// Every lane's name with its operators.
    pub(super) fn lanes(&self) -> impl Iterator<Item = (&'static str, &[PairOperator])> {
        self.lanes.iter().map(|lane| (lane.resource.label(), lane.operators.as_slice()))
    }

    /// Each operator's numbers, the header first.
    pub fn table(&self) -> Vec<Vec<String>> {
        let header = ["Resource", "Operator", "Pass", "Start", "Duration"];
        let rows = self.lanes.iter().flat_map(|lane| &lane.operators).map(|operator| {
            vec![
                operator.resource.label().to_owned(),
                operator.name.to_owned(),
                pass_words(operator.pass).to_owned(),
                seconds(operator.start),
                seconds(operator.end - operator.start),
            ]
        });
        [header.map(str::to_owned).to_vec()].into_iter().chain(rows).collect()
    }

    /// Share of the pair in which each resource is busy, in a sentence.
    pub fn summary(&self) -> String {
        let busy = |resource: Resource| -> f64 {
            let lanes = self.lanes.iter().filter(|lane| lane.resource == resource);
            lanes.flat_map(|lane| &lane.operators).map(|one| one.end - one.start).sum()
        };
        let shares: Vec<String> = Resource::ALL
            .into_iter()
            .filter(|resource| busy(*resource) > 0.0)
            .map(|resource| {
                format!("{} {}", resource.label(), format::percent(busy(resource) / self.total, 0))
            })
            .collect();
        format!(
            "operators take {}, before contention and the host slow them; busy: {}",
            seconds(self.total),
            format::list(&shares),
        )
    }
}

impl Lane {
    const fn new(resource: Resource) -> Self {
        Self { resource, operators: Vec::new(), starts: Vec::new(), ends: Vec::new() }
    }

    fn push(&mut self, operator: PairOperator) {
        self.starts.push(operator.start);
        self.ends.push(operator.end);
        self.operators.push(operator);
    }
}

/// An operator in words: `Dispatch, forward, on links between nodes: 1.25 ms from 300 µs on`.
pub fn words(operator: &PairOperator) -> String {
    format!(
        "{}, {}, {}: {} from {} on",
        operator.name,
        pass_words(operator.pass),
        operator.resource.label().to_ascii_lowercase(),
        seconds(operator.end - operator.start),
        seconds(operator.start),
    )
}

impl Lanes for Operators {
    fn count(&self) -> usize {
        self.lanes.len()
    }

    fn name(&self, lane: usize) -> String {
        let name = |lane: &Lane| short_name(lane.resource);
        let before = lane.checked_sub(1).and_then(|before| self.lanes.get(before)).map(name);
        let own = self.lanes.get(lane).map(name);
        // A resource's further lanes have no name of their own.
        own.filter(|_| own != before).unwrap_or_default().to_owned()
    }

    fn total(&self) -> f64 {
        self.total
    }

    fn times(&self, lane: usize) -> (&[f64], &[f64]) {
        self.lanes.get(lane).map_or((&[], &[]), |lane| (&lane.starts, &lane.ends))
    }

    fn looks(&self, lane: usize, index: usize) -> Looks {
        let kind = self.at(Spot { lane, index }).map_or(Kind::Mixed, |one| kind(one.pass));
        Looks::Whole(Look::new(kind, 0))
    }

    fn label(&self, lane: usize, index: usize, text: &mut String) {
        text.push_str(self.at(Spot { lane, index }).map_or("", |operator| operator.name));
    }

    fn cuts_labels(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(resource: Resource, start: f64, end: f64) -> PairOperator {
        PairOperator { name: "Copy", pass: Pass::Swap, resource, start, end }
    }

    #[test]
    fn what_overlaps_on_a_resource_stands_on_lanes_of_its_own() {
        let operators = Operators::new(Some(PairTimeline {
            seconds: 4.0,
            operators: vec![
                operator(Resource::HostCopy, 1.0, 3.0),
                operator(Resource::HostCopy, 0.0, 2.0),
                operator(Resource::HostCopy, 2.0, 4.0),
                operator(Resource::Compute, 0.0, 4.0),
                operator(Resource::Compute, 4.0, 4.0),
            ],
        }));
        let counts: Vec<usize> = operators.lanes().map(|(_, lane)| lane.len()).collect();
        assert_eq!(counts, [1, 0, 0, 2, 1]);
        let names: Vec<String> = (0..5).map(|lane| operators.name(lane)).collect();
        assert_eq!(names, ["Compute", "Inside node", "Between nodes", "Host copies", ""]);
        assert!((operators.total() - 4.0).abs() < 1e-9);
        assert_eq!(operators.table().len(), 5);
        assert!(operators.summary().contains("Compute 100 %"), "{}", operators.summary());
    }
}
