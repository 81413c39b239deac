//! Fields of a form that asks for numbers beside what they come to, as the server writes them; in
//! the browser they follow the page's state.

use maud::{Markup, Render, html};
use model::design::violation::Violation;
use model::design::{Design, KnobId};
use model::ground::knob::{Kind, Value};

use super::{Control, group, input, options, select};
use crate::words::name;

/// The id of the element that says why a field's text is refused.
#[must_use]
pub fn problem_id(field: &str) -> String {
    [field, "-problem"].concat()
}

/// A field that is sent by its id: label, control, and the place of the reason why it is refused.
#[must_use]
pub fn field(control: Control, id: &str, label: impl Render, is_wrong: bool) -> Markup {
    let problem = problem_id(id);
    let control = control.id(id).name(id).set("aria-describedby", &problem);
    let control = control.set("aria-invalid", if is_wrong { "true" } else { "false" });
    html! {
        div.schedule-field { (control.labelled(label)) p.schedule-problem id=(problem) {} }
    }
}

/// A field whose list takes every choice that it offers.
#[must_use]
pub fn choice(id: &str, label: &str, entries: Markup) -> Markup {
    let list = select(entries).set("class", "select").id(id).name(id);
    html! { div.schedule-field { (list.labelled(label)) } }
}

/// Text of a knob's value in its box.
#[must_use]
pub fn text(value: &Value) -> String {
    match value {
        Value::None => String::new(),
        // Tokens: more zeros than anyone counts.
        Value::Real(number) if *number >= 1e9 => format!("{number:e}"),
        Value::Flag(_) | Value::Integer(_) | Value::Real(_) | Value::Text(_) | Value::List(_) => {
            value.to_string()
        }
    }
}

/// Knobs of a design and the rules that it breaks, as fields.
#[derive(Clone, Copy, Debug)]
pub struct Knobs<'a> {
    /// The design.
    pub design: &'a Design,
    /// Broken rules.
    pub broken: &'a [Violation],
    /// HTML's type of a box: `number` or `text`.
    pub kind: &'static str,
}

impl Knobs<'_> {
    /// Fields under what they are about.
    #[must_use]
    pub fn group(&self, title: &str, ids: &[KnobId]) -> Markup {
        group("", title, &self.fields(ids))
    }

    /// Fields.
    #[must_use]
    pub fn fields(&self, ids: &[KnobId]) -> Markup {
        html! { @for id in ids { (self.field(*id)) } }
    }

    /// A knob with its box or its list.
    fn field(&self, id: KnobId) -> Markup {
        let knob = id.knob();
        let now = text(&self.design.get(id));
        let control = match choices(knob.kind) {
            Some(names) => {
                let names = names.iter().map(|(value, text)| (*value, text.as_str()));
                select(options(names, &now)).set("class", "select")
            }
            None => {
                let is_optional =
                    matches!(knob.kind, Kind::OptionalInteger(..) | Kind::OptionalReal(..));
                let step = if self.kind == "number" { "any" } else { "" };
                let input = input(self.kind).set("class", "number-box").set("inputmode", "decimal");
                let input = input.set_some("step", step).value(&now);
                input.set("placeholder", if is_optional { "none" } else { "" })
            }
        };
        // Not where the label says it.
        let has_unit = !knob.unit.is_empty() && !knob.label.ends_with(knob.unit);
        let label = html! {
            (knob.label) @if has_unit { " " span.unit { (knob.unit) } }
        };
        let is_wrong = self.broken.iter().any(|rule| rule.knobs.contains(&id));
        field(control, &knob.id(), label, is_wrong)
    }
}

/// The values of a list with their names; `None` if a number is typed.
#[expect(clippy::wildcard_enum_match_arm, reason = "all other kinds are typed")]
fn choices(kind: Kind) -> Option<Vec<(&'static str, String)>> {
    match kind {
        Kind::Choice(names) => {
            let named = |it: &'static str| (it, name::value(it).unwrap_or_else(|| it.to_owned()));
            Some(names.iter().map(|it| named(it)).collect())
        }
        Kind::Flag => Some(vec![("true", "on".to_owned()), ("false", "off".to_owned())]),
        _ => None,
    }
}
