//! Methods by name, over a socket: what each question of a session is answered by, what the
//! counters show of the papers' coherence, and what is refused.

use clearance_geometry::Vec3;
use clearance_geometry::distance::h_walk::orbit;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{cone, cuboid, polytope_of, sphere};
use clearance_geometry::pair::Pair;
use clearance_geometry::penetration::along;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;
use clearance_proto as api;
use clearance_proto::PairSelection;
use clearance_proto::verify_certificate_request::Claim;
use tonic::Code;

use crate::server::{Server, body, check, vector, verify};
use crate::sessions::{all_pairs, put, scene, started, step};

/// Methods by name, for verdicts, distances and first contacts.
fn named(verdict: &str, distance: &str, first_contact: &str) -> Option<api::SessionMethods> {
    let [verdict, distance, first_contact] = [verdict, distance, first_contact].map(str::to_owned);
    Some(api::SessionMethods { verdict, distance, first_contact, ..Default::default() })
}

fn flat(points: &[Vec3]) -> Vec<f64> {
    points.iter().flat_map(|point| [point.x, point.y, point.z]).collect()
}

fn pose(pose: &Pose) -> Option<api::Pose> {
    let rows = pose.rotation.transpose().iter().copied().collect();
    let [x, y, z] = pose.translation.into();
    let orientation = api::pose::Orientation::RotationMatrix(api::RotationMatrix { rows });
    Some(api::Pose { translation: vector(x, y, z), orientation: Some(orientation) })
}

/// Two bodies of one shape, one of which goes through poses, a frame each.
struct Orbit<'a> {
    server: &'a Server,
    aliases: [&'static str; 2],
    poses: &'a [Pose],
    report: api::ReportOptions,
}

impl Orbit<'_> {
    /// What each frame cost, the first left out.
    async fn costs(
        &self,
        methods: Option<api::SessionMethods>,
        canonical: bool,
    ) -> Vec<api::FrameCost> {
        let part = |alias: &str| {
            let source = Some(api::placed_body::Source::Alias(alias.to_owned()));
            vec![api::PlacedBody { source, pose: None }]
        };
        let body = |id: u32, at: &Pose| api::Body {
            id: Some(id),
            parts: part(self.aliases[id as usize - 1]),
            pose: pose(at),
            ..Default::default()
        };
        let bodies = vec![body(1, &Pose::identity()), body(2, &self.poses[0])];
        let request = api::OpenSessionRequest {
            state: Some(api::SessionState { bodies, ..Default::default() }),
            report: Some(self.report),
            methods,
            canonical,
            ..Default::default()
        };
        let opened = self.server.sessions().open_session(request).await.unwrap().into_inner();
        let frame = |(frame_id, at): (u64, &Pose)| api::Frame {
            frame_id,
            poses: vec![api::BodyPose { id: Some(2), pose: pose(at), ..Default::default() }],
            ..Default::default()
        };
        let frames = (1..).zip(&self.poses[1..]).map(frame).collect();
        let reports = step(self.server, &opened.session_id, frames).await.unwrap();
        assert_eq!(reports.len() + 1, self.poses.len());
        let cost = |report: &api::FrameReport| {
            assert_eq!(report.status, None);
            report.cost.clone().unwrap()
        };
        reports[1..].iter().map(cost).collect()
    }
}

/// The sum over all frames.
fn sum(
    costs: &[api::FrameCost],
    of: impl Fn(&api::FrameCost) -> &Option<Box<api::Cost>>,
    count: impl Fn(&api::Cost) -> u64,
) -> u64 {
    costs.iter().map(|cost| count(of(cost).as_ref().unwrap())).sum()
}

/// Guibas, Hsu, Zhang, §4.2 and §4.3, at the size of Fig. 5's largest spheres: cold the walk takes
/// 62 to 68 steps at every angle, from whichever layer it would start.
#[tokio::test]
async fn h_walk_is_coherent_in_a_session_and_adapts_its_start_layer() {
    let server = Server::start().await;
    server.register("sphere", &flat(&sphere(8000, 1.0))).await;
    for degrees in [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 75.0, 90.0] {
        let poses: Vec<Pose> = orbit::poses(degrees, 2.5, 1, 1).remove(0);
        let report = all_pairs().unwrap();
        let orbit = Orbit { server: &server, aliases: ["sphere"; 2], poses: &poses, report };
        let steps = async |name, canonical| {
            let costs = orbit.costs(named("", name, ""), canonical).await;
            assert_eq!(sum(&costs, |cost| &cost.distances, |cost| cost.handed_over), 0);
            assert!(sum(&costs, |cost| &cost.distances, |cost| cost.layers) > 0 || degrees < 2.0);
            sum(&costs, |cost| &cost.distances, |cost| cost.steps)
        };
        let mut fixed = Vec::new();
        for name in ["h_walk_0", "h_walk_4", "h_walk_8", "h_walk_16"] {
            fixed.push(steps(name, false).await);
        }
        let adaptive = steps("h_walk", false).await;
        let best = *fixed.iter().min().unwrap();
        assert!(10 * adaptive <= 11 * best, "{degrees}: {adaptive} of {fixed:?}");
        if degrees <= 1.0 {
            let cold = steps("h_walk", true).await;
            assert!(4 * adaptive <= cold, "{adaptive} warm, {cold} cold");
            let is_rising = fixed.windows(2).all(|two| 3 * two[0] < 2 * two[1]);
            assert!(is_rising, "the deeper the start, the longer the way out: {fixed:?}");
        }
    }
}

/// A slab that turns beside a cone by a degree a frame, so far from it along x.
fn turning(gap: f64) -> Vec<Pose> {
    let (p, q) = (polytope_of(&cone(64, 1.0, 2.0)), polytope_of(&cuboid(4.0, 2.0, 0.4)));
    let axis = Vec3::new(1.0, 2.0, 3.0).normalize();
    let pose = |frame: u32| {
        let (sin, cos) = (0.5 * f64::from(frame).to_radians()).sin_cos();
        let [x, y, z] = (axis * sin).into();
        let far = Vec3::x() * 10.0;
        let turned = Pose::from_quaternion(far, [cos, x, y, z]).unwrap();
        let pair = Pair::new(&p, Pose::identity(), &q, turned);
        let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
        let way = along(&pair, &Vec3::x(), witness, effort).unwrap().span.unwrap().enter[0];
        Pose { translation: far - Vec3::x() * (way - gap), ..turned }
    };
    (0..180).map(pose).collect()
}

/// What the frames of that motion cost, warm and from cold.
async fn turn(gap: f64, methods: Option<api::SessionMethods>) -> [Vec<api::FrameCost>; 2] {
    let server = Server::start().await;
    server.register("cone", &flat(&cone(64, 1.0, 2.0))).await;
    server.register("slab", &flat(&cuboid(4.0, 2.0, 0.4))).await;
    let poses = turning(gap);
    let report = api::ReportOptions { first_contacts: true, ..all_pairs().unwrap() };
    let orbit = Orbit { server: &server, aliases: ["cone", "slab"], poses: &poses, report };
    [orbit.costs(methods.clone(), false).await, orbit.costs(methods, true).await]
}

/// Li et al., §8.4. The text counts candidates; the last frame's vector is the first of them and
/// counts once, whether it still separates or not.
#[tokio::test]
async fn hs_jump_goes_on_from_the_last_vector_in_a_session() {
    let [warm, cold] = turn(0.2, named("hs_jump_plain", "", "")).await;
    let of = |costs: &[api::FrameCost], count: fn(&api::Cost) -> u64| {
        sum(costs, |cost| &cost.verdicts, count)
    };
    let asked = of(&warm, |cost| cost.queries);
    assert!(asked > 100 && asked == of(&cold, |cost| cost.queries), "{asked}");
    let steps = [&warm, &cold].map(|costs| of(costs, |cost| cost.steps));
    let candidates = [&warm, &cold].map(|costs| of(costs, |cost| cost.candidates));
    assert!(10 * steps[0] <= 11 * asked, "{steps:?} in {asked} frames");
    assert!(4 * steps[0] <= steps[1], "not anew from centre to centre: {steps:?}");
    assert_eq!(candidates[1], steps[1], "cold, every candidate is a step");
    // The first question of all knows no vector.
    assert_eq!(candidates[0], steps[0] + asked - 1, "warm, the last vector is one more");
    assert_eq!(of(&warm, |cost| cost.handed_over + cost.exact_stages), 0);

    // Bodies that collide go on from all their candidates.
    let [warm, cold] = turn(-0.1, named("hs_jump_plain", "", "")).await;
    let hits = of(&warm, |cost| cost.witness_hits);
    assert!(10 * hits > 9 * of(&warm, |cost| cost.queries), "{hits}");
    assert!(4 * of(&warm, |cost| cost.steps) < of(&cold, |cost| cost.steps));
}

/// Akgunduz et al., §4.1 and §4.2: the last plane, weights and vertices; and §5: those of the hulls
/// of two frames.
#[tokio::test]
async fn the_linear_programs_remember_their_plane_and_working_set_in_a_session() {
    let methods = named("linear_program", "", "linear_program");
    for gap in [0.2, 0.02] {
        let [warm, cold] = turn(gap, methods.clone()).await;
        for of in
            [(|cost| &cost.verdicts) as fn(&api::FrameCost) -> &Option<Box<api::Cost>>, |cost| {
                &cost.first_contacts
            }]
        {
            let asked = sum(&warm, of, |cost| cost.queries);
            let by_plane = sum(&warm, of, |cost| cost.witness_hits);
            // Of the programs that were solved at all, so that the plane saves none of it.
            let each = |costs: &[api::FrameCost]| {
                let solved = asked - sum(costs, of, |cost| cost.witness_hits);
                sum(costs, of, |cost| cost.steps) as f64 / solved as f64
            };
            let [each_warm, each_cold] = [each(&warm), each(&cold)];
            if gap > 0.1 {
                assert!(5 * by_plane > 4 * asked, "{by_plane} of {asked}");
            } else {
                assert!(2.0 * each_warm <= each_cold, "{each_warm} and {each_cold}");
            }
            let steps = [&warm, &cold].map(|costs| sum(costs, of, |cost| cost.steps));
            assert!(4 * steps[0] <= steps[1], "{gap}: {steps:?}");
            assert_eq!(sum(&warm, of, |cost| cost.handed_over), 0);
        }
    }
    // (19), (20): an overlap goes on from the vertices and weights that met. The last four pairs
    // answer most frames of so small bodies; the geometry's tests hold each program.
    for gap in [-0.02, -0.1] {
        let costs = turn(gap, methods.clone()).await;
        let of = |costs: &[api::FrameCost], count: fn(&api::Cost) -> u64| {
            sum(costs, |cost| &cost.verdicts, count)
        };
        let steps = costs.each_ref().map(|costs| of(costs, |cost| cost.steps));
        let each = costs.each_ref().map(|costs| {
            let answered = of(costs, |cost| cost.witness_hits + cost.by_bounds);
            let solved = of(costs, |cost| cost.queries) - answered;
            assert!(solved > 0, "{gap}: no program was solved");
            of(costs, |cost| cost.steps) as f64 / solved as f64
        });
        assert!(4 * steps[0] <= steps[1] && each[0] < each[1], "{gap}: {steps:?} {each:?}");
    }
}

/// Choi et al., §4.4 and §6: the faces where the line entered and left.
#[tokio::test]
async fn cd_dual_goes_on_from_the_last_faces_along_a_direction_in_a_session() {
    let server = Server::start().await;
    server.register("sphere", &flat(&sphere(500, 1.0))).await;
    let poses: Vec<Pose> = orbit::poses(1.0, 1.0, 1, 1).remove(0);
    let along = vector(0.6, 0.1, 0.5);
    let report = api::ReportOptions { along, ..all_pairs().unwrap() };
    let orbit = Orbit { server: &server, aliases: ["sphere"; 2], poses: &poses, report };
    let ask = async |name: &str, canonical| {
        let methods = api::SessionMethods { along: name.to_owned(), ..Default::default() };
        orbit.costs(Some(methods), canonical).await
    };
    let of = |costs: &[api::FrameCost], count: fn(&api::Cost) -> u64| {
        sum(costs, |cost| &cost.along, count)
    };
    let [warm, cold] = [ask("cd_dual", false).await, ask("cd_dual", true).await];
    let line = ask("line", false).await;
    let asked = of(&warm, |cost| cost.queries);
    assert!(asked > 30 && asked == of(&line, |cost| cost.queries), "{asked}");
    assert_eq!(of(&warm, |cost| cost.handed_over) + of(&cold, |cost| cost.handed_over), 0);
    let steps = [&warm, &cold].map(|costs| of(costs, |cost| cost.steps));
    assert!(3 * steps[0] < 2 * steps[1], "{steps:?} in {asked} frames");
}

/// Every entry is the answer to a question of its own, which VerifyCertificate judges.
#[tokio::test]
async fn a_session_tells_and_proves_the_range_of_bodies_with_several_parts() {
    let server = started().await;
    let [p, q] = crate::compounds::parts();
    let along = vector(1.0, 0.25, 0.0);
    for name in ["", "line", "cd_dual"] {
        let place = |id, parts: &[api::PlacedBody], x| api::Body {
            id: Some(id),
            parts: parts.to_vec(),
            pose: Some(api::Pose { translation: vector(x, 0.1, 0.2), orientation: None }),
            ..Default::default()
        };
        let mut report = all_pairs().unwrap();
        (report.along, report.certificates, report.placed_parts) = (along, true, true);
        let bodies = vec![place(1, &p, 0.0), place(2, &q, 3.0)];
        let state = Some(api::SessionState { bodies, ..Default::default() });
        let methods = Some(api::SessionMethods { along: name.to_owned(), ..Default::default() });
        let request = api::OpenSessionRequest {
            state,
            methods,
            report: Some(report),
            replace: true,
            ..scene("s")
        };
        let opened = server.sessions().open_session(request).await.unwrap().into_inner();
        let told = opened.report.unwrap();
        let range = told.pairs[0].along.clone().unwrap();
        assert_eq!(range.parts.len(), 4);
        let numbers = |body_id, part| {
            let is = |placed: &&api::PlacedPart| placed.body_id == body_id && placed.part == part;
            &told.placed_parts.iter().find(is).unwrap().numbers
        };
        let placed = |body_id, part| {
            let numbers = numbers(body_id, part);
            let rows = api::RotationMatrix { rows: numbers[..9].to_vec() };
            let orientation = Some(api::pose::Orientation::RotationMatrix(rows));
            let translation = vector(numbers[9], numbers[10], numbers[11]);
            let pose = Some(api::Pose { translation, orientation });
            Some(api::PlacedBody { pose, ..body("cube", 0.0) })
        };
        let mut ends = [f64::INFINITY, 0.0];
        for part in &range.parts {
            let (p, q) = (placed(1, part.a_part), placed(2, part.b_part));
            let direction = along;
            let question =
                api::MeasureDistanceAlongRequest { p, q, direction, ..Default::default() };
            let of_its_own = server.queries().measure_distance_along(question.clone()).await;
            let of_its_own = of_its_own.unwrap().into_inner();
            let answer = part.answer.clone().unwrap();
            assert_eq!((answer.enter, answer.exit), (of_its_own.enter, of_its_own.exit));
            if let Some((enter, exit)) = answer.enter.zip(answer.exit) {
                ends = [ends[0].min(enter.lower), ends[1].max(exit.upper)];
            }
            let claim = |answer| {
                let question = Some(question.clone());
                let claim = api::DistanceAlongClaim { question, answer: Some(answer) };
                Claim::DistanceAlong(claim)
            };
            verify(&server, claim(answer.clone())).await.unwrap();
            let mut longer = answer;
            if let Some(enter) = &mut longer.enter {
                *enter = api::Bracket { lower: enter.lower + 0.1, upper: enter.upper + 0.1 };
                verify(&server, claim(longer)).await.unwrap_err();
            }
        }
        let told = [range.enter.unwrap().lower, range.exit.unwrap().upper];
        assert_eq!(told, ends);
        assert!(ends[0] > 0.5 && ends[0] < ends[1] - 2.0, "{ends:?}");
    }
}

/// A frame that turns body 2 by a quarter about z.
fn quarter(frame_id: u64, x: f64) -> api::Frame {
    let mut frame = put(frame_id, x);
    let turned = api::Quaternion { w: 1.0, z: 1.0, ..Default::default() };
    frame.poses[0].pose.as_mut().unwrap().orientation =
        Some(api::pose::Orientation::Rotation(turned));
    frame
}

fn asking(methods: Option<api::SessionMethods>) -> api::OpenSessionRequest {
    let mut report = api::ReportOptions { first_contacts: true, ..Default::default() };
    report.set_pairs(PairSelection::All);
    api::OpenSessionRequest { methods, report: Some(report), replace: true, ..scene("s") }
}

/// `prism` was silently the default where bodies turn or keep a margin.
#[tokio::test]
async fn what_a_named_method_does_not_answer_is_refused_with_the_names_of_those_that_do() {
    let server = started().await;
    let open = async |request| server.sessions().open_session(request).await;
    for (methods, field, able) in [
        (named("h_walk", "", ""), "methods.verdict", "hs_jump_plain"),
        (named("", "prism", ""), "methods.distance", "h_walk"),
        (named("", "", "hs_jump"), "methods.first_contact", "facet_walk"),
    ] {
        let status = open(asking(methods)).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
        assert!(status.message().contains(able), "{status:?}");
    }
    let along = api::SessionMethods { along: "gjk".to_owned(), ..Default::default() };
    let status = open(asking(Some(along))).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "methods.along");
    assert!(status.message().contains("line, cd_dual"), "{status:?}");
    let mut nowhere = asking(None);
    nowhere.report.as_mut().unwrap().along = vector(0.0, 0.0, 0.0);
    let status = open(nowhere).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "report.along");
    let twice =
        api::OpenSessionRequest { method: "gjk".to_owned(), ..asking(named("gjk", "", "")) };
    let status = open(twice).await.unwrap_err();
    check(&status, Code::InvalidArgument, "BAD_FIELD", "methods.verdict");

    let prism = || asking(named("", "", "prism"));
    let with = |change: fn(&mut api::SessionState)| {
        let mut request = prism();
        change(request.state.as_mut().unwrap());
        request
    };
    let own =
        |margin| api::PairMargin { pair: Some(api::BodyPair { a: Some(1), b: Some(2) }), margin };
    let with_own = |margin| {
        let mut request = prism();
        let rules = api::PairRules { margins: vec![own(margin)], ..Default::default() };
        request.state.as_mut().unwrap().rules = Some(rules);
        request
    };
    for (request, field) in [
        (with(|state| state.bodies[1].margin = 0.5), "state.bodies[1].margin"),
        (with(|state| state.bodies[0].deviation = 0.5), "state.bodies[0].deviation"),
        (with_own(0.5), "state.rules.margins[0].margin"),
    ] {
        let status = open(request).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", field);
        assert!(status.message().contains("facet_walk or linear_program"), "{status:?}");
    }
    open(with_own(0.0)).await.unwrap();

    // A body that turns stays where it was; teleported it has no way, so nothing is asked of it.
    open(prism()).await.unwrap();
    let mut deviates = put(3, 6.0);
    deviates.poses[0].deviation = Some(0.1);
    let mut packed = api::Frame { poses: Vec::new(), ..put(4, 6.0) };
    packed.packed_poses = Some(api::PackedPoses {
        ids: vec![2].into(),
        translations: vec![6.0, 0.0, 0.0].into(),
        rotations: vec![1.0, 0.0, 0.0, 1.0].into(),
        ..Default::default()
    });
    let mut teleported = quarter(5, 6.0);
    teleported.poses[0].teleported = true;
    let again = api::Frame { teleported: true, ..put(6, 6.0) };
    let frames = vec![put(1, 8.0), quarter(2, 6.0), deviates, packed, teleported, again];
    let reports = step(&server, "s", frames).await.unwrap();
    for (report, field) in [
        (&reports[1], "poses[0].pose"),
        (&reports[2], "poses[0].pose"),
        (&reports[3], "packed_poses.ids[0]"),
    ] {
        let [item] = &report.refused_items[..] else { panic!("{report:?}") };
        assert_eq!(item.code, i32::from(Code::InvalidArgument));
        assert!(item.field.ends_with(field), "{item:?}");
        assert!(item.message.contains("facet_walk or linear_program"), "{item:?}");
    }
    for report in [&reports[0], &reports[4], &reports[5]] {
        assert_eq!((&report.refused_items[..], &report.status), (&[][..], &None));
    }
}

/// Without a session the same is refused by the field that names the method.
#[tokio::test]
async fn a_first_contact_by_prisms_is_refused_for_bodies_that_turn_or_keep_a_margin() {
    let server = started().await;
    let ask = async |change: fn(&mut api::FindFirstContactRequest)| {
        let options = api::QueryOptions { method: "prism".to_owned(), ..Default::default() };
        let travel = api::LinearMotion { velocity: vector(4.0, 0.0, 0.0) };
        let kind = Some(api::motion::Kind::Linear(travel));
        let mut request = api::FindFirstContactRequest {
            p: Some(body("cube", 0.0)),
            q: Some(body("cube", 3.0)),
            p_motion: Some(api::Motion { kind }),
            options: Some(options),
            ..Default::default()
        };
        change(&mut request);
        server.queries().find_first_contact(request).await.map(|answer| answer.into_inner())
    };
    let answer = ask(|_| {}).await.unwrap();
    assert_eq!(answer.t_contact, Some(0.5));
    for change in [
        (|request| request.margin = 0.1) as fn(&mut api::FindFirstContactRequest),
        |request| request.q_deviation = 0.1,
        |request| {
            let screw =
                api::ScrewMotion { axis: vector(0., 0., 1.), angle: 1.0, ..Default::default() };
            request.q_motion = Some(api::Motion { kind: Some(api::motion::Kind::Screw(screw)) });
        },
    ] {
        let status = ask(change).await.unwrap_err();
        check(&status, Code::InvalidArgument, "BAD_FIELD", "options.method");
        assert!(status.message().contains("facet_walk or linear_program"), "{status:?}");
    }
}

/// Sessions that name no method tell no costs by question.
#[tokio::test]
async fn costs_are_told_question_by_question_where_methods_are_named() {
    let server = started().await;
    for (methods, is_named) in
        [(None, false), (named("AUTO", "", ""), false), (named("", "gjk", ""), true)]
    {
        let mut request = asking(methods);
        request.report.as_mut().unwrap().distances = true;
        server.sessions().open_session(request).await.unwrap();
        let reports = step(&server, "s", vec![put(1, 1.5)]).await.unwrap();
        let cost = reports[0].cost.as_ref().unwrap();
        let of_each =
            [&cost.verdicts, &cost.distances, &cost.first_contacts, &cost.along, &cost.others];
        assert!(of_each.iter().all(|of_one| of_one.is_some() == is_named), "{of_each:?}");
        if is_named {
            let total = cost.sum.unwrap();
            let parts = |count: fn(&api::Cost) -> u64| -> u64 {
                of_each.iter().copied().flatten().map(|cost| count(cost)).sum()
            };
            assert_eq!(parts(|cost| cost.queries), total.queries);
            assert_eq!(parts(|cost| cost.supports), total.supports);
        }
    }
}
