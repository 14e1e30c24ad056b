//! The side port: pages for operators over HTTP/1.1, on a thread of its own. However busy the
//! others are, whoever asks whether the server lives is told.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use prost::bytes::Bytes;
use tokio::sync::Semaphore;

use clearance_runtime::latch::Latch;

/// So many connections are served at once; others wait to be accepted.
const CONNECTIONS_MAX: usize = 64;

/// A connection is closed after so long, whatever it has asked.
const TIME_MAX: Duration = Duration::from_secs(10);

/// Bytes of a request's headers.
const HEADER_BYTES_MAX: usize = 16 << 10;

/// After a failure to accept the next try comes this late.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);

/// What is shown at a path.
#[derive(Clone, Debug)]
pub struct ShownPage {
    /// The status.
    pub status: StatusCode,
    /// What the text is.
    pub content_type: &'static str,
    /// The text.
    pub text: Vec<u8>,
}

/// Whoever knows the pages and writes them when they are asked for.
pub trait Pages: Send + Sync {
    /// The page at a path, for whoever accepts these kinds of text (RFC 9110, section 12.5.1).
    fn page(&self, path: &str, accept: &str) -> ShownPage;
}

/// Shows pages until the latch is set, on a thread of its own.
pub fn show(listener: TcpListener, pages: Arc<dyn Pages>, over: Latch) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let thread = std::thread::Builder::new().name("side-port".to_owned());
    thread.spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                () = accept(listener, pages) => {}
                () = over.until_set() => {}
            }
        });
    })?;
    Ok(())
}

async fn accept(listener: TcpListener, pages: Arc<dyn Pages>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(%error, "the side port cannot be listened on"),
    };
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let place = places.clone().acquire_owned().await.expect("it is never closed");
        match listener.accept().await {
            Ok((stream, _)) => {
                let pages = pages.clone();
                tokio::spawn(async move {
                    let answer = service_fn(move |request| {
                        let response = answer(&request, &*pages);
                        async move { Ok::<_, Infallible>(response) }
                    });
                    let mut http1 = http1::Builder::new();
                    http1.keep_alive(false).max_buf_size(HEADER_BYTES_MAX);
                    let serving = http1.serve_connection(TokioIo::new(stream), answer);
                    // Whoever asks wrongly, or takes too long, has had its chance.
                    let _ = tokio::time::timeout(TIME_MAX, serving).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection on the side port");
                tokio::time::sleep(ACCEPT_RETRY).await;
            }
        }
    }
}

fn answer(request: &Request<Incoming>, pages: &dyn Pages) -> Response<Full<Bytes>> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    let page = pages.page(request.uri().path(), accept.unwrap_or_default());
    let mut response = Response::new(Full::from(page.text));
    *response.status_mut() = page.status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    response
}
