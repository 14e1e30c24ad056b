//! What a query may spend, and what it has spent.

use crate::until::Until;

/// Why a query stopped before it knew the answer. Not a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The step budget ran out.
    Steps,
    /// The deadline passed, or the caller went away.
    Deadline,
    /// The search gave up: what is left is finer than its arithmetic resolves, or than its own
    /// limits let it look. Neither steps nor time would help.
    Unresolved,
}

/// Counters of the work done; plain sums, so they can be added over queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Iterations of whichever search ran.
    pub steps: u64,
    /// Supporting-vertex searches.
    pub supports: u64,
    /// Vertices visited inside those searches.
    pub visited: u64,
    /// Questions that the floating-point filter left to exact arithmetic.
    pub exact_stages: u64,
    /// Questions that the remembered witness answered without a search.
    pub witness_hits: u64,
    /// Questions asked.
    pub queries: u64,
    /// Questions for which a method was asked how the pair stands.
    pub searches: u64,
    /// Directions that a method which tries one after the other has tried, by the count of its
    /// text: the last frame's, which comes first, is one of them.
    pub candidates: u64,
    /// Steps from one layer of a hierarchy to the next.
    pub layers: u64,
    /// Searches that a method left to another one, or to exact arithmetic, without a proposal.
    pub handed_over: u64,
    /// Questions that balls, ellipsoids or boxes, or one look from centre to centre, answered
    /// before the method was asked; counted where the method was asked for by name. Of first
    /// contacts by the linear program: those that extended boxes answered.
    pub by_bounds: u64,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.supports += other.supports;
        self.visited += other.visited;
        self.exact_stages += other.exact_stages;
        self.witness_hits += other.witness_hits;
        self.queries += other.queries;
        self.searches += other.searches;
        self.candidates += other.candidates;
        self.layers += other.layers;
        self.handed_over += other.handed_over;
        self.by_bounds += other.by_bounds;
    }
}

/// A budget and a set of counters, handed to every query.
#[derive(Debug)]
pub struct Effort<'a> {
    steps_left: u64,
    until: Option<&'a Until>,
    /// What has been spent so far.
    pub cost: Cost,
}

impl Effort<'static> {
    /// No limit: the query runs until it knows. Every search here is finite.
    pub fn unlimited() -> Self {
        Self::with_steps(u64::MAX)
    }

    /// At most `steps` steps.
    pub fn with_steps(steps: u64) -> Self {
        Self { steps_left: steps, until: None, cost: Cost::default() }
    }
}

impl<'a> Effort<'a> {
    /// At most `steps` steps, and none when the time is over or the caller has gone.
    pub fn until(steps: u64, until: &'a Until) -> Self {
        Self { steps_left: steps, until: Some(until), cost: Cost::default() }
    }

    /// Asks a question of several parts, which counts as one: one query, answered by the witness or
    /// by exact arithmetic if some part of it was.
    #[inline(always)]
    pub fn one_question<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.cost;
        let answer = ask(self);
        let once = |parts: u64, before: u64| before + (parts - before).min(1);
        self.cost.queries = before.queries + 1;
        self.cost.exact_stages = once(self.cost.exact_stages, before.exact_stages);
        self.cost.witness_hits = once(self.cost.witness_hits, before.witness_hits);
        answer
    }

    /// Pays for one step of a search; says why when there is nothing left to pay with.
    #[inline]
    pub fn spend_step(&mut self) -> Result<(), Stopped> {
        if self.steps_left == 0 {
            return Err(Stopped::Steps);
        }
        self.look_at_clock()?;
        self.steps_left -= 1;
        self.cost.steps += 1;
        Ok(())
    }

    /// Says whether the deadline has passed or the caller has gone; takes no step. For work whose
    /// result is kept: what a budget of steps is enough for must not depend on who asked before.
    #[inline]
    pub fn look_at_clock(&self) -> Result<(), Stopped> {
        if self.until.is_some_and(Until::is_over) {
            return Err(Stopped::Deadline);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_of_many_parts_counts_once() {
        let mut effort = Effort::unlimited();
        for parts in [0, 1, 3] {
            let before = effort.cost;
            effort.one_question(|effort| {
                effort.cost.queries += parts;
                effort.cost.exact_stages += parts;
                effort.cost.steps += parts;
            });
            assert_eq!(effort.cost.queries, before.queries + 1);
            assert_eq!(effort.cost.exact_stages, before.exact_stages + parts.min(1));
            assert_eq!(effort.cost.steps, before.steps + parts);
        }
    }
}
