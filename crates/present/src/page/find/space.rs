//! The space of a search as the spec of a sweep.

use model::design::KnobId;
use model::design::file::Tree;
use model::ground::choice::{Choice, RecomputeGranularity};
use model::ground::knob::Value;
use model::ground::units::Bytes;
use model::metric::MetricId;
use model::search::find::{Query, Target};

use crate::insight::spec;

/// Designs of the sweep, as far as nobody asks for more.
const DEFAULT_DESIGNS: u64 = 3_000;

/// The spec of a sweep over what a search frees, with what it has to reach; it refines, as the
/// space is too large to be looked at whole.
#[must_use]
pub fn spec(query: &Query) -> Tree {
    let mut tree = spec::around(&query.design);
    let names = |all: &[&str]| -> Vec<Value> {
        all.iter().map(|name| Value::Text((*name).to_owned())).collect()
    };
    let flags = [false, true].map(Value::Flag);
    let methods: Vec<&str> = query.methods().into_iter().map(Choice::name).collect();
    let shares: Vec<&str> = query.sharding_strategies().into_iter().map(Choice::name).collect();
    spec::vary(&mut tree, KnobId::method, &names(&methods));
    spec::vary(&mut tree, KnobId::sequence_parallel, &flags);
    spec::vary(&mut tree, KnobId::context_parallel_size, &[1, 2, 4, 8].map(Value::Integer));
    spec::vary(&mut tree, KnobId::recompute_granularity, &names(RecomputeGranularity::NAMES));
    spec::vary(&mut tree, KnobId::data_parallel_sharding_strategy, &names(&shares));
    for knob in query.keep.iter() {
        let row = knob.knob();
        spec::set(&mut tree, &["space", row.section.name(), row.name], None);
    }
    let objectives = ["tokens_per_second_per_device max", "memory_peak_bytes min"];
    spec::set(&mut tree, &["objectives"], Some(Tree::list(objectives)));
    let mut constraints = vec![room(query)];
    constraints.extend(query.targets.iter().filter_map(constraint));
    let constraints = constraints.iter().map(String::as_str);
    spec::set(&mut tree, &["constraints"], Some(Tree::list(constraints)));
    let sampling =
        Tree::map([("method", "refine".into()), ("count", Tree::Unsigned(DEFAULT_DESIGNS))]);
    spec::set(&mut tree, &["sampling"], Some(sampling));
    tree
}

/// The memory that a design may take: the search leaves some free, and more where that is asked.
fn room(query: &Query) -> String {
    let cluster = &query.design.cluster;
    let usable = cluster.hbm_usable_gib.unwrap_or(cluster.accelerator.row().hbm_usable_gib);
    let bytes = Bytes::gib(usable * (1.0 - query.spare())).get();
    format!("memory_peak_bytes <= {bytes:.0}")
}

/// A target as a constraint of a sweep; memory to spare is one with all else that takes memory.
fn constraint(target: &Target) -> Option<String> {
    match target {
        Target::Spare(_) | Target::AtLeast(MetricId::fits, _) => None,
        Target::AtLeast(..) | Target::AtMost(..) | Target::Devices(_) | Target::Run(_) => {
            Some(target.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::Request;
    use super::*;

    #[test]
    fn a_sweep_varies_what_the_search_frees_and_keeps_what_stays() {
        let raw = "preset=glm-4.5&find.keep=tp,schedule.method&find.target=mfu%3E%3D0.3\
                   &find.target=spare%3E%3D0.1";
        let tree = spec(&Request::read(raw).0.query);
        let space = |section, name| spec::at(&tree, &["space", section, name]);
        assert_eq!(space("parallel", "tensor_model_parallel_size"), None);
        assert_eq!(space("schedule", "method"), None);
        assert!(space("parallel", "pipeline_model_parallel_size").is_some());
        assert!(space("memory", "recompute_granularity").is_some());
        let constraints = spec::texts(&tree, "constraints");
        assert_eq!(constraints.len(), 2, "{constraints:?}");
        assert!(constraints[0].starts_with("memory_peak_bytes <= "), "{constraints:?}");
        assert_eq!(constraints[1], "mfu>=0.3");
    }
}
