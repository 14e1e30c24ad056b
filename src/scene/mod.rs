//! Floor 1: sessions: bodies, pairs, witnesses and the step of a frame. State, deterministic, no clock, no I/O.
