//! How large a run is, and how far it has come: a bar on stderr, if a person watches it.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

/// Characters between the brackets of the bar.
const BAR_WIDTH: usize = 30;

/// One experiment that is being run.
pub struct Rerun {
    name: &'static str,
    /// Share of the paper's number of configurations, in percent.
    percent: u32,
    /// Where the bar goes; nowhere when nobody watches.
    watcher: Option<Box<dyn Write>>,
    begun: Instant,
    parts: usize,
    done: usize,
    /// What is said at the end.
    notes: Vec<String>,
}

impl std::fmt::Debug for Rerun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} of {} parts", self.name, self.done, self.parts)
    }
}

impl Rerun {
    /// At this share of the paper's size. The bar is drawn if stderr is a terminal.
    pub fn on_stderr(name: &'static str, percent: u32) -> Self {
        let stderr = io::stderr();
        let watcher = stderr.is_terminal().then(|| Box::new(stderr) as Box<dyn Write>);
        Self::new(name, percent, watcher)
    }

    /// Without a bar, for tests.
    #[cfg(test)]
    pub(super) fn quiet(percent: u32) -> Self {
        Self::new("test", percent, None)
    }

    fn new(name: &'static str, percent: u32, watcher: Option<Box<dyn Write>>) -> Self {
        let (parts, done, notes) = (0, 0, Vec::new());
        Self { name, percent, watcher, begun: Instant::now(), parts, done, notes }
    }

    /// This run's share of the number that the paper has; at least one.
    pub(super) fn share_of(&self, in_the_paper: u32) -> u32 {
        let share = u64::from(in_the_paper) * u64::from(self.percent);
        u32::try_from(share.div_ceil(100)).unwrap_or(u32::MAX).max(1)
    }

    /// So many parts of about equal length are to come.
    pub(super) fn begin(&mut self, parts: usize) {
        (self.parts, self.done) = (parts, 0);
        self.draw();
    }

    /// One more part is done.
    pub(super) fn advance(&mut self) {
        self.done += 1;
        self.draw();
    }

    /// A finding in one line, said on stderr at the end.
    pub(super) fn note(&mut self, finding: String) {
        self.notes.push(finding);
    }

    /// The files are written; says on stderr how long it took and what was found.
    pub fn finish(self) {
        let clear = if self.watcher.is_some() { "\r\x1b[K" } else { "" };
        let seconds = self.begun.elapsed().as_secs_f64();
        // Nothing depends on whether somebody reads it.
        let _ = writeln!(io::stderr(), "{clear}{:<22} done after {seconds:.1} s", self.name);
        for note in &self.notes {
            let _ = writeln!(io::stderr(), "{:<22} {note}", self.name);
        }
    }

    /// Draws the bar when its text has changed.
    fn draw(&mut self) {
        let before = bar(self.name, self.done.saturating_sub(1), self.parts);
        let now = bar(self.name, self.done, self.parts);
        if let Some(watcher) = &mut self.watcher
            && (self.done == 0 || now != before)
        {
            // Nothing depends on whether somebody sees it.
            let _ = write!(watcher, "\r{now}").and_then(|()| watcher.flush());
        }
    }
}

/// The bar when so many parts are done.
fn bar(name: &str, done: usize, parts: usize) -> String {
    let percent = (100 * done.min(parts)).checked_div(parts).unwrap_or(100);
    let filled = BAR_WIDTH * percent / 100;
    format!("{name:<22} [{}{}] {percent:>3} %", "#".repeat(filled), " ".repeat(BAR_WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_share_of_the_papers_and_never_empty() {
        for (percent, in_the_paper, share) in
            [(100, 500, 500), (2, 500, 10), (2, 20, 1), (1, 1, 1), (300, 20, 60)]
        {
            assert_eq!(Rerun::quiet(percent).share_of(in_the_paper), share);
        }
    }

    #[test]
    fn the_bar_fills_from_left_to_right() {
        assert!(bar("x", 0, 8).ends_with(&format!("[{}]   0 %", " ".repeat(BAR_WIDTH))));
        assert!(bar("x", 4, 8).contains("#  "));
        assert!(bar("x", 8, 8).ends_with(&format!("[{}] 100 %", "#".repeat(BAR_WIDTH))));
        assert!(bar("x", 9, 8).ends_with("100 %") && bar("x", 0, 0).ends_with("100 %"));
    }
}
