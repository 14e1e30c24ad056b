//! Floor 4: `clearance conformance FILE`: answers a file of reference cases, through the library or
//! through a server, and says how the answers compare with the exact references.
//!
//! [`cases`] reads the file, a [`Respondent`] answers ([`local`] asks the library), [`answer`]
//! is what one line of `--answers` holds, and [`tally`] compares and prints.

mod answer;
mod cases;
mod local;
mod tally;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use answer::{CaseAnswer, HullAnswer, Reply};
use cases::{Case, HullSet, Line};
use tally::Tally;

/// What to run, and where the answers go.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Cases, one JSON object a line; plain or gzip.
    pub file: PathBuf,
    /// Search with this method instead of the default.
    #[arg(long)]
    pub method: Option<String>,
    /// Write one JSON line per case here.
    #[arg(long, value_name = "OUT.jsonl")]
    pub answers: Option<PathBuf>,
    /// Only these families; may be given more than once.
    #[arg(long, value_name = "NAME")]
    pub family: Vec<String>,
}

/// Why a run could not finish.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// A line is not in the format.
    #[error("{path}, line {number}: {problem}")]
    Line {
        /// Which file.
        path: PathBuf,
        /// Counted from 1.
        number: usize,
        /// What is wrong.
        problem: String,
    },
    /// There is no such method.
    #[error("no method is called `{0}`; there are: {1}")]
    UnknownMethod(String, String),
    /// The report could not be printed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// Somebody who answers cases: the library, or a server.
trait Respondent {
    /// Learns a point set that later cases name by `id`.
    fn learn(&mut self, id: u64, points: &[[f64; 3]]);
    /// Answers a case about two sets learnt before.
    fn answer_case(&mut self, case: &Case) -> Reply<CaseAnswer>;
    /// Answers for one hull.
    fn answer_hull(&mut self, set: &HullSet) -> Reply<HullAnswer>;
}

/// Runs the file and prints the table. True when every case was answered and every answer holds.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<bool, RunError> {
    let mut respondent: Box<dyn Respondent> = Box::new(local::Library::new(options)?);
    let mut answers = options.answers.as_deref().map(create).transpose()?;
    let wanted =
        |family: &str| options.family.is_empty() || options.family.iter().any(|f| f == family);
    let mut tally = Tally::default();
    for line in cases::read(&options.file)? {
        match line? {
            Line::Meta {} => {}
            Line::Hull(hull) => respondent.learn(hull.id, &hull.points),
            Line::Case(case) if wanted(&case.family) => {
                let reply = respondent.answer_case(&case);
                tally.add_case(&case, &reply);
                write_answer(&mut answers, reply.answer.as_ref())?;
            }
            Line::Hullset(set) if wanted(&set.family) => {
                let reply = respondent.answer_hull(&set);
                tally.add_hull(&set, &reply);
                write_answer(&mut answers, reply.answer.as_ref())?;
            }
            Line::Case(_) | Line::Hullset(_) => {}
        }
    }
    if let Some((path, file)) = &mut answers {
        file.flush().map_err(|source| RunError::File { path: path.clone(), source })?;
    }
    tally.print(out)?;
    Ok(tally.is_all_right())
}

type AnswerFile = (PathBuf, BufWriter<File>);

fn create(path: &Path) -> Result<AnswerFile, RunError> {
    let file = File::create(path).map_err(|source| RunError::File { path: path.into(), source })?;
    Ok((path.into(), BufWriter::new(file)))
}

fn write_answer<A: serde::Serialize>(
    answers: &mut Option<AnswerFile>,
    answer: Option<&A>,
) -> Result<(), RunError> {
    let (Some((path, file)), Some(answer)) = (answers, answer) else { return Ok(()) };
    serde_json::to_writer(&mut *file, answer)
        .map_err(io::Error::from)
        .and_then(|()| file.write_all(b"\n"))
        .map_err(|source| RunError::File { path: path.clone(), source })
}
