//! Address of a number: a metric of the whole design, of a stage, or of an axis and a link.

use alloc::string::String;
use core::fmt;

use super::regime::Regime;
use super::table::MetricId;
use crate::ground::axis::{Axis, LinkLevel};
use crate::ground::knob::KnobError;
use crate::ground::text::{closest, shorten};

/// A metric with the part of the design that it describes: `mfu`, `memory_peak_bytes@stage=3`,
/// `comm_volume_bytes@axis=ep,link=inter_node`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricAddress {
    /// The metric.
    pub metric: MetricId,
    /// The part.
    pub part: MetricPart,
}

/// The part of a design that a metric describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricPart {
    /// All of it.
    Whole,
    /// One pipeline stage.
    Stage(u32),
    /// The traffic of one axis, over one link or all.
    Axis(Axis, Option<LinkLevel>),
}

impl MetricAddress {
    /// A metric of the whole design.
    #[must_use]
    pub const fn whole(metric: MetricId) -> Self {
        Self { metric, part: MetricPart::Whole }
    }

    /// Reads an address.
    ///
    /// # Errors
    /// An unknown metric, or a part that the metric doesn't describe, with what would be accepted.
    pub fn parse(text: &str) -> Result<Self, KnobError> {
        let (name, part) =
            text.split_once('@').map_or((text, None), |(name, part)| (name, Some(part)));
        let metric =
            MetricId::find_of(Regime::Training, name).ok_or_else(|| unknown_metric(name))?;
        let part = part.map_or(Some(MetricPart::Whole), |part| part_of(metric, part));
        part.map(|part| Self { metric, part }).ok_or_else(|| wrong_part(metric, text))
    }
}

/// The part of an address behind its `@`.
fn part_of(metric: MetricId, text: &str) -> Option<MetricPart> {
    if metric == MetricId::memory_peak_bytes {
        return text.strip_prefix("stage=")?.parse().ok().map(MetricPart::Stage);
    }
    if !OF_AXES.contains(&metric) {
        return None;
    }
    let (axis, link) = text.split_once(',').map_or((text, None), |(axis, link)| (axis, Some(link)));
    let axis = axis.strip_prefix("axis=")?;
    let axis = *Axis::ALL.iter().find(|known| known.name() == axis)?;
    let link = match link {
        Some(link) => {
            let link = link.strip_prefix("link=")?;
            Some(*LinkLevel::ALL.iter().find(|known| known.name() == link)?)
        }
        None => None,
    };
    Some(MetricPart::Axis(axis, link))
}

/// The metrics that are sums over traffic.
const OF_AXES: [MetricId; 3] =
    [MetricId::comm_volume_bytes, MetricId::comm_exposed_seconds, MetricId::overlap_ratio];

fn unknown_metric(name: &str) -> KnobError {
    let nearest = closest(name, MetricId::of(Regime::Training), |id| id.metric().name);
    let shown = shorten(name);
    KnobError {
        rule: "unknown_metric",
        detail: alloc::format!("there is no metric `{shown}`"),
        knob: shown,
        nearest: nearest.map(|id| String::from(id.metric().name)).into_iter().collect(),
    }
}

fn wrong_part(metric: MetricId, text: &str) -> KnobError {
    let name = metric.metric().name;
    let example = if metric == MetricId::memory_peak_bytes {
        "@stage=0"
    } else if OF_AXES.contains(&metric) {
        "@axis=ep,link=inter_node"
    } else {
        ""
    };
    KnobError {
        rule: "unknown_part",
        knob: shorten(text),
        detail: alloc::format!("{name} isn't asked of `{}`", shorten(text)),
        nearest: alloc::vec![alloc::format!("{name}{example}")],
    }
}

impl fmt::Display for MetricAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.metric.metric().name)?;
        match self.part {
            MetricPart::Whole => Ok(()),
            MetricPart::Stage(stage) => write!(f, "@stage={stage}"),
            MetricPart::Axis(axis, None) => write!(f, "@axis={}", axis.name()),
            MetricPart::Axis(axis, Some(link)) => {
                write!(f, "@axis={},link={}", axis.name(), link.name())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn an_address_is_written_as_it_is_read() {
        let known = ["mfu", "memory_peak_bytes@stage=3", "comm_volume_bytes@axis=ep"];
        let known = known.into_iter().chain(["overlap_ratio@axis=tp,link=intra_node"]);
        for text in known {
            assert_eq!(MetricAddress::parse(text).unwrap().to_string(), text);
        }
        let wrong = ["mfuu", "mfu@stage=3", "memory_peak_bytes@stage=x", "fits@", "@", ""];
        let wrong = wrong.into_iter().chain(["comm_volume_bytes@axis=ep,link=", "mfu@axis=ep"]);
        for text in wrong {
            let error = MetricAddress::parse(text).unwrap_err();
            assert!(MetricAddress::parse(&error.nearest[0]).is_ok(), "{text}: {error}");
        }
    }
}
