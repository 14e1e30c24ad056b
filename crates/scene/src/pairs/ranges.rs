//! For which `t >= 0` two bodies are in contact when one of them moves by `t d`, over their parts:
//! from the least t of any parts to the greatest.

use crate::bounds::Gap;
use crate::methods::AskedOf;
use crate::pairs::answer::{Asking, PairAnswer};
use crate::pairs::notes::Notes;
use crate::pairs::report::{PairRange, PartPair};
use clearance_bodies::table::along::MeasuredRange;
use clearance_geometry::Vec3;
use clearance_geometry::claim::{RangeProof, Span, StaticProof};
use clearance_geometry::effort::Stopped;
use clearance_geometry::penetration::Range;
use clearance_geometry::separation::Decision;

/// Makes sure of the range along the direction that is asked about.
pub(crate) fn look_along(asking: &Asking<'_>, answer: &mut PairAnswer, notes: &mut Notes<'_>) {
    let Some(direction) = asking.questions.along else { return };
    if answer.along.as_ref().is_some_and(|known| known.direction == direction) {
        return;
    }
    match range(asking, direction, notes) {
        Ok((range, stopped)) => {
            answer.along = Some(Box::new(range));
            answer.stopped = answer.stopped.or(stopped);
        }
        Err(stopped) => (answer.along, answer.stopped) = (None, Some(stopped)),
    }
}

/// The range of the pair, and why its brackets are wider than they could be.
fn range(
    asking: &Asking<'_>,
    direction: Vec3,
    notes: &mut Notes<'_>,
) -> Result<(PairRange, Option<Stopped>), Stopped> {
    let goes_away = |gap: &Gap| {
        let along = direction[gap.axis];
        if gap.negative { along >= 0.0 } else { along <= 0.0 }
    };
    let keeps_proofs = asking.proves;
    let mut known = PairRange { direction, span: None, parts: None, of_parts: Vec::new() };
    let of_bodies = asking.p.now.bounds.gap(&asking.q.now.bounds).filter(goes_away);
    if of_bodies.is_some() && !keeps_proofs {
        return Ok((known, None));
    }
    let mut stopped = None;
    for parts in asking.part_pairs() {
        asking.look_at_clock()?;
        // Boxes prove no range of parts that are not polytopes themselves.
        let is_enough = !keeps_proofs || asking.now(parts).are_polytopes();
        let gap = of_bodies.or_else(|| asking.gap(parts).filter(goes_away)).filter(|_| is_enough);
        let range = match gap {
            Some(gap) => never(&gap),
            None => asking.ask(AskedOf::Along, parts, notes, |two, witness, effort| {
                two.along(asking.methods.along.method, &direction, witness, effort)
            })?,
        };
        if let (None, Some(stopped)) = (range.span(), range.stopped()) {
            return Err(stopped);
        }
        stopped = stopped.or(range.stopped());
        known.widen(parts, range.span());
        if keeps_proofs {
            known.of_parts.push((parts, range));
        }
    }
    Ok((known, stopped))
}

/// P moves away from Q, as their boxes tell.
fn never(gap: &Gap) -> MeasuredRange {
    let direction = gap.direction();
    let decision = Decision { proof: StaticProof::Separated { direction } };
    MeasuredRange::OfHulls(Range {
        decision,
        span: None,
        proof: Some(RangeProof::Never { direction }),
    })
}

impl PairRange {
    /// Takes in the range of these parts.
    fn widen(&mut self, parts: PartPair, span: Option<Span>) {
        let Some(new) = span else { return };
        let known = self.span.unwrap_or(new);
        if self.parts.is_none() || new.enter[1] < known.enter[1] {
            self.parts = Some(parts);
        }
        self.span = Some(Span {
            enter: [0, 1].map(|end| known.enter[end].min(new.enter[end])),
            exit: [0, 1].map(|end| known.exit[end].max(new.exit[end])),
        });
    }
}
