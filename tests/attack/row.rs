//! One row of the table of attacks: a fresh server, watchers, the attack, and the bounds.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::time::Duration;

use crate::server::{Server, Start};
use crate::watch::{Bounds, Watch};

/// One row at a time: each measures times.
pub(crate) static TURN: Mutex<()> = Mutex::new(());

/// What the watchers see of the server before the attack and after it.
const QUIET: Duration = Duration::from_millis(100);

/// Attacks a server with default settings while others use it; fails if they notice more than
/// `bounds` allow, or if the server dies.
pub(crate) fn row(name: &str, bounds: Bounds, attack: impl AsyncFnOnce(&Server)) {
    row_with(Server::start, name, bounds, attack);
}

/// Like [`row`], for a server that is started with settings of its own.
pub(crate) fn row_on(start: &Start, name: &str, bounds: Bounds, attack: impl AsyncFnOnce(&Server)) {
    row_with(|| Server::started(start), name, bounds, attack);
}

fn row_with(
    start: impl FnOnce() -> Server,
    name: &str,
    bounds: Bounds,
    attack: impl AsyncFnOnce(&Server),
) {
    // A row that failed has broken nothing of the others.
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut server = start();
    let watch = Watch::begin(server.address, server.id());
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    let attacked = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            tokio::time::sleep(QUIET).await;
            attack(&server).await;
            tokio::time::sleep(QUIET).await;
        });
    }));
    let noticed = watch.end();
    if let Err(panic) = attacked {
        resume_unwind(panic);
    }
    assert_eq!(server.has_died(), None, "{name}: the server has died");
    // What the attack left open is given up only now.
    runtime.shutdown_background();
    noticed.check(name, &bounds);
}
