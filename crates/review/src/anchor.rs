//! What a comment is about.

use std::fmt;

use model::design::KnobId;
use model::ground::text::closest;
use model::metric::{MetricAddress, MetricId, Regime};
use serde::{Serialize, Serializer};

use crate::json::{Read, Tree, deserialize_by_tree};
use crate::person::Seq;

/// Subject of a comment, by ids that last.
///
/// Written as `design`, `metric:memory_peak_bytes@stage=3`, `serving:tpot_seconds`,
/// `knob:parallel.expert_model_parallel_size`, `stage:3`, `candidate:12`, `proposal:14` or
/// `sweep:ID#INDEX`.
#[derive(Clone, Debug, PartialEq)]
pub enum Anchor {
    /// The design as a whole.
    Design,
    /// A metric, of all or of a part.
    Metric(MetricAddress),
    /// A metric of requests that are answered.
    Served(MetricId),
    /// A knob.
    Knob(KnobId),
    /// A pipeline stage.
    Stage(u32),
    /// A candidate of this session.
    Candidate(Seq),
    /// A proposal of this session.
    Proposal(Seq),
    /// A design of a sweep, by its place in the sweep's space.
    SweepRow {
        /// The sweep's id.
        sweep: String,
        /// The place.
        index: u128,
    },
}

/// A text that is no anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorError {
    /// Error, in a sentence.
    pub detail: String,
    /// Closest texts that would be read.
    pub nearest: Vec<String>,
}

impl fmt::Display for AnchorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)?;
        match self.nearest.first() {
            Some(nearest) => write!(f, "; the closest is `{nearest}`"),
            None => Ok(()),
        }
    }
}

impl Anchor {
    /// Reads an anchor.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, AnchorError> {
        if text == "design" {
            return Ok(Self::Design);
        }
        let (kind, of) = text.split_once(':').ok_or_else(|| unknown(text))?;
        let number = || of.parse::<u64>().map_err(|_| unknown(text));
        Ok(match kind {
            "metric" => Self::Metric(MetricAddress::parse(of).map_err(|e| within(kind, e))?),
            "serving" => Self::Served(served(of)?),
            "knob" => Self::Knob(KnobId::find(of).map_err(|e| within(kind, e))?),
            "stage" => Self::Stage(of.parse().map_err(|_| unknown(text))?),
            "candidate" => Self::Candidate(number()?),
            "proposal" => Self::Proposal(number()?),
            "sweep" => {
                let (sweep, index) = of.split_once('#').ok_or_else(|| unknown(text))?;
                let is_id = !sweep.is_empty()
                    && sweep.len() <= 64
                    && sweep.bytes().all(|byte| byte.is_ascii_alphanumeric());
                let index = index.parse().map_err(|_| unknown(text))?;
                let sweep = is_id.then(|| sweep.to_owned()).ok_or_else(|| unknown(text))?;
                Self::SweepRow { sweep, index }
            }
            _ => return Err(unknown(text)),
        })
    }
}

fn within(kind: &str, error: model::ground::knob::KnobError) -> AnchorError {
    let nearest = error.nearest.iter().map(|nearest| format!("{kind}:{nearest}")).collect();
    AnchorError { detail: error.detail, nearest }
}

/// The metric of serving of that id.
fn served(name: &str) -> Result<MetricId, AnchorError> {
    let shown: String = name.chars().take(80).collect();
    let nearest = closest(name, MetricId::of(Regime::Serving), |id| id.metric().name);
    MetricId::find_of(Regime::Serving, name).ok_or_else(|| AnchorError {
        detail: format!("there is no metric of serving `{shown}`"),
        nearest: nearest.map(|id| format!("serving:{}", id.metric().name)).into_iter().collect(),
    })
}

fn unknown(text: &str) -> AnchorError {
    let shown: String = text.chars().take(80).collect();
    AnchorError {
        detail: format!("`{shown}` is nothing that a comment can be about"),
        nearest: vec!["design".to_owned()],
    }
}

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Design => f.write_str("design"),
            Self::Metric(address) => write!(f, "metric:{address}"),
            Self::Served(id) => write!(f, "serving:{}", id.metric().name),
            Self::Knob(knob) => write!(f, "knob:{}", knob.id()),
            Self::Stage(stage) => write!(f, "stage:{stage}"),
            Self::Candidate(seq) => write!(f, "candidate:{seq}"),
            Self::Proposal(seq) => write!(f, "proposal:{seq}"),
            Self::SweepRow { sweep, index } => write!(f, "sweep:{sweep}#{index}"),
        }
    }
}

impl Serialize for Anchor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Read for Anchor {
    fn read(tree: Tree) -> Result<Self, String> {
        Self::parse(&String::read(tree)?).map_err(|wrong| wrong.to_string())
    }
}

deserialize_by_tree!(Anchor);

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Anchor {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ReviewAnchor".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^(design|(metric|serving|knob|stage|candidate|proposal|sweep):.+)$",
            "description": "What a comment is about, by ids that last.",
            "examples": ["design", "metric:memory_peak_bytes@stage=3", "stage:3", "candidate:12"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_is_written_as_it_is_read() {
        let known = [
            "design",
            "metric:mfu",
            "metric:memory_peak_bytes@stage=3",
            "serving:tpot_seconds",
            "knob:parallel.expert_model_parallel_size",
            "stage:3",
            "candidate:12",
            "proposal:14",
            "sweep:4f2a#340282366920938463463374607431768211455",
        ];
        for text in known {
            assert_eq!(Anchor::parse(text).unwrap().to_string(), text);
        }
        let unknown =
            ["", "mfu", "metric:", "metric:mfu@stage=1", "stage:-1", "sweep:#1", "sweep:a/b#1"];
        for text in unknown {
            assert!(Anchor::parse(text).is_err(), "{text}");
        }
        let error = Anchor::parse("metric:memory_peak_byte").unwrap_err();
        assert_eq!(error.nearest, ["metric:memory_peak_bytes"]);
    }
}
