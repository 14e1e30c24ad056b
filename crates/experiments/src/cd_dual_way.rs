//! How CD-Dual's searches proceed on M in a typical scene (Choi, Li, Wang, Cameron, §5, Fig. 11).
//!
//! M is drawn as it is seen against the ray to the origin, so the face that the searches are after
//! is in the middle. The picture needs M's faces, which the searches never build: here they are the
//! hull of all differences of vertices.

use super::bench::{Approach, attitude};
use super::{Curve, Experiment, Panel, Region, Rerun};
use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::{Random, ellipsoid, polytope_of};
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::separation::{DualPhase, dual_way};

/// The one picture.
pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "cd_dual_fig11",
    source: "CD-Dual (Choi, Li, Wang, Cameron), Fig. 11",
    about: "the faces of M that each search moves to; shaded: the faces that it looks for",
    run: proceed,
}];

/// Vertices of each body, few enough for M to be seen, and how deep they overlap.
const VERTICES: u32 = 24;
const DEPTH: f64 = 40.0;
/// Scenes that are tried for the first in which each search moves.
const SCENES: u64 = 200;

/// The three searches, with their names.
const PHASES: [(DualPhase, &str); 3] =
    [(DualPhase::Fv, "SEARCH-FV"), (DualPhase::Vf, "SEARCH-VF"), (DualPhase::Ee, "SEARCH-EE")];

/// A face of M.
struct MapFace {
    corners: Vec<Vec3>,
    normal: Vec3,
}

fn proceed(rerun: &mut Rerun) -> Vec<Panel> {
    let body = polytope_of(&ellipsoid(VERTICES, Vec3::new(200.0, 100.0, 100.0), 1));
    rerun.begin(1);
    let moves = |faces: &[(DualPhase, Vec3)], phase: DualPhase| {
        faces.iter().filter(|(of, _)| *of == phase).count()
    };
    let panels = (0..SCENES).find_map(|seed| {
        let mut random = Random::new(seed);
        let attitudes = [attitude(&mut random), attitude(&mut random)];
        let approach = Approach::new([&body, &body], attitudes);
        let pair = approach.at(-DEPTH);
        let faces = dual_way(&pair);
        let is_typical = moves(&faces, DualPhase::Fv) > 2
            && moves(&faces, DualPhase::Vf) > 0
            && moves(&faces, DualPhase::Ee) > 1;
        is_typical.then(|| panels(&pair, &faces))
    });
    rerun.advance();
    panels.unwrap_or_default()
}

/// One panel for each search, with its own part of the way.
fn panels(pair: &Pair<'_>, faces: &[(DualPhase, Vec3)]) -> Vec<Panel> {
    let map = difference_faces(pair);
    let [of_p, of_q] = [(&pair.p, 1.0), (&pair.q, -1.0)].map(|(placed, sign)| {
        let turned = |face: MapFace| placed.pose.rotation * face.normal * sign;
        hull_faces(placed.body).into_iter().map(turned).collect::<Vec<Vec3>>()
    });
    let is_along = |normals: &[Vec3], n: &Vec3| normals.iter().any(|m| m.dot(n) > 1.0 - SAME);
    let phase_of = |n: &Vec3| {
        if is_along(&of_p, n) {
            DualPhase::Fv
        } else if is_along(&of_q, n) {
            DualPhase::Vf
        } else {
            DualPhase::Ee
        }
    };
    let towards = (pair.q.pose.translation - pair.p.pose.translation).normalize();
    let across = towards.cross(&Vec3::z()).normalize();
    let [right, up] = [across, across.cross(&towards)];
    let flat = |at: &Vec3| [right.dot(at), up.dot(at)];
    let centre = flat(&(pair.p.pose.translation - pair.q.pose.translation));
    let place = |at: &Vec3| {
        let [x, y] = flat(at);
        [x - centre[0], y - centre[1]]
    };
    let middle = |normal: &Vec3| {
        let along = |face: &&MapFace| face.normal.dot(&normal.normalize());
        let face = map.iter().max_by(|a, b| along(a).total_cmp(&along(b)))?;
        let [x, y] = place(&(face.corners.iter().sum::<Vec3>() / face.corners.len() as f64));
        Some((x, y))
    };
    PHASES
        .iter()
        .map(|(phase, name)| Panel {
            title: (*name).to_owned(),
            x_axis: "x",
            y_axis: "y",
            regions: map
                .iter()
                .filter(|face| face.normal.dot(&towards) > 0.0)
                .map(|face| Region {
                    corners: face.corners.iter().map(place).collect(),
                    is_marked: phase_of(&face.normal) == *phase,
                })
                .collect(),
            curves: vec![Curve {
                name: format!("{name}: faces moved to"),
                points: faces
                    .iter()
                    .filter(|(of, _)| of == phase)
                    .filter_map(|(_, normal)| middle(normal))
                    .collect(),
            }],
            ..Panel::default()
        })
        .collect()
}

/// One less the cosine of an angle below which two normals count as one: a thousandth of a radian.
const SAME: f64 = 5e-7;

/// The faces of P - Q.
fn difference_faces(pair: &Pair<'_>) -> Vec<MapFace> {
    let place = |placed: &clearance_geometry::pair::Placed<'_>| -> Vec<Vec3> {
        placed.body.vertices().iter().map(|v| placed.pose.apply_rounded(v)).collect()
    };
    let (of_p, of_q) = (place(&pair.p), place(&pair.q));
    let points: Vec<Vec3> = of_p.iter().flat_map(|p| of_q.iter().map(move |q| p - q)).collect();
    hull_faces(&polytope_of(&points))
}

fn hull_faces(body: &Polytope) -> Vec<MapFace> {
    let face = |row: &[u32]| {
        let corners: Vec<Vec3> = row.iter().map(|&vertex| *body.vertex(vertex)).collect();
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0])).normalize();
        MapFace { corners, normal }
    };
    body.facets().rows().map(face).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_search_moves_over_the_faces_that_it_looks_for() {
        let panels = proceed(&mut Rerun::quiet(1));
        assert_eq!(panels.len(), 3);
        for panel in &panels {
            let marked = panel.regions.iter().filter(|region| region.is_marked).count();
            assert!(marked > 0 && marked < panel.regions.len(), "{}", panel.title);
            assert!(!panel.curves[0].points.is_empty(), "{}", panel.title);
        }
        assert!(panels[0].curves[0].points.len() > 2);
    }
}
