//! Number of nodes and devices of a job, as given to schedulers and launchers.
//!
//! Sources: the manual pages of Slurm's `sbatch` and `srun` ("OUTPUT ENVIRONMENT VARIABLES"), of
//! Open MPI's `mpirun(1)` and MPICH's `mpiexec`, PBS Professional's `qsub`, LSF's `bsub` and
//! `jsrun`; DeepSpeed's `deepspeed/launcher/runner.py:fetch_hostfile` and `parse_resource_filter`.

use super::word::Word;
use super::wrapper;
use super::wrapper::Found;

/// A number that something says, as it is written: a variable that nothing sets may stand in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) value: String,
    pub(super) key: String,
    pub(super) line: u64,
}

impl Said {
    /// A number that is known.
    pub(super) fn new(value: u64, key: &str, line: u64) -> Option<Self> {
        (value > 0).then(|| Self { value: value.to_string(), key: key.to_owned(), line })
    }

    pub(super) fn number(&self) -> Option<u64> {
        self.value.parse().ok().filter(|number| *number > 0)
    }
}

/// Nodes, processes and devices of a job, each with what gave it last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Job {
    pub(super) nodes: Option<Said>,
    /// Processes, all together, and of each node.
    pub(super) ranks: Option<Said>,
    pub(super) ranks_per_node: Option<Said>,
    /// Devices, all together, of each node, and of each process.
    pub(super) devices: Option<Said>,
    pub(super) devices_per_node: Option<Said>,
    pub(super) devices_per_rank: Option<Said>,
    /// Whether `--gpus-per-node` gives the devices of a node: then a variable has them.
    gpus_per_node: bool,
    /// Commands that start the command, with their lines.
    pub(super) starters: Vec<(&'static str, u64)>,
    /// Schedulers that were told something.
    schedulers: Vec<&'static str>,
}

/// Quantity that an option gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Nodes,
    Ranks,
    RanksPerNode,
    Devices,
    DevicesPerNode,
    DevicesPerRank,
    /// `--gres=gpu:h100:8`.
    Resources,
    /// `--map-by ppr:8:node`.
    Mapping,
    /// `a:8,b:8`, or `node[01-16]`.
    Hosts,
    /// A file of hosts.
    HostFile,
    /// DeepSpeed's `worker-0@worker-1:0,2`.
    Include,
}

#[rustfmt::skip]
const SLURM: &[(&str, Part)] = &[
    ("-N", Part::Nodes), ("--nodes", Part::Nodes),
    ("-n", Part::Ranks), ("--ntasks", Part::Ranks),
    ("--ntasks-per-node", Part::RanksPerNode), ("--tasks-per-node", Part::RanksPerNode),
    ("-G", Part::Devices), ("--gpus", Part::Devices),
    ("--gpus-per-node", Part::DevicesPerNode), ("--gres", Part::Resources),
    ("--gpus-per-task", Part::DevicesPerRank),
];

#[rustfmt::skip]
const MPI: &[(&str, Part)] = &[
    ("-np", Part::Ranks), ("--np", Part::Ranks), ("-n", Part::Ranks), ("--n", Part::Ranks),
    ("-c", Part::Ranks), ("--ntasks", Part::Ranks),
    ("-N", Part::RanksPerNode), ("-npernode", Part::RanksPerNode),
    ("--npernode", Part::RanksPerNode), ("-ppn", Part::RanksPerNode),
    ("--ppn", Part::RanksPerNode), ("-perhost", Part::RanksPerNode),
    ("--ntasks-per-node", Part::RanksPerNode),
    ("--map-by", Part::Mapping), ("-map-by", Part::Mapping),
    ("-H", Part::Hosts), ("-host", Part::Hosts), ("--host", Part::Hosts),
    ("-hosts", Part::Hosts), ("--hosts", Part::Hosts),
    ("-hostfile", Part::HostFile), ("--hostfile", Part::HostFile),
    ("-machinefile", Part::HostFile), ("--machinefile", Part::HostFile), ("-f", Part::HostFile),
];

/// `flux run -N 2 -n 16 -g 1`, where `-N` are nodes.
const FLUX: &[(&str, Part)] = &[
    ("-N", Part::Nodes),
    ("--nodes", Part::Nodes),
    ("-n", Part::Ranks),
    ("--ntasks", Part::Ranks),
    ("-g", Part::DevicesPerRank),
    ("--gpus-per-task", Part::DevicesPerRank),
];

/// Shells on several hosts: one process on each.
const HOSTS: &[(&str, Part)] =
    &[("-w", Part::Hosts), ("-f", Part::HostFile), ("-h", Part::HostFile), ("-H", Part::Hosts)];

/// Launchers of processes, which win over whatever starts them.
#[rustfmt::skip]
const LAUNCHER: &[(&str, Part)] = &[
    ("--nnodes", Part::Nodes), ("--nproc-per-node", Part::DevicesPerNode),
    ("--nproc_per_node", Part::DevicesPerNode),
];

/// DeepSpeed's launcher, by its options that name hosts.
const DEEPSPEED: &[(&str, Part)] = &[
    ("--hostfile", Part::HostFile),
    ("-H", Part::HostFile),
    ("--include", Part::Include),
    ("-i", Part::Include),
    ("--host", Part::Hosts),
];

/// Variables that schedulers set.
pub(super) const VARIABLES: [&str; 12] = [
    "SLURM_NNODES",
    "SLURM_JOB_NUM_NODES",
    "SLURM_NTASKS",
    "SLURM_NPROCS",
    "SLURM_NTASKS_PER_NODE",
    "SLURM_GPUS_ON_NODE",
    "SLURM_GPUS_PER_NODE",
    "SLURM_GPUS",
    "SLURM_GPUS_PER_TASK",
    "PBS_NUM_NODES",
    "PBS_NUM_PPN",
    "PBS_NP",
];

/// Hosts, and the slots of each where all have as many.
pub(super) type Hosts = (u64, Option<u64>);

impl Job {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes what a command that starts others says.
    pub(super) fn take(&mut self, found: &Found<'_>, file: &mut dyn FnMut(&str) -> Option<Hosts>) {
        self.starters.push((found.name, found.line));
        let table = match found.name {
            "srun" | "salloc" | "sbatch" | "crun" => SLURM,
            "jsrun" => return self.resource_sets(found),
            "flux run" => FLUX,
            "pdsh" | "clush" | "ds_ssh" | "parallel-ssh" | "pssh" | "xdsh" => HOSTS,
            "torchrun" => LAUNCHER,
            "mpirun" | "mpiexec" | "orterun" | "mpiexec.hydra" | "mpirun_rsh" | "prterun"
            | "aprun" | "horovodrun" | "lrun" => MPI,
            _ => return,
        };
        let mut own = Self::default();
        for (name, value, line) in &found.options {
            own.option(table, found.name, name, value, *line, file);
        }
        if found.name == "torchrun" && self.nodes.is_none() && own.nodes.is_none() {
            // `--nnodes` is 1 by default.
            own.nodes = Said::new(1, "torchrun", found.line);
        }
        if matches!(found.name, "srun" | "salloc" | "sbatch" | "crun") {
            self.schedulers.push("slurm");
        }
        self.overlay(&own);
    }

    fn option(
        &mut self,
        table: &[(&str, Part)],
        starter: &str,
        name: &str,
        value: &str,
        line: u64,
        file: &mut dyn FnMut(&str) -> Option<Hosts>,
    ) {
        let Some((_, part)) = table.iter().find(|(own, _)| *own == name) else { return };
        let key = format!("{starter} {name}");
        let said = |value: String| Some(Said { value, key: key.clone(), line });
        match part {
            // `--nodes=2-4` are at least two.
            Part::Nodes => {
                let most = value.split_once('-').map_or(value, |(least, _)| least);
                self.nodes = said(most.to_owned());
            }
            Part::Ranks => self.ranks = said(value.to_owned()),
            Part::RanksPerNode => self.ranks_per_node = said(value.to_owned()),
            Part::Devices => self.devices = said(of_type(value)),
            Part::DevicesPerNode => {
                self.gpus_per_node = true;
                self.devices_per_node = said(of_type(value));
            }
            Part::DevicesPerRank => self.devices_per_rank = said(of_type(value)),
            Part::Resources => {
                if let Some(count) = resources(value) {
                    self.devices_per_node = said(count);
                }
            }
            Part::Mapping => {
                let mut parts = value.split(':').skip_while(|part| *part != "ppr").skip(1);
                if let (Some(count), Some("node")) = (parts.next(), parts.next()) {
                    self.ranks_per_node = said(count.to_owned());
                }
            }
            Part::Hosts => self.hosts(hosts(value), &key, line),
            Part::HostFile => {
                if let Some(found) = file(value) {
                    self.hosts(found, &key, line);
                }
            }
            Part::Include => self.hosts(included(value), &key, line),
        }
    }

    fn hosts(&mut self, (count, slots): Hosts, key: &str, line: u64) {
        if count > 0 {
            self.nodes = Said::new(count, key, line);
        }
        if let Some(slots) = slots {
            self.devices_per_node = Said::new(slots, key, line);
        }
    }

    /// `jsrun -n 12 -a 6 -g 6 -r 1`: sets of resources, with processes and devices in each.
    fn resource_sets(&mut self, found: &Found<'_>) {
        let number = |names: [&str; 2]| {
            let option = found.options.iter().rev().find(|option| names.contains(&option.0));
            option.and_then(|(_, value, line)| Some((value.parse::<u64>().ok()?, *line)))
        };
        let (sets, line) = number(["-n", "--nrs"]).unwrap_or((0, found.line));
        let said = |value: u64, name: &str| Said::new(value, &format!("jsrun {name}"), line);
        let each = number(["-g", "--gpu_per_rs"]).map_or(0, |it| it.0);
        let on_host = number(["-r", "--rs_per_host"]).map_or(0, |it| it.0);
        let own = Self {
            ranks: number(["-p", "--np"]).and_then(|(ranks, _)| said(ranks, "--np")),
            devices: said(sets.saturating_mul(each), "--nrs x --gpu_per_rs"),
            devices_per_node: said(on_host.saturating_mul(each), "--rs_per_host x --gpu_per_rs"),
            ..Self::default()
        };
        self.overlay(&own);
    }

    /// Puts what was said later over this: a step of a job has its own number of processes.
    pub(super) fn overlay(&mut self, later: &Self) {
        if later.nodes.is_some() || later.ranks_per_node.is_some() {
            self.ranks = None;
        }
        if later.nodes.is_some() || later.devices_per_node.is_some() {
            self.devices = None;
        }
        let number = |said: &Option<Said>| said.as_ref().and_then(Said::number);
        if later.ranks.is_some() && number(&later.ranks) != self.rank_count() {
            self.ranks_per_node = None;
        }
        let put = |own: &mut Option<Said>, later: &Option<Said>| {
            if later.is_some() {
                own.clone_from(later);
            }
        };
        put(&mut self.nodes, &later.nodes);
        put(&mut self.ranks, &later.ranks);
        put(&mut self.ranks_per_node, &later.ranks_per_node);
        put(&mut self.devices, &later.devices);
        put(&mut self.devices_per_node, &later.devices_per_node);
        put(&mut self.devices_per_rank, &later.devices_per_rank);
        self.gpus_per_node |= later.gpus_per_node;
        self.starters.extend(later.starters.iter().copied());
        self.schedulers.extend(later.schedulers.iter().copied());
    }

    /// Job from the comments at the head of a script that are for its scheduler.
    ///
    /// Slurm reads them up to the first command.
    pub(super) fn directives(text: &str, base: u64) -> Self {
        let mut job = Self::default();
        for (line, content) in (base + 1..).zip(text.lines()) {
            let content = content.trim();
            if !content.is_empty() && !content.starts_with('#') {
                break;
            }
            let content = content.split(" #").next().unwrap_or_default();
            let mut words = content.split_whitespace().map(|word| (word.to_owned(), line));
            let Some((mark, _)) = words.next() else { continue };
            match mark.as_str() {
                "#SBATCH" => job.slurm(words, line),
                "#PBS" => job.pbs(&words.collect::<Vec<_>>(), line),
                "#BSUB" => job.lsf(&words.collect::<Vec<_>>(), line),
                "#$" | "#PJM" => job.grid(words, &mark, line),
                _ => {}
            }
        }
        job
    }

    fn slurm(&mut self, words: impl Iterator<Item = Word>, line: u64) {
        let words: Vec<Word> = std::iter::once(("sbatch".to_owned(), line)).chain(words).collect();
        let Some(found) = wrapper::find(&words) else { return };
        for (name, value, line) in &found.options {
            self.option(SLURM, "#SBATCH", name, value, *line, &mut |_| None);
        }
        if self.schedulers.is_empty() {
            self.schedulers.push("slurm");
        }
    }

    /// `-l select=24:ngpus=8:mpiprocs=8`, and Torque's `-l nodes=4:ppn=8:gpus=8`.
    fn pbs(&mut self, words: &[Word], line: u64) {
        let parts = words.iter().flat_map(|(word, _)| word.split(','));
        let mut all: Option<(u64, u64, u64)> = None;
        for part in parts {
            let part = part.trim_start_matches("-l");
            let Some(chunks) = part.strip_prefix("select=").or(part.strip_prefix("nodes=")) else {
                continue;
            };
            for chunk in chunks.split('+') {
                let mut fields = chunk.split(':');
                let count = fields.next().and_then(|count| count.parse().ok()).unwrap_or(1_u64);
                let named = |names: [&str; 2]| {
                    let value = |field: &str| {
                        let (name, value) = field.split_once('=')?;
                        names.contains(&name).then(|| value.parse().ok()).flatten()
                    };
                    chunk.split(':').find_map(value).unwrap_or(0_u64)
                };
                let (gpus, ranks) = (named(["ngpus", "gpus"]), named(["mpiprocs", "ppn"]));
                let (nodes, most, each) = all.unwrap_or_default();
                all = Some((nodes.saturating_add(count), most.max(gpus), each.max(ranks)));
            }
        }
        let Some((nodes, gpus, ranks)) = all else { return };
        let said = |value: u64, key: &str| Said::new(value, &format!("#PBS {key}"), line);
        self.nodes = said(nodes, "-l select");
        self.devices_per_node = said(gpus, "-l select: ngpus");
        self.ranks_per_node = said(ranks, "-l select: mpiprocs");
        self.schedulers.push("pbs");
    }

    /// `-l rt_F=8` and `-l node_f=8` of Grid Engine's sites, `-L node=8` of Fujitsu's.
    fn grid(&mut self, words: impl Iterator<Item = Word>, mark: &str, line: u64) {
        const NAMES: [&str; 6] = ["rt_F", "rt_AF", "node_f", "node_h", "node", "vnode"];
        for (word, _) in words {
            for (name, value) in word.split(',').filter_map(|part| part.split_once('=')) {
                let count = value.split(':').next().and_then(|count| count.parse().ok());
                if let Some(count) = count.filter(|_| NAMES.contains(&name)) {
                    self.nodes = Said::new(count, &format!("{mark} {name}"), line);
                }
            }
        }
    }

    /// `-nnodes 16`, `-n 64`, `-gpu "num=4"` and `-R "span[ptile=4]"`.
    fn lsf(&mut self, words: &[Word], line: u64) {
        let said = |value: &str, key: &str| {
            Some(Said { value: value.to_owned(), key: format!("#BSUB {key}"), line })
        };
        let digits =
            |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
        let mut words = words.iter().map(|(word, _)| word.as_str()).peekable();
        while let Some(word) = words.next() {
            let value = words.peek().copied().unwrap_or_default();
            match word {
                "-nnodes" => self.nodes = said(value, word),
                "-n" => self.ranks = said(value, word),
                "-gpu" => {
                    if let Some((_, count)) = value.split_once("num=") {
                        self.devices_per_node = said(&digits(count), word);
                    }
                }
                "-R" => {
                    if let Some((_, count)) = value.split_once("ptile=") {
                        self.ranks_per_node = said(&digits(count), word);
                    }
                }
                _ => {}
            }
        }
        self.schedulers.push("lsf");
    }

    /// Adds what DeepSpeed's launcher says of hosts.
    pub(super) fn launcher(&mut self, words: &[Word], file: &mut dyn FnMut(&str) -> Option<Hosts>) {
        let mut own = Self::default();
        // What is chosen of the hosts comes behind the file that has them all.
        let (files, chosen) = DEEPSPEED.split_at(2);
        for table in [files, chosen] {
            for (place, (word, line)) in words.iter().enumerate() {
                let (name, value) =
                    word.split_once('=').map_or((word.as_str(), None), |(n, v)| (n, Some(v)));
                let next = words.get(place + 1).map(|(word, _)| word.as_str());
                if let Some(value) = value.or(next) {
                    own.option(table, "the launcher's", name, value, *line, file);
                }
            }
        }
        self.overlay(&own);
    }

    /// Nodes, as far as they follow.
    pub(super) fn node_count(&self) -> Option<u64> {
        let number = |said: &Option<Said>| said.as_ref().and_then(Said::number);
        let of = |all: Option<u64>, each: Option<u64>| Some(all?.div_ceil(each?));
        number(&self.nodes)
            .or_else(|| of(number(&self.ranks), number(&self.ranks_per_node)))
            .or_else(|| of(number(&self.devices), number(&self.devices_per_node)))
    }

    /// Processes, as far as they follow.
    pub(super) fn rank_count(&self) -> Option<u64> {
        let number = |said: &Option<Said>| said.as_ref().and_then(Said::number);
        number(&self.ranks)
            .or_else(|| Some(self.node_count()?.saturating_mul(number(&self.ranks_per_node)?)))
    }

    /// Devices of a node, as far as they follow.
    pub(super) fn node_devices(&self) -> Option<u64> {
        let number = |said: &Option<Said>| said.as_ref().and_then(Said::number);
        let of_ranks = || {
            let each = number(&self.devices_per_rank)?;
            let ranks = number(&self.ranks_per_node)
                .or_else(|| Some(number(&self.ranks)?.div_ceil(self.node_count()?)));
            // Without a number of processes a node has one.
            let ranks = ranks.or_else(|| self.ranks.is_none().then_some(1))?;
            Some(each.saturating_mul(ranks))
        };
        let of_all = || {
            let all = number(&self.devices)?;
            let nodes = number(&self.nodes)?;
            all.is_multiple_of(nodes).then_some(all / nodes)
        };
        number(&self.devices_per_node).or_else(of_ranks).or_else(of_all)
    }

    /// The variables that schedulers set, with the lines that they follow from.
    pub(super) fn variables(&self) -> Vec<(&'static str, String, u64)> {
        let line = |said: &Option<Said>| said.as_ref().map_or(0, |said| said.line);
        let (nodes, at) = (self.node_count(), line(&self.nodes));
        let mut made: Vec<(&'static str, Option<u64>, u64)> = vec![];
        if self.schedulers.contains(&"slurm") {
            let ranks = self.rank_count().or(nodes);
            let ranks_at = line(&self.ranks).max(line(&self.ranks_per_node)).max(at);
            let each = self.ranks_per_node.as_ref().and_then(Said::number);
            let (gpus, gpus_at) = (self.node_devices(), line(&self.devices_per_node));
            made.extend([
                ("SLURM_NNODES", nodes, at),
                ("SLURM_JOB_NUM_NODES", nodes, at),
                ("SLURM_NTASKS", ranks, ranks_at),
                ("SLURM_NPROCS", ranks, ranks_at),
                ("SLURM_NTASKS_PER_NODE", each, ranks_at),
                ("SLURM_GPUS_ON_NODE", gpus, gpus_at),
                ("SLURM_GPUS_PER_NODE", gpus.filter(|_| self.gpus_per_node), gpus_at),
                ("SLURM_GPUS", self.devices.as_ref().and_then(Said::number), line(&self.devices)),
                (
                    "SLURM_GPUS_PER_TASK",
                    self.devices_per_rank.as_ref().and_then(Said::number),
                    line(&self.devices_per_rank),
                ),
            ]);
        }
        if self.schedulers.contains(&"pbs") {
            let each = self.ranks_per_node.as_ref().and_then(Said::number);
            made.extend([
                ("PBS_NUM_NODES", nodes, at),
                ("PBS_NUM_PPN", each, at),
                ("PBS_NP", self.rank_count(), at),
            ]);
        }
        let known = made.into_iter().filter_map(|(name, value, line)| Some((name, value?, line)));
        known.map(|(name, value, line)| (name, value.to_string(), line)).collect()
    }
}

/// The number of `8`, `h100:8` and `h100:4,a100:4`.
fn of_type(value: &str) -> String {
    let counts: Option<Vec<u64>> =
        value.split(',').map(|part| part.rsplit(':').next()?.parse().ok()).collect();
    counts.map_or_else(|| value.to_owned(), |counts| counts.iter().sum::<u64>().to_string())
}

/// The devices in `gpu:h100:8(S:0-1),nvme:1`.
fn resources(value: &str) -> Option<String> {
    let mut all = None;
    for part in value.split(',').map(|part| part.trim_start_matches("gres/")) {
        let mut fields = part.split('(').next().unwrap_or_default().split([':', '=']);
        if !matches!(fields.next(), Some("gpu" | "npu" | "gpus")) {
            continue;
        }
        let last = fields.next_back().unwrap_or("1");
        match last.parse::<u64>() {
            Ok(count) => all = Some(all.unwrap_or(0_u64).saturating_add(count)),
            Err(_) if last.contains('$') => return Some(last.to_owned()),
            Err(_) => all = Some(all.unwrap_or(0).saturating_add(1)),
        }
    }
    all.map(|count| count.to_string())
}

/// The hosts of `a:8,b:8` and `node[01-16,20]`.
pub(super) fn hosts(text: &str) -> Hosts {
    if text.contains('$') {
        return (0, None);
    }
    let (mut count, mut depth) = (0_u64, 0_u32);
    let mut slots: Vec<Option<u64>> = vec![];
    let mut host = String::new();
    for letter in text.chars().chain([',']) {
        match letter {
            '[' => depth = depth.saturating_add(1),
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                if !host.trim().is_empty() {
                    count = count.saturating_add(ranges(&host));
                    slots.push(host.rsplit_once(':').and_then(|(_, slots)| slots.parse().ok()));
                }
                host.clear();
                continue;
            }
            _ => {}
        }
        host.push(letter);
    }
    let first = slots.first().copied().flatten();
    (count, first.filter(|_| slots.iter().all(|own| *own == first)))
}

/// Number of hosts in `node[01-16,20]-[a,b]`.
fn ranges(host: &str) -> u64 {
    let mut count = 1_u64;
    for part in host.split('[').skip(1) {
        let inner = part.split(']').next().unwrap_or_default();
        let own = inner.split(',').map(|range| {
            let ends = range.split_once('-').and_then(|(first, last)| {
                let (first, last) = (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?);
                Some(last.checked_sub(first)?.saturating_add(1))
            });
            ends.unwrap_or(1)
        });
        count = count.saturating_mul(own.fold(0_u64, u64::saturating_add).max(1));
    }
    count
}

/// The hosts of a file: `host slots=8`, `host:8`, or a name a line.
pub(super) fn host_file(text: &str) -> Hosts {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let mut names: Vec<&str> =
        lines.iter().filter_map(|line| line.split_whitespace().next()).collect();
    names.sort_unstable();
    names.dedup();
    let slots = |line: &&str| {
        let digits = |text: &str| -> Option<u64> {
            let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            text.get(..end)?.parse().ok()
        };
        let named = line
            .split_once("slots")
            .and_then(|(_, rest)| digits(rest.trim_start().strip_prefix('=')?.trim_start()));
        named.or_else(|| digits(line.split_once(':')?.1))
    };
    let first = lines.first().and_then(slots);
    (names.len() as u64, first.filter(|_| lines.iter().all(|line| slots(line) == first)))
}

/// The hosts of `worker-0@worker-1:0,2`.
fn included(value: &str) -> Hosts {
    let parts: Vec<&str> = value.trim_matches(['"', '\'']).split('@').collect();
    let count = |part: &&str| part.split_once(':').map(|(_, list)| list.split(',').count() as u64);
    let first = parts.first().and_then(count);
    (parts.len() as u64, first.filter(|_| parts.iter().all(|part| count(part) == first)))
}
