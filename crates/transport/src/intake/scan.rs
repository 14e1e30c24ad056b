//! A look at the bytes of a message before it is decoded: how many elements its lists have, and how
//! much memory it would take.
//!
//! Two bytes on the wire can be an element of some hundred bytes in memory. So lists are counted,
//! and the memory added up, from the tags and lengths alone. Lists of numbers are one step, however
//! long they are.
//!
//! A message that is given in pieces (Protobuf joins them) has its lists counted in each piece for
//! itself; the memory is added up over all of them.

use super::structures::{
    COUNTERS_MAX, Content, Field, Structure, Structures, numbers_bytes, text_bytes,
};
use clearance_runtime::settings::{Exceeded, Limits};
use clearance_wire::path::{Path, WithinLimit};

/// Messages inside one another, as deep as the decoder goes.
const DEPTH_MAX: usize = 100;

/// Why a message is not decoded.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It has too many elements, or would take too much memory.
    Limit(Exceeded),
    /// The bytes are no message.
    Malformed(&'static str),
}

impl From<Exceeded> for Refusal {
    fn from(exceeded: Exceeded) -> Self {
        Self::Limit(exceeded)
    }
}

/// The memory, in bytes, that the message will take; or why it is not to be decoded.
pub(super) fn scan(index: usize, bytes: &[u8], limits: &Limits) -> Result<u64, Refusal> {
    let structures = Structures::of_api();
    let mut scan = Scan { structures, limits, memory: structures.get(index).size() };
    scan.message(structures.get(index), bytes, &Path::ROOT, 0)?;
    Ok(scan.memory)
}

struct Scan<'a> {
    structures: &'static Structures,
    limits: &'a Limits,
    /// What the message takes as far as it was looked at, bytes.
    memory: u64,
}

impl Scan<'_> {
    fn message(
        &mut self,
        structure: &'static Structure,
        bytes: &[u8],
        path: &Path<'_>,
        depth: usize,
    ) -> Result<(), Refusal> {
        if depth > DEPTH_MAX {
            return Err(Refusal::Malformed("messages inside one another are too deep"));
        }
        let mut counters = [0; COUNTERS_MAX];
        let mut rest = Rest(bytes);
        while !rest.0.is_empty() {
            let value = rest.next()?;
            let Some(field) = structure.field(value.number) else { continue };
            let mut element = None;
            if let Some((counter, limit)) = field.count {
                let count: &mut usize = &mut counters[counter];
                *count += 1;
                path.field(&field.name).within(limit(self.limits), *count)?;
                element = Some(*count - 1);
            }
            self.field(Occurrence { field, element }, &value, path, depth)?;
        }
        Ok(())
    }

    /// One value of a field.
    fn field(
        &mut self,
        occurrence: Occurrence,
        value: &Value<'_>,
        path: &Path<'_>,
        depth: usize,
    ) -> Result<(), Refusal> {
        let Occurrence { field, element } = occurrence;
        let here = path.field(&field.name);
        let indexed;
        let here = match element {
            None => &here,
            Some(place) => {
                indexed = here.index(place);
                &indexed
            }
        };
        match (field.content, value.content) {
            (Content::Message(inner), Some(bytes)) => {
                let structure = self.structures.get(inner);
                if element.is_some() {
                    self.take(structure.element_bytes(), here)?;
                } else if field.is_boxed {
                    self.take(structure.boxed_bytes(), here)?;
                }
                self.message(structure, bytes, here, depth + 1)
            }
            (Content::Text, Some(bytes)) => {
                self.take(text_bytes(bytes.len() as u64, element.is_some()), here)
            }
            (Content::Numbers { each, on_wire }, Some(bytes)) => {
                self.take(numbers_bytes(bytes.len() as u64 / on_wire, each), here)
            }
            (Content::Numbers { each, .. }, None) => self.take(numbers_bytes(1, each), here),
            // Its place is in the structure already; or the decoder refuses it.
            (Content::Number, _) | (Content::Message(_) | Content::Text, None) => Ok(()),
        }
    }

    fn take(&mut self, bytes: u64, path: &Path<'_>) -> Result<(), Refusal> {
        self.memory = self.memory.saturating_add(bytes);
        let limit = self.limits.decoded_bytes_max();
        if self.memory <= limit.value { Ok(()) } else { Err(limit.exceeded_at(path).into()) }
    }
}

/// A field where it occurs in a message.
#[derive(Clone, Copy)]
struct Occurrence {
    field: &'static Field,
    /// Its place in the list, if the field is one.
    element: Option<usize>,
}

/// What is left of a message.
struct Rest<'a>(&'a [u8]);

/// One field on the wire.
struct Value<'a> {
    number: u64,
    /// The bytes of what has a length; none: a number.
    content: Option<&'a [u8]>,
}

const CUT: Refusal = Refusal::Malformed("it ends too early");

impl<'a> Rest<'a> {
    /// The next field; unknown groups are left out on the way.
    fn next(&mut self) -> Result<Value<'a>, Refusal> {
        let tag = self.varint()?;
        let number = tag >> 3;
        if number == 0 || tag > u64::from(u32::MAX) {
            return Err(Refusal::Malformed("no field has such a number"));
        }
        let content = match tag & 7 {
            0 => {
                self.varint()?;
                None
            }
            1 => {
                self.take(8)?;
                None
            }
            2 => {
                let length = self.varint()?;
                Some(self.take(length)?)
            }
            3 => {
                self.group()?;
                None
            }
            5 => {
                self.take(4)?;
                None
            }
            _ => return Err(Refusal::Malformed("there is no such type on the wire")),
        };
        Ok(Value { number, content })
    }

    /// Goes to the end of a group, and of those inside it.
    fn group(&mut self) -> Result<(), Refusal> {
        let mut open = 1_usize;
        while open > 0 {
            match self.varint()? & 7 {
                0 => {
                    self.varint()?;
                }
                1 => {
                    self.take(8)?;
                }
                2 => {
                    let length = self.varint()?;
                    self.take(length)?;
                }
                3 if open < DEPTH_MAX => open += 1,
                3 => return Err(Refusal::Malformed("groups inside one another are too deep")),
                4 => open -= 1,
                5 => {
                    self.take(4)?;
                }
                _ => return Err(Refusal::Malformed("there is no such type on the wire")),
            }
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Refusal> {
        let mut value = 0;
        for place in 0..10 {
            let (&byte, rest) = self.0.split_first().ok_or(CUT)?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Refusal::Malformed("a number is too long"))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], Refusal> {
        let length = usize::try_from(length).map_err(|_| CUT)?;
        let (taken, rest) = self.0.split_at_checked(length).ok_or(CUT)?;
        self.0 = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use clearance_proto as api;

    fn memory_of(name: &str, bytes: &[u8], limits: &Limits) -> Result<u64, Refusal> {
        scan(Structures::of_api().index_of(name).expect("a message"), bytes, limits)
    }

    fn refused(name: &str, bytes: &[u8]) -> String {
        match memory_of(name, bytes, &Limits::default()) {
            Err(Refusal::Limit(exceeded)) => exceeded.to_string(),
            other => panic!("{name}: {other:?}"),
        }
    }

    /// A message of empty elements took up to 1,140 MiB before it was refused.
    #[test]
    fn lists_are_counted_before_they_are_made() {
        let empty = |tag: u8| [tag, 0].repeat(2 << 20);
        let words = refused("BatchQueryRequest", &empty(1 << 3 | 2));
        assert!(words.starts_with("items: more than the limit batch_items_max"), "{words}");
        let words = refused("StepSessionRequest", &empty(2 << 3 | 2));
        assert!(words.starts_with("frames: more than the limit frames_per_step_max"), "{words}");
        let frame =
            api::Frame { poses: vec![api::BodyPose::default(); 20_001], ..Default::default() };
        let frames = vec![api::Frame::default(), frame];
        let request = api::StepSessionRequest { frames, ..Default::default() };
        let words = refused("StepSessionRequest", &request.encode_to_vec());
        assert!(words.starts_with("frames[1].poses: more than the limit bodies_per"), "{words}");
    }

    #[test]
    fn what_the_lists_take_together_is_bounded() {
        let poses = vec![api::BodyPose::default(); 20_000];
        let frames = vec![api::Frame { poses, ..Default::default() }; 100];
        let request = api::StepSessionRequest { frames, ..Default::default() };
        let bytes = request.encode_to_vec();
        assert!(bytes.len() < 4 << 20);
        let words = refused("StepSessionRequest", &bytes);
        assert!(words.contains("].poses[") && words.contains("decoded_bytes_max"), "{words}");
    }

    #[test]
    fn ordinary_messages_are_a_few_times_their_bytes() {
        let vector = Some(api::Vector3 { x: 1.0, y: 2.0, z: 3.0 });
        let pose = api::Pose { translation: vector, ..Default::default() };
        let poses =
            vec![api::BodyPose { id: Some(7), pose: Some(pose), ..Default::default() }; 500];
        let readable = api::Frame { frame_id: 1, poses, ..Default::default() }.encode_to_vec();
        let packed = api::PackedPoses {
            ids: (0..500).collect(),
            translations: vec![1.0; 1_500].into(),
            rotations: vec![0.5; 2_000].into(),
            ..Default::default()
        };
        let packed =
            api::Frame { packed_poses: Some(packed), ..Default::default() }.encode_to_vec();
        for (bytes, ratio_max) in [(readable, 12), (packed, 3)] {
            let memory = memory_of("Frame", &bytes, &Limits::default()).expect("small");
            assert!(memory < ratio_max * bytes.len() as u64, "{memory} for {}", bytes.len());
        }
    }

    #[test]
    fn what_is_no_message_is_refused_and_what_is_unknown_is_left_out() {
        let limits = &Limits::default();
        for bytes in [&[0x0a][..], &[0x0a, 5, 1], &[0x80; 11], &[0x07, 0], &[0x00], &[0x7b, 0x0b]] {
            let found = memory_of("Frame", bytes, limits);
            assert!(matches!(found, Err(Refusal::Malformed(_))), "{bytes:?}: {found:?}");
            assert!(api::Frame::decode(bytes).is_err(), "{bytes:?}");
        }
        // Field 1,000,000 as a text, and field 999 as a group with a number in it.
        for bytes in [&[0x82, 0xa4, 0xe8, 0x03, 1, 65][..], &[0xbb, 0x3e, 0x08, 1, 0xbc, 0x3e]] {
            assert!(memory_of("Frame", bytes, limits).is_ok(), "{bytes:?}");
            assert!(api::Frame::decode(bytes).is_ok(), "{bytes:?}");
        }
        let deep = (0..200).fold(Vec::new(), |inner: Vec<u8>, level| {
            // Compound.parts around PlacedBody.compound around Compound.parts, and so on.
            let mut bytes = vec![if level % 2 == 0 { 0x22 } else { 0x0a }];
            prost::encoding::encode_varint(inner.len() as u64, &mut bytes);
            [bytes, inner].concat()
        });
        assert!(memory_of("Compound", &deep, limits).is_err());
    }
}
