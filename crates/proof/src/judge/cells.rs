//! Whether bodies that touch do no more, of which one at least is a region: no point of either is
//! strictly inside both.
//!
//! What bounds a component of the points strictly inside both are pieces of the two surfaces. Such
//! a piece of P's surface is inside Q, or it is on Q's surface and both bodies are on the same side
//! of it; or the same holds with P and Q exchanged. To show that there is none, every triangle of a
//! surface is cut by the planes of the triangles of the region that it may touch, and by the edges
//! of those that lie in its own plane. The region's surface does not run through a cell of what
//! results, so one point inside each cell tells of all of it. A triangle that touches nothing is
//! outside if its neighbours are, and of a part of the surface that touches nothing one vertex
//! tells.
//!
//! A hull that no triangle overlaps is all inside or all outside: one inner point tells.

use dashu_int::IBig;

use super::cover::{CoverSide, Payer, Touching, one_of_each, parts_of};
use super::exact::{Exact, is_zero, minus, scalar_product, vector_product};
use super::refusal::Refusal;
use crate::number::Sign;
use crate::number::dyadic::Dyadic;

/// Whether no point is strictly inside both bodies.
pub(super) fn judge_no_inner_points(
    touching: &Touching<'_>,
    payer: &mut Payer<'_, '_>,
) -> Result<(), Refusal> {
    let Touching { p, q, pairs } = touching;
    let turned: Vec<[u32; 2]> = pairs.iter().map(|&[m, n]| [n, m]).collect();
    is_outside(p, q, pairs.clone(), "P", payer)?;
    is_outside(q, p, turned, "Q", payer)
}

/// Whether nothing of a body is inside the region that the other one may be; `pairs`: a triangle of
/// this body and one of the other, all that share a point.
fn is_outside(
    own: &CoverSide<'_>,
    other: &CoverSide<'_>,
    mut pairs: Vec<[u32; 2]>,
    name: &'static str,
    payer: &mut Payer<'_, '_>,
) -> Result<(), Refusal> {
    if other.region.is_none() {
        return Ok(());
    }
    let Some(triangles) = own.triangles else {
        let inner = inner_point(&own.points).ok_or(Refusal::NotInside(name))?;
        let is_outside = other.is_beyond(&inner, payer)?;
        return if is_outside { Ok(()) } else { Err(Refusal::Within(name)) };
    };
    pairs.sort_unstable();
    let parts = parts_of(own.points.len(), triangles);
    let part_of = |triangle: u32| parts[triangles[triangle as usize][0] as usize];
    let mut looked_at: Vec<usize> = pairs.iter().map(|&[m, _]| part_of(m)).collect();
    looked_at.sort_unstable();
    for vertex in one_of_each(&parts, triangles) {
        if looked_at.binary_search(&vertex).is_err() {
            own.is_vertex_outside(vertex, other, name, payer)?;
        }
    }
    for about_one in pairs.chunk_by(|a, b| a[0] == b[0]) {
        let others: Vec<u32> = about_one.iter().map(|[_, n]| *n).collect();
        if !is_triangle_outside(own, about_one[0][0], other, &others, payer)? {
            return Err(Refusal::Within(name));
        }
    }
    Ok(())
}

/// The mean of four points that are in no plane, if there are any.
fn inner_point(points: &[Exact]) -> Option<Exact> {
    let [first, rest @ ..] = points else { return None };
    let second = rest.iter().find(|x| !is_zero(&minus(x, first)))?;
    let edge = minus(second, first);
    let normal = |x: &Exact| vector_product(&edge, &minus(x, first));
    let third = rest.iter().find(|x| !is_zero(&normal(x)))?;
    let normal = normal(third);
    let is_beside = |x: &&Exact| scalar_product(&normal, &minus(x, first)).sign() != Sign::Zero;
    let fourth = rest.iter().find(is_beside)?;
    let quarter = Dyadic::new(IBig::ONE, -2);
    Some(std::array::from_fn(|k| {
        let sum = &(&first[k] + &second[k]) + &(&third[k] + &fourth[k]);
        &sum * &quarter
    }))
}

/// Whether no point of a triangle is inside a region; `others` are all triangles of the region that
/// it may touch.
fn is_triangle_outside(
    own: &CoverSide<'_>,
    triangle: u32,
    region: &CoverSide<'_>,
    others: &[u32],
    payer: &mut Payer<'_, '_>,
) -> Result<bool, Refusal> {
    let Some(corners) = corners_of(own, triangle) else { return Ok(false) };
    let (mut cells, mut flat) = (vec![CutCell::whole()], Vec::new());
    for &at in others {
        let Some(its) = corners_of(region, at) else { return Ok(false) };
        let cut = Cut::new(&corners, &its);
        for line in cut.lines() {
            payer.visit(cells.len())?;
            cells = cells.into_iter().flat_map(|cell| cell.cut(line)).collect();
        }
        if let Cut::Flat { .. } = cut {
            flat.push((cut, normal_of(&its)));
        }
    }
    let normal = own.region.map(|_| normal_of(&corners));
    for cell in &cells {
        payer.visit(1 + flat.len())?;
        let Some(weights) = cell.inner_weights() else { return Ok(false) };
        if let Some((_, its)) = flat.iter().find(|(cut, _)| cut.holds(&weights)) {
            let faces = |normal: &Exact| scalar_product(normal, its).sign();
            if normal.as_ref().is_some_and(|normal| faces(normal) == Sign::Positive) {
                return Ok(false);
            }
            continue;
        }
        let point = std::array::from_fn(|k| {
            let [a, b, c] = [0, 1, 2].map(|at| &weights[at] * &corners[at][k]);
            &(&a + &b) + &c
        });
        if !region.is_beyond(&point, payer)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn corners_of(side: &CoverSide<'_>, triangle: u32) -> Option<[Exact; 3]> {
    let corners = side.triangles?.get(triangle as usize)?;
    Some(corners.map(|v| side.points[v as usize].clone()))
}

fn normal_of([a, b, c]: &[Exact; 3]) -> Exact {
    vector_product(&minus(b, a), &minus(c, a))
}

/// Where the plane of another triangle, or that triangle in the same plane, meets a triangle: lines
/// in the weights that its corners have at a point, as the values at the corners of a function that
/// is 0 on the line.
enum Cut {
    /// The other plane.
    Across(Exact),
    /// The lines of the edges of a triangle in the same plane, which is where none is positive.
    Flat([Exact; 3]),
}

impl Cut {
    fn new(corners: &[Exact; 3], other: &[Exact; 3]) -> Self {
        let normal = normal_of(other);
        let along = |direction: &Exact, from: &Exact| {
            corners.each_ref().map(|corner| scalar_product(direction, &minus(corner, from)))
        };
        let across = along(&normal, &other[0]);
        if !is_zero(&across) {
            return Self::Across(across);
        }
        Self::Flat([0, 1, 2].map(|k| {
            let [a, b] = [&other[k], &other[(k + 1) % 3]];
            along(&vector_product(&minus(b, a), &normal), a)
        }))
    }

    fn lines(&self) -> &[Exact] {
        match self {
            Self::Across(line) => std::slice::from_ref(line),
            Self::Flat(lines) => lines,
        }
    }

    /// Whether a point is on a triangle in the same plane.
    fn holds(&self, weights: &Exact) -> bool {
        let Self::Flat(lines) = self else { return false };
        lines.iter().all(|line| scalar_product(line, weights).sign() != Sign::Positive)
    }
}

/// A convex part of a triangle, by weights of its corners: at each corner of the part three that
/// are not negative and not all zero.
struct CutCell {
    /// In order around the part: a corner, and the line of the side from there to the next one.
    sides: Vec<(Exact, Exact)>,
}

impl CutCell {
    /// All of the triangle.
    fn whole() -> Self {
        let unit = |at: usize| -> Exact {
            std::array::from_fn(|k| Dyadic::from(f64::from(u8::from(k == at))))
        };
        // Where corner k + 2 has no weight, the side from corner k runs.
        Self { sides: [0, 1, 2].map(|k| (unit(k), unit((k + 2) % 3))).into() }
    }

    /// The parts on both sides of a line: one, if it does not run through the inside.
    fn cut(self, line: &Exact) -> Vec<Self> {
        let signs: Vec<Sign> =
            self.sides.iter().map(|(corner, _)| scalar_product(line, corner).sign()).collect();
        if !(signs.contains(&Sign::Positive) && signs.contains(&Sign::Negative)) {
            return vec![self];
        }
        [Sign::Positive, Sign::Negative].map(|sign| self.part(&signs, sign, line)).into()
    }

    /// The part on one side of a line; `signs`: on which each corner is.
    fn part(&self, signs: &[Sign], kept: Sign, line: &Exact) -> Self {
        let mut sides = Vec::with_capacity(self.sides.len() + 1);
        for (at, (corner, side)) in self.sides.iter().enumerate() {
            let (here, next) = (signs[at], signs[(at + 1) % signs.len()]);
            let leaves = next != kept && next != Sign::Zero;
            if here == kept {
                sides.push((corner.clone(), side.clone()));
                if leaves {
                    sides.push((crossing(side, line), line.clone()));
                }
            } else if here == Sign::Zero {
                sides.push((corner.clone(), if leaves { line } else { side }.clone()));
            } else if next == kept {
                sides.push((crossing(side, line), side.clone()));
            }
        }
        Self { sides }
    }

    /// Weights of a point inside, which together are 1; none of a part without an inside.
    fn inner_weights(&self) -> Option<Exact> {
        PRECISIONS.into_iter().map(|bits| self.mean(bits)).find(|weights| self.has_inside(weights))
    }

    /// The mean of the corners, rounded to so many binary digits; the weights are together 1.
    fn mean(&self, bits: usize) -> Exact {
        let count = IBig::from(self.sides.len());
        let share = |k: usize| -> IBig {
            let of_corner = |(corner, _): &(Exact, Exact)| {
                let sum = &(&corner[0] + &corner[1]) + &corner[2];
                let [part, whole] = at_one_scale(&corner[k], &sum);
                (part << bits) / (whole * &count)
            };
            self.sides.iter().map(of_corner).fold(IBig::ZERO, |sum, part| sum + part)
        };
        let [a, b] = [share(0), share(1)];
        let c = (IBig::ONE << bits) - &a - &b;
        let exponent = -i64::try_from(bits).expect("a few hundred");
        [a, b, c].map(|weight| Dyadic::new(weight, exponent))
    }

    /// Whether a point is strictly inside.
    fn has_inside(&self, weights: &Exact) -> bool {
        self.sides.iter().all(|(_, line)| {
            let sides = self.sides.iter().map(|(corner, _)| scalar_product(line, corner).sign());
            let within = sides.into_iter().find(|sign| *sign != Sign::Zero);
            within.is_some_and(|sign| scalar_product(line, weights).sign() == sign)
        })
    }
}

/// Binary digits of the weights of an inner point: nearly always the first are enough, and what
/// needs more than the last is refused.
const PRECISIONS: [usize; 6] = [16, 48, 128, 384, 1024, 4096];

/// Where two lines in the weights cross, as weights that are not negative: it is in the triangle.
fn crossing(a: &Exact, b: &Exact) -> Exact {
    let crossing = vector_product(a, b);
    if crossing.iter().any(|x| x.sign() == Sign::Negative) {
        crossing.each_ref().map(|x| -x)
    } else {
        crossing
    }
}

/// Two numbers as multiples of the same power of two.
fn at_one_scale(a: &Dyadic, b: &Dyadic) -> [IBig; 2] {
    let exponent = a.exponent().min(b.exponent());
    [a, b].map(|x| {
        let by = usize::try_from(x.exponent() - exponent).expect("the smaller one");
        x.mantissa().clone() << by
    })
}
