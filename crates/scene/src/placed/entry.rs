//! A body where it is now, and where it has been.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use crate::bounds::{Ball, Box3};
use crate::broken::{Rule, is_broken};
use crate::declared::body::{Body, Part};
use crate::declared::spin::turn_of;
use crate::placed::carrier::Carrier;
use crate::placed::spin::Spin;
use crate::placed::travel::Form;
use crate::placed::visitor::ScenePart;
use clearance_geometry::Vec3;
use clearance_geometry::motion::{Motion, Turn};
use clearance_geometry::pair::Placed;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::{COORDINATE_MAX, Pose};
use clearance_robot::body::PartBody;
use clearance_robot::meeting::Course;
use clearance_robot::path::{BaseWay, ChainPath};

impl Body {
    /// Memory that it takes in a scene beyond the shapes, bytes, estimated.
    pub fn bytes(&self) -> usize {
        let named = self.name.len() + self.groups.bytes();
        size_of::<Entry>() + Self::bytes_of_parts(self.parts.len()) + named
    }

    /// Memory that so many parts take, bytes, estimated.
    pub(crate) fn bytes_of_parts(count: usize) -> usize {
        // A part is declared once; those of a compound are placed at most twice.
        const PART: usize = 3 * size_of::<PlacedPart>();
        count * if count > 1 { PART } else { size_of::<Part>() }
    }

    /// The body with every part placed, or none when a part would lie beyond the largest
    /// coordinate.
    pub(crate) fn place(&self, pose: Pose) -> Option<Placement> {
        let place = |part: &Part| {
            let pose = pose.compose(&part.body_from_part);
            let fits = pose.translation.iter().all(|c| c.abs() <= COORDINATE_MAX);
            fits.then(|| PlacedPart { pose, bounds: part.at(pose).held() })
        };
        let parts = match &self.parts[..] {
            [part] => PlacedParts::One([place(part)?]),
            parts => PlacedParts::Several(parts.iter().map(place).collect::<Option<_>>()?),
        };
        let bounds = parts.iter().map(|part| part.bounds).reduce(|a, b| a.union(&b))?;
        Some(Placement { parts, bounds })
    }
}

/// Where a body is: the twelve numbers of each part, about which every statement is.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    /// In the order of the body's parts.
    pub(crate) parts: PlacedParts,
    /// Holds every part.
    pub(crate) bounds: Box3,
}

/// The parts of a body; most have one, for which no memory is asked for.
#[derive(Clone, Debug)]
pub(crate) enum PlacedParts {
    One([PlacedPart; 1]),
    Several(Vec<PlacedPart>),
}

impl Deref for PlacedParts {
    type Target = [PlacedPart];

    fn deref(&self) -> &[PlacedPart] {
        match self {
            Self::One(part) => part,
            Self::Several(parts) => parts,
        }
    }
}

/// A part and the box that surely holds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedPart {
    /// From the part's frame to the world.
    pub(crate) pose: Pose,
    /// Holds the part, exactly.
    pub(crate) bounds: Box3,
}

/// The motion of a body to this frame: where it began, its turn, and what holds the body and each
/// of its parts on the way.
#[derive(Clone, Debug)]
pub(crate) struct Swept {
    start: Pose,
    /// The point in the world that it turns about.
    pivot: Vec3,
    pub(crate) turn: Turn,
    pub(crate) bounds: Box3,
    pub(crate) ball: Ball,
    /// Those of its parts, of a body that has several.
    parts: Vec<Box3>,
    /// The chain that it went along, of a body that a robot moves; its turn says nothing then.
    chain: Option<OnChain>,
}

/// The way of a body that a robot moves.
#[derive(Clone, Debug)]
struct OnChain {
    path: Arc<ChainPath>,
    /// Where on it the body hangs.
    frame: Option<usize>,
    frame_from_body: Pose,
    /// No point of it is farther from where it ends at any time of the way, metres.
    stray: f64,
}

/// Where a body that has moved was at the last answered frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start {
    pub(crate) pose: Pose,
    /// How far it had travelled until then, metres.
    pub(crate) travel: f64,
    /// At least how far any point of it strays from the chord of its way from there, metres: see
    /// [`Form::bow`]. Infinite while nobody asked, and where the way is another one.
    pub(crate) bow: f64,
    /// What is said of how it has turned since.
    pub(crate) spin: Spin,
}

/// A body of a scene and where it has been.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// As declared; its pose and deviation are kept up to date.
    pub(crate) body: Body,
    /// The shape of its first part.
    pub(crate) first: Arc<Polytope>,
    /// What it is like.
    pub(crate) form: Form,
    /// Holds it where it is.
    pub(crate) ball: Ball,
    /// Where its parts are, of a body whose pose does not say it.
    compound: Option<Box<Placement>>,
    /// The index, in the scene's list of starts, of its pose at the last answered frame, if it has
    /// moved since.
    pub(crate) start: Option<u32>,
    /// Since the last answered frame it was put somewhere: no motion is assumed.
    pub(crate) teleported: bool,
    /// The widest deviation stated for the motion to this frame, metres; 0 before it moves.
    pub(crate) deviation: f64,
    /// The frame that moved it last.
    pub(crate) moved_by: u64,
    /// Changes whenever the pose, the parts or the margin do.
    pub(crate) revision: u64,
    /// The way to this frame, while a frame that asks for first contacts of this body is answered
    /// and the body has moved.
    pub(crate) swept: Option<Box<Swept>>,
    /// What moves it, of a link of a robot and of what it carries.
    pub(crate) carrier: Option<Box<Carrier>>,
}

impl Entry {
    /// A body that is new; none when a part would lie beyond the largest coordinate.
    pub(crate) fn new(body: Body) -> Option<Self> {
        let form = Form::of(&body);
        let ball = form.ball_at(&body.pose);
        let placed = body.place(body.pose)?;
        let first = body.parts.first()?.polytope.clone();
        Some(Self {
            compound: (!form.is_plain).then(|| Box::new(placed)),
            body,
            first,
            form,
            ball,
            start: None,
            teleported: true,
            deviation: 0.0,
            moved_by: 0,
            revision: 0,
            swept: None,
            carrier: None,
        })
    }

    /// Moves it to another pose, and says how far it travels (see [`super::travel`]); none when a
    /// part would lie beyond the largest coordinate.
    #[inline]
    pub(crate) fn put(&mut self, pose: Pose) -> Option<f64> {
        if let Some(compound) = &mut self.compound {
            **compound = self.body.place(pose)?;
        } else if !pose.translation.iter().all(|c| c.abs() <= COORDINATE_MAX) {
            return None;
        }
        let ball = self.form.ball_at(&pose);
        let mut travel = self.form.travel([&self.body.pose, &pose], [&self.ball, &ball]);
        if is_broken(Rule::TravelBound) {
            travel /= 4.0;
        }
        (self.body.pose, self.ball) = (pose, ball);
        Some(travel)
    }

    /// The next motion starts here.
    #[inline]
    pub(crate) fn settle(&mut self) {
        self.start = None;
        if self.swept.is_some() {
            self.swept = None;
        }
        self.teleported = false;
        self.deviation = 0.0;
    }

    /// What questions to a scene that stands still need of it; those about curved shapes need the
    /// parts of all bodies.
    pub(crate) fn standing(&self, with_parts: bool) -> Self {
        // Of most bodies the list of parts is what takes longest to copy.
        let needs_parts = self.compound.is_some() || self.form.is_rounded || self.form.has_mesh;
        let parts = if with_parts || needs_parts { self.body.parts.clone() } else { Vec::new() };
        let groups = self.body.groups.clone();
        let body = Body { name: String::new(), groups, parts, ..self.body };
        let (first, compound) = (self.first.clone(), self.compound.clone());
        Self { body, compound, first, swept: None, carrier: None, ..*self }
    }

    /// Whether one of its parts is a polyhedron.
    pub(crate) fn has_mesh(&self) -> bool {
        self.form.has_mesh
    }

    /// Where its parts are.
    pub(crate) fn now(&self) -> Whereabouts<'_> {
        match &self.compound {
            Some(kept) => Whereabouts::Kept(kept),
            None => Whereabouts::Made(self.placed(self.body.pose)),
        }
    }

    /// Its only part where it is, of a body whose pose says that.
    #[inline]
    pub(crate) fn sole(&self) -> Option<ScenePart<'_>> {
        self.compound.is_none().then(|| self.first_at(self.body.pose))
    }

    /// Its first part at this pose.
    #[inline]
    fn first_at(&self, pose: Pose) -> ScenePart<'_> {
        let part = self.body.parts.first();
        let mesh = if self.form.has_mesh { part.filter(|part| part.is_mesh()) } else { None };
        ScenePart { core: Placed { body: &self.first, pose }, radius: self.radius(), mesh, part }
    }

    /// The radius of its first part, metres.
    #[inline]
    pub(crate) fn radius(&self) -> f64 {
        if self.form.is_rounded { self.body.parts[0].radius } else { 0.0 }
    }

    /// Where its parts are or were, at a pose that it was put to.
    fn placed(&self, pose: Pose) -> Placement {
        self.body.place(pose).expect("a body is never put where it does not fit")
    }

    /// A box that holds it where it is.
    pub(crate) fn bounds(&self) -> Box3 {
        let sole = || self.first_at(self.body.pose).held();
        self.compound.as_ref().map_or_else(sole, |kept| kept.bounds)
    }

    /// Where it was at the last answered frame, if it has moved since.
    pub(crate) fn start_in<'a>(&self, starts: &'a [Start]) -> Option<&'a Start> {
        self.start.map(|at| &starts[at as usize])
    }

    /// The motion to this frame from there.
    pub(crate) fn way(&self, from: &Start) -> Swept {
        let start = &from.pose;
        let turn = from.spin.turn([&start.rotation, &self.body.pose.rotation]);
        let pivot = start.apply_rounded(&self.body.pivot);
        let ball = Ball::swept(&self.form.ball_at(start), &self.ball, turn.angle, &pivot);
        let ball = if self.deviation > 0.0 { ball.inflated(self.deviation) } else { ball };
        let (bounds, parts) = if self.form.is_round {
            (Box3::around(&ball), Vec::new())
        } else {
            self.boxes_on_the_way(start, &turn, &pivot)
        };
        Swept { start: *start, pivot, turn, bounds, ball, parts, chain: None }
    }

    /// The motion to this frame from that pose, along the path of a robot that moves the body.
    ///
    /// A point that is nowhere faster than v is within v / 2 of where it begins or of where it
    /// ends.
    pub(crate) fn way_on(&self, start: &Pose, path: &Arc<ChainPath>, carrier: &Carrier) -> Swept {
        let (frame, frame_from_body) = (carrier.frame, carrier.pose());
        let hanging = path.hanging(frame, &frame_from_body);
        let held = self.form.ball_at(&hanging.pose);
        let reach = Vec3::from(held.centre).norm() + held.radius;
        let stray = path.stray(&hanging, reach) + self.deviation;
        let (from, to) = (self.placed(*start), self.now());
        let boxes = from.parts.iter().zip(to.parts.iter());
        let boxes = boxes.map(|(a, b)| a.bounds.union(&b.bounds).inflated(stray));
        let bounds = boxes.clone().reduce(|a, b| a.union(&b));
        let bounds = bounds.expect("a body has at least one part");
        let parts = if from.parts.len() > 1 { boxes.collect() } else { Vec::new() };
        let chain = Some(OnChain { path: path.clone(), frame, frame_from_body, stray });
        let ball = self.ball.inflated(stray);
        let (pivot, turn) = (start.translation, Turn { axis: Vec3::zeros(), angle: 0.0 });
        Swept { start: *start, pivot, turn, bounds, ball, parts, chain }
    }

    /// Holds the body on that way; and each of its parts, if there are several.
    fn boxes_on_the_way(&self, start: &Pose, turn: &Turn, pivot: &Vec3) -> (Box3, Vec<Box3>) {
        let (from, to) = (self.placed(*start), self.now());
        let boxes = from.parts.iter().zip(to.parts.iter()).map(|(from, to)| {
            let swept = Box3::swept(&from.bounds, &to.bounds, turn.angle, pivot);
            if self.deviation > 0.0 { swept.inflated(self.deviation) } else { swept }
        });
        let bounds = boxes.clone().reduce(|a, b| a.union(&b));
        let bounds = bounds.expect("a body has at least one part");
        (bounds, if from.parts.len() > 1 { boxes.collect() } else { Vec::new() })
    }

    /// At least how far any point of it strays from the chord of its way from there.
    pub(crate) fn bow(&self, start: &Start) -> f64 {
        let said = match start.spin {
            Spin::Said(spin) => Some(turn_of(&spin).angle),
            Spin::Unsaid | Spin::Lost => None,
        };
        self.form.bow([&start.pose, &self.body.pose], said, &self.body.pivot)
    }
}

impl Swept {
    /// At least how far any point of a body that a robot moves is at any time of its way from where
    /// it ends, metres.
    pub(crate) fn stray(&self) -> f64 {
        self.chain.as_ref().map_or(0.0, |chain| chain.stray)
    }
}

/// Where the parts of a body are.
pub(crate) enum Whereabouts<'a> {
    Kept(&'a Placement),
    Made(Placement),
}

impl Deref for Whereabouts<'_> {
    type Target = Placement;

    fn deref(&self) -> &Placement {
        match self {
            Self::Kept(placement) => placement,
            Self::Made(placement) => placement,
        }
    }
}

/// One body of a pair that is asked about.
pub(crate) struct PairSide<'a> {
    entry: &'a Entry,
    /// Where its parts are.
    pub(crate) now: Whereabouts<'a>,
    /// The way to this frame, if it has moved and the pair is asked when it met.
    swept: Option<Cow<'a, Swept>>,
    /// Where its parts were when that began.
    before: Option<Placement>,
}

impl Deref for PairSide<'_> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        self.entry
    }
}

impl<'a> PairSide<'a> {
    /// `starts` are the scene's, of a pair that is asked when it met.
    pub(crate) fn new(entry: &'a Entry, starts: Option<&[Start]>) -> Self {
        let swept = starts.and_then(|starts| match &entry.swept {
            Some(swept) => Some(Cow::Borrowed(&**swept)),
            None => entry.start_in(starts).map(|start| Cow::Owned(entry.way(start))),
        });
        let before = swept.as_ref().map(|swept| entry.placed(swept.start));
        Self { entry, now: entry.now(), swept, before }
    }

    /// Whether it has moved, of a pair that is asked when it met.
    pub(crate) fn has_moved(&self) -> bool {
        self.swept.is_some()
    }

    /// Where it was at the last answered frame.
    pub(crate) fn at_start(&self) -> &Placement {
        self.before.as_ref().unwrap_or(&self.now)
    }

    /// The motion of one part since the last answered frame: all parts take the body's turn.
    pub(crate) fn motion_of(&self, part: usize) -> Motion {
        match &self.swept {
            Some(swept) => Motion::ToPose {
                end: self.now.parts[part].pose,
                pivot: Some(swept.pivot),
                turn: Some(swept.turn),
            },
            None => Motion::rest(),
        }
    }

    /// Whether it went along the path of a robot.
    pub(crate) fn is_on_chain(&self) -> bool {
        self.swept.as_ref().is_some_and(|swept| swept.chain.is_some())
    }

    /// The way of a part since the last answered frame, whatever moves it.
    pub(crate) fn course(&self, part: usize) -> Option<Course> {
        let body_from_part = &self.body.parts[part].body_from_part;
        Some(match &self.swept {
            None => Course::Still(self.now.parts[part].pose),
            Some(swept) => match &swept.chain {
                Some(OnChain { path, frame, frame_from_body, .. }) => {
                    let pose = frame_from_body.compose(body_from_part);
                    Course::On(path.clone(), path.hanging(*frame, &pose))
                }
                None => {
                    let Swept { start, pivot, turn, .. } = &**swept;
                    let ends = [*start, self.body.pose];
                    let way = BaseWay { ends, pivot: *pivot, turn: *turn };
                    let path = Arc::new(ChainPath::of_body(&way)?);
                    let hanging = path.hanging(None, body_from_part);
                    Course::On(path, hanging)
                }
            },
        })
    }

    /// What a part is that is on such a way; of a height field the box around it.
    pub(crate) fn body_on_the_way(&self, part: usize) -> PartBody {
        let Part { polytope, radius, mesh, curved, .. } = &self.body.parts[part];
        match curved {
            Some(curved) => PartBody::of_curved(curved, polytope, *radius),
            None => PartBody::new(polytope.clone(), mesh.clone()).rounded(*radius),
        }
    }

    /// Holds the body throughout the motion to this frame, if that is asked about; else where it
    /// is.
    pub(crate) fn held(&self) -> &Box3 {
        self.swept.as_ref().map_or(&self.now.bounds, |swept| &swept.bounds)
    }

    /// Holds one part in the same way.
    pub(crate) fn held_part(&self, part: usize) -> &Box3 {
        let swept = self.swept.as_ref();
        swept.map_or(&self.now.parts[part].bounds, |swept| {
            swept.parts.get(part).unwrap_or(&swept.bounds)
        })
    }
}
