//! A second opinion on what happens between two frames: the motion that the frames were taken
//! from, sampled finely, each sample decided exactly.

use super::DemoError;
use super::cell::Obstacle;
use super::robot::Panda;
use super::shapes::ball;
use super::trajectory::Trajectory;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::{Stops, measure};
use clearance_geometry::effort::Effort;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::pair::Pair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::rounded::{self, RoundedPair};
use clearance_geometry::separation::{METHODS, decide};
use clearance_geometry::witness::Witness;

/// A ball is drawn by so many points.
const BALL_POINTS: u32 = 1200;

/// A ball of a cloud likewise: it is small, and there are many.
const CLOUD_BALL_POINTS: u32 = 8;

/// Samples between two frames.
pub(crate) const SAMPLES: u32 = 1000;

/// Everything as hulls, and how the arm moves.
pub(crate) struct World<'a> {
    robot: &'a Panda,
    motion: &'a Trajectory,
    obstacles: Vec<StandingThing>,
}

/// An obstacle as what it is made of.
struct StandingThing {
    /// Convex pieces, of which it is the union.
    pieces: Vec<Polytope>,
    /// Of the balls around all their points.
    radius: f64,
    pose: Pose,
}

/// What the samples between two frames say of one link and one other body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sampled {
    /// Whether the link is in contact in the frame before or in the one after.
    pub(crate) is_seen_by_frames: bool,
    /// How many samples are in contact.
    pub(crate) contacts: u32,
    /// Times of the first and the last of them, seconds.
    pub(crate) span_s: Option<[f64; 2]>,
}

/// A body to sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    /// By position among the robot's links.
    Link(usize),
    /// By position among the obstacles.
    Obstacle(usize),
}

impl<'a> World<'a> {
    /// Builds every hull.
    pub(crate) fn new(
        robot: &'a Panda,
        motion: &'a Trajectory,
        obstacles: &[Obstacle],
    ) -> Result<Self, DemoError> {
        let placed = |obstacle: &Obstacle| {
            let (pieces, radius) = obstacle.form.pieces();
            let pieces = pieces.iter().map(|points| hull(points)).collect::<Result<_, _>>()?;
            Ok::<_, DemoError>(StandingThing { pieces, radius, pose: obstacle.pose })
        };
        let obstacles = obstacles.iter().map(placed).collect::<Result<_, _>>()?;
        Ok(Self { robot, motion, obstacles })
    }

    /// Whether a link and another body are in contact at a time of the motion, exactly.
    pub(crate) fn is_in_contact(&self, link: usize, other: Thing, time_s: f64) -> bool {
        let placed = self.robot.place(&self.motion.at(time_s));
        let radius = match other {
            Thing::Link(_) => 0.0,
            Thing::Obstacle(index) => self.obstacles[index].radius,
        };
        self.pairs(link, other, &placed).into_iter().any(|pair| {
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            let verdict = if radius > 0.0 {
                let pair = RoundedPair { cores: pair, radii: [0.0, radius] };
                rounded::decide_with_room(&pair, witness, effort).map(|found| found.verdict)
            } else {
                decide(&pair, &METHODS[0], witness, effort).map(|found| found.verdict())
            };
            verdict.expect("an unlimited search ends") != Verdict::Separated
        })
    }

    /// Every part of every body at a time of the motion, its vertices in world coordinates,
    /// rounded, and points in place of balls: for drawing. Links come first.
    pub(crate) fn placed(&self, time_s: f64) -> Result<Vec<(Thing, Polytope)>, DemoError> {
        let placed = self.robot.place(&self.motion.at(time_s));
        let links = placed.iter().enumerate().flat_map(|(index, parts)| {
            parts.iter().map(move |(body, pose)| (Thing::Link(index), *body, *pose, 0.0))
        });
        let obstacles = self.obstacles.iter().enumerate().flat_map(|(index, placed)| {
            let of = |piece| (Thing::Obstacle(index), piece, placed.pose, placed.radius);
            placed.pieces.iter().map(of).collect::<Vec<_>>()
        });
        let points_of = |thing| match thing {
            Thing::Obstacle(index) if self.obstacles[index].pieces.len() > 1 => CLOUD_BALL_POINTS,
            Thing::Link(_) | Thing::Obstacle(_) => BALL_POINTS,
        };
        let place = |(thing, body, pose, radius): (Thing, &Polytope, Pose, f64)| {
            let around =
                if radius > 0.0 { ball(radius, points_of(thing)) } else { vec![Vec3::zeros()] };
            let vertices = body.vertices().iter();
            let points = vertices.flat_map(|vertex| around.iter().map(move |by| vertex + by));
            let points: Vec<Vec3> = points.map(|point| pose.apply_rounded(&point)).collect();
            Ok((thing, hull(&points)?))
        };
        links.chain(obstacles).map(place).collect()
    }

    /// The point of a link that is nearest to another body at a time of the motion.
    pub(crate) fn nearest_point(&self, link: usize, other: Thing, time_s: f64) -> Option<Vec3> {
        let placed = self.robot.place(&self.motion.at(time_s));
        let measured = self.pairs(link, other, &placed).into_iter().filter_map(|pair| {
            let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
            measure(&pair, Stops::default(), &mut witness, &mut effort).ok()
        });
        let nearest = measured.min_by(|a, b| a.upper.total_cmp(&b.upper))?;
        Some(nearest.closest_p)
    }

    /// Every part of a link with every part of another body.
    fn pairs<'b>(
        &'b self,
        link: usize,
        other: Thing,
        placed: &[Vec<(&'b Polytope, Pose)>],
    ) -> Vec<Pair<'b>> {
        let others = match other {
            Thing::Link(index) => placed[index].clone(),
            Thing::Obstacle(index) => {
                let StandingThing { pieces, pose, .. } = &self.obstacles[index];
                pieces.iter().map(|piece| (piece, *pose)).collect()
            }
        };
        let mut pairs = Vec::new();
        for (p, pose_p) in &placed[link] {
            pairs.extend(others.iter().map(|(q, pose_q)| Pair::new(p, *pose_p, q, *pose_q)));
        }
        pairs
    }

    /// Samples the motion between two frames at these times.
    pub(crate) fn sample(&self, link: usize, other: Thing, [from_s, to_s]: [f64; 2]) -> Sampled {
        let mut sampled = Sampled::default();
        for k in 0..=SAMPLES {
            let time_s = from_s + (to_s - from_s) * f64::from(k) / f64::from(SAMPLES);
            if !self.is_in_contact(link, other, time_s) {
                continue;
            }
            let first_s = sampled.span_s.map_or(time_s, |[first_s, _]| first_s);
            sampled.span_s = Some([first_s, time_s]);
            sampled.contacts += 1;
            sampled.is_seen_by_frames |= k == 0 || k == SAMPLES;
        }
        sampled
    }
}

fn hull(points: &[Vec3]) -> Result<Polytope, DemoError> {
    let hull = convex_hull(points).map_err(|error| DemoError::Robot(error.to_string()))?;
    Ok(hull.polytope)
}

#[cfg(test)]
mod tests {
    use super::super::cell;
    use super::*;

    /// Samples one link against one obstacle between two frames.
    #[track_caller]
    fn check(link: &str, obstacle: &str, frame: u32) -> Sampled {
        let (robot, motion) = (Panda::read().unwrap(), cell::motion());
        let obstacles = cell::obstacles();
        let link = robot.names.iter().position(|name| name == link).unwrap();
        let obstacle = obstacles.iter().position(|o| o.name == obstacle).unwrap();
        let world = World::new(&robot, &motion, &obstacles).unwrap();
        let times = [frame, frame + 1].map(|k| f64::from(k) / 100.0);
        world.sample(link, Thing::Obstacle(obstacle), times)
    }

    #[test]
    fn the_fingers_pass_the_thin_things_between_two_frames() {
        for (link, obstacle, frame) in [
            ("leftfinger", "whisker", 573),
            ("rightfinger", "sign", 600),
            ("rightfinger", "wire", 856),
        ] {
            let sampled = check(link, obstacle, frame);
            assert!(sampled.contacts >= 50, "{obstacle}: {sampled:?}");
            assert!(!sampled.is_seen_by_frames, "{obstacle}: {sampled:?}");
        }
    }

    #[test]
    fn the_fingers_sink_into_a_part_for_many_frames() {
        let sampled = check("leftfinger", "left part 3", 450);
        assert_eq!(sampled.contacts, SAMPLES + 1);
        assert!(sampled.is_seen_by_frames);
        assert_eq!(check("leftfinger", "right part 3", 450).contacts, 0);
    }
}
