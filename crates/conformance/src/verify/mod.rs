//! `clearance verify CASES ANSWERS`: rules on answers by their certificates alone.
//!
//! Every answer is accepted or refused with the reason, by the judges of
//! [`clearance_geometry::claim`] on the points as they are given: no hull is built, nothing is
//! searched, and the reference values of the cases are not looked at. [`claim`] reads what one
//! answer claims.

mod claim;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::RunError;
use crate::answer::CaseAnswer;
use crate::cases::{self, Case, Line};

/// What to verify.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Cases, one JSON object a line; plain or gzip.
    pub cases: PathBuf,
    /// Answers to them, as `clearance conformance CASES --answers` writes them.
    pub answers: PathBuf,
    /// Write one JSON line per answer here: id, accepted, reason, and the claims by kind.
    #[arg(long, value_name = "OUT.jsonl")]
    pub rulings: Option<PathBuf>,
    /// Check every Nth answer only.
    #[arg(long, value_name = "N", default_value = "1")]
    pub every: std::num::NonZeroUsize,
}

/// What is ruled on one answer.
#[derive(Debug, Serialize)]
struct Ruling {
    id: String,
    accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    found: Findings,
}

/// The kinds of claims of an accepted answer.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Findings {
    /// With a certificate that holds.
    proven: Vec<String>,
    /// Without a certificate.
    open: Vec<String>,
}

/// Verifies every answer and prints what was found. True when all are accepted, and there are some.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<bool, RunError> {
    let failed = |path: &PathBuf| {
        let path = path.clone();
        move |source: io::Error| RunError::File { path: path.clone(), source }
    };
    let (hulls, cases) = read_cases(options)?;
    let answers = File::open(&options.answers).map_err(failed(&options.answers))?;
    let mut rulings = match &options.rulings {
        Some(path) => Some((path, BufWriter::new(File::create(path).map_err(failed(path))?))),
        None => None,
    };
    let (mut summary, mut seen) = (Summary::default(), BTreeSet::new());
    for line in BufReader::new(answers).lines().step_by(options.every.get()) {
        let line = line.map_err(failed(&options.answers))?;
        let start = Instant::now();
        let mut ruling = rule(&line, &hulls, &cases);
        if !seen.insert(ruling.id.clone()) {
            ruling.accepted = false;
            ruling.reason = Some("the case is answered already".to_owned());
        }
        summary.add(&ruling, start.elapsed(), out)?;
        if let Some((path, file)) = &mut rulings {
            serde_json::to_writer(&mut *file, &ruling)
                .map_err(io::Error::from)
                .and_then(|()| file.write_all(b"\n"))
                .map_err(failed(path))?;
        }
    }
    if let Some((path, file)) = &mut rulings {
        file.flush().map_err(failed(path))?;
    }
    summary.print(out)?;
    Ok(summary.refused == 0 && !summary.counts.is_empty())
}

type Hulls = BTreeMap<u64, Vec<clearance_geometry::Vec3>>;
type Cases = BTreeMap<String, Case>;

fn read_cases(options: &Options) -> Result<(Hulls, Cases), RunError> {
    let (mut hulls, mut cases) = (Hulls::new(), Cases::new());
    for line in cases::read(&options.cases)? {
        match line? {
            Line::Meta {} | Line::Hullset(_) => {}
            Line::Hull(hull) => {
                hulls.insert(hull.id, hull.points.into_iter().map(Into::into).collect());
            }
            Line::Case(case) => {
                cases.insert(case.id.clone(), *case);
            }
        }
    }
    Ok((hulls, cases))
}

/// Accepts one line of answers, or says why not.
fn rule(line: &str, hulls: &Hulls, cases: &Cases) -> Ruling {
    #[derive(Deserialize)]
    struct Named {
        id: String,
    }
    let id = serde_json::from_str::<Named>(line).map_or_else(|_| "?".to_owned(), |named| named.id);
    let judged = serde_json::from_str::<CaseAnswer>(line)
        .map_err(|error| error.to_string())
        .and_then(|answer| {
            let case = cases.get(&answer.id).ok_or("no such case")?;
            claim::judge(case, hulls, &answer)
        });
    match judged {
        Ok(found) => Ruling { id, accepted: true, reason: None, found },
        Err(reason) => {
            Ruling { id, accepted: false, reason: Some(reason), found: Findings::default() }
        }
    }
}

/// What a run has counted so far.
#[derive(Debug, Default)]
struct Summary {
    /// By whether there is no certificate, and kind.
    counts: BTreeMap<(bool, String), u64>,
    answers: u64,
    refused: u64,
    slowest: (Duration, String),
}

impl Summary {
    fn add(
        &mut self,
        ruling: &Ruling,
        elapsed: Duration,
        out: &mut dyn Write,
    ) -> Result<(), RunError> {
        self.answers += 1;
        if let Some(reason) = &ruling.reason {
            self.refused += 1;
            writeln!(out, "refused: {}: {reason}", ruling.id)?;
        }
        let Findings { proven, open } = &ruling.found;
        let claims = proven.iter().map(|kind| (false, kind)).chain(open.iter().map(|k| (true, k)));
        for (is_open, kind) in claims {
            *self.counts.entry((is_open, kind.clone())).or_default() += 1;
        }
        if elapsed > self.slowest.0 {
            self.slowest = (elapsed, ruling.id.clone());
        }
        Ok(())
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        for ((is_open, kind), count) in &self.counts {
            let how = if *is_open { "WITHOUT A CERTIFICATE" } else { "proven" };
            writeln!(out, "{count:7} {kind} {how}")?;
        }
        let (slowest, id) = &self.slowest;
        let seconds = slowest.as_secs_f64();
        writeln!(
            out,
            "{} of {} answers refused; the slowest took {seconds:.3} s: {id}",
            self.refused, self.answers
        )
    }
}

#[cfg(test)]
mod tests;
