//! What a metric is a number of.

/// Kind of answer that a metric is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// A model, whatever is done with it.
    Model,
    /// A step of training.
    Training,
    /// Requests that are answered.
    Serving,
    /// A training run.
    Budget,
    /// A trained model beside a baseline.
    Quality,
}

impl Regime {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Model => "both",
            Self::Training => "training",
            Self::Serving => "serving",
            Self::Budget => "budget",
            Self::Quality => "quality",
        }
    }

    /// The regime whose plan it is counted from: runs and their models are trained.
    #[must_use]
    pub const fn base(self) -> Self {
        match self {
            Self::Budget | Self::Quality => Self::Training,
            Self::Model | Self::Training | Self::Serving => self,
        }
    }

    /// The regime whose tables list it: those of training list what is of the model alone.
    #[must_use]
    pub const fn table(self) -> Self {
        match self {
            Self::Model => Self::Training,
            Self::Training | Self::Serving | Self::Budget | Self::Quality => self,
        }
    }
}
