//! The tokenizer that the arguments name, where they don't say how many entries it has.

use crate::arguments::Argument;

/// Arguments whose paths name a tokenizer.
const FILES: [&str; 3] = ["vocab-file", "tokenizer-model", "tokenizer-name-or-path"];

/// Tokenizers by a part of their files' names, with their entries.
///
/// Sources: openai/gpt-2 `encoder.json`, EleutherAI/gpt-neox `20B_tokenizer.json` (padded to 50,432
/// with two tensor-parallel ranks), meta-llama/Llama-2 `tokenizer.model`, llm-jp/llm-jp-tokenizer
/// `models/ver3.0`.
const KNOWN: [Tokenizer; 5] = [
    Tokenizer { part: "gpt2-vocab", name: "GPT-2", entries: 50_257 },
    Tokenizer { part: "20b_tokenizer", name: "GPT-NeoX-20B", entries: 50_277 },
    Tokenizer { part: "llama-2-", name: "Llama 2", entries: 32_000 },
    Tokenizer { part: "llama2-", name: "Llama 2", entries: 32_000 },
    Tokenizer { part: "llm-jp-tokenizer-100k.ver3", name: "LLM-jp 3", entries: 99_487 },
];

/// Kinds of tokenizers that are one, whatever their files are called.
const KINDS: [(&str, Tokenizer); 1] = [("gpt2bpetokenizer", KNOWN[0])];

/// A tokenizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokenizer {
    /// Part of its files' paths by which it is known, in lower case.
    part: &'static str,
    /// Name.
    pub(super) name: &'static str,
    /// Number of entries.
    pub(super) entries: u64,
}

/// The tokenizer of the first path that names one, or of its kind.
pub(super) fn named(arguments: &[Argument]) -> Option<Tokenizer> {
    let paths = arguments.iter().filter(|it| FILES.contains(&it.name.as_str()));
    let known = paths.flat_map(|it| &it.values).find_map(|path| {
        let path = path.to_ascii_lowercase();
        KNOWN.into_iter().find(|known| path.contains(known.part))
    });
    let kind = || {
        let kinds = arguments.iter().filter(|it| it.name == "tokenizer-type");
        let kind = kinds.flat_map(|it| &it.values).next()?.to_ascii_lowercase();
        KINDS.into_iter().find(|(name, _)| *name == kind).map(|(_, tokenizer)| tokenizer)
    };
    known.or_else(kind)
}
