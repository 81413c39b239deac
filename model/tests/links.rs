//! Links: every released one opens, every design survives one, and no input breaks the reader.

use model::catalogue::preset::Preset;
use model::design::link::upgrade::{STEPS as STEPS_OF_FORMAT, Step, upgrade};
use model::design::link::{self, decode, encode};
use model::design::{Design, KnobId};
use model::ground::knob::{Kind, KnobError, LayerText, Value};
use proptest::prelude::*;

/// For each version of the format its released links, and beside each the same design as that
/// version wrote it. Both are frozen: lines are only added.
const RELEASED: &[(&str, &str)] =
    &[(include_str!("links/v1.txt"), include_str!("links/v1.canonical.txt"))];

#[track_caller]
fn opens(link: &str) -> Design {
    decode(link).unwrap_or_else(|errors| panic!("{link}: {errors:?}"))
}

#[track_caller]
fn refused(link: &str) -> Vec<KnobError> {
    decode(link).expect_err(link)
}

#[track_caller]
fn refused_once(link: &str, rule: &str, knob: &str, nearest: &[&str]) {
    let errors = refused(link);
    let [error] = errors.as_slice() else { panic!("{link}: {errors:?}") };
    assert_eq!((error.rule, error.knob.as_str()), (rule, knob), "{link}: {error:?}");
    assert_eq!(error.nearest, nearest, "{link}: {error:?}");
    assert!(!error.detail.is_empty());
}

#[test]
fn an_address_is_read_as_people_paste_it() {
    let asked = opens("preset=deepseek-v3&mbs=2");
    for address in [
        "preset=deepseek-v3&mbs=2",
        "?preset=deepseek-v3&mbs=2#memory",
        "/?preset=deepseek-v3&mbs=2",
        "https://moe.example/?preset=deepseek-v3&mbs=2#why",
    ] {
        assert_eq!(link::of_address(address).as_ref(), Ok(&asked), "{address}");
    }
}

#[test]
fn every_released_link_opens() {
    assert_eq!(RELEASED.len() as u64, link::VERSION, "a version without links of its own");
    let lines = |text: &'static str| text.lines().filter(|line| !line.starts_with('#'));
    for (index, (links, canonical)) in RELEASED.iter().enumerate() {
        assert!(lines(links).count() >= 12 && lines(links).count() == lines(canonical).count());
        for (link, canonical) in lines(links).zip(lines(canonical)) {
            let design = opens(link);
            assert_eq!(design, opens(canonical), "{link}");
            assert!(canonical.starts_with(&format!("v={}&", index + 1)), "{canonical}");
            if index as u64 + 1 == link::VERSION {
                assert_eq!(encode(&design), canonical, "{link}");
            }
        }
    }
}

/// Two steps as a later version may have them.
const STEPS: &[Step] = &[
    Step {
        knobs: &[("parallel.tp_size", "parallel.tensor_size"), ("tp_size", "parallel.tensor_size")],
        presets: &[("pangu", "pangu-ultra")],
        values: &[("schedule.method", "zb", "zb_h1")],
    },
    Step {
        knobs: &[("parallel.tensor_size", "parallel.tensor_model_parallel_size")],
        presets: &[("pangu-ultra", "pangu-ultra-moe-6k")],
        values: &[],
    },
];

#[track_caller]
fn upgraded(version: u64, pair: (&str, &str), expected: (&str, &str)) {
    let (mut key, mut value) = (pair.0.to_owned(), pair.1.to_owned());
    upgrade(&mut key, &mut value, version, STEPS);
    assert_eq!((key.as_str(), value.as_str()), expected, "{pair:?} of version {version}");
}

#[test]
fn a_link_of_an_earlier_version_goes_through_every_step_since() {
    let newest = "parallel.tensor_model_parallel_size";
    upgraded(1, ("tp_size", "4"), (newest, "4"));
    upgraded(1, ("parallel.tp_size", "4"), (newest, "4"));
    upgraded(1, ("preset", "pangu"), ("preset", "pangu-ultra-moe-6k"));
    upgraded(1, ("schedule.method", "zb"), ("schedule.method", "zb_h1"));
    upgraded(2, ("parallel.tensor_size", "4"), (newest, "4"));
}

#[test]
fn a_name_means_what_it_meant_in_the_version_of_its_link() {
    upgraded(2, ("tp_size", "4"), ("tp_size", "4"));
    upgraded(2, ("schedule.method", "zb"), ("schedule.method", "zb"));
    upgraded(3, ("preset", "pangu"), ("preset", "pangu"));
    upgraded(1, ("training.note", "pangu"), ("training.note", "pangu"));
    upgraded(1, ("v", "1"), ("v", "1"));
}

#[test]
fn no_step_takes_a_name_that_is_in_use() {
    for step in STEPS_OF_FORMAT {
        for (old, _) in step.knobs {
            assert!(KnobId::find(old).is_err(), "{old} is a knob's name today");
        }
        for (old, _) in step.presets {
            assert!(Preset::find(old).is_err(), "{old} is a preset's id today");
        }
    }
    assert_eq!(link::VERSION, 1 + STEPS_OF_FORMAT.len() as u64);
}

#[test]
fn every_preset_has_a_link_of_its_own() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        let link = encode(&preset.design());
        assert_eq!(link, format!("v=1&preset={}", preset.id));
        assert_eq!(opens(&link), preset.design());
    }
}

#[test]
fn an_empty_link_is_the_default_preset() {
    let default = Design::from_preset(Preset::DEFAULT_ID).unwrap();
    for link in ["", "?", "v=1", "?v=1&", "&&"] {
        assert_eq!(opens(link), default, "{link}");
    }
}

#[test]
fn a_link_holds_what_differs_in_registry_order() {
    let mut design = Design::from_preset("deepseek-v3").unwrap();
    design.set_text(KnobId::framework, "ideal").unwrap();
    design.set_text(KnobId::noop_layers, "62,63").unwrap();
    design.set_text(KnobId::moe_layer_freq, "([0]*1+[1]*60)").unwrap();
    assert_eq!(
        encode(&design),
        "v=1&preset=deepseek-v3&transformer.moe_layer_freq=(%5B0%5D*1%2B%5B1%5D*60)\
         &parallel.noop_layers=62,63&kernel.framework=ideal"
    );
}

#[test]
fn the_order_of_a_link_does_not_count() {
    let first = opens("v=1&preset=deepseek-v3&tp=4&mbs=2");
    assert_eq!(first, opens("mbs=2&tp=4&preset=deepseek-v3&v=1"));
    assert_eq!(first.preset.id, "deepseek-v3");
}

#[test]
fn a_link_is_unescaped_exactly_once() {
    let once = opens("parallel.noop_layers=61%2C63");
    assert_eq!(once.get(KnobId::noop_layers).to_string(), "61,63");
    refused_once("parallel.noop_layers=61%252C63", "wrong_type", "parallel.noop_layers", &[]);
}

#[test]
fn a_plus_is_a_plus() {
    let escaped = opens("preset=deepseek-v3&moe_layer_freq=(%5B0%5D*3%2B%5B1%5D*58)");
    assert_eq!(escaped, opens("preset=deepseek-v3&moe_layer_freq=([0]*3+[1]*58)"));
}

#[test]
fn bad_input_names_the_knob_and_the_nearest() {
    let tp = "parallel.tensor_model_parallel_size";
    let gib = "cluster.hbm_usable_gib";
    refused_once(
        "parallel.tensor_parallel_size=8",
        "unknown_knob",
        "parallel.tensor_parallel_size",
        &["parallel.tensor_model_parallel_size"],
    );
    refused_once("tp=eight", "wrong_type", tp, &[]);
    refused_once("tp=8.5", "wrong_type", tp, &[]);
    refused_once("tp=", "wrong_type", tp, &[]);
    refused_once("tp=-8", "out_of_range", tp, &["1"]);
    refused_once("tp=0", "out_of_range", tp, &["1"]);
    refused_once("tp=1000000000000000000", "out_of_range", tp, &["1024"]);
    refused_once("tp=1e300", "out_of_range", tp, &["1024"]);
    refused_once("hbm_usable_gib=NaN", "out_of_range", gib, &["1"]);
    refused_once("hbm_usable_gib=inf", "out_of_range", gib, &["4096"]);
    refused_once("hbm_usable_gib=-inf", "out_of_range", gib, &["1"]);
    refused_once("preset=pangu-ultra-moe-6", "unknown_preset", "preset", &["pangu-ultra-moe-6k"]);
    refused_once("method=zb-h1", "unknown_name", "schedule.method", &["zb_h1"]);
    refused_once("v=2", "unsupported_version", "v", &["1"]);
    refused_once("v=1&v=1", "repeated_knob", "v", &[]);
    refused_once("preset=deepseek-v3&preset=deepseek-v3", "repeated_knob", "preset", &[]);
    refused_once(&format!("tp=8&{tp}=8"), "repeated_knob", tp, &[]);
    refused_once("tp", "missing_value", "tp", &[]);
    refused_once("tp=%", "bad_encoding", "tp", &[]);
    refused_once("tp=%8", "bad_encoding", "tp", &[]);
    refused_once("tp=%zz", "bad_encoding", "tp", &[]);
    refused_once("tp=%ff%fe", "bad_encoding", "tp", &[]);
    refused_once("%ff=8", "bad_encoding", "%ff", &[]);
}

#[test]
fn keys_that_are_no_knobs_are_refused() {
    for key in ["lang", "theme", "utm_source", "schema", "parallel", "", "training.tp"] {
        let errors = refused(&format!("{key}=1"));
        assert_eq!((errors.len(), errors[0].rule), (1, "unknown_knob"), "{errors:?}");
    }
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let errors = refused("v=9&preset=no&tp=-1&nonsense=1&hbm_usable_gib=NaN&pp=%zz");
    let mut rules: Vec<&str> = errors.iter().map(|error| error.rule).collect();
    rules.sort_unstable();
    let expected = ["bad_encoding", "out_of_range", "out_of_range", "unknown_knob"];
    assert_eq!(rules, [&expected[..], &["unknown_preset", "unsupported_version"]].concat());
}

#[test]
fn what_can_be_read_of_a_broken_link_is_kept() {
    let (design, errors) = link::salvage("preset=deepseek-v3&tp=4&nonsense=1");
    assert_eq!(errors.len(), 1);
    assert_eq!(design, opens("preset=deepseek-v3&tp=4"));
}

#[test]
fn huge_links_are_refused_in_a_few_words() {
    let long = format!("tp={}", "8".repeat(link::MAX_BYTES));
    refused_once(&long, "too_long", "link", &[]);
    let errors = refused(&"x=1&".repeat(10_000));
    assert_eq!(errors.len(), 101);
    assert_eq!(errors[100].rule, "too_many_errors");
    let errors = refused(&format!("{}=1", "k".repeat(60_000)));
    assert!(errors.iter().all(|error| error.to_string().len() < 400), "{errors:?}");
}

/// A value that the knob takes.
fn legal_value(kind: Kind) -> BoxedStrategy<Value> {
    let name = |names: &'static [&'static str]| {
        prop::sample::select(names).prop_map(|name| Value::Text(name.to_string()))
    };
    let or_none = |values: BoxedStrategy<Value>| prop_oneof![Just(Value::None), values].boxed();
    let integers = |high, most| {
        prop::collection::vec((0..=high).prop_map(Value::Integer), 1..most).prop_map(Value::List)
    };
    match kind {
        Kind::Integer(low, high) => (low..=high).prop_map(Value::Integer).boxed(),
        Kind::OptionalInteger(low, high) => or_none((low..=high).prop_map(Value::Integer).boxed()),
        Kind::Real(low, high) => (low..=high).prop_map(Value::Real).boxed(),
        Kind::OptionalReal(low, high) => or_none((low..=high).prop_map(Value::Real).boxed()),
        Kind::Flag => any::<bool>().prop_map(Value::Flag).boxed(),
        Kind::Choice(names) => name(names).boxed(),
        Kind::Subset(names) => {
            prop::collection::vec(name(names), 0..names.len()).prop_map(Value::List).boxed()
        }
        Kind::LayerFreq => prop_oneof![
            (1..=1_000_u64).prop_map(Value::Integer),
            (1..=99_u64, 1..=99_u64)
                .prop_map(|(dense, moe)| Value::Text(format!("([0]*{dense}+[1]*{moe})"))),
            "\\[[01](,[01]){0,7}\\]\\*[1-9]".prop_map(Value::Text),
        ]
        .boxed(),
        Kind::PerStage(high) => {
            or_none(prop_oneof![(0..=high).prop_map(Value::Integer), integers(high, 20)].boxed())
        }
        Kind::PositionList(high) => {
            prop_oneof![Just(Value::List(vec![])), integers(high, 20)].boxed()
        }
        Kind::Layout => or_none(
            "E(t\\*[1-9]\\|){1,5}(\\(tt\\|\\)\\*[1-9]){0,2}mL".prop_map(Value::Text).boxed(),
        ),
        Kind::LayerPattern(LayerText::Ratios) => or_none(
            "\\(\\[0\\]\\*[1-9](\\+\\[4,128\\]\\*[1-9]){0,2}(\\+\\[128\\])?\\)"
                .prop_map(Value::Text)
                .boxed(),
        ),
        Kind::LayerPattern(LayerText::Overrides) => or_none(
            "[0-9]{1,2}(,1[0-9]-[23][0-9]){0,2}:(num_query_groups|window_size)=[1-9]{1,3}\
             (,kv_channels=64)?(;[0-9]:(ffn_hidden_size|num_attention_heads)=[0-9]{1,2}){0,2}"
                .prop_map(Value::Text)
                .boxed(),
        ),
        Kind::LayerPattern(LayerText::Lengths) => or_none(
            "[1-9]{1,3}:0\\.[1-9](,[1-9][0-9]{3}:[1-9](,[1-9][0-9]{4}:2\\.5)?)?"
                .prop_map(Value::Text)
                .boxed(),
        ),
        Kind::LayerPattern(LayerText::SubLayers) => {
            or_none("[MG*+E-]{1,9}(\\|[MG*+E-]{1,9}){0,2}(/\\*E)?".prop_map(Value::Text).boxed())
        }
        Kind::Hash => or_none("[0-9a-f]{64}".prop_map(Value::Text).boxed()),
        Kind::Arguments => or_none(
            "[a-z]{1,9}( [!-&(-,.-~é]{1,9}| '[ -&(-~]{0,9} '){0,3}( --[a-z][a-z-]{0,8}){0,3}"
                .prop_filter("arguments", |text| text != "none")
                .prop_map(Value::Text)
                .boxed(),
        ),
        Kind::Name => or_none(
            "[0-9A-Za-zé昇][ -~é昇]{0,98}"
                .prop_filter("a name", |name| name != "none")
                .prop_map(|name| Value::Text(name.trim_end().into()))
                .boxed(),
        ),
    }
}

/// Any preset with any knobs set to any values that they take.
fn any_design() -> impl Strategy<Value = Design> {
    let presets: Vec<&Preset> = Preset::all().filter(|preset| preset.refused.is_none()).collect();
    let setting = prop::sample::select(KnobId::ALL)
        .prop_flat_map(|id| legal_value(id.knob().kind).prop_map(move |value| (id, value)));
    (prop::sample::select(presets), prop::collection::vec(setting, 0..12)).prop_map(
        |(preset, settings)| {
            let mut design = preset.design();
            for (id, value) in settings {
                design.set(id, &value).expect("a legal value");
            }
            design
        },
    )
}

proptest! {
    #[test]
    fn every_design_survives_a_link(design in any_design()) {
        let link = encode(&design);
        prop_assert_eq!(decode(&link).unwrap(), design);
        prop_assert!(link.bytes().all(|byte| byte.is_ascii_graphic()), "{}", link);
        prop_assert_eq!(encode(&decode(&link).unwrap()), link);
    }

    #[test]
    fn no_text_breaks_the_reader(text in "\\PC{0,200}") {
        let _ = decode(&text);
    }

    #[test]
    fn no_query_breaks_the_reader(
        parts in prop::collection::vec(
            (
                "[a-z_.%]{0,12}|tp|preset|v|moe_layer_freq|noop_layers|recompute_num_layers\
                 |pipeline_model_parallel_layout|swap_modules|skew",
                "[-0-9a-zEtmL|()*\\[\\]+,.%]{0,40}",
            ),
            0..8,
        )
    ) {
        let link: Vec<String> = parts.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if let Ok(design) = decode(&link.join("&")) {
            prop_assert_eq!(decode(&encode(&design)).unwrap(), design);
        }
    }
}

#[test]
fn the_framework_follows_the_accelerator_until_it_is_set_itself() {
    let framework = |query: &str| link::decode(query).unwrap().get(KnobId::framework).to_string();
    assert_eq!(framework("preset=llama-3-70b"), "megatron");
    assert_eq!(framework("preset=llama-3-70b&accelerator=ascend-910b3"), "mindspeed");
    assert_eq!(framework("preset=pangu-ultra-moe-6k&accelerator=h100-sxm-80gb"), "megatron");
    for order in [
        "framework=megatron&accelerator=ascend-910b3",
        "accelerator=ascend-910b3&framework=megatron",
    ] {
        let design = link::decode(&format!("preset=llama-3-70b&{order}")).unwrap();
        assert_eq!(design.get(KnobId::framework).to_string(), "megatron");
        assert_eq!(link::decode(&link::encode(&design)).unwrap(), design);
    }
    let mut design = link::decode("preset=llama-3-70b&accelerator=ascend-910b3").unwrap();
    assert_eq!(design.changed(), [KnobId::accelerator]);
    design.reset(KnobId::accelerator);
    assert!(design.changed().is_empty());
    assert_eq!(framework("preset=llama-3-70b&framework=fsdp&accelerator=ascend-910b3"), "fsdp");
}
