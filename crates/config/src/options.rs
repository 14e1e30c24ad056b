//! Floor 4: where settings come from. A flag is stronger than the environment, the environment than
//! the file, the file than the default.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};
use figment::Figment;
use figment::error::Kind;
use figment::providers::{Format, Serialized, Toml};

use clearance_runtime::settings::{Limits, LogFormat, Settings};

/// What every environment variable begins with; then the name of the setting in capitals.
const PREFIX: &str = "CLEARANCE_";

/// What the value of a setting is called that is true or false.
const BOOL: &str = "BOOL";

/// A setting that is no limit: name and what it is, with its default.
const PLAIN: &[(&str, &str, &str)] = &[
    (
        "listen",
        "ADDRESS",
        "Address and port to listen on, or unix:PATH; port 0 takes a free one \
         [default: 127.0.0.1:50061]",
    ),
    (
        "compute_threads",
        "NUMBER",
        "Threads for geometry; 0: one less than there are processors [default: 0]",
    ),
    (
        "log",
        "FILTER",
        "Which log lines are written, for example info or clearance=debug [default: info]",
    ),
    ("log_format", "FORMAT", "text or json [default: text]"),
    (
        "open_sessions",
        BOOL,
        "Sessions opened without a key are open to everybody, also beyond the loopback interface \
         [default: false]",
    ),
    (
        "tls_cert",
        "FILE",
        "The server's certificate and those that lead to its authority, PEM; with tls_key TLS is \
         spoken [default: none]",
    ),
    ("tls_key", "FILE", "The private key of tls_cert, PEM [default: none]"),
    (
        "tls_client_ca",
        "FILE",
        "Authorities of which clients need a certificate, PEM [default: none]",
    ),
    (
        "api_keys",
        "FILE",
        "The keys of those who may call, as `clearance key` makes them [default: none]",
    ),
    (
        "jwt_jwks",
        "LIST",
        "The keys that an identity provider signs tokens with (JWKS): a file, or https://..., \
         where it is asked for them every minute (in a build with the feature s3); needs \
         jwt_issuer and jwt_audience [default: none]",
    ),
    ("jwt_issuer", "TEXT", "Who has to have issued a token (iss) [default: none]"),
    ("jwt_audience", "TEXT", "For whom a token has to have been issued (aud) [default: none]"),
    ("jwt_tenant_claim", "NAME", "The claim of a token that names its tenant [default: tenant]"),
    (
        "jwt_role_claim",
        "NAME",
        "The claim of a token that names its role; without it a token is for asking \
         [default: role]",
    ),
    (
        "insecure",
        BOOL,
        "Other machines may reach the server without TLS, or without being asked who they are \
         [default: false]",
    ),
    (
        "http",
        "ADDRESS",
        "Address and port of pages for operators (/livez, /readyz, /metrics) and of calls over \
         HTTP/1.1, gRPC-Web and Connect [default: none]",
    ),
    (
        "cors_origins",
        "LIST",
        "Origins of the pages that may call there, as https://example.com, with commas between; \
         * is all [default: none]",
    ),
    (
        "otlp_endpoint",
        "URL",
        "The collector that spans of calls are sent to by OTLP over gRPC, http://HOST:PORT; else \
         the one that OTEL_EXPORTER_OTLP_ENDPOINT names; needs the feature otlp [default: none]",
    ),
    (
        "advertise",
        "ADDRESS",
        "Where clients reach this very server, HOST:PORT or unix:PATH: sessions say that they live \
         there, for whoever watches them [default: none]",
    ),
    (
        "store",
        "STORE",
        "Where what is registered outlives the process: a directory, which is one server's, or \
         s3://BUCKET/PREFIX, which servers share (in a build with the feature s3) [default: none]",
    ),
    (
        "quotas",
        "FILE",
        "What each tenant may have, a line for each; needs api_keys or jwt_jwks [default: none]",
    ),
];

/// What stands above the limits that are usually set, and above the others, which `-h` leaves out.
const USUAL_HEADING: &str = "Limits";
const OTHERS_HEADING: &str = "Limits that hardly anybody has a reason to change";

/// The id of the flag that says to look at settings alone.
const CHECK: &str = "check_config";

/// Why there are no settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read, or has something in it that is no setting.
    #[error("{path}: {error}{hint}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        error: Box<figment::Error>,
        /// What may have been meant, or nothing.
        hint: String,
    },
    /// A flag or a variable has a value that cannot be used.
    #[error("{origin}: {problem}")]
    Value {
        /// `--flag` or variable.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub settings: Settings,
    /// The file that was read for them.
    pub file: Option<PathBuf>,
    /// Variables that begin as those of settings do, and are none.
    pub strangers: Vec<String>,
}

/// The flags of `clearance serve`.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// Settings are looked at and told, and nothing is served.
    pub checks_only: bool,
    file: Option<PathBuf>,
    given: Vec<(&'static str, String)>,
}

impl ServeOptions {
    /// The settings, from flags, these variables, the file and the defaults.
    pub fn settings(
        &self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Settings, ConfigError> {
        self.load(environment).map(|loaded| loaded.settings)
    }

    /// The settings, with where they come from. A variable whose name is nearly that of a setting
    /// is refused as misspelt. Other variables with the prefix may mean something else (Kubernetes
    /// sets `CLEARANCE_PORT` and more beside a service named clearance): they are listed as
    /// strangers.
    pub fn load(
        &self,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<Loaded, ConfigError> {
        self.load_from(environment.into_iter().collect())
    }

    fn load_from(&self, environment: Vec<(OsString, OsString)>) -> Result<Loaded, ConfigError> {
        let mut file = self.file.clone();
        let (mut from_environment, mut strangers) = (Vec::new(), Vec::new());
        for (key, value) in environment {
            let Some(name) = key.to_str().and_then(|key| key.strip_prefix(PREFIX)) else {
                continue;
            };
            if name == "CONFIG" {
                file = file.or_else(|| Some(value.into()));
            } else if let Some(name) = names().find(|known| known.eq_ignore_ascii_case(name)) {
                from_environment.push((name, value.to_string_lossy().into_owned()));
            } else if let Some(meant) = nearly(name) {
                let problem = format!("is no setting; {} is one", variable(meant));
                return Err(ConfigError::Value { origin: format!("{PREFIX}{name}"), problem });
            } else {
                strangers.push(format!("{PREFIX}{name}"));
            }
        }
        let mut settings = Settings::default();
        if let Some(path) = &file {
            let figment = Figment::from(Serialized::defaults(&settings));
            // A file that was asked for and is not there is an error, not a default.
            let read = figment.merge(Toml::file_exact(path)).extract();
            settings = read.map_err(|error| ConfigError::File {
                path: path.display().to_string(),
                hint: hint(&error),
                error: Box::new(error),
            })?;
        }
        for (name, value) in from_environment {
            set(&mut settings, name, &value, || variable(name))?;
        }
        for (name, value) in &self.given {
            set(&mut settings, name, value, || format!("--{}", name.replace('_', "-")))?;
        }
        Ok(Loaded { settings, file, strangers })
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    PLAIN.iter().map(|row| row.0).chain(Limits::TABLE.iter().map(|limit| limit.name))
}

/// The environment variable of a setting.
fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.to_ascii_uppercase())
}

/// The setting that whoever wrote `name` may have meant: of at most one wrong letter in three.
fn nearly(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let wrong = |known: &str| strsim::osa_distance(known, &name);
    let nearest = names().chain(["config"]).min_by_key(|known| wrong(known))?;
    (3 * wrong(nearest) <= nearest.len()).then_some(nearest)
}

/// What may have been meant by a key of a file that is none where it stands.
fn hint(error: &figment::Error) -> String {
    let Kind::UnknownField(name, _) = &error.kind else { return String::new() };
    let is_limit = Limits::TABLE.iter().any(|limit| limit.name == name);
    let is_plain = PLAIN.iter().any(|row| row.0 == name);
    match nearly(name).filter(|meant| *meant != "config") {
        _ if is_limit => format!("; {name} stands under [limits]"),
        _ if is_plain => format!("; {name} stands above [limits]"),
        Some(meant) => format!("; did you mean {meant}?"),
        None => String::new(),
    }
}

impl Loaded {
    /// A line for each setting that is not the default, as in a configuration file.
    pub fn differing(&self) -> Vec<String> {
        let (here, default) = (&self.settings, Settings::default());
        let plain = PLAIN.iter().zip(plain_values(here).into_iter().zip(plain_values(&default)));
        let plain = plain.filter(|(_, (value, usual))| value != usual);
        let mut lines: Vec<_> =
            plain.map(|(row, (value, _))| format!("{} = {value}", row.0)).collect();
        let limits = here.limits.rows().into_iter().zip(default.limits.rows());
        let mut limits = limits.filter(|(limit, usual)| limit.value != usual.value).peekable();
        if limits.peek().is_some() {
            lines.push("[limits]".to_owned());
        }
        lines.extend(limits.map(|(limit, _)| format!("{} = {}", limit.name, limit.value)));
        lines
    }
}

/// The values of [`PLAIN`], as a file says them.
fn plain_values(settings: &Settings) -> [String; PLAIN.len()] {
    let log_format = match settings.log_format {
        LogFormat::Text => "text",
        LogFormat::Json => "json",
    };
    let path = |path: &Option<PathBuf>| {
        format!("{:?}", path.as_ref().map_or_else(String::new, |path| path.display().to_string()))
    };
    [
        format!("{:?}", settings.listen),
        settings.compute_threads.to_string(),
        format!("{:?}", settings.log),
        format!("{log_format:?}"),
        settings.open_sessions.to_string(),
        path(&settings.tls_cert),
        path(&settings.tls_key),
        path(&settings.tls_client_ca),
        path(&settings.api_keys),
        path(&settings.jwt_jwks),
        format!("{:?}", settings.jwt_issuer),
        format!("{:?}", settings.jwt_audience),
        format!("{:?}", settings.jwt_tenant_claim),
        format!("{:?}", settings.jwt_role_claim),
        settings.insecure.to_string(),
        format!("{:?}", settings.http),
        format!("{:?}", settings.cors_origins),
        format!("{:?}", settings.otlp_endpoint),
        format!("{:?}", settings.advertise),
        path(&settings.store),
        path(&settings.quotas),
    ]
}

fn set(
    settings: &mut Settings,
    name: &str,
    value: &str,
    origin: impl Fn() -> String,
) -> Result<(), ConfigError> {
    let bad = |problem: &str| ConfigError::Value { origin: origin(), problem: problem.to_owned() };
    match name {
        "listen" => settings.listen = value.to_owned(),
        "http" => settings.http = value.to_owned(),
        "cors_origins" => settings.cors_origins = value.to_owned(),
        "otlp_endpoint" => settings.otlp_endpoint = value.to_owned(),
        "advertise" => settings.advertise = value.to_owned(),
        "quotas" => settings.quotas = file_named(value),
        "store" => settings.store = file_named(value),
        "log" => settings.log = value.to_owned(),
        "log_format" => {
            settings.log_format = match value {
                "text" => LogFormat::Text,
                "json" => LogFormat::Json,
                _ => return Err(bad("must be text or json")),
            }
        }
        "open_sessions" => settings.open_sessions = is_true(value).ok_or_else(|| bad(NO_BOOL))?,
        "insecure" => settings.insecure = is_true(value).ok_or_else(|| bad(NO_BOOL))?,
        "tls_cert" => settings.tls_cert = file_named(value),
        "tls_key" => settings.tls_key = file_named(value),
        "tls_client_ca" => settings.tls_client_ca = file_named(value),
        "api_keys" => settings.api_keys = file_named(value),
        "jwt_jwks" => settings.jwt_jwks = file_named(value),
        "jwt_issuer" => settings.jwt_issuer = value.to_owned(),
        "jwt_audience" => settings.jwt_audience = value.to_owned(),
        "jwt_tenant_claim" => settings.jwt_tenant_claim = value.to_owned(),
        "jwt_role_claim" => settings.jwt_role_claim = value.to_owned(),
        "compute_threads" => {
            settings.compute_threads =
                value.parse().map_err(|_| bad("must be a whole number, at least 0"))?;
        }
        limit => {
            let value = value.parse().map_err(|_| bad("must be a whole number, at least 0"))?;
            if !settings.limits.set(limit, value) {
                return Err(bad("is no setting"));
            }
        }
    }
    Ok(())
}

const NO_BOOL: &str = "must be true or false";

fn is_true(value: &str) -> Option<bool> {
    value.parse().ok()
}

/// The file that a setting names; an empty name is none, so that a variable can take back what the
/// configuration file says.
fn file_named(value: &str) -> Option<PathBuf> {
    Some(PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty())
}

impl Args for ServeOptions {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Configuration file (TOML) [env: CLEARANCE_CONFIG]");
        let checks = Arg::new(CHECK)
            .long("check-config")
            .action(ArgAction::SetTrue)
            .help("Say whether the settings can be used and which are not the defaults, and end");
        let mut command = command.arg(config).arg(checks);
        for (name, value, help) in PLAIN {
            let mut arg = flag(name, value).help(*help);
            if *value == BOOL {
                // The flag alone says yes.
                arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
            }
            command = command.arg(arg);
        }
        for (usual, heading) in [(true, USUAL_HEADING), (false, OTHERS_HEADING)] {
            for limit in Limits::listed(usual) {
                let help = format!(
                    "{} [{}, default: {}; beyond it: {}]",
                    limit.description.trim(),
                    limit.unit,
                    limit.value,
                    limit.breach.name(),
                );
                let arg = flag(limit.name, "NUMBER").help(help).help_heading(heading);
                command = command.arg(arg.hide_short_help(!usual));
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(name: &'static str, value: &'static str) -> Arg {
    // The id is the name with underscores; clap wants the flag's own text to live as long as the
    // program, and it does: there are a few dozen of them, made once.
    let long: &'static str = Box::leak(name.replace('_', "-").into_boxed_str());
    Arg::new(name).long(long).value_name(value)
}

impl FromArgMatches for ServeOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |name: &'static str| Some((name, matches.get_one::<String>(name)?.clone()));
        Ok(Self {
            checks_only: matches.get_flag(CHECK),
            file: matches.get_one::<PathBuf>("config").cloned(),
            given: names().filter_map(given).collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod listed;

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn options(arguments: &[&str]) -> ServeOptions {
        let command = ServeOptions::augment_args(Command::new("serve"));
        let matches = command.try_get_matches_from([&["serve"], arguments].concat()).unwrap();
        ServeOptions::from_arg_matches(&matches).unwrap()
    }

    pub(super) fn file(name: &str, text: &str) -> String {
        let path = std::env::temp_dir().join(format!("clearance-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn environment(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(key, value)| (key.into(), value.into())).collect()
    }

    #[test]
    fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
        let path = file(
            "order.toml",
            "listen = \"[::1]:1\"\n[limits]\njobs_max = 1\nsessions_max = 1\nuploads_max = 1\n",
        );
        let variables = environment(&[
            ("CLEARANCE_JOBS_MAX", "2"),
            ("CLEARANCE_SESSIONS_MAX", "2"),
            ("CLEARANCE_UNRELATED", "2"),
            ("PATH", "2"),
        ]);
        let options = options(&["--config", &path, "--jobs-max", "3"]);
        let Settings { listen, limits, .. } = options.settings(variables).unwrap();
        assert_eq!((limits.jobs_max, limits.sessions_max, limits.uploads_max), (3, 2, 1));
        assert_eq!(limits.batch_items_max, Limits::default().batch_items_max);
        assert_eq!(listen, "[::1]:1");
    }

    /// They were passed over, and the server ran with a limit that nobody had meant.
    #[test]
    fn misspelt_variables_are_refused_and_those_of_others_are_not() {
        let load = |name: &str| options(&[]).load(environment(&[(name, "7")]));
        for (misspelt, meant) in [
            ("CLEARANCE_JOBS_MAXX", "CLEARANCE_JOBS_MAX"),
            ("CLEARANCE_SESSION_MAX", "CLEARANCE_SESSIONS_MAX"),
            ("CLEARANCE_message_byte_max", "CLEARANCE_MESSAGE_BYTES_MAX"),
            ("CLEARANCE_LSITEN", "CLEARANCE_LISTEN"),
            ("CLEARANCE_LOGS", "CLEARANCE_LOG"),
            ("CLEARANCE_CONFG", "CLEARANCE_CONFIG"),
        ] {
            let expected = format!("{misspelt}: is no setting; {meant} is one");
            assert_eq!(load(misspelt).unwrap_err().to_string(), expected);
        }
        for other in [
            "CLEARANCE_SERVICE_HOST",
            "CLEARANCE_SERVICE_PORT",
            "CLEARANCE_SERVICE_PORT_GRPC",
            "CLEARANCE_PORT",
            "CLEARANCE_PORT_50061_TCP",
            "CLEARANCE_PORT_50061_TCP_PROTO",
            "CLEARANCE_PORT_50061_TCP_PORT",
            "CLEARANCE_PORT_50061_TCP_ADDR",
            "CLEARANCE_CI_VENV",
            "CLEARANCE_",
        ] {
            let loaded = load(other).unwrap();
            assert_eq!(loaded.settings, Settings::default());
            assert_eq!(loaded.strangers, [other]);
        }
    }

    #[test]
    fn a_flag_of_a_yes_or_no_may_stand_alone() {
        let check = |arguments: &[&str], expected: bool| {
            let settings = options(arguments).settings([]).unwrap();
            assert_eq!(settings.open_sessions, expected, "{arguments:?}");
        };
        check(&[], false);
        check(&["--open-sessions"], true);
        check(&["--open-sessions", "--jobs-max", "3"], true);
        check(&["--open-sessions=false"], false);
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let check = |arguments: &[&str], variables: &[(&str, &str)], words: &str| {
            let error = options(arguments).settings(environment(variables)).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        };
        check(&["--jobs-max", "many"], &[], "--jobs-max: must be a whole number");
        check(
            &[],
            &[("CLEARANCE_LOG_FORMAT", "xml")],
            "CLEARANCE_LOG_FORMAT: must be text or json",
        );
        check(&["--config", "/no/such/file.toml"], &[], "/no/such/file.toml");
        let typo = file("typo.toml", "[limits]\njobs_maxx = 1\n");
        check(&["--config", &typo], &[], "jobs_maxx");
        check(&["--config", &typo], &[], "did you mean jobs_max?");
        let typo = file("typo-above.toml", "lisen = \"[::1]:1\"\n");
        check(&["--config", &typo], &[], "did you mean listen?");
        let misplaced = file("misplaced.toml", "jobs_max = 1\n");
        check(&["--config", &misplaced], &[], "jobs_max stands under [limits]");
        let misplaced = file("misplaced-below.toml", "[limits]\nlog = \"warn\"\n");
        check(&["--config", &misplaced], &[], "log stands above [limits]");
    }

    /// Every setting is told when it is not the default, and what is told is a file that sets it.
    #[test]
    fn what_differs_from_the_defaults_is_told_as_a_file_would_say_it() {
        assert_eq!(options(&[]).load([]).unwrap().differing(), [""; 0]);
        let names: Vec<_> = names().collect();
        let value = |name: &str| match name {
            "listen" => "[::1]:7",
            "log" => "warn",
            "log_format" => "json",
            "open_sessions" | "insecure" => "true",
            _ => "7",
        };
        let flags =
            names.iter().map(|name| format!("--{}={}", name.replace('_', "-"), value(name)));
        let flags: Vec<_> = flags.collect();
        let flags: Vec<_> = flags.iter().map(String::as_str).collect();
        let loaded = options(&flags).load([]).unwrap();
        let text = loaded.differing().join("\n");
        let defaults = Limits::TABLE.iter().filter(|limit| limit.value == 7).count();
        assert_eq!(text.lines().count(), names.len() + 1 - defaults);
        let path = file("differing.toml", &text);
        assert_eq!(options(&["--config", &path]).settings([]).unwrap(), loaded.settings);
    }
}
