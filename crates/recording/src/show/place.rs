//! Poses of the interface as others write them. They are for pictures: rounded, and not for proofs.

use clearance_proto as api;
use clearance_proto::pose::Orientation;

use crate::foxglove;

/// A pose.
pub(super) fn pose(given: Option<&api::Pose>) -> foxglove::Pose {
    let orientation = match given.and_then(|pose| pose.orientation.as_ref()) {
        Some(Orientation::Rotation(q)) => quaternion_of([q.w, q.x, q.y, q.z]),
        Some(Orientation::RotationMatrix(matrix)) => match matrix.rows.as_slice().try_into() {
            Ok(rows) => turn(rows),
            Err(_) => quaternion_of([1.0, 0.0, 0.0, 0.0]),
        },
        None => quaternion_of([1.0, 0.0, 0.0, 0.0]),
    };
    let at = given.and_then(|pose| pose.translation).unwrap_or_default();
    at_place([at.x, at.y, at.z], orientation)
}

/// A place and a turn.
pub(super) fn at_place([x, y, z]: [f64; 3], orientation: foxglove::Quaternion) -> foxglove::Pose {
    foxglove::Pose { position: Some(foxglove::Vector3 { x, y, z }), orientation: Some(orientation) }
}

/// A turn by its matrix, row by row: the quaternion whose largest part is worked out first, so that
/// nothing is divided by little (Shepperd 1978).
pub(super) fn turn(rows: [f64; 9]) -> foxglove::Quaternion {
    let [m00, m01, m02, m10, m11, m12, m20, m21, m22] = rows;
    let squares = [
        1.0 + m00 + m11 + m22,
        1.0 + m00 - m11 - m22,
        1.0 - m00 + m11 - m22,
        1.0 - m00 - m11 + m22,
    ];
    let largest = (0..4).max_by(|a, b| squares[*a].total_cmp(&squares[*b])).unwrap_or(0);
    let (a, b, c) = (m21 - m12, m02 - m20, m10 - m01);
    let (d, e, f) = (m01 + m10, m02 + m20, m12 + m21);
    let s = squares[largest];
    quaternion_of(match largest {
        0 => [s, a, b, c],
        1 => [a, s, d, e],
        2 => [b, d, s, f],
        _ => [c, e, f, s],
    })
}

/// The turn of a quaternion `w, x, y, z` of any length.
fn quaternion_of(parts: [f64; 4]) -> foxglove::Quaternion {
    let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    let [w, x, y, z] = parts.map(|part| part / length);
    foxglove::Quaternion { x, y, z, w }
}

#[cfg(test)]
mod tests {
    use clearance_geometry::Vec3;
    use clearance_geometry::pose::Pose;

    use super::*;

    /// The matrix of a quaternion.
    fn rows(parts: [f64; 4]) -> [f64; 9] {
        let pose = Pose::from_quaternion(Vec3::zeros(), parts).unwrap();
        pose.rotation.transpose().as_slice().try_into().unwrap()
    }

    #[test]
    fn a_matrix_and_its_quaternion_are_one_turn_also_near_half_turns() {
        let parts = [-1.0_f64, -1e-9, 0.0, 1e-9, 0.5, 1.0];
        for w in parts {
            for x in parts {
                for (y, z) in [(0.0, 1.0), (1.0, 0.0), (-0.3, 0.4), (1.0, 1.0), (0.7, -1e-9)] {
                    let meant = rows([w, x, y, z]);
                    let found = turn(meant);
                    let again = rows([found.w, found.x, found.y, found.z]);
                    let off = again.iter().zip(&meant).map(|(a, b)| (a - b).abs());
                    assert!(off.fold(0.0, f64::max) < 1e-12, "{w} {x} {y} {z}");
                }
            }
        }
    }

    #[test]
    fn a_missing_pose_is_the_identity() {
        let missing = pose(None);
        assert_eq!(missing.orientation.map(|q| [q.w, q.x, q.y, q.z]), Some([1.0, 0.0, 0.0, 0.0]));
        assert_eq!(missing.position.map(|p| [p.x, p.y, p.z]), Some([0.0; 3]));
    }
}
