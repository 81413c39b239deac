//! What a sweep holds its designs against, and whether it finds their strategies.

use model::Plan;
use model::catalogue::preset::Preset;
use model::design::file::{self, Tree};
use model::design::{Design, KnobId, KnobSet};
use model::ground::knob::KnobError;
use model::ground::text::shorten;
use model::metric::MetricId;
use model::run::budget::lacks;
use model::search::find::STRATEGY;

use super::error::{below, error, kind};
use super::keys::SpecKeys;
use super::sweep::{Axis, Constraint, Objective, Strategy, Subject};

/// The baseline and the search of a spec, and what is wrong with them.
pub(super) struct Aims {
    pub(super) baseline: Design,
    pub(super) find: Option<Strategy>,
    pub(super) wrong: Vec<KnobError>,
}

/// Objectives, constraints and columns of a spec.
#[derive(Clone, Copy)]
pub(super) struct Selection<'a> {
    pub(super) objectives: &'a [Objective],
    pub(super) constraints: &'a [Constraint],
    pub(super) columns: &'a [MetricId],
}

/// The design that doesn't vary; its own `schema` may be left out.
pub(super) fn base(tree: Option<&Tree>) -> Result<Design, Vec<KnobError>> {
    let Some(tree) = tree else { return Ok(default_design()) };
    let mut tree = tree.clone();
    if let Tree::Map(entries) = &mut tree
        && !entries.iter().any(|(key, _)| key == "schema")
    {
        entries.insert(0, ("schema".to_owned(), Tree::Unsigned(file::SCHEMA)));
    }
    file::read(&tree)
}

pub(super) fn default_design() -> Design {
    Design::from_preset(Preset::DEFAULT_ID).expect("the default preset is in the table")
}

/// Reads `baseline` and `find`: the one is the sweep's own design by default, or a preset's id, or
/// a design file's map; its section `run` is the sweep's unless it has one.
pub(super) fn aims(keys: &SpecKeys, own: &Design, before: &[KnobError]) -> Aims {
    let mut wrong = Vec::new();
    let find = strategy(keys.find, &mut wrong);
    let read = match keys.baseline {
        None => Ok(own.clone()),
        Some(Tree::Text(id)) => Design::from_preset(id).map_err(|error| vec![error]),
        Some(map @ Tree::Map(_)) => base(Some(map)),
        Some(other) => {
            let detail = format!("baseline takes a preset's id or a design, not {}", kind(other));
            Err(vec![error("wrong_type", "baseline", detail)])
        }
    };
    let mut baseline = read.unwrap_or_else(|errors| {
        wrong.extend(errors.into_iter().map(|error| below("baseline", error)));
        own.clone()
    });
    let has_run = matches!(keys.baseline, Some(map) if map.get("run").is_some());
    if !has_run {
        baseline.run = own.run.clone();
    }
    // The strategy of a baseline is found where that of designs is.
    let is_said = keys.baseline.is_some() && before.is_empty() && wrong.is_empty();
    if is_said
        && find.is_none()
        && let Err(broken) = Plan::new(&baseline)
    {
        wrong.extend(broken.iter().map(|it| error(it.rule, "baseline", it.message.clone())));
    }
    Aims { baseline, find, wrong }
}

/// Reads `find`: true, or a map with `keep` and `any_schedule`.
fn strategy(tree: Option<&Tree>, wrong: &mut Vec<KnobError>) -> Option<Strategy> {
    let tree = tree?;
    if let Tree::Flag(find) = tree {
        return find.then(Strategy::default);
    }
    let Tree::Map(entries) = tree else {
        let detail = format!("find takes true, or a map with `keep`, not {}", kind(tree));
        wrong.push(error("wrong_type", "find", detail));
        return None;
    };
    let mut strategy = Strategy::default();
    for (key, value) in entries {
        match (key.as_str(), value) {
            ("any_schedule", Tree::Flag(any)) => strategy.any_schedule = *any,
            ("keep", Tree::List(names)) => {
                let mut keep = Vec::new();
                for name in names {
                    match KnobId::find(name.as_text().unwrap_or_default()) {
                        Ok(knob) => keep.push(knob),
                        Err(unknown) => wrong.push(below("find.keep", unknown)),
                    }
                }
                strategy.keep = KnobSet::of(&keep);
            }
            _ => {
                let detail = format!(
                    "find takes `keep`, a list of knobs, and `any_schedule`, true or false, not \
                     `{}`",
                    shorten(key)
                );
                wrong.push(error("unknown_key", &format!("find.{key}"), detail));
            }
        }
    }
    Some(strategy)
}

/// Knobs that the sweep varies although their values are found.
pub(super) fn swept_strategy(
    strategy: &Strategy,
    moved: impl Iterator<Item = KnobId>,
) -> Vec<KnobError> {
    let freed = STRATEGY.without(&strategy.keep);
    let say = |knob: KnobId| {
        let id = knob.id();
        let detail = format!("{id} is found for each design: `find` keeps it, or it doesn't vary");
        error("found_and_varied", &format!("space.{id}"), detail)
    };
    moved.filter(|knob| freed.has(*knob)).map(say).collect()
}

/// Errors for knobs that the requested metrics of runs need, and neither the sweep's design sets
/// nor an axis varies.
pub(super) fn unknown(asked: Selection<'_>, own: &Design, axes: &[Axis]) -> Vec<KnobError> {
    let of_objectives = asked.objectives.iter().map(|one| one.metric);
    let of_constraints = asked.constraints.iter().filter_map(|it| match it.subject {
        Subject::Metric(id) => Some(id),
        Subject::Knob(_) => None,
    });
    let all = of_objectives.chain(of_constraints).chain(asked.columns.iter().copied());
    let mut lacking: Vec<(KnobId, &str)> = Vec::new();
    for id in all {
        for knob in lacks(id, own) {
            let is_varied = axes.iter().any(|axis| axis.knob == knob);
            if !is_varied && lacking.iter().all(|(known, _)| *known != knob) {
                lacking.push((knob, id.metric().name));
            }
        }
    }
    let say = |(knob, name): (KnobId, &str)| {
        let id = knob.id();
        let detail = format!("{name} isn't known without {id}: set it in `design`, or vary it");
        KnobError {
            nearest: vec![id.clone()],
            ..error("unknown_run", &format!("design.{id}"), detail)
        }
    };
    lacking.into_iter().map(say).collect()
}
