//! Floor 4: `clearance key`: a new API key, and its line for the file of keys.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use clearance_runtime::access::{Role, new_key_line};

/// For whom the key is.
#[derive(Clone, Debug, Args)]
pub(crate) struct KeyOptions {
    /// What the key is called in the log; no two of a file have the same.
    #[arg(long)]
    name: String,
    /// Whose calls are made with it: tenants see nothing of each other.
    #[arg(long)]
    tenant: String,
    /// What may be done with it.
    #[arg(long)]
    role: RoleOption,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RoleOption {
    /// Ask, and read.
    Query,
    /// Also register, delete, and move the bodies of sessions.
    Write,
    /// Also see what the server as a whole does.
    Admin,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    /// A name cannot be used, or there is no entropy.
    #[error("{0}")]
    Unusable(String),
    /// It cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes the key, which is nowhere else, and below it the line that grants it.
pub(crate) fn run(options: &KeyOptions, out: &mut dyn Write) -> Result<bool, KeyError> {
    let role = match options.role {
        RoleOption::Query => Role::Query,
        RoleOption::Write => Role::Write,
        RoleOption::Admin => Role::Admin,
    };
    let made = new_key_line(&options.name, &options.tenant, role);
    let (key, line) = made.map_err(KeyError::Unusable)?;
    writeln!(out, "{key}\n{line}")?;
    Ok(true)
}
