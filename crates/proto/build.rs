//! Compiles `proto/`; no protoc is needed.

use std::collections::BTreeSet;

use tonic_prost_build::FileDescriptorSet;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// Every file of the API; a new one is a new line here.
    const FILES: &[&str] = &[
        "clearance/v1/certificate.proto",
        "clearance/v1/cost.proto",
        "clearance/v1/geometry.proto",
        "clearance/v1/polytope_service.proto",
        "clearance/v1/query_service.proto",
        "clearance/v1/robot_service.proto",
        "clearance/v1/scene_query.proto",
        "clearance/v1/server_service.proto",
        "clearance/v1/session_robot.proto",
        "clearance/v1/session_service.proto",
        "clearance/v1/status.proto",
    ];
    /// Large fields of messages that come or go with every frame. Such a message is moved a dozen
    /// times on its way: what few frames have is in an allocation of its own, and so is what would
    /// otherwise be moved with what is around it.
    const LARGE: &[&str] = &[
        "Frame.budget",
        "Frame.report",
        "Frame.rule_changes",
        "Frame.rules",
        "FrameCost.along",
        "FrameCost.distances",
        "FrameCost.first_contacts",
        "FrameCost.others",
        "FrameCost.verdicts",
        "FrameReport.packed_pairs",
        "FrameReport.packed_ranking",
        "StreamSessionRequest.frame",
        "StreamSessionRequest.more_state",
        "StreamSessionRequest.start.open",
        "StreamSessionResponse.opened",
        "StreamSessionResponse.report",
        "StreamSessionResponse.state",
    ];
    println!("cargo:rerun-if-changed=proto");

    // With source information, so that the comments survive into the reflection service's answers.
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_source_info(true).include_imports(true).open_files(FILES)?;
    let output = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(output.join("clearance.bin"), compiler.encode_file_descriptor_set())?;
    let files = compiler.file_descriptor_set();
    std::fs::write(output.join("whole_messages.rs"), whole_messages(&files))?;
    let mut config = tonic_prost_build::Config::new();
    // The codec finds the descriptor of a message by its name.
    config.enable_type_names();
    // Lists of numbers that are read where they were received.
    for name in ["PackedPoses", "PackedRays", "PackedCasts"] {
        config.extern_path(format!(".clearance.v1.{name}"), format!("crate::packed::{name}"));
    }
    // What is moved with every frame and every report stays small.
    println!("cargo:rustc-env=CLEARANCE_BOXED={}", LARGE.join(" "));
    for field in LARGE {
        config.boxed(format!(".clearance.v1.{field}"));
    }
    tonic_prost_build::configure()
        .bytes(".clearance.v1")
        // Undecodable bytes are the client's fault, and the default codec calls them ours.
        .codec_path("crate::codec::Codec")
        .compile_fds_with_config(files, config)?;
    Ok(())
}

/// A line of source with all messages that calls ask or are answered with.
fn whole_messages(files: &FileDescriptorSet) -> String {
    let own = files.file.iter().filter(|file| file.package() == "clearance.v1");
    let methods = own.flat_map(|file| &file.service).flat_map(|service| &service.method);
    let both = methods.flat_map(|method| [method.input_type(), method.output_type()]);
    let names: BTreeSet<&str> = both.filter_map(|name| name.rsplit('.').next()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    format!("whole_messages! {{ {} }}\n", names.join(" "))
}
