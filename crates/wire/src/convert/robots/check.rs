//! Questions about configurations of a cell, and how long their answers are.

use crate::convert::geometry::length;
use crate::convert::paging::reply_bytes;
use crate::path::{BadField, Path, WithinLimit};
use crate::status::{Failure, TooLong};
use clearance_proto as api;
use clearance_robot::below::BelowQuestion;
use clearance_robot::cell::Cell;
use clearance_robot::check::{CheckMode, CheckQuestion};
use clearance_robot::pairing::PairScope;
use clearance_runtime::settings::Limits;

/// A question about configurations, but for the cell.
#[derive(Debug)]
pub struct AskedCheck {
    /// What is asked.
    pub question: CheckQuestion,
    /// Joint values, one configuration after the other.
    pub values: Vec<f64>,
    /// Whether violated limits are listed, and no reason to refuse.
    pub report_limits: bool,
    /// What is asked of links.
    pub links: AskedLinks,
    /// Numbers that the answer about one configuration may have.
    pub entries_of_one: usize,
    /// What the answer about one configuration takes on the wire at least, bytes.
    pub bytes_of_one: u64,
}

/// What is asked of links, of those of all robots in a row.
#[derive(Clone, Debug, Default)]
pub struct AskedLinks {
    /// Whether it is told where all are.
    pub with_poses: bool,
    /// Whose Jacobians are told.
    pub jacobians: Vec<usize>,
}

impl AskedLinks {
    fn convert(
        path: &Path<'_>,
        request: &api::CheckConfigurationsRequest,
        cell: &Cell,
    ) -> Result<Self, BadField> {
        let (list, count) = (path.field("jacobian_links"), cell.link_count());
        let mut is_named = vec![false; count];
        for (at, link) in request.jacobian_links.iter().enumerate() {
            match is_named.get_mut(*link as usize) {
                Some(named) if !*named => *named = true,
                Some(_) => return Err(list.index(at).bad("is named twice")),
                None => {
                    let problem = format!("is no index of the {count} links of its robots");
                    return Err(list.index(at).bad(problem));
                }
            }
        }
        let jacobians = request.jacobian_links.iter().map(|link| *link as usize).collect();
        Ok(Self { with_poses: request.with_link_poses, jacobians })
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        !self.with_poses && self.jacobians.is_empty()
    }

    /// Numbers that are told of one configuration.
    pub fn entries(&self, cell: &Cell) -> usize {
        let poses = if self.with_poses { 12 * cell.link_count() } else { 0 };
        poses + 6 * cell.variable_count() * self.jacobians.len()
    }
}

/// Which pairs are asked.
pub fn scope_of(path: &Path<'_>, wire: i32) -> Result<PairScope, BadField> {
    Ok(match path.known(wire)? {
        api::PairScope::Unspecified => PairScope::All,
        api::PairScope::World => PairScope::World,
        api::PairScope::Self_ => PairScope::Links,
    })
}

impl AskedCheck {
    /// Checks everything that can be wrong with it in this cell.
    pub fn convert(
        path: &Path<'_>,
        request: api::CheckConfigurationsRequest,
        cell: &Cell,
        limits: &Limits,
    ) -> Result<Self, Failure> {
        let (list, width) = (path.field("values"), cell.variable_count());
        if width == 0 {
            let place = if request.scene.is_some() { "scene" } else { "cell" };
            return Err(path.field(place).bad("its robots have no joint that moves").into());
        }
        if !request.values.len().is_multiple_of(width) {
            let problem = format!("must have {width} numbers for each configuration");
            return Err(list.bad(problem).into());
        }
        let count = request.values.len() / width;
        list.within(limits.configurations_max(), count)?;
        let links = AskedLinks::convert(path, &request, cell)?;
        let sizes = AnswerSizes {
            cell,
            limits,
            count,
            with_gradient: request.with_gradient,
            report_limits: request.report_limits,
            of_links: links.entries(cell),
            bytes_max: reply_bytes(request.reply_bytes_max, limits),
        };
        let mode = mode_of(path, &request, sizes)?;
        let scope = scope_of(&path.field("pair_scope"), request.pair_scope)?;
        let question = CheckQuestion { mode, with_gradient: request.with_gradient, scope };
        let each = sizes.entries_of_one(mode);
        list.within(limits.configuration_entries_max(), count.saturating_mul(each))?;
        let report_limits = request.report_limits;
        let bytes_of_one = sizes.bytes_of_one(mode);
        let values = request.values;
        let entries_of_one = each;
        Ok(Self { question, values, report_limits, links, entries_of_one, bytes_of_one })
    }
}

fn mode_of(
    path: &Path<'_>,
    request: &api::CheckConfigurationsRequest,
    sizes: AnswerSizes<'_>,
) -> Result<CheckMode, Failure> {
    let mode = match path.field("mode").known(request.mode)? {
        api::CheckMode::Unspecified | api::CheckMode::FirstPair => CheckMode::FirstPair,
        api::CheckMode::AllPairs => CheckMode::AllPairs,
        api::CheckMode::Clearance => CheckMode::Clearance,
        api::CheckMode::LinkClearance => CheckMode::LinkClearance,
        api::CheckMode::PairsBelow => {
            let below = length(&path.field("below"), request.below)?;
            let count_max = sizes.pairs_max(path, request.pairs_max)?;
            CheckMode::PairsBelow(BelowQuestion { below, count_max })
        }
    };
    let is_below = matches!(mode, CheckMode::PairsBelow(_));
    if !is_below && (request.below.abs() > 0.0 || request.below.is_nan()) {
        return Err(path.field("below").bad("is of mode PAIRS_BELOW").into());
    }
    if !is_below && request.pairs_max > 0 {
        return Err(path.field("pairs_max").bad("is of mode PAIRS_BELOW").into());
    }
    Ok(mode)
}

/// What decides how long answers are.
#[derive(Clone, Copy, Debug)]
struct AnswerSizes<'a> {
    cell: &'a Cell,
    limits: &'a Limits,
    /// Configurations.
    count: usize,
    with_gradient: bool,
    report_limits: bool,
    /// Numbers about links, of one configuration.
    of_links: usize,
    /// What the reply may have, bytes.
    bytes_max: u64,
}

/// What a listed pair takes on the wire at most, bytes, without its geometry: its configuration,
/// two bodies and a point of a cloud by their numbers, its verdict, two bounds.
const PAIR_BYTES: u64 = 4 * 5 + 1 + 16;

/// What a configuration takes beside its pairs where these are listed, bytes at most: a verdict,
/// and that it is cut, or within a margin; and for each limit that is violated.
const LISTED_BYTES: u64 = 16;
const LIMIT_BYTES: u64 = 10;

/// What a reply takes beside that: its cost, and the tags and lengths of its lists.
const REPLY_BYTES: u64 = 1 << 10;

impl AnswerSizes<'_> {
    /// Numbers of a clearance beside its bounds and its pair.
    fn geometry(&self) -> usize {
        if self.with_gradient { self.cell.variable_count() + 9 } else { 0 }
    }

    /// How many pairs of one configuration are listed: so many that all of them fit.
    fn pairs_max(&self, path: &Path<'_>, asked: u32) -> Result<usize, Failure> {
        let Self { cell, limits, .. } = *self;
        let list = path.field("pairs_max");
        list.within(limits.pairs_per_configuration_max(), asked as usize)?;
        let count = (self.count as u64).max(1);
        let each = PAIR_BYTES + 8 * self.geometry() as u64;
        let of_constant = 26 * cell.constant_pairs().len() as u64;
        let limits_listed = if self.report_limits { cell.variable_count() as u64 } else { 0 };
        let beside = LISTED_BYTES + LIMIT_BYTES * limits_listed + 8 * self.of_links as u64;
        let of_all = count.saturating_mul(beside).saturating_add(REPLY_BYTES + of_constant);
        let room = self.bytes_max.saturating_sub(of_all) / count / each;
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let there_are = cell.pair_count().max(1);
        let most = limits.configuration_entries_max / count;
        let entries = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(self.of_links);
        let of_entries = entries / (5 + self.geometry());
        let bytes_max = self.bytes_max;
        if asked == 0 {
            let most = usize::try_from(limits.pairs_per_configuration_max).unwrap_or(usize::MAX);
            let fits = room.min(of_entries).min(most).min(there_are);
            return if fits == 0 { Err(TooLong::Answers { bytes_max }.into()) } else { Ok(fits) };
        }
        let wanted = (asked as usize).min(there_are);
        if wanted > room { Err(TooLong::Answers { bytes_max }.into()) } else { Ok(wanted) }
    }

    /// What the answer about one configuration takes on the wire at least, bytes: a verdict and, of
    /// each clearance, two bounds, the numbers of two bodies and, with gradients, points, normal
    /// and gradient.
    fn bytes_of_one(&self, mode: CheckMode) -> u64 {
        let cell = self.cell;
        let of_clearance = 18 + 8 * self.geometry() as u64;
        let of_pairs = match mode {
            CheckMode::FirstPair | CheckMode::AllPairs | CheckMode::PairsBelow(_) => 1,
            CheckMode::Clearance => 1 + of_clearance,
            CheckMode::LinkClearance => 1 + cell.moving_link_count() as u64 * of_clearance,
        };
        of_pairs + 8 * self.of_links as u64
    }

    /// Numbers that the answer about one configuration may have.
    fn entries_of_one(&self, mode: CheckMode) -> usize {
        let (cell, geometry) = (self.cell, self.geometry());
        let of_pairs = match mode {
            CheckMode::FirstPair => 4,
            CheckMode::AllPairs => 4 * cell.pair_count(),
            CheckMode::Clearance => 4 + geometry,
            CheckMode::LinkClearance => cell.moving_link_count() * (4 + geometry),
            CheckMode::PairsBelow(below) => below.count_max.saturating_mul(5 + geometry),
        };
        of_pairs.saturating_add(self.of_links)
    }
}
