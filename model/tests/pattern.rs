//! What keeping experts by task covers: by hand, by exhaustive search, and what always holds.
#![cfg(feature = "text")]
#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use model::routing::pattern::text::{read, write};
use model::routing::pattern::{
    Collector, Coverage, Generator, Goal, Keep, Loading, Patterns, Set, Store, Switches, coverage,
    depth, overlap, together,
};
use proptest::prelude::*;

/// Two tasks, two layers, four experts.
const SMALL: &str = "task,layer,expert,tcess
math,3,0,4
math,3,1,3
math,3,2,2
math,3,3,1
math,4,0,1
math,4,1,1
math,4,2,1
math,4,3,7
code,3,0,1
code,3,3,3
code,4,3,2
code,4,2,2
";

fn small() -> Patterns {
    read(SMALL.as_bytes(), 1).unwrap()
}

fn members(set: &Set) -> Vec<usize> {
    (0..64).filter(|expert| set.has(*expert)).collect()
}

#[test]
fn a_small_trace_is_as_by_hand() {
    let patterns = small();
    assert_eq!(patterns.tasks(), ["math", "code"]);
    assert_eq!((patterns.layers(), patterns.experts()), (&[3, 4][..], 4));
    assert_eq!(patterns.mass(0, 0), [0.4, 0.3, 0.2, 0.1]);
    assert!(patterns.ranks(0, 1).eq([3, 0, 1, 2]));
    assert!(patterns.ranks(1, 1).eq([2, 3, 0, 1]));
    // Kept two: 0.7 and 0.8 of math, 1 and 1 of code.
    let math = Coverage::new(&patterns, 0);
    assert!((math.mean[2] - 0.75).abs() < 1e-12 && (math.least[2] - 0.7).abs() < 1e-12);
    assert_eq!((math.mean[0], math.mean[4]), (0.0, 1.0));
    assert_eq!(math.kept_for(0.74), 2);
    assert!((Coverage::new(&patterns, 1).mean[2] - 1.0).abs() < 1e-12);
    // {0, 1} and {0, 3} share one of two; {0, 3} and {2, 3} share one of two.
    assert_eq!(overlap(&patterns, 2), [[1.0, 0.5], [0.5, 1.0]]);
    let layers = depth(&patterns, 2);
    assert_eq!((layers[0].union, layers[1].union, layers[0].overlap), (3, 3, 0.5));
    // Pooled mass of layer 3: (0.4 + 0.25) / 2, 0.15, 0.1, (0.1 + 0.75) / 2.
    let pooled = patterns.pooled(&[0, 1]).unwrap();
    assert_eq!(members(&pooled.best(0, 0, 2)), [0, 3]);
    // Both tasks by the two best experts of both: 0.5 and 0.8 of math.
    let sets = [pooled.best(0, 0, 2), pooled.best(0, 1, 2)];
    let covered = coverage(&patterns, 0, &sets);
    assert!((covered[0] - 0.5).abs() < 1e-6 && (covered[1] - 0.8).abs() < 1e-6, "{covered:?}");
}

#[test]
fn a_store_a_switch_and_its_break_even_are_as_by_hand() {
    let patterns = small();
    let store = Store::new(&patterns);
    // 4 x 4 bytes and one further layer of 4 x 8.
    assert_eq!((store.pattern_bytes, store.bytes()), (48, 96));
    assert_eq!(patterns.nearest(&[1.0, 0.0, 0.0, 2.0]).unwrap().0, 1);
    assert_eq!(patterns.nearest(&[4.0, 3.0, 2.0, 0.0]), Some((0, 1.0)));
    assert_eq!(patterns.nearest(&[1.0]), None);
    let keep = |task| Keep::new(&patterns, task, 4, 1, Goal::Equal);
    let keeps = [keep(0), keep(1)];
    assert_eq!(keeps[0].missing(&keeps[1]), 2);
    let loading = Loading { expert_bytes: 10.0, bytes_per_second: 5.0 };
    let switches = Switches::new(&keeps, &loading).unwrap();
    assert_eq!((switches.experts, switches.bytes, switches.seconds), (2.0, 20.0, 4.0));
    // 100 tokens/s kept against 60: (1 - 0.6) / 4 s.
    assert!((switches.break_even(100.0, 60.0).unwrap() - 0.1).abs() < 1e-12);
    assert_eq!(switches.break_even(60.0, 100.0), None);
    assert_eq!(switches.break_even(60.0, 0.0), Some(0.25));
    assert_eq!(Switches::new(&keeps[..1], &loading), None);
}

#[test]
fn scores_of_tokens_are_means_of_the_logits_of_their_best_experts() {
    let tokens = [[3.0, 1.0, 2.0], [1.0, 5.0, 2.0]];
    let scores = |best| {
        let mut collector = Collector::new(2, 3, best);
        for (token, logits) in tokens.iter().enumerate() {
            for (expert, logit) in logits.iter().enumerate() {
                collector.add(0, token as u64, expert as u32, *logit).unwrap();
            }
        }
        collector.add(1, 0, 2, 4.0).unwrap();
        collector.scores()
    };
    assert_eq!(scores(1), [1.5, 2.5, 0.0, 0.0, 0.0, 4.0]);
    assert_eq!(scores(2), [1.5, 2.5, 2.0, 0.0, 0.0, 4.0]);
    let mut collector = Collector::new(1, 3, 1);
    assert!(collector.add(0, 0, 0, f64::NAN).is_err() && collector.add(1, 0, 0, 1.0).is_err());
}

#[test]
fn logits_of_tokens_give_the_scores_that_their_means_are_by_hand() {
    // Layer 3 of task a: token 0 has 3, 1, 2 and token 4 has 1, 5, 2; b has one token.
    let csv = "task,token,layer,expert,logit\n\
               a,0,3,0,3\na,0,3,1,1\na,0,3,2,2\nb,0,3,2,7\na,4,3,0,1\na,4,3,1,5\na,4,3,2,2\n";
    let patterns = read(csv.as_bytes(), 2).unwrap();
    assert_eq!(patterns.scores(0, 0), [1.5, 2.5, 2.0]);
    assert_eq!(patterns.scores(1, 0), [0.0, 0.0, 7.0]);
    let means = "task,layer,expert,tcess\na,3,0,1.5\na,3,1,2.5\na,3,2,2\nb,3,2,7\n";
    assert_eq!(read(means.as_bytes(), 1).unwrap(), patterns);
    assert_eq!(read(write(&patterns).as_bytes(), 1).unwrap(), patterns);
    let json = r#"[{"task":"a","token":0,"layer":3,"expert":0,"logit":3},
                   {"task":"a","token":1,"layer":3,"expert":0,"logit":1}]"#;
    assert_eq!(read(json.as_bytes(), 8).unwrap().scores(0, 0), [2.0]);
}

#[test]
fn tokens_that_come_twice_or_beside_means_are_told_by_line() {
    let lines = |rows: &str| {
        let csv = format!("task,token,layer,expert,logit\n{rows}");
        read(csv.as_bytes(), 1).unwrap_err().iter().map(|it| it.line).collect::<Vec<_>>()
    };
    assert_eq!(lines("a,0,3,0,3\na,1,3,0,1\na,0,3,1,1\n"), [4]);
    assert_eq!(lines("a,0,3,0,3\na,0,3,0,1\n"), [3]);
    assert_eq!(lines("a,x,3,0,3\n"), [2]);
    let mixed = r#"[{"task":"a","token":0,"layer":3,"expert":0,"logit":3},
                    {"task":"a","layer":3,"expert":0,"logit":1}]"#;
    let errors = read(mixed.as_bytes(), 1).unwrap_err();
    assert!(errors[0].message.contains("some scores are of tokens"), "{errors:?}");
}

#[test]
fn experts_that_tasks_keep_together_stand_above_chance() {
    // Experts 0 and 1 of two tasks, 2 and 3 of the others.
    let scores =
        [[2.0, 1.0, 0.0, 0.0], [2.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 1.0, 2.0]];
    let tasks = ["a", "b", "c", "d"].map(String::from).to_vec();
    let patterns = Patterns::new(tasks, vec![0], 4, scores.concat()).unwrap();
    let pairs = together(&patterns, 2, 8);
    let found: Vec<_> = pairs.iter().map(|it| (it.experts, it.tasks, it.lift)).collect();
    assert_eq!(found, [([0, 1], 2, 2.0), ([2, 3], 2, 2.0)]);
}

#[test]
fn a_hundred_generated_tasks_of_a_large_model_are_special_in_deep_layers() {
    let patterns = Generator::new(7, 100, 58, 256).patterns().unwrap();
    assert_eq!(patterns.seed(), Some(7));
    let curves: Vec<Coverage> = (0..100).map(|task| Coverage::new(&patterns, task)).collect();
    let matrix = overlap(&patterns, 64);
    let keeps: Vec<Keep> =
        (0..100).map(|task| Keep::new(&patterns, task, 58 * 64, 8, Goal::Mean)).collect();
    let layers = depth(&patterns, 64);
    assert!(curves.iter().all(|it| it.mean[64] > 0.5) && matrix.len() == 100);
    assert!(keeps.iter().zip(&curves).all(|(keep, curve)| keep.mean() >= curve.mean[64] - 1e-9));
    // Own scores count more in deep layers.
    assert!(layers[57].overlap < layers[0].overlap);
}

#[test]
fn errors_of_files_name_their_lines() {
    let lines = |text: &str| -> Vec<(usize, String)> {
        let errors = read(text.as_bytes(), 1).unwrap_err();
        errors.into_iter().map(|error| (error.line, error.message)).collect()
    };
    let head = "task,layer,expert,tcess\n";
    let found = lines(&format!("{head}a,0,x,1\na,0,1\na,0,2,nan\n"));
    assert_eq!(found[0], (2, "expert `x` is no whole number of 32 bits".into()));
    assert_eq!(found[1], (3, "the line has 3 fields, its columns are 4".into()));
    assert_eq!(lines(&format!("{head}a,0,0,nan\n"))[0].0, 2);
    assert_eq!(lines(&format!("{head}a,0,0,1\na,0,0,2\n"))[0].0, 3);
    assert_eq!(lines("task,layer,expert\n")[0].1, "column `tcess` is missing");
    assert_eq!(lines("task,step,expert,tcess\n")[0].0, 1);
    assert!(lines(&format!("{head}a,0,0,1\na,1,0,1\nb,0,0,1\n"))[0].1.contains("layer 1"));
    assert!(lines(&format!("{head}a,0,9999,1\n"))[0].1.contains("4095"));
    assert!(lines("")[0].1.contains("no scores"));
    assert_eq!(lines("[\n{\"task\":\"a\",\"layer\":0,\"expert\":0}\n]")[0].0, 2);
    assert!(lines("[{\"task\":\"a\",\"layer\":0,\"expert\":0,\"x\":1}]")[0].1.contains("x"));
    assert_eq!(lines("[]")[0].1, "the file has no scores");
    assert!(lines("{\"tasks\":{}}")[0].1.contains("list of records"));
}

#[test]
fn csv_and_json_say_the_same_in_any_order_and_under_both_names() {
    let json = r#"[{"task":"math","layer":3,"expert":1,"logit":3},
        {"expert":0,"task":"math","layer":3,"tcess":4.5}]"#;
    let csv = "logit, expert, layer, task\n3,1,3,\"math\"\r\n4.5,0,3,math\n\n";
    assert_eq!(read(json.as_bytes(), 1).unwrap(), read(csv.as_bytes(), 1).unwrap());
    let patterns = Generator::new(1, 3, 4, 16).patterns().unwrap();
    let back = read(write(&patterns).as_bytes(), 1).unwrap();
    assert_eq!(
        (back.tasks(), back.layers(), back.scores(2, 3)),
        (patterns.tasks(), patterns.layers(), patterns.scores(2, 3))
    );
}

/// Every way to keep at most this many experts of three layers, at least one of each.
fn exhaustive(patterns: &Patterns, budget: usize, value: impl Fn(&[f64]) -> f64) -> f64 {
    let sums: Vec<Vec<f64>> = (0..3)
        .map(|layer| {
            let mut mass = patterns.mass(0, layer);
            mass.sort_by(|one, other| other.total_cmp(one));
            (1..=mass.len()).map(|count| mass[..count].iter().sum()).collect()
        })
        .collect();
    let mut best = f64::NEG_INFINITY;
    let experts = patterns.experts();
    for a in 0..experts {
        for b in 0..experts {
            for c in 0..experts {
                if a + b + c + 3 <= budget {
                    best = best.max(value(&[sums[0][a], sums[1][b], sums[2][c]]));
                }
            }
        }
    }
    best
}

fn any_patterns() -> impl Strategy<Value = Patterns> {
    prop::collection::vec(0.0_f32..10.0, 3 * 5)
        .prop_map(|scores| Patterns::new(vec!["a".into()], vec![1, 2, 5], 5, scores).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_other_choice_over_layers_covers_more(patterns in any_patterns(), budget in 3_usize..=15) {
        let mean = Keep::new(&patterns, 0, budget, 1, Goal::Mean);
        let best = exhaustive(&patterns, budget, |covered| covered.iter().sum::<f64>() / 3.0);
        prop_assert!((mean.mean() - best).abs() < 1e-9, "{} {best}", mean.mean());
        let least = Keep::new(&patterns, 0, budget, 1, Goal::Least);
        let best =
            exhaustive(&patterns, budget, |all| all.iter().copied().fold(1.0, f64::min));
        prop_assert!((least.least() - best).abs() < 1e-9, "{} {best}", least.least());
        let equal = Keep::new(&patterns, 0, budget, 1, Goal::Equal);
        prop_assert!(equal.mean() <= mean.mean() + 1e-9);
        prop_assert!(equal.least() <= least.least() + 1e-9);
        for keep in [&mean, &least, &equal] {
            prop_assert!(keep.experts() <= budget);
        }
    }

    #[test]
    fn mass_is_conserved_and_coverage_only_grows(seed in 0_u64..1_000, tasks in 1_usize..5) {
        let patterns = Generator::new(seed, tasks, 4, 24).patterns().unwrap();
        for task in 0..tasks {
            let sum: f64 = patterns.mass(task, 2).iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
            let curve = Coverage::new(&patterns, task);
            prop_assert!(curve.mean.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
            // What one more expert adds never grows.
            prop_assert!(curve.mean.windows(3).all(|it| it[2] - it[1] <= it[1] - it[0] + 1e-9));
            let mut both = curve.least.iter().zip(&curve.mean);
            prop_assert!(both.all(|(least, mean)| *least <= mean + 1e-9));
        }
    }

    #[test]
    fn overlap_is_symmetric_and_whole_where_all_are_kept(
        seed in 0_u64..1_000,
        kept in 1_usize..24,
    ) {
        let patterns = Generator::new(seed, 4, 3, 24).patterns().unwrap();
        let matrix = overlap(&patterns, kept);
        for (row, own) in matrix.iter().enumerate() {
            prop_assert!((own[row] - 1.0).abs() < 1e-12);
            for (column, share) in own.iter().enumerate() {
                prop_assert_eq!(share.to_bits(), matrix[column][row].to_bits());
                prop_assert!((0.0..=1.0).contains(share));
            }
        }
        prop_assert!(overlap(&patterns, 24).concat().iter().all(|share| *share >= 1.0));
        // Of both pooled, no task is covered better than by its own.
        let pooled = patterns.pooled(&[0, 1]).unwrap();
        let sets: Vec<Set> = (0..3).map(|layer| pooled.best(0, layer, kept)).collect();
        let together: f64 = coverage(&patterns, 0, &sets).iter().sum::<f64>() / 3.0;
        prop_assert!(together <= Coverage::new(&patterns, 0).mean[kept] + 1e-6);
    }

    #[test]
    fn nothing_in_a_file_makes_the_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = read(&bytes, 2);
        let mut text = b"task,layer,expert,tcess\n".to_vec();
        text.extend(&bytes);
        let _ = read(&text, 2);
        let mut text = b"[{\"task\":".to_vec();
        text.extend(&bytes);
        let _ = read(&text, 2);
    }
}
