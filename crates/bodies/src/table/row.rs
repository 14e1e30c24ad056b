//! What the rows of all questions have in common.

use crate::kind::Kind;
use crate::solid::ReadySolid;
use clearance_geometry::contact_time::polyhedra::proof::Unproven;
use clearance_geometry::polytope::Tables;

/// An entry of the table: by what a question about bodies of two kinds is answered, or what is not
/// answered, in words. A question with one way has the methods of this as `W`, others a [`Way`].
pub(crate) type TableEntry<W> = Result<W, &'static str>;

/// By what a question that has several ways is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By the methods for convex bodies, of which each is its own hull.
    Hulls,
    /// By the faces of both boundaries.
    Faces,
    /// By the distance of the polytopes that are rounded, against the sum of the radii.
    Radii,
    /// By the faces of a mesh and of what is rounded, against the sum of the radii; those of a
    /// cloud are its points.
    RoundedFaces,
    /// By the triangles of a height field that are near the other body, made for that.
    Cells,
    /// By polytopes in and around a curved body, refined until both tell the same.
    Between,
    /// By the pieces of a surface and of the other body: triangles, or the whole of a polytope.
    Pieces,
}

/// A question that is not answered about the bodies at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnswered {
    /// The field of the question that asks for too much, as it is called on the wire; empty for the
    /// body itself.
    pub field: &'static str,
    /// What is not answered, in words.
    pub what: &'static str,
    /// The kinds of the bodies. What is answered of these, [`super::topics_of`] lists.
    pub kinds: [Kind; 2],
}

impl NotAnswered {
    /// Of a question whose entry says so; the first body that cannot be asked about beside one of
    /// its own kind is to blame, or else the second.
    fn of<W>(kinds: [Kind; 2], what: &'static str, entry: fn([Kind; 2]) -> TableEntry<W>) -> Self {
        let field = if entry([kinds[0]; 2]).is_err() { "p" } else { "q" };
        Self { field, what, kinds }
    }
}

/// The entry of a question that names no field but its bodies, or why it is not answered.
pub(crate) fn look_up<W>(
    kinds: [Kind; 2],
    entry: fn([Kind; 2]) -> TableEntry<W>,
) -> Result<W, NotAnswered> {
    entry(kinds).map_err(|what| NotAnswered::of(kinds, what, entry))
}

/// What is made of some cells of a height field at a time, bytes at most.
const CELLS_BYTES: u64 = 2 << 20;

/// What is made of a curved body at a time, bytes at most: two polytopes, of hundreds of vertices,
/// and what they are made of.
const BETWEEN_BYTES: u64 = 4 << 20;

/// What is built of bodies before a question about them is answered.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Tables that the method has built of a body which it is the first to ask about.
    pub tables: Tables,
    /// Whether both bodies are made solids for the question.
    makes_solids: bool,
}

impl Needs {
    /// The body, and nothing beside it.
    pub const NOTHING: Self = Self { tables: Tables::Nothing, makes_solids: false };

    /// Solids of both bodies.
    pub(crate) const SOLIDS: Self = Self { tables: Tables::Nothing, makes_solids: true };

    /// Tables.
    pub(crate) const fn tables(tables: Tables) -> Self {
        Self { tables, makes_solids: false }
    }

    /// These, and solids of both bodies.
    pub(crate) const fn and_solids(self) -> Self {
        Self { makes_solids: true, ..self }
    }

    /// Whether both bodies are made solids for the question, which not every body can be.
    pub fn makes_solids(&self) -> bool {
        self.makes_solids
    }

    /// What is made of a body for the question alone, bytes.
    pub fn bytes_made(&self, kind: Kind, vertices: usize) -> u64 {
        match kind {
            Kind::Polytope if self.makes_solids => {
                ReadySolid::MADE_BYTES_PER_VERTEX.saturating_mul(vertices as u64)
            }
            Kind::Polyhedron | Kind::Surface if self.makes_solids => {
                ReadySolid::PLACED_BYTES_PER_VERTEX.saturating_mul(vertices as u64)
            }
            Kind::Cloud if self.makes_solids => {
                let points = vertices as u64;
                let open = ReadySolid::OPEN_BYTES_PER_POINT.saturating_mul(points);
                let of_points = ReadySolid::BYTES_PER_POINT.saturating_mul(points);
                of_points.saturating_add(open.min(ReadySolid::OPEN_BYTES_MAX))
            }
            Kind::HeightField if self.makes_solids => CELLS_BYTES,
            Kind::Curved => BETWEEN_BYTES,
            Kind::Cloud
            | Kind::HeightField
            | Kind::Polytope
            | Kind::Polyhedron
            | Kind::Rounded
            | Kind::Surface => 0,
        }
    }
}

/// What an answer is to bring with it, and what it may take for that.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Whether its proof is wanted. A proof that costs nothing beside the answer comes anyway.
    pub certificate: bool,
    /// Steps and links that a proof that boundaries do not meet may have.
    pub cover_steps_max: u64,
}

impl Wanted {
    /// No proof.
    pub const NO_PROOF: Self = Self { certificate: false, cover_steps_max: 0 };

    /// Proves what was found, if its proof is wanted.
    pub(super) fn proven<T>(
        self,
        prove: impl FnOnce() -> Result<T, Unproven>,
    ) -> Result<T, Option<Unproven>> {
        if self.certificate { prove().map_err(Some) } else { Err(None) }
    }
}

/// What solids need of a polytope, in words for who is refused.
pub(crate) const FLAT: &str =
    "a polytope without volume beside a polyhedron or among several bodies";

/// How long it takes to place a body as a solid and to look at its faces, nanoseconds for each
/// vertex: a generous guess.
pub(crate) const FACES_NANOSECONDS: u64 = 2_000;

/// How long it takes to refine polytopes until they tell, nanoseconds: a generous guess.
pub(crate) const BETWEEN_NANOSECONDS: u64 = 20_000_000;

/// How long a method for convex bodies takes, nanoseconds for each vertex: a generous guess.
pub(crate) const HULLS_NANOSECONDS: u64 = 50;
