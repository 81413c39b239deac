//! Quantities as types, so that bytes are never added to seconds.
//!
//! Each wraps an `f64` in its base unit. Only the products and quotients that mean something exist.
//! Counts (layers, tokens, parameters) stay exact integers; they become quantities last.

use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

macro_rules! quantity {
    ($(#[$doc:meta])* $Name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $Name(f64);

        impl $Name {
            /// Nothing.
            pub const ZERO: Self = Self(0.0);

            #[doc = concat!("From a number of ", $unit, ".")]
            #[must_use]
            pub const fn new(value: f64) -> Self {
                Self(value)
            }

            #[doc = concat!("The number of ", $unit, ".")]
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }

            /// The larger of the two.
            #[must_use]
            pub const fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }

            /// The smaller of the two.
            #[must_use]
            pub const fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }

            /// Amount left after taking `other` away, never below zero.
            #[must_use]
            pub const fn beyond(self, other: Self) -> Self {
                Self((self.0 - other.0).max(0.0))
            }
        }

        impl Add for $Name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl AddAssign for $Name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl Sub for $Name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<f64> for $Name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Div<f64> for $Name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        /// A ratio of two like quantities is a plain number.
        impl Div for $Name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }

        impl Sum for $Name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self::ZERO, Add::add)
            }
        }
    };
}

macro_rules! rate {
    ($Amount:ident / $Rate:ident) => {
        impl Div<$Rate> for $Amount {
            type Output = Seconds;
            fn div(self, rate: $Rate) -> Seconds {
                Seconds(self.0 / rate.0)
            }
        }

        impl Mul<Seconds> for $Rate {
            type Output = $Amount;
            fn mul(self, time: Seconds) -> $Amount {
                $Amount(self.0 * time.0)
            }
        }

        impl Div<Seconds> for $Amount {
            type Output = $Rate;
            fn div(self, time: Seconds) -> $Rate {
                $Rate(self.0 / time.0)
            }
        }
    };
}

quantity!(
    /// An amount of memory or traffic.
    ///
    /// ```compile_fail
    /// use model::units::{Bytes, Seconds};
    /// let _ = Bytes::new(1.0) + Seconds::new(1.0);
    /// ```
    Bytes,
    "bytes"
);
quantity!(
    /// A duration.
    Seconds,
    "seconds"
);
quantity!(
    /// An amount of floating-point operations; a multiply-add counts two.
    Flops,
    "floating-point operations"
);
quantity!(
    /// A bandwidth.
    BytesPerSecond,
    "bytes per second"
);
quantity!(
    /// A compute rate.
    FlopsPerSecond,
    "floating-point operations per second"
);

rate!(Bytes / BytesPerSecond);
rate!(Flops / FlopsPerSecond);

impl Bytes {
    /// From binary gigabytes, 2^30 bytes.
    #[must_use]
    pub const fn gib(value: f64) -> Self {
        Self(value * 1_073_741_824.0)
    }

    /// In binary gigabytes, 2^30 bytes.
    #[must_use]
    pub const fn to_gib(self) -> f64 {
        self.0 / 1_073_741_824.0
    }

    /// In decimal gigabytes, 10^9 bytes.
    #[must_use]
    pub const fn to_gb(self) -> f64 {
        self.0 / 1e9
    }
}

impl BytesPerSecond {
    /// From decimal gigabytes per second.
    #[must_use]
    pub const fn gb(value: f64) -> Self {
        Self(value * 1e9)
    }
}

impl FlopsPerSecond {
    /// From teraflops, 10^12 per second.
    #[must_use]
    pub const fn tera(value: f64) -> Self {
        Self(value * 1e12)
    }
}

impl Seconds {
    /// From days.
    #[must_use]
    pub const fn days(value: f64) -> Self {
        Self(value * 86_400.0)
    }

    /// In days.
    #[must_use]
    pub const fn to_days(self) -> f64 {
        self.0 / 86_400.0
    }

    /// From milliseconds.
    #[must_use]
    pub const fn millis(value: f64) -> Self {
        Self(value * 1e-3)
    }

    /// From microseconds.
    #[must_use]
    pub const fn micros(value: f64) -> Self {
        Self(value * 1e-6)
    }
}
