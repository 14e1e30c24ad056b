//! A server that is real, behind one that does what a script says with every message.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clearance_runtime::settings::Settings;
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Body as _, Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use tonic::body::Body;
use tonic::transport::Channel;
use tower::{Service, ServiceExt};

use crate::script::{Act, Orders, asked, method_of, told};

/// Bytes before each message of gRPC: whether it is compressed, and its length.
const HEAD_BYTES: usize = 5;

/// A real server of the test's own.
pub(crate) struct Server {
    pub(crate) channel: Channel,
    stop: Option<oneshot::Sender<()>>,
}

impl Server {
    /// One that nothing was said to.
    pub(crate) async fn start(settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async {
            // Dropping the sender stops it, too.
            let _ = stopped.await;
        };
        tokio::spawn(clearance::rpc::serve(listener, shutdown, settings));
        let channel = Channel::from_shared(format!("http://{address}")).expect("an address");
        Self { channel: channel.connect_lazy(), stop: Some(stop) }
    }

    /// Tells it to stop, as an operator would.
    pub(crate) fn drain(&mut self) {
        self.stop.take();
    }
}

/// What happens to all connections of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Stay,
    Leave,
    Cut,
}

/// The faulty server.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) script: Orders,
    inner: Arc<Inner>,
}

struct Inner {
    /// The real one; former ones are gone.
    server: Mutex<Server>,
    settings: Settings,
    /// For each generation of connections what is wished of them.
    wish: Mutex<watch::Sender<Wish>>,
    /// Connections are refused.
    is_away: watch::Sender<bool>,
}

impl Proxy {
    /// One with a server behind it.
    pub(crate) async fn start(settings: Settings) -> Self {
        let server = Server::start(settings.clone()).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let inner = Inner {
            server: Mutex::new(server),
            settings,
            wish: Mutex::new(watch::Sender::new(Wish::Stay)),
            is_away: watch::Sender::new(false),
        };
        let proxy = Self { address, script: Orders::default(), inner: Arc::new(inner) };
        tokio::spawn(proxy.clone().accept(listener));
        proxy
    }

    async fn accept(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            if *self.inner.is_away.borrow() {
                continue;
            }
            tokio::spawn(self.clone().connection(stream));
        }
    }

    async fn connection(self, stream: TcpStream) {
        let mut wish = self.wishes();
        // Without it small messages wait for one another.
        let _ = stream.set_nodelay(true);
        let proxy = self.clone();
        let service = service_fn(move |request| {
            let proxy = proxy.clone();
            async move { Ok::<_, Infallible>(proxy.call(request).await) }
        });
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let mut serving = std::pin::pin!(server.serve_connection(TokioIo::new(stream), service));
        loop {
            tokio::select! {
                _ = serving.as_mut() => return,
                changed = wish.changed() => match (changed, *wish.borrow_and_update()) {
                    (Ok(()), Wish::Leave) => serving.as_mut().graceful_shutdown(),
                    (Ok(()), Wish::Stay) => {}
                    (Ok(()), Wish::Cut) | (Err(_), _) => return,
                },
            }
        }
    }

    fn wishes(&self) -> watch::Receiver<Wish> {
        self.inner.wish.lock().expect("nothing panics while holding it").subscribe()
    }

    fn say(&self, wish: Wish) {
        let mut current = self.inner.wish.lock().expect("nothing panics while holding it");
        current.send_replace(wish);
        if wish == Wish::Cut {
            *current = watch::Sender::new(Wish::Stay);
        }
    }

    /// Ends all connections.
    pub(crate) fn cut(&self) {
        self.say(Wish::Cut);
    }

    /// Has clients leave their connections.
    pub(crate) fn leave(&self) {
        self.say(Wish::Leave);
    }

    /// Takes no connections, or takes them again.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.inner.is_away.send_replace(is_away);
        if is_away {
            self.cut();
        }
    }

    /// Ends all connections, and has another server from now on, which knows nothing.
    pub(crate) async fn restart(&self) {
        let server = Server::start(self.inner.settings.clone()).await;
        *self.inner.server.lock().expect("nothing panics while holding it") = server;
        self.cut();
    }

    /// Tells the server to stop.
    pub(crate) fn drain(&self) {
        self.inner.server.lock().expect("nothing panics while holding it").drain();
    }

    /// The way to the server that the script does not see.
    pub(crate) fn channel(&self) -> Channel {
        self.inner.server.lock().expect("nothing panics while holding it").channel.clone()
    }

    async fn call(self, request: Request<Incoming>) -> Response<Body> {
        let method = method_of(request.uri().path());
        self.script.called(method);
        if let Some(act) = self.script.at(&[crate::script::At::Call(method)])
            && let Some(answer) = self.in_its_place(act).await
        {
            return answer;
        }
        let (mut head, body) = request.into_parts();
        // So that messages can be read.
        head.headers.remove("grpc-accept-encoding");
        let (ending, ended) = oneshot::channel();
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(self.clone().pass_on(method, body, sender, ending));
        let mut channel = self.channel();
        let asking = async {
            let channel = channel.ready().await?;
            let body = Body::new(StreamBody::new(ReceiverStream::new(receiver)));
            channel.call(Request::from_parts(head, body)).await
        };
        let mut ended = Ended(Some(ended));
        let answered = tokio::select! {
            biased;
            status = ended.told() => return status.into_http(),
            answered = asking => answered,
        };
        match answered {
            Ok(response) => self.answer(method, response, ended),
            Err(error) => Status::unavailable(format!("the proxy: {error}")).into_http(),
        }
    }

    /// An answer in the server's place, unless the call is to go on.
    async fn in_its_place(&self, act: Act) -> Option<Response<Body>> {
        match act {
            Act::Refuse(status) => Some(self.script.misread(status).into_http()),
            Act::Page(code) => {
                let page = Response::builder().status(code).header("content-type", "text/html");
                Some(page.body(Body::empty()).expect("a response"))
            }
            Act::Details(code, details) => {
                let mut answer = Status::new(code.into(), "in words").into_http();
                let details = HeaderValue::from_static(details);
                answer.headers_mut().insert("grpc-status-details-bin", details);
                Some(answer)
            }
            Act::Cut | Act::CutInside | Act::Drop => {
                self.cut();
                std::future::pending().await
            }
            Act::Restart => {
                self.restart().await;
                std::future::pending().await
            }
            Act::Hold(time) => {
                tokio::time::sleep(time).await;
                None
            }
            Act::Twice | Act::Before(_) | Act::Rewrite(_) => None,
        }
    }

    /// Passes the messages of a client on.
    async fn pass_on(
        self,
        method: &'static str,
        mut body: Incoming,
        sender: Sender,
        ending: oneshot::Sender<Status>,
    ) {
        let mut cutter = Cutter::default();
        while let Some(Ok(frame)) = body.frame().await {
            let Ok(data) = frame.into_data() else { continue };
            cutter.held.extend_from_slice(&data);
            while let Some(mut message) = cutter.next() {
                self.script.mistaken(method, &mut message);
                let (seen, moments) = asked(method, &message);
                self.script.heard(method, seen);
                let act = self.script.at(&moments);
                if let Some(Act::Refuse(status)) = act {
                    // Nobody may wait for it any more.
                    let _ = ending.send(self.script.misread(status));
                    // Until the status is there, the server must not end the call itself.
                    return tokio::time::sleep(Duration::from_secs(1)).await;
                }
                if !self.relay(method, act, message, &sender).await {
                    return;
                }
            }
        }
    }

    /// Does with a message what the script says; false: nothing more is passed on.
    async fn relay(
        &self,
        method: &str,
        act: Option<Act>,
        mut message: Vec<u8>,
        to: &Sender,
    ) -> bool {
        match act {
            None | Some(Act::Page(_) | Act::Details(..) | Act::Refuse(_)) => {}
            Some(Act::Cut) => {
                self.cut();
                return false;
            }
            Some(Act::CutInside) => {
                let mut bytes = headed(&message).to_vec();
                bytes.truncate(HEAD_BYTES + message.len() / 2);
                let _ = to.send(Ok(Frame::data(bytes.into()))).await;
                tokio::time::sleep(Duration::from_millis(50)).await;
                self.cut();
                return false;
            }
            Some(Act::Restart) => {
                self.restart().await;
                return false;
            }
            Some(Act::Hold(time)) => tokio::time::sleep(time).await,
            Some(Act::Twice) if is_stream(method) => {
                let _ = to.send(Ok(Frame::data(headed(&message)))).await;
            }
            Some(Act::Before(other)) if is_stream(method) => {
                let _ = to.send(Ok(Frame::data(headed(&other)))).await;
            }
            Some(Act::Twice | Act::Before(_)) => {}
            Some(Act::Drop) => return true,
            Some(Act::Rewrite(rewrite)) => rewrite(method, &mut message),
        }
        to.send(Ok(Frame::data(headed(&message)))).await.is_ok()
    }

    /// The answer as it comes, message by message.
    fn answer(
        self,
        method: &'static str,
        response: Response<Body>,
        ended: Ended,
    ) -> Response<Body> {
        let (head, body) = response.into_parts();
        if body.is_end_stream() {
            // A status alone is in headers that end the stream themselves.
            return Response::from_parts(head, body);
        }
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(self.pass_back(method, body, sender, ended));
        Response::from_parts(head, Body::new(StreamBody::new(ReceiverStream::new(receiver))))
    }

    async fn pass_back(self, method: &'static str, mut body: Body, to: Sender, mut ended: Ended) {
        let mut cutter = Cutter::default();
        loop {
            let frame = tokio::select! {
                // What the script says goes before an end that the server makes of it.
                biased;
                status = ended.told() => {
                    let _ = to.send(Ok(Frame::trailers(trailers(&status)))).await;
                    return;
                }
                frame = body.frame() => frame,
                () = to.closed() => return,
            };
            let frame = match frame {
                Some(Ok(frame)) => frame,
                Some(Err(status)) => {
                    let _ = to.send(Err(status)).await;
                    return;
                }
                None => return,
            };
            let data = match frame.into_data() {
                Ok(data) => data,
                Err(frame) => {
                    let _ = to.send(Ok(frame)).await;
                    continue;
                }
            };
            cutter.held.extend_from_slice(&data);
            while let Some(message) = cutter.next() {
                let act = self.script.at(&told(method, &message));
                if let Some(Act::Refuse(status)) = act {
                    let _ = to.send(Ok(Frame::trailers(trailers(&status)))).await;
                    return;
                }
                if !self.relay(method, act, message, &to).await {
                    // The connection goes; until then the stream must not look as if it had ended.
                    return to.closed().await;
                }
            }
        }
    }
}

type Sender = mpsc::Sender<Result<Frame<Bytes>, Status>>;

/// A status that ends a call in the server's place, if that comes.
struct Ended(Option<oneshot::Receiver<Status>>);

impl Ended {
    async fn told(&mut self) -> Status {
        if let Some(receiver) = &mut self.0 {
            let told = receiver.await;
            self.0 = None;
            if let Ok(status) = told {
                return status;
            }
        }
        std::future::pending().await
    }
}

fn trailers(status: &Status) -> http::HeaderMap {
    let mut headers = http::HeaderMap::new();
    status.add_header(&mut headers).expect("a status has headers");
    headers
}

/// Whether a method answers with any number of messages.
fn is_stream(method: &str) -> bool {
    matches!(method, "StreamSession" | "WatchSession")
}

/// A message with what comes before it.
fn headed(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("messages are shorter");
    let mut bytes = vec![0];
    bytes.extend(length.to_be_bytes());
    bytes.extend_from_slice(message);
    bytes.into()
}

/// Cuts bytes as they come into messages; none may be compressed.
#[derive(Default)]
struct Cutter {
    held: Vec<u8>,
}

impl Cutter {
    fn next(&mut self) -> Option<Vec<u8>> {
        let (head, rest) = self.held.split_first_chunk::<HEAD_BYTES>()?;
        let [compressed, length @ ..] = *head;
        assert_eq!(compressed, 0, "nobody offers to compress");
        let length = u32::from_be_bytes(length) as usize;
        let message = rest.get(..length)?.to_vec();
        self.held.drain(..HEAD_BYTES + length);
        Some(message)
    }
}
