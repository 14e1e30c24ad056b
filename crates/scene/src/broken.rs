//! Rules of scenes that tests break on purpose, to see that the simulation of sessions notices.
//! Outside of tests none is ever broken, and nothing is left of the question.

/// A rule that can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// No body travels farther than is added up for it.
    TravelBound,
    /// A pair is looked at again when its verdict has no room left.
    Expiry,
    /// A pair whose bounds meet again is near again.
    Readmission,
    /// A contact that was announced elsewhere is not announced again.
    AnnouncedContacts,
    /// A frame is applied on the frame that it builds on, and on no other.
    BaseFrame,
    /// The bodies of a past frame are where they were.
    PastPoses,
    /// The bodies of a past frame are those that there were.
    PastBodies,
    /// A question leaves out the bodies that it says.
    OwnFilter,
    /// Questions are asked in boxes around the bodies as the last frame left them.
    FreshBoxes,
    /// What is met first is told before what is met later.
    EarliestHit,
    /// What a link carries goes with it.
    Loads,
    /// What a link carries is not checked against what it may touch, and what moves as it does.
    LoadPairs,
    /// The way of a robot begins where it was at the last answered frame.
    RobotWays,
}

/// Whether this rule is broken.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub(crate) const fn is_broken(_rule: Rule) -> bool {
    false
}

#[cfg(debug_assertions)]
pub use self::on_purpose::during;
#[cfg(debug_assertions)]
pub(crate) use self::on_purpose::is_broken;

#[cfg(debug_assertions)]
mod on_purpose {
    use std::cell::Cell;

    use super::Rule;

    thread_local! {
        static BROKEN: Cell<Option<Rule>> = const { Cell::new(None) };
    }

    /// Whole again when dropped.
    #[derive(Debug)]
    pub struct Broken;

    /// Breaks a rule, if any, on this thread alone.
    pub fn during(rule: Option<Rule>) -> Broken {
        BROKEN.set(rule);
        Broken
    }

    impl Drop for Broken {
        fn drop(&mut self) {
            BROKEN.set(None);
        }
    }

    pub(crate) fn is_broken(rule: Rule) -> bool {
        BROKEN.get() == Some(rule)
    }
}
