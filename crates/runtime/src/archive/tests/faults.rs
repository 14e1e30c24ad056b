//! A disk that fails, tears and forgets, below the file: at every step of what a server does with
//! it. Whatever was acknowledged is there afterwards, and the rest is there as a whole or not at
//! all.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use super::*;

/// Sectors that a disk writes as a whole.
const SECTOR: usize = 512;

/// What becomes of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is not done, and what follows is.
    Once,
    /// It is not done, and nothing that follows is.
    ForGood,
    /// A part of it is done, and nothing that follows is.
    Torn,
}

/// What whoever begins anew finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    /// The process died: the system has all that was written.
    OfProcess,
    /// Power was lost: there is what was synced, and what of the rest was just on its way.
    OfPower,
}

#[derive(Debug)]
enum Written {
    Bytes(usize, Vec<u8>),
    Length(usize),
}

#[derive(Debug, Default)]
struct DiskState {
    /// What the system has.
    now: Vec<u8>,
    /// What outlives a loss of power.
    synced: Vec<u8>,
    /// What was written since, in order.
    pending: Vec<Written>,
    steps: usize,
    fault: Option<(usize, Fault)>,
    has_failed: bool,
}

/// A file on such a disk. Clones are the same one.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<DiskState>>);

impl Written {
    fn apply(&self, file: &mut Vec<u8>) {
        match self {
            Self::Length(length) => file.resize(*length, 0),
            Self::Bytes(at, bytes) => {
                let end = at + bytes.len();
                if file.len() < end {
                    file.resize(end, 0);
                }
                file[*at..end].copy_from_slice(bytes);
            }
        }
    }
}

impl Disk {
    fn of(bytes: Vec<u8>) -> Self {
        let state = DiskState { now: bytes.clone(), synced: bytes, ..DiskState::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    fn failing(at: usize, fault: Fault) -> Self {
        let disk = Self::default();
        disk.state().fault = Some((at, fault));
        disk
    }

    fn state(&self) -> MutexGuard<'_, DiskState> {
        self.0.lock().unwrap()
    }

    /// Whether the step is done, or how it is not.
    fn step(&self) -> Result<MutexGuard<'_, DiskState>, (MutexGuard<'_, DiskState>, Fault)> {
        let mut state = self.state();
        let here = state.steps;
        state.steps += 1;
        match state.fault {
            Some((at, fault)) if here == at => {
                state.has_failed = true;
                Err((state, fault))
            }
            Some((_, fault)) if state.has_failed && fault != Fault::Once => {
                Err((state, Fault::ForGood))
            }
            Some(_) | None => Ok(state),
        }
    }

    /// The file as it is found by whoever begins anew.
    fn after(&self, death: Death, seed: u64) -> Vec<u8> {
        let state = self.state();
        if death == Death::OfProcess {
            return state.now.clone();
        }
        let (mut file, mut seed) = (state.synced.clone(), seed);
        for written in &state.pending {
            let draw = next(&mut seed);
            match written {
                Written::Bytes(at, bytes) if draw.is_multiple_of(4) => {
                    // The sectors of one write are written in any order.
                    for (k, sector) in bytes.chunks(SECTOR).enumerate() {
                        if next(&mut seed).is_multiple_of(2) {
                            Written::Bytes(at + k * SECTOR, sector.to_vec()).apply(&mut file);
                        }
                    }
                }
                Written::Bytes(..) | Written::Length(_) if draw % 4 < 3 => written.apply(&mut file),
                Written::Bytes(..) | Written::Length(_) => {}
            }
        }
        file
    }
}

/// The next of a row of numbers that look random (splitmix64).
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn broken() -> io::Error {
    io::Error::other("the disk was told to fail")
}

impl redb::StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.state().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.step().map_err(|_| broken())?;
        let at = usize::try_from(offset).unwrap();
        let found = state.now.get(at..at + out.len());
        out.copy_from_slice(found.ok_or_else(|| io::Error::other("beyond the end"))?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.step().map_err(|_| broken())?;
        let written = Written::Length(usize::try_from(len).unwrap());
        written.apply(&mut state.now);
        state.pending.push(written);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.step().map_err(|_| broken())?;
        state.synced = state.now.clone();
        state.pending.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let at = usize::try_from(offset).unwrap();
        let (mut state, bytes, done) = match self.step() {
            Ok(state) => (state, data, Ok(())),
            Err((state, Fault::Torn)) => (state, &data[..data.len() / 2], Err(broken())),
            Err((_, Fault::Once | Fault::ForGood)) => return Err(broken()),
        };
        let written = Written::Bytes(at, bytes.to_vec());
        written.apply(&mut state.now);
        state.pending.push(written);
        done
    }
}

/// What a client was told, and what it asked for last.
#[derive(Debug, Default)]
struct Told {
    registered: Vec<ContentId>,
    deleted: Option<ContentId>,
    alias: Option<ContentId>,
    /// What was being done when the disk failed: registered, or deleted.
    asked: Vec<ContentId>,
}

fn id_of(x: f64) -> ContentId {
    point(x, "").stored.id
}

/// Registers, moves an alias and deletes, until the disk fails or all is done.
fn work(disk: &Disk, rounds: u8) -> Told {
    let mut told = Told::default();
    let Ok(archive) = RedbArchive::over(disk.clone()) else { return told };
    let archive: Arc<dyn Archive> = Arc::new(archive);
    let Some(server) = Server::begun(archive) else { return told };
    for round in 0..rounds {
        let [one, two] = [f64::from(round), f64::from(round) + 0.5];
        told.asked = vec![id_of(one), id_of(two)];
        let Ok(ids) = server.register(vec![point(one, "last"), point(two, "")]) else {
            return told;
        };
        told.alias = Some(ids[0]);
        told.registered.extend(ids);
        told.asked.clear();
        if round == 1 {
            let gone = told.registered[1];
            told.asked = vec![gone];
            if server.bodies.delete(&gone, &[]).is_err() {
                return told;
            }
            told.registered.remove(1);
            (told.deleted, told.asked) = (Some(gone), Vec::new());
        }
    }
    told
}

/// Begins anew with what the disk has, and compares with what was told.
fn look(file: Vec<u8>, told: &Told, when: &str) {
    let archive = match RedbArchive::over(Disk::of(file)) {
        Ok(archive) => Arc::new(archive),
        // A file that was not made to the end may be refused: nobody was told of anything in it.
        Err(_) if told.asked.is_empty() && told.registered.is_empty() => return,
        Err(error) => panic!("{when}: {error}"),
    };
    let server = Server::on(archive);
    let knows = |id: &ContentId| server.bodies.knows(id);
    for id in told.registered.iter().filter(|id| !told.asked.contains(id)) {
        let found = server.bodies.find(id).unwrap();
        assert_eq!(found.map(|found| found.id), Some(*id), "{when}: an acknowledged body is lost");
    }
    assert!(!told.deleted.is_some_and(|id| knows(&id)), "{when}: what was deleted is back");
    let alias = server.bodies.resolve("last");
    let moved = told.asked.iter().take(1).filter(|_| told.asked.len() == 2).copied();
    let may = told.alias.into_iter().chain(moved);
    let is_there = may.clone().any(|id| alias == Some(id));
    assert!(is_there || (alias.is_none() && told.alias.is_none()), "{when}: {alias:?}");
    if let [one, two] = told.asked[..] {
        assert_eq!(knows(&one), knows(&two), "{when}: half of a registration is there");
        assert_eq!(knows(&one), alias == Some(one), "{when}: the alias is not as its body");
    }
    let set_aside = server.keeper.metrics().set_aside.load(Ordering::Relaxed);
    assert_eq!(set_aside, 0, "{when}: a row is damaged");
    server.register(vec![point(-7.0, "last")]).unwrap_or_else(|error| panic!("{when}: {error}"));
    assert_eq!(server.bodies.resolve("last"), Some(id_of(-7.0)), "{when}");
}

#[test]
fn whatever_step_of_the_disk_fails_nothing_acknowledged_is_lost() {
    const ROUNDS: u8 = 4;
    let whole = Disk::default();
    let told = work(&whole, ROUNDS);
    assert_eq!(told.registered.len(), 2 * usize::from(ROUNDS) - 1);
    look(whole.after(Death::OfProcess, 0), &told, "without a fault");
    let steps = whole.state().steps;
    assert!(steps > 60, "{steps} steps only");
    for at in 0..steps {
        for fault in [Fault::Once, Fault::ForGood, Fault::Torn] {
            let disk = Disk::failing(at, fault);
            let told = work(&disk, ROUNDS);
            assert!(disk.state().has_failed, "{at} of {steps}: {fault:?}");
            let when = |death: Death| format!("step {at} of {steps}, {fault:?}, {death:?}");
            let died = Death::OfProcess;
            look(disk.after(died, 0), &told, &when(died));
            for seed in 0..3 {
                let died = Death::OfPower;
                look(disk.after(died, seed + 10 * at as u64), &told, &when(died));
            }
        }
    }
}
