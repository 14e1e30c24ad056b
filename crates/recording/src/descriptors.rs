//! The schema of a message, as MCAP wants it: the files that it needs.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use prost::Message;
use prost_types::{FileDescriptorProto, FileDescriptorSet};

use crate::foxglove;

/// Every file that a topic's message may be in, without comments.
fn files() -> &'static [FileDescriptorProto] {
    static FILES: OnceLock<Vec<FileDescriptorProto>> = OnceLock::new();
    FILES.get_or_init(|| {
        let sets = [clearance_proto::FILE_DESCRIPTOR_SET, foxglove::FILE_DESCRIPTOR_SET];
        let decoded = sets.iter().filter_map(|set| FileDescriptorSet::decode(*set).ok());
        let mut files: Vec<FileDescriptorProto> = decoded.flat_map(|set| set.file).collect();
        for file in &mut files {
            file.source_code_info = None;
        }
        files
    })
}

/// The files that the message of this full name needs, each after those that it imports, as the
/// bytes of a `FileDescriptorSet`.
pub(crate) fn files_of(name: &str) -> Vec<u8> {
    let (mut set, mut taken) = (FileDescriptorSet::default(), BTreeSet::new());
    if let Some(file) = files().iter().find(|file| defines(file, name)) {
        take(file, &mut taken, &mut set);
    }
    set.encode_to_vec()
}

fn defines(file: &FileDescriptorProto, name: &str) -> bool {
    let own = name.strip_prefix(file.package()).and_then(|rest| rest.strip_prefix('.'));
    own.is_some_and(|own| file.message_type.iter().any(|message| message.name() == own))
}

fn take(file: &FileDescriptorProto, taken: &mut BTreeSet<String>, set: &mut FileDescriptorSet) {
    if !taken.insert(file.name().to_owned()) {
        return;
    }
    for name in &file.dependency {
        if let Some(other) = files().iter().find(|other| other.name() == name) {
            take(other, taken, set);
        }
    }
    set.file.push(file.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(message: &str) -> Vec<String> {
        let set = FileDescriptorSet::decode(&*files_of(message)).unwrap();
        set.file.into_iter().map(|file| file.name().to_owned()).collect()
    }

    #[test]
    fn the_files_of_a_message_come_after_what_they_import() {
        let names = names("clearance.v1.FrameReport");
        assert_eq!(names.last().map(String::as_str), Some("clearance/v1/session_service.proto"));
        for message in ["foxglove.SceneUpdate", "clearance.v1.Frame", "foxglove.PointCloud"] {
            let set = FileDescriptorSet::decode(&*files_of(message)).unwrap();
            let mut known = BTreeSet::new();
            for file in &set.file {
                assert!(file.dependency.iter().all(|name| known.contains(name)), "{}", file.name());
                assert!(file.source_code_info.is_none());
                known.insert(file.name().to_owned());
            }
            assert!(!set.file.is_empty(), "{message}");
        }
    }

    #[test]
    fn what_is_no_message_has_no_files() {
        assert!(names("clearance.v1.Nothing").is_empty());
        assert!(names("").is_empty());
    }
}
