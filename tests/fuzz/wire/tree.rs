//! Changes to a protobuf message that leave it one: a number becomes a nasty one, a field is
//! doubled, dropped, renamed or swapped. The format alone does not say which bytes are messages;
//! what can be read as one is taken for one.

use clearance_geometry::hull::samples::Random;
use clearance_geometry::pose::COORDINATE_MAX;
use prost::encoding::{decode_varint, encode_varint};

struct Field {
    number: u64,
    value: Value,
}

enum Value {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Message(Vec<Field>),
    Bytes(Vec<u8>),
}

/// Numbers of fields in use are below this.
const NUMBER_MAX: u64 = 40;

fn read(mut bytes: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = decode_varint(&mut bytes).ok()?;
        let number = Some(tag >> 3).filter(|number| (1..NUMBER_MAX).contains(number))?;
        let value = match tag & 7 {
            0 => Value::Varint(decode_varint(&mut bytes).ok()?),
            1 => {
                let (value, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Value::Fixed64(u64::from_le_bytes(*value))
            }
            2 => {
                let length = usize::try_from(decode_varint(&mut bytes).ok()?).ok()?;
                let (value, rest) = bytes.split_at_checked(length)?;
                bytes = rest;
                read(value)
                    .filter(|fields| !fields.is_empty())
                    .map_or_else(|| Value::Bytes(value.to_vec()), Value::Message)
            }
            5 => {
                let (value, rest) = bytes.split_first_chunk()?;
                bytes = rest;
                Value::Fixed32(u32::from_le_bytes(*value))
            }
            _ => return None,
        };
        fields.push(Field { number, value });
    }
    Some(fields)
}

fn write(fields: &[Field], bytes: &mut Vec<u8>) {
    for Field { number, value } in fields {
        let mut tag = |wire: u64| encode_varint(number << 3 | wire, bytes);
        match value {
            Value::Varint(value) => {
                tag(0);
                encode_varint(*value, bytes);
            }
            Value::Fixed64(value) => {
                tag(1);
                bytes.extend(value.to_le_bytes());
            }
            Value::Fixed32(value) => {
                tag(5);
                bytes.extend(value.to_le_bytes());
            }
            Value::Message(fields) => {
                let mut inner = Vec::new();
                write(fields, &mut inner);
                tag(2);
                encode_varint(inner.len() as u64, bytes);
                bytes.extend(inner);
            }
            Value::Bytes(inner) => {
                tag(2);
                encode_varint(inner.len() as u64, bytes);
                bytes.extend(inner);
            }
        }
    }
}

/// The message with one thing changed; bytes that are no message with one byte changed.
pub(super) fn changed(message: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    match read(message) {
        Some(mut fields) => {
            change(&mut fields, random);
            write(&fields, &mut bytes);
        }
        None => {
            bytes.extend(message);
            change_bytes(&mut bytes, random);
        }
    }
    bytes
}

fn change(fields: &mut Vec<Field>, random: &mut Random) {
    let count = fields.len() as u64;
    let number = 1 + random.below(15);
    if count == 0 || random.below(12) == 0 {
        let bits = random.bits();
        let value = match random.below(4) {
            0 => Value::Varint(integer(random)),
            1 => Value::Fixed64(double(random)),
            2 => Value::Fixed32(bits as u32),
            _ => Value::Bytes(bits.to_le_bytes()[..(bits % 9) as usize].to_vec()),
        };
        fields.push(Field { number, value });
        return;
    }
    let at = random.below(count) as usize;
    // Deeper first: that is where most is.
    if let Value::Message(inner) = &mut fields[at].value
        && random.below(6) > 0
    {
        return change(inner, random);
    }
    let other = random.below(count) as usize;
    match random.below(8) {
        0 => drop(fields.remove(at)),
        1 => {
            let copied = copy(&fields[at]);
            fields.insert(other, copied);
        }
        2 => fields[at].number = number,
        3 => fields.swap(at, other),
        _ => match &mut fields[at].value {
            Value::Varint(value) => *value = integer(random),
            Value::Fixed64(value) => *value = double(random),
            Value::Fixed32(value) => *value = integer(random) as u32,
            Value::Bytes(bytes) => change_bytes(bytes, random),
            Value::Message(inner) => inner.truncate(random.below(4) as usize),
        },
    }
}

fn copy(field: &Field) -> Field {
    let mut bytes = Vec::new();
    write(std::slice::from_ref(field), &mut bytes);
    read(&bytes).and_then(|mut fields| fields.pop()).expect("what was just written")
}

/// Mostly packed numbers: one of them, or how many.
fn change_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let chunk = if bytes.len().is_multiple_of(8) { 8 } else { 1 };
    let count = (bytes.len() / chunk) as u64;
    if count == 0 {
        bytes.extend(random.bits().to_le_bytes());
        return;
    }
    let at = random.below(count) as usize * chunk;
    let number = if chunk == 8 { double(random) } else { random.bits() };
    match random.below(5) {
        0 => drop(bytes.drain(at..at + chunk)),
        1 => drop(bytes.splice(at..at, number.to_le_bytes().into_iter().take(chunk))),
        2 => bytes.truncate(at),
        _ => bytes[at..at + chunk].copy_from_slice(&number.to_le_bytes()[..chunk]),
    }
}

fn integer(random: &mut Random) -> u64 {
    let bits = random.bits();
    match random.below(6) {
        0..3 => bits % 9,
        3 => u64::MAX - bits % 3,
        4 => 1 << (bits % 64),
        _ => bits,
    }
}

fn double(random: &mut Random) -> u64 {
    const NASTY: [f64; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        1e-300,
        1e300,
        COORDINATE_MAX,
        5e-324,
    ];
    let bits = random.bits();
    match random.below(8) {
        0..3 => (((bits % 33) as f64 - 16.0) / 4.0).to_bits(),
        3..7 => NASTY[(bits % NASTY.len() as u64) as usize].to_bits(),
        _ => bits,
    }
}
