//! Clouds of points in cells, and their changes.

use std::sync::Arc;

use crate::path::{BadField, Path, WithinLimit};
use crate::status::Failure;
use clearance_bodies::Body;
use clearance_bodies::table::place::cloud_of_body;
use clearance_geometry::Vec3;
use clearance_geometry::cloud::{CLOUD_REACH_MAX, CloudError, PointCloud};
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_robot::body::PartBody;
use clearance_robot::cell::Cell;
use clearance_robot::cloud::{BoxedCloud, CloudChange};
use clearance_runtime::settings::{Limit, Limits};

/// A cloud as it was asked for; its tree is still to be built.
#[derive(Debug)]
pub struct AskedCloud {
    /// Its points, metres.
    pub points: Vec<Vec3>,
    /// That of every ball, metres.
    pub radius: f64,
}

/// Reads a cloud, whose points are taken from those that are left.
pub fn cloud_of(
    path: &Path<'_>,
    wire: &api::PointCloud,
    points_left: &mut Limit,
) -> Result<AskedCloud, Failure> {
    let points = points_of(path, &wire.xyz, &wire.xyz_single, points_left)?;
    if points.is_empty() {
        return Err(path.bad("needs a point, in xyz or xyz_single").into());
    }
    let radius = cloud_radius(path, wire.radius)?;
    Ok(AskedCloud { points, radius })
}

/// The radius of a cloud.
pub fn cloud_radius(path: &Path<'_>, radius: f64) -> Result<f64, BadField> {
    // Written so that NaN lands in the error.
    if (0.0..=CLOUD_REACH_MAX).contains(&radius) {
        Ok(radius)
    } else {
        Err(path.field("radius").bad("must be at least 0 and at most 2^957"))
    }
}

/// Checks points that came another way, as one list of numbers, against what clouds take.
pub fn cloud_points(path: &Path<'_>, points: &[Vec3]) -> Result<(), BadField> {
    let is_good = |point: &Vec3| point.amax() <= CLOUD_REACH_MAX;
    match points.iter().position(|point| !is_good(point)) {
        Some(at) => Err(path.index(3 * at).bad("must be a point of numbers of at most 2^957")),
        None => Ok(()),
    }
}

/// The points of two lists of which one is empty.
fn points_of(
    path: &Path<'_>,
    double: &[f64],
    single: &[f32],
    points_left: &mut Limit,
) -> Result<Vec<Vec3>, Failure> {
    if !double.is_empty() && !single.is_empty() {
        return Err(path.field("xyz_single").bad("must be empty where xyz is not").into());
    }
    if single.is_empty() {
        points_in(&path.field("xyz"), double, points_left)
    } else {
        points_in(&path.field("xyz_single"), single, points_left)
    }
}

fn points_in<T: Copy + Into<f64>>(
    list: &Path<'_>,
    numbers: &[T],
    points_left: &mut Limit,
) -> Result<Vec<Vec3>, Failure> {
    let (triples, rest) = numbers.as_chunks::<3>();
    if !rest.is_empty() {
        return Err(list.bad("must have three numbers for each point").into());
    }
    list.within(*points_left, triples.len())?;
    points_left.value -= triples.len() as u64;
    // Written so that NaN is found.
    let is_good = |number: &T| Into::<f64>::into(*number).abs() <= CLOUD_REACH_MAX;
    if let Some(at) = numbers.iter().position(|number| !is_good(number)) {
        return Err(list.index(at).bad("must be finite and at most 2^957").into());
    }
    Ok(triples.iter().map(|triple| triple.map(Into::into).into()).collect())
}

impl AskedCloud {
    /// That of a registered cloud, whose points have the order in which it lists them; of another
    /// body it has none, and is refused where it is built.
    pub fn of_registered(body: &Body) -> Self {
        let (points, radius) = cloud_of_body(body).unwrap_or_default();
        Self { points: points.to_vec(), radius }
    }

    /// Builds its tree; takes a while.
    pub fn build(self, path: &Path<'_>, effort: &Effort<'_>) -> Result<PartBody, Failure> {
        let cloud = PointCloud::new(self.points, self.radius, effort);
        let cloud = cloud.map_err(|error| failure(path, error))?;
        Ok(PartBody::Cloud(BoxedCloud::new(Arc::new(cloud))))
    }
}

fn failure(path: &Path<'_>, error: CloudError) -> Failure {
    match error {
        CloudError::Stopped(_) => Failure::Deadline,
        CloudError::BadPoint { .. }
        | CloudError::BadRadius
        | CloudError::Empty
        | CloudError::TooMany
        | CloudError::NoSuchPoints { .. } => path.bad(error.to_string()).into(),
    }
}

/// A change of a cloud as it was asked for.
#[derive(Debug)]
pub struct AskedChange {
    obstacle: usize,
    first: usize,
    removed: usize,
    come: Vec<Vec3>,
}

/// Changes of the clouds of a cell, in order.
#[derive(Debug)]
pub struct AskedChanges {
    all: Vec<AskedChange>,
    /// Points that go or come.
    changed: usize,
    /// Points of all clouds of the cell at any time, at most.
    points: usize,
}

impl AskedChanges {
    /// Checks everything that can be wrong with changes in this cell.
    pub fn convert(
        path: &Path<'_>,
        wire: &[api::CloudChange],
        cell: &Cell,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let counts = (0..cell.body_count() - cell.part_count()).map(|one| cell.cloud_points(one));
        let mut counts: Vec<Option<usize>> = counts.collect();
        let mut points_left = limits.cloud_points_max();
        let there: usize = counts.iter().flatten().sum();
        points_left.value = points_left.value.saturating_sub(there as u64);
        let (mut all, mut points, mut changed) = (Vec::with_capacity(wire.len()), there, 0);
        for (index, wire) in wire.iter().enumerate() {
            let path = path.index(index);
            let obstacle = wire.obstacle as usize;
            let Some(Some(count)) = counts.get_mut(obstacle) else {
                let problem = "must be the index of an obstacle of the cell that is a cloud";
                return Err(path.field("obstacle").bad(problem).into());
            };
            let (first, removed) = (wire.first as usize, wire.removed as usize);
            if first > *count {
                let problem = format!("must be at most {count}, the number of points then");
                return Err(path.field("first").bad(problem).into());
            }
            if removed > *count - first {
                let problem = format!("must be at most {}: there are no more", *count - first);
                return Err(path.field("removed").bad(problem).into());
            }
            points_left.value += removed as u64;
            let come = points_of(&path, &wire.xyz, &wire.xyz_single, &mut points_left)?;
            *count = *count - removed + come.len();
            if *count == 0 {
                return Err(path.field("removed").bad("must leave a point").into());
            }
            points += come.len();
            changed += removed + come.len();
            all.push(AskedChange { obstacle, first, removed, come });
        }
        Ok(Self { all, changed, points })
    }

    /// How many points go or come.
    pub fn changed(&self) -> usize {
        self.changed
    }

    /// What it takes at most, beside the cell as it is: clouds that other cells share are copied,
    /// and one that changes much is built anew.
    pub fn working_bytes(&self) -> u64 {
        2 * PointCloud::building_bytes(self.points) as u64
    }

    /// Changes the cell; takes a while.
    pub fn apply(
        &self,
        path: &Path<'_>,
        cell: &mut Cell,
        effort: &Effort<'_>,
    ) -> Result<(), Failure> {
        for (index, change) in self.all.iter().enumerate() {
            let path = path.index(index);
            let AskedChange { obstacle, first, removed, come } = change;
            let change = CloudChange { first: *first, removed: *removed, come };
            let changed = cell.change_cloud(*obstacle, &change, effort);
            changed.unwrap_or(Ok(())).map_err(|error| failure(&path, error))?;
        }
        Ok(())
    }
}
