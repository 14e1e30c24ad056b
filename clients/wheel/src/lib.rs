//! The engine and a client of its servers as a module of Python, `clearance._engine`: calls as
//! bytes, and fast ways for lists of numbers. What people call is written in Python, beside it.
//!
//! Whatever waits does so without Python's lock, and looks every tenth of a second whether a signal
//! has come. Threads are started by the first call of each process: a process that was forked has
//! none of its parent's, and starts its own.

mod columns;
mod engine;
mod failed;
mod per_process;
mod robots;
mod session;
mod streams;
mod watch;
mod way;

use clap::Parser;
use pyo3::exceptions::{PyRuntimeError, PySystemExit};
use pyo3::prelude::*;

/// What `clearance serve` takes.
#[derive(Parser)]
#[command(name = "clearance serve", version)]
struct Serve {
    #[command(flatten)]
    options: clearance_config::options::ServeOptions,
}

/// Runs a server until it is told to stop, with the words that follow `clearance serve`.
#[pyfunction]
fn serve(py: Python<'_>, words: Vec<String>) -> PyResult<()> {
    let program = "clearance serve".to_owned();
    let read = Serve::try_parse_from(std::iter::once(program).chain(words));
    let options = match read {
        Ok(Serve { options }) => options,
        Err(told) => {
            // Help goes to the standard output, complaints to the standard error.
            let _ = told.print();
            return Err(PySystemExit::new_err(told.exit_code()));
        }
    };
    py.detach(|| clearance::serve::run(&options))
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Variables that the environment lacks for an allocator that gives memory back: whoever serves
/// starts itself once more with them.
#[pyfunction]
fn allocator_settings() -> Vec<(&'static str, String)> {
    clearance::allocator::missing_settings()
}

/// The descriptors of all messages and services, a `google.protobuf.FileDescriptorSet`.
#[pyfunction]
fn descriptors() -> &'static [u8] {
    clearance_proto::FILE_DESCRIPTOR_SET
}

/// The page that shows sessions and recordings, as HTML in gzip.
#[pyfunction]
fn page() -> &'static [u8] {
    clearance::rpc::pages::VIEWER
}

/// A process that was forked begins here, before it calls anything.
#[pyfunction]
fn forked() {
    per_process::forked();
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<streams::Stream>()?;
    module.add_class::<watch::SessionNews>()?;
    module.add_function(wrap_pyfunction!(serve, module)?)?;
    module.add_function(wrap_pyfunction!(allocator_settings, module)?)?;
    module.add_function(wrap_pyfunction!(descriptors, module)?)?;
    module.add_function(wrap_pyfunction!(page, module)?)?;
    module.add_function(wrap_pyfunction!(forked, module)?)
}
