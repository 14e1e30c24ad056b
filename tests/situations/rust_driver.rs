//! The driver of the Rust client.

use std::collections::BTreeMap;
use std::time::Duration;

use clearance_client::session::Watching;
use clearance_client::{Client, ConnectOptions, Error, RetryPolicy, Session, api};
use serde_json::{Value, json};
use tonic::Status;

use crate::driver::unknown;
use crate::words::{self, Shapes, failed, text};

/// Clients, sessions and watches by the names that the judge gives them.
#[derive(Default)]
pub(crate) struct RustDriver {
    clients: BTreeMap<String, Client>,
    shapes: Shapes,
    sessions: BTreeMap<String, Session>,
    watches: BTreeMap<String, Watching>,
}

impl RustDriver {
    /// Does what a command says.
    pub(crate) async fn obey(&mut self, command: &Value) -> Value {
        let done = match command["do"].as_str().unwrap_or_default() {
            "connect" => self.connect(command).await,
            "register" => self.register(command).await,
            "open" => self.open(command).await,
            "frame" => self.frame(command).await,
            "state" => self.session(command).map(|session| words::state(&session.state())),
            "take_back" => self.take_back(command).await,
            "ask" => self.ask(command).await,
            "watch" => self.watch(command),
            "watched" => self.watched(command).await,
            "close" => self.close(command).await,
            "wait" => {
                let time = command["ms"].as_u64().unwrap_or_default();
                tokio::time::sleep(Duration::from_millis(time)).await;
                Ok(json!({"ok": true}))
            }
            _ => return unknown(command),
        };
        done.unwrap_or_else(|error| failed(&error))
    }

    fn client(&self, command: &Value) -> Result<Client, Error> {
        let name = command["client"].as_str().unwrap_or_default();
        self.clients.get(name).cloned().ok_or(Error::Protocol("no such client"))
    }

    fn session(&mut self, command: &Value) -> Result<&mut Session, Error> {
        let name = command["session"].as_str().unwrap_or_default();
        self.sessions.get_mut(name).ok_or(Error::Protocol("no such session"))
    }

    async fn connect(&mut self, command: &Value) -> Result<Value, Error> {
        let addresses = words::list(command, "addresses");
        let addresses: Vec<String> =
            addresses.iter().map(|address| format!("http://{}", text(address))).collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let mut retry = RetryPolicy::default();
        if let Some(attempts) = command["attempts"].as_u64() {
            retry.attempts_max = u32::try_from(attempts).unwrap_or(u32::MAX);
        }
        let api_key = command["key"].as_str().map(clearance_client::ApiKey::new);
        let options = ConnectOptions { retry, api_key, ..Default::default() };
        let client = Client::connect_with(&addresses, options).await?;
        self.clients.insert(text(&command["client"]), client);
        Ok(json!({"ok": true}))
    }

    async fn register(&mut self, command: &Value) -> Result<Value, Error> {
        let registered = self.client(command)?.register(vec![words::spec(command)]).await?;
        let id = registered[0].id.clone();
        self.shapes.insert(text(&command["shape"]), id.clone());
        Ok(json!({"ok": true, "id": id}))
    }

    async fn open(&mut self, command: &Value) -> Result<Value, Error> {
        let request = words::opening(&self.shapes, command);
        let session = Session::open(&self.client(command)?, request).await?;
        let opened = session.opened();
        let mut said = words::report(&opened.report.clone().unwrap_or_default());
        said["session_id"] = opened.session_id.clone().into();
        said["incarnation"] = opened.incarnation.to_string().into();
        self.sessions.insert(text(&command["session"]), session);
        Ok(said)
    }

    async fn frame(&mut self, command: &Value) -> Result<Value, Error> {
        let frame = words::frame(&self.shapes, command);
        let report = self.session(command)?.step(frame).await?;
        Ok(report.status.as_ref().map_or_else(|| words::report(&report), words::refusal))
    }

    async fn take_back(&mut self, command: &Value) -> Result<Value, Error> {
        self.session(command)?.take_back().await?;
        Ok(json!({"ok": true}))
    }

    async fn ask(&mut self, command: &Value) -> Result<Value, Error> {
        let client = self.client(command)?;
        let [p, q] = ["p", "q"].map(|side| Some(words::placed(&self.shapes, &command[side])));
        let asking = async {
            if command["question"] == "distance" {
                let question = api::MeasureDistanceRequest { p, q, ..Default::default() };
                Ok::<_, Error>(client.measure_distance(question).await?.verdict())
            } else {
                let question = api::CheckCollisionRequest { p, q, ..Default::default() };
                Ok(client.check_collision(question).await?.verdict())
            }
        };
        let time = |key: &str| command[key].as_u64().map(Duration::from_millis);
        let verdict = match (time("deadline_ms"), time("cancel_ms")) {
            (None, None) => asking.await,
            (Some(time), _) => tokio::time::timeout(time, asking)
                .await
                .unwrap_or_else(|_| Err(Status::deadline_exceeded("in time").into())),
            (None, Some(time)) => tokio::time::timeout(time, asking)
                .await
                .unwrap_or_else(|_| Err(Status::cancelled("given up").into())),
        };
        let verdict: api::Verdict = verdict?;
        let name = verdict.as_str_name().trim_start_matches("VERDICT_").to_lowercase();
        Ok(json!({"ok": true, "verdict": name}))
    }

    fn watch(&mut self, command: &Value) -> Result<Value, Error> {
        let watch = self.session(command)?.watch();
        self.watches.insert(text(&command["watch"]), watch);
        Ok(json!({"ok": true}))
    }

    async fn watched(&mut self, command: &Value) -> Result<Value, Error> {
        let name = command["watch"].as_str().unwrap_or_default();
        let watch = self.watches.get_mut(name).ok_or(Error::Protocol("no such watch"))?;
        let until = command.get("until_frame").map(words::long);
        let mut news = Vec::new();
        let mut is_there = false;
        while !is_there {
            let told = match watch.next().await {
                Ok(Some(told)) => told,
                Ok(None) => return Ok(json!({"ok": true, "news": news, "ended": true})),
                Err(error) => {
                    let error = failed(&error)["error"].take();
                    return Ok(json!({"ok": true, "news": news, "ended": true, "error": error}));
                }
            };
            let reached = |id: u64| until.is_some_and(|until| id >= until);
            if let Some(state) = &told.state {
                news.push(json!(["state", state.frame_id.to_string(), told.lost_frames]));
                is_there |= reached(state.frame_id);
            }
            if let Some(frame) = &told.frame {
                let events = words::events(&frame.events);
                news.push(json!(["frame", frame.frame_id.to_string(), events]));
                is_there |= reached(frame.frame_id);
            }
        }
        Ok(json!({"ok": true, "news": news, "ended": false}))
    }

    async fn close(&mut self, command: &Value) -> Result<Value, Error> {
        let name = command["session"].as_str().unwrap_or_default();
        let session = self.sessions.remove(name).ok_or(Error::Protocol("no such session"))?;
        session.close().await?;
        Ok(json!({"ok": true}))
    }
}
