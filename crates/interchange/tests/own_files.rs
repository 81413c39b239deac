//! Our own design files, read as everything else is.

use interchange::{Format, Import, import};
use model::catalogue::preset::Preset;
use model::design::file::{Extent, json};
use model::design::{Design, KnobId};

const TOML: &str = "# design: /?v=1\nschema = 1\npreset = \"deepseek-v3\"\n\n[parallel]\n\
                    tp = 2\n\n[provenance]\ndate = \"2026-01-31\"\n";

fn read(text: &str) -> Import {
    assert_eq!(Format::detect(text), Format::Design, "{text}");
    import(Format::Design, text, None)
}

#[test]
fn every_preset_comes_back_from_its_file() {
    for preset in Preset::all().filter(|preset| preset.refused.is_none()) {
        for extent in [Extent::Changed, Extent::Full] {
            let import = read(&json::write(&preset.design(), extent));
            assert_eq!(import.errors, [], "{}", preset.id);
            assert_eq!(import.design, Some(preset.design()), "{}", preset.id);
        }
    }
}

#[test]
fn what_a_file_sets_is_told_with_its_line() {
    let import = read(TOML);
    let mut expected = Design::from_preset("deepseek-v3").unwrap();
    expected.set_text(KnobId::tensor_model_parallel_size, "2").unwrap();
    assert_eq!(import.design, Some(expected));
    let set: Vec<_> =
        import.set.iter().map(|set| (set.knob, set.value.as_str(), set.line)).collect();
    assert_eq!(set, [(KnobId::tensor_model_parallel_size, "2", 6)]);
    let ignored = import.ignored.iter().map(|it| (it.key.as_str(), it.line));
    // Tables of TOML are in no order.
    let mut ignored: Vec<_> = ignored.collect();
    ignored.sort_by_key(|(_, line)| *line);
    assert_eq!(ignored, [("schema", 2), ("provenance", 8)]);
    assert!(import.assumed[0].detail.contains("deepseek-v3"));
}

#[test]
fn what_is_wrong_has_its_line_and_the_nearest() {
    let import = read("schema = 1\npreset = \"deepseek-v3\"\n[parallel]\ntpp = 2\n");
    assert_eq!(import.design, None);
    let fault = &import.errors[0];
    assert_eq!(fault.line, 4, "{fault}");
    assert!(fault.detail.contains("nearest"), "{fault}");
    let import = read("schema = 1\n[parallel\n");
    assert_eq!(import.errors[0].line, 2, "{:?}", import.errors);
    let import = read("{\n\"schema\": 1,\n}");
    assert!(import.errors[0].detail.contains("line 3"), "{:?}", import.errors);
}

#[test]
fn nested_texts_end_in_an_error() {
    for open in ["[", "{\"a\":", "a=[", "[a."] {
        let text = format!("schema = 1\n{}", open.repeat(50_000));
        assert!(import(Format::Design, &text, None).design.is_none(), "{open}");
        assert!(import(Format::Design, &open.repeat(50_000), None).design.is_none(), "{open}");
    }
}
