//! The accelerator that a text names by the way: in a path, a comment, a partition's or a run's
//! name. No argument says it, so that it is a guess, and asked.

use std::sync::LazyLock;

use model::catalogue::accelerator::AcceleratorId;
use model::ground::choice::Choice;

/// Mark of Moescape's own lines, behind `#`.
pub(crate) const MARK: &str = "moescape:";

/// Whether a line is one that an export writes about its own design.
pub(crate) fn is_own(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['"', '#', ' ']);
    line.starts_with(MARK) || line.starts_with("design: ")
}

/// An accelerator's name that leaves its part open, and the one that it is taken for: that of Atlas
/// 800T A2.
const OPEN: (&str, AcceleratorId) = ("910b", AcceleratorId::Ascend910b3);

/// Accelerators with their names of one word, in lower case.
static NAMES: LazyLock<Vec<(&str, AcceleratorId)>> = LazyLock::new(|| {
    let is_word = |name: &str| name.chars().all(|letter| letter.is_ascii_alphanumeric());
    let named = |id: &'static AcceleratorId| id.aliases().iter().map(|name| (*name, *id));
    let all = AcceleratorId::ALL.iter().flat_map(named).filter(|(name, _)| is_word(name));
    all.chain([OPEN]).collect()
});

/// Names of accelerators in lower case that have no profile, and what people call them.
const OTHERS: [(&str, &str); 64] = [
    ("mi300", "AMD's Instinct MI300"),
    ("mi300a", "AMD's Instinct MI300A"),
    ("mi325", "AMD's Instinct MI325X"),
    ("mi350", "AMD's Instinct MI350X"),
    ("mi355", "AMD's Instinct MI355X"),
    ("mi308", "AMD's Instinct MI308X"),
    ("mi250", "AMD's Instinct MI250"),
    ("mi210", "AMD's Instinct MI210"),
    ("gfx942", "AMD's Instinct MI300"),
    ("gfx950", "AMD's Instinct MI350"),
    ("gfx90a", "AMD's Instinct MI250"),
    ("rocm", "AMD's accelerators"),
    ("v5p", "Google's TPU v5p"),
    ("v5e", "Google's TPU v5e"),
    ("v5litepod", "Google's TPU v5e"),
    ("v6e", "Google's TPU v6e"),
    ("tpu7x", "Google's TPU v7"),
    ("tpu", "Google's TPUs"),
    ("tpus", "Google's TPUs"),
    ("libtpu", "Google's TPUs"),
    ("trn1", "AWS' Trainium"),
    ("trn1n", "AWS' Trainium"),
    ("trn2", "AWS' Trainium2"),
    ("trn3", "AWS' Trainium3"),
    ("trainium", "AWS' Trainium"),
    ("trainium2", "AWS' Trainium2"),
    ("neuron", "AWS' Trainium"),
    ("neuronx", "AWS' Trainium"),
    ("gaudi", "Intel's Gaudi"),
    ("gaudi2", "Intel's Gaudi 2"),
    ("gaudi3", "Intel's Gaudi 3"),
    ("habana", "Intel's Gaudi"),
    ("hpu", "Intel's Gaudi"),
    ("mlu590", "Cambricon's MLU590"),
    ("mlu370", "Cambricon's MLU370"),
    ("mlu", "Cambricon's MLUs"),
    ("kunlun", "Kunlunxin's accelerators"),
    ("kunlunxin", "Kunlunxin's accelerators"),
    ("hygon", "Hygon's DCUs"),
    ("dcu", "Hygon's DCUs"),
    ("metax", "MetaX's accelerators"),
    ("maca", "MetaX's accelerators"),
    ("musa", "Moore Threads' accelerators"),
    ("mthreads", "Moore Threads' accelerators"),
    ("iluvatar", "Iluvatar CoreX's accelerators"),
    ("corex", "Iluvatar CoreX's accelerators"),
    ("enflame", "Enflame's accelerators"),
    ("gcu", "Enflame's accelerators"),
    ("biren", "Biren's accelerators"),
    ("v100", "NVIDIA's V100"),
    ("l40", "NVIDIA's L40"),
    ("a10g", "NVIDIA's A10G"),
    ("a30", "NVIDIA's A30"),
    ("a40", "NVIDIA's A40"),
    ("a6000", "NVIDIA's RTX A6000"),
    ("rtxa6000", "NVIDIA's RTX A6000"),
    ("rtx4090", "NVIDIA's GeForce RTX 4090"),
    ("rtx3090", "NVIDIA's GeForce RTX 3090"),
    ("rtx5090", "NVIDIA's GeForce RTX 5090"),
    ("rtx6000", "NVIDIA's RTX 6000"),
    ("rtx8000", "NVIDIA's RTX 8000"),
    ("dgxspark", "NVIDIA's DGX Spark"),
    ("gb10", "NVIDIA's DGX Spark"),
    ("gh200", "NVIDIA's GH200"),
];

/// Words of a whole text that say whose accelerators it runs on, where it names none: variables of
/// their runtimes, and frameworks of their makers.
const RUNTIMES: [(&str, &str); 20] = [
    ("amd.com/gpu", "AMD's accelerators"),
    ("RCCL_", "AMD's accelerators"),
    ("HSA_", "AMD's accelerators"),
    ("ZE_AFFINITY_MASK", "Intel's GPUs"),
    ("CCL_ZE_", "Intel's GPUs"),
    // The device that containers of ROCm are given.
    ("/dev/kfd", "AMD's accelerators"),
    ("HIP_VISIBLE_DEVICES", "AMD's accelerators"),
    ("NVTE_ROCM", "AMD's accelerators"),
    ("NVTE_CK_", "AMD's accelerators"),
    ("pre_trainer:", "AMD's accelerators, as Primus does"),
    ("primus-cli", "AMD's accelerators, as Primus does"),
    ("PRIMUS_", "AMD's accelerators, as Primus does"),
    ("NEURON_", "AWS' Trainium"),
    ("hl-smi", "Intel's Gaudi"),
    ("HABANA_", "Intel's Gaudi"),
    ("MLU_VISIBLE_DEVICES", "Cambricon's MLUs"),
    ("XPU_VISIBLE_DEVICES", "Kunlunxin's accelerators"),
    ("base_emb_dim", "TPUs, as MaxText mostly does"),
    ("per_device_batch_size", "TPUs, as MaxText mostly does"),
    ("per_device_parallelism:", "TPUs, as Levanter mostly does"),
];

/// An accelerator that a text names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Card {
    /// The profile's id; without one, what people call it.
    pub(crate) id: Result<&'static str, &'static str>,
    /// The word that names it.
    pub(crate) word: String,
    /// Its line, from 1.
    pub(crate) line: u64,
    /// Whether a scheduler is asked for it, rather than that a path or a comment names it.
    pub(crate) is_asked_for: bool,
}

/// Whether a line asks a scheduler for devices of a kind: `--gres=gpu:h100:8`, `--constraint=a100`,
/// `nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3`. Of `PCIE` and 40 GB there is no profile.
fn asks(line: &str) -> bool {
    let kinds = ["gpu:", "--constraint", "gpu.product", "--gpus"];
    let others = ["pcie", "40gb", "nvl"];
    let is_other = || {
        let lower = line.to_ascii_lowercase();
        others.iter().any(|word| lower.contains(word))
    };
    kinds.iter().any(|kind| line.contains(kind)) && !is_other()
}

/// Weight of a line by which a scheduler requests accelerators, in words of other lines.
const REQUEST_WEIGHT: usize = 1_000;

/// The accelerator that most words of a text name, the first of equals. What an export says of its
/// own design is no hint.
pub(crate) fn named(text: &str) -> Option<Card> {
    let mut found: Vec<(Card, usize)> = vec![];
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !is_own(line));
    for (line, content) in lines {
        // Accelerate writes these keys whatever it runs on.
        let content = content.trim_start();
        let is_idle = ["tpu_env", "tpu_use_"].iter().any(|key| content.starts_with(key));
        let is_asked_for = asks(content);
        let weight = if is_asked_for { REQUEST_WEIGHT } else { 1 };
        let words = content.split(|letter: char| !letter.is_ascii_alphanumeric());
        let words = words.filter(|word| !is_idle && word.len() > 2);
        for (word, id) in words.filter_map(|word| Some((word, card(word)?))) {
            match found.iter_mut().find(|(card, _)| card.id == id) {
                Some((card, count)) => {
                    *count += weight;
                    if is_asked_for && !card.is_asked_for {
                        *card = Card { id, word: word.to_owned(), line, is_asked_for };
                    }
                }
                None => {
                    found.push((Card { id, word: word.to_owned(), line, is_asked_for }, weight));
                }
            }
        }
    }
    let Some(most) = found.iter().map(|(_, count)| *count).max() else { return by_runtime(text) };
    found.into_iter().find(|(_, count)| *count == most).map(|(card, _)| card)
}

/// Whose accelerators a text runs on by what it sets for them.
fn by_runtime(text: &str) -> Option<Card> {
    // MaxText says itself where it runs on others.
    let of_gpu = ["hardware: gpu", "hardware: \"gpu", "hardware: 'gpu", "hardware=gpu"];
    let is_gpu = of_gpu.iter().any(|word| text.contains(word));
    let mut rows = RUNTIMES.iter().filter(|(_, whose)| !(is_gpu && whose.starts_with("TPU")));
    rows.find_map(|(word, whose)| {
        let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !is_own(line));
        let (line, _) = lines.find(|(_, line)| line.contains(word))?;
        Some(Card { id: Err(whose), word: (*word).to_owned(), line, is_asked_for: false })
    })
}

/// Whether a word is an accelerator's name, with a profile or without.
pub(crate) fn is_named(word: &str) -> bool {
    card(word).is_some()
}

/// The accelerator of a word: its name, and behind it nothing that makes it another number or word.
fn card(word: &str) -> Option<Result<&'static str, &'static str>> {
    // Longer words are hashes and the like.
    let word = Some(word.to_ascii_lowercase()).filter(|word| word.len() <= 12)?;
    let word = word.strip_prefix("ascend").unwrap_or(&word);
    let is_one = |name: &str| {
        let rest = word.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || ENDINGS.iter().any(|end| rest.starts_with(end)))
    };
    // Most words begin as no name does.
    let begins = |name: &str| name.as_bytes().first() == word.as_bytes().first();
    let known = NAMES.iter().map(|(name, _)| *name);
    let mut all = known.chain(OTHERS.iter().map(|(name, _)| *name));
    if !all.any(begins) {
        return None;
    }
    let known = NAMES.iter().find(|(name, _)| is_one(name)).map(|(_, id)| Ok(id.name()));
    // A name without a number is a word as it is.
    let is_other = |name: &str| {
        if name.contains(|c: char| c.is_ascii_digit()) {
            return is_one(name);
        }
        // `rocm630` is a release of it.
        word.strip_prefix(name).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    };
    known.or_else(|| OTHERS.iter().find(|(name, _)| is_other(name)).map(|(_, name)| Err(*name)))
}

/// Suffixes that may follow an accelerator's name: `h100sxm`, `h100x8`, `a100s`.
const ENDINGS: [&str; 6] = ["sxm", "x", "s", "gpu", "nvl", "pcie"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_paths_comments_and_partitions() {
        for (text, id) in [
            ("#SBATCH --partition=h100_8x\n", Some("h100-sxm-80gb")),
            ("cd /data/GB200-runs/a", Some("gb200")),
            ("# run on 64 Ascend910B3\n", Some("ascend-910b3")),
            ("export NAME=dsv3-910B-512", Some("ascend-910b3")),
            ("# H100SXM\n# H20 later\n# once more: h100", Some("h100-sxm-80gb")),
            ("--lr 1e-4 --num-layers 61 --seed 200 --hash a100f93b", None),
            ("Qwen3-30B-A3B B2000 H1000 sha=b2001234", None),
            ("# design: /?cluster.accelerator=h20", None),
        ] {
            assert_eq!(named(text).and_then(|card| card.id.ok()), id, "{text}");
        }
    }

    #[test]
    fn an_accelerator_without_a_profile_is_known_by_its_name_and_by_its_runtime() {
        for (text, word) in [
            ("exp_name: llama3.1_8B-MI300X-pretrain", Some("MI300X")),
            ("export HIP_VISIBLE_DEVICES=0,1", Some("HIP_VISIBLE_DEVICES")),
            ("docker run --device /dev/kfd rocm/megatron-lm", Some("rocm")),
            ("lmsysorg/sglang:v0.4.6-rocm630", Some("rocm630")),
            ("podman run --device=/dev/kfd --device=/dev/dri image", Some("/dev/kfd")),
            ("#SBATCH --gres=gpu:l40s:8", Some("l40s")),
            ("--tpu-type=v5p-256", Some("tpu")),
            ("compile_topology=v5p-256", Some("v5p")),
            ("export NEURON_CC_FLAGS=x", Some("NEURON")),
            ("hl-smi -Q", Some("hl-smi")),
            ("export MUSA_VISIBLE_DEVICES=all", Some("MUSA")),
            ("DeepSeek-V4-Pro --recompute-method uniform --model v4-128k", None),
        ] {
            let found = named(text);
            assert_eq!(found.as_ref().map(|card| card.word.as_str()), word, "{text}");
            assert!(found.is_none_or(|card| card.id.is_err()), "{text}");
        }
    }
}
