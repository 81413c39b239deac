//! The measurements that the model's constants name are among those of this crate.
#![cfg(feature = "runs")]

use std::collections::BTreeMap;

use model::answer::constants::constants;
use model::ground::fitted::Evidence;
use model::metric::published::{HOST_RUNS, Phase};
use validation::kernels::{collective, deepep};
use validation::{runs, serving};

/// Ids of every published run, of training and of serving, with their sources.
fn published() -> impl Iterator<Item = (&'static str, &'static str)> {
    let training = runs::published().iter().map(|run| (run.id.as_str(), run.source_id.as_str()));
    let served = serving::published().iter();
    training.chain(served.map(|row| (row.id.as_str(), row.source_id.as_str())))
}

/// Rows of a table of kernels.
fn rows(kind: &str) -> usize {
    let lines = |text: &str| text.lines().count() - 1;
    match kind {
        "gemm" => lines(include_str!("../kernels/gemm.csv")),
        "attention" => lines(include_str!("../kernels/attention.csv")),
        "mla" => lines(include_str!("../kernels/mla.csv")),
        "cast" => lines(include_str!("../kernels/cast.csv")),
        "grouped" => lines(include_str!("../kernels/moe.csv")),
        "nccl" => collective::calls().len(),
        "deepep" | "hybridep" => deepep::exchanges().len(),
        other => panic!("no table of {other}"),
    }
}

#[test]
fn every_row_that_a_fitted_constant_names_is_published() {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    published().for_each(|(_, source)| *counts.entry(source).or_default() += 1);
    for constant in constants() {
        let name = &constant.name;
        match constant.evidence {
            Evidence::Runs(sources) => {
                for (source, rows) in sources {
                    let known = counts.get(source).copied().unwrap_or_default();
                    assert!(*rows > 0 && *rows <= known, "{name}: {source} has {known} rows");
                }
            }
            Evidence::Rows(ids) => {
                for id in ids {
                    let source = published().find(|(known, _)| known == id).map(|it| it.1);
                    assert_eq!(source, id.rsplit_once('-').map(|it| it.0), "{name}: {id}");
                }
            }
            Evidence::Kernels(_, kinds) => {
                for (kind, count) in kinds {
                    assert!(*count as usize <= rows(kind), "{name}: {kind}");
                }
            }
            Evidence::Unfitted(words) => assert!(!words.is_empty(), "{name}"),
        }
    }
}

#[test]
fn runs_with_experts_on_the_host_are_those_of_the_table() {
    let numbered = HOST_RUNS.iter().filter(|run| run.number > 0);
    assert_eq!(numbered.clone().count(), 44);
    for run in numbered {
        let id = format!("ktransformers-{:04}", run.number);
        let row = serving::published().iter().find(|row| row.id == id).unwrap();
        let phase = match run.phase {
            Phase::Decode => "decode",
            Phase::Prompt => "prefill",
        };
        assert_eq!((row.value.parse(), row.phase.as_str()), (Ok(run.figure.value), phase), "{id}");
        assert!(row.model.starts_with(run.experiment.model), "{id}: {}", row.model);
        assert_eq!(row.num_devices.parse(), Ok(run.cards), "{id}");
    }
}
