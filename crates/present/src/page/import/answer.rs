//! Result of an import, as HTML: the design with its numbers, and every list of the import.

use interchange::{Format, Import, Question};
use maud::{Markup, html};
use model::catalogue::preset::PresetKind;
use model::design::link;
use model::design::violation::{Nearest, Violation};
use model::design::{Design, KnobId};
use model::ground::knob::Kind;

use crate::form::files::listed;
use crate::form::find_bar;
use crate::form::lists::{self, preset_groups};
use crate::form::{hidden, input, select};
use crate::format::{counted, whole};
use crate::insight::headline_list;
use crate::insight::numbers::Numbers;

/// The answer.
pub(super) fn html(import: &Import, answers: &[(String, String)], file: Option<&str>) -> Markup {
    html! {
        @match &import.design {
            Some(design) => (made(import, design, file)),
            None => (not_made(import, file)),
        }
        (questions(import, answers))
        (unknown(import))
        (assumed(import))
        (set(import))
        (ignored(import))
    }
}

/// Name of a text in a sentence.
fn named(file: Option<&str>) -> &str {
    file.filter(|name| !name.is_empty()).unwrap_or("The text")
}

fn not_made(import: &Import, file: Option<&str>) -> Markup {
    html! {
        h1 { "This text makes no design" }
        section.card.import-card {
            p {
                (named(file)) " was read as " (import.dialect) ": "
                (counted(import.errors.len() as u64, "error", "errors"))
                " to fix, in the box below or in the file."
            }
            ul.import-errors { @for fault in &import.errors { li { (fault) } } }
        }
    }
}

fn made(import: &Import, design: &Design, file: Option<&str>) -> Markup {
    let count = |list: usize, one: &str, many: &str| counted(list as u64, one, many);
    html! {
        h1 { "Imported" }
        (find_bar::still(design))
        section.card.import-card {
            p {
                (named(file)) " was read as " (import.dialect) ". "
                (count(import.set.len(), "knob", "knobs")) " set, "
                (count(import.assumed.len(), "assumption", "assumptions")) ", "
                (count(import.ignored.len(), "key", "keys")) " without effect, "
                (count(import.unknown.len(), "key", "keys")) " not recognised."
            }
            @if !import.questions.is_empty() {
                p {
                    (count(import.questions.len(), "question", "questions"))
                    " open, below: the numbers are those of the guesses."
                }
            }
            @if !import.carried.is_empty() {
                p {
                    (count(import.carried.len(), "argument", "arguments"))
                    " without a knob carried along: exports have them again."
                }
            }
            p.muted {
                "The nearest preset is " (design.preset.title) ": "
                (count(design.changed().len(), "knob differs", "knobs differ")) "."
            }
            @let free = left_free(import);
            @if !free.is_empty() {
                p.muted { "Not in the text, and free for Find: " (free.join(", ")) "." }
            }
            @match Numbers::of(design) {
                Some(numbers) => (headline_list::listed(&numbers, "embed-numbers")),
                None => (violations(design, &import.violations)),
            }
            (ways(design))
        }
    }
}

/// Settings of a run that a launch script may have and this one lacks: Find may choose them.
fn left_free(import: &Import) -> Vec<&'static str> {
    let run = matches!(import.format, Format::Megatron | Format::Mindspeed);
    let knobs = [
        KnobId::tensor_model_parallel_size,
        KnobId::sequence_parallel,
        KnobId::pipeline_model_parallel_size,
        KnobId::context_parallel_size,
        KnobId::micro_batch_size,
        KnobId::global_batch_size,
        KnobId::recompute_granularity,
    ];
    let said = |knob: &KnobId| import.set.iter().any(|set| set.knob == *knob);
    let free = knobs.iter().filter(|knob| run && !said(knob));
    free.map(|knob| knob.knob().label).collect()
}

/// Broken rules, each with the values that mend it, as links to the mended design.
fn violations(design: &Design, violations: &[Violation]) -> Markup {
    let mended = |near: &Nearest| {
        let mut mended = design.clone();
        mended.set(near.knob, &near.value).ok().map(|()| format!("/?{}", link::encode(&mended)))
    };
    html! {
        div.import-broken {
            h2 { "This design can't run as it is" }
            ul.import-errors { @for violation in violations { li {
                (violation.message)
                @for near in &violation.nearest { @if let Some(address) = mended(near) {
                    @let label = near.knob.knob().label;
                    " " a href=(address) data-step=(label) class="button way" {
                        (label) " " (near.value)
                    }
                } }
            } } }
        }
    }
}

/// Links to what comes next.
fn ways(design: &Design) -> Markup {
    let link = link::encode(design);
    let kinds = [
        (PresetKind::Recipe, "Published runs"),
        (PresetKind::Model, "Models on a default cluster"),
    ];
    let other = select(preset_groups(&kinds, lists::link, design.preset.id));
    html! {
        div.import-ways {
            a.button.primary href={ "/?" (link) } { "Open in the explorer" }
            a.button href={ "/export?" (link) } { "Export" }
            form method="get" action="/compare" class="import-compare" {
                (hidden("b", &link))
                (other.id("import-compare").name("a").labelled("Compare with"))
                button.button { "Compare" }
            }
        }
    }
}

fn line(line: u64) -> String {
    if line == 0 { String::new() } else { line.to_string() }
}

/// Input that a question asks for: an argument of the script, a variable of its environment, or a
/// knob.
fn asked_for(name: &str) -> Markup {
    let words = |words: String, name: &str| html! { (words) " " code { (name) } };
    match name.split_once(' ') {
        Some(("arg", place)) => {
            words(format!("Argument {place} of the script"), &format!("${place}"))
        }
        Some(("env", variable)) => words("Variable".to_owned(), variable),
        _ => match KnobId::find(name) {
            Ok(knob) => words(knob.knob().label.to_owned(), name),
            Err(_) => html! { code { (name) } },
        },
    }
}

/// Choices that may answer a question, if there is a list: models by their names, a knob's choices.
fn choices(name: &str) -> Vec<&'static str> {
    if name == "model" {
        return interchange::model_names().collect();
    }
    let kind = KnobId::named(name).map(|knob| knob.knob().kind);
    if let Some(Kind::Choice(names)) = kind { names.to_vec() } else { vec![] }
}

/// Questions that the text leaves open, as fields of the form below; answers that were given go
/// along.
fn questions(import: &Import, answers: &[(String, String)]) -> Markup {
    let is_asked = |name: &str| import.questions.iter().any(|question| question.name == name);
    let given = answers.iter().filter(|(name, value)| !is_asked(name) && !value.is_empty());
    html! {
        @for (name, value) in given {
            (hidden(&format!("answer {name}"), value).set("form", "import-form"))
        }
        @if !import.questions.is_empty() {
            section.card.import-card #questions {
                h2 { "Questions (" (whole(import.questions.len() as u64)) ")" }
                p.muted {
                    "What the text leaves open. A field that stays empty keeps the guess in grey."
                }
                @for (place, question) in import.questions.iter().enumerate() {
                    (field(&format!("import-answer-{place}"), question))
                }
                p.import-send {
                    button.button.primary form="import-form" { "Use these answers" }
                }
            }
        }
    }
}

/// Field of an open question.
fn field(id: &str, question: &Question) -> Markup {
    let choices = choices(&question.name);
    let list = if choices.is_empty() { String::new() } else { format!("{id}-choices") };
    let answer = input("text").id(id).name(&format!("answer {}", question.name));
    let answer = answer.set("placeholder", question.guess.as_deref().unwrap_or(""));
    let place = placed(question.line, question.file.as_deref());
    let about = html! {
        @if !place.is_empty() { (place) ": " }
        (question.purpose) " → " (question.follows)
    };
    let answer = answer.set("form", "import-form").set_some("list", &list);
    html! {
        (answer.field("import-field", asked_for(&question.name), about))
        @if !choices.is_empty() {
            datalist #(list) { @for choice in &choices { option value=(choice) {} } }
        }
    }
}

/// A line with its file, where there are several.
fn placed(line: u64, file: Option<&str>) -> String {
    let number = self::line(line);
    match file {
        Some(file) if number.is_empty() => file.to_owned(),
        Some(file) => format!("{file}:{number}"),
        None => number,
    }
}

fn unknown(import: &Import) -> Markup {
    let rows = import.unknown.iter().map(|it| {
        let nearest = it.nearest.clone().unwrap_or_else(|| "nothing like it".to_owned());
        vec![it.key.clone(), placed(it.line, it.file.as_deref()), nearest]
    });
    let about = "These keys aren't recognised and change nothing. For typos the nearest known key \
                 is given.";
    listed("unknown", "Unrecognised", true, about, &["Key", "Line", "Nearest known"], rows)
}

fn assumed(import: &Import) -> Markup {
    let rows = import.assumed.iter().map(|it| {
        let knob = it.knob.map_or("the text as a whole", |knob| knob.knob().label);
        vec![knob.to_owned(), it.detail.clone()]
    });
    let about = "Not given in the text: the value used, and why.";
    listed("assumed", "Assumed", true, about, &["Knob", "What and why"], rows)
}

fn set(import: &Import) -> Markup {
    let rows = import.set.iter().map(|it| {
        let place = placed(it.line, it.file.as_deref());
        vec![it.key.clone(), place, it.knob.knob().label.to_owned(), it.value.clone()]
    });
    listed("set", "Recognised", true, "Key → knob.", &["Key", "Line", "Knob", "Value"], rows)
}

fn ignored(import: &Import) -> Markup {
    let rows = import
        .ignored
        .iter()
        .map(|it| vec![it.key.clone(), placed(it.line, it.file.as_deref()), it.reason.clone()]);
    let about = "Recognised, but they have no effect on the model.";
    listed("ignored", "Without effect", true, about, &["Key", "Line", "Why"], rows)
}

#[cfg(test)]
mod tests {
    use interchange::import;
    use testing::page::Page as Html;

    use super::*;

    const SCRIPT: &str = "python x.py --num-layers 8 \\\n --hidden-size 1024 \\\n \
                          --num-attention-heads 8 --ffn-hidden-size 4096 --vocab-size 1000 \\\n \
                          --seq-length 1024 --micro-batch-size 1 --global-batch-size 8 \\\n \
                          --lr 1 --num-layerz 3 --<script>";

    #[test]
    fn every_entry_of_every_list_is_on_the_page() {
        let import = import(Format::Megatron, SCRIPT, None);
        let html = Html::new(&html(&import, &[], None).0);
        let words = html.words();
        let keys = import.set.iter().map(|it| &it.key);
        let keys = keys.chain(import.ignored.iter().map(|it| &it.key));
        for key in keys.chain(import.unknown.iter().map(|it| &it.key)) {
            assert!(words.contains(key.as_str()), "{key} is not on the page");
        }
        for assumed in &import.assumed {
            assert!(words.contains(&assumed.detail), "{}", assumed.detail);
        }
        assert_eq!(html.row("--num-layerz")[..2], ["5", "--num-layers"]);
        assert!(!html.has("script") && html.has("[data-metric=mfu]"), "{}", html.words());
        let link = link::encode(import.design.as_ref().unwrap());
        assert!(html.has_link(&format!("/?{link}")), "{:?}", html.links());
    }

    #[test]
    fn a_design_that_breaks_rules_has_ways_to_mend_it() {
        let end = "--lr 1 --num-layerz 3 --<script>";
        let script = SCRIPT.replace(end, "--pipeline-model-parallel-size 3");
        let import = import(Format::Megatron, &script, None);
        assert!(!import.violations.is_empty(), "{import:?}");
        let html = html(&import, &[], Some("a.sh")).0;
        assert!(html.contains("can't run as it is") && html.contains("a.sh was read"), "{html}");
        assert!(Html::new(&html).has(".button.way"), "{html}");
    }

    #[test]
    fn what_keeps_a_text_from_being_a_design_has_its_line() {
        let import = import(Format::Megatron, "x \\\n --num-layers 0", None);
        let html = html(&import, &[], None).0;
        let lines = Html::new(&html).texts("li");
        assert!(lines.iter().any(|line| line.starts_with("line 2: --num-layers")), "{lines:?}");
        assert!(!html.contains("Open in the explorer"), "{html}");
    }
}
