//! Answers in sessions: the pair of a case is come upon over frames, with whatever is remembered of
//! others, and its answer has to be the same each time.
//!
//! The second body goes about the first in steps of 90, 10 and 1 degrees to where the case has it;
//! then everything is forgotten; it is put far away and back; and another body takes its place for
//! a frame. First contacts of bodies that translate are asked twice, the second time with what the
//! first left.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Methods;
use super::cases::Kind;
use super::library::{Library, guarded};
use super::respondent::{Asked, HullFacts, Respondent};
use clearance_geometry::Vec3;
use clearance_geometry::claim::{ConvexProof, FirstContact};
use clearance_geometry::distance::Distance;
use clearance_geometry::effort::Cost;
use clearance_geometry::motion::Motion;
use clearance_geometry::penetration::{Depth, Range};
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::Decision;
use clearance_geometry::until::Until;
use clearance_scene::{
    Between, Body, BodyId, Chosen, Declaration, Frame, Limits, Listed, MeasuredRange, Move,
    PairReport, Questions, Scene, Serial,
};
use clearance_scene::{PairContact, PartsProof};

const LIMITS: Limits =
    Limits { bodies_max: 2, parts_max: 4, classes_max: 4, pairs_max: 4, listed_max: 4 };

/// Sessions of the library, and the library itself for what sessions are not asked.
pub(crate) struct InSessions {
    library: Library,
    methods: Methods,
    bodies: BTreeMap<u64, Arc<Polytope>>,
    /// What takes a body's place for a frame.
    other: Option<Arc<Polytope>>,
}

impl InSessions {
    /// Searching with these methods.
    pub(crate) fn new(methods: Methods) -> Self {
        Self { library: Library::new(methods), methods, bodies: BTreeMap::new(), other: None }
    }

    fn body(&mut self, id: u64, polytope: &Polytope) -> Arc<Polytope> {
        self.bodies.entry(id).or_insert_with(|| Arc::new(polytope.clone())).clone()
    }

    fn open(&mut self, asked: &Asked<'_>, is_default: bool) -> Result<Scene, String> {
        let pair = &asked.pair;
        let p = self.body(asked.case.p, pair.p.body);
        let q = self.body(asked.case.q, pair.q.body);
        let bodies =
            vec![Body::solid(1, p).placed(pair.p.pose), Body::solid(2, q).placed(pair.q.pose)];
        let declared = Declaration { bodies, ..Declaration::default() };
        let methods = if is_default {
            clearance_scene::Methods::default()
        } else {
            clearance_scene::Methods {
                verdict: Chosen::named(self.methods.separation),
                distance: Chosen::named(self.methods.distance),
                first_contact: Chosen::named(self.methods.first_contact),
                along: Chosen::named(self.methods.along),
            }
        };
        let mut scene =
            Scene::open(declared, methods, LIMITS).map_err(|error| error.to_string())?;
        let opened = scene.answer(&Questions::default(), &Serial, Until::never());
        opened.map_err(|error| error.to_string())?;
        Ok(scene)
    }

    /// What the reports say of the pair each time that it is where the case has it.
    fn stand(&mut self, asked: &Asked<'_>, details: Details) -> Result<Vec<PairReport>, String> {
        let mut session = Steps { scene: self.open(asked, false)?, id: 0 };
        let questions = Questions {
            listed: Listed::All,
            distances: matches!(details, Details::Distance),
            along: if let Details::Along(direction) = details { Some(direction) } else { None },
            certificates: true,
            ..Questions::default()
        };
        let home = asked.pair.q.pose;
        let mut found = Vec::new();
        for degrees in [90.0, 10.0, 1.0] {
            // Where that is too far out the body stays.
            session.step(moved(beside(asked, degrees), false), &questions)?;
        }
        found.push(session.step(moved(home, false), &questions)?);
        session.scene.forget_witnesses();
        found.push(session.step(Frame::default(), &questions)?);
        let away = Pose { translation: home.translation + asked.pair.p.pose.translation, ..home };
        session.step(moved(away, true), &questions)?;
        found.push(session.step(moved(home, true), &questions)?);
        let own = self.body(asked.case.q, asked.pair.q.body);
        if let Some(other) = self.other.replace(own.clone()) {
            session.step(replaced(other, home), &questions)?;
            found.push(session.step(replaced(own, home), &questions)?);
        }
        Ok(found)
    }

    /// First contacts over the way of a case, twice; by its methods or the defaults.
    fn meet(&mut self, asked: &Asked<'_>, is_default: bool) -> Result<Vec<PairContact>, String> {
        let mut session = Steps { scene: self.open(asked, is_default)?, id: 0 };
        let between = Some(Between::default());
        let questions = Questions { listed: Listed::All, between, ..Questions::default() };
        let [start_p, start_q] = [asked.pair.p.pose, asked.pair.q.pose];
        let ends: [Pose; 2] = std::array::from_fn(|k| {
            let start = [start_p, start_q][k];
            let velocity = match asked.case.motions()[k] {
                Motion::Linear { velocity } | Motion::Screw { velocity, .. } => velocity,
                Motion::ToPose { .. } => Vec3::zeros(),
            };
            Pose { translation: start.translation + velocity, ..start }
        });
        let both = |poses: [Pose; 2], teleported| {
            let way = |(id, pose)| Move { teleported, ..Move::new(BodyId(id), pose) };
            Frame { moves: (1..).zip(poses).map(way).collect(), ..Frame::default() }
        };
        let mut found = Vec::new();
        for _ in 0..2 {
            let report = session.step(both(ends, false), &questions)?;
            found.push(report.first_contact.ok_or("no word about the way")?);
            session.step(both([start_p, start_q], true), &questions)?;
        }
        Ok(found)
    }
}

/// What is asked of the pair beside how it stands.
#[derive(Clone, Copy)]
enum Details {
    None,
    Distance,
    Along(Vec3),
}

/// A scene, and the last of its frames.
struct Steps {
    scene: Scene,
    id: u64,
}

impl Steps {
    /// What the next frame's report says of the pair.
    fn step(&mut self, frame: Frame, questions: &Questions) -> Result<PairReport, String> {
        self.id += 1;
        let frame = Frame { id: self.id, ..frame };
        let stepped = self.scene.step(&frame, questions, &Serial);
        let stepped = stepped.map_err(|error| error.to_string())?;
        stepped.report.pairs.first().cloned().ok_or_else(|| "the pair is not listed".to_owned())
    }
}

fn moved(pose: Pose, teleported: bool) -> Frame {
    let way = Move { teleported, ..Move::new(BodyId(2), pose) };
    Frame { moves: vec![way], ..Frame::default() }
}

fn replaced(polytope: Arc<Polytope>, pose: Pose) -> Frame {
    let added = vec![Body::solid(2, polytope).placed(pose)];
    Frame { removed: vec![BodyId(2)], added, ..Frame::default() }
}

/// The proof about two polytopes.
fn decision(proof: PartsProof) -> Result<Decision, String> {
    match proof {
        PartsProof::Convex(ConvexProof::Polytopes(proof)) => Ok(Decision { proof }),
        PartsProof::Convex(ConvexProof::Rounded(_)) | PartsProof::Faces(_) => {
            Err("a proof about bodies that are no polytopes".to_owned())
        }
    }
}

/// The second body, turned about the first one's origin.
fn beside(asked: &Asked<'_>, degrees: f64) -> Pose {
    let (sin, cos) = (0.5 * degrees.to_radians()).sin_cos();
    let axis = Vec3::new(2.0, -3.0, 6.0) * (sin / 7.0);
    let (home, centre) = (asked.pair.q.pose, asked.pair.p.pose.translation);
    let from_centre = Pose { translation: home.translation - centre, ..home };
    Pose::from_quaternion(Vec3::zeros(), [cos, axis.x, axis.y, axis.z]).map_or(home, |turn| {
        let turned = turn.compose(&from_centre);
        Pose { translation: turned.translation + centre, ..turned }
    })
}

impl Respondent for InSessions {
    fn learn(&mut self, id: u64, points: &[[f64; 3]]) -> Result<(), String> {
        self.library.learn(id, points)
    }

    fn hull(&mut self, points: &[[f64; 3]]) -> Result<HullFacts, String> {
        self.library.hull(points)
    }

    fn decide(&mut self, asked: &Asked<'_>) -> Result<Decision, String> {
        let found = guarded(|| self.stand(asked, Details::None))??;
        let verdict = found[0].verdict.ok_or("no verdict")?;
        if found.iter().any(|pair| pair.verdict != Some(verdict)) {
            return Err("the verdict depends on what is remembered".to_owned());
        }
        let proof = found[0].proofs.first().ok_or("no proof")?.proof.clone();
        decision(proof)
    }

    fn distance(&mut self, asked: &Asked<'_>) -> Result<Distance, String> {
        let found = guarded(|| self.stand(asked, Details::Distance))??;
        let brackets: Vec<[f64; 2]> = found
            .iter()
            .flat_map(|pair| &pair.distance)
            .map(|distance| [distance.lower, distance.upper])
            .collect();
        let highest = brackets.iter().map(|[lower, _]| *lower).fold(0.0, f64::max);
        let meet = brackets.iter().all(|[_, upper]| highest <= *upper);
        if !meet || brackets.len() != found.len() {
            return Err("the distance depends on what is remembered".to_owned());
        }
        let first = found.into_iter().next().ok_or("no answer")?;
        let proof = first.proofs.first().ok_or("no proof")?.proof.clone();
        let distance = first.distance.ok_or("no distance")?;
        Ok(Distance {
            decision: decision(proof)?,
            lower: distance.lower,
            upper: distance.upper,
            pairs: distance.pairs,
            closest_p: distance.closest_p,
            closest_q: distance.closest_q,
            stopped: distance.stopped,
        })
    }

    fn depth(&mut self, asked: &Asked<'_>) -> Result<Depth, String> {
        self.library.depth(asked)
    }

    fn along(&mut self, asked: &Asked<'_>, direction: &Vec3) -> Result<Range, String> {
        let along = (*direction != Vec3::zeros()).then_some(*direction);
        let Some(direction) = along else { return self.library.along(asked, direction) };
        let found = guarded(|| self.stand(asked, Details::Along(direction)))??;
        let ranges: Vec<_> = found.into_iter().flat_map(|pair| pair.along).collect();
        if ranges.iter().any(|range| range.span != ranges[0].span) {
            return Err("the range along a direction depends on what is remembered".to_owned());
        }
        let first = ranges.into_iter().flat_map(|range| range.of_parts).next();
        match first.ok_or("no range")?.1 {
            MeasuredRange::OfHulls(range) => Ok(range),
            MeasuredRange::OfRounded(_) | MeasuredRange::OfCurved(_) => {
                Err("the range of polytopes is told as one of other bodies".to_owned())
            }
        }
    }

    fn first_contact(&mut self, asked: &Asked<'_>) -> Result<FirstContact, String> {
        if asked.case.kind == Kind::Linear && !asked.case.has_margin() {
            let of_default = guarded(|| self.meet(asked, true))??;
            for found in guarded(|| self.meet(asked, false))?? {
                let known = &of_default[0];
                let meet = found.t_free <= known.t_contact && known.t_free <= found.t_contact;
                if found.outcome != known.outcome || !meet {
                    return Err("a first contact between frames is not the default's".to_owned());
                }
            }
        }
        self.library.first_contact(asked)
    }

    fn take_cost(&mut self) -> Cost {
        self.library.take_cost()
    }
}
