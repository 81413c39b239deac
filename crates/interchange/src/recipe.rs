//! Recipes in Python: Megatron-Bridge's and NeMo's functions that fill in a configuration.
//!
//! Nothing is run. Of the first function that makes a configuration the assignments are read, after
//! those of the functions that it begins with; so are arguments of calls that stand by their names.

use std::collections::BTreeMap;

use crate::arguments::{Argument, spelled};
use crate::draft::{Draft, Question};

/// Functions that begin with one another, at most.
const MAX_DEPTH: u32 = 16;

/// Whether a text is Python.
pub(crate) fn is_python(text: &str) -> bool {
    let is_one = |line: &str| {
        (line.starts_with("def ") && line.trim_end().ends_with(':'))
            || (line.starts_with("from ") && line.contains(" import "))
    };
    text.lines().any(is_one)
}

/// A line of a function, with its number.
type Line<'a> = (u64, &'a str);

/// The arguments that a recipe gives.
pub(crate) fn arguments(text: &str, draft: &mut Draft) -> Vec<Argument> {
    let words = constants(text);
    let mut made = of_functions(text, draft);
    // A model is named by a constant of the file, or by the default of a function.
    for argument in made.iter_mut().filter(|it| it.name == "model") {
        for value in &mut argument.values {
            if let Some(word) = words.get(value.as_str()) {
                *value = (*word).to_owned();
            }
        }
    }
    made
}

/// Words that stand behind a name: `HF_MODEL = "org/name"`, `hf_path: str = "org/name"`.
fn constants(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let found = lines.filter_map(|(before, value)| {
        let name = before.split(':').next().unwrap_or(before).trim();
        let value = value.trim();
        let quote = value.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
        let word = value.get(1..)?.split(quote).next()?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        (!name.is_empty() && name.chars().all(is_name)).then_some((name, word))
    });
    found.collect()
}

/// Calls whose first argument names a model on the hub.
///
/// Sources: NVIDIA-NeMo/Megatron-Bridge, `src/megatron/bridge/models/conversion/auto_bridge.py`;
/// mbridge, `mbridge/core/auto_bridge.py`.
const BRIDGES: [&str; 2] = ["AutoBridge.from_hf_pretrained(", "AutoBridge.from_pretrained("];

/// The model that a line's call names: `AutoBridge.from_hf_pretrained("org/name")`,
/// `llm.llama3_70b.pretrain_recipe(..)` of NeMo.
fn model_of_call(code: &str) -> Option<String> {
    let behind = BRIDGES.iter().find_map(|call| code.split_once(call)).map(|(_, rest)| rest);
    if let Some(word) = behind.and_then(|rest| rest.split([',', ')']).next()) {
        let word = word.trim();
        let word = word.split_once('=').map_or(word, |(_, word)| word.trim());
        return Some(word.trim_matches(['"', '\'']).to_owned()).filter(|word| !word.is_empty());
    }
    let call = ["pretrain_recipe(", "finetune_recipe("];
    let before = call.iter().find_map(|call| code.split_once(call)).map(|(before, _)| before)?;
    let path = before.strip_suffix('.')?;
    let path =
        path.rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).next()?;
    path.contains('.').then(|| path.rsplit('.').next().unwrap_or(path).to_owned())
}

/// Ends of the names of Megatron-Bridge's recipes.
const RECIPES: [&str; 4] = ["_pretrain_config", "_finetune_config", "_sft_config", "_peft_config"];

/// The recipe that a line takes: `config = llama32_1b_pretrain_config(..)`.
fn recipe_of_call(code: &str) -> Option<&str> {
    let (_, value) = code.split_once('=')?;
    let (called, _) = value.trim().split_once('(')?;
    let is_name = called.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && RECIPES.iter().any(|end| called.ends_with(end))).then_some(called)
}

fn of_functions(text: &str, draft: &mut Draft) -> Vec<Argument> {
    let functions = functions(text);
    let names: Vec<&str> = functions.iter().map(|(name, _)| *name).collect();
    // A recipe of the file itself is read, and says what it sets.
    let is_foreign = |argument: &Argument| {
        let is_own = |name: &String| names.contains(&name.as_str());
        argument.name != "recipe" || !argument.values.iter().any(is_own)
    };
    let recipes: Vec<&str> = names.iter().copied().filter(|name| is_recipe(name)).collect();
    let asked = draft.answers.variables.get("RECIPE").cloned();
    let chosen = asked.as_deref().and_then(|name| names.iter().copied().find(|n| *n == name));
    let Some(entry) = chosen.or_else(|| recipes.first().copied()).or(names.first().copied()) else {
        let lines: Vec<Line<'_>> = (1..).zip(text.lines()).collect();
        return lines.iter().flat_map(|(number, line)| of_line(line, *number)).collect();
    };
    if recipes.len() > 1 && chosen.is_none() {
        let few: Vec<&str> = recipes.iter().take(4).copied().collect();
        draft.ask(Question {
            name: "env RECIPE".to_owned(),
            line: functions
                .iter()
                .find(|(name, _)| *name == entry)
                .map_or(0, |(_, b)| b.first().map_or(0, |(number, _)| *number)),
            file: None,
            purpose: format!("the file has {} recipes: {}, ..", recipes.len(), few.join(", ")),
            guess: Some(entry.to_owned()),
            follows: "everything".to_owned(),
        });
    }
    let by_name: BTreeMap<&str, &Vec<Line<'_>>> =
        functions.iter().map(|(name, body)| (*name, body)).collect();
    let mut made = vec![];
    let line = by_name.get(entry).and_then(|body| body.first()).map_or(0, |(number, _)| *number);
    made.extend(of_name(entry, line));
    collect(entry, &by_name, &mut made, draft, 0);
    // The last assignment counts, and earlier ones are nothing that a reader misses.
    let mut last: Vec<Argument> = vec![];
    for argument in made.into_iter().rev() {
        if last.iter().all(|kept| kept.name != argument.name) {
            last.push(argument);
        }
    }
    last.reverse();
    last.retain(is_foreign);
    last
}

fn is_recipe(name: &str) -> bool {
    name.ends_with("_config") || name.ends_with("_recipe") || name.contains("pretrain")
}

/// The functions of a text, with the lines of their bodies; the first is that of their names.
fn functions(text: &str) -> Vec<(&str, Vec<Line<'_>>)> {
    let mut found: Vec<(&str, Vec<Line<'_>>)> = vec![];
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(rest) = line.strip_prefix("def ") {
            let name = rest.split('(').next().unwrap_or_default();
            found.push((name, vec![(number, line)]));
        } else if line.starts_with([' ', '\t']) || line.trim().is_empty() {
            if let Some((_, body)) = found.last_mut() {
                body.push((number, line));
            }
        } else if !line.starts_with([')', ']', '}']) {
            // What stands outside ends a function.
            found.push(("", vec![]));
        }
    }
    found.retain(|(name, body)| !name.is_empty() && !body.is_empty());
    found
}

fn collect(
    name: &str,
    functions: &BTreeMap<&str, &Vec<Line<'_>>>,
    made: &mut Vec<Argument>,
    draft: &mut Draft,
    depth: u32,
) {
    let goes_on = depth < MAX_DEPTH && made.len() < 4_000 && (0..10).all(|_| draft.follow());
    let Some(body) = functions.get(name).filter(|_| goes_on) else {
        return;
    };
    let joined = joined(body);
    for (number, line) in &joined {
        let line = line.as_str();
        if let Some((_, value)) = line.split_once('=') {
            let called = value.trim().split('(').next().unwrap_or_default();
            if value.contains('(') && functions.contains_key(called) && called != name {
                collect(called, functions, made, draft, depth + 1);
            }
        }
        made.extend(of_line(line, *number));
    }
}

/// The lines of a function behind its name, those of a list of lists as one.
fn joined(body: &[Line<'_>]) -> Vec<(u64, String)> {
    let mut made: Vec<(u64, String)> = vec![];
    let mut open = 0_i64;
    for (number, line) in body.iter().skip(1) {
        let code = line.split(" #").next().unwrap_or(line);
        let begins = code.trim_end().ends_with("[[") || {
            let is_named = code.contains("_layout =") || code.contains("_model_part =");
            is_named && code.trim_end().ends_with('[')
        };
        let deeper = code.matches('[').count() as i64 - code.matches(']').count() as i64;
        match made.last_mut().filter(|_| open > 0) {
            Some((_, whole)) => {
                whole.push_str(code.trim());
                open += deeper;
            }
            None => {
                made.push((*number, (*line).to_owned()));
                open = if begins { deeper } else { 0 };
            }
        }
    }
    made
}

/// Arguments from a recipe's name: the model, and the number of devices.
fn of_name(name: &str, line: u64) -> Vec<Argument> {
    let mut made =
        vec![Argument { name: "run-name".to_owned(), values: vec![name.to_owned()], line }];
    let world = name.split('_').find_map(|word| {
        word.strip_suffix("gpus").or_else(|| word.strip_suffix("gpu"))?.parse::<u64>().ok()
    });
    if let Some(world) = world {
        let values = vec![world.to_string()];
        made.push(Argument { name: "world-size".to_owned(), values, line });
    }
    made
}

/// `cfg.model.x = 8`, `x=8,`, and a layout that is handed to a function.
fn of_line(line: &str, number: u64) -> Vec<Argument> {
    let code = line.trim();
    if code.starts_with('#') || code.starts_with('"') {
        return vec![];
    }
    if let Some(recipe) = recipe_of_call(code) {
        let values = vec![recipe.to_owned()];
        let mut made = vec![Argument { name: "recipe".to_owned(), values, line: number }];
        let inner = code.split_once('(').map_or("", |(_, inner)| inner);
        made.extend(inner.split(", ").filter_map(|piece| of_piece(piece, number)));
        return made;
    }
    if let Some(model) = model_of_call(code) {
        let mut made =
            vec![Argument { name: "model".to_owned(), values: vec![model], line: number }];
        // NeMo's call takes the cluster, too.
        let inner = code.split_once("_recipe(").map_or("", |(_, inner)| inner);
        made.extend(inner.split(", ").filter_map(|piece| of_piece(piece, number)));
        return made;
    }
    if code.contains("pipeline_model_parallel_layout(")
        && let Some(layout) = code.split('"').nth(1)
    {
        let name = "pipeline-model-parallel-layout".to_owned();
        return vec![Argument { name, values: vec![layout.to_owned()], line: number }];
    }
    let inner = code.split_once('(').map_or(code, |(before, inner)| {
        // Of a call the arguments count; a bracket behind `=` only groups.
        let calls = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if calls && before.contains('=') && !before.contains('.') { inner } else { code }
    });
    let pieces: Vec<&str> =
        if inner.contains('[') { vec![inner] } else { inner.split(", ").collect() };
    pieces.iter().filter_map(|piece| of_piece(piece, number)).collect()
}

fn of_piece(piece: &str, line: u64) -> Option<Argument> {
    // `train=TrainingConfig(global_batch_size=8`, of which the inner one is an argument.
    let inner = piece.rsplit_once('(').filter(|(before, inner)| {
        let calls = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        calls && before.contains('=') && inner.contains('=') && !before.contains("precision")
    });
    let piece = inner.map_or(piece, |(_, inner)| inner);
    let (path, value) = piece.split_once('=')?;
    let path = path.trim();
    let is_path = path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    if path.is_empty() || !is_path || value.starts_with('=') {
        return None;
    }
    let value = closed(value.split(" #").next().unwrap_or(value).trim());
    let name = path.split_once('.').map_or(path, |(_, rest)| rest);
    // Stages as lists stay one value.
    if value.starts_with("[[") && (name.ends_with("_layout") || name.ends_with("_model_part")) {
        return Some(Argument { name: spelled(name), values: vec![value.to_owned()], line });
    }
    let words: Vec<String> = match value.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
        Some(list) => list.split(',').map(literal).collect(),
        None => vec![literal(value)],
    };
    if let Some(word) = constant(value) {
        return Some(Argument { name: spelled(name), values: vec![word.to_owned()], line });
    }
    // Anything that is computed is no value.
    let computed = |word: &&str| {
        let word = word.trim();
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let is_literal = matches!(word, "True" | "False" | "None");
        // A bracket in front groups; one behind a name calls it.
        let groups = word.starts_with(['"', '\'', '(', '[']);
        (is_name && !is_literal) || (word.contains('(') && !groups)
    };
    let written: Vec<&str> = match value.strip_prefix('[').and_then(|v| v.strip_suffix(']')) {
        Some(list) => list.split(',').collect(),
        None => vec![value],
    };
    if written.iter().any(computed) {
        return argument_of_call(name, value, line);
    }
    Some(Argument { name: spelled(name), values: words, line })
}

/// A value without the comma and the brackets that close what stands around it.
fn closed(value: &str) -> &str {
    let mut value = value.trim_end_matches(',');
    let more = value.matches(')').count().saturating_sub(value.matches('(').count());
    for _ in 0..more {
        value = value.strip_suffix(')').unwrap_or(value).trim_end_matches(',');
    }
    value
}

/// Constants of libraries by the words that they are here: `torch.bfloat16`, `AttnBackend.unfused`.
pub(crate) const CONSTANTS: [(&str, &str); 7] = [
    ("torch.bfloat16", "bf16"),
    ("torch.float16", "fp16"),
    ("torch.half", "fp16"),
    ("torch.float32", "fp32"),
    ("torch.float", "fp32"),
    ("torch.uint8", "fp8"),
    ("AttnBackend.unfused", "unfused"),
];

fn constant(value: &str) -> Option<&'static str> {
    CONSTANTS.iter().find(|(theirs, _)| *theirs == value).map(|(_, word)| *word)
}

/// `mixed_precision = _precision("bf16")` says its argument.
fn argument_of_call(name: &str, value: &str, line: u64) -> Option<Argument> {
    let word = value.split('"').nth(1).filter(|_| name.contains("precision"))?;
    Some(Argument { name: spelled(name), values: vec![word.to_owned()], line })
}

fn literal(word: &str) -> String {
    let word = word.trim().trim_matches(['"', '\'']);
    match word {
        "None" => "null",
        "True" => "true",
        "False" => "false",
        other => other,
    }
    .to_owned()
}
