//! The chapter on frameworks: what each refuses, with the assertion, and what its arguments say.

use model::design::{Design, KnobId};
use model::ground::choice::{Choice, Framework};
use model::ground::knob::{Kind, Value};
use model::rules::vocabulary::{TOLD, Vocabulary, title};
use model::rules::{Rule, caution_rules, rules};

use crate::{keep_part, row, table};

const FRAMEWORKS: [Framework; 4] =
    [Framework::Megatron, Framework::Mindspeed, Framework::Deepspeed, Framework::Fsdp];

#[test]
fn every_rule_of_a_framework_is_in_the_guide_with_its_assertion() {
    let mut text = String::new();
    for framework in FRAMEWORKS {
        let own: Vec<&Rule> = rules().iter().filter(|rule| is_of(rule, framework)).collect();
        assert!(!own.is_empty(), "{}", framework.name());
        text.push_str(&format!("### {}\n\n{}\n", title(framework), of_rules(&own)));
    }
    keep_part("docs/guide/frameworks.md", "rules", &text);
    let cautions: Vec<&Rule> = caution_rules().iter().collect();
    keep_part("docs/guide/frameworks.md", "cautions", &of_rules(&cautions));
}

fn is_of(rule: &Rule, framework: Framework) -> bool {
    rule.assertion().is_some_and(|assertion| assertion.frameworks.contains(&framework))
}

/// Rules as a table: what holds, the knobs, the check.
fn of_rules(rules: &[&Rule]) -> String {
    let mut rows = vec![row(["Rule", "Knobs", "Its check", "It says"])];
    for rule in rules {
        let assertion = rule.assertion().unwrap();
        let knobs: Vec<String> =
            rule.knobs.iter().map(|id| format!("`{}`", id.knob().name)).collect();
        let file = assertion.place;
        rows.push(row([
            format!("`{}`", rule.name),
            knobs.join(", "),
            format!("[`{file}`]({})", assertion.source.url),
            format!("`{}`", assertion.quote),
        ]));
    }
    table(&rows)
}

#[test]
fn what_arguments_can_say_is_in_the_guide() {
    let mut rows = vec![row(["Knob"])];
    rows[0]
        .extend(FRAMEWORKS.map(|framework| format!("[{}]({})", title(framework), code(framework))));
    for knob in TOLD.iter() {
        let mut cells = vec![format!("[`{0}`](knobs.md#{0})", knob.knob().name)];
        cells.extend(FRAMEWORKS.map(|framework| said(framework, knob)));
        rows.push(cells);
    }
    keep_part("docs/guide/frameworks.md", "words", &table(&rows));
}

/// Address of a framework's code: the source of a rule that holds for it alone.
fn code(framework: Framework) -> &'static str {
    let mut assertions = rules().iter().filter_map(Rule::assertion);
    assertions.find(|it| it.frameworks == [framework]).unwrap().source.url
}

/// Values of a knob that a framework can be given, for a model with experts on one stage and on
/// several.
fn said(framework: Framework, knob: KnobId) -> String {
    let says = |stages: u64, chunks: u64, value: &Value| {
        let mut design = Design::from_preset("deepseek-v3").unwrap();
        design.kernel.framework = framework;
        design.parallel.pipeline_model_parallel_size = stages;
        design.parallel.virtual_pipeline_model_parallel_size = chunks;
        design.memory.recompute_granularity =
            model::ground::choice::RecomputeGranularity::Selective;
        if matches!(knob, KnobId::recompute_num_layers) {
            design.memory.recompute_granularity = model::ground::choice::RecomputeGranularity::Full;
            design.memory.recompute_method = model::ground::choice::RecomputeMethod::Block;
        }
        design.set(knob, value).unwrap();
        Vocabulary::of(&design).says(&design, knob)
    };
    let [one, some, chunked] = [(1, 1), (4, 1), (4, 2)]
        .map(|(stages, chunks)| move |value: &Value| says(stages, chunks, value));
    let values: Vec<Value> = match knob.knob().kind {
        Kind::Flag => vec![Value::Flag(true)],
        Kind::Choice(names) => names.iter().map(|name| Value::Text((*name).to_owned())).collect(),
        Kind::Subset(names) => {
            names.iter().map(|name| Value::List(vec![Value::Text((*name).to_owned())])).collect()
        }
        Kind::Layout => vec![Value::Text("Et*15|t*15|t*15|t*16mL".to_owned())],
        Kind::PerStage(_) => {
            let each = [2, 2, 2, 4].map(Value::Integer).to_vec();
            vec![Value::Integer(2), Value::List(each)]
        }
        Kind::PositionList(_) => vec![Value::List(vec![Value::Integer(62)])],
        _ => vec![Value::Integer(2)],
    };
    let with = |value: &Value| [one(value), some(value), chunked(value)];
    let told: Vec<(Value, [bool; 3])> =
        values.into_iter().map(|value| (value.clone(), with(&value))).collect();
    if told.iter().all(|(_, said)| said.iter().all(|it| *it)) {
        return "yes".to_owned();
    }
    if told.iter().all(|(_, said)| said.iter().all(|it| !*it)) {
        return "no".to_owned();
    }
    let name = |value: &Value| match value {
        Value::Flag(_) => "yes".to_owned(),
        Value::List(many) if many.len() > 1 => "one for each stage".to_owned(),
        Value::Integer(_) => "one for all stages".to_owned(),
        other => format!("`{other}`"),
    };
    let shown =
        told.iter().filter(|(_, said)| said.iter().any(|it| *it)).map(|(value, said)| match said {
            [true, false, false] => format!("{} (one stage)", name(value)),
            [false, false, true] => format!("{} (with chunks)", name(value)),
            _ => name(value),
        });
    shown.collect::<Vec<_>>().join(", ")
}
