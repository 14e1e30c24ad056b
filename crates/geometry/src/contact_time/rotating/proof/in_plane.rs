//! Contact in a plane that neither body leaves: flat polygons that turn in their common plane, or a
//! face that slides on a face. The difference body M then has the origin on its boundary, however
//! deep the polygons are in each other. Pairs that hold the origin strictly inside *within the
//! plane* prove the contact.

use arrayvec::ArrayVec;

use crate::Vec3;
use crate::contact_time::rotating::bounds::body::MovingBody;
use crate::contact_time::rotating::bounds::pair::MovingPair;
use crate::contact_time::rotating::bounds::unturned::SharedPlane;
use crate::contact_time::rotating::search::ContactPairs;
use crate::number::Sign;
use crate::number::interval::Interval;
use crate::pair::VertexPair;

/// How often the corners of the edge by which the ray from inside to the origin leaves are replaced
/// by better ones.
const REFINEMENTS_MAX: usize = 200;

/// Pairs that prove contact in the plane at time t. `world` is the direction along which the bodies
/// were last separated.
pub(super) fn prove_in_plane(
    shared: &SharedPlane,
    pair: &MovingPair<'_>,
    t: f64,
    world: &Vec3,
) -> Option<ContactPairs> {
    let polygons = PlacedPolygons::new(shared, pair, t)?;
    let [x, y] = shared.shown;
    // For a difference in the plane, the hidden coordinate follows from the others.
    let hidden = world[3 - x - y];
    let [slope_x, slope_y] = shared.slopes;
    let inside = polygons.farthest([world[x] - slope_x * hidden, world[y] - slope_y * hidden]);
    // The corners farthest to the two sides of the ray from there to the origin.
    let side = [inside.at[1], -inside.at[0]];
    let outer = [polygons.farthest(side), polygons.farthest(side.map(|c| -c))];
    let [left, right] = polygons.leaving_edge(&inside, side, outer);
    let mut pairs = ContactPairs::new();
    for corner in [inside, left, right, outer[0], outer[1]] {
        if !pairs.contains(&corner.pair) {
            pairs.push(corner.pair);
        }
        let vectors: ArrayVec<[Interval; 2], 6> =
            pairs.iter().map(|&of| pair.difference(of, t)).map(|d| [d[x], d[y]]).collect();
        if holds_strictly(&vectors) {
            return Some(pairs);
        }
    }
    None
}

/// A vertex of a polygon in the plane, rounded.
type PlaneVertex = (u32, [f64; 2]);

/// A difference of two vertices in the plane, rounded.
#[derive(Clone, Copy)]
struct PlaneCorner {
    pair: VertexPair,
    at: [f64; 2],
}

/// The polygons' vertices at one time in the plane, rounded.
struct PlacedPolygons {
    p: Vec<PlaneVertex>,
    q: Vec<PlaneVertex>,
}

fn along(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

impl PlacedPolygons {
    fn new(shared: &SharedPlane, pair: &MovingPair<'_>, t: f64) -> Option<Self> {
        let (trig_p, trig_q) = (pair.p.plain.trig(t)?, pair.q.plain.trig(t)?);
        let [x, y] = shared.shown;
        let at = |body: &MovingBody<'_>, trig, all: &[u32], from: Vec3| {
            let place = |&i: &u32| {
                let v = body.track.local(body.body.vertex(i));
                let at = from + body.plain.place_from_start(trig, t, &v);
                (i, [at[x], at[y]])
            };
            all.iter().map(place).collect()
        };
        Some(Self {
            p: at(&pair.p, &trig_p, &shared.p, Vec3::zeros()),
            q: at(&pair.q, &trig_q, &shared.q, pair.between_rounded),
        })
    }

    /// The difference farthest along s.
    fn farthest(&self, s: [f64; 2]) -> PlaneCorner {
        let best = |all: &[PlaneVertex], s: [f64; 2]| {
            let by_height =
                |a: &&PlaneVertex, b: &&PlaneVertex| along(s, a.1).total_cmp(&along(s, b.1));
            *all.iter().max_by(by_height).expect("neither is empty")
        };
        let (p, q) = (best(&self.p, s.map(|c| -c)), best(&self.q, s));
        let at = [q.1[0] - p.1[0], q.1[1] - p.1[1]];
        PlaneCorner { pair: VertexPair { i: p.0, j: q.0 }, at }
    }

    /// The corners of the edge by which the ray from `inside` to the origin leaves the hull of the
    /// differences, left and right of the ray: refined from the outermost corners on either side.
    fn leaving_edge(
        &self,
        inside: &PlaneCorner,
        side: [f64; 2],
        [mut left, mut right]: [PlaneCorner; 2],
    ) -> [PlaneCorner; 2] {
        for _ in 0..REFINEMENTS_MAX {
            let edge = [right.at[0] - left.at[0], right.at[1] - left.at[1]];
            let across = [edge[1], -edge[0]];
            let faces_away = along(across, inside.at) < along(across, left.at);
            let outward = if faces_away { across } else { across.map(|c| -c) };
            let next = self.farthest(outward);
            let is_beyond = along(outward, next.at) > along(outward, left.at)
                && next.pair != left.pair
                && next.pair != right.pair;
            if !is_beyond {
                break;
            }
            *(if along(side, next.at) > 0.0 { &mut left } else { &mut right }) = next;
        }
        [left, right]
    }
}

/// Whether every choice of vectors from the enclosures has the origin strictly inside its hull:
/// each vector has others surely on both sides of the line through it.
fn holds_strictly(vectors: &[[Interval; 2]]) -> bool {
    vectors.len() >= 3
        && vectors.iter().all(|a| {
            let on = |side: Sign| {
                vectors.iter().any(|b| (a[0] * b[1] - a[1] * b[0]).sign() == Some(side))
            };
            on(Sign::Positive) && on(Sign::Negative)
        })
}
