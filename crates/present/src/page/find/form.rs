//! The page around a search, as the server writes it: the whole question as a form, what is wrong
//! with it, and the place of what is found.

use maud::{Markup, PreEscaped, html};
use model::design::KnobId;
use model::ground::knob::{KnobError, Section};
use model::metric::MetricId;
use model::run::budget::RunTarget;
use model::search::find::{Goal, Query, Question, STRATEGY, Target};

use crate::form::{group, input, options, select, tick_box};
use crate::format::{self, short_label, whole};
use crate::site::Page;
use crate::words::name::spelled;

use super::answer::target_text;
use super::request::{ON_SERVER, Request, address, encode};

/// Groups of the knobs that a search frees and that can be kept.
const GROUPS: [&str; 4] = ["Degrees", "Schedule and overlaps", "Memory", "Layers"];

/// The group of a knob.
fn group_of(knob: KnobId) -> &'static str {
    let [degrees, schedule, memory, layers] = GROUPS;
    if matches!(knob, KnobId::pipeline_model_parallel_layout | KnobId::noop_layers) {
        layers
    } else if knob.knob().section == Section::Schedule {
        schedule
    } else if knob.knob().section == Section::Memory
        || knob == KnobId::data_parallel_sharding_strategy
    {
        memory
    } else {
        degrees
    }
}

/// Result shown below the question.
#[derive(Clone, Copy, Debug)]
pub enum ResultPart<'a> {
    /// No question, or one that can't be searched.
    None,
    /// The browser searches, with the worker at this address; `None` if the server has no site.
    Browser(Option<&'a str>),
    /// Answer that the server found.
    Written(&'a str),
    /// Reason why the server can't search now.
    Refused(&'a str),
}

/// Content of the page.
#[must_use]
pub fn html(request: &Request, wrong: &[KnobError], shown: ResultPart<'_>, line: &str) -> String {
    let markup = html! {
        h1 { (Page::Find.title()) }
        @if !request.is_asked {
            p.muted {
                span { (Page::Find.about()) "." } " "
                a href="/guide/find" { "How it searches" }
            }
        }
        @if !wrong.is_empty() { (mistakes(wrong)) }
        (form(&request.query, line))
        @match shown {
            ResultPart::None => {}
            ResultPart::Browser(worker) => (searching(request, worker)),
            ResultPart::Written(answer) => {
                (place(None, &html! { div #find-answer { (PreEscaped(answer)) } }))
            }
            ResultPart::Refused(why) => p.refused role="alert" { (why) },
        }
    };
    markup.into_string()
}

fn mistakes(wrong: &[KnobError]) -> Markup {
    html! {
        section.find-wrong role="alert" {
            p { "This can't be searched as it is. These parts couldn't be read." }
            ul {
                @for error in wrong {
                    li data-rule=(error.rule) {
                        code { (error.knob) } " " span { (error.detail) } "."
                        @if !error.nearest.is_empty() {
                            " " span { "Closest valid value:" } " "
                            code { (error.nearest.join(", ")) }
                        }
                    }
                }
            }
        }
    }
}

fn form(query: &Query, line: &str) -> Markup {
    let goals = Goal::ALL.map(|it| (it.name(), goal_text(it)));
    let questions = Question::ALL.map(|it| (it.name(), question_text(it)));
    let list = |name: &str, entries: Markup| select(entries).name(name);
    html! {
        form.card.find-form action=(Page::Find.path()) aria-label="Find layouts" {
            div.find-bar { (PreEscaped(line)) }
            div.find-asks {
                (list("find.goal", options(goals, query.goal.name())).within("Goal"))
                (list("find.question", options(questions, query.question.name()))
                    .within("Question"))
                button.button.primary { "Find layouts" }
            }
            (targets(query))
            (kept(query))
        }
    }
}

/// Text of a goal.
const fn goal_text(goal: Goal) -> &'static str {
    match goal {
        Goal::Fastest => "Fastest",
        Goal::Safest => "Safest: most memory to spare, fewest overlaps",
        Goal::Simplest => "Simplest: fewest settings",
    }
}

/// A question for people.
const fn question_text(question: Question) -> &'static str {
    match question {
        Question::Layout => "Best layout",
        Question::FewestDevices => "Fewest devices",
        Question::LargestBatch => "Largest batch",
        Question::LongestSequence => "Longest sequence",
    }
}

/// The boxes of the form for what has to be reached, and what the model reads in a step.
fn targets(query: &Query) -> Markup {
    let tokens = query.design.run.train_tokens.map_or_else(String::new, |it| it.to_string());
    let named = query.targets.iter().filter(|it| box_of(it).is_none());
    let is_plain = query.targets.is_empty() && query.question != Question::LargestBatch;
    let value = |name: &str| {
        let mut values = query.targets.iter().filter_map(box_of);
        values.find(|(known, _)| *known == name).map(|(_, value)| value).unwrap_or_default()
    };
    let batch = [
        (KnobId::global_batch_size, "find.batch", "Sequences in a step"),
        (KnobId::seq_length, "find.sequence", "Tokens in a sequence"),
    ];
    html! {
        details open[!is_plain] {
            summary { "Batch and targets" }
            div.find-boxes {
                @for (knob, name, label) in batch {
                    (number(name, label, "", &query.design.get(knob).to_string()))
                }
                (number("find.tokens", "Tokens to train on", &tokens, "not said"))
                @for (name, label) in [
                    ("find.mfu", "MFU at least, %"),
                    ("find.spare", "Memory to spare at least, %"),
                    ("find.step", "Step time at most, s"),
                    ("find.max_devices", "Devices at most"),
                    ("find.days", "Days to train at most"),
                ] { (number(name, label, &value(name), "any")) }
            }
            @for target in named {
                (tick_box(true).name("find.target").value(&target.to_string())
                    .before("find-tick", &target_text(target)))
            }
        }
    }
}

/// The box of the form for a target, with its text.
fn box_of(target: &Target) -> Option<(&'static str, String)> {
    let shown = |number: f64| format::significant(number, 6).replace(',', "");
    match *target {
        Target::AtLeast(MetricId::mfu, least) => Some(("find.mfu", shown(least * 100.0))),
        Target::AtMost(MetricId::step_time_seconds, most) => Some(("find.step", shown(most))),
        Target::Spare(least) => Some(("find.spare", shown(least * 100.0))),
        Target::Devices(most) => Some(("find.max_devices", most.to_string())),
        Target::Run(RunTarget { metric: MetricId::days_to_train, is_most: true, limit }) => {
            Some(("find.days", shown(limit)))
        }
        Target::AtLeast(..) | Target::AtMost(..) | Target::Run(_) => None,
    }
}

fn number(name: &str, label: &str, value: &str, hint: &str) -> Markup {
    let input = input("number").name(name).set("min", "0").set("step", "any");
    let input = input.set("inputmode", "decimal").set("placeholder", hint).value(value);
    input.within(html! { span { (label) } })
}

/// Ticks for what the search leaves as it is.
fn kept(query: &Query) -> Markup {
    let offered = || STRATEGY.iter().filter(|knob| knob.knob().not_offered.is_none());
    html! {
        details open[!query.keep.is_empty() || query.any_schedule] {
            summary { "Keep fixed" }
            @for title in GROUPS {
                (group("find-keep", title, &html! {
                    @for knob in offered().filter(|knob| group_of(*knob) == title) {
                        (keep(query, knob))
                    }
                }))
            }
            @for knob in query.keep.iter().filter(|it| !STRATEGY.has(*it)) { (keep(query, knob)) }
            (tick_box(query.any_schedule).name("find.any_schedule").value("true")
                .before("find-tick", "Also what the framework can't be told"))
        }
    }
}

fn keep(query: &Query, knob: KnobId) -> Markup {
    let id = knob.id();
    html! {
        label.find-tick title=(id) {
            (tick_box(query.keep.has(knob)).name("find.keep").value(&id))
            " " span { (short_label(knob)) } " " span.muted { (spelled(&query.design.get(knob))) }
        }
    }
}

/// The place of the answer. A worker's address and its query are in attributes.
fn place(worker: Option<(&str, String)>, content: &Markup) -> Markup {
    let (worker, query) = worker.unzip();
    html! {
        section #find-result class="find-result" aria-label="Results" data-worker=[worker]
            data-query=[query] { (content) }
        p #find-said class="visually-hidden" role="status" {}
    }
}

/// A search that the browser does; without a script the server does it.
fn searching(request: &Request, worker: Option<&str>) -> Markup {
    let there = on_server(&request.query);
    let size = whole(request.query.design.cluster.num_devices);
    let content = html! {
        noscript { p { a.button.primary href=(there) { "Search on the server" } } }
        div #find-state class="find-state" hidden {
            progress max="1" value="0" aria-label={ "Search for layouts on " (size) " devices" } {}
            p data-words="" { span { "Loading the model" } }
            button type="button" class="button" { "Cancel" }
        }
        p #find-cancelled class="muted" hidden {
            "Cancelled. Results so far are kept; a full search may find better."
        }
        p #find-failed class="refused" role="alert" hidden {
            span { "The search could not be run in this browser." } " "
            a href=(there) { "Search on the server" }
        }
        p #find-pinned class="muted" {}
        div #find-answer {}
    };
    place(worker.map(|worker| (worker, encode(&request.query))), &content)
}

/// The address at which the server searches.
#[must_use]
pub fn on_server(query: &Query) -> String {
    format!("{}&{ON_SERVER}", address(query))
}
