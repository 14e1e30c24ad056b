//! Questions to a scene, from the wire.

use std::time::Duration;

use super::declare::said;
use crate::convert::body::{AskedBody, Unready, body_for, body_of_checked};
use crate::convert::catalogue::Catalogue;
use crate::convert::geometry::{coordinates, length, motion, signed_length, tolerance, vector};
use crate::convert::options::budget;
use crate::convert::sessions::casts::AskedCasts;
use crate::convert::sessions::own_filters::{AskedOwn, AskedOwnLists, WireLists};
use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::table::Needs;
use clearance_bodies::table::place::Place;
use clearance_bodies::{Body, PlacedBody};
use clearance_geometry::Vec3;
use clearance_geometry::claim::TIME_TOLERANCE;
use clearance_geometry::effort::Effort;
use clearance_geometry::motion::Motion;
use clearance_geometry::pose::Pose;
use clearance_proto as api;
use clearance_scene::BodyId;
use clearance_scene::query::cast::StartContacts;
use clearance_scene::query::past::{Moment, NoPast};
use clearance_scene::query::place::Nearness;
use clearance_scene::query::{BodyFilter, HitSelection, UnknownName};

/// Questions to a scene, checked.
#[derive(Debug)]
pub struct AskedInquiry {
    /// One for each question; or why it is none.
    pub questions: Vec<Result<AskedQuestion, api::ItemStatus>>,
    /// Packed rays.
    pub rays: Option<AskedRays>,
    /// Packed casts.
    pub casts: Option<AskedCasts>,
    /// Which bodies are looked at.
    pub filter: BodyFilter,
    /// How many hits are wanted.
    pub hits: HitSelection,
    /// Which contacts at the start of casts are told.
    pub starts: StartContacts,
    /// Where these are left out, later ones across seams are, too.
    pub without_seams: bool,
    /// Whether it is wanted where casts leave what they meet.
    pub exits: bool,
    /// Whether proofs are wanted.
    pub certificates: bool,
    /// Steps that one question may take.
    pub steps: u64,
    /// What all of them may take together.
    pub time: Option<Duration>,
    /// When the scene is asked about; none: as it stands.
    pub moment: Option<Moment>,
}

/// Packed rays, checked.
#[derive(Debug)]
pub struct AskedRays {
    /// Origin and displacement.
    pub ways: Vec<[Vec3; 2]>,
    /// What each of them leaves out.
    pub own: AskedOwnLists,
}

/// What a question is about, and where that is.
#[derive(Clone, Debug)]
pub enum AskedShape {
    /// A point.
    Point(Vec3),
    /// A body, of which a hull may have to be built.
    Body(AskedBody),
}

/// One question to a scene, checked.
#[derive(Clone, Debug)]
pub struct AskedQuestion {
    /// What is asked about.
    pub shape: AskedShape,
    /// What is asked.
    pub kind: AskedKind,
    /// Which bodies it leaves out.
    pub own: AskedOwn,
}

/// What a scene is asked.
#[derive(Clone, Copy, Debug)]
pub enum AskedKind {
    /// What it meets on its way.
    Cast {
        /// How it moves.
        motion: Motion,
        /// Metres.
        margin: f64,
        /// Width of brackets.
        time_tolerance: f64,
    },
    /// What it is in contact with.
    Overlap,
    /// What is nearest.
    Nearest(Nearness),
}

/// The point that rays and point questions place: their own shape, made once for a call.
pub fn point() -> Result<Body, Failure> {
    Ok(body_of_checked(&[Vec3::zeros()], &mut Effort::unlimited())?)
}

impl AskedShape {
    /// The body and where it is; `point` is the shape of points. May build a hull.
    pub fn prepare(self, point: &Body, effort: &mut Effort<'_>) -> Result<PlacedBody, Unready> {
        match self {
            Self::Point(at) => {
                let pose = Pose::translation(at.x, at.y, at.z);
                Ok(PlacedBody { body: point.clone(), pose })
            }
            Self::Body(body) => body.prepare(effort),
        }
    }

    /// How long it takes to get it ready: a generous guess.
    fn estimate(&self) -> Duration {
        match self {
            Self::Body(body) => body.time_to_build(),
            Self::Point(_) => Duration::ZERO,
        }
    }
}

impl AskedInquiry {
    /// Checks what can be wrong with the whole; what is wrong with one question is said in its
    /// place.
    pub fn convert(
        wire: &api::QuerySceneRequest,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let root = Path::ROOT;
        let limits = catalogue.limits;
        let list = root.field("queries");
        list.within(limits.scene_queries_max(), wire.queries.len())?;
        let hits = match root.field("hits").known(wire.hits)? {
            api::HitSelection::Unspecified | api::HitSelection::First => HitSelection::First,
            api::HitSelection::All => HitSelection::All,
            api::HitSelection::Any => HitSelection::Any,
        };
        let (steps, time) = budget(&root.field("budget"), wire.budget.as_ref())?;
        let filter = filter(&root.field("filter"), wire.filter.as_ref(), catalogue)?;
        let rays = match &wire.packed_rays {
            None => None,
            Some(packed) => Some(rays(&root.field("packed_rays"), packed, catalogue)?),
        };
        let starts = match root.field("start_contacts").known(wire.start_contacts)? {
            api::StartContacts::Unspecified | api::StartContacts::All => StartContacts::All,
            api::StartContacts::Deepening => StartContacts::Deepening,
            api::StartContacts::Skipped => StartContacts::Skipped,
        };
        let needs_straight = if starts != StartContacts::All {
            Some("start_contacts")
        } else {
            wire.exits.then_some("exits")
        };
        let question = |(index, one): (usize, &api::SceneQuery)| {
            let path = list.index(index);
            let asked = AskedQuestion::convert(&path, one, catalogue).and_then(|asked| {
                let is_told = needs_straight.is_none_or(|_| asked.kind.is_straight());
                is_told.then_some(asked).ok_or_else(|| not_straight(&path, needs_straight).into())
            });
            asked.map_err(|failure| failure.to_item())
        };
        let questions = wire.queries.iter().enumerate().map(question).collect();
        let casts = AskedCasts::convert(&root, wire, catalogue)?;
        let moment = moment(&root.field("moment"), wire.moment.as_ref())?;
        Ok(Self {
            questions,
            rays,
            casts,
            filter,
            hits,
            starts,
            without_seams: wire.without_seams,
            exits: wire.exits,
            certificates: wire.certificates,
            steps,
            time,
            moment,
        })
    }

    /// How many questions there are.
    pub fn count(&self) -> usize {
        let casts = self.casts.as_ref().map_or(0, |casts| casts.ways.len());
        self.questions.len() + self.rays.as_ref().map_or(0, |rays| rays.ways.len()) + casts
    }

    /// Whether all of them are about points, and none about what is nearest: one takes some
    /// microseconds.
    pub fn is_about_points(&self) -> bool {
        let is_small = |question: &AskedQuestion| {
            matches!(question.shape, AskedShape::Point(_))
                && !matches!(question.kind, AskedKind::Nearest(_))
        };
        let is_short = self.casts.is_none() && !self.looks_at_whole_ways();
        is_short && self.questions.iter().flatten().all(is_small)
    }

    /// Whether ways are looked at beyond the first contact with a body.
    pub fn looks_at_whole_ways(&self) -> bool {
        self.exits || self.starts != StartContacts::All
    }

    /// What a look at one of its shapes makes of that, bytes at most.
    pub fn bytes_of_shapes(&self) -> u64 {
        let asked = self.questions.iter().flatten().filter_map(|question| match &question.shape {
            AskedShape::Body(body) => Some(body),
            AskedShape::Point(_) => None,
        });
        let cast = self.casts.iter().flat_map(|casts| &casts.bodies);
        asked.chain(cast).map(|body| Needs::NOTHING.bytes_made(body.kind(), 0)).max().unwrap_or(0)
    }

    /// How long it takes to get all shapes ready.
    pub fn hull_time(&self) -> Duration {
        let asked = self.questions.iter().flatten().map(|question| question.shape.estimate());
        let cast = self.casts.iter().flat_map(|casts| &casts.bodies).map(AskedBody::time_to_build);
        asked.chain(cast).sum()
    }
}

impl AskedQuestion {
    fn convert(
        path: &Path<'_>,
        wire: &api::SceneQuery,
        catalogue: &Catalogue<'_>,
    ) -> Result<Self, Failure> {
        let own = AskedOwn::convert(path, wire.filter.as_ref(), catalogue.limits)?;
        let (shape, kind) = Self::subject(path, wire, catalogue)?;
        Ok(Self { shape, kind, own })
    }

    /// What it is about, and what is asked of that.
    fn subject(
        path: &Path<'_>,
        wire: &api::SceneQuery,
        catalogue: &Catalogue<'_>,
    ) -> Result<(AskedShape, AskedKind), Failure> {
        use api::scene_query::Kind;
        let kind = wire.kind.as_ref();
        match kind.ok_or_else(|| path.bad("needs ray, shape_cast, overlap, point or nearest"))? {
            Kind::Ray(ray) => {
                let path = path.field("ray");
                let origin = vector(&path.field("origin"), ray.origin.as_ref())?;
                let velocity = vector(&path.field("displacement"), ray.displacement.as_ref())?;
                let kind = AskedKind::along(Motion::Linear { velocity });
                Ok((AskedShape::Point(origin), kind))
            }
            Kind::ShapeCast(cast) => {
                let path = path.field("shape_cast");
                let finely = |value| tolerance(&path.field("time_tolerance"), value);
                let time_tolerance = cast.time_tolerance.map(finely).transpose()?;
                let kind = AskedKind::Cast {
                    motion: motion(&path.field("motion"), cast.motion.as_ref())?,
                    margin: signed_length(&path.field("margin"), cast.margin)?,
                    time_tolerance: time_tolerance.unwrap_or(TIME_TOLERANCE),
                };
                Ok((shape(&path.field("body"), cast.body.as_ref(), catalogue)?, kind))
            }
            Kind::Overlap(body) => {
                let shape = shape(&path.field("overlap"), Some(body), catalogue)?;
                Ok((shape, AskedKind::Overlap))
            }
            Kind::Point(point) => {
                let shape = AskedShape::Point(vector(&path.field("point"), Some(point))?);
                Ok((shape, AskedKind::Overlap))
            }
            Kind::Nearest(nearest) => {
                let path = path.field("nearest");
                let below = |value| length(&path.field("below"), value);
                let below = nearest.below.map(below).transpose()?;
                let count = match nearest.count {
                    0 => below.is_none().then_some(1),
                    count => Some(count as usize),
                };
                let shape = shape(&path.field("body"), nearest.body.as_ref(), catalogue)?;
                Ok((shape, AskedKind::Nearest(Nearness { count, below })))
            }
        }
    }
}

impl AskedKind {
    /// Whether it is no way, or one that goes straight without a margin.
    fn is_straight(&self) -> bool {
        match self {
            Self::Cast { motion, margin, .. } => {
                matches!(motion, Motion::Linear { .. }) && margin.abs() <= 0.0
            }
            Self::Overlap | Self::Nearest(_) => true,
        }
    }

    /// What is met exactly, with brackets of the default width.
    pub fn along(motion: Motion) -> Self {
        Self::Cast { motion, margin: 0.0, time_tolerance: TIME_TOLERANCE }
    }
}

/// A cast turns or has a margin, and the call asks for what is told of others alone.
fn not_straight(path: &Path<'_>, needs_straight: Option<&str>) -> BadField {
    let field = needs_straight.unwrap_or_default();
    let why = format!("must have a linear motion and no margin with `{field}`");
    path.field("shape_cast").bad(why)
}

fn shape(
    path: &Path<'_>,
    wire: Option<&api::PlacedBody>,
    catalogue: &Catalogue<'_>,
) -> Result<AskedShape, Failure> {
    body_for(Place::QueryShape, path, wire, catalogue).map(AskedShape::Body)
}

fn rays(
    path: &Path<'_>,
    wire: &api::PackedRays,
    catalogue: &Catalogue<'_>,
) -> Result<AskedRays, Failure> {
    let (origins, displacements) = (path.field("origins"), path.field("displacements"));
    if !wire.origins.len().is_multiple_of(3) {
        return Err(origins.bad("must have three numbers for each ray").into());
    }
    if wire.displacements.len() != wire.origins.len() {
        return Err(displacements.bad("must have as many numbers as `origins`").into());
    }
    origins.within(catalogue.limits.packed_rays_max(), wire.origins.len() / 3)?;
    coordinates(&origins, &wire.origins)?;
    coordinates(&displacements, &wire.displacements)?;
    let rays = wire.origins.rows().zip(wire.displacements.rows());
    let way = |(from, by): ([f64; 3], [f64; 3])| [Vec3::from(from), Vec3::from(by)];
    let ways: Vec<[Vec3; 2]> = rays.map(way).collect();
    let (ignored, categories) = (&wire.ignored_bodies, &wire.categories);
    let lists = WireLists { ignored, categories, masks: &wire.masks };
    let own = AskedOwnLists::convert(path, &lists, ways.len())?;
    Ok(AskedRays { ways, own })
}

/// When the scene is asked about, if that is said.
pub fn moment(
    path: &Path<'_>,
    wire: Option<&api::SceneMoment>,
) -> Result<Option<Moment>, BadField> {
    let Some(&api::SceneMoment { frame_id, fraction }) = wire else { return Ok(None) };
    let frame = said(&path.field("frame_id"), frame_id)?;
    if !(0.0..1.0).contains(&fraction) {
        return Err(path.field("fraction").bad("must be at least 0 and less than 1"));
    }
    Ok(Some(Moment { frame, fraction }))
}

/// Why a scene cannot be asked about its past; it stands at the frame `applied`.
pub fn no_past(moment: &Moment, why: NoPast, applied: u64) -> Failure {
    let path = Path::ROOT.field("moment");
    match why {
        NoPast::NotKept { oldest } => Failure::FrameNotKept {
            field: path.field("frame_id").to_string(),
            frame_id: moment.frame,
            oldest,
            applied,
        },
        NoPast::NoNext => {
            let path = path.field("fraction");
            path.bad("must be 0 at the last frame: there is no next one yet").into()
        }
        NoPast::OnChain(body) => {
            let path = path.field("fraction");
            let what = format!(
                "must be 0 where a robot moves a body on an unknown way in the next frame, as {}",
                body.0
            );
            path.bad(what).into()
        }
    }
}

fn filter(
    path: &Path<'_>,
    wire: Option<&api::SceneFilter>,
    catalogue: &Catalogue<'_>,
) -> Result<BodyFilter, Failure> {
    let Some(wire) = wire else { return Ok(BodyFilter::default()) };
    let entries_max = catalogue.limits.rules_per_session_max();
    path.field("groups").within(entries_max, wire.groups.len())?;
    path.field("ignored_groups").within(entries_max, wire.ignored_groups.len())?;
    path.field("ignored_body_ids").within(entries_max, wire.ignored_body_ids.len())?;
    Ok(BodyFilter {
        groups: wire.groups.clone(),
        ignored_groups: wire.ignored_groups.clone(),
        ignored: wire.ignored_body_ids.iter().map(|&id| BodyId(id)).collect(),
    })
}

/// A filter names what the scene does not have.
pub fn unknown_name(wire: &api::QuerySceneRequest, unknown: UnknownName) -> BadField {
    let path = Path::ROOT.field("filter");
    let wire = wire.filter.as_ref();
    match unknown {
        UnknownName::Group(index) => {
            path.field("groups").index(index).bad("no body belongs to this group")
        }
        UnknownName::IgnoredGroup(index) => {
            path.field("ignored_groups").index(index).bad("no body belongs to this group")
        }
        UnknownName::Body(id) => {
            let ids = wire.map_or(&[][..], |wire| &wire.ignored_body_ids);
            let index = ids.iter().position(|&named| named == id.0).unwrap_or(0);
            path.field("ignored_body_ids").index(index).bad(format!("no body has the id {}", id.0))
        }
    }
}
