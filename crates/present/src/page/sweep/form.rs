//! The form as HTML text, made of the spec. Every control names in `data-do` what it changes, and
//! its problems are beside it.

use maud::{Markup, html};
use model::catalogue::preset::Preset;
use model::design::file::{self, Tree};
use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Section};
use model::metric::{MetricId, Regime};

use crate::form::{Control, group, input, option, option_group, options, select, tick_box};
use crate::format::counted;
use crate::insight::spec::space::{Entry, Form, entries};
use crate::insight::spec::{at, shown, texts};

/// Something that is wrong, at a place of the spec such as `/space/parallel/tp`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key of the spec.
    pub place: String,
    /// The mistake.
    pub detail: String,
}

/// Most objectives.
const MAX_OBJECTIVES: usize = 4;

/// The whole form.
pub fn form(spec: &Tree, problems: &[Problem]) -> String {
    let name = spec.get("name").map(shown).unwrap_or_default();
    let markup = html! {
        div.build-row { (field("text", "name", "", "Name", &name)) }
        (wrong(problems, &["/name", "/schema"]))
        (design(spec, problems))
        (space(spec, problems))
        (objectives(spec, problems))
        (constraints(spec, problems))
        (sampling(spec, problems))
    };
    markup.into_string()
}

/// A box with its label. Its id is what it changes, and of which knob.
fn field(kind: &str, act: &str, with: &str, label: &str, value: &str) -> Markup {
    typed(kind, act, with).value(value).within(label)
}

/// A box that a text or a number is typed into.
fn typed(kind: &str, act: &str, with: &str) -> Control {
    let (class, step) = if kind == "text" { ("build-text", "") } else { ("number-box", "any") };
    input(kind).set("class", class).set_some("step", step).act(act, with)
}

/// A list in the look of the page.
fn list(act: &str, with: &str, entries: Markup) -> Control {
    select(entries).set("class", "select").act(act, with)
}

/// A button that takes something out.
fn remove_button(act: &str, with: &str, label: &str) -> Markup {
    html! {
        button type="button" class="button way" id={ (act) "-" (with) } data-do=(act)
            data-with=(with) aria-label=(label) { "Remove" }
    }
}

/// A label of one of several, counted from one.
fn numbered(label: &str, place: usize) -> String {
    [label, " ", &(place + 1).to_string()].concat()
}

/// Problems at these places or below them.
fn wrong(problems: &[Problem], places: &[&str]) -> Markup {
    let is_below = |problem: &&Problem| {
        places.iter().any(|place| {
            let rest = problem.place.strip_prefix(place);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    html! {
        @for problem in problems.iter().filter(is_below) { p.build-wrong { (problem.detail) } }
    }
}

/// A part of the form: its title, what it is about, its controls.
fn part(title: &str, about: &Markup, content: &Markup) -> Markup {
    group("", title, &html! { p.muted { (about) } (content) })
}

/// Everything that stays fixed.
fn design(spec: &Tree, problems: &[Problem]) -> Markup {
    const CLOSED: &str = "Time pipelines by their closed form, about thirty times faster than \
                          simulating every task";
    let preset = at(spec, &["design", "preset"]).map(shown).unwrap_or_default();
    let timing = at(spec, &["design", "schedule", "timing"]).map(shown);
    let closed = timing.as_deref() == Some("closed_form");
    let count = |section: &Section| {
        let Some(Tree::Map(knobs)) = at(spec, &["design", section.name()]) else { return 0 };
        knobs.len()
    };
    let other: usize = Section::ALL.iter().map(count).sum::<usize>() - usize::from(closed);
    let presets = options(Preset::all().map(|it| (it.id, it.title)), &preset);
    let content = html! {
        div.build-row {
            (list("preset", "", presets).within("Preset"))
            (tick_box(closed).act("closed", "").before("sweep-check", CLOSED))
        }
        @if other > 0 {
            p.muted {
                (counted(other as u64, "knob is", "knobs are"))
                " changed from the preset in the text."
            }
        }
        (wrong(problems, &["/design"]))
    };
    part("Design", &html! { "Everything that stays fixed." }, &content)
}

/// Whether a section's knobs are levers of a sweep of training.
const fn trains(section: Section) -> bool {
    !matches!(section, Section::Serving | Section::Run)
}

/// The design that doesn't vary, as far as it can be read.
pub fn base(spec: &Tree) -> Option<Design> {
    let mut tree = spec.get("design").cloned().unwrap_or(Tree::Map(vec![]));
    if let Tree::Map(all) = &mut tree {
        all.retain(|(key, _)| key != "schema");
        all.insert(0, ("schema".to_owned(), Tree::Unsigned(file::SCHEMA)));
    }
    let preset = tree.get("preset").and_then(Tree::as_text).unwrap_or_default().to_owned();
    let first = || Design::from_preset(&preset).ok();
    let usual = || Design::from_preset(Preset::DEFAULT_ID).ok();
    file::read(&tree).ok().or_else(first).or_else(usual)
}

/// The knobs that vary.
fn space(spec: &Tree, problems: &[Problem]) -> Markup {
    let all = entries(spec);
    let is_free = |knob: &KnobId| {
        knob.knob().not_offered.is_none() && !all.iter().any(|entry| entry.knob == Some(*knob))
    };
    // Problems of a knob are beside the knob.
    let is_here = |problem: &&Problem| all.is_empty() || problem.place == "/space";
    let whole: Vec<Problem> = problems.iter().filter(is_here).cloned().collect();
    let free = |section| {
        html! {
            @for id in KnobId::in_section(section).filter(is_free) {
                (option(&id.id(), id.knob().label, false))
            }
        }
    };
    let more = html! {
        (option("", "choose…", false))
        @for section in Section::ALL.into_iter().filter(|it| trains(*it)) {
            (option_group(section.name(), &free(section)))
        }
    };
    let content = html! {
        @for entry in &all { (knob(entry, problems)) }
        div.build-row { (list("add-knob", "", more).within("Add a knob")) }
        (wrong(&whole, &["/space"]))
    };
    let about = "Each combination is a design. A value in square brackets is a list, \
                 such as [moe_act, layernorm].";
    part("What varies", &html! { (about) }, &content)
}

/// One knob with the form of its values.
fn knob(entry: &Entry, problems: &[Problem]) -> Markup {
    let key = entry.key();
    let label = entry.knob.map_or(key.as_str(), |knob| knob.knob().label);
    let form = Form::of(&entry.tree);
    let is_offered = |known: &Form| {
        *known == form || (*known != Form::Other && entry.knob.is_none_or(|knob| known.suits(knob)))
    };
    // The server names a knob by its whole id, however the text does.
    let id = entry.knob.map(KnobId::id).unwrap_or_default().replace('.', "/");
    let places = [format!("/space/{id}"), format!("/space/{}", key.replace('.', "/"))];
    let places: Vec<&str> =
        places.iter().map(String::as_str).filter(|place| *place != "/space/").collect();
    let forms = Form::ALL.into_iter().filter(is_offered).map(|it| (it.name(), it.label()));
    let forms = list("form", &key, options(forms, form.name()));
    html! {
        div.build-knob {
            div.build-row {
                strong.build-name { (label) }
                (forms.named(&["How ", label, " varies"].concat()))
                (inputs(entry, form, &key, label))
                (remove_button("without", &key, &["Remove ", label, ": don't vary it"].concat()))
            }
            (wrong(problems, &places))
        }
    }
}

/// The boxes of a form.
fn inputs(entry: &Entry, form: Form, key: &str, label: &str) -> Markup {
    let get = |name: &str| entry.tree.get(name).map(shown).unwrap_or_default();
    let one = |name: &str| entry.tree.get(name).map_or("1".to_owned(), shown);
    let number = |act: &str, text: &str, value: &str| field("number", act, key, text, value);
    match form {
        Form::Range => html! {
            (number("from", "from", &get("from")))
            (number("to", "to", &get("to")))
            (number("step", "in steps of", &one("step")))
        },
        Form::Powers => {
            let ends = match entry.tree.get("powers_of_two") {
                Some(Tree::List(ends)) => ends.iter().map(shown).collect(),
                _ => vec![],
            };
            let end = |place: usize| ends.get(place).map_or("", String::as_str);
            html! { (number("low", "from", end(0))) (number("high", "to", end(1))) }
        }
        Form::Dense => number("dense", "count", &get("dense_layers")),
        Form::Divisors => {
            field("text", "divisors", key, "of a number or knob", &get("divisors_of"))
        }
        Form::Same => html! {
            (field("text", "same", key, "knob", &get("same_as")))
            (number("times", "times", &one("times")))
            (number("over", "over", &one("over")))
        },
        Form::Values => values(entry, key, label),
        Form::Fill | Form::Other => Markup::default(),
    }
}

/// Values one by one: boxes to check where there are few, otherwise a line of text.
fn values(entry: &Entry, key: &str, label: &str) -> Markup {
    let Tree::List(now) = &entry.tree else { return Markup::default() };
    let now: Vec<String> = now.iter().map(shown).collect();
    let offered: Vec<&str> = match entry.knob.map(|knob| knob.knob().kind) {
        Some(Kind::Flag) => vec!["false", "true"],
        Some(Kind::Choice(names)) if names.len() <= 12 => names.to_vec(),
        kind => {
            let text = typed("text", "values", key).named(&["values of ", label].concat());
            return html! { (text.value(&now.join(", "))) (hint(kind)) };
        }
    };
    let word = |option| match option {
        "true" => "on",
        "false" => "off",
        option => option,
    };
    html! {
        span.build-options role="group" aria-label={ "Values of " (label) } {
            @for option in offered {
                (tick_box(now.iter().any(|known| known == option))
                    .act("option", &[key, "=", option].concat())
                    .before("sweep-check", word(option)))
            }
        }
    }
}

/// Values that a knob takes, if these aren't plain numbers.
fn hint(kind: Option<Kind>) -> Markup {
    let text = match kind {
        Some(Kind::Subset(names)) => format!("lists of {}, or none", names.join(", ")),
        Some(Kind::Choice(names)) => format!("of {}", names.join(", ")),
        _ => return Markup::default(),
    };
    html! { span.muted.build-hint { (text) } }
}

fn metric_options(now: &str) -> Markup {
    let of = |is_serving: bool| {
        let all = MetricId::ALL.iter().filter(|it| (it.regime() == Regime::Serving) == is_serving);
        options(all.map(|it| (it.metric().name, it.metric().label)), now)
    };
    html! { (option_group("Training", &of(false))) (option_group("Serving", &of(true))) }
}

/// Part of the objectives.
fn objectives(spec: &Tree, problems: &[Problem]) -> Markup {
    let all = texts(spec, "objectives");
    let ways = [("max", "highest"), ("min", "lowest")];
    let metrics = |name: &str| {
        html! {
            @if MetricId::find(name).is_none() { (option("", name, true)) }
            (metric_options(name))
        }
    };
    let more = || html! { (option("", "choose…", false)) (metric_options("")) };
    let content = html! {
        @for (place, text) in all.iter().enumerate() {
            @let (name, goal) = text.trim().rsplit_once(' ').unwrap_or((text, "max"));
            @let at = place.to_string();
            div.build-row {
                (list("goal", &at, options(ways, goal)).named("Which way"))
                (list("metric", &at, metrics(name)).named("Metric"))
                @if all.len() > 1 {
                    (remove_button("no-goal", &at, &numbered("Remove objective", place)))
                }
            }
        }
        @if all.len() < MAX_OBJECTIVES {
            div.build-row { (list("add-goal", "", more()).within("Another")) }
        }
        (wrong(problems, &["/objectives", "/columns"]))
    };
    let about = "The first ranks the designs. The Pareto front: no other design is better in every \
                 objective.";
    part("Objectives", &html! { (about) }, &content)
}

/// Constraints.
fn constraints(spec: &Tree, problems: &[Problem]) -> Markup {
    let all = texts(spec, "constraints");
    let rule = |place: usize, text: &str, label: &str, hint: &str| {
        let rule = typed("text", "rule", &place.to_string()).set("placeholder", hint);
        rule.named(&numbered(label, place)).value(text)
    };
    let content = html! {
        @for (place, text) in all.iter().enumerate() {
            div.build-row {
                (rule(place, text, "Constraint", ""))
                (remove_button(
                    "no-rule",
                    &place.to_string(),
                    &numbered("Remove constraint", place),
                ))
            }
        }
        div.build-row { (rule(all.len(), "", "Another constraint", "another constraint")) }
        (wrong(problems, &["/constraints"]))
    };
    let about = html! {
        "In addition to the model's own rules, such as " code { "fits" } ", "
        code { "mfu >= 0.2" } ", " code { "params_total <= 750e9" } " or "
        code { "hidden_size % 256 == 0" } "."
    };
    part("Constraints", &about, &content)
}

/// Part of the sampling: which designs are taken, and the number that is kept.
fn sampling(spec: &Tree, problems: &[Problem]) -> Markup {
    const METHODS: [(&str, &str); 4] = [
        ("grid", "every design"),
        ("random", "a random sample"),
        ("lhs", "a Latin hypercube (each value equally often)"),
        ("refine", "successive refinement (a fourth at random, then near the best)"),
    ];
    const REFINED: &str = "For spaces too large to enumerate: finds good designs with few \
                           evaluations. Its statistics of a knob's values describe the region \
                           around these, not the whole space.";
    let method = at(spec, &["sampling", "method"]).map_or("grid".to_owned(), shown);
    let sample = spec.get("sample").map_or("1000".to_owned(), shown);
    let number = |key: &str, label: &str| {
        let value = at(spec, &["sampling", key]).map(shown).unwrap_or_default();
        field("number", key, "", label, &value)
    };
    let content = html! {
        div.build-row {
            (list("method", "", options(METHODS, &method)).within("Take"))
            @if method != "grid" {
                (number("count", "number of designs"))
                (number("seed", "seed"))
            }
        }
        @if method == "refine" { p.muted { (REFINED) } }
        div.build-row {
            (field("number", "sample", "", "Random sample kept for the charts, designs", &sample))
        }
        (wrong(problems, &["/sampling", "/sample", "/top", "/resolution"]))
    };
    part("How many", &html! { "The whole space, or a sample if it is too large." }, &content)
}
