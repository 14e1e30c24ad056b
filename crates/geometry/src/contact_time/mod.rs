//! When: the first contact of two moving polytopes over one step.
//!
//! A question goes one of two ways. Bodies that only translate to each other ([`travel`]) have an
//! exact first contact, computed by one ray through M ([`linear`]). All others, and questions with
//! a margin or a deviation, are searched for a certified bracket ([`rotating`], whose first page
//! has that way), but for the straight ways of balls and capsules ([`approach`]). What that leaves
//! open of translations is decided exactly ([`margin`]). Compounds of many parts, [`polyhedra`],
//! are timed part by part.
//!
//! Each file uses only those above it in this list: [`travel`], [`method`], [`prism`] (a named
//! method's rays), [`linear`], [`aligned`] (boxes along the axes), [`approach`], [`rotating`],
//! [`chord`], [`nearing`], [`margin`], this one, and `last`, which asks all this backwards.
//! `features` is an oracle for tests.

mod aligned;
mod approach;
mod chord;
#[cfg(test)]
mod features;
mod last;
mod linear;
mod margin;
mod method;
pub(crate) mod nearing;
pub mod polyhedra;
pub mod prism;
pub mod rotating;
mod travel;

pub use chord::Chord;
pub use last::{Backwards, LastContact, last_contact_by};
pub use linear::contact_at_start;
pub use method::Method;
pub use travel::{Travel, translation_of};

use self::method::FACET_WALK;
use self::rotating::shortcut::inter_frame;
use self::rotating::unsearched;
use self::travel::Translation;
use super::effort::{Effort, Stopped};
use super::witness::Witness;
use crate::claim::{FirstContact, Frame, Outcome};
use crate::pair::Question;

/// Every method by name; the first is the default.
pub const METHODS: &[Method] = &[FACET_WALK, prism::METHOD, inter_frame::METHOD];

/// Finds the first contact over the step.
///
/// ```
/// # use clearance_geometry::{Vec3, hull::convex_hull, pair::Pair, pose::Pose};
/// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
/// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
/// # use clearance_geometry::{effort::Effort, witness::Witness};
/// # let (mut witness, mut effort) = (Witness::default(), Effort::unlimited());
/// use clearance_geometry::contact_time::first_contact;
/// use clearance_geometry::claim::Outcome;
/// use clearance_geometry::pair::Question;
/// use clearance_geometry::motion::Motion;
///
/// let pair = Pair::new(&cube, Pose::identity(), &cube, Pose::translation(3.0, 0.0, 0.0));
/// let (velocity, axis) = (Vec3::new(-2.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 1.0));
/// let turning = Motion::Screw { pivot: None, velocity, axis, angle: 1.5 };
/// let question = Question::new(pair, Motion::rest(), turning);
/// let answer = first_contact(&question, &mut witness, &mut effort).unwrap();
/// assert_eq!(answer.outcome, Outcome::Contact);
/// assert!(answer.t_contact - answer.t_free < 1e-9);
/// ```
pub fn first_contact(
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    first_contact_by(&METHODS[0], question, witness, effort)
}

/// What is said to those who ask a method for more than it answers: the names of those that do.
pub fn names_of_those_that_answer_all() -> String {
    let able = METHODS.iter().filter(|method| method.answers_all());
    able.map(|method| method.name).collect::<Vec<_>>().join(" or ")
}

/// Finds the first contact over the step, searching with `method`: translations by its rays, and
/// whatever it answers at first look. The default does the rest, which counts as handed over.
pub fn first_contact_by(
    method: &Method,
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    effort.one_question(|effort| {
        let mut is_handed_over = !method.answers(question);
        if let Some(look) = method.first_look {
            if let Some(answer) = look(question, witness, effort)? {
                return Ok(answer);
            }
            is_handed_over = true;
        }
        let hits = effort.cost.witness_hits;
        let answer = by_default(method, question, witness, effort);
        if is_handed_over {
            effort.cost.handed_over += 1;
            // What the default remembers is not what the method did.
            effort.cost.witness_hits = hits;
        }
        answer
    })
}

/// Translations by the method's rays, all else by the default search.
#[inline(always)]
fn by_default(
    method: &Method,
    question: &Question<'_>,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    match Translation::of(question) {
        Some(translation) if question.is_without_slack() => {
            translate(method, question, &translation, witness, effort)
        }
        Some(translation) if question.reach.is_zero() => {
            translate_with_deviations(method, question, &translation, witness, effort)
        }
        Some(translation) => {
            // A method that somebody asked for by its name shows its own work.
            let is_default = method.name == METHODS[0].name;
            if is_default && let Some(found) = approach::find(question, &translation, effort)? {
                effort.cost.queries += 1;
                return Ok(found);
            }
            let found = rotating::first_contact(question, witness, effort)?;
            let [of_p, of_q] = &translation.travels;
            Ok(margin::decide(question, [of_p, of_q], found, effort))
        }
        None => rotating::first_contact(question, witness, effort),
    }
}

/// First contact of bodies that only translate to each other: exact.
#[inline(always)]
fn translate(
    method: &Method,
    question: &Question<'_>,
    translation: &Translation,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let [of_p, of_q] = &translation.travels;
    let of_boxes = if method.name == FACET_WALK.name {
        aligned::first_contact(&question.pair, [of_p, of_q], witness)
    } else {
        None
    };
    if translation.frame == Frame::World {
        return match of_boxes {
            Some(found) => Ok(found),
            None => linear::first_contact(method, question, [of_p, of_q], witness, effort),
        };
    }
    // Bodies that turn together are of another kind than the named methods' rays are for.
    let mut answer = match of_boxes {
        Some(found) => found,
        None => linear::first_contact(&FACET_WALK, question, [of_p, of_q], witness, effort)?,
    };
    for link in &mut answer.chain {
        link.frame = translation.frame;
    }
    Ok(answer)
}

/// First contact of bodies that translate, where every motion within deviations has to be free
/// before: the contact is exact, and the deviations only shorten what is free.
fn translate_with_deviations(
    method: &Method,
    question: &Question<'_>,
    translation: &Translation,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> Result<FirstContact, Stopped> {
    let exact = translate(method, question, translation, witness, effort)?;
    if exact.t_contact <= 0.0 {
        return Ok(exact);
    }
    let mut answer = rotating::first_contact(question, witness, effort).unwrap_or_else(|stopped| {
        FirstContact { stopped: Some(stopped), ..unsearched(exact.initial.clone()) }
    });
    if exact.outcome == Outcome::NoContact {
        let [of_p, of_q] = &translation.travels;
        return Ok(margin::decide(question, [of_p, of_q], answer, effort));
    }
    if exact.outcome == Outcome::Contact {
        (answer.outcome, answer.t_contact) = (exact.outcome, exact.t_contact);
        answer.pairs = exact.pairs;
        answer.stopped = answer.stopped.filter(|why| *why != Stopped::Unresolved);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests;
