//! The case file that all harnesses read: bodies, and sequences of poses of two of them.

use clearance_geometry::Vec3;
use clearance_geometry::hull::convex_hull;
use clearance_geometry::polytope::Polytope;

pub(crate) struct Frame {
    pub(crate) p: [f64; 7],
    pub(crate) q: [f64; 7],
}

pub(crate) struct Sequence {
    pub(crate) p: usize,
    pub(crate) q: usize,
    pub(crate) frames: Vec<Frame>,
}

pub(crate) struct Cases {
    pub(crate) polytopes: Vec<Polytope>,
    pub(crate) sequences: Vec<Sequence>,
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (head, tail) = self.bytes.split_first_chunk().expect("the case file is whole");
        self.bytes = tail;
        *head
    }

    fn count(&mut self) -> usize {
        u32::from_le_bytes(self.take()) as usize
    }

    fn number(&mut self) -> f64 {
        f64::from_le_bytes(self.take())
    }

    fn pose(&mut self) -> [f64; 7] {
        std::array::from_fn(|_| self.number())
    }
}

pub(crate) fn load(file: &str) -> Cases {
    let bytes = std::fs::read(file).expect("the case file can be read");
    let mut reader = Reader { bytes: &bytes };
    assert_eq!(&reader.take::<4>(), b"CQC1", "not a case file");
    let polytopes = (0..reader.count())
        .map(|_| {
            let points: Vec<Vec3> = (0..reader.count())
                .map(|_| Vec3::new(reader.number(), reader.number(), reader.number()))
                .collect();
            for _ in 0..3 * reader.count() {
                reader.count(); // Triangles: we build our own hull.
            }
            convex_hull(&points).expect("finite points").polytope
        })
        .collect();
    let sequences = (0..reader.count())
        .map(|_| {
            let (p, q) = (reader.count(), reader.count());
            let frames =
                (0..reader.count()).map(|_| Frame { p: reader.pose(), q: reader.pose() }).collect();
            Sequence { p, q, frames }
        })
        .collect();
    Cases { polytopes, sequences }
}
