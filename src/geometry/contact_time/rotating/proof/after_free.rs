//! What follows the free part of a search that ended where no heading certifies a further step: the
//! proofs of contact, in their order.

use super::closing::closing;
use super::deeper::contact_after;
use super::fixed_points::fixed_points;
use super::passing::passing;
use super::probe::bring_forward;
use crate::geometry::contact_time::rotating::search::{ContactAt, TurningSearch};
use crate::geometry::effort::{Effort, Stopped};

/// A proven contact and the time before which the bodies are free of it. That may be earlier than
/// the end of the free part: bodies that pass through each other are known to do so in between.
pub(in super::super) struct ContactBracket {
    pub(in super::super) t_free: f64,
    pub(in super::super) contact: ContactAt,
}

/// Contact after `free`, the end of the free part; `None` for a graze that is never deeper than the
/// clearance tolerance.
pub(in super::super) fn prove_after_free(
    search: &mut TurningSearch<'_>,
    free: f64,
    effort: &mut Effort<'_>,
) -> Result<Option<ContactBracket>, Stopped> {
    let bracket = |contact: ContactAt| Ok(Some(ContactBracket { t_free: free, contact }));
    let unproven = match contact_after(search, effort) {
        Ok(Some(found)) => return bracket(bring_forward(search, free, found, effort)),
        Err(why @ (Stopped::Steps | Stopped::Deadline)) => return Err(why),
        Ok(None) => Ok(None),
        Err(Stopped::Unresolved) => Err(Stopped::Unresolved),
    };
    if let Some(found) = closing(search, free, effort) {
        return bracket(found);
    }
    if let Some(found) = fixed_points(search, free, effort)? {
        return bracket(found);
    }
    match passing(search, free, effort)? {
        Some(passing) => {
            let pairs = passing.pairs.into_iter().collect();
            let contact = ContactAt { t: passing.t_contact, pairs };
            Ok(Some(ContactBracket { t_free: passing.t_free, contact }))
        }
        None => unproven,
    }
}
