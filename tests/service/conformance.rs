//! `clearance conformance --server`: a server gives the answers of the library.

use std::path::PathBuf;

use clap::Parser;

use super::server::Server;

/// Two unit cubes a quarter apart; the same sharing a face; overlapping by a quarter; one flying at
/// the other; and a hull with an inner point and a duplicate.
const CASES: &str = concat!(
    r#"{"type":"meta","format":1}"#,
    "\n",
    r#"{"type":"hull","id":1,"points":[[0,0,0],[1,0,0],[0,1,0],[1,1,0],[0,0,1],[1,0,1],[0,"#,
    r#"1,1],[1,1,1]]}"#,
    "\n",
    r#"{"type":"case","id":"apart","family":"a","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[1.25,0,0],"qQ":[1,0,0,0],"exact_pose":true,"#,
    r#""verdict":"separated","dist":0.25,"size":1,"world":2.25}"#,
    "\n",
    r#"{"type":"case","id":"face","family":"b","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[1,0,0],"qQ":[1,0,0,0],"exact_pose":true,"verdict":"collide","#,
    r#""touching":true,"size":1,"world":2}"#,
    "\n",
    r#"{"type":"case","id":"deep","family":"b","kind":"static","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[0.75,0,0],"qQ":[1,0,0,0],"exact_pose":true,"verdict":"collide","#,
    r#""touching":false,"depth":0.25,"size":1,"world":1.75}"#,
    "\n",
    r#"{"type":"case","id":"fly","family":"c","kind":"linear","P":1,"Q":1,"tP":[0,0,0],"#,
    r#""qP":[1,0,0,0],"tQ":[1.5,0.25,0.125],"qQ":[1,0,0,0],"vP":[1,0,0],"vQ":[0,0,0],"#,
    r#""exact_pose":true,"verdict":"separated","toi":0.5,"size":1,"world":2.5}"#,
    "\n",
    r#"{"type":"hullset","id":"set","family":"h","dim":3,"extreme":[0,1,2,4],"facets":4,"#,
    r#""volume_f64":0.16666666666666666,"points":[[0,0,0],[1,0,0],[0,1,0],[0.25,0.25,0.25],"#,
    r#"[0,0,1],[1,0,0]]}"#,
    "\n",
);

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    options: clearance_conformance::Options,
}

/// Whether all is right, and the answers without the times that they took.
fn answers(name: &str, server: Option<String>) -> (bool, Vec<serde_json::Value>) {
    let path = |what: &str| -> PathBuf {
        std::env::temp_dir().join(format!("clearance-{}-{name}-{what}", std::process::id()))
    };
    let (cases, written) = (path("cases.jsonl"), path("answers.jsonl"));
    std::fs::write(&cases, CASES).unwrap();
    let mut words = vec!["conformance".into(), cases.clone().into_os_string()];
    words.extend(["--answers".into(), written.clone().into_os_string()]);
    if let Some(url) = server {
        words.extend(["--server".into(), url.into()]);
    }
    let Command { options } = Command::parse_from(words);
    let is_right = clearance_conformance::run(&options, &mut Vec::new()).unwrap();
    let lines = std::fs::read_to_string(&written).unwrap();
    std::fs::remove_file(cases).unwrap();
    std::fs::remove_file(written).unwrap();
    let without_time = |line: &str| {
        let mut answer: serde_json::Value = serde_json::from_str(line).unwrap();
        answer.as_object_mut().unwrap().remove("us").unwrap();
        answer
    };
    (is_right, lines.lines().map(without_time).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_gives_the_answers_of_the_library() {
    let server = Server::start().await;
    let url = format!("http://{}", server.address);
    // It asks from a thread of its own.
    let asked = tokio::task::spawn_blocking(|| answers("server", Some(url)));
    let (is_right, given) = asked.await.unwrap();
    assert!(is_right && given.len() == 5, "{given:?}");
    assert_eq!(given, answers("library", None).1);
}
