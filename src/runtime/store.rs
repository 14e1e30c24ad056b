//! Registered polytopes and polyhedra, in memory: named by content, shared, counted against limits.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use dashmap::DashMap;

use super::settings::{Limit, Limits};
use crate::geometry::effort::{Effort, Stopped};
use crate::geometry::hierarchy::HierarchyReport;
use crate::geometry::polyhedron::Polyhedron;
use crate::geometry::polytope::Polytope;
use crate::geometry::polytope::surface::Surface;
use crate::geometry::shape::PolytopeId;

/// What is registered; shared with the scenes and questions that use it.
#[derive(Clone, Debug)]
pub enum StoredSolid {
    /// The hull of points.
    Polytope(Arc<Polytope>),
    /// What a mesh bounds, convex or not.
    Polyhedron {
        /// It.
        polyhedron: Arc<Polyhedron>,
        /// Its hull. What is separated from the hull is separated from the polyhedron, and the
        /// proof of that can be given.
        hull: Arc<Polytope>,
    },
}

impl StoredSolid {
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        match self {
            Self::Polytope(polytope) => polytope.vertices().len(),
            Self::Polyhedron { polyhedron, .. } => polyhedron.vertices().len(),
        }
    }
}

/// A registered polytope or polyhedron.
#[derive(Debug)]
pub struct Stored {
    /// Its name.
    pub id: PolytopeId,
    /// What it is.
    pub solid: StoredSolid,
    /// Number of edges.
    pub edge_count: u32,
    /// The figures of a polytope's hierarchy, which itself is only kept once a method has used it.
    pub hierarchy: HierarchyReport,
    /// Memory it takes, estimated.
    pub memory_bytes: u64,
    uses: AtomicU64,
}

impl Stored {
    /// A polytope that is not registered yet. For large bodies the figures take seconds: they are
    /// given up beyond the deadline.
    pub fn new(polytope: Polytope, effort: &Effort<'_>) -> Result<Self, Stopped> {
        let id = PolytopeId::of(&polytope);
        let edge_count = u32::try_from(degree_sum(&polytope) / 2).unwrap_or(u32::MAX);
        let (hierarchy, memory_bytes) = figures(&polytope, effort)?;
        let solid = StoredSolid::Polytope(Arc::new(polytope));
        Ok(Self { id, solid, edge_count, hierarchy, memory_bytes, uses: AtomicU64::new(0) })
    }

    /// A polyhedron and its hull, not registered yet. For large bodies the figures take seconds:
    /// they are given up beyond the deadline.
    pub fn of_polyhedron(
        polyhedron: Polyhedron,
        hull: Polytope,
        effort: &Effort<'_>,
    ) -> Result<Self, Stopped> {
        let id = polyhedron.id();
        let edge_count = u32::try_from(polyhedron.edge_count()).unwrap_or(u32::MAX);
        let hierarchy = HierarchyReport::default();
        let memory_bytes = polyhedron.bytes() as u64 + figures(&hull, effort)?.1;
        let solid =
            StoredSolid::Polyhedron { polyhedron: Arc::new(polyhedron), hull: Arc::new(hull) };
        Ok(Self { id, solid, edge_count, hierarchy, memory_bytes, uses: AtomicU64::new(0) })
    }

    /// How many bodies of sessions use it.
    pub fn uses(&self) -> u64 {
        self.uses.load(Ordering::Relaxed)
    }
}

fn degree_sum(polytope: &Polytope) -> usize {
    (0..polytope.vertex_count()).map(|i| polytope.neighbours(i).len()).sum()
}

/// Memory of the parts of an entry that do not grow with the body.
const FIXED_BYTES: usize = 1024;

/// Memory that a polytope takes, estimated, once methods of every kind have been used on it: what
/// h_walk, cd_dual or prism build on first use, the hierarchy with its features and the surface, is
/// counted from the start, so that no question can break a limit.
///
/// The figures of the hierarchy come with it. Both are given up beyond the deadline.
pub fn figures(
    polytope: &Polytope,
    effort: &Effort<'_>,
) -> Result<(HierarchyReport, u64), Stopped> {
    polytope.prepare_reach(effort)?;
    let hierarchy = polytope.hierarchy_report(effort)?;
    let surface = Surface::memory_bytes(degree_sum(polytope) / 2, polytope.facets().len());
    let bytes = FIXED_BYTES + polytope.heap_bytes() + hierarchy.bytes + surface;
    Ok((hierarchy, bytes as u64))
}

/// A polytope that cannot be deleted while this lives.
#[derive(Debug)]
pub struct Lease(Arc<Stored>);

impl Lease {
    /// The polytope.
    pub fn stored(&self) -> &Arc<Stored> {
        &self.0
    }
}

impl Clone for Lease {
    fn clone(&self) -> Self {
        // Safe against deletion: `self` holds the count above zero.
        self.0.uses.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone())
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.uses.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One polytope to be registered.
#[derive(Debug)]
pub struct NewPolytope {
    /// The polytope.
    pub stored: Stored,
    /// A name for people.
    pub alias: Option<String>,
    /// Whether the alias may be taken from another polytope.
    pub move_alias: bool,
}

/// Why nothing was registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// An alias names another polytope.
    #[error("the alias {alias:?} names another polytope, {owner}")]
    AliasTaken {
        /// Index of the polytope to be registered.
        index: usize,
        /// The alias.
        alias: String,
        /// The polytope that has it.
        owner: PolytopeId,
    },
    /// A polytope would have more aliases than allowed.
    #[error("the polytope would have more than {} aliases", limit.value)]
    TooManyAliases {
        /// Index of the polytope to be registered.
        index: usize,
        /// The limit.
        limit: Limit,
    },
    /// The store is full.
    #[error("the store is full: {} is {}", .0.name, .0.value)]
    Full(Limit),
}

/// Why a polytope was not deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeleteError {
    /// It is not there.
    #[error("there is no such polytope")]
    Unknown,
    /// Sessions use it.
    #[error("{uses} bodies of open sessions use the polytope")]
    InUse {
        /// How many bodies.
        uses: u64,
    },
}

/// All registered polytopes.
#[derive(Debug, Default)]
pub struct PolytopeStore {
    by_id: DashMap<PolytopeId, Arc<Stored>>,
    by_alias: DashMap<String, PolytopeId>,
    /// Serialises writers; readers by id or alias do not wait for it.
    index: Mutex<Index>,
}

#[derive(Debug, Default)]
struct Index {
    aliases: BTreeMap<PolytopeId, BTreeSet<String>>,
    memory_bytes: u64,
}

impl PolytopeStore {
    /// By id.
    pub fn get(&self, id: &PolytopeId) -> Option<Arc<Stored>> {
        self.by_id.get(id).map(|entry| entry.value().clone())
    }

    /// The polytope that an alias names.
    pub fn resolve(&self, alias: &str) -> Option<PolytopeId> {
        self.by_alias.get(alias).map(|entry| *entry.value())
    }

    /// By id, and kept from deletion.
    pub fn lease(&self, id: &PolytopeId) -> Option<Lease> {
        // The count goes up while the entry is locked, so that deletion sees it or comes before.
        self.by_id.get(id).map(|entry| {
            entry.value().uses.fetch_add(1, Ordering::Relaxed);
            Lease(entry.value().clone())
        })
    }

    /// Registers all of them, or none. Tells for each whether it was registered before.
    pub fn register(
        &self,
        new: Vec<NewPolytope>,
        limits: &Limits,
    ) -> Result<Vec<(Arc<Stored>, bool)>, RegisterError> {
        let mut index = self.lock();
        self.check(&index, &new, limits)?;
        Ok(new.into_iter().map(|new| self.insert(&mut index, new)).collect())
    }

    /// What `register` would refuse.
    pub fn validate(&self, new: &[NewPolytope], limits: &Limits) -> Result<(), RegisterError> {
        self.check(&self.lock(), new, limits)
    }

    fn check(
        &self,
        index: &Index,
        new: &[NewPolytope],
        limits: &Limits,
    ) -> Result<(), RegisterError> {
        let mut count = index.aliases.len() as u64;
        let mut memory_bytes = index.memory_bytes;
        let mut added = BTreeSet::new();
        let mut aliases: BTreeMap<&str, PolytopeId> = BTreeMap::new();
        for (i, item) in new.iter().enumerate() {
            let id = item.stored.id;
            if !index.aliases.contains_key(&id) && added.insert(id) {
                count += 1;
                memory_bytes += item.stored.memory_bytes;
            }
            let Some(alias) = item.alias.as_deref() else { continue };
            let owner = aliases.get(alias).copied().or_else(|| self.resolve(alias));
            if let Some(owner) = owner.filter(|owner| *owner != id && !item.move_alias) {
                return Err(RegisterError::AliasTaken { index: i, alias: alias.to_owned(), owner });
            }
            aliases.insert(alias, id);
            let limit = limits.aliases_per_polytope_max();
            let held = index.aliases.get(&id).into_iter().flatten().map(String::as_str);
            let asked = aliases.iter().filter(|(_, owner)| **owner == id).map(|(alias, _)| *alias);
            if held.chain(asked).collect::<BTreeSet<_>>().len() as u64 > limit.value {
                return Err(RegisterError::TooManyAliases { index: i, limit });
            }
        }
        if count > limits.polytopes_max {
            return Err(RegisterError::Full(limits.polytopes_max()));
        }
        if memory_bytes > limits.polytope_bytes_max {
            return Err(RegisterError::Full(limits.polytope_bytes_max()));
        }
        Ok(())
    }

    fn insert(&self, index: &mut Index, new: NewPolytope) -> (Arc<Stored>, bool) {
        let id = new.stored.id;
        let known = self.get(&id);
        let already_registered = known.is_some();
        let stored = known.unwrap_or_else(|| {
            let stored = Arc::new(new.stored);
            index.memory_bytes += stored.memory_bytes;
            index.aliases.insert(id, BTreeSet::new());
            self.by_id.insert(id, stored.clone());
            stored
        });
        if let Some(alias) = new.alias {
            if let Some(owner) = self.by_alias.insert(alias.clone(), id)
                && let Some(aliases) = index.aliases.get_mut(&owner)
            {
                aliases.remove(&alias);
            }
            index.aliases.entry(id).or_default().insert(alias);
        }
        (stored, already_registered)
    }

    /// Forgets a polytope and its aliases. Whoever computes with it meanwhile keeps it alive.
    pub fn delete(&self, id: &PolytopeId) -> Result<(), DeleteError> {
        let mut index = self.lock();
        // The entry is locked while its count is looked at; see `lease`.
        match self.by_id.remove_if(id, |_, stored| stored.uses() == 0) {
            Some((_, stored)) => {
                index.memory_bytes -= stored.memory_bytes;
                for alias in index.aliases.remove(id).into_iter().flatten() {
                    self.by_alias.remove(&alias);
                }
                Ok(())
            }
            None => match self.get(id) {
                Some(stored) => Err(DeleteError::InUse { uses: stored.uses() }),
                None => Err(DeleteError::Unknown),
            },
        }
    }

    /// The aliases of a polytope, sorted.
    pub fn aliases(&self, id: &PolytopeId) -> Vec<String> {
        self.lock().aliases.get(id).into_iter().flatten().cloned().collect()
    }

    /// At most `size` polytopes after `after`, by ascending id; and whether more follow.
    pub fn page(&self, after: Option<PolytopeId>, size: usize) -> (Vec<Arc<Stored>>, bool) {
        let index = self.lock();
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let mut ids = index.aliases.range((start, Bound::Unbounded)).map(|(id, _)| id);
        let page = ids.by_ref().take(size).filter_map(|id| self.get(id)).collect();
        (page, ids.next().is_some())
    }

    /// Number of polytopes.
    pub fn count(&self) -> u64 {
        self.lock().aliases.len() as u64
    }

    /// Memory of all polytopes, estimated.
    pub fn memory_bytes(&self) -> u64 {
        self.lock().memory_bytes
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().expect("nothing panics while holding it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Vec3;
    use crate::geometry::hull::convex_hull;

    fn point(x: f64, alias: &str) -> NewPolytope {
        let polytope = convex_hull(&[Vec3::new(x, 0.0, 0.0)]).unwrap().polytope;
        let alias = Some(alias.to_owned()).filter(|alias| !alias.is_empty());
        let stored = Stored::new(polytope, &Effort::unlimited()).expect("without a deadline");
        NewPolytope { stored, alias, move_alias: false }
    }

    fn register(store: &PolytopeStore, new: NewPolytope) -> PolytopeId {
        store.register(vec![new], &Limits::default()).unwrap()[0].0.id
    }

    #[test]
    fn registering_is_idempotent_and_all_or_nothing() {
        let store = PolytopeStore::default();
        let one = register(&store, point(1.0, "one"));
        assert_eq!(register(&store, point(1.0, "")), one);
        assert_eq!((store.count(), store.aliases(&one)), (1, vec!["one".to_owned()]));

        let taken = store.register(vec![point(2.0, ""), point(3.0, "one")], &Limits::default());
        let expected = RegisterError::AliasTaken { index: 1, alias: "one".into(), owner: one };
        assert_eq!(taken.unwrap_err(), expected);
        assert_eq!(store.count(), 1);

        let limits = Limits { polytopes_max: 2, ..Limits::default() };
        let full = store.register(vec![point(2.0, ""), point(3.0, "")], &limits);
        assert_eq!(full.unwrap_err(), RegisterError::Full(limits.polytopes_max()));
        let twice = store.register(vec![point(2.0, ""), point(2.0, "")], &limits).unwrap();
        assert_eq!((twice[0].1, twice[1].1), (false, true));
    }

    #[test]
    fn an_alias_moves_only_when_told_to() {
        let store = PolytopeStore::default();
        let one = register(&store, point(1.0, "it"));
        let two = register(&store, NewPolytope { move_alias: true, ..point(2.0, "it") });
        assert_eq!(store.resolve("it"), Some(two));
        assert_eq!((store.aliases(&one).len(), store.aliases(&two).len()), (0, 1));
        store.delete(&two).unwrap();
        assert_eq!(store.resolve("it"), None);
    }

    #[test]
    fn a_leased_polytope_is_not_deleted_until_the_last_lease_is_gone() {
        let store = PolytopeStore::default();
        let one = register(&store, point(1.0, ""));
        let lease = store.lease(&one).unwrap();
        let second = lease.clone();
        assert_eq!(store.delete(&one), Err(DeleteError::InUse { uses: 2 }));
        drop(lease);
        assert_eq!(store.delete(&one), Err(DeleteError::InUse { uses: 1 }));
        drop(second);
        assert_eq!(store.delete(&one), Ok(()));
        assert_eq!(store.delete(&one), Err(DeleteError::Unknown));
        assert_eq!((store.count(), store.memory_bytes()), (0, 0));
    }

    #[test]
    fn pages_list_every_polytope_once_by_ascending_id() {
        let store = PolytopeStore::default();
        let mut expected: Vec<_> =
            (0..25).map(|i| register(&store, point(f64::from(i), ""))).collect();
        expected.sort_unstable();
        let (mut listed, mut after) = (Vec::new(), None);
        loop {
            let (page, more) = store.page(after, 10);
            listed.extend(page.iter().map(|stored| stored.id));
            after = listed.last().copied();
            if !more {
                break;
            }
        }
        assert_eq!(listed, expected);
    }
}
