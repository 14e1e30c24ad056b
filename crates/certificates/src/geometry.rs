//! Points, poses, motions and directions.

use crate::path::{BadField, Path};
use clearance_proof::claim::{Axis, Direction, Outcome, Verdict};
use clearance_proof::effort::Stopped;
use clearance_proof::motion::{Motion, Turn};
use clearance_proof::pose::{COORDINATE_MAX, Pose, PoseError};
use clearance_proof::vertex_pair::VertexPair;
use clearance_proof::{Mat3, Vec3};
use clearance_proto as api;
use clearance_proto::packed::Packed;

const NOT_FINITE: &str = "must be finite and at most 2^960 in absolute value";

/// A coordinate: finite and at most 2^960.
pub fn coordinate(path: &Path<'_>, value: f64) -> Result<f64, BadField> {
    // Written so that NaN lands in the error.
    if value.abs() <= COORDINATE_MAX { Ok(value) } else { Err(path.bad(NOT_FINITE)) }
}

/// Each of a list of numbers may be a coordinate.
pub fn coordinates(path: &Path<'_>, numbers: &Packed<f64>) -> Result<(), BadField> {
    let mut numbers = numbers.iter().enumerate();
    numbers.try_for_each(|(at, number)| coordinate(&path.index(at), number).map(|_| ()))
}

/// A length: finite, at least 0 and at most 2^960.
pub fn length(path: &Path<'_>, value: f64) -> Result<f64, BadField> {
    if (0.0..=COORDINATE_MAX).contains(&value) {
        Ok(value)
    } else {
        Err(path.bad("must be at least 0 and at most 2^960"))
    }
}

/// A signed length: finite and at most 2^960 either way.
pub fn signed_length(path: &Path<'_>, value: f64) -> Result<f64, BadField> {
    if value.abs() <= COORDINATE_MAX {
        Ok(value)
    } else {
        Err(path.bad("must be a number between -2^960 and 2^960"))
    }
}

/// The margin of a question: a length, which below 0 is a depth, if there is one.
pub fn margin(question: &Path<'_>, wire: Option<f64>) -> Result<Option<f64>, BadField> {
    wire.map(|value| signed_length(&question.field("margin"), value)).transpose()
}

/// How finely to look: positive and at most 2^960.
pub fn tolerance(path: &Path<'_>, value: f64) -> Result<f64, BadField> {
    if value > 0.0 && value <= COORDINATE_MAX {
        Ok(value)
    } else {
        Err(path.bad("must be positive and at most 2^960"))
    }
}

/// A vector with its coordinates checked; missing: zero.
pub fn vector(path: &Path<'_>, wire: Option<&api::Vector3>) -> Result<Vec3, BadField> {
    let Some(api::Vector3 { x, y, z }) = wire else { return Ok(Vec3::zeros()) };
    Ok(Vec3::new(
        coordinate(&path.field("x"), *x)?,
        coordinate(&path.field("y"), *y)?,
        coordinate(&path.field("z"), *z)?,
    ))
}

/// A vector that must not be zero.
pub fn direction_vector(path: &Path<'_>, wire: Option<&api::Vector3>) -> Result<Vec3, BadField> {
    let vector = vector(path, wire)?;
    if vector == Vec3::zeros() { Err(path.bad("must not be zero")) } else { Ok(vector) }
}

/// A vector for the wire.
pub fn vector_to_wire(vector: &Vec3) -> api::Vector3 {
    api::Vector3 { x: vector.x, y: vector.y, z: vector.z }
}

/// A list of points, not empty.
pub fn points(path: &Path<'_>, wire: &api::Points) -> Result<Vec<Vec3>, BadField> {
    let list = path.field("xyz");
    let (triples, rest) = wire.xyz.as_chunks::<3>();
    if !rest.is_empty() {
        return Err(list.bad("must have three numbers for each point"));
    }
    if triples.is_empty() {
        return Err(list.bad("must have at least one point"));
    }
    for (index, value) in wire.xyz.iter().enumerate() {
        coordinate(&list.index(index), *value)?;
    }
    Ok(triples.iter().map(|&triple| triple.into()).collect())
}

/// Points for the wire.
pub fn points_to_wire(points: &[Vec3]) -> api::Points {
    api::Points { xyz: points.iter().flat_map(|point| [point.x, point.y, point.z]).collect() }
}

/// A pose; missing: the identity.
pub fn pose(path: &Path<'_>, wire: Option<&api::Pose>) -> Result<Pose, BadField> {
    let Some(wire) = wire else { return Ok(Pose::identity()) };
    let translation = vector(&path.field("translation"), wire.translation.as_ref())?;
    let (pose, field) = match &wire.orientation {
        None => {
            let pose = Pose { translation, ..Pose::identity() };
            (Ok(pose), "rotation")
        }
        Some(api::pose::Orientation::Rotation(api::Quaternion { w, x, y, z })) => {
            (Pose::from_quaternion(translation, [*w, *x, *y, *z]), "rotation")
        }
        Some(api::pose::Orientation::RotationMatrix(matrix)) => {
            let path = path.field("rotation_matrix");
            let path = path.field("rows");
            let rows = matrix.rows.as_slice().try_into();
            let rows = rows.map_err(|_| path.bad("must have nine numbers"))?;
            (Pose::from_matrix(translation, rows), "rotation_matrix")
        }
    };
    pose.map_err(|error| match error {
        PoseError::Translation => path.field("translation").bad(error.to_string()),
        PoseError::Quaternion | PoseError::Matrix => path.field(field).bad(error.to_string()),
    })
}

/// A pose for the wire: always as a matrix, which is exact.
pub fn pose_to_wire(pose: &Pose) -> api::Pose {
    api::Pose {
        translation: Some(vector_to_wire(&pose.translation)),
        orientation: Some(api::pose::Orientation::RotationMatrix(api::RotationMatrix {
            rows: matrix_rows(&pose.rotation).to_vec(),
        })),
    }
}

/// Nine numbers, row by row.
pub fn matrix_rows(matrix: &Mat3) -> [f64; 9] {
    std::array::from_fn(|k| matrix[(k / 3, k % 3)])
}

/// A motion; missing: rest.
pub fn motion(path: &Path<'_>, wire: Option<&api::Motion>) -> Result<Motion, BadField> {
    let Some(kind) = wire.and_then(|wire| wire.kind.as_ref()) else { return Ok(Motion::rest()) };
    match kind {
        api::motion::Kind::Linear(linear) => {
            let path = path.field("linear");
            let velocity = vector(&path.field("velocity"), linear.velocity.as_ref())?;
            Ok(Motion::Linear { velocity })
        }
        api::motion::Kind::Screw(screw) => {
            let path = path.field("screw");
            let pivot = pivot(&path, screw.pivot.as_ref())?;
            let angle = coordinate(&path.field("angle"), screw.angle)?;
            let axis = vector(&path.field("axis"), screw.axis.as_ref())?;
            if axis == Vec3::zeros() && angle.abs() > 0.0 {
                return Err(path.field("axis").bad("must not be zero unless the angle is 0"));
            }
            let velocity = vector(&path.field("velocity"), screw.velocity.as_ref())?;
            Ok(Motion::Screw { pivot, velocity, axis, angle })
        }
        api::motion::Kind::ToPose(to_pose) => {
            let path = path.field("to_pose");
            let end = pose(&path.field("end"), to_pose.end.as_ref())?;
            let spin = to_pose.spin.as_ref();
            let spin = spin.map(|spin| vector(&path.field("spin"), Some(spin))).transpose()?;
            let turn = spin.map(|spin| turn_of(&spin));
            Ok(Motion::ToPose { end, pivot: pivot(&path, to_pose.pivot.as_ref())?, turn })
        }
    }
}

/// The turn that a spin says: see `ToPoseMotion`.
fn turn_of(spin: &Vec3) -> Turn {
    let angle = ((spin.x * spin.x + spin.y * spin.y) + spin.z * spin.z).sqrt();
    Turn { axis: *spin, angle }
}

fn pivot(path: &Path<'_>, wire: Option<&api::Vector3>) -> Result<Option<Vec3>, BadField> {
    let path = path.field("pivot");
    wire.map(|pivot| vector(&path, Some(pivot))).transpose()
}

/// A vertex pair.
pub fn pair(wire: &api::VertexPair) -> VertexPair {
    VertexPair { i: wire.i, j: wire.j }
}

/// A vertex pair for the wire.
pub fn pair_to_wire(pair: &VertexPair) -> api::VertexPair {
    api::VertexPair { i: pair.i, j: pair.j }
}

/// Vertex pairs for the wire.
pub fn pairs_to_wire(pairs: &[VertexPair]) -> Vec<api::VertexPair> {
    pairs.iter().map(pair_to_wire).collect()
}

/// A direction in one of its forms.
pub fn direction(path: &Path<'_>, wire: Option<&api::Direction>) -> Result<Direction, BadField> {
    let form = wire.and_then(|wire| wire.form.as_ref()).ok_or_else(|| path.bad("is required"))?;
    match form {
        // Whether it proves anything is for the judge to say, so zero and NaN pass here.
        api::direction::Form::Vector(api::Vector3 { x, y, z }) => {
            Ok(Direction::Vector(Vec3::new(*x, *y, *z)))
        }
        api::direction::Form::Normal(normal) => {
            let pairs = exactly(&path.field("normal"), &normal.pairs)?;
            Ok(Direction::Normal { pairs, negative: normal.negative })
        }
        api::direction::Form::EdgeNormal(edge) => {
            let path = path.field("edge_normal");
            let pairs = exactly(&path, &edge.pairs)?;
            let axis = axis(&path, edge.axis)?;
            Ok(Direction::EdgeNormal { pairs, axis, negative: edge.negative })
        }
        api::direction::Form::Nearest(nearest) => {
            let path = path.field("nearest");
            let Some(last) = nearest.pairs.len().checked_sub(1).filter(|last| *last < 3) else {
                return Err(path.field("pairs").bad("must have one to three entries"));
            };
            let pairs = std::array::from_fn(|k| pair(&nearest.pairs[k.min(last)]));
            Ok(Direction::Nearest { pairs, negative: nearest.negative })
        }
        api::direction::Form::SweptNormal(swept) => {
            let (path, negative) = (path.field("swept_normal"), swept.negative);
            if swept.pairs.is_empty() {
                let axis = axis(&path, swept.axis)?;
                return Ok(Direction::SweptAxis { axis, negative });
            }
            if swept.axis != i32::from(api::Axis::Unspecified) {
                return Err(path.field("axis").bad("must be absent beside pairs"));
            }
            Ok(Direction::SweptNormal { pairs: exactly(&path, &swept.pairs)?, negative })
        }
    }
}

fn axis(path: &Path<'_>, wire: i32) -> Result<Axis, BadField> {
    let path = path.field("axis");
    match path.known(wire)? {
        api::Axis::X => Ok(Axis::X),
        api::Axis::Y => Ok(Axis::Y),
        api::Axis::Z => Ok(Axis::Z),
        api::Axis::Unspecified => Err(path.bad("is required")),
    }
}

fn axis_to_wire(axis: Axis) -> i32 {
    match axis {
        Axis::X => api::Axis::X.into(),
        Axis::Y => api::Axis::Y.into(),
        Axis::Z => api::Axis::Z.into(),
    }
}

fn exactly<const N: usize>(
    path: &Path<'_>,
    pairs: &[api::VertexPair],
) -> Result<[VertexPair; N], BadField> {
    let pairs: &[api::VertexPair; N] = pairs
        .try_into()
        .map_err(|_| path.field("pairs").bad(format!("must have exactly {N} entries")))?;
    Ok(std::array::from_fn(|k| pair(&pairs[k])))
}

/// Three pairs without those at the end that stand there already.
fn each_once(pairs: &[VertexPair; 3]) -> &[VertexPair] {
    match pairs {
        [a, b, c] if a == b && b == c => &pairs[..1],
        [_, b, c] if b == c => &pairs[..2],
        _ => pairs,
    }
}

/// A direction for the wire.
pub fn direction_to_wire(direction: &Direction) -> api::Direction {
    let form = match direction {
        Direction::Vector(vector) => api::direction::Form::Vector(vector_to_wire(vector)),
        Direction::Normal { pairs, negative } => api::direction::Form::Normal(api::PairNormal {
            pairs: pairs_to_wire(pairs),
            negative: *negative,
        }),
        Direction::EdgeNormal { pairs, axis, negative } => {
            api::direction::Form::EdgeNormal(api::PairEdgeNormal {
                pairs: pairs_to_wire(pairs),
                axis: axis_to_wire(*axis),
                negative: *negative,
            })
        }
        Direction::Nearest { pairs, negative } => api::direction::Form::Nearest(api::PairNearest {
            pairs: pairs_to_wire(each_once(pairs)),
            negative: *negative,
        }),
        Direction::SweptNormal { pairs, negative } => {
            api::direction::Form::SweptNormal(api::SweptNormal {
                pairs: pairs_to_wire(pairs),
                axis: api::Axis::Unspecified.into(),
                negative: *negative,
            })
        }
        Direction::SweptAxis { axis, negative } => {
            api::direction::Form::SweptNormal(api::SweptNormal {
                pairs: Vec::new(),
                axis: axis_to_wire(*axis),
                negative: *negative,
            })
        }
    };
    api::Direction { form: Some(form) }
}

/// A verdict for the wire.
pub fn verdict_to_wire(verdict: Verdict) -> api::Verdict {
    match verdict {
        Verdict::Separated => api::Verdict::Separated,
        Verdict::Touching => api::Verdict::Touching,
        Verdict::Overlapping => api::Verdict::Overlapping,
    }
}

/// A verdict from the wire.
pub fn verdict(path: &Path<'_>, wire: api::Verdict) -> Result<Verdict, BadField> {
    match wire {
        api::Verdict::Separated => Ok(Verdict::Separated),
        api::Verdict::Touching => Ok(Verdict::Touching),
        api::Verdict::Overlapping => Ok(Verdict::Overlapping),
        api::Verdict::Unspecified => Err(path.bad("is required")),
    }
}

/// An outcome for the wire.
pub fn outcome_to_wire(outcome: Outcome) -> api::Outcome {
    match outcome {
        Outcome::Contact => api::Outcome::Contact,
        Outcome::NoContact => api::Outcome::NoContact,
        Outcome::Undecided => api::Outcome::Undecided,
    }
}

/// An outcome from the wire.
pub fn outcome(path: &Path<'_>, wire: api::Outcome) -> Result<Outcome, BadField> {
    match wire {
        api::Outcome::Contact => Ok(Outcome::Contact),
        api::Outcome::NoContact => Ok(Outcome::NoContact),
        api::Outcome::Undecided => Ok(Outcome::Undecided),
        api::Outcome::Unspecified => Err(path.bad("is required")),
    }
}

/// Why a search stopped, for the wire.
pub fn stopped_to_wire(stopped: Option<Stopped>) -> api::Stopped {
    match stopped {
        None => api::Stopped::Unspecified,
        Some(Stopped::Steps) => api::Stopped::Steps,
        Some(Stopped::Deadline) => api::Stopped::Deadline,
        Some(Stopped::Unresolved) => api::Stopped::Unresolved,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bad_number_of_a_pose_is_named() {
        let path = Path::ROOT.field("pose");
        let check = |wire: &api::Pose, field: &str| {
            assert_eq!(pose(&path, Some(wire)).unwrap_err().field, field);
        };
        for bad in [f64::NAN, f64::INFINITY, -1e300] {
            let translation = Some(api::Vector3 { x: 0.0, y: bad, z: 0.0 });
            check(&api::Pose { translation, orientation: None }, "pose.translation.y");
            let rotation = api::Quaternion { w: bad, x: 0.0, y: 0.0, z: 0.0 };
            let orientation = Some(api::pose::Orientation::Rotation(rotation));
            check(&api::Pose { translation: None, orientation }, "pose.rotation");
        }
        let zero = Some(api::pose::Orientation::Rotation(api::Quaternion::default()));
        check(&api::Pose { translation: None, orientation: zero }, "pose.rotation");
        let with_rows = |rows: Vec<f64>| api::Pose {
            translation: None,
            orientation: Some(api::pose::Orientation::RotationMatrix(api::RotationMatrix { rows })),
        };
        check(&with_rows(vec![1.0; 8]), "pose.rotation_matrix.rows");
        check(&with_rows(vec![1.0; 9]), "pose.rotation_matrix");
        let mirror = vec![-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        check(&with_rows(mirror), "pose.rotation_matrix");
    }

    #[test]
    fn a_missing_pose_is_the_identity_and_a_quarter_turn_by_matrix_is_exact() {
        assert_eq!(pose(&Path::ROOT, None).unwrap(), Pose::identity());
        let rows = vec![0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        let matrix = api::RotationMatrix { rows: rows.clone() };
        let orientation = Some(api::pose::Orientation::RotationMatrix(matrix));
        let read = pose(&Path::ROOT, Some(&api::Pose { translation: None, orientation })).unwrap();
        assert_eq!(matrix_rows(&read.rotation).to_vec(), rows);
        assert_eq!(pose(&Path::ROOT, Some(&pose_to_wire(&read))).unwrap(), read);
    }

    #[test]
    fn a_bad_point_is_named_by_its_number() {
        let path = Path::ROOT.field("vertices");
        let wire = api::Points { xyz: vec![0.0, 1.0, f64::NAN] };
        assert_eq!(points(&path, &wire).unwrap_err().field, "vertices.xyz[2]");
        for xyz in [vec![], vec![1.0, 2.0]] {
            assert_eq!(points(&path, &api::Points { xyz }).unwrap_err().field, "vertices.xyz");
        }
    }
}
