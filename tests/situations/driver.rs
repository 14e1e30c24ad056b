//! Drivers: the Rust client's in this process, and programs in other languages.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::mistakes::Mistake;
use crate::rust_driver::RustDriver;
use crate::words::other_failure;

/// How the drivers of one client are started, one for each situation.
#[derive(Clone)]
pub(crate) enum DriverKind {
    /// The Rust client.
    Rust,
    /// The same, with a mistake.
    Wrong(&'static Mistake),
    /// A program and its arguments, by spaces.
    Program(String),
}

/// A driver that runs.
pub(crate) enum Driver {
    Rust(Box<RustDriver>),
    Wrong(Box<RustDriver>, &'static Mistake),
    Program(Box<Program>),
}

impl Driver {
    pub(crate) fn start(kind: &DriverKind) -> Result<Self, String> {
        Ok(match kind {
            DriverKind::Rust => Self::Rust(Box::default()),
            DriverKind::Wrong(mistake) => Self::Wrong(Box::default(), mistake),
            DriverKind::Program(command) => Self::Program(Box::new(Program::start(command)?)),
        })
    }

    /// What it says to a command.
    pub(crate) async fn say(&mut self, command: &Value) -> Result<Value, String> {
        match self {
            Self::Rust(driver) => Ok(driver.obey(command).await),
            Self::Wrong(driver, mistake) => {
                let understood = mistake.understood(command);
                let mut said = driver.obey(&understood).await;
                if let Some(first) = mistake.repeats(&said) {
                    driver.obey(&first).await;
                    said = driver.obey(&understood).await;
                }
                Ok(mistake.retold(command, said))
            }
            Self::Program(program) => program.say(command).await,
        }
    }
}

/// A driver as a process.
pub(crate) struct Program {
    child: Child,
    /// Its input and its output; none while somebody waits for it.
    pipes: Option<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Program {
    fn start(command: &str) -> Result<Self, String> {
        let mut words = command.split_whitespace();
        let mut child = Command::new(words.next().ok_or("the driver has no name")?);
        child.args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().map_err(|error| format!("{command}: {error}"))?;
        let input = child.stdin.take().ok_or("it has no input")?;
        let output = child.stdout.take().ok_or("it has no output")?;
        Ok(Self { child, pipes: Some((input, BufReader::new(output))) })
    }

    async fn say(&mut self, command: &Value) -> Result<Value, String> {
        let line = format!("{command}\n");
        let (mut input, mut output) = self.pipes.take().ok_or("the driver was given up")?;
        // Where nobody waits any more, the process is ended, and so is this.
        let talking = tokio::task::spawn_blocking(move || {
            let mut said = String::new();
            input.write_all(line.as_bytes()).and_then(|()| input.flush())?;
            output.read_line(&mut said)?;
            Ok::<_, std::io::Error>((said, input, output))
        });
        let talked = talking.await.map_err(|error| error.to_string())?;
        let (said, input, output) =
            talked.map_err(|error| format!("the driver is gone: {error}"))?;
        self.pipes = Some((input, output));
        let said: Value = serde_json::from_str(&said)
            .map_err(|error| format!("{command} was answered with {said:?}: {error}"))?;
        if said["error"]["code"] == "DRIVER" {
            return Err(format!("the driver cannot do {command}: {said}"));
        }
        Ok(said)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a driver says to a command that it does not know.
pub(crate) fn unknown(command: &Value) -> Value {
    other_failure("DRIVER", &format!("no such command: {command}"))
}
