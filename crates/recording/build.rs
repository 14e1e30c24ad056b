//! Compiles the messages that other tools read; no protoc is needed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const FILES: &[&str] = &[
        "foxglove/FrameTransforms.proto",
        "foxglove/PointCloud.proto",
        "foxglove/SceneUpdate.proto",
    ];
    println!("cargo:rerun-if-changed=proto");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler.include_imports(true).open_files(FILES)?;
    let output = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(output.join("foxglove.bin"), compiler.encode_file_descriptor_set())?;
    let mut config = tonic_prost_build::Config::new();
    config.enable_type_names();
    config.compile_fds(compiler.file_descriptor_set())?;
    Ok(())
}
