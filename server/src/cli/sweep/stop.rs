//! Signals that end a sweep early: Ctrl-C, or a scheduler that wants its machine back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Raises the flag at the first signal. At the second, the process ends as it would have.
pub(in crate::cli) fn on_signal(stop: &Arc<AtomicBool>) {
    let stop = Arc::clone(stop);
    // Without signals the sweep runs to its end.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            if wait().await {
                stop.store(true, Ordering::Relaxed);
                wait().await;
                std::process::exit(130);
            }
        });
    });
}

/// Waits for a signal; false where there are none to be had.
#[cfg(unix)]
async fn wait() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return false;
    };
    tokio::select! {
        heard = interrupt.recv() => heard.is_some(),
        heard = terminate.recv() => heard.is_some(),
    }
}

#[cfg(not(unix))]
async fn wait() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
