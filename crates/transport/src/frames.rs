//! The frames of HTTP/2 as their bytes come: which begin a stream, and which bring how much data
//! (RFC 9113, section 4.1). Nothing is decoded; what is wrong with them the transport finds out.

/// Every HTTP/2 connection begins with so many bytes of the client (RFC 9113, section 3.4).
pub(super) const PREFACE_BYTES: usize = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len();

/// What comes before the payload of each frame.
const HEADER_BYTES: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;

/// A frame that says something about a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// A stream begins, or ends with trailers.
    Headers {
        /// The number of the stream.
        stream: u32,
    },
    /// Data of a stream.
    Data {
        /// The number of the stream.
        stream: u32,
        /// The bytes of data in it.
        bytes: u64,
    },
}

/// Where among the frames the bytes that have come so far end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FrameReader {
    /// Bytes to come before the next header.
    skipped: usize,
    header: [u8; HEADER_BYTES],
    /// Bytes of the header that are there.
    filled: usize,
}

impl Default for FrameReader {
    fn default() -> Self {
        Self { skipped: PREFACE_BYTES, header: [0; HEADER_BYTES], filled: 0 }
    }
}

impl FrameReader {
    /// Goes on by these bytes. A frame counts from its header on, for its payload follows.
    pub(super) fn advance(&mut self, mut bytes: &[u8], mut tell: impl FnMut(Arrived)) {
        while !bytes.is_empty() {
            if self.skipped > 0 {
                let skipped = self.skipped.min(bytes.len());
                self.skipped -= skipped;
                bytes = &bytes[skipped..];
                continue;
            }
            let taken = (HEADER_BYTES - self.filled).min(bytes.len());
            self.header[self.filled..][..taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == HEADER_BYTES {
                self.filled = 0;
                self.whole(&mut tell);
            }
        }
    }

    /// The header is there.
    fn whole(&mut self, tell: &mut impl FnMut(Arrived)) {
        let [a, b, c, kind, _flags, d, e, f, g] = self.header;
        let length = u32::from_be_bytes([0, a, b, c]);
        // The first bit has no meaning.
        let stream = u32::from_be_bytes([d, e, f, g]) & (u32::MAX >> 1);
        self.skipped = length as usize;
        match kind {
            DATA => tell(Arrived::Data { stream, bytes: u64::from(length) }),
            HEADERS => tell(Arrived::Headers { stream }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, stream: u32, payload: usize) -> Vec<u8> {
        let length = u32::try_from(payload).unwrap().to_be_bytes();
        let mut bytes = vec![length[1], length[2], length[3], kind, 0];
        bytes.extend(stream.to_be_bytes());
        bytes.resize(HEADER_BYTES + payload, 1);
        bytes
    }

    #[test]
    fn frames_are_told_once_however_their_bytes_are_cut() {
        const SETTINGS: u8 = 4;
        let preface = vec![0; PREFACE_BYTES];
        let frames = [frame(SETTINGS, 0, 36), frame(HEADERS, 1, 70), frame(DATA, 1, 300)];
        let more = [frame(DATA, 1, 0), frame(HEADERS, (1 << 31) | 3, 1)];
        let bytes = [preface, frames.concat(), more.concat()].concat();
        let expected = [
            Arrived::Headers { stream: 1 },
            Arrived::Data { stream: 1, bytes: 300 },
            Arrived::Data { stream: 1, bytes: 0 },
            Arrived::Headers { stream: 3 },
        ];
        for step in [1, 2, 8, 9, 10, 100, bytes.len()] {
            let (mut frames, mut told) = (FrameReader::default(), Vec::new());
            for piece in bytes.chunks(step) {
                frames.advance(piece, |frame| told.push(frame));
            }
            assert_eq!(told, expected, "by {step}");
        }
    }
}
