//! Whether certificates of edges are about the pairs that they are said to be about.

use super::EdgeRefusal;
use crate::claim::{Coverage, EdgeSubject, LeftOutPair};

/// Checks which pairs are said to be covered, and which ones left out by which rule.
pub fn judge_coverage(subject: &EdgeSubject<'_>, told: &Coverage) -> Result<(), EdgeRefusal> {
    let refused = |why: String| Err(EdgeRefusal::Coverage(why));
    let needed = subject.pairs.len();
    if told.covered != needed as u64 {
        return refused(format!("{} are said to be, and {needed} need a check", told.covered));
    }
    let (said, known) = (&told.left_out, &subject.left_out);
    let unlike = said.iter().zip(known).position(|(said, known)| said != known);
    let Some(at) = unlike.or((said.len() != known.len()).then(|| said.len().min(known.len())))
    else {
        return Ok(());
    };
    match (said.get(at), known.get(at)) {
        (Some(LeftOutPair { bodies, .. }), Some(known)) if *bodies == known.bodies => {
            refused(format!("{bodies:?} is left out by another rule"))
        }
        (Some(LeftOutPair { bodies, .. }), Some(known)) if *bodies > known.bodies => {
            refused(format!("{:?} is left out, and it is not said", known.bodies))
        }
        (Some(LeftOutPair { bodies, .. }), _) => {
            refused(format!("{bodies:?} is said to be left out, and is not, or is out of order"))
        }
        (None, Some(known)) => {
            refused(format!("{:?} is left out, and it is not said", known.bodies))
        }
        (None, None) => Ok(()),
    }
}
