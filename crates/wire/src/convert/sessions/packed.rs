//! Poses of a frame, nested and packed: two forms of one list of moves, read where they were
//! received when the scene takes them.

use std::cell::Cell;

use arrayvec::ArrayVec;

use super::declare::said;
use crate::convert::geometry::{length, pose};
use crate::path::{BadField, Path};
use clearance_geometry::Vec3;
use clearance_geometry::pose::{Pose, PoseError};
use clearance_proto as api;
use clearance_scene::{BodyId, Move, Moves};

/// Every pose of a frame, the nested ones first. Those that are none are left out.
#[derive(Debug)]
pub struct WireMoves<'a> {
    nested: &'a [api::BodyPose],
    packed: Option<&'a api::PackedPoses>,
    /// The ids of the packed ones, sorted.
    teleported: Vec<u32>,
    /// Whether one was left out.
    has_left_out: Cell<bool>,
}

/// So many poses are read before their bodies are looked for: reading ahead in a list is fast.
const AT_ONCE: usize = 32;

impl<'a> WireMoves<'a> {
    /// Those of a frame. A single pose that is none is refused alone; arrays that do not agree are
    /// an error of the whole frame.
    pub fn of(path: &Path<'_>, frame: &'a api::Frame) -> Result<Self, BadField> {
        let packed = frame.packed_poses.as_ref();
        let mut teleported = Vec::new();
        if let Some(packed) = packed {
            let path = path.field("packed_poses");
            check_lengths(&path, packed)?;
            teleported = sorted(packed.teleported_ids.iter());
            if !teleported.is_empty() {
                let ids = sorted(packed.ids.iter());
                if let Some(id) = teleported.iter().find(|id| ids.binary_search(id).is_err()) {
                    let why = format!("{id} is not among the ids");
                    return Err(path.field("teleported_ids").bad(why));
                }
            }
        }
        Ok(Self { nested: &frame.poses, packed, teleported, has_left_out: Cell::new(false) })
    }

    /// Calls `take` for each pose that is none, of those that were read, with what puts it into
    /// words; `path` is that of the frame. There may be 150,000 of them, and words for each took a
    /// fifth of a second on the thread that others wait for.
    pub fn each_left_out(&self, path: &Path<'_>, mut take: impl FnMut(&dyn Fn() -> BadField)) {
        if !self.has_left_out.get() {
            return;
        }
        let list = path.field("poses");
        for (index, one) in self.nested.iter().enumerate() {
            if let Err(bad) = nested_move(&list.index(index), one) {
                take(&|| bad.clone());
            }
        }
        let arrays = path.field("packed_poses");
        for (index, placed) in self.packed.into_iter().flat_map(poses).enumerate() {
            let Err(error) = placed else { continue };
            take(&|| {
                let list = match error {
                    PoseError::Translation => arrays.field("translations"),
                    PoseError::Quaternion => arrays.field("rotations"),
                    PoseError::Matrix => arrays.field("rotation_matrices"),
                };
                list.index(index).bad(error.to_string())
            });
        }
    }

    /// The id that the move at this place is about.
    pub fn id(&self, index: usize) -> u32 {
        match self.nested.get(index) {
            Some(one) => one.id.unwrap_or_default(),
            None => {
                let mut ids = self.packed.into_iter().flat_map(|packed| packed.ids.iter());
                ids.nth(index - self.nested.len()).unwrap_or_default()
            }
        }
    }

    /// The path of that id in the frame.
    pub fn path_of_id(&self, index: usize, frame: &Path<'_>) -> String {
        match index.checked_sub(self.nested.len()) {
            None => frame.field("poses").index(index).field("id").to_string(),
            Some(index) => frame.field("packed_poses").field("ids").index(index).to_string(),
        }
    }

    /// The path of the pose; of packed ones, of the body's id, as a pose is in several arrays.
    pub fn path_of_pose(&self, index: usize, frame: &Path<'_>) -> String {
        if index < self.nested.len() {
            return frame.field("poses").index(index).field("pose").to_string();
        }
        self.path_of_id(index, frame)
    }
}

impl WireMoves<'_> {
    /// The path of the spin of the move at this place; of packed ones, of the body's.
    pub fn path_of_spin(&self, index: usize, frame: &Path<'_>) -> String {
        match index.checked_sub(self.nested.len()) {
            None => frame.field("poses").index(index).field("spin").to_string(),
            Some(index) => frame.field("packed_poses").field("spins").index(index).to_string(),
        }
    }
}

impl Moves for WireMoves<'_> {
    fn each(&self, take: &mut dyn FnMut(usize, &Move)) {
        for (index, one) in self.nested.iter().enumerate() {
            match nested_move(&Path::ROOT, one) {
                Ok(moved) => take(index, &moved),
                Err(_) => self.has_left_out.set(true),
            }
        }
        let Some(packed) = self.packed else { return };
        let mut chunk: ArrayVec<(usize, Move), AT_ONCE> = ArrayVec::new();
        let mut spins = packed.spins.rows::<3>().map(Vec3::from);
        for (index, (id, placed)) in packed.ids.iter().zip(poses(packed)).enumerate() {
            let spin = spins.next().filter(|spin| *spin != Vec3::zeros());
            let Ok((pose, quaternion)) = placed else {
                self.has_left_out.set(true);
                continue;
            };
            let teleported =
                !self.teleported.is_empty() && self.teleported.binary_search(&id).is_ok();
            let moved = Move { teleported, quaternion, spin, ..Move::new(BodyId(id), pose) };
            chunk.push((self.nested.len() + index, moved));
            if chunk.is_full() {
                chunk.drain(..).for_each(|(index, moved)| take(index, &moved));
            }
        }
        chunk.iter().for_each(|(index, moved)| take(*index, moved));
    }
}

fn nested_move(path: &Path<'_>, wire: &api::BodyPose) -> Result<Move, BadField> {
    let deviation = wire.deviation.map(|deviation| length(&path.field("deviation"), deviation));
    let id = said(&path.field("id"), wire.id)?;
    let placed = pose(&path.field("pose"), wire.pose.as_ref())?;
    let orientation = wire.pose.as_ref().and_then(|pose| pose.orientation.as_ref());
    let quaternion = match orientation {
        None => Some(NO_TURN),
        Some(api::pose::Orientation::Rotation(api::Quaternion { w, x, y, z })) => {
            Some([*w, *x, *y, *z])
        }
        Some(api::pose::Orientation::RotationMatrix(_)) => None,
    };
    let spin = wire.spin.as_ref().map(|&api::Vector3 { x, y, z }| Vec3::new(x, y, z));
    Ok(Move {
        teleported: wire.teleported,
        deviation: deviation.transpose()?,
        quaternion,
        spin,
        ..Move::new(BodyId(id), placed)
    })
}

/// The quaternion of a pose that says nothing of a rotation.
const NO_TURN: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

/// A pose, and the quaternion that its rotation was made of, if it was.
type MadePose = (Pose, Option<[f64; 4]>);

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
    if !wire.spins.is_empty() {
        agrees("spins", wire.spins.len(), 3)?;
    }
    match (wire.rotations.len(), wire.rotation_matrices.len()) {
        (0, 0) => Ok(()),
        (length, 0) => agrees("rotations", length, 4),
        (0, length) => agrees("rotation_matrices", length, 9),
        _ => Err(path.field("rotation_matrices").bad("must be empty when there are rotations")),
    }
}

/// The poses of arrays that agree, in order.
#[inline]
fn poses(wire: &api::PackedPoses) -> impl Iterator<Item = Result<MadePose, PoseError>> + '_ {
    let (mut rotations, mut matrices) =
        (wire.rotations.rows::<4>(), wire.rotation_matrices.rows::<9>());
    wire.translations.rows::<3>().map(move |translation| {
        let translation = Vec3::from(translation);
        let turned = |quaternion| {
            Pose::from_quaternion(translation, quaternion).map(|pose| (pose, Some(quaternion)))
        };
        match rotations.next() {
            Some(quaternion) => turned(quaternion),
            None => match matrices.next() {
                Some(rows) => Pose::from_matrix(translation, rows).map(|pose| (pose, None)),
                None => turned(NO_TURN),
            },
        }
    })
}

fn sorted(ids: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    ids
}
