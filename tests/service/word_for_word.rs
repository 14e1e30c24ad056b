//! Random questions of every kind, each answer sent back to VerifyCertificate as it came, and once
//! more with something in it made false.
//!
//! `CLEARANCE_WORDS` is the number of rounds (default 40), `CLEARANCE_WORDS_SEED` the seed. A round
//! asks about twenty questions.

use std::collections::BTreeMap;
use std::fmt::Debug;

use api::verify_certificate_request::Claim;
use clearance_geometry::hull::samples::{self, Random};
use clearance_geometry::pose::Pose;
use clearance_geometry::{Mat3, Vec3};
use clearance_proto as api;

use crate::falsified::falsified;
use crate::polyhedra::{channel, keep, register};
use crate::server::{Server, spec, vector};

const CONVEX: [&str; 7] = ["cube", "ball", "cone", "wedge", "plate", "rod", "dot"];
const SOLID: [&str; 5] = ["channel", "hollow", "cube", "ball", "wedge"];

/// What was asked and what became of it, by kind of question.
struct Words {
    server: Server,
    random: Random,
    counts: BTreeMap<&'static str, [usize; 2]>,
    refused: Vec<String>,
    /// Claims made false: those that were refused, as they have to be, and the others.
    false_claims: usize,
    believed: Vec<String>,
}

impl Words {
    async fn new(seed: u64) -> Self {
        let server = Server::start().await;
        let flat = |points: Vec<Vec3>| -> Vec<f64> {
            points.iter().flat_map(|p| [p.x, p.y, p.z]).collect()
        };
        for (alias, points) in [
            ("cube", samples::cuboid(0.5, 0.5, 0.5)),
            ("ball", samples::sphere(20, 0.75)),
            ("cone", samples::cone(5, 0.5, 1.0)),
            ("wedge", samples::tetrahedron(1.0)),
            ("plate", samples::flat_polygon(5, 1.0)),
            ("rod", samples::segment(1.5)),
            ("dot", samples::point()),
        ] {
            let report = register(&server, spec(alias, &flat(points))).await;
            report.unwrap();
        }
        register(&server, keep("channel", channel())).await.unwrap();
        register(&server, keep("hollow", box_in_a_box())).await.unwrap();
        Self {
            server,
            random: Random::new(seed),
            counts: BTreeMap::new(),
            refused: Vec::new(),
            false_claims: 0,
            believed: Vec::new(),
        }
    }

    /// One of these.
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.below(all.len() as u64) as usize]
    }

    /// Coarse numbers, which meet exactly, or fine ones.
    fn place(&mut self, reach: f64) -> Vec3 {
        let step = self.one_of(&[0.0, 0.25, 0.5]);
        let fine = self.random.in_ball() * reach;
        if step > 0.0 { fine.map(|x| (x / step).round() * step) } else { fine }
    }

    fn quaternion(&mut self) -> [f64; 4] {
        let axis = self.random.direction();
        match self.random.below(4) {
            0 => [0.0, axis.x, axis.y, axis.z],
            1 => self.one_of(&[[0.0, 1.0, -1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]]),
            _ => [self.random.between(-1.0, 1.0), axis.x, axis.y, axis.z],
        }
    }

    fn pose(&mut self, reach: f64) -> api::Pose {
        let place = self.place(reach);
        let orientation = match self.random.below(5) {
            0 | 1 => None,
            2 => {
                let rows = self.one_of(&[
                    [0., 0., 1., 0., -1., 0., 1., 0., 0.],
                    [0., -1., 0., 1., 0., 0., 0., 0., 1.],
                    [-1., 0., 0., 0., 1., 0., 0., 0., -1.],
                ]);
                let matrix = api::RotationMatrix { rows: rows.to_vec() };
                Some(api::pose::Orientation::RotationMatrix(matrix))
            }
            _ => {
                let [w, x, y, z] = self.quaternion();
                Some(api::pose::Orientation::Rotation(api::Quaternion { w, x, y, z }))
            }
        };
        api::Pose { translation: to_wire(&place), orientation }
    }

    fn body(&mut self, kinds: &[&str], reach: f64) -> Option<api::PlacedBody> {
        let alias = self.one_of(kinds).to_owned();
        let source = Some(api::placed_body::Source::Alias(alias));
        Some(api::PlacedBody { source, pose: Some(self.pose(reach)) })
    }

    fn options(&mut self) -> Option<api::QueryOptions> {
        let canonical = self.random.below(4) == 0;
        Some(api::QueryOptions { canonical, ..Default::default() })
    }

    fn margin(&mut self) -> Option<f64> {
        self.one_of(&[None, None, Some(0.0), Some(0.25), Some(0.1)])
    }

    fn motion(&mut self, turns: bool) -> Option<api::Motion> {
        use api::motion::Kind;
        let velocity = to_wire(&self.place(3.0));
        let pivot = (self.random.below(2) == 0).then(|| self.place(1.0)).and_then(|c| to_wire(&c));
        let kind = match self.random.below(if turns { 6 } else { 3 }) {
            0 => return None,
            1 | 2 => Kind::Linear(api::LinearMotion { velocity }),
            3 | 4 => {
                let axis = self.one_of(&[Vec3::x(), Vec3::z(), Vec3::new(1.0, 1.0, 0.0)]);
                let angle = self.random.between(-3.0, 3.0);
                Kind::Screw(api::ScrewMotion { pivot, velocity, axis: to_wire(&axis), angle })
            }
            _ => Kind::ToPose(api::ToPoseMotion { end: Some(self.pose(2.0)), pivot, spin: None }),
        };
        Some(api::Motion { kind: Some(kind) })
    }

    /// Sends an answer back, unless it has no certificate and says so.
    async fn judge(&mut self, kind: &'static str, is_certified: bool, claim: Claim) {
        let count = self.counts.entry(kind).or_default();
        if !is_certified {
            count[1] += 1;
            return;
        }
        count[0] += 1;
        if let Err(why) = self.is_valid(claim.clone()).await {
            self.refused.push(format!("{kind}: {why}\n  {claim:?}"));
        }
        let Some(claim) = falsified(&mut self.random, &claim) else { return };
        match self.is_valid(claim.clone()).await {
            Ok(()) => self.believed.push(format!("{kind}: {claim:?}")),
            Err(_) => self.false_claims += 1,
        }
    }

    /// What VerifyCertificate says.
    async fn is_valid(&self, claim: Claim) -> Result<(), String> {
        let request = api::VerifyCertificateRequest { claim: Some(claim) };
        match self.server.queries().verify_certificate(request).await {
            Ok(reply) if reply.get_ref().valid => Ok(()),
            Ok(reply) => Err(reply.into_inner().refusal),
            Err(status) if status.code() == tonic::Code::InvalidArgument => Err(status.to_string()),
            Err(status) => panic!("{status:?}"),
        }
    }

    async fn ask_of_two(&mut self, kinds: &'static [&'static str]) {
        let (solid, mut client) = (kinds == SOLID, self.server.queries());
        let (p, q) = (self.body(kinds, 0.5), self.body(kinds, 1.5));
        let margin = if solid { None } else { self.margin() };
        let question = api::CheckCollisionRequest {
            p: p.clone(),
            q: q.clone(),
            margin,
            options: self.options(),
        };
        let answer = client.check_collision(question.clone()).await.unwrap().into_inner();
        let kind = if solid { "collision of solids" } else { "collision" };
        let claim = api::CollisionClaim { question: Some(question), answer: Some(answer.clone()) };
        self.judge(kind, !answer.uncertified, Claim::Collision(claim)).await;
        self.ask_when(kinds, [p.clone(), q.clone()]).await;
        if solid {
            return;
        }
        let question = api::MeasureDistanceRequest {
            margin: self.margin(),
            stop_above: self.one_of(&[None, None, Some(0.5)]),
            options: self.options(),
            ..api::MeasureDistanceRequest { p: p.clone(), q: q.clone(), ..Default::default() }
        };
        let answer = Some(client.measure_distance(question.clone()).await.unwrap().into_inner());
        let claim = api::DistanceClaim { question: Some(question), answer };
        self.judge("distance", true, Claim::Distance(claim)).await;
        let direction = to_wire(&self.random.direction());
        let options = self.options();
        let question =
            api::MeasureDistanceAlongRequest { p: p.clone(), q: q.clone(), direction, options };
        let answer =
            Some(client.measure_distance_along(question.clone()).await.unwrap().into_inner());
        let claim = api::DistanceAlongClaim { question: Some(question), answer };
        self.judge("distance along", true, Claim::DistanceAlong(claim)).await;
        let (with_surface, options) = (self.random.below(2) == 0, self.options());
        let question = api::MeasurePenetrationRequest { p, q, with_surface, options };
        let answer = Some(client.measure_penetration(question.clone()).await.unwrap().into_inner());
        let claim = api::PenetrationClaim { question: Some(question), answer };
        self.judge("penetration", true, Claim::Penetration(claim)).await;
    }

    async fn ask_when(
        &mut self,
        kinds: &'static [&'static str],
        [p, q]: [Option<api::PlacedBody>; 2],
    ) {
        let solid = kinds == SOLID;
        let slack = !solid && self.random.below(3) == 0;
        let question = api::FindFirstContactRequest {
            p,
            q,
            p_motion: self.motion(!solid),
            q_motion: self.motion(!solid),
            p_deviation: if slack { self.one_of(&[0.0, 0.1]) } else { 0.0 },
            margin: if slack { self.one_of(&[0.0, 0.25]) } else { 0.0 },
            options: self.options(),
            ..Default::default()
        };
        let mut client = self.server.queries();
        let answer = client.find_first_contact(question.clone()).await.unwrap().into_inner();
        let kind = if solid { "first contact of solids" } else { "first contact" };
        let claim =
            api::FirstContactClaim { question: Some(question), answer: Some(answer.clone()) };
        self.judge(kind, !answer.uncertified, Claim::FirstContact(claim)).await;
    }

    async fn ask_of_many(&mut self) {
        let bodies = (0..3).map(|_| {
            let (body, motion) = (self.body(&SOLID, 3.0), self.motion(false));
            api::MovingBody { body, motion }
        });
        let bodies = bodies.collect();
        let question = api::FindFirstCollisionRequest { bodies, options: self.options() };
        let mut client = self.server.queries();
        let answer = client.find_first_collision(question.clone()).await.unwrap().into_inner();
        let is_certified = !answer.uncertified;
        let claim = api::FirstCollisionClaim { question: Some(question), answer: Some(answer) };
        self.judge("first collision", is_certified, Claim::FirstCollision(claim)).await;
    }

    /// A body of a session: of one part in its own frame, of one that has a pose, or of several.
    fn session_body(&mut self, id: u32) -> api::Body {
        let count = self.one_of(&[1, 1, 2, 3]);
        let mut parts: Vec<_> = (0..count).filter_map(|_| self.body(&CONVEX[..5], 1.0)).collect();
        if self.random.below(2) == 0 && parts.len() == 1 {
            parts[0].pose = None;
        }
        let pivot = self.place(1.0) * self.one_of(&[0.0, 1.0]);
        api::Body {
            id: Some(id),
            parts,
            pose: Some(self.pose(1.5)),
            margin: self.one_of(&[0.0, 0.0, 0.25]),
            pivot: to_wire(&pivot),
            deviation: self.one_of(&[0.0, 0.0, 0.05]),
            ..Default::default()
        }
    }

    async fn ask_a_session(&mut self) {
        let mut bodies = [self.session_body(1), self.session_body(2)];
        let report = api::ReportOptions {
            pairs: api::PairSelection::All.into(),
            certificates: true,
            distances: true,
            depths: true,
            first_contacts: true,
            ..Default::default()
        };
        let open = api::OpenSessionRequest {
            session_id: "s".into(),
            state: Some(api::SessionState { bodies: bodies.to_vec(), ..Default::default() }),
            report: Some(report),
            canonical: self.random.below(3) == 0,
            replace: true,
            ..Default::default()
        };
        self.server.sessions().open_session(open).await.unwrap();
        for frame_id in 1..4 {
            let before = bodies.clone();
            let mut poses = Vec::new();
            for body in &mut bodies {
                if self.random.below(3) > 0 {
                    body.pose = Some(self.pose(1.5));
                    poses.push(api::BodyPose {
                        id: body.id,
                        pose: body.pose.clone(),
                        ..Default::default()
                    });
                }
            }
            // A pose that is restated, in whatever words, is no motion.
            let moved = [0, 1].map(|k| pose_of(&before[k]) != pose_of(&bodies[k]));
            let frame = api::Frame { frame_id, poses, ..Default::default() };
            let request = api::StepSessionRequest {
                session_id: "s".into(),
                frames: vec![frame],
                ..Default::default()
            };
            let mut reply =
                self.server.sessions().step_session(request).await.unwrap().into_inner();
            let told = reply.reports.remove(0).pairs.remove(0);
            self.judge_frame([&before, &bodies], moved, told).await;
        }
    }

    async fn judge_frame(
        &mut self,
        [before, after]: [&[api::Body; 2]; 2],
        moved: [bool; 2],
        told: api::PairReport,
    ) {
        let [p, q] = [0, 1].map(|k| placed(&after[k]));
        let (verdict, within_margin) = (told.verdict, told.within_margin);
        let margin = before[0].margin + before[1].margin;
        let question = api::CheckCollisionRequest {
            p: p.clone(),
            q: q.clone(),
            margin: Some(margin),
            options: None,
        };
        let certificate = told.certificate;
        let answer = api::CheckCollisionResponse {
            verdict,
            within_margin,
            certificate,
            ..Default::default()
        };
        let claim = api::CollisionClaim { question: Some(question), answer: Some(answer) };
        self.judge("collision in frames", true, Claim::Collision(claim)).await;
        if let Some(distance) = told.distance {
            let question =
                api::MeasureDistanceRequest { p: p.clone(), q: q.clone(), ..Default::default() };
            let answer = api::MeasureDistanceResponse {
                verdict,
                distance: Some(distance),
                certificate: told.distance_certificate,
                ..Default::default()
            };
            let claim = api::DistanceClaim { question: Some(question), answer: Some(answer) };
            self.judge("distance in frames", true, Claim::Distance(claim)).await;
        }
        if let Some(depth) = told.depth {
            let question = api::MeasurePenetrationRequest { p, q, ..Default::default() };
            let answer = api::MeasurePenetrationResponse {
                verdict,
                depth: Some(depth),
                certificate: told.depth_certificate,
                ..Default::default()
            };
            let claim = api::PenetrationClaim { question: Some(question), answer: Some(answer) };
            self.judge("penetration in frames", true, Claim::Penetration(claim)).await;
        }
        let found = told.first_contact.unwrap();
        let motions = [0, 1].map(|k| moved[k].then(|| motion(&before[k], &after[k])));
        let deviations = [0, 1].map(|k| if moved[k] { before[k].deviation } else { 0.0 });
        let question = api::FindFirstContactRequest {
            p: placed(&before[0]),
            q: placed(&before[1]),
            p_motion: motions[0].clone(),
            q_motion: motions[1].clone(),
            p_deviation: deviations[0],
            q_deviation: deviations[1],
            margin,
            ..Default::default()
        };
        let answer = api::FindFirstContactResponse {
            outcome: found.outcome,
            t_free: found.t_free,
            t_contact: found.t_contact,
            certificate: found.certificate,
            stopped: found.stopped,
            ..Default::default()
        };
        let claim = api::FirstContactClaim { question: Some(question), answer: Some(answer) };
        self.judge("first contact in frames", true, Claim::FirstContact(claim)).await;
    }
}

/// Two closed boxes, one the inner wall of the other: triangles of the inner one face inward.
fn box_in_a_box() -> api::Mesh {
    let mut xyz = Vec::new();
    for size in [1.0, 0.6] {
        for k in 0..8 {
            xyz.extend([k & 1, k >> 1 & 1, k >> 2].map(|bit| if bit == 0 { -size } else { size }));
        }
    }
    let outside: [[u32; 3]; 12] = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let inside = outside.iter().map(|[a, b, c]| [a + 8, c + 8, b + 8]);
    let triangles = outside.iter().copied().chain(inside).flatten().collect();
    api::Mesh { vertices: Some(api::Points { xyz }), triangles }
}

fn to_wire(v: &Vec3) -> Option<api::Vector3> {
    vector(v.x, v.y, v.z)
}

fn from_wire(v: Option<&api::Vector3>) -> Vec3 {
    v.map_or_else(Vec3::zeros, |v| Vec3::new(v.x, v.y, v.z))
}

/// A body of a session as a claim names it.
fn placed(body: &api::Body) -> Option<api::PlacedBody> {
    let source = match &body.parts[..] {
        [only] if only.pose.is_none() => only.source.clone(),
        parts => {
            let parts = parts.to_vec();
            Some(api::placed_body::Source::Compound(api::Compound { parts }))
        }
    };
    Some(api::PlacedBody { source, pose: body.pose.clone() })
}

/// Where a body of a session is.
fn pose_of(body: &api::Body) -> Pose {
    let wire = body.pose.as_ref().unwrap();
    let at = from_wire(wire.translation.as_ref());
    match &wire.orientation {
        None => Pose { rotation: Mat3::identity(), translation: at },
        Some(api::pose::Orientation::Rotation(q)) => {
            Pose::from_quaternion(at, [q.w, q.x, q.y, q.z]).unwrap()
        }
        Some(api::pose::Orientation::RotationMatrix(matrix)) => {
            Pose::from_matrix(at, matrix.rows.clone().try_into().unwrap()).unwrap()
        }
    }
}

/// How a body of a session moves between two frames.
fn motion(before: &api::Body, after: &api::Body) -> api::Motion {
    let pivot = to_wire(&pose_of(before).apply_rounded(&from_wire(before.pivot.as_ref())));
    let to_pose = api::ToPoseMotion { end: after.pose.clone(), pivot, spin: None };
    api::Motion { kind: Some(api::motion::Kind::ToPose(to_pose)) }
}

fn setting<T: std::str::FromStr<Err: Debug>>(name: &str, default: T) -> T {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

#[tokio::test]
async fn every_answer_is_valid_word_for_word() {
    let (rounds, seed) = (setting("CLEARANCE_WORDS", 40), setting("CLEARANCE_WORDS_SEED", 17));
    let mut words = Words::new(seed).await;
    for _ in 0..rounds {
        words.ask_of_two(&CONVEX).await;
        words.ask_of_two(&SOLID).await;
        words.ask_of_many().await;
        words.ask_a_session().await;
    }
    let uncertified: usize = words.counts.values().map(|count| count[1]).sum();
    let asked: usize = words.counts.values().flatten().sum();
    eprintln!("seed {seed}: {:?}", words.counts);
    let (refused, believed) = (&words.refused, &words.believed);
    eprintln!(
        "{} valid, {uncertified} uncertified, {} refused; of {} false claims {} accepted",
        asked - uncertified - refused.len(),
        refused.len(),
        words.false_claims + believed.len(),
        believed.len()
    );
    for (what, all) in [("refused", refused), ("false and accepted", believed)] {
        let few: Vec<&str> = all.iter().take(8).map(|line| &line[..line.len().min(3000)]).collect();
        assert!(few.is_empty(), "seed {seed}: {} {what}\n{}", all.len(), few.join("\n"));
    }
    assert!(words.false_claims * 10 > asked * 7, "{} of {asked}", words.false_claims);
    assert!(words.counts.len() == 12 && uncertified * 50 < asked, "{:?}", words.counts);
}
