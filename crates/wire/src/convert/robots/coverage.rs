//! Which pairs certificates of edges are about, to the wire and back.

use super::check::scope_of;
use crate::path::Path;
use crate::status::Failure;
use clearance_proto as api;
use clearance_robot::cell::Cell;
use clearance_robot::claim::{Coverage, LeftOutPair, LeftOutRule};
use clearance_robot::pairing::PairScope;

/// What a pair takes that a rule leaves out, bytes at most: two numbers of bodies, and the rule.
const LEFT_OUT_PAIR: u64 = 2 * 5 + 1;

/// What is said beside these pairs, bytes at most: the scope, how many pairs are covered, and the
/// tags and lengths of the lists.
const BESIDE: u64 = 64;

/// What the coverage of certificates about such pairs of a cell takes of a reply, bytes at most.
pub fn coverage_bytes(cell: &Cell, scope: PairScope) -> u64 {
    BESIDE + LEFT_OUT_PAIR * cell.left_out_count(scope) as u64
}

/// Which of a cell's pairs certificates cover.
pub fn coverage_to_wire(cell: &Cell, scope: PairScope) -> api::PairCoverage {
    let asked = match scope {
        PairScope::All => api::PairScope::Unspecified,
        PairScope::World => api::PairScope::World,
        PairScope::Links => api::PairScope::Self_,
    };
    let left_out = cell.left_out(scope);
    api::PairCoverage {
        pair_scope: asked.into(),
        covered: cell.covered_count(scope) as u64,
        firsts: left_out.iter().map(|pair| pair.bodies[0]).collect(),
        seconds: left_out.iter().map(|pair| pair.bodies[1]).collect(),
        rules: left_out.iter().map(|pair| rule_to_wire(pair.rule).into()).collect(),
    }
}

fn rule_to_wire(rule: LeftOutRule) -> api::LeftOutRule {
    match rule {
        LeftOutRule::Joined => api::LeftOutRule::Joined,
        LeftOutRule::Semantics => api::LeftOutRule::Srdf,
        LeftOutRule::Ignored => api::LeftOutRule::Ignored,
        LeftOutRule::Carried => api::LeftOutRule::Carried,
    }
}

/// What is said to be covered, from the wire, of certificates about pairs of this scope.
pub fn coverage(
    path: &Path<'_>,
    wire: &api::PairCoverage,
    asked: PairScope,
) -> Result<Coverage, Failure> {
    let scope = path.field("pair_scope");
    if scope_of(&scope, wire.pair_scope)? != asked {
        return Err(scope.bad("is another one than that of the question").into());
    }
    let count = wire.firsts.len();
    for (name, length) in [("seconds", wire.seconds.len()), ("rules", wire.rules.len())] {
        if length != count {
            return Err(path.field(name).bad("must have as many entries as firsts").into());
        }
    }
    let list = path.field("rules");
    let mut left_out = Vec::with_capacity(count);
    for (index, rule) in wire.rules.iter().enumerate() {
        let at = list.index(index);
        let rule = match at.known(*rule)? {
            api::LeftOutRule::Unspecified => return Err(at.bad("is required").into()),
            api::LeftOutRule::Joined => LeftOutRule::Joined,
            api::LeftOutRule::Srdf => LeftOutRule::Semantics,
            api::LeftOutRule::Ignored => LeftOutRule::Ignored,
            api::LeftOutRule::Carried => LeftOutRule::Carried,
        };
        left_out.push(LeftOutPair { bodies: [wire.firsts[index], wire.seconds[index]], rule });
    }
    Ok(Coverage { covered: wire.covered, left_out })
}
