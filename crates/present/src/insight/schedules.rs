//! One design under every schedule: what each would cost, or why it can't run.

use model::design::violation::{Nearest, Violation};
use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Method};
use model::ground::knob::Value;
use model::ground::sorting::sort_short;
use model::rules::vocabulary::Vocabulary;
use model::training::estimate::Metrics;
use model::{Plan, estimate, legal_values};

/// Switches that some schedules have no use for: they are turned off where a rule says so.
const SWITCHES: [KnobId; 2] =
    [KnobId::delay_wgrad_compute, KnobId::overlap_moe_expert_parallel_comm];

/// A design under one schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The schedule.
    pub method: Method,
    /// Chunks of each stage.
    pub chunks: u64,
    /// Whether it is the design's own schedule.
    pub is_own: bool,
    /// Whether the design's framework has an option for it.
    pub is_told: bool,
    /// Knobs beside schedule and chunks that had to follow.
    pub followed: Vec<KnobId>,
    /// Result of the design with this schedule.
    pub outcome: Outcome,
}

/// Result of a design with a schedule.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It runs.
    Runs(Box<Run>),
    /// It can't run.
    Refused(Refusal),
}

/// A design and its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The design.
    pub design: Design,
    /// Its numbers.
    pub metrics: Metrics,
}

/// Reason why a schedule can't run.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The first broken rule, in a sentence.
    pub message: String,
    /// Number of further broken rules.
    pub more: usize,
    /// One more change after which it runs, with the design that has it.
    pub fix: Option<Box<(Design, Nearest)>>,
}

/// A design under every schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// One row for each schedule, in the order of the knob.
    pub rows: Vec<Row>,
    /// The design's own numbers.
    pub now: Option<Metrics>,
    /// The schedule with the shortest step among those that the framework has and that fit, or
    /// among all that it has where none does.
    pub fastest: Option<Method>,
    /// The schedule with the least peak memory.
    pub leanest: Option<Method>,
}

/// Compares the schedules; simulates each once.
#[must_use]
pub fn compare(plan: &Plan) -> Comparison {
    let rows: Vec<Row> = Method::ALL.iter().map(|method| row(plan, *method)).collect();
    let told = || rows.iter().filter(|row| row.is_told);
    let runs = || told().filter_map(|row| Some((row.method, row.metrics()?)));
    let now = rows.iter().find(|row| row.is_own).and_then(Row::metrics).copied();
    let any_fits = runs().any(|(_, metrics)| metrics.fits);
    let fastest = runs()
        .filter(|(_, metrics)| metrics.fits || !any_fits)
        .min_by(|(_, a), (_, b)| a.step_time.get().total_cmp(&b.step_time.get()));
    let leanest =
        runs().min_by(|(_, a), (_, b)| a.memory_peak.get().total_cmp(&b.memory_peak.get()));
    Comparison {
        now,
        fastest: fastest.map(|(method, _)| method),
        leanest: leanest.map(|(method, _)| method),
        rows,
    }
}

impl Row {
    /// The numbers of a schedule that runs.
    #[must_use]
    pub fn metrics(&self) -> Option<&Metrics> {
        match &self.outcome {
            Outcome::Runs(run) => Some(&run.metrics),
            Outcome::Refused(_) => None,
        }
    }

    /// The design that a click opens: the one that runs, or the one that runs after a fix.
    #[must_use]
    pub fn target(&self) -> Option<&Design> {
        match &self.outcome {
            Outcome::Runs(run) => Some(&run.design),
            Outcome::Refused(refusal) => refusal.fix.as_deref().map(|(design, _)| design),
        }
    }
}

fn row(plan: &Plan, method: Method) -> Row {
    let design = plan.design();
    let trial = under(design, method);
    let is_own = design.schedule.method == method;
    let followed = followed(design, &trial);
    let chunks = trial.parallel.virtual_pipeline_model_parallel_size;
    let outcome = match plan.variant(&trial) {
        Ok(plan) => {
            let metrics = estimate(&plan).metrics;
            Outcome::Runs(Box::new(Run { design: trial, metrics }))
        }
        Err(violations) => Outcome::Refused(refusal(&trial, &violations)),
    };
    let is_told = Vocabulary::of(design).has_method(design, method);
    Row { method, chunks, is_own, is_told, followed, outcome }
}

/// The design under a schedule: the schedule, the chunks that it needs, and what has to follow.
#[must_use]
pub fn under(design: &Design, method: Method) -> Design {
    let mut trial = design.clone();
    if design.schedule.method == method {
        return trial;
    }
    let chunks = chunks_of(design, method);
    trial.schedule.method = method;
    trial.parallel.virtual_pipeline_model_parallel_size = chunks;
    if !interleaves(method) || chunks == 1 {
        trial.schedule.microbatch_group_size_per_vp_stage = None;
    }
    split_evenly(&mut trial);
    // One may need the other, so each is tried twice.
    for switch in SWITCHES.into_iter().chain(SWITCHES) {
        let broken = Plan::new(&trial).err().unwrap_or_default();
        let on = Value::Flag(true);
        if trial.get(switch) == on && broken.iter().any(|rule| rule.knobs.contains(&switch)) {
            let _ = trial.set(switch, &Value::Flag(false));
        }
    }
    trial
}

fn interleaves(method: Method) -> bool {
    matches!(method, Method::Interleaved | Method::OneForwardOneBackwardOverlap)
}

/// Chunks of each stage: what the schedule needs, or the design's own.
fn chunks_of(design: &Design, method: Method) -> u64 {
    let parallel = &design.parallel;
    match method {
        Method::Gpipe
        | Method::OneForwardOneBackward
        | Method::ZbH1
        | Method::Zb2p
        | Method::DualPipe => 1,
        Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipeV => 2,
        // With one chunk it would be 1F1B.
        Method::Interleaved if parallel.pipeline_model_parallel_size > 1 => {
            parallel.virtual_pipeline_model_parallel_size.max(2)
        }
        Method::Interleaved | Method::OneForwardOneBackwardOverlap => {
            parallel.virtual_pipeline_model_parallel_size
        }
    }
}

/// Puts equal slots in place of a layout, or of no-op layers, for another number of chunks.
///
/// Missing slots become empty ones behind the last MTP layer; of several the first is behind the
/// last layer, where it leaves room for the head beside an MTP layer.
fn split_evenly(trial: &mut Design) {
    let parallel = &trial.parallel;
    let stages = parallel.pipeline_model_parallel_size;
    let chunks = stages * parallel.virtual_pipeline_model_parallel_size;
    let (layers, mtp) = (trial.transformer.num_layers, trial.transformer.mtp_num_layers);
    let fits = match &parallel.pipeline_model_parallel_layout {
        Some(layout) => layout.chunks.len() as u64 == chunks,
        None => (layers + mtp + parallel.noop_layers.0.len() as u64).is_multiple_of(chunks),
    };
    if fits {
        return;
    }
    let slots = (layers + mtp).next_multiple_of(chunks);
    let beside_mtp = mtp > 0 && slots - layers - mtp > 1;
    let first = if beside_mtp { Some(layers) } else { None };
    let behind = layers + mtp + u64::from(beside_mtp);
    let noops = first.into_iter().chain(behind..slots).map(Value::Integer).collect();
    let mut split = trial.clone();
    split.parallel.pipeline_model_parallel_layout = None;
    if split.set(KnobId::noop_layers, &Value::List(noops)).is_ok() {
        *trial = split;
    }
}

/// Knobs that differ, beside the schedule and its chunks.
fn followed(design: &Design, trial: &Design) -> Vec<KnobId> {
    let own = [KnobId::method, KnobId::virtual_pipeline_model_parallel_size];
    let differs = |id: &KnobId| !own.contains(id) && design.get(*id) != trial.get(*id);
    KnobId::ALL.iter().copied().filter(differs).collect()
}

/// Refusal by these violations, with one change of one knob that mends all of them.
fn refusal(trial: &Design, violations: &[Violation]) -> Refusal {
    let offered = violations.iter().flat_map(|violation| violation.nearest.iter().cloned());
    let fix = offered.chain(violations.iter().flat_map(|violation| {
        // A rule offers what mends it alone; further off there may be what mends all of them.
        violation.knobs.iter().filter_map(|knob| closest(trial, *knob))
    }));
    let fix = fix.filter_map(|way| Some(Box::new((mended(trial, &way)?, way)))).next();
    let message = violations.first().map_or_else(String::new, |first| first.message.clone());
    Refusal { message, more: violations.len().saturating_sub(1), fix }
}

/// The design after a change, if it is legal.
fn mended(trial: &Design, way: &Nearest) -> Option<Design> {
    // Another schedule would be another row.
    if way.knob == KnobId::method {
        return None;
    }
    let mut mended = trial.clone();
    mended.set(way.knob, &way.value).ok()?;
    Plan::new(&mended).is_ok().then_some(mended)
}

/// The number nearest to a knob's own that mends the design.
fn closest(trial: &Design, knob: KnobId) -> Option<Nearest> {
    let Value::Integer(own) = trial.get(knob) else { return None };
    let mut numbers: Vec<u64> = legal_values(trial, knob)
        .into_iter()
        .filter_map(|value| if let Value::Integer(number) = value { Some(number) } else { None })
        .collect();
    sort_short(&mut numbers, |one, other| one.abs_diff(own).cmp(&other.abs_diff(own)));
    let ways = numbers.into_iter().map(|number| Nearest { knob, value: Value::Integer(number) });
    ways.into_iter().find(|way| mended(trial, way).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(design: &Design) -> Plan {
        Plan::new(design).expect("a legal design")
    }

    fn design(query: &str) -> Design {
        model::design::link::decode(query).expect("a link that decodes")
    }

    fn row_of(comparison: &Comparison, method: Method) -> &Row {
        comparison.rows.iter().find(|row| row.method == method).expect("every schedule has a row")
    }

    #[test]
    fn the_designs_own_schedule_has_the_designs_own_numbers() {
        for query in ["", "?v=1&preset=deepseek-v3-2k-h800", "?v=1&preset=pangu-pro-moe-4k"] {
            let design = design(query);
            let comparison = compare(&plan(&design));
            let own = estimate(&Plan::new(&design).expect("legal")).metrics;
            assert_eq!(comparison.now, Some(own), "{query}");
            let row = row_of(&comparison, design.schedule.method);
            assert!(row.is_own && row.followed.is_empty(), "{query}");
            assert_eq!(row.target(), Some(&design), "{query}");
        }
    }

    #[test]
    fn every_schedule_has_one_row_and_what_runs_has_that_schedule() {
        let comparison = compare(&plan(&design("")));
        let methods: Vec<Method> = comparison.rows.iter().map(|row| row.method).collect();
        assert_eq!(methods, Method::ALL);
        for row in &comparison.rows {
            if let Some(target) = row.target() {
                assert_eq!(target.schedule.method, row.method);
                assert!(Plan::new(target).is_ok(), "{row:?}");
            }
        }
    }

    #[test]
    fn switches_that_need_pairs_go_off_and_are_told() {
        let design = design("");
        assert!(design.schedule.delay_wgrad_compute);
        let comparison = compare(&plan(&design));
        let plain = row_of(&comparison, Method::OneForwardOneBackward);
        assert_eq!(plain.chunks, 1);
        assert!(plain.metrics().is_some(), "{plain:?}");
        assert!(plain.followed.contains(&KnobId::delay_wgrad_compute), "{plain:?}");
    }

    #[test]
    fn a_switch_that_needs_another_one_goes_off_with_it() {
        let both = design("?schedule.overlap_moe_expert_parallel_comm=true");
        let comparison = compare(&plan(&both));
        let row = row_of(&comparison, Method::ZbH1);
        assert!(row.metrics().is_some(), "{row:?}");
        assert!(SWITCHES.iter().all(|switch| row.followed.contains(switch)), "{row:?}");
    }

    #[test]
    fn a_layout_of_other_chunks_gives_way_to_equal_slots() {
        let balanced = design(
            "?parallel.noop_layers=none&parallel.pipeline_model_parallel_layout=Ett|(tt|)*29t|mL",
        );
        let trial = under(&balanced, Method::OneForwardOneBackward);
        assert_eq!(trial.parallel.pipeline_model_parallel_layout, None);
        assert_eq!(trial.parallel.noop_layers.0, [61, 63]);
        // As many chunks: the layout stays.
        let trial = under(&balanced, Method::ZbV);
        assert_eq!(
            trial.parallel.pipeline_model_parallel_layout,
            balanced.parallel.pipeline_model_parallel_layout
        );
    }

    #[test]
    fn a_refused_schedule_says_why_and_its_fix_makes_it_run() {
        let few = design(
            "?training.global_batch_size=1536&schedule.method=interleaved\
             &schedule.delay_wgrad_compute=false",
        );
        let comparison = compare(&plan(&few));
        let dual = row_of(&comparison, Method::DualPipe);
        let Outcome::Refused(refusal) = &dual.outcome else { panic!("{dual:?}") };
        assert!(refusal.message.contains("micro-batches"), "{refusal:?}");
        let (mended, way) = refusal.fix.as_deref().expect("a way out");
        assert_ne!(way.knob, KnobId::method);
        assert_eq!(mended.schedule.method, Method::DualPipe);
        assert!(Plan::new(mended).is_ok());
    }

    #[test]
    fn best_step_fits_if_any_does_and_least_memory_is_least() {
        let comparison = compare(&plan(&design("")));
        let of = |method: Option<Method>| {
            let row = row_of(&comparison, method.expect("some schedule runs"));
            *row.metrics().expect("it runs")
        };
        let (fastest, leanest) = (of(comparison.fastest), of(comparison.leanest));
        // What the framework lacks is shown beside them, and wins nothing.
        assert!(comparison.rows.iter().any(|row| !row.is_told && row.metrics().is_some()));
        let told = comparison.rows.iter().filter(|row| row.is_told);
        for metrics in told.filter_map(Row::metrics) {
            assert!(leanest.memory_peak <= metrics.memory_peak);
            assert!(!metrics.fits || fastest.step_time <= metrics.step_time);
        }
    }

    #[test]
    fn one_stage_needs_no_schedule_with_chunks() {
        let query = "?parallel.pipeline_model_parallel_size=1\
                     &parallel.virtual_pipeline_model_parallel_size=1&parallel.noop_layers=none";
        let comparison = compare(&plan(&design(query)));
        assert!(row_of(&comparison, Method::Gpipe).metrics().is_some());
        assert!(row_of(&comparison, Method::ZbV).metrics().is_none());
    }
}
