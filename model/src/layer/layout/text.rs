//! Layouts as the layout knob spells them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::solver::{Chunk, Ends, Lengths, Problem, solve};
use crate::design::Design;

/// Letters of the longest text that the layout knob takes.
pub(crate) const MAX_TEXT_LEN: usize = 4_096;

/// A layout for a design that may break rules: every chunk as many layers, a head for one, and the
/// parts behind the last layer where they may be.
pub(crate) fn even_layout(design: &Design, ends: Ends) -> Option<String> {
    let transformer = &design.transformer;
    let lengths =
        Lengths { lead: 1.0, rest: 1.0, head: 1.0, mtp: 1.0, mtp_head: 1.0, embedding: 0.0 };
    let count =
        usize::try_from(super::chunks(design)).ok().filter(|count| *count <= MAX_TEXT_LEN)?;
    let problem = Problem {
        lengths,
        lead: 0,
        rest: transformer.num_layers as usize,
        mtp: transformer.mtp_num_layers as usize,
        bin_of: (0..count).collect(),
        bins: count,
        ends,
        stages: usize::try_from(design.parallel.pipeline_model_parallel_size).unwrap_or(count),
    };
    let text = spelled(&solve(&problem)?.chunks);
    (text.len() <= MAX_TEXT_LEN).then_some(text)
}

/// Chunks as the layout knob spells them, equal neighbours with a count.
pub(crate) fn spelled(chunks: &[Chunk]) -> String {
    let texts: Vec<String> =
        chunks.iter().enumerate().map(|(index, chunk)| letters(*chunk, index == 0)).collect();
    let mut text = String::new();
    let mut at = 0;
    while at < texts.len() {
        // The last chunk has no bar behind it.
        let alike = texts[at..].iter().take_while(|other| **other == texts[at]).count();
        let is_last = at + alike == texts.len();
        let repeated = if is_last { alike - 1 } else { alike };
        match repeated {
            0 => {}
            1 | 2 => (0..repeated).for_each(|_| text.push_str(&format!("{}|", texts[at]))),
            _ => text.push_str(&format!("({}|)*{repeated}", texts[at])),
        }
        if is_last {
            text.push_str(&texts[at]);
        }
        at += alike;
    }
    text
}

/// A chunk's letters: embedding, layers, MTP layers with and without their heads, the LM head.
fn letters(chunk: Chunk, is_first: bool) -> String {
    let whole = chunk.whole_mtp();
    let counted = |letter: &str, count: usize| match count {
        0..=3 => letter.repeat(count),
        _ => format!("{letter}*{count}"),
    };
    let parts = [
        if is_first { "E".to_string() } else { String::new() },
        counted("t", chunk.layers),
        counted("m", whole),
        counted("n", chunk.mtp - whole),
        counted("h", chunk.mtp_heads - whole),
        counted("L", chunk.heads),
    ];
    parts.concat()
}
