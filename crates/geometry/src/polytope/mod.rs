//! A convex polytope: its [`Shape`], and what searches want to know about it, found out when it is
//! first asked for and kept: the hierarchy, where climbs start, what ellipsoid it is like, the
//! vertices near the faces of its box, and the surface for searches over faces.

mod box_groups;
mod face_table;
mod lever;
mod likeness;
pub mod surface;
mod tables;

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

pub(super) use self::box_groups::BOX_FACES;
use self::box_groups::BoxGroups;
pub(super) use self::face_table::{FaceTable, VectorBlock, WIDE};
pub use self::likeness::Likeness;
use self::tables::KeptFor;
pub use self::tables::{TableKeeper, Tables};
use surface::Surface;

use super::effort::{Effort, Stopped};
use super::hierarchy::{Hierarchy, HierarchyReport};
use super::reach::Reach;
use super::shape::Shape;

/// See the module.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Polytope {
    shape: Shape,
    on_demand: OnDemand,
    // Last, and kept there by the representation: no search looks at it, and what searches look at
    // lies where it did.
    kept_for: KeptFor,
}

/// A polytope is its shape; what is kept beside only saves time.
impl Deref for Polytope {
    type Target = Shape;

    #[inline(always)]
    fn deref(&self) -> &Shape {
        &self.shape
    }
}

/// What follows from the rest and is built on first use (the hierarchy, what the supporting-vertex
/// search needs, the surface for searches over faces); a new polytope starts with the default.
#[derive(Clone, Debug, Default)]
struct OnDemand {
    hierarchy: OnceLock<Hierarchy>,
    reach: OnceLock<Reach>,
    box_groups: OnceLock<BoxGroups>,
    likeness: OnceLock<Likeness>,
    lever: OnceLock<f64>,
    surface: OnceLock<Option<Box<Surface>>>,
    face_table: OnceLock<Option<Box<FaceTable>>>,
}

impl Polytope {
    /// The shape itself, with nothing known about it yet.
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, on_demand: OnDemand::default(), kept_for: KeptFor::default() }
    }

    /// The Dobkin-Kirkpatrick hierarchy; built on first use.
    pub fn hierarchy(&self) -> &Hierarchy {
        match self.on_demand.hierarchy.get() {
            Some(known) => known,
            None => self.hierarchy_within(&Effort::unlimited()).expect("without a deadline"),
        }
    }

    fn hierarchy_within(&self, effort: &Effort<'_>) -> Result<&Hierarchy, Stopped> {
        match self.on_demand.hierarchy.get() {
            Some(known) => Ok(known),
            None => {
                let built = Hierarchy::build(self, effort)?;
                Ok(self.kept_for.keep(&self.on_demand.hierarchy, built, Hierarchy::layer_bytes))
            }
        }
    }

    /// Builds the hierarchy, unless the deadline passes meanwhile: of large bodies it takes long.
    pub fn prepare_hierarchy(&self, effort: &Effort<'_>) -> Result<(), Stopped> {
        self.hierarchy_within(effort).map(|_| ())
    }

    /// Builds the hierarchy and what walks over its features need, unless the deadline passes
    /// meanwhile. What is done of the one is kept if the other is not reached.
    pub fn prepare_features(&self, effort: &Effort<'_>) -> Result<(), Stopped> {
        let hierarchy = self.hierarchy_within(effort)?;
        if hierarchy.prepare_features(effort)? {
            self.kept_for.tell(hierarchy.feature_bytes());
        }
        Ok(())
    }

    /// The figures of the hierarchy. One that nothing has asked for yet is built and dropped again:
    /// a body that is only asked about by default methods never keeps one.
    pub fn hierarchy_report(&self, effort: &Effort<'_>) -> Result<HierarchyReport, Stopped> {
        Ok(match self.on_demand.hierarchy.get() {
            Some(kept) => kept.report(),
            None => Hierarchy::build(self, effort)?.report(),
        })
    }

    /// Memory that it takes beyond its own size when only default methods ask about it: vertices,
    /// both adjacency lists, and what the supporting-vertex search needs.
    pub fn heap_bytes(&self) -> usize {
        let lists = self.neighbours.heap_bytes() + self.facets.heap_bytes();
        size_of_val(self.vertices.as_slice()) + lists + self.reach().bytes()
    }

    /// What the search for supporting vertices needs; built on first use.
    #[inline]
    pub fn reach(&self) -> &Reach {
        let no_limit = || Reach::build(self, &Effort::unlimited()).expect("without a deadline");
        self.on_demand.reach.get_or_init(no_limit)
    }

    /// Builds that, unless the deadline passes meanwhile: of large bodies it takes a while.
    pub fn prepare_reach(&self, effort: &Effort<'_>) -> Result<(), Stopped> {
        if self.on_demand.reach.get().is_none() {
            let built = Reach::build(self, effort)?;
            self.on_demand.reach.get_or_init(|| built);
        }
        Ok(())
    }

    /// At least how much a turn by a radian about the centre of its bounds can change how far it
    /// reaches along a direction, metres; found out on first use.
    #[inline]
    pub fn lever(&self) -> f64 {
        *self.on_demand.lever.get_or_init(|| lever::lever_of(self))
    }

    /// The ellipsoid that it is like; fitted on first use, unless the deadline passes meanwhile.
    #[inline]
    pub fn likeness(&self, effort: &Effort<'_>) -> Result<&Likeness, Stopped> {
        match self.on_demand.likeness.get() {
            Some(known) => Ok(known),
            None => self.fit_likeness(effort),
        }
    }

    /// Takes the ellipsoid that touches its bounding box for that: of a body that is asked about a
    /// few times, fitting one would cost more than it spares.
    pub(crate) fn guess_by_bounds(&self) {
        self.on_demand.likeness.get_or_init(|| Likeness::of_bounds(self));
    }

    #[cold]
    #[inline(never)]
    fn fit_likeness(&self, effort: &Effort<'_>) -> Result<&Likeness, Stopped> {
        let fitted = Likeness::of(self, self.reach(), effort)?;
        Ok(self.on_demand.likeness.get_or_init(|| fitted))
    }

    /// The vertices near a face of the bounding box; built on first use.
    pub(super) fn box_group(&self, face: usize) -> &[u32] {
        self.on_demand.box_groups.get_or_init(|| BoxGroups::build(&self.vertices)).group(face)
    }

    /// Its faces with normals and neighbours; built on first use. None for a body that is not
    /// solid.
    pub fn surface(&self) -> Option<&Surface> {
        let no_limit = &Effort::unlimited();
        self.surface_within(no_limit).expect("without a deadline")
    }

    /// The surface, unless the deadline passes while it is built.
    pub fn surface_within(&self, effort: &Effort<'_>) -> Result<Option<&Surface>, Stopped> {
        let built = match self.on_demand.surface.get() {
            Some(known) => known,
            None => {
                let built = Surface::build(self, effort)?.map(Box::new);
                let bytes = |built: &Option<Box<Surface>>| {
                    built.as_ref().map_or(0, |surface| {
                        let edges = surface.incidence().edge_count();
                        Surface::memory_bytes(edges, self.facets.len())
                    })
                };
                self.kept_for.keep(&self.on_demand.surface, built, bytes)
            }
        };
        Ok(built.as_deref())
    }

    /// Its faces and edges in arrays; built on first use. None for a body that is not solid, or has
    /// many.
    #[inline]
    pub(super) fn face_table(&self) -> Option<&FaceTable> {
        match self.on_demand.face_table.get() {
            Some(built) => built.as_deref(),
            None => self.build_face_table(),
        }
    }

    #[cold]
    #[inline(never)]
    fn build_face_table(&self) -> Option<&FaceTable> {
        let built = FaceTable::build(self).map(Box::new);
        let bytes = |built: &Option<Box<FaceTable>>| built.as_ref().map_or(0, |it| it.bytes());
        self.kept_for.keep(&self.on_demand.face_table, built, bytes).as_deref()
    }

    /// Lets `keeper` know what is built of this body from now on, and what there is already.
    pub fn tell(&mut self, keeper: Arc<dyn TableKeeper>) {
        keeper.kept(self.table_bytes());
        self.kept_for = KeptFor::of(keeper);
    }

    /// Memory of the tables that are built of it, beyond [`Self::heap_bytes`].
    pub fn table_bytes(&self) -> usize {
        let OnDemand { hierarchy, surface, face_table, .. } = &self.on_demand;
        let layers = hierarchy.get().map_or(0, |built| {
            let features = if built.has_features() { built.feature_bytes() } else { 0 };
            built.layer_bytes() + features
        });
        let surface = surface.get().and_then(Option::as_ref).map_or(0, |surface| {
            Surface::memory_bytes(surface.incidence().edge_count(), self.facets.len())
        });
        let faces = face_table.get().and_then(Option::as_ref).map_or(0, |table| table.bytes());
        layers + surface + faces
    }

    /// Memory that these tables would take beyond what is built already, at most; `report` is of
    /// its hierarchy.
    pub fn bytes_to_build(&self, tables: Tables, report: &HierarchyReport) -> usize {
        let OnDemand { hierarchy, surface, face_table, .. } = &self.on_demand;
        let layers = || match hierarchy.get() {
            Some(_) => 0,
            None => report.bytes - report.feature_bytes,
        };
        match tables {
            Tables::Nothing => 0,
            Tables::Layers => layers(),
            Tables::Features => match hierarchy.get() {
                Some(built) if built.has_features() => 0,
                _ => layers() + report.feature_bytes,
            },
            Tables::Surface if surface.get().is_none() && self.dimension() == 3 => {
                let edges = self.vertices.len() + self.facets.len();
                Surface::memory_bytes(edges, self.facets.len())
            }
            Tables::Faces if face_table.get().is_none() => FaceTable::bytes_at_most(self),
            Tables::Surface | Tables::Faces => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::distance::{self, Stops};
    use crate::effort::{Effort, Stopped};
    use crate::motion::Motion;
    use crate::pair::Pair;
    use crate::pair::Question;
    use crate::pose::Pose;
    use crate::samples::ball;
    use crate::separation::{self, METHODS};
    use crate::until::Until;
    use crate::witness::Witness;
    use crate::{Vec3, contact_time, penetration};

    /// A body takes a third of what it could, as long as nobody asks for a method by name.
    /// Registering once built the hierarchy and kept it.
    #[test]
    fn default_methods_and_a_report_build_nothing_that_only_named_methods_need() {
        let (p, q) = (ball(300, 1), ball(200, 2));
        for x in [0.0, 1.0, 2.5] {
            let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(x, 0.1, 0.2));
            let (mut witness, effort) = (Witness::default(), &mut Effort::unlimited());
            separation::decide(&pair, &METHODS[0], &mut witness, effort).unwrap();
            distance::measure(&pair, Stops::default(), &mut witness, effort).unwrap();
            penetration::measure(&pair, true, &mut witness, effort).unwrap();
            penetration::along(&pair, &Vec3::x(), &mut witness, effort).unwrap();
            let linear = Motion::Linear { velocity: Vec3::new(-2.0, 0.0, 0.0) };
            let turning = Motion::Screw {
                pivot: None,
                velocity: Vec3::new(-2.0, 0.0, 0.0),
                axis: Vec3::z(),
                angle: 1.0,
            };
            for motion in [linear, turning] {
                let still = Motion::Linear { velocity: Vec3::zeros() };
                let question = Question::new(pair, still, motion);
                contact_time::first_contact(&question, &mut witness, effort).unwrap();
            }
        }
        for body in [&p, &q] {
            let report = body.hierarchy_report(&Effort::unlimited()).unwrap();
            assert!(body.on_demand.hierarchy.get().is_none());
            assert!(body.on_demand.surface.get().is_none());
            assert!(body.on_demand.box_groups.get().is_none());
            assert_eq!(report, body.hierarchy().report());
        }
    }

    /// The first question by a named method builds the body's tables. It once did so whatever its
    /// deadline: 110 ms for bodies of 80,000 vertices.
    #[test]
    fn a_deadline_ends_the_building_of_tables_and_keeps_nothing_half_built() {
        let (p, q) = (ball(300, 1), ball(200, 2));
        let pair = Pair::new(&p, Pose::identity(), &q, Pose::translation(1.0, 0.1, 0.2));
        let has_passed = Until::expired();
        let late = || Effort::until(u64::MAX, &has_passed);
        let stopped = Some(Stopped::Deadline);
        for method in METHODS {
            let layout = &mut Witness::default();
            let said = separation::decide(&pair, method, layout, &mut late()).err();
            let is_by_look = said.is_none();
            assert!(is_by_look || said == stopped, "{}", method.name);
        }
        for method in distance::METHODS {
            let witness = &mut Witness::default();
            let said = distance::measure_by(method, &pair, Stops::default(), witness, &mut late());
            assert_eq!(said.err(), stopped, "{}", method.name);
        }
        for method in penetration::METHODS {
            let witness = &mut Witness::default();
            let said = penetration::along_by(&pair, &Vec3::x(), method, witness, &mut late());
            assert_eq!(said.err(), stopped, "{}", method.name);
        }
        let motion = Motion::Linear { velocity: Vec3::new(-2.0, 0.0, 0.0) };
        let apart = Pair::new(&p, Pose::identity(), &q, Pose::translation(3.0, 0.1, 0.2));
        let question = Question::new(apart, Motion::rest(), motion);
        for method in contact_time::METHODS {
            let witness = &mut Witness::default();
            let said = contact_time::first_contact_by(method, &question, witness, &mut late());
            assert_eq!(said.err(), stopped, "{}", method.name);
        }
        for body in [&p, &q] {
            assert!(body.on_demand.hierarchy.get().is_none());
            assert!(body.on_demand.surface.get().is_none());
            assert_eq!(body.prepare_features(&late()).err(), stopped);
            assert!(body.on_demand.hierarchy.get().is_none());
            body.prepare_hierarchy(&Effort::unlimited()).unwrap();
            assert_eq!(body.prepare_features(&late()).err(), stopped);
            assert!(body.surface_within(&late()).is_err());
            assert!(body.on_demand.surface.get().is_none());
            assert!(body.surface().is_some());
        }
    }
}
