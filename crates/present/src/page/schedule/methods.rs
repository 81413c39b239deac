//! What is known of each method: its name, its chunks, its published formula and its source.

use model::ground::choice::Method;

use crate::words::name;

/// A method as people read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// The step time of equal stages, published or derived; `None` if there is none.
    pub formula: Option<Formula>,
    /// Source of the method.
    pub source: Source,
}

/// A step time and where it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The formula.
    pub text: &'static str,
    /// Its domain.
    pub holds: &'static str,
}

/// A publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Authors, title and date.
    pub title: &'static str,
    /// Address to read it at.
    pub address: &'static str,
}

/// A paper by authors and title, and by its number on arXiv.
macro_rules! arxiv {
    ($title:literal, $id:literal) => {
        Source {
            title: concat!($title, ", arXiv ", $id),
            address: concat!("https://arxiv.org/abs/", $id),
        }
    };
}

const GPIPE: Source = arxiv!("Huang et al. 2019, GPipe", "1811.06965");
const MEGATRON: Source = arxiv!("Narayanan et al. 2021, Megatron-LM", "2104.04473");
const PANGU: Source = arxiv!("Pangu Ultra MoE 2025", "2505.04519");
const ZERO_BUBBLE: Source = arxiv!("Qi et al. 2023, Zero Bubble", "2401.10241");
const CONTROLLABLE: Source = arxiv!("Qi et al. 2024, Controllable Memory", "2405.15362");
const DUALPIPE: Source = arxiv!("DeepSeek-AI 2024, DeepSeek-V3", "2412.19437");
const DUALPIPE_V: Source = Source {
    title: "DeepSeek-AI 2025, DualPipe and DualPipeV",
    address: "https://github.com/deepseek-ai/DualPipe",
};

const ALWAYS: &str = "any sizes and task times";

const fn step(text: &'static str, holds: &'static str) -> Option<Formula> {
    Some(Formula { text, holds })
}

/// Name, closed form and source of a method. B is dX + dW, FB is a pair.
#[must_use]
pub const fn about(method: Method) -> About {
    let (formula, source) = match method {
        Method::Gpipe => (step("(m + p − 1)(F + B)", ALWAYS), GPIPE),
        Method::OneForwardOneBackward => (step("(m + p − 1)(F + B)", ALWAYS), MEGATRON),
        Method::Interleaved => {
            let holds = "groups of p micro-batches, m a multiple of p";
            (step("(m + (p − 1) / v)(F + B)", holds), MEGATRON)
        }
        Method::OneForwardOneBackwardOverlap => {
            let holds = "one chunk per stage, FB no shorter than F or B";
            (step("(m − 1) FB + p (F + B)", holds), PANGU)
        }
        Method::ZbH1 => {
            let holds = "dW no longer than F or dX, m ≥ p";
            let text = "m (F + B) + (p − 1)(F + dX − dW)";
            (step(text, holds), ZERO_BUBBLE)
        }
        Method::Zb2p => {
            let holds = "dW no longer than F, m ≥ 2p − 1";
            let text = "m (F + B) + (p − 1) max(F + dX − 2 dW, 0)";
            (step(text, holds), ZERO_BUBBLE)
        }
        Method::ZbV => {
            let holds = "F = dX = dW, m ≥ 2p − 1";
            (step("m (F + B) + (p − 1) F / 2", holds), CONTROLLABLE)
        }
        Method::VHalf => (None, CONTROLLABLE),
        Method::VMin => (None, CONTROLLABLE),
        Method::DualPipe => {
            let holds = "F = dX = dW, FB no shorter than B";
            let text = "(m − p − 1) FB + (p + 1)(F + B) + (p / 2 − 1)(FB + B − 3 dW)";
            (step(text, holds), DUALPIPE)
        }
        Method::DualPipeV => {
            let holds = "F = dX = dW, FB no shorter than B, m ≥ 2p";
            let text = "(m − p − ½) FB + (p + ½)(F + B) + (p − 1) / 2 · (FB + B − 3 dW)";
            (step(text, holds), DUALPIPE_V)
        }
    };
    About { name: name::method(method), formula, source }
}

/// Whether a stage may have any number of chunks.
#[must_use]
pub const fn takes_any_chunks(method: Method) -> bool {
    matches!(method, Method::Interleaved | Method::OneForwardOneBackwardOverlap)
}

/// Whether it runs forwards and backwards as pairs.
#[must_use]
pub const fn has_pairs(method: Method) -> bool {
    matches!(method, Method::OneForwardOneBackwardOverlap | Method::DualPipe | Method::DualPipeV)
}

/// Default number of chunks per stage, as `moescape schedule` has it.
#[must_use]
pub const fn usual_chunks(method: Method) -> u64 {
    match method {
        Method::Gpipe
        | Method::OneForwardOneBackward
        | Method::OneForwardOneBackwardOverlap
        | Method::ZbH1
        | Method::Zb2p
        | Method::DualPipe => 1,
        Method::Interleaved | Method::ZbV | Method::VHalf | Method::VMin | Method::DualPipeV => 2,
    }
}
