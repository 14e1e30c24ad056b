//! A message of a client, from JSON to the bytes that it is on the wire.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use prost::encoding::encode_varint;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::super::interface::{
    Coding, FieldCount, FieldForm, FieldKind, IntegerForm, Interface, Notation,
};
use clearance_wire::path::BadField;
use clearance_wire::status::Failure;

/// Base64 in either alphabet, with or without padding.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const OF_URLS: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Whole numbers up to this are told apart by a double.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Reads the message that a text is, and tells what is wrong with it by the path of the field.
pub(in super::super) fn read(
    interface: &Interface,
    message: usize,
    text: &[u8],
) -> Result<Vec<u8>, Failure> {
    let mut reader = JsonReader { interface, path: Vec::new(), out: Vec::new() };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let seed = MessageSeed { reader: &mut reader, message };
    match seed.deserialize(&mut deserializer).and_then(|()| deserializer.end()) {
        Ok(()) => Ok(reader.out),
        Err(error) => Err(reader.failure(&error)),
    }
}

/// Where in the message we are, and what was read so far.
struct JsonReader<'i> {
    interface: &'i Interface,
    path: Vec<Step<'i>>,
    out: Vec<u8>,
}

/// A step of the path; what goes wrong leaves it where it was.
enum Step<'i> {
    Field(&'i str),
    Index(usize),
    /// What no field is called.
    Unknown(String),
}

impl<'i> JsonReader<'i> {
    fn failure(&self, error: &serde_json::Error) -> Failure {
        let mut field = String::new();
        for step in &self.path {
            match step {
                Step::Index(index) => field += &format!("[{index}]"),
                Step::Field(name) => add_name(&mut field, name),
                Step::Unknown(name) => add_name(&mut field, name),
            }
        }
        if field.is_empty() || !error.is_data() {
            let place = if field.is_empty() { String::new() } else { format!("{field}: ") };
            return Failure::Malformed(format!("{place}{error}"));
        }
        BadField { field, problem: Cow::Owned(error.to_string()) }.into()
    }

    fn key(&mut self, field: &FieldForm, wire_type: u32) {
        encode_varint(u64::from(field.number << 3 | wire_type), &mut self.out);
    }

    /// Writes what has a length before it, which is known afterwards.
    fn run<E>(
        &mut self,
        field: &FieldForm,
        content: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.key(field, 2);
        let start = self.out.len();
        content(self)?;
        let mut length = Vec::with_capacity(10);
        encode_varint((self.out.len() - start) as u64, &mut length);
        drop(self.out.splice(start..start, length));
        Ok(())
    }

    /// All fields of an object.
    fn object<'de, A: MapAccess<'de>>(
        &mut self,
        message: usize,
        mut map: A,
    ) -> Result<(), A::Error> {
        let form: &'i _ = self.interface.message(message);
        let mut is_set = vec![false; form.fields.len()];
        let mut chosen: Vec<Option<&str>> = vec![None; form.oneofs.len()];
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            let Some(at) = form.of_name(&name) else {
                let known = form.fields.iter().map(|field| field.name.as_str());
                let problem = unknown(known);
                self.path.push(Step::Unknown(name.into_owned()));
                return Err(A::Error::custom(problem));
            };
            let field = &form.fields[at];
            self.path.push(Step::Field(&field.name));
            if std::mem::replace(&mut is_set[at], true) {
                return Err(A::Error::custom("it is given twice"));
            }
            let has_value = map.next_value_seed(FieldSeed {
                reader: &mut *self,
                field,
                is_element: false,
                is_packed: false,
            })?;
            if let Some(oneof) = field.oneof.filter(|_| has_value)
                && let Some(other) = chosen[oneof].replace(&field.name)
            {
                let oneof = &form.oneofs[oneof];
                let problem = format!("{oneof} is given as {other} already, and has one value");
                return Err(A::Error::custom(problem));
            }
            self.path.pop();
        }
        Ok(())
    }

    /// All elements of a list.
    fn list<'de, A: SeqAccess<'de>>(
        &mut self,
        field: &'i FieldForm,
        is_packed: bool,
        mut list: A,
    ) -> Result<(), A::Error> {
        for index in 0.. {
            self.path.push(Step::Index(index));
            let seed = FieldSeed { reader: &mut *self, field, is_element: true, is_packed };
            match list.next_element_seed(seed)? {
                None => {
                    self.path.pop();
                    break;
                }
                Some(true) => {}
                Some(false) => return Err(A::Error::custom("null is no element of a list")),
            }
            self.path.pop();
        }
        Ok(())
    }
}

/// What is wrong with a name that none of these is.
fn unknown<'a>(known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    if known.is_empty() {
        return "there is no such field, and none here".to_owned();
    }
    format!("there is no such field; there are {}", known.join(", "))
}

fn add_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// A message where one is expected.
struct MessageSeed<'r, 'i> {
    reader: &'r mut JsonReader<'i>,
    message: usize,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MessageSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object, {}", self.reader.interface.message(self.message).name)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.reader.object(self.message, map)
    }
}

/// What a field has, or an element of its list; false: it has nothing.
struct FieldSeed<'r, 'i> {
    reader: &'r mut JsonReader<'i>,
    field: &'i FieldForm,
    is_element: bool,
    /// Elements without their keys.
    is_packed: bool,
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_, '_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'i> FieldSeed<'_, 'i> {
    fn is_list(&self) -> bool {
        self.field.count == FieldCount::Many && !self.is_element
    }

    fn unfit<E: Error>(&self, found: Unexpected<'_>) -> E {
        E::invalid_type(found, self)
    }

    /// Writes a number, after its key unless it is packed.
    fn number(&mut self, wire_type: u32, bytes: &[u8]) {
        if !self.is_packed {
            self.reader.key(self.field, wire_type);
        }
        self.reader.out.extend_from_slice(bytes);
    }

    fn varint(&mut self, value: u64) {
        let mut bytes = Vec::with_capacity(10);
        encode_varint(value, &mut bytes);
        self.number(0, &bytes);
    }

    fn whole<E: Error>(&mut self, form: IntegerForm, value: i128) -> Result<bool, E> {
        let (least, most) = match (form.is_long, form.is_signed) {
            (true, true) => (i64::MIN.into(), i64::MAX.into()),
            (true, false) => (0, u64::MAX.into()),
            (false, true) => (i32::MIN.into(), i32::MAX.into()),
            (false, false) => (0, i128::from(u32::MAX)),
        };
        if !(least..=most).contains(&value) {
            return Err(E::custom(format!("{value} is not from {least} to {most}")));
        }
        // The lower bits of a number that is within its bounds are that number.
        let bits = value as u64;
        match (form.coding, form.is_long) {
            (Coding::Varint, _) => self.varint(bits),
            (Coding::ZigZag, _) => self.varint((bits << 1) ^ (value >> 127) as u64),
            (Coding::Fixed, true) => self.number(1, &bits.to_le_bytes()),
            (Coding::Fixed, false) => self.number(5, &(bits as u32).to_le_bytes()),
        }
        Ok(true)
    }

    fn real<E: Error>(&mut self, value: f64) -> Result<bool, E> {
        match self.field.kind {
            FieldKind::Double => self.number(1, &value.to_le_bytes()),
            FieldKind::Float => {
                let rounded = value as f32;
                if rounded.is_infinite() && value.is_finite() {
                    return Err(E::custom(format!("{value} is no number of 32 bits")));
                }
                self.number(5, &rounded.to_le_bytes());
            }
            FieldKind::Integer(form) if value.fract() == 0.0 && value.abs() <= EXACT_MAX => {
                return self.whole(form, value as i128);
            }
            FieldKind::Integer(_) => {
                let problem = format!("{value} is no whole number; long ones are given as texts");
                return Err(E::custom(problem));
            }
            FieldKind::Bool
            | FieldKind::Text
            | FieldKind::Bytes
            | FieldKind::Enum(_)
            | FieldKind::Message(_) => return Err(self.unfit(Unexpected::Float(value))),
        }
        Ok(true)
    }

    fn integer<E: Error>(&mut self, value: i128, found: Unexpected<'_>) -> Result<bool, E> {
        match self.field.kind {
            _ if self.is_list() => Err(self.unfit(found)),
            FieldKind::Integer(form) => self.whole(form, value),
            FieldKind::Double | FieldKind::Float => self.real(value as f64),
            FieldKind::Enum(_) => {
                let number = i32::try_from(value).map_err(|_| self.unfit(found))?;
                // Written with its sign in all 64 bits.
                self.varint(i64::from(number) as u64);
                Ok(true)
            }
            FieldKind::Bool | FieldKind::Text | FieldKind::Bytes | FieldKind::Message(_) => {
                Err(self.unfit(found))
            }
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let written: Result<(), ()> = self.reader.run(self.field, |reader| {
            reader.out.extend_from_slice(bytes);
            Ok(())
        });
        written.expect("nothing in it fails");
    }

    fn base64<E: Error>(&mut self, text: &str) -> Result<bool, E> {
        let engine = if text.contains(['-', '_']) { &OF_URLS } else { &STANDARD };
        let bytes = engine.decode(text).map_err(|error| E::custom(format!("base64: {error}")))?;
        self.bytes(&bytes);
        Ok(true)
    }

    fn value_named<E: Error>(&mut self, index: usize, name: &str) -> Result<bool, E> {
        let form = self.reader.interface.of_enum(index);
        let Some(number) = form.number(name) else {
            let known: Vec<&str> = form.values.iter().map(|(known, _)| known.as_str()).collect();
            let problem = format!("there is no value {name:?}; there are {}", known.join(", "));
            return Err(E::custom(problem));
        };
        self.varint(i64::from(number) as u64);
        Ok(true)
    }

    /// Seconds with an s behind them.
    fn duration<E: Error>(&mut self, text: &str) -> Result<bool, E> {
        let Some((seconds, nanos)) = duration(text) else {
            return Err(E::custom(format!("{text:?} is no duration, as \"1.5s\" is")));
        };
        let both = |reader: &mut JsonReader<'i>| {
            for (key, value) in [(1_u64 << 3, seconds), (2 << 3, nanos)] {
                encode_varint(key, &mut reader.out);
                encode_varint(value as u64, &mut reader.out);
            }
            Ok(())
        };
        self.reader.run(self.field, both).map(|()| true)
    }

    /// The notation of the message that the field has.
    fn notation(&self) -> Option<Notation> {
        match self.field.kind {
            FieldKind::Message(index) => Some(self.reader.interface.message(index).notation),
            FieldKind::Double
            | FieldKind::Float
            | FieldKind::Bool
            | FieldKind::Text
            | FieldKind::Bytes
            | FieldKind::Integer(_)
            | FieldKind::Enum(_) => None,
        }
    }
}

/// Seconds and billionths of them, both with the sign.
fn duration(text: &str) -> Option<(i64, i64)> {
    let (is_negative, number) = match text.strip_suffix('s')?.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, text.strip_suffix('s')?),
    };
    let (seconds, digits) = number.split_once('.').unwrap_or((number, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if seconds.is_empty() || !are_digits(seconds) || !are_digits(digits) || digits.len() > 9 {
        return None;
    }
    let (seconds, nanos): (i64, i64) =
        (seconds.parse().ok()?, format!("{digits:0<9}").parse().ok()?);
    let sign = if is_negative { -1 } else { 1 };
    // As long as Protobuf lets one be: ten thousand years.
    (seconds <= 315_576_000_000).then_some((sign * seconds, sign * nanos))
}

/// A number in a text; the names of what is no number are as Protobuf has them.
fn real_of(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ if text.bytes().all(|byte| b"+-.eE0123456789".contains(&byte)) => {
            text.parse().ok().filter(|value: &f64| value.is_finite())
        }
        _ => None,
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_list() {
            f.write_str("a list of ")?;
        }
        match self.field.kind {
            FieldKind::Double | FieldKind::Float => f.write_str("a number"),
            FieldKind::Bool => f.write_str("true or false"),
            FieldKind::Text => f.write_str("a text"),
            FieldKind::Bytes => f.write_str("a text in base64"),
            FieldKind::Integer(_) => f.write_str("a whole number, or a text with one"),
            FieldKind::Enum(_) => f.write_str("the name of a value, or its number"),
            FieldKind::Message(index) => {
                let form = self.reader.interface.message(index);
                match form.notation {
                    Notation::Object => write!(f, "an object, {}", form.name),
                    Notation::Duration => f.write_str("a duration, as \"1.5s\" is"),
                    Notation::Timestamp => f.write_str("nothing: no request has a date"),
                }
            }
        }
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E: Error>(mut self, value: bool) -> Result<bool, E> {
        if self.field.kind != FieldKind::Bool || self.is_list() {
            return Err(self.unfit(Unexpected::Bool(value)));
        }
        self.varint(u64::from(value));
        Ok(true)
    }

    fn visit_u64<E: Error>(mut self, value: u64) -> Result<bool, E> {
        self.integer(value.into(), Unexpected::Unsigned(value))
    }

    fn visit_i64<E: Error>(mut self, value: i64) -> Result<bool, E> {
        self.integer(value.into(), Unexpected::Signed(value))
    }

    fn visit_f64<E: Error>(mut self, value: f64) -> Result<bool, E> {
        if self.is_list() {
            return Err(self.unfit(Unexpected::Float(value)));
        }
        self.real(value)
    }

    fn visit_str<E: Error>(mut self, text: &str) -> Result<bool, E> {
        let unfit = || Unexpected::Str(text);
        match self.field.kind {
            _ if self.is_list() => Err(self.unfit(unfit())),
            FieldKind::Text => {
                self.bytes(text.as_bytes());
                Ok(true)
            }
            FieldKind::Bytes => self.base64(text),
            FieldKind::Enum(index) => self.value_named(index, text),
            FieldKind::Double | FieldKind::Float => match real_of(text) {
                Some(value) => self.real(value),
                None => Err(self.unfit(unfit())),
            },
            FieldKind::Integer(form) => match text.parse() {
                Ok(value) => self.whole(form, value),
                Err(_) => Err(self.unfit(unfit())),
            },
            FieldKind::Message(_) if self.notation() == Some(Notation::Duration) => {
                self.duration(text)
            }
            FieldKind::Bool | FieldKind::Message(_) => Err(self.unfit(unfit())),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<bool, A::Error> {
        if !self.is_list() {
            return Err(self.unfit(Unexpected::Seq));
        }
        let Self { reader, field, .. } = self;
        if field.kind.is_packed() {
            reader.run(field, |reader| reader.list(field, true, list))?;
        } else {
            reader.list(field, false, list)?;
        }
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<bool, A::Error> {
        let is_object = self.notation() == Some(Notation::Object) && !self.is_list();
        let FieldKind::Message(index) = self.field.kind else {
            return Err(self.unfit(Unexpected::Map));
        };
        if !is_object || self.field.count == FieldCount::Map {
            return Err(self.unfit(Unexpected::Map));
        }
        let Self { reader, field, .. } = self;
        reader.run(field, |reader| reader.object(index, map))?;
        Ok(true)
    }
}
