//! The loop over chunks on this machine's cores.

use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;

/// The chunks of at most `size` places that a range is cut into.
pub fn chunks(places: Range<u64>, size: u64) -> impl ExactSizeIterator<Item = Range<u64>> {
    let size = size.max(1);
    let count = usize::try_from((places.end - places.start).div_ceil(size)).unwrap_or(usize::MAX);
    (0..count).map(move |chunk| {
        let start = places.start + chunk as u64 * size;
        start..(start + size).min(places.end)
    })
}

/// Works on the chunks of a range on so many threads, and hands the results over in order, on the
/// calling thread.
///
/// `work` gives none when it was told to stop; `hear` may end the loop.
pub fn run<T: Send>(
    places: Range<u64>,
    size: u64,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    work: impl Fn(Range<u64>) -> Option<T> + Sync,
    mut hear: impl FnMut(Range<u64>, T) -> ControlFlow<()>,
) {
    let size = size.max(1);
    let count = (places.end - places.start).div_ceil(size);
    let next = AtomicU64::new(0);
    // Nobody runs further ahead than a few chunks of what has been handed over.
    let (sender, receiver) = mpsc::sync_channel(threads.get());
    std::thread::scope(|scope| {
        for _ in 0..threads.get() {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let chunk = next.fetch_add(1, Ordering::Relaxed);
                    if chunk >= count || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let start = places.start + chunk * size;
                    let range = start..(start + size).min(places.end);
                    let Some(result) = work(range.clone()) else { return };
                    if sender.send((chunk, range, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = std::collections::BTreeMap::new();
        let mut due = 0;
        for (chunk, range, result) in receiver {
            waiting.insert(chunk, (range, result));
            while let Some((range, result)) = waiting.remove(&due) {
                due += 1;
                if hear(range, result).is_break() {
                    stop.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    });
}
