//! A client of the clearance API, which answers geometric questions about bodies in motion and
//! proves every answer about convex ones.
//!
//! A [`Client`] is a connection to a server, or to one of several. It registers bodies, asks
//! questions, and tries again where the contract says that waiting helps ([`retry`]). A [`Session`]
//! is a scene of the server's that goes on frame by frame: the client knows what it has declared,
//! and restates that after a lost connection, on a server that has forgotten it, or on another
//! one. Answers are not taken on trust: [`verify`] judges their certificates here, in exact
//! arithmetic, with code that shares nothing with the server's searches.
//!
//! ```no_run
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! use clearance_client::{Client, api};
//!
//! let client = Client::connect("http://127.0.0.1:50061").await?;
//! let corners: Vec<[f64; 3]> =
//!     (0..8).map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1))).collect();
//! let cube = client.register_points(&corners).await?;
//!
//! let question = api::CheckCollisionRequest {
//!     p: Some(cube.at([0.0, 0.0, 0.0])),
//!     q: Some(cube.at([1.0, 0.0, 0.0])),
//!     ..Default::default()
//! };
//! let answer = client.check_collision(question.clone()).await?;
//! assert_eq!(answer.verdict(), api::Verdict::Touching);
//! // Whatever the server is, this much is true now.
//! client.verify(&question, &answer)?;
//! # Ok(())
//! # }
//! ```
//!
//! Servers that other machines reach speak TLS, and ask for a key ([`credentials`]):
//!
//! ```no_run
//! # async fn ask(authorities_pem: String) -> Result<(), Box<dyn std::error::Error>> {
//! use clearance_client::{ApiKey, Client, ConnectOptions, TlsOptions};
//!
//! let options = ConnectOptions {
//!     api_key: Some(ApiKey::new(std::env::var("CLEARANCE_KEY")?)),
//!     tls: Some(TlsOptions { authorities_pem, ..Default::default() }),
//!     ..Default::default()
//! };
//! let client = Client::connect_with(&["https://clearance.example:50061"], options).await?;
//! # Ok(())
//! # }
//! ```
//!
//! `cargo run -p clearance-client --example first_verdict -- http://127.0.0.1:50061` is that as a
//! program, and `--example frames` a session over frames.
//!
//! Messages are those of [`api`], the generated types; their documentation is that of the
//! interface. What has no method of its own here is asked through the generated clients, which
//! [`Client::queries`] and its like hand out, without retries. [`Client::call_bytes`] is for
//! whoever brings messages of another language's.

pub mod connection;
pub mod credentials;
pub mod error;
pub mod retry;
pub mod session;
pub mod verify;

mod body;
mod bytes;
mod known;
mod questions;
mod readable;
mod registration;

pub use clearance_proto as api;

pub use self::connection::{Client, ConnectOptions};
pub use self::credentials::{ApiKey, TlsOptions};
pub use self::error::{Error, NotProven};
pub use self::readable::ReadableChannel;
pub use self::registration::{Registered, spec_of};
pub use self::retry::RetryPolicy;
pub use self::session::Session;
