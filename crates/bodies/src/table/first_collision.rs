//! Which of several bodies that turn nothing first come into contact.

use super::radii::ROUND;
use super::row::{
    CLOUDS, FACES_NANOSECONDS, FIELDS, FLAT, Needs, NotAnswered, SURFACES, TableEntry, Wanted,
};
use crate::body::PlacedBody;
use crate::kind::Kind;
use crate::solid::{Meeting, ReadySolid};
use clearance_geometry::claim::{CollisionProof, Verdict};
use clearance_geometry::contact_time::Travel;
use clearance_geometry::contact_time::polyhedra::proof::{Several, Unproven, prove_collision};
use clearance_geometry::contact_time::polyhedra::{self, Moving, first_collision};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::faces::{Surfaces, prove_touching};

pub use clearance_geometry::contact_time::polyhedra::Collision;
pub use clearance_geometry::contact_time::polyhedra::proof::Found;

/// Whether two of the bodies may be of these kinds: all of them are looked at by their faces.
pub(super) fn entry(kinds: [Kind; 2]) -> TableEntry<()> {
    use Kind::{Cloud, HeightField, Polyhedron, Polytope, Rounded, Surface};
    match kinds {
        [HeightField, _] | [_, HeightField] => Err(FIELDS),
        [Polytope | Polyhedron, Polytope | Polyhedron] => Ok(()),
        [Cloud, _] | [_, Cloud] => Err(CLOUDS),
        [Surface, _] | [_, Surface] => Err(SURFACES),
        [Rounded, _] | [_, Rounded] => Err(ROUND),
    }
}

/// What is built of each body.
pub const NEEDS: Needs = Needs::SOLIDS;

/// The name of a method that answers it, the default one first.
pub fn method_name(index: usize) -> Option<&'static str> {
    polyhedra::METHODS.get(index).map(|method| method.name)
}

/// How long it takes for so many bodies that have so many vertices together, nanoseconds: a
/// generous guess.
pub fn nanoseconds(bodies: usize, vertices: usize) -> u64 {
    let pairs = (bodies as u64).saturating_mul(bodies as u64) / 2;
    100_000_u64
        .saturating_add(FACES_NANOSECONDS.saturating_mul(vertices as u64))
        .saturating_add(pairs.saturating_mul(200))
}

/// One of the bodies, ready, and how far it comes.
#[derive(Clone, Debug)]
pub struct ReadyMover {
    solid: ReadySolid,
    travel: Travel,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct FirstCollisionAnswer {
    /// Which bodies meet first, and when; none: no two of them.
    pub collision: Option<Collision>,
    /// Where they meet.
    pub meeting: Option<Meeting>,
    /// Its proof, of which parts may be missing; none: not wanted.
    pub proof: Option<Found>,
}

/// Makes of one of the bodies what the answer needs.
pub fn ready(placed: PlacedBody, travel: Travel) -> Result<ReadyMover, NotAnswered> {
    let kinds = [placed.body.kind(); 2];
    entry(kinds).map_err(|what| NotAnswered { field: "body", what, kinds })?;
    let refused = NotAnswered { field: "body", what: FLAT, kinds };
    ReadySolid::new(placed).map(|solid| ReadyMover { solid, travel }).ok_or(refused)
}

/// Answers it.
pub fn answer(
    movers: &[ReadyMover],
    wanted: Wanted,
    effort: &mut Effort<'_>,
) -> Result<FirstCollisionAnswer, Stopped> {
    let moving: Vec<Moving<'_>> =
        movers.iter().map(|mover| mover.solid.moving(mover.travel)).collect();
    let collision = first_collision(&moving, effort)?;
    let meeting = collision.as_ref().map(|found| {
        let two = found.pair.map(|place| &movers[place].solid);
        Meeting::new(two, &found.contact.faces, found.contact.point)
    });
    let proof = wanted.certificate.then(|| {
        let bodies: Vec<Several<'_>> = movers
            .iter()
            .map(|mover| Several { shape: mover.solid.shape(), travel: mover.travel })
            .collect();
        prove(&bodies, collision.as_ref(), wanted.cover_steps_max, effort)
    });
    Ok(FirstCollisionAnswer { collision, meeting, proof })
}

/// The proof by ways, or by pieces of two bodies that touch at t = 0 and have no way apart.
fn prove(
    bodies: &[Several<'_>],
    collision: Option<&Collision>,
    steps_max: u64,
    effort: &mut Effort<'_>,
) -> Found {
    let found = prove_collision(bodies, collision, steps_max, effort);
    let Some(collision) = collision.filter(|_| found.why == Some(Unproven::NoWay)) else {
        return found;
    };
    if collision.initial != Verdict::Touching {
        return found;
    }
    let surfaces = Surfaces::new(collision.pair.map(|place| &bodies[place].shape));
    match prove_touching(&surfaces, steps_max, effort) {
        Ok(proof) => {
            Found { proof: Some(CollisionProof::AtStart(proof)), open: Vec::new(), why: None }
        }
        Err(why) => Found { why: Some(why), ..found },
    }
}
