//! The schemas of what is asked and answered, from the types that are read and written.

use model::design::file::{Tree, json};
use operations::budget::{Budgeted, Input as BudgetPair};
use operations::find::{FoundAnswer, Input as FindQuery};
use operations::infer::LayoutsOfDesign;
use operations::predict::{Input as Batch, Predictions};
use reports::experts::ExpertsSaid;
use reports::imported::Imported;
use reports::inferred::Inferred;
use reports::registry::{Knobs, Metrics, Presets};
use review::Room;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use sweep::SpecKeys;
use validation::own::Calibration;
use validation::report::Validation;
use validation::report::serving::ServingValidation;

use crate::answers::validated::Sent;
use crate::designs::StoredDesigns;
use crate::designs::bodies::StoreDesign;
use crate::jobs::reviews;
use crate::jobs::sweeps::{Standing, Started, SweepAnswer, Sweeps};
use crate::net::problem::ProblemBody;
use crate::store::traces::TraceSummary;

/// Every schema by its name. What is written in full may be read with less: then what is asked has
/// a name of its own.
pub(super) fn bodies() -> Vec<(String, Tree)> {
    let (answers, requests) = (answers(), requests());
    let is_same = |name: &str, asked: &Value| {
        answers.get(name) == Some(asked) && !asked.to_string().contains("\"$ref\"")
    };
    let other = requests.iter().filter(|(name, asked)| !is_same(name, asked));
    let other: Vec<(&String, String)> =
        other.map(|(name, asked)| (name, asked.to_string())).collect();
    let shared: Vec<&str> = other
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|it| answers.contains_key(*it))
        .collect();
    let renamed = |text: String| {
        shared.iter().fold(text, |text, name| {
            text.replace(&format!("/schemas/{name}\""), &format!("/schemas/{name}Asked\""))
        })
    };
    let asked = other.into_iter().map(|(name, asked)| {
        let suffix = if shared.contains(&name.as_str()) { "Asked" } else { "" };
        (format!("{name}{suffix}"), renamed(asked))
    });
    let answered = answers.iter().map(|(name, schema)| (name.clone(), schema.to_string()));
    let parsed = |(name, text): (String, String)| (name, json::parse(&text).unwrap_or(Tree::Null));
    answered.chain(asked).map(parsed).collect()
}

/// The definitions that types make.
fn definitions(
    settings: SchemaSettings,
    add: impl FnOnce(&mut SchemaGenerator),
) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    add(&mut generator);
    generator.take_definitions(true)
}

/// The schemas of answers.
fn answers() -> Map<String, Value> {
    definitions(SchemaSettings::draft2020_12().for_serialize(), |generator| {
        generator.subschema_for::<Predictions>();
        generator.subschema_for::<Inferred>();
        generator.subschema_for::<LayoutsOfDesign>();
        generator.subschema_for::<FoundAnswer>();
        generator.subschema_for::<Budgeted>();
        generator.subschema_for::<ExpertsSaid>();
        generator.subschema_for::<Imported>();
        generator.subschema_for::<Presets>();
        generator.subschema_for::<Sent<Validation>>();
        generator.subschema_for::<Sent<ServingValidation>>();
        generator.subschema_for::<Sent<Calibration>>();
        generator.subschema_for::<Knobs>();
        generator.subschema_for::<Metrics>();
        generator.subschema_for::<ProblemBody>();
        generator.subschema_for::<TraceSummary>();
        generator.subschema_for::<StoredDesigns>();
        generator.subschema_for::<Started>();
        generator.subschema_for::<Sweeps>();
        generator.subschema_for::<SweepAnswer>();
        generator.subschema_for::<Standing>();
        generator.subschema_for::<reviews::Begun>();
        generator.subschema_for::<reviews::Links>();
        generator.subschema_for::<reviews::Log>();
        generator.subschema_for::<reviews::Prose>();
        generator.subschema_for::<reviews::Done<'static>>();
        generator.subschema_for::<Room>();
    })
}

/// The schemas of what is asked.
fn requests() -> Map<String, Value> {
    definitions(SchemaSettings::draft2020_12(), |generator| {
        generator.subschema_for::<Batch>();
        generator.subschema_for::<BudgetPair>();
        generator.subschema_for::<StoreDesign>();
        generator.subschema_for::<FindQuery>();
        generator.subschema_for::<SpecKeys<'static>>();
        generator.subschema_for::<reviews::Begin>();
        generator.subschema_for::<reviews::Make>();
        generator.subschema_for::<reviews::Do>();
    })
}
