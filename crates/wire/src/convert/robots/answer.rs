//! Answers about configurations, packed.

use prost::Message;

use super::check::AskedLinks;
use crate::convert::geometry::verdict_to_wire;
use crate::path::Path;
use crate::status::Failure;
use clearance_geometry::Vec3;
use clearance_geometry::claim::Verdict;
use clearance_geometry::effort::Stopped;
use clearance_proto as api;
use clearance_robot::below::{PairsBelow, worst_of};
use clearance_robot::cell::{BodyPair, Cell};
use clearance_robot::check::{Checked, SignedClearance};
use clearance_robot::model::ConstantPair;

/// The answer so far; [`api::CheckConfigurationsResponse`] says what is in it.
pub type Packed = api::CheckConfigurationsResponse;

/// Adds what became of a configuration: the one after all that are in it.
pub fn push(packed: &mut Packed, cell: &Cell, with_gradient: bool, checked: &Checked) {
    let index = packed.count;
    packed.count += 1;
    let verdict = match checked {
        Checked::Free => api::Verdict::Separated,
        Checked::Contact(pairs) => {
            for (pair, verdict) in pairs {
                push_pair(packed, index, *pair, Some(*verdict));
            }
            to_wire(worst_of(pairs.iter().map(|(_, verdict)| Some(*verdict))))
        }
        Checked::Open { contacts, pairs } => {
            let known = contacts.iter().map(|(pair, verdict)| (*pair, Some(*verdict)));
            let mut all: Vec<_> = known.chain(pairs.iter().map(|pair| (*pair, None))).collect();
            all.sort_unstable_by_key(|(pair, _)| *pair);
            for (pair, verdict) in &all {
                push_pair(packed, index, *pair, *verdict);
            }
            to_wire(worst_of(all.into_iter().map(|(_, verdict)| verdict)))
        }
        Checked::Clearance(found) => {
            for one in found {
                push_clearance(packed, cell, with_gradient, one.as_ref());
            }
            let verdicts = found.iter().flatten().map(|one| one.verdict);
            to_wire(worst_of(verdicts))
        }
        Checked::Below(PairsBelow { pairs, is_cut, worst }) => {
            for one in pairs {
                packed.clearance_indices.push(index);
                packed.clearance_verdicts.push(to_wire(one.verdict).into());
                push_clearance(packed, cell, with_gradient, Some(one));
            }
            if *is_cut {
                packed.cut_indices.push(index);
            }
            to_wire(*worst)
        }
        Checked::Bad(error) => {
            let failure = Path::ROOT.field("values").bad(error.to_string()).into();
            return refuse(packed, cell, with_gradient, &failure);
        }
        Checked::Stopped(Stopped::Deadline | Stopped::Steps | Stopped::Unresolved) => {
            return refuse(packed, cell, with_gradient, &Failure::Deadline);
        }
    };
    packed.verdicts.push(verdict.into());
}

/// Adds a configuration that is not answered, and is counted already.
fn refuse(packed: &mut Packed, cell: &Cell, with_gradient: bool, failure: &Failure) {
    packed.verdicts.push(api::Verdict::Unspecified.into());
    for _ in 0..packed.clearances_per_configuration {
        push_clearance(packed, cell, with_gradient, None);
    }
    let (index, status) = (packed.count - 1, Some(failure.to_item()));
    match packed.refused.last_mut() {
        Some(last) if last.index + last.count == index && last.status == status => last.count += 1,
        _ => packed.refused.push(api::RefusedConfiguration { index, count: 1, status }),
    }
}

/// Adds a configuration that a limit of a joint refuses.
pub fn push_beyond_limit(packed: &mut Packed, cell: &Cell, with_gradient: bool, variable: usize) {
    packed.count += 1;
    refuse(packed, cell, with_gradient, &beyond_limit("values", cell, variable));
}

/// Why a configuration in this field is refused that has a value beyond a limit.
pub fn beyond_limit(field: &'static str, cell: &Cell, variable: usize) -> Failure {
    let name = &cell.kinematics().tree().variables[variable].name;
    let problem = format!("the value of {name} is beyond its limits");
    Path::ROOT.field(field).bad(problem).into()
}

fn push_pair(packed: &mut Packed, index: u32, pair: BodyPair, verdict: Option<Verdict>) {
    packed.contact_indices.push(index);
    packed.contact_firsts.push(pair[0]);
    packed.contact_seconds.push(pair[1]);
    packed.contact_verdicts.push(to_wire(verdict).into());
}

/// None: it is unresolved.
fn to_wire(verdict: Option<Verdict>) -> api::Verdict {
    verdict.map_or(api::Verdict::Unspecified, verdict_to_wire)
}

/// Adds where the links of a configuration are and how they move, as far as that is asked; none: it
/// is refused.
pub fn push_links(packed: &mut Packed, cell: &Cell, asked: &AskedLinks, values: Option<&[f64]>) {
    let none = |count: usize| std::iter::repeat_n(f64::NAN, count);
    let Some(values) = values else {
        let jacobians = 6 * cell.variable_count() * asked.jacobians.len();
        packed.jacobians.extend(none(jacobians));
        packed.link_poses.extend(none(asked.entries(cell) - jacobians));
        return;
    };
    let links = cell.links_in(values);
    for pose in links.poses().take(if asked.with_poses { usize::MAX } else { 0 }) {
        let row = |i: usize| [0, 1, 2].map(|k| pose.rotation[(i, k)]);
        [0, 1, 2].into_iter().for_each(|i| packed.link_poses.extend(row(i)));
        packed.link_poses.extend(pose.translation.iter());
    }
    for link in &asked.jacobians {
        packed.jacobians.extend(links.jacobian(*link));
    }
}

/// Adds what is told once: pairs whose clearance no joint value changes.
pub fn push_constant(packed: &mut Packed, cell: &Cell) {
    for ConstantPair { pair, lower, upper, .. } in cell.constant_pairs() {
        let [first, second] = cell.named(*pair);
        packed.constant_firsts.push(first);
        packed.constant_seconds.push(second);
        packed.constant_lowers.push(*lower);
        packed.constant_uppers.push(*upper);
    }
}

fn push_clearance(
    packed: &mut Packed,
    cell: &Cell,
    with_gradient: bool,
    found: Option<&SignedClearance>,
) {
    packed.clearance_lowers.push(found.map_or(f64::NAN, |one| one.lower));
    packed.clearance_uppers.push(found.map_or(f64::NAN, |one| one.upper));
    packed.clearance_firsts.push(found.map_or(0, |one| one.pair[0]));
    packed.clearance_seconds.push(found.map_or(0, |one| one.pair[1]));
    if cell.has_clouds() {
        packed.clearance_points.push(found.and_then(|one| one.point).unwrap_or(0));
    }
    if !with_gradient {
        return;
    }
    let none = [f64::NAN; 3];
    let geometry = found.and_then(|one| one.geometry.as_ref());
    let point = |point: &Vec3| [point.x, point.y, point.z];
    packed.points_first.extend(geometry.map_or(none, |one| point(&one.first)));
    packed.points_second.extend(geometry.map_or(none, |one| point(&one.second)));
    packed.normals.extend(geometry.map_or(none, |one| point(&one.normal)));
    match geometry {
        Some(one) => packed.gradients.extend(&one.gradient),
        None => packed.gradients.extend(std::iter::repeat_n(f64::NAN, cell.variable_count())),
    }
}

/// By how much an index of a configuration may grow where answers are joined, bytes: it takes one
/// at least, and five at most.
pub(super) const INDEX_GROWTH: u64 = 4;

/// By how much an entry of those that are refused may grow then, bytes: its index and how many it
/// counts, which may be missing before, with their tags, and its own length.
pub(super) const REFUSED_GROWTH: u64 = 16;

/// What some answers take of a reply at most, bytes, wherever they are in it.
pub fn in_one_reply(packed: &Packed) -> u64 {
    let Packed { contact_indices, limit_indices, within_margin_indices, refused, .. } = packed;
    let indices = contact_indices.len() + limit_indices.len() + within_margin_indices.len();
    let indices = indices + packed.clearance_indices.len() + packed.cut_indices.len();
    let grown = INDEX_GROWTH * indices as u64 + REFUSED_GROWTH * refused.len() as u64;
    packed.encoded_len() as u64 + grown
}

/// One answer of those about some configurations each, in order.
pub fn joined(mut parts: Vec<Packed>) -> Packed {
    let rest = parts.split_off(1.min(parts.len()));
    let mut all = parts.pop().unwrap_or_default();
    for part in rest {
        let before = all.count;
        let moved = |index: u32| index + before;
        all.count += part.count;
        all.verdicts.extend(part.verdicts);
        all.contact_indices.extend(part.contact_indices.into_iter().map(moved));
        all.contact_firsts.extend(part.contact_firsts);
        all.contact_seconds.extend(part.contact_seconds);
        all.contact_verdicts.extend(part.contact_verdicts);
        all.clearance_lowers.extend(part.clearance_lowers);
        all.clearance_uppers.extend(part.clearance_uppers);
        all.clearance_firsts.extend(part.clearance_firsts);
        all.clearance_seconds.extend(part.clearance_seconds);
        all.clearance_points.extend(part.clearance_points);
        all.points_first.extend(part.points_first);
        all.points_second.extend(part.points_second);
        all.normals.extend(part.normals);
        all.gradients.extend(part.gradients);
        all.limit_indices.extend(part.limit_indices.into_iter().map(moved));
        all.limit_variables.extend(part.limit_variables);
        all.within_margin_indices.extend(part.within_margin_indices.into_iter().map(moved));
        all.clearance_indices.extend(part.clearance_indices.into_iter().map(moved));
        all.clearance_verdicts.extend(part.clearance_verdicts);
        all.cut_indices.extend(part.cut_indices.into_iter().map(moved));
        all.link_poses.extend(part.link_poses);
        all.jacobians.extend(part.jacobians);
        for mut refused in part.refused {
            refused.index = moved(refused.index);
            match all.refused.last_mut() {
                Some(last)
                    if last.index + last.count == refused.index
                        && last.status == refused.status =>
                {
                    last.count += refused.count;
                }
                _ => all.refused.push(refused),
            }
        }
    }
    all
}
