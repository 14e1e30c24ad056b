//! The same laws for methods that were asked for by name, one for each question.

use super::*;
use crate::Chosen;
use clearance_geometry::until::Until;
use clearance_geometry::{contact_time, distance, penetration};

/// Each has a witness of its own for each pair, which any history may rewrite, too.
#[test]
fn no_witness_changes_what_a_session_of_named_methods_is_told() {
    let mut seen = Seen::default();
    let verdicts = METHODS.iter().map(Chosen::named).cycle();
    let first_contact =
        contact_time::METHODS.iter().find(|method| method.name == "linear_program").unwrap();
    let ranges = penetration::METHODS.iter().map(Chosen::named).cycle();
    for ((method, verdict), along) in distance::METHODS.iter().zip(verdicts).zip(ranges) {
        let methods = Methods {
            verdict,
            distance: Chosen::named(method),
            first_contact: Chosen::named(first_contact),
            along,
        };
        every_history_agrees(methods, &crowd(4, 58), 2, &mut seen);
    }
    seen.is_everything();
}

/// Prisms answer what only translates.
#[test]
fn no_witness_changes_what_a_session_of_prisms_is_told() {
    let prism = contact_time::METHODS.iter().find(|method| method.name == "prism").unwrap();
    let methods = Methods { first_contact: Chosen::named(prism), ..Methods::default() };
    let declaration = Declaration { bodies: tumbling(8, 54), ..Declaration::default() };
    let mut random = Random(55);
    let [mut by_prism, mut by_default] = [methods, Methods::default()].map(|methods| {
        let mut scene = Scene::open(declaration.clone(), methods, LIMITS).unwrap();
        scene.answer(&everything(), &Serial, Until::never()).unwrap();
        scene
    });
    let mut outcomes = [0; 3];
    for id in 1..=12 {
        let way = |body: &Body, random: &mut Random| {
            let translation = body.pose.translation + random.vector();
            moved(body.id.0, Pose { translation, ..body.pose })
        };
        let moves = by_prism.bodies().map(|body| way(body, &mut random)).collect();
        let next = frame(id, moves);
        match id % 3 {
            0 => by_prism.forget_witnesses(),
            1 => every_witness(&mut by_prism, |place| *place = hostile(&mut random)),
            _ => {}
        }
        let expected = step(&mut by_default, &next, &everything());
        let found = step(&mut by_prism, &next, &everything());
        for (a, b) in found.pairs.iter().zip(&expected.pairs) {
            agree(a, b, &format!("frame {id}"));
            outcomes[a.first_contact.as_ref().unwrap().outcome as usize] += 1;
        }
    }
    assert!(outcomes[Outcome::Contact as usize] > 20, "{outcomes:?}");
    assert!(outcomes[Outcome::NoContact as usize] > 20, "{outcomes:?}");
}

/// Named methods keep what they remember beside the shared witness, and only they.
#[test]
fn a_pair_is_larger_only_where_methods_are_named() {
    assert!(size_of::<PairState>() <= 384, "{}", size_of::<PairState>());
    let bytes = |methods: Methods| {
        let declaration = Declaration { bodies: tumbling(6, 50), ..Declaration::default() };
        let mut scene = Scene::open(declaration, methods, LIMITS).unwrap();
        scene.answer(&everything(), &Serial, Until::never()).unwrap();
        let (bytes, mut named) = (scene.table.bytes(), 0);
        scene.table.rewrite(|state| named += u32::from(state.cost_of_each.is_some()));
        (bytes, named)
    };
    let (plain, none) = bytes(Methods::default());
    let h_walk = distance::METHODS.iter().find(|method| method.name == "h_walk").unwrap();
    let (named, all) = bytes(Methods { distance: Chosen::named(h_walk), ..Methods::default() });
    assert!(none == 0 && all > 0 && named > plain + 256, "{named} and {plain} bytes");
}
