//! Changes of bodies and rules from the wire.

use super::declare::{PartSource, group_names, margins, pairs, parts, said};
use crate::convert::catalogue::Catalogue;
use crate::convert::geometry::signed_length;
use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_geometry::effort::Effort;
use clearance_proto as api;
use clearance_scene::{BodyChange, BodyId, RuleChanges, Rules};

/// A change of a body with the shapes of its new parts.
pub struct DeclaredChange {
    /// The change, as the scene takes it.
    pub change: BodyChange,
    /// Where the shape of each new part comes from; none: it keeps its parts.
    pub shapes: Vec<PartSource>,
}

/// Changes of bodies; builds the hulls of given points, until `effort` is stopped.
pub fn bodies(
    path: &Path<'_>,
    wire: &[api::BodyChange],
    catalogue: &Catalogue<'_>,
    effort: &mut Effort<'_>,
) -> Result<Vec<DeclaredChange>, Failure> {
    path.within(catalogue.limits.bodies_per_session_max(), wire.len())?;
    let convert = |(index, one)| body(&path.index(index), one, catalogue, effort);
    wire.iter().enumerate().map(convert).collect()
}

fn body(
    path: &Path<'_>,
    wire: &api::BodyChange,
    catalogue: &Catalogue<'_>,
    effort: &mut Effort<'_>,
) -> Result<DeclaredChange, Failure> {
    let groups_max = catalogue.limits.rules_per_session_max();
    path.field("left_groups").within(groups_max, wire.left_groups.len())?;
    path.field("joined_groups").within(groups_max, wire.joined_groups.len())?;
    let (parts, shapes) = parts(&path.field("parts"), &wire.parts, catalogue, effort)?;
    let margin = wire.margin.map(|margin| signed_length(&path.field("margin"), margin));
    let change = BodyChange {
        id: BodyId(said(&path.field("id"), wire.id)?),
        parts,
        left_groups: wire.left_groups.clone(),
        joined_groups: wire.joined_groups.clone(),
        fixed: wire.fixed,
        category: wire.category,
        mask: wire.mask,
        margin: margin.transpose()?,
        continuous: wire.continuous,
    };
    Ok(DeclaredChange { change, shapes })
}

/// Changes of rules.
pub fn rules(
    path: &Path<'_>,
    wire: &api::RuleChanges,
    catalogue: &Catalogue<'_>,
) -> Result<RuleChanges, Failure> {
    let entries_max = catalogue.limits.rules_per_session_max();
    for (name, count) in [
        ("removed_checked_groups", wire.removed_checked_groups.len()),
        ("added_checked_groups", wire.added_checked_groups.len()),
        ("removed_checked_pairs", wire.removed_checked_pairs.len()),
        ("added_checked_pairs", wire.added_checked_pairs.len()),
        ("removed_ignored_pairs", wire.removed_ignored_pairs.len()),
        ("added_ignored_pairs", wire.added_ignored_pairs.len()),
        ("removed_margins", wire.removed_margins.len()),
        ("set_margins", wire.set_margins.len()),
        ("groups_to_come", wire.groups_to_come.len()),
    ] {
        path.field(name).within(entries_max, count)?;
    }
    let groups = |list: &[api::GroupPair]| list.iter().map(group_names).collect();
    let pairs = |name, list: &[api::BodyPair]| pairs(&path.field(name), list);
    Ok(RuleChanges {
        removed_checked_groups: groups(&wire.removed_checked_groups),
        added_checked_groups: groups(&wire.added_checked_groups),
        removed_checked_pairs: pairs("removed_checked_pairs", &wire.removed_checked_pairs)?,
        added_checked_pairs: pairs("added_checked_pairs", &wire.added_checked_pairs)?,
        removed_ignored_pairs: pairs("removed_ignored_pairs", &wire.removed_ignored_pairs)?,
        added_ignored_pairs: pairs("added_ignored_pairs", &wire.added_ignored_pairs)?,
        removed_margins: pairs("removed_margins", &wire.removed_margins)?,
        set_margins: margins(&path.field("set_margins"), &wire.set_margins)?,
        groups_to_come: wire.groups_to_come.clone(),
    })
}

/// That no list of the rules grows beyond its limit by these changes; `path` leads to them.
pub fn fit(
    path: &Path<'_>,
    changes: &RuleChanges,
    rules: &Rules,
    catalogue: &Catalogue<'_>,
) -> Result<(), Failure> {
    let held = [
        rules.checked_groups.len(),
        rules.checked_pairs.len(),
        rules.ignored_pairs.len(),
        rules.margins.len(),
        rules.groups_to_come.len(),
    ];
    let gone = [
        changes.removed_checked_groups.len(),
        changes.removed_checked_pairs.len(),
        changes.removed_ignored_pairs.len(),
        changes.removed_margins.len(),
        0,
    ];
    for (((name, added), held), gone) in changes.added().into_iter().zip(held).zip(gone) {
        // Not more than there were can go.
        let count = held.saturating_sub(gone) + added;
        path.field(name).within(catalogue.limits.rules_per_session_max(), count)?;
    }
    Ok(())
}
