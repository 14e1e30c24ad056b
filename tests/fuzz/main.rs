//! Fuzzing on stable Rust: bytes become a question, and what must hold of every answer is checked.
//!
//! `cargo test --test fuzz` replays the kept inputs of `corpus/`. With a time it also searches:
//!
//! ```sh
//! CLEARANCE_FUZZ_SECONDS=60 cargo test --release --test fuzz -- --nocapture --test-threads 1
//! CLEARANCE_FUZZ_SECONDS=900 cargo test --release --test fuzz two_bodies -- --nocapture
//! ```
//!
//! The seconds are for each target that runs. `CLEARANCE_FUZZ_SEED` starts another search (printed
//! otherwise), and `CLEARANCE_FUZZ_KEEP=1` writes inputs that behave like none before into the
//! corpus. A finding is cut down, written there too, and fails from then on until it is mended.

mod bodies;
mod bytes;
mod cells;
mod certificates;
mod engine;
mod hulls;
mod motions;
mod pairs;
mod pieces;
mod solids;
mod surfaces;
mod wire;

#[test]
fn every_method_answers_every_question_about_any_two_bodies_alike_and_proves_it() {
    engine::fuzz(&pairs::TARGET);
}

#[test]
fn any_two_motions_meet_when_both_orders_and_the_judge_say_so() {
    engine::fuzz(&motions::TARGET);
}

#[test]
fn any_points_have_the_hull_that_the_validator_proves() {
    engine::fuzz(&hulls::TARGET);
}

#[test]
fn a_certificate_that_is_accepted_is_true_whoever_wrote_it() {
    engine::fuzz(&certificates::TARGET);
}

#[test]
fn a_certificate_about_solids_that_is_accepted_is_true_whoever_wrote_it() {
    engine::fuzz(&solids::TARGET);
}

#[test]
fn what_is_measured_of_solids_and_accepted_is_true_whoever_says_it() {
    engine::fuzz(&surfaces::TARGET);
}

#[test]
fn how_surfaces_stand_is_known_of_each_two_pieces_whoever_says_it() {
    engine::fuzz(&pieces::TARGET);
}

#[test]
fn any_bytes_on_the_wire_get_an_answer_or_a_clear_status() {
    engine::fuzz(&wire::TARGET);
}
