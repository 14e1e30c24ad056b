//! How surfaces stand beside each other and beside polytopes, from anybody: corners are on a grid,
//! so that triangles meet in all ways, come twice and are degenerate. What is true is asked of each
//! two pieces. A judge never panics, ends within its steps, and what it accepts is true.

use clearance_geometry::Vec3;
use clearance_geometry::claim::{SolidProof, Solids, Verdict};
use clearance_geometry::effort::Effort;
use clearance_geometry::faces::Surfaces;
use clearance_geometry::faces::standing::stand;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::judge::judge_solids;
use clearance_geometry::pair::Pair;
use clearance_geometry::polyhedron::{Boundary, BoundaryKind, TriangleSurface};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;

use crate::bytes::Bytes;
use crate::engine::{Behaviour, Target};
use crate::solids::{STEPS_MAX, change, note};

pub(crate) const TARGET: Target = Target { name: "pieces", seeds: Vec::new, reshape: None, check };

/// A surface, or a polytope, and the pieces that it is the union of.
struct Body {
    surface: Option<TriangleSurface>,
    hull: Polytope,
    pieces: Vec<Polytope>,
}

impl Body {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        let is_surface = bytes.below(4) > 0;
        let count = 1 + bytes.below(6);
        let points: Vec<Vec3> =
            (0..count).map(|_| Vec3::from_fn(|_, _| f64::from(bytes.byte() % 5) / 2.0)).collect();
        if !is_surface {
            let hull = convex_hull(&points).expect("points have a hull").polytope;
            return Self { surface: None, pieces: vec![hull.clone()], hull };
        }
        let mut corner = || bytes.below(count) as u32;
        let mut triangle = || [corner(), corner(), corner()];
        let triangles: Vec<[u32; 3]> = (0..4).map(|_| triangle()).collect();
        let surface = TriangleSurface::new(&points, &triangles).expect("it has triangles");
        let at = |corner: u32| surface.vertices()[corner as usize];
        let piece = |corners: &[u32; 3]| {
            convex_hull(&corners.map(at)).expect("points have a hull").polytope
        };
        let pieces = surface.triangles().iter().map(piece).collect();
        let hull = convex_hull(surface.vertices()).expect("points have a hull").polytope;
        Self { surface: Some(surface), hull, pieces }
    }

    fn at(&self, pose: Pose) -> Boundary<'_> {
        let kind = self.surface.as_ref().map_or(BoundaryKind::Hull, BoundaryKind::Surface);
        Boundary { kind, hull: &self.hull, pose }
    }
}

fn truth(p: &Body, q: &Body, pose: Pose) -> Verdict {
    let pieces = p.pieces.iter().flat_map(|p| q.pieces.iter().map(move |q| (p, q)));
    let of = |(p, q)| {
        let pair = Pair::new(p, Pose::identity(), q, pose);
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        decide(&pair, &METHODS[0], witness, effort).expect("no limit").verdict()
    };
    pieces.map(of).max().expect("each has a piece")
}

fn check(input: &[u8]) -> Behaviour {
    let bytes = &mut Bytes::new(input);
    let mut behaviour = Behaviour::default();
    let (p, q) = (Body::read(bytes), Body::read(bytes));
    if p.surface.is_none() && q.surface.is_none() {
        return behaviour;
    }
    let place = |bytes: &mut Bytes<'_>| f64::from(bytes.byte() as i8 / 8) / 8.0;
    let mut pose = Pose::translation(place(bytes), place(bytes), place(bytes));
    let bodies = |pose| [p.at(Pose::identity()), q.at(pose)];
    let effort = &mut Effort::unlimited();
    let surfaces = Surfaces { bodies: bodies(pose), radii: [0.0; 2] };
    let found = stand(&surfaces, effort).expect("no limit");
    assert_eq!(found.verdict(), truth(&p, &q, pose));
    let mut proof = found.prove_pieces(&surfaces, 1 << 12, effort).expect("each has a proof");
    let changes = bytes.below(3);
    for _ in 0..changes {
        change(bytes, &mut proof);
    }
    if bytes.below(4) == 0 {
        proof = as_another(proof);
    }
    // Said of other places as well.
    if bytes.below(4) == 0 {
        pose.translation[bytes.below(3)] += place(bytes);
    }
    let [of_p, of_q] = bodies(pose);
    let solids = Solids { p: of_p.solid(), q: of_q.solid() };
    let judged = judge_solids(&solids, &proof, &mut Effort::with_steps(STEPS_MAX));
    if note(&judged, &mut behaviour) {
        assert_eq!(proof.verdict(), truth(&p, &q, pose), "{proof:?}");
    }
    behaviour.note(proof.verdict() as u64, 3);
    behaviour.note(changes as u64, 3);
    behaviour
}

/// The same pairs or cover as a proof of another verdict.
fn as_another(proof: SolidProof) -> SolidProof {
    match proof {
        SolidProof::TouchingPieces { pairs, .. } => SolidProof::OverlappingPieces(pairs),
        SolidProof::OverlappingPieces(pairs) => {
            SolidProof::TouchingPieces { pairs, cover: clearance_geometry::claim::Cover::default() }
        }
        SolidProof::Separated(cover) => {
            let pairs = [clearance_geometry::pair::VertexPair { i: 0, j: 0 }];
            SolidProof::TouchingPieces { pairs: pairs.into_iter().collect(), cover }
        }
        other @ (SolidProof::Touching { .. }
        | SolidProof::Crossing(_)
        | SolidProof::InnerPoint(_)
        | SolidProof::InnerPiece { .. }) => other,
    }
}
