//! Where in a request we are, and the failures that name a field of it; those of limits are the
//! server's own.

pub use clearance_certificates::path::{BadField, NotImplemented, Path};

use clearance_runtime::settings::{Exceeded, Limit};

/// Limits of what a request has at a place.
pub trait WithinLimit {
    /// Refuses a `count` that is more than the limit allows.
    fn within(&self, limit: Limit, count: usize) -> Result<(), Exceeded>;
}

impl WithinLimit for Path<'_> {
    fn within(&self, limit: Limit, count: usize) -> Result<(), Exceeded> {
        if count as u64 <= limit.value { Ok(()) } else { Err(limit.exceeded_at(self)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearance_runtime::settings::Limits;

    #[test]
    fn a_limit_is_refused_with_its_name_and_value() {
        let limits = Limits { batch_items_max: 2, ..Limits::default() };
        let items = Path::ROOT.field("items");
        assert!(items.within(limits.batch_items_max(), 2).is_ok());
        let refused = items.within(limits.batch_items_max(), 3).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "items: more than the limit batch_items_max = 2 of this server"
        );
    }
}
