//! The servers as processes of their own, and what they have spent.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::thread::{CpuSet, sched_setaffinity};

/// A server that runs until this is dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) port: u16,
}

impl Process {
    /// `port_of` finds the port in the first line that it prints.
    fn start(command: &mut Command, port_of: impl Fn(&str) -> Option<u16>) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let output = child.stdout.take().expect("piped");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("a line");
        let port = port_of(&line).unwrap_or_else(|| panic!("no port in {line:?}"));
        Self { child, port }
    }

    /// Processor time of all its threads so far, seconds.
    pub(crate) fn spent(&self) -> f64 {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("Linux");
        // Nanoseconds on a processor, of each thread.
        let of = |task: std::io::Result<std::fs::DirEntry>| -> Option<f64> {
            let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse().ok()
        };
        tasks.filter_map(of).sum::<f64>() * 1e-9
    }

    /// Memory that it has, bytes.
    pub(crate) fn resident(&self) -> f64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).expect("Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        1024.0 * kibibytes.unwrap_or(0.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both servers.
pub(crate) struct Served {
    pub(crate) ours: Process,
    pub(crate) echo: Process,
}

impl Served {
    /// Starts them; `pinned`: on the first processor, with this process on the second.
    pub(crate) fn start(server: &Path, pinned: bool) -> Self {
        if pinned {
            stay_on(0);
        }
        let limits = [
            ("pairs-per-frame-max", 4_000_000_u64),
            ("message-bytes-max", 64 << 20),
            ("decoded-bytes-max", 2 << 30),
            ("session-bytes-max", 8 << 30),
        ];
        let mut ours = Command::new(server);
        ours.args(["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::null());
        for (name, value) in limits {
            ours.arg(format!("--{name}")).arg(value.to_string());
        }
        let after_colon = |line: &str| {
            let (_, rest) = line.split_once("127.0.0.1:")?;
            rest.split(' ').next()?.parse().ok()
        };
        let ours = Process::start(&mut ours, after_colon);
        let itself = std::env::current_exe().expect("a path");
        let mut echo = Command::new(itself);
        let echo = Process::start(echo.arg("--echo"), |line| line.trim().parse().ok());
        if pinned {
            stay_on(1);
        }
        Self { ours, echo }
    }
}

/// This process, and those that it starts from now on, run on this processor.
fn stay_on(processor: usize) {
    let mut only = CpuSet::new();
    only.set(processor);
    sched_setaffinity(None, &only).expect("a processor that there is");
}
