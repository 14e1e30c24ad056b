//! One answer as it is written for an independent judge, and what came with it.

use std::time::Duration;

use serde::Serialize;

use crate::geometry::certificate::{Axis, Direction, Frame, Link, StaticProof, Verdict};
use crate::geometry::contact_time::{FirstContact, Outcome};
use crate::geometry::effort::Cost;
use crate::geometry::pair::VertexPair;

/// What came back for one case.
#[derive(Debug)]
pub(super) struct Reply<A> {
    /// The answer, unless nothing at all came back.
    pub(super) answer: Option<A>,
    /// What is missing from it, and why.
    pub(super) missing: Vec<String>,
    /// Certificates that a judge of ours accepted.
    pub(super) certificates_accepted: u32,
    /// Why a judge of ours refused one.
    pub(super) certificates_refused: Vec<String>,
    /// What the library says it cost; nothing when a server answered.
    pub(super) cost: Cost,
    /// How long the questions took.
    pub(super) elapsed: Duration,
}

impl<A> Reply<A> {
    /// Nothing yet.
    pub(super) fn empty() -> Self {
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
pub(super) struct HullAnswer {
    pub(super) id: String,
    pub(super) dim: u8,
    pub(super) extreme: Vec<usize>,
    pub(super) facets: usize,
    pub(super) volume: f64,
    pub(super) us: f64,
}

/// The answer to a question about a pair. What does not apply is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct CaseAnswer {
    pub(super) id: String,
    pub(super) verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) distance_lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) distance_upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) closest_p: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) closest_q: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth_lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) depth_upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) enter: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) t_free: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) t_contact: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) certificate: Option<CertificateOut>,
    pub(super) us: f64,
}

/// A certificate whose indices refer to the case's own point lists.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct CertificateOut {
    #[serde(flatten)]
    pub(super) direction: DirectionOut,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) pairs: Vec<[u32; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) distance_pairs: Vec<[u32; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chain: Option<Vec<LinkOut>>,
}

/// One of the forms of a direction, or none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct DirectionOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction_pairs: Option<Vec<[u32; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction_swept: Option<Vec<[u32; 2]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction_axis: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction_sign: Option<i8>,
}

/// One link of a chain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct LinkOut {
    t0: f64,
    t1: f64,
    frame: &'static str,
    #[serde(flatten)]
    direction: DirectionOut,
}

/// From our vertex indices to the case's own point indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming<'a> {
    /// For each vertex of P the lowest point that is it.
    pub(super) given_p: &'a [u32],
    /// The same for Q.
    pub(super) given_q: &'a [u32],
}

impl Naming<'_> {
    fn pair(self, pair: VertexPair) -> [u32; 2] {
        [self.given_p[pair.i as usize], self.given_q[pair.j as usize]]
    }

    /// Renames every pair.
    pub(super) fn pairs(self, pairs: &[VertexPair]) -> Vec<[u32; 2]> {
        pairs.iter().map(|pair| self.pair(*pair)).collect()
    }

    fn direction(self, direction: &Direction) -> DirectionOut {
        let sign = |negative: bool| Some(if negative { -1 } else { 1 });
        let number = |axis: Axis| match axis {
            Axis::X => 0,
            Axis::Y => 1,
            Axis::Z => 2,
        };
        match direction {
            Direction::Vector(v) => {
                DirectionOut { direction: Some((*v).into()), ..DirectionOut::default() }
            }
            Direction::Normal { pairs, negative } => DirectionOut {
                direction_pairs: Some(self.pairs(pairs)),
                direction_sign: sign(*negative),
                ..DirectionOut::default()
            },
            Direction::EdgeNormal { pairs, axis, negative } => DirectionOut {
                direction_pairs: Some(self.pairs(pairs)),
                direction_axis: Some(number(*axis)),
                direction_sign: sign(*negative),
                ..DirectionOut::default()
            },
            Direction::SweptNormal { pairs, negative } => DirectionOut {
                direction_swept: Some(self.pairs(pairs)),
                direction_sign: sign(*negative),
                ..DirectionOut::default()
            },
            Direction::SweptAxis { axis, negative } => DirectionOut {
                direction_swept: Some(Vec::new()),
                direction_axis: Some(number(*axis)),
                direction_sign: sign(*negative),
                ..DirectionOut::default()
            },
        }
    }

    /// The proof of a static verdict.
    pub(super) fn proof(self, proof: &StaticProof) -> CertificateOut {
        match proof {
            StaticProof::Separated { direction } => {
                CertificateOut { direction: self.direction(direction), ..CertificateOut::default() }
            }
            StaticProof::Touching { direction, pairs } => CertificateOut {
                direction: self.direction(direction),
                pairs: self.pairs(pairs),
                ..CertificateOut::default()
            },
            StaticProof::Overlapping { pairs } => {
                CertificateOut { pairs: self.pairs(pairs), ..CertificateOut::default() }
            }
        }
    }

    /// The chain and the pairs of a first contact; those of the verdict at t = 0 when that is it.
    pub(super) fn motion(self, contact: &FirstContact) -> CertificateOut {
        let pairs = match (&contact.initial, contact.pairs.as_slice(), contact.outcome) {
            (StaticProof::Touching { pairs, .. }, [], Outcome::Contact) => self.pairs(pairs),
            (StaticProof::Overlapping { pairs }, [], Outcome::Contact) => self.pairs(pairs),
            (_, pairs, _) => self.pairs(pairs),
        };
        CertificateOut {
            pairs,
            chain: Some(contact.chain.iter().map(|link| self.link(link)).collect()),
            ..CertificateOut::default()
        }
    }

    fn link(self, link: &Link) -> LinkOut {
        LinkOut {
            t0: link.t0,
            t1: link.t1,
            frame: match link.frame {
                Frame::World => "world",
                Frame::P => "p",
                Frame::Q => "q",
            },
            direction: self.direction(&link.direction),
        }
    }
}

/// The word for a static verdict.
pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Separated => "SEPARATED",
        Verdict::Touching => "TOUCHING",
        Verdict::Overlapping => "OVERLAPPING",
    }
}

/// The word for the outcome of a motion.
pub(super) fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Contact => "CONTACT",
        Outcome::NoContact => "NO_CONTACT",
        Outcome::Undecided => "UNDECIDED",
    }
}
