//! SIGTERM and SIGINT: the process ends within its time after them, whatever its clients do.
//!
//! They are waited for by a thread that does nothing else. On the threads that speak to clients, a
//! signal would wait for whatever keeps these busy, and so would the time after which the process
//! is ended.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

/// Completes at the first signal. `within` later, or at the second signal, the process ends even if
/// something of it still runs: with code 0 when its time is over, since it was told to, and with
/// code 1 when it was not given that time.
pub fn stop_signal(within: Duration) -> io::Result<impl Future<Output = ()>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _inside = runtime.enter();
        [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?]
    };
    let (teller, told) = oneshot::channel();
    let waiting = async move {
        any_of(&mut signals).await;
        // The server may have ended by itself.
        let _ = teller.send(());
        tokio::select! {
            () = any_of(&mut signals) => std::process::exit(1),
            () = tokio::time::sleep(within) => {
                tracing::warn!("the time for stopping is over: the process ends");
                std::process::exit(0);
            }
        }
    };
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || runtime.block_on(waiting))?;
    Ok(async {
        if told.await.is_err() {
            // Without that thread no signal will come, and nobody has said to stop.
            std::future::pending::<()>().await;
        }
    })
}

async fn any_of([terminate, interrupt]: &mut [Signal; 2]) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
