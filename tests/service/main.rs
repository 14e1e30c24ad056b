//! The service over a real socket, through the generated client.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::wildcard_enum_match_arm,
    reason = "in a test a panic is the report, and the numbers here are exact"
)]

mod access;
mod alias_keys;
mod bad_input;
mod cell_rules;
mod client;
mod cloud_bodies;
mod clouds;
mod compound_measures;
mod compounds;
mod conformance;
mod contact_details;
mod counted;
mod curved;
mod curved_cells;
mod curved_compounds;
mod curved_proofs;
mod curved_sessions;
mod decompositions;
mod deep_contacts;
mod door;
mod doubling;
mod falsified;
mod height_fields;
mod history;
mod hostile;
mod http;
mod ids;
mod kept_meshes;
mod leaving;
mod lifecycle;
mod lists;
mod local;
mod margins;
mod memory;
mod methods;
mod openings;
mod operators;
mod ownership;
mod packed;
mod polyhedra;
mod polyhedron_sessions;
mod polytopes;
mod queries;
mod quotas;
mod recordings;
mod registration;
mod reply_sizes;
mod request_ids;
mod robot_keys;
mod robot_limits;
mod robot_meshes;
mod robot_scenes;
mod robot_streams;
mod robot_uploads;
mod robots;
mod rounded;
mod rounded_cells;
mod rounded_sessions;
mod rule_certificates;
mod said;
mod scene_certificates;
mod scene_exits;
mod scene_frames;
mod scene_queries;
mod seams;
mod server;
mod session_robots;
mod sessions;
mod shapes;
mod shown_robots;
mod solid_measures;
mod solid_proofs;
mod spins;
mod steps;
mod store;
mod streams;
mod suggestions;
mod surfaces;
mod tables;
mod threads;
mod tls;
mod touching;
#[cfg(feature = "otlp")]
mod traces;
mod unsaid_ids;
mod watch;
mod web;
mod web_access;
mod wire;
mod word_for_word;
