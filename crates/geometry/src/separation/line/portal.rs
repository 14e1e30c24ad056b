//! Where a line through the origin leaves M: portal refinement in exact arithmetic.
//!
//! A *portal* is a triangle of vertices of M that the line passes through. The supporting vertex
//! along its normal lies beyond it, or proves that its plane supports M; in the first case the
//! three smaller triangles with the new vertex lie farther along the line, and the line passes
//! through one of them. The scheme is that of Minkowski portal refinement (Snethen, *XenoCollide*,
//! Game Programming Gems 7, 2008) or, seen as a linear program, of the simplex method with columns
//! made on demand.
//!
//! Two things make it exact and finite for every input:
//!
//! - *The line is nudged* by `o(ε) = ε o₁ + ε² o₂ + ..`, with enough independent nudges for it
//!   never to meet an edge of a triangle: signs are those of polynomials in ε, decided by their
//!   first nonzero coefficient. The place where the nudged line leaves M moves on strictly with
//!   every portal, so none returns. As ε goes to 0 the last portal's plane and the closed triangle
//!   hold the place where the line itself leaves. (Dantzig, Orden and Wolfe 1955, the lexicographic
//!   rule.)
//! - *Flat M* is handled modulo directions: along a *lineality* direction nothing is distinguished,
//!   as if M were a cylinder along it. With one, a portal is a segment and its normal is a cross
//!   product with that direction; with two, a portal is a point.

use std::cmp::Ordering;

use arrayvec::ArrayVec;
use dashu_int::IBig;

use crate::Vec3;
use crate::claim::Direction;

use crate::difference::exact::{AXES, Difference, ExactCorner, Lineality};
use crate::effort::{Effort, Stopped};
use crate::number::scaled::{Integers, cross, difference, dot, negated, unit};

/// The line `{t w}`, nudged, in the space modulo the lineality directions.
pub(crate) struct Line {
    direction: Integers,
    lineality: ArrayVec<Lineality, 2>,
    across: Across,
}

/// What sides of the line are measured with.
enum Across {
    /// In space: `w x o` for each nudge.
    Space(ArrayVec<Integers, 3>),
    /// In a plane: `l x w`, and the side on which the nudged line has the origin.
    Plane(Integers, Ordering),
    /// On a line there are no sides.
    Line,
}

/// A plane that supports M, or a portal's plane, with the corners on it.
#[derive(Clone, Debug)]
pub(crate) struct PortalFacet {
    /// Three less the number of lineality directions.
    pub(crate) corners: ArrayVec<ExactCorner, 3>,
    /// Outward: `normal · w > 0`.
    pub(crate) normal: Integers,
    /// `normal · m` of the corners.
    pub(crate) offset: IBig,
    /// The outward normal as a certificate names it, a general lineality being against the
    /// travel; none modulo two of those.
    outward: Option<Direction>,
}

/// What a refinement is to find out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// On which side of M's boundary the origin is.
    Origin,
    /// The facet through which the line leaves.
    Facet,
}

/// Where a refinement ended.
pub(crate) enum Exit {
    /// The portal's plane has the origin strictly on its inner side.
    OriginInside(PortalFacet),
    /// All of M is strictly on the inner side of a plane through the origin, normal as given.
    OriginOutside(PortalFacet),
    /// The plane supports M.
    Facet(PortalFacet),
}

impl PortalFacet {
    /// The inward normal by name.
    pub(crate) fn inward(&self) -> Option<Direction> {
        self.outward.map(Direction::reversed)
    }
}

impl Line {
    /// The line along `direction`; none when that vanishes modulo the lineality. The first nudge is
    /// `towards` if there is one, then come coordinate axes.
    pub(crate) fn new(
        direction: Integers,
        lineality: ArrayVec<Lineality, 2>,
        towards: Option<&Integers>,
    ) -> Option<Self> {
        let across = match lineality.as_slice() {
            [] => {
                let along = (0..3).find(|&k| !direction[k].is_zero())?;
                // The other two axes and the direction are independent.
                let axes = (0..3).filter(|&k| k != along).map(unit);
                let nudges = towards.cloned().into_iter().chain(axes);
                Across::Space(nudges.map(|nudge| cross(&direction, &nudge)).collect())
            }
            [l] => {
                let measure = cross(&l.vector(), &direction);
                let free = (0..3).find(|&k| !measure[k].is_zero())?;
                let of = |nudge: &Integers| dot(&measure, nudge).cmp(&IBig::ZERO);
                let side = towards.map_or(Ordering::Equal, of).then_with(|| of(&unit(free)));
                Across::Plane(measure, side)
            }
            [l, m, ..] => {
                let normal = cross(&l.vector(), &m.vector());
                if dot(&normal, &direction).is_zero() {
                    return None;
                }
                Across::Line
            }
        };
        Some(Self { direction, lineality, across })
    }

    /// The line in the opposite direction, nudged likewise.
    pub(crate) fn reversed(&self) -> Self {
        Self {
            direction: negated(&self.direction),
            lineality: self.lineality.clone(),
            across: match &self.across {
                Across::Space(turned) => Across::Space(turned.iter().map(negated).collect()),
                Across::Plane(measure, side) => Across::Plane(negated(measure), side.reverse()),
                Across::Line => Across::Line,
            },
        }
    }

    /// On which side of the nudged line the edge from a to b passes: how
    /// `det(w, a - o, b - o) = w·(a x b) - (w x o)·(b - a)` compares with zero. Equal only if a and
    /// b are one point modulo w.
    fn side_of_edge(&self, turned: &[Integers], a: &Integers, b: &Integers) -> Ordering {
        let plain = dot(&self.direction, &cross(a, b)).cmp(&IBig::ZERO);
        if plain != Ordering::Equal {
            return plain;
        }
        let edge = difference(b, a);
        let mut sides = turned.iter().map(|turned| IBig::ZERO.cmp(&dot(turned, &edge)));
        sides.find(|side| side.is_ne()).unwrap_or(Ordering::Equal)
    }

    /// On which side of the nudged line in a plane the point is; never `Equal`.
    fn side_of_point(measure: &Integers, of_origin: Ordering, a: &Integers) -> Ordering {
        dot(measure, a).cmp(&IBig::ZERO).then(of_origin.reverse())
    }

    /// Corners out of `pool` that the nudged line passes strictly between.
    pub(crate) fn portal_among(&self, pool: &[ExactCorner]) -> Option<ArrayVec<ExactCorner, 3>> {
        let chosen = |indices: &[usize]| indices.iter().map(|&k| pool[k].clone()).collect();
        match &self.across {
            Across::Space(turned) => {
                let side =
                    |a: usize, b: usize| self.side_of_edge(turned, &pool[a].point, &pool[b].point);
                for c in 0..pool.len() {
                    for b in 0..c {
                        let bc = side(b, c);
                        if bc == Ordering::Equal {
                            continue;
                        }
                        for a in 0..b {
                            if side(a, b) == bc && side(c, a) == bc {
                                let positive = bc == Ordering::Greater;
                                let order = if positive { [a, b, c] } else { [a, c, b] };
                                return Some(chosen(&order));
                            }
                        }
                    }
                }
                None
            }
            Across::Plane(measure, of_origin) => {
                let side = |a: usize| Self::side_of_point(measure, *of_origin, &pool[a].point);
                let other = (1..pool.len()).find(|&b| side(b) != side(0))?;
                Some(chosen(&[0, other]))
            }
            Across::Line => pool.first().map(|_| chosen(&[0])),
        }
    }

    /// The portal's plane.
    fn facet(&self, corners: ArrayVec<ExactCorner, 3>) -> PortalFacet {
        let (normal, named) = self.normal(&corners);
        let backwards = dot(&normal, &self.direction) < IBig::ZERO;
        let normal = if backwards { negated(&normal) } else { normal };
        let outward = if backwards { named.map(Direction::reversed) } else { named };
        debug_assert!(dot(&normal, &self.direction) > IBig::ZERO);
        let offset = dot(&normal, &corners[0].point);
        PortalFacet { corners, normal, offset, outward }
    }

    /// A normal of the plane through the corners and along the lineality, with its name.
    fn normal(&self, corners: &[ExactCorner]) -> (Integers, Option<Direction>) {
        let edge = |k: usize| difference(&corners[k].point, &corners[0].point);
        match self.lineality.as_slice() {
            [] => {
                let pairs = [corners[0].pair, corners[1].pair, corners[2].pair];
                let named = Direction::Normal { pairs, negative: false };
                (cross(&edge(1), &edge(2)), Some(named))
            }
            [l] => {
                let pairs = [corners[0].pair, corners[1].pair];
                let named = match l {
                    Lineality::Axis(axis) => {
                        Direction::EdgeNormal { pairs, axis: AXES[*axis], negative: false }
                    }
                    Lineality::Along(_) => Direction::SweptNormal { pairs, negative: true },
                };
                (cross(&edge(1), &l.vector()), Some(named))
            }
            [l, m, ..] => {
                let normal = cross(&l.vector(), &m.vector());
                let named = match (l, m) {
                    (Lineality::Axis(a), Lineality::Axis(b)) => {
                        let left = 3 - a - b;
                        let one = if normal[left] < IBig::ZERO { -1.0 } else { 1.0 };
                        Some(Direction::Vector(Vec3::ith(left, one)))
                    }
                    (Lineality::Axis(a), Lineality::Along(_)) => {
                        Some(Direction::SweptAxis { axis: AXES[*a], negative: false })
                    }
                    (Lineality::Along(_), Lineality::Axis(a)) => {
                        Some(Direction::SweptAxis { axis: AXES[*a], negative: true })
                    }
                    (Lineality::Along(_), Lineality::Along(_)) => None,
                };
                (normal, named)
            }
        }
    }

    /// Replaces the corner for which the nudged line still passes strictly between the corners.
    fn admit(&self, corners: &mut ArrayVec<ExactCorner, 3>, new: ExactCorner) {
        let at = match &self.across {
            Across::Space(turned) => {
                let side = |k: usize| self.side_of_edge(turned, &corners[k].point, &new.point);
                let sides = [side(0), side(1), side(2)];
                match sides.iter().position(|&s| s == Ordering::Equal) {
                    // The new corner is the same point modulo w: it takes that corner's place.
                    Some(same) => same,
                    // Seen from the new corner, the line is between the two after the one replaced.
                    None => (0..3)
                        .find(|k| {
                            sides[(k + 1) % 3] == Ordering::Less
                                && sides[(k + 2) % 3] == Ordering::Greater
                        })
                        .expect("the line passes through one of the three"),
                }
            }
            Across::Plane(measure, of_origin) => {
                let side = |c: &ExactCorner| Self::side_of_point(measure, *of_origin, &c.point);
                usize::from(side(&corners[0]) != side(&new))
            }
            Across::Line => 0,
        };
        corners[at] = new;
    }

    /// Moves the portal outwards until the goal is reached.
    pub(crate) fn refine(
        &self,
        m: &mut Difference<'_>,
        mut corners: ArrayVec<ExactCorner, 3>,
        goal: Goal,
        effort: &mut Effort<'_>,
    ) -> Result<Exit, Stopped> {
        loop {
            effort.spend_step()?;
            let facet = self.facet(corners);
            if goal == Goal::Origin && facet.offset > IBig::ZERO {
                return Ok(Exit::OriginInside(facet));
            }
            let next = m.farthest(&facet.normal, effort);
            let reached = dot(&facet.normal, &next.point);
            if reached <= facet.offset {
                return Ok(Exit::Facet(facet));
            }
            if goal == Goal::Origin && reached < IBig::ZERO {
                return Ok(Exit::OriginOutside(facet));
            }
            corners = facet.corners;
            self.admit(&mut corners, next);
        }
    }
}
