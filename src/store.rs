//! Floor 4: `clearance store`: what is registered, as a file.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use clearance_runtime::archive::export::{self, ExportError};
use clearance_runtime::archive::{self, OpenError};

/// What is to be done with a store that no server has open.
#[derive(Clone, Debug, Args)]
pub(crate) struct StoreOptions {
    /// What to do.
    #[command(subcommand)]
    action: Action,
    /// The store, as `clearance serve --store` has it: a directory, or s3://BUCKET/PREFIX.
    #[arg(long, global = true, value_name = "STORE", default_value = "store")]
    store: PathBuf,
}

#[derive(Clone, Debug, Subcommand)]
enum Action {
    /// Writes all that is registered into a new file.
    Export {
        /// The file.
        file: PathBuf,
    },
    /// Reads what was exported; what is there already stays as it is.
    Import {
        /// The file.
        file: PathBuf,
    },
    /// Counts what each tenant has.
    List,
}

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file, or the store.
    #[error("{}: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        error: ExportError,
    },
    /// There is no store.
    #[error("{}: there is no store", .0.display())]
    None(PathBuf),
    /// Something of the operating system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Does it, and says what was done.
pub(crate) fn run(options: &StoreOptions, out: &mut dyn Write) -> Result<bool, StoreError> {
    let is_import = matches!(options.action, Action::Import { .. });
    // Whoever mistypes the directory does not get an empty export.
    if !is_import && !archive::may_be_there(&options.store) {
        return Err(StoreError::None(options.store.clone()));
    }
    let archive = archive::open(&options.store)?;
    match &options.action {
        Action::Export { file } => {
            let of = |error: ExportError| StoreError::File { file: file.clone(), error };
            let counts = written(file, |to| export::export(&*archive, to)).map_err(of)?;
            writeln!(out, "{} rows in {}", counts.rows, file.display())?;
        }
        Action::Import { file } => {
            let of = |error: ExportError| StoreError::File { file: file.clone(), error };
            let open = || File::open(file).map(|file| Box::new(file) as Box<dyn Read>);
            let counts = export::import(&*archive, open).map_err(of)?;
            let known = counts.known;
            writeln!(out, "{} rows, of which {known} were there already", counts.rows)?;
        }
        Action::List => {
            let of = |error: ExportError| StoreError::File { file: options.store.clone(), error };
            let contents = export::contents(&*archive).map_err(|error| of(error.into()))?;
            for (tenant, [bodies, aliases, robots]) in contents {
                let tenant = if tenant.is_empty() { "(everybody)" } else { &tenant };
                writeln!(out, "{tenant}: {bodies} bodies, {aliases} aliases, {robots} robots")?;
            }
        }
    }
    Ok(true)
}

/// Writes a new file, which is there as a whole or not at all.
fn written<R>(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<R, ExportError>,
) -> Result<R, ExportError> {
    let unfinished = file.with_added_extension("part");
    let mut to = BufWriter::new(File::create(&unfinished)?);
    let result = write(&mut to)?;
    to.into_inner().map_err(|error| error.into_error())?.sync_all()?;
    std::fs::rename(&unfinished, file)?;
    Ok(result)
}
