//! Answers by calling the library, each question cold and behind its own guard: a question that
//! panics or runs out of steps is an answer that is missing, and the run goes on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use super::Methods;
use super::respondent::{Asked, HullFacts, Respondent};
use clearance_geometry::claim::FirstContact;
use clearance_geometry::distance::{self, Distance, Stops};
use clearance_geometry::effort::{Cost, Effort, Stopped};
use clearance_geometry::hull::{Hull, convex_hull};
use clearance_geometry::penetration::{self, Depth, Range};
use clearance_geometry::separation::{self, Decision};
use clearance_geometry::witness::Witness;
use clearance_geometry::{Vec3, contact_time};

/// Steps that one question may take before it counts as hung; hundreds are usual.
const STEPS_PER_QUESTION: u64 = 2_000_000;

/// The library itself.
pub(crate) struct Library {
    methods: Methods,
    cost: Cost,
}

impl Library {
    /// Searching with these methods.
    pub(crate) fn new(methods: Methods) -> Self {
        Self { methods, cost: Cost::default() }
    }

    /// Asks one question with a cold witness and counts what it cost.
    fn ask<T>(
        &mut self,
        question: impl FnOnce(&mut Witness, &mut Effort<'_>) -> Result<T, Stopped>,
    ) -> Result<T, String> {
        let mut effort = Effort::with_steps(STEPS_PER_QUESTION);
        let result = guarded(|| question(&mut Witness::default(), &mut effort));
        // One question, whatever it asked of others on the way.
        let exact_stages = effort.cost.exact_stages.min(1);
        self.cost += Cost { queries: 1, exact_stages, ..effort.cost };
        result?.map_err(|stopped| format!("stopped: {stopped:?}"))
    }
}

impl Respondent for Library {
    fn learn(&mut self, _id: u64, _points: &[[f64; 3]]) -> Result<(), String> {
        Ok(()) // the pairs that are asked about have their hulls with them
    }

    fn hull(&mut self, points: &[[f64; 3]]) -> Result<HullFacts, String> {
        let hull = build(points)?;
        let polytope = &hull.polytope;
        Ok(HullFacts {
            dimension: polytope.dimension(),
            faces: polytope.facets().len(),
            volume: polytope.volume(),
            given_of_vertex: given_of_vertex(&hull),
        })
    }

    fn decide(&mut self, asked: &Asked<'_>) -> Result<Decision, String> {
        let method = self.methods.separation;
        self.ask(|witness, effort| separation::decide(&asked.pair, method, witness, effort))
    }

    fn distance(&mut self, asked: &Asked<'_>) -> Result<Distance, String> {
        let method = self.methods.distance;
        self.ask(|witness, effort| {
            distance::measure_by(method, &asked.pair, Stops::default(), witness, effort)
        })
    }

    fn depth(&mut self, asked: &Asked<'_>) -> Result<Depth, String> {
        self.ask(|witness, effort| penetration::measure(&asked.pair, true, witness, effort))
    }

    fn along(&mut self, asked: &Asked<'_>, direction: &Vec3) -> Result<Range, String> {
        let method = self.methods.along;
        self.ask(|witness, effort| {
            penetration::along_by(&asked.pair, direction, method, witness, effort)
        })
    }

    fn first_contact(&mut self, asked: &Asked<'_>) -> Result<FirstContact, String> {
        let question = asked.motion_question();
        let method = self.methods.first_contact_of(&question);
        self.ask(|witness, effort| {
            contact_time::first_contact_by(method, &question, witness, effort)
        })
    }

    fn take_cost(&mut self) -> Cost {
        std::mem::take(&mut self.cost)
    }
}

/// The hull of a case's points.
pub(crate) fn build(points: &[[f64; 3]]) -> Result<Hull, String> {
    let points: Vec<Vec3> = points.iter().map(|p| Vec3::from(*p)).collect();
    guarded(|| convex_hull(&points))?.map_err(|error| error.to_string())
}

/// For each vertex the lowest given point that is it.
pub(crate) fn given_of_vertex(hull: &Hull) -> Vec<u32> {
    let mut given_of_vertex = vec![u32::MAX; hull.polytope.vertices().len()];
    for (given, vertex) in (0..).zip(&hull.vertex_of_given) {
        if let Some(vertex) = *vertex {
            let slot = &mut given_of_vertex[vertex as usize];
            *slot = given.min(*slot);
        }
    }
    given_of_vertex
}

thread_local! {
    /// Whether a panic of this thread is part of the report and not of the terminal.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; a panic becomes an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                loud(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(false);
    result.map_err(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("panicked: {}", message.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_with_its_message() {
        assert_eq!(guarded(|| 1), Ok(1));
        assert_eq!(guarded(|| panic!("no {}", 7)), Err::<(), _>("panicked: no 7".to_owned()));
    }
}
