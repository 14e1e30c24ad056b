//! H-Walk: from the features that were closest, over the surfaces of the layers of two
//! Dobkin-Kirkpatrick hierarchies, inwards where the way is long and out again.
//!
//! Source: L. Guibas, D. Hsu, L. Zhang, "A hierarchical method for real-time distance computation
//!         among moving convex bodies", Computational Geometry 15, 2000 (§2.3, §3, §4; "Adapting to
//!         coherence levels" in §4.3). The walk on one layer: M. Lin, J. Canny, "A fast algorithm
//!         for incremental distance calculation", ICRA 1991; B. Mirtich, "V-Clip: fast and robust
//!         polyhedral collision detection", ACM Trans. Graph. 17(3), 1998.
//! Proves: nothing; the features' vertices are a simplex of M, which is proven nearest, or gone on
//!         from. That the origin is in M is believed when an edge pierces a face or a vertex is
//!         inside, on whatever layer.
//! Cost:   O(log c) steps for polygons, proven (Theorem 5), c being the number of features between
//!         the old and the new closest ones: [`polygons`]. For polyhedra as seen, a few dozen,
//!         which grow little with c and with the logarithm of the size. A step goes to a
//!         neighbouring feature or to a neighbouring layer.
//!         From 400 vertices to 8,000 the mean over the paper's angular steps, 1 to 90 degrees a
//!         frame, at most doubles. It does so at each from 40 degrees on; at a few degrees few
//!         steps are needed, but even the shortest way through the layers, from the best of them,
//!         gets more than twice as long (`cargo test --lib
//!         grows_more_than_twofold -- --nocapture`).
//!
//! Stage one walks [`STEPS`] steps a layer and follows the *in* pointers, both bodies at once,
//! until it finds the closest pair of some layers. Stage two follows the *out* pointers and walks
//! on each layer to its closest pair. The closest pairs of all layers are remembered, and the next
//! question starts from one of them: on layer 0, 4, 8, 16, the innermost, or ([`METHOD`]) the one
//! that the coherence seen so far suggests. Two predecessors are the same walk held to one end of
//! the hierarchy: [`SURFACE_WALK`] stays on layer 0, [`DOBKIN_KIRKPATRICK`] starts innermost each
//! time.
//!
//! Differs from the text:
//! - §3: two polygons in one plane, and a polygon and a point in its plane, are searched by chains
//!   under the name of the adaptive start alone. The fixed starts, which the paper has in its
//!   experiments with polyhedra, and both predecessors walk in the hierarchy on polygons too, which
//!   the paper offers as the variant that goes on to three dimensions (§3.1, end).
//! - Bodies that the text does not treat are handed over: flat ones that are not in one plane,
//!   segments, a point beside a solid.
//! - §4.1: stage one starts on the remembered layer wherever that is, from cold on the innermost
//!   one.
//! - §2.2, local minima (penetration), for which the text refers to V-Clip: another feature is
//!   looked for among all facets, as Mirtich does, at most eight times; then the search hands over.
//! - §4.2 compares with V-Clip itself; [`SURFACE_WALK`] is our own walk on layer 0 and leaves a
//!   feature in the steepest direction.

mod nearest;
pub mod orbit;
mod polygons;
mod surface;
#[cfg(test)]
mod tests;
mod walk;

use arrayvec::ArrayVec;

use self::surface::PlacedBody;
use self::walk::{End, Walk};
use super::{DistanceMethod, Ending, FoundSimplex, Propose, Proposer};
use crate::Vec3;
use crate::difference::RoundedCorner;
use crate::difference::bounded::BoundedView;
use crate::distance::simplex::Simplex;
use crate::effort::{Effort, Stopped};
use crate::hierarchy::Feature;
use crate::number::rounding::gamma;
use crate::pair::{Pair, VertexPair};
use crate::polytope::Tables;
use crate::witness::{FeatureMemory, Memory, Witness};

/// Steps that stage one walks on a layer: the paper's s (§4.2: "a small constant usually works
/// well"). With 6 in its place balls take 1 to 25 % fewer steps, polygons 10 to 17 % more.
const STEPS: u32 = 4;

/// By how many layers the adaptive start is further out than where the last search turned: the
/// steps that stage one walks on the way in are not lost. Of 1 to 6 this many cost least in
/// hierarchies of at most [`SHALLOW`] layers: for elongated ellipsoids of 240 and 600 vertices at
/// most 2.0 % over the best fixed start at the angular steps of the paper's Figure 6.
const LAYERS_OUT: usize = 2;
/// How many in deeper hierarchies: for balls of 8,000 vertices never above the best fixed start at
/// the angular steps of Figure 5, of 400 to 3,200 at most 2.2 %.
const LAYERS_OUT_IF_DEEP: usize = 3;
/// Layers inside the surface of a hierarchy that is not deep yet, as 16 is the deepest fixed start.
const SHALLOW: usize = 16;

const PROVES: &str = "nothing; the features that it ends with are proven closest, or gone on from";

/// The row of the table: starts on the layer that the coherence seen suggests.
pub(super) const METHOD: DistanceMethod = DistanceMethod {
    name: "h_walk",
    source: "Guibas, Hsu, Zhang, A hierarchical method for real-time distance computation among \
             moving convex bodies, 1999",
    proves: PROVES,
    cost: "a few dozen steps between features and layers, logarithmic in the way walked",
    tables: Tables::Features,
    proposer: Proposer::By(|view, pair, _, witness, effort| {
        polygons::search(view, pair, witness, effort)
            .unwrap_or_else(|| search(view, pair, StartLayer::Adaptive, witness, effort))
    }),
};

/// Walking on the surface alone.
pub(super) const SURFACE_WALK: DistanceMethod = DistanceMethod {
    name: "surface_walk",
    source: "Lin, Canny, A fast algorithm for incremental distance calculation, 1991; Mirtich, \
             V-Clip, 1998",
    proves: PROVES,
    cost: "as many steps as features lie between the old and the new closest ones",
    tables: Tables::Features,
    proposer: Proposer::By(|view, pair, _, witness, effort| {
        search(view, pair, StartLayer::Surface, witness, effort)
    }),
};

/// From the innermost layer each time, remembering nothing.
pub(super) const DOBKIN_KIRKPATRICK: DistanceMethod = DistanceMethod {
    name: "dobkin_kirkpatrick",
    source: "Dobkin, Kirkpatrick, Determining the separation of preprocessed polyhedra, 1990, with \
             the walk of Guibas, Hsu, Zhang 1999 from layer to layer",
    proves: PROVES,
    cost: "a few steps a layer",
    tables: Tables::Features,
    proposer: Proposer::By(|view, pair, _, _, effort| {
        search(view, pair, StartLayer::Layer(u32::MAX), &mut Witness::default(), effort)
    }),
};

/// From the closest pair of one layer always, as the paper's experiments have it (§4.2); of a
/// hierarchy that is not as deep, of its innermost. From cold all are the same.
pub(super) const FROM_LAYER_0: DistanceMethod =
    from_layer("h_walk_0", |view, pair, _, witness, effort| {
        search(view, pair, StartLayer::Layer(0), witness, effort)
    });

/// See [`FROM_LAYER_0`].
pub(super) const FROM_LAYER_4: DistanceMethod =
    from_layer("h_walk_4", |view, pair, _, witness, effort| {
        search(view, pair, StartLayer::Layer(4), witness, effort)
    });

/// See [`FROM_LAYER_0`].
pub(super) const FROM_LAYER_8: DistanceMethod =
    from_layer("h_walk_8", |view, pair, _, witness, effort| {
        search(view, pair, StartLayer::Layer(8), witness, effort)
    });

/// See [`FROM_LAYER_0`].
pub(super) const FROM_LAYER_16: DistanceMethod =
    from_layer("h_walk_16", |view, pair, _, witness, effort| {
        search(view, pair, StartLayer::Layer(16), witness, effort)
    });

/// See [`FROM_LAYER_0`].
pub(super) const FROM_INNERMOST: DistanceMethod =
    from_layer("h_walk_innermost", |view, pair, _, witness, effort| {
        search(view, pair, StartLayer::Layer(u32::MAX), witness, effort)
    });

const fn from_layer(name: &'static str, propose: Propose) -> DistanceMethod {
    DistanceMethod {
        name,
        source: METHOD.source,
        proves: PROVES,
        cost: METHOD.cost,
        tables: Tables::Features,
        proposer: Proposer::By(propose),
    }
}

/// Which of the remembered closest pairs to start from.
#[derive(Clone, Copy, Debug)]
enum StartLayer {
    /// That of this layer, or of the innermost one.
    Layer(u32),
    /// That of the layer that the last question left as a hint.
    Adaptive,
    /// That of layer 0, and never leave it.
    Surface,
}

fn search(
    view: &BoundedView<'_>,
    pair: &Pair<'_>,
    start: StartLayer,
    witness: &mut Witness,
    effort: &mut Effort<'_>,
) -> FoundSimplex {
    if !is_walkable(view, pair) {
        return FoundSimplex::hands_over();
    }
    for body in [pair.p.body, pair.q.body] {
        if let Err(why) = body.prepare_features(effort) {
            let (simplex, latest) = (simplex_of(view, &[0], &[0]), VertexPair::default());
            return FoundSimplex { simplex, latest, ending: Ending::Stopped(why) };
        }
    }
    let offset = pair.q.pose.translation - pair.p.pose.translation;
    let sides = [PlacedBody::new(&pair.p, Vec3::zeros()), PlacedBody::new(&pair.q, offset)];
    let mut memory = if let Memory::Features(memory) = std::mem::take(&mut witness.memory) {
        memory
    } else {
        Box::<FeatureMemory>::default()
    };
    let mut descent = Descent::new(sides, start, &mut memory, effort);
    let before = effort.cost.steps;
    let end = descent.run(effort);
    let is_same = descent.is_remembered && descent.depth == 0 && effort.cost.steps == before;
    effort.cost.witness_hits += u64::from(is_same);
    let simplex = descent.simplex(view);
    witness.memory = Memory::Features(memory);
    let ending = match end {
        Ok(End::Closest) => Ending::Nearest,
        Ok(End::Contact) => Ending::HoldsOrigin,
        Ok(End::Behind(_) | End::Tired) => Ending::HandsOver,
        Err(why) => Ending::Stopped(why),
    };
    let latest = simplex.corners().first().map_or(VertexPair::default(), |corner| corner.pair);
    FoundSimplex { simplex, latest, ending }
}

/// Two solids, or two polygons in one plane up to rounding.
fn is_walkable(view: &BoundedView<'_>, pair: &Pair<'_>) -> bool {
    match [pair.p.body.dimension(), pair.q.body.dimension()] {
        [3, 3] => true,
        [2, 2] => are_coplanar(view, pair),
        _ => false,
    }
}

/// Whether Q's basis is in the plane of P's, but for the errors of their coordinates.
fn are_coplanar(view: &BoundedView<'_>, pair: &Pair<'_>) -> bool {
    let &[a, b, c] = pair.p.body.affine_basis() else { return false };
    let to = |i, j| view.difference(VertexPair { i, j });
    let &[first, ..] = pair.q.body.affine_basis() else { return false };
    let (from_a, from_b, from_c) = (to(a, first), to(b, first), to(c, first));
    let (ab, ac) = (from_a - from_b, from_a - from_c);
    let normal = ab.cross(&ac);
    let tolerance = gamma(64) * view.size() * ab.norm() * ac.norm();
    pair.q.body.affine_basis().iter().all(|&j| normal.dot(&to(a, j)).abs() <= tolerance)
}

/// Down and up the two hierarchies.
struct Descent<'a, 'm> {
    sides: [PlacedBody<'a>; 2],
    memory: &'m mut FeatureMemory,
    walk: Walk<'a>,
    /// How far inside the walk is; a hierarchy that is not as deep stays at its innermost layer.
    depth: usize,
    /// How far inside it may go.
    depth_max: usize,
    /// Whether it starts from remembered features.
    is_remembered: bool,
    start: StartLayer,
}

impl<'a, 'm> Descent<'a, 'm> {
    fn new(
        sides: [PlacedBody<'a>; 2],
        start: StartLayer,
        memory: &'m mut FeatureMemory,
        effort: &mut Effort<'_>,
    ) -> Self {
        let innermost = sides[0].depth_max().max(sides[1].depth_max());
        let (wanted, depth_max) = match start {
            StartLayer::Layer(layer) => (layer, innermost),
            StartLayer::Adaptive => (memory.start, innermost),
            StartLayer::Surface => (0, 0),
        };
        let wanted = depth_max.min(wanted as usize);
        let remembered = memory.closest.get(wanted).copied().filter(|pair| {
            let is_there = |k: usize| sides[k].surface(wanted).has(pair[k]);
            let both_faces = matches!(pair, [Feature::Face(_), Feature::Face(_)]);
            is_there(0) && is_there(1) && !both_faces
        });
        let depth = if remembered.is_some() { wanted } else { depth_max };
        let surfaces = sides.map(|side| side.surface(depth));
        let pair = remembered.unwrap_or_else(|| {
            // Without a memory, from what faces the other body on the innermost layer.
            let towards = sides[1].centre() - sides[0].centre();
            if depth < innermost {
                [Feature::Vertex(0); 2]
            } else {
                [surfaces[0].farthest(&towards, effort), surfaces[1].farthest(&-towards, effort)]
            }
        });
        let walk = Walk::new(surfaces, pair);
        memory.closest.truncate(innermost + 1);
        memory.closest.resize(innermost + 1, [Feature::Vertex(0); 2]);
        Self { sides, memory, walk, depth, depth_max, is_remembered: remembered.is_some(), start }
    }

    fn run(&mut self, effort: &mut Effort<'_>) -> Result<End, Stopped> {
        let mut end = self.inwards(effort)?;
        let deepest = self.depth;
        while end == End::Closest && self.depth > 0 {
            self.memory.closest[self.depth] = self.walk.pair;
            self.go_to(self.depth - 1, effort)?;
            end = self.walk.finish(effort)?;
        }
        if end == End::Closest {
            self.memory.closest[0] = self.walk.pair;
        }
        if let StartLayer::Adaptive = self.start {
            // From cold nothing was seen; high coherence is the usual case, and costs least to
            // refute.
            self.memory.start = if self.is_remembered { self.next_start(deepest) } else { 0 };
        }
        Ok(end)
    }

    /// Stage one: to the closest pair of some layers.
    fn inwards(&mut self, effort: &mut Effort<'_>) -> Result<End, Stopped> {
        while self.depth < self.depth_max {
            match self.walk.run(STEPS, effort)? {
                End::Tired | End::Behind(_) => self.go_to(self.depth + 1, effort)?,
                end @ (End::Closest | End::Contact) => return Ok(end),
            }
        }
        self.walk.finish(effort)
    }

    /// Follows the pointers to a neighbouring layer.
    fn go_to(&mut self, depth: usize, effort: &mut Effort<'_>) -> Result<(), Stopped> {
        effort.spend_step()?;
        effort.cost.layers += 1;
        let [p, q] = self.walk.pair;
        let follow = |side: &PlacedBody<'_>, feature: Feature| {
            let (from, to) = (side.layer_at(self.depth), side.layer_at(depth));
            let hierarchy = side.hierarchy();
            let found = match from.cmp(&to) {
                std::cmp::Ordering::Less => hierarchy.inward(from, feature),
                std::cmp::Ordering::Greater => hierarchy.outward(from, feature),
                std::cmp::Ordering::Equal => None,
            };
            found.unwrap_or(feature)
        };
        let pair = [follow(&self.sides[0], p), follow(&self.sides[1], q)];
        self.walk = Walk::new(self.sides.map(|side| side.surface(depth)), pair);
        self.depth = depth;
        Ok(())
    }

    /// Where to start next time (§4.3): a little further out than where the last search turned, and
    /// so step by step further out while searches only go outwards.
    fn next_start(&self, deepest: usize) -> u32 {
        let out = if self.depth_max > SHALLOW { LAYERS_OUT_IF_DEEP } else { LAYERS_OUT };
        u32::try_from(deepest.saturating_sub(out)).unwrap_or(u32::MAX)
    }

    /// The simplex of M that the features' nearest points lie in.
    fn simplex(&self, view: &BoundedView<'_>) -> Simplex {
        let [of_p, of_q] = [0, 1].map(|k| self.walk.surfaces[k].body_vertices(self.walk.pair[k]));
        simplex_of(view, &of_p, &of_q)
    }
}

/// The simplex of M that the nearest points of two features lie in, given their vertices.
fn simplex_of(view: &BoundedView<'_>, of_p: &[u32], of_q: &[u32]) -> Simplex {
    let simplex = |pairs: &[(u32, u32)]| {
        let corner = |&(i, j): &(u32, u32)| {
            let pair = VertexPair { i, j };
            RoundedCorner { pair, point: view.difference(pair) }
        };
        let corners: ArrayVec<RoundedCorner, 3> = pairs.iter().take(3).map(corner).collect();
        Simplex::of(&corners).unwrap_or_default()
    };
    if let ([a, b], [c, d]) = (of_p, of_q) {
        // The differences of two edges are a parallelogram; the nearest point is in one half.
        let halves = [[(*a, *c), (*b, *c), (*b, *d)], [(*a, *c), (*a, *d), (*b, *d)]];
        let [first, second] = halves.map(|half| simplex(&half));
        let is_nearer = second.squared < first.squared;
        return if is_nearer { second } else { first };
    }
    let pairs: ArrayVec<(u32, u32), 9> =
        of_p.iter().flat_map(|&i| of_q.iter().map(move |&j| (i, j))).collect();
    simplex(&pairs)
}
