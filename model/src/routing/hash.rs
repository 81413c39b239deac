//! The hash by which a design names a trace.

use alloc::string::String;

use super::packed::{self, Piece};
use super::trace::Trace;

impl Trace {
    /// The hash by which a design names this trace: 32 hexadecimal digits.
    ///
    /// FNV-1a with 128 bits over the bytes of the [packed] trace.
    ///
    /// # Source
    /// Fowler, Noll and Vo, RFC 9923.
    #[must_use]
    pub fn content_hash(&self) -> String {
        alloc::format!("{:032x}", self.hash.unwrap_or_else(|| self.computed_hash()))
    }

    /// The trace with its hash cached: every byte counts in it, so that a long trace takes a while
    /// each time that it is computed.
    #[must_use]
    pub fn keeping_hash(mut self) -> Self {
        self.hash = Some(self.computed_hash());
        self
    }

    fn computed_hash(&self) -> u128 {
        let mut hash = Fnv::new();
        packed::pieces(self, |piece| match piece {
            Piece::Bytes(bytes) => hash.add(bytes),
            Piece::Counts(counts) => hash.add_counts(counts),
        });
        hash.value()
    }
}

/// FNV-1a with 128 bits, whose prime is 2^88 + 0x13b.
struct Fnv {
    /// The lower and the upper half: a product of 128 bits is slow where words have 64.
    state: [u64; 2],
}

impl Fnv {
    /// Part of the prime beyond 2^88.
    const PRIME: u64 = 0x13b;

    const fn new() -> Self {
        Self { state: [0x62b8_2175_6295_c58d, 0x6c62_272e_07bb_0142] }
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.take::<1>(*byte);
        }
    }

    /// Adds the four bytes of each count. Zeros change nothing by themselves, so that those of a
    /// count below 2^16 are one product with a power of the prime.
    fn add_counts(&mut self, counts: &[u32]) {
        for count in counts {
            let [first, second, third, fourth] = count.to_le_bytes();
            self.take::<1>(first);
            if third == 0 && fourth == 0 {
                self.take::<3>(second);
            } else {
                self.add(&[second, third, fourth]);
            }
        }
    }

    /// Adds a byte and multiplies by the prime so many times, at most 3: the power is
    /// 0x13b^n + n 0x13b^(n - 1) 2^88 and multiples of 2^128.
    #[inline]
    fn take<const TIMES: u32>(&mut self, byte: u8) {
        let (small, large) =
            const { (Self::PRIME.pow(TIMES), TIMES as u64 * Self::PRIME.pow(TIMES - 1)) };
        let [low, high] = self.state;
        let low = low ^ u64::from(byte);
        // The product's upper half, by halves of words: `small` is below 2^25.
        let [below, above] = [low & 0xffff_ffff, low >> 32].map(|half| half * small);
        let carried = (above + (below >> 32)) >> 32;
        let shifted = low.wrapping_mul(large) << 24;
        let high = high.wrapping_mul(small).wrapping_add(carried).wrapping_add(shifted);
        self.state = [low.wrapping_mul(small), high];
    }

    fn value(&self) -> u128 {
        u128::from(self.state[1]) << 64 | u128::from(self.state[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_gives_the_published_values() {
        let of = |text: &[u8]| {
            let mut hash = Fnv::new();
            hash.add(text);
            hash.value()
        };
        assert_eq!(of(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(of(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(of(b"foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
    }
    #[test]
    fn counts_are_hashed_as_their_bytes() {
        let counts = [0, 1, 255, 256, 0xffff, 0x1_0000, 0xff_0000, 0x100_0000, u32::MAX, 7];
        let [mut one, mut other] = [Fnv::new(), Fnv::new()];
        one.add_counts(&counts);
        counts.iter().for_each(|count| other.add(&count.to_le_bytes()));
        assert_eq!(one.value(), other.value());
    }
}
