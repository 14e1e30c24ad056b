//! Spans of calls, for whoever collects traces. Where nobody does, nothing is made.
//!
//! A call is told once it has ended, with the span that it is part of by its `traceparent`
//! (<https://www.w3.org/TR/trace-context/>); of a stream slow frames are told beside it.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::unique::next_number;

/// The header that says which span a call is part of.
pub const TRACEPARENT: &str = "traceparent";

/// Where a span is: its trace, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanPlace {
    /// The trace.
    pub trace: u128,
    /// The span.
    pub span: u64,
}

/// What a client says of the span that its call is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanParent {
    /// Where that one is.
    pub place: SpanPlace,
    /// Whether it is collected.
    pub is_sampled: bool,
}

impl SpanParent {
    /// As a `traceparent` says it; none: it is none.
    pub fn parse(header: &str) -> Option<Self> {
        let mut parts = header.trim().split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let is_known = version == "00" && parts.next().is_none();
        // Later versions may have more parts; this one is none.
        let is_later = version.len() == 2 && version != "ff" && hex(version).is_some();
        if !(is_known || is_later && version != "00") {
            return None;
        }
        if (trace.len(), span.len(), flags.len()) != (32, 16, 2) {
            return None;
        }
        let place = SpanPlace { trace: hex(trace)?, span: u64::try_from(hex(span)?).ok()? };
        let is_sampled = hex(flags)? & 1 == 1;
        (place.trace != 0 && place.span != 0).then_some(Self { place, is_sampled })
    }
}

/// A number in small hexadecimal digits.
fn hex(digits: &str) -> Option<u128> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if !digits.bytes().all(is_digit) {
        return None;
    }
    u128::from_str_radix(digits, 16).ok()
}

/// What is told of a span.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedSpan {
    /// Where it is.
    pub place: SpanPlace,
    /// The span that it is part of, and whether that is another process's.
    pub parent: Option<(u64, bool)>,
    /// A method, as `package.Service/Method`, or `frame`.
    pub name: &'static str,
    /// When it began.
    pub start: SystemTime,
    /// How long it took.
    pub elapsed: Duration,
    /// What else is known of it, by the names that are usual.
    pub attributes: Vec<(&'static str, Attribute)>,
    /// Whether the server is to blame that it failed.
    pub is_fault: bool,
}

/// A value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// A text.
    Text(Arc<str>),
    /// A text of the program.
    Name(&'static str),
    /// A number.
    Number(u64),
}

/// How many spans became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// The collector has taken them.
    pub sent: u64,
    /// There was no room for them while others waited.
    pub dropped: u64,
    /// The collector did not take them.
    pub failed: u64,
}

/// Whoever takes spans to a collector.
pub trait SpanSink: fmt::Debug + Send + Sync {
    /// Takes a span, or drops it where there is no room; never waits.
    fn take(&self, span: EndedSpan);

    /// How many became what.
    fn counts(&self) -> SpanCounts;

    /// Sends what is left, and comes back after so long at the latest.
    fn finish(&self, time: Duration);
}

/// Spans of one server; cheap to clone.
#[derive(Clone, Debug)]
pub struct Spans {
    sink: Arc<dyn SpanSink>,
    slow_frame: Duration,
}

/// A span that has begun; cheap to clone.
#[derive(Clone, Debug)]
pub struct OpenSpan {
    spans: Spans,
    place: SpanPlace,
    parent: Option<u64>,
    start: SystemTime,
}

impl Spans {
    /// Into this sink; frames of streams that take longer than this are told, too.
    pub fn new(sink: Arc<dyn SpanSink>, slow_frame: Duration) -> Self {
        Self { sink, slow_frame }
    }

    /// What takes them.
    pub fn sink(&self) -> &dyn SpanSink {
        &*self.sink
    }

    /// The span of a call that begins now, with what its `traceparent` says; none: whoever called
    /// does not collect it.
    pub fn begin(&self, traceparent: Option<&str>, start: SystemTime) -> Option<OpenSpan> {
        let parent = traceparent.and_then(SpanParent::parse);
        if parent.is_some_and(|parent| !parent.is_sampled) {
            return None;
        }
        let new = || u128::from(next_number()) << 64 | u128::from(next_number());
        let trace = parent.map_or_else(new, |parent| parent.place.trace);
        let place = SpanPlace { trace, span: next_number().max(1) };
        let parent = parent.map(|parent| parent.place.span);
        Some(OpenSpan { spans: self.clone(), place, parent, start })
    }
}

impl OpenSpan {
    /// Where it is.
    pub fn place(&self) -> SpanPlace {
        self.place
    }

    /// Tells that it is over.
    pub fn end(
        &self,
        name: &'static str,
        elapsed: Duration,
        is_fault: bool,
        attributes: Vec<(&'static str, Attribute)>,
    ) {
        let (place, start) = (self.place, self.start);
        let parent = self.parent.map(|span| (span, true));
        let ended = EndedSpan { place, parent, name, start, elapsed, attributes, is_fault };
        self.spans.sink.take(ended);
    }
}

/// A frame of a stream, or what else a stream answers one by one.
#[derive(Debug)]
pub struct FrameSpan(Option<(OpenSpan, Instant)>);

impl FrameSpan {
    /// One that begins now, in this stream, if it is collected.
    pub fn begin(stream: Option<OpenSpan>) -> Self {
        Self(stream.map(|stream| (stream, Instant::now())))
    }

    /// It is answered. It is told if it was slow.
    pub fn end(self, attributes: impl FnOnce() -> Vec<(&'static str, Attribute)>) {
        let Some((stream, began)) = self.0 else { return };
        let elapsed = began.elapsed();
        if elapsed < stream.spans.slow_frame {
            return;
        }
        let span = next_number().max(1);
        stream.spans.sink.take(EndedSpan {
            place: SpanPlace { span, ..stream.place },
            parent: Some((stream.place.span, false)),
            name: "frame",
            start: SystemTime::now().checked_sub(elapsed).unwrap_or(SystemTime::UNIX_EPOCH),
            elapsed,
            attributes: attributes(),
            is_fault: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Debug, Default)]
    struct Kept(Mutex<Vec<EndedSpan>>);

    impl SpanSink for Kept {
        fn take(&self, span: EndedSpan) {
            self.0.lock().unwrap().push(span);
        }
        fn counts(&self) -> SpanCounts {
            SpanCounts::default()
        }
        fn finish(&self, _: Duration) {}
    }

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_traceparent_is_read_as_the_standard_has_it() {
        let read = SpanParent::parse(PARENT).unwrap();
        let (trace, span) = (0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736, 0x00f0_67aa_0ba9_02b7);
        assert_eq!(read, SpanParent { place: SpanPlace { trace, span }, is_sampled: true });
        let quiet = SpanParent::parse(&PARENT.replace("-01", "-00")).unwrap();
        assert!(!quiet.is_sampled);
        let later = PARENT.replacen("00", "01", 1) + "-more";
        assert!(SpanParent::parse(&later).is_some());
        for none in [
            "",
            "00",
            &PARENT.replacen("00", "ff", 1),
            &PARENT.to_uppercase(),
            &(PARENT.to_owned() + "-more"),
            &PARENT.replace("4bf9", "4bg9"),
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        ] {
            assert_eq!(SpanParent::parse(none), None, "{none}");
        }
    }

    #[test]
    fn slow_frames_are_told_as_parts_of_their_stream_and_others_are_not() {
        let kept = Arc::new(Kept::default());
        let tell = |slow_frame, parent| {
            let spans = Spans::new(kept.clone(), slow_frame);
            let stream = spans.begin(parent, SystemTime::now())?;
            let frame = FrameSpan::begin(Some(stream.clone()));
            frame.end(|| vec![("n", Attribute::Number(1))]);
            Some(stream)
        };
        assert!(tell(Duration::from_secs(60), Some(PARENT)).is_some());
        assert!(kept.0.lock().unwrap().is_empty(), "it was fast");
        let stream = tell(Duration::ZERO, Some(PARENT)).unwrap();
        let told = std::mem::take(&mut *kept.0.lock().unwrap());
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].parent, Some((stream.place.span, false)));
        assert_eq!(told[0].place.trace, SpanParent::parse(PARENT).unwrap().place.trace);
        assert!(tell(Duration::ZERO, Some(&PARENT.replace("-01", "-00"))).is_none());
        FrameSpan::begin(None).end(Vec::new);
        assert!(kept.0.lock().unwrap().is_empty(), "nobody collects these");
    }
}
