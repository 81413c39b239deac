//! Limits of the laws, and caveats of an answer.

use alloc::format;
use alloc::string::String;

/// Reason for which the laws give no answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// A token meets fewer of the experts than any law was fitted on: A, below 0.8 %.
    TooSparse(f64),
    /// Too few tokens for a parameter: D / Na, below 5.
    TooFewTokens(f64),
    /// Tokens are seen more than 16 times: epochs.
    TooManyEpochs(f64),
    /// Two models that the laws see alike: they differ in what no law reads.
    NothingSeen,
}

impl Refusal {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooSparse(_) => "too_sparse",
            Self::TooFewTokens(_) => "too_few_tokens",
            Self::TooManyEpochs(_) => "too_many_epochs",
            Self::NothingSeen => "nothing_seen",
        }
    }

    /// The reason with its limit, in a sentence.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::TooSparse(share) => format!(
                "a token meets {:.2} % of the experts; no law was fitted below 0.8 %",
                100.0 * share
            ),
            Self::TooFewTokens(ratio) => {
                format!("{ratio:.2} tokens for each active parameter; laws hold from 5 on")
            }
            Self::TooManyEpochs(epochs) => {
                format!("tokens are seen {epochs:.1} times; what is known ends at 16 epochs")
            }
            Self::NothingSeen => "the models differ in nothing that a law reads: depth at equal \
                                  parameters, kind of attention, tokenizer, data, optimizer, MTP \
                                  or balancing loss"
                .into(),
        }
    }
}

/// Caveat of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// C > 1e22: beyond every fit, and the leverage is clipped there.
    BeyondCompute,
    /// Na > 2.7 billion: beyond the joint law's models.
    BeyondSize,
    /// X > 32: more experts than the joint law saw.
    BeyondExpansion,
    /// G > 16, taken as 16.
    ClampedGranularity,
    /// A of 0.8 to 1.17 %: at the edge of what was tried.
    VerySparse,
    /// No shared expert, which the leverage's models had.
    NoSharedExpert,
    /// 4 to 16 epochs: repeated tokens are worth less.
    RepeatedTokens,
    /// G < 2 or k = 1: the joint law alone.
    Coarse,
    /// The models differ by depth or width alone, which no law ranks.
    DepthOrWidthAlone,
}

impl Flag {
    /// The public name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeyondCompute => "beyond_compute",
            Self::BeyondSize => "beyond_size",
            Self::BeyondExpansion => "beyond_expansion",
            Self::ClampedGranularity => "clamped_granularity",
            Self::VerySparse => "very_sparse",
            Self::NoSharedExpert => "no_shared_expert",
            Self::RepeatedTokens => "repeated_tokens",
            Self::Coarse => "coarse",
            Self::DepthOrWidthAlone => "depth_or_width_alone",
        }
    }

    /// Meaning of the flag, in a sentence.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::BeyondCompute => {
                "more than 1e22 FLOPs: beyond every fit; the leverage of experts is that at 1e22"
            }
            Self::BeyondSize => {
                "more than 2.7 billion active parameters: beyond the joint law's models"
            }
            Self::BeyondExpansion => {
                "more than 32 experts for each active one: beyond the joint law's models"
            }
            Self::ClampedGranularity => "experts are finer than any tried: taken as G = 16",
            Self::VerySparse => {
                "a token meets less than 1.17 % of the experts: the edge of what was tried"
            }
            Self::NoSharedExpert => "no shared expert; the leverage was fitted on models with one",
            Self::RepeatedTokens => "tokens are seen 4 to 16 times: repeated ones are worth less",
            Self::Coarse => "few or wide experts: the joint law alone",
            Self::DepthOrWidthAlone => {
                "the models differ by depth or width alone, which no law ranks: only their \
                 parameters are compared"
            }
        }
    }
}
