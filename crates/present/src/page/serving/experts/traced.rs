//! What a router trace of tasks says of the experts that are kept, as charts and tables.

use maud::{Markup, PreEscaped, html};
use model::design::file::Tree;
use model::ground::units::{Bytes, Seconds};
use model::routing::pattern::{Depth, Patterns, Set};
use model::serving::traced::{Task, Traced};

use crate::charts::{HeatMap, Line, Lines, for_any_page, heat_map, lines};
use crate::format;
use crate::html::table_head;

/// Tasks that the chart shows, at most.
const MAX_LINES: usize = 5;
/// Tasks that the tables show, at most.
const MAX_TASKS: usize = 12;
/// Pairs of experts that are listed, at most.
const MAX_PAIRS: usize = 8;

/// All of it.
pub fn shown(traced: &Traced, patterns: &Patterns) -> String {
    let draw = |chart: Lines| PreEscaped(for_any_page(|width| lines(&chart, width)));
    let map = map(patterns);
    let markup = html! {
        @if patterns.seed().is_some() {
            p.muted { "Generated scores: of no run and no task." }
        }
        (draw(coverage(traced, patterns)))
        (covered(traced, patterns))
        (common(traced, patterns))
        @if let Some(map) = &map {
            h3 { "Router mass of every expert over an even share" }
            (PreEscaped(for_any_page(|width| heat_map(map, width))))
        }
        h3 { "By depth" }
        (draw(by_depth(traced)))
        (together(traced))
        (changes(traced))
    };
    markup.into_string()
}

/// The experts to keep: of each task a list of layers, each with its experts.
pub fn kept(traced: &Traced, patterns: &Patterns) -> Tree {
    let of_layer = |(layer, set): (&u32, &Set)| {
        let members = set.members().map(|expert| Tree::Unsigned(expert as u64));
        let experts = Tree::List(members.collect());
        Tree::map([("layer", Tree::Unsigned((*layer).into())), ("experts", experts)])
    };
    let of_task = |(name, task): (&String, &Task)| {
        let layers = patterns.layers().iter().zip(&task.keep.sets).map(of_layer).collect();
        (name.clone(), Tree::List(layers))
    };
    Tree::Map(patterns.tasks().iter().zip(&traced.tasks).map(of_task).collect())
}

fn percent(share: f64) -> String {
    format::percent(share, 1).to_string()
}

fn coverage(traced: &Traced, patterns: &Patterns) -> Lines {
    let line = |(name, task): (&String, &Task)| Line {
        name: name.clone(),
        points: task
            .curve
            .mean
            .iter()
            .enumerate()
            .map(|(at, it)| (at as f64, it * 100.0))
            .collect(),
        is_apart: false,
    };
    Lines {
        label: "Router mass that the best experts of each layer cover, over how many are kept."
            .to_owned(),
        x_title: "experts kept of each layer".to_owned(),
        y_title: "router mass covered (%)".to_owned(),
        lines: patterns.tasks().iter().zip(&traced.tasks).take(MAX_LINES).map(line).collect(),
        ticks: None,
        places: vec![(traced.kept as f64, "kept".to_owned())],
        from: 0.0,
        decimals: 1,
    }
}

fn covered(traced: &Traced, patterns: &Patterns) -> Markup {
    let tasks = patterns.tasks();
    let experts = patterns.experts() * patterns.layers().len();
    html! {
        table {
            caption { "Router mass covered by task" }
            (table_head(&["Task", "By its own best", "Least layer", "By all tasks' best",
                "Kept for 95 %"]))
            tbody {
                @for (name, task) in tasks.iter().zip(&traced.tasks).take(MAX_TASKS) {
                    tr {
                        th scope="row" { (name) }
                        td { (percent(task.keep.mean())) }
                        td { (percent(task.keep.least())) }
                        td { (percent(task.pooled)) }
                        td { (task.curve.kept_for(0.95)) }
                    }
                }
            }
        }
        @if tasks.len() > MAX_TASKS {
            p.muted { "The tables show the first " (MAX_TASKS) " of " (tasks.len()) " tasks." }
        }
        p {
            "All tasks together keep " (format::whole(traced.union as u64)) " of "
            (format::whole(experts as u64)) " experts."
        }
    }
}

/// Matrix of the experts that two tasks both keep.
fn common(traced: &Traced, patterns: &Patterns) -> Markup {
    let names: Vec<&str> = patterns.tasks().iter().take(MAX_TASKS).map(String::as_str).collect();
    html! {
        table {
            caption { "Experts that two tasks keep both" }
            thead { tr { th {} @for name in &names { th scope="col" { (name) } } } }
            tbody {
                @for (name, row) in names.iter().zip(&traced.overlap) {
                    tr {
                        th scope="row" { (name) }
                        @for share in row.iter().take(MAX_TASKS) {
                            td { (format::percent(*share, 0)) }
                        }
                    }
                }
            }
        }
    }
}

/// Router mass of every expert in every layer, of all tasks together.
fn map(patterns: &Patterns) -> Option<HeatMap> {
    let all: Vec<usize> = (0..patterns.tasks().len()).collect();
    let pooled = patterns.pooled(&all)?;
    let experts = patterns.experts() as f64;
    let layers = 0..patterns.layers().len();
    let row = |layer| pooled.mass(0, layer).into_iter().map(|mass| mass * experts).collect();
    Some(HeatMap {
        label: "Router mass of every expert over an even share, layer by layer, of all tasks."
            .to_owned(),
        x_title: "expert, from 0 on".to_owned(),
        y_title: "layer with experts, the first on top".to_owned(),
        rows: layers.map(row).collect(),
    })
}

/// Effective experts and kept experts by layer, for a chart.
fn by_depth(traced: &Traced) -> Lines {
    let line = |name: &str, of: fn(&Depth) -> f64| Line {
        name: name.to_owned(),
        points: traced.depth.iter().map(|it| (f64::from(it.layer), of(it))).collect(),
        is_apart: false,
    };
    Lines {
        label:
            "Experts that carry a task's router mass, and experts that any task keeps, by layer."
                .to_owned(),
        x_title: "layer".to_owned(),
        y_title: "experts".to_owned(),
        lines: vec![
            line("effective, mean of tasks", |it| it.effective),
            line("kept by any task", |it| it.union as f64),
        ],
        ticks: None,
        places: Vec::new(),
        from: 0.0,
        decimals: 1,
    }
}

/// Experts that tasks keep together most above chance.
fn together(traced: &Traced) -> Markup {
    html! {
        @if !traced.together.is_empty() {
            table {
                caption { "Experts that tasks keep together" }
                (table_head(&["Layer", "Experts", "Tasks", "Above chance"]))
                tbody {
                    @for pair in traced.together.iter().take(MAX_PAIRS) {
                        @let [one, other] = pair.experts;
                        tr {
                            th scope="row" { (pair.layer) }
                            td { (one) " + " (other) }
                            td { (pair.tasks) }
                            td { (format::decimals(pair.lift, 1)) "×" }
                        }
                    }
                }
            }
        }
    }
}

/// Table of the memory of patterns and the cost of changing them.
fn changes(traced: &Traced) -> Markup {
    let rate = |rate: f64| match rate > 0.0 {
        true => format!("{} tokens/s", format::decimals(rate, 0)),
        false => "they do not fit".to_owned(),
    };
    let answers = ["Answers with the kept experts", "Answers with all experts"];
    let answers = answers.into_iter().zip([traced.rates.kept, traced.rates.all].map(rate));
    html! {
        table {
            caption { "Patterns, and changing from one task's experts to another's" }
            tbody {
                @for (name, value) in pattern_rows(traced).into_iter().chain(answers) {
                    tr { th scope="row" { (name) } td { (value) } }
                }
            }
        }
    }
}

/// Memory of patterns and cost of changing them, each with its name.
#[must_use]
pub fn pattern_rows(traced: &Traced) -> Vec<(&'static str, String)> {
    let bytes = |number: f64| format::memory(Bytes::new(number)).to_string();
    let lasting = |seconds: f64| format::duration(Seconds::new(seconds)).to_string();
    let whole = traced.tasks.first().map_or(0, |task| task.keep.experts());
    let mut rows = vec![
        ("One pattern", bytes(traced.store.pattern_bytes as f64)),
        ("All of them", bytes(traced.store.bytes() as f64)),
        ("Loading a pattern's experts", lasting(traced.loading.seconds(whole))),
    ];
    if let Some(change) = &traced.switches {
        rows.push(("A change of task loads", bytes(change.bytes)));
        rows.push(("and takes", lasting(change.seconds)));
        rows.push(("the longest", lasting(change.most_seconds)));
        let pays = match traced.break_even() {
            Some(rate) => format!("up to one in {}", lasting(1.0 / rate)),
            None => "never: all experts answer as fast".to_owned(),
        };
        rows.push(("Changes pay", pays));
    }
    rows
}
