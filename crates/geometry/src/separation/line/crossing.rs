//! The line through M: for an exact direction w, the least and the greatest t with `t w` in M, as
//! exact quotients with a supporting direction and vertex pairs; or, when the line misses M,
//! directions that tell M from every point of the line.
//!
//! First the question is asked in the space modulo w, where the line is the origin and M has one
//! dimension less (or as many, when M is flat and w leaves its plane): there it is the question of
//! [`crate::separation::exact`]. If the origin is held, by four corners or fewer, the
//! nudged line passes between three of them, which is the first portal of a refinement along w and
//! of one against it. The first nudge is towards M's inside, so that a line that only grazes M
//! passes through it.
//!
//! A line that misses a solid M passes an edge of its silhouette. Of the two facets at that edge
//! one faces w and one faces away; a point of the line that neither tells from M would be in their
//! wedge, which the line does not meet. So the two together prove the whole line free.

use arrayvec::ArrayVec;
use dashu_int::IBig;

use super::portal::{Exit, Goal, Line, PortalFacet};
use crate::Vec3;
use crate::claim::Direction;
use crate::difference::exact::{AXES, Hull, Lineality, affine_hull, longest_axis, sum_of};
use crate::difference::exact::{Difference, ExactCorner};
use crate::effort::{Effort, Stopped};
use crate::number::Sign;
use crate::number::scaled::{
    Integers, cross, difference, dot, exact_vector, is_zero, negated, rounded_direction, sign, unit,
};
use crate::pair::VertexPair;

/// Where a line meets M.
pub(crate) enum Crossing {
    /// It does not.
    Never(Miss),
    /// Between the least and the greatest parameter.
    Meets(Box<[End; 2]>),
}

/// What proves that a line misses M.
pub(crate) struct Miss {
    /// Every point of the line is told from M by one of these; the first ones to try.
    pub(crate) tellings: Vec<Telling>,
    /// Positive on M and zero along the line, so it alone tells M from all of it: named for a
    /// travel against w.
    pub(crate) across: Direction,
}

/// One end of the line's part in M.
pub(crate) struct End {
    /// The parameter t, `numerator / denominator`: `t w` is in M.
    pub(crate) numerator: IBig,
    /// The denominator, which is not zero.
    pub(crate) denominator: IBig,
    /// Corners whose hull holds that point.
    pub(crate) pairs: ArrayVec<VertexPair, 4>,
    /// `inward · m >= inward · (t w)` for all of M, and `inward · w` is positive at the least end,
    /// negative at the greatest: so it tells M from all points beyond the end.
    pub(crate) inward: Direction,
}

/// A direction that may tell M from some points of a line.
#[derive(Clone, Debug)]
pub(crate) struct Telling {
    pub(crate) direction: Direction,
    /// The direction in integers, up to a positive factor.
    pub(crate) exact: Integers,
}

impl Telling {
    /// By three numbers.
    pub(crate) fn vector(vector: Vec3) -> Self {
        Self { direction: Direction::Vector(vector), exact: exact_vector(&vector) }
    }

    /// The other way.
    pub(crate) fn opposite(&self) -> Self {
        Self { direction: self.direction.reversed(), exact: negated(&self.exact) }
    }
}

/// Meets M with the line `{t w}`; w is not zero.
pub(crate) fn cross_line(
    m: &mut Difference<'_>,
    w: &Integers,
    effort: &mut Effort<'_>,
) -> Result<Crossing, Stopped> {
    let simplex = m.simplex();
    let edge = |k: usize| difference(&simplex[k].point, &simplex[0].point);
    let along_hull = match simplex.len() {
        1 => false,
        2 => is_zero(&cross(&edge(1), w)),
        3 => dot(&cross(&edge(1), &edge(2)), w).is_zero(),
        _ => true,
    };
    if !along_hull {
        return leave_flat(m, w, &simplex, effort);
    }
    match affine_hull(&simplex) {
        Hull::Off(exact, across) => {
            let tellings = vec![Telling { direction: across, exact }];
            Ok(Crossing::Never(Miss { tellings, across }))
        }
        Hull::ThroughOrigin(axes) => pass_solid(m, w, &simplex, axes, effort),
    }
}

/// Whether the line `{t w}` passes through the inside of M; w is not zero. None: M is flat, and has
/// no inside.
///
/// Modulo w the line is the origin. It is inside where it comes, on the way from the middle of some
/// corners, strictly before a portal that is made of corners.
pub(crate) fn passes_inside(
    m: &mut Difference<'_>,
    w: &Integers,
    effort: &mut Effort<'_>,
) -> Result<Option<bool>, Stopped> {
    let simplex = m.simplex();
    if simplex.len() < 4 {
        return Ok(None);
    }
    let modulo_w = ArrayVec::from_iter([Lineality::Along(w.clone())]);
    let Some(line) = Line::new(negated(&sum_of(&simplex)), modulo_w, None) else {
        return Ok(Some(true));
    };
    let portal = line.portal_among(&simplex).expect("the line comes from inside the simplex");
    let exit = line.refine(m, portal, Goal::Origin, effort)?;
    Ok(Some(matches!(exit, Exit::OriginInside(_))))
}

/// The least end, if it is in the triangle of these pairs and their plane supports M.
pub(crate) fn least_end_in(
    m: &mut Difference<'_>,
    w: &Integers,
    pairs: [VertexPair; 3],
    effort: &mut Effort<'_>,
) -> Option<End> {
    let corners = pairs.map(|pair| m.corner(pair));
    let edge = |k: usize| difference(&corners[k].point, &corners[0].point);
    let normal = cross(&edge(1), &edge(2));
    let towards = sign(&dot(&normal, w));
    if towards == Sign::Zero {
        return None;
    }
    let negative = towards == Sign::Negative;
    let inward = if negative { negated(&normal) } else { normal };
    let turn = |a: usize, b: usize| sign(&dot(w, &cross(&corners[a].point, &corners[b].point)));
    let inside = [turn(0, 1), turn(1, 2), turn(2, 0)].iter().all(|side| *side != -towards);
    let numerator = dot(&inward, &corners[0].point);
    if !inside || m.least_along(&inward, effort).0 < numerator {
        return None;
    }
    let denominator = dot(&inward, w);
    let inward = Direction::Normal { pairs, negative };
    Some(End { numerator, denominator, pairs: pairs.into_iter().collect(), inward })
}

/// M is solid modulo `axes`, and the line in its affine hull.
fn pass_solid(
    m: &mut Difference<'_>,
    w: &Integers,
    simplex: &[ExactCorner],
    axes: ArrayVec<Lineality, 2>,
    effort: &mut Effort<'_>,
) -> Result<Crossing, Stopped> {
    let mut pool: ArrayVec<ExactCorner, 7> = simplex.iter().cloned().collect();
    if axes.len() < 2 {
        let mut modulo_w = axes.clone();
        modulo_w.push(Lineality::Along(w.clone()));
        match hold_origin(m, simplex, modulo_w, effort)? {
            Held::By(more) => pool.extend(more),
            Held::Not(facet) => {
                let miss = SolidMiss { w, simplex, axes: &axes, silhouette: &facet };
                let tellings = miss.tellings(m, effort)?;
                return Ok(Crossing::Never(Miss { tellings, across: across(&facet) }));
            }
        }
    }
    let centre = sum_of(simplex);
    let line = Line::new(w.clone(), axes, Some(&centre)).expect("w is not zero in M's hull");
    let greatest = leave(m, &line, &pool, effort)?;
    let least = leave(m, &line.reversed(), &pool, effort)?;
    let end = |facet: PortalFacet| End {
        denominator: dot(&facet.normal, w),
        inward: facet.inward().expect("flat M is cut along axes"),
        pairs: facet.corners.iter().map(|corner| corner.pair).collect(),
        numerator: facet.offset,
    };
    Ok(Crossing::Meets(Box::new([end(least), end(greatest)])))
}

/// The facet through which the line leaves M, from a pool of corners around it.
fn leave(
    m: &mut Difference<'_>,
    line: &Line,
    pool: &[ExactCorner],
    effort: &mut Effort<'_>,
) -> Result<PortalFacet, Stopped> {
    let portal = line.portal_among(pool).expect("the nudged line passes between the corners");
    match line.refine(m, portal, Goal::Facet, effort)? {
        Exit::Facet(facet) | Exit::OriginInside(facet) | Exit::OriginOutside(facet) => Ok(facet),
    }
}

/// Whether the origin is in M, modulo the lineality.
enum Held {
    /// It is, in the hull of the simplex and these.
    By(ArrayVec<ExactCorner, 3>),
    /// It is not: it is strictly outside this supporting facet.
    Not(PortalFacet),
}

fn hold_origin(
    m: &mut Difference<'_>,
    simplex: &[ExactCorner],
    lineality: ArrayVec<Lineality, 2>,
    effort: &mut Effort<'_>,
) -> Result<Held, Stopped> {
    let Some(line) = Line::new(negated(&sum_of(simplex)), lineality, None) else {
        return Ok(Held::By(ArrayVec::new()));
    };
    let portal = line.portal_among(simplex).expect("the line comes from inside the simplex");
    let facet = match line.refine(m, portal, Goal::Origin, effort)? {
        Exit::OriginInside(facet) | Exit::Facet(facet) => facet,
        // It separates already, but is no facet yet.
        Exit::OriginOutside(facet) => leave(m, &line, &facet.corners, effort)?,
    };
    let outside = sign(&facet.offset) == Sign::Negative;
    Ok(if outside { Held::Not(facet) } else { Held::By(facet.corners) })
}

/// M is a point, or w leaves its plane or line: the line meets the affine hull of M at one point at
/// most.
fn leave_flat(
    m: &mut Difference<'_>,
    w: &Integers,
    simplex: &[ExactCorner],
    effort: &mut Effort<'_>,
) -> Result<Crossing, Stopped> {
    let edge = |k: usize| difference(&simplex[k].point, &simplex[0].point);
    let modulo_w = Lineality::Along(w.clone());
    // Modulo w, M is as solid as its affine hull: a polygon, a segment, a point.
    let (lineality, sides) = match simplex.len() {
        1 => {
            let across = cross(&simplex[0].point, w);
            if !is_zero(&across) {
                let tellings = tell_flat(simplex, &[], &cross(w, &across));
                // (-w x e_k)·m is the k-th coordinate of m x w, negated.
                let axis = longest_axis(&across);
                let negative = sign(&across[axis]) == Sign::Positive;
                let across = Direction::SweptAxis { axis: AXES[axis], negative };
                return Ok(Crossing::Never(Miss { tellings, across }));
            }
            (None, None)
        }
        2 => {
            let across = cross(&edge(1), w);
            let value = dot(&across, &simplex[0].point);
            if !value.is_zero() {
                let negative = sign(&value) == Sign::Negative;
                let away = if negative { negated(&across) } else { across };
                let tellings = tell_flat(simplex, &[], &away);
                let pairs = [simplex[0].pair, simplex[1].pair];
                let across = Direction::SweptNormal { pairs, negative: !negative };
                return Ok(Crossing::Never(Miss { tellings, across }));
            }
            let axis = (0..3).find(|&k| !across[k].is_zero()).expect("w leaves the line");
            let lineality = ArrayVec::from([modulo_w, Lineality::Axis(axis)]);
            (Some(lineality), Some(Lineality::Axis(axis)))
        }
        _ => (Some(ArrayVec::from_iter([modulo_w])), None),
    };
    let mut pool: ArrayVec<ExactCorner, 7> = simplex.iter().cloned().collect();
    if let Some(lineality) = lineality {
        match hold_origin(m, simplex, lineality, effort)? {
            Held::By(more) => pool.extend(more),
            Held::Not(facet) => {
                let tellings = tell_flat(simplex, &facet.corners, &negated(&facet.normal));
                return Ok(Crossing::Never(Miss { tellings, across: across(&facet) }));
            }
        }
    }
    let corners = if simplex.len() == 1 {
        pool.iter().map(|corner| corner.pair).collect()
    } else {
        let centre = sum_of(simplex);
        let line = Line::new(w.clone(), sides.into_iter().collect(), Some(&centre))
            .expect("w is not zero");
        let portal = line.portal_among(&pool).expect("the nudged line passes between the corners");
        portal.iter().map(|corner| corner.pair).collect::<ArrayVec<VertexPair, 4>>()
    };
    Ok(Crossing::Meets(Box::new(one_point(w, simplex, &corners))))
}

/// Both ends where the line leaves the hull of flat M at once: a direction that is constant on M
/// has the quotient, and tells M from what is before and from what is behind.
fn one_point(w: &Integers, simplex: &[ExactCorner], corners: &ArrayVec<VertexPair, 4>) -> [End; 2] {
    let towards = constant_directions(simplex)
        .into_iter()
        .find(|telling| !dot(&telling.exact, w).is_zero())
        .expect("w leaves the hull");
    let rate = dot(&towards.exact, w);
    let value = dot(&towards.exact, &simplex[0].point);
    let with = |inward: Direction| End {
        numerator: value.clone(),
        denominator: rate.clone(),
        pairs: corners.clone(),
        inward,
    };
    let (one, other) = (towards.direction, towards.direction.reversed());
    let is_forwards = sign(&rate) == Sign::Positive;
    let (least, greatest) = if is_forwards { (one, other) } else { (other, one) };
    [with(least), with(greatest)]
}

/// The inward normal of a facet of M modulo w.
fn across(facet: &PortalFacet) -> Direction {
    facet.inward().expect("one direction at most is no axis")
}

/// Directions that are constant on flat M and together span those that are.
fn constant_directions(simplex: &[ExactCorner]) -> Vec<Telling> {
    match simplex {
        [] | [_] => axis_vectors(),
        [a, b] => edge_normals(a, b),
        [a, b, c, ..] => vec![Telling {
            direction: Direction::Normal { pairs: [a.pair, b.pair, c.pair], negative: false },
            exact: cross(&difference(&b.point, &a.point), &difference(&c.point, &a.point)),
        }],
    }
}

fn axis_vectors() -> Vec<Telling> {
    (0..3).map(|k| Telling::vector(Vec3::ith(k, 1.0))).collect()
}

/// The products of an edge with the axes, where they are not zero.
pub(crate) fn edge_normals(a: &ExactCorner, b: &ExactCorner) -> Vec<Telling> {
    let edge = difference(&b.point, &a.point);
    let with_axis = |k: usize| Telling {
        direction: Direction::EdgeNormal {
            pairs: [a.pair, b.pair],
            axis: AXES[k],
            negative: false,
        },
        exact: cross(&edge, &unit(k)),
    };
    (0..3).map(with_axis).filter(|telling| !is_zero(&telling.exact)).collect()
}

/// What tells flat M from a line that leaves its hull and misses it: the rounded direction that is
/// constant on the line; what is constant on M; and, around the time when the line is in the hull
/// of M, what tells the silhouette's edge from it there.
fn tell_flat(
    simplex: &[ExactCorner],
    silhouette: &[ExactCorner],
    across: &Integers,
) -> Vec<Telling> {
    let at_crossing = match silhouette {
        [] => Vec::new(),
        [_] => axis_vectors(),
        [a, b, ..] => edge_normals(a, b),
    };
    let mut tellings = vec![Telling::vector(rounded_direction(across))];
    for telling in constant_directions(simplex).into_iter().chain(at_crossing) {
        tellings.push(telling.opposite());
        tellings.push(telling);
    }
    tellings
}

/// A line that misses solid M, and what is known of both.
struct SolidMiss<'a> {
    /// The line's direction.
    w: &'a Integers,
    /// Vertices that span M.
    simplex: &'a [ExactCorner],
    /// The axes modulo which M is solid.
    axes: &'a [Lineality],
    /// The edge of M's silhouette, seen along w, that the line passes.
    silhouette: &'a PortalFacet,
}

impl SolidMiss<'_> {
    /// What tells M from the line: the rounded direction that is constant on the line, and the two
    /// facets of M at the silhouette's edge (see the module).
    fn tellings(
        &self,
        m: &mut Difference<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Vec<Telling>, Stopped> {
        let across = negated(&self.silhouette.normal);
        let mut tellings = vec![Telling::vector(rounded_direction(&across))];
        for towards in [Sign::Positive, Sign::Negative] {
            tellings.push(self.turn_to_facet(m, towards, effort)?);
        }
        Ok(tellings)
    }

    /// Turns the plane through the silhouette's edge about it, from `w`'s own direction towards the
    /// side where the inward normal's product with w has the given sign, until it supports M at a
    /// facet.
    fn turn_to_facet(
        &self,
        m: &mut Difference<'_>,
        towards: Sign,
        effort: &mut Effort<'_>,
    ) -> Result<Telling, Stopped> {
        let Self { w, simplex, axes, silhouette } = self;
        let edge = &silhouette.corners;
        let base = &edge[0].point;
        let beyond =
            |corner: &ExactCorner| dot(&silhouette.normal, &corner.point) < silhouette.offset;
        let third = simplex.iter().find(|corner| beyond(corner));
        let mut third = third.expect("a solid leaves its facets").clone();
        loop {
            effort.spend_step()?;
            let plane = plane_through(edge, axes, &third);
            let backwards = sign(&dot(&plane.exact, w)) != towards;
            let plane = if backwards { plane.opposite() } else { plane };
            let (least, next) = m.least_along(&plane.exact, effort);
            if least >= dot(&plane.exact, base) {
                return Ok(plane);
            }
            if !beyond(&next) {
                // The facet is parallel to w, and its normal constant on the line.
                let plane = plane_through(edge, axes, &next);
                let outward = dot(&plane.exact, &difference(&third.point, base));
                let backwards = sign(&outward) == Sign::Negative;
                return Ok(if backwards { plane.opposite() } else { plane });
            }
            third = next;
        }
    }
}

/// The plane through the silhouette's edge (in a plane: its corner) and a third corner.
fn plane_through(edge: &[ExactCorner], axes: &[Lineality], third: &ExactCorner) -> Telling {
    let to_third = difference(&third.point, &edge[0].point);
    match axes {
        [Lineality::Axis(axis), ..] => Telling {
            direction: Direction::EdgeNormal {
                pairs: [edge[0].pair, third.pair],
                axis: AXES[*axis],
                negative: false,
            },
            exact: cross(&to_third, &unit(*axis)),
        },
        [] | [Lineality::Along(_), ..] => Telling {
            direction: Direction::Normal {
                pairs: [edge[0].pair, edge[1].pair, third.pair],
                negative: false,
            },
            exact: cross(&difference(&edge[1].point, &edge[0].point), &to_third),
        },
    }
}
