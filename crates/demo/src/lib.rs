//! `clearance demo`: the main job from end to end, on a real robot.
//!
//! [`robot`] has the files of the Panda, [`cell`] is what stands around it and how it moves
//! ([`shapes`], [`trajectory`]), [`client`] registers all that with a server and streams the joint
//! values to it, [`record`] keeps what the server says, [`sampling`] checks what it found between
//! frames, [`report`] prints the table, and [`composition`] chooses what the [`picture`] shows.
//! [`watch`] plays it at its own pace for a page that shows it.

mod cell;
mod client;
mod composition;
mod picture;
mod record;
mod report;
mod robot;
mod sampling;
mod shapes;
mod trajectory;
mod watch;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::time::{Duration, Instant};

use cell::{Obstacle, ObstacleForm};
use client::Registrations;
use record::Record;
use report::Names;
use robot::Panda;
use sampling::World;
use watch::PlayedCell;
pub use watch::WatchOptions;

use clearance_client::Client;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// How to run the demo.
#[derive(clap::Args, Clone, Debug)]
pub struct DemoOptions {
    /// Where the picture goes.
    #[arg(long, value_name = "FILE.svg", default_value = "clearance-demo.svg")]
    pub out: PathBuf,
    /// No progress, only the table.
    #[arg(long)]
    pub quiet: bool,
    /// Whether it is shown as it goes.
    #[command(flatten)]
    pub watch: WatchOptions,
}

/// Why the demo could not finish.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The robot's files could not be read.
    #[error("robot: {0}")]
    Robot(String),
    /// The server could not be reached.
    #[error("connection: {0}")]
    Connection(#[from] tonic::transport::Error),
    /// The server answered with an error.
    #[error("server: {0}")]
    Server(Box<tonic::Status>),
    /// The server's answer is not what was asked for.
    #[error("server: {0}")]
    Protocol(String),
    /// The picture or the table could not be written.
    #[error("{0}")]
    Output(#[from] io::Error),
}

impl From<clearance_client::Error> for DemoError {
    fn from(error: clearance_client::Error) -> Self {
        use clearance_client::Error;
        match error {
            Error::Connection(error) => Self::Connection(error),
            Error::Status(status) => Self::Server(status),
            Error::Address(_) | Error::Protocol(_) | Error::TakenOver | Error::NotProven(_) => {
                Self::Protocol(error.to_string())
            }
        }
    }
}

impl From<record::Unreadable> for DemoError {
    fn from(problem: record::Unreadable) -> Self {
        Self::Protocol(problem.to_string())
    }
}

/// Has a server started on a loopback port and puts it to work. `serve` serves on a listener, and
/// on a side port where one is named, until it is told to stop, and says in words what went wrong.
/// True when every pair had its verdict and fine sampling confirms every contact that was found
/// between two frames.
pub fn run<S>(
    options: &DemoOptions,
    serve: impl FnOnce(TcpListener, Option<String>, oneshot::Receiver<()>) -> S,
    out: &mut dyn Write,
) -> Result<bool, DemoError>
where
    S: Future<Output = Result<(), String>> + Send + 'static,
{
    // In boxes, so that no caller compiles the demo again.
    let door = options.watch.door();
    run_beside(options, Box::new(move |listener, stop| Box::pin(serve(listener, door, stop))), out)
}

/// A server that serves until it is told to stop.
type Serving = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Starts a server on a listener; it runs until it is told to stop.
type Starting<'a> = Box<dyn FnOnce(TcpListener, oneshot::Receiver<()>) -> Serving + 'a>;

fn run_beside(
    options: &DemoOptions,
    serve: Starting<'_>,
    out: &mut dyn Write,
) -> Result<bool, DemoError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve_and_run(options, serve, out))
}

async fn serve_and_run(
    options: &DemoOptions,
    serve: Starting<'_>,
    out: &mut dyn Write,
) -> Result<bool, DemoError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (stop, stopped) = oneshot::channel::<()>();
    let mut server = tokio::spawn(serve(listener, stopped));
    let result = tokio::select! {
        result = run_against(url, options, out) => result,
        // It cannot serve, or not any more.
        ended = &mut server => {
            let ended = ended.map_err(|error| DemoError::Protocol(error.to_string()))?;
            return Err(DemoError::Protocol(ended.err().unwrap_or_else(|| "it ended".to_owned())));
        }
    };
    // The server may have ended on its own; then there is nobody to tell.
    let _ = stop.send(());
    let ended = server.await.map_err(|error| DemoError::Protocol(error.to_string()))?;
    ended.map_err(DemoError::Protocol)?;
    result
}

async fn run_against(
    url: String,
    options: &DemoOptions,
    out: &mut dyn Write,
) -> Result<bool, DemoError> {
    let (robot, motion, obstacles) = (Panda::read()?, cell::motion(), cell::obstacles());
    let client = Client::connect(&url).await?;
    let registered = client::register(&client, &robot, &obstacles).await?;
    let mut session = client::open(&client, &motion, &obstacles, &registered).await?;
    writeln!(out, "server   {url}, in this process; everything below goes over gRPC")?;
    print_scene(&robot, &obstacles, &registered, session.opened().checked_pairs, out)?;

    let names = Names {
        links: robot.names.iter().map(String::as_str).collect(),
        obstacles: obstacles.iter().map(|obstacle| obstacle.name.as_str()).collect(),
    };
    if options.watch.watch {
        let cell = PlayedCell { motion: &motion, obstacles: &obstacles, names: &names };
        let is_decided = watch::play(&mut session, &cell, &options.watch, out).await?;
        session.close().await?;
        return Ok(is_decided);
    }
    let start = Instant::now();
    let mut progress = Progress::new(options.quiet, start);
    let record = client::stream(&mut session, &motion, &mut |record| progress.show(record)).await?;
    progress.end();
    let wall_s = start.elapsed().as_secs_f64();
    session.close().await?;

    let world = World::new(&robot, &motion, &obstacles)?;
    let missed = report::resample(&record, &world);
    report::print(&record, &missed, &names, wall_s, out)?;
    std::fs::write(&options.out, composition::picture(&record, &world, &names)?.svg())?;
    writeln!(out, "\npicture: {}", options.out.display())?;
    writeln!(out, "next: `cargo run --release -- serve`, and ask it what docs/tutorial.md asks")?;
    Ok(record.counts.undecided == 0 && missed.iter().all(report::Missed::is_confirmed))
}

fn print_scene(
    robot: &Panda,
    obstacles: &[Obstacle],
    registered: &Registrations,
    checked_pairs: u64,
    out: &mut dyn Write,
) -> io::Result<()> {
    let made = obstacles.iter().map(|obstacle| &obstacle.form).zip(&registered.obstacles);
    let hulls = made.clone().filter(|(form, _)| matches!(form, ObstacleForm::Hull(_)));
    let reports = hulls.filter_map(|(_, obstacle)| obstacle.report.polytope.as_ref());
    let hulls: Vec<u32> = reports.map(|polytope| polytope.vertex_count).collect();
    let balls = made.clone().filter(|(form, _)| matches!(form, ObstacleForm::Ball(_))).count();
    let bins = made.filter(|(form, _)| matches!(form, ObstacleForm::Mesh(_))).count();
    let parts = robot.robot().parts.iter().map(|part| part.body.hull().vertex_count());
    let large = hulls.iter().filter(|count| **count >= 1000).count();
    writeln!(
        out,
        "robot    Panda: {} links of {} convex parts (hulls of STL meshes, boxes), {} vertices;\n\
         \x20        {} pairs of links need no check (SRDF, or joined)",
        robot.names.len(),
        robot.robot().parts.len(),
        parts.sum::<u32>(),
        registered.allowed_pairs,
    )?;
    writeln!(
        out,
        "cell     {} hulls of {} vertices, {large} of them with 1,000 or more;\n\
         \x20        {balls} balls, exactly; {bins} bins as they are, hollow; \
         a cable as a cloud of points",
        hulls.len(),
        hulls.iter().sum::<u32>(),
    )?;
    writeln!(out, "session  {checked_pairs} pairs checked in every frame")
}

/// The line that moves while the arm does.
struct Progress {
    start: Instant,
    shown: Option<Instant>,
    is_quiet: bool,
    is_terminal: bool,
}

/// Between two showings; on a terminal the line is overwritten, elsewhere there are few.
const SHOW_EVERY: [Duration; 2] = [Duration::from_millis(2500), Duration::from_millis(100)];

impl Progress {
    fn new(is_quiet: bool, start: Instant) -> Self {
        Self { start, shown: None, is_quiet, is_terminal: io::stderr().is_terminal() }
    }

    fn show(&mut self, record: &Record) {
        let every = SHOW_EVERY[usize::from(self.is_terminal)];
        if self.is_quiet || self.shown.is_some_and(|shown| shown.elapsed() < every) {
            return;
        }
        self.shown = Some(Instant::now());
        let frames = record.latencies.len() as u64;
        let row = record.clearances.last().into_iter().flatten();
        let clearance_mm = 1e3 * row.map(|link| link.obstacles_m).fold(f64::INFINITY, f64::min);
        let line = format!(
            "t = {:5.2} s  frame {frames:4}  least clearance {clearance_mm:7.1} mm  {} contacts  \
             {:.1} s elapsed",
            record::seconds(frames),
            record.contacts.len(),
            self.start.elapsed().as_secs_f64(),
        );
        let end = if self.is_terminal { "\r" } else { "\n" };
        // Progress is a courtesy; a closed stderr does not stop the run.
        let _ = write!(io::stderr(), "{line}{end}");
    }

    fn end(&self) {
        if self.is_terminal && !self.is_quiet {
            let _ = writeln!(io::stderr());
        }
    }
}
