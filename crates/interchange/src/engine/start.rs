//! Where a command starts an engine: its program, or an image whose entry point is the program; and
//! files of an engine's settings.

use super::MARKERS;
use crate::{dialects, yaml};

/// Images whose entry point is an engine, so that what follows their names are its arguments.
///
/// Source: vLLM docs, "Using Docker": the image `vllm/vllm-openai` starts the server.
const IMAGES: [(&str, &str); 2] = [("vllm/vllm-openai", "vllm"), ("vllm/vllm-openai-rocm", "vllm")];

/// Keys that only an engine's file of settings has, by the engine.
///
/// Sources: vLLM docs, "Server arguments"; SGLang docs, "Server arguments"; TensorRT-LLM,
/// `tensorrt_llm/llmapi/llm_args.py`.
const SETTINGS: [(&str, &str); 3] = [
    (
        "vllm",
        "max-model-len gpu-memory-utilization max-num-seqs max-num-batched-tokens \
         served-model-name enforce-eager tensor-parallel-size data-parallel-size \
         enable-expert-parallel kv-cache-dtype enable-prefix-caching",
    ),
    (
        "sglang",
        "mem-fraction-static context-length chunked-prefill-size model-path tp-size \
         max-running-requests enable-dp-attention served-model-name ep-size dp-size",
    ),
    (
        "tensorrt_llm",
        "kv-cache-config cuda-graph-config enable-attention-dp moe-config print-iter-log \
         moe-expert-parallel-size disable-overlap-scheduler enable-iter-perf-stats \
         stream-interval",
    ),
];

/// Lines of a file of settings that are looked at.
const MAX_LINES: usize = 2_000;

/// The engine that an image's entry point starts.
pub(super) fn of_image(word: &str) -> Option<&'static str> {
    let name = word.split('@').next().unwrap_or(word);
    // A port of the registry has a path behind it.
    let tagged = name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/'));
    let name = tagged.map_or(name, |(name, _)| name);
    let found = IMAGES.iter().find(|(image, _)| {
        name.strip_suffix(image)
            .is_some_and(|registry| registry.is_empty() || registry.ends_with('/'))
    });
    found.map(|(_, engine)| *engine)
}

/// The engine of a word, which may be an image's name, or a variable that is set to one:
/// `IMAGE=vllm/vllm-openai:latest`, `IMAGE="${IMAGE:-vllm/vllm-openai}"`.
pub(super) fn of_words<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'static str> {
    words.find_map(|word| {
        let set = word.split_once('=').map_or(word, |(_, value)| value);
        let default = set.split_once(":-").map_or(set, |(_, default)| default);
        of_image(default.trim_matches(['"', '\'', '}', ';']))
    })
}

/// The engine whose settings a YAML file has by itself.
pub(super) fn of_settings(text: &str) -> Option<&'static str> {
    if !yaml::is_yaml(text) || dialects::title(text).is_some() {
        return None;
    }
    let lines =
        text.lines().take(MAX_LINES).filter(|line| !line.starts_with([' ', '\t', '#', '-']));
    let keys: Vec<String> = lines
        .filter_map(|line| Some(line.split_once(':')?.0.trim_matches('"').replace('_', "-")))
        .collect();
    let names_model = keys.iter().any(|key| matches!(key.as_str(), "model" | "model-path"));
    let hits = |known: &str| {
        let is_known = |key: &&String| known.split(' ').any(|name| name == key.as_str());
        keys.iter().filter(is_known).count() + usize::from(names_model)
    };
    // The first of equals: most keys of one engine mean little to another.
    let mut best: Option<(&'static str, usize)> = None;
    for (engine, known) in SETTINGS {
        let count = hits(known);
        if count > best.map_or(1, |(_, most)| most) {
            best = Some((engine, count));
        }
    }
    best.map(|(engine, _)| engine)
}

/// The place of the word behind which an engine's own arguments begin.
pub(super) fn begins(words: &[(String, u64)]) -> Option<usize> {
    let word = |place: usize| words.get(place).map_or("", |(word, _)| word.as_str());
    let is_start = |word: &str| {
        matches!(word, "serve" | "trtllm-serve")
            || ["api_server", "launch_server", "/trtllm-serve"].iter().any(|it| word.ends_with(it))
            || ["dynamo.vllm", "dynamo.sglang", "dynamo.trtllm"].contains(&word)
    };
    let program = words.iter().position(|(word, _)| is_start(word));
    let place = program.or_else(|| words.iter().position(|(word, _)| of_image(word).is_some()))?;
    // `trtllm-serve serve`, `lmdeploy serve api_server`.
    Some(if is_start(word(place + 1)) { place + 1 } else { place })
}

/// Whether a command's line starts an engine.
pub(super) fn starts(line: &str, engine: &str) -> bool {
    let markers = MARKERS.iter().find(|(name, _)| *name == engine).map_or(&[][..], |row| row.1);
    let by_image = || of_words(line.split(' ')) == Some(engine);
    markers.iter().any(|marker| line.contains(marker)) || by_image()
}
