//! What a shell makes of a launch script, down to its arithmetic.

use super::arithmetic;

#[test]
fn arithmetic_is_that_of_whole_numbers() {
    let mut variable = |name: &str| (name == "N").then_some(6);
    for (text, value) in [
        ("2*(3+4)", Some(14)),
        ("$N / 4 % 3", Some(1)),
        ("${N}-N-1", Some(-1)),
        ("7/0", None),
        ("9223372036854775807+1", None),
        ("X+1", None),
        ("2**3", None),
        ("", None),
    ] {
        assert_eq!(arithmetic::value(text, &mut variable), value, "{text}");
    }
    assert_eq!(arithmetic::value(&"(".repeat(100_000), &mut variable), None);
    assert_eq!(arithmetic::value(&"-".repeat(100_000), &mut variable), None);
}
