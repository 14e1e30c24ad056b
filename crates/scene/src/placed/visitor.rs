//! Convex shapes that a scene is asked about, polytopes and curved bodies, and the parts of its
//! bodies where they are.

use std::sync::{Arc, OnceLock};

use crate::bounds::Box3;
use crate::broken::{Rule, is_broken};
use crate::declared::body::{Body as DeclaredBody, BodyId, Part};
use clearance_bodies::Body;
use clearance_bodies::table::Wanted;
use clearance_geometry::Vec3;
use clearance_geometry::pair::Placed;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;

/// A shape that scenes are asked about: a polytope or a curved body, with balls around all its
/// points.
#[derive(Clone, Debug)]
pub struct QueryShape {
    part: Part,
    /// The same as a surface, made when a polytope without volume is asked about beside a region.
    surface: OnceLock<Part>,
}

impl QueryShape {
    /// A polytope with balls of this radius, metres, around all its points; 0: without balls.
    pub fn new(polytope: Arc<Polytope>, radius: f64) -> Self {
        Self { part: Part { radius, ..Part::of(polytope) }, surface: OnceLock::new() }
    }

    /// A curved body; none: it is of another kind.
    pub fn of_curved(body: &Body) -> Option<Self> {
        Part::of_curved(body).map(|part| Self { part, surface: OnceLock::new() })
    }

    /// The shape where it is put; of answers about it no proofs are wanted.
    pub fn at(&self, pose: Pose) -> Visitor<'_> {
        let Part { polytope, radius, .. } = &self.part;
        let core = Placed { body: polytope, pose };
        let own = OwnFilter::default();
        Visitor { core, radius: *radius, shape: self, own, wanted: Wanted::NO_PROOF }
    }

    /// What the table of bodies is asked about beside a part that is not convex. A polytope without
    /// volume stands to a region as the surface that it is.
    fn beside(&self, other: &Part) -> &Part {
        if !(other.is_region() && self.part.is_flat()) {
            return &self.part;
        }
        self.surface.get_or_init(|| {
            let hull = &self.part.polytope;
            let surface = Body::surface_of_flat(hull).expect("a flat polytope is a surface");
            Part::of_mesh(surface, hull.clone())
        })
    }
}

/// Which bodies one question leaves out, beside those that all questions leave out.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnFilter<'a> {
    /// These, sorted.
    pub ignored: &'a [BodyId],
    /// Those whose mask has none of these bits.
    pub category: Option<u32>,
    /// Those whose category has none of these bits.
    pub mask: Option<u32>,
}

impl OwnFilter<'_> {
    /// Whether the body is not left out.
    fn admits(&self, body: &DeclaredBody) -> bool {
        is_broken(Rule::OwnFilter)
            || self.category.is_none_or(|category| category & body.mask != 0)
                && self.mask.is_none_or(|mask| mask & body.category != 0)
                && self.ignored.binary_search(&body.id).is_err()
    }
}

/// A shape that a scene is asked about, where it is.
#[derive(Clone, Copy, Debug)]
pub struct Visitor<'a> {
    /// The polytope, or one around what is curved. Of a ray: a point.
    pub core: Placed<'a>,
    /// The radius of the balls, metres; of a polytope itself 0.
    pub radius: f64,
    shape: &'a QueryShape,
    /// What it is not put beside.
    own: OwnFilter<'a>,
    /// What answers about it are to bring with them.
    pub(crate) wanted: Wanted,
}

impl<'a> Visitor<'a> {
    /// The same, with what its answers are to bring with them.
    #[must_use]
    pub fn wanting(self, wanted: Wanted) -> Self {
        Self { wanted, ..self }
    }

    /// The same, beside fewer bodies.
    #[must_use]
    pub fn leaving_out(self, own: OwnFilter<'a>) -> Self {
        Self { own, ..self }
    }

    /// Whether it is put beside this body.
    #[inline]
    pub(crate) fn is_beside(&self, body: &DeclaredBody) -> bool {
        self.own.admits(body)
    }

    /// Whether the proofs of answers are of use to anybody.
    pub(crate) fn proves(&self) -> bool {
        self.wanted.certificate
    }

    /// A box in the world that holds it.
    pub(crate) fn held(&self) -> Box3 {
        held(&self.core, self.radius)
    }

    /// The same body in another pose.
    pub(crate) fn at(self, pose: Pose) -> Self {
        Self { core: Placed { pose, ..self.core }, ..self }
    }

    /// Its only point, if it has no more.
    pub(crate) fn point(&self) -> Option<&Vec3> {
        match self.core.body.vertices() {
            [point] if self.radius <= 0.0 => Some(point),
            _ => None,
        }
    }

    /// Whether it is curved: then its polytope tells too little.
    pub(crate) fn is_curved(&self) -> bool {
        self.shape.part.curved.is_some()
    }

    /// What the table of bodies is asked about beside a part that is not convex, or if it is
    /// curved.
    pub(crate) fn beside(&self, other: &Part) -> &'a Part {
        self.shape.beside(other)
    }
}

/// A part of a body where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScenePart<'a> {
    /// The polytope, or the hull of what is not convex.
    pub(crate) core: Placed<'a>,
    /// The radius of the balls, metres; of a polytope itself 0.
    pub(crate) radius: f64,
    /// The part as it is declared, if it is not convex, or is curved.
    pub(crate) mesh: Option<&'a Part>,
    /// The part as it is declared; of a copy for questions about shapes that are not curved it may
    /// be left out.
    pub(crate) part: Option<&'a Part>,
}

impl ScenePart<'_> {
    /// Holds it.
    pub(crate) fn held(&self) -> Box3 {
        held(&self.core, self.radius)
    }
}

fn held(core: &Placed<'_>, radius: f64) -> Box3 {
    let core = Box3::of_placed(core.body, &core.pose);
    if radius > 0.0 { core.inflated(radius) } else { core }
}

impl Part {
    /// It where it is.
    pub(crate) fn at(&self, pose: Pose) -> ScenePart<'_> {
        let core = Placed { body: &self.polytope, pose };
        let mesh = self.is_mesh().then_some(self);
        ScenePart { core, radius: self.radius, mesh, part: Some(self) }
    }
}
