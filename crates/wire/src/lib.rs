//! From the messages of the wire to values and back.
//!
//! Everything that can go wrong is a [`status::Failure`], and one table there says what the client
//! gets. The rooms in their order, of which each uses only those above it:
//!
//! ```text
//! path        where in a request we are, and failures that name a field
//! status      the table from failures to statuses
//! convert/    wire to domain and back: needs the registered bodies and the limits, no server
//! ```

pub mod convert;
pub mod path;
pub mod status;
