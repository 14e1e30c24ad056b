//! One answer as it is written for an independent judge, and what came with it.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use clearance_geometry::claim::{
    Axis, Direction, FirstContact, Frame, Link, Outcome, RangeEnd, RangeProof, Span, StaticProof,
    Verdict,
};
use clearance_geometry::effort::Cost;
use clearance_geometry::pair::VertexPair;
use clearance_geometry::penetration::Depth;

/// What came back for one case.
#[derive(Debug)]
pub(crate) struct Reply<A> {
    /// The answer, unless nothing at all came back.
    pub(crate) answer: Option<A>,
    /// What is missing from it, and why.
    pub(crate) missing: Vec<String>,
    /// Certificates that a judge of ours accepted.
    pub(crate) certificates_accepted: u32,
    /// Why a judge of ours refused one.
    pub(crate) certificates_refused: Vec<String>,
    /// What the library says it cost; nothing when a server answered.
    pub(crate) cost: Cost,
    /// How long the questions took.
    pub(crate) elapsed: Duration,
}

impl<A> Reply<A> {
    /// Nothing yet.
    pub(crate) fn empty() -> Self {
        Self {
            answer: None,
            missing: Vec::new(),
            certificates_accepted: 0,
            certificates_refused: Vec::new(),
            cost: Cost::default(),
            elapsed: Duration::ZERO,
        }
    }
}

/// The answer to a question about one hull.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct HullAnswer {
    pub(crate) id: String,
    pub(crate) dim: u8,
    pub(crate) extreme: Vec<usize>,
    pub(crate) facets: usize,
    pub(crate) volume: f64,
    pub(crate) us: f64,
}

/// The answer to a question about a pair. What does not apply is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CaseAnswer {
    pub(crate) id: String,
    pub(crate) verdict: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) distance_lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) distance_upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closest_p: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) closest_q: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth_lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) depth_upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) enter: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) t_free: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) t_contact: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<WrittenCertificate>,
    #[serde(default)]
    pub(crate) us: f64,
}

/// A certificate whose indices refer to the case's own point lists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WrittenCertificate {
    #[serde(flatten)]
    pub(crate) direction: WrittenDirection,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) pairs: Vec<[u32; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) distance_pairs: Vec<[u32; 2]>,
    /// The direction along which the depth is at most its upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) face: Option<WrittenDirection>,
    /// The surface that shows that the depth is at least its lower bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) surface: Option<WrittenSurface>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chain: Option<Vec<WrittenLink>>,
    /// What proves the range of contact along a direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) range: Option<WrittenRange>,
}

/// That there is no contact along a direction, or where it begins and ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WrittenRange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) never: Option<WrittenDirection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) enter: Option<WrittenEnd>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit: Option<WrittenEnd>,
}

/// One end of a range, at a t within the bracket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WrittenEnd {
    pub(crate) bracket: [f64; 2],
    #[serde(flatten)]
    pub(crate) direction: WrittenDirection,
    pub(crate) pairs: Vec<[u32; 2]>,
}

/// One of the forms of a direction, or none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WrittenDirection {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction_pairs: Option<Vec<[u32; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction_swept: Option<Vec<[u32; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction_nearest: Option<Vec<[u32; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction_axis: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction_sign: Option<i8>,
}

/// A closed surface of triangles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct WrittenSurface {
    pub(crate) corners: Vec<[u32; 2]>,
    pub(crate) triangles: Vec<[u32; 3]>,
}

/// One link of a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WrittenLink {
    pub(crate) t0: f64,
    pub(crate) t1: f64,
    pub(crate) frame: Cow<'static, str>,
    #[serde(flatten)]
    pub(crate) direction: WrittenDirection,
}

/// From our vertex indices to the case's own point indices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Naming<'a> {
    /// For each vertex of P the lowest point that is it.
    pub(crate) given_p: &'a [u32],
    /// For each vertex of Q the lowest point that is it.
    pub(crate) given_q: &'a [u32],
}

impl Naming<'_> {
    fn pair(self, pair: VertexPair) -> [u32; 2] {
        [self.given_p[pair.i as usize], self.given_q[pair.j as usize]]
    }

    /// Renames every pair.
    pub(crate) fn pairs(self, pairs: &[VertexPair]) -> Vec<[u32; 2]> {
        pairs.iter().map(|pair| self.pair(*pair)).collect()
    }

    fn direction(self, direction: &Direction) -> WrittenDirection {
        let sign = |negative: bool| Some(if negative { -1 } else { 1 });
        let number = |axis: Axis| match axis {
            Axis::X => 0,
            Axis::Y => 1,
            Axis::Z => 2,
        };
        match direction {
            Direction::Vector(v) => {
                WrittenDirection { direction: Some((*v).into()), ..WrittenDirection::default() }
            }
            Direction::Normal { pairs, negative } => WrittenDirection {
                direction_pairs: Some(self.pairs(pairs)),
                direction_sign: sign(*negative),
                ..WrittenDirection::default()
            },
            Direction::EdgeNormal { pairs, axis, negative } => WrittenDirection {
                direction_pairs: Some(self.pairs(pairs)),
                direction_axis: Some(number(*axis)),
                direction_sign: sign(*negative),
                ..WrittenDirection::default()
            },
            Direction::Nearest { pairs, negative } => WrittenDirection {
                direction_nearest: Some(self.pairs(pairs)),
                direction_sign: sign(*negative),
                ..WrittenDirection::default()
            },
            Direction::SweptNormal { pairs, negative } => WrittenDirection {
                direction_swept: Some(self.pairs(pairs)),
                direction_sign: sign(*negative),
                ..WrittenDirection::default()
            },
            Direction::SweptAxis { axis, negative } => WrittenDirection {
                direction_swept: Some(Vec::new()),
                direction_axis: Some(number(*axis)),
                direction_sign: sign(*negative),
                ..WrittenDirection::default()
            },
        }
    }

    /// The proof of a static verdict.
    pub(crate) fn proof(self, proof: &StaticProof) -> WrittenCertificate {
        match proof {
            StaticProof::Separated { direction } => WrittenCertificate {
                direction: self.direction(direction),
                ..WrittenCertificate::default()
            },
            StaticProof::Touching { direction, pairs } => WrittenCertificate {
                direction: self.direction(direction),
                pairs: self.pairs(pairs),
                ..WrittenCertificate::default()
            },
            StaticProof::Overlapping { pairs } => {
                WrittenCertificate { pairs: self.pairs(pairs), ..WrittenCertificate::default() }
            }
        }
    }

    /// Adds the proof of a depth to that of the overlap.
    pub(crate) fn add_depth(self, depth: &Depth, certificate: &mut WrittenCertificate) {
        certificate.face = depth.face.as_ref().map(|face| self.direction(face));
        certificate.surface = depth.surface.as_ref().map(|surface| WrittenSurface {
            corners: self.pairs(&surface.corners),
            triangles: surface.triangles.clone(),
        });
    }

    /// The proof of a range along a direction.
    pub(crate) fn range(self, span: Option<Span>, proof: &RangeProof) -> WrittenRange {
        let end = |bracket: [f64; 2], end: &RangeEnd| WrittenEnd {
            bracket,
            direction: self.direction(&end.direction),
            pairs: self.pairs(&end.pairs),
        };
        match (span, proof) {
            (Some(span), RangeProof::Meets { enter, exit }) => WrittenRange {
                never: None,
                enter: enter.as_ref().map(|proof| end(span.enter, proof)),
                exit: Some(end(span.exit, exit)),
            },
            (None, RangeProof::Never { direction }) => {
                let never = Some(self.direction(direction));
                WrittenRange { never, ..WrittenRange::default() }
            }
            (Some(_), RangeProof::Never { .. }) | (None, RangeProof::Meets { .. }) => {
                WrittenRange::default()
            }
        }
    }

    /// The chain and the pairs of a first contact; those of the verdict at t = 0 when that is it,
    /// and the direction that separates there when nothing else is free.
    pub(crate) fn motion(self, contact: &FirstContact) -> WrittenCertificate {
        let pairs = match (&contact.initial, contact.pairs.as_slice(), contact.outcome) {
            (StaticProof::Touching { pairs, .. }, [], Outcome::Contact) => self.pairs(pairs),
            (StaticProof::Overlapping { pairs }, [], Outcome::Contact) => self.pairs(pairs),
            (_, pairs, _) => self.pairs(pairs),
        };
        let direction = match &contact.initial {
            StaticProof::Separated { direction } if contact.chain.is_empty() => {
                self.direction(direction)
            }
            StaticProof::Separated { .. }
            | StaticProof::Touching { .. }
            | StaticProof::Overlapping { .. } => WrittenDirection::default(),
        };
        WrittenCertificate {
            direction,
            pairs,
            chain: Some(contact.chain.iter().map(|link| self.link(link)).collect()),
            ..WrittenCertificate::default()
        }
    }

    fn link(self, link: &Link) -> WrittenLink {
        WrittenLink {
            t0: link.t0,
            t1: link.t1,
            frame: match link.frame {
                Frame::World => "world",
                Frame::P => "p",
                Frame::Q => "q",
            }
            .into(),
            direction: self.direction(&link.direction),
        }
    }
}

/// The word for a static verdict.
pub(crate) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Separated => "SEPARATED",
        Verdict::Touching => "TOUCHING",
        Verdict::Overlapping => "OVERLAPPING",
    }
}

/// The word for the outcome of a motion.
pub(crate) fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Contact => "CONTACT",
        Outcome::NoContact => "NO_CONTACT",
        Outcome::Undecided => "UNDECIDED",
    }
}
