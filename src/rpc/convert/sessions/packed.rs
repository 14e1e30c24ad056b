//! Poses of a frame, nested and packed: two forms of one list of moves.
//!
//! Both are read from the ordinary decoded message; the wire layout of the packed form is the one
//! that a decoder without copying could read as well.

use crate::geometry::Vec3;
use crate::geometry::pose::{Pose, PoseError};
use crate::rpc::api;
use crate::rpc::convert::geometry::{length, pose};
use crate::rpc::path::{BadField, Path};
use crate::rpc::status::Failure;
use crate::scene::{BodyId, Move};

/// Moves, and for each where it came from.
#[derive(Debug, Default)]
pub struct Moves {
    /// The moves.
    pub moves: Vec<Move>,
    /// Where each of them came from.
    pub fields: Vec<Field>,
    /// Poses that are none.
    pub refused: Vec<api::ItemStatus>,
}

/// Where a move came from, as a path in the frame.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// By its place in `poses`.
    Nested(usize),
    /// By its place in `packed_poses`.
    Packed(usize),
}

impl Field {
    /// The path of the body's id.
    pub fn id(self, frame: &Path<'_>) -> String {
        match self {
            Self::Nested(index) => frame.field("poses").index(index).field("id").to_string(),
            Self::Packed(index) => {
                frame.field("packed_poses").field("ids").index(index).to_string()
            }
        }
    }

    /// The path of the pose; of packed ones, of the body's id, as a pose is in several arrays.
    pub fn pose(self, frame: &Path<'_>) -> String {
        match self {
            Self::Nested(index) => frame.field("poses").index(index).field("pose").to_string(),
            Self::Packed(_) => self.id(frame),
        }
    }
}

/// Every pose of a frame. A single pose that is none is refused alone; arrays that do not agree are
/// an error of the whole frame.
pub fn moves(path: &Path<'_>, frame: &api::Frame) -> Result<Moves, BadField> {
    let mut found = Moves::default();
    let list = path.field("poses");
    for (index, one) in frame.poses.iter().enumerate() {
        match nested(&list.index(index), one) {
            Ok(moved) => found.add(moved, Field::Nested(index)),
            Err(bad) => found.refused.push(Failure::from(bad).to_item()),
        }
    }
    if let Some(packed) = &frame.packed_poses {
        unpack(&path.field("packed_poses"), packed, &mut found)?;
    }
    Ok(found)
}

impl Moves {
    fn add(&mut self, moved: Move, field: Field) {
        self.moves.push(moved);
        self.fields.push(field);
    }
}

fn nested(path: &Path<'_>, wire: &api::BodyPose) -> Result<Move, BadField> {
    let deviation = wire.deviation.map(|deviation| length(&path.field("deviation"), deviation));
    Ok(Move {
        body: BodyId(wire.id),
        pose: pose(&path.field("pose"), wire.pose.as_ref())?,
        teleported: wire.teleported,
        deviation: deviation.transpose()?,
    })
}

fn unpack(path: &Path<'_>, wire: &api::PackedPoses, found: &mut Moves) -> Result<(), BadField> {
    check_lengths(path, wire)?;
    let teleported = sorted(&wire.teleported_ids);
    if !teleported.is_empty() {
        let ids = sorted(&wire.ids);
        if let Some(id) = teleported.iter().find(|id| ids.binary_search(id).is_err()) {
            return Err(path.field("teleported_ids").bad(format!("{id} is not among the ids")));
        }
    }
    found.moves.reserve_exact(wire.ids.len());
    found.fields.reserve_exact(wire.ids.len());
    for (index, (&id, placed)) in wire.ids.iter().zip(poses(wire)).enumerate() {
        match placed {
            Ok(pose) => {
                let teleported = teleported.binary_search(&id).is_ok();
                let moved = Move { body: BodyId(id), pose, teleported, deviation: None };
                found.add(moved, Field::Packed(index));
            }
            Err(error) => {
                let list = match error {
                    PoseError::Translation => path.field("translations"),
                    PoseError::Quaternion => path.field("rotations"),
                    PoseError::Matrix => path.field("rotation_matrices"),
                };
                let bad = list.index(index).bad(error.to_string());
                found.refused.push(Failure::from(bad).to_item());
            }
        }
    }
    Ok(())
}

/// The arrays are as long as the ids say, and rotations come in one form or in none.
fn check_lengths(path: &Path<'_>, wire: &api::PackedPoses) -> Result<(), BadField> {
    let count = wire.ids.len();
    let agrees = |name: &'static str, length: usize, each: usize| {
        if length == count * each {
            return Ok(());
        }
        let expected = count * each;
        Err(path.field(name).bad(format!(
            "must have {each} numbers for each of the {count} ids, {expected} in all, and has \
             {length}"
        )))
    };
    agrees("translations", wire.translations.len(), 3)?;
    match (wire.rotations.len(), wire.rotation_matrices.len()) {
        (0, 0) => Ok(()),
        (length, 0) => agrees("rotations", length, 4),
        (0, length) => agrees("rotation_matrices", length, 9),
        _ => Err(path.field("rotation_matrices").bad("must be empty when there are rotations")),
    }
}

/// The poses of arrays that agree, in order.
fn poses(wire: &api::PackedPoses) -> impl Iterator<Item = Result<Pose, PoseError>> {
    let (translations, _) = wire.translations.as_chunks::<3>();
    let (rotations, _) = wire.rotations.as_chunks::<4>();
    let (matrices, _) = wire.rotation_matrices.as_chunks::<9>();
    translations.iter().enumerate().map(|(index, &translation)| {
        let translation = Vec3::from(translation);
        match (rotations.get(index), matrices.get(index)) {
            (Some(&quaternion), _) => Pose::from_quaternion(translation, quaternion),
            (None, Some(&rows)) => Pose::from_matrix(translation, rows),
            (None, None) => Pose::from_quaternion(translation, [1.0, 0.0, 0.0, 0.0]),
        }
    })
}

fn sorted(ids: &[u32]) -> Vec<u32> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}
