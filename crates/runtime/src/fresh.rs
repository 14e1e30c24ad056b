//! What is read from files, and read again when they change: at SIGHUP, and by a look every five
//! seconds.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Between two looks. Who is taken out of a file is out within ten seconds: what a look has just
/// missed the next one sees, and reading it may take a while on a busy machine.
const LOOK: Duration = Duration::from_secs(5);

/// What another reading has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// The files are those of the last reading.
    AsBefore,
    /// They have changed, and what they say is in force.
    Changed,
}

/// Something that is in force as files say it.
pub trait FromFiles: Send + Sync {
    /// The setting that names the files; for the log.
    fn what(&self) -> &'static str;

    /// Reads the files again. An error leaves in force what was read before, and is told once for
    /// each state of the files.
    fn read_again(&self) -> Result<Fresh, String>;
}

/// What is in a file.
pub fn contents(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

/// Looks at the files of all of these for as long as it is polled. From the call on SIGHUP is
/// waited for, and does not end the process.
pub fn keep_fresh(parts: Vec<Arc<dyn FromFiles>>) -> impl Future<Output = ()> + Send {
    // Without the signal there are the looks still.
    look_again_and_again(parts, signal(SignalKind::hangup()).ok())
}

async fn look_again_and_again(parts: Vec<Arc<dyn FromFiles>>, mut hangups: Option<Signal>) {
    loop {
        let hangup = async {
            match &mut hangups {
                Some(hangups) => drop(hangups.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = hangup => tracing::info!("told to read files again"),
            () = tokio::time::sleep(LOOK) => {}
        }
        for part in &parts {
            let reader = part.clone();
            let read = tokio::task::spawn_blocking(move || reader.read_again()).await;
            let what = part.what();
            match read {
                Ok(Ok(Fresh::AsBefore)) => {}
                Ok(Ok(Fresh::Changed)) => tracing::info!(what, "read again, and in force"),
                Ok(Err(problem)) => {
                    tracing::error!(what, problem, "cannot be used; what was read before stays");
                }
                Err(panic) => tracing::error!(what, %panic, "reading it again panicked"),
            }
        }
    }
}
