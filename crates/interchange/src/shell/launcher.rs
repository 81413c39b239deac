//! What launchers of processes are told by words of their own, and what a job's size is.

use super::job::{self, Hosts, Job, Said};
use super::script::Script;
use super::word::Word;
use super::wrapper;
use crate::arguments::{Argument, spelled};
use crate::draft::Draft;
use crate::job::{JobSize, SourcedNumber};

/// Options of launchers that are torchrun's by another name.
///
/// Sources: `deepspeed/launcher/runner.py:parse_args`; Accelerate's `commands/launch.py`;
/// `colossalai/cli/launcher`.
const NAMES: &[(&str, &[(&str, &str)])] = &[
    ("deepspeed", &[("num-nodes", "--nnodes"), ("num-gpus", "--nproc-per-node")]),
    ("accelerate", &[("num-machines", "--nnodes"), ("num-processes", "--world-size")]),
    ("horovodrun", &[("num-proc", "--world-size")]),
];

/// Options before the program, in torchrun's words; and what is told of the job beside them, which
/// the draft keeps. What only a variable says that nothing sets is an argument, so that it is
/// asked for.
pub(super) fn machine(
    script: &Script,
    words: &mut [Word],
    told: &Job,
    draft: &mut Draft,
) -> Vec<Argument> {
    let mut own = told.clone();
    let place = words.iter().take(8).position(|(word, _)| {
        NAMES.iter().any(|(name, _)| wrapper::base(word) == *name)
            || wrapper::base(word) == "colossalai"
    });
    if let Some(place) = place {
        let is_program = |(word, _): &Word| {
            word.ends_with(".py") || matches!(word.as_str(), "-m" | "--module" | "--no_python")
        };
        let rest = words.get_mut(place..).unwrap_or_default();
        let end = rest.iter().position(is_program).unwrap_or(rest.len());
        let options = rest.get_mut(..end).unwrap_or_default();
        rename(options);
        let mut file = |path: &str| script.host_file(path);
        own.launcher(options, &mut file);
    }
    starters(&own, draft);
    draft.job = size(&own);
    open(&own, words)
}

fn rename(options: &mut [Word]) {
    let launcher = options.first().map(|(word, _)| wrapper::base(word).to_owned());
    let row = NAMES.iter().find(|(name, _)| Some(*name) == launcher.as_deref());
    let Some((_, names)) = row else { return };
    for (word, _) in options {
        let (name, value) =
            word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
        let found = names.iter().find(|(own, _)| name.starts_with("--") && *own == spelled(name));
        if let Some((_, theirs)) = found {
            *word = value.map_or_else(|| (*theirs).to_owned(), |value| format!("{theirs}={value}"));
        }
    }
}

/// Says which commands only start the training.
fn starters(own: &Job, draft: &mut Draft) {
    for (name, line) in own.starters.iter().take(16) {
        let reason = "starts the command: its options are its own; of them, nodes, processes and \
                      devices are read";
        draft.ignore(name, *line, reason);
    }
}

fn told(said: Option<&Said>, value: Option<u64>) -> Option<SourcedNumber> {
    let (said, value) = (said?, value?);
    Some(SourcedNumber { value, key: said.key.clone(), line: said.line })
}

/// The job's size: each process has a device, but where a node has several and one process.
fn size(own: &Job) -> JobSize {
    let (nodes, each) = (own.node_count(), own.node_devices());
    let ranks = own.rank_count();
    let said_nodes = own.nodes.as_ref().or(own.ranks.as_ref()).or(own.devices.as_ref());
    let said_each = own.devices_per_node.as_ref().or(own.devices_per_rank.as_ref());
    let said_each = said_each.or(own.devices.as_ref());
    let said_ranks = own.ranks.as_ref().or(own.ranks_per_node.as_ref());
    let of_node = own.ranks_per_node.as_ref().and_then(Said::number);
    let of_node = of_node.or_else(|| Some(ranks?.div_ceil(nodes?)));
    let all = own.devices.as_ref().and_then(Said::number);
    let by_devices = nodes.zip(each).map(|(nodes, each)| nodes.saturating_mul(each)).or(all);
    // One process of a node may be a launcher, which has all of its devices.
    let world = match ranks.filter(|_| of_node != Some(1)) {
        Some(ranks) => told(said_ranks, Some(ranks)),
        None => told(said_nodes.or(own.devices.as_ref()), by_devices),
    };
    let each = told(said_each, each)
        .or_else(|| told(own.ranks_per_node.as_ref(), of_node.filter(|count| *count > 1)));
    JobSize { nodes: told(said_nodes, nodes), per_node: each, world }
}

/// A number of nodes or processes that only a variable says.
fn open(own: &Job, words: &[Word]) -> Vec<Argument> {
    let is_open = |said: &&Said| said.number().is_none() && said.value.contains('$');
    let given = |names: [&str; 3]| {
        words.iter().any(|(word, _)| {
            let name = spelled(word.split('=').next().unwrap_or_default());
            names.contains(&name.rsplit('.').next().unwrap_or_default())
        })
    };
    let nodes = own.nodes.as_ref().filter(is_open);
    let nodes = nodes.filter(|_| !given(["nnodes", "num-nodes", "world-size"]));
    let ranks = own.ranks.as_ref().filter(is_open).filter(|_| own.nodes.is_none());
    let ranks = ranks.filter(|_| !given(["nnodes", "world-size", "nproc-per-node"]));
    let each = [("nnodes", nodes), ("world-size", ranks)];
    let made = each.into_iter().filter_map(|(name, said)| {
        let said = said?;
        Some(Argument { name: name.to_owned(), values: vec![said.value.clone()], line: said.line })
    });
    made.collect()
}

impl Script {
    /// The text of a file that the script wrote, or that is beside it, and the line before its
    /// first.
    pub(super) fn known_file(&self, path: &str) -> Option<(String, u64)> {
        let own = self.written.iter().rev();
        let own = own.clone().find(|file| super::written::is_same_file(&file.path, path));
        if let Some(file) = own {
            return Some((file.text.clone(), file.line));
        }
        self.files.text(self.files.find(path).filter(|index| *index > 0)?)
    }

    /// The hosts of a file, where it is known.
    pub(super) fn host_file(&self, path: &str) -> Option<Hosts> {
        self.known_file(path).map(|(text, _)| job::host_file(&text))
    }
}
