//! The unit of a metric's values: what a number of it is, and how it is to be read.

/// The unit of a number.
///
/// Some share a public name and differ in the size that they usually have, which decides how they
/// are written: [`Self::MemoryBytes`] fill a device, [`Self::TokenBytes`] are those of one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share of one, to be written as a percentage with so many decimals.
    Ratio(u8),
    /// A probability, never certain.
    Likelihood,
    /// A multiple of another number of its kind.
    Factor,
    /// One for yes and zero for no.
    Verdict,
    /// A bare number.
    Count,
    /// Parameters of a model.
    Parameters,
    /// An amount of the currency that a price is in.
    Money,
    /// Seconds.
    Seconds,
    /// Seconds of one token, of which one is long.
    TokenSeconds,
    /// Hours.
    Hours,
    /// Hours of all devices together.
    DeviceHours,
    /// Days.
    Days,
    /// Kilowatt-hours.
    KilowattHours,
    /// Watts.
    Watts,
    /// Bytes of a device's memory.
    MemoryBytes,
    /// Bytes that are sent or stored.
    TrafficBytes,
    /// Bytes of one token.
    TokenBytes,
    /// Binary gigabytes, 2^30 bytes.
    Gib,
    /// Bytes a second.
    BytesPerSecond,
    /// Floating-point operations; a multiply-add counts two.
    Flop,
    /// Floating-point operations a second.
    FlopPerSecond,
    /// 10^12 floating-point operations a second.
    Tflops,
    /// Tokens.
    Tokens,
    /// Tokens a second.
    TokensPerSecond,
    /// Sequences.
    Sequences,
    /// Times a second.
    PerSecond,
    /// Nats of a loss.
    Nats,
}

impl Unit {
    /// The public name; empty for counts, ratios and verdicts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ratio(_)
            | Self::Likelihood
            | Self::Factor
            | Self::Verdict
            | Self::Count
            | Self::Parameters
            | Self::Money => "",
            Self::Seconds | Self::TokenSeconds => "s",
            Self::Hours | Self::DeviceHours => "h",
            Self::Days => "days",
            Self::KilowattHours => "kWh",
            Self::Watts => "W",
            Self::MemoryBytes | Self::TrafficBytes | Self::TokenBytes => "bytes",
            Self::Gib => "GiB",
            Self::BytesPerSecond => "bytes/s",
            Self::Flop => "FLOP",
            Self::FlopPerSecond => "FLOP/s",
            Self::Tflops => "TFLOPS",
            Self::Tokens => "tokens",
            Self::TokensPerSecond => "tokens/s",
            Self::Sequences => "sequences",
            Self::PerSecond => "1/s",
            Self::Nats => "nats",
        }
    }

    /// Whether a change of it is told in percentage points.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Ratio(_) | Self::Likelihood)
    }
}
