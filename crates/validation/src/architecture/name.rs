//! A model's name, without the words beside it.

use model::catalogue::preset::{Preset, PresetKind};

use super::known;
use crate::phrase::{Phrases, phrases};

/// A model's name without case, punctuation and remarks.
pub(super) struct Name {
    /// Candidates, the most precise first.
    spellings: Vec<String>,
    /// The first word, the first two, the first three.
    beginnings: Vec<String>,
    /// Parameters of `70B`, in billions; active ones may be beside all.
    pub(super) sizes: Vec<f64>,
    /// Text in brackets: `30 layers h4096 ffn12288 MHA`.
    pub(super) remarks: String,
    /// A step of reinforcement learning rather than of training on text.
    pub(super) is_reinforcement: bool,
}

/// Words of a name for the kind of model, which a name may hold or lack.
const KINDS: &[&str] = &["dense", "moe", "mla"];

/// Words of a name that change nothing of the architecture.
static REMARKS: Phrases = phrases!(
    "sft | lora | pretrain | pretraining | pretrained | proxy | bf16 | fp16 | fp8 | mxfp8 | \
     nvfp4 | baseline | optimised | optimized | tuned | full | finetune | finetuning | \
     fine | tuning | \
     cut | slots | base | instruct | hf | finegrained | grained | training | train | model | \
     mlperf | strong | weak | scaling | like | style | test | bench | benchmark | zero | fsdp | \
     deepspeed | megatron | eager | compile | dropless"
);

/// Words of reinforcement learning.
const REINFORCEMENT: &[&str] = &["rl", "rlhf", "grpo", "ppo", "dpo", "dapo", "reinforce"];

impl Name {
    pub(super) fn read(model: &str) -> Self {
        let outside = outside_brackets(model);
        // Behind a plus, a comma or a colon is what was done with the model.
        let name = [" + ", ",", ":"].iter().fold(outside.as_str(), |name, mark| {
            name.split_once(mark).map_or(name, |(before, _)| before)
        });
        let words = words(name);
        let all = words_of_all(model);
        let is_reinforcement = all.iter().any(|word| REINFORCEMENT.contains(&word.as_str()));
        let words = without_counts(&words);
        let without = |words: &[String], remarks: &[&str]| -> Vec<String> {
            words.iter().filter(|word| !remarks.contains(&word.as_str())).cloned().collect()
        };
        let plain = without(&words, &REMARKS);
        let bare = without(&plain, KINDS);
        let mut spellings = vec![];
        for words in [&words, &plain, &bare] {
            // `671b`, `a22b`: sizes that a preset's id may lack.
            let active = |word: &String| word.starts_with('a') && is_size(&word[1..]);
            let no_active: Vec<String> = words.iter().filter(|w| !active(w)).cloned().collect();
            let sizeless: Vec<String> = no_active.iter().filter(|w| !is_size(w)).cloned().collect();
            spellings.extend([join(words), join(&no_active), join(&sizeless)]);
        }
        let size = |word: &String| word.strip_suffix('b')?.parse::<f64>().ok();
        let sizes = words.iter().filter_map(size).collect();
        let of_third = |name: &String| name.replacen("nemotronv3", "nemotron3", 1);
        spellings.extend(spellings.iter().map(of_third).collect::<Vec<_>>());
        let beginnings = (1..=3).filter_map(|count| words.get(..count)).map(join).collect();
        let remarks = inside_brackets(model);
        Self { spellings, beginnings, sizes, remarks, is_reinforcement }
    }

    /// The model of that name, by the most precise spelling that any has.
    pub(super) fn found(&self) -> Option<Found> {
        self.spellings.iter().find_map(|spelling| {
            preset(spelling).map(Found::Preset).or_else(|| known(spelling).map(Found::Known))
        })
    }

    pub(super) fn preset(&self) -> Option<&'static Preset> {
        self.spellings.iter().find_map(|spelling| preset(spelling))
    }

    fn known(&self) -> Option<&'static known::Known> {
        self.spellings.iter().find_map(|spelling| known(spelling))
    }

    pub(super) fn refused(&self) -> Option<&'static str> {
        if self.known().is_some() {
            return None;
        }
        let begins = |start: &str| self.beginnings.iter().any(|beginning| beginning == start);
        known::REFUSED.iter().find(|(start, _)| begins(start)).map(|(_, reason)| *reason)
    }
}

/// Place of a name's architecture.
pub(super) enum Found {
    Preset(&'static Preset),
    Known(&'static known::Known),
}

/// The model's preset that has this name, its own or another.
fn preset(spelling: &str) -> Option<&'static Preset> {
    let is_model = |it: &&Preset| it.kind == PresetKind::Model && key(it.id) == *spelling;
    Preset::all().find(is_model).or_else(|| {
        Preset::names()
            .find(|it| it.names.iter().any(|name| key(name) == *spelling))
            .map(|it| it.preset)
    })
}

fn known(spelling: &str) -> Option<&'static known::Known> {
    let is_named = |known: &&known::Known| {
        // `Moonlight-16B` is `Moonlight-16B-A3B`: the active size may be left out.
        let (name, active) = known.name.rsplit_once("-A").unwrap_or((&known.name, ""));
        let is_active = active.strip_suffix('B').is_some_and(|size| size.parse::<f64>().is_ok());
        key(&known.name) == *spelling || (is_active && key(name) == *spelling)
    };
    known::KNOWN.iter().filter(|_| !spelling.is_empty()).find(is_named)
}

/// The words of a name in lower case.
fn words(name: &str) -> Vec<String> {
    let split = |c: char| c.is_whitespace() || c == '_' || c == '-' || c == '/';
    name.split(split).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Words of the whole cell.
pub(super) fn words_of_all(model: &str) -> Vec<String> {
    let split = |c: char| !c.is_ascii_alphanumeric() && c != '.';
    model.split(split).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Without `12L`, `8 layers`, `16p`, `2-node` and `G8T8`, which say how much of the model ran
/// where.
fn without_counts(words: &[String]) -> Vec<String> {
    let mut kept: Vec<String> = vec![];
    let mut index = 0;
    while let Some(word) = words.get(index) {
        index += 1;
        let next = words.get(index).map(String::as_str).unwrap_or_default();
        let counts = matches!(next, "layers" | "layer" | "node" | "nodes" | "gpu" | "gpus");
        if counts && word.parse::<u64>().is_ok() {
            index += 1;
        } else if !is_count(word) {
            kept.push(word.clone());
        }
    }
    kept
}

/// `12l`, `16p`, `g8t8`.
fn is_count(word: &str) -> bool {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    word.strip_suffix(['l', 'p']).is_some_and(is_number) || granularity(word).is_some()
}

/// 8 and 8 of `g8t8`: experts cut into eight each, of which a token visits eight.
pub(super) fn granularity(word: &str) -> Option<(u64, u64)> {
    let (parts, topk) = word.strip_prefix('g')?.split_once('t')?;
    let (parts, topk) = (parts.parse().ok()?, topk.parse().ok()?);
    ((1..=1_024).contains(&parts) && (1..=1_024).contains(&topk)).then_some((parts, topk))
}

/// The text outside round brackets.
fn outside_brackets(text: &str) -> String {
    by_depth(text, |depth| depth == 0)
}

/// The text inside round brackets.
fn inside_brackets(text: &str) -> String {
    by_depth(text, |depth| depth > 0)
}

fn by_depth(text: &str, keeps: fn(u32) -> bool) -> String {
    let mut depth = 0_u32;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return keeps(depth),
            }
            false
        })
        .collect()
}

fn key(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn join(words: &[String]) -> String {
    words.iter().map(|word| key(word)).collect()
}

/// `70b`, `4.7b`.
fn is_size(word: &str) -> bool {
    word.strip_suffix('b').is_some_and(|number| number.parse::<f64>().is_ok())
}
