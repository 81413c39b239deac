//! Which designs a sample takes: computed from a place in the sample alone, so that any machine
//! can evaluate any part of it.

use crate::digest::mix;

/// The first round's share of all designs is one of so many.
const FIRST_SHARE: u64 = 4;

/// A permutation of the numbers below `size`: where a place goes.
///
/// Four rounds of a Feistel network on the smallest even number of bits that holds `size`, walked
/// until it lands below it: less than four steps in the mean.
///
/// Source: Black and Rogaway 2002, "Ciphers with arbitrary finite domains", cycle walking.
pub(crate) fn permuted(place: u64, size: u64, seed: u64) -> u64 {
    debug_assert!(place < size);
    let bits = 64 - size.saturating_sub(1).leading_zeros();
    let half = bits.div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let keys = [0, 1, 2, 3].map(|round: u64| mix(seed ^ (round << 56)));
    let mut number = place;
    loop {
        let (mut left, mut right) = (number >> half, number & mask);
        for key in keys {
            let word = mix(right ^ key);
            (left, right) = (right, left ^ (word & mask));
        }
        number = (left << half) | right;
        if number < size {
            return number;
        }
    }
}

/// A Latin hypercube's digit: `count` places in `count` strata of an axis of `radix` values, each
/// stratum once, shuffled by axis.
pub(crate) fn stratum(place: u64, count: u64, radix: u64, seed: u64) -> u64 {
    let row = permuted(place, count, seed);
    // A value gets count / radix strata, rounded up or down.
    (u128::from(row) * u128::from(radix) / u128::from(count)) as u64
}

/// Designs of the first round, of so many in all.
pub(crate) const fn first_round(count: u64) -> u64 {
    count.div_ceil(FIRST_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_place() {
        for size in [1, 2, 3, 7, 64, 1_000] {
            for seed in [0, 42] {
                let mut all: Vec<u64> =
                    (0..size).map(|place| permuted(place, size, seed)).collect();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..size), "{size}");
            }
        }
    }

    #[test]
    fn the_largest_space_is_walked_too() {
        for place in [0, 1, u64::MAX / 2, u64::MAX - 2] {
            assert!(permuted(place, u64::MAX - 1, 3) < u64::MAX - 1);
        }
    }

    #[test]
    fn a_hypercube_takes_each_value_equally_often() {
        let mut times = [0; 8];
        (0..32).for_each(|place| times[stratum(place, 32, 8, 5) as usize] += 1);
        assert_eq!(times, [4; 8]);
        let mut times = [0; 5];
        (0..3).for_each(|place| times[stratum(place, 3, 5, 5) as usize] += 1);
        assert_eq!(times.iter().sum::<u64>(), 3);
        assert!(times.iter().all(|times| *times <= 1));
    }
}
