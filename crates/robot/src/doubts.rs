//! What a robot's files say that is most likely not meant: notes, and nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use super::error::shown;
use super::model::{Robot, Sources};
use super::parts::{PartSource, RobotPart, last_step};

/// Notes of each kind, at most.
const DOUBTS_MAX: usize = 10;

/// Parts are hardly ever so large, metres: numbers of millimetres, read as metres, are.
const LARGE: f64 = 50.0;

impl Robot {
    /// Adds notes of what is most likely not meant.
    pub(super) fn note_doubts(&mut self, sources: &Sources<'_>) {
        let sizes = self.parts.iter().filter_map(|part| self.large(part));
        let sizes: BTreeSet<String> = sizes.collect();
        let mut notes: Vec<String> = sizes.into_iter().take(DOUBTS_MAX).collect();
        notes.extend(self.shared_files(sources).into_iter().take(DOUBTS_MAX));
        self.notes.extend(notes);
    }

    /// A part that is as large as one in millimetres.
    fn large(&self, part: &RobotPart) -> Option<String> {
        let bounds = part.body.hull().bounds();
        let size = (bounds.high - bounds.low).max();
        if size < LARGE {
            return None;
        }
        let link = shown(&self.links[part.link].name);
        let what = match file_of(part) {
            Some(name) => format!("the mesh {:?}", shown(name)),
            None => "a shape".to_owned(),
        };
        Some(format!("link {link:?}: {what} is {size:.0} m large: are these millimetres?"))
    }

    /// Files that stand for several of the URDF's, since the last steps of their names are alike.
    fn shared_files(&self, sources: &Sources<'_>) -> Vec<String> {
        let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let names = self.parts.iter().filter_map(file_of);
        for name in names.filter(|name| !sources.meshes.contains_key(*name)) {
            named.entry(last_step(name)).or_default().insert(name);
        }
        let shared = named.into_iter().filter(|(_, names)| names.len() > 1);
        let note = |(file, names): (&str, BTreeSet<&str>)| {
            let names: Vec<String> = names.iter().take(2).map(|name| shown(name)).collect();
            format!(
                "one file, {:?}, stands for {:?} and {:?}: give each by its whole name if they \
                 are not the same",
                shown(file),
                names[0],
                names[1]
            )
        };
        shared.map(note).collect()
    }
}

/// The name that the URDF has for the file of a part, if it is of one.
fn file_of(part: &RobotPart) -> Option<&str> {
    match &part.source {
        PartSource::Box | PartSource::Round => None,
        PartSource::Mesh { filename, .. }
        | PartSource::AsItIs { filename }
        | PartSource::Surface { filename }
        | PartSource::Piece { filename }
        | PartSource::Registered { filename } => Some(filename),
    }
}
