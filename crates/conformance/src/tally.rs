//! Compares answers with the references and prints a table, one line per family.
//!
//! Tolerances are those of the reference set: none for verdicts; for a distance or a depth the
//! rounding of the reference (its last bit, an ulp of the world, and for poses that are not exact
//! 1e-14 of the scene); for a time 1e-9 and what the condition number makes of an ulp of the world.

mod table;
mod widths;

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::answer::{CaseAnswer, HullAnswer, Reply};
use super::cases::{Case, CaseVerdict, HullSet, Kind};
use clearance_geometry::effort::Cost;

/// Relative rounding of a reference value: a few units in the last place.
const REFERENCE_ROUNDING: f64 = 1e-15;
/// An ulp of the largest world coordinate, for poses whose points are no f64 numbers.
const WORLD_ROUNDING: f64 = 4e-16;
/// How far the scene itself may differ when the pose is not exact.
const POSE_ROUNDING: f64 = 1e-14;
/// Times are compared to this, relative to one step.
const TIME_ROUNDING: f64 = 1e-9;
/// What stands for an infinite or unknown condition number.
const CONDITION_UNKNOWN: f64 = 1e9;
/// In this family the f64 references may have under- or overflowed; only verdicts count.
const WITHOUT_NUMBERS: &str = "extreme_range";
/// At most so many complaints of one family are printed in full.
const COMPLAINTS_SHOWN: usize = 3;

/// All families so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    families: BTreeMap<String, Family>,
}

/// What was seen of one family.
#[derive(Debug, Default)]
struct Family {
    cases: u32,
    unanswered: u32,
    incomplete: u32,
    wrong_verdicts: u32,
    wrong_touching: u32,
    undecided: u32,
    wrong_numbers: u32,
    distance_error: Option<f64>,
    depth_error: Option<f64>,
    time_error: Option<f64>,
    distance_width: Option<f64>,
    depth_width: Option<f64>,
    time_width: Option<f64>,
    certificates: u32,
    refused: u32,
    cost: Cost,
    slowest_us: f64,
    slowest: String,
    complaints: Vec<String>,
}

impl Tally {
    /// Compares one answered case.
    pub(crate) fn add_case(&mut self, case: &Case, reply: &Reply<CaseAnswer>) {
        let mut complaints = Vec::new();
        let family = self.families.entry(case.family.clone()).or_default();
        family.add_reply(&case.id, reply, &mut complaints);
        if let Some(answer) = &reply.answer {
            let is_wide = family.add_widths(answer, &mut complaints);
            let before = family.wrong_numbers;
            match case.kind {
                Kind::Static => family.compare_static(case, answer, &mut complaints),
                Kind::Linear | Kind::Screw => family.compare_motion(case, answer, &mut complaints),
            }
            // An answer counts once.
            family.wrong_numbers += u32::from(is_wide && family.wrong_numbers == before);
        }
        family.complain(&case.id, complaints);
    }

    /// Compares one answered hull.
    pub(crate) fn add_hull(&mut self, set: &HullSet, reply: &Reply<HullAnswer>) {
        let mut complaints = Vec::new();
        let family = self.families.entry(format!("hull:{}", set.family)).or_default();
        family.add_reply(&set.id, reply, &mut complaints);
        if let Some(answer) = &reply.answer {
            family.compare_hull(set, answer, &mut complaints);
        }
        family.complain(&set.id, complaints);
    }

    /// Whether every case was answered and no answer contradicts its reference.
    pub(crate) fn is_all_right(&self) -> bool {
        self.families.values().all(|family| family.complaints.is_empty())
    }

    /// Prints the table and the first complaints.
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{:<22} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8} {:>8} {:>7} {:>7} {:>6}  slowest",
            "family",
            "cases",
            "open",
            "wrong",
            "touch",
            "number",
            "distance",
            "depth",
            "time",
            "proofs",
            "refused",
            "exact",
        )?;
        let mut total = Family::default();
        for (name, family) in &self.families {
            family.print(name, out)?;
            total.absorb(family);
        }
        total.print("all", out)?;
        for (name, family) in &self.families {
            for complaint in family.complaints.iter().take(COMPLAINTS_SHOWN) {
                writeln!(out, "  {complaint}")?;
            }
            if family.complaints.len() > COMPLAINTS_SHOWN {
                let more = family.complaints.len() - COMPLAINTS_SHOWN;
                writeln!(out, "  ... and {more} more of {name}")?;
            }
        }
        writeln!(
            out,
            "{} cases: {} unanswered, {} incomplete, {} wrong verdicts, {} wrong touching, \
             {} undecided, {} numbers off, {} certificates checked, {} refused",
            total.cases,
            total.unanswered,
            total.incomplete,
            total.wrong_verdicts,
            total.wrong_touching,
            total.undecided,
            total.wrong_numbers,
            total.certificates,
            total.refused,
        )
    }
}

impl Family {
    fn complain(&mut self, id: &str, complaints: Vec<String>) {
        self.complaints.extend(complaints.into_iter().map(|what| format!("{id}: {what}")));
    }

    fn add_reply<A>(&mut self, id: &str, reply: &Reply<A>, complaints: &mut Vec<String>) {
        self.cases += 1;
        match (&reply.answer, reply.missing.is_empty()) {
            (None, _) => self.unanswered += 1,
            (Some(_), false) => self.incomplete += 1,
            (Some(_), true) => {}
        }
        self.refused += u32::try_from(reply.certificates_refused.len()).unwrap_or(u32::MAX);
        self.certificates += reply.certificates_accepted;
        complaints.extend(reply.missing.iter().cloned());
        complaints.extend(reply.certificates_refused.iter().cloned());
        self.cost += reply.cost;
        let us = reply.elapsed.as_secs_f64() * 1e6;
        if us > self.slowest_us {
            self.slowest_us = us;
            id.clone_into(&mut self.slowest);
        }
    }

    fn compare_static(&mut self, case: &Case, answer: &CaseAnswer, complaints: &mut Vec<String>) {
        let wanted = match (case.verdict, case.touching) {
            (CaseVerdict::Separated, _) => "SEPARATED",
            (CaseVerdict::Collide, true) => "TOUCHING",
            (CaseVerdict::Collide, false) => "OVERLAPPING",
        };
        if answer.verdict != wanted {
            if [&answer.verdict, wanted].contains(&"SEPARATED") {
                self.wrong_verdicts += 1;
            } else {
                self.wrong_touching += 1;
            }
            complaints.push(format!("{}, but it is {wanted}", answer.verdict));
            return;
        }
        if case.family == WITHOUT_NUMBERS {
            return;
        }
        let before = complaints.len();
        self.compare_distance(case, answer, complaints);
        self.compare_depth(case, answer, complaints);
        compare_range(case, answer, complaints);
        self.wrong_numbers += u32::from(complaints.len() > before);
    }

    fn compare_distance(&mut self, case: &Case, answer: &CaseAnswer, complaints: &mut Vec<String>) {
        let (Some(reference), CaseVerdict::Separated) = (case.distance, case.verdict) else {
            return;
        };
        let (Some(lower), Some(upper)) = (answer.distance_lower, answer.distance_upper) else {
            return complaints.push("no distance".to_owned());
        };
        let slack = slack(case);
        let encloses = lower <= reference * (1.0 + REFERENCE_ROUNDING) + slack
            && upper >= reference * (1.0 - REFERENCE_ROUNDING) - slack;
        if reference > 0.0 {
            let off = (upper - reference).abs().max((reference - lower).abs());
            raise(&mut self.distance_error, (off - slack).max(0.0) / reference);
        }
        if !encloses {
            complaints.push(format!("distance [{lower:e}, {upper:e}] misses {reference:e}"));
        }
    }

    fn compare_depth(&mut self, case: &Case, answer: &CaseAnswer, complaints: &mut Vec<String>) {
        if case.verdict == CaseVerdict::Separated || case.touching {
            return;
        }
        let (Some(lower), Some(upper)) = (answer.depth_lower, answer.depth_upper) else {
            return complaints.push("no depth".to_owned());
        };
        let slack = slack(case);
        if let Some(depth) = case.depth.filter(|depth| *depth > 0.0) {
            let off = (upper - depth).abs().max((depth - lower).abs());
            raise(&mut self.depth_error, (off - slack).max(0.0) / depth);
            let encloses = lower <= depth * (1.0 + REFERENCE_ROUNDING) + slack
                && upper >= depth * (1.0 - REFERENCE_ROUNDING) - slack;
            if !encloses {
                complaints.push(format!("depth [{lower:e}, {upper:e}] misses {depth:e}"));
            }
        } else if let (Some(low), Some(high)) = (case.depth_lb, case.depth_ub) {
            let loose = 1e-12; // the bounds of the reference are rounded, and looser than this
            let meets =
                upper >= low * (1.0 - loose) - slack && lower <= high * (1.0 + loose) + slack;
            if !meets {
                complaints.push(format!("depth [{lower:e}, {upper:e}] not in [{low:e}, {high:e}]"));
            }
        }
    }

    fn compare_motion(&mut self, case: &Case, answer: &CaseAnswer, complaints: &mut Vec<String>) {
        if case.has_margin() {
            return; // Its certificate is judged.
        }
        let wanted = if case.toi.is_some() { "CONTACT" } else { "NO_CONTACT" };
        if answer.verdict == "UNDECIDED" {
            self.undecided += 1;
            complaints.push(format!("UNDECIDED, but it is {wanted}"));
            return;
        }
        if answer.verdict != wanted {
            self.wrong_verdicts += 1;
            complaints.push(format!("{}, but it is {wanted}", answer.verdict));
            return;
        }
        let (Some(toi), Some(free), Some(contact)) = (case.toi, answer.t_free, answer.t_contact)
        else {
            if wanted == "CONTACT" {
                complaints.push("no times".to_owned());
            }
            return;
        };
        let (low, high) = (case.toi_lb.unwrap_or(toi), case.toi_ub.unwrap_or(toi));
        let error = (contact - low).max(high - free).max(contact - free).max(0.0);
        raise(&mut self.time_error, error);
        let ulp = POSE_ROUNDING * case.world;
        let condition = match case.kind {
            Kind::Static | Kind::Linear => ulp * case.toi_cond.unwrap_or(0.0),
            Kind::Screw => case.closing_rate.map_or(0.0, |rate| ulp / rate),
        };
        let tolerance = TIME_ROUNDING + case.toi_err.unwrap_or(0.0) + condition;
        let slack = if case.exact_pose { REFERENCE_ROUNDING } else { tolerance - TIME_ROUNDING };
        let is_near = error <= 2.0 * tolerance;
        let meets = free <= high + slack && contact >= low - slack;
        if !(is_near && meets) {
            self.wrong_numbers += 1;
            complaints.push(format!("first contact [{free}, {contact}], but it is {toi}"));
        }
    }

    fn compare_hull(&mut self, set: &HullSet, answer: &HullAnswer, complaints: &mut Vec<String>) {
        let before = complaints.len();
        if answer.dim != set.dim {
            complaints.push(format!("dimension {}, but it is {}", answer.dim, set.dim));
        }
        if answer.extreme != set.extreme {
            let (ours, theirs) = (answer.extreme.len(), set.extreme.len());
            complaints.push(format!("other extreme points: {ours} of them, not {theirs}"));
        }
        if set.dim >= 2 && answer.facets != set.facets {
            complaints.push(format!("{} facets, but there are {}", answer.facets, set.facets));
        }
        self.wrong_verdicts += u32::from(complaints.len() > before);
        let reference = set.volume_f64.filter(|volume| *volume > 0.0 && set.dim == 3);
        if let Some(volume) = reference.filter(|_| set.family != WITHOUT_NUMBERS) {
            let error = (answer.volume - volume).abs() / volume;
            raise(&mut self.distance_error, error);
            let is_near = error <= 1e-9;
            if !is_near {
                self.wrong_numbers += 1;
                complaints.push(format!("volume {:e}, but it is {volume:e}", answer.volume));
            }
        }
    }

    fn absorb(&mut self, other: &Self) {
        self.cases += other.cases;
        self.unanswered += other.unanswered;
        self.incomplete += other.incomplete;
        self.wrong_verdicts += other.wrong_verdicts;
        self.wrong_touching += other.wrong_touching;
        self.undecided += other.undecided;
        self.wrong_numbers += other.wrong_numbers;
        self.certificates += other.certificates;
        self.refused += other.refused;
        self.cost += other.cost;
        let errors = [
            (&mut self.distance_error, other.distance_error),
            (&mut self.depth_error, other.depth_error),
            (&mut self.time_error, other.time_error),
            (&mut self.distance_width, other.distance_width),
            (&mut self.depth_width, other.depth_width),
            (&mut self.time_width, other.time_width),
        ];
        for (ours, theirs) in errors {
            if let Some(error) = theirs {
                raise(ours, error);
            }
        }
        if other.slowest_us > self.slowest_us {
            self.slowest_us = other.slowest_us;
            self.slowest.clone_from(&other.slowest);
        }
    }

    /// How many of the questions the exact stage decided.
    fn exact_rate(&self) -> String {
        match self.cost.queries {
            0 => "-".to_owned(),
            queries => format!("{:.1}%", 100.0 * self.cost.exact_stages as f64 / queries as f64),
        }
    }

    fn print(&self, name: &str, out: &mut dyn Write) -> io::Result<()> {
        let error = |worst: Option<f64>| worst.map_or("-".to_owned(), |e| format!("{e:.1e}"));
        let exact = self.exact_rate();
        writeln!(
            out,
            "{name:<22} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8} {:>8} {:>7} {:>7} {exact:>6}  \
             {:.0} us {}",
            self.cases,
            self.unanswered + self.incomplete,
            self.wrong_verdicts + self.undecided,
            self.wrong_touching,
            self.wrong_numbers,
            error(self.distance_error),
            error(self.depth_error),
            error(self.time_error),
            self.certificates,
            self.refused,
            self.slowest_us,
            self.slowest,
        )
    }
}

fn compare_range(case: &Case, answer: &CaseAnswer, complaints: &mut Vec<String>) {
    let Some(dir) = &case.dir else { return };
    let ends = [
        ("enter", dir.enter, answer.enter, dir.cond_enter),
        ("exit", dir.exit, answer.exit, dir.cond_exit),
    ];
    for (name, reference, ours, condition) in ends {
        match (reference, ours) {
            (None, None) => {}
            (Some(reference), Some(ours)) => {
                let condition = condition.unwrap_or(CONDITION_UNKNOWN);
                let tolerance = TIME_ROUNDING * reference.abs().max(1.0)
                    + condition * POSE_ROUNDING * case.world;
                let is_near = (ours - reference).abs() <= tolerance;
                if !is_near {
                    complaints.push(format!("{name} {ours:e}, but it is {reference:e}"));
                }
            }
            (reference, ours) => {
                complaints.push(format!("{name} {ours:?}, but it is {reference:?}"));
            }
        }
    }
}

/// How far a length may be from its reference for reasons that are not ours.
fn slack(case: &Case) -> f64 {
    let pose = if case.exact_pose { 0.0 } else { POSE_ROUNDING * case.world.max(case.size) };
    pose + WORLD_ROUNDING * case.world
}

/// Keeps the larger; NaN counts as the largest of all.
fn raise(worst: &mut Option<f64>, error: f64) {
    let error = if error.is_nan() { f64::INFINITY } else { error };
    *worst = Some(worst.map_or(error, |before| before.max(error)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(reference: &str) -> Case {
        let text = format!(
            r#"{{"id":"c","family":"f","kind":"static","P":0,"Q":1,"tP":[0,0,0],"qP":[1,0,0,0],
                "tQ":[0,0,0],"qQ":[1,0,0,0],"exact_pose":true,"size":1.0,"world":1.0,{reference}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    /// Tallies one answer to one case.
    #[track_caller]
    fn check(case: &Case, answer: Option<CaseAnswer>, is_right: bool, line: &str) {
        let mut tally = Tally::default();
        let mut reply = Reply::empty();
        if answer.is_none() {
            reply.missing.push("nothing came back".to_owned());
        }
        reply.answer = answer;
        tally.add_case(case, &reply);
        let mut text = Vec::new();
        tally.print(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(tally.is_all_right(), is_right, "{text}");
        assert!(text.lines().last().unwrap().contains(line), "{text}");
    }

    fn separated(lower: f64, upper: f64) -> Option<CaseAnswer> {
        Some(CaseAnswer {
            verdict: "SEPARATED".into(),
            distance_lower: Some(lower),
            distance_upper: Some(upper),
            ..CaseAnswer::default()
        })
    }

    fn contact(t_free: f64, t_contact: f64) -> Option<CaseAnswer> {
        Some(CaseAnswer {
            verdict: "CONTACT".into(),
            t_free: Some(t_free),
            t_contact: Some(t_contact),
            ..CaseAnswer::default()
        })
    }

    #[test]
    fn a_bracket_counts_as_right_only_when_it_encloses_the_reference() {
        let case = case(r#""verdict":"separated","dist":0.5"#);
        check(&case, separated(0.5_f64.next_down(), 0.5_f64.next_up()), true, "0 numbers off");
        check(&case, separated(0.500_001, 0.500_002), false, "1 numbers off");
        check(&case, separated(f64::NAN, 0.6), false, "1 numbers off");
    }

    #[test]
    fn a_bracket_that_is_wide_counts_as_wrong_even_if_it_encloses_the_reference() {
        let case = case(r#""verdict":"separated","dist":0.5"#);
        check(&case, separated(0.5 - 4e-13, 0.5), true, "0 numbers off");
        check(&case, separated(0.5 - 6e-13, 0.5), false, "1 numbers off");
    }

    #[test]
    fn a_verdict_on_the_wrong_side_and_one_on_the_wrong_boundary_are_told_apart() {
        let touching = case(r#""verdict":"collide","touching":true"#);
        check(&touching, separated(0.5, 0.5), false, "1 wrong verdicts, 0 wrong touching");
        let answer = CaseAnswer { verdict: "OVERLAPPING".into(), ..CaseAnswer::default() };
        check(&touching, Some(answer), false, "0 wrong verdicts, 1 wrong touching");
        check(&touching, None, false, "1 unanswered");
    }

    #[test]
    fn a_first_contact_must_be_near_the_reference_and_meet_it() {
        let mut moving = case(r#""verdict":"separated","toi":0.25"#);
        moving.kind = Kind::Linear;
        check(&moving, contact(0.25, 0.25_f64.next_up()), true, "0 numbers off");
        check(&moving, contact(0.25 - 1e-6, 0.25), false, "1 numbers off");
        check(&moving, contact(0.25 + 1e-12, 0.25 + 2e-12), false, "1 numbers off");
        let free = CaseAnswer { verdict: "NO_CONTACT".into(), ..CaseAnswer::default() };
        check(&moving, Some(free), false, "1 wrong verdicts");
        // Sooner within a margin than in contact, and no reference says when.
        moving.contact_margin = 0.5;
        check(&moving, contact(0.0, 0.125), true, "0 numbers off");
    }
}
