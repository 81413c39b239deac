//! Engines that a program in Python makes: `LLM(model="..", tensor_parallel_size=4)`. The call is
//! written as the command that it stands for.
//!
//! Sources: vLLM, `vllm/entrypoints/llm.py:LLM`; SGLang, `python/sglang/srt/entrypoints/engine.py:
//! Engine`; TensorRT-LLM, `tensorrt_llm/llmapi/llm.py:LLM`. Their keywords are the arguments of the
//! servers with `_` for `-`.

use super::manifest::{Manifest, quoted};

/// Import of a program, the call that makes the engine, the engine, and the equivalent command.
const CALLS: [(&str, &str, &str, &str); 7] = [
    ("from vllm import", "LLM(", "vllm", "vllm serve"),
    ("import vllm", "LLM(", "vllm", "vllm serve"),
    ("from vllm", "AsyncEngineArgs(", "vllm", "vllm serve"),
    ("from vllm", "EngineArgs(", "vllm", "vllm serve"),
    ("import sglang", ".Engine(", "sglang", "python -m sglang.launch_server"),
    ("from sglang", "Engine(", "sglang", "python -m sglang.launch_server"),
    ("from tensorrt_llm", "LLM(", "tensorrt_llm", "trtllm-serve"),
];

/// Bytes of a call that are looked at, and its arguments.
const MAX_CALL: usize = 8_192;
const MAX_ARGUMENTS: usize = 64;

/// The engine that a program makes.
pub(super) fn find(text: &str) -> Option<Manifest> {
    CALLS.iter().find_map(|(import, call, engine, command)| {
        let mut lines = text.lines().map(str::trim_start);
        if !lines.any(|line| line.starts_with(import)) {
            return None;
        }
        let (place, _) = text.match_indices(call).find(|(place, _)| {
            let before = text.get(..*place).and_then(|it| it.chars().next_back());
            call.starts_with('.') || before.is_none_or(|c| !(c.is_alphanumeric() || c == '_'))
        })?;
        let inner = text.get(place + call.len()..)?;
        let script = arguments(inner, command)?;
        let line = text.get(..place)?.matches('\n').count() as u64 + 1;
        let (devices, pods, replicas, others) = (None, 1, 1, 0);
        Some(Manifest { engine, script, line, devices, pods, replicas, others })
    })
}

/// The call's arguments behind the command; `None` if it names no model by a word.
fn arguments(inner: &str, command: &str) -> Option<String> {
    let mut script = command.to_owned();
    let mut has_model = false;
    for (place, piece) in pieces(inner).into_iter().take(MAX_ARGUMENTS).enumerate() {
        let (name, value) = match piece.split_once('=') {
            // A comment may stand in front of a name.
            Some((name, value)) if !name.contains(['"', '\'']) => {
                let name = name.rsplit('\n').next().unwrap_or(name);
                (name.trim(), value.lines().next().unwrap_or_default().trim())
            }
            _ if place == 0 => ("model", piece.trim()),
            _ => continue,
        };
        let is_word = value.starts_with(['"', '\'']) && value.len() > 1;
        let is_number = value.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let flag = name.replace('_', "-");
        match value {
            "True" => script.push_str(&format!(" --{flag}")),
            _ if matches!(name, "model" | "model_path") && is_word => {
                has_model = true;
                let positional = command.ends_with("serve");
                let flag = if positional { String::new() } else { format!("--{flag} ") };
                script.push_str(&format!(" {flag}{}", quoted(value.trim_matches(['"', '\'']))));
            }
            _ if is_word || is_number => {
                script.push_str(&format!(" --{flag} {}", quoted(value.trim_matches(['"', '\'']))));
            }
            _ => {}
        }
    }
    has_model.then_some(script)
}

/// The pieces of a call between its commas, up to the bracket that closes it.
fn pieces(inner: &str) -> Vec<&str> {
    let (mut made, mut begin, mut depth) = (vec![], 0, 0_u32);
    // Within quotes, or a comment up to the line's end.
    let mut quote: Option<char> = None;
    for (at, letter) in inner.char_indices().take_while(|(at, _)| *at < MAX_CALL) {
        match (quote, letter) {
            (Some('#'), '\n') => quote = None,
            (Some(open), _) if open == letter && letter != '#' => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '#') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth > 0 => depth -= 1,
            (None, ',' | ')') if depth == 0 => {
                made.push(inner.get(begin..at).unwrap_or_default().trim());
                begin = at + 1;
                if letter == ')' {
                    break;
                }
            }
            (None, _) => {}
        }
    }
    made
}
