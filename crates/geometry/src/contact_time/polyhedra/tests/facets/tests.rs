//! Against unions of boxes, which are looked at coordinate by coordinate. A shear of the whole
//! space takes the boxes off the axes.

use super::*;
use crate::samples::Random;

/// A polytope by its points and incidences.
struct Lattice {
    points: Vec<Vec<i64>>,
    levels: Vec<Vec<Vec<usize>>>,
    /// Closed boxes whose union it is, each by its lower and upper ends.
    boxes: Vec<Vec<[i64; 2]>>,
}

/// A polygon with edges from each point to the next.
fn polygon(points: &[[i64; 2]], boxes: &[[[i64; 2]; 2]]) -> Lattice {
    let count = points.len();
    Lattice {
        points: points.iter().map(|p| p.to_vec()).collect(),
        levels: vec![
            (0..count).map(|i| vec![i, (i + 1) % count]).collect(),
            vec![(0..count).collect()],
        ],
        boxes: boxes.iter().map(|sides| sides.to_vec()).collect(),
    }
}

impl Lattice {
    fn interval() -> Self {
        Self {
            points: vec![vec![-3], vec![4]],
            levels: vec![vec![vec![0, 1]]],
            boxes: vec![vec![[-3, 4]]],
        }
    }

    fn u_shape() -> Self {
        polygon(
            &[[0, 0], [6, 0], [6, 6], [4, 6], [4, 2], [2, 2], [2, 6], [0, 6]],
            &[[[0, 6], [0, 2]], [[0, 2], [0, 6]], [[4, 6], [0, 6]]],
        )
    }

    /// The general prism of one dimension more (the paper's, for a body at rest): two copies, and a
    /// face over every face.
    fn prism(&self, low: i64, high: i64) -> Self {
        let count = self.points.len();
        let with = |x: i64| self.points.iter().map(move |p| [p.as_slice(), &[x]].concat());
        let points = with(low).chain(with(high)).collect();
        // Level 0 holds faces of dimension 1, so vertices are one level below it.
        let faces = |level: usize| if level == 0 { count } else { self.levels[level - 1].len() };
        let top = self.levels.len() + 1;
        let levels = (0..top)
            .map(|level| {
                let mut made = Vec::new();
                for copy in 0..2 {
                    let old = self.levels.get(level).map_or(&[][..], Vec::as_slice);
                    made.extend(old.iter().map(|face| -> Vec<usize> {
                        face.iter().map(|i| i + copy * faces(level)).collect()
                    }));
                }
                // Over face i of the dimension below: its two copies, and what is over its
                // boundary.
                for i in 0..faces(level) {
                    let mut face = vec![i, i + faces(level)];
                    if level > 0 {
                        let boundary = &self.levels[level - 1][i];
                        face.extend(boundary.iter().map(|b| 2 * faces(level) + b));
                    }
                    made.push(face);
                }
                made
            })
            .collect();
        let boxes =
            self.boxes.iter().map(|sides| [sides.as_slice(), &[[low, high]]].concat()).collect();
        Self { points, levels, boxes }
    }

    fn sheared_points(&self) -> Vec<Vec<IBig>> {
        self.points.iter().map(|p| sheared(p)).collect()
    }

    /// The place of a point from the boxes: of the closed boxes around it, do some cover every
    /// neighbouring cell?
    fn place(&self, p: &[i64]) -> Place {
        let holds = |at: &[i64]| {
            // Coordinates are doubled, so that odd ones are between grid points.
            self.boxes.iter().any(|sides| {
                sides.iter().zip(at).all(|(&[low, high], &x)| 2 * low <= x && x <= 2 * high)
            })
        };
        let doubled: Vec<i64> = p.iter().map(|x| 2 * x).collect();
        if !holds(&doubled) {
            return Place::Outside;
        }
        let covered = (0..1u32 << p.len()).all(|corner| {
            let at: Vec<i64> = (0..p.len())
                .map(|k| doubled[k] + if corner >> k & 1 == 0 { -1 } else { 1 })
                .collect();
            holds(&at)
        });
        if covered { Place::Inside } else { Place::Boundary }
    }
}

/// Takes grid points to grid points, and axes to no axes.
fn sheared(p: &[i64]) -> Vec<IBig> {
    let mut made = p.to_vec();
    for k in 1..made.len() {
        made[k] += 2 * made[k - 1];
    }
    for k in (1..made.len()).rev() {
        made[k - 1] -= made[k];
    }
    made.into_iter().map(IBig::from).collect()
}

fn rational(p: &[i64], denominator: u8) -> Point {
    let numerators = sheared(p).into_iter().map(|x| x * denominator).collect();
    Point { numerators, denominator: UBig::from(denominator) }
}

/// Dimensions 1 to 4.
fn bodies() -> Vec<Lattice> {
    let solid = Lattice::u_shape().prism(-1, 2);
    let prism = solid.prism(0, 3);
    vec![Lattice::interval(), Lattice::u_shape(), solid, prism]
}

#[test]
fn points_are_where_the_boxes_of_the_polytope_say_in_every_dimension() {
    for lattice in bodies() {
        let points = lattice.sheared_points();
        let whole = Face::whole(&points, &lattice.levels);
        let dimension = lattice.levels.len();
        let mut counts = [0; 3];
        for seed in 0..[30, 150, 150, 100][dimension - 1] {
            let mut random = Random(seed);
            let axes = [(9, 1), (9, 1), (5, 1), (5, 0)];
            let mut p: Vec<i64> = axes[..dimension]
                .iter()
                .map(|&(count, less)| i64::from(random.below(count)) - less)
                .collect();
            if random.below(2) == 0 {
                p[0] = 1; // more of them inside
            }
            let denominator = u8::try_from(1 + random.below(9)).unwrap();
            let found = point_in_polytope(&rational(&p, denominator), &whole);
            assert_eq!(found, lattice.place(&p), "dimension {dimension}: {p:?}");
            counts[found as usize] += 1;
        }
        assert!(counts.iter().all(|n| *n > 0), "dimension {dimension}: {counts:?}");
    }
}

/// Whether a segment meets a closed box: the parameters at which it is between each two sides.
fn meets_box(a: &[i64], b: &[i64], sides: &[[i64; 2]]) -> bool {
    // Rational ends of the interval of parameters, as numerator and positive denominator.
    let (mut from, mut to) = ((0_i64, 1_i64), (1_i64, 1_i64));
    let less = |x: (i64, i64), y: (i64, i64)| x.0 * y.1 < y.0 * x.1;
    for (k, &[low, high]) in sides.iter().enumerate() {
        let way = b[k] - a[k];
        if way == 0 {
            if a[k] < low || a[k] > high {
                return false;
            }
            continue;
        }
        let at = |x: i64| ((x - a[k]) * way.signum(), way.abs());
        let (enter, leave) = if way > 0 { (at(low), at(high)) } else { (at(high), at(low)) };
        from = if less(from, enter) { enter } else { from };
        to = if less(leave, to) { leave } else { to };
    }
    !less(to, from)
}

#[test]
fn segments_meet_the_facets_that_they_meet_box_by_box_in_every_dimension() {
    for lattice in bodies() {
        // The copy of the polytope at 0 of one axis more is a facet of its prism.
        let prism = lattice.prism(0, 5);
        let dimension = lattice.levels.len();
        if dimension == 4 {
            continue;
        }
        let points = prism.sheared_points();
        let whole = Face::whole(&points, &prism.levels);
        let facet = whole.bounding().next().unwrap();
        let mut counts = [0; 2];
        for seed in 0..200 {
            let mut random = Random(seed);
            let in_plane = random.below(3) == 0;
            let [a, b] = [0, 1].map(|_| -> Vec<i64> {
                let mut p: Vec<i64> =
                    (0..=dimension).map(|_| i64::from(random.below(9)) - 2).collect();
                p[dimension] = if in_plane { 0 } else { i64::from(random.below(7)) - 3 };
                p
            });
            let denominator = u8::try_from(1 + random.below(9)).unwrap();
            let found = segment_meets_facet([&rational(&a, denominator), &rational(&b, 1)], &facet);
            let want = lattice
                .boxes
                .iter()
                .any(|sides| meets_box(&a, &b, &[sides.as_slice(), &[[0, 0]]].concat()));
            assert_eq!(found, want, "dimension {dimension}: {a:?} to {b:?}");
            counts[usize::from(found)] += 1;
        }
        assert!(counts.iter().all(|n| *n > 10), "dimension {dimension}: {counts:?}");
    }
}
