//! What is read from files, and read again when they change: at SIGHUP, and by a look every five
//! seconds; of what comes from elsewhere, when that is due.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;

/// Between two looks. Who is taken out of a file is out within ten seconds: what a look has just
/// missed the next one sees, and reading it may take a while on a busy machine.
pub(crate) const LOOK: Duration = Duration::from_secs(5);

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

    /// Waits until they are to be read again, though nobody says so.
    fn until_due(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(tokio::time::sleep(LOOK))
    }
}

/// What is in a file.
pub fn contents(path: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(path)
}

/// Looks at the files of all of these for as long as it is polled. From the call on SIGHUP is
/// waited for, and does not end the process.
pub fn keep_fresh(parts: Vec<Arc<dyn FromFiles>>) -> impl Future<Output = ()> + Send {
    // Without the signal there are the looks still.
    let hangups = || signal(SignalKind::hangup()).ok();
    let (told, parts) = (hangups(), parts.into_iter().map(|part| (part, hangups())));
    let parts: Vec<_> = parts.collect();
    async move {
        // Each for itself: no file waits for somebody who does not answer.
        let mut looks = JoinSet::new();
        looks.spawn(tell_hangups(told));
        for (part, hangups) in parts {
            looks.spawn(look_again_and_again(part, hangups));
        }
        while looks.join_next().await.is_some() {}
    }
}

async fn next_hangup(hangups: &mut Option<Signal>) {
    match hangups {
        Some(hangups) => drop(hangups.recv().await),
        None => std::future::pending().await,
    }
}

async fn tell_hangups(mut hangups: Option<Signal>) {
    loop {
        next_hangup(&mut hangups).await;
        tracing::info!("told to read files again");
    }
}

async fn look_again_and_again(part: Arc<dyn FromFiles>, mut hangups: Option<Signal>) {
    let what = part.what();
    loop {
        tokio::select! {
            () = next_hangup(&mut hangups) => {}
            () = part.until_due() => {}
        }
        let reader = part.clone();
        match tokio::task::spawn_blocking(move || reader.read_again()).await {
            Ok(Ok(Fresh::AsBefore)) => {}
            Ok(Ok(Fresh::Changed)) => tracing::info!(what, "read again, and in force"),
            Ok(Err(problem)) => {
                tracing::error!(what, problem, "cannot be used; what was read before stays");
            }
            Err(panic) => tracing::error!(what, %panic, "reading it again panicked"),
        }
    }
}
