//! Between the network and the services: connections, what surrounds every call, how messages are
//! read and how long a call may take.

mod call;
pub mod call_log;
mod caller;
pub mod connection;
mod frames;
mod http1;
pub mod http2;
pub mod inside;
pub mod intake;
pub mod layer;
mod limiter;
pub mod listener;
pub mod side;
mod socket;
mod tail;
pub mod timing;
pub mod tls;
mod unread;
pub mod unsent;
pub mod web;
