//! Logs of Megatron-LM and MindSpeed-LLM: the design by the arguments that the run prints, its step
//! time by its iteration lines.
//!
//! Sources: NVIDIA/Megatron-LM `megatron/training/arguments.py:_print_args`,
//! `megatron/training/training.py:training_log` and `megatron/training/utils.py:report_memory`,
//! which MindSpeed-LLM calls too. Forks print the same under other names: Megatron-DeepSpeed,
//! Primus, ModelLink, Megatron-Bridge.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use interchange::{Answers, Format, Import, import_with};
use model::design::{Design, KnobId};

use super::case::Case;
use crate::runs::Run;

/// Lines of a log that are read, at most.
const MAX_LINES: usize = 5_000_000;

/// Iteration lines that are kept, at most.
const MAX_STEPS: usize = 1_000_000;

/// Arguments that are kept, at most, and bytes of one.
const MAX_ARGUMENTS: usize = 1_500;
const MAX_VALUE: usize = 4_096;

/// Iteration lines at the start that are left out: kernels are chosen and buffers grow. A tenth, at
/// least so many and at most so many, and never more than half.
const WARM_UP: [usize; 2] = [2, 10];

/// Normal quantile of a quarter: the median distance from the median of a normal distribution.
const MEDIAN_DISTANCE: f64 = 0.674_5;

/// What a log says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Log {
    /// Names and values of the arguments, with their lines.
    arguments: Vec<(String, String)>,
    is_inside: bool,
    lines: usize,
    /// Seconds and global batch of each iteration line.
    steps: Vec<(f64, Option<u64>)>,
    /// Entries of the vocabulary with what it is filled up to.
    vocab: Option<u64>,
    /// The largest `max allocated`, in MiB.
    memory_mib: f64,
    is_mindspeed: bool,
}

/// What an iteration line calls its time, in milliseconds; the second is Megatron-DeepSpeed's.
const ELAPSED: [&str; 2] = ["elapsed time per iteration (ms)", "elapsed_time_per_iteration_ms"];

/// What it calls the batch; the last is as ModelLink spells it.
const BATCH: [&str; 3] = ["global batch size", "global_batch_size", "gloabl batch size"];

/// What it calls steps that the optimizer left out.
const SKIPPED: [&str; 2] = ["number of skipped iterations", "number_of_skipped_iterations"];

/// The largest memory that a rank has had: the words, and MiB of one. The second is
/// Megatron-Bridge's, in 10^9 bytes.
const PEAKS: [(&str, &str, f64); 2] = [
    ("(MB)", "max allocated", 1.0),
    ("(GB)", "mem-max-allocated-gigabytes", 1e9 / (1_u64 << 20) as f64),
];

/// Is a text a log? One of the lines that only logs have tells.
pub(crate) fn is_log(text: &str) -> bool {
    ELAPSED.iter().chain(&["--- arguments ---", " end of arguments "]).any(|it| text.contains(it))
}

/// The number behind `name:` or `name=` in a line of `name: value | name: value`; of `this/mean`
/// the first, as Primus prints the mean of the last steps beside a step.
fn field(line: &str, name: &str) -> Option<f64> {
    let (_, rest) = line.split_once(name)?;
    let value = rest.trim_start_matches([':', '=', ' ']);
    let word = value.split([' ', '|', ',', '/']).next()?;
    word.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
}

/// The number behind the first of these names that a line has.
fn any_field(line: &str, names: &[&str]) -> Option<f64> {
    names.iter().find_map(|name| field(line, name))
}

/// 151936 of ` > padded vocab (size: 151643) with 293 dummy tokens (new size: 151936)`.
fn padded_vocab(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("padded vocab (size:")?;
    let (_, size) = rest.split_once("(new size: ")?;
    size.split(')').next()?.trim().parse().ok()
}

impl Log {
    /// Reads one more line; none are left to read where this says no.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        self.lines += 1;
        if line.contains("--- arguments ---") {
            self.is_inside = true;
            // A log that is written on by a second run holds the later one.
            self.arguments.clear();
            self.steps.clear();
        } else if line.contains("--- end of arguments ---") {
            self.is_inside = false;
        } else if self.is_inside {
            self.argument(line);
        }
        if let Some(size) = padded_vocab(line) {
            self.vocab = Some(size);
        }
        // A step that is skipped leaves out the optimizer.
        let is_whole = any_field(line, &SKIPPED).is_none();
        if self.steps.len() < MAX_STEPS
            && is_whole
            && let Some(ms) = any_field(line, &ELAPSED)
        {
            let batch = any_field(line, &BATCH).map(|batch| batch as u64);
            self.steps.push((ms / 1e3, batch));
        }
        for (unit, name, mib) in PEAKS {
            if let Some(peak) = field(line, name).filter(|_| line.contains(unit)) {
                self.memory_mib = self.memory_mib.max(peak * mib);
            }
        }
        let words = ["mindspeed", "MindSpeed", "torch_npu", "HCCL", "[INFO] NPU"];
        self.is_mindspeed |= words.iter().any(|word| line.contains(word));
        self.lines < MAX_LINES
    }

    /// Does it hold anything of a run?
    pub(crate) fn says_something(&self) -> bool {
        !self.steps.is_empty() || !self.arguments.is_empty()
    }

    /// `  micro_batch_size ................. 1`, whatever a launcher writes before it.
    fn argument(&mut self, line: &str) {
        let mut words = line.split_whitespace().skip_while(|word| word.ends_with([':', ']', '>']));
        let is_name = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let Some(name) = words.next().filter(|word| is_name(word)) else { return };
        let mut words = words.peekable();
        if words.peek().is_some_and(|word| word.chars().all(|c| c == '.')) {
            words.next();
        }
        let value: String = words.collect::<Vec<_>>().join(" ").chars().take(MAX_VALUE).collect();
        if self.arguments.len() < MAX_ARGUMENTS {
            self.is_mindspeed |= OF_MINDSPEED.contains(&name);
            self.arguments.push((name.to_owned(), value));
        }
    }

    /// Is an argument given that isn't off? Whoever prints all of them prints defaults too.
    fn is_on(&self, names: &[&str]) -> bool {
        let mut known = self.arguments.iter().filter(|(name, _)| names.contains(&name.as_str()));
        known.any(|(_, value)| !matches!(value.trim(), "" | "None" | "False" | "0"))
    }

    /// The arguments as a launch script has them.
    fn script(&self) -> String {
        let mut script = String::from("torchrun pretrain_gpt.py");
        let unused: Vec<&str> = DEPENDENT
            .iter()
            .filter(|(on, _)| !self.is_on(on))
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        for (name, value) in &self.arguments {
            let value = value.trim();
            if unused.iter().any(|own| name.strip_prefix(own).is_some_and(ends_name)) {
                continue;
            }
            match (name.as_str(), value) {
                (_, "None" | "" | "[]" | "{}") => {}
                // Switches that are stored under the name of what they switch off.
                ("add_bias_linear", "False") => script.push_str(" \\\n  --disable-bias-linear"),
                (_, "False") => {}
                (_, "True") => {
                    let _ = write!(script, " \\\n  --{}", name.replace('_', "-"));
                }
                _ => {
                    // Lists of words are several words on a command line.
                    let listed = value.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
                    let is_words = listed.is_some_and(|it| it.contains('\''));
                    let value = if is_words {
                        listed.unwrap_or_default().replace(['\'', ','], " ")
                    } else {
                        format!("'{}'", value.replace('\'', ""))
                    };
                    let _ = write!(script, " \\\n  --{} {value}", name.replace('_', "-"));
                }
            }
        }
        if let Some(size) = self.vocab.filter(|_| !self.is_on(&["padded_vocab_size"])) {
            let _ = write!(script, " \\\n  --padded-vocab-size {size}");
        }
        script
    }

    /// The design by the arguments that the run printed; of a base what they don't say.
    fn import(&self, base: Option<&Design>, settings: &[(KnobId, String)]) -> Import {
        let format = if self.is_mindspeed { Format::Mindspeed } else { Format::Megatron };
        let answers = Answers { knobs: settings.to_vec(), ..Answers::default() };
        import_with(format, &self.script(), base, &answers)
    }

    /// The seconds of steps behind the warm-up, of the global batch that most of them have.
    fn counted(&self) -> (Vec<f64>, Option<u64>) {
        let mut counts: BTreeMap<Option<u64>, usize> = BTreeMap::new();
        self.steps.iter().for_each(|step| *counts.entry(step.1).or_default() += 1);
        let batch = counts.into_iter().max_by_key(|(_, count)| *count).and_then(|it| it.0);
        let [least, most] = WARM_UP;
        let warm_up = (self.steps.len() / 10).clamp(least, most).min(self.steps.len() / 2);
        let behind = self.steps.iter().skip(warm_up).filter(|it| it.1 == batch);
        (behind.map(|it| it.0).collect(), batch)
    }

    /// The run that the log is of.
    ///
    /// # Errors
    /// A log without iteration lines or without a design, and a design that isn't one.
    pub(crate) fn case(
        &self,
        name: &str,
        base: Option<&Design>,
        settings: &[(KnobId, String)],
    ) -> Result<Case, String> {
        let (mut seconds, batch) = self.counted();
        seconds.sort_by(f64::total_cmp);
        if seconds.is_empty() {
            return Err("there is no line with `elapsed time per iteration (ms):`".to_owned());
        }
        let says_part = settings.iter().any(|(knob, _)| *knob == KnobId::accelerator);
        if base.is_none() && !says_part {
            return Err("a log doesn't name the accelerator: give it with --set \
                        cluster.accelerator=ID, or a preset with the cluster"
                .to_owned());
        }
        let mut assumed = vec![];
        let mut design = if self.arguments.is_empty() {
            assumed.push("the log prints no arguments: the design is the one given".to_owned());
            base.cloned().ok_or_else(|| {
                "the log prints no arguments: give its design as a preset or file".to_owned()
            })?
        } else {
            let import = self.import(base, settings);
            let errors: Vec<String> = import.errors.iter().map(ToString::to_string).collect();
            assumed.extend(import.assumed.iter().map(|it| it.detail.clone()));
            import.design.ok_or_else(|| errors.join("; "))?
        };
        if let Some(batch) = batch {
            let set = design.set_text(KnobId::global_batch_size, &batch.to_string());
            set.map_err(|error| error.to_string())?;
        }
        let middle = median(&seconds);
        let mut distances: Vec<f64> = seconds.iter().map(|it| (it - middle).abs()).collect();
        distances.sort_by(f64::total_cmp);
        let memory = (self.memory_mib > 0.0).then_some(self.memory_mib / 1_024.0);
        let run = Run {
            id: name.to_owned(),
            kind: "train_step".to_owned(),
            step_time: Some(middle),
            memory,
            notes: "memory in GiB".to_owned(),
            num_devices: Some(design.cluster.num_devices),
            ..Run::default()
        };
        let mut case = Case::new(run, design, assumed, settings)?;
        case.spread = median(&distances) / MEDIAN_DISTANCE / middle;
        case.steps = seconds.len();
        Ok(case)
    }
}

/// Arguments that have a default which counts only where one of some others is on; those that end
/// in `_` stand for all that begin so.
///
/// Source: NVIDIA/Megatron-LM, `megatron/training/arguments.py`.
const DEPENDENT: [(&[&str], &[&str]); 7] = [
    (
        &["use_megatron_fsdp", "use_custom_fsdp", "use_torch_fsdp2"],
        &["data_parallel_sharding_strategy"],
    ),
    (
        &["multi_latent_attention"],
        &["q_lora_rank", "kv_lora_rank", "qk_head_dim", "qk_pos_emb_head_dim", "v_head_dim"],
    ),
    (
        &["is_hybrid_model", "hybrid_override_pattern", "hybrid_layer_pattern"],
        &["mamba_", "hybrid_"],
    ),
    (
        &["num_experts", "num_moe_experts"],
        &["moe_", "expert_model_parallel_size", "expert_tensor_parallel_size"],
    ),
    (&["recompute_granularity"], &["recompute_"]),
    (&["experimental_attention_variant", "linear_attention_type"], &["linear_", "dsa_"]),
    // The decoder's are the model's.
    (&["encoder_decoder"], &["encoder_", "decoder_seq_length", "decoder_num_layers"]),
];

/// Is a name over, behind what it begins with? What begins others ends in `_`.
fn ends_name(rest: &str) -> bool {
    rest.is_empty() || !rest.starts_with('_')
}

/// Arguments that MindSpeed-LLM alone has.
const OF_MINDSPEED: [&str; 6] = [
    "moe_tp_extend_ep",
    "moe_alltoall_overlap_comm",
    "moe_fb_overlap",
    "reuse_fp32_param",
    "use_fused_rmsnorm",
    "use_fused_ring_attention_update",
];

/// The median of sorted numbers; zero of none.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle)) {
        (1, Some(value)) => *value,
        (_, Some(value)) => (value + sorted.get(middle - 1).unwrap_or(value)) / 2.0,
        (_, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(text: &str) -> Log {
        let mut log = Log::default();
        text.lines().for_each(|line| {
            log.take(line);
        });
        log
    }

    fn iteration(number: u32, ms: f64, batch: u32) -> String {
        format!(
            " [2024-04-06 02:55:45] iteration {number:8}/     100 | consumed samples: 256 | \
             elapsed time per iteration (ms): {ms:.1} | throughput per GPU (TFLOP/s/GPU): 231.9 | \
             learning rate: 4.0E-07 | global batch size:   {batch} | lm loss: 2.02E+00 |\n"
        )
    }

    #[test]
    fn warm_up_is_left_out_and_the_median_counts() {
        let slow: String = (1..=3).map(|it| iteration(it, 9_000.0, 128)).collect();
        let rest: String =
            (4..=30).map(|it| iteration(it, 5_000.0 + f64::from(it % 3) * 50.0, 128)).collect();
        let (seconds, batch) = log(&format!("{slow}{rest}")).counted();
        assert_eq!((seconds.len(), batch), (27, Some(128)));
        assert!(seconds.iter().all(|it| (5.0..5.2).contains(it)), "{seconds:?}");
    }

    #[test]
    fn a_growing_batch_counts_where_most_steps_are() {
        let ramp: String = (1..=5).map(|it| iteration(it, 2_000.0, 64)).collect();
        let rest: String = (6..=20).map(|it| iteration(it, 5_000.0, 128)).collect();
        let (seconds, batch) = log(&format!("{ramp}{rest}")).counted();
        assert_eq!((seconds.len(), batch), (15, Some(128)));
    }

    /// Whose every step has a batch of its own takes no longer than another.
    #[test]
    fn a_long_log_is_counted_once() {
        let steps = (0..200_000).map(|it| (1.0, Some(it))).chain([(2.0, Some(7))]).collect();
        let (seconds, batch) = Log { steps, ..Log::default() }.counted();
        assert_eq!((seconds, batch), (vec![2.0], Some(7)));
    }

    #[test]
    fn arguments_are_read_behind_whatever_a_launcher_writes() {
        let text = "[rank0]: ------------------------ arguments ------------------------\n\
                    0:   add_bias_linear ................................. False\n\
                    [rank0]:   recompute_granularity ....................... selective\n\
                    [rank0]:   recompute_modules ........................... ['core_attn', 'mlp']\n\
                    a_name_that_is_as_long_as_all_the_dots_together_are  7\n\
                    \x20 fp8 ............................................. None\n\
                    -------------------- end of arguments ---------------------\n\
                    \x20 no_argument ..................................... 1\n";
        let script = log(text).script();
        let words: Vec<&str> = script.split_whitespace().filter(|it| *it != "\\").collect();
        let asked = [
            "torchrun",
            "pretrain_gpt.py",
            "--disable-bias-linear",
            "--recompute-granularity",
            "'selective'",
            "--recompute-modules",
            "core_attn",
            "mlp",
            "--a-name-that-is-as-long-as-all-the-dots-together-are",
            "'7'",
        ];
        assert_eq!(words, asked);
    }

    /// Lines as Megatron-DeepSpeed, Primus, ModelLink and a launcher with colours print them.
    #[test]
    fn lines_of_forks_are_steps_too() {
        for (line, ms, batch) in [
            (
                "[2024-06-21 10:50:42][INFO][training:1251] -  iteration=       1/  317892 | \
                 consumed_samples=         768 | elapsed_time_per_iteration_ms=108893.2 | \
                 global_batch_size=  768 | loss_scale=1.0 | number_of_skipped_iterations=  0 |",
                108_893.2,
                768,
            ),
            (
                "[default0]: iteration        3/      50 | consumed samples:          256 | \
                 elapsed time per iteration (ms): \
                 4647.8/4650.1 | throughput per GPU (TFLOP/s/GPU): \
                 300.3/299.9 | global batch size:   128 |",
                4_647.8,
                128,
            ),
            (
                " iteration  11/50000 | elapsed time per iteration (ms):  52728.1 | gloabl batch \
                 size:  512 | number of skipped iterations: 0 |",
                52_728.1,
                512,
            ),
            (
                "\u{1b}[32m[2025-05-27 15:23:07] iteration 7/ 24 | elapsed time per iteration \
                 (ms): 271607.0 | mem usages: 0.8131 | global batch size:  1024 |\u{1b}[0m",
                271_607.0,
                1_024,
            ),
        ] {
            assert!(is_log(line), "{line}");
            assert_eq!(log(line).steps, [(ms / 1e3, Some(batch))], "{line}");
        }
        let skipped = "iteration=1/9 | elapsed_time_per_iteration_ms=8.0 | \
                       number_of_skipped_iterations=  1 |";
        assert!(log(skipped).steps.is_empty());
    }

    #[test]
    fn a_peak_in_gigabytes_is_one_of_bytes() {
        let line = "[Rank 2] (after 2 iterations) memory (GB) | mem-allocated-gigabytes: 63.66 | \
                    mem-max-allocated-gigabytes: 153.4 | mem-max-reserved-gigabytes: 182.2";
        assert!((log(line).memory_mib * f64::from(1 << 20) / 153.4e9 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_largest_peak_of_all_ranks_counts() {
        let line = "[Rank 1] (after 1 iterations) memory (MB) | allocated: 54250.97 | max \
                    allocated: 54250.98 | reserved: 61480.0 | max reserved: 61480.0\n\
                    [Rank 0] (after 1 iterations) memory (MB) | allocated: 1.0 | max allocated: \
                    54000.0 | reserved: 61480.0 | max reserved: 61480.0";
        assert!((log(line).memory_mib - 54_250.98).abs() < 1e-9);
    }
}
