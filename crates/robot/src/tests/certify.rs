//! Certificates of edges: every answer has one that the judge accepts; changed ones are refused.

use super::check::panda_cell;
use super::edge::{QUESTION, edges};
use crate::cell::Cell;
use crate::claim::{EdgeCertificate, EdgeClaim, EdgeSubject, GapProof};
use crate::edge::{EdgeAnswer, EdgeQuestion};
use crate::judge::{EdgeRefusal, judge_edge};
use crate::pairing::PairScope;
use clearance_geometry::effort::Effort;
use clearance_samples::Random;

struct Case {
    ends: [Vec<f64>; 2],
    margin: f64,
    free_until: f64,
    contact: Option<(f64, [u32; 2])>,
    certificate: EdgeCertificate,
}

impl Case {
    fn judged(&self, subject: &EdgeSubject<'_>) -> Result<(), EdgeRefusal> {
        let claim = EdgeClaim {
            ends: [&self.ends[0], &self.ends[1]],
            margin: self.margin,
            free_until: self.free_until,
            contact: self.contact,
        };
        judge_edge(subject, &claim, &self.certificate, &mut Effort::unlimited())
    }
}

/// Edges of a cell with their certificates.
fn cases(cell: &Cell, margin: f64, seed: u64) -> Vec<Case> {
    let question = EdgeQuestion { margin, ..QUESTION };
    let mut found = Vec::new();
    for (count, longest) in [(12, 1.0), (4, 5.0)] {
        let [from, to] = edges(count, longest, &mut Random(seed));
        for (from, to) in from.chunks_exact(8).zip(to.chunks_exact(8)) {
            let effort = &mut Effort::unlimited();
            let answer = cell.check_edges(question, [from, to], effort).pop().unwrap();
            let (free_until, contact) = match answer {
                EdgeAnswer::Free => (1.0, None),
                EdgeAnswer::Contact { free_until, contact_at, pair } => {
                    (free_until, Some((contact_at, pair)))
                }
                EdgeAnswer::Undecided { .. }
                | EdgeAnswer::Bad(_)
                | EdgeAnswer::Turns
                | EdgeAnswer::Stopped { .. } => panic!("{answer:?}"),
            };
            let made = cell.certify_edge(question, [from, to], &answer, effort).unwrap();
            let certificate = made.unwrap_or_else(|| panic!("no certificate: {answer:?}"));
            let ends = [from.to_vec(), to.to_vec()];
            found.push(Case { ends, margin, free_until, contact, certificate });
        }
    }
    found
}

#[test]
fn every_edge_has_a_certificate_that_the_judge_accepts() {
    let cell = panda_cell(10);
    let subject = cell.subject(PairScope::All);
    let (mut free, mut moved_free) = (0, 0);
    for (margin, seed) in [(0.0, 11), (0.01, 12)] {
        for case in cases(&cell, margin, seed) {
            assert_eq!(case.judged(&subject), Ok(()), "{:?}", case.contact);
            free += usize::from(case.contact.is_none());
            moved_free += usize::from(case.contact.is_some() && case.free_until > 0.0);
        }
    }
    assert!(free >= 4 && moved_free >= 4, "{free} {moved_free}");
}

#[test]
fn what_is_changed_in_a_certificate_is_refused() {
    let cell = panda_cell(10);
    let subject = cell.subject(PairScope::All);
    let mut seen = [0; 7];
    for mut case in cases(&cell, 0.0, 11) {
        let whole = case.certificate.clone();
        let mut refused = |case: &mut Case, kind: usize, change: &dyn Fn(&mut Case)| {
            let before = (case.free_until, case.contact);
            change(case);
            assert!(case.judged(&subject).is_err(), "{kind}");
            seen[kind] += 1;
            case.certificate = whole.clone();
            (case.free_until, case.contact) = before;
        };
        for piece in 0..whole.pieces.len() {
            let speeds = &whole.pieces[piece].speeds;
            for part in (0..speeds.len()).filter(|part| speeds[*part] > 0.0) {
                refused(&mut case, 0, &|case: &mut Case| {
                    case.certificate.pieces[piece].speeds[part] *= 1.0 - 1e-6;
                });
            }
            refused(&mut case, 1, &|case: &mut Case| drop(case.certificate.pieces.remove(piece)));
            for gap in 0..whole.pieces[piece].gaps.len() {
                refused(&mut case, 2, &|case: &mut Case| {
                    case.certificate.pieces[piece].gaps.remove(gap);
                });
                refused(&mut case, 3, &|case: &mut Case| {
                    let shown = &mut case.certificate.pieces[piece].gaps[gap].shown;
                    let GapProof::Along(direction) = shown else { panic!("{shown:?}") };
                    *direction *= -1.0;
                });
                refused(&mut case, 4, &|case: &mut Case| {
                    case.certificate.pieces[piece].gaps[gap].gap *= 1.0 + 1e-6;
                });
                if whole.pieces[piece].gaps[gap].closing > 0.0 {
                    refused(&mut case, 5, &|case: &mut Case| {
                        case.certificate.pieces[piece].gaps[gap].closing *= 1.0 - 1e-6;
                    });
                }
            }
        }
        if case.contact.is_none() {
            continue;
        }
        refused(&mut case, 6, &|case: &mut Case| case.certificate.contact = None);
        refused(&mut case, 6, &|case: &mut Case| {
            case.free_until = (case.free_until + 1e-3).min(1.0);
        });
        refused(&mut case, 6, &|case: &mut Case| {
            case.contact = case.contact.map(|(at, [a, _])| (at, [a, a]));
        });
    }
    assert!(seen.iter().all(|count| *count >= 6), "{seen:?}");
}

#[test]
fn a_turned_axis_or_a_moved_origin_makes_another_robot() {
    let cell = panda_cell(10);
    let subject = cell.subject(PairScope::All);
    let mut refused = 0;
    for case in cases(&cell, 0.0, 11).iter().filter(|case| !case.certificate.pieces.is_empty()) {
        let mut tree = subject.tree.clone();
        for k in 0..3 {
            tree.frames[k].parent_from_joint.translation.y += 0.05;
        }
        let other = EdgeSubject { tree: &tree, ..subject.clone() };
        refused += usize::from(case.judged(&other).is_err());
    }
    assert!(refused >= 8, "{refused}");
}
