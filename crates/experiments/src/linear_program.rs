//! The linear program in crowds of moving bodies (Akgunduz et al. 2005, §6, Figs 8-12).
//!
//! The paper compares with I-COLLIDE; here the other methods of the service take its place. As in
//! the paper the bodies come from a library of twenty ([`super::library`]), pairs whose oriented
//! boxes do not meet are not asked about, Fig. 8 is repeated 20 times for each size, and the crowds
//! fly for 1,500 frames. The searches alone are measured, warm: without a proof.

use std::sync::Arc;

use arrayvec::ArrayVec;

use super::bench::{
    Approach, Gathered, Taken, attitude, counts_and_times, curves, separation_methods, take,
};
use super::crowd::{Crowd, CrowdMember};
use super::library::{OrientedBox, bodies};
use super::{Experiment, Panel, Rerun};
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::samples::{Random, polytope_of, sphere};
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::separation::{CollisionMethod, propose_with_repairs};
use clearance_geometry::witness::Witness;

/// One for each figure, and one for §4.3.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "linear_program_question",
        source: "Linear program (Akgunduz et al. 2005), §4.3",
        about: "cold: iterations and repairs of a question, within 0.05 of contact",
        run: questions,
    },
    Experiment {
        name: "linear_program_fig8",
        source: "Linear program (Akgunduz et al. 2005), Fig. 8",
        about: "warm: two equal bodies approach by 0.02 units and turn by up to 10 degrees \
                about each axis a frame; the last five frames before contact",
        run: approach,
    },
    Experiment {
        name: "linear_program_fig9",
        source: "Linear program (Akgunduz et al. 2005), Fig. 9",
        about: "warm: equal bodies of 40 vertices in a cube of 6 units, free to penetrate",
        run: |rerun| {
            crowds(rerun, "bodies", &[10.0, 20.0, 30.0, 40.0, 50.0], |x| Crowd {
                count: x as usize,
                ..Crowd::default()
            })
        },
    },
    Experiment {
        name: "linear_program_fig10",
        source: "Linear program (Akgunduz et al. 2005), Fig. 10",
        about: "warm: ten different bodies in cubes of several sizes",
        run: |rerun| {
            crowds(
                rerun,
                "edge of the cube, units",
                &[4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0],
                |x| Crowd { cube: x, are_different: true, ..Crowd::default() },
            )
        },
    },
    Experiment {
        name: "linear_program_fig11",
        source: "Linear program (Akgunduz et al. 2005), Fig. 11",
        about: "warm: ten different bodies in a cube of 6 units at several speeds",
        run: |rerun| {
            crowds(rerun, "translation, units a frame", &[0.01, 0.02, 0.05, 0.1, 0.2, 0.4], |x| {
                Crowd { speed: x, are_different: true, ..Crowd::default() }
            })
        },
    },
    Experiment {
        name: "linear_program_fig12",
        source: "Linear program (Akgunduz et al. 2005), Fig. 12",
        about: "warm: ten different bodies in a cube of 6 units at several rates of turning",
        run: |rerun| {
            crowds(
                rerun,
                "largest turn, degrees a frame",
                &[1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 90.0],
                |x| Crowd { turn_degrees: x, are_different: true, ..Crowd::default() },
            )
        },
    },
];

const METHODS_SHOWN: [&str; 3] = ["linear_program", "hs_jump", "gjk"];

/// Questions of §4.3 for each size, half apart and half overlapping, and how far at most.
const QUESTIONS: u32 = 1000;
const NEAR: f64 = 0.05;
/// Bodies of the library beside one that is larger.
const LARGER: u32 = 1000;

/// §4.3: "within one to three iterations when there is no collision and two to five iterations when
/// there is a collision", and how rarely vertices have to be added.
fn questions(rerun: &mut Rerun) -> Vec<Panel> {
    let mut library = bodies();
    library.push(Arc::new(polytope_of(&sphere(LARGER, 0.5))));
    let questions = rerun.share_of(QUESTIONS);
    rerun.begin(library.len());
    let names = ["separated", "overlapping"];
    let mut gathered = Gathered::default();
    for body in &library {
        let mut random = Random::new(11);
        for number in 0..questions {
            let attitudes = [attitude(&mut random), attitude(&mut random)];
            let gap = random.between(0.0, NEAR);
            let (curve, gap) = if number % 2 == 0 { (0, gap) } else { (1, -gap) };
            let pair = Approach::new([body, body], attitudes).at(gap);
            let mut effort = Effort::unlimited();
            let Ok((_, repairs)) =
                propose_with_repairs(&pair, &mut Witness::default(), &mut effort)
            else {
                continue;
            };
            let vertices = f64::from(body.vertex_count());
            gathered.add(0, curve, vertices, effort.cost.steps as f64);
            gathered.add(1, curve, vertices, f64::from(repairs));
        }
        rerun.advance();
    }
    let panel = |title: &str, y_axis| Panel {
        title: title.to_owned(),
        x_axis: "vertices of each body",
        y_axis,
        is_x_logarithmic: true,
        curves: curves(&names),
        ..Panel::default()
    };
    gathered.into_panels(vec![
        panel("Iterations", "iterations a question (mean)"),
        panel("Repairs", "repairs a question (mean)"),
    ])
}

/// Repetitions of Fig. 8 for each size.
const REPETITIONS: u32 = 20;
/// Units by which the bodies of Fig. 8 come closer in a frame, and between them at the start: the
/// edge of the cube. The mean of each body's vertices is on the line of the approach and inside the
/// body, so they meet before the frames are over.
const CLOSING: f64 = 0.02;
const CLOSING_FRAMES: u32 = 300;
/// Frames before contact that Fig. 8 averages over.
const LAST_FRAMES: usize = 5;
/// Frames of Figs 9 to 12.
pub(super) const FRAMES: u32 = 1500;

/// The search alone, repeated from the same witness, which then is as the search left it; and
/// whether it found the pair separated.
fn warm(method: &CollisionMethod, pair: &Pair<'_>, witness: &mut Witness) -> (Taken, bool) {
    let before = witness.clone();
    let mut is_separated = false;
    let taken = take(|effort| {
        witness.clone_from(&before);
        // Without a budget nothing stops it.
        let proposal = method.propose(pair, witness, effort);
        is_separated = proposal.is_ok_and(|p| p.claim() == Some(Verdict::Separated));
    });
    (taken, is_separated)
}

fn panels(methods: &[&CollisionMethod], x_axis: &'static str, time: &'static str) -> Vec<Panel> {
    let names: Vec<&str> = methods.iter().map(|row| row.name).collect();
    counts_and_times(x_axis, &names, "Steps of the search", "steps a query (mean)", time)
}

/// Fig. 8.
fn approach(rerun: &mut Rerun) -> Vec<Panel> {
    let methods = separation_methods(&METHODS_SHOWN);
    let library = bodies();
    let repetitions = rerun.share_of(REPETITIONS);
    rerun.begin(library.len() * repetitions as usize);
    let mut gathered = Gathered::default();
    for body in &library {
        let vertices = f64::from(body.vertex_count());
        for seed in 0..u64::from(repetitions) {
            for (curve, method) in methods.iter().enumerate() {
                let last = last_frames(body, method, &mut Random::new(seed));
                for taken in last.into_iter().flatten() {
                    gathered.add(0, curve, vertices, taken.cost.steps as f64);
                    gathered.add(1, curve, vertices, taken.microseconds);
                }
            }
            rerun.advance();
        }
    }
    gathered.into_panels(panels(&methods, "vertices of each body", "microseconds a query (mean)"))
}

/// What the last frames before contact take, of those in which the boxes meet; none if the bodies
/// made no contact.
fn last_frames(
    body: &Arc<Polytope>,
    method: &CollisionMethod,
    random: &mut Random,
) -> Option<ArrayVec<Taken, LAST_FRAMES>> {
    let mut mover = |x: f64| {
        let pose = Pose { translation: Vec3::x() * x, ..attitude(random) };
        CrowdMember { body: body.clone(), pose, velocity: Vec3::zeros() }
    };
    let mut movers = [mover(0.0), mover(CLOSING * f64::from(CLOSING_FRAMES))];
    let (mut witness, mut last) = (Witness::default(), ArrayVec::new());
    for _ in 0..CLOSING_FRAMES {
        if movers[0].oriented_box().meets(&movers[1].oriented_box()) {
            let (taken, is_separated) = warm(method, &movers[0].pair(&movers[1]), &mut witness);
            if !is_separated {
                return Some(last);
            }
            if last.is_full() {
                last.remove(0);
            }
            last.push(taken);
        }
        movers[1].pose.translation.x -= CLOSING;
        movers.iter_mut().for_each(|mover| mover.turn(10.0, random));
    }
    None
}

/// Figs 9-12.
fn crowds(
    rerun: &mut Rerun,
    x_axis: &'static str,
    at: &[f64],
    crowd: fn(f64) -> Crowd,
) -> Vec<Panel> {
    let library = bodies();
    let methods = separation_methods(&METHODS_SHOWN);
    let frames = rerun.share_of(FRAMES);
    rerun.begin(at.len() * methods.len());
    let mut gathered = Gathered::default();
    for x in at {
        let crowd = crowd(*x);
        for (curve, method) in methods.iter().enumerate() {
            simulate(&crowd, &library, method, frames, |steps, microseconds| {
                gathered.add(0, curve, *x, steps);
                gathered.add(1, curve, *x, microseconds);
            });
            rerun.advance();
        }
    }
    gathered.into_panels(panels(&methods, x_axis, "microseconds a frame (mean)"))
}

/// Runs the frames; tells the mean steps of a query and the time of each frame.
fn simulate(
    crowd: &Crowd,
    library: &[Arc<Polytope>],
    method: &CollisionMethod,
    frames: u32,
    mut tell: impl FnMut(f64, f64),
) {
    let mut random = Random::new(7);
    let mut movers = crowd.members(library, &mut random);
    let mut witnesses = vec![Witness::default(); crowd.count * crowd.count];
    for _ in 0..frames {
        let boxes: Vec<OrientedBox> = movers.iter().map(CrowdMember::oriented_box).collect();
        let (mut queries, mut steps, mut microseconds) = (0u32, 0.0, 0.0);
        for j in 1..movers.len() {
            for i in (0..j).filter(|i| boxes[*i].meets(&boxes[j])) {
                let witness = &mut witnesses[j * crowd.count + i];
                let (taken, _) = warm(method, &movers[i].pair(&movers[j]), witness);
                queries += 1;
                steps += taken.cost.steps as f64;
                microseconds += taken.microseconds;
            }
        }
        if queries > 0 {
            tell(steps / f64::from(queries), microseconds);
        }
        crowd.go_on(&mut movers, &mut random);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hulls of four points used to pass each other and fly apart for ever, every frame kept.
    #[test]
    fn every_approach_ends_with_contact() {
        let library = bodies();
        for method in separation_methods(&METHODS_SHOWN) {
            for seed in 0..20 {
                let last = last_frames(&library[0], method, &mut Random::new(seed));
                assert!(last.is_some(), "{}, seed {seed}", method.name);
            }
        }
    }

    #[test]
    fn every_size_of_a_crowd_has_its_points() {
        let panels = crowds(&mut Rerun::quiet(1), "bodies", &[3.0, 5.0], |x| Crowd {
            count: x as usize,
            cube: 2.0,
            ..Crowd::default()
        });
        assert!(panels.iter().flat_map(|panel| &panel.curves).all(|curve| curve.points.len() == 2));
    }
}
