//! `clearance replay`: the frames of a recording, sent again, and every answer compared.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::Pin;

use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::robot_service_client::RobotServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use prost::Message;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tonic::transport::{Channel, Endpoint};

use crate::Error;
use crate::file::{Recorded, read};

/// Settings of a replay.
#[derive(clap::Args, Clone, Debug)]
pub struct ReplayOptions {
    /// Recordings: MCAP files of sessions, as they are or in gzip.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The server that is asked; without it one is started for this.
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
}

/// Bytes of a message from the server.
const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Frames that differ and are told by their ids.
const TOLD_MAX: usize = 10;

/// A server that serves until it is told to stop.
type Serving = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

/// Plays files one after the other, on a server of their own each where none is named: `serve`
/// serves on a listener until it is told to stop. True when every answer is what it was.
pub fn replay<S>(
    options: &ReplayOptions,
    serve: impl Fn(TcpListener, Option<String>, oneshot::Receiver<()>) -> S,
    out: &mut dyn Write,
) -> Result<bool, Error>
where
    S: Future<Output = Result<(), String>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(Error::io("threads"))?;
    let start = |listener, stop| -> Serving { Box::pin(serve(listener, None, stop)) };
    let mut are_same = true;
    for file in &options.files {
        let played = runtime.block_on(play(file, options.server.as_deref(), &start))?;
        writeln!(out, "{}", played.line(file)).map_err(Error::io("the output"))?;
        are_same &= played.differing.is_empty();
    }
    Ok(are_same)
}

/// What came of a file.
#[derive(Debug, Default)]
struct Played {
    same: usize,
    /// Frames whose answers differ.
    differing: Vec<u64>,
    /// Answers about several frames at once: which those are depends on how fast they came.
    merged: usize,
    /// Frames without an answer in the file, which was cut off or whose client did not wait.
    unanswered: usize,
}

impl Played {
    fn line(&self, file: &Path) -> String {
        let Self { same, differing, merged, unanswered } = self;
        let mut line =
            format!("{}: {same} answers are the same, {} differ", file.display(), differing.len());
        if !differing.is_empty() {
            let told: Vec<String> = differing.iter().take(TOLD_MAX).map(u64::to_string).collect();
            line += &format!(" (frames {})", told.join(", "));
        }
        if *merged > 0 {
            line += &format!("; {merged} about several frames are not compared");
        }
        if *unanswered > 0 {
            line += &format!("; {unanswered} frames have none");
        }
        line
    }

    fn compare(&mut self, told: &api::FrameReport, was: &api::FrameReport) {
        if was.skipped_frames > 0 {
            self.merged += 1;
        } else if bare(told) == bare(was) {
            self.same += 1;
        } else {
            self.differing.push(was.frame_id);
        }
    }
}

/// A report without what it cost.
fn bare(report: &api::FrameReport) -> api::FrameReport {
    api::FrameReport { cost: None, ..report.clone() }
}

async fn play(
    file: &Path,
    server: Option<&str>,
    start: &dyn Fn(TcpListener, oneshot::Receiver<()>) -> Serving,
) -> Result<Played, Error> {
    let script = Script::of(file, read(file)?)?;
    if let Some(server) = server {
        return script.play(server).await;
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(Error::io("127.0.0.1"))?;
    let address = listener.local_addr().map_err(Error::io("127.0.0.1"))?;
    let (stop, stopped) = oneshot::channel();
    let serving = tokio::spawn(start(listener, stopped));
    let played = script.play(&format!("http://{address}")).await;
    // It may have ended by itself.
    let _ = stop.send(());
    let _ = serving.await;
    played
}

/// What a file says that was asked and answered.
#[derive(Debug)]
struct Script {
    file: String,
    bodies: Vec<api::RegisterPolytopesRequest>,
    robots: Vec<api::RegisterRobotRequest>,
    shapes: Vec<api::GetPolytopeResponse>,
    open: api::OpenSessionRequest,
    opened: Option<api::FrameReport>,
    frames: Vec<api::Frame>,
    reports: BTreeMap<u64, api::FrameReport>,
}

impl Script {
    fn of(file: &Path, messages: Vec<Recorded>) -> Result<Self, Error> {
        let file = file.display().to_string();
        let wrong =
            |topic: &str| Error::file(file.clone(), &format!("{topic}: a message is broken"));
        let mut open: Option<api::OpenSessionRequest> = None;
        let (mut bodies, mut robots, mut shapes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut frames, mut reports) = (Vec::new(), Vec::new());
        for Recorded { topic, data } in messages {
            let is_known = match topic.as_str() {
                "/clearance/registration" => take(&mut bodies, &data),
                "/clearance/robot_registration" => take(&mut robots, &data),
                "/clearance/shape" => take(&mut shapes, &data),
                "/clearance/frame" => take(&mut frames, &data),
                "/clearance/report" => take(&mut reports, &data),
                "/clearance/open" => {
                    open = api::OpenSessionRequest::decode(&*data).ok();
                    open.is_some()
                }
                _ => true,
            };
            if !is_known {
                return Err(wrong(&topic));
            }
        }
        let missing = "has no /clearance/open: it was not recorded by `clearance record`";
        let open = open.ok_or_else(|| Error::file(file.clone(), &missing))?;
        let state_frame = open.state.as_ref().map_or(0, |state| state.frame_id);
        let mut by_frame = BTreeMap::new();
        let mut opened = None;
        for report in reports {
            let report: api::FrameReport = report;
            if opened.is_none() && report.frame_id == state_frame {
                opened = Some(report);
            } else {
                by_frame.insert(report.frame_id, report);
            }
        }
        Ok(Self { file, bodies, robots, shapes, open, opened, frames, reports: by_frame })
    }

    async fn play(self, server: &str) -> Result<Played, Error> {
        let wrong = |error| Error::Connection { what: server.to_owned(), error };
        let endpoint = Endpoint::from_shared(server.to_owned()).map_err(wrong)?;
        let channel = endpoint.connect().await.map_err(wrong)?;
        self.register(&channel).await?;
        let sessions = SessionServiceClient::new(channel);
        let mut sessions = sessions.max_decoding_message_size(MESSAGE_BYTES_MAX);
        let refused = |what: &str| Error::refused(format!("{}: {what}", self.file));
        // Under an id of its own, so that no session of the server's is in the way.
        let open = api::OpenSessionRequest { session_id: String::new(), ..self.open.clone() };
        let opened = sessions.open_session(open).await.map_err(refused("opening"))?.into_inner();
        let mut played = Played::default();
        if let (Some(told), Some(was)) = (&opened.report, &self.opened) {
            played.compare(told, was);
        }
        for frame in self.frames {
            let id = frame.frame_id;
            let request = api::StepSessionRequest {
                session_id: opened.session_id.clone(),
                session_key: opened.session_key.clone(),
                frames: vec![frame],
                reply_bytes_max: MESSAGE_BYTES_MAX as u64,
                ..api::StepSessionRequest::default()
            };
            let what = format!("{}: frame {id}", self.file);
            let told = sessions.step_session(request).await.map_err(Error::refused(what))?;
            let told = told.into_inner().reports.pop().unwrap_or_default();
            match self.reports.get(&id) {
                Some(was) => played.compare(&told, was),
                None => played.unanswered += 1,
            }
        }
        // The server may keep it or not; nobody asks it again.
        let close = api::CloseSessionRequest {
            session_id: opened.session_id,
            session_key: opened.session_key,
            ..api::CloseSessionRequest::default()
        };
        let _ = sessions.close_session(close).await;
        Ok(played)
    }

    /// Registers what was registered, and by its description what the file only describes.
    async fn register(&self, channel: &Channel) -> Result<(), Error> {
        let refused = |what: &str| Error::refused(format!("{}: {what}", self.file));
        let mut polytopes = PolytopeServiceClient::new(channel.clone());
        for request in &self.bodies {
            let told = polytopes.register_polytopes(request.clone()).await;
            told.map_err(refused("a registration"))?;
        }
        let mut robots = RobotServiceClient::new(channel.clone());
        for request in &self.robots {
            robots.register_robot(request.clone()).await.map_err(refused("a robot"))?;
        }
        let described: BTreeMap<&str, &api::GetPolytopeResponse> = self
            .shapes
            .iter()
            .filter_map(|shape| Some((shape.polytope.as_ref()?.id.as_str(), shape)))
            .collect();
        let ids = described.keys().map(|id| (*id).to_owned()).collect();
        let request = api::FindMissingPolytopesRequest { ids };
        let missing = polytopes.find_missing_polytopes(request).await;
        let missing = missing.map_err(refused("its shapes"))?.into_inner().missing_ids;
        // What is there by a registration has its aliases from that; others are what they are said
        // to be. Parts of robots are there with these, and nobody asks for them by themselves.
        let specs = missing.iter().filter_map(|id| described.get(id.as_str()).copied());
        let polytopes_to_come: Vec<api::PolytopeSpec> = specs.flat_map(specifications).collect();
        if !polytopes_to_come.is_empty() {
            let request = api::RegisterPolytopesRequest {
                polytopes: polytopes_to_come,
                ..api::RegisterPolytopesRequest::default()
            };
            let told = polytopes.register_polytopes(request).await;
            told.map_err(refused("a shape"))?;
        }
        Ok(())
    }
}

fn take<M: Message + Default>(list: &mut Vec<M>, data: &[u8]) -> bool {
    let decoded = M::decode(data);
    let is_good = decoded.is_ok();
    list.extend(decoded);
    is_good
}

/// The shape that is described, under each of its aliases.
fn specifications(shape: &api::GetPolytopeResponse) -> Vec<api::PolytopeSpec> {
    let Some(spec) = specification(shape) else { return Vec::new() };
    let aliases = shape.polytope.as_ref().map_or(&[] as &[String], |described| &described.aliases);
    if aliases.is_empty() {
        return vec![spec];
    }
    aliases.iter().map(|alias| api::PolytopeSpec { alias: alias.clone(), ..spec.clone() }).collect()
}

/// What is registered is the shape that is described; none of one without vertices.
fn specification(shape: &api::GetPolytopeResponse) -> Option<api::PolytopeSpec> {
    use api::polytope_spec::Source;
    let described = shape.polytope.as_ref()?;
    let vertices = shape.vertices.clone()?;
    let treated = |treatment: api::MeshTreatment| {
        let triangles = shape.facets.iter().flat_map(|facet| facet.vertices.clone()).collect();
        (Source::Mesh(api::Mesh { vertices: Some(vertices.clone()), triangles }), treatment)
    };
    let radius = described.radius;
    let (source, treatment) = match described.id.as_bytes().first()? {
        b'm' => treated(api::MeshTreatment::Polyhedron),
        b's' => treated(api::MeshTreatment::Surface),
        b'c' => {
            let cloud = api::PointCloud { xyz: vertices.xyz, radius, ..Default::default() };
            (Source::Cloud(cloud), api::MeshTreatment::Unspecified)
        }
        b'r' => {
            let core = Some(api::rounded_shape::Core::Vertices(vertices));
            let rounded = api::RoundedShape { core, radius, ..api::RoundedShape::default() };
            (Source::Rounded(rounded), api::MeshTreatment::Unspecified)
        }
        b'h' => return None,
        _ => (Source::Vertices(vertices), api::MeshTreatment::Unspecified),
    };
    let spec = api::PolytopeSpec {
        source: Some(source),
        treatment: treatment.into(),
        ..api::PolytopeSpec::default()
    };
    Some(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_about_several_frames_is_not_compared_and_one_that_differs_is_told() {
        let report = |frame_id, skipped_frames, omitted_pairs| api::FrameReport {
            frame_id,
            skipped_frames,
            omitted_pairs,
            cost: Some(api::FrameCost::default()),
            ..api::FrameReport::default()
        };
        let mut played = Played::default();
        played.compare(&bare(&report(1, 0, 0)), &report(1, 0, 0));
        played.compare(&report(3, 0, 0), &report(3, 1, 0));
        played.compare(&report(4, 0, 1), &report(4, 0, 0));
        let line = played.line(Path::new("it"));
        assert_eq!(
            line,
            "it: 1 answers are the same, 1 differ (frames 4); 1 about several frames are not \
             compared"
        );
    }

    #[test]
    fn what_has_no_session_is_refused_with_the_reason() {
        let error = Script::of(Path::new("it"), Vec::new()).unwrap_err();
        assert!(error.to_string().contains("has no /clearance/open"), "{error}");
        let broken = Recorded { topic: "/clearance/frame".to_owned(), data: vec![0xff] };
        let error = Script::of(Path::new("it"), vec![broken]).unwrap_err();
        assert!(error.to_string().contains("a message is broken"), "{error}");
    }
}
