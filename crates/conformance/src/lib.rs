//! `clearance conformance FILE`: answers a file of reference cases, through the library or through
//! a server, and says how the answers compare with the exact references. [`verify`] rules on such
//! answers by their certificates alone.
//!
//! [`cases`] reads the file, the [`runner`] puts the questions to a [`respondent`] (the
//! [`library`], sessions of it, or a [`server`]) and has the proofs judged, [`answer`] is what one
//! line of `--answers` holds, and [`tally`] compares and prints.

pub(crate) mod answer;
pub(crate) mod cases;
mod library;
mod respondent;
mod runner;
mod server;
mod session;
mod tally;
pub mod verify;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use cases::Line;
use library::Library;
use respondent::Respondent;
use runner::Runner;
use server::Server;
use session::InSessions;
use tally::Tally;

use clearance_geometry::pair::Question;
use clearance_geometry::{contact_time, distance, penetration, separation};

/// What to run, and where the answers go.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Cases, one JSON object a line; plain or gzip.
    pub file: PathBuf,
    /// Ask the server at this address over gRPC, for example http://127.0.0.1:50061.
    #[arg(long)]
    pub server: Option<String>,
    /// Ask sessions of the library: come upon the pair of each case over frames, with whatever is
    /// remembered, and see that the answer is the same each time.
    #[arg(long, conflicts_with = "server")]
    pub sessions: bool,
    /// Search with this method instead of the default, for the questions that have one of that
    /// name and that it answers.
    #[arg(long)]
    pub method: Option<String>,
    /// Write one JSON line per case here.
    #[arg(long, value_name = "OUT.jsonl")]
    pub answers: Option<PathBuf>,
    /// Write the worst errors by family as a Markdown table here.
    #[arg(long, value_name = "TABLE.md")]
    pub table: Option<PathBuf>,
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
        /// The file that it is about.
        path: PathBuf,
        /// What the system says about it.
        source: io::Error,
    },
    /// A line is not in the format.
    #[error("{path}, line {number}: {problem}")]
    Line {
        /// The file that it is about.
        path: PathBuf,
        /// The number of the line, counted from 1.
        number: usize,
        /// What is wrong.
        problem: String,
    },
    /// There is no such method.
    #[error("no method is called `{0}`; there are: {1}")]
    UnknownMethod(String, String),
    /// The server cannot be reached.
    #[error("server: {0}")]
    Server(String),
    /// The report could not be printed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// Runs the file and prints the table. True when every case was answered and every answer holds.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<bool, RunError> {
    let methods = methods(options)?;
    let respondent: Box<dyn Respondent> = match &options.server {
        None if options.sessions => Box::new(InSessions::new(methods)),
        None => Box::new(Library::new(methods)),
        Some(url) => Box::new(Server::connect(url, methods).map_err(RunError::Server)?),
    };
    let mut runner = Runner::new(respondent);
    let mut answers = options.answers.as_deref().map(create).transpose()?;
    let wanted =
        |family: &str| options.family.is_empty() || options.family.iter().any(|f| f == family);
    let mut tally = Tally::default();
    for line in cases::read(&options.file)? {
        match line? {
            Line::Meta {} => {}
            Line::Hull(hull) => runner.learn(hull.id, &hull.points),
            Line::Case(case) if wanted(&case.family) => {
                let reply = runner.answer_case(&case);
                tally.add_case(&case, &reply);
                write_answer(&mut answers, reply.answer.as_ref())?;
            }
            Line::Hullset(set) if wanted(&set.family) => {
                let reply = runner.answer_hull(&set);
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
    if let Some(path) = &options.table {
        let failed = |source| RunError::File { path: path.clone(), source };
        let mut table = Vec::new();
        tally.write_table(&options.file, &mut table).map_err(failed)?;
        std::fs::write(path, table).map_err(failed)?;
    }
    Ok(tally.is_all_right())
}

/// The method for each kind of question that has a table of them.
#[derive(Clone, Copy, Debug)]
struct Methods {
    separation: &'static separation::CollisionMethod,
    distance: &'static distance::DistanceMethod,
    along: &'static penetration::RangeMethod,
    first_contact: &'static contact_time::Method,
}

impl Methods {
    /// That of first contacts, or the default where it does not answer the question.
    fn first_contact_of(&self, question: &Question<'_>) -> &'static contact_time::Method {
        let named = self.first_contact;
        if named.answers(question) { named } else { &contact_time::METHODS[0] }
    }
}

/// The method that the options name wherever there is one of that name, else the default.
fn methods(options: &Options) -> Result<Methods, RunError> {
    let name = options.method.as_deref();
    let mut names = Vec::new();
    let methods = Methods {
        separation: pick(separation::METHODS, |row| row.name, name, &mut names),
        distance: pick(distance::METHODS, |row| row.name, name, &mut names),
        along: pick(penetration::METHODS, |row| row.name, name, &mut names),
        first_contact: pick(contact_time::METHODS, |row| row.name, name, &mut names),
    };
    names.sort_unstable();
    names.dedup();
    match name {
        Some(name) if !names.contains(&name) => {
            Err(RunError::UnknownMethod(name.to_owned(), names.join(", ")))
        }
        _ => Ok(methods),
    }
}

/// The row of that name, or the first; the table's names join the others.
fn pick<M>(
    table: &'static [M],
    name_of: fn(&M) -> &'static str,
    name: Option<&str>,
    names: &mut Vec<&'static str>,
) -> &'static M {
    names.extend(table.iter().map(name_of));
    table.iter().find(|row| Some(name_of(row)) == name).unwrap_or(&table[0])
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two unit cubes a quarter apart; the same sharing a face; overlapping by a quarter; one
    /// flying at the other; and a hull with an inner point and a duplicate.
    const CASES: &str = concat!(
        r#"{"type":"meta","format":1}"#,
        "\n",
        r#"{"type":"hull","id":1,"points":[[0,0,0],[1,0,0],[0,1,0],[1,1,0],[0,0,1],[1,0,1],[0,"#,
        r#"1,1],[1,1,1]]}"#,
        "\n",
        r#"{"type":"case","id":"apart","family":"a","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
        r#""qP":[1,0,0,0],"tQ":[1.25,0,0],"qQ":[1,0,0,0],"exact_pose":true,"#,
        r#""verdict":"separated","dist":0.25,"size":1,"world":2.25}"#,
        "\n",
        r#"{"type":"case","id":"face","family":"b","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
        r#""qP":[1,0,0,0],"tQ":[1,0,0],"qQ":[1,0,0,0],"exact_pose":true,"verdict":"collide","#,
        r#""touching":true,"size":1,"world":2}"#,
        "\n",
        r#"{"type":"case","id":"deep","family":"b","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
        r#""qP":[1,0,0,0],"tQ":[0.75,0,0],"qQ":[1,0,0,0],"exact_pose":true,"verdict":"collide","#,
        r#""touching":false,"depth":0.25,"size":1,"world":1.75}"#,
        "\n",
        r#"{"type":"case","id":"fly","family":"c","kind":"linear","P":1,"Q":1,"tP":[0,0,0],"#,
        r#""qP":[1,0,0,0],"tQ":[1.5,0.25,0.125],"qQ":[1,0,0,0],"vP":[1,0,0],"vQ":[0,0,0],"#,
        r#""exact_pose":true,"verdict":"separated","toi":0.5,"size":1,"world":2.5}"#,
        "\n",
        r#"{"type":"hullset","id":"set","family":"h","dim":3,"extreme":[0,1,2,4],"facets":4,"#,
        r#""volume_f64":0.16666666666666666,"points":[[0,0,0],[1,0,0],[0,1,0],[0.25,0.25,0.25],"#,
        r#"[0,0,1],[1,0,0]]}"#,
        "\n",
    );

    fn temporary(name: &str, text: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("clearance-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The answers without the times that they took.
    fn answers(name: &str, text: &str) -> (bool, Vec<serde_json::Value>) {
        answers_of(name, text, |_| {})
    }

    fn answers_of(
        name: &str,
        text: &str,
        change: impl FnOnce(&mut Options),
    ) -> (bool, Vec<serde_json::Value>) {
        let file = temporary(&format!("{name}.jsonl"), text);
        let answers = temporary(&format!("{name}-answers.jsonl"), "");
        let table = temporary(&format!("{name}-table.md"), "");
        let mut options = Options {
            file: file.clone(),
            server: None,
            sessions: false,
            method: None,
            answers: Some(answers.clone()),
            table: Some(table.clone()),
            family: Vec::new(),
        };
        change(&mut options);
        let mut out = Vec::new();
        let is_right = run(&options, &mut out).unwrap();
        let lines = std::fs::read_to_string(&answers).unwrap();
        std::fs::remove_file(file).unwrap();
        std::fs::remove_file(answers).unwrap();
        let written = std::fs::read_to_string(&table).unwrap();
        assert!(written.contains("\n| all |"), "{written}");
        std::fs::remove_file(table).unwrap();
        let without_time = |line: &str| {
            let mut answer: serde_json::Value = serde_json::from_str(line).unwrap();
            answer.as_object_mut().unwrap().remove("us").unwrap();
            answer
        };
        (is_right, lines.lines().map(without_time).collect())
    }

    #[test]
    fn the_library_answers_every_case_and_a_false_reference_is_noticed() {
        let (is_right, given) = answers("library", CASES);
        assert!(is_right, "{given:?}");
        assert_eq!(given.len(), 5);
        assert_eq!(given[0]["verdict"], "SEPARATED");
        let lower = given[0]["distance_lower"].as_f64().unwrap();
        assert!((0.25 - 1e-12..=0.25).contains(&lower), "{lower}");
        assert_eq!(given[3]["verdict"], "CONTACT");
        // The duplicate of point 1 is point 5, and the lower index names it.
        assert_eq!(given[4]["extreme"], serde_json::json!([0, 1, 2, 4]));

        let lie = CASES.replace(r#""depth":0.25"#, r#""depth":0.26"#);
        assert!(!answers("lie", &lie).0);
        let lie = CASES.replace(r#""touching":true"#, r#""touching":false"#);
        assert!(!answers("lie", &lie).0);
    }

    #[test]
    fn sessions_of_every_method_answer_every_case_and_notice_a_false_reference() {
        let mut names = Vec::new();
        pick(separation::METHODS, |row| row.name, None, &mut names);
        pick(distance::METHODS, |row| row.name, None, &mut names);
        pick(contact_time::METHODS, |row| row.name, None, &mut names);
        assert!(names.len() > 15, "{names:?}");
        for name in names {
            let change = |options: &mut Options| {
                (options.sessions, options.method) = (true, Some(name.to_owned()));
            };
            let (is_right, given) = answers_of(&format!("in-{name}"), CASES, change);
            assert!(is_right && given.len() == 5, "{name}: {given:?}");
        }
        let lie = CASES.replace(r#""touching":true"#, r#""touching":false"#);
        assert!(!answers_of("in-lie", &lie, |options| options.sessions = true).0);
    }
}
