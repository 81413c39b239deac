//! The form of the page, which only the server writes: the numbers that one types in.

use maud::{Markup, html};
use model::ground::choice::{Choice, Method};

use super::input::{Field, Input, Kind};
use super::run::Refusal;
use super::{methods, query};
use crate::form::knob::{choice, field};
use crate::form::{group, input, options};
use crate::site::Page;

/// Content of the form.
#[must_use]
pub fn html(asked: &Input, refusal: Option<&Refusal>) -> String {
    let boxes = |fields: &[Field]| html! { @for it in fields { (number(asked, *it, refusal)) } };
    let methods = Method::ALL.iter().map(|it| (it.name(), methods::about(*it).name));
    let schedule = html! {
        (choice(query::METHOD, "Method", options(methods, asked.method.name())))
        (boxes(&[Field::Stages, Field::Chunks, Field::MicroBatches]))
        div.schedule-group hidden[!has_groups(asked)] { (number(asked, Field::Group, refusal)) }
    };
    let times = html! {
        p.muted { "Of a whole stage for one micro-batch; each of v chunks takes 1/v of it." }
        (boxes(&[
            Field::Forward,
            Field::BackwardInput,
            Field::BackwardWeight,
            Field::ForwardBackward,
            Field::P2p,
        ]))
    };
    let markup = html! {
        (group("", "Schedule", &schedule))
        (group("", "Task times", &times))
        (group("", "Unequal stages", &boxes(&[Field::SlowStage, Field::SlowFactor])))
        button.button.primary.only-plain type="submit" { "Simulate" }
        a #example.button href=(Page::Schedule.path()) { "Back to the example" }
    };
    markup.into_string()
}

fn number(asked: &Input, of: Field, refusal: Option<&Refusal>) -> Markup {
    let is_count = !matches!(of.kind(), Kind::Real { .. });
    let (mode, step) = if is_count { ("numeric", "1") } else { ("decimal", "any") };
    let control =
        input("number").set("class", "number-box").set("inputmode", mode).set("step", step);
    let control = control.value(&asked.get(of)).set("placeholder", &placeholder(asked, of));
    let is_wrong = refusal.is_some_and(|it| it.problems.iter().any(|it| it.field == of));
    field(control, of.key(), of.label(), is_wrong)
}

/// Whether micro-batches may be grouped.
#[must_use]
pub fn has_groups(asked: &Input) -> bool {
    methods::takes_any_chunks(asked.method) || asked.group.is_some()
}

/// Placeholder of an empty box: the default of its field.
#[must_use]
pub fn placeholder(asked: &Input, field: Field) -> String {
    match field {
        Field::Chunks => methods::usual_chunks(asked.method).to_string(),
        Field::Group => asked.stages.to_string(),
        Field::ForwardBackward => "F + B".to_owned(),
        Field::SlowStage => "none".to_owned(),
        Field::Stages
        | Field::MicroBatches
        | Field::Forward
        | Field::BackwardInput
        | Field::BackwardWeight
        | Field::P2p
        | Field::SlowFactor => String::new(),
    }
}
