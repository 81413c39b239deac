//! What one's own runs say, for people and programs.

use model::design::{Design, KnobId};
use model::ground::choice::Choice;
use model::{MODEL_VERSION, Plan, design::link};
use serde::Serialize;

use super::case::{Case, MAX_RUNS, Refused, Values, cases};
use super::constant::{CONSTANTS, COUNT, IN_RUN, SYNCS};
use super::fit::{Fit, fit, rounded};
use super::profile::Profile;
use super::profile::rates::{Rates, rates};
use super::read::{Content, Said};
use crate::report::Score;
use crate::runs::Run;
use crate::statistics::score_of;
use crate::{convention, hardware};

/// Share of its prior's variance from which on runs are reported to determine a constant.
const MIN_DETERMINED_SHARE: f64 = 0.5;

/// Normal quantile of the ends of a range of nine tenths.
const RANGE_QUANTILE: f64 = 1.645;

/// Input of a calibration beside the files.
#[derive(Clone, Debug, Default)]
pub struct CalibrationInput {
    /// The design where a file doesn't give its own, and the cluster of logs.
    pub base: Option<Design>,
    /// Knobs that are set in every run.
    pub settings: Vec<(KnobId, String)>,
    /// Name of the profile.
    pub name: Option<String>,
}

/// The state of one's software, with what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// Name of the calibration.
    pub name: String,
    /// The accelerator of all runs, or of the profile, by its id.
    pub accelerator: String,
    /// The knobs that are moved, as `section.name=value`, and the profile's name behind them.
    pub knobs: Vec<String>,
    /// Settings as a part of a link, to be added to any design's.
    pub query: String,
    /// Settings as a part of a design file.
    pub toml: String,
    /// The first run's design, or the profile's, with these knobs, as a link.
    pub link: String,
    /// Every constant, before and after.
    pub constants: Vec<ConstantChange>,
    /// The runs.
    pub runs: Vec<Measured>,
    /// Runs and files that can't be used, with the reason.
    pub refused: Vec<Unused>,
    /// Rates that a profile doesn't give, and why.
    pub remarks: Vec<String>,
    /// Agreement of runs and predictions; none where there is a profile alone.
    pub agreement: Option<Agreement>,
    /// The version of the model.
    pub model_version: String,
}

/// A constant, and what is known of it now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "ConstantTold"))]
pub struct ConstantChange {
    /// The knob's id.
    pub knob: String,
    /// Label of the knob.
    pub label: &'static str,
    /// Its unit; empty for shares.
    pub unit: &'static str,
    /// Value without these runs.
    pub before: f64,
    /// Value with them.
    pub value: f64,
    /// Between which values it is with nine chances of ten.
    pub range: [f64; 2],
    /// Share of what isn't known of it beforehand that the runs tell, beside what they move.
    pub told: f64,
    /// `runs`, `profile` or `family`: who gives the value.
    pub from: &'static str,
    /// Why it stays the family's, or what to see to; empty where there is nothing to say.
    pub why: &'static str,
}

/// A run, with its prediction before and after.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "MeasuredRun"))]
pub struct Measured {
    /// Its id, or its file's name.
    pub id: String,
    /// The metric's id.
    pub metric: &'static str,
    /// Measured step time.
    pub measured: f64,
    /// Relative standard deviation of single steps; none where the measurement is one number.
    pub spread: Option<f64>,
    /// The steps that it is the median of; none where it is one number.
    pub steps: Option<usize>,
    /// The prediction with the family's constants.
    pub before: f64,
    /// The prediction with the profile.
    pub after: f64,
    /// predicted / measured - 1 of the step time with the family's constants.
    pub time_error_before: f64,
    /// Error with the profile.
    pub time_error: f64,
    /// Error with constants fitted without this design; none with fewer than three designs.
    pub left_out_error: Option<f64>,
    /// The measured peak memory in GiB.
    pub memory_measured_gib: Option<f64>,
    /// The predicted one, which no constant here moves.
    pub memory_predicted_gib: f64,
    /// Assumptions.
    pub assumed: Vec<String>,
    /// Its design without the profile, as a link.
    pub link: String,
}

/// A file, or a part of one, that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "UnusedFile"))]
pub struct Unused {
    /// A run's id or a file's name.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// Agreement of runs and predictions: errors of the step time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Agreement {
    /// With the family's constants.
    pub before: Score,
    /// With the profile, which has seen these runs.
    pub after: Score,
    /// Score of runs left out of their own fit; none with fewer than three designs.
    pub left_out: Option<Score>,
}

/// Fits the constants to the runs of these files, each with its name; rates that a profile has
/// measured are taken as they are.
///
/// # Errors
/// Reason why there is no profile: a file that says nothing, runs that can't be predicted, or runs
/// of several accelerators.
pub fn calibrate(
    files: Vec<(String, Content)>,
    asked: &CalibrationInput,
) -> Result<Calibration, Vec<String>> {
    if let Some(name) = &asked.name {
        // Before anything is computed: the name is to travel with the knobs.
        let design = Design::from_preset(STAND_IN);
        let set = design.and_then(|mut it| it.set_text(KnobId::profile, name));
        set.map_err(|error| vec![error.to_string()])?;
    }
    let Given { mut cases, unused, profile } = given(files, asked)?;
    let mut parts: Vec<&str> =
        cases.iter().map(|case| case.plan().design().cluster.accelerator.name()).collect();
    parts.sort_unstable();
    parts.dedup();
    if parts.len() > 1 {
        let list = parts.join(", ");
        return Err(vec![format!(
            "a profile is of one cluster, and the runs are of {} accelerators: {list}",
            parts.len()
        )]);
    }
    let Some(plan) = profiled(&cases, profile.as_ref(), asked)? else {
        let why = |it: &Unused| format!("{}: {}", it.id, it.reason);
        let mut lines = vec!["no run can be predicted".to_owned()];
        lines.extend(unused.iter().take(MAX_TOLD).map(why));
        return Err(lines);
    };
    let is_own = asked.base.is_some();
    let rates = profile.map(|profile| rates(&profile, plan.design(), is_own)).transpose();
    let rates = rates.map_err(|why| vec![why])?.unwrap_or_default();
    let known: Values = rates.values.map(|rate| rate.map(|it| rounded(it.value)));
    cases.iter_mut().for_each(|case| case.know(&known));
    if cases.is_empty() && known.iter().all(Option::is_none) {
        let mut lines = vec!["the profile tells no rate".to_owned()];
        lines.extend(rates.remarks);
        return Err(lines);
    }
    let fit = fit(&cases);
    Ok(Made { plan: &plan, cases: &cases, fit: &fit, rates: &rates, known }
        .calibration(unused, asked))
}

/// Maximum number of reasons in an error.
const MAX_TOLD: usize = 20;

/// Content of all files.
struct Given {
    cases: Vec<Case>,
    unused: Vec<Unused>,
    profile: Option<Profile>,
}

/// The cases of all files, what can't be used, and all operator times together.
fn given(files: Vec<(String, Content)>, asked: &CalibrationInput) -> Result<Given, Vec<String>> {
    let mut given = Given { cases: vec![], unused: vec![], profile: None };
    for (place, (name, content)) in (0_u64..).zip(files) {
        match content.0 {
            Said::Runs(runs) => {
                if runs.len() > MAX_RUNS {
                    let count = runs.len();
                    return Err(vec![format!(
                        "{name} has {count} runs; a fit takes at most {MAX_RUNS}"
                    )]);
                }
                let (made, refused) = cases(&runs, &asked.settings);
                given.cases.extend(made);
                let refused = refused.into_iter();
                given.unused.extend(refused.map(|Refused { id, reason }| Unused { id, reason }));
            }
            Said::Log(log) => match log.case(&name, asked.base.as_ref(), &asked.settings) {
                Ok(case) => given.cases.push(case),
                Err(reason) => given.unused.push(Unused { id: name, reason }),
            },
            Said::Profile(profile) => {
                given.profile.get_or_insert_default().merge(&profile, place);
            }
        }
    }
    if given.cases.len() > MAX_RUNS {
        let count = given.cases.len();
        return Err(vec![format!("{count} runs; a fit takes at most {MAX_RUNS}")]);
    }
    Ok(given)
}

/// The design on whose accelerator a profile's kernels ran, and that the profile's link begins
/// with: the one that is given, that of the first run, or a dense model on the device that the
/// profile names.
fn profiled(
    cases: &[Case],
    profile: Option<&Profile>,
    asked: &CalibrationInput,
) -> Result<Option<Plan>, Vec<String>> {
    if let Some(case) = cases.first().filter(|_| profile.is_none() || asked.base.is_none()) {
        return Ok(Some(case.plan().clone()));
    }
    let Some(profile) = profile else { return Ok(None) };
    let name = profile.device.clone().unwrap_or_default();
    let run = Run { hardware: name.clone(), ..Run::default() };
    let named = hardware::for_run(&run).ok().map(|machine| machine.accelerator.to_owned());
    let says_part = asked.settings.iter().any(|(knob, _)| *knob == KnobId::accelerator);
    if asked.base.is_none() && !says_part && named.is_none() {
        return Err(vec![format!(
            "the profile's device `{name}` is no known accelerator: give it with --set \
             cluster.accelerator=ID, or a preset with the cluster"
        )]);
    }
    let one = |error: model::ground::knob::KnobError| vec![error.to_string()];
    let mut design = match &asked.base {
        Some(base) => base.clone(),
        None => Design::from_preset(STAND_IN).map_err(one)?,
    };
    if let Some(named) = named.filter(|_| asked.base.is_none()) {
        design.set_text(KnobId::accelerator, &named).map_err(one)?;
    }
    for (knob, value) in &asked.settings {
        design.set_text(*knob, value).map_err(one)?;
    }
    let plan = Plan::new(&design);
    plan.map(Some).map_err(|broken| broken.into_iter().map(|it| it.message).collect())
}

/// The preset that a profile is read with where no design is given: kernels are timed on its
/// accelerator, by their own shapes.
const STAND_IN: &str = "llama-3-8b";

/// Parts of a calibration.
struct Made<'a> {
    plan: &'a Plan,
    cases: &'a [Case],
    fit: &'a Fit,
    rates: &'a Rates,
    known: Values,
}

impl Made<'_> {
    /// All knobs: those that runs move and those that a profile gives.
    fn values(&self) -> Values {
        core::array::from_fn(|index| self.fit.values[index].or(self.known[index]))
    }

    fn calibration(&self, unused: Vec<Unused>, asked: &CalibrationInput) -> Calibration {
        let (cases, values) = (self.cases, self.values());
        let part = self.plan.design().cluster.accelerator.name();
        let runs = cases.iter().zip(&self.fit.left_out);
        let runs: Vec<Measured> =
            runs.filter_map(|(case, off)| measured(case, self.fit, *off)).collect();
        let count = runs.len();
        let name = asked.name.clone().unwrap_or_else(|| match count {
            0 => format!("{part}, operator times"),
            1 => format!("{part}, 1 run"),
            _ => format!("{part}, {count} runs"),
        });
        let constants = CONSTANTS.iter().zip(values);
        let mut set: Vec<(KnobId, String)> = constants
            .filter_map(|(constant, value)| Some((constant.knob, value?.to_string())))
            .collect();
        if !set.is_empty() {
            set.push((KnobId::profile, name.clone()));
        }
        let query: Vec<String> = set.iter().map(|(knob, value)| link::pair(*knob, value)).collect();
        Calibration {
            toml: toml(&set),
            name,
            accelerator: part.to_owned(),
            query: query.join("&"),
            knobs: set.iter().map(|(knob, value)| format!("{}={value}", knob.id())).collect(),
            link: address(self.plan, &set),
            constants: (0..COUNT).map(|index| self.told(index)).collect(),
            agreement: (count > 0).then(|| agreement(&runs)),
            runs,
            refused: unused,
            remarks: self.rates.remarks.clone(),
            model_version: MODEL_VERSION.to_owned(),
        }
    }
}

fn agreement(runs: &[Measured]) -> Agreement {
    let score = |of: fn(&Measured) -> f64| {
        let errors: Vec<f64> = runs.iter().map(of).collect();
        score_of(&errors, &errors)
    };
    let left_out: Option<Vec<f64>> = runs.iter().map(|run| run.left_out_error).collect();
    Agreement {
        before: score(|run| run.time_error_before),
        after: score(|run| run.time_error),
        left_out: left_out.map(|errors| score_of(&errors, &errors)),
    }
}

/// Knobs as a part of a design file.
fn toml(set: &[(KnobId, String)]) -> String {
    let mut text = String::from("[kernel]\n");
    for (knob, value) in set {
        let id = knob.id();
        let key = id.strip_prefix("kernel.").unwrap_or(&id);
        let value = match value.parse::<f64>() {
            Ok(number) if *knob != KnobId::profile => format!("{number:?}"),
            // A name has no controls.
            _ => format!("\"{}\"", value.replace('\\', r"\\").replace('"', r#"\""#)),
        };
        text.push_str(&format!("{key} = {value}\n"));
    }
    text
}

/// A plan's design with these knobs, as a link.
fn address(plan: &Plan, set: &[(KnobId, String)]) -> String {
    let mut design = plan.design().clone();
    for (knob, value) in set {
        // Each is within its knob's bounds.
        let _ = design.set_text(*knob, value);
    }
    format!("/?{}", link::encode(&design))
}

fn measured(case: &Case, fit: &Fit, off: Option<f64>) -> Option<Measured> {
    let (before, estimate) = case.bare()?;
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
        link: address(case.plan(), &[]),
    })
}

impl Made<'_> {
    /// Report on a constant.
    fn told(&self, index: usize) -> ConstantChange {
        let (constant, fit) = (&CONSTANTS[index], self.fit);
        let before = if self.cases.is_empty() {
            (constant.in_effect)(&self.plan.rates_in_effect())
        } else {
            fit.start[index]
        };
        // What follows the rate inside steps moves with it.
        let follows = match (fit.values[index], fit.values[IN_RUN]) {
            (None, Some(own)) if constant.follows_in_run => own / fit.start[IN_RUN],
            _ => 1.0,
        };
        let measured = self.rates.values[index].filter(|_| fit.values[index].is_none());
        let value = self.values()[index].unwrap_or(before * follows);
        let deviation = measured.map_or(fit.deviations[index], |rate| rate.deviation);
        let ends = [-1.0, 1.0].map(|side: f64| value * (side * RANGE_QUANTILE * deviation).exp());
        let [least, most] = constant.bounds();
        let is_set = measured.is_none() && self.cases.iter().any(|case| case.sets(index));
        ConstantChange {
            knob: constant.knob.id(),
            label: constant.knob.knob().label,
            unit: constant.knob.knob().unit,
            before,
            value,
            range: if is_set { [value; 2] } else { ends.map(|end| end.clamp(least, most)) },
            told: match measured {
                Some(rate) => (1.0 - (rate.deviation / constant.prior()).powi(2)).max(0.0),
                None => fit.told[index],
            },
            from: match (fit.values[index], measured) {
                (Some(_), _) => "runs",
                (None, Some(_)) => "profile",
                (None, None) => "family",
            },
            why: self.why(index),
        }
    }

    /// Reason for a constant's value, where that isn't plain.
    fn why(&self, index: usize) -> &'static str {
        let (constant, fit) = (&CONSTANTS[index], self.fit);
        let [least, most] = constant.bounds();
        let has_left_out = fit.left_out.iter().any(Option::is_some);
        let is_set = self.cases.iter().any(|case| case.sets(index));
        match (fit.values[index], self.known[index]) {
            (Some(value), _) | (None, Some(value))
                if value <= least * 1.001 || value >= most / 1.001 =>
            {
                "at its bound: the model misses something, so don't use it"
            }
            (Some(_), _) if !has_left_out => "nothing is left out with fewer than three designs",
            (Some(_), _) | (None, Some(_)) => "",
            (None, None) if self.cases.is_empty() => "the profile doesn't tell it",
            (None, None) if is_set => "a run's design sets it",
            (None, None) if index == SYNCS => {
                "a step tells only its product with the time of a read-back, which moves instead"
            }
            (None, None) if fit.told[index] < MIN_DETERMINED_SHARE => {
                "the runs don't tell it from the others"
            }
            (None, None) => "runs that are left out aren't predicted better with it",
        }
    }
}
