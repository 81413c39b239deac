//! Files of runs, well and badly formed.

use super::*;

const PUBLISHED: &str = include_str!("../../runs/published_runs.csv");
const ASCEND: &str = include_str!("../../runs/ascend_runs.csv");
const ASCEND_2: &str = include_str!("../../runs/ascend_runs_2.csv");

#[test]
fn the_embedded_files_are_read() {
    let published = read(PUBLISHED).unwrap();
    assert_eq!(published.len(), 1_182);
    let faulty: Vec<_> = published.iter().filter(|run| !run.problems.is_empty()).collect();
    assert!(faulty.is_empty(), "{faulty:?}");
    let ascend = read(ASCEND).unwrap();
    assert_eq!(ascend.len(), 27);
    let further = read(ASCEND_2).unwrap();
    assert_eq!(further.len(), 29);
    assert_eq!(super::published().len(), 1_182 + 27 + 29);
}

#[test]
fn a_run_holds_what_its_row_prints() {
    let runs = super::published();
    let run = runs.iter().find(|run| run.id == "korthikanti-004").unwrap();
    assert_eq!((run.tensor_parallel, run.pipeline_parallel), (Some(8), Some(8)));
    assert_eq!((run.virtual_pipeline.as_str(), run.expert_tensor_parallel), ("3", None));
    assert_eq!((run.step_time, run.mfu_percent), (Some(13.75), Some(51.4)));
    assert_eq!(run.measured_fields, ["step_time_s", "MFU_pct", "HFU_pct"]);
    assert_eq!(run.recompute, "selective (core attention)");
}

#[test]
fn every_setting_of_the_published_runs_is_a_knob_and_every_role_is_known() {
    let roles = ["derived_memory", "single_node"];
    for run in super::published() {
        assert_eq!(run.settings().count(), run.settings.split_whitespace().count(), "{}", run.id);
        for (knob, _) in run.settings() {
            assert!(model::design::KnobId::find(knob).is_ok(), "{}: {knob}", run.id);
        }
        assert!(run.role.split_whitespace().all(|role| roles.contains(&role)), "{}", run.id);
        assert!(!run.is("role"));
    }
    assert!(super::published().iter().any(|run| run.is("derived_memory") && run.is("single_node")));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let windows = format!("\u{feff}{}", PUBLISHED.replace('\n', "\r\n"));
    assert_eq!(read(&windows).unwrap(), read(PUBLISHED).unwrap());
}

#[test]
fn absent_columns_are_named_one_by_one() {
    let errors = read("id,hardware\na,H100\n").unwrap_err();
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["line 1: there is no column `model`", "line 1: there is no column `n_devices`"]
    );
    assert_eq!(read("").unwrap_err()[0].message, "the file has no header");
    assert!(read("\n\n").is_err());
}

#[test]
fn columns_that_are_not_needed_may_be_absent_or_short() {
    let runs = read("id,model,hardware,n_devices,step_time_s,TP\na,Llama,H100,8,2.5\n").unwrap();
    assert_eq!((runs[0].step_time, runs[0].tensor_parallel), (Some(2.5), None));
    assert_eq!((runs[0].kind.as_str(), runs[0].tier.as_str()), ("train_step", "B"));
    assert_eq!(read("id,model,hardware,n_devices\n").unwrap(), []);
}

#[test]
fn a_number_that_cannot_be_read_costs_one_row() {
    let text = "id,model,hardware,n_devices,step_time_s,MBS\n\
                a,m,H100,eight,1,1\n\
                b,m,H100,8,nan,1\n\
                c,m,H100,8.0,1e-3,-1\n\
                d,m,H100,8,1,1,1,1\n";
    let runs = read(text).unwrap();
    let problems: Vec<&str> = runs.iter().map(|run| run.problems[0].as_str()).collect();
    assert_eq!(
        problems,
        [
            "`n_devices` is `eight`, not a positive whole number",
            "`step_time_s` is `nan`, not a positive number",
            "`MBS` is `-1`, not a positive whole number",
            "line 5 has 8 fields, the header 6",
        ]
    );
    assert_eq!(runs[2].num_devices, Some(8));
}

#[test]
fn remarks_beside_numbers_are_read_in_the_ascend_file() {
    let runs = read(ASCEND).unwrap();
    let find = |id: &str| runs.iter().find(|run| run.id == id).unwrap();
    let paper = find("P1");
    assert_eq!((paper.num_devices, paper.expert_parallel), (Some(6_144), Some(32)));
    assert_eq!((paper.global_batch_size, paper.seq_length), (Some(6_144), Some(8_192)));
    assert_eq!((paper.virtual_pipeline.as_str(), paper.kind.as_str()), ("2", "production_run"));
    let dies = find("M22");
    assert_eq!((dies.num_devices, dies.tokens_per_second_per_device), (Some(512), Some(457.485)));
    assert_eq!(find("P3").num_devices, Some(6_144));
    assert!(find("P3").assumed[0].contains("6K-10K"), "{:?}", find("P3").assumed);
    // The source's other run says what the baseline leaves open.
    assert!(find("P2").hardware.contains("800T A2") && find("P2").assumed.len() == 1);
    assert_eq!(find("M4").virtual_pipeline, "5 layers per virtual stage");
    assert_eq!((find("F12").tier.as_str(), find("M1").tier.as_str()), ("C", "A"));
}

#[test]
fn a_run_that_stands_in_both_files_counts_once() {
    let runs = super::published();
    let of = |id: &str| runs.iter().find(|run| run.id == id).unwrap().duplicate_of.clone();
    assert_eq!(of("M1").as_deref(), Some("mindspeed_rc3-001"));
    // The published row lacks the batch: it is the duplicate.
    assert_eq!(of("P1"), None);
    assert_eq!(of("pangu_ultra_moe-001").as_deref(), Some("P1"));
    // The same rate on another maker's devices is another run, and so is that of another model.
    assert_eq!(of("F1"), None);
    assert_eq!((of("N7"), of("mindspeed_rc3-024"), of("N22")), (None, None, None));
}

#[test]
fn a_row_may_refer_to_the_options_of_another() {
    let runs = read(ASCEND_2).unwrap();
    let find = |id: &str| runs.iter().find(|run| run.id == id).unwrap();
    assert_eq!(
        (find("N2").sharding.as_str(), find("N1").num_devices),
        ("FSDP (group 32)", Some(128))
    );
    assert!(
        find("N2").recompute.starts_with("FSDP32, full AC")
            && find("N2").overlap.contains("compile")
    );
    assert_eq!((find("N33").step_time, find("N35").tflops_per_device), (Some(2.82), Some(67.0)));
    assert_eq!((find("N6").memory, find("N6").measured_fields.len()), (Some(53.0), 2));
    assert_eq!((find("N31").tier.as_str(), find("N22").tier.as_str()), ("C", "C"));
    assert!(find("N6").source.contains("github mindspore-lab/mindformers"));
    // A row that refers to itself or to none keeps its words.
    let text = "id,model,hardware,devices,throughput,unit,memory_opts\n\
                a,m,A2,8,1,tok/s/NPU,as a + b\nb,m,A2,8,1,tok/s/NPU,as x\n";
    let runs = read(text).unwrap();
    assert_eq!((runs[0].overlap.as_str(), runs[1].overlap.as_str()), ("as a + b", "as x"));
}

/// A stream of numbers that look random, the same for ever.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }
}

#[test]
fn mutated_files_never_panic() {
    let mut random = Random(1);
    // The first rows of every kind, so that a round is quick.
    let lines: Vec<&str> = PUBLISHED.lines().collect();
    let pieces =
        ["", "\"", ",", "\n", "-", "1e308", "nan", "é", "9999999999999999999", "|", "(", "?"];
    for round in 0..300 {
        let start = 1 + random.below(lines.len() - 12);
        let mut text: Vec<char> = lines[0].chars().chain(['\n']).collect();
        text.extend(lines[start..start + 10].join("\n").chars());
        if round % 3 == 0 {
            text = ASCEND.chars().collect();
        }
        for _ in 0..1 + random.below(20) {
            let at = random.below(text.len());
            let length = random.below(6).min(text.len() - at);
            let piece = pieces[random.below(pieces.len())];
            text.splice(at..at + length, piece.chars());
        }
        let text: String = text.into_iter().collect();
        if let Ok(runs) = read(&text) {
            let validation = crate::validate(&runs);
            assert_eq!(validation.rows.len(), runs.len());
            for row in &validation.rows {
                assert!(row.predicted.is_some_and(f64::is_finite) || row.predicted.is_none());
                let answered = row.refused.is_some() || row.design.is_some();
                assert!(answered, "{row:?}");
            }
        }
    }
}
