//! Pairs of links that samples show always in contact or never, as a message and as an SRDF.

use std::fmt::Write;

use crate::path::{Path, WithinLimit};
use crate::status::Failure;
use clearance_proto as api;
use clearance_robot::model::{AllowedReason, Robot};
use clearance_robot::sampled::{LinkPair, PairCount};
use clearance_runtime::settings::Limits;

/// Samples where the request does not say how many.
const SAMPLES_DEFAULT: u32 = 1_000;

/// What a pair takes of a reply at least, bytes: a tag, a length, and the index of a link, which
/// may be missing in one.
pub const PAIR_BYTES: u64 = 4;

/// How many configurations are sampled.
pub fn samples_of(
    request: &api::SuggestAllowedPairsRequest,
    limits: &Limits,
) -> Result<u32, Failure> {
    let samples = if request.samples == 0 { SAMPLES_DEFAULT } else { request.samples };
    Path::ROOT.field("samples").within(limits.configurations_max(), samples as usize)?;
    Ok(samples)
}

/// A pair with what so many samples show of it, and why it needs no check, in the words of SRDFs.
struct Suggestion<'a> {
    pair: &'a LinkPair,
    count: PairCount,
    reason: Option<&'a str>,
}

impl<'a> Suggestion<'a> {
    fn of(pair: &'a LinkPair, count: PairCount, samples: u32, with_never: bool) -> Self {
        let reason = match &pair.allowed {
            Some(AllowedReason::Semantics(reason)) => Some(reason.as_str()),
            Some(AllowedReason::Adjacent | AllowedReason::Rigid) => Some("Adjacent"),
            None if pair.is_constant => Some("Never"),
            None if count.in_contact == samples => Some("Always"),
            None if with_never && count == PairCount::default() => Some("Never"),
            None => None,
        };
        Self { pair, count, reason }
    }

    fn to_wire(&self) -> api::SampledLinkPair {
        let Self { pair, count, reason } = self;
        let [first, second] = pair.links.map(|link| u32::try_from(link).unwrap_or(u32::MAX));
        let allowed = match pair.allowed {
            None => api::AllowedPairReason::Unspecified,
            Some(AllowedReason::Adjacent) => api::AllowedPairReason::Adjacent,
            Some(AllowedReason::Rigid) => api::AllowedPairReason::Rigid,
            Some(AllowedReason::Semantics(_)) => api::AllowedPairReason::Srdf,
        };
        api::SampledLinkPair {
            first,
            second,
            in_contact: count.in_contact,
            undecided: count.open,
            allowed: allowed.into(),
            constant: pair.is_constant,
            suggested: reason.is_some(),
        }
    }
}

/// What is told of a robot whose pairs were counted in so many samples.
pub fn suggested(
    robot: &Robot,
    counted: impl Iterator<Item = (LinkPair, PairCount)>,
    samples: u32,
    with_never: bool,
) -> api::SuggestAllowedPairsResponse {
    let mut srdf = format!("<robot name=\"{}\">\n", Attribute(&robot.name));
    let mut pairs = Vec::new();
    for (pair, count) in counted {
        let one = Suggestion::of(&pair, count, samples, with_never);
        pairs.push(one.to_wire());
        if let Some(reason) = one.reason {
            let [first, second] = pair.links.map(|link| Attribute(&robot.links[link].name));
            let reason = Attribute(reason);
            // Writing to a text cannot fail.
            let _ = writeln!(
                srdf,
                "  <disable_collisions link1=\"{first}\" link2=\"{second}\" reason=\"{reason}\"/>"
            );
        }
    }
    srdf.push_str("</robot>\n");
    api::SuggestAllowedPairsResponse { samples, pairs, srdf, cost: None }
}

/// A text in the value of an attribute.
struct Attribute<'a>(&'a str);

impl std::fmt::Display for Attribute<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // As they are they would be read as spaces.
                '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(c))?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}
