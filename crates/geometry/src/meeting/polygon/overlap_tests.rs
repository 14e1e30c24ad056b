//! Polygons of bodies that overlap, beside what rational numbers and all directions tell.

use dashu_int::IBig;

use super::*;
use crate::pose::Pose;
use crate::samples::{Random, cuboid, hull};

type Point = [i64; 3];

/// A quotient of integers with a positive divisor.
#[derive(Clone, Debug)]
struct Quotient(IBig, IBig);

impl Quotient {
    fn whole(x: i64) -> Self {
        Self(x.into(), IBig::ONE)
    }

    fn plus(&self, other: &Self) -> Self {
        Self(&self.0 * &other.1 + &other.0 * &self.1, &self.1 * &other.1)
    }

    fn times(&self, other: &Self) -> Self {
        Self(&self.0 * &other.0, &self.1 * &other.1)
    }

    fn less(&self, other: &Self) -> Self {
        self.plus(&Self(-&other.0, other.1.clone()))
    }

    fn over(&self, other: &Self) -> Self {
        let flipped = if other.0 < IBig::ZERO { -&other.1 } else { other.1.clone() };
        let divisor = if other.0 < IBig::ZERO { -&other.0 } else { other.0.clone() };
        self.times(&Self(flipped, divisor))
    }

    fn sign(&self) -> i32 {
        i32::from(self.0 > IBig::ZERO) - i32::from(self.0 < IBig::ZERO)
    }

    fn rounded(&self) -> f64 {
        self.0.to_f64().value() / self.1.to_f64().value()
    }
}

type Place = [Quotient; 3];

fn of_places(a: &Place, b: &Place) -> Quotient {
    let products = [0, 1, 2].map(|k| a[k].times(&b[k]));
    products[0].plus(&products[1]).plus(&products[2])
}

fn between(a: &Place, b: &Place) -> Place {
    std::array::from_fn(|k| b[k].less(&a[k]))
}

fn across(a: &Place, b: &Place) -> Place {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i].times(&b[j]).less(&a[j].times(&b[i])))
}

fn exact(point: &Point) -> Place {
    point.map(Quotient::whole)
}

fn product(a: &Point, b: &Point) -> i64 {
    (0..3).map(|k| a[k] * b[k]).sum()
}

fn cross_of(a: &Point, b: &Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn edges_of(body: &[Point]) -> Vec<Point> {
    let pairs = body.iter().flat_map(|a| body.iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| a < b).map(|(a, b)| [0, 1, 2].map(|k| b[k] - a[k])).collect()
}

/// The direction out of Q along which P leaves it soonest, of all that are square to two edges;
/// none where they do not overlap or several are equally short.
fn way_out(p: &[Point], q: &[Point]) -> Option<Point> {
    let (of_p, of_q) = (edges_of(p), edges_of(q));
    let all: Vec<&Point> = of_p.iter().chain(&of_q).collect();
    let mut best: Option<(i128, i128, Point)> = None;
    let mut is_tied = false;
    for (a, b) in all.iter().enumerate().flat_map(|(k, a)| all[..k].iter().map(move |b| (a, b))) {
        let normal = cross_of(a, b);
        if normal == [0; 3] {
            continue;
        }
        for n in [normal, normal.map(|x| -x)] {
            let height =
                q.iter().map(|v| product(v, &n)).max()? - p.iter().map(|v| product(v, &n)).min()?;
            if height <= 0 {
                return None;
            }
            let (height, length) = (i128::from(height).pow(2), i128::from(product(&n, &n)));
            let Some((least, of_least, known)) = best else {
                best = Some((height, length, n));
                continue;
            };
            let is_other = cross_of(&n, &known) != [0; 3] || product(&n, &known) < 0;
            match (height * of_least).cmp(&(least * length)) {
                std::cmp::Ordering::Less => (best, is_tied) = (Some((height, length, n)), false),
                std::cmp::Ordering::Equal => is_tied |= is_other,
                std::cmp::Ordering::Greater => {}
            }
        }
    }
    best.filter(|_| !is_tied).map(|(_, _, n)| n)
}

/// The corners of a convex polygon in order around n.
fn in_order(corners: &[Place], n: &Place) -> Vec<Place> {
    let turn = |a: &Place, b: &Place, c: &Place| {
        of_places(n, &across(&between(a, b), &between(a, c))).sign()
    };
    if corners.len() < 3 {
        return corners.to_vec();
    }
    let mut order = vec![0_usize];
    while order.len() < corners.len() {
        let at = order[order.len() - 1];
        let next = (0..corners.len()).find(|k| {
            *k != at
                && (0..corners.len()).all(|j| turn(&corners[at], &corners[*k], &corners[j]) >= 0)
        });
        order.push(next.expect("every corner has a next one"));
    }
    order.into_iter().map(|at| corners[at].clone()).collect()
}

fn sides(polygon: &[Place]) -> Vec<[&Place; 2]> {
    let next = polygon.iter().cycle().skip(1);
    polygon.iter().zip(next).map(|(a, b)| [a, b]).collect()
}

/// Whether a point of the plane is in a polygon, a segment or a point.
fn holds(polygon: &[Place], n: &Place, at: &Place) -> bool {
    let is_left =
        |[a, b]: &[&Place; 2]| of_places(n, &across(&between(a, b), &between(a, at))).sign() >= 0;
    let is_within = |[a, b]: &[&Place; 2]| of_places(&between(a, b), &between(a, at)).sign() >= 0;
    match polygon {
        [point] => between(point, at).iter().all(|x| x.sign() == 0),
        [_, _] => sides(polygon).iter().all(|side| is_left(side) && is_within(side)),
        _ => sides(polygon).iter().all(is_left),
    }
}

/// Where the lines of two sides cross, if they do.
fn crossing([a, b]: &[&Place; 2], [c, d]: &[&Place; 2], n: &Place) -> Option<Place> {
    let (ab, cd, ac) = (between(a, b), between(c, d), between(a, c));
    let over = of_places(n, &across(&ab, &cd));
    let part = (over.sign() != 0).then(|| of_places(n, &across(&ac, &cd)).over(&over))?;
    Some(std::array::from_fn(|k| a[k].plus(&ab[k].times(&part))))
}

/// All points at which corners of what two polygons have in common may be.
fn common(p: &[Place], q: &[Place], n: &Place) -> Vec<Place> {
    let lines = |polygon: &[Place]| polygon.len() > 1;
    let mut found: Vec<Place> = p.iter().chain(q).cloned().collect();
    if lines(p) && lines(q) {
        for side in sides(p) {
            found.extend(sides(q).iter().filter_map(|other| crossing(&side, other, n)));
        }
    }
    found.retain(|at| holds(p, n, at) && holds(q, n, at));
    found
}

/// What `p` and `q`, which are the vertices of hulls, have in common along their way out, as
/// rational numbers tell, rounded; none: see [`way_out`].
fn expected(p: &[Point], q: &[Point]) -> Option<(Vec3, Vec<Vec3>)> {
    let n = way_out(p, q)?;
    let (lowest, highest) =
        (p.iter().map(|v| product(v, &n)).min()?, q.iter().map(|v| product(v, &n)).max()?);
    let normal = exact(&n);
    let onto = |v: &Point| -> Place {
        let by = Quotient(IBig::from(highest - lowest), IBig::from(product(&n, &n)));
        std::array::from_fn(|k| exact(v)[k].plus(&normal[k].times(&by)))
    };
    let of_p: Vec<Place> = p.iter().filter(|v| product(v, &n) == lowest).map(onto).collect();
    let of_q: Vec<Place> = q.iter().filter(|v| product(v, &n) == highest).map(exact).collect();
    let [of_p, of_q] = [of_p, of_q].map(|face| in_order(&face, &normal));
    let round = |at: &Place| Vec3::from(at.each_ref().map(Quotient::rounded));
    let corners = common(&of_p, &of_q, &normal).iter().map(round).collect();
    Some((Vec3::from(n.map(|x| x as f64)).normalize(), corners))
}

fn points(body: &crate::polytope::Polytope) -> Vec<Point> {
    body.vertices().iter().map(|v| [v.x as i64, v.y as i64, v.z as i64]).collect()
}

#[test]
fn of_bodies_that_overlap_it_is_what_rational_clipping_tells() {
    let mut random = Random(41);
    let mut seen = [0_u32; 4];
    for round in 0..600 {
        let mut lattice = |count: u32| {
            let each =
                (0..count).map(|_| Vec3::from([0; 3].map(|_| f64::from(random.below(9)) - 4.0)));
            each.collect::<Vec<_>>()
        };
        // Boxes have large faces, and hulls of points small ones and edges.
        let half = 1.0 + f64::from(round % 4);
        let p = if round % 3 == 0 { cuboid(half, 2.0, 3.0) } else { hull(&lattice(7)) };
        let q = if round % 2 == 0 { cuboid(4.0, half, 2.0) } else { hull(&lattice(7)) };
        if p.dimension() < 3 || q.dimension() < 3 {
            continue;
        }
        let by = [0; 3].map(|_| i64::from(random.below(7)) - 3);
        let of_p: Vec<Point> = points(&p).iter().map(|v| [0, 1, 2].map(|k| v[k] + by[k])).collect();
        let Some((out, exact)) = expected(&of_p, &points(&q)) else { continue };
        let [x, y, z] = by.map(|x| x as f64);
        let pair = Pair::new(&p, Pose::translation(x, y, z), &q, Pose::identity());
        let told = contact_polygon_within(&pair, 100.0, &mut Effort::unlimited()).unwrap();
        assert!(!told.is_empty() && !exact.is_empty(), "{round}: {told:?} {exact:?}");
        for at in &told {
            let off = exact.iter().map(|corner| (corner - at).norm()).fold(f64::INFINITY, f64::min);
            assert!(off < 1e-7, "{round}: {at} {exact:?}");
        }
        // The two reach as far in every direction.
        for _ in 0..8 {
            let along = random.unit_vector();
            let reach = |of: &[Vec3]| of.iter().map(|at| along.dot(at)).fold(f64::MIN, f64::max);
            assert!((reach(&told) - reach(&exact)).abs() < 1e-7, "{round}: {told:?} {exact:?}");
        }
        let area: Vec3 = (1..told.len().max(2) - 1)
            .map(|k| (told[k] - told[0]).cross(&(told[k + 1] - told[0])))
            .sum();
        assert!(told.len() < 3 || area.dot(&out) > 0.0, "{round}: {told:?} {out}");
        seen[told.len().min(4) - 1] += 1;
    }
    assert!(seen.iter().all(|count| *count > 2), "{seen:?}");
}

/// The bound is exact, and at 0 nothing is told that was not before.
#[test]
fn bodies_that_overlap_by_less_than_the_bound_have_one() {
    let cube = cuboid(1.0, 1.0, 1.0);
    let corners = |z: f64, depth: f64| {
        let pair = Pair::new(&cube, Pose::translation(0.5, 0.0, z), &cube, Pose::identity());
        contact_polygon_within(&pair, depth, &mut Effort::unlimited()).unwrap().len()
    };
    assert_eq!([corners(2.0, 0.0), corners(1.875, 0.0), corners(2.5, 1.0)], [4, 0, 0]);
    assert_eq!(corners(1.875, 0.125), 0);
    assert_eq!(corners(1.875, 0.125_f64.next_up()), 4);
    assert_eq!(corners(2.0_f64.next_down(), 5e-324), 0);
    assert_eq!(corners(2.0_f64.next_down(), 1e-15), 4);
}
