//! What a planner reads at the end: the table of a run.

use std::io::{self, Write};

use super::record::{ContactSpan, Couple, FIRST_OBSTACLE, RATE_HZ, Record, seconds};
use super::robot::LINKS;
use super::sampling::{SAMPLES, Sampled, Thing, World};

/// Names of everything, by body id.
pub(crate) struct Names<'a> {
    /// The robot's links that have parts.
    pub(crate) links: Vec<&'a str>,
    /// Body ids from [`FIRST_OBSTACLE`].
    pub(crate) obstacles: Vec<&'a str>,
}

impl Names<'_> {
    /// The name of a body.
    pub(crate) fn of(&self, body: u32) -> &str {
        match thing(body) {
            Thing::Link(index) => self.links[index],
            Thing::Obstacle(index) => self.obstacles[index],
        }
    }
}

/// The robot's id in the session: its links are the bodies with this id plus their index.
pub(crate) const ROBOT: u32 = 1;

/// The body id of a link.
pub(crate) fn link_id(index: usize) -> u32 {
    ROBOT + u32::try_from(LINKS[index]).expect("a dozen links")
}

/// The body id of an obstacle.
pub(crate) fn obstacle_id(index: usize) -> u32 {
    FIRST_OBSTACLE + u32::try_from(index).expect("a hundred obstacles")
}

/// The body with this id.
pub(crate) fn thing(body: u32) -> Thing {
    match body.checked_sub(FIRST_OBSTACLE) {
        Some(index) => Thing::Obstacle(index as usize),
        None => {
            let link = LINKS.iter().position(|link| (body - ROBOT) as usize == *link);
            Thing::Link(link.expect("a body below the obstacles is a link with parts"))
        }
    }
}

/// Which of the robot's links a body is, of those that have parts.
pub(crate) fn link_index(body: u32) -> usize {
    match thing(body) {
        Thing::Link(index) | Thing::Obstacle(index) => index,
    }
}

/// A contact that sampling alone missed, and what fine sampling of the true path says.
pub(crate) struct Missed<'a> {
    pub(crate) contact: &'a ContactSpan,
    pub(crate) sampled: Sampled,
}

impl Missed<'_> {
    /// Whether fine sampling sees the contact and the frames do not.
    pub(crate) fn is_confirmed(&self) -> bool {
        self.sampled.contacts > 0 && !self.sampled.is_seen_by_frames
    }
}

/// Samples the true path finely between the frames of every contact that the frames did not see.
pub(crate) fn resample<'a>(record: &'a Record, world: &World<'_>) -> Vec<Missed<'a>> {
    let sample = |contact: &'a ContactSpan| {
        let Couple { link, other } = contact.couple;
        let times = [seconds(contact.frame - 1), seconds(contact.frame)];
        Missed { contact, sampled: world.sample(link_index(link), thing(other), times) }
    };
    record.missed().map(sample).collect()
}

/// Prints the table.
pub(crate) fn print(
    record: &Record,
    missed: &[Missed<'_>],
    names: &Names<'_>,
    wall_s: f64,
    out: &mut dyn Write,
) -> io::Result<()> {
    print_summary(record, wall_s, out)?;
    print_contacts(record, names, out)?;
    print_missed(missed, names, out)?;
    writeln!(out, "\nleast clearance of each link")?;
    for (row, least) in record.least.iter().enumerate() {
        let name = names.links[row + 1]; // the base does not move
        match least {
            Some(least) => writeln!(
                out,
                "  {name:<12} {:>9.1} mm   {:<16} at {:.2} s",
                least.clearance_m * 1e3,
                names.of(least.other),
                least.time_s,
            )?,
            None => writeln!(out, "  {name:<12}         - mm")?,
        }
    }
    Ok(())
}

fn print_summary(record: &Record, wall_s: f64, out: &mut dyn Write) -> io::Result<()> {
    let (verdicts, counts, cost) = (record.verdicts(), &record.counts, &record.cost);
    let frames = record.latencies.len();
    let busy_s: f64 = record.latencies.iter().map(std::time::Duration::as_secs_f64).sum();
    let ms = |share| record.latency(share).as_secs_f64() * 1e3;
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    writeln!(out, "\nframes               {frames:>12}   at {RATE_HZ} Hz, in {wall_s:.1} s")?;
    writeln!(
        out,
        "pair verdicts        {verdicts:>12}   {:.0} a second",
        verdicts as f64 / busy_s
    )?;
    writeln!(out, "  separated          {:>12}", counts.separated)?;
    writeln!(out, "  touching           {:>12}", counts.touching)?;
    writeln!(out, "  overlapping        {:>12}", counts.overlapping)?;
    writeln!(out, "  undecided          {:>12}", counts.undecided)?;
    writeln!(
        out,
        "witness hit rate     {:>11.1}%   of {} questions; {:.3}% needed exact arithmetic",
        share(cost.witness_hits, cost.queries),
        grouped(cost.queries),
        share(cost.exact_stages, cost.queries),
    )?;
    writeln!(
        out,
        "searched for verdict {:>11.1}%   of the pairs; boxes or travel prove the others separated",
        share(record.pairs_looked_at, record.pairs_looked_at + record.pairs_skipped),
    )?;
    writeln!(
        out,
        "frame latency        {:>9.2} ms   p50; p99 {:.2} ms, worst {:.2} ms (sent to answered, \
         one at a time)",
        ms(0.5),
        ms(0.99),
        ms(1.0),
    )
}

fn print_contacts(record: &Record, names: &Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\ncontacts\n  {:>9}  {:>9}  {:<12} with", "from s", "to s", "link")?;
    for contact in &record.contacts {
        let before = if contact.is_between_frames { "< " } else { "" };
        let to = contact.ended_s.map_or("-".to_owned(), |to_s| format!("{before}{to_s:.2}"));
        writeln!(
            out,
            "  {:>9.5}  {to:>9}  {:<12} {}{}",
            contact.began_s[1],
            names.of(contact.couple.link),
            names.of(contact.couple.other),
            if contact.is_between_frames { "   (between two frames)" } else { "" },
        )?;
    }
    if record.contacts.is_empty() {
        writeln!(out, "  none")?;
    }
    Ok(())
}

fn print_missed(missed: &[Missed<'_>], names: &Names<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\nfirst contacts between frames that sampling at {RATE_HZ} Hz alone missed\n  \
         Motion between two frames: the path of the joints, every value linear in time.\n  \
         Beside it the motion that the frames were taken from, sampled {SAMPLES} times as\n  \
         finely: another path, whose contacts begin some microseconds sooner or later."
    )?;
    for Missed { contact, sampled } in missed {
        let [lower, upper] = contact.began_s;
        writeln!(
            out,
            "  {} with {}: proven free until {lower:.9} s and in contact {:.0} ps later",
            names.of(contact.couple.link),
            names.of(contact.couple.other),
            (upper - lower) * 1e12,
        )?;
        match sampled.span_s {
            Some([first_s, last_s]) => writeln!(
                out,
                "    that motion: {} of {} samples in contact, from {first_s:.5} s to \
                 {last_s:.5} s ({:.0} us {}); at both frames {}",
                sampled.contacts,
                SAMPLES + 1,
                (first_s - upper).abs() * 1e6,
                if first_s < upper { "sooner" } else { "later" },
                if sampled.is_seen_by_frames { "in contact" } else { "separated" },
            )?,
            None => writeln!(out, "    that motion: none of {} samples in contact", SAMPLES + 1)?,
        }
    }
    if missed.is_empty() {
        writeln!(out, "  none")?;
    }
    Ok(())
}

/// With a comma before every third digit from the end.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        let grouped: Vec<String> = [0, 999, 1000, 750_750, 12_345_678].map(grouped).into();
        assert_eq!(grouped, ["0", "999", "1,000", "750,750", "12,345,678"]);
    }
}
