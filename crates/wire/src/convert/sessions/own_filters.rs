//! Bodies that single questions to a scene leave out, from the wire.

use std::borrow::Cow;

use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_proto as api;
use clearance_proto::packed::Packed;
use clearance_runtime::settings::Limits;
use clearance_scene::BodyId;
use clearance_scene::query::OwnFilter;

/// Stands where a packed ray or cast leaves out no body.
const NOBODY: u32 = u32::MAX;

/// What one question leaves out.
#[derive(Clone, Debug, Default)]
pub struct AskedOwn {
    /// As they are named.
    named: Vec<BodyId>,
    /// The same, sorted.
    ignored: Vec<BodyId>,
    category: Option<u32>,
    mask: Option<u32>,
    /// Leads to the ids.
    path: String,
}

impl AskedOwn {
    /// That of a question, whose path this is.
    pub(super) fn convert(
        path: &Path<'_>,
        wire: Option<&api::OwnFilter>,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let Some(wire) = wire else { return Ok(Self::default()) };
        let filter = path.field("filter");
        let path = filter.field("ignored_body_ids");
        path.within(limits.scene_queries_max(), wire.ignored_body_ids.len())?;
        let named: Vec<BodyId> = wire.ignored_body_ids.iter().map(|id| BodyId(*id)).collect();
        let mut ignored = named.clone();
        ignored.sort_unstable();
        Ok(Self {
            named,
            ignored,
            category: wire.category,
            mask: wire.mask,
            path: path.to_string(),
        })
    }

    /// As scenes take it.
    pub fn filter(&self) -> OwnFilter<'_> {
        OwnFilter { ignored: &self.ignored, category: self.category, mask: self.mask }
    }

    /// That all bodies are there which are named.
    pub fn check(&self, has: impl Fn(BodyId) -> bool) -> Result<(), BadField> {
        match self.named.iter().position(|id| !has(*id)) {
            None => Ok(()),
            Some(at) => Err(unknown(format!("{}[{at}]", self.path), self.named[at])),
        }
    }
}

/// What packed rays or casts leave out: lists with an entry for each of them, or empty ones.
#[derive(Clone, Debug, Default)]
pub struct AskedOwnLists {
    ignored: Vec<BodyId>,
    categories: Vec<u32>,
    masks: Vec<u32>,
    /// Leads to the ids.
    path: String,
}

/// The lists as they come.
pub(super) struct WireLists<'a> {
    pub(super) ignored: &'a Packed<u32>,
    pub(super) categories: &'a Packed<u32>,
    pub(super) masks: &'a Packed<u32>,
}

impl AskedOwnLists {
    /// Those of so many packed rays or casts, whose path this is.
    pub(super) fn convert(
        path: &Path<'_>,
        wire: &WireLists<'_>,
        count: usize,
    ) -> Result<Self, BadField> {
        let list = |name: &'static str, numbers: &Packed<u32>| {
            if numbers.is_empty() || numbers.len() == count {
                return Ok(numbers.iter().collect::<Vec<u32>>());
            }
            Err(path
                .field(name)
                .bad(format!("must have a number for each of the {count}, or none")))
        };
        Ok(Self {
            ignored: list("ignored_bodies", wire.ignored)?.into_iter().map(BodyId).collect(),
            categories: list("categories", wire.categories)?,
            masks: list("masks", wire.masks)?,
            path: path.field("ignored_bodies").to_string(),
        })
    }

    /// That of one of them.
    pub fn filter(&self, at: usize) -> OwnFilter<'_> {
        let named = self.ignored.get(at..=at).unwrap_or_default();
        let ignored = if named == [BodyId(NOBODY)] { &[] } else { named };
        let category = self.categories.get(at).copied();
        OwnFilter { ignored, category, mask: self.masks.get(at).copied() }
    }

    /// That all bodies are there which are named.
    pub fn check(&self, has: impl Fn(BodyId) -> bool) -> Result<(), BadField> {
        let is_unknown = |id: &BodyId| id.0 != NOBODY && !has(*id);
        match self.ignored.iter().position(is_unknown) {
            None => Ok(()),
            Some(at) => Err(unknown(format!("{}[{at}]", self.path), self.ignored[at])),
        }
    }
}

fn unknown(field: String, id: BodyId) -> BadField {
    BadField { field, problem: Cow::Owned(format!("no body has the id {}", id.0)) }
}
