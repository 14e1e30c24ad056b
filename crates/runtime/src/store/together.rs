//! Registrations that come at the same time are written at once, where they outlive the process:
//! whoever has the turn registers for all of its principal that wait for it. They take effect one
//! after the other, in the order in which they came, and nobody is told before all are written.
//! So an alias that many move is written once for all of them, as the last one has it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::{Index, NewPolytope, Outcome, PolytopeStore, RegisterError, Registered, named};
use crate::archive::keeper::{NotKept, Shelf, is_tried_again};
use crate::archive::shared::asked_at;
use crate::memory::{MemoryQuota, Reservation};
use crate::settings::Limits;

/// So many bodies, and so many bytes of contents, are registered at once; or one registration of
/// more.
const ITEMS_MAX: usize = 1_000;
const BYTES_MAX: u64 = 8 << 20;

type Answer = Result<Vec<Registered>, RegisterError>;

/// Registrations that wait for whoever has the turn.
#[derive(Debug, Default)]
pub(super) struct WaitingRoom(Mutex<Vec<Waiting>>);

/// One call's.
#[derive(Debug)]
struct Waiting {
    new: Vec<NewPolytope>,
    quota: MemoryQuota,
    /// What was written before this it has to know.
    since: Instant,
    answer: Arc<Mutex<Option<Answer>>>,
}

impl WaitingRoom {
    fn lock(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().expect("nothing panics while holding it")
    }

    /// The one that this answer is to be for, and others of its principal that wait, in their
    /// order. None: it waits no more.
    fn take_with(&self, answer: &Arc<Mutex<Option<Answer>>>) -> Option<Together> {
        let mut waiting = self.lock();
        let is_own = |one: &Waiting| Arc::ptr_eq(&one.answer, answer);
        let own = waiting.iter().find(|one| is_own(one))?;
        let (mut items, mut bytes) = (own.new.len(), content_bytes(&own.new));
        let quota = own.quota.clone();
        let joins = |one: &mut Waiting| {
            let (more, more_bytes) = (one.new.len(), content_bytes(&one.new));
            let fits = items + more <= ITEMS_MAX && bytes.saturating_add(more_bytes) <= BYTES_MAX;
            if is_own(one) || !one.quota.is_of_same(&quota) || !fits {
                return is_own(one);
            }
            (items, bytes) = (items + more, bytes + more_bytes);
            true
        };
        Some(Together::of(waiting.extract_if(.., joins)))
    }
}

fn content_bytes(new: &[NewPolytope]) -> u64 {
    new.iter().map(|one| one.stored.body.content_bytes()).fold(0, u64::saturating_add)
}

/// Registrations of one principal, one after the other.
#[derive(Debug, Default)]
struct Together {
    /// Those of all.
    new: Vec<NewPolytope>,
    parts: Vec<Part>,
}

/// One call's among them.
#[derive(Debug)]
struct Part {
    /// How many of them are its own.
    count: usize,
    quota: MemoryQuota,
    since: Instant,
    answer: Arc<Mutex<Option<Answer>>>,
}

impl Part {
    fn answer(&self, answer: Answer) {
        *self.answer.lock().expect("nothing panics while holding it") = Some(answer);
    }
}

impl Together {
    fn of(all: impl IntoIterator<Item = Waiting>) -> Self {
        let mut together = Self::default();
        for Waiting { new, quota, since, answer } in all {
            together.parts.push(Part { count: new.len(), quota, since, answer });
            together.new.extend(new);
        }
        together
    }

    /// Answers a part, and takes it out.
    fn refuse(&mut self, at: usize, begin: usize, why: RegisterError) {
        let part = self.parts.remove(at);
        self.new.drain(begin..begin + part.count);
        part.answer(Err(why.counted_from(begin)));
    }

    /// Answers all parts the same.
    fn refuse_all(&self, why: &RegisterError) {
        self.parts.iter().for_each(|part| part.answer(Err(why.clone())));
    }

    /// Each for itself.
    fn apart(self) -> impl Iterator<Item = Self> {
        let mut new = self.new.into_iter();
        self.parts.into_iter().map(move |part| {
            let own = new.by_ref().take(part.count).collect();
            Self { new: own, parts: vec![part] }
        })
    }
}

impl RegisterError {
    /// The same of the first of several lists, which begins here in all of them.
    fn counted_from(mut self, begin: usize) -> Self {
        match &mut self {
            Self::AliasTaken { index, .. }
            | Self::AliasClaimed { index, .. }
            | Self::TooManyAliases { index, .. } => *index = index.saturating_sub(begin),
            Self::Full(_) | Self::Down => {}
        }
        self
    }
}

/// What is to become of those that were looked at, once they are written.
type Ready = (Vec<Option<Reservation>>, Vec<Outcome>);

impl PolytopeStore {
    /// Registers all of them, or none, beside what others register at the same time.
    pub(super) fn register_kept(
        &self,
        shelf: &Shelf,
        new: Vec<NewPolytope>,
        quota: &MemoryQuota,
        limits: &Limits,
    ) -> Answer {
        let answer = Arc::default();
        let (quota, since) = (quota.clone(), asked_at());
        self.waiting.lock().push(Waiting { new, quota, since, answer: Arc::clone(&answer) });
        // Nobody else here changes anything between the look at what there is and the end.
        let _turn = shelf.turn();
        if let Some(together) = self.waiting.take_with(&answer) {
            self.register_together(shelf, together, limits);
        }
        let answer = answer.lock().expect("nothing panics while holding it").take();
        // Whoever had taken it has panicked.
        answer.unwrap_or(Err(RegisterError::Down))
    }

    fn register_together(&self, shelf: &Shelf, mut all: Together, limits: &Limits) {
        shelf.look_since(all.parts.iter().map(|part| part.since).max());
        self.hear();
        let begin = Instant::now();
        loop {
            let index = self.lock();
            let (paid, outcomes) = self.accept(&index, &mut all, limits);
            let Some(first) = all.parts.first() else { return };
            let planned = self.planned(&index, shelf, &all.new, &first.quota);
            // Whoever only reads does not wait for the disk.
            drop(index);
            let written = planned.and_then(|planned| match shelf.write(&planned.changes) {
                Err(NotKept::Overtaken) if is_tried_again(begin) => Ok(false),
                Err(why) => Err(why.into()),
                Ok(()) => Ok(true),
            });
            match written {
                Ok(true) => return self.insert_together(all, paid, outcomes),
                Ok(false) => self.hear(),
                // There may be room for some of them.
                Err(RegisterError::Full(_)) if all.parts.len() > 1 => {
                    all.apart().for_each(|one| self.register_together(shelf, one, limits));
                    return;
                }
                Err(why) => return all.refuse_all(&why),
            }
        }
    }

    /// Looks at one after the other, as they are once those before it are registered; answers those
    /// that are not to be, and takes memory for the aliases of the others.
    fn accept(&self, index: &Index, all: &mut Together, limits: &Limits) -> Ready {
        'again: loop {
            let (mut at, mut begin) = (0, 0);
            while let Some(part) = all.parts.get(at) {
                let end = begin + part.count;
                match self.check(index, &all.new[..end], &part.quota, limits) {
                    Ok(()) => (at, begin) = (at + 1, end),
                    Err(why) => all.refuse(at, begin, why),
                }
            }
            let (mut paid, mut begin) = (Vec::new(), 0);
            for (at, part) in all.parts.iter().enumerate() {
                let (end, lasting) = (begin + part.count, part.quota.lasting());
                for one in &all.new[begin..end] {
                    match named::paid(one, &lasting) {
                        Ok(one) => paid.push(one),
                        Err(full) => {
                            // What comes after it may be another thing without it.
                            all.refuse(at, begin, RegisterError::Full(full.0));
                            continue 'again;
                        }
                    }
                }
                begin = end;
            }
            return (paid, self.outcomes(index, &all.new));
        }
    }

    fn insert_together(
        &self,
        all: Together,
        paid: Vec<Option<Reservation>>,
        outcomes: Vec<Outcome>,
    ) {
        let mut registered = self.insert_all(&mut self.lock(), all.new, paid, outcomes).into_iter();
        for part in &all.parts {
            part.answer(Ok(registered.by_ref().take(part.count).collect()));
        }
    }
}

#[cfg(test)]
mod tests;
