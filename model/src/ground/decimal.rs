//! Decimal texts as numbers, each the nearest one.
//!
//! The standard library's reader brings ten kilobytes of powers of five, which the site's modules
//! would be downloaded with. Texts here are few and short, so that long division does.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Digits that are read one by one; of those behind them counts only whether one isn't zero. No
/// middle between two numbers has more.
const MAX_DIGITS: usize = 800;

/// The largest power of ten that is a number itself.
const MAX_EXACT_POWER: i64 = 22;

/// Digits of a whole number that is a number itself.
const MAX_EXACT_DIGITS: usize = 15;

/// Bits of a number, its hidden one among them.
const BITS: i64 = 53;

/// The exponent of the least number above zero, as a power of two.
const LEAST: i64 = -1_074;

/// The number nearest to a text such as `12`, `-1.5e-3` or `inf`: the same as `str::parse` gives.
#[must_use]
pub fn parse(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let (sign, size) = match bytes {
        [b'-', size @ ..] => (-1.0, size),
        [b'+', size @ ..] => (1.0, size),
        size => (1.0, size),
    };
    let is = |word: &str| size.eq_ignore_ascii_case(word.as_bytes());
    let size = if is("inf") || is("infinity") {
        f64::INFINITY
    } else if is("nan") {
        f64::NAN
    } else {
        Decimal::read(size)?.nearest()
    };
    Some(sign * size)
}

/// Digits, the first of them not zero, times a power of ten.
struct Decimal {
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (mut digits, mut exponent) = (Vec::new(), 0);
        let (mut is_number, mut has_point, mut has_more) = (false, false, false);
        let mut rest = bytes;
        while let [byte @ (b'0'..=b'9' | b'.'), behind @ ..] = rest {
            rest = behind;
            if *byte == b'.' {
                if has_point {
                    return None;
                }
                has_point = true;
                continue;
            }
            is_number = true;
            exponent -= i64::from(has_point);
            if digits.len() == MAX_DIGITS {
                exponent += 1;
                has_more |= *byte != b'0';
            } else if *byte != b'0' || !digits.is_empty() {
                digits.push(byte - b'0');
            }
        }
        exponent += match rest {
            [] => 0,
            [b'e' | b'E', power @ ..] => power_of_ten(power)?,
            _ => return None,
        };
        if has_more {
            digits.push(1);
            exponent -= 1;
        }
        is_number.then_some(Self { digits, exponent })
    }

    fn nearest(&self) -> f64 {
        let Self { digits, exponent } = self;
        let beyond = digits.len() as i64 + exponent;
        if digits.is_empty() || beyond < -330 {
            return 0.0;
        }
        if beyond > 310 {
            return f64::INFINITY;
        }
        if digits.len() <= MAX_EXACT_DIGITS && exponent.abs() <= MAX_EXACT_POWER {
            // One rounding, of two numbers that are exact.
            let number = digits.iter().fold(0, |sum, digit| 10 * sum + u64::from(*digit)) as f64;
            let power = (0..exponent.abs()).fold(1.0, |power, _| power * 10.0);
            return if *exponent < 0 { number / power } else { number * power };
        }
        let mut above = Whole(Vec::new());
        digits.iter().for_each(|digit| above.times_ten_and(u32::from(*digit)));
        let mut below = Whole(vec![1]);
        let scaled = if *exponent < 0 { &mut below } else { &mut above };
        (0..exponent.abs()).for_each(|_| scaled.times_ten_and(0));
        rounded(above, below)
    }
}

/// A power of ten with its sign, which may be as large as it likes.
fn power_of_ten(bytes: &[u8]) -> Option<i64> {
    let (sign, digits) = match bytes {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: i64, digit: &u8| (10 * sum + i64::from(digit - b'0')).min(1 << 48);
    Some(sign * digits.iter().fold(0, add))
}

/// The number nearest to a ratio above zero, the even one of two as near.
fn rounded(mut above: Whole, mut below: Whole) -> f64 {
    // Between a half and two, and then three bits more than a number has.
    let shift = below.bits() - above.bits();
    above.shift(shift.max(0));
    below.shift((-shift).max(0));
    let mut quotient = 0_u64;
    for _ in 0..BITS + 3 {
        quotient *= 2;
        if above.compare(&below) != Ordering::Less {
            above.subtract(&below);
            quotient += 1;
        }
        above.shift(1);
    }
    // What the last bit counts, as a power of two.
    let exponent = -shift - (BITS + 2);
    let bits = i64::from(u64::BITS - quotient.leading_zeros());
    let dropped = (bits - BITS).max(LEAST - exponent);
    if dropped > bits {
        return 0.0;
    }
    let (kept, half) = (quotient >> dropped, 1 << (dropped - 1));
    let rest = quotient - (kept << dropped);
    let is_tie = rest == half && above.is_zero();
    let kept = kept + u64::from(if is_tie { kept % 2 == 1 } else { rest >= half });
    let hidden = 1 << (BITS - 1);
    if kept < hidden {
        return f64::from_bits(kept);
    }
    // Twice the hidden bit is the next exponent, and the largest of these infinity.
    match exponent + dropped - LEAST + 1 {
        biased @ ..=2_046 => f64::from_bits(((biased as u64) << (BITS - 1)) + (kept - hidden)),
        _ => f64::INFINITY,
    }
}

/// A whole number of any size, its lowest 32 bits first and without zeros behind its highest.
struct Whole(Vec<u32>);

impl Whole {
    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn bits(&self) -> i64 {
        let highest = self.0.last().map_or(0, |part| part.leading_zeros());
        self.0.len() as i64 * 32 - i64::from(highest)
    }

    fn times_ten_and(&mut self, digit: u32) {
        let mut carry = u64::from(digit);
        for part in &mut self.0 {
            carry += 10 * u64::from(*part);
            *part = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Doubles it so many times.
    fn shift(&mut self, times: i64) {
        if self.is_zero() {
            return;
        }
        let bits = times % 32;
        let mut carry = 0;
        for part in &mut self.0 {
            let wide = u64::from(*part) << bits | carry;
            *part = wide as u32;
            carry = wide >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
        self.0.splice(0..0, (0..times / 32).map(|_| 0));
    }

    fn compare(&self, other: &Self) -> Ordering {
        let lengths = self.0.len().cmp(&other.0.len());
        lengths.then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Takes away what isn't larger.
    fn subtract(&mut self, other: &Self) {
        let mut borrowed = false;
        for (place, part) in self.0.iter_mut().enumerate() {
            let taken = other.0.get(place).copied().unwrap_or(0);
            let (once, under) = part.overflowing_sub(taken);
            let (twice, again) = once.overflowing_sub(u32::from(borrowed));
            (*part, borrowed) = (twice, under || again);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;

    const EDGES: &str = "|-|+|.|-.|e5|1e|1e+|1e-|1.2.3|1e5.0| 1|1 |1_000|0x10|in|infinit|inf|\
        -Infinity|0|-0|+0.0|00012|.5|5.|5.e3|1E3|1e23|8.5e22|123456789012345678e-30|1e308|\
        1.7976931348623157e308|1.7976931348623158e308|1.797693134862315808e308|1e309|\
        1e99999999999999999999|1e-99999999999999999999|1e-400|5e-324|3e-324|\
        2.4703282292062327e-324|2.4703282292062328e-324|2.2250738585072011e-308|\
        2.2250738585072014e-308|9007199254740993|9007199254740992.999999999999999999999|\
        9007199254740993.00000000000000000000000000000000000000000000000000000000000001";

    const TEXTS: &str = "[-+]?[0-9]{0,25}[.]?[0-9]{0,30}(e[-+]?[0-9]{1,3})?";

    #[track_caller]
    fn check(text: &str) {
        let expected = text.parse::<f64>().ok().map(f64::to_bits);
        assert_eq!(parse(text).map(f64::to_bits), expected, "{text}");
    }

    #[test]
    fn edges_are_read_as_the_standard_library_reads_them() {
        let many = "9".repeat(1_000);
        let zeros = "0".repeat(400);
        EDGES.split('|').for_each(check);
        check(&many);
        check(&format!("0.{many}"));
        check(&format!("{many}e-1000"));
        check(&format!("0.{zeros}1"));
        check(&format!("9007199254740993.{}1", "0".repeat(900)));
        assert!(parse("nan").is_some_and(f64::is_nan) && parse("-NaN").is_some_and(f64::is_nan));
    }

    proptest! {
        #[test]
        fn every_number_comes_back_from_its_text(bits: u64) {
            let number = f64::from_bits(bits);
            if !number.is_nan() {
                for text in [number.to_string(), format!("{number:e}"), format!("{number:.3e}")] {
                    check(&text);
                }
            }
        }

        #[test]
        fn any_text_is_read_as_the_standard_library_reads_it(text in TEXTS) {
            check(&text);
        }

        #[test]
        fn the_middle_of_two_numbers_goes_to_the_even_one(low in 1_u64 << 53..1 << 63) {
            // The middle of two whole numbers is one, too, and so is what is next to it.
            let low = low as f64;
            let next = f64::from_bits(low.to_bits() + 1);
            let middle = low as u128 + (next - low) as u128 / 2;
            for whole in [middle - 1, middle, middle + 1] {
                check(&whole.to_string());
                check(&format!("{whole}.0000000000000000000000000001"));
                check(&format!("{whole}e-30"));
            }
        }
    }
}
