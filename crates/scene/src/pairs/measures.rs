//! How far apart two bodies are, and how deep they overlap, over their parts; with what shows it.
//! The distance is the least of their parts', the depth the greatest.
//!
//! One bracket has to hold for all parts, and a proof has to look at all of them. Of parts far from
//! those that decide, boxes tell enough, and a box of many parts tells of all of them at once.

use arrayvec::ArrayVec;

use crate::bounds::Gap;
use crate::methods::AskedOf;
use crate::pairs::answer::Asking;
use crate::pairs::meshes::PartsProof;
use crate::pairs::notes::Notes;
use crate::pairs::report::{
    PairDepth, PairDistance, PartGap, PartPair, PartProof, PartReach, PartRow,
};
use crate::pairs::two_parts::{PartsDepth, PartsDistance};
use clearance_geometry::claim::{Direction, Verdict};
use clearance_geometry::distance::Stops;
use clearance_geometry::effort::Stopped;
use clearance_geometry::pair::VertexPair;

/// The distance of the pair: the least over its parts.
pub(crate) fn distance(
    asking: &Asking<'_>,
    stops: Stops,
    notes: &mut Notes<'_>,
) -> Result<PairDistance, Stopped> {
    let mut nearest: Option<PairDistance> = None;
    let mut measured_pairs: Vec<(PartPair, ArrayVec<VertexPair, 3>)> = Vec::new();
    let mut curved = Vec::new();
    for parts in asking.part_pairs() {
        asking.look_at_clock()?;
        let best = nearest.as_ref().map_or(f64::INFINITY, |known| known.upper);
        // What boxes do not prove is asked all the same.
        let is_shown = asking.lists_parts() && asking.is_curved_pair(parts);
        if !is_shown && asking.gap(parts).is_some_and(|gap| gap.lower > best) {
            continue;
        }
        // Farther than the nearest so far is all that needs to be known of the others.
        let above = match stops.above {
            Some(above) => Some(above.min(best)),
            None => best.is_finite().then_some(best),
        };
        let measured = asking.ask(AskedOf::Distance, parts, notes, |two, witness, effort| {
            let stops = Stops { above, below: stops.below };
            two.measure(asking.methods.distance.method, stops, witness, effort)
        })?;
        if is_shown {
            curved.push(PartProof::of(Some(parts), measured.proof.clone()));
        } else if asking.lists_parts() {
            measured_pairs.push((parts, measured.pairs.clone()));
        }
        let (lower, stopped) =
            nearest.as_ref().map_or((f64::INFINITY, None), |known| (known.lower, known.stopped));
        let (found, found_stopped) = ([measured.lower, measured.upper], measured.stopped);
        if measured.upper < best || nearest.is_none() {
            nearest = Some(PairDistance { stopped: None, ..of_parts(asking, parts, measured) });
        }
        if let Some(known) = &mut nearest {
            known.lower = found[0].min(lower);
            known.stopped = stopped.or(found_stopped);
        }
        if best.min(found[1]) <= 0.0 {
            break;
        }
    }
    let mut nearest = nearest.expect("a body has at least one part");
    // In contact the verdict tells it all.
    if asking.lists_parts() && nearest.upper > 0.0 {
        nearest.gaps = gaps(asking, &nearest, &measured_pairs);
        nearest.curved = curved;
    }
    Ok(nearest)
}

/// The distance of a pair in contact, with a point that these parts share, which are.
pub(crate) fn common_point(
    asking: &Asking<'_>,
    parts: PartPair,
    notes: &mut Notes<'_>,
) -> Result<PairDistance, Stopped> {
    let measured = asking.ask(AskedOf::Distance, parts, notes, |two, witness, effort| {
        two.measure(asking.methods.distance.method, Stops::default(), witness, effort)
    })?;
    Ok(of_parts(asking, parts, measured))
}

/// What was measured of two parts, as the distance of their bodies.
fn of_parts(asking: &Asking<'_>, parts: PartPair, measured: PartsDistance) -> PairDistance {
    PairDistance {
        lower: measured.lower,
        upper: measured.upper,
        parts,
        pairs: measured.pairs,
        closest_p: measured.closest_p,
        closest_q: measured.closest_q,
        gaps: Vec::new(),
        curved: Vec::new(),
        by_faces: asking.kept(measured.proof),
        stopped: measured.stopped,
    }
}

/// What shows that no parts are nearer than the lower bound. Comes first: the nearest, whose pairs
/// show the upper bound as well. `measured` is in order.
fn gaps(
    asking: &Asking<'_>,
    nearest: &PairDistance,
    measured: &[(PartPair, ArrayVec<VertexPair, 3>)],
) -> Vec<PartGap> {
    let by_pairs = |parts: PartPair, pairs| PartGap { parts: parts.into(), pairs, direction: None };
    let far_enough = |gap: &Gap| gap.lower >= nearest.lower;
    let mut gaps = Vec::new();
    if !asking.is_curved_pair(nearest.parts) {
        gaps.push(by_pairs(nearest.parts, nearest.pairs.clone()));
    }
    asking.list(nearest.parts, far_enough, |entry| match entry {
        Told::ByBoxes(parts, gap) => {
            let direction = Some(gap.direction());
            gaps.push(PartGap { parts, pairs: ArrayVec::new(), direction });
        }
        Told::Else(parts) => {
            let at = measured.binary_search_by_key(&parts, |(parts, _)| *parts);
            debug_assert!(at.is_ok(), "what boxes do not tell of was measured");
            gaps.extend(at.ok().map(|at| by_pairs(parts, measured[at].1.clone())));
        }
    });
    gaps
}

/// The deepest pair of parts; none if none overlap. Of polyhedra, whose faces are looked at for
/// that, none either where depths are not asked for.
pub(crate) fn depth(
    asking: &Asking<'_>,
    notes: &mut Notes<'_>,
) -> Result<Option<PairDepth>, Stopped> {
    if asking.has_mesh() && !asking.questions.depths {
        return Ok(None);
    }
    // Of parts that are not both convex there are no proofs.
    let lists_parts = asking.lists_parts() && asking.are_convex();
    let mut lower = 0.0_f64;
    let mut deepest: Option<(PartPair, PartsDepth)> = None;
    let mut curved: Vec<PartProof> = Vec::new();
    let mut outward: Vec<(PartPair, Direction)> = Vec::new();
    for parts in asking.part_pairs() {
        asking.look_at_clock()?;
        let is_shown = lists_parts && asking.is_curved_pair(parts);
        if !is_shown && asking.gap(parts).is_some() {
            continue;
        }
        let with_surface = asking.proves;
        let depth = asking.ask(AskedOf::Other, parts, notes, |two, _, effort| {
            two.measure_depth(with_surface, effort)
        })?;
        if is_shown {
            curved.push(PartProof::of(Some(parts), depth.proof.clone()));
        } else if lists_parts {
            outward.extend(outward_of(&depth).map(|direction| (parts, direction)));
        }
        lower = lower.max(depth.lower);
        let overlaps = depth.proof.verdict() == Verdict::Overlapping;
        if overlaps && deepest.as_ref().is_none_or(|(_, known)| depth.upper > known.upper) {
            deepest = Some((parts, depth));
        }
    }
    Ok(deepest.map(|(parts, mut depth)| {
        // Of parts that are not convex brackets may be wide, and others deeper at least than these
        // at least; of convex parts these are what is proven.
        if !asking.are_convex() {
            depth.lower = depth.lower.max(lower);
        }
        let others = if lists_parts { reaches(asking, parts, &outward) } else { vec![] };
        curved.retain(|one| one.parts != Some(parts));
        PairDepth { parts, depth, others, curved }
    }))
}

/// A direction along which M, and the balls around its points, reach no farther from the origin
/// than the depth.
fn outward_of(depth: &PartsDepth) -> Option<Direction> {
    depth.face.or_else(|| depth.proof.direction().map(|direction| direction.reversed()))
}

/// What shows that no parts but the deepest are deeper than these. `measured` is in order.
fn reaches(
    asking: &Asking<'_>,
    deepest: PartPair,
    measured: &[(PartPair, Direction)],
) -> Vec<PartReach> {
    let mut reaches = Vec::new();
    asking.list(
        deepest,
        |_| true,
        |entry| match entry {
            Told::ByBoxes(parts, gap) => {
                reaches.push(PartReach { parts, direction: gap.direction().reversed() });
            }
            Told::Else(parts) => {
                let at = measured.binary_search_by_key(&parts, |(parts, _)| *parts);
                debug_assert!(at.is_ok(), "what boxes do not tell of was measured");
                let reach =
                    |at: usize| PartReach { parts: parts.into(), direction: measured[at].1 };
                reaches.extend(at.ok().map(reach));
            }
        },
    );
    reaches
}

/// Parts, and whether their boxes tell enough of them.
enum Told {
    ByBoxes(PartRow, Gap),
    Else(PartPair),
}

impl Asking<'_> {
    /// A proof, if it is kept beside the distance that it is about: of polyhedra, where that of the
    /// verdict does not say how far apart they are.
    fn kept(&self, proof: PartsProof) -> Option<PartsProof> {
        let is_of_faces = matches!(proof, PartsProof::Faces(_));
        Some(proof).filter(|_| self.proves && is_of_faces)
    }

    /// Whether a proof has to say which parts it is about.
    fn lists_parts(&self) -> bool {
        let is_single = self.p.now.parts.len() == 1 && self.q.now.parts.len() == 1;
        self.proves && !is_single
    }

    /// Names every pair of parts but one, in order; a part of P with all of Q at once where the
    /// boxes of these tell enough.
    fn list(&self, but: PartPair, is_enough: impl Fn(&Gap) -> bool, mut name: impl FnMut(Told)) {
        let of_q = &self.q.now;
        // Curved parts are proven by themselves.
        let has_rows = of_q.parts.len() > 1 && self.is_proven_by_boxes();
        for (p, of_p) in (0..).zip(self.p.now.parts.iter()) {
            let of_row = of_p.bounds.gap(&of_q.bounds).filter(&is_enough);
            if let Some(gap) = of_row.filter(|_| has_rows) {
                name(Told::ByBoxes(PartRow { p, q: None }, gap));
                continue;
            }
            for q in 0..of_q.parts.len() as u32 {
                let parts = PartPair { p, q };
                if parts == but || self.is_curved_pair(parts) {
                    continue;
                }
                name(match self.gap(parts).filter(&is_enough) {
                    Some(gap) => Told::ByBoxes(parts.into(), gap),
                    None => Told::Else(parts),
                });
            }
        }
    }
}
