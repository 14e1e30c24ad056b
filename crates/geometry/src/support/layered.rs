//! Supporting vertices by the hierarchy: from cold, and from a hint through as few layers as it
//! takes.

use super::Along;
use crate::Vec3;
use crate::effort::Effort;
use crate::hierarchy::Layer;
use crate::kernel;
use crate::polytope::Polytope;

/// Moves that a local search may take in one layer before it goes further in; more than one,
/// because going in has to be paid for on the way out again. Chosen, not measured.
const LOCAL_MOVES: u32 = 3;

/// The supporting vertex, proven, layer by layer from the innermost (Li et al. 2001, §8.1): the one
/// of a layer is that of the next inner layer or a neighbour of it, because the vertices removed
/// between them are not neighbours of each other.
pub fn by_hierarchy(body: &Polytope, direction: &Vec3, effort: &mut Effort<'_>) -> u32 {
    effort.cost.supports += 1;
    let Some(along) = Along::new(body, direction) else { return 0 };
    let innermost = body.hierarchy().height() - 1;
    let start = outwards(body, along.rounded(), innermost, 0, effort);
    along.climb(start, effort)
}

/// The supporting vertex, proven, from a hint (Li et al. 2001, §8.4): a local search on layer 0; if
/// it takes too long, on layer 1, and so on until one succeeds, and from there out again. The cost
/// grows with the logarithm of the distance from the hint. The hint may be any number.
pub fn coherently(body: &Polytope, direction: &Vec3, hint: u32, effort: &mut Effort<'_>) -> u32 {
    effort.cost.supports += 1;
    let Some(along) = Along::new(body, direction) else { return 0 };
    let g = along.rounded();
    let hint = if hint < body.vertex_count() { hint } else { 0 };
    let start = inwards(body, g, hint, effort);
    along.climb(start, effort)
}

/// From a vertex of layer 0 inwards until a local search succeeds, then out again.
fn inwards(body: &Polytope, g: &Vec3, vertex: u32, effort: &mut Effort<'_>) -> u32 {
    let layers = body.hierarchy().layers();
    let mut vertex = vertex;
    for (depth, layer) in layers.iter().enumerate() {
        let (best, finished) = climb(LayerGraph { body, layer }, g, vertex, LOCAL_MOVES, effort);
        match layer.vertex_inward(best) {
            Some(inward) if !finished => {
                vertex = inward;
                effort.cost.layers += 1;
            }
            _ => return outwards(body, g, depth, best, effort),
        }
    }
    vertex
}

/// From a vertex of layer `depth` outwards: climbs in each layer, in floating point, to layer 0.
fn outwards(body: &Polytope, g: &Vec3, depth: usize, vertex: u32, effort: &mut Effort<'_>) -> u32 {
    let layers = body.hierarchy().layers();
    let mut vertex = vertex;
    effort.cost.layers += depth as u64;
    for layer in layers[..=depth].iter().rev() {
        (vertex, _) = climb(LayerGraph { body, layer }, g, vertex, u32::MAX, effort);
        vertex = layer.vertex_outward(vertex).unwrap_or(vertex);
    }
    vertex
}

/// The graph of a layer of a body.
#[derive(Clone, Copy)]
struct LayerGraph<'a> {
    body: &'a Polytope,
    layer: &'a Layer,
}

/// Steepest climb along `g` on the graph of a layer, at most `moves` moves; whether it reached a
/// top.
fn climb(
    LayerGraph { body, layer }: LayerGraph<'_>,
    g: &Vec3,
    start: u32,
    moves: u32,
    effort: &mut Effort<'_>,
) -> (u32, bool) {
    let value_of = |vertex: u32| kernel::along(g, body.vertex(layer.body_vertex(vertex)));
    let (mut vertex, mut value) = (start, value_of(start));
    for _ in 0..moves {
        let before = vertex;
        let neighbours = layer.neighbours(before);
        effort.cost.visited += neighbours.len() as u64;
        for &next in neighbours {
            let there = value_of(next);
            if there > value {
                (vertex, value) = (next, there);
            }
        }
        if vertex == before {
            return (vertex, true);
        }
    }
    (vertex, false)
}
