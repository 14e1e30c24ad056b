//! Certificates of edges beside clouds: to them each point is a face of its own.

use super::edge::QUESTION;
use super::samples::robot_of;
use super::solids::{Told, channel, robot, urdf};
use crate::Robot;
use crate::body::PartBody;
use crate::cell::{Cell, Instance};
use crate::claim::{EdgeContactProof, GapProof};
use crate::cloud::BoxedCloud;
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::judge::EdgeRefusal;
use crate::parts::MeshTreatment;
use crate::still::StillBody;
use clearance_geometry::Vec3;
use clearance_geometry::cloud::PointCloud;
use clearance_geometry::effort::Effort;
use clearance_geometry::pose::Pose;
use clearance_samples::Random;
use std::sync::Arc;

/// Balls in a shell around where the robots are.
fn cell_with(robot: &Robot, radius: f64, random: &mut Random) -> Cell {
    let points = (0..40).map(|_| random.unit_vector() * (0.8 + 0.1 * random.signed())).collect();
    let cloud = PointCloud::new(points, radius, &Effort::unlimited()).unwrap();
    let body = PartBody::Cloud(BoxedCloud::new(Arc::new(cloud)));
    let still = StillBody { body, pose: random.pose(Vec3::new(0.02, 0.01, -0.03)) };
    Cell::new(&[Instance { robot, world_from_base: Pose::identity() }], vec![still])
}

#[test]
fn edges_beside_clouds_are_certified_and_changed_certificates_refused() {
    let random = &mut Random(57);
    let part = |shape: &str| {
        format!("<collision><origin xyz='0.02 0 0'/><geometry>{shape}</geometry></collision>")
    };
    let convex = ["<box size='0.1 0.2 0.15'/>", "<capsule radius='0.05' length='0.2'/>"];
    let curved = "<cylinder radius='0.06' length='0.2'/>";
    let mesh = "<mesh filename='u.obj'/>";
    let (mut forms, mut covers) = ([0; 3], 0);
    for (kind, shape) in [convex[0], convex[1], curved, mesh].into_iter().enumerate() {
        let robot = match kind {
            3 => robot(&urdf(&part(shape)), &channel(), MeshTreatment::Polyhedron).unwrap(),
            _ => robot_of(&urdf(&part(shape))).unwrap(),
        };
        for at in 0..8 {
            let cell = cell_with(&robot, [0.05, 0.0][at % 2], random);
            let faced = cell.with_faced_clouds(&mut Effort::unlimited()).unwrap().unwrap();
            let mut one = |size: f64| {
                let at = random.vector() * size;
                let [a, b, c] = [(); 3].map(|()| random.signed());
                vec![at.x, at.y, at.z, 2.0 * a, 2.0 * b, c]
            };
            let ends = [one(0.2), one(0.7)];
            let margin = [0.0, 0.0, 0.02][at % 3];
            let question = EdgeQuestion { margin, ..QUESTION };
            let [from, to] = &ends;
            let answer = cell.check_edges(question, [from, to], &mut Effort::unlimited()).remove(0);
            if let EdgeAnswer::Undecided { .. } = answer {
                continue;
            }
            let mut told = Told::certified(&faced, ends, margin, answer);
            assert_eq!(told.judged(), Ok(()), "{kind} {at}: {:?}", told.answer);
            covers += told.covers();
            forms[match &told.certificate.contact {
                None => 0,
                Some(EdgeContactProof::Near(_)) => 1,
                Some(_) => 2,
            }] += 1;
            refuses_changes(&mut told);
        }
    }
    assert!(forms.iter().all(|count| *count > 0) && covers > 10, "{forms:?} {covers}");
}

fn refuses_changes(told: &mut Told<'_>) {
    let whole = told.certificate.clone();
    for (p, piece) in whole.pieces.iter().enumerate().take(4) {
        for (g, gap) in piece.gaps.iter().enumerate().take(2) {
            told.certificate.pieces[p].gaps[g].gap += 2.0;
            assert!(matches!(told.judged(), Err(EdgeRefusal::Gap(piece, ..)) if piece == p));
            told.certificate = whole.clone();
            let GapProof::Cover(cover) = &gap.shown else { continue };
            let mut short = cover.clone();
            short.steps.pop();
            told.certificate.pieces[p].gaps[g].shown = GapProof::Cover(short);
            assert!(matches!(told.judged(), Err(EdgeRefusal::Gap(piece, ..)) if piece == p));
            told.certificate = whole.clone();
        }
    }
    if told.certificate.contact.take().is_some() {
        assert!(matches!(told.judged(), Err(EdgeRefusal::Contact(_))));
    }
}

#[test]
fn a_cell_without_clouds_is_claimed_as_it_is() {
    let cell = super::check::panda_cell(3);
    assert!(cell.with_faced_clouds(&mut Effort::unlimited()).unwrap().is_none());
    assert_eq!((cell.points_of_clouds(), cell.bytes_with_faced_clouds()), (0, 0));
}
