//! Floor 4: `clearance experiments`: the papers' own experiments, run again.
//!
//! A file a paper; an experiment is a row of its table, gathered in [`EXPERIMENTS`]: it builds the
//! paper's shapes, asks the paper's questions with each method by name, and returns panels of
//! curves over the paper's axes. Work is counted in operations, which are the same on every
//! machine; times are means on this one, each of the fastest of three repetitions. [`chart`] draws
//! the panels, `bench` holds what the experiments share, `progress` scales them and tells on stderr
//! how far they have come, and `flights` hands scenes to other programs.
//!
//! An experiment holds its bodies and one running sum for each point of its curves, whatever the
//! number of configurations. Its two files are written when it is complete, each under another
//! name first: whoever interrupts the program finds whole files of the experiments before.

mod bench;
mod cd_dual;
mod cd_dual_way;
mod chart;
mod crowd;
mod flights;
mod h_walk;
mod hs_jump;
mod library;
mod linear_program;
mod linear_program_scenes;
mod prism;
mod progress;

use std::io::{self, Write};
use std::path::PathBuf;

pub use self::flights::{Flight, flights};
pub use self::progress::Rerun;

/// How to run the experiments.
#[derive(clap::Args, Clone, Debug)]
pub struct ExperimentsOptions {
    /// Only those whose name begins with this (for example `hs_jump`).
    pub name: Option<String>,
    /// Where NAME.csv and NAME.svg go.
    #[arg(long, value_name = "FOLDER", default_value = "experiments")]
    pub out: PathBuf,
    /// Random configurations, in percent of the paper's own number; at least one is run.
    #[arg(long, value_name = "PERCENT", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub samples: u32,
    /// Only says which experiments there are.
    #[arg(long)]
    pub list: bool,
}

/// Why the experiments could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentsError {
    /// Nothing by that name.
    #[error("no experiment is called `{0}`; --list says which there are")]
    Unknown(String),
    /// A file could not be written.
    #[error("{0}: {1}")]
    Output(PathBuf, io::Error),
    /// The list could not be written.
    #[error("{0}")]
    Print(#[from] io::Error),
}

/// One of the papers' experiments.
#[derive(Debug)]
pub struct Experiment {
    /// Name of the experiment and of its files.
    pub name: &'static str,
    /// Author, year and figures.
    pub source: &'static str,
    /// What is varied, on which shapes.
    pub about: &'static str,
    /// Runs it at the scale that the argument tells, and reports progress to it.
    pub run: fn(&mut Rerun) -> Vec<Panel>,
}

/// The tables of the papers.
pub const EXPERIMENTS: &[&[Experiment]] = &[
    hs_jump::EXPERIMENTS,
    linear_program::EXPERIMENTS,
    linear_program_scenes::EXPERIMENTS,
    prism::EXPERIMENTS,
    cd_dual::EXPERIMENTS,
    cd_dual_way::EXPERIMENTS,
    h_walk::EXPERIMENTS,
];

/// Curves over common axes.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// What the panel shows.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x_axis: &'static str,
    /// Name and unit of the vertical axis.
    pub y_axis: &'static str,
    /// Whether the horizontal axis is logarithmic.
    pub is_x_logarithmic: bool,
    /// Whether the vertical axis is logarithmic; else it begins at zero.
    pub is_y_logarithmic: bool,
    /// The curves.
    pub curves: Vec<Curve>,
    /// What the curves go over, if they are ways on a map: then both axes have one scale, and are
    /// not drawn.
    pub regions: Vec<Region>,
}

/// A part of a map.
#[derive(Clone, Debug)]
pub struct Region {
    /// Corners in order.
    pub corners: Vec<[f64; 2]>,
    /// Whether it is marked.
    pub is_marked: bool,
}

/// A named curve.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// The method, or the variant of it.
    pub name: String,
    /// `(x, y)`, in order of x.
    pub points: Vec<(f64, f64)>,
}

/// Runs what is asked for, and writes a table and a picture of each.
pub fn run(options: &ExperimentsOptions, out: &mut dyn Write) -> Result<bool, ExperimentsError> {
    let prefix = options.name.as_deref().unwrap_or_default();
    let chosen: Vec<_> =
        EXPERIMENTS.iter().copied().flatten().filter(|row| row.name.starts_with(prefix)).collect();
    if chosen.is_empty() {
        return Err(ExperimentsError::Unknown(prefix.to_owned()));
    }
    for experiment in chosen {
        writeln!(out, "{:<22} {} — {}", experiment.name, experiment.source, experiment.about)?;
        if options.list {
            continue;
        }
        let mut rerun = Rerun::on_stderr(experiment.name, options.samples);
        let panels = (experiment.run)(&mut rerun);
        write_file(options, experiment, "csv", &csv(&panels))?;
        write_file(options, experiment, "svg", &chart::svg(experiment, &panels))?;
        rerun.finish();
    }
    Ok(true)
}

/// Writes a file of an experiment under a passing name, and then renames it.
fn write_file(
    options: &ExperimentsOptions,
    experiment: &Experiment,
    extension: &str,
    text: &str,
) -> Result<(), ExperimentsError> {
    let path = options.out.join(experiment.name).with_extension(extension);
    let part = path.with_extension(format!("{extension}.part"));
    std::fs::create_dir_all(&options.out)
        .and_then(|()| std::fs::write(&part, text))
        .and_then(|()| std::fs::rename(&part, &path))
        .map_err(|error| ExperimentsError::Output(path, error))
}

/// One line for each point: where it is, and what its y counts.
fn csv(panels: &[Panel]) -> String {
    let mut text = String::from("panel,curve,x,y,unit\n");
    for panel in panels {
        let [title, unit] = [&panel.title, panel.y_axis].map(quoted);
        for curve in &panel.curves {
            let name = quoted(&curve.name);
            for (x, y) in &curve.points {
                text += &format!("{title},{name},{x},{y},{unit}\n");
            }
        }
    }
    text
}

/// A field of a table: in quotes if it would not be one field else (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_fit_for_files() {
        let rows: Vec<&Experiment> = EXPERIMENTS.iter().copied().flatten().collect();
        for (index, row) in rows.iter().enumerate() {
            assert!(
                row.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            );
            assert!(rows[..index].iter().all(|other| other.name != row.name), "{}", row.name);
        }
    }

    /// A title with a comma made five columns of four in 123 rows.
    #[test]
    fn a_name_with_a_comma_is_one_field() {
        let curve = Curve { name: "the \"best\"".into(), points: vec![(1.0, 2.0)] };
        let title = "Faces, accumulated".into();
        let panel = Panel { title, y_axis: "faces", curves: vec![curve], ..Panel::default() };
        let expected =
            "panel,curve,x,y,unit\n\"Faces, accumulated\",\"the \"\"best\"\"\",1,2,faces\n";
        assert_eq!(csv(&[panel]), expected);
    }

    #[test]
    fn an_unknown_name_is_an_error_that_says_how_to_see_the_names() {
        let options = ExperimentsOptions {
            name: Some("nothing".into()),
            out: PathBuf::new(),
            samples: 1,
            list: true,
        };
        let error = run(&options, &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("--list"), "{error}");
    }

    #[test]
    fn the_table_has_every_point_and_the_picture_is_well_formed() {
        let curve = Curve { name: "hs_jump".into(), points: vec![(1.0, 2.0), (3.0, 4.0)] };
        let panel = Panel { title: "a < b".into(), curves: vec![curve], ..Panel::default() };
        let panels = [panel];
        assert_eq!(csv(&panels), "panel,curve,x,y,unit\na < b,hs_jump,1,2,\na < b,hs_jump,3,4,\n");
        let svg = chart::svg(&EXPERIMENTS[0][0], &panels);
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 1, "{svg}");
    }
}
