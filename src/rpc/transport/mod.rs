//! Between the network and the services: connections, what surrounds every call, how messages are
//! read and how long a call may take.

mod call;
mod caller;
pub(super) mod connection;
mod frames;
mod http1;
pub(super) mod http2;
pub(super) mod intake;
pub mod layer;
mod limiter;
pub(super) mod timing;
mod unread;
pub mod unsent;
