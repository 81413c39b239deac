//! Commands that start other commands: `srun`, `docker run`, `ssh`, `timeout` and the like. Their
//! options are their own, none of the program that they start.
//!
//! Sources: the manual pages of Slurm's `srun`, `sbatch` and `salloc`, of Open MPI's `mpirun(1)`,
//! MPICH's `mpiexec`, IBM's `jsrun`, pdsh, coreutils and OpenSSH; Docker's `docker container run`;
//! Apptainer's `exec`; `kubectl exec`; Ray's `ray job submit`; `torch/distributed/run.py`; XPK's
//! `xpk workload create`, and `gcloud compute tpus tpu-vm ssh`, as MaxText's docs have them.

use super::word::Word;

/// Form in which a command has the command that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then<'a> {
    /// As the words behind the options.
    Command,
    /// As words that a shell reads as one text.
    Text,
    /// As one word that a shell reads as a text, or as several words.
    One,
    /// As the words behind an image, which has a command of its own.
    Image(&'a str),
}

/// Description of a command that starts others.
struct Row {
    /// Its names, a bar between two.
    names: &'static str,
    /// Options without a value, a blank between two.
    flags: &'static str,
    /// Words before the command: a host, an image, a time.
    operands: usize,
    then: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Command,
    Text,
    One,
    Image,
    /// The command stands behind `--`.
    Behind,
    /// The command is the value of `--command`.
    SourcedNumber,
}

const fn row(names: &'static str, flags: &'static str, operands: usize, then: Kind) -> Row {
    Row { names, flags, operands, then }
}

const SLURM: &str = "-l --label -u --unbuffered --exclusive --overlap --pty -K --kill-on-bad-exit \
                     -k --no-kill -O --overcommit -s --oversubscribe -Q --quiet -v --verbose -W0 \
                     --container-writable --container-readonly --container-mount-home \
                     --container-remap-root --preserve-env -E --contiguous -X -Z -H --hold \
                     --requeue --parsable -I --immediate --wait-all-nodes --spread-job";
const MPI: &str = "--allow-run-as-root -allow-run-as-root --oversubscribe -oversubscribe \
                   --report-bindings -report-bindings --tag-output -tag-output --display-map \
                   --display-allocation -nolocal -q -v -V --quiet --verbose --bind-to-core \
                   -l -genvall -envall --line-buffer --no-vni --prepend-rank";
const DOCKER: &str = "--rm -d --detach -i -t -it -ti -itd -dit -di -dt -td --tty --interactive \
                      --init --privileged --read-only -P --publish-all --oom-kill-disable -q \
                      --quiet --no-healthcheck --sig-proxy";
const CONTAINER: &str = "--nv --rocm --nvccli -c --contain -C --containall -e --cleanenv -w -r -m \
                         --writable --writable-tmpfs --no-home --fakeroot -f -u --userns --pid -p \
                         --net -n --ipc -i --compat --no-eval --keep-privs --root --rw -q -s \
                         --no-init --no-umask --gpu --mpi";

/// Every command that starts others. A name of several words comes before its first one alone.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("srun|salloc|sbatch|crun", SLURM, 0, Kind::Command),
    row("mpirun|mpiexec|orterun|mpiexec.hydra|mpirun_rsh|prterun|aprun|horovodrun|jsrun|lrun|\
         flux run", MPI, 0, Kind::Command),
    row("docker run|podman run|nerdctl run|nvidia-docker run|docker container run|podman-hpc run",
        DOCKER, 1, Kind::Image),
    row("docker exec|podman exec|nerdctl exec|docker container exec|docker compose exec|\
         docker-compose exec|docker compose run|docker-compose run", DOCKER, 1, Kind::Command),
    row("singularity exec|apptainer exec|singularity run|apptainer run|enroot start|enroot exec|\
         ch-run|shifter", CONTAINER, 1, Kind::Command),
    row("kubectl exec|oc exec", "-i -t -it -ti -q --stdin --tty --quiet", 1, Kind::Behind),
    row("ray job submit", "--no-wait --verbose --verify", 0, Kind::Behind),
    row("runai submit|runai training submit|runai submit-dist|runai training pytorch submit",
        "--attach --large-shm --host-ipc --host-network --preemptible", 0, Kind::Behind),
    row("xpk workload create|python3 xpk.py workload create|python xpk.py workload create|\
         xpk workload create-pathways|gcloud compute tpus tpu-vm ssh|\
         gcloud alpha compute tpus tpu-vm ssh|gcloud compute ssh|dlc submit|dlc create job|\
         arena submit", "--use-pathways --deploy-stacktrace-sidecar --restart-on-failure", 0,
        Kind::SourcedNumber),
    row("tmux new-session|tmux new|screen", "-d -D -A -P -X -dm -L -m", 0, Kind::One),
    row("tmux send-keys|tmux send", "-l -R -X -H", 0, Kind::Text),
    row("ssh", "-t -tt -n -f -q -T -x -X -Y -A -a -C -4 -6 -v -N -g -k -K", 1, Kind::Text),
    row("pdsh|clush|ds_ssh|parallel-ssh|pssh|xdsh", "-S -b -N -a -d -L -i", 0, Kind::Text),
    row("sudo|doas", "-E -H -n -S -i -s -b -k -P --preserve-env --login", 0, Kind::Command),
    row("env", "-i - -0 --ignore-environment --null -v", 0, Kind::Command),
    row("timeout|gtimeout", "--foreground --preserve-status -v --verbose", 1, Kind::Command),
    row("numactl", "-l --localalloc -a --all -H -s", 0, Kind::Command),
    row("taskset", "-c -a --cpu-list --all-tasks", 1, Kind::Command),
    row("nohup|setsid|exec|command|builtin|time|unbuffer|catchsegv|ionice|nice|stdbuf|chrt",
        "-p -f -w -l -v --verbose --wait --fork -t -oL -eL -o0 -e0", 0, Kind::Command),
    row("xargs", "-0 -r -t -x -p --null --no-run-if-empty --verbose", 0, Kind::Command),
    row("nsys profile|ncu|rocprof|rocprofv3|dlprof|strace|perf record|py-spy record|msprof",
        "--stats --hip-trace --sys-trace", 0, Kind::Command),
    row("conda run|mamba run|micromamba run|uv run|poetry run|pipenv run|pixi run|rye run|pdm run",
        "--no-capture-output --live-stream --isolated --no-sync --frozen --locked --active \
         --all-extras --no-project -v -q --quiet", 0, Kind::Command),
];

/// Programs that are started: an option whose value isn't known takes none of them for it.
const PROGRAMS: &[&str] = &[
    "torchrun",
    "bash",
    "sh",
    "zsh",
    "deepspeed",
    "accelerate",
    "vllm",
    "trtllm-serve",
    "swift",
    "megatron",
    "llamafactory-cli",
    "axolotl",
    "msrun",
    "dlrover-run",
    "colossalai",
    "eval",
    "hostname",
    "trtllm-llmapi-launch",
    "dcgmi",
    "xtuner",
];

/// Options whose value may be a program.
#[rustfmt::skip]
const VALUED: &[&str] = &[
    "--entrypoint", "-R", "--rsh", "--shell", "--name", "--container-name", "--job-name", "-J",
    "--hostname", "--command", "--wrap", "--workdir", "-w", "--chdir", "-D", "-s",
    "--comment", "--network", "-S",
];

/// A command that starts another, and what it says itself.
pub(super) struct Found<'a> {
    /// Its first name.
    pub(super) name: &'static str,
    pub(super) line: u64,
    /// Its options, each with its value.
    pub(super) options: Vec<(&'a str, &'a str, u64)>,
    /// Variables that it sets for the command.
    pub(super) assigned: Vec<(&'a str, &'a str, u64)>,
    /// Command of `sbatch --wrap` and `xpk workload create --command`.
    pub(super) wrap: Option<Word>,
    /// Where the command begins.
    pub(super) command: usize,
    pub(super) then: Then<'a>,
}

impl Found<'_> {
    fn new(name: &'static str, line: u64) -> Self {
        let (options, assigned, wrap) = (vec![], vec![], None);
        Self { name, line, options, assigned, wrap, command: 0, then: Then::Command }
    }
}

/// The last part of a path.
pub(super) fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_program(word: &str) -> bool {
    let name = base(word);
    PROGRAMS.contains(&name)
        || name.starts_with("python")
        || [".py", ".sh"].iter().any(|end| name.ends_with(end))
        || ROWS.iter().any(|row| row.names.split('|').any(|own| own == name))
}

/// `NAME=value`, as it stands before a command.
fn assigned(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_name && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .then_some((name, value))
}

/// The command that starts another, if the words are one.
pub(super) fn find(words: &[Word]) -> Option<Found<'_>> {
    let line = words.first()?.1;
    if let Some(found) = no_python(words) {
        return Some(found);
    }
    let begins = |names: &&str| {
        let mut own = names.split(' ').zip(words);
        let count = names.split(' ').count();
        count <= words.len() && own.all(|(name, (word, _))| name == base(word))
    };
    let (row, name) =
        ROWS.iter().find_map(|row| Some((row, row.names.split('|').find(begins)?)))?;
    let mut found = Found::new(name, line);
    let behind = words.iter().position(|(word, _)| word == "--");
    let most = behind.filter(|_| row.then == Kind::Behind).unwrap_or(words.len());
    let mut at = name.split(' ').count();
    let (mut operand, mut is_several) = (None, false);
    let mut left = row.operands;
    while let Some((word, line)) = words.get(at).filter(|_| at < most) {
        if word == "--" {
            at += 1;
            break;
        } else if word.len() > 1 && word.starts_with('-') {
            at = option(row, words, at, &mut found);
            continue;
        } else if word == ":" && matches!(row.flags, SLURM | MPI) {
            // Each part of a job of several programs has processes of its own.
            is_several = true;
        } else if let Some((name, value)) = assigned(word).filter(|_| row.then == Kind::Command) {
            found.assigned.push((name, value, *line));
        } else if left > 0 {
            operand = Some(word.as_str());
            left -= 1;
        } else if most == words.len() && row.then != Kind::SourcedNumber {
            break;
        }
        at += 1;
        if left == 0 && row.operands > 0 && most == words.len() {
            break;
        }
    }
    if most < words.len() {
        at = most + 1;
    }
    (found.command, found.then) = (at, then(row, operand));
    if is_several {
        found.options.clear();
    }
    let key = if row.then == Kind::SourcedNumber { "--command" } else { "--wrap" };
    let is_told = row.then == Kind::SourcedNumber || name == "sbatch";
    let wrap = found.options.iter().find(|option| is_told && option.0 == key);
    found.wrap = wrap.map(|(_, text, line)| ((*text).to_owned(), *line));
    Some(found)
}

fn then<'a>(row: &Row, operand: Option<&'a str>) -> Then<'a> {
    match row.then {
        Kind::Text => Then::Text,
        Kind::One => Then::One,
        Kind::Image => Then::Image(operand.unwrap_or_default()),
        Kind::Command | Kind::Behind | Kind::SourcedNumber => Then::Command,
    }
}

/// Reads the option at a place; the place behind it.
fn option<'a>(row: &Row, words: &'a [Word], at: usize, found: &mut Found<'a>) -> usize {
    let Some((word, line)) = words.get(at) else { return at };
    let is_flag = |name: &str| row.flags.split(' ').any(|flag| flag == name);
    let next = |ahead: usize| words.get(at + ahead).map(|(word, _)| word.as_str());
    if let Some((name, value)) = word.split_once('=').filter(|_| word.starts_with("--")) {
        found.options.push((name, value, *line));
        return at + 1;
    }
    // `-N4` and `-n16`, but no `-np`.
    let is_attached = !word.starts_with("--")
        && word.get(2..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if let Some((name, value)) = word.split_at_checked(2).filter(|_| is_attached) {
        found.options.push((name, value, *line));
        return at + 1;
    }
    if is_flag(word) || word.starts_with("--no-") {
        found.options.push((word, "", *line));
        return at + 1;
    }
    // Open MPI's `--mca name value`, and MPICH's `-genv NAME value`.
    if matches!(word.trim_start_matches('-'), "mca" | "genv" | "env" | "prtemca" | "gmca")
        && row.flags == MPI
    {
        return at + 3;
    }
    match next(1).filter(|value| VALUED.contains(&word.as_str()) || !is_program(value)) {
        Some(value) if !value.starts_with('-') || value.len() == 1 => {
            found.options.push((word, value, *line));
            at + 2
        }
        _ => {
            found.options.push((word, "", *line));
            at + 1
        }
    }
}

/// `torchrun .. --no-python cmd ..`: without Python between, the program is a command.
///
/// Source: `torch/distributed/run.py:get_args_parser`, `--no-python`.
fn no_python(words: &[Word]) -> Option<Found<'_>> {
    let (first, line) = words.first()?;
    let is_module = |(word, _): &Word| word.starts_with("torch.distributed.");
    let is_own = matches!(base(first), "torchrun" | "dlrover-run")
        || (base(first).starts_with("python") && words.iter().take(4).any(is_module));
    let is_switch = |(word, _): &Word| matches!(word.as_str(), "--no-python" | "--no_python");
    if !is_own || !words.iter().take(64).any(is_switch) {
        return None;
    }
    const LAUNCHER: Row = row(
        "torchrun",
        "--no-python --no_python --standalone -m --module --run-path --use-env --use_env -u",
        0,
        Kind::Command,
    );
    let mut found = Found::new("torchrun", *line);
    let mut at = words.iter().position(is_module).filter(|at| *at < 4).unwrap_or(0) + 1;
    while words.get(at).is_some_and(|(word, _)| word.starts_with('-')) {
        at = option(&LAUNCHER, words, at, &mut found);
    }
    found.command = at;
    Some(found)
}

/// Images whose own command is an engine, by a part of their name.
///
/// Source: `ENTRYPOINT` of vLLM's `docker/Dockerfile`.
const IMAGES: &[(&str, &str)] = &[("vllm-openai", "vllm serve")];

/// The command in a container: the image's own, or that of `--entrypoint`, with the words behind
/// the image as its arguments.
pub(super) fn of_image(found: &Found<'_>, image: &str, words: &[Word]) -> Option<Vec<Word>> {
    let entry = found.options.iter().rev().find(|option| option.0 == "--entrypoint");
    let own = match entry {
        Some((_, entry, _)) => (!entry.is_empty()).then_some(*entry),
        None => {
            let row = IMAGES.iter().find(|(part, _)| base(image).contains(part));
            row.filter(|_| words.first().is_none_or(|(word, _)| !is_program(word))).map(|row| row.1)
        }
    }?;
    let front = own.split(' ').map(|word| (word.to_owned(), found.line));
    Some(front.chain(words.iter().cloned()).collect())
}
