//! Result of a search, for people: named designs beside each other, the others below.

use model::design::{Design, KnobId};
use model::metric::MetricId;
use model::search::find::{Answer, Goal, Miss, Query, Question, Recommendation, spare};
use model::training::estimate::Metrics;
use model::{MODEL_VERSION, Plan, design::link};
use present::format;
use present::words::name;
use present::words::range::half;
use reports::found::{differences, label};

use crate::answers::find::Found;
use crate::cli::output::table;

/// Metrics of a design, the first ones with their range.
const METRICS: [MetricId; 4] = [
    MetricId::tokens_per_second_per_device,
    MetricId::mfu,
    MetricId::step_time_seconds,
    MetricId::memory_peak_bytes,
];

/// Knobs that a row of the other designs tells of.
const MAX_KNOBS: usize = 6;

/// Characters of a value in such a row.
const MAX_VALUE_CHARS: usize = 20;

/// The whole summary.
pub(super) fn text(query: &Query, found: &Found) -> String {
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
fn head(query: &Query, found: &Found) -> String {
    let Found { answer, seconds } = found;
    let what = match query.question {
        Question::Layout => "Layouts",
        Question::FewestDevices => "The fewest devices",
        Question::LargestBatch => "The largest batch",
        Question::LongestSequence => "The longest sequence",
    };
    let mut text =
        format!("{what} for {}, {} first\n", name::subject(&query.design), query.goal.name());
    text += &format!(
        "  {} of degrees, micro-batch, chunks and schedule\n  {} by closed forms, {} simulated, \
         {} s\n",
        format::counted(answer.space, "combination", "combinations"),
        format::counted(answer.evaluated, "estimate", "estimates"),
        format::whole(answer.simulated),
        format::decimals(*seconds, 1),
    );
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
    metrics: Option<&'a Metrics>,
    behind: Option<f64>,
    plan: Option<Plan>,
}

/// The named designs beside each other and beside the one at hand: their numbers, and the knobs in
/// which any of them differs from it.
fn beside(query: &Query, answer: &Answer) -> String {
    let column = |head, design, metrics, behind| {
        let plan = Plan::new(design).ok();
        Column { head, design, metrics, behind, plan }
    };
    let mut columns = vec![column("Current", &query.design, answer.at_hand.as_ref(), None)];
    columns.extend(answer.designs.iter().filter_map(|one| {
        Some(column(label(one.label?), &one.design, Some(&one.metrics), Some(one.behind)))
    }));
    let row = |name: &str, cell: &dyn Fn(&Column<'_>) -> Option<String>| -> Vec<String> {
        let cells = columns.iter().map(|column| cell(column).unwrap_or_default());
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let mut rows = vec![row("", &|column| Some(column.head.to_owned()))];
    for id in METRICS {
        let value = |metrics: &Metrics| format::metric(id, metrics.get(id)).to_string();
        rows.push(row(id.metric().label, &|column| Some(value(column.metrics?))));
        let range = |column: &Column<'_>| half(column.plan.as_ref()?, id, column.metrics?);
        rows.push(row("  with 50 %", &range));
    }
    rows.push(row("Memory to spare", &|column| Some(free(column.metrics?))));
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

/// The share of the memory that is free.
fn free(metrics: &Metrics) -> String {
    let spare = spare(metrics);
    if spare > 0.0 { share(spare) } else { "none".to_owned() }
}

fn share(share: f64) -> String {
    format::percent(share, 1).to_string()
}

/// A named design: why it is here, what is the bottleneck, and its link.
fn in_words(goal: Goal, one: &Recommendation) -> String {
    let mut text = lines(label(goal), &one.why);
    if one.why.is_empty() {
        text = format!("{}\n", label(goal));
    }
    if !one.binds.is_empty() {
        text += &format!("  what binds: {}\n", one.binds);
    }
    text + &format!("  link /?{}\n", link::encode(&one.design))
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
fn others(at_hand: &Design, answer: &Answer) -> String {
    let designs: Vec<&Recommendation> =
        answer.designs.iter().filter(|one| one.label.is_none()).collect();
    if designs.is_empty() {
        return String::new();
    }
    let heads = METRICS.map(|id| id.metric().label);
    let head = heads.into_iter().chain(["to spare", "slower", "differs in"]);
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).collect()];
    rows.extend(designs.iter().map(|one| {
        let value = |id: MetricId| format::metric(id, one.metrics.get(id)).to_string();
        let mut row: Vec<String> = METRICS.map(value).into();
        row.extend([share(one.margin), share(one.behind), short_changes(at_hand, &one.design)]);
        row
    }));
    let columns = format!("{}rrl", "r".repeat(METRICS.len()));
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
fn nothing_fits(at_hand: &Design, miss: &Miss) -> String {
    let mut text =
        lines("No layout fits and reaches the targets; the nearest misses", &miss.misses);
    text += &changes(at_hand, &miss.design);
    text += &format!("  link /?{}\n", link::encode(&miss.design));
    text + &match miss.fewest_devices {
        _ if !miss.tried_devices => String::new(),
        Some(devices) => format!("  the fewest devices that do: {}\n", format::whole(devices)),
        None => "  no larger number of these devices does, as far as was looked\n".to_owned(),
    }
}

fn ruled_out(answer: &Answer) -> String {
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
