//! Lists of numbers as they lie in the bytes that were received: `PackedPoses`, `PackedRays` and
//! `PackedCasts`.
//!
//! A packed list of numbers of a fixed width has on the wire just the bytes that the numbers have
//! in memory, so there is nothing to decode: what is kept is a share of the bytes received, and a
//! number is read where it is wanted. Every legal form is taken: a list in several pieces, or with
//! elements one by one, is joined in bytes of its own.

use std::fmt;
use std::marker::PhantomData;

use prost::bytes::{Buf, BufMut, Bytes};
use prost::encoding::{DecodeContext, WireType, check_wire_type, decode_varint, encode_varint};
use prost::encoding::{encode_key, encoded_len_varint, key_len, skip_field};
use prost::{DecodeError, Message};

/// A number of a fixed width.
pub trait Number: Copy + Default + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// How one alone is told on the wire.
    const ALONE: WireType;
    /// Its bytes.
    type Bytes: for<'a> TryFrom<&'a [u8]> + AsRef<[u8]>;
    /// From its bytes, least significant first.
    fn read(bytes: Self::Bytes) -> Self;
    /// To them.
    fn write(self) -> Self::Bytes;
}

impl Number for f64 {
    const ALONE: WireType = WireType::SixtyFourBit;
    type Bytes = [u8; 8];
    fn read(bytes: [u8; 8]) -> Self {
        Self::from_le_bytes(bytes)
    }
    fn write(self) -> [u8; 8] {
        self.to_le_bytes()
    }
}

impl Number for u32 {
    const ALONE: WireType = WireType::ThirtyTwoBit;
    type Bytes = [u8; 4];
    fn read(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }
    fn write(self) -> [u8; 4] {
        self.to_le_bytes()
    }
}

/// A list of numbers.
#[derive(Clone, Default)]
pub struct Packed<T> {
    bytes: Pieces,
    numbers: PhantomData<T>,
}

#[derive(Clone)]
enum Pieces {
    /// One, as it was received.
    Received(Bytes),
    /// Several, joined.
    Joined(Vec<u8>),
}

impl Default for Pieces {
    fn default() -> Self {
        Self::Received(Bytes::new())
    }
}

impl<T: Number> Packed<T> {
    const SIZE: usize = size_of::<T>();

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.bytes().len() / Self::SIZE
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }

    /// The numbers, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        self.bytes().chunks_exact(Self::SIZE).map(read)
    }

    /// The numbers, so many at a time; those that are left over are left out.
    #[inline]
    pub fn rows<const N: usize>(&self) -> impl ExactSizeIterator<Item = [T; N]> + '_ {
        let row = |row: &[u8]| {
            let mut numbers = row.chunks_exact(Self::SIZE).map(read);
            std::array::from_fn(|_| numbers.next().unwrap_or_default())
        };
        self.bytes().chunks_exact(N * Self::SIZE).map(row)
    }

    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Pieces::Received(bytes) => bytes,
            Pieces::Joined(bytes) => bytes,
        }
    }

    /// The bytes, to put others behind them.
    fn joined(&mut self) -> &mut Vec<u8> {
        if let Pieces::Received(bytes) = &self.bytes {
            self.bytes = Pieces::Joined(bytes.to_vec());
        }
        match &mut self.bytes {
            Pieces::Joined(bytes) => bytes,
            Pieces::Received(_) => unreachable!("they were joined just now"),
        }
    }

    fn merge(
        &mut self,
        wire_type: WireType,
        buffer: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        if wire_type == T::ALONE {
            if buffer.remaining() < Self::SIZE {
                // Says that it ends too early.
                return skip_field(wire_type, 1, buffer, context);
            }
            let number = buffer.copy_to_bytes(Self::SIZE);
            self.joined().extend_from_slice(&number);
            return Ok(());
        }
        check_wire_type(WireType::LengthDelimited, wire_type)?;
        let length = usize::try_from(decode_varint(buffer)?).unwrap_or(usize::MAX);
        let rest = length % Self::SIZE;
        if length > buffer.remaining() || rest > 0 {
            // The last number ends too early.
            return skip_field(T::ALONE, 1, &mut &[0; 8][..rest.min(Self::SIZE - 1)], context);
        }
        let piece = buffer.copy_to_bytes(length);
        if self.is_empty() {
            self.bytes = Pieces::Received(piece);
        } else {
            self.joined().extend_from_slice(&piece);
        }
        Ok(())
    }

    fn encode(&self, tag: u32, buffer: &mut impl BufMut) {
        if !self.is_empty() {
            encode_key(tag, WireType::LengthDelimited, buffer);
            encode_varint(self.bytes().len() as u64, buffer);
            buffer.put_slice(self.bytes());
        }
    }

    fn encoded_len(&self, tag: u32) -> usize {
        let length = self.bytes().len();
        if length == 0 { 0 } else { key_len(tag) + encoded_len_varint(length as u64) + length }
    }
}

#[inline]
fn read<T: Number>(bytes: &[u8]) -> T {
    T::Bytes::try_from(bytes).map_or_else(|_| T::default(), T::read)
}

impl<T: Number> FromIterator<T> for Packed<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Self {
        let numbers = numbers.into_iter();
        let mut bytes = Vec::with_capacity(numbers.size_hint().0 * Self::SIZE);
        numbers.for_each(|number| bytes.extend_from_slice(number.write().as_ref()));
        // Copies share them.
        Self { bytes: Pieces::Received(bytes.into()), numbers: PhantomData }
    }
}

impl<T: Number> From<Vec<T>> for Packed<T> {
    fn from(numbers: Vec<T>) -> Self {
        numbers.into_iter().collect()
    }
}

impl<T: Number> PartialEq for Packed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Number> fmt::Debug for Packed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

/// A message that has nothing but lists of numbers: their names, types and tags.
macro_rules! lists {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$of:meta])* $field:ident: $number:ty = $tag:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$of])* pub $field: Packed<$number>,)+
        }

        impl Message for $name {
            fn encode_raw(&self, buffer: &mut impl BufMut) {
                $(self.$field.encode($tag, buffer);)+
            }

            fn merge_field(
                &mut self,
                tag: u32,
                wire_type: WireType,
                buffer: &mut impl Buf,
                context: DecodeContext,
            ) -> Result<(), DecodeError> {
                match tag {
                    $($tag => self.$field.merge(wire_type, buffer, context),)+
                    _ => skip_field(wire_type, tag, buffer, context),
                }
            }

            fn encoded_len(&self) -> usize {
                0 $(+ self.$field.encoded_len($tag))+
            }

            fn clear(&mut self) {
                *self = Self::default();
            }
        }
    };
}

lists! {
    /// New poses of many bodies; `proto/clearance/v1/session_service.proto` says what they are.
    PackedPoses {
        /// The bodies.
        ids: u32 = 1,
        /// Three numbers for each body.
        translations: f64 = 2,
        /// Four numbers for each body.
        rotations: f64 = 3,
        /// Nine numbers for each body.
        rotation_matrices: f64 = 4,
        /// Those that were put here.
        teleported_ids: u32 = 5,
        /// Three numbers for each body.
        spins: f64 = 6,
    }
}

lists! {
    /// Many rays; `proto/clearance/v1/scene_query.proto` says what they are.
    PackedRays {
        /// Three numbers for each ray.
        origins: f64 = 1,
        /// Three numbers for each ray.
        displacements: f64 = 2,
        /// A body that each leaves out.
        ignored_bodies: u32 = 3,
        /// The category of each.
        categories: u32 = 4,
        /// The mask of each.
        masks: u32 = 5,
    }
}

lists! {
    /// Many casts; `proto/clearance/v1/scene_query.proto` says what they are.
    PackedCasts {
        /// The body of each.
        bodies: u32 = 1,
        /// Three numbers for each cast.
        translations: f64 = 2,
        /// Four numbers for each cast.
        rotations: f64 = 3,
        /// Three numbers for each cast.
        displacements: f64 = 4,
        /// A body that each leaves out.
        ignored_bodies: u32 = 5,
        /// The category of each.
        categories: u32 = 6,
        /// The mask of each.
        masks: u32 = 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same fields, as the generator would have written them.
    #[derive(Clone, PartialEq, prost::Message)]
    struct Ordinary {
        #[prost(fixed32, repeated, tag = "1")]
        ids: Vec<u32>,
        #[prost(double, repeated, tag = "2")]
        translations: Vec<f64>,
    }

    fn ordinary() -> Ordinary {
        Ordinary { ids: vec![1, 0, u32::MAX], translations: vec![0.5, -0.0, f64::MAX, 1e-300] }
    }

    #[track_caller]
    fn reads_as(bytes: &[u8], expected: &Ordinary) {
        let read = PackedPoses::decode(bytes).unwrap();
        assert_eq!(Ordinary::decode(bytes).unwrap(), *expected);
        assert!(read.ids.iter().eq(expected.ids.iter().copied()), "{read:?}");
        assert!(read.translations.iter().eq(expected.translations.iter().copied()), "{read:?}");
        // What is written again is read as the same.
        assert_eq!(PackedPoses::decode(&read.encode_to_vec()[..]).unwrap(), read);
        assert_eq!(read.encode_to_vec().len(), read.encoded_len());
    }

    #[test]
    fn every_legal_form_of_a_list_is_read_as_the_generated_code_reads_it() {
        let whole = ordinary();
        reads_as(&whole.encode_to_vec(), &whole);
        // In two pieces, with others between them.
        let twice = [whole.encode_to_vec(), whole.encode_to_vec()].concat();
        let both = Ordinary {
            ids: [whole.ids.clone(), whole.ids.clone()].concat(),
            translations: [whole.translations.clone(), whole.translations.clone()].concat(),
        };
        reads_as(&twice, &both);
        // One by one, after a packed piece; then an empty piece; then one that nobody knows.
        let mut bytes = whole.encode_to_vec();
        bytes.extend([1 << 3 | 5, 7, 0, 0, 0, 2 << 3 | 1, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        bytes.extend([1 << 3 | 2, 0, 15 << 3, 1]);
        let mut expected = whole;
        expected.ids.push(7);
        expected.translations.push(1.0);
        reads_as(&bytes, &expected);
        reads_as(&[], &Ordinary::default());
    }

    #[test]
    fn what_is_no_list_of_numbers_is_refused_by_both() {
        for bytes in [
            &[1 << 3 | 2, 3, 0, 0, 0][..],
            &[1 << 3 | 2, 4, 0, 0, 0],
            &[2 << 3 | 2, 4, 0, 0, 0, 0],
            &[1 << 3, 1],
            &[1 << 3 | 5, 1, 0],
            &[2 << 3 | 5, 1, 0, 0, 0],
            &[1 << 3 | 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ] {
            assert!(Ordinary::decode(bytes).is_err(), "{bytes:?}");
            assert!(PackedPoses::decode(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn what_was_received_in_one_piece_is_not_copied() {
        let bytes = Bytes::from(ordinary().encode_to_vec());
        let read = PackedPoses::decode(bytes.clone()).unwrap();
        let inside = bytes.as_ptr_range();
        assert!(inside.contains(&read.translations.bytes().as_ptr()));
        let rows: Vec<[f64; 3]> = read.translations.rows().collect();
        assert_eq!(rows, [[0.5, -0.0, f64::MAX]], "what is left over is left out");
    }
}
