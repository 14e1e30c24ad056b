//! Certificates of edges of cylinders, cones and ellipsoids: by polytopes around them where they
//! are free, and by polytopes in them where they are in contact.

use std::f64::consts::FRAC_PI_8;
use std::sync::Arc;

use super::curved::{TUBE, among, at, curved, mover, turned};
use super::samples::{robot_of, still_box};
use super::solids::{Told, channel, polyhedron, urdf};
use crate::body::PartBody;
use crate::cell::Cell;
use crate::claim::{EdgeCertificate, EdgeContactProof, GapProof, HullAround};
use crate::edge::EdgeAnswer;
use crate::judge::EdgeRefusal;
use crate::still::StillBody;
use clearance_bodies::kinds::curved::CurvedForm::{Cone, Cylinder, Ellipsoid};
use clearance_geometry::Vec3;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polyhedron::{TriangleBody, TriangleSurface};
use clearance_samples::Random;

fn told(cell: &Cell, ends: [[f64; 4]; 2], margin: f64) -> Told<'_> {
    Told::of(cell, ends.map(|values| values.to_vec()), margin)
}

fn sheet() -> PartBody {
    let mesh = channel();
    let surface = TriangleSurface::new(&mesh.vertices, &mesh.triangles).unwrap();
    let hull = convex_hull(surface.vertices()).unwrap().polytope;
    PartBody::new(Arc::new(hull), Some(TriangleBody::Surface(Arc::new(surface))))
}

/// Along a wall at which the corners of a polytope of 16, and of 32 sides stand out by more.
#[test]
fn what_only_finer_polytopes_show_free_is_certified() {
    for angle in [FRAC_PI_8 / 2.0, FRAC_PI_8] {
        let normal = Vec3::new(angle.cos(), angle.sin(), 0.0);
        for gap in [1e-3, 1e-6] {
            let place = normal * (1.0 + 0.5 + gap);
            let wall = turned(still_box(Vec3::new(1.0, 9.0, 4.0)).body, angle, place.into());
            let along = Vec3::new(-angle.sin(), angle.cos(), 0.0);
            let ends = [-20.0, 20.0].map(|by| [along.x * by * gap, along.y * by * gap, 0.0, 0.0]);
            let cell = among(&mover(TUBE), vec![wall]);
            let free = told(&cell, ends, 0.0);
            assert_eq!((&free.answer, free.judged()), (&EdgeAnswer::Free, Ok(())), "{angle} {gap}");
            let hulls = &free.certificate.hulls;
            assert!(!hulls.is_empty() && hulls.len() < 8, "{} hulls", hulls.len());
        }
    }
}

#[test]
fn a_contact_is_shown_of_polytopes_in_curved_bodies() {
    let wall = at(still_box(Vec3::new(1.0, 4.0, 4.0)).body, [3.0, 0.0, 0.0]);
    let other = at(curved(Ellipsoid, [0.5, 0.75, 1.0], 0.125), [-3.0, 0.0, 0.0]);
    let cell = among(&mover(TUBE), vec![wall, other]);
    let into_wall = told(&cell, [[-1.0, 0.5, 0.0, 0.0], [2.0, 0.25, 0.5, 2.0]], 0.0);
    assert!(matches!(into_wall.answer, EdgeAnswer::Contact { .. }), "{:?}", into_wall.answer);
    assert_eq!(into_wall.judged(), Ok(()));
    assert!(!into_wall.certificate.inside[0].is_empty());
    let [_, of_wall] = &into_wall.certificate.inside;
    assert!(of_wall.is_empty());
    let apart = told(&cell, [[0.0; 4], [-2.5, 0.1, 0.0, 0.3]], 0.25);
    assert!(matches!(apart.answer, EdgeAnswer::Contact { .. }), "{:?}", apart.answer);
    assert_eq!(apart.judged(), Ok(()));
    assert!(apart.certificate.inside.iter().all(|points| !points.is_empty()));

    // Nobody is believed that a polytope around it is the cylinder.
    let mut wrong = told(&cell, [[-1.0, 0.5, 0.0, 0.0], [2.0, 0.25, 0.5, 2.0]], 0.0);
    let inside = wrong.certificate.inside[0].clone();
    wrong.certificate.inside[0] = inside.iter().map(|point| point * 1.001).collect();
    let refused = wrong.judged().unwrap_err();
    assert!(refused.to_string().contains("not in the curved body"), "{refused}");
    wrong.certificate.inside[0].clear();
    assert!(matches!(wrong.judged(), Err(EdgeRefusal::Contact(_))));
    wrong.certificate.inside = [inside.clone(), inside];
    assert!(matches!(wrong.judged(), Err(EdgeRefusal::Contact(_))));
}

/// The cells of the random edges: a robot of curved links beside a body of each kind.
pub(super) fn cell_beside(kind: usize, random: &mut Random) -> Cell {
    let part = "<collision><origin xyz='0.02 0 0' rpy='0.3 0.2 0.1'/><geometry>\
                <cylinder radius='0.09' length='0.3'/></geometry></collision>\
                <collision><geometry><sphere radius='0.1'/></geometry></collision>";
    let robot = robot_of(&urdf(part)).unwrap();
    let body = match kind {
        0 => still_box(Vec3::new(0.1, 0.2, 0.05)).body,
        1 => curved(Cone, [0.2, 0.1, -0.15], 0.0),
        2 => curved(Ellipsoid, [0.1, 0.2, 0.15], 0.04),
        3 => still_box(Vec3::new(0.1, 0.2, 0.05)).body.rounded(0.03),
        4 => polyhedron(&channel()),
        5 => sheet(),
        _ => curved(Cylinder, [0.1, 0.12, 0.2], 0.02),
    };
    let middle = random.vector() * 0.6;
    among(&robot, vec![StillBody { body, pose: random.pose(middle) }])
}

pub(super) fn random_edge(random: &mut Random) -> [Vec<f64>; 2] {
    [(); 2].map(|()| {
        let at = random.vector() * 1.1;
        vec![at.x, at.y, at.z, 2.0 * random.signed(), 2.0 * random.signed(), random.signed()]
    })
}

#[test]
pub(super) fn random_edges_are_certified_and_changed_certificates_refused() {
    let random = &mut Random(91);
    let (mut seen, mut finer) = ([0; 3], 0);
    for at in 0..42 {
        let cell = cell_beside(at % 7, random);
        let mut told = Told::of(&cell, random_edge(random), [0.0, 0.02][at % 2]);
        if let EdgeAnswer::Undecided { .. } = told.answer {
            continue;
        }
        assert_eq!(told.judged(), Ok(()), "{at}: {:?}", told.answer);
        finer += usize::from(told.certificate.hulls.len() > 3);
        seen[match &told.certificate.contact {
            None => 0,
            Some(EdgeContactProof::Polytopes { .. }) => 1,
            Some(_) => 2,
        }] += 1;
        let whole = told.certificate.clone();
        // Some of them for each edge: each is judged as a whole.
        for change in changes(&whole).into_iter().step_by(5) {
            change(&mut told.certificate);
            assert!(told.judged().is_err(), "{at}");
            told.certificate = whole.clone();
        }
    }
    assert!(seen.iter().all(|count| *count > 3) && finer > 0, "{seen:?} {finer}");
}

type Change<'a> = Box<dyn Fn(&mut EdgeCertificate) + 'a>;

/// What makes this certificate show nothing.
fn changes(whole: &EdgeCertificate) -> Vec<Change<'_>> {
    let mut all: Vec<Change<'_>> = Vec::new();
    for k in 0..whole.hulls.len() {
        let mut of_hull = |change: fn(&mut HullAround)| {
            all.push(Box::new(move |made: &mut EdgeCertificate| change(&mut made.hulls[k])));
        };
        of_hull(|hull| hull.points.iter_mut().for_each(|point| *point *= 1.0 - 1e-3));
        of_hull(|hull| hull.triangles.truncate(hull.triangles.len() - 1));
        of_hull(|hull| hull.triangles.iter_mut().for_each(|triangle| triangle.swap(0, 1)));
        of_hull(|hull| hull.body = u32::MAX);
        of_hull(|hull| hull.triangles.push([u32::MAX; 3]));
    }
    for (p, piece) in whole.pieces.iter().enumerate() {
        for (g, gap) in piece.gaps.iter().enumerate() {
            for k in (0..2).filter(|k| gap.hulls[*k].is_some()) {
                all.push(Box::new(move |made: &mut EdgeCertificate| {
                    made.pieces[p].gaps[g].hulls[k] = Some(u32::MAX);
                }));
                all.push(Box::new(move |made: &mut EdgeCertificate| {
                    let gap = &mut made.pieces[p].gaps[g];
                    gap.gap += 0.5;
                    if let GapProof::Along(direction) = &mut gap.shown {
                        *direction *= 2.0;
                    }
                }));
            }
        }
    }
    for k in (0..2).filter(|k| !whole.inside[*k].is_empty()) {
        all.push(Box::new(move |made: &mut EdgeCertificate| made.inside[k].clear()));
        all.push(Box::new(move |made: &mut EdgeCertificate| {
            made.inside[k].iter_mut().for_each(|point| *point *= 2.0);
        }));
    }
    all
}

#[test]
fn parallel_cylinders_meet_when_their_formula_says() {
    let other = at(curved(Cylinder, [4.5, 4.5, 1.0], 0.0), [0.0; 3]);
    let cell = among(&mover(TUBE), vec![other]);
    let met = told(&cell, [[6.0, 8.0, 0.0, 0.0], [0.0; 4]], 0.0);
    let EdgeAnswer::Contact { free_until, contact_at, .. } = met.answer else {
        panic!("{:?}", met.answer)
    };
    assert!(free_until <= 0.5 + 1e-12 && 0.5 - 1e-12 <= contact_at, "{free_until} {contact_at}");
    assert_eq!(met.judged(), Ok(()));
    let within = told(&cell, [[6.0, 8.0, 0.0, 0.0], [0.0; 4]], 0.5);
    let EdgeAnswer::Contact { free_until, contact_at, .. } = within.answer else {
        panic!("{:?}", within.answer)
    };
    assert!(free_until <= 0.45 + 1e-12 && 0.45 - 1e-12 <= contact_at, "{free_until} {contact_at}");
    assert_eq!(within.judged(), Ok(()));
}
