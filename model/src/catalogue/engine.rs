//! The inference engines by the names that people call them.

use crate::catalogue::names;
use crate::ground::choice::{Choice, Engine};

impl Engine {
    /// Names in texts, in parts with spaces between.
    const fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Vllm => &["vllm"],
            Self::Sglang => &["sglang"],
            Self::TensorrtLlm => &["tensorrt", "trtllm"],
            // Graphs of CANN without a server of another kind are run by `MindIE`.
            Self::Mindie => &["mindie", "cloudmatrix", "cann-recipes"],
            Self::VllmAscend => &["vllm ascend", "vllm omni-infer"],
            Self::Ideal => &[],
        }
    }

    /// The engine that a text names.
    #[must_use]
    pub fn named_in(text: &str) -> Option<Self> {
        names::find(text, Self::ALL.iter().map(|id| (*id, id.aliases())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_known_by_its_name_in_a_text() {
        for (text, engine) in [
            ("vLLM 0.12.0", Some(Engine::Vllm)),
            ("vLLM-Ascend", Some(Engine::VllmAscend)),
            ("vLLM (omni-infer, cann-recipes A2 recipe)", Some(Engine::VllmAscend)),
            ("SGLang (CANN 8.5)", Some(Engine::Sglang)),
            ("NIM 1.8.0 (TensorRT-LLM)", Some(Engine::TensorrtLlm)),
            ("trtllm 1.0.0rc3", Some(Engine::TensorrtLlm)),
            ("cann-recipes-infer (PyTorch, offline)", Some(Engine::Mindie)),
            ("CloudMatrix-Infer", Some(Engine::Mindie)),
            ("LMDeploy 0.1.0a1", None),
            ("ideal", None),
        ] {
            assert_eq!(Engine::named_in(text), engine, "{text}");
        }
    }
}
