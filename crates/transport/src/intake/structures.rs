//! What the messages of the API look like in memory, from their descriptors: which fields repeat,
//! which limit counts them, and how many bytes the decoded structures take.

use std::collections::HashMap;
use std::sync::OnceLock;

use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorSet};

use clearance_proto as api;
use clearance_proto::packed::Packed;
use clearance_runtime::settings::{Limit, Limits};

/// The package of the messages that are received.
const PACKAGE: &str = "clearance.v1.";

/// Repeated fields of requests whose elements are messages or texts, each with the limit on how
/// many elements it may have. Lists of numbers are not here: their memory follows from their bytes.
const COUNTED: &[(&str, &str, CountLimit)] = &[
    ("AttachedBody", "touch_links", Limits::robot_links_max),
    ("BatchQueryRequest", "items", Limits::batch_items_max),
    ("Body", "groups", Limits::rules_per_session_max),
    ("Body", "parts", Limits::parts_per_body_max),
    ("BodyChange", "joined_groups", Limits::rules_per_session_max),
    ("BodyChange", "left_groups", Limits::rules_per_session_max),
    ("BodyChange", "parts", Limits::parts_per_body_max),
    ("CarriedBody", "touch_links", Limits::robot_links_max),
    ("CheckEdgesResponse", "certificates", Limits::certified_edges_max),
    ("CheckEdgesResponse", "refused", Limits::edges_max),
    ("Compound", "parts", Limits::parts_per_body_max),
    ("DeletePolytopeRequest", "alias_keys", Limits::aliases_per_polytope_max),
    ("DeleteRobotRequest", "robot_keys", Limits::keys_per_robot_max),
    ("FindFirstCollisionRequest", "bodies", Limits::collision_bodies_max),
    ("FindMissingPolytopesRequest", "ids", Limits::find_missing_ids_max),
    ("FindMissingRobotsRequest", "ids", Limits::find_missing_ids_max),
    ("Frame", "added_bodies", Limits::bodies_per_message_max),
    ("Frame", "added_robots", Limits::robots_per_session_max),
    ("Frame", "attached", Limits::bodies_per_message_max),
    ("Frame", "changed_bodies", Limits::bodies_per_message_max),
    ("Frame", "detached_body_names", Limits::bodies_per_message_max),
    ("Frame", "poses", Limits::bodies_per_message_max),
    ("Frame", "removed_body_names", Limits::bodies_per_message_max),
    ("Frame", "removed_robot_names", Limits::robots_per_session_max),
    ("Frame", "robot_moves", Limits::robots_per_session_max),
    ("ListSessionsRequest", "session_keys", Limits::session_keys_max),
    ("PairRules", "checked_groups", Limits::rules_per_session_max),
    ("PairRules", "checked_pairs", Limits::rules_per_session_max),
    ("PairRules", "ignored_pairs", Limits::rules_per_session_max),
    ("PairRules", "margins", Limits::rules_per_session_max),
    ("PairRules", "groups_to_come", Limits::rules_per_session_max),
    ("QuerySceneRequest", "cast_bodies", Limits::scene_queries_max),
    ("QuerySceneRequest", "queries", Limits::scene_queries_max),
    ("RegisterPolytopesRequest", "polytopes", Limits::registration_items_max),
    ("RegisterRobotRequest", "meshes", Limits::robot_parts_max),
    ("RobotCell", "ignored_pairs", Limits::rules_per_cell_max),
    ("RobotCell", "obstacles", Limits::obstacles_per_cell_max),
    ("RobotCell", "pair_margins", Limits::rules_per_cell_max),
    ("RobotCell", "robots", Limits::robots_per_cell_max),
    ("RobotInstance", "attached", Limits::attached_per_cell_max),
    ("RobotInstance", "paddings", Limits::robot_links_max),
    ("RobotMove", "joints", Limits::robot_links_max),
    ("RuleChanges", "added_checked_groups", Limits::rules_per_session_max),
    ("RuleChanges", "added_checked_pairs", Limits::rules_per_session_max),
    ("RuleChanges", "added_ignored_pairs", Limits::rules_per_session_max),
    ("RuleChanges", "groups_to_come", Limits::rules_per_session_max),
    ("RuleChanges", "removed_checked_groups", Limits::rules_per_session_max),
    ("RuleChanges", "removed_checked_pairs", Limits::rules_per_session_max),
    ("RuleChanges", "removed_ignored_pairs", Limits::rules_per_session_max),
    ("RuleChanges", "removed_margins", Limits::rules_per_session_max),
    ("RuleChanges", "set_margins", Limits::rules_per_session_max),
    ("SceneFilter", "groups", Limits::rules_per_session_max),
    ("SceneFilter", "ignored_groups", Limits::rules_per_session_max),
    ("SessionRobot", "attached", Limits::bodies_per_message_max),
    ("SessionRobot", "groups", Limits::rules_per_session_max),
    ("SessionRobot", "paddings", Limits::robot_links_max),
    ("SessionState", "bodies", Limits::bodies_per_message_max),
    ("SessionState", "contacts", Limits::pairs_per_frame_max),
    ("SessionState", "robots", Limits::robots_per_session_max),
    ("StepSessionRequest", "frames", Limits::frames_per_step_max),
    ("StreamConfigurationsRequest", "cloud_changes", Limits::cloud_changes_max),
    ("StreamEdgesRequest", "cloud_changes", Limits::cloud_changes_max),
];

/// Every other list is part of a certificate.
const IN_CERTIFICATES: CountLimit = Limits::certificate_entries_max;

/// The row of a limit, with its value in force.
type CountLimit = fn(&Limits) -> Limit;

/// The fields that are boxed, `Message.field` or `Message.oneof.field`, as the build was told.
const BOXED: &str = api::BOXED_FIELDS;

/// A header of an allocation, and what its size is rounded up by.
const ALLOCATION_BYTES: u64 = 16;

/// A list has at most twice the room for what is in it.
const GROWTH: u64 = 2;

/// Field numbers beyond this are not known to the API.
const NUMBER_MAX: usize = 1_000;

/// Lists of one message that are counted, at most.
pub(super) const COUNTERS_MAX: usize = 16;

/// All messages.
#[derive(Debug)]
pub(super) struct Structures {
    by_index: Vec<Structure>,
    /// Those of the API, without its package.
    by_name: HashMap<String, usize>,
}

/// A message.
#[derive(Debug, Default)]
pub(super) struct Structure {
    /// The bytes of the structure itself, without what it points to.
    size: u64,
    /// By their numbers.
    fields: Vec<Option<Field>>,
    /// How many of them are counted.
    pub(super) counters: usize,
}

/// A field, as far as it matters for memory.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name.
    pub(super) name: String,
    /// What it holds.
    pub(super) content: Content,
    /// It has an allocation of its own.
    pub(super) is_boxed: bool,
    /// Which counter of its message counts its elements, and up to which limit; none: it does not
    /// repeat, or holds numbers.
    pub(super) count: Option<(usize, CountLimit)>,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A message, by its index.
    Message(usize),
    /// A text, or bytes.
    Text,
    /// A list of numbers.
    Numbers {
        /// What each takes in memory.
        each: u64,
        /// What it takes on the wire, at least.
        on_wire: u64,
    },
    /// One number, whose place is in the structure.
    Number,
}

impl Structures {
    /// Those of the API.
    pub(super) fn of_api() -> &'static Self {
        static STRUCTURES: OnceLock<Structures> = OnceLock::new();
        STRUCTURES.get_or_init(|| {
            let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET);
            Self::new(&files.expect("the build wrote it"))
        })
    }

    fn new(files: &FileDescriptorSet) -> Self {
        let mut messages: Vec<(String, &DescriptorProto)> = Vec::new();
        for file in &files.file {
            for message in &file.message_type {
                collect(&mut messages, file.package(), message);
            }
        }
        let by_name: HashMap<String, usize> =
            messages.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        let mut sizes = Sizes { messages: &messages, by_name: &by_name, known: HashMap::new() };
        let by_index = (0..messages.len()).map(|at| sizes.structure(at)).collect();
        let of_api =
            |(name, at): (String, usize)| Some((name.strip_prefix(PACKAGE)?.to_owned(), at));
        Self { by_index, by_name: by_name.into_iter().filter_map(of_api).collect() }
    }

    /// The index of a message of the API.
    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// A message by its index.
    pub(super) fn get(&self, index: usize) -> &Structure {
        &self.by_index[index]
    }
}

impl Structure {
    /// The field of this number.
    pub(super) fn field(&self, number: u64) -> Option<&Field> {
        self.fields.get(usize::try_from(number).ok()?)?.as_ref()
    }

    /// The bytes of the structure itself, without what it points to.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// What it takes in an allocation of its own.
    pub(super) fn boxed_bytes(&self) -> u64 {
        self.size + ALLOCATION_BYTES
    }

    /// What it takes as an element of a list.
    pub(super) fn element_bytes(&self) -> u64 {
        GROWTH * self.size
    }
}

/// What a text of so many bytes takes; as an element of a list its place in the list as well.
pub(super) fn text_bytes(length: u64, is_element: bool) -> u64 {
    let place = if is_element { GROWTH * size_of::<String>() as u64 } else { 0 };
    length + ALLOCATION_BYTES + place
}

/// What so many numbers take in a list.
pub(super) fn numbers_bytes(count: u64, each: u64) -> u64 {
    (GROWTH * each).saturating_mul(count)
}

/// What a number takes in memory, and on the wire at least.
fn number_bytes(number: Type) -> (u64, u64) {
    match number {
        Type::Double | Type::Fixed64 | Type::Sfixed64 => (8, 8),
        Type::Float | Type::Fixed32 | Type::Sfixed32 => (4, 4),
        Type::Int64 | Type::Uint64 | Type::Sint64 => (8, 1),
        Type::Int32 | Type::Uint32 | Type::Sint32 | Type::Enum => (4, 1),
        Type::Bool => (1, 1),
        Type::Message | Type::Group | Type::String | Type::Bytes => (0, 1),
    }
}

/// A message and those declared inside it.
fn collect<'a>(
    messages: &mut Vec<(String, &'a DescriptorProto)>,
    scope: &str,
    message: &'a DescriptorProto,
) {
    let name = format!("{scope}.{}", message.name());
    for inner in &message.nested_type {
        collect(messages, &name, inner);
    }
    messages.push((name, message));
}

/// Finds out how large the structures are.
struct Sizes<'a> {
    messages: &'a [(String, &'a DescriptorProto)],
    by_name: &'a HashMap<String, usize>,
    /// None: being looked at, higher up.
    known: HashMap<usize, Option<u64>>,
}

impl Sizes<'_> {
    fn structure(&mut self, index: usize) -> Structure {
        let (name, message) = &self.messages[index];
        let simple = name.strip_prefix(PACKAGE).unwrap_or_default();
        let mut structure = Structure { size: self.size(index), ..Structure::default() };
        for field in &message.field {
            let number = usize::try_from(field.number()).unwrap_or(usize::MAX);
            assert!(number <= NUMBER_MAX, "{name}: {number} is too large a number of a field");
            let (content, is_boxed) = (self.content(field), self.is_boxed(index, field));
            let is_counted =
                field.label() == Label::Repeated && !matches!(content, Content::Numbers { .. });
            let count = is_counted.then(|| {
                let row = COUNTED.iter().find(|row| (row.0, row.1) == (simple, field.name()));
                structure.counters += 1;
                (structure.counters - 1, row.map_or(IN_CERTIFICATES, |row| row.2))
            });
            if structure.fields.len() <= number {
                structure.fields.resize_with(number + 1, || None);
            }
            structure.fields[number] =
                Some(Field { name: field.name().to_owned(), content, is_boxed, count });
        }
        assert!(structure.counters <= COUNTERS_MAX, "{name}: too many lists to count");
        structure
    }

    fn content(&self, field: &FieldDescriptorProto) -> Content {
        match field.r#type() {
            Type::Message | Type::Group => {
                let name = field.type_name().trim_start_matches('.');
                self.by_name.get(name).map_or(Content::Text, |at| Content::Message(*at))
            }
            Type::String | Type::Bytes => Content::Text,
            Type::Double
            | Type::Float
            | Type::Int64
            | Type::Uint64
            | Type::Int32
            | Type::Fixed64
            | Type::Fixed32
            | Type::Bool
            | Type::Uint32
            | Type::Enum
            | Type::Sfixed32
            | Type::Sfixed64
            | Type::Sint32
            | Type::Sint64 => {
                let (each, on_wire) = number_bytes(field.r#type());
                let is_list = field.label() == Label::Repeated;
                if is_list { Content::Numbers { each, on_wire } } else { Content::Number }
            }
        }
    }

    /// The bytes of a structure: of its fields, and of the largest variant of each oneof.
    fn size(&mut self, index: usize) -> u64 {
        match self.known.get(&index) {
            Some(Some(known)) => return *known,
            // A structure that contains itself does so by a pointer.
            Some(None) => return 8,
            None => {}
        }
        self.known.insert(index, None);
        let message = self.messages[index].1;
        let mut variants = vec![0; message.oneof_decl.len()];
        let mut size: u64 = 0;
        for field in &message.field {
            let own = self.field_size(index, field);
            match field.oneof_index.filter(|_| !field.proto3_optional()) {
                Some(at) => {
                    let largest = &mut variants[usize::try_from(at).unwrap_or(0)];
                    *largest = own.max(*largest);
                }
                None => size += own,
            }
        }
        // Which variant it is takes a word, at most.
        size += variants.iter().filter(|size| **size > 0).map(|size| size + 8).sum::<u64>();
        let size = size.next_multiple_of(8);
        self.known.insert(index, Some(size));
        size
    }

    fn is_boxed(&self, index: usize, field: &FieldDescriptorProto) -> bool {
        let message = self.messages[index].0.strip_prefix(PACKAGE);
        BOXED.split(' ').filter_map(|name| name.split_once('.')).any(|(owner, name)| {
            let name = name.rsplit('.').next();
            message == Some(owner) && name == Some(field.name())
        })
    }

    fn field_size(&mut self, index: usize, field: &FieldDescriptorProto) -> u64 {
        if field.label() == Label::Repeated {
            // Some are a share of the bytes received, which is the larger of the two.
            return size_of::<Vec<u8>>().max(size_of::<Packed<f64>>()) as u64;
        }
        match self.content(field) {
            Content::Message(_) if self.is_boxed(index, field) => 8,
            // Whether it is there takes a word, at most.
            Content::Message(at) => self.size(at) + 8,
            Content::Text if field.r#type() == Type::Bytes => {
                size_of::<prost::bytes::Bytes>() as u64
            }
            Content::Text => size_of::<String>() as u64,
            Content::Number | Content::Numbers { .. } => {
                let (own, _) = number_bytes(field.r#type());
                // Whether it is there takes as much again.
                if field.proto3_optional() { 2 * own } else { own }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_structure_is_larger_than_is_said_here_nor_much_smaller() {
        let structures = Structures::of_api();
        let check = |name: &str, size: usize| {
            let index = structures.index_of(name).unwrap_or_else(|| panic!("no message {name}"));
            let (said, size) = (structures.get(index).size(), size as u64);
            assert!(said >= size && said <= 2 * size + 16, "{name}: {said}, in fact {size}");
        };
        macro_rules! check {
            ($($name:ident)+) => { $(check(stringify!($name), size_of::<api::$name>());)+ };
        }
        check!(BatchQueryItem BatchQueryRequest Body BodyPair BodyPose ChainLink CoverStep Frame);
        check!(FindFirstContactRequest GroupPair MovingBody OpenSessionRequest PackedPoses);
        check!(PairFreedom PairMargin PairRules PartProof PlacedBody PolytopeSpec Pose VertexPair);
        check!(SessionState StepSessionRequest StreamSessionRequest VerifyCertificateRequest);
    }

    /// Every list of messages or texts that a request can contain has its own row, or is part of a
    /// certificate; a new one is noticed here.
    #[test]
    fn every_list_of_a_request_has_its_limit() {
        let structures = Structures::of_api();
        let files = FileDescriptorSet::decode(api::FILE_DESCRIPTOR_SET).unwrap();
        let messages = files.file.iter().flat_map(|file| &file.message_type);
        let requests = messages.map(DescriptorProto::name).filter(|name| name.ends_with("Request"));
        let of_api = |name: &&str| structures.index_of(name).is_some();
        let mut to_do: Vec<usize> =
            requests.filter(of_api).filter_map(|name| structures.index_of(name)).collect();
        let (mut seen, mut in_certificates) = (vec![false; structures.by_index.len()], Vec::new());
        while let Some(index) = to_do.pop() {
            if std::mem::replace(&mut seen[index], true) {
                continue;
            }
            for field in structures.get(index).fields.iter().flatten() {
                if let Content::Message(inner) = field.content {
                    to_do.push(inner);
                }
                let limit = field.count.map(|(_, limit)| limit(&Limits::default()).name);
                if limit == Some("certificate_entries_max") {
                    in_certificates.push(field.name.as_str());
                }
            }
        }
        in_certificates.sort_unstable();
        in_certificates.dedup();
        let expected = [
            "chain",
            "contact_pairs",
            "corners",
            "covers",
            "entries",
            "free",
            "hulls",
            "inner",
            "margin_pairs",
            "outer",
            "pairs",
            "parts",
            "pieces",
            "steps",
            "tied_pairs",
            "uncertified_pairs",
        ];
        assert_eq!(in_certificates, expected);
        for (message, field, _) in COUNTED {
            let structure = structures.get(structures.index_of(message).expect("a message"));
            let is_counted = |known: &&Field| known.name == *field && known.count.is_some();
            assert!(structure.fields.iter().flatten().any(|known| is_counted(&known)), "{field}");
        }
    }
}
