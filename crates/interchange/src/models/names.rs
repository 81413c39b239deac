//! What a name says: the words that change nothing about a shape, those that say another one, and
//! the sizes that a shape must have.

use std::sync::OnceLock;

use model::catalogue::preset::Preset;
use model::design::Design;

use super::{Known, listed};
use crate::card;

/// Words of names that say how a model was trained on, stored or converted, not what shape it has.
#[rustfmt::skip]
const PLAIN: [&str; 80] = [
    "instruct", "base", "chat", "thinking", "reasoning", "it", "online", "speciale", "terminus",
    "exp", "preview", "original", "latest", "pt",
    "fp8", "bf16", "fp16", "fp4", "nvfp4", "mxfp4", "mxfp8", "int4", "int8", "awq", "gptq", "gguf",
    "w4a16", "w8a8", "w8a16", "4bit", "8bit", "bnb", "quantized", "dynamic", "unsloth",
    "hf", "mcore", "torch", "torchdist", "dist", "distcp", "mg", "megatron", "slime", "verl",
    "nemo", "ckpt", "ckpts", "checkpoint", "checkpoints", "model", "models", "weights", "release",
    "converted", "safetensors", "tokenizer", "meta", "nvidia", "xai",
    "pretrain", "pretraining", "train", "training", "sft", "finetune", "finetuning", "finetuned",
    "full", "lora", "qlora", "peft", "dpo", "grpo", "rlhf", "rl", "ppo", "cpt", "config", "recipe",
];

/// Words of runs that say where and how they run, beside the names of accelerators.
#[rustfmt::skip]
const OF_RUNS: [&str; 35] = [
    "run", "bench", "benchmark", "perf", "baseline", "mock", "data", "nodes", "node", "gpus",
    "gpu", "npus", "npu", "cluster", "single", "multi", "a2", "a3", "atlas", "ascend", "cuda",
    "cs", "tflops", "packed", "unpacked", "fsdp", "fsdp2", "zero2", "zero3", "ds", "deepspeed",
    "trainer", "output", "outputs", "example",
];

/// Beginnings of words that count something of a run: `tp8`, `gbs1024`, `iter5000`.
#[rustfmt::skip]
const COUNTS: [&str; 26] = [
    "tp", "pp", "dp", "ep", "cp", "sp", "vp", "vpp", "etp", "mbs", "gbs", "bs", "lr", "seq",
    "seqlen", "ga", "step", "steps", "iter", "epoch", "ep", "rank", "r", "nodes", "gpus", "world",
];

/// Endings of such words: `1024gpu`, `32nodes`, `8x`.
const COUNTED: [&str; 12] =
    ["gpu", "gpus", "npu", "npus", "node", "nodes", "n", "g", "cards", "steps", "die", "dies"];

/// Words that say another shape than that of the name without them.
#[rustfmt::skip]
const OTHER: [&str; 42] = [
    "distill", "distilled", "distil", "lite", "small", "mini", "tiny", "nano", "micro", "air",
    "flash", "next", "coder", "vl", "omni", "vision", "audio", "large", "medium", "xl", "plus",
    "max", "pro", "turbo", "ultra", "super", "moe", "v", "proxy", "curve", "toy", "cut", "reduced",
    "slim", "pruned", "draft", "eagle", "speculator", "multimodal", "reap", "minitron", "medusa",
];

/// The model that a part of a name is, and the word that it doesn't explain.
pub(crate) type Within = (Known, Option<String>);

struct Entry {
    joined: String,
    dashed: String,
    known: Known,
}

/// The known names, as they are compared.
fn index() -> &'static [Entry] {
    static INDEX: OnceLock<Vec<Entry>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let entry = |(name, known): (&str, Known)| {
            let words = words(name);
            Entry { joined: words.concat(), dashed: dashed(&words), known }
        };
        listed().map(entry).collect()
    })
}

fn dashed(words: &[String]) -> String {
    words.join("-").replace('.', "-")
}

/// A part of a path as words, without those that change nothing. `2p5` is `2.5`.
fn words(part: &str) -> Vec<String> {
    split(part).into_iter().filter(|word| !PLAIN.contains(&word.as_str())).collect()
}

fn split(part: &str) -> Vec<String> {
    let lower = part.trim().trim_matches(['"', '\'']).to_lowercase();
    let kinds = [".yaml", ".yml", ".json", ".toml", ".sh", ".py"];
    let name = kinds.iter().find_map(|kind| lower.strip_suffix(kind)).unwrap_or(&lower);
    let letters: Vec<char> = name.chars().collect();
    let is_digit = |place: Option<usize>| {
        place.and_then(|place| letters.get(place)).is_some_and(char::is_ascii_digit)
    };
    let pointed: String = letters
        .iter()
        .enumerate()
        .map(|(place, letter)| {
            let between = is_digit(place.checked_sub(1)) && is_digit(place.checked_add(1));
            if *letter == 'p' && between { '.' } else { *letter }
        })
        .collect();
    let words = pointed.split(['-', '_', ' ']).map(|word| word.trim_matches('.'));
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A date, a release or a context: `2507`, `v0.3`, `128k`. Some models of one name differ by it.
fn is_date(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_context = word.strip_suffix('k').is_some_and(is_number) || word == "1m";
    let is_release = matches!(word, "v0.1" | "v0.2" | "v0.3" | "v1.0");
    (is_number(word) && matches!(word.len(), 4 | 6 | 8)) || is_context || is_release
}

/// The model whose name all of these words are.
fn whole(words: &[String]) -> Option<Known> {
    if words.is_empty() || words.len() > 16 {
        return None;
    }
    let by =
        |is: &dyn Fn(&Entry) -> bool| index().iter().find(|entry| is(entry)).map(|it| it.known);
    let joined = words.concat();
    let bare: Vec<String> = words.iter().filter(|word| !is_date(word)).cloned().collect();
    let (undated, pieces) = (bare.concat(), dashed(&bare));
    by(&|entry| entry.joined == joined)
        .or_else(|| by(&|entry| !undated.is_empty() && entry.joined == undated))
        .or_else(|| by(&|entry| !pieces.is_empty() && entry.dashed == pieces))
}

/// The model of a name or path, all of whose words a model's name has: `Qwen/Qwen3-8B`,
/// `/data/Qwen3-8B_torch_dist/`, `qwen3_8b.yaml`.
pub(crate) fn find(name: &str) -> Option<Known> {
    let mut behind: Vec<Vec<String>> = vec![];
    for part in parts(name) {
        let own = words(part);
        if let Some(known) = whole(&own) {
            // What stands behind it may say another size.
            let mut sizes = behind.iter().flatten().filter_map(|word| Size::of(word));
            return sizes.all(|size| size.is_of(&known)).then_some(known);
        }
        behind.push(own);
    }
    None
}

/// The last parts of a path, the last one first.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let parts = name.split(['/', ':', '@', '#']).rev();
    parts.filter(|part| !part.is_empty() && part.len() <= 120).take(4)
}

/// The model that a run's or file's name has inside, where the rest of it says nothing else:
/// `dsv3-32nodes`, `deepseek_v3_pretrain_1024gpu`.
pub(crate) fn find_within(name: &str) -> Option<Within> {
    parts(name).find_map(|part| within(&words(part))).flatten()
}

/// The model within one part of a name; `Some(None)` if the rest says another shape.
fn within(words: &[String]) -> Option<Option<Within>> {
    let words = words.get(..words.len().min(12))?;
    for first in 0..words.len() {
        let most = words.len().min(first + 6);
        for end in (first + 1..=most).rev() {
            let Some(span) = words.get(first..end) else { continue };
            let text = span.concat();
            if text.len() < 4 || !text.contains(|c: char| c.is_ascii_digit()) {
                continue;
            }
            if let Some(known) = whole(span) {
                let rest = words.iter().take(first).chain(words.iter().skip(end));
                let is_sized = span.iter().any(|word| Size::of(word).is_some());
                return Some(doubt(rest, is_sized, &known).map(|doubt| (known, doubt)));
            }
        }
    }
    None
}

/// The word of a name that nothing explains; `None` if one says another shape.
fn doubt<'a>(
    rest: impl Iterator<Item = &'a String>,
    is_sized: bool,
    known: &Known,
) -> Option<Option<String>> {
    let mut doubt = None;
    for word in rest {
        if is_of_runs(word) {
            continue;
        }
        match Size::of(word) {
            Some(size) if size.is_of(known) => continue,
            // Of two sizes one may be of the data.
            Some(_) if !is_sized => return None,
            Some(_) | None => {}
        }
        if is_other(word) || is_layers(word) {
            return None;
        }
        doubt = doubt.or_else(|| Some(word.clone()));
    }
    Some(doubt)
}

/// A word that says another shape, with its release or not: `eagle3`, `vl2`; or a generation of
/// models that see: `4.5v`.
fn is_other(word: &str) -> bool {
    let bare = word.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let is_seeing = bare.strip_suffix('v').is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    OTHER.contains(&bare) || is_seeing
}

/// `4layers`, `2l`, `layers8`.
fn is_layers(word: &str) -> bool {
    let rest = word.trim_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < word.len() && matches!(rest, "l" | "layer" | "layers")
}

fn is_of_runs(word: &str) -> bool {
    let digits = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'k' | 'e'))
    };
    let is_count = word.len() > 2 && word.chars().all(|c| c.is_ascii_digit());
    PLAIN.contains(&word)
        || OF_RUNS.contains(&word)
        || card::is_named(word)
        || is_date(word)
        || is_count
        || COUNTS.iter().any(|count| word.strip_prefix(count).is_some_and(digits))
        || COUNTED.iter().any(|count| word.strip_suffix(count).is_some_and(digits))
}

/// Number of parameters in a word.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Size {
    parameters: f64,
    is_active: bool,
}

impl Size {
    /// `32b`, `0.5b`, `a3b`, `350m`, `1t`, `7b1`.
    fn of(word: &str) -> Option<Self> {
        if let Some((whole, tenth)) = word.split_once('b')
            && let (Ok(whole), Ok(tenth), 1) =
                (whole.parse::<u32>(), tenth.parse::<u32>(), tenth.len())
        {
            let parameters = (f64::from(whole) + f64::from(tenth) / 10.0) * 1e9;
            return Some(Self { parameters, is_active: false });
        }
        let own = word.strip_prefix('a');
        let (rest, unit) = [('b', 1e9), ('m', 1e6), ('t', 1e12)]
            .into_iter()
            .find_map(|(letter, unit)| Some((own.unwrap_or(word).strip_suffix(letter)?, unit)))?;
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
        let number = rest.parse::<f64>().ok().filter(|_| is_number)?;
        Some(Self { parameters: number * unit, is_active: own.is_some() })
    }

    /// Whether a model has as many, within a tenth.
    fn is_of(self, known: &Known) -> bool {
        let Some([total, active]) = parameters(known) else { return false };
        let near = |count: f64| (self.parameters / count - 1.0).abs() <= 0.1;
        // `A3B` of 3.35 billions is rounded.
        let is_rounded = (self.parameters - active).abs() <= 5e8;
        (!self.is_active && near(total)) || near(active) || (self.is_active && is_rounded)
    }
}

/// The parameters of a shape, all and those that a token meets.
pub(super) fn parameters(known: &Known) -> Option<[f64; 2]> {
    let mut design = Design::neutral(Preset::find(Preset::DEFAULT_ID).ok()?);
    design.transformer = known.transformer();
    let plan = model::Plan::new(&design).ok()?;
    Some([plan.params_total() as f64, plan.params_active() as f64])
}

/// Whether two words are one name with two numbers: `v2` and `v3`, `qwen3` and `qwen4`, or one
/// and none.
fn is_other_generation(word: &str, known: &str) -> bool {
    let cut = |word: &str| {
        let end = word.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(word.len());
        let (letters, number) = word.split_at_checked(end)?;
        let is_number = number.chars().all(|c| c.is_ascii_digit() || c == '.');
        is_number.then(|| (letters.to_owned(), number.to_owned()))
    };
    let (one, other) = (cut(word), cut(known));
    matches!((one, other), (Some(one), Some(other)) if one.0 == other.0 && one.1 != other.1)
}

/// Whether two words are one, but for a letter.
fn is_slip(one: &str, other: &str) -> bool {
    let shared = |pairs: &mut dyn Iterator<Item = (u8, u8)>| {
        pairs.take_while(|(left, right)| left == right).count()
    };
    let front = shared(&mut one.bytes().zip(other.bytes()));
    let back = shared(&mut one.bytes().rev().zip(other.bytes().rev()));
    front + back + 1 >= one.len().max(other.len()) && one.len().abs_diff(other.len()) <= 1
}

/// Could a name be that of a model that is spelled nearly so? Its sizes are the model's, and it has
/// no word that says another shape.
pub(super) fn is_near(name: &str, known: &Known) -> bool {
    let own = split(known.name);
    let words = parts(name).next().map(split).unwrap_or_default();
    let series = |words: &[String]| -> String {
        let first = words.first().map_or("", String::as_str);
        first.chars().take_while(char::is_ascii_alphabetic).collect()
    };
    // The release behind a word of its own is that word's: `deepseek-math-v2`.
    let is_of_word = words.windows(2).skip(1).any(|pair| match pair {
        [word, release] => {
            let number = release.strip_prefix('v').unwrap_or_default();
            number.starts_with(|c: char| c.is_ascii_digit())
                && !own.contains(word)
                && !PLAIN.contains(&word.as_str())
        }
        _ => false,
    });
    let sizes = |words: &[String]| words.iter().filter_map(|word| Size::of(word)).count();
    is_slip(&series(&words), &series(&own))
        && !is_of_word
        // A name of a size is that of one model of several.
        && (sizes(&own) == 0 || sizes(&words) > 0)
        && words.iter().any(|word| word.contains(|letter: char| letter.is_ascii_digit()))
        && words.iter().all(|word| {
            own.contains(word)
                || (!is_other(word)
                    && !own.iter().any(|known| is_other_generation(word, known))
                    && !is_layers(word)
                    && Size::of(word).is_none_or(|size| sizes(&own) == 0 && size.is_of(known)))
        })
}
