//! The service over a real socket, through the generated client.

mod bad_input;
mod hostile;
mod lifecycle;
mod polytopes;
mod queries;
mod server;
