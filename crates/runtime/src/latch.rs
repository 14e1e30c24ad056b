//! Latches: something that happens once, as that the server drains. One side sets it, and many wait
//! for it.

use tokio::sync::watch;

/// Sets a latch.
#[derive(Debug)]
pub struct LatchSetter(watch::Sender<bool>);

/// Whether it has happened. When nobody is left to set it, whoever waits for it goes on, too: what
/// it speaks of is gone.
#[derive(Clone, Debug)]
pub struct Latch(watch::Receiver<bool>);

/// How near a server is to its end.
#[derive(Clone, Debug)]
pub struct Stopping {
    /// Set when it is about to drain: who can go elsewhere is told.
    pub leaving: Latch,
    /// Set when it drains and takes no new calls, which is no sooner.
    pub draining: Latch,
}

impl Latch {
    /// One that is not set, and what sets it.
    pub fn new() -> (LatchSetter, Self) {
        let (setter, latch) = watch::channel(false);
        (LatchSetter(setter), Self(latch))
    }

    /// Whether it is set. Frames ask this again and again: as long as nothing has changed there is
    /// no lock to be taken.
    pub fn is_set(&self) -> bool {
        self.0.has_changed().unwrap_or(true) && *self.0.borrow()
    }

    /// Waits until it is set.
    pub async fn until_set(mut self) {
        let _ = self.0.wait_for(|is_set| *is_set).await;
    }
}

impl LatchSetter {
    /// Says that it has happened, which is for good.
    pub fn set(&self) {
        self.0.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver that has waited has seen the change, and told no more that there was one.
    #[tokio::test]
    async fn it_stays_set_for_all_that_ask_before_and_after() {
        let (setter, latch) = Latch::new();
        let (early, waiting) = (latch.clone(), tokio::spawn(latch.clone().until_set()));
        assert!(!latch.is_set() && !early.is_set());
        setter.set();
        waiting.await.unwrap();
        latch.clone().until_set().await;
        assert!(latch.is_set() && early.is_set() && latch.clone().is_set());
        drop(setter);
        assert!(latch.is_set());
    }

    #[tokio::test]
    async fn nobody_waits_for_what_is_gone() {
        let (setter, latch) = Latch::new();
        drop(setter);
        latch.clone().until_set().await;
        assert!(!latch.is_set());
    }
}
