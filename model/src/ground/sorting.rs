//! Sorting of lists that are short, or nearly sorted, and quantiles of sorted numbers.
//!
//! A sort of the standard library is compiled anew for each kind of element and takes some
//! kilobytes each time, which the explorer's module has to be downloaded with.

use alloc::vec::Vec;
use core::cmp::Ordering;

/// Sorts by insertion, equals in their order: n + d comparisons where d pairs of n elements stand
/// the wrong way round.
pub fn sort_short<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && compare(&list[at - 1], &list[at]) == Ordering::Greater {
            list.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// Sorts numbers, the lowest first, as [`f64::total_cmp`] has them: by whole numbers in their
/// order, whose sort others use too.
pub fn sort_numbers(list: &mut [f64]) {
    const SIGN: u64 = 1 << 63;
    let key = |number: &f64| {
        let bits = number.to_bits();
        if bits & SIGN == 0 { bits | SIGN } else { !bits }
    };
    let mut keys: Vec<u64> = list.iter().map(key).collect();
    keys.sort_unstable();
    for (number, key) in list.iter_mut().zip(keys) {
        *number = f64::from_bits(if key & SIGN == 0 { !key } else { key & !SIGN });
    }
}

/// The median of sorted numbers: the mean of the two inner ones of an even count.
#[must_use]
pub fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len().is_multiple_of(2) {
        return Some(f64::midpoint(*sorted.get(middle - 1)?, upper));
    }
    Some(upper)
}

/// A quantile of sorted numbers, between two neighbours in proportion; zero of none.
#[must_use]
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let position = share.clamp(0.0, 1.0) * sorted.len().saturating_sub(1) as f64;
    let below = libm::floor(position);
    let at = |index: usize| sorted.get(index).or(sorted.last()).copied().unwrap_or(0.0);
    let (low, high) = (at(below as usize), at(below as usize + 1));
    low + (high - low) * (position - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_total_order() {
        let mut list = [2.5, -0.0, f64::INFINITY, 0.0, -3.0, 1e-300, f64::NEG_INFINITY, 2.5];
        let mut expected = list;
        expected.sort_by(f64::total_cmp);
        sort_numbers(&mut list);
        assert_eq!(list.map(f64::to_bits), expected.map(f64::to_bits));
    }

    #[test]
    fn it_sorts_as_the_standard_library_and_keeps_the_order_of_equals() {
        let mut list: Vec<(u32, usize)> =
            (0..97).map(|at| ((at * 7_919_u32 + 3) % 13, at as usize)).collect();
        let mut expected = list.clone();
        expected.sort_by_key(|one| one.0);
        sort_short(&mut list, |one, other| one.0.cmp(&other.0));
        assert_eq!(list, expected);
        sort_short(&mut list[..0], |one, other| one.cmp(other));
    }
}
