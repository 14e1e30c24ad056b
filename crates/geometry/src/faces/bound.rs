//! How near two groups may be, cheaply: by the balls around them, or the ball around one and the
//! other body in one piece.

use std::sync::LazyLock;

use crate::Vec3;
use crate::claim::Reach;
use crate::distance::{self, Stops};
use crate::effort::{Effort, Stopped};
use crate::hull::convex_hull;
use crate::number::tolerance::BALL_HAZE;
use crate::pair::{Pair, Placed};
use crate::polyhedron::groups::{GroupBall, Groups};
use crate::polyhedron::tree::Node;
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::witness::Witness;

/// The point at the origin: put elsewhere, the middle of a ball.
static POINT: LazyLock<Polytope> =
    LazyLock::new(|| convex_hull(&[Vec3::zeros()]).expect("a point has a hull").polytope);

/// At most the distance of two groups, metres, of which one at least is of a mesh; beyond `above`
/// it need not be the best one.
pub(super) fn least_gap(
    groups: &[Groups<'_>; 2],
    nodes: [Node; 2],
    radii: [f64; 2],
    above: Option<f64>,
    effort: &mut Effort<'_>,
) -> Result<f64, Stopped> {
    let rounded = Reach::of_rounded(radii, 0.0).upper();
    match [0, 1].map(|k| groups[k].ball(nodes[k])) {
        [Some(p), Some(q)] => {
            let apart = (p.centre - q.centre).norm() * (1.0 - BALL_HAZE);
            Ok((apart - (p.radius + q.radius + rounded) * (1.0 + BALL_HAZE)).max(0.0))
        }
        [Some(ball), None] => of_ball(&ball, &groups[1], rounded, above, effort),
        [None, Some(ball)] => of_ball(&ball, &groups[0], rounded, above, effort),
        [None, None] => Ok(0.0),
    }
}

/// Of a ball and a body in one piece.
fn of_ball(
    ball: &GroupBall,
    piece: &Groups<'_>,
    rounded: f64,
    above: Option<f64>,
    effort: &mut Effort<'_>,
) -> Result<f64, Stopped> {
    let [x, y, z] = ball.centre.into();
    let middle = Placed { body: &POINT, pose: Pose::translation(x, y, z) };
    let piece = Placed { body: piece.boundary.hull, pose: piece.boundary.pose };
    let reach = (ball.radius + rounded) * (1.0 + BALL_HAZE);
    let stops = Stops { above: above.map(|above| (above + reach).next_up()), below: None };
    let pair = Pair { p: middle, q: piece };
    let found = distance::measure(&pair, stops, &mut Witness::default(), effort)?;
    Ok((found.lower * (1.0 - BALL_HAZE) - reach).max(0.0))
}
