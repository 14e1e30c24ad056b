//! Spans on their way to a collector, by OTLP over gRPC.
//!
//! Whoever tells a span puts it into a queue of [`QUEUE`] and goes on; where there is no room it is
//! dropped, and counted. A thread of its own takes them out in batches and sends them. A collector
//! that is slow or gone keeps nobody waiting but that thread, and the end of the process no longer
//! than [`OtlpSink::finish`] is told to wait.

mod data;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc as std_mpsc};
use std::time::Duration;

use clearance_runtime::spans::{EndedSpan, SpanCounts, SpanSink};
use opentelemetry::InstrumentationScope;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::trace::SpanExporter as _;
use tokio::sync::{mpsc, oneshot};

use self::data::{resource, span_data};

/// Spans that wait to be sent, at most: of some 500 bytes each.
pub const QUEUE: usize = 4_096;

/// Spans that are sent at a time.
const BATCH: usize = 512;

/// Between two batches while there are few spans.
const INTERVAL: Duration = Duration::from_millis(500);

/// What a collector may take for a batch; then it is given up.
const EXPORT_TIME: Duration = Duration::from_secs(5);

/// Why spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// The address of the collector is none.
    #[error("otlp_endpoint: {0:?} is no address, as http://127.0.0.1:4317 is")]
    Address(String),
    /// The exporter cannot be made.
    #[error("otlp_endpoint: {0}")]
    Exporter(#[from] ExporterBuildError),
    /// Something of the operating system.
    #[error("otlp_endpoint: {0}")]
    Io(#[from] std::io::Error),
}

/// Takes spans to a collector.
#[derive(Debug)]
pub struct OtlpSink {
    queue: mpsc::Sender<EndedSpan>,
    counts: Arc<Counts>,
    /// Asks for the end, and hears that it has come.
    finish: Mutex<Option<(oneshot::Sender<()>, std_mpsc::Receiver<()>)>>,
}

#[derive(Debug, Default)]
struct Counts {
    sent: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

impl OtlpSink {
    /// To the collector at this address, `http://HOST:PORT`, whether it is there yet or not. The
    /// server is called `version` there.
    pub fn start(endpoint: &str, version: &'static str) -> Result<Self, OtlpError> {
        let wrong = || OtlpError::Address(endpoint.to_owned());
        let rest = endpoint.strip_prefix("http://").ok_or_else(wrong)?;
        if rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong());
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let exporter = {
            // The channel belongs to the runtime that it is made in.
            let _inside = runtime.enter();
            let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint);
            let mut exporter = exporter.with_timeout(EXPORT_TIME).build()?;
            exporter.set_resource(&resource(version));
            exporter
        };
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (ask, asked) = oneshot::channel();
        let (told, hears) = std_mpsc::channel();
        let counts = Arc::new(Counts::default());
        let scope = InstrumentationScope::builder("clearance").with_version(version).build();
        let sending = Sending { exporter, scope, waiting, counts: counts.clone(), is_down: false };
        std::thread::Builder::new().name("otlp".to_owned()).spawn(move || {
            runtime.block_on(sending.run(asked));
            // Whoever does not listen any more has waited long enough.
            let _ = told.send(());
        })?;
        Ok(Self { queue, counts, finish: Mutex::new(Some((ask, hears))) })
    }
}

impl SpanSink for OtlpSink {
    fn take(&self, span: EndedSpan) {
        if self.queue.try_send(span).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counts(&self) -> SpanCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let Counts { sent, dropped, failed } = &*self.counts;
        SpanCounts { sent: read(sent), dropped: read(dropped), failed: read(failed) }
    }

    fn finish(&self, time: Duration) {
        let finish = self.finish.lock().ok().and_then(|mut finish| finish.take());
        let Some((ask, hears)) = finish else { return };
        if ask.send(()).is_ok() {
            // A collector that does not answer in time gets no more.
            let _ = hears.recv_timeout(time);
        }
    }
}

/// What the thread has.
struct Sending {
    exporter: SpanExporter,
    scope: InstrumentationScope,
    waiting: mpsc::Receiver<EndedSpan>,
    counts: Arc<Counts>,
    /// The last batch was not taken.
    is_down: bool,
}

impl Sending {
    /// Sends what comes, until it is asked to end or nobody is left to tell spans; then what is
    /// left.
    async fn run(mut self, mut asked: oneshot::Receiver<()>) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            tokio::select! {
                biased;
                _ = &mut asked => break,
                count = self.waiting.recv_many(&mut batch, BATCH) => if count == 0 { break },
            }
            if batch.len() < BATCH {
                // More may come meanwhile, and one message brings all of them.
                let pause = tokio::time::sleep(INTERVAL);
                tokio::select! {
                    _ = &mut asked => break,
                    () = pause => {}
                }
                while batch.len() < BATCH
                    && let Ok(span) = self.waiting.try_recv()
                {
                    batch.push(span);
                }
            }
            tokio::select! {
                _ = &mut asked => break,
                () = self.send(&batch) => batch.clear(),
            }
        }
        self.waiting.close();
        while let Ok(span) = self.waiting.try_recv() {
            batch.push(span);
        }
        for part in batch.chunks(BATCH) {
            self.send(part).await;
            if self.is_down {
                break;
            }
        }
    }

    async fn send(&mut self, batch: &[EndedSpan]) {
        let data = batch.iter().map(|span| span_data(span, &self.scope)).collect();
        let sent = self.exporter.export(data).await;
        let (counter, count) = match &sent {
            Ok(()) => (&self.counts.sent, batch.len() as u64),
            Err(_) => (&self.counts.failed, batch.len() as u64),
        };
        counter.fetch_add(count, Ordering::Relaxed);
        // Told when it changes, and not with each batch.
        match (&sent, self.is_down) {
            (Err(error), false) => tracing::warn!(%error, "the collector of spans does not answer"),
            (Ok(()), true) => tracing::info!("the collector of spans answers again"),
            (Ok(()), false) | (Err(_), true) => {}
        }
        self.is_down = sent.is_err();
    }
}
