//! What a frame says of its items that were refused.

use crate::rpc::api;

/// Items of a frame that were refused, as its report lists them. The session keeps them for a
/// repetition, so their number has a limit.
#[derive(Debug, Default)]
pub(super) struct RefusedItems {
    pub(super) items: Vec<api::ItemStatus>,
    /// How many more there were.
    pub(super) omitted: u64,
}

impl RefusedItems {
    /// The first of these items, up to `items_max`, and how many more there are.
    pub(super) fn collect(
        mut items: impl Iterator<Item = api::ItemStatus>,
        items_max: u64,
    ) -> Self {
        let items_max = usize::try_from(items_max).unwrap_or(usize::MAX);
        let mut listed: Vec<api::ItemStatus> = items.by_ref().take(items_max).collect();
        listed.shrink_to_fit();
        Self { items: listed, omitted: items.count() as u64 }
    }

    /// Memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.items.iter().map(|item| item.message.capacity() + item.field.capacity());
        texts.sum::<usize>() + self.items.capacity() * size_of::<api::ItemStatus>()
    }
}
