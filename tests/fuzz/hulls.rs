//! Hulls: the validator proves them, they hold what was given, and the order does not matter.

use clearance_bodies::ContentId;
use clearance_geometry::hull::samples::Random;
use clearance_geometry::hull::{HullError, convex_hull};

use crate::bodies::points;
use crate::bytes::Bytes;
use crate::engine::{Behaviour, Target};

pub(crate) const TARGET: Target = Target { name: "hulls", seeds: Vec::new, reshape: None, check };

fn check(input: &[u8]) -> Behaviour {
    let bytes = &mut Bytes::new(input);
    let mut behaviour = Behaviour::default();
    let mut given = points(bytes, 48);
    if bytes.flag() {
        given.extend(points(bytes, 48));
    }
    let hull = match convex_hull(&given) {
        Ok(hull) => hull,
        Err(HullError::BadPoint { index }) => {
            let is_good = given[index].iter().all(|x| x.abs() <= 2f64.powi(960));
            assert!(!is_good, "point {index} of {given:?} is allowed");
            return behaviour;
        }
        Err(error) => panic!("{error}: {given:?}"),
    };
    let polytope = &hull.polytope;
    if let Err(defect) = polytope.validate(&given) {
        panic!("{defect}: {given:?}");
    }
    let (id, vertices) = (ContentId::of_polytope(polytope), polytope.vertices());
    for (point, vertex) in given.iter().zip(&hull.vertex_of_given) {
        let found = vertices.iter().position(|known| known == point);
        assert_eq!(vertex.map(|v| v as usize), found, "{point:?} of {given:?}");
    }

    let again = convex_hull(vertices).expect("vertices are allowed").polytope;
    assert_eq!(ContentId::of_polytope(&again), id, "the hull of the vertices of {given:?}");
    assert_eq!(again.facets(), polytope.facets(), "{given:?}");
    let mut random = Random::new(given.len() as u64);
    for at in (1..given.len()).rev() {
        given.swap(at, random.below(at as u64 + 1) as usize);
    }
    let shuffled = convex_hull(&given).expect("the same points").polytope;
    assert_eq!(ContentId::of_polytope(&shuffled), id, "another order of {given:?}");
    assert_eq!(shuffled.facets(), polytope.facets(), "another order of {given:?}");

    behaviour.note(polytope.dimension().into(), 4);
    behaviour.amount(vertices.len() as u64);
    behaviour.amount(polytope.facets().len() as u64);
    behaviour.amount((given.len() - hull.vertex_of_given.iter().flatten().count()) as u64);
    let widest = (0..polytope.facets().len()).map(|f| polytope.facets().row(f as u32).len()).max();
    behaviour.amount(widest.unwrap_or(0) as u64);
    behaviour
}
