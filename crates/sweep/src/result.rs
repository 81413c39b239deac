//! The result of a sweep as data: for people and programs, and for other parts to be added to it.

use model::design::file::{Tree, json};
use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Timing};
use model::run::quality::CAVEAT;
use model::search::find::STRATEGY;
use model::{MODEL_VERSION, design::link};
use reports::found::RuledOutBy;
use reports::typed::{Flat, KnobValue, May, Named, Real};
use serde::{Deserialize, Serialize};

use crate::answer::{
    AxisValue, Best, CellRow, FreedKnobs, Kept, KnobAxis, KnobPair, Overview, PartData, Sample,
    SampleRow, SimulatedAtEnd, SweepResult,
};
use crate::digest::digest;
use crate::final_simulation::{FinalSimulation, MAX_FRONT, Simulated, Standing};
use crate::progress::Progress;
use crate::relaxation::usual_values;
use crate::space::Space;
use crate::spec::{MAX_BEST, Spec};
use crate::summary::{Marginal, Row, Summary, pairs};
use crate::table::Table;

/// Share of the feasible designs that a quantile tells of.
const QUANTILES: [(&str, f64); 5] =
    [("p5", 0.05), ("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95)];

/// A part of a sweep: its space, and the places done of it.
#[derive(Clone, Debug)]
pub struct Part {
    /// The space.
    pub space: Space,
    /// Places done, with their summary.
    pub progress: Progress,
    /// Closing of the sweep, if all of it is done.
    pub closing: Option<FinalSimulation>,
}

/// The result of what is done so far.
///
/// The key `part` holds what [`part`] reads; all else is for whoever reads it. A sweep of which
/// all is done has a [`FinalSimulation`].
#[must_use]
pub fn result(
    space: &Space,
    progress: &Progress,
    closing: Option<&FinalSimulation>,
) -> SweepResult {
    let part = PartFile {
        model_version: MODEL_VERSION.to_owned(),
        spec: space.spec().source().clone(),
        progress: progress.clone(),
        closing: closing.cloned(),
    };
    SweepResult {
        overview: Flat(overview(space, progress, closing)),
        digest: summary_digest(progress.summary()),
        part: PartData(tree_of(&part)),
    }
}

/// Overview for people: the result without the data that merging with other parts needs.
#[must_use]
pub fn overview(space: &Space, progress: &Progress, closing: Option<&FinalSimulation>) -> Overview {
    let space = &progress.summary().known_in(space);
    let table = &Table::new(space);
    let (spec, summary) = (space.spec(), progress.summary());
    // What wasn't by closed forms needs no second look.
    let closing_of_rows = closing.filter(|closing| !closing.simulated.is_empty());
    let simulated = |one: &Simulated| simulated_design(table, one);
    let best_of = |place: usize, top: &[Row]| -> Vec<Kept> {
        match closing_of_rows {
            Some(closing) => closing.best(space, place).into_iter().map(simulated).collect(),
            None => top.iter().take(spec.top as usize).map(|row| design(table, row)).collect(),
        }
    };
    let front: Vec<Kept> = match closing_of_rows {
        Some(closing) => closing.front(space).into_iter().map(simulated).collect(),
        None => summary.front().iter().map(|row| design(table, row)).collect(),
    };
    let objectives = spec.objectives.iter().zip(summary.top()).enumerate();
    let objectives = objectives.map(|(place, (objective, top))| Best {
        metric: objective.metric.metric().name,
        goal: objective.goal,
        best: best_of(place, top),
        quantiles: Named::of(
            QUANTILES.map(|(name, share)| (name, summary.quantile(place, share).map(Real))),
        ),
    });
    Overview {
        name: spec.name.clone(),
        sweep: spec.digest(),
        model_version: MODEL_VERSION,
        complete: progress.num_points() == space.num_points(),
        designs: space.size(),
        asked: space.num_points(),
        done: progress.num_points(),
        legal: summary.legal,
        feasible: summary.feasible,
        near_limit: summary.near_limit,
        ruled_out: ruled_out(summary),
        objectives: objectives.collect(),
        front,
        simulated: closing_of_rows.map(|closing| looked_at(table, closing)),
        freed: closing.map_or_else(Vec::new, |closing| freed(space, closing)),
        axes: axes(space, summary),
        pairs: pair_cells(space, summary),
        sample: sample(table, summary.sample()),
        caveat: May(spec.asks_quality().then_some(CAVEAT)),
    }
}

/// Each pair of knobs with the cells that have a feasible design.
fn pair_cells(space: &Space, summary: &Summary) -> Vec<KnobPair> {
    let pairs = pairs(space).into_iter().map(|pair| {
        let cells = summary.cells(&pair).map(|(bins, cell)| CellRow {
            bins,
            feasible: cell.feasible,
            value: cell.best.value,
            index: cell.best.index,
        });
        KnobPair {
            knobs: pair.axes.map(|axis| space.axes()[axis].knob.id()),
            bins: pair.bins,
            cells: cells.collect(),
        }
    });
    pairs.collect()
}

/// Reasons that ruled out designs, with their number of designs, the most first.
fn ruled_out(summary: &Summary) -> Vec<RuledOutBy> {
    let reasons = summary.reasons.iter();
    let reasons =
        reasons.map(|(reason, designs)| RuledOutBy { reason: reason.clone(), designs: *designs });
    let mut reasons: Vec<_> = reasons.collect();
    reasons.sort_by_key(|it| std::cmp::Reverse(it.designs));
    reasons
}

/// A design that was kept, as the sweep times it.
fn design(table: &Table<'_>, row: &Row) -> Kept {
    Kept { near_limit: row.near_limit, ..kept(table, row.index, &row.values, None) }
}

/// A design with these metrics; with another timing where it was simulated at the end.
fn kept(table: &Table<'_>, index: u64, values: &[f64], timing: Option<Timing>) -> Kept {
    let record = table.record(index, values);
    let mut design = record.design().clone();
    design.schedule.timing = timing.unwrap_or(design.schedule.timing);
    Kept {
        index,
        knobs: table.knobs(&record),
        timing: design.schedule.timing.name(),
        near_limit: false,
        breaks: May(None),
        metrics: table.metrics(values),
        closed_form: May(None),
        link: link::encode(&design),
        strategy: May(strategy(table.space, &design)),
    }
}

/// The knobs in which a strategy that was found differs from the sweep's own.
fn strategy(space: &Space, design: &Design) -> Option<Named<KnobValue>> {
    let spec = space.spec();
    let strategy = spec.find.as_ref()?;
    let freed = STRATEGY.without(&strategy.keep);
    let differs = |knob: &KnobId| design.get(*knob) != spec.base.get(*knob);
    let found = freed.iter().filter(differs);
    Some(Named::of(found.map(|knob| (knob.id(), KnobValue::of(design, knob)))))
}

/// A design that was simulated at the end: its numbers and its link are those of the simulation,
/// beside the closed form's numbers.
fn simulated_design(table: &Table<'_>, one: &Simulated) -> Kept {
    let timing = if one.is_simulated() { Timing::Simulated } else { Timing::ClosedForm };
    let broken = match &one.standing {
        Standing::Breaks(constraint) => Some(constraint.clone()),
        Standing::Keeps | Standing::Certain | Standing::Undecided => None,
    };
    Kept {
        near_limit: one.standing == Standing::Undecided,
        breaks: May(Some(broken)),
        closed_form: May(Some(table.metrics(&one.closed_form))),
        ..kept(table, one.index, &one.values, Some(timing))
    }
}

/// Number of designs simulated at the end, with those that no longer keep the constraints.
fn looked_at(table: &Table<'_>, closing: &FinalSimulation) -> SimulatedAtEnd {
    SimulatedAtEnd {
        designs: closing.simulated.len() as u64,
        most_best: MAX_BEST as u64,
        most_front: MAX_FRONT as u64,
        front_left_out: closing.left_out,
        rejected: closing.rejected().map(|one| simulated_design(table, one)).collect(),
    }
}

/// Fixed knobs worth freeing, each with the values that it would take.
fn freed(space: &Space, closing: &FinalSimulation) -> Vec<FreedKnobs> {
    let knob = |id: &String| {
        let values = KnobId::find(id).map(|knob| usual_values(space, knob)).unwrap_or_default();
        (id.clone(), values.iter().map(|value| KnobValue(Tree::from(value))).collect())
    };
    let all = closing.relaxations.iter().map(|freed| FreedKnobs {
        knobs: Named::of(freed.knobs.iter().map(knob)),
        designs: freed.designs,
        tried: freed.tried,
        legal: freed.legal,
        feasible: freed.feasible,
    });
    all.collect()
}

/// Each knob that varies, with what is known of its values.
fn axes(space: &Space, summary: &Summary) -> Vec<KnobAxis> {
    let axes = space.axes().iter().zip(&summary.marginals);
    axes.map(|(axis, marginals)| {
        let values = axis.values.iter().zip(marginals).map(|(value, marginal)| AxisValue {
            value: KnobValue(Tree::from(value)),
            legal: marginal.legal,
            feasible: marginal.feasible,
            mean: marginal.mean().map(Real),
            best: marginal.best.map(|best| Real(best.value)),
            best_index: marginal.best.map(|best| best.index),
        });
        KnobAxis {
            knob: axis.knob.id(),
            importance: importance(marginals).map(Real),
            values: values.collect(),
        }
    })
    .collect()
}

/// Importance of a knob for the first objective: the span of its values' means over the largest
/// mean.
fn importance(marginals: &[Marginal]) -> Option<f64> {
    let means = || marginals.iter().filter_map(Marginal::mean);
    let most = means().max_by(f64::total_cmp)?;
    let least = means().min_by(f64::total_cmp)?;
    let scale = most.abs().max(least.abs());
    Some(if scale > 0.0 { (most - least) / scale } else { 0.0 })
}

/// The random sample as a table.
fn sample(table: &Table<'_>, rows: &[Row]) -> Sample {
    let cells = |row: &Row| {
        let record = table.record(row.index, &row.values);
        SampleRow(table.cells(&record).map(|cell| Tree::from(&*cell)).collect())
    };
    let near = rows.iter().filter(|row| row.near_limit);
    Sample {
        columns: table.columns().iter().map(|column| column.name().into_owned()).collect(),
        rows: rows.iter().map(cells).collect(),
        near_limit: near.map(|row| row.index).collect(),
    }
}

/// A name for what is kept: equal for equal sweeps, however they were run.
fn summary_digest(summary: &Summary) -> String {
    digest(serde_json::to_string(summary).unwrap_or_default().as_bytes())
}

/// File of a part, as merging with other parts needs it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartFile {
    model_version: String,
    spec: Tree,
    progress: Progress,
    #[serde(default)]
    closing: Option<FinalSimulation>,
}

#[derive(Deserialize)]
struct ResultFile {
    part: PartFile,
}

fn tree_of(part: &PartFile) -> Tree {
    let text = serde_json::to_string(part).unwrap_or_default();
    json::parse(&text).unwrap_or(Tree::Null)
}

/// Reads the part that a result holds.
///
/// # Errors
/// In a sentence: the text is no result, or one of another version of the model.
pub fn part(text: &str) -> Result<Part, String> {
    let file: ResultFile = serde_json::from_str(text)
        .map_err(|error| format!("it is no result of a sweep: {error}"))?;
    let PartFile { model_version, spec, progress, closing } = file.part;
    if model_version != MODEL_VERSION {
        return Err(format!(
            "it is a result of version {model_version} of the model, this is version \
             {MODEL_VERSION}"
        ));
    }
    let wrong = |error: String| format!("its spec can't be read: {error}");
    let spec = Spec::from_tree(&spec)
        .map_err(|errors| wrong(errors.first().map(ToString::to_string).unwrap_or_default()))?;
    let space = Space::new(spec).map_err(|error| wrong(error.to_string()))?;
    if !progress.suits(&space) {
        return Err("what it has done doesn't fit its spec".to_owned());
    }
    let columns = space.spec().columns.len();
    let closing = closing.filter(|closing| closing.suits(&space, columns));
    Ok(Part { space, progress, closing })
}
