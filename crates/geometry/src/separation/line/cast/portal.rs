//! The portal: triangles around the ray that shrink towards the facet through which it enters.
//!
//! Seen along u the ray is a point and M a polygon. First supporting vertices of M along directions
//! across u close in on the point, until three of them are around it (or one direction has M on one
//! side: the line misses M). The triangle of the three is a *portal* that the line passes through;
//! the supporting vertex against its normal lies before it, or its plane is the facet's through
//! which the ray enters. In the first case the line passes through one of the three smaller
//! triangles with the new vertex. (Snethen, *XenoCollide*, Game Programming Gems 7, 2008, has the
//! scheme for a ray that starts inside.) Every plane on the way bounds the time of entry from
//! below.
//!
//! Cost: twelve to seventeen supporting pairs on bodies of hundreds or thousands of vertices.

use super::{Cast, Scene};
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::effort::{Effort, Stopped};

/// Portals and corners around the ray that are looked at before it gives up.
const STEPS_MAX: u32 = 100;

/// `u · (a x b)`
#[inline]
fn side(u: &Vec3, a: &RoundedCorner, b: &RoundedCorner) -> f64 {
    u.dot(&a.point.cross(&b.point))
}

/// Searches on from the supporting vertex `first` along `s`.
pub(super) fn search(
    scene: &Scene<'_>,
    s: &Vec3,
    first: RoundedCorner,
    effort: &mut Effort<'_>,
) -> Result<Cast, Stopped> {
    if scene.is_beyond(s, &first) {
        return Ok(Cast::Apart(*s, first.pair));
    }
    let u = &scene.u;
    let across = scene.across(&first.point);
    let second = scene.support(&across, effort)?;
    if across.dot(&second.point) > 0.0 {
        return Ok(Cast::Apart(across, second.pair));
    }
    let mut portal = [first, second, second];
    for _ in 0..STEPS_MAX {
        let [a, b, _] = portal;
        if side(u, &a, &b) < 0.0 {
            portal = [b, a, a];
        }
        let [a, b, _] = portal;
        // Beyond the edge from a to b as seen from the ray, which is on its left.
        let s = u.cross(&(a.point - b.point));
        let c = scene.support(&s, effort)?;
        if s.dot(&c.point) > 0.0 {
            return Ok(Cast::Apart(s, c.pair));
        }
        if side(u, &b, &c) < 0.0 {
            portal = [c, b, b];
        } else if side(u, &c, &a) < 0.0 {
            portal = [a, c, c];
        } else {
            return refine(scene, [a, b, c], effort);
        }
    }
    Ok(Cast::Lost)
}

/// Moves the portal, around which the corners turn left as seen along u, towards t = -∞.
fn refine(
    scene: &Scene<'_>,
    portal: [RoundedCorner; 3],
    effort: &mut Effort<'_>,
) -> Result<Cast, Stopped> {
    let [mut a, mut b, mut c] = portal;
    for _ in 0..STEPS_MAX {
        let s = (b.point - a.point).cross(&(c.point - a.point));
        let rate = s.dot(&scene.u);
        let positive = rate > 0.0;
        if !positive {
            return Ok(Cast::Lost);
        }
        let d = scene.support(&s, effort)?;
        if scene.is_beyond(&s, &d) {
            return Ok(Cast::Apart(s, d.pair));
        }
        let value = s.dot(&a.point);
        let known = d.pair == a.pair || d.pair == b.pair || d.pair == c.pair;
        let gain = value - s.dot(&d.point);
        if known || gain <= scene.noise * (s.x.abs() + s.y.abs() + s.z.abs()) {
            return Ok(Cast::Enters([a.pair, b.pair, c.pair], value / rate));
        }
        let turned = scene.u.cross(&d.point);
        let sides =
            [turned.dot(&a.point), turned.dot(&b.point), turned.dot(&c.point)].map(|x| x >= 0.0);
        match sides {
            [true, false, _] => c = d,
            [_, true, false] => a = d,
            [false, _, true] => b = d,
            [true, true, true] | [false, false, false] => return Ok(Cast::Lost),
        }
    }
    Ok(Cast::Lost)
}
