//! Work without the interpreter's lock: on another thread where it takes long, so that this one
//! hears Ctrl-C.

use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Longest delay before Ctrl-C takes effect.
const PATIENCE: Duration = Duration::from_millis(50);

/// Long work, which ends soon after a stop request.
///
/// # Errors
/// What a handler of signals raises, such as `KeyboardInterrupt`; `RuntimeError` where it panics.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    py.detach(|| {
        thread::scope(|scope| {
            let (sender, ended) = mpsc::channel::<()>();
            let worker = scope.spawn(|| {
                // Dropped at the end, also of a panic.
                let _sender = sender;
                work(&stop)
            });
            let mut raised = None;
            while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| py.check_signals())
                {
                    stop.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            let result = worker.join().map_err(|panic| internal(&*panic))?;
            raised.map_or(Ok(result), Err)
        })
    })
}

/// Number of threads: the given one, or one per core.
pub(crate) fn threads(asked: Option<NonZeroUsize>) -> NonZeroUsize {
    asked.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

fn internal(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    PyRuntimeError::new_err(format!("internal error of moescape, please report it: {text}"))
}
