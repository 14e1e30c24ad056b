//! A scene and its frames, ready to be played to any server.

use std::sync::Arc;

use clearance_geometry::hull::samples::Random;
use clearance_geometry::polytope::Polytope;
use clearance_geometry::pose::Pose;
use clearance_proto as api;

use super::asked::Asked;
use super::drift::{Drifter, movers};
use super::field::{hulls, side};

/// A body as it is declared, without where it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Actor {
    /// Its index in [`Script::shapes`].
    pub(crate) shape: usize,
    pub(crate) fixed: bool,
    pub(crate) continuous: bool,
}

/// A scene and its frames.
pub(crate) struct Script {
    pub(crate) name: String,
    pub(crate) shapes: Vec<Arc<Polytope>>,
    /// The bodies, whose ids are their places from 1 on.
    pub(crate) actors: Vec<Actor>,
    /// Where all bodies are at first, then what moves in each frame.
    pub(crate) frames: Vec<api::PackedPoses>,
    /// Whether first contacts are asked of all pairs.
    pub(crate) first_contacts: bool,
}

impl Script {
    /// Bodies that drift: the scenes of the benches `scenes` and `wire`.
    pub(crate) fn drifting(name: &str, asked: &Asked, frames: u64) -> Self {
        let mut random = Random::new(7);
        let shapes = hulls(&mut random);
        let side = side(asked.bodies);
        let mut drifters: Vec<Drifter> =
            (0..asked.bodies).map(|_| Drifter::anywhere(&mut random, side, asked.pace)).collect();
        let actor = |index: usize| Actor {
            shape: index % 20,
            fixed: false,
            continuous: asked.is_chosen(index),
        };
        let posed = |(index, drifter): (usize, &Drifter)| {
            (index as u32 + 1, Posed::turned(drifter.place.into(), drifter.turn))
        };
        let mut all = vec![packed(drifters.iter().enumerate().map(posed))];
        for frame in 0..frames {
            let moving: Vec<usize> = movers(drifters.len(), asked.moving, frame).collect();
            moving.iter().for_each(|&index| drifters[index].go_on());
            all.push(packed(moving.iter().map(|&index| posed((index, &drifters[index])))));
        }
        Self {
            name: name.to_owned(),
            shapes,
            actors: (0..drifters.len()).map(actor).collect(),
            frames: all,
            first_contacts: asked.first_contacts,
        }
    }

    /// The number of the last frame.
    pub(crate) fn last(&self) -> u64 {
        self.frames.len() as u64 - 1
    }

    /// Where all bodies are at first.
    pub(crate) fn start(&self) -> Vec<api::Pose> {
        self.frames[0].poses().map(|(_, pose)| pose).collect()
    }

    /// One frame on.
    pub(crate) fn go_on(&self, poses: &mut [api::Pose], frame_id: u64) {
        for (id, pose) in self.frames[frame_id as usize].poses() {
            poses[id as usize - 1] = pose;
        }
    }

    /// The frame as it is sent.
    pub(crate) fn frame(&self, frame_id: u64) -> api::Frame {
        let packed = self.frames[frame_id as usize].clone();
        let packed_poses = (!packed.ids.is_empty()).then_some(packed);
        api::Frame { frame_id, packed_poses, ..Default::default() }
    }

    /// The scene as a client declares it; `ids` are those of the shapes on the server.
    pub(crate) fn state(&self, poses: &[api::Pose], ids: &[String]) -> api::SessionState {
        let body = |(index, (actor, pose)): (usize, (&Actor, &api::Pose))| {
            let source = Some(api::placed_body::Source::Id(ids[actor.shape].clone()));
            api::Body {
                id: Some(index as u32 + 1),
                parts: vec![api::PlacedBody { source, pose: None }],
                pose: Some(pose.clone()),
                fixed: actor.fixed,
                continuous: actor.continuous,
                ..Default::default()
            }
        };
        let bodies = self.actors.iter().zip(poses).enumerate().map(body).collect();
        api::SessionState { bodies, ..Default::default() }
    }
}

/// Where a body is, as it is sent.
pub(crate) enum Posed {
    Turned([f64; 3], [f64; 4]),
    Exactly([f64; 3], [f64; 9]),
}

impl Posed {
    /// By a quaternion.
    pub(crate) fn turned(place: [f64; 3], turn: [f64; 4]) -> Self {
        Self::Turned(place, turn)
    }

    /// By a matrix.
    pub(crate) fn exactly(pose: &Pose) -> Self {
        let mut rows = [0.0; 9];
        let transposed = pose.rotation.transpose();
        rows.copy_from_slice(transposed.as_slice());
        Self::Exactly(pose.translation.into(), rows)
    }
}

/// The poses of one frame, all of one kind.
pub(crate) fn packed(posed: impl Iterator<Item = (u32, Posed)>) -> api::PackedPoses {
    let (mut ids, mut translations) = (Vec::new(), Vec::new());
    let (mut rotations, mut matrices) = (Vec::new(), Vec::new());
    for (id, posed) in posed {
        ids.push(id);
        match posed {
            Posed::Turned(place, turn) => {
                translations.extend(place);
                rotations.extend(turn);
            }
            Posed::Exactly(place, rows) => {
                translations.extend(place);
                matrices.extend(rows);
            }
        }
    }
    api::PackedPoses {
        ids: ids.into(),
        translations: translations.into(),
        rotations: rotations.into(),
        rotation_matrices: matrices.into(),
        ..Default::default()
    }
}

/// Reads packed poses one by one.
trait Poses {
    fn poses(&self) -> impl Iterator<Item = (u32, api::Pose)>;
}

impl Poses for api::PackedPoses {
    fn poses(&self) -> impl Iterator<Item = (u32, api::Pose)> {
        use api::pose::Orientation;
        let turned = self
            .rotations
            .rows()
            .map(|[w, x, y, z]: [f64; 4]| Orientation::Rotation(api::Quaternion { w, x, y, z }));
        let exactly = self.rotation_matrices.rows().map(|rows: [f64; 9]| {
            Orientation::RotationMatrix(api::RotationMatrix { rows: rows.to_vec() })
        });
        let places = self.translations.rows().map(|[x, y, z]: [f64; 3]| api::Vector3 { x, y, z });
        let poses = places.zip(turned.chain(exactly)).map(|(place, orientation)| api::Pose {
            translation: Some(place),
            orientation: Some(orientation),
        });
        self.ids.iter().zip(poses)
    }
}
