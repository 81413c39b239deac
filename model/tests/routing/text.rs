//! Trace files: what is read, and what is said of a file that can't be.

use model::routing::text::{MAX_BYTES, MAX_ERRORS, read, read_pairs, write};
use model::routing::{Generator, Pair, Size, Trace};
use proptest::prelude::*;

use super::generated;

fn trace() -> Trace {
    let pair = Pair { layer: 0, expert_a: 0, expert_b: 1, tokens: 2 };
    Trace::new([2, 1, 2], vec![3, 5, 4, 4]).unwrap().with_pairs(vec![pair]).unwrap()
}

/// Errors reported of a file.
fn said(text: &str) -> Vec<String> {
    read(text.as_bytes()).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn a_trace_that_is_written_is_read_back() {
    assert_eq!(read(write(&trace()).as_bytes()), Ok(trace()));
    let large = generated(
        &Generator::default(),
        &Size { steps: 3, stride: 1, layers: 4, experts: 16, tokens: 999, topk: 2 },
    );
    assert_eq!(read(write(&large).as_bytes()), Ok(large));
}

#[test]
fn columns_and_lines_come_in_any_order() {
    let text = "\u{feff}\"tokens\", expert ,layer,step\r\n4,1,7,30\r\n\r\n 5,1,7,20\n4,0,7,30\n\
                3,0,7,20\ntokens,layer,expert_b,expert_a\n2,7,1,0\n";
    assert_eq!(read(text.as_bytes()), Ok(trace()));
}

#[test]
fn pairs_may_stand_in_a_file_of_their_own() {
    let pairs = read_pairs(b"layer,expert_a,expert_b,tokens\n0,0,1,2\n").unwrap();
    let loads = Trace::new([2, 1, 2], vec![3, 5, 4, 4]).unwrap();
    assert_eq!(loads.with_pairs(pairs), Ok(trace()));
    let found = read_pairs(b"step,layer,expert,tokens\n0,0,0,2\n").unwrap_err();
    assert!(found[0].to_string().starts_with("line 2: a file of pairs"), "{}", found[0]);
}

#[test]
fn json_is_read_as_lists_or_as_records() {
    let nested = r#"{"steps": 2, "layers": 1, "experts": 2, "tokens": [[[3, 5]], [[4, 4]]],
        "co_activation": [{"layer": 0, "expert_a": 0, "expert_b": 1, "tokens": 2}]}"#;
    assert_eq!(read(nested.as_bytes()), Ok(trace()));
    let records = r#" [{"step": 9, "layer": 3, "expert": 1, "tokens": 5},
        {"step": 9, "layer": 3, "expert": 0, "tokens": 3}]"#;
    assert_eq!(read(records.as_bytes()), Ok(Trace::new([1, 1, 2], vec![3, 5]).unwrap()));
}

#[test]
fn every_wrong_field_of_a_csv_file_is_named_with_its_place() {
    let text = "step,layer,expert,tokens\n0,0,0,-3\n0,0,1.5,4\n0,é,2,4\n0,0,3\n0,0,4,1,1\n\
                0,0,99999999,1\n0,0,0,5000000000\n0,0,,1\n0,0,0,99999999999999999999999\n";
    assert_eq!(
        said(text),
        [
            "line 2, column 7: tokens `-3` is negative",
            "line 3, column 5: expert `1.5` is no whole number",
            "line 4, column 3: layer `é` is no number",
            "line 5, column 5: the line has 3 fields, its columns are 4",
            "line 6, column 9: the line has 5 fields, its columns are 4",
            "line 7, column 5: expert `99999999` is above 65535",
            "line 8, column 7: tokens `5000000000` is above 4294967295",
            "line 9, column 5: expert `` is missing",
            "line 10, column 7: tokens `99999999999999999999999` is too large",
        ]
    );
}

#[test]
fn a_line_that_repeats_or_lacks_is_named() {
    let text = "step,layer,expert,tokens\n0,0,0,3\n0,0,1,4\n0,0,0,3\n1,0,1,7\n";
    assert_eq!(
        said(text),
        [
            "line 4: this step, layer and expert has a line already",
            "expert 0 of step 1, layer 0 is missing",
        ]
    );
    let text = "step,layer,expert,tokens\n0,0,0,0\n0,0,1,0\n";
    assert_eq!(said(text), ["no token goes anywhere in step 0, layer 0"]);
    let text = "step,layer,expert,tokens\n0,0,0,1\nlayer,expert_a,expert_b,tokens\n0,0,0,1\n";
    assert_eq!(said(text), ["line 4: experts 0 and 0 of layer 0 are no pair of this trace"]);
    let text = "step,layer,expert,tokens\n0,0,0,1\nlayer,expert_a,expert_b,tokens\n5,0,0,1\n";
    assert_eq!(said(text), ["line 4: no load is given of this layer"]);
}

#[test]
fn wrong_columns_are_named() {
    let cases = [
        ("", "the file has no loads of experts"),
        ("\n\n", "the file has no loads of experts"),
        ("step,layer,expert,tokens\n", "the file has no loads of experts"),
        ("0,0,0,3\n", "line 1, column 1: the file starts with the names of its columns"),
        ("step,layer,expert\n", "line 1: column `tokens` is missing"),
        ("step,layer,layer,tokens\n", "line 1, column 12: column `layer`, a second time"),
        ("step,layer,Expert,tokens\n", "line 1, column 12: column `Expert`, which isn't known"),
        ("layer,expert_a,step,tokens\n", "line 1, column 16: column `step`, which isn't known"),
    ];
    for (text, expected) in cases {
        let found = said(text);
        assert!(found[0].starts_with(expected), "{text:?}: {found:?}");
    }
}

#[test]
fn wrong_json_is_named_with_its_place() {
    let cases = [
        ("{", "line 1, column 1: EOF while parsing an object"),
        ("{}", "line 1, column 2: missing field `tokens`"),
        (r#"{"tokens": 5}"#, "line 1, column 12: invalid type: integer `5`, expected a list of"),
        (r#"{"tokens": [[[1, -2]]]}"#, "line 1, column 19: invalid value: integer `-2`"),
        ("{\"tokens\":\n[[[1, 2.5]]]}", "line 2, column 9: invalid type: floating point `2.5`"),
        (r#"{"tokens": [[[1, 2], [3]]]}"#, "line 1, column 24: layer 1 of step 0 has 1 experts"),
        (r#"{"tokens": [[[1]], []]}"#, "line 1, column 21: step 1 has 0 layers, step 0 has 1"),
        (r#"{"tokens": [[[1]]], "steps": 2}"#, "`steps` is 2, `tokens` has 1"),
        (r#"{"token": []}"#, "line 1, column 8: unknown or repeated key `token`"),
        (r#"{"tokens": []}"#, "the trace has no steps"),
        ("[]", "the file has no loads of experts"),
        (r#"[{"step": 0, "layer": 0, "expert": 0}]"#, "line 1, column 37: missing field `tokens`"),
    ];
    for (text, expected) in cases {
        let found = said(text);
        assert!(found[0].starts_with(expected), "{text:?}: {found:?}");
    }
    let record = r#"{"step": 0, "layer": 0, "expert": 1, "tokens": 1}"#;
    assert_eq!(
        said(&format!("[{record}, {record}]")),
        ["record 2 repeats step 0, layer 0, expert 1", "expert 0 of step 0, layer 0 is missing",]
    );
}

#[test]
fn errors_are_listed_up_to_a_bound() {
    let text = format!("step,layer,expert,tokens\n{}", "0,0,0,-1\n".repeat(1_000));
    let found = said(&text);
    assert_eq!(found.len(), MAX_ERRORS);
    assert_eq!(found[MAX_ERRORS - 1], "and more errors; the rest isn't read");
}

#[test]
fn what_is_too_large_is_refused_before_anything_is_kept() {
    let found = read(&vec![b'0'; MAX_BYTES + 1]).unwrap_err();
    assert!(found[0].to_string().contains("at most 256 MiB"), "{}", found[0]);
    // Two lines that ask for 2 x 65,536 counts are read, four thousand steps of them are not.
    let mut text = String::from("step,layer,expert,tokens\n");
    (0..4_000).for_each(|step| text.push_str(&format!("{step},0,65535,1\n")));
    assert!(said(&text)[0].contains("are too much"), "{:?}", said(&text)[0]);
    let mut text = String::from("step,layer,expert,tokens\n");
    (0..5_000).for_each(|layer| text.push_str(&format!("0,{layer},0,1\n")));
    assert!(said(&text)[0].contains("are too much"), "{:?}", said(&text)[0]);
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read(&bytes);
        let _ = read_pairs(&bytes);
    }

    #[test]
    fn almost_a_file_never_panics(
        start in prop::sample::select(vec![
            "step,layer,expert,tokens\n", "layer,expert_a,expert_b,tokens\n", "{\"tokens\":",
            "[{\"step\":0,\"layer\":0,\"expert\":", "{\"steps\":1,\"tokens\":[[[1,2]]],",
        ]),
        rest in "[0-9,.\\-eE\\[\\]{}:\" \n\ra-z_]{0,120}",
    ) {
        let found = read(format!("{start}{rest}").as_bytes());
        if let Ok(trace) = found {
            prop_assert_eq!(read(write(&trace).as_bytes()), Ok(trace));
        }
    }

    #[test]
    fn every_trace_is_read_back(
        size in [1..4_usize, 1..4_usize, 1..5_usize],
        seed: u64,
        tokens in 1..50_u64,
    ) {
        let [steps, layers, experts] = size;
        let size = Size { steps, stride: 1, layers, experts, tokens, topk: 1 };
        let trace = generated(&Generator { seed, skew: 1.0, ..Generator::default() }, &size);
        prop_assert_eq!(read(write(&trace).as_bytes()), Ok(trace));
    }
}
