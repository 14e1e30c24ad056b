//! The table as a whole, and what its rows answer about one body in two kinds.

use super::depth::DepthQuestion;
use super::distance::{DistanceAnswer, DistanceAsked, DistanceQuestion};
use super::first_contact::{FirstContactQuestion, Motions};
use super::place::Place;
use super::verdict::{VerdictProof, VerdictQuestion};
use super::{Topic, Wanted, first_collision, places_of, topics_of};
use crate::kinds::curved::{CurvedCore, CurvedForm};
use crate::{Body, Kind, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Outcome, Verdict};
use clearance_geometry::contact_time::Travel;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::motion::Motion;
use clearance_geometry::polyhedron::{Polyhedron, TriangleSurface};
use clearance_geometry::pose::Pose;
use clearance_geometry::terrain::{Diagonal, HeightField, Lattice};
use std::sync::Arc;

const WANTED: Wanted = Wanted { certificate: true, cover_steps_max: 1_000 };

fn corners() -> [Vec3; 4] {
    [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from)
}

/// A cloud of these points.
pub(super) fn cloud_of(points: &[Vec3], radius: f64) -> Body {
    let points = TriangleSurface::of_points(points).unwrap();
    let hull = convex_hull(points.vertices()).unwrap().polytope;
    Body::of_cloud(points, hull, radius)
}

/// The same tetrahedron as each kind; rounded it is larger, as a surface it is hollow, as a cloud
/// it has balls at its corners alone, and the curved body is the unit ball.
fn tetrahedron(kind: Kind) -> Body {
    let hull = convex_hull(&corners()).unwrap().polytope;
    match kind {
        Kind::Polytope => hull.into(),
        Kind::Polyhedron => {
            let triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
            let polyhedron = Polyhedron::new(&corners(), &triangles, &mut Effort::unlimited());
            Body::of_polyhedron(polyhedron.unwrap(), hull)
        }
        Kind::Rounded => Body::from(hull).rounded(0.25),
        Kind::Cloud => cloud_of(&corners(), 0.25),
        Kind::Curved => {
            let core = CurvedCore { form: CurvedForm::Ellipsoid, half: Vec3::repeat(1.0) };
            Body::of_curved(core, 0.0, &mut Effort::unlimited()).unwrap()
        }
        // Of the corner at the origin, the face in the plane z = 0.
        Kind::HeightField => {
            let lattice =
                Lattice { rows: 2, columns: 2, spacing: [1.0; 2], diagonal: Diagonal::Falling };
            let field = HeightField::new(lattice, vec![0.0; 4], &[]).unwrap();
            Body::of_height_field(Arc::new(field)).unwrap()
        }
        Kind::Surface => {
            let triangles = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
            Body::of_surface(TriangleSurface::new(&corners(), &triangles).unwrap(), hull)
        }
    }
}

pub(super) fn at(kind: Kind, x: f64) -> PlacedBody {
    PlacedBody { body: tetrahedron(kind), pose: Pose::translation(x, 0.0, 0.0) }
}

pub(super) fn pairs() -> impl Iterator<Item = [Kind; 2]> {
    Kind::ALL.into_iter().flat_map(|p| Kind::ALL.map(|q| [p, q]))
}

/// Pairs of kinds that a tetrahedron is the same body in.
fn pairs_of_same() -> impl Iterator<Item = [Kind; 2]> {
    let is_same = |kind: &Kind| matches!(kind, Kind::Polytope | Kind::Polyhedron);
    pairs().filter(move |kinds| kinds.iter().all(is_same))
}

#[test]
fn what_is_answered_of_two_bodies_is_answered_of_them_in_the_other_order() {
    for [p, q] in pairs() {
        let answered = |kinds| topics_of(kinds).collect::<Vec<_>>();
        assert_eq!(answered([p, q]), answered([q, p]));
        // Of a body beside one of its own kind there is something to ask.
        assert!(p != q || !answered([p, q]).is_empty(), "nothing is answered about {p:?}");
    }
}

#[test]
fn a_refusal_names_the_body_to_blame_and_what_is_answered_instead() {
    use Kind::{Polyhedron, Polytope};
    for (kinds, field) in [
        ([Polyhedron, Polytope], "p"),
        ([Polytope, Polyhedron], "q"),
        ([Polyhedron, Polyhedron], "p"),
    ] {
        let refused = Topic::DistanceAlong.check(kinds).unwrap_err();
        assert_eq!((refused.field, refused.what), (field, "this question about polyhedra"));
        assert_eq!(
            refused.to_string(),
            "not answered: this question about polyhedra; about these two are answered: verdict, \
             verdict with a margin, distance, depth, first contact by translation, first contact \
             of bodies that turn, first contact within a margin or deviations, first collision of \
             several"
        );
    }
}

/// What `docs/bodies.md` is to say, line by line.
fn page() -> Vec<String> {
    let pairs = [
        [Kind::Polytope, Kind::Polytope],
        [Kind::Polytope, Kind::Polyhedron],
        [Kind::Polyhedron, Kind::Polyhedron],
        [Kind::Rounded, Kind::Polytope],
        [Kind::Rounded, Kind::Rounded],
        [Kind::Rounded, Kind::Polyhedron],
        [Kind::Surface, Kind::Polytope],
        [Kind::Surface, Kind::Surface],
        [Kind::Surface, Kind::Rounded],
        [Kind::Surface, Kind::Polyhedron],
        [Kind::Cloud, Kind::Polytope],
        [Kind::Cloud, Kind::Cloud],
        [Kind::Cloud, Kind::Rounded],
        [Kind::Cloud, Kind::Polyhedron],
        [Kind::Cloud, Kind::Surface],
        [Kind::HeightField, Kind::Polytope],
        [Kind::HeightField, Kind::HeightField],
        [Kind::HeightField, Kind::Rounded],
        [Kind::HeightField, Kind::Polyhedron],
        [Kind::HeightField, Kind::Surface],
        [Kind::HeightField, Kind::Cloud],
        [Kind::Curved, Kind::Polytope],
        [Kind::Curved, Kind::Curved],
        [Kind::Curved, Kind::Rounded],
        [Kind::Curved, Kind::Polyhedron],
        [Kind::Curved, Kind::Surface],
        [Kind::Curved, Kind::Cloud],
        [Kind::Curved, Kind::HeightField],
    ];
    let mark = |is_answered: bool| if is_answered { "yes" } else { "-" };
    let name = |kind: Kind| kind.names().name;
    let head = pairs.map(|[p, q]| format!("{}, {}", name(p), name(q))).join(" | ");
    let mut lines = vec![format!("| question | {head} |")];
    lines.extend(Topic::ALL.map(|topic| {
        let cells = pairs.map(|kinds| mark(topic.check(kinds).is_ok())).join(" | ");
        format!("| {} | {cells} |", topic.name())
    }));
    let kinds = [
        Kind::Polytope,
        Kind::Polyhedron,
        Kind::Rounded,
        Kind::Surface,
        Kind::Cloud,
        Kind::HeightField,
        Kind::Curved,
    ];
    lines.push(format!("| place | {} |", kinds.map(name).join(" | ")));
    lines.extend(Place::ALL.map(|place| {
        let cells = kinds.map(|kind| mark(places_of(kind).any(|known| known == place)));
        format!("| {} | {} |", place.name(), cells.join(" | "))
    }));
    lines
}

#[test]
fn the_page_about_bodies_shows_the_table() {
    let text = include_str!("../../../../docs/bodies.md");
    for line in page() {
        assert!(text.lines().any(|shown| shown == line), "docs/bodies.md lacks:\n{line}");
    }
}

#[test]
fn the_verdict_does_not_depend_on_the_kind_of_the_same_body() {
    for [p, q] in pairs_of_same() {
        for (x, verdict) in
            [(3.0, Verdict::Separated), (1.0, Verdict::Touching), (0.25, Verdict::Overlapping)]
        {
            let question = VerdictQuestion::of([p, q], None).unwrap();
            let ready = question.prepare([at(p, 0.0), at(q, x)]).unwrap();
            let decided = ready.answer(WANTED, &mut Effort::unlimited()).decided.unwrap();
            assert_eq!(decided.verdict, verdict, "{p:?} {q:?} {x}");
            let is_of_hulls = matches!(decided.proof, Ok(VerdictProof::OfHulls(_)));
            let are_hulls = p.is_its_hull() && q.is_its_hull();
            assert_eq!(is_of_hulls, are_hulls || verdict == Verdict::Separated);
            assert_eq!(decided.meeting.is_some(), !is_of_hulls);
        }
    }
}

fn measured(kinds: [Kind; 2], x: f64, margin: Option<f64>) -> DistanceAnswer {
    let question = DistanceQuestion::of(kinds).unwrap();
    let ready = question.prepare([at(kinds[0], 0.0), at(kinds[1], x)]).unwrap();
    let asked = DistanceAsked { margin, ..DistanceAsked::default() };
    ready.answer(asked, WANTED, &mut Effort::unlimited())
}

/// Beside a rounded body, too, whatever the other one is.
#[test]
fn distances_and_margins_do_not_depend_on_the_kind_of_the_same_body() {
    let rounded = [Kind::Polytope, Kind::Polyhedron].map(|other| [Kind::Rounded, other]);
    for kinds in pairs_of_same().chain(rounded) {
        let radius = if kinds[0] == Kind::Rounded { 0.25 } else { 0.0 };
        for (x, apart, verdict) in [
            (3.0, 2.0 - radius, Verdict::Separated),
            (1.0 + radius, 0.0, Verdict::Touching),
            (0.25, 0.0, Verdict::Overlapping),
        ] {
            for margin in [None, Some(1.5), Some(2.0 - radius), Some(3.0)] {
                let answer = measured(kinds, x, margin);
                let found = answer.distance.unwrap();
                assert_eq!(found.verdict(), Some(verdict), "{kinds:?} {x}");
                let [lower, upper] = found.bounds();
                assert!(lower <= apart && apart <= upper && upper - lower < 1e-11, "{kinds:?} {x}");
                let within = answer.compared.unwrap().map(|compared| compared.is_within);
                assert_eq!(within, margin.map(|margin| apart <= margin), "{kinds:?} {x}");
                let question = VerdictQuestion::of(kinds, margin).unwrap();
                let ready = question.prepare([at(kinds[0], 0.0), at(kinds[1], x)]).unwrap();
                let answer = ready.answer(WANTED, &mut Effort::unlimited());
                let decided = answer.decided.unwrap();
                assert_eq!((decided.verdict, decided.proof.is_ok()), (verdict, true));
                let compared = answer.compared.unwrap().map(|compared| compared.is_within);
                assert_eq!(compared, within, "{kinds:?} {x}");
                // The nearest points, or a common one.
                let [of_p, of_q] = found.closest().unwrap();
                assert!(((of_p - of_q).norm() - apart).abs() < 1e-9, "{kinds:?} {x}");
            }
        }
    }
}

#[test]
fn the_first_contact_does_not_depend_on_the_kind_of_the_same_body() {
    let velocity = Vec3::new(-4.0, 0.0, 0.0);
    let motions = Motions::new([Motion::rest(), Motion::Linear { velocity }]);
    for [p, q] in pairs_of_same() {
        let bodies = [at(p, 0.0), at(q, 3.0)];
        let poses = [&bodies[0].pose, &bodies[1].pose];
        let question = FirstContactQuestion::of([p, q], poses, motions).unwrap();
        let ready = question.prepare(bodies).unwrap();
        let found = ready.answer(false, WANTED, &mut Effort::unlimited()).unwrap();
        assert_eq!((found.outcome, found.initial), (Outcome::Contact, Verdict::Separated));
        assert!(found.t_free < 0.5 && found.t_contact >= 0.5, "{p:?} {q:?}: {found:?}");
        assert!(found.proof.is_ok());
    }
}

/// Turning, within a margin and for all motions within deviations.
#[test]
fn first_contacts_of_every_kind_do_not_depend_on_the_kind_of_the_same_body() {
    let (velocity, axis) = (Vec3::new(-4.0, 0.0, 0.0), Vec3::z());
    let still = Motion::rest();
    let turning = Motion::Screw { pivot: None, velocity, axis, angle: 1.0 };
    let straight = Motion::Linear { velocity };
    let turned = Motions::new([still, turning]);
    let wide = Motions { margin: 0.1, ..Motions::new([still, straight]) };
    let vague = Motions { deviations: [0.0, 0.1], ..Motions::new([turning, still]) };
    let early = Motions { margin: 2.5, ..turned };
    let answer = |kinds: [Kind; 2], motions: Motions| {
        let bodies = [at(kinds[0], 0.0), at(kinds[1], 3.0)];
        let poses = [&bodies[0].pose, &bodies[1].pose];
        let question = FirstContactQuestion::of(kinds, poses, motions).unwrap();
        let ready = question.prepare(bodies).unwrap();
        ready.answer(true, WANTED, &mut Effort::unlimited()).unwrap()
    };
    for motions in [turned, wide, vague, early] {
        let rounded = [[Kind::Rounded, Kind::Polytope], [Kind::Rounded, Kind::Polyhedron]];
        for (kinds, same) in pairs_of_same()
            .map(|kinds| (kinds, [Kind::Polytope; 2]))
            .chain(rounded.map(|kinds| (kinds, rounded[0])))
        {
            let (found, expected) = (answer(kinds, motions), answer(same, motions));
            let story = format!("{kinds:?} {motions:?}: {found:?} {expected:?}");
            assert_eq!(
                (found.outcome, found.initial),
                (expected.outcome, expected.initial),
                "{story}"
            );
            assert!(found.t_free <= expected.t_contact, "{story}");
            assert!(expected.t_free <= found.t_contact, "{story}");
            assert!((found.t_contact - expected.t_contact).abs() < 1e-6, "{story}");
            assert!(found.proof.is_ok(), "{story}");
            let impacts = [found.impact, expected.impact].map(|impact| impact.map(|met| met.point));
            if let [Some(point), Some(other)] = impacts {
                assert!((point - other).norm() < 1e-4, "{story}");
            }
            assert_eq!(impacts[0].is_some(), impacts[1].is_some(), "{story}");
        }
    }
}

/// The same tetrahedron beside a surface and beside what the surface bounds: from outside they are
/// as far apart and meet as soon.
#[test]
fn from_outside_a_surface_is_what_it_bounds() {
    let others = [Kind::Polytope, Kind::Rounded];
    let velocity = Vec3::new(-4.0, 0.0, 0.0);
    let turning = Motion::Screw { pivot: None, velocity, axis: Vec3::z(), angle: 1.0 };
    for kinds in others.into_iter().flat_map(|q| [[Kind::Surface, q], [q, Kind::Surface]]) {
        let same = kinds.map(|kind| if kind == Kind::Surface { Kind::Polyhedron } else { kind });
        for (x, margin) in [(3.0, None), (3.0, Some(1.9)), (3.0, Some(2.5)), (1.0, Some(0.1))] {
            let [found, expected] = [kinds, same].map(|kinds| measured(kinds, x, margin));
            let [found_bounds, bounds] =
                [&found, &expected].map(|answer| answer.distance.as_ref().unwrap().bounds());
            assert!((found_bounds[0] - bounds[0]).abs() < 1e-11, "{kinds:?} {x}");
            let within = [found, expected]
                .map(|answer| answer.compared.unwrap().map(|compared| compared.is_within));
            assert_eq!(within[0], within[1], "{kinds:?} {x} {margin:?}");
            let verdicts = [kinds, same].map(|kinds| {
                let question = VerdictQuestion::of(kinds, margin).unwrap();
                let ready = question.prepare([at(kinds[0], 0.0), at(kinds[1], x)]).unwrap();
                let decided = ready.answer(WANTED, &mut Effort::unlimited()).decided.unwrap();
                assert!(decided.proof.is_ok(), "{kinds:?} {x}");
                decided.verdict
            });
            assert_eq!(verdicts[0], verdicts[1], "{kinds:?} {x}");
        }
        for motion in [Motion::Linear { velocity }, turning] {
            for margin in [0.0, 0.25] {
                let motions = Motions { margin, ..Motions::new([Motion::rest(), motion]) };
                let [found, expected] = [kinds, same].map(|kinds| {
                    let bodies = [at(kinds[0], 0.0), at(kinds[1], 3.0)];
                    let poses = [&bodies[0].pose, &bodies[1].pose];
                    let question = FirstContactQuestion::of(kinds, poses, motions).unwrap();
                    let ready = question.prepare(bodies).unwrap();
                    ready.answer(true, WANTED, &mut Effort::unlimited()).unwrap()
                });
                assert_eq!(found.outcome, expected.outcome, "{kinds:?} {motion:?}");
                assert!((found.t_contact - expected.t_contact).abs() < 1e-6, "{kinds:?}");
                assert!(found.proof.is_ok() && found.impact.is_some(), "{kinds:?} {motion:?}");
            }
        }
    }
}

#[test]
fn a_flat_body_is_no_solid_and_is_refused_where_it_was_named() {
    let flat = Body::of_points(&corners()[..3], &mut Effort::unlimited()).unwrap();
    let flat = PlacedBody { body: flat, pose: Pose::identity() };
    let question = VerdictQuestion::of([Kind::Polyhedron, Kind::Polytope], None).unwrap();
    let refused = question.prepare([at(Kind::Polyhedron, 0.0), flat.clone()]).unwrap_err();
    assert_eq!(refused.field, "q");
    let rest = Travel::by(&Vec3::zeros());
    let refused_among_several = first_collision::ready(flat, Motion::rest(), rest).unwrap_err();
    assert_eq!(refused_among_several.what, refused.what);
}

#[test]
fn what_is_made_for_a_question_is_counted() {
    let [p, q] = [Kind::Polytope, Kind::Polyhedron];
    let needs = |kinds| VerdictQuestion::of(kinds, None).unwrap().needs();
    assert_eq!(needs([p, p]).bytes_made(p, 300), 0);
    assert!(needs([p, q]).bytes_made(q, 300) >= 300 * 512);
    assert!(needs([p, q]).bytes_made(p, 300) >= 300 * 512);
}

#[test]
fn only_convex_parts_go_where_scenes_keep_them() {
    for place in Place::ALL {
        assert!(place.part(&tetrahedron(Kind::Polytope)).unwrap().radius.abs() <= 0.0);
        let refused = place.part(&tetrahedron(Kind::Polyhedron)).unwrap_err();
        assert!(refused.what.contains("polyhedra"), "{}", refused.what);
        let refused = place.part(&tetrahedron(Kind::Surface)).unwrap_err();
        assert!(refused.what.contains("surfaces"), "{}", refused.what);
        let rounded = tetrahedron(Kind::Rounded);
        let part = place.part(&rounded).unwrap();
        assert!(part.radius > 0.0 && part.radius.to_bits() == rounded.radius().to_bits());
    }
}

#[test]
fn what_a_place_takes_is_handed_over_as_what_it_is() {
    for place in Place::ALL {
        for kind in Kind::ALL {
            let body = tetrahedron(kind);
            match place.whole(&body) {
                Ok(whole) => {
                    assert!(place.takes(kind).is_ok(), "{place:?}");
                    let region = whole.mesh.as_ref().map(|mesh| mesh.region().is_some());
                    // An obstacle is listed, and sessions keep the heights.
                    let keeps_fields = matches!(place, Place::Session | Place::SceneQuery);
                    let is_field = kind == Kind::HeightField && keeps_fields;
                    assert_eq!(whole.field.is_some(), is_field, "{place:?}");
                    let is_mesh = !kind.is_convex() && !is_field;
                    let expected = is_mesh.then_some(kind == Kind::Polyhedron);
                    assert_eq!(region, expected, "{place:?}");
                    let is_rounded = matches!(kind, Kind::Rounded | Kind::Cloud);
                    assert_eq!(whole.hull.radius > 0.0, is_rounded, "{place:?}");
                }
                Err(refused) => assert_eq!(Err(refused), place.takes(kind)),
            }
        }
    }
}

#[test]
fn all_that_is_asked_of_convex_bodies_is_answered_of_rounded_and_curved_ones() {
    let [polytope, rounded, curved] = [Kind::Polytope, Kind::Rounded, Kind::Curved];
    for kinds in [[rounded, polytope], [rounded; 2], [curved, polytope], [curved, rounded]] {
        assert_eq!(topics_of(kinds).count(), Topic::ALL.len(), "{kinds:?}");
    }
    let refused: Vec<Topic> = Topic::ALL
        .into_iter()
        .filter(|topic| topic.check([rounded, Kind::Polyhedron]).is_err())
        .collect();
    assert_eq!(refused, [Topic::DistanceAlong]);
}

/// A ball of radius 0.25 around each point of a tetrahedron with a face at x = 0: what is measured
/// of it is what is measured of the tetrahedron, but for the radius.
#[test]
fn a_rounded_body_is_nearer_deeper_and_sooner_than_its_polytope_by_its_radius() {
    let kinds = [Kind::Rounded, Kind::Polytope];
    let effort = &mut Effort::unlimited();
    let distance = |kinds: [Kind; 2], x: f64, effort: &mut Effort<'_>| {
        let question = DistanceQuestion::of(kinds).unwrap();
        let ready = question.prepare([at(kinds[0], 0.0), at(kinds[1], x)]).unwrap();
        ready.answer(DistanceAsked::default(), WANTED, effort).distance.unwrap().bounds()
    };
    let [thin, thick] = [[Kind::Polytope; 2], kinds].map(|kinds| distance(kinds, 3.0, effort));
    assert!((thin[0] - thick[0] - 0.25).abs() < 1e-12, "{thin:?} {thick:?}");
    let depth = |kinds: [Kind; 2], effort: &mut Effort<'_>| {
        let question = DepthQuestion::of(kinds).unwrap();
        let ready = question.prepare([at(kinds[0], 0.0), at(kinds[1], 0.25)]).unwrap();
        ready.answer(false, effort).unwrap().bounds()
    };
    let [thin, thick] = [[Kind::Polytope; 2], kinds].map(|kinds| depth(kinds, effort));
    assert!((thick[0] - thin[0] - 0.25).abs() < 1e-12, "{thin:?} {thick:?}");
    let velocity = Vec3::new(-4.0, 0.0, 0.0);
    let motions = Motions::new([Motion::rest(), Motion::Linear { velocity }]);
    let bodies = [at(Kind::Rounded, 0.0), at(Kind::Polytope, 3.0)];
    let poses = [&bodies[0].pose, &bodies[1].pose];
    let question = FirstContactQuestion::of(kinds, poses, motions).unwrap();
    let found = question.prepare(bodies).unwrap().answer(true, WANTED, effort).unwrap();
    assert_eq!((found.outcome, found.initial), (Outcome::Contact, Verdict::Separated));
    // The corner at x = 1 has a ball around it that reaches 0.25 farther.
    assert!((found.t_free - 1.75 / 4.0).abs() < 1e-9, "{found:?}");
    let impact = found.impact.unwrap();
    assert!((impact.point - Vec3::new(1.25, 0.0, 0.0)).norm() < 1e-6, "{impact:?}");
    assert!((impact.normal.unwrap() - Vec3::new(-1.0, 0.0, 0.0)).norm() < 1e-6, "{impact:?}");
}
