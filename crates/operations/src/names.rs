//! Short names of knobs, whose meaning depends on what a design is to do.

use model::design::KnobId;
use model::ground::knob::KnobError;
use model::serving;

/// Set of short names that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Short names of training: `tp` is `parallel.tensor_model_parallel_size`.
    Training,
    /// Short names of serving: `tp` is `serving.tensor_parallel_size`.
    Serving,
}

impl Names {
    /// The knob of a name, short or whole.
    ///
    /// # Errors
    /// A name that no knob has, with the nearest that one has.
    pub fn find(self, name: &str) -> Result<KnobId, KnobError> {
        let of_serving = (self == Self::Serving).then(|| serving::alias(name)).flatten();
        of_serving.map_or_else(|| KnobId::find(name), Ok)
    }
}
