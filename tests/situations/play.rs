//! One situation under way: a driver, the servers that it calls, and what an undisturbed server
//! says to the same.

use clearance_proto as api;
use clearance_proto::polytope_service_client::PolytopeServiceClient;
use clearance_proto::session_service_client::SessionServiceClient;
use clearance_runtime::settings::Settings;
use serde_json::{Value, json};
use tonic::transport::Channel;

use crate::driver::{Driver, DriverKind};
use crate::proxy::{Proxy, Server};
use crate::script::{Act, At, Orders};
use crate::words::{self, Shapes};

/// What became of a situation: nothing, or what is wrong.
pub(crate) type Outcome = Result<(), String>;

/// Says what is wrong unless something holds.
macro_rules! ensure {
    ($holds:expr, $($words:tt)+) => {
        if !$holds {
            return Err(format!($($words)+));
        }
    };
}
pub(crate) use ensure;

/// What is the same of two reports, whatever happened on their way.
const SAME: [&str; 6] = ["events", "pairs", "counts", "refused", "cut", "omitted"];

/// Bytes of a message, for calls that no client makes.
const BYTES_MAX: usize = 64 << 20;

/// A scene and what happens in it.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// Keys of `open`.
    pub(crate) opening: Value,
    /// Keys of each `frame`.
    pub(crate) frames: Vec<Value>,
}

impl Course {
    /// A wall and two carts, of which each comes, touches, overlaps and leaves several times.
    pub(crate) fn carts() -> Self {
        let bodies = json!([
            {"id": 1, "shape": "cube", "at": [0, 0, 0], "fixed": true},
            {"id": 2, "shape": "cube", "at": [4, 0, 0]},
            {"id": 3, "shape": "cube", "at": [0, 4, 0]},
        ]);
        let xs = [3.0, 1.5, 1.0, 0.5, 0.5, 2.0, 3.0, 0.75, 1.0, 1.25, 0.5, 4.0];
        let ys = [3.0, 2.0, 1.0, 0.5, 1.0, 1.5, 0.75, 0.75, 2.0, 2.0, 1.0, 5.0];
        let frame = |k: usize| {
            // Every third frame builds on what the one before has said of the third body.
            let second = json!([2, xs[k], 0, 0]);
            let third = json!([3, 0, ys[k], 0]);
            json!({"poses": if k % 3 == 1 { json!([second]) } else { json!([second, third]) }})
        };
        Self {
            opening: json!({"bodies": bodies, "pairs": "all"}),
            frames: (0..xs.len()).map(frame).collect(),
        }
    }

    /// The same with another key of the opening.
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.opening[key] = value;
        self
    }

    /// The same with another key of a frame, counted from 1.
    pub(crate) fn at_frame(mut self, number: usize, key: &str, value: Value) -> Self {
        self.frames[number - 1][key] = value;
        self
    }
}

/// One situation under way.
pub(crate) struct Play {
    driver: Driver,
    pub(crate) proxies: Vec<Proxy>,
    settings: Settings,
    /// The engine is in the driver's process, so there is no server to ask.
    is_inside: bool,
    course: Course,
    /// What an undisturbed server has said: of the opening, then of each frame.
    cold: Vec<Value>,
    /// Frames that were played.
    played: usize,
    /// The number of the last report.
    last_id: u64,
    /// What the driver said of the opening.
    pub(crate) opened: Value,
}

impl Play {
    pub(crate) async fn new(
        kind: &DriverKind,
        settings: Settings,
        servers: usize,
    ) -> Result<Self, String> {
        let mut proxies = Vec::new();
        for _ in 0..servers {
            let proxy = Proxy::start(settings.clone()).await;
            if let DriverKind::Wrong(mistake) = kind {
                proxy.script.mistake(mistake);
            }
            proxies.push(proxy);
        }
        let is_inside =
            matches!(kind, DriverKind::Program(command) if command.ends_with(" --inside"));
        Ok(Self {
            driver: Driver::start(kind)?,
            proxies,
            settings,
            is_inside,
            course: Course::carts(),
            cold: Vec::new(),
            played: 0,
            last_id: 0,
            opened: Value::Null,
        })
    }

    /// The server that forgets; none where the engine is in the driver's process, which forgets
    /// nothing.
    pub(crate) fn server(&self) -> Option<&Proxy> {
        self.proxies.first().filter(|_| !self.is_inside)
    }

    /// What the first server does.
    pub(crate) fn script(&self) -> &Orders {
        &self.proxies[0].script
    }

    /// Lets the first server do something once.
    pub(crate) fn once(&self, at: At, act: Act) {
        self.script().once(at, act);
    }

    /// Gives a command.
    pub(crate) async fn say(&mut self, command: Value) -> Result<Value, String> {
        self.driver.say(&command).await
    }

    /// Gives a command that has to succeed.
    pub(crate) async fn done(&mut self, command: Value) -> Result<Value, String> {
        let said = self.say(command.clone()).await?;
        ensure!(said["ok"] == true, "{command} was answered with {said}");
        Ok(said)
    }

    /// Gives a command that has to fail with this code, for this reason, at a field whose path ends
    /// so.
    pub(crate) async fn refused(
        &mut self,
        command: Value,
        [code, reason, field]: [&str; 3],
    ) -> Result<Value, String> {
        let said = self.say(command.clone()).await?;
        let error = &said["error"];
        let is_so = error["code"] == code
            && error["reason"] == reason
            && words::text(&error["field"]).ends_with(field)
            && (field.is_empty() == words::text(&error["field"]).is_empty());
        ensure!(
            said["ok"] == false && is_so,
            "{command} was answered with {said}, and not with {code}, {reason}, {field:?}"
        );
        Ok(said)
    }

    /// Addresses of the servers.
    pub(crate) fn addresses(&self) -> Value {
        self.proxies.iter().map(|proxy| proxy.address.to_string()).collect()
    }

    /// Connects a client to all servers, and registers the cube.
    pub(crate) async fn connect(&mut self) -> Outcome {
        let addresses = self.addresses();
        self.done(json!({"do": "connect", "client": "c", "addresses": addresses})).await?;
        self.done(cube("c")).await.map(drop)
    }

    /// Connects, and opens the scene of a course.
    pub(crate) async fn begin(&mut self, course: Course) -> Outcome {
        self.connect().await?;
        self.open(course).await
    }

    /// Opens the scene of a course.
    pub(crate) async fn open(&mut self, course: Course) -> Outcome {
        self.cold = cold(&course, &self.settings).await?;
        self.course = course;
        self.played = 0;
        self.last_id = words::long(&self.course.opening["frame_id"]);
        let said = self.done(opening(&self.course)).await?;
        self.opened = said.clone();
        same(&self.cold[0], &said, "the opening")
    }

    /// Plays so many frames.
    pub(crate) async fn frames(&mut self, count: usize) -> Outcome {
        for _ in 0..count {
            self.frame().await?;
        }
        Ok(())
    }

    /// Plays the next frame; what is told of it is what an undisturbed server tells.
    pub(crate) async fn frame(&mut self) -> Outcome {
        let said = self.done(self.next_frame()).await?;
        self.took(&said)
    }

    /// The command for the next frame.
    pub(crate) fn next_frame(&self) -> Value {
        frame(&self.course, self.played)
    }

    /// Takes in what was said about the next frame.
    pub(crate) fn took(&mut self, said: &Value) -> Outcome {
        self.played += 1;
        let number = self.played;
        let id = words::long(&said["frame_id"]);
        ensure!(id > self.last_id, "frame {number}: {id} is told after {}", self.last_id);
        self.last_id = id;
        same(&self.cold[number], said, &format!("frame {number}"))
    }

    /// Plays what is left, and closes: everything that was to happen has, and both sides know the
    /// same.
    pub(crate) async fn end(&mut self) -> Outcome {
        self.rest().await?;
        self.close().await
    }

    /// Plays what is left.
    pub(crate) async fn rest(&mut self) -> Outcome {
        self.frames(self.course.frames.len() - self.played).await
    }

    /// Closes; everything that was to happen has, and both sides know the same.
    pub(crate) async fn close(&mut self) -> Outcome {
        self.agrees().await?;
        let is_played = self.proxies.iter().all(|proxy| proxy.script.is_played());
        ensure!(is_played, "the situation did not come about");
        self.done(json!({"do": "close", "session": "s"})).await?;
        if self.is_inside || self.proxies.len() > 1 {
            return Ok(());
        }
        let left = self.server_state().await;
        ensure!(left.is_err(), "the session is still open");
        Ok(())
    }

    /// What the client says is declared is what the server has.
    pub(crate) async fn agrees(&mut self) -> Outcome {
        let known = self.done(json!({"do": "state", "session": "s"})).await?;
        if self.is_inside {
            return Ok(());
        }
        let found = self.server_state().await.map_err(|error| format!("no session: {error}"))?;
        for key in ["bodies", "contacts"] {
            let (known, found) = (doubles(&known[key]), doubles(&found[key]));
            ensure!(known == found, "{key}: the client knows {known}, the server {found}");
        }
        Ok(())
    }

    /// What the server that has the session says of it.
    async fn server_state(&self) -> Result<Value, String> {
        let mut latest = Err("nobody was asked".to_owned());
        for proxy in &self.proxies {
            let asked = api::GetSessionRequest {
                session_id: words::text(&self.opened["session_id"]),
                session_key: words::text(&self.course.opening["session_key"]),
                ..Default::default()
            };
            let found = sessions(proxy.channel()).get_session(asked).await;
            let found = found.map_err(|status| status.to_string());
            let found =
                found.map(|found| words::state(&found.into_inner().state.unwrap_or_default()));
            let id = |state: &Result<Value, String>| {
                state.as_ref().map(|state| words::long(&state["frame_id"])).ok()
            };
            // One that the client has left may have it still.
            if latest.is_err() || id(&found) > id(&latest) {
                latest = found;
            }
        }
        latest
    }

    /// The session's id and key, for calls that no client makes.
    pub(crate) fn named(&self) -> (String, String) {
        let key = words::text(&self.course.opening["session_key"]);
        (words::text(&self.opened["session_id"]), key)
    }
}

/// The command that registers the cube of which scenes are made.
pub(crate) fn cube(client: &str) -> Value {
    let corner = |k: i32| [0, 1, 2].map(|axis| f64::from(k >> axis & 1) - 0.5);
    let points: Vec<[f64; 3]> = (0..8).map(corner).collect();
    json!({"do": "register", "client": client, "shape": "cube", "points": points})
}

/// The command that opens the scene of a course.
pub(crate) fn opening(course: &Course) -> Value {
    let mut command = course.opening.clone();
    command["do"] = "open".into();
    command["client"] = "c".into();
    command["session"] = "s".into();
    command
}

fn frame(course: &Course, number: usize) -> Value {
    let mut command = course.frames[number].clone();
    command["do"] = "frame".into();
    command["session"] = "s".into();
    command
}

/// The service of sessions, for calls that no client makes.
pub(crate) fn sessions(channel: Channel) -> SessionServiceClient<Channel> {
    SessionServiceClient::new(channel).max_decoding_message_size(BYTES_MAX)
}

/// Registers the cube without a client.
pub(crate) async fn registered(channel: Channel) -> Result<Shapes, String> {
    let polytopes = vec![words::spec(&cube(""))];
    let request = api::RegisterPolytopesRequest { polytopes, validate_only: false };
    let told = PolytopeServiceClient::new(channel).register_polytopes(request).await;
    let reports = told.map_err(|status| status.to_string())?.into_inner().reports;
    let polytope = reports.into_iter().next().and_then(|report| report.polytope);
    Ok(Shapes::from([("cube".to_owned(), polytope.ok_or("nothing was registered")?.id)]))
}

/// What a server that nothing disturbs says to a course, asked without any client.
async fn cold(course: &Course, settings: &Settings) -> Result<Vec<Value>, String> {
    let server = Server::start(settings.clone()).await;
    let shapes = registered(server.channel.clone()).await?;
    let mut service = sessions(server.channel.clone());
    let failed = |status: tonic::Status| format!("cold: {status}");
    let mut request = words::opening(&shapes, &opening(course));
    request.session_id = "cold".to_owned();
    let session_key = request.session_key.clone();
    let mut frame_id = request.state.as_ref().map_or(0, |state| state.frame_id);
    let opened = service.open_session(request).await.map_err(failed)?.into_inner();
    let mut told = vec![words::report(&opened.report.unwrap_or_default())];
    for number in 0..course.frames.len() {
        frame_id += 1;
        let frame = words::frame(&shapes, &frame(course, number));
        let step = api::StepSessionRequest {
            session_id: "cold".to_owned(),
            session_key: session_key.clone(),
            frames: vec![api::Frame { frame_id, ..frame }],
            reply_bytes_max: BYTES_MAX as u64,
            ..Default::default()
        };
        let reports = service.step_session(step).await.map_err(failed)?.into_inner().reports;
        told.push(match &reports[0].status {
            Some(status) => {
                frame_id -= 1;
                words::refusal(status)
            }
            None => words::report(&reports[0]),
        });
    }
    Ok(told)
}

/// With every number as one of 64 bits with a point: languages write 1.0 as they like.
fn doubles(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(doubles).collect(),
        Value::Number(number) => number.as_f64().into(),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Object(_) => value.clone(),
    }
}

/// Without the part of paths that says how a frame was sent.
fn plain(value: &Value) -> Value {
    let mut value = value.clone();
    for item in value.as_array_mut().into_iter().flatten() {
        if let Some(path) = item.get("field").and_then(Value::as_str) {
            let path =
                path.strip_prefix("frames[0].").or(path.strip_prefix("frame.")).unwrap_or(path);
            item["field"] = path.to_owned().into();
        }
    }
    value
}

/// Both say the same.
fn same(cold: &Value, said: &Value, what: &str) -> Outcome {
    for key in SAME {
        let (cold, said) = (plain(&cold[key]), plain(&said[key]));
        ensure!(cold == said, "{what}: {key} are {said}, and undisturbed {cold}");
    }
    Ok(())
}
