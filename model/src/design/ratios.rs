//! How many tokens one key stands for, layer by layer.

use alloc::format;
use alloc::vec::Vec;

use super::python_list::read_list;
use super::setting::Setting;
use crate::ground::knob::Value;

/// Tokens that one key of compressed attention stands for: 0 (a window alone), 4 or 128.
///
/// # Source
/// `DeepSeek-V4`, `compress_ratios`; Megatron-Core `csa_compress_ratios`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressRatios {
    /// Layer by layer; those of MTP layers may follow the model's.
    pub layers: Vec<u64>,
}

impl CompressRatios {
    /// Reads `([0]*2+[4,128]*20)`.
    pub(super) fn read(text: &str) -> Option<Self> {
        read_list(text, &["0", "4", "128"]).map(|layers| Self { layers })
    }
}

impl Setting for CompressRatios {
    /// Repeats of one number or of two in turns, each as long as it can be.
    fn value(&self) -> Value {
        let (mut terms, mut left) = (Vec::new(), self.layers.as_slice());
        while let [first, rest @ ..] = left {
            let repeats = |period: usize| {
                let is_same = |(at, ratio): &(usize, &u64)| left.get(at % period) == Some(*ratio);
                left.iter().enumerate().take_while(is_same).count() / period
            };
            let (alone, in_turns) = (repeats(1), repeats(2));
            let second = rest.first().filter(|_| alone == 1 && in_turns > 1);
            let (term, taken) = match second {
                Some(second) => (format!("[{first},{second}]*{in_turns}"), 2 * in_turns),
                None if alone == 1 => (format!("[{first}]"), 1),
                None => (format!("[{first}]*{alone}"), alone),
            };
            terms.push(term);
            left = &left[taken..];
        }
        Value::Text(format!("({})", terms.join("+")))
    }

    fn from_value(value: &Value) -> Option<Self> {
        if let Value::Text(text) = value { Self::read(text) } else { None }
    }
}
