//! The file format of reference cases: one JSON object a line, hulls before the cases that use
//! them, numbers as shortest round-trip decimals.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;

use super::RunError;

/// One line.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Line {
    /// Where the file comes from.
    Meta {},
    /// Points that cases refer to.
    Hull(HullLine),
    /// A question about two hulls, with the exact answer.
    Case(Box<Case>),
    /// A question about one hull, with the exact answer.
    Hullset(Box<HullSet>),
}

/// Points that cases refer to by `id`.
#[derive(Debug, Deserialize)]
pub(super) struct HullLine {
    pub(super) id: u64,
    pub(super) points: Vec<[f64; 3]>,
}

/// How the bodies of a case move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Static,
    Linear,
    Screw,
}

/// The reference verdict at t = 0: touching counts as colliding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Stand {
    Collide,
    Separated,
}

/// Two placed hulls, perhaps moving, and what is true of them.
#[derive(Debug, Deserialize)]
pub(super) struct Case {
    pub(super) id: String,
    pub(super) family: String,
    pub(super) kind: Kind,
    #[serde(rename = "P")]
    pub(super) p: u64,
    #[serde(rename = "Q")]
    pub(super) q: u64,
    #[serde(rename = "tP")]
    pub(super) translation_p: [f64; 3],
    #[serde(rename = "qP")]
    pub(super) quaternion_p: [f64; 4],
    #[serde(rename = "tQ")]
    pub(super) translation_q: [f64; 3],
    #[serde(rename = "qQ")]
    pub(super) quaternion_q: [f64; 4],
    #[serde(rename = "vP", default)]
    pub(super) velocity_p: [f64; 3],
    #[serde(rename = "vQ", default)]
    pub(super) velocity_q: [f64; 3],
    #[serde(rename = "axisP", default)]
    pub(super) axis_p: [f64; 3],
    #[serde(rename = "axisQ", default)]
    pub(super) axis_q: [f64; 3],
    #[serde(rename = "angleP", default)]
    pub(super) angle_p: f64,
    #[serde(rename = "angleQ", default)]
    pub(super) angle_q: f64,
    #[serde(default)]
    pub(super) exact_pose: bool,
    pub(super) verdict: Stand,
    #[serde(default)]
    pub(super) touching: bool,
    #[serde(default)]
    pub(super) size: f64,
    #[serde(default)]
    pub(super) world: f64,
    #[serde(rename = "dist")]
    pub(super) distance: Option<f64>,
    pub(super) depth: Option<f64>,
    pub(super) depth_lb: Option<f64>,
    pub(super) depth_ub: Option<f64>,
    pub(super) dir: Option<Directional>,
    pub(super) toi: Option<f64>,
    pub(super) toi_lb: Option<f64>,
    pub(super) toi_ub: Option<f64>,
    pub(super) toi_err: Option<f64>,
    pub(super) toi_cond: Option<f64>,
    pub(super) closing_rate: Option<f64>,
}

/// The range of contact along a direction; an absent end means never.
#[derive(Debug, Deserialize)]
pub(super) struct Directional {
    pub(super) d: [f64; 3],
    pub(super) enter: Option<f64>,
    pub(super) exit: Option<f64>,
    pub(super) cond_enter: Option<f64>,
    pub(super) cond_exit: Option<f64>,
}

/// A point set and its exact hull.
#[derive(Debug, Deserialize)]
pub(super) struct HullSet {
    pub(super) id: String,
    pub(super) family: String,
    pub(super) dim: u8,
    pub(super) extreme: Vec<usize>,
    pub(super) facets: usize,
    pub(super) volume_f64: Option<f64>,
    pub(super) points: Vec<[f64; 3]>,
}

/// The lines of a file, plain or gzip (told apart by its first bytes, not by its name).
pub(super) fn read(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Line, RunError>> + '_, RunError> {
    let failed = |source| RunError::File { path: path.into(), source };
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let is_gzip = file.fill_buf().map_err(failed)?.starts_with(&[0x1f, 0x8b]);
    let bytes: Box<dyn Read> =
        if is_gzip { Box::new(flate2::bufread::MultiGzDecoder::new(file)) } else { Box::new(file) };
    let lines = BufReader::new(bytes).lines().enumerate();
    Ok(lines.filter_map(move |(index, line)| match line {
        Err(source) => Some(Err(failed(source))),
        Ok(line) if line.trim().is_empty() => None,
        Ok(line) => Some(serde_json::from_str(&line).map_err(|error| RunError::Line {
            path: path.into(),
            number: index + 1,
            problem: error.to_string(),
        })),
    }))
}
