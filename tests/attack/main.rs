//! Attacks on a running server: what hostile or clumsy clients send, each as a row with bounds on
//! the server's memory, on the time that health takes, and on what another client's small questions
//! take meanwhile.
//!
//! Each row starts the binary as a child with its default settings. `cargo test --test attack`
//! takes the one that it built, without optimisation; bounds are stretched for it. The real thing:
//!
//! ```sh
//! cargo build --release
//! CLEARANCE_SERVER=target/release/clearance cargo test --test attack
//! ```
//!
//! `CLEARANCE_ATTACK_MEMORY_MIB=512` (or 4096) before it gives the server of each row so much to
//! give out, but for those that have a budget of their own; figures come with `-- --nocapture`.
//!
//! `CLEARANCE_ATTACK_SECURED=1` runs the same rows with TLS and keys, each address a tenant.
//!
//! A new row is a function in a file beside this one:
//!
//! ```ignore
//! #[test]
//! fn some_attack_is_survived() {
//!     row("some attack", Bounds::default(), async |server| {
//!         let mut queries = server.connect().await.queries();
//!         // ... send; what the server may answer is asserted here ...
//!     });
//! }
//! ```

#![expect(clippy::unwrap_used, reason = "in a test a panic is the report")]
#![expect(clippy::print_stdout, reason = "what a row cost others is worth seeing")]

mod account;
mod all_at_once;
mod bodies;
mod busy_scenes;
mod compounds;
mod connections;
mod crowds;
mod deadlines;
mod decoding;
mod departed;
mod heavy;
mod held;
mod memory;
mod misshapen;
mod names;
mod piles;
mod questions;
mod replies;
mod robot_files;
mod robots;
mod row;
mod scenes;
mod searches;
mod secured;
mod server;
mod shares;
mod stalled;
mod stop;
mod strikes;
mod truths;
mod watch;
mod watchers;
