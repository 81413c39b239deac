//! Charts of several designs: every text in its place, and each design recognisable by more than a
//! color.

use model::training::estimate::{Estimate, StepPart};
use model::{Plan, design::link, estimate};
use present::charts::{self, Compared};

use crate::{STAGES, WIDTHS, bars, check, has, titles, with_communication, with_stages};

fn named(estimates: &[Estimate]) -> Vec<Compared<'_>> {
    let named = estimates.iter().enumerate();
    let name = |place: usize| format!("Pangu Ultra MoE on 6,144 NPUs, VPP {place}");
    named.map(|(place, estimate)| Compared { place, name: name(place), estimate }).collect()
}

#[test]
fn memory_of_several_designs_is_readable_at_any_width_and_number_of_stages() {
    for width in WIDTHS {
        for num_stages in STAGES {
            for count in 1..=4 {
                let estimates: Vec<Estimate> = (0..count)
                    .map(|place| with_stages(num_stages.div_ceil(place + 1), 30.0))
                    .collect();
                let texts = check(&charts::compared_memory(&named(&estimates), width));
                assert!(has(&texts, "Limit 60.3 GiB") && has(&texts, "0"), "{texts:?}");
            }
        }
    }
}

#[test]
fn bars_beside_each_other_are_as_tall_as_their_numbers() {
    let estimates = [with_stages(8, 20.0), with_stages(8, 40.0)];
    let svg = charts::compared_memory(&named(&estimates), 640);
    let heights: Vec<i32> = bars(&svg).iter().map(|bars| bars[0][3] - bars[0][1]).collect();
    assert_eq!(heights.len(), 16);
    for stage in 0..8 {
        let wanted = estimates[1].stages[stage].memory.peak().to_gib()
            / estimates[0].stages[stage].memory.peak().to_gib();
        let found = f64::from(heights[8 + stage]) / f64::from(heights[stage]);
        assert!((found / wanted - 1.0).abs() < 0.03, "stage {stage}: {found} {wanted}");
    }
}

#[test]
fn designs_are_told_by_letters_and_fillings_too() {
    let estimates = [0, 1, 2, 3].map(|_| with_stages(4, 30.0));
    let svg = charts::compared_memory(&named(&estimates), 640);
    let texts = check(&svg);
    for letter in ["A", "B", "C", "D"] {
        assert_eq!(texts.iter().filter(|text| text.text == letter).count(), 4, "{letter}");
        let class = format!("chart-design-{}", letter.to_lowercase());
        assert!(svg.contains(&class), "{class}");
    }
    assert!(svg.contains("chart-hatch"), "B is hatched");
}

#[test]
fn each_limit_has_its_line_and_its_designs() {
    let mut estimates = [with_stages(4, 30.0), with_stages(4, 30.0)];
    estimates[1].metrics.memory_limit = model::ground::units::Bytes::gib(76.0);
    let texts = check(&charts::compared_memory(&named(&estimates), 640));
    assert!(has(&texts, "Limit of A: 60.3 GiB") && has(&texts, "Limit of B: 76.0 GiB"));
}

#[test]
fn stacked_steps_are_as_long_as_their_time() {
    let of = |query: &str| {
        let design = link::decode(query).expect("a link that decodes");
        estimate(&Plan::new(&design).expect("a legal design"))
    };
    let estimates = [of(""), of("preset=pangu-ultra-moe-4k-baseline")];
    for width in WIDTHS {
        let svg = charts::compared_step(&named(&estimates), width);
        let texts = check(&svg);
        assert!(has(&texts, "A") && has(&texts, "B"));
        let pieces = estimates
            .iter()
            .map(|estimate| estimate.step.parts().filter(|(_, time)| time.get() > 0.0).count());
        assert!(titles(&svg) <= pieces.sum());
    }
    let svg = charts::compared_step(&named(&estimates), 960);
    let ends = bars(&svg);
    let left = ends[0][0][0];
    let row = |top: i32| ends.iter().flatten().filter(move |bar| bar[1] == top);
    let mut tops: Vec<i32> = ends.iter().flatten().map(|bar| bar[1]).collect();
    tops.dedup();
    let length = |top| f64::from(row(top).map(|bar| bar[2]).max().expect("bars") - left);
    let wanted = estimates[0].step.total() / estimates[1].step.total();
    assert!((length(tops[0]) / length(tops[1]) / wanted - 1.0).abs() < 0.02);
}

#[test]
fn bubble_and_axes_are_readable_and_their_exposed_part_is_solid() {
    for width in WIDTHS {
        let estimates = [with_communication(7, 4e11), with_communication(2, 4e11)];
        let svg = charts::compared_axes(&named(&estimates), width);
        let texts = check(&svg);
        for name in ["Bubble: stages wait for each other", "TP communication"] {
            assert!(has(&texts, name), "{texts:?}");
        }
    }
    let table = charts::compared_axes_table(&named(&[with_communication(3, 4e11)]));
    assert_eq!(table[0], ["Axis", "A time (s)", "A exposed (s)"]);
    assert_eq!(table[1][0], "Bubble: stages wait for each other");
    assert_eq!(table[3][1..], ["2.00", "1.00"], "half of the second one is exposed");
}

#[test]
fn tables_have_every_stage_and_every_part_of_time() {
    let estimates = [with_stages(4, 30.0), with_stages(2, 30.0)];
    let memory = charts::compared_memory_table(&named(&estimates));
    assert_eq!(memory.len(), 5);
    assert_eq!(memory[4][3..], ["–", "–"], "B has no fourth stage");
    let step = charts::compared_step_table(&named(&estimates));
    let used = StepPart::ALL
        .into_iter()
        .filter(|part| estimates.iter().any(|it| it.step.part(*part).get().abs() > 0.0));
    assert_eq!(step.len(), used.count() + 2);
}
