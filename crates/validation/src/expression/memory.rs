//! What a published peak of memory is a reading of.

use model::Plan;
use model::catalogue::calibration::FRAGMENTATION;
use model::design::KnobId;

use super::plan;
use crate::convention;
use crate::draft::Draft;
use crate::refusal::Refusal;
use crate::runs::Run;

/// Counter that a peak was read off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// Bytes that tensors held at once: the allocator's `max_memory_allocated`, or a sum of parts.
    Allocated,
    /// Bytes that the allocator reserved for them: `max_memory_reserved`.
    Reserved,
    /// Bytes in use on the device, by `nvidia-smi`: with the context and the communication library.
    Device,
}

/// CUDA's context with the kernels that are loaded, in GiB.
///
/// Source: BigScience, `chronicles-prequel.md`: 1,573 MiB on an A100 as `nvidia-smi` shows them
/// when nothing but one number is on it.
const CONTEXT: f64 = 1573.0 / 1024.0;

/// Makes the reserve of a design whose row prints a peak that of the counter that was read.
pub(super) fn read(draft: &mut Draft<'_>, read: Plan) -> Result<Plan, Refusal> {
    if convention::memory_gib(draft.run).is_none() {
        return Ok(read);
    }
    let reading = reading(draft.run);
    let usual = draft.design.memory.reserved_gib;
    draft.set(KnobId::reserved_gib, 0)?;
    let bare = plan(&draft.design)?;
    let tensors = model::estimate(&bare).metrics.memory_peak.to_gib();
    let (reserve, words) = match reading {
        Reading::Allocated => {
            return Ok(note_memory(draft, bare, "memory is what the allocator gave"));
        }
        Reading::Reserved => (FRAGMENTATION.get() * tensors, "memory is what the allocator held"),
        Reading::Device => {
            (FRAGMENTATION.get() * tensors + CONTEXT + usual, "memory is what the device shows")
        }
    };
    // A thousandth of a GiB is far below what a row prints.
    draft.set(KnobId::reserved_gib, (reserve * 1e3).round() / 1e3)?;
    let read = plan(&draft.design)?;
    Ok(note_memory(draft, read, words))
}

fn note_memory(draft: &mut Draft<'_>, plan: Plan, words: &str) -> Plan {
    draft.note(words);
    plan
}

/// The counter that a row was read off: by its words, else the allocator's, which training logs
/// print.
fn reading(run: &Run) -> Reading {
    let text = format!("{} {} {}", run.notes, run.other_metric, run.locator).to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["nvidia-smi", "npu-smi", "rocm-smi", "device-level"]) {
        Reading::Device
    } else if has(&["max allocated", "peak allocated"]) {
        Reading::Allocated
    } else if has(&["reserved-style", "max reserved", "peak reserved", "peak_memory_usage"]) {
        // NeMo logs `torch.cuda.max_memory_reserved()` under the last name.
        Reading::Reserved
    } else {
        Reading::Allocated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_read_off_a_rows_words() {
        for (notes, other, wanted) in [
            ("", "nvidia-smi style GB", Reading::Device),
            ("memory in GiB (max allocated)", "max reserved 70.88 GiB", Reading::Allocated),
            ("memory in GiB, max over ranks, reserved-style reading", "", Reading::Reserved),
            ("NeMo peak_memory_usage counter", "", Reading::Reserved),
            ("", "14.5 samples/GPU/s", Reading::Allocated),
        ] {
            let (notes, other_metric) = (notes.to_owned(), other.to_owned());
            assert_eq!(reading(&Run { notes, other_metric, ..Run::default() }), wanted);
        }
    }
}
