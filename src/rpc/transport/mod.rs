//! Between the network and the services: connections, what surrounds every call, how messages are
//! read and how long a call may take.

pub(super) mod connection;
mod crowd;
pub(super) mod intake;
pub mod layer;
pub(super) mod timing;
pub mod unsent;
