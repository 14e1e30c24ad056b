//! Which contacts at the start of a straight way are told, and until when a contact lasts.
//!
//! A convex part that is left has been left for good, so its contact at the start is told or it is
//! not, and other parts of the body count all the same. Of a part that is not convex each face
//! counts for itself: faces that are only grazed, as the next ones of the floor that a body slides
//! on, are left out with those at the start, and the first of the others is met. On request those
//! are left out, too, that are met across a seam.
//!
//! The contact with a body lasts as long as that with any of its parts and faces that count.
//! Between some whose times meet within their brackets, as where boxes are flush, it lasts, too.

use super::way::{Cast, CastHit, StartContacts};
use crate::pairs::two_parts::TwoParts;
use crate::placed::visitor::ScenePart;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{Span, Verdict};
use clearance_geometry::effort::{Effort, Stopped};
use clearance_geometry::meeting::Impact;
use clearance_geometry::penetration;
use clearance_geometry::rays::passing::{
    FacePassage, FacesOf, PASSED_FACES_MAX, PassedFaces, StraightBody,
};
use clearance_geometry::rays::seam::{BYTES_OF_MET_FACES, MetFaces, SeamContact};
use clearance_geometry::witness::Witness;

/// What is kept of the faces of a part while its way is looked at, bytes at most: lists that grow,
/// of which each face is in two.
pub const BYTES_OF_PASSAGES: usize =
    4 * PASSED_FACES_MAX * size_of::<FacePassage>() + BYTES_OF_MET_FACES;

/// What is met of a part with which the shape is in contact at the start, as `hit` says.
pub(super) fn beyond(
    cast: &Cast<'_>,
    q: &ScenePart<'_>,
    hit: CastHit,
    effort: &mut Effort<'_>,
) -> Result<Option<CastHit>, Stopped> {
    let deepening = cast.starts == StartContacts::Deepening;
    if deepening && hit.initial() == Verdict::Overlapping {
        return Ok(Some(hit));
    }
    if is_convex(q) {
        let is_told = deepening && gets_deeper(cast, q, effort)?;
        return Ok(is_told.then_some(hit));
    }
    let Some((body, faces)) = faces_of(cast, q) else { return Ok(Some(hit)) };
    let Some(passages) = body.passages(&faces, effort)? else { return Ok(Some(hit)) };
    let part = PartPassages { body, faces, passages, without_seams: cast.without_seams };
    if deepening && part.gets_deeper(effort)? {
        return Ok(Some(hit));
    }
    let later = part.later(effort)?;
    let by_time = |a: &&Later<'_>, b: &&Later<'_>| {
        a.passage.span.enter[1].total_cmp(&b.passage.span.enter[1])
    };
    let Some(first) = later.iter().min_by(by_time) else { return Ok(None) };
    let impact = part.body.impact_on(&part.faces, first.passage, effort)?;
    let impact = Impact { normal: first.normal.or(impact.normal), ..impact };
    let free = later.iter().map(|one| one.passage.span.enter[0]).fold(1.0, f64::min);
    Ok(Some(hit.later([free, first.passage.span.enter[1]], impact)))
}

fn is_convex(q: &ScenePart<'_>) -> bool {
    q.mesh.is_none_or(|part| part.is_convex())
}

/// Whether a shape that touches a convex part gets deeper; of curved ones that is not known, and
/// counts as if it did.
fn gets_deeper(
    cast: &Cast<'_>,
    q: &ScenePart<'_>,
    effort: &mut Effort<'_>,
) -> Result<bool, Stopped> {
    let Some(way) = cast.straight_way() else { return Ok(true) };
    let deeper = TwoParts::beside(cast.start, *q).overlaps_along(&way, effort)?;
    Ok(deeper.unwrap_or(true))
}

/// The shape and the faces of a part that is not convex; none of a curved shape.
fn faces_of<'a>(cast: &Cast<'a>, q: &ScenePart<'a>) -> Option<(StraightBody<'a>, PassedFaces<'a>)> {
    let by = cast.straight_way().filter(|_| !cast.start.is_curved())?;
    let part = q.mesh?;
    let of = match (&part.field, &part.mesh) {
        (Some(field), _) => FacesOf::Field(&field.field),
        (None, Some(triangles)) => FacesOf::Triangles(triangles),
        (None, None) => return None,
    };
    let body = StraightBody { start: cast.start.core, radius: cast.start.radius, by };
    Some((body, PassedFaces { of, pose: q.core.pose, radius: q.radius }))
}

/// A part that is not convex, and when its faces are in contact.
struct PartPassages<'a> {
    body: StraightBody<'a>,
    faces: PassedFaces<'a>,
    passages: Vec<FacePassage>,
    without_seams: bool,
}

/// A face that counts when contacts at the start do not.
struct Later<'a> {
    passage: &'a FacePassage,
    /// The normal of the face, where the contact has that in place of its own.
    normal: Option<Vec3>,
}

impl PartPassages<'_> {
    /// Whether the shape, which does not overlap the part at the start, gets deeper from there:
    /// into a face that it touches, or into what the faces bound.
    fn gets_deeper(&self, effort: &mut Effort<'_>) -> Result<bool, Stopped> {
        for touched in self.passages.iter().filter(|one| one.initial != Verdict::Separated) {
            if self.body.overlaps_on_way(&self.faces, touched, effort)? == Some(true) {
                return Ok(true);
            }
        }
        let mut all = Contacts::default();
        all.spans.extend(self.passages.iter().map(|one| one.span));
        all.sort();
        let end = all.end_from([0.0; 2]);
        let next = all.spans.iter().map(|span| span.enter[0]).find(|t| *t > end[1]);
        // Where that is too close to call, it counts as deeper.
        let inside = self.is_inside_between(end[1], next.unwrap_or(1.0), effort)?;
        Ok(inside.unwrap_or(true))
    }

    /// The faces that count when contacts at the start do not.
    fn later(&self, effort: &mut Effort<'_>) -> Result<Vec<Later<'_>>, Stopped> {
        let mut later = Vec::new();
        let seams = self.without_seams.then(|| MetFaces::new(&self.passages));
        for (at, passage) in (0..).zip(&self.passages) {
            let is_told = passage.initial == Verdict::Separated
                && self.body.gets_through(&self.faces, passage, effort)?;
            if !is_told {
                continue;
            }
            let met = match &seams {
                Some(seams) => self.body.across_seam(&self.faces, seams, at, effort)?,
                None => SeamContact::Surface,
            };
            match met {
                SeamContact::Surface => later.push(Later { passage, normal: None }),
                SeamContact::OnFace(normal) => later.push(Later { passage, normal: Some(normal) }),
                SeamContact::LeftOut => {}
            }
        }
        Ok(later)
    }

    /// Whether the shape is inside of what the faces bound between two times at which it is clear
    /// of them; none: that is too close to call.
    fn is_inside_between(
        &self,
        from: f64,
        to: f64,
        effort: &mut Effort<'_>,
    ) -> Result<Option<bool>, Stopped> {
        if to <= from {
            return Ok(Some(false));
        }
        for share in [0.5, 0.25, 0.75] {
            let t = from + (to - from) * share;
            if let Some(inside) = self.body.is_inside_at(&self.faces, t, effort)? {
                return Ok(Some(inside));
            }
        }
        Ok(None)
    }
}

/// When a shape is in contact with a body.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    spans: Vec<Span>,
    /// Of some part it was not found out.
    is_open: bool,
}

impl Contacts {
    /// Adds a part of the body, as far as it counts.
    pub(super) fn add(
        &mut self,
        cast: &Cast<'_>,
        q: &ScenePart<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        if is_convex(q) {
            return self.add_convex(cast, q, effort);
        }
        let Some((body, faces)) = faces_of(cast, q) else {
            self.is_open = true;
            return Ok(());
        };
        match body.passages(&faces, effort)? {
            Some(passages) => {
                let without_seams = cast.without_seams;
                let part = PartPassages { body, faces, passages, without_seams };
                self.add_faces(cast, &part, effort)
            }
            None => {
                self.is_open = true;
                Ok(())
            }
        }
    }

    fn add_convex(
        &mut self,
        cast: &Cast<'_>,
        q: &ScenePart<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        let Some(way) = cast.straight_way() else {
            self.is_open = true;
            return Ok(());
        };
        let (method, witness) = (&penetration::METHODS[0], &mut Witness::default());
        let found = TwoParts::beside(cast.start, *q).along(method, &way, witness, effort)?;
        let Some(span) = found.span() else {
            self.is_open |= found.stopped().is_some();
            return Ok(());
        };
        let is_left_out = match (cast.starts, found.verdict()) {
            (StartContacts::Skipped, Some(Verdict::Touching | Verdict::Overlapping)) => true,
            (StartContacts::Deepening, Some(Verdict::Touching)) => !gets_deeper(cast, q, effort)?,
            (StartContacts::All | StartContacts::Deepening | StartContacts::Skipped, _) => false,
        };
        if !is_left_out {
            self.spans.push(span);
        }
        Ok(())
    }

    /// Adds the faces that count, and the times in between at which the shape is inside.
    fn add_faces(
        &mut self,
        cast: &Cast<'_>,
        part: &PartPassages<'_>,
        effort: &mut Effort<'_>,
    ) -> Result<(), Stopped> {
        let mut all = Self::default();
        all.spans.extend(part.passages.iter().map(|one| one.span));
        all.sort();
        let mut clear = 0.0;
        for at in 0..=all.spans.len() {
            let next = all.spans.get(at).map_or(1.0, |span| span.enter[0].min(1.0));
            if next > clear {
                match part.is_inside_between(clear, next, effort)? {
                    Some(true) => {
                        self.spans.push(Span { enter: [clear; 2], exit: [next; 2] });
                    }
                    Some(false) => {}
                    None => self.is_open = true,
                }
            }
            clear = all.spans.get(at).map_or(clear, |span| span.exit[1].max(clear));
        }
        let touches_at_start = part.passages.iter().any(|one| one.initial != Verdict::Separated);
        let is_told = match cast.starts {
            StartContacts::All => true,
            StartContacts::Deepening => !touches_at_start || part.gets_deeper(effort)?,
            StartContacts::Skipped => !touches_at_start,
        };
        if is_told {
            self.spans.append(&mut all.spans);
        } else {
            self.spans.extend(part.later(effort)?.iter().map(|one| one.passage.span));
        }
        Ok(())
    }

    fn sort(&mut self) {
        self.spans.sort_by(|a, b| a.enter[0].total_cmp(&b.enter[0]));
    }

    /// Around the end of the contact that begins in this bracket.
    pub(super) fn end_from(&mut self, begin: [f64; 2]) -> [f64; 2] {
        if self.is_open {
            return [begin[0], 1.0];
        }
        self.sort();
        let mut end = begin;
        for Span { enter, exit } in &self.spans {
            if enter[0] > end[1] {
                break;
            }
            end = [end[0].max(exit[0]), end[1].max(exit[1])];
        }
        if end[0] >= 1.0 { [1.0; 2] } else { [end[0], end[1].min(1.0)] }
    }
}
