//! Pareto fronts: items that no other is at least as good as in every number.
//!
//! A place is an item's numbers as bits in the order of numbers, more is better. Which places are
//! on a front doesn't depend on the order in which items come.

use alloc::vec::Vec;

/// A number's bits in the order of numbers.
#[must_use]
pub fn ordered(value: f64) -> u64 {
    // Both zeros are one number.
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of these bits.
#[must_use]
pub fn value_of(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

/// Adds an item with its place to a front, unless one on it is at least as good in everything. Of
/// two at the same place the better stays.
pub fn insert<T: Clone, const N: usize>(
    front: &mut Vec<T>,
    places: &mut Vec<[u64; N]>,
    (item, place): (&T, [u64; N]),
    is_better: impl Fn(&T, &T) -> bool,
) {
    let reaches = |one: &[u64; N], other: &[u64; N]| one.iter().zip(other).all(|(a, b)| a >= b);
    if let Some(known) = places.iter().position(|known| reaches(known, &place)) {
        if places[known] == place && is_better(item, &front[known]) {
            front[known] = item.clone();
        }
        // What dominates one tends to dominate the next: it is compared first.
        places.swap(0, known);
        front.swap(0, known);
        return;
    }
    let mut kept = 0;
    for at in 0..front.len() {
        if !reaches(&place, &places[at]) {
            front.swap(kept, at);
            places.swap(kept, at);
            kept += 1;
        }
    }
    front.truncate(kept);
    places.truncate(kept);
    front.push(item.clone());
    places.push(place);
}

/// The front of items by these numbers, in no order; of equals the first.
pub fn front<T: Clone, const N: usize>(
    items: impl Iterator<Item = T>,
    numbers: impl Fn(&T) -> [f64; N],
) -> Vec<T> {
    let (mut front, mut places) = (Vec::new(), Vec::new());
    for item in items {
        let place = numbers(&item).map(ordered);
        insert(&mut front, &mut places, (&item, place), |_, _| false);
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_in_the_order_of_numbers() {
        let numbers = [f64::MIN, -2.5, -1e-300, 0.0, 1e-300, 0.3, 0.30000000000000004, 7e12];
        assert!(numbers.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
        assert_eq!(ordered(-0.0), ordered(0.0));
        assert!(numbers.iter().all(|number| value_of(ordered(*number)).total_cmp(number).is_eq()));
    }

    #[test]
    fn nothing_on_a_front_is_beaten_and_whatever_is_not_on_it_is() {
        let items: Vec<(usize, [f64; 2])> = (0..97_usize)
            .map(|at| (at, [(at * 7919 % 23) as f64, (at * 104_729 % 19) as f64]))
            .collect();
        let reaches = |one: &[f64; 2], other: &[f64; 2]| one[0] >= other[0] && one[1] >= other[1];
        let found = front(items.iter().copied(), |it| it.1);
        for (at, numbers) in &items {
            let mut above = items
                .iter()
                .filter(|it| reaches(&it.1, numbers) && (!reaches(numbers, &it.1) || it.0 < *at));
            let is_found = found.iter().any(|it| it.0 == *at);
            assert_eq!(is_found, above.next().is_none(), "{at}");
        }
    }
}
