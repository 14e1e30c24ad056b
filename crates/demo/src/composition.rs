//! What the picture of a run shows: the cell at the last contact that the frames alone do not show,
//! or else at the first of all, a strip for each link that was in contact, and one for all others.

use super::DemoError;
use super::picture::Picture;
use super::picture::curves::{Band, Chart, Strip};
use super::picture::still::{Mark, Still, StillSolid};
use super::record::{Clearance, ContactSpan, Couple, RATE_HZ, Record, seconds};
use super::report::{Names, grouped, link_id, link_index, thing};
use super::sampling::{Thing, World};
use clearance_geometry::polytope::Polytope;

/// The picture of the run.
pub(crate) fn picture(
    record: &Record,
    world: &World<'_>,
    names: &Names<'_>,
) -> Result<Picture, DemoError> {
    let links = 1..names.links.len(); // the base does not move
    let (loud, quiet): (Vec<usize>, Vec<usize>) =
        links.partition(|index| contacts_of(record, *index).next().is_some());
    let contacts = record.contacts.len();
    let between = record.missed().count();
    let first = record.missed().last().or_else(|| record.contacts.first());
    Ok(Picture {
        title: "A Panda arm in a cluttered cell: every contact over ten seconds".to_owned(),
        subtitle: format!(
            "{} frames at {RATE_HZ} Hz, {} pair verdicts, each exact. {contacts} contacts, \
             {between} of them between two frames.",
            grouped(record.latencies.len() as u64),
            grouped(record.verdicts()),
        ),
        still: first.map(|contact| still(contact, world, names)).transpose()?,
        chart: Chart {
            duration_s: seconds(record.latencies.len() as u64),
            strips: loud.into_iter().map(|index| strip(record, names, index)).collect(),
            quiet: quiet_strip(record, names, &quiet),
        },
    })
}

/// The cell at the beginning of a contact.
fn still(contact: &ContactSpan, world: &World<'_>, names: &Names<'_>) -> Result<Still, DemoError> {
    let Couple { link, other } = contact.couple;
    let [free_s, touched_s] = contact.began_s;
    let (link_thing, other_thing) = (thing(link), thing(other));
    let solid = |(thing, polytope)| StillSolid {
        polytope,
        is_link: matches!(thing, Thing::Link(_)),
        is_in_contact: thing == link_thing || thing == other_thing,
    };
    // Nobody looks for a contact below the table.
    let is_above = |polytope: &Polytope| polytope.vertices().iter().any(|v| v.z > -0.04);
    let placed = world.placed(free_s)?.into_iter();
    let solids = placed.filter(|(_, polytope)| is_above(polytope)).map(solid).collect();
    let point = world.nearest_point(link_index(link), other_thing, free_s);
    let when = if contact.is_between_frames { "Between two frames" } else { "First contact" };
    let lines = vec![
        format!("{when}: {} and {}", names.of(link), names.of(other)),
        format!("proven free until {free_s:.9} s,"),
        format!("proven in contact {:.0} ps later", (touched_s - free_s) * 1e12),
    ];
    Ok(Still { solids, contact: point.map(|point| Mark { point, lines }) })
}

fn contacts_of(record: &Record, index: usize) -> impl Iterator<Item = &ContactSpan> {
    let is_here = move |contact: &&ContactSpan| {
        let Couple { link, other } = contact.couple;
        link == link_id(index) || other == link_id(index)
    };
    record.contacts.iter().filter(is_here)
}

/// The strip of a link that was in contact.
fn strip(record: &Record, names: &Names<'_>, index: usize) -> Strip {
    let row = index - 1; // the base does not move and has no row
    let end_s = seconds(record.latencies.len() as u64);
    let band = |contact: &ContactSpan| {
        let Couple { link, other } = contact.couple;
        let from_s = contact.began_s[0];
        let seen_until_s = contact.ended_s.unwrap_or(end_s);
        Band {
            name: names.of(if link == link_id(index) { other } else { link }).to_owned(),
            from_s,
            to_s: if contact.is_between_frames { from_s } else { seen_until_s },
            is_between_frames: contact.is_between_frames,
        }
    };
    let bands: Vec<Band> = contacts_of(record, index).map(band).collect();
    let between = bands.iter().filter(|band| band.is_between_frames).count();
    let contacts = if bands.len() == 1 { "contact" } else { "contacts" };
    let missed = match between {
        0 => String::new(),
        _ => format!("{between} between two frames"),
    };
    Strip {
        name: names.links[index].to_owned(),
        notes: [format!("{} {contacts}", bands.len()), missed],
        clearance_m: record.clearances.iter().map(|frame| frame[row].obstacles_m).collect(),
        own_clearance_m: record.clearances.iter().map(|frame| frame[row].robot_m).collect(),
        bands,
    }
}

/// One strip for all links that were in no contact: the least clearance of any of them.
fn quiet_strip(record: &Record, names: &Names<'_>, quiet: &[usize]) -> Option<Strip> {
    let first = quiet.first()?;
    let name = match quiet.len() {
        1 => names.links[*first].to_owned(),
        count => format!("{count} others"),
    };
    let least = quiet.iter().filter_map(|index| Some((index, record.least[index - 1]?)));
    let least = least.min_by(|(_, a), (_, b)| a.clearance_m.total_cmp(&b.clearance_m));
    let notes = least.map_or_else(Default::default, |(index, least)| {
        let (link, other) = (names.links[*index], names.of(least.other));
        [format!("at least {:.0} mm free:", least.clearance_m * 1e3), format!("{link}, {other}")]
    });
    let over = |of: fn(&Clearance) -> f64| {
        let least = |frame: &Vec<Clearance>| {
            quiet.iter().map(|index| of(&frame[index - 1])).fold(f64::INFINITY, f64::min)
        };
        record.clearances.iter().map(least).collect()
    };
    Some(Strip {
        name,
        notes,
        clearance_m: over(|clearance| clearance.obstacles_m),
        own_clearance_m: over(|clearance| clearance.robot_m),
        bands: Vec::new(),
    })
}
