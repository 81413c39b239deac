//! The numbers that one types in. Without a script it is a plain form.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use model::ground::choice::{Choice, Method};
use present::page::schedule::input::{Field, Kind};
use present::page::schedule::{methods, query};
use present::site::Page;

use super::state::State;

/// The whole form.
pub(super) fn form(state: State) -> impl IntoView {
    let group = move || {
        let input = state.input();
        methods::takes_any_chunks(input.method) || input.group.is_some()
    };
    view! {
        <form class="card schedule-form" action=Page::Schedule.path() method="get" novalidate
            aria-label="Schedule and task times"
            on:submit=|event: ev::SubmitEvent| event.prevent_default()
        >
            <fieldset>
                <legend>"Schedule"</legend>
                {method(state)}
                {boxes(state, &[Field::Stages, Field::Chunks, Field::MicroBatches])}
                <div hidden=move || !group()>{number(state, Field::Group)}</div>
            </fieldset>
            <fieldset>
                <legend>"Task times"</legend>
                <p class="muted">
                    "Of a whole stage for one micro-batch; each of v chunks takes 1/v of it."
                </p>
                {boxes(state, &[
                    Field::Forward,
                    Field::BackwardInput,
                    Field::BackwardWeight,
                    Field::ForwardBackward,
                    Field::P2p,
                ])}
            </fieldset>
            <fieldset>
                <legend>"Unequal stages"</legend>
                {boxes(state, &[Field::SlowStage, Field::SlowFactor])}
            </fieldset>
            <button type="submit" class="button primary only-plain">"Simulate"</button>
            <a id="example" class="button" href=Page::Schedule.path()>"Back to the example"</a>
        </form>
    }
}

fn boxes(state: State, fields: &'static [Field]) -> impl IntoView {
    fields.iter().map(|field| number(state, *field)).collect::<Vec<_>>()
}

fn method(state: State) -> impl IntoView {
    let now = move || state.input().method;
    let first = untrack(now);
    let options: Vec<_> = Method::ALL
        .iter()
        .map(|method| {
            view! {
                <option value=method.name() selected=*method == first>
                    {methods::about(*method).name}
                </option>
            }
        })
        .collect();
    let pick = move |event| {
        if let Some(method) = Method::from_name(&event_target_value(&event)) {
            let input = untrack(|| state.input());
            state.ask(input.with_method(method));
        }
    };
    view! {
        <div class="schedule-field">
            <label for="method">"Method"</label>
            <select
                class="select"
                id="method"
                name=query::METHOD
                autocomplete="off"
                prop:value=move || now().name()
                on:change=pick
            >
                {options}
            </select>
        </div>
    }
}

/// Placeholder of an empty box: the default of its field.
fn placeholder(state: State, field: Field) -> String {
    let input = state.input();
    match field {
        Field::Chunks => methods::usual_chunks(input.method).to_string(),
        Field::Group => input.stages.to_string(),
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

fn number(state: State, field: Field) -> impl IntoView {
    let node = NodeRef::<html::Input>::new();
    let text = Memo::new(move |_| state.text(field));
    // Not an attribute: it must also follow when the box holds something refused, and never while
    // what is typed says the same.
    Effect::new(move || {
        let text = text.get();
        if let Some(input) = node.get()
            && !field.same(&input.value(), &text)
        {
            input.set_value(&text);
        }
    });
    let typed = move |_| {
        if let Some(input) = node.get_untracked() {
            if input.validity().bad_input() {
                state.write_nonsense(field);
            } else {
                state.write(field, &input.value());
            }
        }
    };
    let step = move |event: ev::KeyboardEvent| {
        let up = match event.key().as_str() {
            "ArrowUp" => true,
            "ArrowDown" => false,
            _ => return,
        };
        event.prevent_default();
        if let Some(next) = untrack(|| state.input()).stepped(field, up) {
            state.write(field, &next);
        }
    };
    let is_count = !matches!(field.kind(), Kind::Real { .. });
    let problem_id = format!("{}-problem", field.key());
    let problem = move || state.refused(field).map(|message| format!("This {message}."));
    view! {
        <div class="schedule-field">
            <label for=field.key()>{field.label()}</label>
            <input
                type="number"
                inputmode=if is_count { "numeric" } else { "decimal" }
                class="number-box"
                id=field.key()
                name=field.key()
                node_ref=node
                autocomplete="off"
                step=if is_count { "1" } else { "any" }
                value=text.get_untracked()
                placeholder=move || placeholder(state, field)
                aria-invalid=move || if state.is_wrong(field) { "true" } else { "false" }
                aria-describedby=problem_id.clone()
                on:input=typed
                on:keydown=step
            />
            <p class="schedule-problem" id=problem_id>{problem}</p>
        </div>
    }
}
