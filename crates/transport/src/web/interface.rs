//! What methods there are, and how the fields of their messages are called and written: from the
//! descriptors that the build has made.

use std::collections::HashMap;

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet,
};

/// All methods and messages.
#[derive(Debug, Default)]
pub struct Interface {
    /// By the path of their URI: `/clearance.v1.QueryService/CheckCollision`.
    methods: HashMap<String, MethodForm>,
    messages: Vec<MessageForm>,
    /// By their full names, without a dot before.
    by_name: HashMap<String, usize>,
    enums: Vec<EnumForm>,
}

/// A method.
#[derive(Clone, Copy, Debug)]
pub(super) struct MethodForm {
    /// The index of the message that it is asked with.
    pub(super) asked: usize,
    /// The index of the message that it is answered with.
    pub(super) told: usize,
    /// Whether it is asked with a stream.
    pub(super) takes_many: bool,
    /// Whether it is answered with a stream.
    pub(super) tells_many: bool,
}

/// A message.
#[derive(Debug, Default)]
pub(super) struct MessageForm {
    /// Its name, without that of the package.
    pub(super) name: String,
    /// How JSON writes it.
    pub(super) notation: Notation,
    /// Its fields in the order of the file.
    pub(super) fields: Vec<FieldForm>,
    by_number: HashMap<u32, usize>,
    /// By both names that each has: `poseIds` and `pose_ids`.
    by_name: HashMap<String, usize>,
    /// The names of its oneofs.
    pub(super) oneofs: Vec<String>,
}

/// How JSON writes a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Notation {
    /// As an object.
    #[default]
    Object,
    /// A `google.protobuf.Duration`: as seconds, `"1.5s"`.
    Duration,
    /// A `google.protobuf.Timestamp`: as date and time, `"2026-01-31T12:00:00Z"`.
    Timestamp,
}

/// A field.
#[derive(Debug)]
pub(super) struct FieldForm {
    /// Its name in the file, which is its name in paths.
    pub(super) name: String,
    /// Its name in JSON.
    pub(super) json_name: String,
    /// Its number.
    pub(super) number: u32,
    /// What its values are.
    pub(super) kind: FieldKind,
    /// How many there may be.
    pub(super) count: FieldCount,
    /// The oneof that it is part of.
    pub(super) oneof: Option<usize>,
}

/// How many values a field may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldCount {
    /// One.
    One,
    /// A list.
    Many,
    /// A map; the field is of messages with a key and a value.
    Map,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldKind {
    Double,
    Float,
    Bool,
    Text,
    Bytes,
    Integer(IntegerForm),
    /// By the index of its values.
    Enum(usize),
    /// By its index.
    Message(usize),
}

/// Which integers a field has, and how they are written on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IntegerForm {
    /// With 64 bits, not 32: such are texts in JSON, whose readers round numbers to 53 bits.
    pub(super) is_long: bool,
    /// Whether they may be negative.
    pub(super) is_signed: bool,
    /// How they are written.
    pub(super) coding: Coding,
}

/// How an integer is written on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// In as many bytes as it needs.
    Varint,
    /// As a varint that is short for small negative numbers, too.
    ZigZag,
    /// In four or eight bytes.
    Fixed,
}

/// The values of an enum.
#[derive(Debug, Default)]
pub(super) struct EnumForm {
    /// Names with their numbers.
    pub(super) values: Vec<(String, i32)>,
}

impl EnumForm {
    /// The number of a name.
    pub(super) fn number(&self, name: &str) -> Option<i32> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, number)| *number)
    }

    /// The name of a number.
    pub(super) fn name(&self, number: i32) -> Option<&str> {
        self.values.iter().find(|(_, known)| *known == number).map(|(name, _)| name.as_str())
    }
}

impl FieldKind {
    /// The number of its wire type.
    pub(super) fn wire_type(self) -> u32 {
        match self {
            Self::Double => 1,
            Self::Float => 5,
            Self::Bool | Self::Enum(_) => 0,
            Self::Text | Self::Bytes | Self::Message(_) => 2,
            Self::Integer(IntegerForm { coding: Coding::Fixed, is_long: true, .. }) => 1,
            Self::Integer(IntegerForm { coding: Coding::Fixed, is_long: false, .. }) => 5,
            Self::Integer(_) => 0,
        }
    }

    /// Whether a list of them is one run of bytes.
    pub(super) fn is_packed(self) -> bool {
        self.wire_type() != 2
    }
}

impl MessageForm {
    /// The index of the field of this number.
    pub(super) fn of_number(&self, number: u32) -> Option<usize> {
        self.by_number.get(&number).copied()
    }

    /// The index of the field that is called so, in the file or in JSON.
    pub(super) fn of_name(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl Interface {
    /// Of these sets of descriptors, each as the build has written it.
    pub fn of(sets: &[&[u8]]) -> Result<Self, prost::DecodeError> {
        let mut interface = Self::default();
        let mut enums = HashMap::new();
        let sets: Vec<_> =
            sets.iter().map(|set| FileDescriptorSet::decode(*set)).collect::<Result<_, _>>()?;
        let files = || sets.iter().flat_map(|set| &set.file);
        let mut found = Vec::new();
        for file in files() {
            for message in &file.message_type {
                collect(&mut found, &mut enums, file.package(), message);
            }
            for of in &file.enum_type {
                enums.insert(qualified(file.package(), of.name()), of);
            }
        }
        // Files that several sets have are there once.
        found.retain({
            let mut known = std::collections::HashSet::new();
            move |(name, _): &(String, &DescriptorProto)| known.insert(name.clone())
        });
        interface.by_name =
            found.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        let enum_names: Vec<&String> = enums.keys().collect();
        let places = Places {
            messages: &interface.by_name,
            enums: enum_names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect(),
        };
        let of_enum = |of: &EnumDescriptorProto| EnumForm {
            values: of.value.iter().map(|one| (one.name().to_owned(), one.number())).collect(),
        };
        interface.enums = enum_names.iter().map(|name| of_enum(enums[*name])).collect();
        let of_message = |(name, message): &(String, &DescriptorProto)| {
            message_form(name, message, &places, &found)
        };
        interface.messages = found.iter().map(of_message).collect();
        for file in files() {
            interface.add_methods(file);
        }
        Ok(interface)
    }

    /// The methods of a file whose messages are known.
    fn add_methods(&mut self, file: &FileDescriptorProto) {
        for service in &file.service {
            for method in &service.method {
                let index = |name: &str| self.by_name.get(name.trim_start_matches('.')).copied();
                let both = index(method.input_type()).zip(index(method.output_type()));
                let Some((asked, told)) = both else { continue };
                let (takes_many, tells_many) =
                    (method.client_streaming(), method.server_streaming());
                let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                let form = MethodForm { asked, told, takes_many, tells_many };
                self.methods.insert(path, form);
            }
        }
    }

    /// The method of a path.
    pub(super) fn method(&self, path: &str) -> Option<MethodForm> {
        self.methods.get(path).copied()
    }

    /// The index of the message of this full name.
    pub(super) fn message_named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// A message by its index.
    pub(super) fn message(&self, index: usize) -> &MessageForm {
        &self.messages[index]
    }

    /// An enum by its index.
    pub(super) fn of_enum(&self, index: usize) -> &EnumForm {
        &self.enums[index]
    }

    /// The paths of all methods.
    #[cfg(test)]
    pub(super) fn paths(&self) -> impl Iterator<Item = (&String, &MethodForm)> {
        self.methods.iter()
    }
}

/// Where messages and enums are, by their full names.
struct Places<'a> {
    messages: &'a HashMap<String, usize>,
    enums: HashMap<&'a str, usize>,
}

type FoundMessages<'a> = Vec<(String, &'a DescriptorProto)>;

/// A message and those inside it.
fn collect<'a>(
    found: &mut FoundMessages<'a>,
    enums: &mut HashMap<String, &'a EnumDescriptorProto>,
    scope: &str,
    message: &'a DescriptorProto,
) {
    let name = qualified(scope, message.name());
    for inner in &message.nested_type {
        collect(found, enums, &name, inner);
    }
    for of in &message.enum_type {
        enums.insert(qualified(&name, of.name()), of);
    }
    found.push((name, message));
}

fn qualified(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}

fn message_form(
    name: &str,
    message: &DescriptorProto,
    places: &Places<'_>,
    found: &[(String, &DescriptorProto)],
) -> MessageForm {
    let notation = match name {
        "google.protobuf.Duration" => Notation::Duration,
        "google.protobuf.Timestamp" => Notation::Timestamp,
        _ => Notation::Object,
    };
    let is_map = |index: usize| found[index].1.options.as_ref().is_some_and(|o| o.map_entry());
    let known = message.field.iter().filter_map(|field| field_form(field, places, is_map));
    let fields: Vec<FieldForm> = known.collect();
    let numbered = fields.iter().enumerate();
    let by_number = numbered.clone().map(|(at, field)| (field.number, at)).collect();
    let by_name = numbered
        .flat_map(|(at, field)| [(field.name.clone(), at), (field.json_name.clone(), at)])
        .collect();
    let oneofs = message.oneof_decl.iter().map(|oneof| oneof.name().to_owned()).collect();
    let name = name.rsplit('.').next().unwrap_or(name).to_owned();
    MessageForm { name, notation, fields, by_number, by_name, oneofs }
}

/// A field; none: of a kind that nobody uses any more.
fn field_form(
    field: &FieldDescriptorProto,
    places: &Places<'_>,
    is_map: impl Fn(usize) -> bool,
) -> Option<FieldForm> {
    let type_name = field.type_name().trim_start_matches('.');
    let kind = kind_of(field.r#type(), type_name, places)?;
    let count = match (field.label(), kind) {
        (Label::Repeated, FieldKind::Message(index)) if is_map(index) => FieldCount::Map,
        (Label::Repeated, _) => FieldCount::Many,
        (Label::Optional | Label::Required, _) => FieldCount::One,
    };
    let in_oneof = field.oneof_index.filter(|_| !field.proto3_optional());
    Some(FieldForm {
        name: field.name().to_owned(),
        json_name: json_name(field),
        number: u32::try_from(field.number()).ok()?,
        kind,
        count,
        oneof: in_oneof.and_then(|index| usize::try_from(index).ok()),
    })
}

fn kind_of(of: Type, type_name: &str, places: &Places<'_>) -> Option<FieldKind> {
    use Coding::{Fixed, Varint, ZigZag};
    let integer = |is_long, is_signed, coding| {
        Some(FieldKind::Integer(IntegerForm { is_long, is_signed, coding }))
    };
    match of {
        Type::Double => Some(FieldKind::Double),
        Type::Float => Some(FieldKind::Float),
        Type::Bool => Some(FieldKind::Bool),
        Type::String => Some(FieldKind::Text),
        Type::Bytes => Some(FieldKind::Bytes),
        Type::Int32 => integer(false, true, Varint),
        Type::Int64 => integer(true, true, Varint),
        Type::Uint32 => integer(false, false, Varint),
        Type::Uint64 => integer(true, false, Varint),
        Type::Sint32 => integer(false, true, ZigZag),
        Type::Sint64 => integer(true, true, ZigZag),
        Type::Fixed32 => integer(false, false, Fixed),
        Type::Fixed64 => integer(true, false, Fixed),
        Type::Sfixed32 => integer(false, true, Fixed),
        Type::Sfixed64 => integer(true, true, Fixed),
        Type::Enum => places.enums.get(type_name).map(|at| FieldKind::Enum(*at)),
        Type::Message => places.messages.get(type_name).map(|at| FieldKind::Message(*at)),
        Type::Group => None,
    }
}

/// As protoc makes it where the descriptor does not say: `pose_ids` is `poseIds`.
fn json_name(field: &FieldDescriptorProto) -> String {
    if let Some(name) = field.json_name.as_ref().filter(|name| !name.is_empty()) {
        return name.clone();
    }
    let mut name = String::new();
    let mut is_capital = false;
    for c in field.name().chars() {
        if c == '_' {
            is_capital = true;
        } else if std::mem::take(&mut is_capital) {
            name.extend(c.to_uppercase());
        } else {
            name.push(c);
        }
    }
    name
}
