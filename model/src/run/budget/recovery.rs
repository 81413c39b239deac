//! The share of the wall clock that trains, where failures come at random.

use crate::ground::units::Seconds;

/// Halvings that find the best interval.
const HALVINGS: usize = 80;

/// A run that is checkpointed and fails.
///
/// Failures come one after the other with nothing in common (exponential gaps), also while the run
/// restarts. What was trained since the last checkpoint that is on storage is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovery {
    /// M, mean time between failures of the whole run.
    pub between_failures: Seconds,
    /// d, time that a checkpoint stops the training.
    pub stall: Seconds,
    /// w, time that a checkpoint is written behind the training.
    pub behind: Seconds,
    /// R, from a failure to training again.
    pub restart: Seconds,
    /// The least training between two checkpoints: a step.
    pub least_interval: Seconds,
}

/// Shares of the wall clock; the four sum to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratios {
    /// Training that is kept.
    pub goodput: f64,
    /// Waiting for checkpoints that are kept.
    pub stall: f64,
    /// Between a failure and training again.
    pub restart: f64,
    /// Training and waiting that a failure undoes.
    pub lost: f64,
}

impl Recovery {
    /// Shares of the wall clock with this much training between two checkpoints.
    ///
    /// After a restart the first checkpoint is safe after t + d + w, each further one t + d later.
    /// Training goes on for M in the mean; so e^(-(t + d + w)/M) / (1 - e^(-(t + d)/M)) checkpoints
    /// get safe, each of them worth t. Restarts take M (e^(R/M) - 1), as they fail, too. Without w
    /// this is Daly's complete model.
    ///
    /// # Source
    /// Daly 2006, section 2, with the time w added.
    #[must_use]
    pub fn ratios(&self, interval: Seconds) -> Ratios {
        let mean = self.between_failures;
        let cycle = (interval + self.stall) / mean;
        // 1 - e^-x loses all digits of a small x.
        let safe = libm::exp(-cycle - self.behind / mean) / -libm::expm1(-cycle);
        let running = libm::exp(-(self.restart / mean));
        let kept = safe * running / mean.get();
        let (goodput, stall) = (kept * interval.get(), kept * self.stall.get());
        let restart = -libm::expm1(-(self.restart / mean));
        Ratios { goodput, stall, restart, lost: (1.0 - goodput - stall - restart).max(0.0) }
    }

    /// The training between two checkpoints at which goodput is highest: 1 - t/M = e^(-(t + d)/M),
    /// but no less than a step, nor less than the last checkpoint is written in.
    ///
    /// # Source
    /// The zero of the derivative of [`Self::ratios`]; Young 1974 and Daly 2006 approximate it.
    #[must_use]
    pub fn best_interval(&self) -> Seconds {
        let (mean, stall) = (self.between_failures.get(), self.stall.get());
        let [mut low, mut high] = [0.0, mean];
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            // 1 - t/M - e^(-(t + d)/M), without the difference of near numbers.
            let rest = -libm::expm1(-(middle + stall) / mean) - middle / mean;
            if rest > 0.0 { low = middle } else { high = middle }
        }
        Seconds::new(low).max(self.shortest_interval())
    }

    /// The least training between two checkpoints: a step, and so long that one is written before
    /// the next.
    #[must_use]
    pub fn shortest_interval(&self) -> Seconds {
        self.least_interval.max(self.behind - self.stall)
    }

    /// Young's approximation of the best interval: sqrt(2 d M).
    ///
    /// # Source
    /// Young 1974.
    #[must_use]
    pub fn young_interval(&self) -> Seconds {
        Seconds::new(libm::sqrt(2.0 * self.stall.get() * self.between_failures.get()))
    }

    /// Daly's approximation of the best interval: sqrt(2 d M) (1 + sqrt(d / 2M) / 3 + d / 18 M) -
    /// d, M where a stall is longer than 2 M.
    ///
    /// # Source
    /// Daly 2006, eq. 37.
    #[must_use]
    pub fn daly_interval(&self) -> Seconds {
        let (stall, mean) = (self.stall, self.between_failures);
        if stall >= mean * 2.0 {
            return mean;
        }
        let small = stall / (mean * 2.0);
        self.young_interval() * (1.0 + libm::sqrt(small) / 3.0 + small / 9.0) - stall
    }
}
