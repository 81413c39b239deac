//! Who evaluates designs: one thread, or many.

use alloc::vec::Vec;

use crate::training::estimator::Estimator;

/// Threads that evaluate designs. The order of results is that of the items.
pub trait Pool {
    /// Results of `work` for each item, with an estimator of its thread.
    fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Estimator, &T) -> R + Sync,
    ) -> Vec<R>;
}

/// The one thread that asks.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneThread;

impl Pool for OneThread {
    fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Estimator, &T) -> R + Sync,
    ) -> Vec<R> {
        let mut estimator = Estimator::new();
        items.iter().map(|item| work(&mut estimator, item)).collect()
    }
}
