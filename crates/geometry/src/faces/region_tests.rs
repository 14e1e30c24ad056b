//! Surfaces and regions beside regions that are made of cells of a grid. Such a region is inside of
//! all that is strictly inside a block of one or two cells along each axis, all of them its own: so
//! how a surface stands, is known from how its triangles stand to such blocks, which are convex,
//! and how another region does from its cells.

use super::standing::{stand, touching_pieces};
use super::*;
use crate::Vec3;
use crate::claim::{SolidProof, Verdict};
use crate::contact_time::polyhedra::{self, PosedPolyhedron};
use crate::effort::Effort;
use crate::hull::convex_hull;
use crate::judge::judge_solids;
use crate::polyhedron::{BoundaryKind, Polyhedron, TriangleSurface};
use crate::polytope::Polytope;
use crate::pose::Pose;
use crate::samples::Random;
use crate::separation::{METHODS, decide};
use crate::witness::Witness;

const STEPS_MAX: u64 = 1 << 16;

type Cell = [i32; 3];

/// A region of cells, its hull, and the blocks that it consists of.
struct Cells {
    cells: Vec<Cell>,
    region: Polyhedron,
    hull: Polytope,
    blocks: Vec<Polytope>,
}

fn corners(low: Cell, size: Cell) -> Vec<Vec3> {
    let corner =
        |k: i32| Vec3::from_fn(|axis, _| f64::from(low[axis] + size[axis] * (k >> axis & 1)));
    (0..8).map(corner).collect()
}

impl Cells {
    /// None: cells that only share edges or corners bound nothing.
    fn new(cells: &[Cell]) -> Option<Self> {
        let (mut points, mut triangles): (Vec<Vec3>, Vec<[u32; 3]>) = (Vec::new(), Vec::new());
        for &cell in cells {
            for axis in 0..3 {
                for side in [0, 1] {
                    let mut beside = cell;
                    beside[axis] += 2 * side - 1;
                    if cells.contains(&beside) {
                        continue;
                    }
                    let square = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[u, v]| {
                        let mut at = cell;
                        at[axis] += side;
                        at[(axis + 1) % 3] += u;
                        at[(axis + 2) % 3] += v;
                        let point = Vec3::from(at.map(f64::from));
                        let known = points.iter().position(|known| *known == point);
                        known.unwrap_or_else(|| {
                            points.push(point);
                            points.len() - 1
                        }) as u32
                    });
                    let [a, b, c, d] = square;
                    triangles.extend(if side == 1 {
                        [[a, b, c], [a, c, d]]
                    } else {
                        [[a, c, b], [a, d, c]]
                    });
                }
            }
        }
        let region = Polyhedron::new(&points, &triangles, &mut Effort::unlimited()).ok()?;
        let hull = convex_hull(&points).unwrap().polytope;
        let sizes = (0..8).map(|k: i32| [1 + (k & 1), 1 + (k >> 1 & 1), 1 + (k >> 2)]);
        let is_own = |low: Cell, size: Cell| {
            (0..size[0] * size[1] * size[2]).all(|k| {
                let at = [k % size[0], k / size[0] % size[1], k / size[0] / size[1]];
                cells.contains(&std::array::from_fn(|axis| low[axis] + at[axis]))
            })
        };
        let blocks = cells
            .iter()
            .flat_map(|&low| sizes.clone().map(move |size| (low, size)))
            .filter(|&(low, size)| is_own(low, size))
            .map(|(low, size)| convex_hull(&corners(low, size)).unwrap().polytope)
            .collect();
        Some(Self { cells: cells.to_vec(), region, hull, blocks })
    }

    /// What is left of a block around these cells when they are cut out; of some blocks the cells
    /// reach the outside.
    fn mould(&self, random: &mut Random) -> Option<Self> {
        let range = |axis: usize| {
            let all = self.cells.iter().map(|cell| cell[axis]);
            let (low, high) = (all.clone().min().unwrap(), all.max().unwrap());
            [low - 1, high + 1]
        };
        let mut ranges = [0, 1, 2].map(range);
        let open = random.below(6) as usize;
        if open < 3 {
            ranges[open][1] -= 1;
        }
        let [x, y, z] = ranges.map(|[low, high]| low..=high);
        let block = x.flat_map(|x| {
            let z = z.clone();
            y.clone().flat_map(move |y| z.clone().map(move |z| [x, y, z]))
        });
        Self::new(&block.filter(|cell| !self.cells.contains(cell)).collect::<Vec<_>>())
    }

    fn draw(random: &mut Random) -> Option<Self> {
        let mut cells = vec![[1, 1, 1]];
        for _ in 0..random.below(9) {
            let mut next = cells[random.below(cells.len() as u32) as usize];
            next[random.below(3) as usize] += 2 * random.below(2) as i32 - 1;
            if !cells.contains(&next) {
                cells.push(next);
            }
        }
        Self::new(&cells)
    }

    fn placed(&self, pose: Pose) -> HulledBody<'_> {
        HulledBody { body: &self.region, pose, hull: &self.hull, is_hull: false }
    }

    /// How what consists of convex pieces stands, by these and the blocks.
    fn stand(&self, pieces: &[Polytope], pose: Pose) -> Verdict {
        let of = |(piece, block)| {
            let pair = Pair::new(piece, pose, block, Pose::identity());
            let (witness, effort) = (&mut Witness::default(), &mut Effort::unlimited());
            decide(&pair, &METHODS[0], witness, effort).unwrap().verdict()
        };
        let pairs = pieces.iter().flat_map(|p| self.blocks.iter().map(move |q| (p, q)));
        pairs.map(of).max().unwrap()
    }
}

struct Soup {
    surface: TriangleSurface,
    hull: Polytope,
    pieces: Vec<Polytope>,
}

impl Soup {
    fn new(points: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let surface = TriangleSurface::new(points, triangles).unwrap();
        let corner = |at: u32| surface.vertices()[at as usize];
        let piece = |corners: &[u32; 3]| convex_hull(&corners.map(corner)).unwrap().polytope;
        let pieces = surface.triangles().iter().map(piece).collect();
        let hull = convex_hull(surface.vertices()).unwrap().polytope;
        Self { surface, hull, pieces }
    }

    /// Corners on a grid of halves about the region, some of them in one plane or on one line.
    fn draw(random: &mut Random) -> Self {
        let count = 1 + random.below(4);
        let flat = random.below(4) as usize;
        let level = f64::from(random.below(7)) / 2.0;
        let mut points = Vec::new();
        for _ in 0..3 * count {
            let mut point = Vec3::from_fn(|_, _| f64::from(random.below(11)) / 2.0 - 1.0);
            if flat < 3 {
                point[flat] = level;
            }
            points.push(point);
        }
        let triangle = |k: u32| {
            let corners = [3 * k, 3 * k + 1, 3 * k + 2];
            // Every fifth is a segment.
            if random.below(5) == 0 { [corners[0], corners[0], corners[1]] } else { corners }
        };
        let triangles: Vec<[u32; 3]> = (0..count).map(triangle).collect();
        Self::new(&points, &triangles)
    }
}

#[test]
fn a_surface_stands_to_a_region_as_its_triangles_do_to_the_blocks_of_the_region() {
    let (mut counts, mut lies) = ([0; 3], 0);
    for seed in 0..if cfg!(debug_assertions) { 1_500 } else { 60_000 } {
        let random = &mut Random(seed);
        let Some(cells) = Cells::draw(random) else { continue };
        let soup = Soup::draw(random);
        let pose = match random.below(4) {
            0 => random.pose(Vec3::new(1.0, 1.0, 1.0)),
            1 => Pose::translation(0.25, 0.5, 0.0),
            _ => Pose::identity(),
        };
        let surface =
            Boundary { kind: BoundaryKind::Surface(&soup.surface), hull: &soup.hull, pose };
        let kind = BoundaryKind::Region(&cells.region);
        let region = Boundary { kind, hull: &cells.hull, pose: Pose::identity() };
        let bodies = if seed % 2 == 0 { [surface, region] } else { [region, surface] };
        let surfaces = Surfaces { bodies, radii: [0.0; 2] };
        let effort = &mut Effort::unlimited();
        let found = stand(&surfaces, effort).unwrap();
        let expected = cells.stand(&soup.pieces, pose);
        assert_eq!(found.verdict(), expected, "{seed}: {found:?} of {:?}", soup.surface);
        counts[expected as usize] += 1;
        let proof = found.clone().prove_pieces(&surfaces, STEPS_MAX, effort);
        let proof = proof.unwrap_or_else(|why| panic!("{seed}: {found:?} {why:?}"));
        assert_eq!(proof.verdict(), expected, "{seed}");
        let solids = surfaces.solids();
        assert_eq!(judge_solids(&solids, &proof, effort), Ok(()), "{seed}: {proof:?}");
        lies += u32::from(expected == Verdict::Overlapping && is_refused_as_touching(&surfaces));
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    assert!(lies > 10, "{lies}");
}

/// Whether bodies that overlap without pieces that do were claimed to touch, and the judge refused.
fn is_refused_as_touching(surfaces: &Surfaces<'_>) -> bool {
    let effort = &mut Effort::unlimited();
    let cover = prove_clear(surfaces, Clear::NoNearer, STEPS_MAX, effort);
    let pairs = touching_pieces(surfaces, effort).unwrap();
    let (Ok(cover), Some(pairs)) = (cover, pairs) else { return false };
    let lie = SolidProof::TouchingPieces { pairs, cover };
    assert!(judge_solids(&surfaces.solids(), &lie, effort).is_err(), "{surfaces:?}");
    true
}

/// Pegs in holes, corners in corners, regions of which one is a part of the other: by ways or by
/// pieces each has its proof, and none that is false.
#[test]
fn regions_stand_as_their_blocks_do_and_all_is_proven() {
    let (mut counts, mut by_pieces, mut lies) = ([0; 3], 0, 0);
    for seed in 0..if cfg!(debug_assertions) { 200 } else { 20_000 } {
        let random = &mut Random(seed);
        let Some(p) = Cells::draw(random) else { continue };
        let is_placed = seed % 4 < 2;
        let q = match seed % 4 {
            0 => p.mould(random),
            // Nothing of one surface is inside the other body, which is the same.
            1 => Cells::new(&p.cells),
            _ => Cells::draw(random),
        };
        let Some(q) = q else { continue };
        let half = |random: &mut Random| f64::from(random.below(9)) / 2.0 - 2.0;
        let by = [half(random), half(random), half(random)];
        // Whole steps, so that most of both surfaces is on the grid, or half ones.
        let by = if random.below(3) > 0 { by.map(f64::floor) } else { by };
        // Seldom beside its mould or its twin, too.
        let by = if is_placed && random.below(8) > 0 { [0.0; 3] } else { by };
        // Some overlap by the least of all numbers, or are that far apart.
        let nudged = |x: f64, how: u32| [x, x, x.next_up(), x.next_down()][how as usize];
        let by = if seed % 3 == 0 { by.map(|x| nudged(x, random.below(4))) } else { by };
        let pose = Pose::translation(by[0], by[1], by[2]);
        let shapes = [p.placed(Pose::identity()), q.placed(pose)];
        let effort = &mut Effort::unlimited();
        let expected = p.stand(&q.blocks, pose);
        let shapes = [&shapes[0], &shapes[1]];
        let posed = |k: usize| PosedPolyhedron { body: shapes[k].body, pose: shapes[k].pose };
        let (verdict, faces) = polyhedra::verdict(posed(0), posed(1), effort).unwrap();
        assert_eq!(verdict, expected, "{seed}");
        counts[expected as usize] += 1;
        let proof = prove_solids(shapes, verdict, faces.as_ref(), STEPS_MAX, effort);
        let proof = proof.unwrap_or_else(|why| panic!("{seed}: {verdict:?} {why:?}"));
        let surfaces = Surfaces::new(shapes);
        assert_eq!(judge_solids(&surfaces.solids(), &proof, effort), Ok(()), "{seed}: {proof:?}");
        by_pieces += u32::from(matches!(proof, SolidProof::TouchingPieces { .. }));
        if expected == Verdict::Touching {
            let proof = prove_touching(&surfaces, STEPS_MAX, effort);
            assert!(proof.is_ok(), "{seed}: {proof:?}");
        }
        lies += u32::from(expected == Verdict::Overlapping && is_refused_as_touching(&surfaces));
    }
    assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
    assert!(by_pieces > 5 && lies > 20, "{by_pieces} {lies}");
}

/// A sheet that fills a tunnel touches its walls and is inside nothing; a sheet that fills the wall
/// of a closed room from within the wall is inside.
#[test]
fn a_sheet_is_inside_where_the_wall_is() {
    let ring: Vec<Cell> = (0..9).filter(|k| *k != 4).map(|k| [k % 3, k / 3, 0]).collect();
    let cells = Cells::new(&ring).unwrap();
    let square = |x: [f64; 2], y: [f64; 2], z: f64| {
        let points = [[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]];
        let points = points.map(|[x, y]| Vec3::new(x, y, z));
        Soup::new(&points, &[[0, 1, 2], [0, 2, 3]])
    };
    for (sheet, expected) in [
        (square([1., 2.], [1., 2.], 0.5), Verdict::Touching),
        (square([1., 2.], [1., 2.], 0.0), Verdict::Touching),
        (square([0., 3.], [0., 3.], 1.0), Verdict::Touching),
        (square([1., 2.], [0., 1.], 0.5), Verdict::Overlapping),
        (square([0.25, 0.75], [0.25, 0.75], 0.5), Verdict::Overlapping),
        (square([1.25, 1.75], [1.25, 1.75], 0.5), Verdict::Separated),
        (square([1., 2f64.next_up()], [1., 2.], 0.5), Verdict::Overlapping),
    ] {
        let kind = BoundaryKind::Surface(&sheet.surface);
        let surface = Boundary { kind, hull: &sheet.hull, pose: Pose::identity() };
        let kind = BoundaryKind::Region(&cells.region);
        let region = Boundary { kind, hull: &cells.hull, pose: Pose::identity() };
        let surfaces = Surfaces { bodies: [region, surface], radii: [0.0; 2] };
        let effort = &mut Effort::unlimited();
        let found = stand(&surfaces, effort).unwrap();
        assert_eq!(found.verdict(), expected, "{:?}", sheet.surface.vertices());
        // What fills the tunnel is walled in: on every way it touches some, and pieces prove it.
        let proof = found.prove_pieces(&surfaces, STEPS_MAX, effort).unwrap();
        assert_eq!(judge_solids(&surfaces.solids(), &proof, effort), Ok(()));
    }
}
