//! What reducing a potential function would cost in place of the corrected step.
//!
//! Source: Akgunduz, Banerjee, Mehrotra 2005, §4.3, step 3, which asks for it and refers to
//! Mehrotra 1992; the function is that of Tanabe, Todd and Ye, `q ln Σ x s - Σ ln(x s)` over the n
//! variables, with q more than n. Its direction aims at complements of `n / q` of their mean, and
//! the step goes where the function is least on the way to the boundary.

use super::*;
use crate::samples::{Random, ball, cuboid, ellipsoid};

/// Points that are tried on the way to the boundary.
const TRIALS: u32 = 16;

/// How an iteration steps.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// The predictor alone, whatever its length.
    Predictor,
    /// The predictor, corrected where it is short: what the method does.
    Corrected,
    /// Along the direction that reduces the potential, to its least value; with q as a multiple of
    /// the number of variables, or `n + √n`, with which the bound of steps is the least known.
    Potential(Option<f64>),
}

fn potential(at: &Iterate<'_>, step: &NewtonStep, q: f64, part: f64) -> f64 {
    let products =
        (0..=at.last()).map(|k| (at.x[k] + part * step.x[k]) * (at.s[k] + part * step.s[k]));
    let (sum, logarithms) = products.fold((0.0, 0.0), |(sum, logarithms), product: f64| {
        (sum + product, logarithms + product.ln())
    });
    q * sum.ln() - logarithms
}

/// One step that reduces the potential.
fn reduce(at: &mut Iterate<'_>, multiple: Option<f64>) -> Option<()> {
    let factors = at.factors()?;
    let count = (at.last() + 1) as f64;
    let q = multiple.map_or(count + count.sqrt(), |multiple| multiple * count);
    let mean = (0..=at.last()).map(|k| at.x[k] * at.s[k]).sum::<f64>() / count;
    let step = at.direction(&factors, |_| mean * count / q);
    let longest = longest(&at.x, &step.x).length.min(longest(&at.s, &step.s).length);
    let most = (STEP_PART * longest).min(1.0);
    let parts = (1..=TRIALS).map(|k| most * f64::from(k) / f64::from(TRIALS));
    let value = |part: &f64| potential(at, &step, q, *part);
    let part = parts.min_by(|a, b| value(a).total_cmp(&value(b)))?;
    for k in 0..=at.last() {
        at.x[k] += part * step.x[k];
        at.s[k] += part * step.s[k];
    }
    at.pi += step.pi * part;
    at.is_inside().then_some(())
}

/// Iterations until one side is known; none if it never is.
fn iterations(program: &Program<'_>, weights: &SetWeights, rule: Rule) -> Option<u32> {
    let mut at = Iterate::start(program, weights, DualStart::Farthest);
    for taken in 0..ITERATIONS_MAX {
        if at.pi[3] + at.pi[4] > 0.0 || at.mu * at.x[at.last()] <= PROGRAM_CONTACT {
            return Some(taken);
        }
        match rule {
            Rule::Predictor => {
                let factors = at.factors()?;
                let step = at.direction(&factors, |_| 0.0);
                at.take(&step);
                at.is_inside().then_some(())
            }
            Rule::Corrected => at.advance(),
            Rule::Potential(multiple) => reduce(&mut at, multiple),
        }?;
    }
    None
}

/// Sets of ten and ten vertices of the bodies of the paper's library, near contact and apart.
fn programs() -> Vec<[Vec<Vec3>; 2]> {
    let mut bodies: Vec<_> = [4, 8, 12, 20, 40, 66, 120, 264].map(|n| ball(n, n.into())).into();
    bodies.push(cuboid(1.0, 0.7, 0.5));
    bodies.push(ellipsoid(100, [1.0, 0.5, 0.3], 7));
    let mut random = Random(43);
    let mut made = Vec::new();
    for round in 0..500 {
        let distance = 0.3 + f64::from(random.below(200)) / 100.0;
        let towards = random.unit_vector();
        let mut set = |index: usize, side: f64, at: Vec3| {
            let pose = random.pose(at);
            let placed = bodies[index].vertices().iter().map(|v| pose.apply_rounded(v));
            let mut placed: Vec<Vec3> = placed.collect();
            placed.sort_by(|a, b| (side * b.dot(&towards)).total_cmp(&(side * a.dot(&towards))));
            placed.truncate(SET_MAX / 2);
            placed
        };
        let p = set(round % bodies.len(), 1.0, Vec3::zeros());
        let q = set((round / bodies.len()) % bodies.len(), -1.0, towards * distance);
        made.push([p, q]);
    }
    made
}

/// Even weights, or all but a tenth of an even share on one vertex of each body, as a last frame
/// may leave them.
fn weights(of_p: usize, of_q: usize, is_warm: bool) -> SetWeights {
    let of_body = |count: usize| {
        let even = 1.0 / count as f64;
        let others = if is_warm { 0.1 * even } else { even };
        let first = 1.0 - others * (count - 1) as f64;
        std::iter::once(first).chain(std::iter::repeat_n(others, count - 1))
    };
    of_body(of_p).chain(of_body(of_q)).collect()
}

/// The figures of the list of differences: iterations in the mean, the greatest number, and how
/// many of 500 programs stay open after forty.
#[test]
fn the_corrected_step_needs_fewer_iterations_than_reducing_the_potential() {
    let programs = programs();
    let figures = |rule: Rule| {
        let taken: Vec<Option<u32>> = programs
            .iter()
            .enumerate()
            .map(|(at, [p, q])| {
                iterations(&Program { p, q }, &weights(p.len(), q.len(), at % 2 == 1), rule)
            })
            .collect();
        let decided: Vec<u32> = taken.iter().flatten().copied().collect();
        let mean = f64::from(decided.iter().sum::<u32>()) / decided.len() as f64;
        let most = decided.iter().max().copied().unwrap_or(0);
        let open = taken.len() - decided.len();
        eprintln!("{rule:?}: {mean:.2} iterations, {most} at most, {open} open");
        (mean, most, open)
    };
    let predictor = figures(Rule::Predictor);
    let corrected = figures(Rule::Corrected);
    assert!(corrected.2 == 0 && corrected.0 <= predictor.0, "{corrected:?} {predictor:?}");
    for multiple in [None, Some(2.0), Some(5.0), Some(10.0), Some(100.0)] {
        let reduced = figures(Rule::Potential(multiple));
        assert!(reduced.0 > 1.2 * corrected.0, "{multiple:?}: {reduced:?} {corrected:?}");
    }
}
