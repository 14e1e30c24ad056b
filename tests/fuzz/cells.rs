//! Bodies of unit cells of a grid: their surfaces, and what is true of them, cell by cell, without
//! rounding: places are multiples of a quarter and velocities of a half, all small.

use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;

/// The surface of cells, two triangles for each side that no other cell covers.
pub(crate) fn mesh(cells: &[[u8; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut points, mut triangles): (Vec<Vec3>, _) = (Vec::new(), Vec::new());
    let mut place = |corner: [u8; 3]| {
        let point = Vec3::from(corner.map(f64::from));
        let known = points.iter().position(|known| *known == point);
        known.unwrap_or_else(|| {
            points.push(point);
            points.len() - 1
        }) as u32
    };
    for cell in cells {
        for k in 0..3 {
            for is_high in [false, true] {
                let mut beside = cell.map(i16::from);
                beside[k] += if is_high { 1 } else { -1 };
                if cells.iter().any(|other| other.map(i16::from) == beside) {
                    continue;
                }
                let mut corner = *cell;
                corner[k] += u8::from(is_high);
                let round = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[u, v]| {
                    let mut at = corner;
                    at[(k + 1) % 3] += u;
                    at[(k + 2) % 3] += v;
                    place(at)
                });
                let [a, b, c, d] = round;
                triangles.extend(if is_high {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, c, b], [a, d, c]]
                });
            }
        }
    }
    (points, triangles)
}

/// How two bodies stand; cells are given by their least corners.
pub(crate) fn stand(p: &[Vec3], q: &[Vec3]) -> Verdict {
    let far = |a: &Vec3, b: &Vec3| (b - a).amax();
    let least = p.iter().flat_map(|a| q.iter().map(move |b| far(a, b))).fold(f64::MAX, f64::min);
    match least {
        overlap if overlap < 1.0 => Verdict::Overlapping,
        touch if touch <= 1.0 => Verdict::Touching,
        _ => Verdict::Separated,
    }
}

/// A time: `over / under`, `under` positive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    over: f64,
    under: f64,
}

impl Time {
    const START: Self = Self { over: 0.0, under: 1.0 };
    const END: Self = Self { over: 1.0, under: 1.0 };

    /// Both products are of small numbers, so exact.
    fn is_before(self, other: Self) -> bool {
        self.over * other.under < other.over * self.under
    }

    /// Rounded once, so the sign is exact.
    pub(crate) fn is_after(self, t: f64) -> bool {
        t.mul_add(self.under, -self.over) < 0.0
    }

    fn is_over_by(self, t: f64) -> bool {
        t.mul_add(self.under, -self.over) > 0.0
    }
}

/// When two cells share a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    first: Time,
    last: Time,
}

impl Times {
    /// Of all pairs of cells that do, while Q moves by w relative to P.
    pub(crate) fn of_contact(p: &[Vec3], q: &[Vec3], w: &Vec3) -> Vec<Self> {
        let pairs = p.iter().flat_map(|a| q.iter().map(move |b| b - a));
        pairs.filter_map(|d| Self::of_cells(&d, w)).collect()
    }

    /// `|d + w t| <= 1` in each coordinate.
    fn of_cells(d: &Vec3, w: &Vec3) -> Option<Self> {
        let (mut first, mut last) = (Time::START, Time::END);
        for (d, w) in d.iter().zip(w) {
            if *w == 0.0 {
                if d.abs() > 1.0 {
                    return None;
                }
                continue;
            }
            let towards = -d * w.signum();
            let [enter, leave] =
                [towards - 1.0, towards + 1.0].map(|over| Time { over, under: w.abs() });
            first = if first.is_before(enter) { enter } else { first };
            last = if leave.is_before(last) { leave } else { last };
        }
        (!last.is_before(first)).then_some(Self { first, last })
    }

    /// Whether it is at some time of a closed interval.
    pub(crate) fn meets(&self, [low, high]: [f64; 2]) -> bool {
        !self.first.is_after(high) && !self.last.is_over_by(low)
    }
}

/// The first time that two bodies share a point.
pub(crate) fn earliest(p: &[Vec3], q: &[Vec3], w: &Vec3) -> Option<Time> {
    let all = Times::of_contact(p, q, w).into_iter().map(|times| times.first);
    all.reduce(|a, b| if b.is_before(a) { b } else { a })
}
