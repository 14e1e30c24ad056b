//! Some pairs of a scene, with what was told of them, for the exact oracle of `agreement.py`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use clearance_geometry::Vec3;
use clearance_geometry::hull::samples::Random;
use clearance_proto as api;
use serde_json::{Value, json};

use super::script::Script;
use super::told::{Event, Pair, Told};

/// How often a frame is drawn for each pair that is wanted, at most.
const DRAWS: usize = 20;

/// Writes so many pairs of the scene, half of them close to each other and half of those with an
/// event, if there are any; a line each.
pub(crate) fn write(
    script: &Script,
    run: &[Told],
    count: usize,
    out: &mut impl Write,
) -> io::Result<usize> {
    let mut random = Random::new(13);
    let mut poses = vec![script.start()];
    for frame in 1..=script.last() {
        let mut next = poses[frame as usize - 1].clone();
        script.go_on(&mut next, frame);
        poses.push(next);
    }
    let mut written = 0;
    for draw in 0..count * DRAWS {
        if written == count {
            break;
        }
        let frame = 1 + random.below(script.last()) as usize;
        let told = &run[frame];
        let pair = match draw % 4 {
            0 if !told.events.is_empty() => {
                Some(told.events[random.below(told.events.len() as u64) as usize].pair)
            }
            1 => contact(told, &mut random),
            _ => neighbours(script, &poses[frame], &mut random),
        };
        let Some(pair) = pair else { continue };
        let line = line(script, pair, [&run[frame - 1], told], [&poses[frame - 1], &poses[frame]]);
        writeln!(out, "{line}")?;
        written += 1;
    }
    Ok(written)
}

/// A pair in contact.
fn contact(told: &Told, random: &mut Random) -> Option<Pair> {
    let contacts = told.contacts.as_ref()?;
    let at = (!contacts.is_empty()).then(|| random.below(contacts.len() as u64))?;
    Some(contacts[at as usize].0)
}

/// A body that moves, and one of the four whose centres are nearest to it.
fn neighbours(script: &Script, poses: &[api::Pose], random: &mut Random) -> Option<Pair> {
    let place = |index: usize| {
        let at = poses[index].translation.unwrap_or_default();
        Vec3::new(at.x, at.y, at.z)
    };
    let one = random.below(poses.len() as u64) as usize;
    if script.actors[one].fixed {
        return None;
    }
    let mut others: Vec<usize> = (0..poses.len()).filter(|&other| other != one).collect();
    let nearer = |a: &usize, b: &usize| {
        let distance = |index: usize| (place(index) - place(one)).norm_squared();
        distance(*a).total_cmp(&distance(*b))
    };
    if others.len() > 4 {
        others.select_nth_unstable_by(3, nearer);
        others.truncate(4);
    }
    let other = others[random.below(others.len() as u64) as usize];
    Some((one.min(other) as u32 + 1, one.max(other) as u32 + 1))
}

/// What is told of this pair in a frame, and the frame before.
fn line(
    script: &Script,
    pair: Pair,
    [before, now]: [&Told; 2],
    [earlier, later]: [&[api::Pose]; 2],
) -> Value {
    let verdict_in = |told: &Told| {
        let contacts: BTreeMap<Pair, u8> = told.contacts.iter().flatten().copied().collect();
        let verdict = contacts.get(&pair).and_then(|verdict| i32::from(*verdict).try_into().ok());
        verdict.unwrap_or(api::Verdict::Separated).as_str_name()
    };
    let body = |id: u32| {
        let index = id as usize - 1;
        let actor = &script.actors[index];
        let points: Vec<[f64; 3]> =
            script.shapes[actor.shape].vertices().iter().map(|v| [v.x, v.y, v.z]).collect();
        let poses = [pose(&earlier[index]), pose(&later[index])];
        json!({ "points": points, "poses": poses, "continuous": actor.continuous })
    };
    let event = |event: &Event| json!({ "kind": event.kind.as_str_name(), "time": event.time });
    let events: Vec<Value> =
        now.events.iter().filter(|event| event.pair == pair).map(event).collect();
    let bodies = [body(pair.0), body(pair.1)];
    let asked = script.first_contacts
        || [pair.0, pair.1].iter().any(|id| script.actors[*id as usize - 1].continuous);
    json!({
        "scene": script.name, "frame": now.frame, "pair": [pair.0, pair.1], "bodies": bodies,
        "verdicts": [verdict_in(before), verdict_in(now)], "events": events,
        "first_contacts": asked,
    })
}

/// As it was sent.
fn pose(pose: &api::Pose) -> Value {
    use api::pose::Orientation;
    let at = pose.translation.unwrap_or_default();
    let place = [at.x, at.y, at.z];
    match &pose.orientation {
        Some(Orientation::RotationMatrix(matrix)) => json!({ "t": place, "R": matrix.rows }),
        Some(Orientation::Rotation(q)) => json!({ "t": place, "q": [q.w, q.x, q.y, q.z] }),
        None => json!({ "t": place, "q": [1.0, 0.0, 0.0, 0.0] }),
    }
}
