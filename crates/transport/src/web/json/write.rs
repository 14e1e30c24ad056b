//! A message of this server, as JSON. Fields come in the order of the bytes, in which the elements
//! of a list are beside each other.

use std::fmt::Display;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::encoding::{WireType, decode_key, decode_varint};

use super::super::interface::{
    Coding, FieldCount, FieldForm, FieldKind, IntegerForm, Interface, Notation,
};
use super::metered::{Metered, unwritten};
use clearance_wire::status::Failure;

/// Writes the message that these bytes are.
pub(in super::super) fn write(
    interface: &Interface,
    message: usize,
    bytes: &[u8],
    out: &mut Metered,
) -> Result<(), Failure> {
    JsonWriter { interface, out }.message(message, bytes).map_err(unwritten)
}

/// Writes a text in quotes.
pub(in super::super) fn write_text(text: &str, out: &mut Metered) -> Result<(), Failure> {
    quote(text, out).map_err(unwritten)
}

fn quote(text: &str, out: &mut Metered) -> io::Result<()> {
    Ok(serde_json::to_writer(out, text)?)
}

struct JsonWriter<'a> {
    interface: &'a Interface,
    out: &'a mut Metered,
}

/// A value as it is on the wire.
#[derive(Clone, Copy)]
enum OnWire<'b> {
    Varint(u64),
    Eight([u8; 8]),
    Four([u8; 4]),
    Run(&'b [u8]),
}

/// What is left of a message.
struct Rest<'b>(&'b [u8]);

impl JsonWriter<'_> {
    fn message(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        let interface = self.interface;
        let form = interface.message(index);
        match form.notation {
            Notation::Object => {}
            Notation::Duration => return self.duration(bytes),
            Notation::Timestamp => return self.timestamp(bytes),
        }
        self.out.write_all(b"{")?;
        let mut rest = Rest(bytes);
        let (mut last, mut is_done) = (None, vec![false; form.fields.len()]);
        while let Some((number, value)) = rest.next()? {
            let Some(at) = form.of_number(number) else { continue };
            let field = &form.fields[at];
            let follows = last == Some(at) && field.count != FieldCount::One;
            if !follows {
                if let Some(before) = last {
                    self.close(&form.fields[before])?;
                    self.out.write_all(b",")?;
                }
                if std::mem::replace(&mut is_done[at], true) {
                    return Err(broken("a field is in two places"));
                }
                quote(&field.json_name, self.out)?;
                self.plain(match field.count {
                    FieldCount::One => ":",
                    FieldCount::Many => ":[",
                    FieldCount::Map => ":{",
                })?;
                last = Some(at);
            } else {
                self.out.write_all(b",")?;
            }
            self.values(field, value)?;
        }
        if let Some(before) = last {
            self.close(&form.fields[before])?;
        }
        self.out.write_all(b"}")
    }

    fn close(&mut self, field: &FieldForm) -> io::Result<()> {
        match field.count {
            FieldCount::One => Ok(()),
            FieldCount::Many => self.out.write_all(b"]"),
            FieldCount::Map => self.out.write_all(b"}"),
        }
    }

    /// What one occurrence of a field brings: a value, or all of a list that is packed.
    fn values(&mut self, field: &FieldForm, value: OnWire<'_>) -> io::Result<()> {
        match (field.count, field.kind, value) {
            (FieldCount::Map, FieldKind::Message(entry), OnWire::Run(bytes)) => {
                self.entry(entry, bytes)
            }
            (FieldCount::Many, kind, OnWire::Run(bytes)) if kind.is_packed() => {
                let mut rest = Rest(bytes);
                let mut is_first = true;
                while !rest.0.is_empty() {
                    if !std::mem::take(&mut is_first) {
                        self.out.write_all(b",")?;
                    }
                    let value = rest.value(kind.wire_type())?;
                    self.value(kind, value)?;
                }
                Ok(())
            }
            (_, kind, value) => self.value(kind, value),
        }
    }

    /// An entry of a map, whose key is 1 and whose value 2.
    fn entry(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        let form = self.interface.message(index);
        let (mut key, mut value) = (None, None);
        let mut rest = Rest(bytes);
        while let Some((number, found)) = rest.next()? {
            match number {
                1 => key = Some(found),
                _ => value = Some(found),
            }
        }
        let kind = |number| form.of_number(number).map(|at| form.fields[at].kind);
        match (kind(1), key) {
            (Some(FieldKind::Text), Some(OnWire::Run(text))) => quote(utf8(text)?, self.out)?,
            (Some(FieldKind::Text), None) => self.out.write_all(b"\"\"")?,
            _ => return Err(broken("the key of a map is no text")),
        }
        self.out.write_all(b":")?;
        match (kind(2), value) {
            (Some(kind), Some(value)) => self.value(kind, value),
            (Some(FieldKind::Text), None) => self.out.write_all(b"\"\""),
            _ => Err(broken("a map has no value")),
        }
    }

    fn value(&mut self, kind: FieldKind, value: OnWire<'_>) -> io::Result<()> {
        match (kind, value) {
            (FieldKind::Double, OnWire::Eight(bytes)) => self.double(f64::from_le_bytes(bytes)),
            (FieldKind::Float, OnWire::Four(bytes)) => {
                let value = f32::from_le_bytes(bytes);
                if value.is_finite() {
                    Ok(serde_json::to_writer(&mut *self.out, &value)?)
                } else {
                    self.double(value.into())
                }
            }
            (FieldKind::Bool, OnWire::Varint(value)) => self.plain(value != 0),
            (FieldKind::Text, OnWire::Run(bytes)) => quote(utf8(bytes)?, self.out),
            (FieldKind::Bytes, OnWire::Run(bytes)) => self.base64(bytes),
            (FieldKind::Enum(index), OnWire::Varint(value)) => {
                // An enum is a 32-bit number, and a negative one is written in ten bytes.
                let number = value as u32 as i32;
                match self.interface.of_enum(index).name(number) {
                    Some(name) => quote(name, self.out),
                    None => self.plain(number),
                }
            }
            (FieldKind::Integer(form), value) => self.integer(form, value),
            (FieldKind::Message(index), OnWire::Run(bytes)) => self.message(index, bytes),
            _ => Err(broken("a value is not of its field's kind")),
        }
    }

    fn plain(&mut self, value: impl Display) -> io::Result<()> {
        write!(self.out, "{value}")
    }

    fn double(&mut self, value: f64) -> io::Result<()> {
        if value.is_finite() {
            return Ok(serde_json::to_writer(&mut *self.out, &value)?);
        }
        self.plain(match value {
            f64::INFINITY => "\"Infinity\"",
            f64::NEG_INFINITY => "\"-Infinity\"",
            _ => "\"NaN\"",
        })
    }

    fn integer(&mut self, form: IntegerForm, value: OnWire<'_>) -> io::Result<()> {
        let bits = match value {
            OnWire::Varint(bits) if form.coding == Coding::ZigZag => {
                (bits >> 1) ^ (bits & 1).wrapping_neg()
            }
            OnWire::Varint(bits) => bits,
            OnWire::Eight(bytes) => u64::from_le_bytes(bytes),
            // With its sign, where it has one.
            OnWire::Four(bytes) => i64::from(i32::from_le_bytes(bytes)) as u64,
            OnWire::Run(_) => return Err(broken("a run of bytes is no integer")),
        };
        match (form.is_long, form.is_signed) {
            (true, true) => self.plain(format_args!("\"{}\"", bits as i64)),
            (true, false) => self.plain(format_args!("\"{bits}\"")),
            (false, true) => self.plain(bits as i32),
            (false, false) => self.plain(bits as u32),
        }
    }

    /// In pieces, so that there is no second text of the same length.
    fn base64(&mut self, bytes: &[u8]) -> io::Result<()> {
        const PIECE: usize = 3 << 10;
        self.out.write_all(b"\"")?;
        for piece in bytes.chunks(PIECE) {
            self.out.write_all(STANDARD.encode(piece).as_bytes())?;
        }
        self.out.write_all(b"\"")
    }

    fn duration(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (seconds, nanos) = seconds_and_nanos(bytes)?;
        let sign = if seconds < 0 || nanos < 0 { "-" } else { "" };
        let (seconds, fraction) = (seconds.unsigned_abs(), fraction(nanos.unsigned_abs()));
        self.plain(format_args!("\"{sign}{seconds}{fraction}s\""))
    }

    fn timestamp(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (seconds, nanos) = seconds_and_nanos(bytes)?;
        let [year, month, day] = date(seconds.div_euclid(86_400));
        let of_day = seconds.rem_euclid(86_400);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        let fraction = fraction(nanos.unsigned_abs());
        self.plain(format_args!(
            "\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z\""
        ))
    }
}

/// Both fields of a duration, or of a point in time.
fn seconds_and_nanos(bytes: &[u8]) -> io::Result<(i64, i32)> {
    let (mut seconds, mut nanos) = (0, 0);
    let mut rest = Rest(bytes);
    while let Some((number, value)) = rest.next()? {
        match (number, value) {
            (1, OnWire::Varint(bits)) => seconds = bits as i64,
            (2, OnWire::Varint(bits)) => nanos = bits as i32,
            _ => {}
        }
    }
    Ok((seconds, nanos))
}

/// A part of a second in three, six or nine digits after a point; nothing where it is none.
fn fraction(nanos: u32) -> String {
    let digits = format!("{nanos:09}");
    let kept = digits.trim_end_matches('0').len().div_ceil(3) * 3;
    if kept == 0 { String::new() } else { format!(".{}", &digits[..kept]) }
}

/// Year, month and day that is so many days after the first of 1970, by counting years from March
/// on, so that a leap day is the last of its year, in eras of 400 years.
fn date(days: i64) -> [i64; 3] {
    const ERA_DAYS: i64 = 146_097;
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    [year + era * 400 + i64::from(month <= 2), month, day]
}

impl<'b> Rest<'b> {
    /// The next field with its value; none: there is no more.
    fn next(&mut self) -> io::Result<Option<(u32, OnWire<'b>)>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let (number, wire_type) = decode_key(&mut self.0).map_err(io::Error::other)?;
        let wire_type = match wire_type {
            WireType::Varint => 0,
            WireType::SixtyFourBit => 1,
            WireType::LengthDelimited => 2,
            WireType::ThirtyTwoBit => 5,
            WireType::StartGroup | WireType::EndGroup => return Err(broken("there is a group")),
        };
        Ok(Some((number, self.value(wire_type)?)))
    }

    /// A value that is written so.
    fn value(&mut self, wire_type: u32) -> io::Result<OnWire<'b>> {
        let short = || broken("the bytes end too early");
        match wire_type {
            0 => decode_varint(&mut self.0).map(OnWire::Varint).map_err(io::Error::other),
            1 => {
                let (bytes, rest) = self.0.split_first_chunk().ok_or_else(short)?;
                self.0 = rest;
                Ok(OnWire::Eight(*bytes))
            }
            5 => {
                let (bytes, rest) = self.0.split_first_chunk().ok_or_else(short)?;
                self.0 = rest;
                Ok(OnWire::Four(*bytes))
            }
            _ => {
                let length = decode_varint(&mut self.0).map_err(io::Error::other)?;
                let length = usize::try_from(length).map_err(io::Error::other)?;
                let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(short)?;
                self.0 = rest;
                Ok(OnWire::Run(bytes))
            }
        }
    }
}

fn utf8(bytes: &[u8]) -> io::Result<&str> {
    std::str::from_utf8(bytes).map_err(io::Error::other)
}

fn broken(why: &'static str) -> io::Error {
    io::Error::other(why)
}
