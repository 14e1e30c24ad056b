//! Whether a convex body that goes straight meets a face where the surface goes on: across an edge
//! or a corner that is a seam of it ([`seams`](crate::seams)).
//!
//! Which way the body comes into a face is told as it stands at the lower end of the bracket of
//! their first contact, exactly. Where no contact with the surface has that normal, the face is met
//! along its own, on the side of the middle of the body's vertices, if the way leads against it,
//! and not at all if it leads along the face or away.
//! So what goes over a floor, a little in it, passes the next triangles, and meets a ramp.

use super::passing::{FacePassage, PASSED_FACES_MAX, PassedFaces, StraightBody, is_rounded};
use crate::Vec3;
use crate::claim::{Axis, Direction, RangeProof};
use crate::difference::exact::Difference;
use crate::difference::nearest::nearest_of;
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::number::Sign;
use crate::number::binary::split;
use crate::number::scaled::{
    Integers, cross, difference, dot, exact_vector, integer_at, least_exponent, negated,
    rounded_direction, sign, sum, unit,
};
use crate::pair::{Pair, VertexPair};
use crate::penetration;
use crate::rounded::{self, RoundedPair};
use crate::seams::{BYTES_OF_TRIANGLE, Surroundings};
use crate::witness::Witness;

/// How a face is met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeamContact {
    /// Where it is one with the surface.
    Surface,
    /// Across a seam, by a way that leads against the normal of the face: that, rounded, in the
    /// world.
    OnFace(Vec3),
    /// Across a seam, and not by a way that leads against the face.
    LeftOut,
}

/// The faces that are in contact at some time of a way.
#[derive(Clone, Debug)]
pub struct MetFaces<'a> {
    all: &'a [FacePassage],
    around: Surroundings,
}

impl<'a> MetFaces<'a> {
    /// All of a way.
    pub fn new(all: &'a [FacePassage]) -> Self {
        Self { all, around: Surroundings::new(all.iter().map(|one| one.corners).collect()) }
    }
}

/// What the faces of a way take beside their passages, bytes at most.
pub const BYTES_OF_MET_FACES: usize = PASSED_FACES_MAX * BYTES_OF_TRIANGLE;

impl StraightBody<'_> {
    /// How the face at a place of the list is met, with which the body is not in contact at the
    /// start.
    pub fn across_seam(
        &self,
        faces: &PassedFaces<'_>,
        met: &MetFaces<'_>,
        at: u32,
        effort: &mut Effort<'_>,
    ) -> Result<SeamContact, Stopped> {
        let passage = &met.all[at as usize];
        let face = convex_hull(&passage.corners).map_err(|_| Stopped::Unresolved)?.polytope;
        let (cores, radii) = self.beside(faces, &face);
        let m = Difference::new(&cores);
        let Some(towards_q) = self.entry(&cores, radii, passage, effort)? else {
            return Ok(SeamContact::Surface);
        };
        let out = negated(&towards_q);
        if met.around.is_of_surface(at, &m.direction_in_q(&out), effort)? {
            return Ok(SeamContact::Surface);
        }
        let [a, b, c] = [0, 1, 2].map(|j| m.vertex_of_q(j));
        let normal = cross(&difference(&b, &a), &difference(&c, &a));
        let leads = sign(&dot(&normal, &exact_vector(&self.by)));
        // The normal on the side of the middle of the body.
        let below = (0..self.start.body.vertex_count())
            .map(|i| self.difference_at(&m, VertexPair { i, j: 0 }, passage.span.enter[0]))
            .fold(exact_vector(&Vec3::zeros()), |all, one| sum(&all, &one));
        let is_front = match sign(&dot(&normal, &below)) {
            Sign::Negative => true,
            Sign::Positive => false,
            Sign::Zero => leads == Sign::Negative,
        };
        let (normal, leads_in) = if is_front {
            (normal, leads == Sign::Negative)
        } else {
            (negated(&normal), leads == Sign::Positive)
        };
        if !leads_in {
            return Ok(SeamContact::LeftOut);
        }
        let rounded = rounded_direction(&normal);
        Ok(SeamContact::OnFace(rounded / rounded.norm()))
    }

    /// The way in which the body comes into the face, up to a positive factor; none: it is not
    /// known.
    fn entry(
        &self,
        cores: &Pair<'_>,
        radii: [f64; 2],
        passage: &FacePassage,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Integers>, Stopped> {
        let witness = &mut Witness::default();
        let proof = if is_rounded(radii) {
            let pair = RoundedPair { cores: *cores, radii };
            rounded::along(&pair, &self.by, witness, effort)?.ends
        } else {
            penetration::along(cores, &self.by, witness, effort)?.proof
        };
        let Some(RangeProof::Meets { enter: Some(end), .. }) = proof else { return Ok(None) };
        let m = &mut Difference::new(cores);
        Ok(match end.direction {
            Direction::Nearest { pairs, negative } => {
                let towards = self.nearest_at(m, pairs, passage.span.enter[0]);
                towards.map(|towards| if negative { negated(&towards) } else { towards })
            }
            Direction::SweptNormal { pairs: [a, b], negative } => {
                let edge = difference(&m.at(b), &m.at(a));
                let normal = cross(&edge, &exact_vector(&-self.by));
                Some(if negative { negated(&normal) } else { normal })
            }
            Direction::SweptAxis { axis, negative } => {
                let axis = unit(match axis {
                    Axis::X => 0,
                    Axis::Y => 1,
                    Axis::Z => 2,
                });
                let normal = cross(&exact_vector(&-self.by), &axis);
                Some(if negative { negated(&normal) } else { normal })
            }
            known @ (Direction::Vector(_)
            | Direction::Normal { .. }
            | Direction::EdgeNormal { .. }) => Some(m.direction(&known)),
        })
    }

    /// The point nearest the origin in the hull of three differences, as the body stands at time t.
    fn nearest_at(&self, m: &Difference<'_>, pairs: [VertexPair; 3], t: f64) -> Option<Integers> {
        let corners = pairs.map(|pair| (pair, self.difference_at(m, pair, t)));
        nearest_of(&corners).map(|(nearest, _)| nearest.direction)
    }

    /// The difference that a pair names, as the body stands at time t, on an exponent that is the
    /// same for all pairs.
    fn difference_at(&self, m: &Difference<'_>, pair: VertexPair, t: f64) -> Integers {
        let scale = least_exponent(self.by.iter()).unwrap_or(0);
        let (mantissa, exponent) = split(t);
        let of_way = scale + i64::from(exponent);
        let least = m.exponent().min(of_way);
        let shift = |exponent: i64| usize::try_from(exponent - least).unwrap_or(0);
        let way: Integers =
            std::array::from_fn(|k| (integer_at(self.by[k], scale) * mantissa) << shift(of_way));
        difference(&m.at(pair).map(|x| x << shift(m.exponent())), &way)
    }
}

#[cfg(test)]
mod tests;
