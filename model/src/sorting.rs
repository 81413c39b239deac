//! Sorting of lists that are short, or nearly sorted.
//!
//! A sort of the standard library is compiled anew for each kind of element and takes some
//! kilobytes each time, which the explorer's module has to be downloaded with.

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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

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
