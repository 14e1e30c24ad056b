//! Reports that are cut to the bytes that their client takes.
//!
//! What the client can ask for again with the next frame goes first, events go last. What is cut
//! can be had by sending the frame again, so it is late, never lost. (Pairs whose contact polygons
//! do not fit are not cut but omitted.)

use prost::Message;
use prost::encoding::message;

use super::packed_pairs::truncate;
use clearance_proto as api;

/// Reports of no more entries, none of them a pair in a message of its own, take some kilobytes.
const FEW_ENTRIES: usize = 64;

/// Under so many bytes even few entries are counted.
const FEW_ENTRIES_BYTES: u64 = 64 << 10;

/// What the field `cut` and the four counts take at most: two bytes of tag and ten of number each.
const COUNTS_BYTES: usize = 5 * (2 + 10);

/// What a ranked pair takes in packed arrays.
const RANKED_BYTES: usize = 4 + 4 + 8 + 8 + 1;

/// Leaves out of a report what makes it longer than so many bytes. What is told of every frame
/// stays, whatever it takes: status, counts and cost.
pub fn cut(report: &mut api::FrameReport, bytes_max: u64) {
    if bytes_max >= FEW_ENTRIES_BYTES && is_short(report) {
        return;
    }
    let (bytes, bytes_max) =
        (report.encoded_len(), usize::try_from(bytes_max).unwrap_or(usize::MAX));
    if bytes <= bytes_max {
        return;
    }
    let over = &mut (bytes + COUNTS_BYTES - bytes_max);
    report.cut = true;
    report.omitted_pairs += shorten(&mut report.pairs, over);
    if let Some(packed) = &mut report.packed_pairs {
        report.omitted_pairs += shorten_packed(packed, over);
    }
    report.omitted_placed_parts += shorten(&mut report.placed_parts, over);
    report.omitted_ranked_pairs += shorten(&mut report.ranked_pairs, over);
    if let Some(ranking) = &mut report.packed_ranking {
        report.omitted_ranked_pairs += shorten_ranking(ranking, over);
    }
    report.omitted_items += shorten(&mut report.refused_items, over);
    report.omitted_events += shorten(&mut report.events, over);
}

/// Whether a report is so short that its bytes need not be counted: it takes some kilobytes.
pub fn is_short(report: &api::FrameReport) -> bool {
    let packed = report.packed_pairs.as_ref().map_or(0, |packed| packed.a.len());
    let ranked = report.packed_ranking.as_ref().map_or(0, |ranking| ranking.a.len());
    let listed = report.events.len() + report.placed_parts.len() + report.ranked_pairs.len();
    let is_plain = report.pairs.is_empty() && report.refused_items.is_empty() && packed == 0;
    is_plain && ranked + listed <= FEW_ENTRIES
}

/// Takes entries off the end of a list until so many bytes are gone; says how many.
fn shorten<T: Message>(list: &mut Vec<T>, over: &mut usize) -> u64 {
    let all = list.len();
    while *over > 0 {
        let Some(last) = list.pop() else { break };
        *over = over.saturating_sub(message::encoded_len(1, &last));
    }
    (all - list.len()) as u64
}

/// Takes packed pairs off the end until so many bytes are gone; says how many.
fn shorten_packed(packed: &mut api::PackedPairs, over: &mut usize) -> u64 {
    let all = packed.a.len();
    let (mut kept, mut step) = (all, 1);
    while *over > 0 && kept > 0 {
        let bytes = packed.encoded_len();
        // As many as their share of the bytes tells, and more each time, since pairs differ.
        let share = kept.saturating_mul(*over).div_ceil(bytes.max(1));
        kept -= share.max(step).min(kept);
        step *= 2;
        truncate(packed, kept);
        *over = over.saturating_sub(bytes - packed.encoded_len());
    }
    (all - kept) as u64
}

/// Takes entries off the end of a ranking until so many bytes are gone; says how many.
fn shorten_ranking(ranking: &mut api::PackedRanking, over: &mut usize) -> u64 {
    let less = over.div_ceil(RANKED_BYTES).min(ranking.a.len());
    let kept = ranking.a.len() - less;
    ranking.a.truncate(kept);
    ranking.b.truncate(kept);
    ranking.clearance_lower.truncate(kept);
    ranking.clearance_upper.truncate(kept);
    ranking.unordered.truncate(kept);
    *over = over.saturating_sub(less * RANKED_BYTES);
    less as u64
}
