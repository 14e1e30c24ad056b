//! Where the ray `{t u}`, t growing, enters M, in floating point. It only proposes.
//!
//! Over the directions s with `s·u = 1`, the least `s·m` of M is a concave function f of s. Its
//! maximum is the t of entry, and is attained at the inward normal of the facet through which the
//! ray enters; where f exceeds t, or is unbounded, s proves that the ray is free up to t, or misses
//! M. That maximum is looked for in three ways, each from where the one before it gave up:
//!
//! - [`ellipsoid`]: where the ray would enter if the bodies were ellipsoids. It takes no look at
//!   them.
//! - [`walk`]: uphill from there, over the normals of M's vertices, edges and facets, one neighbour
//!   after the other. A few steps from a good guess.
//! - [`portal`]: triangles of M around the ray that shrink towards the facet. It ends from
//!   anywhere.

mod ellipsoid;
mod portal;
mod walk;

use self::ellipsoid::Ellipsoids;
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::effort::{Effort, Stopped};
use crate::number::rounding::CAST_LENGTHS;
use crate::pair::{Pair, VertexPair};
use crate::processor;
use crate::support::likely_pair;

/// What a cast believes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cast {
    /// Along this direction M is on the positive side of the ray from t = 0 to the limit, or,
    /// across it, of the whole line; with the supporting pair.
    Apart(Vec3, VertexPair),
    /// The ray's line enters M through the triangle of these corners, at about this t.
    Enters([VertexPair; 3], f64),
    /// The bodies meet where they start; with four pairs whose differences hold the origin, if the
    /// search ended with so many. Only the prisms say so.
    AtStart(Option<[VertexPair; 4]>),
    /// Rounding gave out, or the numbers are too large or too small for products of three.
    Lost,
}

/// Guesses from which a walk is tried.
const GUESSES_MAX: u32 = 5;

/// What is asked.
struct Scene<'a> {
    pair: &'a Pair<'a>,
    /// From P's origin to Q's.
    offset: Vec3,
    u: Vec3,
    /// One over the square of its length.
    inverse: f64,
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
    processor::dispatch(
        #[inline(always)]
        || cast_inlined(pair, u, limit, effort),
    )
}

#[inline(always)]
fn cast_inlined(
    pair: &Pair<'_>,
    u: &Vec3,
    limit: f64,
    effort: &mut Effort<'_>,
) -> Result<Cast, Stopped> {
    let (p, q) = (pair.p.body.bounds(), pair.q.body.bounds());
    let offset = pair.q.pose.translation - pair.p.pose.translation;
    let size = offset.amax().max(p.reach.amax()).max(q.reach.amax());
    if !(CAST_LENGTHS.contains(&size) && CAST_LENGTHS.contains(&u.amax())) {
        return Ok(Cast::Lost);
    }
    let scene = Scene::new(pair, offset, u, limit, size);
    let ellipsoids = Ellipsoids::new(&scene, effort)?;
    let mut s = ellipsoids.first_normal(&scene);
    let mut corner = scene.support(&s, effort)?;
    if scene.is_beyond(&s, &corner) {
        return Ok(Cast::Apart(s, corner.pair));
    }
    if let Some(found) = walk::walk(&scene, &mut s, &mut corner, effort)? {
        return Ok(found);
    }
    search_on(&scene, &ellipsoids, s, corner, effort)
}

/// From where a first walk gave up.
#[cold]
#[inline(never)]
fn search_on(
    scene: &Scene<'_>,
    ellipsoids: &Ellipsoids<'_>,
    from: Vec3,
    corner: RoundedCorner,
    effort: &mut Effort<'_>,
) -> Result<Cast, Stopped> {
    processor::dispatch(
        #[inline(always)]
        || {
            let (mut s, mut corner) = (from, corner);
            for _ in 1..GUESSES_MAX {
                s = ellipsoids.normal_through(scene, &corner, &s);
                corner = scene.support(&s, effort)?;
                if scene.is_beyond(&s, &corner) {
                    return Ok(Cast::Apart(s, corner.pair));
                }
                if let Some(found) = walk::walk(scene, &mut s, &mut corner, effort)? {
                    return Ok(found);
                }
            }
            s = ellipsoids.normal_through(scene, &corner, &s);
            corner = scene.support(&s, effort)?;
            portal::search(scene, &s, corner, effort)
        },
    )
}

impl<'a> Scene<'a> {
    /// The noise of numbers up to `size`.
    #[inline(always)]
    fn new(pair: &'a Pair<'a>, offset: Vec3, u: &Vec3, limit: f64, size: f64) -> Self {
        let inverse = 1.0 / u.norm_squared();
        Self { pair, offset, u: *u, inverse, limit, noise: 16.0 * f64::EPSILON * size }
    }

    /// A vertex of M where `s·m` is least.
    #[inline(always)]
    fn support(&self, s: &Vec3, effort: &mut Effort<'_>) -> Result<RoundedCorner, Stopped> {
        effort.spend_step()?;
        let (p, q) = (&self.pair.p, &self.pair.q);
        let in_p = p.pose.direction_to_body_rounded(s);
        let in_q = -q.pose.direction_to_body_rounded(s);
        let found = likely_pair([p.body, q.body], [&in_p, &in_q], [None, None], effort);
        let [i, j] = found.map(|climb| climb.vertex);
        Ok(self.corner(VertexPair { i, j }))
    }

    #[inline(always)]
    fn corner(&self, pair: VertexPair) -> RoundedCorner {
        let of_p = self.pair.p.pose.rotation * self.pair.p.body.vertex(pair.i);
        let of_q = self.pair.q.pose.rotation * self.pair.q.body.vertex(pair.j);
        RoundedCorner { pair, point: (of_q - of_p) + self.offset }
    }

    /// What of a vector is across the ray.
    #[inline(always)]
    fn across(&self, x: &Vec3) -> Vec3 {
        x - self.u * (self.u.dot(x) * self.inverse)
    }

    /// Whether M, whose supporting vertex along s is given, is beyond the ray up to the limit.
    #[inline(always)]
    fn is_beyond(&self, s: &Vec3, least: &RoundedCorner) -> bool {
        let value = s.dot(&least.point);
        value > 0.0 && value > self.limit * s.dot(&self.u)
    }
}

#[cfg(test)]
mod tests;
