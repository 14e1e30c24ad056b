//! One row of the table of attacks: a fresh server, watchers, the attack, and the bounds.
//!
//! The attackers stand for other machines, so they take only the processors' time that the server
//! and the watchers leave. Otherwise what is measured is the machine and not the server: with two
//! processors, thirty threads that make up attacks keep a thread of the server that has work from
//! running for 50 ms at a time.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::server::{Server, Start};
use crate::watch::{Bounds, Watch};

/// One row at a time: each measures times.
pub(crate) static TURN: Mutex<()> = Mutex::new(());

/// What the watchers see of the server before the attack and after it.
const QUIET: Duration = Duration::from_millis(100);

/// By how much attackers give way: as far as they can.
const NICENESS: i32 = 19;

/// Attacks a server with default settings while others use it; fails if they notice more than
/// `bounds` allow, or if the server dies.
pub(crate) fn row(name: &str, bounds: Bounds, attack: impl AsyncFnOnce(&Server) + Send) {
    row_with(Server::start, name, bounds, attack);
}

/// Like [`row`], for a server that is started with settings of its own.
pub(crate) fn row_on(
    start: &Start,
    name: &str,
    bounds: Bounds,
    attack: impl AsyncFnOnce(&Server) + Send,
) {
    row_with(|| Server::started(start), name, bounds, attack);
}

fn row_with(
    start: impl FnOnce() -> Server,
    name: &str,
    bounds: Bounds,
    attack: impl AsyncFnOnce(&Server) + Send,
) {
    // A row that failed has broken nothing of the others.
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut server = start();
    let watch = Watch::begin(&server);
    let attacked = std::thread::scope(|scope| scope.spawn(|| from_afar(&server, attack)).join());
    let noticed = watch.end();
    let runtime = attacked.unwrap_or_else(|panic| resume_unwind(panic));
    assert_eq!(server.has_died(), None, "{name}: the server has died");
    // What the attack left open is given up only now.
    runtime.shutdown_background();
    noticed.check(name, &bounds);
}

/// Attacks from this thread and those that it starts, which all give way to the server. What the
/// attack leaves open lives as long as the runtime.
fn from_afar(server: &Server, attack: impl AsyncFnOnce(&Server)) -> Runtime {
    // Of this thread alone; its threads inherit it.
    rustix::process::nice(NICENESS).expect("everybody may give way");
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::time::sleep(QUIET).await;
        attack(server).await;
        tokio::time::sleep(QUIET).await;
    });
    runtime
}
