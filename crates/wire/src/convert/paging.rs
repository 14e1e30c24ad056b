//! Pages of lists.

use crate::path::Path;
use crate::status::Failure;
use clearance_runtime::settings::Limits;

/// How many entries a page has: what is asked for within the limits.
pub fn page_size(limits: &Limits, asked: i32) -> Result<usize, Failure> {
    let size = match u64::try_from(asked) {
        Ok(0) => limits.page_size_default,
        Ok(size) => size,
        Err(_) => return Err(Path::ROOT.field("page_size").bad("must not be negative").into()),
    };
    Ok(usize::try_from(size.min(limits.page_size_max).max(1)).unwrap_or(usize::MAX))
}

/// How many bytes of a reply a client takes that says so; 0: it does not say.
pub fn reply_bytes(asked: u64, limits: &Limits) -> u64 {
    let bytes = if asked == 0 { limits.reply_bytes_default } else { asked };
    bytes.min(limits.reply_bytes_max)
}
