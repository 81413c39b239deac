//! One sort for everything that is ranked: by two numbers, so that its code stands once in a
//! browser's module, and not for each type.

use alloc::vec::Vec;

/// Sorts by a key, the smallest first; what has equal keys stays in its order.
pub(super) fn sort<T>(items: &mut Vec<T>, key: impl Fn(&T) -> [f64; 2]) {
    let keys: Vec<[f64; 2]> = items.iter().map(key).collect();
    let mut slots: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(order(keys).into_iter().filter_map(|place| slots[place].take()));
}

/// The places of keys in ascending order.
fn order(keys: Vec<[f64; 2]>) -> Vec<usize> {
    let mut order: Vec<([f64; 2], usize)> = keys.into_iter().zip(0..).collect();
    order.sort_unstable_by(|(one, at), (other, than)| {
        one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1])).then(at.cmp(than))
    });
    order.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_equal_keys_stays_in_its_order() {
        let mut items = alloc::vec![(2.0, 'a'), (1.0, 'b'), (2.0, 'c'), (1.0, 'd'), (0.5, 'e')];
        sort(&mut items, |it| [it.0, 0.0]);
        let letters: Vec<char> = items.iter().map(|it| it.1).collect();
        assert_eq!(letters, ['e', 'b', 'd', 'a', 'c']);
    }
}
