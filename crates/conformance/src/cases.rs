//! The file format of reference cases: one JSON object a line, hulls before the cases that use
//! them, numbers as shortest round-trip decimals.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::Deserialize;

use super::RunError;
use clearance_geometry::motion::Motion;

/// One line.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Line {
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
pub(crate) struct HullLine {
    pub(crate) id: u64,
    pub(crate) points: Vec<[f64; 3]>,
}

/// How the bodies of a case move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Static,
    Linear,
    Screw,
}

/// The reference verdict at t = 0: touching counts as colliding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CaseVerdict {
    Collide,
    Separated,
}

/// Two placed hulls, perhaps moving, and what is true of them.
#[derive(Debug, Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) family: String,
    pub(crate) kind: Kind,
    #[serde(rename = "P")]
    pub(crate) p: u64,
    #[serde(rename = "Q")]
    pub(crate) q: u64,
    #[serde(rename = "tP")]
    pub(crate) translation_p: [f64; 3],
    #[serde(rename = "qP")]
    pub(crate) quaternion_p: [f64; 4],
    #[serde(rename = "tQ")]
    pub(crate) translation_q: [f64; 3],
    #[serde(rename = "qQ")]
    pub(crate) quaternion_q: [f64; 4],
    #[serde(rename = "vP", default)]
    pub(crate) velocity_p: [f64; 3],
    #[serde(rename = "vQ", default)]
    pub(crate) velocity_q: [f64; 3],
    #[serde(rename = "axisP", default)]
    pub(crate) axis_p: [f64; 3],
    #[serde(rename = "axisQ", default)]
    pub(crate) axis_q: [f64; 3],
    #[serde(rename = "angleP", default)]
    pub(crate) angle_p: f64,
    #[serde(rename = "angleQ", default)]
    pub(crate) angle_q: f64,
    /// Contact of moving bodies means a distance of at most this; the references are of contact
    /// itself.
    #[serde(default)]
    pub(crate) contact_margin: f64,
    /// Moving bodies are free for every motion of P within this of the stated one.
    #[serde(default)]
    pub(crate) deviation: f64,
    #[serde(default)]
    pub(crate) exact_pose: bool,
    pub(crate) verdict: CaseVerdict,
    #[serde(default)]
    pub(crate) touching: bool,
    #[serde(default)]
    pub(crate) size: f64,
    #[serde(default)]
    pub(crate) world: f64,
    #[serde(rename = "dist")]
    pub(crate) distance: Option<f64>,
    pub(crate) depth: Option<f64>,
    pub(crate) depth_lb: Option<f64>,
    pub(crate) depth_ub: Option<f64>,
    pub(crate) dir: Option<Directional>,
    pub(crate) toi: Option<f64>,
    pub(crate) toi_lb: Option<f64>,
    pub(crate) toi_ub: Option<f64>,
    pub(crate) toi_err: Option<f64>,
    pub(crate) toi_cond: Option<f64>,
    pub(crate) closing_rate: Option<f64>,
}

impl Case {
    /// Whether it asks for more than contact, of which there are no references.
    pub(crate) fn has_margin(&self) -> bool {
        self.contact_margin > 0.0 || self.deviation > 0.0
    }

    /// How P and Q move.
    pub(crate) fn motions(&self) -> [Motion; 2] {
        let motion = |velocity: [f64; 3], axis: [f64; 3], angle| match self.kind {
            Kind::Static | Kind::Linear => Motion::Linear { velocity: velocity.into() },
            Kind::Screw => {
                Motion::Screw { pivot: None, velocity: velocity.into(), axis: axis.into(), angle }
            }
        };
        [
            motion(self.velocity_p, self.axis_p, self.angle_p),
            motion(self.velocity_q, self.axis_q, self.angle_q),
        ]
    }
}

/// The range of contact along a direction; an absent end means never.
#[derive(Debug, Deserialize)]
pub(crate) struct Directional {
    pub(crate) d: [f64; 3],
    pub(crate) enter: Option<f64>,
    pub(crate) exit: Option<f64>,
    pub(crate) cond_enter: Option<f64>,
    pub(crate) cond_exit: Option<f64>,
}

/// A point set and its exact hull.
#[derive(Debug, Deserialize)]
pub(crate) struct HullSet {
    pub(crate) id: String,
    pub(crate) family: String,
    pub(crate) dim: u8,
    pub(crate) extreme: Vec<usize>,
    pub(crate) facets: usize,
    pub(crate) volume_f64: Option<f64>,
    pub(crate) points: Vec<[f64; 3]>,
}

/// The lines of a file, plain or gzip (told apart by its first bytes, not by its name).
pub(crate) fn read(
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
