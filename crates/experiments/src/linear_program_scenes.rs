//! The linear program's crowds as scenes of the service (Akgunduz et al. 2005, §6, experiments 2 to
//! 4), with and without first contacts between frames.
//!
//! The paper asks every pair of bodies whose boxes meet. A scene ([`clearance_scene`]) finds the
//! pairs itself and looks only at those that can have changed, so its cost should be in proportion
//! to its bodies and its *close pairs*: those whose surrounding balls, all one unit wide, meet
//! where the bodies are or, where first contacts are asked, on the way there. Crowds of ten bodies
//! are the paper's; each is flown again with 64 times the bodies in a cube of four times the edge,
//! which is as dense. Events alone are asked, in one thread; a frame's time is the least of three
//! flights.

use std::sync::Arc;
use std::time::Instant;

use nalgebra::{Matrix3, Vector3};

use super::crowd::{Crowd, CrowdMember, DIFFERENT};
use super::library::bodies;
use super::linear_program::FRAMES;
use super::{Curve, Experiment, Panel, Rerun};
use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::separation::METHODS;
use clearance_scene::{
    Between, Body, BodyId, Declaration, EventKind, Frame, Limits, Listed, Move, Questions, Rules,
    Scene, Serial,
};

/// One for all three experiments: the last panels are about all of their crowds.
pub(super) const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "linear_program_scenes",
    source: "Linear program (Akgunduz et al. 2005), experiments 2 to 4 as scenes",
    about: "bodies in a cube, their density and their speeds, by the scene of sessions; \
            events alone",
    run,
}];

/// Flights of each crowd; the fastest counts for each frame, so that interruptions do not.
const PASSES: usize = 3;
/// Frames times bodies of a crowd, at most: crowds above fifty bodies fly shorter than the paper's.
const MEMBER_FRAMES: u32 = 75_000;
/// How many times the paper's bodies the large crowds have, and of the cube's edge.
const LARGER: [usize; 2] = [64, 4];
/// Both ways to ask, and how the curves of each are called.
const ASKED: [(bool, &str); 2] = [(false, "at the frames"), (true, "first contacts")];
/// Room for the largest crowd with every pair.
const LIMITS: Limits = Limits {
    bodies_max: 1 << 12,
    parts_max: 1 << 12,
    classes_max: 64,
    pairs_max: 1 << 22,
    listed_max: 1,
};

/// An experiment: what is varied, and how large the crowds are.
struct Series {
    title: &'static str,
    x_axis: &'static str,
    at: &'static [f64],
    crowd: fn(f64) -> Crowd,
    /// Whether it is flown with more bodies, too; the first experiment varies these itself.
    is_enlarged: bool,
}

const SERIES: [Series; 4] = [
    Series {
        title: "Experiment 2: identical bodies in a cube of 6 units",
        x_axis: "bodies",
        at: &[10.0, 20.0, 30.0, 40.0, 50.0, 100.0, 200.0, 400.0, 800.0],
        crowd: |x| Crowd { count: x as usize, ..Crowd::default() },
        is_enlarged: false,
    },
    Series {
        title: "Experiment 3: different bodies by the size of their cube",
        x_axis: "edge of the cube of ten bodies, units",
        at: &[4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
        crowd: |x| Crowd { cube: x, are_different: true, ..Crowd::default() },
        is_enlarged: true,
    },
    Series {
        title: "Experiment 4: different bodies by their speed",
        x_axis: "translation, units a frame",
        at: &[0.01, 0.02, 0.05, 0.1, 0.2, 0.4],
        crowd: |x| Crowd { speed: x, are_different: true, ..Crowd::default() },
        is_enlarged: true,
    },
    Series {
        title: "Experiment 4: different bodies by their turning",
        x_axis: "largest turn about each axis, degrees a frame",
        at: &[1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 90.0],
        crowd: |x| Crowd { turn_degrees: x, are_different: true, ..Crowd::default() },
        is_enlarged: true,
    },
];

/// How many series, from the first on, fly and turn alike: what a body and a close pair cost is
/// fitted to these.
const FITTED: usize = 2;

/// Where a crowd's point is: its experiment and its place on the axis there.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    series: usize,
    x: f64,
}

impl Spot {
    /// The title of the experiment, and what is at this place of its axis.
    pub(super) fn name(self) -> String {
        let Series { title, x_axis, .. } = &SERIES[self.series];
        format!("{title}; {x_axis}: {}", self.x)
    }
}

/// What one crowd took, in the mean of its frames.
#[derive(Clone, Copy, Debug)]
struct Flown {
    bodies: usize,
    close: f64,
    looked_at: f64,
    microseconds: f64,
    /// Contacts that began, a thousand frames.
    began: f64,
}

impl Flown {
    /// Bodies plus close pairs.
    fn sum(&self) -> f64 {
        self.bodies as f64 + self.close
    }
}

fn run(rerun: &mut Rerun) -> Vec<Panel> {
    let library = bodies();
    let crowds = crowds();
    rerun.begin(crowds.len() * ASKED.len());
    let flown = ASKED.map(|(between, _)| {
        let fly = |(spot, crowd): &(Spot, Crowd)| {
            let least = u64::from(MEMBER_FRAMES) / crowd.count as u64;
            let frames = rerun.share_of(FRAMES.min(least as u32));
            let flown = fly(crowd, &library, frames, between);
            rerun.advance();
            (*spot, flown)
        };
        crowds.iter().map(fly).collect::<Vec<_>>()
    });
    let mut panels: Vec<Panel> = (0..SERIES.len()).map(|at| panel_of_series(at, &flown)).collect();
    for ((_, name), flown) in ASKED.iter().zip(&flown) {
        let of = |is_wanted: fn(usize) -> bool| -> Vec<Flown> {
            let wanted = flown.iter().filter(|(spot, _)| is_wanted(spot.series));
            wanted.map(|(_, flown)| *flown).collect()
        };
        let (alike, others) = (of(|series| series < FITTED), of(|series| series >= FITTED));
        let fit = Fit::to(&alike);
        rerun.note(format!("{name}: {}", fit.text(&alike)));
        rerun.note(format!("{name}, other speeds: {} of it", fit.range(&others)));
        panels.push(panel_of_cost(name, &fit, &alike));
    }
    panels.push(panel_of_looks(&flown));
    panels.push(panel_of_contacts(&flown));
    panels
}

/// All crowds, those of an experiment in the order of their places.
pub(super) fn crowds() -> Vec<(Spot, Crowd)> {
    let mut crowds = Vec::new();
    for (series, Series { at, crowd, is_enlarged, .. }) in SERIES.iter().enumerate() {
        let enlarged = |crowd: Crowd| Crowd {
            count: crowd.count * LARGER[0],
            cube: crowd.cube * LARGER[1] as f64,
            ..crowd
        };
        let spot = |x: &f64| (Spot { series, x: *x }, crowd(*x));
        crowds.extend(at.iter().map(spot));
        if *is_enlarged {
            crowds.extend(at.iter().map(spot).map(|(spot, crowd)| (spot, enlarged(crowd))));
        }
    }
    crowds
}

/// Flies the crowd a few times.
fn fly(crowd: &Crowd, library: &[Arc<Polytope>], frames: u32, between: bool) -> Flown {
    let mut least = vec![f64::INFINITY; frames as usize];
    let mut sums =
        Flown { bodies: crowd.count, close: 0.0, looked_at: 0.0, microseconds: 0.0, began: 0.0 };
    for pass in 0..PASSES {
        let mut random = Random::new(7);
        let mut members = crowd.members(library, &mut random);
        let mut scene = opened(&members);
        for (id, least) in (2..).zip(&mut least) {
            let before: Vec<Vec3> = members.iter().map(|member| member.pose.translation).collect();
            crowd.go_on(&mut members, &mut random);
            let frame = Frame { id, moves: moves(&members), ..Frame::default() };
            let start = Instant::now();
            let stepped = scene.step(&frame, &questions(between), &Serial);
            *least = least.min(start.elapsed().as_secs_f64() * 1e6);
            if pass == 0 {
                let report = stepped.expect("every frame is legal").report;
                let counters = &report.counters;
                let looked_at =
                    counters.pairs_enabled - counters.pairs_skipped - counters.pairs_remembered;
                let begun = report.events.iter().filter(|event| event.kind == EventKind::Began);
                sums.looked_at += looked_at as f64;
                sums.began += 1000.0 * begun.count() as f64;
                sums.close += close_pairs(&before, &members, between) as f64;
            }
        }
    }
    sums.microseconds = least.iter().sum();
    for sum in [&mut sums.close, &mut sums.looked_at, &mut sums.microseconds, &mut sums.began] {
        *sum /= f64::from(frames);
    }
    sums
}

/// The crowd's scene, after its first frame, in which every pair is new.
fn opened(members: &[CrowdMember]) -> Scene {
    let body = |(id, member): (u32, &CrowdMember)| {
        Body::solid(id, member.body.clone()).placed(member.pose)
    };
    let declared = Declaration {
        bodies: (1..).zip(members).map(body).collect(),
        rules: Rules::default(),
        ..Declaration::default()
    };
    let mut scene = Scene::open(declared, &METHODS[0], LIMITS).expect("a legal scene");
    let first = Frame { id: 1, ..Frame::default() };
    scene.step(&first, &questions(false), &Serial).expect("a legal frame");
    scene
}

fn questions(between: bool) -> Questions {
    Questions {
        listed: Listed::Nothing,
        between: between.then(Between::default),
        ..Questions::default()
    }
}

fn moves(members: &[CrowdMember]) -> Vec<Move> {
    let one = |(id, member): (u32, &CrowdMember)| Move::new(BodyId(id), member.pose);
    (1..).zip(members).map(one).collect()
}

/// How many pairs of balls, one unit wide, meet at the end of a frame, or on the way there.
fn close_pairs(before: &[Vec3], members: &[CrowdMember], on_the_way: bool) -> usize {
    let now: Vec<Vec3> = members.iter().map(|member| member.pose.translation).collect();
    let is_close = |p: usize, q: usize| {
        let end = now[q] - now[p];
        let way = end - (before[q] - before[p]);
        let back = if on_the_way && way.norm_squared() > 0.0 {
            (end.dot(&way) / way.norm_squared()).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (end - way * back).norm() <= 1.0
    };
    (1..now.len()).map(|q| (0..q).filter(|p| is_close(*p, q)).count()).sum()
}

/// The cost of a frame: so much for itself, for each body and for each close pair, microseconds.
struct Fit {
    terms: Vector3<f64>,
}

impl Fit {
    /// The one with the least sum of squares of relative deviations.
    fn to(flown: &[Flown]) -> Self {
        let (mut matrix, mut right) = (Matrix3::zeros(), Vector3::zeros());
        for one in flown {
            let row = Self::row(one) / one.microseconds;
            matrix += row * row.transpose();
            right += row;
        }
        Self { terms: matrix.lu().solve(&right).unwrap_or_else(Vector3::zeros) }
    }

    fn row(flown: &Flown) -> Vector3<f64> {
        Vector3::new(1.0, flown.bodies as f64, flown.close)
    }

    fn at(&self, flown: &Flown) -> f64 {
        self.terms.dot(&Self::row(flown))
    }

    /// What it says, and how far crowds are from it.
    fn text(&self, flown: &[Flown]) -> String {
        let [a, b, c] = self.terms.into();
        let range = self.range(flown);
        format!("{a:.2} us + {b:.3} us a body + {c:.3} us a close pair; measured {range} of it")
    }

    /// The least and the largest ratio of what crowds took to what it says.
    fn range(&self, flown: &[Flown]) -> String {
        let ratios = || flown.iter().map(|one| one.microseconds / self.at(one));
        let least = ratios().fold(f64::INFINITY, f64::min);
        format!("{least:.2} to {:.2}", ratios().fold(0.0, f64::max))
    }
}

/// What is plotted over bodies plus close pairs.
const SUM_AXIS: &str = "bodies + close pairs";

/// The points of a curve in order.
fn curve(name: String, points: impl Iterator<Item = (f64, f64)>) -> Curve {
    let mut points: Vec<(f64, f64)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Curve { name, points }
}

/// Times of one experiment.
fn panel_of_series(series: usize, flown: &[Vec<(Spot, Flown)>; 2]) -> Panel {
    let Series { title, x_axis, is_enlarged, .. } = &SERIES[series];
    let sizes: &[Option<usize>] =
        if *is_enlarged { &[Some(DIFFERENT), Some(DIFFERENT * LARGER[0])] } else { &[None] };
    let mut curves = Vec::new();
    for ((_, name), flown) in ASKED.iter().zip(flown) {
        for size in sizes {
            let points = flown.iter().filter(|(spot, one)| {
                spot.series == series && size.is_none_or(|size| one.bodies == size)
            });
            let of = size.map_or(String::new(), |size| format!("{size} bodies: "));
            let points = points.map(|(spot, one)| (spot.x, one.microseconds));
            curves.push(curve(format!("{of}{name}"), points));
        }
    }
    Panel {
        title: (*title).to_owned(),
        x_axis,
        y_axis: "microseconds a frame (mean)",
        is_x_logarithmic: true,
        is_y_logarithmic: true,
        curves,
        ..Panel::default()
    }
}

/// Times of the crowds that fly alike over bodies plus close pairs, and what the fit says.
fn panel_of_cost(name: &str, fit: &Fit, flown: &[Flown]) -> Panel {
    let over = |y: &dyn Fn(&Flown) -> f64| -> Vec<(f64, f64)> {
        flown.iter().map(|one| (one.sum(), y(one))).collect()
    };
    let measured = over(&|one| one.microseconds).into_iter();
    let fitted = over(&|one| fit.at(one)).into_iter();
    let [a, b, c] = fit.terms.into();
    Panel {
        title: format!("Experiments 2 and 3 {name}: {a:.1} + {b:.2} a body + {c:.2} a close pair"),
        x_axis: SUM_AXIS,
        y_axis: "microseconds a frame (mean)",
        is_x_logarithmic: true,
        is_y_logarithmic: true,
        curves: vec![curve("measured".to_owned(), measured), curve("fit".to_owned(), fitted)],
        ..Panel::default()
    }
}

/// Pairs looked at, which are the same on every machine.
fn panel_of_looks(flown: &[Vec<(Spot, Flown)>; 2]) -> Panel {
    let curves = ASKED.iter().zip(flown).map(|((_, name), flown)| {
        let points = flown.iter().map(|(_, one)| (one.sum(), one.looked_at));
        curve((*name).to_owned(), points)
    });
    Panel {
        title: "All: pairs looked at".to_owned(),
        x_axis: SUM_AXIS,
        y_axis: "pairs a frame (mean)",
        is_x_logarithmic: true,
        curves: curves.collect(),
        ..Panel::default()
    }
}

/// Contacts of the large crowds by their speed: those that first contacts find between frames, too.
fn panel_of_contacts(flown: &[Vec<(Spot, Flown)>; 2]) -> Panel {
    const BY_SPEED: usize = 2;
    let curves = ASKED.iter().zip(flown).map(|((_, name), flown)| {
        let large =
            flown.iter().filter(|(spot, one)| spot.series == BY_SPEED && one.bodies > DIFFERENT);
        curve((*name).to_owned(), large.map(|(spot, one)| (spot.x, one.began)))
    });
    Panel {
        title: format!("Contacts that begin among {} bodies", DIFFERENT * LARGER[0]),
        x_axis: SERIES[BY_SPEED].x_axis,
        y_axis: "contacts in a thousand frames",
        is_x_logarithmic: true,
        curves: curves.collect(),
        ..Panel::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flown_of(count: usize, cube: f64, between: bool) -> Flown {
        let crowd = Crowd { count, cube, are_different: true, ..Crowd::default() };
        fly(&crowd, &bodies(), 10, between)
    }

    /// Pairs looked at do not depend on the machine: at most all close pairs and, for the room in
    /// which boxes are fat, some more. Of 300 bodies there are 44,850 pairs.
    #[test]
    fn a_scene_looks_at_its_close_pairs_and_few_others() {
        for between in [false, true] {
            for cube in [5.0, 10.0, 20.0] {
                let flown = flown_of(300, cube, between);
                let bound = flown.bodies as f64 + 1.5 * flown.close;
                assert!(flown.looked_at <= bound, "{flown:?}");
            }
        }
    }

    #[test]
    fn first_contacts_find_every_contact_of_the_frames_and_more() {
        let fast = Crowd { count: 100, speed: 0.4, are_different: true, ..Crowd::default() };
        let [sampled, between] = [false, true].map(|between| fly(&fast, &bodies(), 20, between));
        assert!(sampled.began > 0.0 && between.began > sampled.began, "{sampled:?} {between:?}");
        assert!(between.close > sampled.close);
    }

    #[test]
    fn a_fit_finds_the_terms_that_times_are_made_of() {
        let made_of = |bodies: usize, close: f64| Flown {
            bodies,
            close,
            looked_at: 0.0,
            microseconds: 2.0 + 0.25 * bodies as f64 + 0.5 * close,
            began: 0.0,
        };
        let flown = [(10, 3.0), (100, 10.0), (100, 200.0), (800, 900.0)]
            .map(|(bodies, close)| made_of(bodies, close));
        let fit = Fit::to(&flown);
        for (term, expected) in fit.terms.iter().zip([2.0, 0.25, 0.5]) {
            assert!((term - expected).abs() < 1e-9, "{}", fit.terms);
        }
        assert!(fit.text(&flown).ends_with("measured 1.00 to 1.00 of it"), "{}", fit.text(&flown));
    }

    #[test]
    fn balls_meet_at_the_frame_or_on_the_way() {
        let library = bodies();
        let crowd = Crowd { count: 2, ..Crowd::default() };
        let mut members = crowd.members(&library, &mut Random::new(7));
        let before = [Vec3::zeros(), Vec3::new(-3.0, 0.9, 0.0)];
        members[0].pose.translation = before[0];
        members[1].pose.translation = Vec3::new(3.0, 0.9, 0.0);
        assert_eq!(close_pairs(&before, &members, false), 0);
        assert_eq!(close_pairs(&before, &members, true), 1);
    }
}
