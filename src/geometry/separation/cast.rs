//! The portal cast: where the ray `{t u}`, t growing, enters M, in floating point. It only proposes.
//!
//! Seen along u the ray is a point and M a polygon. First supporting vertices of M along directions
//! across u close in on the point, until three of them are around it (or one direction has M on one
//! side: the line misses M). The triangle of the three is a *portal* that the line passes through; the
//! supporting vertex against its normal lies before it, or its plane is the facet's through which the
//! ray enters. In the first case the line passes through one of the three smaller triangles with the
//! new vertex. (Snethen, *XenoCollide*, Game Programming Gems 7, 2008, has the scheme for a ray that
//! starts inside.) Every plane on the way bounds the time of entry from below.
//!
//! Cost: about eight supporting pairs on bodies of hundreds or thousands of vertices.

use crate::geometry::Vec3;
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::pair::{Pair, VertexPair};
use crate::geometry::support::likely_vertex;

/// What a cast believes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cast {
    /// Along this direction M is on the positive side of the ray from t = 0 to the limit, or, across
    /// it, of the whole line; with the supporting pair.
    Apart(Vec3, VertexPair),
    /// The ray's line enters M through the triangle of these corners, at about this t.
    Enters([VertexPair; 3], f64),
    /// Rounding gave out, or the numbers are too large or too small for products of three.
    Lost,
}

/// Portals and corners around the ray that a cast looks at before it gives up.
const STEPS_MAX: u32 = 100;

/// Lengths with which products of four neither overflow nor underflow.
pub(crate) const PLAIN: std::ops::RangeInclusive<f64> = 1e-60..=1e60;

/// A vertex of M, rounded.
#[derive(Clone, Copy)]
struct Corner {
    pair: VertexPair,
    point: Vec3,
}

struct Search<'a> {
    pair: &'a Pair<'a>,
    offset: Vec3,
    u: Vec3,
    limit: f64,
    /// Half a last place of the largest coordinate, with room.
    noise: f64,
}

/// Casts the ray along `u` up to `t = limit`, which may be infinite.
pub(crate) fn cast(
    pair: &Pair<'_>,
    u: &Vec3,
    limit: f64,
    effort: &mut Effort<'_>,
) -> Result<Cast, Stopped> {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    let offset = pair.q.pose.translation - pair.p.pose.translation;
    let size = offset.amax().max(p.reach.amax()).max(q.reach.amax());
    if !(PLAIN.contains(&size) && PLAIN.contains(&u.amax())) {
        return Ok(Cast::Lost);
    }
    let search = Search { pair, offset, u: *u, limit, noise: 16.0 * f64::EPSILON * size };
    let centre = (pair.q.pose.rotation * q.centre - pair.p.pose.rotation * p.centre) + offset;
    // For balls the ray enters where the normal has this component along it.
    let radius = p.radius + q.radius;
    let across = centre - u * (centre.dot(u) / u.norm_squared());
    let depth = (radius * radius - across.norm_squared()).max(0.01 * radius * radius).sqrt();
    search.run(&(across + u * (depth / u.norm())), effort)
}

/// `u · (a x b)`
#[inline]
fn side(u: &Vec3, a: &Corner, b: &Corner) -> f64 {
    u.dot(&a.point.cross(&b.point))
}

impl Search<'_> {
    #[inline]
    fn support(&self, s: &Vec3, effort: &mut Effort<'_>) -> Result<Corner, Stopped> {
        effort.spend_step()?;
        let (p, q) = (&self.pair.p, &self.pair.q);
        let i = likely_vertex(p.body, &p.pose.direction_to_body_rounded(s), None, effort);
        let j = likely_vertex(q.body, &-q.pose.direction_to_body_rounded(s), None, effort);
        let of_p = p.pose.rotation * p.body.vertex(i);
        let of_q = q.pose.rotation * q.body.vertex(j);
        Ok(Corner { pair: VertexPair { i, j }, point: (of_q - of_p) + self.offset })
    }

    /// Whether M, whose supporting vertex along s is given, is beyond the ray up to the limit.
    #[inline]
    fn is_apart(&self, s: &Vec3, least: &Corner) -> bool {
        let value = s.dot(&least.point);
        value > 0.0 && value > self.limit * s.dot(&self.u)
    }

    fn run(&self, start: &Vec3, effort: &mut Effort<'_>) -> Result<Cast, Stopped> {
        let first = self.support(start, effort)?;
        if self.is_apart(start, &first) {
            return Ok(Cast::Apart(*start, first.pair));
        }
        let u = &self.u;
        let across = first.point - u * (u.dot(&first.point) / u.norm_squared());
        let second = self.support(&across, effort)?;
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
            let c = self.support(&s, effort)?;
            if s.dot(&c.point) > 0.0 {
                return Ok(Cast::Apart(s, c.pair));
            }
            if side(u, &b, &c) < 0.0 {
                portal = [c, b, b];
            } else if side(u, &c, &a) < 0.0 {
                portal = [a, c, c];
            } else {
                return self.refine([a, b, c], effort);
            }
        }
        Ok(Cast::Lost)
    }

    /// Moves the portal, around which the corners turn left as seen along u, towards t = -∞.
    fn refine(&self, portal: [Corner; 3], effort: &mut Effort<'_>) -> Result<Cast, Stopped> {
        let [mut a, mut b, mut c] = portal;
        for _ in 0..STEPS_MAX {
            let s = (b.point - a.point).cross(&(c.point - a.point));
            let rate = s.dot(&self.u);
            let positive = rate > 0.0;
            if !positive {
                return Ok(Cast::Lost);
            }
            let d = self.support(&s, effort)?;
            if self.is_apart(&s, &d) {
                return Ok(Cast::Apart(s, d.pair));
            }
            let value = s.dot(&a.point);
            let known = d.pair == a.pair || d.pair == b.pair || d.pair == c.pair;
            let gain = value - s.dot(&d.point);
            if known || gain <= self.noise * (s.x.abs() + s.y.abs() + s.z.abs()) {
                return Ok(Cast::Enters([a.pair, b.pair, c.pair], value / rate));
            }
            let turned = self.u.cross(&d.point);
            let sides = [turned.dot(&a.point), turned.dot(&b.point), turned.dot(&c.point)]
                .map(|x| x >= 0.0);
            match sides {
                [true, false, _] => c = d,
                [_, true, false] => a = d,
                [false, _, true] => b = d,
                [true, true, true] | [false, false, false] => return Ok(Cast::Lost),
            }
        }
        Ok(Cast::Lost)
    }
}
