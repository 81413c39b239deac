//! Traces as bytes.

use model::routing::packed::{PackedFault, read, write};
use model::routing::text::{Row, from_rows};
use model::routing::{Generator, Pair, Trace, TraceFault};
use proptest::prelude::*;

use super::{generated, size};

fn trace() -> Trace {
    let pair = Pair { layer: 0, expert_a: 0, expert_b: 1, tokens: 1 << 40 };
    Trace::new([2, 1, 2], vec![3, 5, 4, 4]).unwrap().with_pairs(vec![pair]).unwrap()
}

#[test]
fn a_packed_trace_is_unpacked_again() {
    for trace in [trace(), generated(&Generator::default(), &size(3, 4))] {
        assert_eq!(read(&write(&trace)), Ok(trace));
    }
}

#[test]
fn the_hash_is_of_the_packed_bytes() {
    let bytes = write(&trace());
    let hash = bytes.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
        (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
    });
    assert_eq!(trace().content_hash(), format!("{hash:032x}"));
}

#[test]
fn bytes_that_are_cut_or_too_many_or_announce_too_much_are_refused() {
    let bytes = write(&trace());
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(read(&longer), Err(PackedFault::Length { found: bytes.len() + 1 }));
    assert_eq!(read(b"step,layer,expert,tokens\n"), Err(PackedFault::Magic));
    let mut huge = bytes.clone();
    huge[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    let too_large = TraceFault::TooLarge { size: [u64::MAX, 1, 2] };
    assert_eq!(read(&huge), Err(PackedFault::Trace(too_large)));
    let mut idle = bytes;
    idle[48..56].fill(0);
    let idle = read(&idle).unwrap_err().to_string();
    assert!(idle.contains("no token goes anywhere in step 0"), "{idle}");
}

#[test]
fn rows_in_any_order_make_a_trace_or_name_what_is_wrong() {
    let row = |step, expert, tokens| Row { step, layer: 7, expert, tokens };
    let of = |rows: &[Row]| {
        let pass = |take: &mut dyn FnMut(Row) -> bool| -> Result<(), ()> {
            rows.iter().all(|row| take(*row));
            Ok(())
        };
        from_rows(pass).unwrap()
    };
    let rows = [row(9, 1, 4), row(5, 0, 3), row(5, 1, 5), row(9, 0, 4)];
    assert_eq!(of(&rows), Trace::new([2, 1, 2], vec![3, 5, 4, 4]).map_err(|_| vec![]));
    let said = |rows: &[Row]| of(rows).unwrap_err()[0].to_string();
    assert_eq!(said(&rows[..3]), "expert 0 of step 9, layer 7 is missing");
    let twice = [&rows[..], &rows[1..2]].concat();
    assert_eq!(said(&twice), "row 5: this step, layer and expert has a line already");
    assert!(said(&[row(0, u32::MAX, 1)]).contains("too much"));
    assert!(said(&[]).contains("no steps"));
    assert_eq!(from_rows(|_| Err("unreadable")), Err("unreadable"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let _ = read(&bytes);
        let _ = read(&[b"moescape-trace-1", &bytes[..]].concat());
    }
}

#[test]
fn rows_that_make_no_trace_are_not_all_read() {
    let row = |step, expert| Row { step, layer: 0, expert, tokens: 1 };
    let read = |rows: &dyn Fn(u32) -> Row| {
        let mut read = 0_u32;
        let outcome = from_rows::<()>(|take| {
            let needed = (0..1 << 20).take_while(|number| take(rows(*number)));
            read += needed.count() as u32;
            Ok(())
        });
        (outcome.unwrap().unwrap_err(), read)
    };
    // All the same; more layers than there may be; in the second pass one twice, again and again.
    let (errors, count) = read(&|_| row(0, 0));
    assert!(errors[0].message.contains("twice") && count < 1 << 17, "{count}: {errors:?}");
    let (errors, count) = read(&|number| Row { layer: number, ..row(0, 0) });
    assert!(errors[0].message.contains("too much") && count < 1 << 17, "{count}: {errors:?}");
    let (errors, count) = read(&|number| row(number % 1_024, number / 2 % 1_024));
    assert!(errors.len() == 20 && count < (1 << 20) + 10_000, "{count}: {errors:?}");
}
