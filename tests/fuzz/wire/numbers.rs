//! Every number of every message that the scripts send, replaced by one that is none: whoever sends
//! it is told which field it was. The places of the numbers come from the descriptor.

use std::collections::BTreeSet;

use super::interface::{Interface, JUDGED, refused_of};
use super::{METHODS, read, seeds};

/// Fields whose place is told by the one that they are in: coordinates of a vector, entries of a
/// list of points.
const OF_THE_WHOLE: [&str; 6] = ["x", "y", "z", "w", "xyz", "rows"];

#[test]
fn every_number_that_is_none_is_refused_with_the_path_of_its_field() {
    let interface = Interface::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (mut tried, mut fields) = (0, BTreeSet::new());
    for script in seeds::scripts() {
        let calls = read(&script);
        for (changed, (method, message)) in calls.iter().enumerate() {
            let name = METHODS[usize::from(*method)].0;
            let mut numbers = Vec::new();
            interface.numbers(&interface.requests[name], message, 0, &mut numbers);
            for (place, field) in &numbers {
                for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                    let mut calls = calls.clone();
                    calls[changed].1[*place..place + 8].copy_from_slice(&wrong.to_le_bytes());
                    let told = runtime.block_on(refused_of(&calls, changed));
                    let names_it = |path: &String| {
                        let is_whole = OF_THE_WHOLE.contains(&&**field) && !path.is_empty();
                        is_whole || path == JUDGED || path.contains(&**field)
                    };
                    assert!(
                        told.iter().any(names_it),
                        "{name}: {field} = {wrong} at {place}: told {told:?}"
                    );
                    tried += 1;
                }
                fields.insert(field.clone());
            }
        }
    }
    assert!(tried > 500 && fields.len() > 15, "{tried}: {fields:?}");
}
