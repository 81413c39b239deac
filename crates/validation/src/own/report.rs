//! What one's own runs say, for people and programs.

use model::choice::Choice;
use model::design::{Design, KnobId};
use model::{MODEL_VERSION, link};
use serde::Serialize;

use super::case::{Case, MAX_RUNS, Refused, Values, cases};
use super::constant::{CONSTANTS, COUNT, Constant, IN_RUN, SYNCS};
use super::fit::{Fit, MIN_LEFT_OUT, fit};
use super::read::{Content, Said};
use crate::convention;
use crate::report::Score;
use crate::runs::Run;
use crate::statistics::score_of;

/// Share of its prior's variance from which on runs are said to tell a constant.
const TOLD: f64 = 0.5;

/// Normal quantile of the ends of a range of nine tenths.
const MOST: f64 = 1.645;

/// What is asked beside the files.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The design of what doesn't say its own, and the cluster of logs.
    pub base: Option<Design>,
    /// Knobs that are set in every run.
    pub settings: Vec<(KnobId, String)>,
    /// What the profile is called.
    pub name: Option<String>,
}

/// The state of one's software, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Calibration {
    /// What it is called.
    pub name: String,
    /// The accelerator of all runs, by its id.
    pub accelerator: String,
    /// The knobs that are moved, as `section.name=value`.
    pub knobs: Vec<String>,
    /// The same as a part of a link, to be added to any design's.
    pub query: String,
    /// The same as a part of a design file.
    pub toml: String,
    /// The first run's design with these knobs, as a link.
    pub link: String,
    /// What became of every constant.
    pub constants: Vec<Told>,
    /// The runs.
    pub runs: Vec<Measured>,
    /// Runs and files that can't be used, with the reason.
    pub refused: Vec<Unused>,
    /// How well the runs are predicted.
    pub agreement: Agreement,
    /// The version of the model.
    pub model_version: String,
}

/// A constant, and what is known of it now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    /// The knob's id.
    pub knob: String,
    /// What the knob is called.
    pub label: &'static str,
    /// Its unit; empty for shares.
    pub unit: &'static str,
    /// What counts without these runs.
    pub before: f64,
    /// What counts with them.
    pub value: f64,
    /// Between which values it is with nine chances of ten.
    pub range: [f64; 2],
    /// Share of what isn't known of it beforehand that the runs tell, all constants being open.
    pub told: f64,
    /// `runs` or `family`: who gives the value.
    pub from: &'static str,
    /// Why it stays the family's, or what to see to; empty where there is nothing to say.
    pub why: &'static str,
}

/// A run, with its prediction before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Its id, or its file's name.
    pub id: String,
    /// The metric's id.
    pub metric: &'static str,
    /// What was measured.
    pub measured: f64,
    /// How far single steps are from it, as a standard deviation, relative; none where it is one
    /// number.
    pub spread: Option<f64>,
    /// The steps that it is the median of; none where it is one number.
    pub steps: Option<usize>,
    /// The prediction with the family's constants.
    pub before: f64,
    /// The prediction with the profile.
    pub after: f64,
    /// predicted / measured - 1 of the step time with the family's constants.
    pub time_error_before: f64,
    /// The same with the profile.
    pub time_error: f64,
    /// The same with constants that were fitted without this design; none with fewer than three.
    pub left_out_error: Option<f64>,
    /// The measured peak memory in GiB.
    pub memory_measured_gib: Option<f64>,
    /// The predicted one, which no constant here moves.
    pub memory_predicted_gib: f64,
    /// What was taken for granted.
    pub assumed: Vec<String>,
    /// Its design without the profile, as a link.
    pub link: String,
}

/// What can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unused {
    /// A run's id or a file's name.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// How well runs are predicted: errors of the step time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// With the family's constants.
    pub before: Score,
    /// With the profile, which has seen these runs.
    pub after: Score,
    /// Of runs that were left out of their own fit; none with fewer than three designs.
    pub left_out: Option<Score>,
}

/// Fits the constants to the runs of these files, each with its name.
///
/// # Errors
/// Why there is no profile: a file that says nothing, runs that can't be predicted, or runs of
/// several accelerators.
pub fn calibrate(files: Vec<(String, Content)>, asked: &Asked) -> Result<Calibration, Vec<String>> {
    let (cases, unused) = given(files, asked)?;
    let mut parts: Vec<&str> =
        cases.iter().map(|case| case.plan().design().cluster.accelerator.name()).collect();
    parts.sort_unstable();
    parts.dedup();
    let [part] = parts.as_slice() else {
        if parts.is_empty() {
            let why = |it: &Unused| format!("{}: {}", it.id, it.reason);
            let mut lines = vec!["no run can be predicted".to_owned()];
            lines.extend(unused.iter().take(MAX_TOLD).map(why));
            return Err(lines);
        }
        let list = parts.join(", ");
        return Err(vec![format!(
            "a profile is of one cluster, and the runs are of {} accelerators: {list}",
            parts.len()
        )]);
    };
    let fit = fit(&cases);
    Ok(made(part, &cases, &fit, unused, asked))
}

/// Reasons that an error tells, at most.
const MAX_TOLD: usize = 20;

/// The cases of all files, and what can't be used.
fn given(
    files: Vec<(String, Content)>,
    asked: &Asked,
) -> Result<(Vec<Case>, Vec<Unused>), Vec<String>> {
    let (mut all, mut unused) = (vec![], vec![]);
    for (name, content) in files {
        match content.0 {
            Said::Runs(runs) => {
                if runs.len() > MAX_RUNS {
                    let count = runs.len();
                    return Err(vec![format!(
                        "{name} has {count} runs; a fit takes at most {MAX_RUNS}"
                    )]);
                }
                let (made, refused) = cases(&runs, &asked.settings);
                all.extend(made);
                let refused = refused.into_iter();
                unused.extend(refused.map(|Refused { id, reason }| Unused { id, reason }));
            }
            Said::Log(log) => match log.case(&name, asked.base.as_ref(), &asked.settings) {
                Ok(case) => all.push(case),
                Err(reason) => unused.push(Unused { id: name, reason }),
            },
        }
    }
    if all.len() > MAX_RUNS {
        return Err(vec![format!("{} runs; a fit takes at most {MAX_RUNS}", all.len())]);
    }
    Ok((all, unused))
}

fn made(part: &str, cases: &[Case], fit: &Fit, unused: Vec<Unused>, asked: &Asked) -> Calibration {
    let runs: Vec<Measured> = cases
        .iter()
        .zip(&fit.left_out)
        .filter_map(|(case, off)| measured(case, fit, *off))
        .collect();
    let score = |of: fn(&Measured) -> f64| {
        let errors: Vec<f64> = runs.iter().map(of).collect();
        score_of(&errors, &errors)
    };
    let left_out: Option<Vec<f64>> = runs.iter().map(|run| run.left_out_error).collect();
    let knobs = fit.knobs();
    let count = runs.len();
    let name = asked
        .name
        .clone()
        .unwrap_or_else(|| format!("{part}, {count} {}", if count == 1 { "run" } else { "runs" }));
    Calibration {
        toml: toml(&name, &fit.values),
        name,
        accelerator: part.to_owned(),
        query: knobs.join("&"),
        knobs,
        link: cases.first().map(|case| address(case, &fit.values)).unwrap_or_default(),
        constants: (0..COUNT).map(|index| told(index, cases, fit)).collect(),
        agreement: Agreement {
            before: score(|run| run.time_error_before),
            after: score(|run| run.time_error),
            left_out: left_out.filter(|it| !it.is_empty()).map(|it| score_of(&it, &it)),
        },
        runs,
        refused: unused,
        model_version: MODEL_VERSION.to_owned(),
    }
}

/// The profile as a part of a design file.
fn toml(name: &str, values: &Values) -> String {
    // A name is one line, whatever it is made of.
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    let mut text = format!("# {name}\n[kernel]\n");
    for (constant, value) in CONSTANTS.iter().zip(values) {
        if let Some(value) = value {
            let id = constant.knob.id();
            let key = id.strip_prefix("kernel.").unwrap_or(&id);
            text.push_str(&format!("{key} = {value:?}\n"));
        }
    }
    text
}

/// A case's design with these values, as a link.
fn address(case: &Case, values: &Values) -> String {
    let mut design = case.plan().design().clone();
    for (constant, value) in CONSTANTS.iter().zip(values) {
        if value.is_some() {
            *(constant.own)(&mut design.kernel) = *value;
        }
    }
    format!("/?{}", link::encode(&design))
}

fn measured(case: &Case, fit: &Fit, off: Option<f64>) -> Option<Measured> {
    let none = [None; COUNT];
    let (before, estimate) = case.predicted(&none)?;
    let (after, _) = case.predicted(&fit.values)?;
    let Run { id, .. } = &case.run;
    Some(Measured {
        id: id.clone(),
        metric: before.metric,
        measured: before.measured,
        spread: (case.steps > 1).then_some(case.spread),
        steps: (case.steps > 0).then_some(case.steps),
        before: before.predicted,
        after: after.predicted,
        time_error_before: before.time_error,
        time_error: after.time_error,
        left_out_error: off.map(f64::exp_m1),
        memory_measured_gib: convention::memory_gib(&case.run),
        memory_predicted_gib: estimate.metrics.memory_peak.get() / (1_u64 << 30) as f64,
        assumed: case.assumed.clone(),
        link: address(case, &none),
    })
}

/// What became of a constant.
fn told(index: usize, cases: &[Case], fit: &Fit) -> Told {
    let constant = &CONSTANTS[index];
    let before = fit.start[index];
    let moved = fit.values[index];
    // What follows the rate inside steps moves with it.
    let follows = match (moved, fit.values[IN_RUN]) {
        (None, Some(own)) if constant.follows_in_run => own / fit.start[IN_RUN],
        _ => 1.0,
    };
    let value = moved.unwrap_or(before * follows);
    let ends = [-1.0, 1.0].map(|side: f64| value * (side * MOST * fit.deviations[index]).exp());
    let [least, most] = constant.bounds();
    let given = cases.iter().any(|case| case.sets(index));
    Told {
        knob: constant.knob.id(),
        label: constant.knob.knob().label,
        unit: constant.knob.knob().unit,
        before,
        value,
        range: if given { [value; 2] } else { ends.map(|end| end.clamp(least, most)) },
        told: fit.told[index],
        from: if moved.is_some() { "runs" } else { "family" },
        why: why(index, constant, cases, fit),
    }
}

/// Why a constant is as it is, where that isn't plain.
fn why(index: usize, constant: &Constant, cases: &[Case], fit: &Fit) -> &'static str {
    let [least, most] = constant.bounds();
    let designs = fit.left_out.iter().filter(|it| it.is_some()).count();
    match fit.values[index] {
        Some(value) if value <= least * 1.001 || value >= most / 1.001 => {
            "at its bound: the model misses something, so don't use it"
        }
        Some(_) if designs < MIN_LEFT_OUT => "nothing is held out with fewer than three designs",
        Some(_) => "",
        None if cases.iter().any(|case| case.sets(index)) => "a run's design sets it",
        None if index == SYNCS => {
            "a step tells its product with the read-back's time alone, which moves instead"
        }
        None if fit.told[index] < TOLD => "the runs don't tell it from the others",
        None => "runs that are left out aren't predicted better with it",
    }
}
