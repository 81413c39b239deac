//! Schemas of the registry: a design file with every knob, and the presets that can be opened.

use model::catalogue::preset::Preset;
use model::design::KnobId;
use model::design::file::{PROVENANCE, Tree};
use model::ground::knob::{Kind, MAX_ARGUMENTS, MAX_NAME, Section};

/// A design file.
pub(super) fn design() -> Tree {
    let mut properties = vec![
        ("schema".to_owned(), Tree::map([("const", Tree::Unsigned(model::design::file::SCHEMA))])),
        ("preset".to_owned(), Tree::map([("$ref", "#/components/schemas/PresetId".into())])),
    ];
    let passed_over = Tree::map([("description", "Where it comes from; passed over.".into())]);
    properties.push((PROVENANCE.to_owned(), passed_over));
    for section in Section::ALL {
        let knobs = KnobId::ALL.iter().filter(|id| id.knob().section == section);
        // Short names take the same values.
        let knobs = knobs.flat_map(|id| {
            let row = id.knob();
            let names = std::iter::once(row.name).chain(row.aliases.iter().copied());
            names.map(|name| (name, knob(*id)))
        });
        let section_of = Tree::map([
            ("type", Tree::from("object")),
            ("properties", Tree::map(knobs)),
            ("additionalProperties", false.into()),
        ]);
        properties.push((section.name().to_owned(), section_of));
    }
    Tree::map([
        ("type", "object".into()),
        (
            "description",
            "A design file: what is absent is the preset's. Short names of knobs are read, too; an \
             option that is unset is \"none\"."
                .into(),
        ),
        ("properties", Tree::Map(properties)),
        ("required", Tree::list(["schema"])),
        ("additionalProperties", false.into()),
    ])
}

/// The values of a knob.
fn knob(id: KnobId) -> Tree {
    let knob = id.knob();
    let mut forms = forms(knob.kind);
    let mut schema = if forms.len() == 1 {
        forms.remove(0)
    } else {
        vec![("anyOf", Tree::List(forms.into_iter().map(Tree::map).collect()))]
    };
    schema.push(("description", id.words().meaning.into()));
    Tree::map(schema)
}

type Form = Vec<(&'static str, Tree)>;

/// The forms that a value has. A text that says something of each layer or document has a grammar
/// of its own, of which there is an example.
fn forms(kind: Kind) -> Vec<Form> {
    let whole = |min: u64, max: u64| number("integer", min.into(), max.into());
    let real = |min: f64, max: f64| number("number", Tree::number(min), Tree::number(max));
    let none = || vec![("const", "none".into())];
    let names = |names: &[&'static str]| vec![("enum", Tree::list(names.iter().copied()))];
    let list = |items: Form| vec![("type", "array".into()), ("items", Tree::map(items))];
    let written = |example: &'static str| {
        vec![
            ("minLength", 1_u64.into()),
            ("examples", Tree::list([example])),
            ("type", "string".into()),
        ]
    };
    let hash = || vec![("type", "string".into()), ("pattern", "^[0-9A-Za-z]{1,64}$".into())];
    let name = || {
        let most = MAX_NAME as u64;
        vec![("type", "string".into()), ("minLength", 1_u64.into()), ("maxLength", most.into())]
    };
    let arguments = || {
        let most = MAX_ARGUMENTS as u64;
        vec![
            ("maxLength", most.into()),
            ("examples", Tree::list(["rotary-base 10000 --norm-epsilon 1e-6"])),
            ("type", "string".into()),
        ]
    };
    match kind {
        Kind::Integer(min, max) => vec![whole(min, max)],
        Kind::OptionalInteger(min, max) => vec![whole(min, max), none()],
        Kind::Real(min, max) => vec![real(min, max)],
        Kind::OptionalReal(min, max) => vec![real(min, max), none()],
        Kind::Flag => vec![vec![("type", "boolean".into())]],
        Kind::Choice(known) => vec![names(known)],
        Kind::Subset(known) => vec![list(names(known)), none()],
        Kind::LayerFreq => vec![whole(1, 1_000), written("([0]*3+[1]*58)")],
        Kind::PerStage(max) => vec![whole(0, max), list(whole(0, max)), none()],
        Kind::PositionList(max) => vec![list(whole(0, max)), none()],
        Kind::LayerPattern(text) => vec![written(text.example()), none()],
        Kind::Layout => vec![written("Et*3|(tt|)*29mL"), none()],
        Kind::Hash => vec![hash(), none()],
        Kind::Name => vec![name()],
        Kind::Arguments => vec![arguments()],
    }
}

fn number(kind: &'static str, min: Tree, max: Tree) -> Form {
    vec![("type", kind.into()), ("minimum", min), ("maximum", max)]
}

/// The presets that can be opened.
pub(super) fn presets() -> Tree {
    let presets = Preset::all().chain(Preset::served());
    let ids = presets.filter(|preset| preset.refused.is_none()).map(|preset| preset.id);
    Tree::map([
        ("enum", Tree::list(ids)),
        ("description", "What all else differs from; see `/api/v1/presets`.".into()),
    ])
}
