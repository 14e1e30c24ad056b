//! Points, bodies and poses from bytes, with the structure that hurts: lattices, coplanar and
//! collinear points, duplicates, neighbours by one ulp, extreme exponents, bodies placed in exact
//! contact.

use clearance_geometry::hull::{convex_hull, samples};
use clearance_geometry::pair::VertexPair;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_geometry::witness::Witness;
use clearance_geometry::{Mat3, Vec3};

use crate::bytes::{Bytes, power};

/// At most `most` points of some family.
pub(crate) fn points(bytes: &mut Bytes<'_>, most: usize) -> Vec<Vec3> {
    let family = bytes.below(12);
    let count = 1 + bytes.below(most);
    let mut list: Vec<Vec3> = match family {
        0 => (0..count).map(|_| lattice(bytes)).collect(),
        1 => (0..count).map(|_| vector(bytes)).collect(),
        2 => spanned(bytes, count, 2),
        3 => spanned(bytes, count, 1),
        4 => samples::cuboid(1.0, 1.0 + f64::from(bytes.byte()), 1.0),
        5 => samples::octahedron(1.0),
        6 => samples::cloud(count as u32, Vec3::repeat(1.0), u64::from(bytes.byte())),
        7 => samples::sphere(count as u32, 1.0),
        8 => samples::prism(3 + count as u32 % 12, 1.0, 1e-3),
        9 => samples::needle(1 + count as u32 % 4, 100.0, 0.01),
        10 => samples::flat_polygon(3 + count as u32 % 12, 2.0),
        _ => samples::tetrahedron(2.0),
    };
    match bytes.below(16) {
        // Again, and next to it.
        8 | 9 => {
            for _ in 0..bytes.below(8) {
                let mut copy = list[bytes.below(list.len())];
                let axis = bytes.below(3);
                copy[axis] =
                    bytes.of(&[copy[axis], copy[axis].next_up(), copy[axis].next_down(), 0.0]);
                list.push(copy);
            }
        }
        10 => {
            let factor = power(bytes.of(&[-1060, -1000, -540, -300, -270, 270, 298, 900, 955]));
            list.iter_mut().for_each(|p| *p *= factor);
        }
        11 => {
            let away = vector(bytes) * power(bytes.of(&[0, 10, 20, 40]));
            list.iter_mut().for_each(|p| *p += away);
        }
        // A sliver.
        12 => {
            let (axis, factor) = (bytes.below(3), power(bytes.of(&[-10, -30, -52, -300, 40])));
            list.iter_mut().for_each(|p| p[axis] *= factor);
        }
        _ => {}
    }
    list
}

fn lattice(bytes: &mut Bytes<'_>) -> Vec3 {
    // Two bits for each coordinate.
    let bits = bytes.byte();
    Vec3::from_fn(|k, _| f64::from(bits >> (2 * k) & 3) - 1.5)
}

pub(crate) fn vector(bytes: &mut Bytes<'_>) -> Vec3 {
    Vec3::from_fn(|_, _| bytes.number())
}

/// Small multiples of one or two vectors.
fn spanned(bytes: &mut Bytes<'_>, count: usize, dimension: usize) -> Vec<Vec3> {
    let base = lattice(bytes);
    let spans: Vec<Vec3> = (0..dimension).map(|_| lattice(bytes)).collect();
    let small = |bytes: &mut Bytes<'_>| f64::from(bytes.byte() as i8 / 16);
    (0..count).map(|_| spans.iter().fold(base, |sum, v| sum + v * small(bytes))).collect()
}

/// The hull of some points, if their coordinates are allowed.
pub(crate) fn body(bytes: &mut Bytes<'_>, most: usize) -> Option<Polytope> {
    Some(convex_hull(&points(bytes, most)).ok()?.polytope)
}

/// The rotation and where to, if allowed.
pub(crate) fn pose(bytes: &mut Bytes<'_>) -> Option<Pose> {
    let kind = bytes.below(8);
    let translation = if bytes.flag() { vector(bytes) } else { lattice(bytes) };
    match kind {
        0..3 => Pose::from_quaternion(translation, [1.0, 0.0, 0.0, 0.0]),
        3 | 4 => {
            // A turn that is exact as a matrix.
            let axis = bytes.below(3);
            let mut rows = Mat3::zeros();
            rows[(axis, axis)] = 1.0;
            rows[((axis + 1) % 3, (axis + 2) % 3)] = -1.0;
            rows[((axis + 2) % 3, (axis + 1) % 3)] = 1.0;
            Pose::from_matrix(translation, std::array::from_fn(|k| rows[(k / 3, k % 3)]))
        }
        5 | 6 => {
            let q = std::array::from_fn(|_| bytes.signed());
            Pose::from_quaternion(translation, q)
        }
        _ => {
            // Nearly none at all.
            let by = bytes.signed() * power(bytes.of(&[-8, -26, -40, -52]));
            Pose::from_quaternion(translation, [1.0, by, 0.0, -by])
        }
    }
    .ok()
}

/// Two bodies, each with its pose.
#[derive(Debug)]
pub(crate) struct Placing {
    pub(crate) p: Polytope,
    pub(crate) q: Polytope,
    pub(crate) pose_p: Pose,
    pub(crate) pose_q: Pose,
}

impl Placing {
    /// Two bodies of at most `most` points, often placed so that they are in contact, nearly or
    /// exactly.
    pub(crate) fn read(bytes: &mut Bytes<'_>, most: usize) -> Option<Self> {
        let shape = bytes.byte();
        let p = body(bytes, most)?;
        let q = if shape & 3 == 3 { p.clone() } else { body(bytes, most)? };
        let pose_p = if shape & 4 == 0 { Pose::identity() } else { pose(bytes)? };
        let mut pose_q = pose(bytes)?;
        if shape & 24 > 0 {
            let i = bytes.byte() as u32 % p.vertex_count();
            let j = bytes.byte() as u32 % q.vertex_count();
            let from = pose_q.rotation * q.vertex(j);
            pose_q.translation = pose_p.apply_rounded(p.vertex(i)) - from;
            let axis = bytes.below(3);
            let moved = &mut pose_q.translation[axis];
            *moved = match shape >> 5 {
                0 | 1 => *moved,
                2 => moved.next_up(),
                3 => moved.next_down(),
                _ => *moved + bytes.number(),
            };
            pose_q = Pose::from_matrix(
                pose_q.translation,
                std::array::from_fn(|k| pose_q.rotation[(k / 3, k % 3)]),
            )
            .ok()?;
        }
        Some(Self { p, q, pose_p, pose_q })
    }
}

/// Any witness at all.
pub(crate) fn witness(bytes: &mut Bytes<'_>) -> Witness {
    let mut witness = Witness::default();
    if bytes.flag() {
        witness.direction = Some(if bytes.flag() {
            lattice(bytes)
        } else {
            Vec3::from_fn(|_, _| f64::from_bits(bytes.bits()))
        });
    }
    for _ in 0..bytes.below(7) {
        let index = |bytes: &mut Bytes<'_>| match bytes.byte() {
            255 => u32::MAX,
            small => u32::from(small) % 9,
        };
        witness.pairs.push(VertexPair { i: index(bytes), j: index(bytes) });
    }
    witness
}
