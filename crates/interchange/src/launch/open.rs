//! Values that nothing in the text sets: variables, positional arguments, commands' output.

use model::design::KnobId;

use super::named;
use super::parts::{cut, knob_of};
use crate::draft::{Draft, Question};
use crate::flags::{Effect, Flag};
use crate::tree;

/// Asks for what a value is made of.
pub(super) fn ask(flag: Flag, value: &str, key: &str, line: u64, draft: &mut Draft) {
    if named::NAMES.contains(&flag.name) && draft.model.is_some() {
        return draft.ignore(key, line, "the model's name is enough");
    }
    let knob = match flag.effect {
        Effect::Value(knob) | Effect::Name(knob, _) | Effect::Presence(knob, _) => Some(knob),
        Effect::Together => knob_of(flag.name),
        Effect::Nothing(_) => None,
    };
    if knob.is_some_and(|knob| draft.answers.knob(knob).is_some()) {
        return draft.ignore(key, line, "answered by --set");
    }
    let told = match flag.name {
        "nnodes" => draft.job.nodes.as_ref(),
        "nproc-per-node" => draft.job.per_node.as_ref(),
        _ => None,
    };
    if let Some(told) = told {
        let detail = format!(
            "{key} is `{}`, which nothing sets: {}, as {} says (line {})",
            cut(value),
            told.value,
            told.key,
            told.line
        );
        return draft.assume(Some(KnobId::num_devices), detail);
    }
    // Nodes are no devices.
    let counts = matches!(flag.name, "nnodes" | "nproc-per-node" | "worker-num");
    let guess = knob.filter(|_| !counts).map(|knob| draft.design.get(knob).to_string());
    let purpose = format!("{key} is `{}`: nothing in the text sets it", cut(value));
    let names = variables(value);
    if let ([], Some(knob)) = (names.as_slice(), knob) {
        let follows = knob.knob().label.to_owned();
        return draft.ask(Question { name: knob.id(), line, file: None, purpose, guess, follows });
    }
    draft.open.extend(knob);
    for name in &names {
        // A product of several has no single guess.
        let own = guess.clone().filter(|_| names.len() == 1 && value.starts_with("${"));
        let mut question = tree::variable(name, line, &purpose, own);
        if let Some(knob) = knob {
            question.follows = knob.knob().label.to_owned();
        }
        draft.ask(question);
    }
    if names.is_empty() {
        draft.ignore(key, line, "a command's output, which isn't known");
    }
}

/// The names of `${NAME}` in a text.
fn variables(text: &str) -> Vec<String> {
    let parts = text.split("${").skip(1);
    let names = parts.map(|part| {
        part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>()
    });
    let mut found: Vec<String> = vec![];
    for name in names.filter(|name| !name.is_empty()).take(8) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
