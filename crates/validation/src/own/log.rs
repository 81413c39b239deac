//! Logs of Megatron-LM, MindSpeed-LLM and others: the design by the arguments that the run prints,
//! its step time by its iteration lines.
//!
//! Sources: NVIDIA/Megatron-LM `megatron/training/arguments.py:_print_args`,
//! `megatron/training/training.py:training_log` and `megatron/training/utils.py:report_memory`,
//! which MindSpeed-LLM calls too. Forks print the same under other names: Megatron-DeepSpeed, in
//! seconds that of BigScience, Primus, ModelLink, Megatron-Bridge. NeMo, MindFormers
//! (`mindformers/core/callback`), MaxText (`metric_logger.py`) and torchtitan
//! (`torchtitan/components/metrics.py`) print a step's time in words of their own and no arguments.

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

/// Least and greatest number of iteration lines left out at the start, where kernels are chosen and
/// buffers grow: a tenth within these, and never more than half.
const WARM_UP: [usize; 2] = [2, 10];

/// Normal quantile of a quarter: the median distance from the median of a normal distribution.
const MEDIAN_DISTANCE: f64 = 0.674_5;

/// Arguments, steps and memory that a log reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Log {
    /// Names and values of the arguments, with their lines.
    arguments: Vec<(String, String)>,
    is_inside: bool,
    lines: usize,
    /// Seconds and global batch of each iteration line.
    steps: Vec<(f64, Option<u64>)>,
    /// Tokens that a device has trained on in a second, where that is all that a line says.
    rates: Vec<f64>,
    /// Entries of the vocabulary with what it is filled up to.
    vocab: Option<u64>,
    /// The largest `max allocated`, in MiB.
    memory_mib: f64,
    is_mindspeed: bool,
}

/// Name of the time in an iteration line, seconds of one, and what else the line has: Megatron's,
/// Megatron-DeepSpeed's two, NeMo's, MindFormers', MaxText's, and ms-swift's, the mean of all steps
/// so far.
const ELAPSED: [(&str, f64, &str); 7] = [
    ("elapsed time per iteration (ms)", 1e-3, ""),
    ("elapsed_time_per_iteration_ms", 1e-3, ""),
    ("elapsed time per iteration (s)", 1.0, ""),
    ("train_step_timing in s", 1.0, ""),
    ("per_step_time", 1e-3, "loss"),
    (", seconds", 1.0, "completed step:"),
    ("train_speed(s/it)", 1.0, "loss"),
];

/// Name that torchtitan gives tokens per second of a device, and that of its steps.
const RATE: (&str, &str) = ("tps:", "step:");

/// Names of the global batch; the last is as ModelLink spells it.
const BATCH: [&str; 3] = ["global batch size", "global_batch_size", "gloabl batch size"];

/// Names of the number of steps that the optimizer skipped.
const SKIPPED: [&str; 2] = ["number of skipped iterations", "number_of_skipped_iterations"];

/// The largest memory that a rank has had: the words, and MiB of one. The second is
/// Megatron-Bridge's, in 10^9 bytes.
const PEAKS: [(&str, &str, f64); 2] = [
    ("(MB)", "max allocated", 1.0),
    ("(GB)", "mem-max-allocated-gigabytes", 1e9 / (1_u64 << 20) as f64),
];

/// Whether a text is a log, by one of the lines that only logs have.
pub(crate) fn is_log(text: &str) -> bool {
    let has_step = |line: &str| elapsed(line).is_some() || rate(line).is_some();
    ["--- arguments ---", " end of arguments "].iter().any(|it| text.contains(it))
        || text.lines().any(has_step)
}

/// Seconds of a step that a line reports.
fn elapsed(line: &str) -> Option<f64> {
    let mut own = ELAPSED.iter().filter(|(_, _, beside)| line.contains(beside));
    own.find_map(|(name, unit, _)| Some(field(line, name)? * unit))
}

/// The tokens of a second and device that a line says.
fn rate(line: &str) -> Option<f64> {
    field(line, RATE.0).filter(|_| line.contains(RATE.1) && line.contains("loss:"))
}

/// The number behind `name:` or `name=` in a line of `name: value | name: value`; of `this/mean`
/// the first, as Primus prints the mean of the last steps beside a step.
fn field(line: &str, name: &str) -> Option<f64> {
    let (_, rest) = line.split_once(name)?;
    let value = rest.trim_start_matches(['\'', '"', ':', '=', ' ']);
    let word = value.split([' ', '|', '/', ']', '}', '\'', '"']).next()?;
    // A comma ends a number, but for those between three digits each.
    let word: String = match word.split_once(',') {
        Some((_, rest)) if rest.len() >= 3 && rest.starts_with(|it: char| it.is_ascii_digit()) => {
            word.replace(',', "")
        }
        Some((first, _)) => first.to_owned(),
        None => word.to_owned(),
    };
    word.trim_end_matches("ms")
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && *number > 0.0)
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
        // A bar of progress is written over again and again.
        line.split('\r').for_each(|line| self.step(line));
        for (unit, name, mib) in PEAKS {
            if let Some(peak) = field(line, name).filter(|_| line.contains(unit)) {
                self.memory_mib = self.memory_mib.max(peak * mib);
            }
        }
        let words = ["mindspeed", "MindSpeed", "torch_npu", "HCCL", "[INFO] NPU"];
        self.is_mindspeed |= words.iter().any(|word| line.contains(word));
        self.lines < MAX_LINES
    }

    /// Keeps the step that a line tells of.
    fn step(&mut self, line: &str) {
        // A step that is skipped leaves out the optimizer.
        if self.steps.len() >= MAX_STEPS || any_field(line, &SKIPPED).is_some() {
            return;
        }
        if let Some(seconds) = elapsed(line) {
            let batch = any_field(line, &BATCH).map(|batch| batch as u64);
            self.steps.push((seconds, batch));
        } else if let Some(rate) = rate(line).filter(|_| self.rates.len() < MAX_STEPS) {
            self.rates.push(rate);
        }
    }

    /// Whether it holds anything of a run.
    pub(crate) fn says_something(&self) -> bool {
        !(self.steps.is_empty() && self.rates.is_empty() && self.arguments.is_empty())
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

    /// Whether one of these arguments is given and isn't off: a log that prints all arguments
    /// prints defaults too.
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
        let behind = self.steps.iter().skip(warm_up(self.steps.len())).filter(|it| it.1 == batch);
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
        if seconds.is_empty() && self.rates.is_empty() {
            return Err(
                "there is no line with `elapsed time per iteration (ms):`, nor one with a \
                        step's time as NeMo, MindFormers, MaxText or torchtitan print it"
                    .to_owned(),
            );
        }
        let says_part = settings.iter().any(|(knob, _)| *knob == KnobId::accelerator);
        if base.is_none() && !says_part {
            return Err("a log doesn't name its accelerator: choose one \
                        (cluster.accelerator=ID), or a preset with the cluster"
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
        if seconds.is_empty() {
            let own = tokens_of_a_device(&design, settings)?;
            let behind = self.rates.iter().skip(warm_up(self.rates.len()));
            seconds = behind.map(|rate| own / rate).collect();
            assumed.push("a step's time is its tokens by the design over those of a second".into());
        }
        seconds.sort_by(f64::total_cmp);
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
/// in `_` mean all that begin so.
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

/// Whether a name doesn't go on behind the prefix; a prefix of several names ends in `_`.
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

/// Tokens of a step for each device, with the knobs that are set in every run.
fn tokens_of_a_device(design: &Design, settings: &[(KnobId, String)]) -> Result<f64, String> {
    let mut design = design.clone();
    for (knob, value) in settings {
        design.set_text(*knob, value).map_err(|error| error.to_string())?;
    }
    let tokens = design.training.global_batch_size as f64 * design.training.seq_length as f64;
    Ok(tokens / design.cluster.num_devices.max(1) as f64)
}

/// Number of steps left out at the start, of this many.
fn warm_up(steps: usize) -> usize {
    let [least, most] = WARM_UP;
    (steps / 10).clamp(least, most).min(steps / 2)
}

/// The median of sorted numbers; zero if there are none.
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
            (
                "[default7]: iteration    12/  115 | consumed tokens:  201555 | elapsed time per \
                 iteration (s): 105.22 | learning rate: 5.9E-05 | global batch size:  2048 | \
                 samples per second: 19.463 | TFLOPs: 149.02 |",
                105_220.0,
                2_048,
            ),
            (
                "Training epoch 0, iteration 120/149 | lr: 3e-05 | consumed_samples: 121 | \
                 global_batch_size: 16 | global_step: 120 | train_step_timing in s: 0.25 | val: 4",
                250.0,
                16,
            ),
        ] {
            assert!(is_log(line), "{line}");
            assert_eq!(log(line).steps, [(ms / 1e3, Some(batch))], "{line}");
        }
        let skipped = "iteration=1/9 | elapsed_time_per_iteration_ms=8.0 | \
                       number_of_skipped_iterations=  1 |";
        assert!(log(skipped).steps.is_empty());
    }

    /// Lines of frameworks that print no batch, the first as a bar of progress.
    #[test]
    fn a_step_is_read_in_the_words_of_other_frameworks() {
        for (line, ms) in [
            (
                "Epoch 0:  3%| 9/300 [1:42<55:37, train_step_timing in s=0.615, \
                 val=7]\rEpoch 0:  3%| 10/300 [1:43<55:36, train_step_timing in s=0.615]",
                [615.0].repeat(2),
            ),
            (
                "2025-04-28 16:32:25 - INFO - { Epoch:[  1/  2], step:[   20/  500], loss: 10.6, \
                 per_step_time: 3157ms, lr: 1e-05, overflow cond: False, loss_scale: 1.0",
                vec![3_157.0],
            ),
            (
                "completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, loss: 10.374",
                vec![5_667.0],
            ),
            ("{'loss': 1.07, 'memory(GiB)': '57', 'train_speed(s/it)': '2.9'}", vec![2_900.0]),
            ("{\"loss\": 1.07, \"train_speed(s/it)\": 2.9, \"memory(GiB)\": 7.2}", vec![2_900.0]),
        ] {
            assert!(is_log(line), "{line}");
            let asked: Vec<_> = ms.iter().map(|ms| (ms / 1e3, None)).collect();
            assert_eq!(log(line).steps, asked, "{line}");
        }
        let titan = "[rank0]:[titan] 2026-02-24 19:46:17,508 - root - INFO - step:  4  loss:  \
                     7.62585  memory: 66.91GiB(37.51%)  tps: 10,050  tflops: 314.71  mfu: 13.99%";
        assert!(is_log(titan));
        assert_eq!(log(titan).rates, [10_050.0]);
    }

    /// torchtitan says how many tokens a device takes in a second, and not how many a step has.
    #[test]
    fn a_rate_is_a_step_by_the_design() {
        let line = "step:  4  loss:  7.6  memory: 66.9GiB(37.5%)  tps: 2,000  tflops: 314.7\n";
        let mut design = Design::from_preset("llama-3-8b").unwrap();
        design.cluster.num_devices = 8;
        design.training.seq_length = 4_096;
        let set = |knob, value: &str| (knob, value.to_owned());
        let settings =
            [set(KnobId::accelerator, "h100-sxm-80gb"), set(KnobId::global_batch_size, "16")];
        let case = log(&line.repeat(10)).case("titan", Some(&design), &settings).unwrap();
        assert_eq!((case.steps, case.run.step_time), (8, Some(4.096)));
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
