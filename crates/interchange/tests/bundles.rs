//! Several files at once, and archives of them.
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails with place and error")]

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};
use interchange::{Answers, Bundle, Import, MAX_FILES, is_archive, unpacked};
use proptest::prelude::*;

fn bundle(files: &[(&str, &str)]) -> Bundle {
    let own = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Bundle::new(own.collect()).unwrap()
}

fn read(files: &[(&str, &str)]) -> Import {
    bundle(files).import(None, None, None, &Answers::default())
}

const MODEL: &str = "L=6\nMODEL_ARGS=(\n  --num-layers $L\n  --hidden-size 512\n  \
                     --num-attention-heads 8\n  --vocab-size 1024\n)\n";
const RUN: &str = "source \"${HERE}/models/own.sh\"\nPERF=(--seq-length 256 --bf16)\n\
                   torchrun --nproc_per_node 8 --nnodes 1 train.py ${MODEL_ARGS[@]} ${PERF[@]} \
                   --micro-batch-size 1 --global-batch-size 8 $EXTRA\n";

#[test]
fn a_script_is_read_with_what_it_sources_and_each_line_has_its_file() {
    let import = read(&[("scripts/models/own.sh", MODEL), ("scripts/run.sh", RUN)]);
    assert_eq!(import.errors, []);
    assert_eq!(import.design.as_ref().unwrap().transformer.num_layers, 6);
    let of = |knob: &str| {
        let set = import.set.iter().find(|set| set.knob.id() == knob).unwrap();
        (set.file.clone().unwrap(), set.line)
    };
    assert_eq!(of("transformer.num_layers"), ("scripts/models/own.sh".to_owned(), 3));
    assert_eq!(of("training.seq_length"), ("scripts/run.sh".to_owned(), 2));
    assert!(import.unknown.iter().all(|unknown| unknown.file.as_deref() == Some("scripts/run.sh")));
}

#[test]
fn a_job_s_files_name_each_other_and_the_job_s_own_words_win() {
    let files = [
        (
            "job.yaml",
            "modules:\n  pre_trainer:\n    framework: megatron\n    model: \
             own.yaml\n    overrides:\n      \
             num_layers: 4\n      micro_batch_size: 2\n      seq_length: 256\n",
        ),
        ("models/own.yaml", "extends:\n  - base.yaml\nnum_layers: 8\nhidden_size: 512\n"),
        ("models/base.yaml", "num_attention_heads: 8\nvocab_size: 1024\nhidden_size: 64\n"),
    ];
    let import = read(&files);
    assert_eq!(import.errors, []);
    let shape = &import.design.as_ref().unwrap().transformer;
    assert_eq!((shape.num_layers, shape.hidden_size, shape.num_attention_heads), (4, 512, 8));
    let wrapped = [files[0], ("run.sh", "python main.py --config job.yaml --micro_batch_size 4")];
    let design = bundle(&wrapped).import(None, Some("run.sh"), None, &Answers::default()).design;
    assert_eq!(design.unwrap().training.micro_batch_size, 4);
}

#[test]
fn a_configuration_beside_a_script_has_the_model_s_shape() {
    let config = "{\"model_type\": \"llama\", \"num_hidden_layers\": 5, \"hidden_size\": 512, \
                  \"num_attention_heads\": 8, \"intermediate_size\": 1024, \"vocab_size\": 1000}";
    let run = "megatron sft --model ./own --max_length 512 --micro_batch_size 1";
    let import = read(&[("own/config.json", config), ("run.sh", run)]);
    assert_eq!(import.design.unwrap().transformer.num_layers, 5);
    assert!(import.questions.iter().all(|question| question.name != "model"));
}

#[test]
fn files_that_read_each_other_in_a_circle_end() {
    let import = read(&[
        ("a.sh", "source b.sh\nsource a.sh\nx --num-layers 2 --hidden-size 64"),
        ("b.sh", "source a.sh\nbash b.sh"),
        ("c.yaml", "extends: [d.yaml]\nmodel: c.yaml\n"),
        ("d.yaml", "extends: [c.yaml, d.yaml]\n"),
    ]);
    assert!(import.design.is_some() || !import.errors.is_empty());
}

#[test]
fn files_stand_one_behind_another_in_a_text() {
    let whole = bundle(&[("a/own.sh", MODEL), ("run.sh", RUN)]);
    let text = whole.to_text();
    assert!(text.starts_with("==> a/own.sh <==\n"));
    assert_eq!(Bundle::of_text(&text), Some(Ok(whole)));
    assert_eq!(Bundle::of_text(RUN), None);
}

#[test]
fn bundles_have_limits() {
    let many = (0..=MAX_FILES).map(|n| (n.to_string(), String::new())).collect();
    assert!(Bundle::new(many).unwrap_err().contains("at most"));
    for path in ["../a.sh", "a/../../b", "/etc/passwd"] {
        let one = vec![(path.to_owned(), String::new())];
        assert!(Bundle::new(one).unwrap_err().contains("leads out"), "{path}");
    }
    assert!(!read(&[("a.txt", "hello"), ("b.md", "world")]).errors.is_empty());
}

/// A tape of files of these kinds.
fn tar(files: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut tape = vec![];
    for (name, kind, data) in files {
        let mut head = [0_u8; 512];
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[124..135].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
        head[156] = *kind;
        head[257..262].copy_from_slice(b"ustar");
        tape.extend(head);
        tape.extend(*data);
        tape.resize(tape.len().div_ceil(512) * 512, 0);
    }
    tape.extend([0; 1024]);
    tape
}

/// A zip with one deflated file.
fn zip(name: &str, data: &[u8], mode: u32) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(vec![], Compression::fast());
    encoder.write_all(data).unwrap();
    let packed = encoder.finish().unwrap();
    let sizes = [(packed.len() as u32).to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    let mut bytes = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0".to_vec();
    bytes.extend(&sizes);
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(name.as_bytes());
    bytes.extend(&packed);
    let directory = bytes.len() as u32;
    bytes.extend(b"PK\x01\x02\x14\x03\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0");
    bytes.extend(&sizes);
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend((mode << 16).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(name.as_bytes());
    let size = bytes.len() as u32 - directory;
    bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend(size.to_le_bytes());
    bytes.extend(directory.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

#[test]
fn archives_are_unpacked() {
    let tape =
        tar(&[("s/run.sh", b'0', RUN.as_bytes()), ("s/models/own.sh", b'0', MODEL.as_bytes())]);
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(&tape).unwrap();
    for bytes in [tape, encoder.finish().unwrap()] {
        assert!(is_archive(&bytes));
        let import = unpacked(&bytes).unwrap().import(None, None, None, &Answers::default());
        assert_eq!(import.design.unwrap().transformer.num_layers, 6);
    }
    let packed = unpacked(&zip("a/run.sh", RUN.as_bytes(), 0o100_644)).unwrap();
    assert_eq!(packed.paths().collect::<Vec<_>>(), ["a/run.sh"]);
}

#[test]
fn archives_that_grow_link_or_lead_out_are_refused() {
    let bomb = vec![b'0'; interchange::MAX_TOTAL + 1];
    let mut encoder = GzEncoder::new(vec![], Compression::best());
    encoder.write_all(&tar(&[("a", b'0', &bomb)])).unwrap();
    for (bytes, why) in [
        (zip("a.sh", &bomb, 0o100_644), "more than"),
        (encoder.finish().unwrap(), "more than"),
        (zip("../a.sh", b"x", 0o100_644), "leads out"),
        (zip("a.sh", b"/etc/passwd", 0o120_777), "link"),
        (tar(&[("a", b'2', b"")]), "link"),
        (tar(&[("/a", b'0', b"")]), "leads out"),
    ] {
        let found = unpacked(&bytes).unwrap_err();
        assert!(found.contains(why), "{found}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn broken_archives_never_panic(at in 0..400_usize, byte: u8, cut in 0..600_usize) {
        for mut bytes in [zip("a.sh", RUN.as_bytes(), 0), tar(&[("a", b'0', RUN.as_bytes())])] {
            if let Some(place) = bytes.get_mut(at) {
                *place = byte;
            }
            bytes.truncate(bytes.len().saturating_sub(cut));
            let _ = unpacked(&bytes);
        }
    }
}

#[test]
fn an_archive_of_a_hundred_thousand_files_is_refused() {
    let one = tar(&[("a.sh", b'0', b"x")]);
    // Without the zeros that end it.
    let tape: Vec<u8> = one[..1024].repeat(100_000);
    let mut encoder = GzEncoder::new(vec![], Compression::fast());
    encoder.write_all(&tape).unwrap();
    let found = unpacked(&encoder.finish().unwrap()).unwrap_err();
    assert!(found.contains("more than") || found.contains("at most"), "{found}");
}
