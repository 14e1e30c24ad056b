//! Lists of keys at an address: asked for, asked again, and what is not taken for one.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::tokens::{Provider, claims, rules};
use super::*;
use crate::access::key_list::ListAddress;
use crate::fresh::keep_fresh;

/// What stands in for a provider does with a request.
#[derive(Clone, Debug)]
enum Answer {
    /// Says this, whatever it is, and hangs up.
    Bytes(Vec<u8>),
    /// Says nothing.
    Silence,
    /// Says one byte after the other, for ever.
    Drip,
    /// Says more and more.
    Flood,
}

/// Stands in for a provider, at a port of its own.
struct ListServer {
    address: SocketAddr,
    answer: Arc<Mutex<Answer>>,
    requests: Arc<AtomicUsize>,
    flooded: Arc<AtomicUsize>,
}

impl ListServer {
    fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            answer: Arc::new(Mutex::new(answer)),
            requests: Arc::default(),
            flooded: Arc::default(),
        };
        let (answer, requests) = (server.answer.clone(), server.requests.clone());
        let flooded = server.flooded.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                requests.fetch_add(1, Ordering::SeqCst);
                let (answer, flooded) = (locked(&answer).clone(), flooded.clone());
                std::thread::spawn(move || give(&answer, stream.unwrap(), &flooded));
            }
        });
        server
    }

    fn says(&self, answer: Answer) {
        *locked(&self.answer) = answer;
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    fn list(&self, time: Duration) -> KeyList {
        let url = format!("http://{}/jwks", self.address);
        KeyList::Address(ListAddress::parse(&url).unwrap().within(time))
    }
}

/// Answers one request; that its client hangs up is no fault.
fn give(answer: &Answer, mut stream: TcpStream, flooded: &AtomicUsize) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        head.extend(byte);
    }
    let begin = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
    match answer {
        Answer::Bytes(bytes) => drop(stream.write_all(bytes)),
        Answer::Silence => drop(stream.read(&mut [0])),
        Answer::Drip => {
            let _ = stream.write_all(begin);
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Answer::Flood => {
            let _ = stream.write_all(begin);
            while stream.write_all(&[b' '; 1 << 16]).is_ok() {
                flooded.fetch_add(1 << 16, Ordering::SeqCst);
            }
        }
    }
}

fn http(status: &str, headers: &str, body: &[u8]) -> Answer {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n");
    Answer::Bytes([head.as_bytes(), body].concat())
}

fn list(provider: &Provider) -> Answer {
    http("200 OK", "content-type: application/json\r\n", provider.jwks().to_string().as_bytes())
}

/// A time that a machine which is busy keeps.
const LONG: Duration = Duration::from_secs(10);

fn token_of(provider: &Provider, key: &str) -> String {
    let algorithm = if key == "ed" { "EdDSA" } else { "ES256" };
    provider.token(&json!({"alg": algorithm, "kid": key}), &claims())
}

/// A list whose keys of the curve P-256 has this name, and no other key is in.
fn renamed(provider: &Provider, name: &str) -> Answer {
    let mut list = provider.jwks();
    list["keys"].as_array_mut().unwrap().truncate(1);
    list["keys"][0]["kid"] = json!(name);
    http("200 OK", "", list.to_string().as_bytes())
}

#[test]
fn a_token_with_an_unknown_key_has_the_list_asked_for_and_not_again_soon() {
    let (old, new) = (Provider::new(), Provider::new());
    let server = ListServer::start(list(&old));
    let access = Access::open().with_list(server.list(LONG), rules()).unwrap();
    let before = access.grant(&token_of(&old, "ec")).unwrap();
    assert_eq!(access.list_requests(), Some([0, 0]), "after the start");

    server.says(renamed(&new, "next"));
    let next = token_of(&new, "next");
    for _ in 0..3 {
        assert_eq!(access.grant(&next).unwrap_err(), NotGranted::KeyAskedFor);
    }
    assert_eq!(server.requests(), 1, "whoever brings a token does not ask");
    let files = access.files().remove(0);
    assert_eq!(files.read_again(), Ok(Fresh::Changed));
    assert!(access.grant(&next).is_ok() && before.is_over());
    // A stranger does not make the server ask again and again.
    assert_eq!(access.grant(&token_of(&new, "another")).unwrap_err(), NotGranted::Wrong);
    assert_eq!(access.grant(&token_of(&old, "next")).unwrap_err(), NotGranted::Wrong);
    assert_eq!(files.read_again(), Ok(Fresh::AsBefore));
    assert_eq!((server.requests(), access.list_requests()), (3, Some([2, 0])));
}

#[test]
fn tokens_of_a_file_never_have_anybody_asked() {
    let provider = Provider::new();
    let path = file("no-address", &provider.jwks().to_string());
    let access = Access::open().with_tokens(&path, rules()).unwrap();
    assert_eq!(access.grant(&token_of(&provider, "next")).unwrap_err(), NotGranted::Wrong);
    assert_eq!(access.list_requests(), None);
}

#[test]
fn what_is_no_list_leaves_the_keys_of_before_in_force() {
    let provider = Provider::new();
    let server = ListServer::start(list(&provider));
    let other = ListServer::start(list(&Provider::new()));
    let access = Access::open().with_list(server.list(Duration::from_secs(1)), rules()).unwrap();
    let token = token_of(&provider, "ed");
    let grant = access.grant(&token).unwrap();
    let files = access.files().remove(0);
    let to_other = format!("location: http://{}/jwks\r\n", other.address);
    let secret = json!({"keys": [{"kty": "oct", "k": "AQAB"}]}).to_string();
    let cases = [
        ("404 Not Found", http("404 Not Found", "", b"{\"keys\": []}")),
        ("500 Internal", http("500 Internal Server Error", "", b"")),
        ("302 Found: name", http("302 Found", &to_other, b"")),
        ("308 Permanent", http("308 Permanent Redirect", &to_other, b"")),
        ("no list", http("200 OK", "", b"<html>")),
        ("no list", http("200 OK", "", b"")),
        ("no text", http("200 OK", "", b"\xff\xfe{}")),
        ("no keys", http("200 OK", "", b"{\"keys\": []}")),
        ("is a secret", http("200 OK", "", secret.as_bytes())),
        ("does not answer", Answer::Bytes(b"not HTTP\r\n\r\n".to_vec())),
        ("does not answer", Answer::Bytes(Vec::new())),
        ("does not answer", Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".into())),
        ("takes too long", Answer::Silence),
        ("takes too long", Answer::Drip),
        ("more than 1048576 bytes", Answer::Flood),
    ];
    let count = cases.len() as u64;
    for (words, answer) in cases {
        server.says(answer.clone());
        let begin = Instant::now();
        let error = files.read_again().unwrap_err();
        assert!(error.contains(words), "{answer:?}: {error}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{answer:?}");
        assert_eq!(files.read_again(), Ok(Fresh::AsBefore), "{answer:?}: it is told once");
        assert!(access.grant(&token).is_ok() && !grant.is_over(), "{answer:?}");
        assert_eq!(files.read_again(), Ok(Fresh::AsBefore));
        server.says(list(&provider));
        assert_eq!(files.read_again(), Ok(Fresh::Changed));
        assert!(access.grant(&token).is_ok() && !grant.is_over(), "{answer:?}");
    }
    assert_eq!(other.requests(), 0, "nobody follows a redirect");
    // What the sockets hold is sent, and no more.
    assert!(server.flooded.load(Ordering::SeqCst) < 96 << 20);
    assert_eq!(access.list_requests(), Some([count, 3 * count]));
}

#[test]
fn a_server_does_not_start_without_its_list() {
    let start = |list| Access::open().with_list(list, rules()).unwrap_err().to_string();
    let gone = ListServer::start(http("404 Not Found", "", b""));
    let words = start(gone.list(LONG));
    assert!(words.contains("/jwks answers 404 Not Found"), "{words}");
    let silent = ListServer::start(Answer::Silence);
    let words = start(silent.list(Duration::from_millis(200)));
    assert!(words.contains("takes too long"), "{words}");
    // A port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let name = format!("http://{free}/jwks");
    let words = Access::open().with_tokens(Path::new(&name), rules()).unwrap_err().to_string();
    assert!(words.contains("does not answer"), "{words}");
}

#[test]
fn addresses_where_anybody_could_answer_are_refused_and_passwords_not_told() {
    for (name, words) in [
        ("http://id.example/jwks", "https is taken"),
        ("http://10.0.0.1/jwks", "https is taken"),
        ("http://127.0.0.1.example/jwks", "https is taken"),
        ("http://localhost.example/jwks", "https is taken"),
        ("http://127.0.0.1@id.example/jwks", "a name or a password"),
        ("https://me:hunter2@id.example/jwks", "a name or a password"),
        ("https://me:hunter2@[::1/jwks", "is no address"),
        ("ftp://id.example/jwks", "says ftp"),
        ("file:///etc/jwks", "says file"),
        ("https://", "is no address"),
    ] {
        let error = Access::open().with_tokens(Path::new(name), rules()).unwrap_err().to_string();
        assert!(error.contains(words) && !error.contains("hunter2"), "{name}: {error}");
    }
    for near in ["http://127.8.0.1/", "http://[::1]:80/jwks", "http://localhost:8080/jwks"] {
        assert!(ListAddress::parse(near).is_ok(), "{near}");
    }
    assert!(ListAddress::parse("https://id.example/.well-known/jwks.json").is_ok());
}

/// The whole way: nobody reads again but what keeps files fresh.
#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_a_token_names_is_there_in_a_moment() {
    let (old, new) = (Provider::new(), Provider::new());
    let server = ListServer::start(list(&old));
    let access = Access::open().with_list(server.list(LONG), rules()).unwrap();
    let silent = ListServer::start(list(&old));
    let other = Access::open().with_list(silent.list(LONG), rules()).unwrap();
    silent.says(Answer::Silence);
    let fresh = tokio::spawn(keep_fresh([other.files(), access.files()].concat()));
    // Nobody waits for a provider that is silent.
    assert_eq!(other.grant(&token_of(&new, "next")).unwrap_err(), NotGranted::KeyAskedFor);
    server.says(renamed(&new, "next"));
    let (token, begin) = (token_of(&new, "next"), Instant::now());
    while access.grant(&token).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(4), "asked {} times", server.requests());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(server.requests(), 2);
    fresh.abort();
}
