//! `clearance demo --watch`: the cell is played at its own pace, and a page shows it.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use clearance_client::{Session, api};
use tokio::time::{MissedTickBehavior, interval};

use super::DemoError;
use super::cell::Obstacle;
use super::record::{RATE_HZ, seconds};
use super::report::{Names, ROBOT};
use super::trajectory::Trajectory;

/// How the cell is shown.
#[derive(clap::Args, Clone, Debug)]
pub struct WatchOptions {
    /// Plays the motion at its own pace, again and again, on a page that opens by itself.
    #[arg(long)]
    pub watch: bool,
    /// Where the page is, with --watch.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:50062")]
    pub http: String,
    /// How often the motion is played, with --watch; 0: until Ctrl-C.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub rounds: u64,
    /// Opens no browser, with --watch.
    #[arg(long)]
    pub no_browser: bool,
}

impl WatchOptions {
    /// Where the server has its side port; none: nowhere.
    pub(crate) fn door(&self) -> Option<String> {
        self.watch.then(|| self.http.clone())
    }
}

/// The motion and the things around it that are played.
pub(crate) struct PlayedCell<'a> {
    pub(crate) motion: &'a Trajectory,
    pub(crate) obstacles: &'a [Obstacle],
    pub(crate) names: &'a Names<'a>,
}

/// Plays the motion until it is interrupted, or as often as was asked for, and writes what begins
/// to be in contact in the first round. True when every pair had its verdict.
pub(crate) async fn play(
    session: &mut Session,
    cell: &PlayedCell<'_>,
    options: &WatchOptions,
    out: &mut dyn Write,
) -> Result<bool, DemoError> {
    let page = format!("http://{}/#session={}", options.http, session.opened().session_id);
    writeln!(out, "page     {page} ({} things; Ctrl-C ends it)", cell.obstacles.len())?;
    if !options.no_browser {
        open_browser(&page);
    }
    let frames = (cell.motion.end_s() * RATE_HZ).round() as u64 + 1;
    let mut ticks = interval(Duration::from_secs_f64(1.0 / RATE_HZ));
    // A frame that comes late does not make the arm hurry.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut is_decided = true;
    let mut round = 0;
    while options.rounds == 0 || round < options.rounds {
        for k in 1..=frames {
            tokio::select! {
                _ = &mut interrupted => return Ok(is_decided),
                _ = ticks.tick() => {}
            }
            let frame = frame(cell.motion, round * frames + k, k);
            let report = session.step(frame).await?;
            is_decided &= report.counts.is_none_or(|counts| counts.undecided == 0);
            if round == 0 {
                tell(&report, k, cell.names, out)?;
            }
        }
        round += 1;
    }
    Ok(is_decided)
}

/// The `k`th frame of a round. The arm goes back to where it begins without a way there.
fn frame(motion: &Trajectory, frame_id: u64, k: u64) -> api::Frame {
    let values = motion.at(seconds(k));
    let moved = api::RobotMove { id: Some(ROBOT), values, ..api::RobotMove::default() };
    let teleported = k == 1;
    api::Frame { frame_id, robot_moves: vec![moved], teleported, ..api::Frame::default() }
}

/// A line for each contact that begins.
fn tell(
    report: &api::FrameReport,
    k: u64,
    names: &Names<'_>,
    out: &mut dyn Write,
) -> Result<(), DemoError> {
    let began = report.events.iter().filter(|one| one.kind() == api::ContactEventKind::Began);
    for event in began {
        let [a, b] = [event.a, event.b].map(|body| names.of(body));
        let is_between = event.verdict() == api::Verdict::Separated;
        let how = if is_between { ", between two frames that are both free" } else { "" };
        writeln!(out, "t = {:5.2} s  {a} meets {b}{how}", seconds(k))?;
    }
    Ok(())
}

/// Asks the desktop to show a page. Where there is none, the address has been written.
fn open_browser(page: &str) {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/c", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let quiet = [Stdio::null(), Stdio::null(), Stdio::null()];
    let [stdin, stdout, stderr] = quiet;
    let mut command = Command::new(program);
    command.args(first).arg(page).stdin(stdin).stdout(stdout).stderr(stderr);
    // It ends by itself; nobody waits for it.
    drop(command.spawn());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_begins_without_a_motion_and_counts_its_frames_on() {
        let motion = Trajectory::through(&[(0.0, [0.0, 1.0]), (0.02, [1.0, 0.0])]);
        let (first, second, again) =
            (frame(&motion, 1, 1), frame(&motion, 2, 2), frame(&motion, 4, 1));
        assert!(first.teleported && !second.teleported && again.teleported);
        assert_eq!(first.robot_moves, again.robot_moves);
        assert_ne!(first.robot_moves, second.robot_moves);
        assert_eq!((second.frame_id, again.frame_id), (2, 4));
    }
}
