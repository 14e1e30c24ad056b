//! That three vertices are of one facet, known without numbers.

use super::are_of_one_facet;
use crate::hull::samples::octahedron;
use crate::samples::{cuboid, hull};

/// Facets beside a facet may be in its plane but for rounding; then more than two neighbours of a
/// corner are not surely below, and the one that is tells the side all the same.
#[test]
fn one_neighbour_surely_below_is_enough_for_three_vertices_of_a_facet() {
    for body in [hull(&octahedron(1.0)), cuboid(1.0, 2.0, 3.0)] {
        for facet in body.facets().rows() {
            for turn in 0..facet.len() {
                let corner = |k: usize| facet[(turn + k) % facet.len()];
                let three = [corner(0), corner(1), corner(2)];
                let ring = body.neighbours(three[0]);
                let beyond: Vec<u32> =
                    ring.iter().copied().filter(|next| !facet.contains(next)).collect();
                assert!(!beyond.is_empty());
                for below in beyond {
                    assert!(are_of_one_facet(&body, &three, |next| *next == below));
                }
                assert!(!are_of_one_facet(&body, &three, |_| false), "nothing tells the side");
            }
        }
    }
}

#[test]
fn three_vertices_of_no_facet_are_of_none() {
    let body = hull(&octahedron(1.0));
    for first in 0..6 {
        let ring = body.neighbours(first);
        // The first and the third around a vertex are opposite.
        assert!(!are_of_one_facet(&body, &[first, ring[0], ring[2]], |next| *next == ring[1]));
    }
}
