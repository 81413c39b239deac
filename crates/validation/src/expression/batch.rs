//! The batch and the number format.

use model::design::{Design, KnobId};

use crate::draft::Draft;
use crate::imputation::{self, Facts, Item};
use crate::refusal::Refusal;
use crate::runs::Run;

/// Sets sequence, micro-batch, global batch and precision.
pub(super) fn set(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let run = draft.run;
    let Some(seq) = run.seq_length else {
        return Err(Refusal::open("the sequence length isn't printed"));
    };
    draft.set(KnobId::seq_length, seq)?;
    let printed = run
        .micro_batch_size
        .or_else(|| micro_batch_of_stages(draft))
        .or_else(|| micro_batch_of_accumulation(draft));
    match (printed, draft.micro_batch) {
        (Some(size), _) => draft.set(KnobId::micro_batch_size, size)?,
        (None, Some(size)) => {
            draft.assumption(Item::MicroBatchSize);
            draft.set(KnobId::micro_batch_size, size)?;
        }
        (None, None) => draft.assume(KnobId::micro_batch_size, Item::MicroBatchSize)?,
    }
    let batch = match run.global_batch_size {
        Some(batch) => batch,
        None => batch_of_micro_batches(draft)?,
    };
    draft.set(KnobId::global_batch_size, batch)?;
    set_precision(draft)
}

/// The micro-batch of a local batch that is split into as many as there are chunks, which is
/// torchtitan's default.
///
/// Source: torchtitan, `pipelining_utils.py`: `n_microbatches = num_total_stages`.
fn micro_batch_of_stages(draft: &mut Draft<'_>) -> Option<u64> {
    let remarks = draft.run.notes.to_lowercase();
    let parallel = &draft.design.parallel;
    let chunks = parallel
        .pipeline_model_parallel_size
        .saturating_mul(draft.run.virtual_pipeline.trim().parse().unwrap_or(1));
    let local: u64 = {
        let (_, rest) = remarks.split_once("local batch ")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()?
    };
    if parallel.pipeline_model_parallel_size == 1 || chunks == 0 {
        return None;
    }
    draft.note("as many micro-batches as chunks of the pipeline, torchtitan's default");
    Some((local / chunks).max(1))
}

/// MBS = global batch / (DP x accumulation steps), where the row prints their number: `GA 8`.
fn micro_batch_of_accumulation(draft: &mut Draft<'_>) -> Option<u64> {
    let remarks = format!("{} {}", draft.run.other_metric, draft.run.notes).to_lowercase();
    let steps = micro_batches(&format!("{}; {remarks}", draft.flags))?;
    let per_rank = draft.run.global_batch_size? / data_parallel(draft).max(1);
    let size = per_rank.checked_div(steps).filter(|size| *size > 0 && size * steps == per_rank)?;
    draft.note("micro-batch from the global batch and its accumulation steps");
    Some(size)
}

/// Micro-batches of a step on one pipeline, as a text counts them: `32 microbatches`, `GA 8`,
/// `m=4`.
fn micro_batches(text: &str) -> Option<u64> {
    let before = [" microbatches", " micro-batches", " micro batches", " accumulation steps"];
    let after = [
        "gradient accumulation steps ",
        "gradient_accumulation_steps=",
        "gradient accumulation ",
        "grad acc ",
        "grad accum ",
        "ga ",
        "ga=",
        "m=",
    ];
    before.iter().find_map(|phrase| number_beside(text, phrase)).or_else(|| {
        after.iter().find_map(|phrase| {
            text.match_indices(phrase).find_map(|(at, _)| {
                // `omega 3` is no `ga 3`.
                let is_word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
                let rest = text[at + phrase.len()..].trim_start_matches(['=', ' ']);
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                digits.parse().ok().filter(|count| is_word && *count > 0)
            })
        })
    })
}

/// Data-parallel ranks.
fn data_parallel(draft: &Draft<'_>) -> u64 {
    let parallel = &draft.design.parallel;
    let model = parallel
        .tensor_model_parallel_size
        .saturating_mul(parallel.pipeline_model_parallel_size)
        .saturating_mul(parallel.context_parallel_size);
    draft.design.cluster.num_devices / model.max(1)
}

/// Micro-batches to try where the row leaves theirs open: powers of two that divide what a
/// data-parallel rank gets, and leave at least one micro-batch to each stage of its pipeline.
pub(super) fn open_micro_batches(design: &Design) -> Vec<u64> {
    let parallel = &design.parallel;
    let stages = parallel.pipeline_model_parallel_size;
    let model = parallel
        .tensor_model_parallel_size
        .saturating_mul(stages)
        .saturating_mul(parallel.context_parallel_size);
    let ranks = (design.cluster.num_devices / model.max(1)).max(1);
    let per_rank = design.training.global_batch_size / ranks;
    let fits = |size: &u64| per_rank.is_multiple_of(*size) && per_rank / size >= stages;
    (1..12).map(|power| 1 << power).take_while(fits).collect()
}

/// Global batch = DP x MBS x micro-batches, where the row prints their number; or its tokens over
/// those of a sequence.
fn batch_of_micro_batches(draft: &mut Draft<'_>) -> Result<u64, Refusal> {
    let pp = draft.design.parallel.pipeline_model_parallel_size;
    let dp = data_parallel(draft).max(1);
    let per_step = dp.saturating_mul(draft.design.training.micro_batch_size);
    let remarks = format!("{} {}", draft.run.other_metric, draft.run.notes).to_lowercase();
    if let Some(count) = micro_batches(&format!("{}; {remarks}", draft.flags)) {
        draft.note("global batch from DP x MBS x micro-batches");
        return Ok(per_step.saturating_mul(count));
    }
    if let Some(batch) = batch_of_tokens(draft, &remarks) {
        draft.note("global batch from the tokens of a step");
        return Ok(batch);
    }
    if draft.run.kind == "memory" {
        draft.note("enough micro-batches to fill the pipeline");
        return Ok(per_step.saturating_mul(2).saturating_mul(pp));
    }
    Err(Refusal::open("the global batch isn't printed"))
}

/// Sequences of `4M tokens per batch`; tokens are counted in powers of two there.
fn batch_of_tokens(draft: &Draft<'_>, remarks: &str) -> Option<u64> {
    let phrases = ["m tokens per batch", "m tokens/batch", "m tokens per step", "m tokens/step"];
    let millions = phrases.iter().find_map(|phrase| number_beside(remarks, phrase))?;
    let tokens = millions.checked_mul(1 << 20)?;
    let seq = draft.design.training.seq_length;
    (tokens.is_multiple_of(seq)).then(|| tokens / seq)
}

/// The number right before a phrase.
fn number_beside(text: &str, phrase: &str) -> Option<u64> {
    let before = &text[..text.find(phrase)?];
    let digits: Vec<u8> = before.bytes().rev().take_while(u8::is_ascii_digit).take(9).collect();
    let digits: String = digits.iter().rev().map(|digit| char::from(*digit)).collect();
    digits.parse().ok().filter(|count| *count > 0)
}

/// Words in a precision's text, and the number format that they mean; the first match counts.
const PRECISIONS: &[(&[&str], &str)] = &[
    (&["nvfp4", "fp4"], "nvfp4"),
    (&["mxfp8", "fp8-mx", "fp8_mx"], "mxfp8"),
    (&["fp8-sc", "fp8_sc", "blockwise"], "fp8_blockwise"),
    (&["fp8-cs", "fp8_cs", "tensorwise", "current scaling"], "fp8_tensorwise"),
    (&["fp8-ds", "fp8_ds", "delayed"], "fp8_delayed"),
];

fn named_format(text: &str) -> Option<&'static str> {
    let is_named = |words: &[&str]| words.iter().any(|word| text.contains(word));
    PRECISIONS.iter().find(|(words, _)| is_named(words)).map(|(_, format)| *format)
}

/// The number format in a run's text, and what was assumed for it; `None` if the text is empty or
/// unknown.
pub(crate) fn precision(run: &Run, facts: &Facts) -> Option<(&'static str, Option<&'static str>)> {
    let text = run.precision.to_lowercase();
    if let Some(format) = named_format(&text) {
        return Some((format, None));
    }
    if text.contains("fp8") {
        // A recipe's name in the notes says which scaling `FP8` is.
        if let Some(format) = named_format(&run.notes.to_lowercase()) {
            return Some((format, None));
        }
        if run.source.contains("DeepSeek-V3") {
            return Some(("fp8_blockwise", Some("FP8 with DeepSeek-V3's blocks")));
        }
        let (format, words) = imputation::impute(Item::Fp8Scaling, facts);
        return Some((format, Some(words)));
    }
    // `FP16/BF16` is fp16, as the gradients are that go with it.
    let plain = [("fp16", "fp16"), ("bf16", "bf16"), ("tf32", "fp32"), ("fp32", "fp32")];
    plain.iter().find(|(word, _)| text.contains(word)).map(|(_, format)| (*format, None))
}

fn set_precision(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    if draft.run.precision.is_empty() {
        return draft.assume(KnobId::precision, Item::Precision);
    }
    let Some((format, assumed)) = precision(draft.run, &draft.facts) else {
        return Err(Refusal::new("its precision isn't known", &draft.run.precision));
    };
    if let Some(words) = assumed {
        draft.note(words);
    }
    draft.set(KnobId::precision, format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_stands_before_its_phrase() {
        let text = "schedule zb-2p; 32 microbatches";
        assert_eq!(number_beside(text, " microbatches"), Some(32));
        assert_eq!(number_beside("é microbatches", " microbatches"), None);
        assert_eq!(number_beside("none", " microbatches"), None);
    }

    #[test]
    fn micro_batches_are_counted_in_many_words() {
        for (text, count) in [
            ("schedule 1f1b; 64 microbatches; 1", Some(64)),
            ("time-to-train min 4.01; ga 8; x", Some(8)),
            ("capacity factor 1.2; m=4; jit o1", Some(4)),
            ("gradient_accumulation_steps=16", Some(16)),
            ("ga 48.0; x", Some(48)),
            ("omega 3", None),
            ("param=4", None),
            ("", None),
        ] {
            assert_eq!(micro_batches(text), count, "{text}");
        }
    }

    #[test]
    fn a_precision_has_many_spellings() {
        assert_eq!(named_format("fp8-mx"), Some("mxfp8"));
        assert_eq!(named_format("mxfp8 rceil"), Some("mxfp8"));
        assert_eq!(named_format("fp8 tensorwise"), Some("fp8_tensorwise"));
        assert_eq!(named_format("recipe llama3_8b_fp8_cs_v1"), Some("fp8_tensorwise"));
        assert_eq!(named_format("amp_fp8"), None);
    }
}
