//! What a sweep's result is made of.

use model::design::file::Tree;
use reports::found::RuledOutBy;
use reports::typed::{Flat, KnobValue, May, Named, Real, Said, answers};

use crate::spec::Goal;

answers! {
    /// The object that `moescape sweep` prints.
    #[cfg_attr(feature = "schema", schemars(rename = "Result"))]
    struct SweepResult {
        #[cfg_attr(feature = "schema", schemars(flatten))]
        overview: Flat<Overview>,
        /// Hash of the result: equal results have one, however they were computed.
        digest: String,
        part: PartData,
    }

    /// Overview of a sweep.
    #[cfg_attr(feature = "schema", schemars(rename = "SweepOverview"))]
    struct Overview {
        name: String,
        /// Hash of the spec and the model's version.
        sweep: String,
        model_version: &'static str,
        /// Whether all that was asked is done.
        complete: bool,
        /// Designs of the space.
        designs: u64,
        /// Designs that are taken.
        asked: u64,
        /// Designs that are done.
        done: u64,
        /// Designs of these that the model has an estimate for.
        legal: u64,
        /// Designs of these that keep all constraints.
        feasible: u64,
        /// Designs by closed forms that are too near a limit to say whether they keep it.
        near_limit: u64,
        /// Number of designs that each reason ruled out, the most first.
        ruled_out: Vec<RuledOutBy>,
        objectives: Vec<Best>,
        /// Designs that none is better than in every objective.
        front: Vec<Kept>,
        /// Designs that were simulated at the end; null where none had to be.
        simulated: Option<SimulatedAtEnd>,
        /// Designs that freeing fixed knobs would let through, where nothing is feasible.
        freed: Vec<FreedKnobs>,
        axes: Vec<KnobAxis>,
        /// Each pair of knobs with the cells that have a feasible design.
        pairs: Vec<KnobPair>,
        sample: Sample,
        /// Stands wherever a loss does.
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        caveat: May<&'static str>,
    }

    /// The best designs by an objective.
    #[cfg_attr(feature = "schema", schemars(rename = "BestByObjective"))]
    struct Best {
        metric: &'static str,
        goal: Goal,
        best: Vec<Kept>,
        /// The metric of the feasible design that so many are below, in per cent of them; null
        /// where there is none.
        quantiles: Named<Option<Real>>,
    }

    /// A design that was kept.
    struct Kept {
        /// Its place in the space.
        index: u64,
        /// The knobs that vary or follow, by their ids.
        knobs: Named<KnobValue>,
        /// Timing of its pipeline: `simulated` or `closed_form`.
        timing: &'static str,
        /// Whether its closed form is too near a limit to say that it keeps it.
        near_limit: bool,
        /// Constraint that a design breaks which was simulated at the end, or null.
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        breaks: May<Option<String>>,
        /// The columns, by their metrics' names.
        metrics: Named<Real>,
        /// Columns by the closed form, of a design that was simulated at the end.
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        closed_form: May<Named<Real>>,
        /// The design's link, behind the `?` of the explorer's address.
        link: String,
        /// Where strategies are found: the knobs in which this one differs from the sweep's own.
        #[cfg_attr(feature = "schema", schemars(skip_serializing_if = "Option::is_none"))]
        strategy: May<Named<KnobValue>>,
    }

    /// Designs that were simulated when all was done.
    struct SimulatedAtEnd {
        designs: u64,
        /// Best designs of an objective that are simulated, at most.
        most_best: u64,
        /// Designs of the front that are simulated, at most.
        most_front: u64,
        front_left_out: u64,
        /// Designs that no longer keep the constraints.
        rejected: Vec<Kept>,
    }

    /// Fixed knobs, and what would be feasible with other values of them.
    struct FreedKnobs {
        /// The values that each would take.
        knobs: Named<Vec<KnobValue>>,
        designs: u64,
        tried: u64,
        legal: u64,
        feasible: u64,
    }

    /// A knob that varies.
    struct KnobAxis {
        knob: String,
        /// The span of its values' means of the first objective, over the largest mean.
        importance: Option<Real>,
        values: Vec<AxisValue>,
    }

    /// Statistics of a knob's value, by the first objective.
    struct AxisValue {
        value: KnobValue,
        legal: u64,
        feasible: u64,
        mean: Option<Real>,
        best: Option<Real>,
        best_index: Option<u64>,
    }

    /// Two knobs as a map.
    struct KnobPair {
        knobs: [String; 2],
        /// Number of bins of each knob's values.
        bins: [usize; 2],
        cells: Vec<CellRow>,
    }

    /// Feasible designs at random, as a table.
    #[cfg_attr(feature = "schema", schemars(rename = "SweepSample"))]
    struct Sample {
        columns: Vec<String>,
        rows: Vec<SampleRow>,
        /// Places in the space of those that are too near a limit to say that they keep it.
        near_limit: Vec<u64>,
    }
}

/// A cell with a feasible design: the bin of each knob, feasible designs, and of the best by the
/// first objective its value and place.
#[derive(Clone, Copy, Debug)]
pub struct CellRow {
    /// The bin of each knob.
    pub bins: [usize; 2],
    /// Feasible designs.
    pub feasible: u64,
    /// The first objective of the best one.
    pub value: f64,
    /// Its place in the space.
    pub index: u64,
}

impl Said for CellRow {
    fn said(self) -> Tree {
        let [first, second] = self.bins.map(Said::said);
        let best = [self.feasible.said(), Real(self.value).said(), self.index.said()];
        Tree::List([first, second].into_iter().chain(best).collect())
    }
}

/// A row of the sample, with a value for each column.
#[derive(Clone, Debug)]
pub struct SampleRow(pub Vec<Tree>);

impl Said for SampleRow {
    fn said(self) -> Tree {
        Tree::List(self.0)
    }
}

/// Part of a sweep that `moescape merge` adds up: its form is the program's own.
#[derive(Clone, Debug)]
pub struct PartData(pub Tree);

impl Said for PartData {
    fn said(self) -> Tree {
        self.0
    }
}

impl Said for Goal {
    fn said(self) -> Tree {
        self.name().into()
    }
}

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{CellRow, PartData, SampleRow};
    use crate::spec::Goal;

    /// Implements an inline schema: it is written out where the type is used.
    macro_rules! inline {
        ($($name:ident: $schema:expr;)+) => {$(
            impl JsonSchema for $name {
                fn inline_schema() -> bool {
                    true
                }

                fn schema_name() -> Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(_: &mut SchemaGenerator) -> Schema {
                    $schema
                }
            }
        )+};
    }

    inline! {
        CellRow: json_schema!({
            "type": "array",
            "description": "The bin of each knob, feasible designs, and of the best by the first \
                            objective its value and place.",
            "items": {"type": "number"},
            "minItems": 5,
            "maxItems": 5,
        });
        SampleRow: json_schema!({
            "type": "array",
            "description": "A value for each column.",
            "items": {"type": ["number", "boolean", "string", "array"]},
        });
        PartData: json_schema!({
            "type": "object",
            "description": "What `moescape merge` adds up.",
        });
        Goal: json_schema!({
            "type": "string",
            "enum": ([Goal::Max.name(), Goal::Min.name()]),
        });
    }
}
