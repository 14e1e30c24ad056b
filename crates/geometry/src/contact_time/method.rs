//! What a way to search for a first contact is, and the default.

use super::travel::translation_of;
use crate::Vec3;
use crate::claim::FirstContact;
use crate::effort::{Effort, Stopped};
use crate::pair::Pair;
use crate::pair::Question;
use crate::polytope::Tables;
use crate::separation::line::cast::{self, Cast};
use crate::witness::Witness;

/// A way to search; one file and one row of [`super::METHODS`] each.
#[derive(Debug)]
pub struct Method {
    /// Its name on the wire and in the tables.
    pub name: &'static str,
    /// Who described it, and where.
    pub source: &'static str,
    /// What its proposals amount to.
    pub proves: &'static str,
    /// What a query costs.
    pub cost: &'static str,
    /// What it has built of a body that it is first asked about.
    pub tables: Tables,
    /// Whether it answers bodies that turn, margins and deviations, too; else only bodies that
    /// translate, in contact without slack, and whoever asks for more by its name is refused.
    pub(super) answers_all: bool,
    /// Answers some motions of any kind by itself, before anything else is tried.
    pub(super) first_look: Option<FirstLook>,
    /// Proposes where the ray `{t u}`, t from 0 to a limit, enters M: for bodies that translate.
    pub(super) cast: CastSearch,
}

impl Method {
    /// Whether it answers this question; else another method would have to do so in its place.
    pub fn answers(&self, question: &Question<'_>) -> bool {
        let translates = || {
            let Pair { p, q } = &question.pair;
            translation_of(&question.motion_p, &p.pose).is_some()
                && translation_of(&question.motion_q, &q.pose).is_some()
        };
        self.answers_all || question.is_without_slack() && translates()
    }

    /// Whether it answers bodies that turn, margins and deviations.
    pub fn answers_all(&self) -> bool {
        self.answers_all
    }
}

type FirstLook =
    fn(&Question<'_>, &mut Witness, &mut Effort<'_>) -> Result<Option<FirstContact>, Stopped>;

type CastSearch = fn(&Pair<'_>, &Vec3, f64, &mut Effort<'_>) -> Result<Cast, Stopped>;

/// The default method.
pub(super) const FACET_WALK: Method = Method {
    name: "facet_walk",
    source: "the simplex method over M's normals, from a guess by ellipsoids",
    proves: "that translating bodies never meet, by a vector; or the faces that meet first",
    cost: "a supporting pair, and the neighbours of a few more",
    tables: Tables::Nothing,
    answers_all: true,
    first_look: None,
    cast: cast::cast,
};
