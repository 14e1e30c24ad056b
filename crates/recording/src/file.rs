//! The file itself: MCAP, with a channel for each topic. Chunks are short, so that a file that is
//! cut off anywhere has all but its last second.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use flate2::read::MultiGzDecoder;
use mcap::read::Options;
use mcap::records::MessageHeader;
use mcap::{McapError, WriteOptions, Writer};
use prost::{Message, Name};

use crate::Error;
use crate::descriptors::files_of;

/// Bytes after which a chunk ends.
const CHUNK_BYTES: u64 = 256 << 10;

/// A chunk ends after so long, too.
const CHUNK_AGE: Duration = Duration::from_secs(1);

/// How a file begins.
const MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// A file that is written.
pub(crate) struct Recorder<W: Write + Seek = BufWriter<File>> {
    writer: Writer<W>,
    channels: HashMap<&'static str, u16>,
    sequence: u32,
    chunk_began: Instant,
}

impl Recorder {
    /// A new file; one that is there is overwritten.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(Error::io(name.clone()))?;
        Self::on(BufWriter::new(file)).map_err(|error| Error::file(name, &error))
    }
}

impl<W: Write + Seek> Recorder<W> {
    fn on(writer: W) -> Result<Self, McapError> {
        let options = WriteOptions::new()
            .compression(None)
            .profile("clearance")
            .library(concat!("clearance ", env!("CARGO_PKG_VERSION")))
            .chunk_size(Some(CHUNK_BYTES))
            .disable_seeking(true);
        Ok(Self {
            writer: options.create(writer)?,
            channels: HashMap::new(),
            sequence: 0,
            chunk_began: Instant::now(),
        })
    }

    /// Writes a message; `at` in nanoseconds since 1970.
    pub(crate) fn write<M: Message + Name>(
        &mut self,
        topic: &'static str,
        message: &M,
        at: u64,
    ) -> Result<(), McapError> {
        let channel_id = match self.channels.get(topic) {
            Some(id) => *id,
            None => self.begin::<M>(topic)?,
        };
        let header =
            MessageHeader { channel_id, sequence: self.sequence, log_time: at, publish_time: at };
        self.sequence = self.sequence.wrapping_add(1);
        self.writer.write_to_known_channel(&header, &message.encode_to_vec())?;
        if self.chunk_began.elapsed() > CHUNK_AGE {
            self.chunk_began = Instant::now();
            self.writer.flush()?;
        }
        Ok(())
    }

    fn begin<M: Name>(&mut self, topic: &'static str) -> Result<u16, McapError> {
        let name = M::full_name();
        let schema = self.writer.add_schema(&name, "protobuf", &files_of(&name))?;
        let id = self.writer.add_channel(schema, topic, "protobuf", &BTreeMap::new())?;
        self.channels.insert(topic, id);
        Ok(id)
    }

    /// Ends the file with its index.
    pub(crate) fn end(mut self) -> Result<W, McapError> {
        self.writer.finish()?;
        Ok(self.writer.into_inner())
    }
}

/// Nanoseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// A message of a file.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// Its topic.
    pub(crate) topic: String,
    /// Its bytes.
    pub(crate) data: Vec<u8>,
}

/// The messages of a file, plain or in gzip, as far as it goes.
pub(crate) fn read(path: &Path) -> Result<Vec<Recorded>, Error> {
    let name = || path.display().to_string();
    let mut bytes = std::fs::read(path).map_err(Error::io(name()))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        // One that is cut off is read up to there.
        let _ = MultiGzDecoder::new(&*bytes).read_to_end(&mut plain);
        bytes = plain;
    }
    if !bytes.starts_with(MAGIC) {
        return Err(Error::file(name(), &"is no MCAP file"));
    }
    Ok(messages(&bytes))
}

fn messages(bytes: &[u8]) -> Vec<Recorded> {
    let options = Options::IgnoreEndMagic.into();
    let Ok(stream) = mcap::MessageStream::new_with_options(bytes, options) else {
        return Vec::new();
    };
    let whole = stream.map_while(Result::ok);
    let recorded = whole.map(|message| Recorded {
        topic: message.channel.topic.clone(),
        data: message.data.into_owned(),
    });
    recorded.collect()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use clearance_proto::Frame;

    use super::*;

    fn file(frames: u64) -> Vec<u8> {
        let mut recorder = Recorder::on(Cursor::new(Vec::new())).unwrap();
        for frame_id in 1..=frames {
            let frame = Frame { frame_id, removed_body_ids: vec![7; 2_000], ..Frame::default() };
            recorder.write("/clearance/frame", &frame, frame_id).unwrap();
        }
        recorder.end().unwrap().into_inner()
    }

    #[test]
    fn what_is_written_is_read() {
        let told = messages(&file(3));
        let ids: Vec<u64> =
            told.iter().map(|one| Frame::decode(&*one.data).unwrap().frame_id).collect();
        assert_eq!(ids, [1, 2, 3]);
        assert!(told.iter().all(|one| one.topic == "/clearance/frame"));
    }

    #[test]
    fn a_file_that_is_cut_off_anywhere_is_read_up_to_there() {
        let whole = file(400);
        let mut most = 0;
        for end in (MAGIC.len()..whole.len()).step_by(4_999).chain([whole.len()]) {
            let told = messages(&whole[..end]);
            assert!(told.len() >= most, "{end}");
            most = told.len();
            let ids = told.iter().map(|one| Frame::decode(&*one.data).unwrap().frame_id);
            assert!(ids.eq(1..=told.len() as u64), "{end}");
        }
        assert_eq!(most, 400);
    }
}
