//! Every setting and every limit, in one place. Where their values come from (flags, environment,
//! file) is floor 4's business.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

/// What a call gets that goes beyond a limit; named as in gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// The request itself is too large; sending it again will not help.
    InvalidArgument,
    /// The server is full; later there may be room.
    ResourceExhausted,
    /// The value is cut to the limit, and the reply says so.
    Cut,
    /// The call took too long.
    DeadlineExceeded,
    /// The connection has to wait, or is closed.
    Unavailable,
}

impl Breach {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::Cut => "OK",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::Unavailable => "UNAVAILABLE",
        }
    }
}

/// A limit and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name in the file; the flag has dashes, the environment variable capitals.
    pub name: &'static str,
    /// Its value; in [`Limits::TABLE`] the default.
    pub value: u64,
    /// What the value counts.
    pub unit: &'static str,
    /// What a call gets that goes beyond it.
    pub breach: Breach,
    /// What it limits.
    pub description: &'static str,
}

impl Limit {
    /// What is at `field` of a request is more than this.
    pub fn exceeded_at(self, field: &(impl fmt::Display + ?Sized)) -> Exceeded {
        Exceeded { field: field.to_string(), limit: self }
    }

    /// The server as a whole is at this limit; no field of the request is to blame.
    pub fn reached(self) -> Exceeded {
        Exceeded { field: String::new(), limit: self }
    }
}

/// Something is more than a limit allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}more than the limit {} = {} of this server", prefix(field), limit.name, limit.value)]
pub struct Exceeded {
    /// The field that is too large; empty when the server as a whole is full.
    pub field: String,
    /// The limit.
    pub limit: Limit,
}

/// How words about a field begin; about the whole request they begin at once.
fn prefix(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!("{field}: ") }
}

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:expr, $unit:literal, $breach:ident;)+) => {
        /// Every limit; see [`Limits::TABLE`] for units and for what their breach means.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// Every limit with its default.
            pub const TABLE: &'static [Limit] = &[$(Limit {
                name: stringify!($name),
                value: $default,
                unit: $unit,
                breach: Breach::$breach,
                description: concat!($($doc),+),
            },)+];

            /// Every limit with its value here.
            pub fn rows(&self) -> Vec<Limit> {
                vec![$(self.$name(),)+]
            }

            $(
                #[doc = concat!("The row of `", stringify!($name), "` with its value here.")]
                pub fn $name(&self) -> Limit {
                    Limit {
                        name: stringify!($name),
                        value: self.$name,
                        unit: $unit,
                        breach: Breach::$breach,
                        description: concat!($($doc),+),
                    }
                }
            )+

            /// Sets one limit by name; false: there is none of this name.
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name {
                    $(stringify!($name) => self.$name = value,)+
                    _ => return false,
                }
                true
            }
        }
    };
}

impl Limits {
    /// The few that depend on the machine, on what clients do and on who runs the server. The
    /// others protect the process and its clients from each other; hardly anybody has a reason to
    /// change one.
    pub const USUAL: &'static [&'static str] = &[
        "memory_bytes_max",
        "connections_max",
        "message_bytes_max",
        "call_seconds_max",
        "drain_delay_seconds",
        "drain_seconds_max",
        "reconnect_seconds",
        "logged_calls_per_second",
        "logged_failures_per_second",
        "slow_frame_micros",
        "jobs_max",
        "polytopes_max",
        "polytope_bytes_max",
        "robots_max",
        "robot_bytes_max",
        "kept_cell_bytes_max",
        "store_bytes_max",
        "sessions_max",
        "session_bytes_max",
        "session_idle_seconds_default",
        "session_idle_seconds_max",
    ];

    /// The default of each of those that are usually set, or of each of the others.
    pub fn listed(usual: bool) -> impl Iterator<Item = &'static Limit> {
        Self::TABLE.iter().filter(move |limit| Self::USUAL.contains(&limit.name) == usual)
    }

    /// How old connections and streams get before they are asked to be made anew, if they are.
    pub fn age_max(&self) -> Option<Duration> {
        Some(Duration::from_secs(self.reconnect_seconds)).filter(|age| !age.is_zero())
    }
}

const MIB: u64 = 1 << 20;

limits! {
    /// Vertices or points of a polytope that is given inside a question.
    inline_points_max = 20_000, "points", InvalidArgument;
    /// Questions in one batch.
    batch_items_max = 1_000, "items", InvalidArgument;
    /// Bytes of the answers in one batch; the answers that would make it more are refused in their
    /// places.
    batch_reply_bytes_max = 32 * MIB, "bytes", ResourceExhausted;
    /// Bodies among which the first collision is looked for.
    collision_bodies_max = 1_000, "bodies", InvalidArgument;
    /// Their vertices together, each body's for itself.
    collision_vertices_max = 2_000_000, "vertices", InvalidArgument;
    /// Bytes of one message received.
    message_bytes_max = 4 * MIB, "bytes", ResourceExhausted;
    /// Memory of the process that is given out, by one budget: to connections and calls, messages,
    /// replies, uploads, polytopes, sessions and questions in work. 0: half of what the machine,
    /// its control groups and the limit of the address space allow. More than half of what the last
    /// two allow is cut to that, with a line in the log.
    memory_bytes_max = 0, "bytes", ResourceExhausted;
    /// From the first byte of a message until it has to be there as a whole.
    message_seconds_max = 60, "seconds", DeadlineExceeded;
    /// Memory that one message may take when it is decoded, estimated before it is.
    decoded_bytes_max = 48 * MIB, "bytes", ResourceExhausted;
    /// Entries of one list in a certificate.
    certificate_entries_max = 500_000, "entries", InvalidArgument;
    /// Connections open at a time; fewer where the process may not have as many file descriptors
    /// and 64 for other things.
    connections_max = 1_024, "connections", Unavailable;
    /// Connections of the side port (`http`) open at a time; each has one call.
    http_connections_max = 256, "connections", Unavailable;
    /// Until a new connection has begun to speak HTTP/2; then it gives its place to another.
    handshake_seconds_max = 10, "seconds", Unavailable;
    /// Calls and streams open at a time on one connection.
    streams_per_connection_max = 256, "streams", Unavailable;
    /// Bytes of the headers of one call.
    header_bytes_max = 16 << 10, "bytes", ResourceExhausted;
    /// Bytes of replies above 64 KiB that are not sent yet, of all calls together: clients may be
    /// slow to read.
    unsent_bytes_max = 256 * MIB, "bytes", ResourceExhausted;
    /// Duration of a unary call, an upload or the answer to a frame of a stream, whatever the
    /// client's own deadline.
    call_seconds_max = 300, "seconds", DeadlineExceeded;
    /// Between two keep-alive pings to a silent client; 0: none.
    keepalive_seconds = 30, "seconds", Unavailable;
    /// Until a client that does not answer a keep-alive ping is disconnected.
    keepalive_timeout_seconds = 20, "seconds", Unavailable;
    /// Between the drain and the end of whatever is still running.
    drain_seconds_max = 10, "seconds", Unavailable;
    /// Between the signal to stop and the drain: clients and balancers are told that the server is
    /// about to stop, and it takes what it took before, until they have gone elsewhere.
    drain_delay_seconds = 0, "seconds", Unavailable;
    /// After so long, give or take a tenth, connections are told to leave (GOAWAY) and streams of
    /// sessions that they may connect anew, so that servers that came later get their share; 0:
    /// never.
    reconnect_seconds = 0, "seconds", Unavailable;
    /// Lines of the log in a second about calls of one method that succeed; the next one says how
    /// many were left out. 0: none.
    logged_calls_per_second = 1, "lines", Cut;
    /// The same of calls that fail, but for faults of the server, of which each has its line.
    logged_failures_per_second = 100, "lines", Cut;
    /// Frames of streams that take longer have spans of their own, where spans are collected
    /// (`otlp_endpoint`).
    slow_frame_micros = 10_000, "microseconds", Cut;
    /// Jobs running or waiting in the compute pool.
    jobs_max = 256, "jobs", ResourceExhausted;
    /// Polytopes and polyhedra registered at a time.
    polytopes_max = 100_000, "polytopes", ResourceExhausted;
    /// Memory of all registered polytopes and polyhedra, estimated.
    polytope_bytes_max = 4_096 * MIB, "bytes", ResourceExhausted;
    /// Points given for one polytope.
    points_max = 2_000_000, "points", InvalidArgument;
    /// Triangles of one mesh.
    triangles_max = 4_000_000, "triangles", InvalidArgument;
    /// Convex pieces of one mesh.
    mesh_pieces_max = 256, "pieces", InvalidArgument;
    /// Heights of one height field.
    heights_max = 16_000_000, "heights", InvalidArgument;
    /// Pairs of boxes looked at when a polyhedron is checked for triangles that intersect, beside
    /// those for each triangle: long slivers side by side, as around a tilted cylinder, make pairs
    /// by the square. About four seconds.
    polyhedron_steps_max = 20_000_000, "steps", InvalidArgument;
    /// Pairs of boxes that are looked at beside these for each triangle of the polyhedron; surfaces
    /// of compact triangles need fifty.
    polyhedron_steps_per_triangle = 100, "steps", InvalidArgument;
    /// Steps and links of the proof that polyhedra do not meet; sixteen triangles in an order that
    /// it lists count as one. An answer whose proof would be longer goes without, and says so.
    cover_steps_max = 16_384, "steps", Cut;
    /// Polytopes in one registration.
    registration_items_max = 1_000, "items", InvalidArgument;
    /// Bytes of one upload.
    upload_bytes_max = 256 * MIB, "bytes", InvalidArgument;
    /// Robots that are registered at a time.
    robots_max = 1_000, "robots", ResourceExhausted;
    /// Memory of all robots, estimated.
    robot_bytes_max = 512 * MIB, "bytes", ResourceExhausted;
    /// Keys with which clients of one address claim one robot.
    keys_per_robot_max = 16, "keys", InvalidArgument;
    /// Nodes of the XML of a robot: elements, texts and comments.
    robot_xml_nodes_max = 200_000, "nodes", InvalidArgument;
    /// Links of a robot.
    robot_links_max = 1_000, "links", InvalidArgument;
    /// Collision elements of a robot, and mesh files of its registration.
    robot_parts_max = 2_000, "parts", InvalidArgument;
    /// Joints between the base of a robot and a link.
    robot_depth_max = 100, "joints", InvalidArgument;
    /// Robots of one cell.
    robots_per_cell_max = 16, "robots", InvalidArgument;
    /// What stands still in one cell.
    obstacles_per_cell_max = 20_000, "bodies", InvalidArgument;
    /// Pairs that one cell leaves out.
    rules_per_cell_max = 50_000, "entries", InvalidArgument;
    /// Bodies that the robots of one cell carry.
    attached_per_cell_max = 1_000, "bodies", InvalidArgument;
    /// Points of all clouds of one cell.
    cloud_points_max = 2_000_000, "points", InvalidArgument;
    /// Changes of clouds in one message.
    cloud_changes_max = 1_000, "changes", InvalidArgument;
    /// Cells that stay built between calls, those asked for last; and so many of each session, by
    /// the robots that are asked about.
    kept_cells_max = 16, "cells", Cut;
    /// Memory of all cells that stay built, estimated; one of more than half of it does not.
    kept_cell_bytes_max = 64 * MIB, "bytes", Cut;
    /// A cell that nobody has asked for in so long does not stay built; one of a session makes way
    /// for another then.
    kept_cell_seconds_max = 60, "seconds", Cut;
    /// Configurations of one message.
    configurations_max = 200_000, "configurations", InvalidArgument;
    /// Entries that the answer about the configurations of one message may have: four of each
    /// contact or clearance that is possible, and the numbers of gradients.
    configuration_entries_max = 20_000_000, "entries", InvalidArgument;
    /// Pairs below a distance that are listed of one configuration.
    pairs_per_configuration_max = 10_000, "entries", InvalidArgument;
    /// Edges of one message.
    edges_max = 50_000, "edges", InvalidArgument;
    /// Edges of one message that asks for certificates.
    certified_edges_max = 1_000, "edges", InvalidArgument;
    /// Steps of the search for one edge; one that needs more is undecided from there on.
    edge_steps_max = 100_000, "steps", Cut;
    /// Bytes of everything in the store (`store`), with what was deleted within a day.
    store_bytes_max = 16_384 * MIB, "bytes", ResourceExhausted;
    /// Uploads at a time.
    uploads_max = 8, "uploads", ResourceExhausted;
    /// Aliases of all polytopes, and keys of robots.
    aliases_max = 100_000, "aliases", ResourceExhausted;
    /// Aliases that clients of one address give to one polytope.
    aliases_per_polytope_max = 16, "aliases", InvalidArgument;
    /// Ids in one search for missing polytopes.
    find_missing_ids_max = 10_000, "ids", InvalidArgument;
    /// Entries of a page when the request does not say.
    page_size_default = 100, "entries", Cut;
    /// Entries of a page.
    page_size_max = 1_000, "entries", Cut;
    /// Sessions open at a time.
    sessions_max = 1_000, "sessions", ResourceExhausted;
    /// Bodies of one session.
    bodies_per_session_max = 200_000, "bodies", InvalidArgument;
    /// Bodies that one message declares, moves one by one, or calls by their names; more come in
    /// several messages, or packed.
    bodies_per_message_max = 20_000, "bodies", InvalidArgument;
    /// Parts of one body.
    parts_per_body_max = 256, "parts", InvalidArgument;
    /// Parts of all bodies of one session.
    parts_per_session_max = 400_000, "parts", InvalidArgument;
    /// Robots of one session.
    robots_per_session_max = 100, "robots", InvalidArgument;
    /// Pairs of bodies that one frame looks at: all that are checked where all are listed, else
    /// those that boxes do not prove separated.
    pairs_per_frame_max = 500_000, "pairs", ResourceExhausted;
    /// Pairs that one report lists; it says how many are left out.
    pairs_per_report_max = 50_000, "pairs", Cut;
    /// Groups of one body, and entries of each list of pair rules.
    rules_per_session_max = 200_000, "entries", InvalidArgument;
    /// Classes of bodies that the groups in the pair rules of one session distinguish; memory grows
    /// by the square.
    classes_per_session_max = 4_096, "classes", InvalidArgument;
    /// Memory of all sessions, estimated. Beyond it witnesses are forgotten, no session is opened,
    /// and frames with new bodies or rules are refused.
    session_bytes_max = 2_048 * MIB, "bytes", ResourceExhausted;
    /// Keys that one ListSessions brings.
    session_keys_max = 100, "keys", InvalidArgument;
    /// Past frames that one session keeps.
    history_frames_max = 1_024, "frames", InvalidArgument;
    /// Bytes of the past frames of one session, and of those that were asked about lately: the
    /// oldest are given up.
    history_bytes_max = 64 * MIB, "bytes", Cut;
    /// Questions of one QueryScene, packed ones not counted, and polytopes of packed casts.
    scene_queries_max = 1_000, "questions", InvalidArgument;
    /// Packed rays of one QueryScene, and packed casts.
    packed_rays_max = 100_000, "rays", InvalidArgument;
    /// Hits listed for one question of QueryScene; the answer says how many are left out.
    scene_hits_max = 1_000, "hits", Cut;
    /// Bytes of all hits in one reply of QueryScene; it says how many hits are left out.
    scene_reply_bytes_max = 4_000_000, "bytes", Cut;
    /// Frames in one StepSession.
    frames_per_step_max = 1_000, "frames", InvalidArgument;
    /// Calls of StepSession, QueryScene and GetSession that have their turn or wait for it, for one
    /// session: what they bring is in memory until then.
    session_calls_max = 4, "calls", ResourceExhausted;
    /// Refused items that one report lists; it says how many are left out.
    refused_items_max = 1_000, "items", Cut;
    /// Bytes of the reports in one reply of StepSession, whatever the client says that it takes;
    /// the frames that are left are refused in their places.
    step_reply_bytes_max = 16 * MIB, "bytes", ResourceExhausted;
    /// Bytes of a report, a reply of StepSession, a state or a message for watchers when the client
    /// does not say: below the 4 MiB that gRPC clients take unless they are told otherwise.
    reply_bytes_default = 4_000_000, "bytes", Cut;
    /// Bytes of these, whatever the client says that it takes.
    reply_bytes_max = 64 * MIB, "bytes", Cut;
    /// Waiting frames of one stream that are merged into one answer, where the client allows it.
    merged_frames_max = 64, "frames", Cut;
    /// Answers of StreamConfigurations or StreamEdges that wait for a slow client; then its stream
    /// is not read.
    waiting_reports_max = 4, "reports", Cut;
    /// Clients that watch one session.
    watchers_per_session_max = 64, "watchers", ResourceExhausted;
    /// Frames of one session that wait for a slow watcher; one that is further behind loses them
    /// and gets the state anew.
    watch_frames_max = 16, "frames", Cut;
    /// A session is closed after so long without a call, when its client does not say.
    session_idle_seconds_default = 300, "seconds", Cut;
    /// A session is closed after so long without a call, whatever its client says.
    session_idle_seconds_max = 86_400, "seconds", Cut;
}

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Address and port to listen on.
    pub listen: String,
    /// Threads of the compute pool; 0: one less than there are processors, at least one.
    pub compute_threads: usize,
    /// Which log lines are written: `info`, `clearance=debug,warn`, ...
    pub log: String,
    /// How log lines look.
    pub log_format: LogFormat,
    /// Whether sessions that are opened without a key are open to everybody, whatever the address.
    /// On the loopback interface they always are.
    pub open_sessions: bool,
    /// The server's certificate and those that lead to its authority, PEM; none: TLS is not spoken.
    #[serde(deserialize_with = "file_or_none")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate, PEM.
    #[serde(deserialize_with = "file_or_none")]
    pub tls_key: Option<PathBuf>,
    /// Authorities of which clients need a certificate, PEM; none: clients need none.
    #[serde(deserialize_with = "file_or_none")]
    pub tls_client_ca: Option<PathBuf>,
    /// The keys of those who may call (`access`); none: everybody may.
    #[serde(deserialize_with = "file_or_none")]
    pub api_keys: Option<PathBuf>,
    /// The keys that an identity provider signs tokens with (JWKS), a file or an address; none: no
    /// tokens are taken.
    #[serde(deserialize_with = "file_or_none")]
    pub jwt_jwks: Option<PathBuf>,
    /// Who has to have issued a token (`iss`).
    pub jwt_issuer: String,
    /// For whom a token has to have been issued (`aud`).
    pub jwt_audience: String,
    /// The claim of a token that names the tenant.
    pub jwt_tenant_claim: String,
    /// The claim of a token that names the role.
    pub jwt_role_claim: String,
    /// Whether the server may be reached from other machines without TLS, or without asking who
    /// calls.
    pub insecure: bool,
    /// Address and port of pages for operators, and of calls over HTTP/1.1; empty: there are none.
    pub http: String,
    /// Origins of the pages that may call there, with commas between; `*`: all.
    pub cors_origins: String,
    /// The collector that spans of calls are sent to by OTLP; empty: the one that the environment
    /// names, or none.
    pub otlp_endpoint: String,
    /// Where clients reach this very server, as sessions are told to live there; empty: it is not
    /// said.
    pub advertise: String,
    /// The directory of what is registered; none: it goes with the process.
    #[serde(deserialize_with = "file_or_none")]
    pub store: Option<PathBuf>,
    /// What each tenant may have (`quotas`); none: nobody is held to anything.
    #[serde(deserialize_with = "file_or_none")]
    pub quotas: Option<PathBuf>,
    /// The limits.
    pub limits: Limits,
}

/// A file's name; an empty one is none, so that every setting has a value to be written as.
fn file_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let name: Option<PathBuf> = Deserialize::deserialize(deserializer)?;
    Ok(name.filter(|name| !name.as_os_str().is_empty()))
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:50061".to_owned(),
            compute_threads: 0,
            log: "info".to_owned(),
            log_format: LogFormat::Text,
            open_sessions: false,
            tls_cert: None,
            tls_key: None,
            tls_client_ca: None,
            api_keys: None,
            jwt_jwks: None,
            jwt_issuer: String::new(),
            jwt_audience: String::new(),
            jwt_tenant_claim: "tenant".to_owned(),
            jwt_role_claim: "role".to_owned(),
            insecure: false,
            http: String::new(),
            cors_origins: String::new(),
            otlp_endpoint: String::new(),
            advertise: String::new(),
            store: None,
            quotas: None,
            limits: Limits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_can_be_set_by_its_name_and_is_shown() {
        let mut limits = Limits::default();
        for (index, row) in Limits::TABLE.iter().enumerate() {
            assert!(limits.set(row.name, index as u64), "{}", row.name);
            assert!(!row.description.trim().is_empty() && !row.unit.is_empty());
        }
        let values: Vec<u64> = limits.rows().iter().map(|row| row.value).collect();
        assert_eq!(values, (0..Limits::TABLE.len() as u64).collect::<Vec<_>>());
        assert!(!limits.set("no_such_limit", 1));
    }

    #[test]
    fn what_is_usually_set_are_few_limits_of_the_table() {
        let usual: Vec<&str> = Limits::listed(true).map(|limit| limit.name).collect();
        assert_eq!(usual, Limits::USUAL, "in the order of the table");
        assert_eq!(Limits::listed(false).count(), Limits::TABLE.len() - usual.len());
        assert!(3 * usual.len() < Limits::TABLE.len());
    }
}
