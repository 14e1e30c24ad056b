//! The server of `clearance`, which answers geometric questions about bodies in motion over gRPC
//! and proves every answer.
//!
//! `docs/contract.md` says what every answer promises, `docs/architecture.md` where everything is
//! and which way a question and a frame go. What answers is in crates of its own (`crates/`), which
//! know nothing of a network: `clearance-proof`, `clearance-geometry`, `clearance-robot` and
//! `clearance-scene`; the messages are `clearance-proto`, and `clearance-client` asks. The server
//! stands on four crates of its own, so that a line changed here compiles none of them again:
//!
//! ```text
//!  main.rs                 wiring only; what commands there are
//!  serve.rs allocator.rs   the command that serves: settings, signals, memory given back
//!  rpc/                    the services
//!  clearance-config        flags, environment and file; the log
//!  clearance-transport     connections, HTTP/2, what surrounds every call
//!  clearance-wire          wire <-> domain, one table from failure to status
//!  clearance-runtime       the only owner of threads, clock, disk, metrics
//! ```

pub mod allocator;
pub mod rpc;
pub mod serve;
