//! The form as HTML text, made of the spec. Every control says in `data-do` what it changes, and
//! what is wrong stands beside it.

use std::fmt::Write as _;

use model::design::{Design, KnobId};
use model::file::{self, Tree};
use model::knob::{Kind, Section};
use model::metric::MetricId;

use crate::insight::spec::space::{Entry, Form, entries};
use crate::insight::spec::{at, shown, texts};
use crate::present::html::{element, escape_into, escaped};

/// Something that is wrong, at a place of the spec such as `/space/parallel/tp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) place: String,
    pub(super) detail: String,
}

/// Most objectives.
const MAX_OBJECTIVES: usize = 4;

/// The whole form.
pub(super) fn form(spec: &Tree, problems: &[Problem]) -> String {
    let mut html = String::new();
    let name = spec.get("name").map(shown).unwrap_or_default();
    html.push_str("<div class=\"build-row\">");
    field(&mut html, ("name", "name", ""), "Name", &name, "text");
    html.push_str("</div>");
    wrong(&mut html, problems, &["/name", "/schema"]);
    design(&mut html, spec, problems);
    space(&mut html, spec, problems);
    objectives(&mut html, spec, problems);
    constraints(&mut html, spec, problems);
    sampling(&mut html, spec, problems);
    html
}

/// A box with its label.
fn field(
    html: &mut String,
    (id, act, with): (&str, &str, &str),
    label: &str,
    value: &str,
    kind: &str,
) {
    let class = if kind == "text" { "build-text" } else { "number-box" };
    let _ = write!(
        html,
        "<label>{} <input type=\"{kind}\" class=\"{class}\" step=\"any\" id=\"{}\" \
         data-do=\"{act}\" data-with=\"{}\" autocomplete=\"off\" value=\"{}\"></label>",
        escaped(label),
        escaped(id),
        escaped(with),
        escaped(value),
    );
}

fn small_button(html: &mut String, id: &str, act: &str, with: &str, label: &str, text: &str) {
    let _ = write!(
        html,
        "<button type=\"button\" class=\"button way\" id=\"{}\" data-do=\"{act}\" \
         data-with=\"{}\" aria-label=\"{}\">{text}</button>",
        escaped(id),
        escaped(with),
        escaped(label),
    );
}

/// What is wrong at these places or below them.
fn wrong(html: &mut String, problems: &[Problem], places: &[&str]) {
    let below = |place: &str, problem: &Problem| {
        problem
            .place
            .strip_prefix(place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for problem in problems {
        if places.iter().any(|place| below(place, problem)) {
            element(html, "p", "class=\"build-wrong\"", &problem.detail);
        }
    }
}

fn legend(html: &mut String, title: &str, about: &str) {
    let _ = write!(html, "<fieldset><legend>{title}</legend><p class=\"muted\">{about}</p>");
}

/// What doesn't vary.
fn design(html: &mut String, spec: &Tree, problems: &[Problem]) {
    legend(html, "Design", "What doesn't vary.");
    let preset = at(spec, &["design", "preset"]).map(shown).unwrap_or_default();
    html.push_str(
        "<div class=\"build-row\"><label>Preset <select class=\"select\" id=\"preset\" \
        data-do=\"preset\" autocomplete=\"off\">",
    );
    for known in model::preset::Preset::all() {
        let chosen = if known.id == preset { " selected" } else { "" };
        let _ = write!(
            html,
            "<option value=\"{}\"{chosen}>{}</option>",
            known.id,
            escaped(known.title)
        );
    }
    html.push_str("</select></label>");
    let closed =
        at(spec, &["design", "schedule", "timing"]).map(shown).as_deref() == Some("closed_form");
    let checked = if closed { " checked" } else { "" };
    let _ = write!(
        html,
        "<label class=\"sweep-check\"><input type=\"checkbox\" id=\"closed\" data-do=\"closed\" \
         autocomplete=\"off\"{checked}>Time pipelines by their closed form, about thirty times \
         faster than simulating every task</label></div>"
    );
    let count = |section: &Section| {
        let Some(Tree::Map(knobs)) = at(spec, &["design", section.name()]) else { return 0 };
        knobs.len()
    };
    let other: usize = Section::ALL.iter().map(count).sum::<usize>() - usize::from(closed);
    if other > 0 {
        let text = crate::present::format::counted(other as u64, "knob is", "knobs are");
        let text = format!("{text} set in the text beside the preset's.");
        element(html, "p", "class=\"muted\"", &text);
    }
    wrong(html, problems, &["/design"]);
    html.push_str("</fieldset>");
}

/// The design that doesn't vary, as far as it can be read.
pub(super) fn base(spec: &Tree) -> Option<Design> {
    let mut tree = spec.get("design").cloned().unwrap_or(Tree::Map(vec![]));
    if let Tree::Map(all) = &mut tree {
        all.retain(|(key, _)| key != "schema");
        all.insert(0, ("schema".to_owned(), Tree::Unsigned(file::SCHEMA)));
    }
    let preset = tree.get("preset").and_then(Tree::as_text).unwrap_or_default().to_owned();
    let first = || Design::from_preset(&preset).ok();
    let usual = || Design::from_preset(model::preset::Preset::DEFAULT_ID).ok();
    file::read(&tree).ok().or_else(first).or_else(usual)
}

/// The knobs that vary.
fn space(html: &mut String, spec: &Tree, problems: &[Problem]) {
    legend(
        html,
        "What varies",
        "Every combination of these is a design. A value in square \
        brackets is a list, such as [moe_act, layernorm].",
    );
    let all = entries(spec);
    for entry in &all {
        knob(html, entry, problems);
    }
    let free = |knob: &&KnobId| {
        knob.knob().not_offered.is_none() && !all.iter().any(|entry| entry.knob == Some(**knob))
    };
    html.push_str(
        "<div class=\"build-row\"><label>Let another knob vary <select class=\"select\" \
        id=\"add-knob\" data-do=\"add-knob\" autocomplete=\"off\"><option value=\"\">choose…\
        </option>",
    );
    for section in Section::ALL {
        let _ = write!(html, "<optgroup label=\"{}\">", section.name());
        for id in KnobId::in_section(section).filter(|id| free(&id)) {
            let _ =
                write!(html, "<option value=\"{}\">{}</option>", id.id(), escaped(id.knob().label));
        }
        html.push_str("</optgroup>");
    }
    html.push_str("</select></label></div>");
    if all.is_empty() {
        wrong(html, problems, &["/space"]);
    } else {
        let whole: Vec<Problem> =
            problems.iter().filter(|problem| problem.place == "/space").cloned().collect();
        wrong(html, &whole, &["/space"]);
    }
    html.push_str("</fieldset>");
}

/// One knob with the form of its values.
fn knob(html: &mut String, entry: &Entry, problems: &[Problem]) {
    let key = entry.key();
    let label = entry.knob.map_or(key.as_str(), |knob| knob.knob().label);
    let form = Form::of(&entry.tree);
    html.push_str("<div class=\"build-knob\"><div class=\"build-row\">");
    element(html, "strong", "class=\"build-name\"", label);
    let _ = write!(
        html,
        "<select class=\"select\" id=\"form-{key}\" data-do=\"form\" data-with=\"{key}\" \
         aria-label=\"How {label} varies\" autocomplete=\"off\">",
        key = escaped(&key),
        label = escaped(label),
    );
    let suits = |form: &Form| {
        entry.knob.is_none_or(|knob| form.suits(knob)) || *form == Form::of(&entry.tree)
    };
    for known in Form::ALL.into_iter().chain([Form::Other]).filter(suits) {
        if known == Form::Other && form != Form::Other {
            continue;
        }
        let chosen = if known == form { " selected" } else { "" };
        let _ =
            write!(html, "<option value=\"{}\"{chosen}>{}</option>", known.name(), known.label());
    }
    html.push_str("</select>");
    inputs(html, entry, form, &key, label);
    small_button(
        html,
        &format!("without-{key}"),
        "without",
        &key,
        &format!("Remove {label}: don't vary it"),
        "Remove",
    );
    html.push_str("</div>");
    // The server names a knob by its whole id, however the text does.
    let id = entry.knob.map(KnobId::id).unwrap_or_default().replace('.', "/");
    let places = [format!("/space/{id}"), format!("/space/{}", key.replace('.', "/"))];
    let places: Vec<&str> =
        places.iter().map(String::as_str).filter(|place| *place != "/space/").collect();
    wrong(html, problems, &places);
    html.push_str("</div>");
}

/// The boxes of a form.
fn inputs(html: &mut String, entry: &Entry, form: Form, key: &str, label: &str) {
    let tree = &entry.tree;
    let get = |name: &str| tree.get(name).map(shown).unwrap_or_default();
    let mut number = |part: &str, text: &str, value: &str| {
        let id = format!("{part}-{key}");
        field(html, (&id, part, key), text, value, "number");
    };
    match form {
        Form::Range => {
            number("from", "from", &get("from"));
            number("to", "to", &get("to"));
            number("step", "in steps of", &tree.get("step").map_or("1".to_owned(), shown));
        }
        Form::Powers => {
            let ends = match tree.get("powers_of_two") {
                Some(Tree::List(ends)) => ends.iter().map(shown).collect(),
                _ => vec![],
            };
            let end = |place: usize| ends.get(place).cloned().unwrap_or_default();
            number("low", "from", &end(0));
            number("high", "to", &end(1));
        }
        Form::Dense => number("dense", "count", &get("dense_layers")),
        Form::Divisors => {
            let id = format!("divisors-{key}");
            field(html, (&id, "divisors", key), "of a number or knob", &get("divisors_of"), "text");
        }
        Form::Same => {
            let id = format!("same-{key}");
            field(html, (&id, "same", key), "knob", &get("same_as"), "text");
            let part = |name: &str| tree.get(name).map_or("1".to_owned(), shown);
            field(html, (&format!("times-{key}"), "times", key), "times", &part("times"), "number");
            field(html, (&format!("over-{key}"), "over", key), "over", &part("over"), "number");
        }
        Form::Values => values(html, entry, key, label),
        Form::Fill | Form::Other => {}
    }
}

/// Values one by one: boxes to check where there are few, otherwise a line of text.
fn values(html: &mut String, entry: &Entry, key: &str, label: &str) {
    let Tree::List(now) = &entry.tree else { return };
    let options: Vec<&str> = match entry.knob.map(|knob| knob.knob().kind) {
        Some(Kind::Flag) => vec!["false", "true"],
        Some(Kind::Choice(names)) if names.len() <= 12 => names.to_vec(),
        _ => {
            let text: Vec<String> = now.iter().map(shown).collect();
            let (key, label) = (escaped(key), format!("values of {label}"));
            let _ = write!(
                html,
                "<input type=\"text\" class=\"build-text\" id=\"values-{key}\" data-do=\"values\" \
                 data-with=\"{key}\" aria-label=\"{}\" autocomplete=\"off\" value=\"{}\">",
                escaped(&label),
                escaped(&text.join(", ")),
            );
            return hint(html, entry.knob);
        }
    };
    let chosen: Vec<String> = now.iter().map(shown).collect();
    let _ = write!(
        html,
        "<span class=\"build-options\" role=\"group\" aria-label=\"{}\">",
        escaped(&format!("Values of {label}"))
    );
    for option in options {
        let checked = if chosen.iter().any(|known| known == option) { " checked" } else { "" };
        let word = match option {
            "true" => "on",
            "false" => "off",
            option => option,
        };
        let _ = write!(
            html,
            "<label class=\"sweep-check\"><input type=\"checkbox\" id=\"option-{key}-{option}\" \
             data-do=\"option\" data-with=\"{key}={option}\" autocomplete=\"off\"{checked}>{word}\
             </label>",
            key = escaped(key),
        );
    }
    html.push_str("</span>");
}

/// What a knob takes, where that isn't plain numbers.
fn hint(html: &mut String, knob: Option<KnobId>) {
    let names = match knob.map(|knob| knob.knob().kind) {
        Some(Kind::Subset(names)) => format!("lists of {}, or none", names.join(", ")),
        Some(Kind::Choice(names)) => format!("of {}", names.join(", ")),
        _ => return,
    };
    element(html, "span", "class=\"muted build-hint\"", &names);
}

fn metric_options(html: &mut String, now: &str) {
    for id in MetricId::ALL {
        let name = id.metric().name;
        let chosen = if name == now { " selected" } else { "" };
        let _ = write!(html, "<option value=\"{name}\"{chosen}>");
        escape_into(html, id.metric().label);
        html.push_str("</option>");
    }
}

/// What is best.
fn objectives(html: &mut String, spec: &Tree, problems: &[Problem]) {
    legend(
        html,
        "What is best",
        "The first counts most; designs that none beats in all of them \
        are the Pareto front.",
    );
    let all = texts(spec, "objectives");
    for (place, text) in all.iter().enumerate() {
        let (name, goal) = text.trim().rsplit_once(' ').unwrap_or((text, "max"));
        let _ = write!(
            html,
            "<div class=\"build-row\"><select class=\"select\" id=\"goal-{place}\" \
             data-do=\"goal\" data-with=\"{place}\" aria-label=\"Which way\" autocomplete=\"off\">"
        );
        for (key, word) in [("max", "highest"), ("min", "lowest")] {
            let chosen = if key == goal { " selected" } else { "" };
            let _ = write!(html, "<option value=\"{key}\"{chosen}>{word}</option>");
        }
        let _ = write!(
            html,
            "</select><select class=\"select\" id=\"metric-{place}\" data-do=\"metric\" \
             data-with=\"{place}\" aria-label=\"Metric\" autocomplete=\"off\">"
        );
        if MetricId::find(name).is_none() {
            let _ = write!(html, "<option value=\"\" selected>{}</option>", escaped(name));
        }
        metric_options(html, name);
        html.push_str("</select>");
        if all.len() > 1 {
            let label = format!("Remove objective {}", place + 1);
            let place = place.to_string();
            small_button(html, &format!("no-goal-{place}"), "no-goal", &place, &label, "Remove");
        }
        html.push_str("</div>");
    }
    if all.len() < MAX_OBJECTIVES {
        html.push_str(
            "<div class=\"build-row\"><label>Another <select class=\"select\" \
            id=\"add-goal\" data-do=\"add-goal\" autocomplete=\"off\"><option value=\"\">choose…\
            </option>",
        );
        metric_options(html, "");
        html.push_str("</select></label></div>");
    }
    wrong(html, problems, &["/objectives", "/columns"]);
    html.push_str("</fieldset>");
}

/// What a design must keep to.
fn constraints(html: &mut String, spec: &Tree, problems: &[Problem]) {
    legend(
        html,
        "What a design must keep to",
        "Beside the model's own rules, such as \
        <code>fits</code>, <code>mfu &gt;= 0.2</code>, <code>params_total &lt;= 750e9</code> or \
        <code>hidden_size % 256 == 0</code>.",
    );
    let all = texts(spec, "constraints");
    for (place, text) in all.iter().chain([&String::new()]).enumerate() {
        let label = if place < all.len() { "Constraint" } else { "Another constraint" };
        let _ = write!(
            html,
            "<div class=\"build-row\"><input type=\"text\" class=\"build-text\" \
             id=\"rule-{place}\" data-do=\"rule\" data-with=\"{place}\" aria-label=\"{label} {}\" \
             placeholder=\"{}\" autocomplete=\"off\" value=\"{}\">",
            place + 1,
            if place < all.len() { "" } else { "another constraint" },
            escaped(text),
        );
        if place < all.len() {
            let label = format!("Remove constraint {}", place + 1);
            let place = place.to_string();
            small_button(html, &format!("no-rule-{place}"), "no-rule", &place, &label, "Remove");
        }
        html.push_str("</div>");
    }
    wrong(html, problems, &["/constraints"]);
    html.push_str("</fieldset>");
}

/// Which designs are taken, and how many are kept.
fn sampling(html: &mut String, spec: &Tree, problems: &[Problem]) {
    legend(html, "How many", "All of the space, or a sample where it is too large.");
    let method = at(spec, &["sampling", "method"]).map_or("grid".to_owned(), shown);
    html.push_str(
        "<div class=\"build-row\"><label>Take <select class=\"select\" id=\"method\" \
        data-do=\"method\" autocomplete=\"off\">",
    );
    for (key, word) in [
        ("grid", "every design"),
        ("random", "a random sample"),
        ("lhs", "a Latin hypercube (each value equally often)"),
        ("refine", "successive refinement (a fourth at random, then near the best)"),
    ] {
        let chosen = if key == method { " selected" } else { "" };
        let _ = write!(html, "<option value=\"{key}\"{chosen}>{word}</option>");
    }
    html.push_str("</select></label>");
    if method != "grid" {
        let get = |key: &str| at(spec, &["sampling", key]).map(shown).unwrap_or_default();
        field(html, ("count", "count", ""), "of so many designs", &get("count"), "number");
        field(html, ("seed", "seed", ""), "seed", &get("seed"), "number");
    }
    html.push_str("</div>");
    if method == "refine" {
        let about = "For a space too large to try in full: it finds good designs with few. What it \
                     says of a knob's values is of the designs near these, not of the whole space.";
        element(html, "p", "class=\"muted\"", about);
    }
    html.push_str("<div class=\"build-row\">");
    let sample = spec.get("sample").map_or("1000".to_owned(), shown);
    field(
        html,
        ("sample", "sample", ""),
        "Keep a random sample to look at, designs",
        &sample,
        "number",
    );
    html.push_str("</div>");
    wrong(html, problems, &["/sampling", "/sample", "/top", "/resolution"]);
    html.push_str("</fieldset>");
}
