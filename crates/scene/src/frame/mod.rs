//! A scene, and the frames that it applies and answers.
//!
//! [`scene`] is the state. [`opening`] takes it up from a declaration, [`apply`] takes a frame in
//! ([`structure`] and [`mount`] what comes, goes and changes), and [`step`] answers it: [`near`]
//! finds the pairs worth looking at, a round of [`step`] asks about them and chooses what is
//! listed, with [`ranking`], [`events`] says what began and ended, and [`writing`] writes it down,
//! within the room that [`least_bytes`] counts.

pub(crate) mod apply;
pub(crate) mod events;
pub(crate) mod least_bytes;
pub(crate) mod mount;
pub(crate) mod near;
pub(crate) mod opening;
pub(crate) mod ranking;
pub(crate) mod scene;
pub(crate) mod step;
pub(crate) mod structure;
pub(crate) mod writing;
