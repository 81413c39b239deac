//! What comes of an [`Input`]: a simulated schedule, or why there is none and what is near.

use std::sync::Arc;

use model::ground::choice::{Choice, Method};
use model::schedule::{Fault, Schedule, Timeline};

use super::input::{Field, Input};
use crate::format;

/// A schedule with more tasks than this isn't simulated here: the page follows while one types.
pub const MAX_TASKS: u64 = 100_000;

/// A schedule that ran.
#[derive(Clone, Debug)]
pub struct ScheduleRun {
    /// Requested input.
    pub input: Input,
    /// Times of each task.
    pub timeline: Arc<Timeline>,
    /// The closed form of a step of equal stages without sends, where it holds, in seconds.
    pub closed_form: Option<f64>,
}

/// The input decides everything else.
impl PartialEq for ScheduleRun {
    fn eq(&self, other: &Self) -> bool {
        self.input == other.input
    }
}

/// Reasons why a schedule can't run.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Everything that is wrong.
    pub problems: Vec<Problem>,
    /// The nearest input that has none of it.
    pub mended: Option<Input>,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The number that is wrong.
    pub field: Field,
    /// In a sentence.
    pub message: String,
    /// The input without it.
    pub mended: Option<Input>,
}

/// Runs a schedule.
///
/// # Errors
///
/// Everything that is wrong with the sizes, or that there are too many tasks.
pub fn run(input: &Input) -> Result<ScheduleRun, Box<Refusal>> {
    let schedule = checked(input)?;
    let timeline = schedule.simulate(&input.all_times(&schedule));
    let closed_form = schedule.closed_form_seconds(input.times, input.pair_seconds());
    Ok(ScheduleRun { input: *input, timeline: Arc::new(timeline), closed_form })
}

fn checked(input: &Input) -> Result<Schedule, Box<Refusal>> {
    let mut problems = Vec::new();
    let schedule = match input.schedule() {
        Ok(schedule) => Some(schedule),
        Err(faults) => {
            problems.extend(faults.iter().map(|fault| problem(input, fault)));
            None
        }
    };
    if let Some(stage) = input.slow_stage.filter(|stage| *stage >= input.stages.max(1)) {
        let last = input.stages.max(1) - 1;
        problems.push(Problem {
            field: Field::SlowStage,
            message: format!("there is no stage {stage} to be slow, the last one is {last}"),
            mended: Some(Input { slow_stage: Some(last), ..*input }),
        });
    }
    let few = schedule.filter(|schedule| schedule.num_tasks() <= MAX_TASKS);
    if let (Some(schedule), None) = (schedule, few) {
        problems.push(too_many(input, &schedule));
    }
    match few {
        Some(schedule) if problems.is_empty() => Ok(schedule),
        _ => {
            let mended = input.all_mended().and_then(|input| {
                let schedule = input.schedule().ok()?;
                if schedule.num_tasks() <= MAX_TASKS { Some(input) } else { fewer(&input) }
            });
            Err(Box::new(Refusal { problems, mended }))
        }
    }
}

fn problem(input: &Input, fault: &Fault) -> Problem {
    let field = match fault.knob {
        Fault::STAGES => Field::Stages,
        Fault::CHUNKS => Field::Chunks,
        Fault::GROUP => Field::Group,
        _ => Field::MicroBatches,
    };
    Problem { field, message: fault.message.clone(), mended: input.mended(fault) }
}

fn too_many(input: &Input, schedule: &Schedule) -> Problem {
    let message = format!(
        "this schedule has {} tasks, and at most {} are simulated here; the command moescape \
         schedule takes {}",
        format::whole(schedule.num_tasks()),
        format::whole(MAX_TASKS),
        format::whole(Schedule::MAX_TASKS),
    );
    Problem { field: Field::MicroBatches, message, mended: fewer(input) }
}

/// With as many micro-batches as can be simulated.
fn fewer(input: &Input) -> Option<Input> {
    let tasks = input.schedule().ok()?.num_tasks();
    let most = u128::from(input.micro_batches) * u128::from(MAX_TASKS) / u128::from(tasks.max(1));
    // A multiple that keeps the rules of groups and of both directions.
    let unit = 2 * input.group.unwrap_or(input.stages);
    let mut count = u64::try_from(most).ok()? / unit * unit;
    while count > 0 {
        let trial = Input { micro_batches: count, ..*input };
        let schedule = trial.schedule().ok();
        if schedule.is_some_and(|schedule| schedule.num_tasks() <= MAX_TASKS) {
            return Some(trial);
        }
        // Never more than a few are too many.
        count = count.checked_sub(unit)?;
    }
    None
}

/// A stage's numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageRow {
    /// Seconds at work.
    pub busy: f64,
    /// Share of the step without a task.
    pub bubble: f64,
    /// Whole-stage micro-batches held at once, at most.
    pub peak: f64,
}

impl ScheduleRun {
    /// The step's time in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.timeline.seconds
    }

    /// The numbers of each stage, in order.
    #[must_use]
    pub fn stages(&self) -> Vec<StageRow> {
        let timeline = &self.timeline;
        let stages = timeline.busy.iter().enumerate();
        let row = |(stage, busy): (usize, &f64)| StageRow {
            busy: *busy,
            bubble: timeline.bubble_ratio_of(stage),
            peak: timeline.peak_in_flight(stage),
        };
        stages.map(row).collect()
    }

    /// The most that a stage holds at once, in whole-stage micro-batches.
    #[must_use]
    pub fn peak(&self) -> f64 {
        let stages = 0..self.timeline.lists.stages();
        stages.map(|stage| self.timeline.peak_in_flight(stage)).fold(0.0, f64::max)
    }

    /// The bubble by the formula, where the stages do the work that it knows of.
    #[must_use]
    pub fn closed_form_bubble(&self) -> Option<f64> {
        let seconds = self.closed_form.filter(|_| self.input.uneven_stage().is_none())?;
        let work = (1.0 - self.timeline.bubble_ratio()) * self.seconds();
        Some((1.0 - work / seconds).max(0.0))
    }
}

/// Result of the same sizes and times under one method.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Input that a click on it requests.
    pub input: Input,
    /// Step time in seconds, bubble ratio, most in flight.
    pub outcome: Result<[f64; 3], Box<Refusal>>,
}

/// Results of the same sizes and times under every method.
#[must_use]
pub fn compare(input: &Input) -> Vec<Row> {
    let row = |method: &Method| {
        let input = input.with_method(*method);
        let numbers = |ran: ScheduleRun| [ran.seconds(), ran.timeline.bubble_ratio(), ran.peak()];
        Row { input, outcome: run(&input).map(numbers) }
    };
    Method::ALL.iter().map(row).collect()
}

/// Whether all methods can be simulated while one types.
#[must_use]
pub fn compares_quickly(input: &Input) -> bool {
    const QUICK: u64 = 2_000;
    input.stages.saturating_mul(input.micro_batches).saturating_mul(input.chunks()) <= QUICK
}

/// Schedule to show first: the request, the nearest that runs, or the known example.
#[must_use]
pub fn first_good(input: &Input) -> Option<ScheduleRun> {
    match run(input) {
        Ok(ran) => Some(ran),
        Err(refusal) => {
            let near = refusal.mended.and_then(|input| run(&input).ok());
            near.or_else(|| run(&Input::default()).ok())
        }
    }
}
