//! An alias that many move at once: what is read could have been, had one done after the other.

use std::sync::Mutex;
use std::time::Instant;

use super::*;

/// From when to when something was done.
#[derive(Clone, Copy, Debug)]
pub(super) struct During {
    begin: Instant,
    end: Instant,
}

/// All that was done with one value of the alias: the move to it, and what read it.
#[derive(Clone, Debug)]
pub(super) struct OfValue {
    written: During,
    all: Vec<During>,
}

/// Why a history of one register is none that could have been, if it is so. Every value is written
/// once; after Gibbons and Korach (1997), what is done with one value is a zone from the first end
/// to the last beginning, forward if that is later, and then two forward zones may not overlap, nor
/// a backward one lie inside a forward one.
pub(super) fn fault(history: &BTreeMap<ContentId, OfValue>) -> Option<String> {
    let (mut forward, mut backward) = (Vec::new(), Vec::new());
    for (id, of) in history {
        let first_end = of.all.iter().map(|done| done.end).min()?;
        let last_begin = of.all.iter().map(|done| done.begin).max()?;
        if of.all.iter().any(|done| done.end < of.written.begin) {
            return Some(format!("{id} was read before anybody wrote it"));
        }
        if first_end < last_begin {
            forward.push((first_end, last_begin, *id));
        } else {
            backward.push((last_begin, first_end, *id));
        }
    }
    forward.sort();
    for pair in forward.windows(2) {
        if pair[1].0 < pair[0].1 {
            return Some(format!("{} and {} were both the last one", pair[0].2, pair[1].2));
        }
    }
    for (begin, end, id) in backward {
        let before = forward.partition_point(|zone| zone.0 < begin);
        if let Some(zone) = before.checked_sub(1).map(|k| forward[k])
            && end < zone.1
        {
            return Some(format!("{id} was passed over while {} was the last one", zone.2));
        }
    }
    None
}

/// What eight writers, each with so many moves, did with one alias on one of these servers, and
/// what they read between.
pub(super) fn history(servers: &[Server], moves: u32) -> BTreeMap<ContentId, OfValue> {
    let (written, read) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for writer in 0..8_u32 {
            let (written, read) = (&written, &read);
            let server = &servers[writer as usize % servers.len()];
            scope.spawn(move || {
                for k in 0..moves {
                    let one = point(f64::from(writer * moves + k), "it");
                    let id = one.stored.id;
                    let begin = Instant::now();
                    server.register(vec![one]).unwrap();
                    written.lock().unwrap().push((id, During { begin, end: Instant::now() }));
                    let begin = Instant::now();
                    let found = server.bodies.resolve("it").unwrap();
                    read.lock().unwrap().push((found, During { begin, end: Instant::now() }));
                }
            });
        }
    });
    let written = written.into_inner().unwrap().into_iter();
    let of = |(id, done)| (id, OfValue { written: done, all: vec![done] });
    let mut history: BTreeMap<_, _> = written.map(of).collect();
    assert_eq!(history.len(), 8 * moves as usize);
    for (id, done) in read.into_inner().unwrap() {
        history.get_mut(&id).expect("it was written").all.push(done);
    }
    history
}

/// Has an alias moved so often on these servers, of one archive; what is there afterwards is read
/// as one more reader would.
pub(super) fn are_linearizable(servers: &[Server], archive: Arc<dyn Archive>, moves: u32) {
    let mut history = history(servers, moves);
    let begin = Instant::now();
    let last = Server::on(archive).bodies.resolve("it").unwrap();
    let done = During { begin, end: Instant::now() };
    history.get_mut(&last).unwrap().all.push(done);
    assert_eq!(fault(&history), None);
    for server in servers {
        assert_eq!(server.bodies.resolve("it"), Some(last));
    }
}

/// With the file's format and without.
#[test]
fn eight_writers_by_a_thousand_moves_of_an_alias_are_linearizable() {
    let file = RedbArchive::over(redb::backends::InMemoryBackend::new()).unwrap();
    let both: [Arc<dyn Archive>; 2] = [Arc::new(MemoryArchive::default()), Arc::new(file)];
    for archive in both {
        are_linearizable(&[Server::on(archive.clone())], archive, 1_000);
    }
}

/// The checker is none that lets all through.
#[test]
fn histories_that_could_not_have_been_are_found() {
    let archive: Arc<dyn Archive> = Arc::new(MemoryArchive::default());
    let good = history(&[Server::on(archive)], 20);
    assert_eq!(fault(&good), None);
    let by_end = |history: &BTreeMap<ContentId, OfValue>| {
        let mut all: Vec<_> = history.iter().map(|(id, of)| (of.written.end, *id)).collect();
        all.sort();
        all
    };
    let order = by_end(&good);
    // Somebody reads, at the very end, what was overwritten long ago.
    let mut stale = good.clone();
    let now = Instant::now();
    stale.get_mut(&order[3].1).unwrap().all.push(During { begin: now, end: now });
    assert!(fault(&stale).is_some_and(|why| why.contains("passed over") || why.contains("both")));
    // Somebody reads what nobody has written yet.
    let mut early = good.clone();
    let begin = order[0].0;
    let late = order[order.len() - 1].1;
    early.get_mut(&late).unwrap().all.push(During { begin, end: begin });
    assert!(fault(&early).is_some_and(|why| why.contains("before anybody")));
    // Two readers after the end, who do not agree.
    let mut torn = good;
    for (k, (_, id)) in [order[order.len() - 1], order[order.len() - 30]].into_iter().enumerate() {
        let at = now + Duration::from_millis(1 + k as u64);
        torn.get_mut(&id).unwrap().all.push(During { begin: at, end: at });
    }
    assert!(fault(&torn).is_some());
}
