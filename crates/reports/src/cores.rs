//! This machine's cores, as threads that evaluate designs.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use model::Estimator;
use model::search::find::Pool;

/// Runs of items that each thread takes, about: few enough that neighbours, which have most in
/// common, stay with one estimator, and enough that no thread waits long for the last.
const RUNS_PER_THREAD: usize = 16;

/// Pool of threads with an estimator each, which is kept from one call to the next.
#[derive(Debug)]
pub struct Cores {
    threads: NonZeroUsize,
    estimators: Mutex<Vec<Estimator>>,
}

impl Cores {
    /// A thread for each core.
    #[must_use]
    pub fn all() -> Self {
        Self::new(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    fn new(threads: NonZeroUsize) -> Self {
        Self { threads, estimators: Mutex::default() }
    }

    fn with_estimator<R>(&self, work: impl FnOnce(&mut Estimator) -> R) -> R {
        let kept = || self.estimators.lock().unwrap_or_else(PoisonError::into_inner);
        let mut estimator = kept().pop().unwrap_or_default();
        let result = work(&mut estimator);
        kept().push(estimator);
        result
    }
}

impl Pool for Cores {
    fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Estimator, &T) -> R + Sync,
    ) -> Vec<R> {
        let size = (items.len() / (self.threads.get() * RUNS_PER_THREAD)).max(1);
        let next = AtomicUsize::new(0);
        let take = || {
            self.with_estimator(|estimator| {
                let mut done: Vec<(usize, Vec<R>)> = Vec::new();
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(run) = items.chunks(size).nth(place) else { return done };
                    done.push((place, run.iter().map(|item| work(estimator, item)).collect()));
                }
            })
        };
        let hands = self.threads.get().min(items.len().div_ceil(size));
        let mut done = std::thread::scope(|scope| {
            let others: Vec<_> = (1..hands).map(|_| scope.spawn(take)).collect();
            let mut done = take();
            for other in others {
                match other.join() {
                    Ok(more) => done.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        });
        done.sort_by_key(|(place, _)| *place);
        done.into_iter().flat_map(|(_, results)| results).collect()
    }
}

#[cfg(test)]
mod tests {
    use model::design::Design;
    use model::search::find::OneThread;

    use super::*;

    #[test]
    fn results_have_the_order_of_the_items_on_any_number_of_threads() {
        for threads in 1..5 {
            let cores = Cores::new(NonZeroUsize::new(threads).unwrap());
            for count in [0, 1, 2, 15, 16, 17, 500] {
                let items: Vec<usize> = (0..count).collect();
                let doubled = cores.map(&items, |_, item| item * 2);
                assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn estimates_are_those_of_one_thread_whatever_the_estimators_saw_before() {
        let presets = ["pangu-ultra-moe-6k@2", "deepseek-v3-2k-h800", "qwen3-30b-a3b"];
        let designs: Vec<Design> =
            (0..30).map(|place| Design::from_preset(presets[place % 3]).unwrap()).collect();
        let mfu = |estimator: &mut Estimator, design: &Design| {
            estimator.estimate(design).map(|(_, estimate)| estimate.metrics.mfu.to_bits())
        };
        let alone = OneThread.map(&designs, mfu);
        let cores = Cores::new(NonZeroUsize::new(3).unwrap());
        assert_eq!(cores.map(&designs, mfu), alone);
        assert_eq!(cores.map(&designs[7..], mfu), alone[7..]);
    }
}
