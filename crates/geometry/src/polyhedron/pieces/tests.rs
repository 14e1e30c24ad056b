//! Meshes of every kind: that pieces hold them, exactly, and how far they stand out.

use std::f64::consts::TAU;

use super::cover::uncovered;
use super::*;
use crate::hull::samples::Random;
use crate::number::orientation::{Side, side_of_plane};
use crate::until::Until;

type Soup = Vec<[Vec3; 3]>;

/// Equal points as one, as meshes come.
fn mesh_of(soup: &[[Vec3; 3]]) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut vertices: Vec<Vec3> = Vec::new();
    let mut known = std::collections::BTreeMap::new();
    let mut index = |p: &Vec3| {
        let key: [u64; 3] = (*p).map(|x| (x + 0.0).to_bits()).into();
        *known.entry(key).or_insert_with(|| {
            vertices.push(*p);
            u32::try_from(vertices.len() - 1).unwrap()
        })
    };
    let triangles = soup.iter().map(|t| t.each_ref().map(&mut index)).collect();
    (vertices, triangles)
}

fn cuboid(low: Vec3, high: Vec3) -> Soup {
    let at = |i: usize| Vec3::from_fn(|k, _| if i >> k & 1 == 1 { high[k] } else { low[k] });
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let of = |[a, b, c, d]: [usize; 4]| [[a, b, c], [a, c, d]].map(|t| t.map(at));
    faces.into_iter().flat_map(of).collect()
}

fn reversed(soup: &[[Vec3; 3]]) -> Soup {
    soup.iter().map(|[a, b, c]| [*a, *c, *b]).collect()
}

/// A prism over a polygon in x and y that is counter-clockwise, with its top and bottom as given
/// triangles of it.
fn prism(outline: &[[f64; 2]], triangles: &[[usize; 3]], height: f64) -> Soup {
    let at = |i: usize, z: f64| Vec3::new(outline[i][0], outline[i][1], z);
    let mut soup = Soup::new();
    for &[a, b, c] in triangles {
        soup.push([at(a, height), at(b, height), at(c, height)]);
        soup.push([at(a, 0.0), at(c, 0.0), at(b, 0.0)]);
    }
    for a in 0..outline.len() {
        let b = (a + 1) % outline.len();
        soup.push([at(a, 0.0), at(b, 0.0), at(b, height)]);
        soup.push([at(a, 0.0), at(b, height), at(a, height)]);
    }
    soup
}

/// The letter L, of which two boxes are the pieces.
fn letter() -> Soup {
    let outline = [[0., 0.], [2., 0.], [2., 1.], [1., 1.], [1., 3.], [0., 3.]];
    prism(&outline, &[[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]], 0.5)
}

/// A tube around a circle.
fn torus(around: usize, across: usize) -> Soup {
    let at = |i: usize, j: usize| {
        let (a, b) = (TAU * i as f64 / around as f64, TAU * j as f64 / across as f64);
        let wide = 1.0 + 0.3 * b.cos();
        Vec3::new(wide * a.cos(), wide * a.sin(), 0.3 * b.sin())
    };
    let places = (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    let of = |(i, j): (usize, usize)| {
        let (k, l) = ((i + 1) % around, (j + 1) % across);
        let [a, b, c, d] = [at(i, j), at(k, j), at(k, l), at(i, l)];
        [[a, b, c], [a, c, d]]
    };
    places.flat_map(of).collect()
}

fn wanted(gap: Option<f64>, count_max: usize) -> Wanted {
    Wanted { gap_max: gap, count_max, settles: false }
}

fn pieces_of(soup: &[[Vec3; 3]], wanted: Wanted) -> Vec<ConvexPiece> {
    let (vertices, triangles) = mesh_of(soup);
    decompose(&vertices, &triangles, wanted, &mut Effort::unlimited(), &mut |_| {}).unwrap()
}

/// The pieces of a mesh, of which it is checked that they cover it and that it is near.
#[track_caller]
fn check(soup: &[[Vec3; 3]], wanted: Wanted) -> Vec<ConvexPiece> {
    let pieces = pieces_of(soup, wanted);
    let hulls: Vec<Polytope> = pieces.iter().map(|piece| piece.hull.clone()).collect();
    assert_eq!(uncovered(soup, &hulls), Vec::<usize>::new());
    assert!(!pieces.is_empty() && pieces.len() <= wanted.count_max, "{}", pieces.len());
    for ConvexPiece { gap: [lower, upper], .. } in &pieces {
        assert!(0.0 <= *lower && lower <= upper && upper.is_finite());
        assert!(wanted.gap_max.is_none_or(|most| *upper <= most), "{upper}");
    }
    pieces
}

fn holds(hull: &Polytope, p: &Vec3) -> bool {
    hull.dimension() == 3
        && hull.facets().rows().all(|row| {
            let [a, b, c] = [0, 1, 2].map(|k| hull.vertex(row[k]));
            side_of_plane(a, b, c, p) != Side::Above
        })
}

/// Van Oosterom and Strackee 1983; how often triangles wind around a point that is not on them.
fn winding(soup: &[[Vec3; 3]], p: &Vec3) -> f64 {
    let angle = |t: &[Vec3; 3]| {
        let [a, b, c] = t.map(|corner| corner - p);
        let [x, y, z] = [a.norm(), b.norm(), c.norm()];
        let below = x * y * z + a.dot(&b) * z + b.dot(&c) * x + c.dot(&a) * y;
        2.0 * a.dot(&b.cross(&c)).atan2(below)
    };
    soup.iter().map(angle).sum::<f64>() / (2.0 * TAU)
}

/// Points in the box around a closed mesh that it winds around are in a piece; how many there were.
#[track_caller]
fn check_inside(soup: &[[Vec3; 3]], pieces: &[ConvexPiece], random: &mut Random) -> usize {
    let all = || soup.iter().flatten();
    let low = all().fold(Vec3::repeat(f64::INFINITY), |l, p| l.inf(p));
    let high = all().fold(Vec3::repeat(f64::NEG_INFINITY), |h, p| h.sup(p));
    let mut inside = 0;
    for _ in 0..400 {
        let p = Vec3::from_fn(|k, _| random.between(low[k], high[k]));
        if winding(soup, &p).abs() > 0.5 {
            inside += 1;
            assert!(pieces.iter().any(|piece| holds(&piece.hull, &p)), "{p:?} is in no piece");
        }
    }
    inside
}

#[test]
fn a_letter_is_two_boxes_exactly() {
    for turned in 0..3 {
        let turn = |p: Vec3| Vec3::from_fn(|k, _| p[(k + turned) % 3]);
        let soup: Soup = letter().into_iter().map(|t| t.map(turn)).collect();
        for wanted in [wanted(None, 2), wanted(Some(0.01), 8)] {
            let pieces = check(&soup, wanted);
            assert_eq!(pieces.len(), 2);
            assert!(pieces.iter().all(|piece| piece.hull.vertices().len() == 8));
            assert!(pieces.iter().all(|piece| piece.gap[1] < 0.01), "{pieces:?}");
            assert!(check_inside(&soup, &pieces, &mut Random::new(1)) > 100);
        }
    }
}

#[test]
fn a_convex_mesh_is_its_hull_and_stands_out_by_nothing() {
    let cube = cuboid(Vec3::zeros(), Vec3::repeat(1.0));
    for wanted in [wanted(None, 9), wanted(Some(0.0), 9)] {
        let pieces = check(&cube, wanted);
        assert_eq!((pieces.len(), pieces[0].gap), (1, [0.0; 2]));
    }
}

#[test]
fn cavities_are_kept_free_and_what_is_solid_is_filled() {
    let (half, hole) = (Vec3::repeat(1.0), Vec3::repeat(0.5));
    let hollow = [cuboid(-half, half), reversed(&cuboid(-hole, hole))].concat();
    let pieces = check(&hollow, wanted(None, 12));
    assert!(check_inside(&hollow, &pieces, &mut Random::new(2)) > 100);
    // Walls of a hollow box are six boxes.
    assert!(pieces.iter().all(|piece| piece.gap[1] < 0.01));
    assert!(!pieces.iter().any(|piece| holds(&piece.hull, &Vec3::zeros())));
    // The same triangles as walls with nothing between: the outer box has a top that is missing.
    let open: Soup = cuboid(-half, half).split_off(2);
    let shell = check(&open, wanted(None, 12));
    assert!(!shell.iter().any(|piece| holds(&piece.hull, &Vec3::zeros())));
}

#[test]
fn a_torus_is_near_its_pieces_and_more_pieces_are_nearer() {
    let soup = torus(16, 8);
    let gap = |pieces: &[ConvexPiece]| pieces.iter().map(|p| p.gap[1]).fold(0.0, f64::max);
    let [few, many] = [4, 12].map(|count| check(&soup, wanted(None, count)));
    assert!(gap(&many) < 0.6 * gap(&few), "{} {}", gap(&many), gap(&few));
    for pieces in [few, many] {
        assert!(check_inside(&soup, &pieces, &mut Random::new(3)) > 50);
    }
    let near = check(&soup, wanted(Some(0.15), 64));
    assert!(near.len() > 2 && gap(&near) <= 0.15);
    let (vertices, triangles) = mesh_of(&soup);
    let less = Wanted { settles: true, ..wanted(Some(1e-3), 3) };
    let settled =
        decompose(&vertices, &triangles, less, &mut Effort::unlimited(), &mut |_| {}).unwrap();
    assert!(settled.len() <= 3 && gap(&settled) > 1e-3);
    let refused = decompose(
        &vertices,
        &triangles,
        wanted(Some(1e-3), 3),
        &mut Effort::unlimited(),
        &mut |_| {},
    );
    assert!(matches!(refused, Err(PiecesError::Unreached { .. })), "{refused:?}");
}

fn placed(soup: Soup, random: &mut Random) -> Soup {
    let scale = [1.0, 1e-3, 1e-300, 1e250][usize::try_from(random.below(4)).unwrap()];
    let turn = nalgebra::Rotation3::from_axis_angle(
        &nalgebra::Unit::new_normalize(random.direction()),
        random.between(0.0, TAU),
    );
    let (is_turned, is_single) = (random.below(2) == 0, random.below(3) == 0);
    let away = if random.below(3) == 0 { Vec3::new(10.0, -5.0, 0.7) } else { Vec3::zeros() };
    let of = |p: Vec3| {
        let p = if is_turned { turn * p } else { p } + away;
        (if is_single { p.map(|x| f64::from(x as f32)) } else { p }) * scale
    };
    soup.into_iter().map(|t| t.map(of)).collect()
}

fn any_soup(random: &mut Random) -> Soup {
    let part = |random: &mut Random| {
        let [p, q] = [random.in_ball(), random.in_ball()];
        cuboid(p.inf(&q), p.sup(&q) + Vec3::repeat(0.05))
    };
    match random.below(7) {
        0 => (0..1 + random.below(9)).map(|_| [(); 3].map(|()| random.in_ball())).collect(),
        1 => letter(),
        2 => (0..2 + random.below(3)).flat_map(|_| part(random)).collect(),
        3 => {
            let (half, hole) = (Vec3::repeat(1.0), Vec3::repeat(random.between(0.1, 0.9)));
            [cuboid(-half, half), reversed(&cuboid(-hole, hole))].concat()
        }
        4 => torus(7, 5),
        5 => {
            let mut open = letter();
            for _ in 0..1 + random.below(8) {
                open.swap_remove(usize::try_from(random.below(open.len() as u64)).unwrap());
            }
            open
        }
        // Thin, flat, without area, and drawn twice.
        _ => {
            let needle = |random: &mut Random| {
                let p = random.in_ball();
                [p, p + random.direction() * 1e-9, p + random.direction()]
            };
            let mut soup: Soup = (0..5).map(|_| needle(random)).collect();
            let [p, q] = [random.in_ball(), random.in_ball()];
            soup.extend([[p, q, p], [q, q, q], [p, (p + q) * 0.5, q], soup[0], soup[1]]);
            soup
        }
    }
}

/// How many meshes: `CLEARANCE_PIECES_MESHES`, or a few.
#[test]
fn any_mesh_is_held_exactly_wherever_it_is() {
    let count = std::env::var("CLEARANCE_PIECES_MESHES").map_or(24, |text| text.parse().unwrap());
    let mut random = Random::new(35);
    let (mut several, mut inside) = (0, 0);
    for _ in 0..count {
        let soup = placed(any_soup(&mut random), &mut random);
        let most = 2 + usize::try_from(random.below(5)).unwrap();
        let pieces = check(&soup, wanted(None, most));
        several += usize::from(pieces.len() > 1);
        let (_, triangles) = mesh_of(&soup);
        let sheets = super::super::excess::sheets::of(&triangles, &Effort::unlimited()).unwrap();
        let size = soup.iter().flatten().map(|p| p.amax()).fold(0.0, f64::max);
        // Solid angles are reckoned in plain f64.
        let is_tame = (1e-6..1e6).contains(&size);
        if is_tame
            && super::super::excess::sheets::are_closed(&sheets, &Effort::unlimited()).unwrap()
        {
            inside += check_inside(&soup, &pieces, &mut random);
        }
    }
    assert!(2 * several > count && (inside > 100 || count < 24), "{several} {inside}");
}

#[test]
fn needles_far_below_everything_else_and_coincident_points_are_held() {
    let tiny = 1e-300;
    let needle = [Vec3::zeros(), Vec3::new(tiny, 0.0, 0.0), Vec3::new(0.0, tiny, 1.0)];
    let point = [Vec3::repeat(0.5); 3];
    let mut soup = vec![needle, point, needle, point];
    soup.push([Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.0, tiny, 0.0), Vec3::new(1.0, 1.0, 1.0)]);
    check(&soup, wanted(None, 4));
    let pieces = check(&[point; 5], wanted(None, 4));
    assert_eq!((pieces.len(), pieces[0].gap), (1, [0.0; 2]));
    let subnormal = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]];
    let at = subnormal.map(|p| Vec3::from(p) * f64::from_bits(1));
    check(&[at, [at[0], at[1], Vec3::zeros()]], wanted(None, 3));
}

/// Cuts right through faces, edges and corners: a checkerboard of cubes that share them.
#[test]
fn what_lies_in_a_cut_is_held_by_one_side_or_the_other() {
    let at = |i: i32| Vec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2 & 1));
    let mut soup = Soup::new();
    for i in [0, 3, 5, 6] {
        soup.extend(cuboid(at(i), at(i) + Vec3::repeat(1.0)));
    }
    let pieces = check(&soup, wanted(None, 4));
    assert!(check_inside(&soup, &pieces, &mut Random::new(5)) > 100);
    // Sheets in the planes of the cubes, drawn from one side and the other.
    let sheet = |x: f64| [Vec3::new(x, 0.0, 0.0), Vec3::new(x, 3.0, 0.0), Vec3::new(x, 0.0, 3.0)];
    soup.extend([sheet(1.0), sheet(2.0)]);
    soup.extend(reversed(&[sheet(0.0)]));
    check(&soup, wanted(None, 6));
}

#[test]
fn the_order_of_triangles_and_who_asked_before_make_no_difference() {
    let soup = torus(9, 6);
    let turned: Soup = soup.iter().rev().map(|[a, b, c]| [*b, *c, *a]).collect();
    let told = |soup: &[[Vec3; 3]]| {
        let pieces = pieces_of(soup, wanted(None, 5));
        let mut told: Vec<_> = pieces
            .iter()
            .map(|p| {
                format!(
                    "{:?}",
                    p.hull.vertices().iter().map(|v| v.map(f64::to_bits)).collect::<Vec<_>>()
                )
            })
            .collect();
        told.sort();
        told
    };
    assert_eq!(told(&soup), told(&soup));
    let [first, second] = [&soup, &turned].map(|soup| check(soup, wanted(None, 5)).len());
    assert_eq!(first, second);
}

#[test]
fn whoever_has_gone_is_not_worked_for() {
    let (vertices, triangles) = mesh_of(&torus(16, 8));
    let has_gone = Until::expired();
    let effort = &mut Effort::until(u64::MAX, &has_gone);
    let found = decompose(&vertices, &triangles, wanted(None, 8), effort, &mut |_| {});
    assert!(matches!(found, Err(PiecesError::Stopped(Stopped::Deadline))));
    for steps in [1, 30, 300, 3_000] {
        let found = decompose(
            &vertices,
            &triangles,
            wanted(None, 8),
            &mut Effort::with_steps(steps),
            &mut |_| {},
        );
        assert!(matches!(found, Err(PiecesError::Stopped(Stopped::Steps))), "{steps}");
    }
}

/// Two ways to measure one hull: as that of its mesh, and as any convex body beside it, where it is
/// told where the hull is flush with the mesh.
#[test]
fn a_hull_stands_out_by_as_much_as_any_body_that_is_where_it_is() {
    let mut random = Random::new(36);
    let mut flush = 0;
    for _ in 0..40 {
        let soup = placed(any_soup(&mut random), &mut random);
        let (vertices, triangles) = mesh_of(&soup);
        let hull = convex_hull_with(&vertices, &mut Effort::unlimited()).unwrap().polytope;
        let effort = &mut Effort::unlimited();
        let known = excess::measure(&vertices, &triangles, &hull, effort).unwrap();
        let [lower, upper] = gaps(&vertices, &triangles, &[hull], effort).unwrap()[0];
        assert!(lower <= known.upper && known.lower <= upper, "{known:?} {lower} {upper}");
        flush += usize::from(known.closed && known.is_solid);
    }
    assert!(flush > 5, "{flush}");
}
