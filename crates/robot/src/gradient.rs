//! How the clearance of a pair changes with the joint values: the points where the two are nearest,
//! the normal, and the gradient.

use super::cell::BodyPair;
use super::curved::HowFar;
use super::links::{JointMotion, joint_motions};
use super::stand::Stand;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::distance::{Stops, measure};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::meeting::normal_of;
use clearance_geometry::number::tolerance::DRAWN_APART;
use clearance_geometry::witness::Witness;

/// Where two bodies are nearest; all of it rounded, for use and not for proof.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactGeometry {
    /// On the first body, in the world, metres.
    pub first: Vec3,
    /// On the second body.
    pub second: Vec3,
    /// The unit vector from the first body towards the second: moving the second along it makes the
    /// clearance grow by as much. Of bodies that touch at an edge or a corner, one of several.
    pub normal: Vec3,
    /// The change of the signed clearance with each joint value: metres per radian or metre. Where
    /// several points are equally near, or several normals fit, one of several such vectors.
    pub gradient: Vec<f64>,
}

/// The contact of a pair in the configuration at hand: none where rounding leaves no direction, and
/// where a polyhedron is in contact.
pub(super) fn contact_geometry(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    effort: &mut Effort<'_>,
) -> Result<Option<ContactGeometry>, Stopped> {
    let Some((first, second, normal)) = nearest_points(stand, pair, effort)? else {
        return Ok(None);
    };
    let mut gradient = vec![0.0; stand.cell.variable_count()];
    for (body, point, sign) in [(pair[0], &first, -1.0), (pair[1], &second, 1.0)] {
        add_speeds(stand, body, point, &(normal * sign), &mut gradient);
    }
    Ok(Some(ContactGeometry { first, second, normal, gradient }))
}

/// The nearest points of both and the normal. Bodies that touch have a point in common, and the
/// normal of a plane that has them on its two sides. Bodies that overlap are drawn apart along the
/// normal of the nearest face, and a little more: the same features are then the nearest ones. With
/// balls around their points they are as near as without them, but for the radii.
fn nearest_points(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    effort: &mut Effort<'_>,
) -> Result<Option<(Vec3, Vec3, Vec3)>, Stopped> {
    if let Some(beside) = stand.cloud(pair) {
        return beside.nearest_points(effort);
    }
    if let Some(solids) = stand.solids(pair) {
        if let Some(curved) = solids.curved() {
            return curved.nearest_points(effort);
        }
        let HowFar::Apart(apart) = solids.distance(Stops::default(), effort)? else {
            // Where polyhedra touch, and how deep they overlap, is not answered.
            return Ok(None);
        };
        let [first, second] = apart.closest;
        return Ok(apart.normal.map(|towards_first| (first, second, -towards_first)));
    }
    let radii = stand.radii(pair);
    let nearest = nearest_points_of_hulls(stand, pair, effort)?;
    Ok(nearest.map(|(first, second, normal)| {
        (first + normal * radii[0], second - normal * radii[1], normal)
    }))
}

/// The same of two bodies without balls around their points, that may have some.
fn nearest_points_of_hulls(
    stand: &mut Stand<'_>,
    pair: BodyPair,
    effort: &mut Effort<'_>,
) -> Result<Option<(Vec3, Vec3, Vec3)>, Stopped> {
    let placed = stand.hulls(pair);
    let witness = &mut Witness::default();
    let apart = measure(&placed, Stops::default(), witness, effort)?;
    if apart.decision.verdict() != Verdict::Overlapping {
        let mut towards_first = normal_of(&placed, &apart, None);
        if towards_first.is_none() && stand.rounded_hulls(pair).is_some() {
            // Points that are one have no normal, but balls around them a way out.
            let way_out = stand.hull_depth(pair, effort)?.map(|deep| deep.direction);
            towards_first = way_out.filter(|way| way.norm_squared() > 0.0);
        }
        return Ok(towards_first.map(|normal| (apart.closest_p, apart.closest_q, -normal)));
    }
    let Some(depth) = stand.hull_depth(pair, effort)? else { return Ok(None) };
    let mut drawn = placed;
    let sizes = [placed.p.body, placed.q.body].map(|body| body.bounds().radius);
    let away = depth.direction * (depth.upper + DRAWN_APART * sizes[0].min(sizes[1]));
    drawn.p.pose.translation += away;
    let clear = measure(&drawn, Stops::default(), &mut Witness::default(), effort)?;
    let is_clear = clear.decision.verdict() == Verdict::Separated;
    // So far from the origin that they cannot be drawn apart, they have a common point to name.
    let [first, second] = match is_clear {
        true => [clear.closest_p - away, clear.closest_q],
        false => [apart.closest_p, apart.closest_q],
    };
    Ok(Some((first, second, -depth.direction)))
}

/// Adds `along · (speed of the point with each joint value)`, the point being one of the body.
fn add_speeds(stand: &Stand<'_>, body: u32, point: &Vec3, along: &Vec3, gradient: &mut [f64]) {
    let Some(link) = stand.cell.link_of(body) else { return };
    let tree = stand.cell.kinematics.tree();
    for frame in tree.chain(link.frame) {
        let (placed, values) = (stand.frame(frame), |first| stand.values(first));
        joint_motions(&tree.frames[frame].freedom, &placed, values, |motion| {
            let JointMotion { variable, multiplier, .. } = motion;
            gradient[variable] += multiplier * along.dot(&motion.velocity(point));
        });
    }
}
