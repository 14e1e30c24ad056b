//! Meshes, balls and capsules beside parry, coal and box3d: the same bodies in the same places, in
//! turn, on one thread.
//!
//! ```text
//! cargo build --release
//! target/release/mesh-peers [rounds=3] [only=WORD] [file=cases.bin] [sizes=1024,10000,100000] \
//!     [picture=growth.svg] [NAME=PROGRAM ...]
//! ```
//!
//! Ours and parry (f64) are asked in this process. A program answers the same rows: it reads the
//! file that is written here (`case`), and prints for each row it answers the row's number, how
//! many microseconds a question took, how many answers were wrong, how many more were off, and how
//! many it gave.
//! `README.md` says how the programs for coal and box3d are built.
//!
//! Prints medians of the rounds, microseconds of processor time for a question; what the best peer
//! takes as a multiple of ours; and of how many questions each peer says otherwise than is exactly
//! so, and of how many more it is off by a tenth of a millimetre or a thousandth of the motion.

mod case;
mod ours;
mod parry;
mod picture;
mod rows;
mod timing;

use std::collections::BTreeMap;
use std::process::Command;

use case::{Asked, Row, Shape, ShapeKind};
use ours::{Ours, Way};
use timing::Timed;

/// Rounds of each row by who is asked.
type Found = BTreeMap<(usize, String), Vec<Timed>>;

fn name(row: &Row, shapes: &[Shape]) -> String {
    let [a, b] = row.shapes.map(|shape| shapes[shape].name.as_str());
    let bodies = match row.asked {
        Asked::Ray | Asked::Build => b.to_owned(),
        _ => format!("{a}, {b}"),
    };
    format!("{bodies:24} {:22} {:9}", row.asked.name(), row.regime)
}

/// A round of a program of a peer.
fn ask_program(program: &str, file: &str, only: &str) -> Vec<(usize, Timed)> {
    let output = Command::new(program).arg(file).arg(only).output().expect("a program");
    let text = String::from_utf8(output.stdout).expect("words");
    let line = |line: &str| {
        let words: Vec<f64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        let [row, microseconds, wrong, off, asked] = words[..] else { panic!("{line}") };
        let [wrong, off, asked] = [wrong, off, asked].map(|count| count as usize);
        let timed = Timed { microseconds, wrong, off, asked };
        (row as usize, timed)
    };
    text.lines().map(line).collect()
}

/// What the picture shows of all sizes.
const SHOWN: [(&str, bool, Asked, &str); 6] = [
    ("hull, mesh: verdict, touching", true, Asked::Verdict, "touch"),
    ("hull, mesh: distance", true, Asked::Distance, "near"),
    ("hull, mesh: first contact", true, Asked::Straight, "near"),
    ("hull, mesh: turning", true, Asked::Turning, "near"),
    ("mesh, mesh: distance", false, Asked::Distance, "near"),
    ("ray, mesh", true, Asked::Ray, ""),
];

fn lines(rows: &[Row], shapes: &[Shape], peers: &[String], found: &Found) -> Vec<picture::Line> {
    let line = |(name, is_hull, asked, regime): (&str, bool, Asked, &str)| {
        let (mut ours, mut best) = (Vec::new(), Vec::new());
        for (at, row) in rows.iter().enumerate() {
            if row.asked != asked || row.regime != regime || (row.shapes[0] == 0) != is_hull {
                continue;
            }
            let triangles = shapes[row.shapes[1]].triangles.len() as f64;
            let of = |who: &str| {
                found.get(&(at, who.to_owned())).map(|rounds| median(rounds).microseconds)
            };
            ours.extend(of("ours").map(|time| (triangles, time)));
            let least = peers.iter().filter_map(|who| of(who)).min_by(f64::total_cmp);
            best.extend(least.map(|time| (triangles, time)));
        }
        picture::Line { name: name.to_owned(), ours, best }
    };
    SHOWN.map(line).into()
}

fn median(rounds: &[Timed]) -> Timed {
    let mut rounds = rounds.to_vec();
    rounds.sort_by(|a, b| a.microseconds.total_cmp(&b.microseconds));
    rounds[rounds.len() / 2]
}

fn main() {
    let mut options: BTreeMap<String, String> = std::env::args()
        .skip(1)
        .map(|word| {
            let (name, value) = word.split_once('=').expect("NAME=VALUE");
            (name.to_owned(), value.to_owned())
        })
        .collect();
    let rounds: usize = options.remove("rounds").map_or(3, |text| text.parse().expect("a number"));
    let only = options.remove("only").unwrap_or_default();
    let file = options.remove("file").unwrap_or_else(|| "cases.bin".to_owned());
    let sizes = options.remove("sizes").unwrap_or_else(|| "1024,10000,100000".to_owned());
    let sizes: Vec<u32> = sizes.split(',').map(|text| text.parse().expect("a number")).collect();
    let picture = options.remove("picture");
    let programs = options;

    let shapes = rows::shapes(&sizes);
    let ours = Ours::new(&shapes);
    let parry = parry::Parry::new(&shapes);
    let rows = rows::rows(&ours, &shapes, picture.is_none());
    case::write(&file, &shapes, &rows).expect("a file");
    let wanted: Vec<usize> =
        (0..rows.len()).filter(|row| name(&rows[*row], &shapes).contains(&only)).collect();
    let numbers = wanted.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut found = Found::new();
    for round in 0..rounds {
        for &at in &wanted {
            let row = &rows[at];
            let mut note = |who: &str, timed| {
                found.entry((at, who.to_owned())).or_default().push(timed);
            };
            let is_mesh = shapes[row.shapes[1]].kind == ShapeKind::Mesh;
            let second = if is_mesh { ("region", Way::Region) } else { ("kept", Way::Kept) };
            note("ours", ours.time(row, &shapes, Way::Surface));
            if let Some(timed) = parry.time(row, &shapes) {
                note("parry", timed);
            }
            note(second.0, ours.time(row, &shapes, second.1));
        }
        for (who, program) in &programs {
            for (row, timed) in ask_program(program, &file, &numbers) {
                found.entry((row, who.clone())).or_default().push(timed);
            }
        }
        eprintln!("round {} of {rounds}", round + 1);
    }

    let peers: Vec<String> = programs.keys().cloned().chain(["parry".to_owned()]).collect();
    let head: String = ["ours", "region", "kept"]
        .into_iter()
        .chain(peers.iter().map(String::as_str))
        .map(|who| format!("{who:>11}"))
        .collect();
    println!("{:57}{head}{:>9}  wrong", "microseconds", "best/ours");
    for &at in &wanted {
        let of = |who: &str| found.get(&(at, who.to_owned())).map(|rounds| median(rounds));
        let cell = |who: &str| match of(who) {
            Some(timed) => format!("{:11.3}", timed.microseconds),
            None => format!("{:>11}", "-"),
        };
        let best = peers.iter().filter_map(|who| of(who)).map(|timed| timed.microseconds);
        let best = best.fold(f64::INFINITY, f64::min);
        let own = of("ours").expect("asked").microseconds;
        let wrong = peers.iter().filter_map(|who| {
            let timed = of(who)?;
            let Timed { wrong, off, asked, .. } = timed;
            (wrong + off > 0).then(|| format!("{who} {wrong} and {off} of {asked}"))
        });
        let cells: String = ["ours", "region", "kept"]
            .into_iter()
            .chain(peers.iter().map(String::as_str))
            .map(cell)
            .collect();
        let wrong = wrong.collect::<Vec<_>>().join(", ");
        println!("{}{cells}{:9.2}  {wrong}", name(&rows[at], &shapes), best / own);
    }
    if let Some(path) = picture {
        let title = "What a question costs as a mesh has more triangles";
        let svg = picture::drawn(title, &lines(&rows, &shapes, &peers, &found));
        std::fs::write(path, svg).expect("a file");
    }
}
