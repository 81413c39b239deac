//! The chapter of questions: every number in it is what the model says of the design that it links
//! to, and every verdict on it follows from what was measured.
//!
//! A link's title says which metric its text is of, and what was found: `step_time_seconds=20.147`
//! or `fits=oom`. The text is written by `UPDATE_DOCS=1`, in both languages.

use model::catalogue::memory_state::MemoryState;
use model::design::{Design, link};
use model::metric::{MetricId, MetricValue};
use model::training::estimate::Estimate;
use model::{Plan, estimate, range};

use present::format;

use crate::{is_updating, keep, read};

/// Start of a link to a design.
const DESIGN: &str = "](/?v=1";

struct Language {
    file: &'static str,
    /// Right, wrong and can't tell.
    verdicts: [&'static str; 3],
    /// Fits, tight, unlikely and does not fit.
    states: [&'static str; 4],
    /// Words for a design that breaks rules.
    refused: &'static str,
    /// The sentence with the count of all and of each verdict.
    tally: fn([usize; 4]) -> String,
}

const LANGUAGES: [Language; 2] = [
    Language {
        file: "docs/guide/questions.md",
        verdicts: ["Right", "Wrong", "Can't tell"],
        states: ["fits", "tight", "unlikely", "does not fit"],
        refused: "refused",
        tally: |[all, right, wrong, open]| {
            format!(
                "Of {all} threads {right} are answered right, {wrong} wrong, and of {open} we \
                 can't tell."
            )
        },
    },
    Language {
        file: "docs/zh/guide/questions.md",
        verdicts: ["对", "错", "说不准"],
        states: ["放得下", "偏紧", "难放下", "放不下"],
        refused: "不合法",
        tally: |[all, right, wrong, open]| {
            format!("{all} 个讨论中，{right} 个答对，{wrong} 个答错，{open} 个说不准。")
        },
    },
];

/// A thread, as far as it is read.
#[derive(Default)]
struct Thread {
    heading: String,
    verdict: Option<usize>,
    outside: Vec<String>,
    links: usize,
    /// Prose of the thread, without commas in numbers, and what its links say was found.
    text: String,
    found: Vec<String>,
}

#[test]
fn every_answer_is_what_the_model_says_of_its_design_and_follows_from_what_was_found() {
    for language in &LANGUAGES {
        let text = read(language.file);
        let mut threads = Vec::new();
        let written = rewritten(&text, language, &mut threads);
        for thread in &threads {
            let place = format!("{}: {}", language.file, thread.heading);
            let verdict = thread.verdict.unwrap_or_else(|| panic!("{place}: no verdict"));
            assert!(
                thread.outside.is_empty() || verdict != 0,
                "{place} is said to be right, and isn't: {:?}",
                thread.outside
            );
            for found in &thread.found {
                assert!(thread.text.contains(found), "{place} doesn't say {found}");
            }
        }
        assert!(threads.iter().map(|thread| thread.links).sum::<usize>() > 40);
        let count = |verdict| threads.iter().filter(|it| it.verdict == Some(verdict)).count();
        let tally = (language.tally)([threads.len(), count(0), count(1), count(2)]);
        assert!(text.contains(&tally), "{}: {tally}", language.file);
        keep(language.file, |known| {
            assert!(known == text || is_updating(), "{} has changed", language.file);
            if known == text { written } else { rewritten(known, language, &mut vec![]) }
        });
    }
}

/// The text with what the model says today in the place of every number that links to a design.
fn rewritten(text: &str, language: &Language, threads: &mut Vec<Thread>) -> String {
    let mut written = String::with_capacity(text.len());
    let (mut current, mut in_section) = (Thread::default(), false);
    for line in text.lines() {
        let is_row = line.starts_with("| [");
        if line.starts_with('#') || is_row {
            if in_section {
                threads.push(std::mem::take(&mut current));
            }
            current = Thread { heading: line.chars().take(80).collect(), ..Thread::default() };
            in_section = line.starts_with("### ");
        }
        written.push_str(&answered(line, language, &mut current));
        written.push('\n');
        current.text.push_str(&without_targets(line).replace(',', ""));
        let said = |verdict: &&str| {
            let cell = line.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
            line.contains(&format!("**{verdict}")) || (is_row && cell.starts_with(*verdict))
        };
        current.verdict = current.verdict.or_else(|| language.verdicts.iter().position(said));
        if is_row {
            threads.push(std::mem::take(&mut current));
        }
    }
    if in_section {
        threads.push(current);
    }
    written
}

/// A line without where its links lead.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once(')').map_or(part, |(_, behind)| behind));
    }
    text
}

/// A line with the texts of its links to designs as they are today.
fn answered(line: &str, language: &Language, thread: &mut Thread) -> String {
    let mut written = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(DESIGN) {
        let start = rest[..at].rfind('[').expect("a link has a text");
        let (target, after) = rest[at + 2..].split_once(')').expect("a link has an end");
        let (address, title) = target.split_once(' ').expect("a design's link has a title");
        let raw = address.trim_start_matches("/?");
        let design = link::decode(raw).unwrap_or_else(|errors| panic!("{address}: {errors:?}"));
        let text = answer(&design, title.trim_matches('"'), language, thread);
        let text = text.unwrap_or_else(|| rest[start + 1..at].to_owned());
        thread.links += 1;
        written.push_str(&format!("{}[{text}]({target})", &rest[..start]));
        rest = after;
    }
    written.push_str(rest);
    written
}

/// Text of a link by its title; `None` if the text is free.
fn answer(
    design: &Design,
    title: &str,
    language: &Language,
    thread: &mut Thread,
) -> Option<String> {
    let (name, found) = title.split_once('=').map_or((title, None), |(name, it)| (name, Some(it)));
    let plan = match Plan::new(design) {
        Ok(plan) => plan,
        Err(_) if name == "refused" => return Some(language.refused.to_owned()),
        Err(violations) => panic!("{}: {violations:?}", link::encode(design)),
    };
    assert_ne!(name, "refused", "{} breaks no rule", link::encode(design));
    if name == "design" {
        return None;
    }
    let estimate = estimate(&plan);
    if name == "fits" {
        return Some(fitting(&estimate, found, language, thread));
    }
    let id = MetricId::ALL.iter().find(|id| id.metric().name == name);
    let id = *id.unwrap_or_else(|| panic!("there is no metric {name}"));
    let (text, ends) = ranged(&plan, &estimate, id);
    if let Some(found) = found {
        thread.found.push(found.to_owned());
        let found: f64 = found.parse().unwrap();
        let unit = if name.ends_with("_bytes") { 1_073_741_824.0 } else { 1.0 };
        let [low, high] = ends.expect("what was measured is beside a range");
        if !(low..=high).contains(&(found * unit)) {
            thread.outside.push(format!("{name}: {found} isn't in {text}"));
        }
    }
    Some(text)
}

/// A metric with its unit and its range of 90 %, where it has one.
fn ranged(plan: &Plan, estimate: &Estimate, id: MetricId) -> (String, Option<[f64; 2]>) {
    let value = estimate.metrics.get(id);
    let said = format::metric(id, value).to_string();
    let (Some(range), Some(MetricValue::Number(number))) = (range(plan, id), value) else {
        return (said, None);
    };
    let ends = range.most.map(|factor| factor * number);
    let [low, high] = ends.map(|end| format::measured(id, end));
    let low = if low.unit == high.unit { low.number } else { low.to_string() };
    (format!("{said} ({low}–{high})"), Some(ends))
}

/// Whether a design fits, which is right where it ran, or wrong where it ran out of memory.
fn fitting(
    estimate: &Estimate,
    found: Option<&str>,
    language: &Language,
    thread: &mut Thread,
) -> String {
    let share = estimate.metrics.fit_probability;
    let state = MemoryState::of(share);
    let place = MemoryState::ALL.iter().position(|it| *it == state).unwrap();
    let is_wrong = match found {
        Some("ran") => state == MemoryState::DoesNotFit,
        Some("oom") => state == MemoryState::Fits,
        _ => panic!("fits=ran or fits=oom, not {found:?}"),
    };
    if is_wrong {
        thread.outside.push(format!("{} where it was {found:?}", language.states[0]));
    }
    format!("{}, {}", language.states[place], format::measured(MetricId::fit_probability, share))
}
