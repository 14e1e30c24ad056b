//! Why two bodies are free: directions that keep all pairs of their triangles as far apart as is
//! claimed, at rest or on their ways.

use super::bound::least_gap;
use super::contact::FaceCourse;
use super::margin::compare_hulls;
use super::{OuterPair, Surfaces};
use crate::claim::{Cover, Direction, Frame, Link, StaticProof, Verdict};
use crate::contact_time::first_contact;
use crate::contact_time::polyhedra::proof::Unproven;
use crate::contact_time::polyhedra::proof::cover::{Room, cover_by};
use crate::distance::Stops;
use crate::effort::{Effort, Stopped};
use crate::meeting::unit_vector;
use crate::number::tolerance::BOX_HAZE;
use crate::pair::Pair;
use crate::polyhedron::groups::{FaceGroups, named_direction};
use crate::polyhedron::tree::Node;
use crate::rounded::{self, RoundedPair};
use crate::separation::{METHODS, decide};
use crate::witness::Witness;

/// What a cover is to show.
#[derive(Clone, Copy, Debug)]
pub enum Clear<'q> {
    /// At rest the bodies are at least so far apart, metres.
    AtLeast(f64),
    /// At rest they are farther apart than that, metres.
    Beyond(f64),
    /// At rest no two pieces share more than points of their boundaries.
    NoNearer,
    /// They are free from t = 0 to this.
    Until(&'q FaceCourse<'q>, f64),
}

/// A cover that shows it, of at most `steps_max` steps and links.
pub fn prove_clear(
    surfaces: &Surfaces<'_>,
    clear: Clear<'_>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Result<Cover, Unproven> {
    let room = &mut Room::new(steps_max);
    let haze = match clear {
        Clear::AtLeast(_) | Clear::Beyond(_) | Clear::NoNearer => BOX_HAZE * surfaces.magnitude(),
        Clear::Until(course, _) => course.haze(surfaces),
    };
    let prover = Prover { surfaces, clear, haze };
    cover_by(&mut surfaces.groups(), room, effort, |groups, nodes, effort| {
        prover.separate(groups, nodes, effort)
    })
}

struct Prover<'a, 'b> {
    surfaces: &'b Surfaces<'a>,
    clear: Clear<'b>,
    /// What rounding may take from the gap along a direction, metres.
    haze: f64,
}

impl Prover<'_, '_> {
    fn separate(
        &self,
        groups: &mut [FaceGroups<'_>; 2],
        nodes: [Node; 2],
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped> {
        let are_hulls = (0..2).all(|k| groups[k].has_hull(nodes[k]));
        if let Some(least) = self.at_rest_beyond().filter(|_| !are_hulls) {
            let needed = (least + self.haze).next_up();
            let radii = self.surfaces.radii;
            let bound = least_gap(groups, nodes, radii, Some(needed), effort)?;
            let link = |along| rest(Direction::Vector(along));
            return Ok(bound.along.filter(|_| bound.gap > needed).map(|along| vec![link(along)]));
        }
        OuterPair::prepare(groups, nodes);
        let Some(outer) = OuterPair::of(groups, nodes) else { return Ok(None) };
        match self.clear {
            Clear::AtLeast(least) => {
                let direction = self.at_least(least, &outer, effort)?;
                Ok(direction.and_then(|direction| at_rest(groups, &outer, &direction)))
            }
            Clear::Beyond(margin) => {
                let direction = self.beyond(margin, &outer, effort)?;
                Ok(direction.and_then(|direction| at_rest(groups, &outer, &direction)))
            }
            Clear::NoNearer => {
                let direction = self.no_nearer(&outer, effort)?;
                Ok(direction.and_then(|direction| at_rest(groups, &outer, &direction)))
            }
            Clear::Until(..) => self.on_the_way(groups, &outer, effort),
        }
    }

    /// Beyond which distance the bodies are to be shown to be, of bodies at rest.
    fn at_rest_beyond(&self) -> Option<f64> {
        match self.clear {
            Clear::AtLeast(least) => Some(least),
            Clear::Beyond(margin) => Some(margin),
            Clear::NoNearer => Some(0.0),
            Clear::Until(..) => None,
        }
    }

    /// A direction along which the hulls of two groups are at least so far apart.
    fn at_least(
        &self,
        least: f64,
        outer: &OuterPair<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Direction>, Stopped> {
        let found = near(&outer.pair, self.surfaces.radii, effort)?;
        let Some((lower, direction)) = found else { return Ok(None) };
        if lower >= least || !outer.are_hulls {
            return Ok(Some(direction).filter(|_| lower >= least));
        }
        // Two that are exactly as near as the nearest may be told with a wider bracket: whether
        // they are nearer than that is compared. What is more than the number before is no less.
        self.beyond(least.next_down(), outer, effort)
    }

    /// A direction along which two pieces have no inner point in common.
    fn no_nearer(
        &self,
        outer: &OuterPair<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Direction>, Stopped> {
        let radii = self.surfaces.radii;
        if radii.iter().all(|radius| *radius <= 0.0) {
            let found = decide(&outer.pair, &METHODS[0], &mut Witness::default(), effort)?;
            return Ok(match found.proof {
                StaticProof::Separated { direction } | StaticProof::Touching { direction, .. } => {
                    Some(direction)
                }
                StaticProof::Overlapping { .. } => None,
            });
        }
        let pair = RoundedPair { cores: outer.pair, radii };
        let proof = rounded::verdict(&pair, &mut Witness::default(), effort)?;
        let meets = proof.verdict == Verdict::Overlapping;
        Ok(if meets { None } else { Direction::nearest(&proof.pairs) })
    }

    /// A direction along which it is farther apart than that.
    fn beyond(
        &self,
        margin: f64,
        outer: &OuterPair<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Direction>, Stopped> {
        let found = compare_hulls(&outer.pair, self.surfaces.radii, margin, effort)?;
        Ok(Direction::nearest(&found.pairs).filter(|_| !found.is_within))
    }

    /// Links that keep it apart until then.
    fn on_the_way(
        &self,
        groups: &[FaceGroups<'_>; 2],
        outer: &OuterPair<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<Option<Vec<Link>>, Stopped> {
        let Clear::Until(course, until) = self.clear else { return Ok(None) };
        let question = course.about(self.surfaces.radii, self.haze, outer);
        let found = first_contact(&question, &mut Witness::default(), effort)?;
        let is_free = found.initial.verdict() == Verdict::Separated
            && !found.chain.is_empty()
            && found.t_free >= until;
        if !is_free {
            return Ok(None);
        }
        let hulls = [outer.pair.p.body, outer.pair.q.body];
        let link = |link: &Link| {
            let direction = if outer.are_hulls {
                named_direction(groups, hulls, &link.direction)
            } else {
                as_numbers(&outer.pair, &link.direction)
            };
            direction.map(|direction| Link { direction, ..*link })
        };
        let needed = found.chain.iter().filter(|link| link.t0 <= until);
        Ok(needed.map(link).collect())
    }
}

/// At least how far apart two convex bodies are, and the direction along which they are.
fn near(
    pair: &Pair<'_>,
    radii: [f64; 2],
    effort: &mut Effort<'_>,
) -> Result<Option<(f64, Direction)>, Stopped> {
    let near = super::distance::Near::of(pair, radii, Stops::default(), effort)?;
    let direction = Direction::nearest(&near.pairs).filter(|_| near.lower > 0.0);
    Ok(direction.map(|direction| (near.lower, direction)))
}

/// The direction of a link as rounded numbers: boxes have no vertices of the bodies. The one to
/// what is nearest during a link is not that to what is nearest at its start.
fn as_numbers(pair: &Pair<'_>, direction: &Direction) -> Option<Direction> {
    let is_swept = matches!(direction, Direction::Nearest { .. });
    let unit = unit_vector(pair, direction).filter(|_| !is_swept);
    unit.map(Direction::Vector)
}

/// The link of bodies at rest.
fn at_rest(
    groups: &[FaceGroups<'_>; 2],
    outer: &OuterPair<'_>,
    direction: &Direction,
) -> Option<Vec<Link>> {
    let hulls = [outer.pair.p.body, outer.pair.q.body];
    Some(vec![rest(named_direction(groups, hulls, direction)?)])
}

fn rest(direction: Direction) -> Link {
    Link { t0: 0.0, t1: 0.0, frame: Frame::World, direction }
}
