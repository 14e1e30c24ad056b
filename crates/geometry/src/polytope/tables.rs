//! Who is told how much memory the tables of a body take, as soon as they are built.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

/// What is built of a body when a question first needs it, and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    /// Nothing beside what every body has.
    Nothing,
    /// The layers of its hierarchy.
    Layers,
    /// The layers with their features.
    Features,
    /// Its surface.
    Surface,
    /// The table of its faces and edges, which depths need: only of bodies that have few.
    Faces,
}

impl Tables {
    /// Memory that they take for each vertex of a body that is not known yet, bytes, at most.
    pub fn bytes_per_vertex(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Layers => 1_024,
            Self::Features => 4_096,
            Self::Surface | Self::Faces => 320,
        }
    }
}

/// Whoever counts what is kept of a body.
pub trait TableKeeper: Debug + Send + Sync {
    /// So many bytes more are kept, for as long as the body is.
    fn kept(&self, bytes: usize);
}

/// The one that a body tells, if there is one. A copy of a body tells nobody.
#[derive(Debug, Default)]
pub(super) struct KeptFor(Option<Arc<dyn TableKeeper>>);

impl Clone for KeptFor {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl KeptFor {
    /// Tells this one.
    pub(super) fn of(keeper: Arc<dyn TableKeeper>) -> Self {
        Self(Some(keeper))
    }

    /// So many bytes more are kept.
    pub(super) fn tell(&self, bytes: usize) {
        if let Some(keeper) = &self.0 {
            keeper.kept(bytes);
        }
    }

    /// Keeps what was built, unless somebody else was first; tells only of what is kept.
    pub(super) fn keep<'a, T>(
        &self,
        place: &'a OnceLock<T>,
        built: T,
        bytes: impl FnOnce(&T) -> usize,
    ) -> &'a T {
        let mut is_new = false;
        let kept = place.get_or_init(|| {
            is_new = true;
            built
        });
        if is_new {
            self.tell(bytes(kept));
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Vec3;
    use crate::distance::{self, Stops};
    use crate::effort::Effort;
    use crate::motion::Motion;
    use crate::pair::Pair;
    use crate::pair::Question;
    use crate::polytope::Polytope;
    use crate::pose::Pose;
    use crate::samples::{ball, cone, cuboid};
    use crate::witness::Witness;
    use crate::{contact_time, penetration, separation};

    #[derive(Debug, Default)]
    struct Told(AtomicUsize);

    impl TableKeeper for Told {
        fn kept(&self, bytes: usize) {
            self.0.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Lets a method look at new bodies in some places; checks what it has built against what its
    /// row says of it, and what was told.
    fn builds(name: &str, tables: Tables, ask: &dyn Fn(&Pair<'_>, &mut Effort<'_>)) {
        for make in [|| ball(400, 1), || cone(60), || cuboid(1.0, 2.0, 3.0)] {
            let mut bodies = [make(), make()];
            let told = [0, 1].map(|_| Arc::<Told>::default());
            for (body, told) in bodies.iter_mut().zip(&told) {
                body.tell(told.clone());
            }
            let [p, q] = &bodies;
            let expected = |body: &Polytope| {
                let report = body.hierarchy_report(&Effort::unlimited()).unwrap();
                body.bytes_to_build(tables, &report)
            };
            let at_most = [expected(p), expected(q)];
            for x in [0.1, 1.999, 7.0] {
                let pair = Pair::new(p, Pose::identity(), q, Pose::translation(x, 0.11, 0.07));
                ask(&pair, &mut Effort::unlimited());
            }
            for ((body, told), at_most) in bodies.iter().zip(&told).zip(at_most) {
                let built = body.table_bytes();
                assert!(built <= at_most, "{name} builds {built} bytes, not {at_most}");
                assert_eq!(told.0.load(Ordering::Relaxed), built, "{name}");
                let per_vertex = tables.bytes_per_vertex();
                let most = per_vertex * body.vertices().len() + 1_024;
                assert!(per_vertex == 0 || built <= most, "{name}: {built} and {most}");
            }
        }
    }

    #[test]
    fn methods_build_what_their_rows_say_and_whoever_counts_it_is_told() {
        for method in separation::METHODS {
            builds(method.name, method.tables, &|pair, effort| {
                separation::decide(pair, method, &mut Witness::default(), effort).unwrap();
            });
        }
        for method in distance::METHODS {
            builds(method.name, method.tables, &|pair, effort| {
                let (stops, witness) = (Stops::default(), &mut Witness::default());
                distance::measure_by(method, pair, stops, witness, effort).unwrap();
            });
        }
        for method in penetration::METHODS {
            builds(method.name, method.tables, &|pair, effort| {
                let witness = &mut Witness::default();
                penetration::along_by(pair, &Vec3::x(), method, witness, effort).unwrap();
            });
        }
        for method in contact_time::METHODS {
            let velocity = Vec3::new(-6.0, 0.0, 0.0);
            builds(method.name, method.tables, &|pair, effort| {
                let rest = Motion::rest();
                let question = Question::new(*pair, rest, Motion::Linear { velocity });
                let witness = &mut Witness::default();
                contact_time::first_contact_by(method, &question, witness, effort).unwrap();
            });
        }
        builds("depths", Tables::Faces, &|pair, effort| {
            penetration::measure(pair, true, &mut Witness::default(), effort).unwrap();
        });
    }

    #[test]
    fn what_there_is_already_is_told_at_once_and_a_copy_tells_nobody() {
        let mut body = ball(100, 1);
        body.prepare_hierarchy(&Effort::unlimited()).unwrap();
        let told = Arc::<Told>::default();
        body.tell(told.clone());
        let layers = told.0.load(Ordering::Relaxed);
        assert!(layers > 100 && layers == body.table_bytes());
        body.clone().prepare_features(&Effort::unlimited()).unwrap();
        assert_eq!(told.0.load(Ordering::Relaxed), layers);
        body.prepare_features(&Effort::unlimited()).unwrap();
        assert!(told.0.load(Ordering::Relaxed) > layers);
        assert_eq!(told.0.load(Ordering::Relaxed), body.table_bytes());
    }
}
