//! Random numbers by counter: the same on every machine, in any order.

/// Weyl increment of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A stream of its own for each list of words.
pub(crate) fn stream(words: &[u64]) -> u64 {
    words.iter().fold(GOLDEN, |stream, word| substream(stream, *word))
}

/// The stream of a list with one more word.
pub(crate) const fn substream(stream: u64, word: u64) -> u64 {
    mix(stream ^ mix(word.wrapping_add(GOLDEN)))
}

/// The number of a stream at a counter, between 0 and 1, neither included: SplitMix64's sequence
/// from the stream's word on.
#[inline]
pub(crate) fn uniform(stream: u64, counter: u64) -> f64 {
    let bits = mix(stream.wrapping_add(counter.wrapping_add(1).wrapping_mul(GOLDEN)));
    ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// The standard normal of a stream at a counter.
#[inline]
pub(super) fn normal(stream: u64, counter: u64) -> f64 {
    quantile(uniform(stream, counter))
}

/// The standard normal's inverse distribution function, to a relative 1.15e-9: Acklam's rational
/// approximation.
///
/// # Source
/// P. J. Acklam, "An algorithm for computing the inverse normal cumulative distribution function".
#[inline]
pub(crate) fn quantile(p: f64) -> f64 {
    const LOW: f64 = 0.024_25;
    if p < LOW {
        tail(libm::sqrt(-2.0 * libm::log(p)))
    } else if p > 1.0 - LOW {
        -tail(libm::sqrt(-2.0 * libm::log(1.0 - p)))
    } else {
        let (q, r) = (p - 0.5, (p - 0.5) * (p - 0.5));
        let above = ((((-3.969_683_028_665_376e1 * r + 2.209_460_984_245_205e2) * r
            - 2.759_285_104_469_687e2)
            * r
            + 1.383_577_518_672_69e2)
            * r
            - 3.066_479_806_614_716e1)
            * r
            + 2.506_628_277_459_239;
        let below = ((((-5.447_609_879_822_406e1 * r + 1.615_858_368_580_409e2) * r
            - 1.556_989_798_598_866e2)
            * r
            + 6.680_131_188_771_972e1)
            * r
            - 1.328_068_155_288_572e1)
            * r
            + 1.0;
        q * above / below
    }
}

/// The lower tail of [`quantile`], by q = sqrt(-2 ln p).
fn tail(q: f64) -> f64 {
    let above = ((((-7.784_894_002_430_293e-3 * q - 3.223_964_580_411_365e-1) * q
        - 2.400_758_277_161_838)
        * q
        - 2.549_732_539_343_734)
        * q
        + 4.374_664_141_464_968)
        * q
        + 2.938_163_982_698_783;
    let below = (((7.784_695_709_041_462e-3 * q + 3.224_671_290_700_398e-1) * q
        + 2.445_134_137_142_996)
        * q
        + 3.754_408_661_907_416)
        * q
        + 1.0;
    above / below
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_quantile_of_known_probabilities_is_known() {
        let known = [
            (0.5, 0.0),
            (0.841_344_746_068_543, 1.0),
            (0.977_249_868_051_821, 2.0),
            (0.001_349_898_031_630, -3.0),
            (0.01, -2.326_347_874_040_841),
        ];
        for (p, x) in known {
            assert!((quantile(p) - x).abs() < 1e-8, "{p}: {} is not {x}", quantile(p));
        }
    }

    #[test]
    fn normals_have_mean_zero_and_spread_one() {
        let numbers: Vec<f64> = (0..200_000).map(|counter| normal(7, counter)).collect();
        let mean = numbers.iter().sum::<f64>() / 2e5;
        let square = numbers.iter().map(|x| x * x).sum::<f64>() / 2e5;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((square - 1.0).abs() < 0.01, "{square}");
    }

    #[test]
    fn streams_differ_by_every_word_and_by_their_order() {
        let streams = [stream(&[1, 2]), stream(&[2, 1]), stream(&[1, 3]), stream(&[1])];
        for (index, one) in streams.iter().enumerate() {
            assert!(streams[index + 1..].iter().all(|other| one != other));
        }
    }
}
