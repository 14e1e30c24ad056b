//! What a frame says of its items that were refused.

use clearance_proto as api;

/// Items of a frame that were refused, as its report lists them. The session keeps them for a
/// repetition, so their number has a limit.
#[derive(Debug, Default)]
pub(super) struct RefusedItems {
    pub(super) items: Vec<api::ItemStatus>,
    /// How many more there were.
    pub(super) omitted: u64,
}

impl RefusedItems {
    /// One more, which is said only if no more than `items_max` are listed: others wait for this
    /// thread, and to put 20,000 into words can take 20 ms.
    pub(super) fn add(&mut self, items_max: u64, say: impl FnOnce() -> api::ItemStatus) {
        if (self.items.len() as u64) < items_max {
            self.items.push(say());
        } else {
            self.omitted += 1;
        }
    }

    /// Memory that they take.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.items.iter().map(|item| item.message.capacity() + item.field.capacity());
        texts.sum::<usize>() + self.items.capacity() * size_of::<api::ItemStatus>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_counted_and_not_put_into_words() {
        let (mut refused, mut said) = (RefusedItems::default(), 0);
        for _ in 0..20_000 {
            refused.add(3, || {
                said += 1;
                api::ItemStatus::default()
            });
        }
        assert_eq!((refused.items.len(), refused.omitted, said), (3, 19_997, 3));
    }
}
