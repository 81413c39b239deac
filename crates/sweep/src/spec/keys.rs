//! The keys of a spec: what is read of each, and what the API's description says of it.

use model::design::file::Tree;

/// Longest name.
pub(super) const MAX_NAME_LEN: usize = 200;

/// Entries of a list of texts, at most.
pub(super) const MAX_TEXTS: usize = 100;

/// The usual number of the best and the most of them; the same of the sample.
pub(super) const TOP: [u64; 2] = [10, 1_000];
pub(super) const SAMPLE: [u64; 2] = [1_000, 100_000];

/// The usual share below which designs of the front count as one, and the largest.
pub(super) const RESOLUTION: [f64; 2] = [0.001, 0.5];

/// Structs whose fields are the keys that are read, each with the function that makes its schema.
macro_rules! keys {
    ($($(#[$meta:meta])* struct $name:ident {
        $($(#[$of_field:meta])* $field:ident: $schema:literal,)+
    })+) => {$(
        #[derive(Clone, Copy, Debug)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(deny_unknown_fields))]
        $(#[$meta])*
        pub struct $name<'a> {
            $(
                $(#[$of_field])*
                #[cfg_attr(feature = "schema", schemars(schema_with = $schema))]
                pub(super) $field: Option<&'a Tree>,
            )+
        }

        impl<'a> $name<'a> {
            /// The keys, in their order.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];

            /// The value of each key in a map.
            pub(super) fn of(tree: &'a Tree) -> Self {
                Self { $($field: tree.get(stringify!($field))),+ }
            }
        }
    )+};
}

keys! {
    /// Specification of a sweep.
    #[cfg_attr(feature = "schema", schemars(
        rename = "Spec", extend("required" = ["schema", "space"])
    ))]
    struct SpecKeys {
        /// The version of the format.
        schema: "of::version",
        /// A name for people.
        name: "of::name",
        /// A design file: what doesn't vary. Its own `schema` may be left out.
        design: "of::design",
        /// For each knob that varies, by its id or its section: a list of values, `{from, to,
        /// step}`, `{powers_of_two: [from, to]}`, `{divisors_of}`, `{same_as, times, over}`,
        /// `{dense_layers}` or `{fill: "chunks"}`.
        space: "of::space",
        /// Such as `fits`, `mfu >= 0.3` or `tp <= 8`; `fits` where nothing is said.
        constraints: "of::texts",
        /// A metric and `max` or `min`, 1 to 4.
        objectives: "of::objectives",
        /// Metrics that are kept of each design.
        columns: "of::texts",
        /// Which designs are taken; all of them without it. `refine` takes a fourth at random and
        /// then what is near the best so far.
        sampling: "of::sampling",
        /// Number of best designs that are kept for each objective.
        top: "of::top",
        /// Number of designs that are kept as a random sample of the feasible ones.
        sample: "of::sample",
        /// Designs of the front that differ by less than this share in every objective count as
        /// one; 0 keeps all.
        resolution: "of::resolution",
        /// Baseline of quality and of times to equal loss: a preset, or a design file whose own
        /// `schema` may be left out; `design` unless it is given.
        baseline: "of::baseline",
        /// Whether the parallel strategy of each design is found: true, or what of it stays and
        /// whether schedules count that the design's framework doesn't ship.
        find: "of::find",
    }

    /// Which designs of a space are taken.
    #[cfg_attr(feature = "schema", schemars(extend("required" = ["method"])))]
    struct SamplingKeys {
        /// All, at random, a Latin hypercube, or near the best.
        method: "of::method",
        /// Designs that are taken, for all but `grid`; at most 1,000,000 with `refine`.
        count: "of::count",
        /// Which ones.
        seed: "of::seed",
    }
}

/// The schemas of the keys.
#[cfg(feature = "schema")]
mod of {
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use crate::spec::keys::{MAX_NAME_LEN, MAX_TEXTS, RESOLUTION, SAMPLE, SamplingKeys, TOP};
    use crate::spec::sweep::{SCHEMA, Spec};

    /// Functions that schemars asks for the schema of a field.
    macro_rules! schemas {
        ($($name:ident: $schema:tt,)+) => {$(
            pub(super) fn $name(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        )+};
    }

    schemas! {
        version: {"const": SCHEMA},
        name: {"type": "string", "maxLength": MAX_NAME_LEN},
        design: {"type": "object"},
        space: {"type": "object", "minProperties": 1},
        texts: {"type": "array", "items": {"type": "string"}, "maxItems": MAX_TEXTS},
        objectives: {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": Spec::MAX_OBJECTIVES,
        },
        top: {"type": "integer", "minimum": 0, "maximum": TOP[1], "default": TOP[0]},
        sample: {"type": "integer", "minimum": 0, "maximum": SAMPLE[1], "default": SAMPLE[0]},
        resolution: {
            "type": "number",
            "minimum": 0,
            "maximum": RESOLUTION[1],
            "default": RESOLUTION[0],
        },
        baseline: {"anyOf": [
            {"$ref": "#/components/schemas/PresetId"},
            {"type": "object"},
        ]},
        find: {"anyOf": [
            {"type": "boolean"},
            {
                "type": "object",
                "properties": {
                    "keep": {"type": "array", "items": {"type": "string"}},
                    "any_schedule": {"type": "boolean"},
                },
                "additionalProperties": false,
            },
        ]},
        method: {"enum": ["grid", "random", "lhs", "refine"]},
        count: {"type": "integer", "minimum": 1, "maximum": Spec::MAX_POINTS},
        seed: {"type": "integer", "minimum": 0, "maximum": u64::MAX},
    }

    pub(super) fn sampling(generator: &mut SchemaGenerator) -> Schema {
        SamplingKeys::json_schema(generator)
    }
}
