//! How bodies stand at the start: bodies made of grid cells, where the cells tell; by hand; and the
//! ray against the paper's algorithm for points.

use dashu_int::{IBig, UBig};

use super::facets::{Face, Place, Point, point_in_polytope};
use super::*;
use crate::number::scaled::{Integers, integer_at};
use crate::polyhedron::ray::crosses_odd;
use crate::polyhedron::tree::BoxedTree;
use crate::polyhedron::{Polyhedron, PolyhedronError, ray};

/// Cells of a grid, by their lowest corners.
pub(super) type Cells = Vec<[i32; 3]>;

/// Takes the grid to another that is parallel to no axis.
fn skewed([x, y, z]: [i32; 3]) -> [f64; 3] {
    [x + 2 * y, y - z, z + 2 * x + 4 * y].map(f64::from)
}

/// The surface of the cells' union, with diagonals at random; none where two cells share no more
/// than an edge.
pub(super) fn of_cells(cells: &Cells, random: &mut Random) -> Result<Polyhedron, PolyhedronError> {
    let mut points: Vec<[i32; 3]> = Vec::new();
    let mut triangles = Vec::new();
    for cell in cells {
        for (k, up) in [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)] {
            let mut next = *cell;
            next[k] += 2 * up - 1;
            if cells.contains(&next) {
                continue;
            }
            let corner = |a: i32, b: i32| {
                let mut at = *cell;
                at[k] += up;
                at[(k + 1) % 3] += a;
                at[(k + 2) % 3] += b;
                at
            };
            let mut round = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            if up == 0 {
                round.reverse();
            }
            round.rotate_left(random.below(2) as usize);
            let [a, b, c, d] = round.map(|at| {
                let found = points.iter().position(|p| *p == at).unwrap_or_else(|| {
                    points.push(at);
                    points.len() - 1
                });
                u32::try_from(found).unwrap()
            });
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    let points: Vec<[f64; 3]> = points.into_iter().map(skewed).collect();
    build(&points, &triangles)
}

/// Some cells near an offset, and their body if they have one.
pub(super) fn draw_cells(offset: [i32; 3], random: &mut Random) -> Option<(Cells, Polyhedron)> {
    let size = 1 + random.below(3);
    let often = 1 + random.below(4);
    let mut cells = Cells::new();
    for at in 0..size * size * 3 {
        let at = [at % size, at / size % size, at / size / size];
        if random.below(5) < often {
            let at = at.map(|x| i32::try_from(x).unwrap());
            cells.push([at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]]);
        }
    }
    let body = of_cells(&cells, random).ok()?;
    Some((cells, body))
}

fn by_cells(p: &Cells, q: &Cells) -> Verdict {
    if p.iter().any(|cell| q.contains(cell)) {
        return Verdict::Overlapping;
    }
    let are_near = |a: &[i32; 3], b: &[i32; 3]| (0..3).all(|k| (a[k] - b[k]).abs() <= 1);
    let touches = p.iter().any(|a| q.iter().any(|b| are_near(a, b)));
    if touches { Verdict::Touching } else { Verdict::Separated }
}

fn stand(p: &Polyhedron, q: &Polyhedron) -> Verdict {
    let [p, q] = [p, q].map(|body| PosedPolyhedron { body, pose: Pose::identity() });
    let (found, faces) = verdict(p, q, &mut Effort::unlimited()).unwrap();
    assert_eq!(faces.is_none(), found == Verdict::Separated);
    assert_eq!(verdict(q, p, &mut Effort::unlimited()).unwrap().0, found, "either way round");
    found
}

/// Everything lies on everything: faces on parts of faces, edges along edges and through faces.
#[test]
fn bodies_of_grid_cells_overlap_where_they_share_a_cell_and_touch_where_they_share_a_corner() {
    let (mut counts, mut seed) = ([0; 3], 0);
    while counts.iter().sum::<i32>() < if cfg!(debug_assertions) { 250 } else { 20_000 } {
        seed += 1;
        let mut random = Random(seed);
        let mut draw = |offset: [i32; 3]| draw_cells(offset, &mut random);
        let Some((p, of_p)) = draw([0; 3]) else { continue };
        let seed_step = |k: u64| i32::try_from(seed / k % 4).unwrap() - 1;
        let Some((q, of_q)) = draw([seed_step(1), seed_step(4), seed_step(16)]) else { continue };
        let found = stand(&of_p, &of_q);
        assert_eq!(found, by_cells(&p, &q), "seed {seed}: {p:?} and {q:?}");
        counts[found as usize] += 1;
    }
    assert!(counts.iter().all(|n| *n > 20), "{counts:?}");
}

/// What fits exactly shares no inner point, though it can move in no direction without doing so:
/// the differences of the bodies have the origin inside, which for convex ones means that they
/// overlap.
#[test]
fn a_body_that_fills_a_hollow_exactly_touches() {
    let cube = |low: i32, high: i32| -> Cells {
        let range = || low..high;
        range().flat_map(|x| range().flat_map(move |y| range().map(move |z| [x, y, z]))).collect()
    };
    let mut random = Random(1);
    let inner = of_cells(&cube(1, 3), &mut random).unwrap();
    let shell: Cells = cube(0, 4).into_iter().filter(|c| !cube(1, 3).contains(c)).collect();
    let shell = of_cells(&shell, &mut random).unwrap();
    assert_eq!(stand(&inner, &shell), Verdict::Touching);
    // Two cells of it fit too; one more sticks in the wall.
    let part = of_cells(&vec![[1, 1, 1], [1, 1, 2]], &mut random).unwrap();
    assert_eq!(stand(&part, &shell), Verdict::Touching);
    let longer = of_cells(&vec![[1, 1, 1], [1, 1, 2], [1, 1, 3]], &mut random).unwrap();
    assert_eq!(stand(&longer, &shell), Verdict::Overlapping);
    // And the same body twice, however it is cut into triangles.
    let again = of_cells(&cube(1, 3), &mut Random(9)).unwrap();
    assert_eq!(stand(&inner, &again), Verdict::Overlapping);
}

fn tetrahedron(corners: [[f64; 3]; 4]) -> Polyhedron {
    let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    build(&corners, &faces).or_else(|_| build(&corners, &faces.map(|[a, b, c]| [a, c, b]))).unwrap()
}

/// The surfaces share single points only, at vertices: no pair of triangles shows what is inside.
#[test]
fn a_body_inside_that_touches_the_wall_with_its_tips_overlaps() {
    let cube = cuboid([0., 4.], [0., 4.], [0., 4.]);
    let tips = [[2., 1., 0.], [0., 2., 1.], [1., 0., 2.], [4., 3., 3.]];
    let inside = tetrahedron(tips);
    assert_eq!(stand(&inside, &cube), Verdict::Overlapping);
    let one_tip = tetrahedron([[1., 1., 0.], [2., 1., 1.], [1., 2., 1.], [1., 1., 2.]]);
    assert_eq!(stand(&one_tip, &cube), Verdict::Overlapping);
    // The same in a hollow.
    let shell = hollow();
    let in_hollow = tetrahedron([[0., 0., -1.], [0.5, 0., 0.], [0., 0.5, 0.], [0., 0., 0.5]]);
    assert_eq!(stand(&in_hollow, &shell), Verdict::Touching);
}

/// The edges of the one are diagonals of the other's faces, along which these may be cut or not.
#[test]
fn a_tetrahedron_in_a_cube_with_its_corners_overlaps_whichever_way_the_faces_are_cut() {
    let tetrahedron = tetrahedron([[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 1]].map(skewed));
    for seed in 0..16 {
        let cube = of_cells(&vec![[0; 3]], &mut Random(seed)).unwrap();
        assert_eq!(stand(&tetrahedron, &cube), Verdict::Overlapping, "{seed}");
        let beside = of_cells(&vec![[1, 0, 0]], &mut Random(seed)).unwrap();
        assert_eq!(stand(&tetrahedron, &beside), Verdict::Touching, "{seed}");
    }
}

/// Two thin triangles' tips: the surfaces cross along a line from a corner of the one to a corner
/// of the other, and no edge goes through a face.
#[test]
fn bodies_that_cross_between_two_corners_overlap() {
    // P's edge through the middle of its base is above Q's base; its tip is in it.
    let p = tetrahedron([[0., 0., 0.], [3., -1., -2.], [3., 1., 2.], [3., 2., -2.]]);
    let q = tetrahedron([[1., 0., 0.], [-2., 2., 0.], [-2., -2., 0.], [-2., 0., -3.]]);
    let parts = [&p, &q].map(|body| convex_hull(body.vertices()).unwrap().polytope);
    let pair = Pair::new(&parts[0], Pose::identity(), &parts[1], Pose::identity());
    let motion = Motion::Linear { velocity: Vec3::zeros() };
    let question = Question::new(pair, motion, motion);
    let effort = &mut Effort::unlimited();
    let convex = contact_time::first_contact(&question, &mut Witness::default(), effort).unwrap();
    assert_eq!(convex.initial.verdict(), Verdict::Overlapping);
    assert_eq!(stand(&p, &q), Verdict::Overlapping);
}

/// Turned in all 24 ways, so that other triangles come first.
fn stand_any_way_up(p: &Polyhedron, q: &Polyhedron) -> Verdict {
    let turned = |body: &Polyhedron, way: usize| {
        let axes = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]][way % 6];
        let odd = way % 6 > 2;
        let signs = [[1., 1., 1.], [1., -1., -1.], [-1., 1., -1.], [-1., -1., 1.]][way / 6];
        let points: Vec<[f64; 3]> = body
            .vertices()
            .iter()
            .map(|v| [0, 1, 2].map(|k| v[axes[k]] * signs[k] * if odd { -1.0 } else { 1.0 }))
            .collect();
        build(&points, body.triangles()).unwrap()
    };
    let found = stand(p, q);
    for way in 1..24 {
        assert_eq!(stand(&turned(p, way), &turned(q, way)), found, "{way}");
    }
    found
}

/// The surfaces meet along a loop of Q's edges in P's face: nothing crosses.
#[test]
fn an_octahedron_half_sunk_into_a_face_to_its_waist_overlaps() {
    let waist = [[1., 1., 0.], [2., 1., 0.], [2., 2., 0.], [1., 2., 0.]];
    let octahedron = |top: f64, bottom: f64| {
        let points = [waist.as_slice(), &[[1.5, 1.5, top], [1.5, 1.5, bottom]]].concat();
        let faces = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [1, 0, 5], [2, 1, 5], [3, 2, 5]];
        build(&points, &[faces.as_slice(), &[[0, 3, 5]]].concat()).unwrap()
    };
    // In the middle of one triangle, and across the edge of two.
    let wedge = |x: f64| {
        let outline = [[x, 0.], [x + 8., 0.], [x, 8.]];
        extruded(&outline, &[[0, 1, 2]], [-4., 0.])
    };
    let table = cuboid([0., 4.], [0., 4.], [-4., 0.]);
    for under in [&wedge(0.), &wedge(-1.), &table] {
        assert_eq!(stand_any_way_up(under, &octahedron(1., -1.)), Verdict::Overlapping);
        assert_eq!(stand_any_way_up(under, &octahedron(2., 1.)), Verdict::Touching);
    }
    // Of two on top of each other, the waist is the base of one.
    let pyramid = |z: f64| {
        let points = [waist.as_slice(), &[[1.5, 1.5, z]]].concat();
        let up = [[0, 2, 1], [0, 3, 2], [0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]];
        let down = up.map(|[a, b, c]| [a, c, b]);
        build(&points, if z > 0. { &up } else { &down }).unwrap()
    };
    for z in [2., 1., 0.5] {
        assert_eq!(stand_any_way_up(&pyramid(z), &octahedron(1., -1.)), Verdict::Overlapping);
    }
    assert_eq!(stand_any_way_up(&pyramid(1.), &pyramid(-1.)), Verdict::Touching);
}

/// The floor of a pit from above is level with the lid of a body in the rock below.
#[test]
fn a_body_under_the_floor_of_a_pit_overlaps_though_its_lid_is_level_with_the_floor() {
    let mut random = Random(5);
    let cells = |keep: &dyn Fn([i32; 3]) -> bool| -> Cells {
        let all = (0..5).flat_map(|x| (0..5).flat_map(move |y| (0..4).map(move |z| [x, y, z])));
        all.filter(|cell| keep(*cell)).collect()
    };
    let rock = cells(&|cell| cell[2] < 2 || cell[0] != 2 || cell[1] != 2);
    let rock = of_cells(&rock, &mut random).unwrap();
    let lid = [[1, 1, 2], [7, 1, 2], [1, 7, 2]].map(skewed);
    let buried = |bottom: [i32; 3]| tetrahedron([lid[0], lid[1], lid[2], skewed(bottom)]);
    assert_eq!(stand_any_way_up(&buried([2, 2, 1]), &rock), Verdict::Overlapping);
    let small = [[2, 2, 2], [3, 2, 2], [2, 3, 2]].map(skewed);
    let in_pit = tetrahedron([small[0], small[1], small[2], skewed([2, 2, 3])]);
    assert_eq!(stand_any_way_up(&in_pit, &rock), Verdict::Touching);
    let under_floor = tetrahedron([small[0], small[1], small[2], skewed([2, 2, 1])]);
    assert_eq!(stand_any_way_up(&under_floor, &rock), Verdict::Overlapping);
}

/// A wedge that stands on its edge in a notch, on the notch's inner edge.
#[test]
fn an_edge_along_an_inner_edge_touches_until_one_wedge_is_wider_than_the_notch() {
    let notch = l_shape().mesh;
    let wedge = |a: [f64; 2], b: [f64; 2]| extruded(&[[1., 1.], a, b], &[[0, 1, 2]], [0.25, 0.75]);
    assert_eq!(stand(&wedge([3., 2.], [2., 3.]), &notch), Verdict::Touching);
    assert_eq!(stand(&wedge([3., 1.], [1., 3.]), &notch), Verdict::Touching);
    assert_eq!(stand(&wedge([3., 1f64.next_down()], [1., 3.]), &notch), Verdict::Overlapping);
    assert_eq!(stand(&wedge([3., 1.], [1f64.next_down(), 3.]), &notch), Verdict::Overlapping);
    // From behind, into the material.
    assert_eq!(stand(&wedge([0.5, 0.75], [0.75, 0.5]), &notch), Verdict::Overlapping);
}

#[test]
fn a_budget_stops_the_look_at_the_start_and_the_check_of_a_mesh() {
    let body = u_shape().mesh;
    let placed = PosedPolyhedron { body: &body, pose: Pose::identity() };
    let few = |steps: u64| verdict(placed, placed, &mut Effort::with_steps(steps));
    assert_eq!(few(1).unwrap_err(), Stopped::Steps);
    assert!(few(10_000).is_ok());
    let few = &mut Effort::with_steps(3);
    let error = Polyhedron::new(body.vertices(), body.triangles(), few).unwrap_err();
    assert_eq!(error, PolyhedronError::Unchecked(Stopped::Steps));
}

/// A mesh by its incidences: edges, triangles as their edges, and all triangles.
fn levels(mesh: &Polyhedron) -> Vec<Vec<Vec<usize>>> {
    let mut edges: Vec<Vec<usize>> = Vec::new();
    let mut faces = Vec::new();
    for &[a, b, c] in mesh.triangles() {
        let round = [[a, b], [b, c], [c, a]].map(|[u, v]| {
            let ends = vec![u.min(v) as usize, u.max(v) as usize];
            edges.iter().position(|edge| *edge == ends).unwrap_or_else(|| {
                edges.push(ends);
                edges.len() - 1
            })
        });
        faces.push(round.to_vec());
    }
    let whole = vec![(0..faces.len()).collect()];
    vec![edges, faces, whole]
}

#[test]
fn a_ray_finds_inside_what_the_point_polytope_algorithm_finds_inside() {
    let integers = |v: &Vec3| -> Integers { std::array::from_fn(|k| integer_at(v[k], -2)) };
    let mut counts = [0; 2];
    for mesh in [u_shape().mesh, ring().mesh, hollow()] {
        let levels = levels(&mesh);
        let points: Vec<Vec<IBig>> = mesh.vertices().iter().map(|v| integers(v).into()).collect();
        let boxes = mesh.tree().boxes(mesh.vertices(), mesh.triangles(), 0.0);
        for seed in 0..100 {
            let mut random = Random(seed);
            let mut draw = || Vec3::from_fn(|_, _| f64::from(random.below(25)) / 4.0 - 3.0);
            let corners = [draw(), draw(), draw()];
            let exact = Point { numerators: integers(&corners[0]).into(), denominator: UBig::ONE };
            let place = point_in_polytope(&exact, &Face::whole(&points, &levels));
            if place == Place::Boundary {
                continue;
            }
            let start =
                ray::Start::beside(corners.each_ref().map(integers), ray::around(&corners[0], 0.0));
            let effort = &mut Effort::unlimited();
            let boxed = BoxedTree { tree: mesh.tree(), boxes: &boxes };
            let inside = crosses_odd(&start, &boxed, effort, |triangle| {
                Some(mesh.triangle(triangle).map(|i| integers(&mesh.vertices()[i as usize])))
            })
            .unwrap();
            assert_eq!(inside, place == Place::Inside, "{corners:?}");
            counts[usize::from(inside)] += 1;
        }
    }
    assert!(counts.iter().all(|n| *n > 20), "{counts:?}");
}

#[test]
fn a_polytope_is_the_polyhedron_of_its_facets() {
    let mut random = Random(3);
    for seed in 0..20 {
        let polytope = if seed % 2 == 0 { ball(20, seed) } else { lattice(&mut random) };
        let made = Polyhedron::of_polytope(&polytope);
        if polytope.dimension() < 3 {
            assert!(made.is_none());
            continue;
        }
        let (made, facets) = made.unwrap();
        let checked = surface(&polytope).unwrap();
        assert_eq!((made.vertices(), made.triangles()), (checked.vertices(), checked.triangles()));
        assert!((made.volume() - checked.volume()).abs() <= 1e-12 * checked.volume());
        for (corners, &facet) in made.triangles().iter().zip(&facets) {
            let row = polytope.facets().row(facet);
            assert!(corners.iter().all(|corner| row.contains(corner)));
        }
    }
}

#[test]
fn the_order_in_which_a_mesh_is_given_does_not_matter() {
    let solid = u_shape().mesh;
    let count = u32::try_from(solid.vertices().len()).unwrap();
    let mut vertices: Vec<Vec3> = solid.vertices().iter().rev().map(|v| v * 1.0).collect();
    vertices.push(Vec3::new(9., 9., 9.));
    let turned = |&[a, b, c]: &[u32; 3]| [b, c, a].map(|i| count - 1 - i);
    let triangles: Vec<_> = solid.triangles().iter().rev().map(turned).collect();
    let again = Polyhedron::new(&vertices, &triangles, &mut Effort::unlimited()).unwrap();
    assert_eq!((again.vertices(), again.triangles()), (solid.vertices(), solid.triangles()));
    assert_eq!((solid.volume(), again.volume()), (7.0, 7.0));
    assert_eq!(hollow().volume(), 56.0);
    for (i, v) in (0..).zip(solid.vertices()) {
        assert_eq!(solid.index_of(v), Some(i));
    }
    assert_eq!(solid.index_of(&Vec3::new(-0., 0., -0.)), Some(0));
    assert_eq!(solid.index_of(&Vec3::new(9., 9., 9.)), None);
}

/// As far as the difference of two places, which is no f64 number.
#[test]
fn a_travel_between_two_places_is_taken_exactly() {
    let cube = cuboid([0., 1.], [0., 1.], [0., 1.]);
    let still = at(&cube, [0.; 3], [0.; 3]);
    let from = Vec3::new(2f64.powi(60), 0., 0.);
    let moving = |to: f64| {
        let travel = Travel { from, to: Vec3::new(to, 0., 0.) };
        ask(
            &still,
            &Moving { body: &cube, pose: Pose { translation: from, ..Pose::identity() }, travel },
        )
    };
    assert_eq!(moving(1.0).contact.unwrap().t_contact, 1.0);
    assert_eq!(moving(1f64.next_up()).contact, None);
    let passing = moving(-2f64.powi(60)).contact.unwrap();
    assert_eq!(passing.t_contact, 0.5);
}
