//! Recordings: what is recorded beside a server is played again, and every answer is the same.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use clearance_proto as api;
use clearance_recording::{RecordOptions, ReplayOptions};
use tokio::sync::oneshot;
use tonic::transport::Channel;

use crate::server::{Server, cube, soon, spec, vector};

/// A recorder beside a server, and the folder that it writes to.
struct Recorder {
    address: SocketAddr,
    folder: PathBuf,
    stop: oneshot::Sender<()>,
    ended: tokio::task::JoinHandle<String>,
}

impl Recorder {
    async fn beside(server: &Server, name: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let folder = std::env::temp_dir().join(format!("clearance-{}-{name}", std::process::id()));
        // What an earlier run left.
        let _ = std::fs::remove_dir_all(&folder);
        let options = RecordOptions {
            to: format!("http://{}", server.address),
            listen: address.to_string(),
            out: folder.clone(),
            ca: None,
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::spawn(async move {
            let mut out = Vec::new();
            let until = async { stopped.await.unwrap() };
            clearance_recording::record_until(&options, until, &mut out).await.unwrap();
            String::from_utf8(out).unwrap()
        });
        soon(async {
            while tokio::net::TcpStream::connect(address).await.is_err() {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        })
        .await;
        Self { address, folder, stop, ended }
    }

    async fn channel(&self) -> Channel {
        let address = format!("http://{}", self.address);
        Channel::from_shared(address).unwrap().connect().await.unwrap()
    }

    async fn end(self) -> (PathBuf, String) {
        self.stop.send(()).unwrap();
        (self.folder, self.ended.await.unwrap())
    }
}

async fn replayed(file: PathBuf) -> (bool, String) {
    let playing = tokio::task::spawn_blocking(move || {
        let mut out = Vec::new();
        let options = ReplayOptions { files: vec![file], server: None };
        let same = clearance_recording::replay(&options, clearance::serve::until_told, &mut out);
        (same.unwrap(), String::from_utf8(out).unwrap())
    });
    playing.await.unwrap()
}

/// A cube that flies past another one and meets it between two frames.
fn frame(frame_id: u64) -> api::Frame {
    let x = -3.0 + 1.7 * frame_id as f64;
    let pose = Some(api::Pose { translation: vector(x, 0.25, 0.0), orientation: None });
    let moved = api::BodyPose { id: Some(2), pose, ..Default::default() };
    api::Frame { frame_id, poses: vec![moved], ..Default::default() }
}

fn body(id: u32, at: [f64; 3]) -> api::Body {
    let part = api::PlacedBody {
        source: Some(api::placed_body::Source::Alias("cube".to_owned())),
        pose: None,
    };
    let [x, y, z] = at;
    let pose = Some(api::Pose { translation: vector(x, y, z), orientation: None });
    api::Body { id: Some(id), parts: vec![part], pose, ..Default::default() }
}

fn opening() -> api::OpenSessionRequest {
    let state = api::SessionState {
        bodies: vec![body(1, [0.0; 3]), body(2, [-3.0, 0.25, 0.0])],
        ..Default::default()
    };
    let report = api::ReportOptions {
        pairs: api::PairSelection::All.into(),
        distances: true,
        first_contacts: true,
        certificates: true,
        impacts: true,
        ..Default::default()
    };
    api::OpenSessionRequest {
        session_id: "it".to_owned(),
        session_key: "a-secret-that-is-long-enough".to_owned(),
        state: Some(state),
        report: Some(report),
        ..Default::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_session_is_played_again_with_the_same_answers() {
    let server = Server::start().await;
    let recorder = Recorder::beside(&server, "recorded").await;
    let channel = recorder.channel().await;
    let mut polytopes = api::polytope_service_client::PolytopeServiceClient::new(channel.clone());
    let polytopes_to_come = vec![spec("cube", &cube())];
    let request =
        api::RegisterPolytopesRequest { polytopes: polytopes_to_come, validate_only: false };
    polytopes.register_polytopes(request).await.unwrap();
    let mut sessions = api::session_service_client::SessionServiceClient::new(channel);
    let opened = sessions.open_session(opening()).await.unwrap().into_inner();
    let mut began = 0;
    for frame_id in 1..=4 {
        let request = api::StepSessionRequest {
            session_id: opened.session_id.clone(),
            session_key: opening().session_key,
            frames: vec![frame(frame_id)],
            ..Default::default()
        };
        let told = sessions.step_session(request).await.unwrap().into_inner();
        began += told.reports[0].events.len();
    }
    assert!(began >= 2, "a contact that begins and one that ends");
    // The watcher of the recorder has told where bodies are, too.
    let file = recorder.folder.join("it.mcap");
    let has = |what: &str| {
        let bytes = std::fs::read(&file).unwrap();
        bytes.windows(what.len()).any(|part| part == what.as_bytes())
    };
    let request = api::CloseSessionRequest {
        session_id: opened.session_id,
        session_key: opening().session_key,
        ..Default::default()
    };
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    sessions.close_session(request).await.unwrap();
    let (folder, said) = recorder.end().await;
    assert!(said.contains("it.mcap: 4 frames\n"), "{said}");
    for what in ["/clearance/watch", "foxglove.FrameTransforms", "/scene", "/contacts"] {
        assert!(has(what), "{what}");
    }
    assert!(!has("a-secret-that-is-long-enough"), "keys are not written down");
    let (is_same, line) = replayed(file.clone()).await;
    assert!(is_same && line.contains("5 answers are the same, 0 differ"), "{line}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_is_recorded_and_what_is_cut_off_is_played_up_to_there() {
    let server = Server::start().await;
    server.register("cube", &cube()).await;
    let recorder = Recorder::beside(&server, "streamed").await;
    let mut sessions =
        api::session_service_client::SessionServiceClient::new(recorder.channel().await);
    let start = api::stream_session_request::Start::Open(Box::new(opening()));
    let first = api::StreamSessionRequest { start: Some(start), ..Default::default() };
    let frames = (1..=4).map(|id| api::StreamSessionRequest {
        frame: Some(Box::new(frame(id))),
        ..Default::default()
    });
    let asked = tokio_stream::iter(std::iter::once(first).chain(frames));
    let mut told = sessions.stream_session(asked).await.unwrap().into_inner();
    let mut reports = 0;
    while let Some(reply) = told.message().await.unwrap() {
        reports += usize::from(reply.report.is_some());
    }
    assert_eq!(reports, 4);
    let (folder, said) = recorder.end().await;
    assert!(said.contains("it.mcap: 4 frames"), "{said}");
    // The bodies were registered before anything was recorded: they are in it by their description.
    let file = folder.join("it.mcap");
    let (is_same, line) = replayed(file.clone()).await;
    assert!(is_same && line.contains("5 answers are the same, 0 differ"), "{line}");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() - whole.len() / 8]).unwrap();
    let (is_same, line) = replayed(file).await;
    assert!(is_same && line.contains(" 0 differ"), "{line}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_recording_of_every_kind_of_body_is_what_is_answered_today() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (is_same, line) = replayed(root.join("viewer/recordings/proofs.mcap.gz")).await;
    assert!(is_same && line.contains(" 0 differ"), "{line}");
    let count = line.split(": ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(count.parse::<usize>().unwrap() > 50, "{line}");
}
