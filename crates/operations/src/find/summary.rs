//! Result of a search, for people: named designs beside each other, the others below.

use model::design::{Design, KnobId};
use model::metric::MetricId;
use model::search::find::{Answer, Goal, Miss, Query, Question, Recommendation};
use model::serving::{Inference, ServingPlan};
use model::training::estimate::Metrics;
use model::{MODEL_VERSION, Plan, Range, design::link};
use present::format;
use present::words::name;
use present::words::range::half;
use reports::found::{Reported, differences, label};

use super::Found;
use crate::columns::table;

/// Metrics of a design, the first ones with their range.
const METRICS: [MetricId; 4] = [
    MetricId::tokens_per_second_per_device,
    MetricId::mfu,
    MetricId::step_time_seconds,
    MetricId::memory_peak_bytes,
];

/// Metrics of a design that serves.
const SERVING_METRICS: [MetricId; 5] = [
    MetricId::output_tokens_per_second_per_device,
    MetricId::tokens_per_second_per_user,
    MetricId::tpot_seconds,
    MetricId::ttft_seconds,
    MetricId::requests_in_flight,
];

/// Knobs that a row of the other designs tells of.
const MAX_KNOBS: usize = 6;

/// Characters of a value in such a row.
const MAX_VALUE_CHARS: usize = 20;

/// Numbers of a kind of designs that are summarized.
pub(super) trait Summarized: Reported {
    /// Name of the share that is to spare.
    const SPARE: &'static str;

    /// Labels of the numbers.
    fn labels() -> Vec<&'static str>;

    /// Texts of the numbers, each with its range where it has one.
    fn numbers(&self, design: &Design) -> Vec<(String, Option<String>)>;

    /// Work of a search, in lines.
    fn work(answer: &Answer<Self>) -> [String; 2]
    where
        Self: Sized;
}

impl Summarized for Metrics {
    const SPARE: &'static str = "Memory to spare";

    fn labels() -> Vec<&'static str> {
        METRICS.map(|id| id.metric().label).to_vec()
    }

    fn numbers(&self, design: &Design) -> Vec<(String, Option<String>)> {
        let plan = Plan::new(design).ok();
        let number = |id| {
            let range = plan.as_ref().and_then(|plan| half(plan, id, self));
            (format::metric(id, self.get(id)).to_string(), range)
        };
        METRICS.map(number).to_vec()
    }

    fn work(answer: &Answer) -> [String; 2] {
        let space = format::counted(answer.space, "combination", "combinations");
        let evaluated = format::counted(answer.evaluated, "estimate", "estimates");
        let simulated = format::whole(answer.simulated);
        [
            format!("{space} of degrees, micro-batch, chunks and schedule"),
            format!("{evaluated} by closed forms, {simulated} simulated"),
        ]
    }
}

impl Summarized for Inference {
    const SPARE: &'static str = "Cache to spare";

    fn labels() -> Vec<&'static str> {
        SERVING_METRICS.map(|id| id.metric().label).to_vec()
    }

    fn numbers(&self, design: &Design) -> Vec<(String, Option<String>)> {
        let plan = ServingPlan::new(design).ok();
        let number = |id: MetricId| {
            let answer = plan.as_ref().map(|plan| model::Answer::Serving { plan, inference: self });
            let shown = |value: f64| format::measured(id, value).to_string();
            let value = self.metrics.get(id).copied().unwrap_or(0.0);
            let range = answer.and_then(|answer| answer.range(id));
            let ends = |it: Range| format::span(it.half.map(|factor| shown(value * factor)));
            (shown(value), range.map(ends))
        };
        SERVING_METRICS.map(number).to_vec()
    }

    fn work(answer: &Answer<Self>) -> [String; 2] {
        let loads = format::counted(answer.evaluated, "load", "loads");
        [
            format::counted(answer.space, "layout", "layouts"),
            format!("{loads} tried, {} inferred", format::whole(answer.simulated)),
        ]
    }
}

/// The whole summary.
pub(super) fn text<M: Summarized>(query: &Query, found: &Found<M>) -> String {
    let answer = &found.answer;
    let mut parts = vec![head(query, found)];
    parts.push(match &answer.miss {
        Some(miss) => nothing_fits(&query.design, miss),
        None => beside(query, answer),
    });
    let named = answer.designs.iter().filter_map(|one| Some((one.label?, one)));
    parts.extend(named.map(|(goal, one)| in_words(goal, one)));
    parts.push(others(&query.design, answer));
    parts.push(lines("What would make it faster", &answer.for_more));
    parts.push(ruled_out(answer));
    parts.push(format!("model {MODEL_VERSION}\n"));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Heading: what was searched, for which goal, and how much of it was evaluated.
fn head<M: Summarized>(query: &Query, found: &Found<M>) -> String {
    let Found { answer, seconds, .. } = found;
    let what = match query.question {
        Question::Layout => "Layouts",
        Question::FewestDevices => "The fewest devices",
        Question::LargestBatch => "The largest batch",
        Question::LongestSequence => "The longest sequence",
    };
    let mut text =
        format!("{what} for {}, {} first\n", name::subject(&query.design), query.goal.name());
    let [space, work] = M::work(answer);
    text += &format!("  {space}\n  {work}, {} s\n", format::decimals(*seconds, 1));
    if let Some((knob, value)) = answer.size {
        text += &format!("  {}: {}\n", knob.knob().label, format::whole(value));
    }
    if !query.targets.is_empty() {
        let targets: Vec<String> = query.targets.iter().map(ToString::to_string).collect();
        text += &format!("  each reaches {}\n", targets.join(", "));
    }
    if !query.keep.is_empty() {
        let keep = query.keep.iter().map(|id| setting(id, &query.design));
        text += &format!("  kept: {}\n", keep.collect::<Vec<_>>().join(", "));
    }
    text
}

/// A column of the table: a named design, or the one at hand.
struct Column<'a> {
    head: &'static str,
    design: &'a Design,
    numbers: Vec<(String, Option<String>)>,
    spare: Option<String>,
    behind: Option<f64>,
}

impl<'a> Column<'a> {
    fn new<M: Summarized>(
        head: &'static str,
        design: &'a Design,
        metrics: Option<&M>,
        behind: Option<f64>,
    ) -> Self {
        let numbers = metrics.map_or_else(Vec::new, |metrics| metrics.numbers(design));
        Self { head, design, numbers, spare: metrics.map(free), behind }
    }
}

/// The named designs beside each other and beside the one at hand: their numbers, and the knobs in
/// which any of them differs from it.
fn beside<M: Summarized>(query: &Query, answer: &Answer<M>) -> String {
    let at_hand = Column::new("Current", &query.design, answer.at_hand.as_ref(), None);
    let named = answer.designs.iter().filter_map(|one| {
        Some(Column::new(label(one.label?), &one.design, Some(&one.metrics), Some(one.behind)))
    });
    let columns: Vec<Column<'_>> = std::iter::once(at_hand).chain(named).collect();
    let row = |name: &str, cell: &dyn Fn(&Column<'_>) -> Option<String>| -> Vec<String> {
        let cells = columns.iter().map(|column| cell(column).unwrap_or_default());
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let mut rows = vec![row("", &|column| Some(column.head.to_owned()))];
    for (place, name) in M::labels().into_iter().enumerate() {
        rows.push(row(name, &|column| Some(column.numbers.get(place)?.0.clone())));
        rows.push(row("  with 50 %", &|column| column.numbers.get(place)?.1.clone()));
        // Counts have no range.
        if rows.last().is_some_and(|row| row.iter().skip(1).all(String::is_empty)) {
            rows.pop();
        }
    }
    rows.push(row(M::SPARE, &|column| column.spare.clone()));
    rows.push(row("Slower than the fastest", &|column| column.behind.map(share)));
    let differs = |id: &&KnobId| {
        columns.iter().any(|column| column.design.get(**id) != query.design.get(**id))
    };
    rows.extend(
        KnobId::ALL
            .iter()
            .filter(differs)
            .map(|id| row(id.knob().name, &|column| Some(column.design.get(*id).to_string()))),
    );
    table(&format!("l{}", "r".repeat(columns.len())), &rows)
}

/// The share that is free.
fn free(metrics: &impl Summarized) -> String {
    let spare = metrics.spare();
    if spare > 0.0 { share(spare) } else { "none".to_owned() }
}

fn share(share: f64) -> String {
    format::percent(share, 1).to_string()
}

/// A named design: why it is here, what is the bottleneck, and its link.
fn in_words<M: Summarized>(goal: Goal, one: &Recommendation<M>) -> String {
    let mut text = lines(label(goal), &one.why);
    if one.why.is_empty() {
        text = format!("{}\n", label(goal));
    }
    if !one.bottleneck.is_empty() {
        text += &format!("  what binds: {}\n", one.bottleneck);
    }
    text + &opened::<M>(&one.design)
}

/// Line with the link of a design.
fn opened<M: Summarized>(design: &Design) -> String {
    format!("  link {}?{}\n", M::PATH, link::encode(design))
}

/// The knobs that differ from the current design, as they would be set.
fn changes(at_hand: &Design, design: &Design) -> String {
    let lines = differences(at_hand, design)
        .map(|id| format!("  {} = {} (at hand: {})\n", id.id(), design.get(id), at_hand.get(id)));
    lines.collect()
}

/// A knob with its value, short: `TP 8`.
fn setting(id: KnobId, design: &Design) -> String {
    let value = format::spelled(&design.get(id));
    let is_short = value.chars().count() <= MAX_VALUE_CHARS;
    format!("{} {}", format::short_label(id), if is_short { &value } else { "changed" })
}

/// The designs without a name, in a line each.
fn others<M: Summarized>(at_hand: &Design, answer: &Answer<M>) -> String {
    let designs: Vec<&Recommendation<M>> =
        answer.designs.iter().filter(|one| one.label.is_none()).collect();
    if designs.is_empty() {
        return String::new();
    }
    let heads = M::labels();
    let columns = format!("{}rrl", "r".repeat(heads.len()));
    let head = heads.into_iter().chain(["to spare", "slower", "differs in"]);
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).collect()];
    rows.extend(designs.iter().map(|one| {
        let numbers = one.metrics.numbers(&one.design).into_iter();
        let mut row: Vec<String> = numbers.map(|(number, _)| number).collect();
        row.extend([share(one.margin), share(one.behind), short_changes(at_hand, &one.design)]);
        row
    }));
    format!("Others\n{}", table(&columns, &rows))
}

fn short_changes(at_hand: &Design, design: &Design) -> String {
    let all: Vec<KnobId> = differences(at_hand, design).collect();
    let mut words: Vec<String> =
        all.iter().take(MAX_KNOBS).map(|id| setting(*id, design)).collect();
    let more = all.len().saturating_sub(MAX_KNOBS);
    if more > 0 {
        words.push(format!("{} more", format::whole(more as u64)));
    }
    words.join(", ")
}

/// Nearest miss, if no design fits and reaches the targets.
fn nothing_fits<M: Summarized>(at_hand: &Design, miss: &Miss<M>) -> String {
    let mut text =
        lines("No layout fits and reaches the targets; the nearest misses", &miss.misses);
    text += &changes(at_hand, &miss.design);
    text += &opened::<M>(&miss.design);
    text + &match miss.fewest_devices {
        _ if !miss.tried_devices => String::new(),
        Some(devices) => format!("  the fewest devices that do: {}\n", format::whole(devices)),
        None => "  no larger number of these devices does, as far as was looked\n".to_owned(),
    }
}

fn ruled_out<M>(answer: &Answer<M>) -> String {
    let rows = answer.ruled_out.iter();
    let rows: Vec<Vec<String>> =
        rows.map(|out| vec![out.reason.clone(), format::whole(out.designs)]).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("Ruled out\n{}", table("lr", &rows))
}

/// Lines under a head; nothing where there are none.
fn lines(head: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("{head}\n{lines}")
}
