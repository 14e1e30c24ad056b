//! What the pool promises those who wait for it.

use std::collections::HashSet;
use std::sync::{Barrier, mpsc};
use std::thread::{ThreadId, current};

use super::*;

fn client(text: &str) -> Client {
    Client::at(text.parse().unwrap())
}

const LONG: JobSize = JobSize::UNKNOWN;

/// A job that looks at nothing.
fn small() -> JobSize {
    JobSize::of(Counted::all_of(0), Duration::ZERO)
}

/// A job that runs until it is told to end; it says when it has begun.
fn held() -> (impl FnOnce() + Send + 'static, mpsc::Sender<()>, oneshot::Receiver<()>) {
    let (end, ending) = mpsc::channel();
    let (begin, begun) = oneshot::channel();
    let job = move || {
        let _ = begin.send(());
        // Dropping the sender ends it too.
        let _ = ending.recv();
    };
    (job, end, begun)
}

/// Fails a test that would hang.
async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), what).await.expect("soon")
}

async fn until(mut is_so: impl FnMut() -> bool) {
    soon(async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_panicking_job_is_refused_and_the_pool_goes_on() {
    let compute = Compute::new(1, 1).unwrap();
    for load in [small(), LONG] {
        let panicked: Result<(), Refused> =
            compute.run(load, || panic!("a bug, for the test")).await;
        assert_eq!(panicked, Err(Refused::Panicked));
        assert_eq!(compute.run(load, || 7).await, Ok(7));
    }
    assert_eq!(compute.jobs(), 0);
}

#[tokio::test]
async fn a_full_pool_refuses_at_once_lets_streams_wait_and_does_small_work() {
    let compute = Compute::new(1, 1).unwrap();
    let (job, end, begun) = held();
    let first = tokio::spawn({
        let compute = compute.clone();
        async move { compute.run(LONG, job).await }
    });
    soon(begun).await.unwrap();
    assert_eq!(compute.run(LONG, || ()).await, Err(Refused::Busy));
    assert_eq!(compute.run(small(), || 3).await, Ok(3));
    let waiter = tokio::spawn({
        let compute = compute.clone();
        async move { compute.run_when_free(LONG, || 2).await }
    });
    until(|| compute.jobs() == 2).await;
    drop(end);
    assert_eq!(soon(first).await.unwrap(), Ok(()));
    assert_eq!(soon(waiter).await.unwrap(), Ok(2));
}

#[tokio::test]
async fn whoever_hears_an_answer_finds_the_place_free() {
    let compute = Compute::new(2, 1).unwrap();
    for round in 0..200 {
        assert_eq!(compute.run(LONG, move || round).await, Ok(round));
    }
}

#[tokio::test]
async fn whoever_stops_waiting_leaves_the_line() {
    let compute = Compute::new(1, 3).unwrap();
    let (job, end, begun) = held();
    let first = tokio::spawn({
        let compute = compute.clone();
        async move { compute.run(LONG, job).await }
    });
    soon(begun).await.unwrap();
    let waiters: Vec<_> = (0..2)
        .map(|_| {
            let compute = compute.clone();
            tokio::spawn(async move { compute.run(LONG, || ()).await })
        })
        .collect();
    until(|| compute.jobs() == 3).await;
    assert_eq!(compute.run(LONG, || ()).await, Err(Refused::Busy));
    waiters.iter().for_each(tokio::task::JoinHandle::abort);
    until(|| compute.jobs() == 1).await;
    drop(end);
    assert_eq!(soon(first).await.unwrap(), Ok(()));
}

/// One connection held all 256 places, and everybody else was refused.
#[tokio::test]
async fn one_clients_many_jobs_give_way_to_anothers_few_and_these_overtake_long_ones() {
    let compute = Compute::new(1, 8).unwrap();
    let (greedy, other) = (client("10.0.0.1:1"), client("10.0.0.1:2"));
    let (job, end, begun) = held();
    let ask = |client: Client, job: Box<dyn FnOnce() + Send>| {
        let compute = compute.clone();
        tokio::spawn(client.around(async move { compute.run(LONG, job).await }))
    };
    let first = ask(greedy, Box::new(job));
    soon(begun).await.unwrap();
    let many: Vec<_> = (0..8).map(|_| ask(greedy, Box::new(|| ()))).collect();
    until(|| many.iter().filter(|asked| asked.is_finished()).count() == 1).await;
    // The one worker is taken for as long as the test lasts.
    assert_eq!(soon(ask(other, Box::new(|| ()))).await.unwrap(), Ok(()));
    until(|| many.iter().filter(|asked| asked.is_finished()).count() == 2).await;
    drop(end);
    assert_eq!(soon(first).await.unwrap(), Ok(()));
    let mut refused = 0;
    for asked in many {
        refused += usize::from(soon(asked).await.unwrap() == Err(Refused::Busy));
    }
    // The ninth found no place, and another gave way.
    assert_eq!((refused, compute.jobs()), (2, 0));
}

/// Ten connections with long jobs had every thread, and a question of another address waited for
/// three seconds.
#[tokio::test]
async fn connections_of_one_address_leave_threads_to_another() {
    let compute = Compute::new(1, 64).unwrap();
    let ask = |client: Client, job: Box<dyn FnOnce() + Send>| {
        let compute = compute.clone();
        tokio::spawn(client.around(async move { compute.run(LONG, job).await }))
    };
    let mut ends = Vec::new();
    for address in 1..=3 {
        for port in 1..=10 {
            let (job, end, _) = held();
            drop(ask(client(&format!("10.0.0.{address}:{port}")), Box::new(job)));
            ends.push(end);
        }
        // As many as may have begun.
        let begun = [1 + 3, 1 + 3 + 2, 1 + 3 + 2 + 1][address - 1];
        until(|| compute.jobs() - compute.0.queues().line.count() == begun).await;
        let other = client(&format!("10.0.1.{address}:1"));
        assert_eq!(soon(ask(other, Box::new(|| ()))).await.unwrap(), Ok(()));
    }
    drop(ends);
    until(|| compute.jobs() == 0).await;
    assert!(compute.0.queues().overtaking_of.is_empty());
}

/// The threads that do the parts of a job.
fn threads_of(compute: &Compute, count: usize) -> HashSet<ThreadId> {
    let seen = Mutex::new(HashSet::new());
    compute.share(count, |_| {
        seen.lock().unwrap().insert(current().id());
        std::thread::yield_now();
    });
    seen.into_inner().unwrap()
}

#[tokio::test]
async fn every_part_of_a_job_is_done_once_and_on_as_many_threads_as_are_idle() {
    let compute = Compute::new(3, 8).unwrap();
    let asked = compute.clone();
    let job = move || {
        let (all, met) = (Mutex::new(Vec::new()), Barrier::new(3));
        asked.share(100, |number| {
            // Three threads at once, or the first parts never end.
            if number < 3 {
                met.wait();
            }
            all.lock().unwrap().push(number);
        });
        let mut all = all.into_inner().unwrap();
        all.sort_unstable();
        all
    };
    assert_eq!(soon(compute.run(LONG, job)).await, Ok((0..100).collect()));
    // A panic in a part is the job's own, and the helpers go on.
    let asked = compute.clone();
    let panicked = compute.run(LONG, move || asked.share(9, |number| assert!(number < 5)));
    assert_eq!(soon(panicked).await, Err(Refused::Panicked));
    until(|| compute.0.queues().helping == 0).await;
    let alone = Compute::new(1, 8).unwrap();
    let asked = alone.clone();
    assert_eq!(alone.run(LONG, move || threads_of(&asked, 100).len()).await, Ok(1));
}

#[tokio::test]
async fn helpers_leave_processors_to_the_jobs_of_others() {
    let compute = Compute::new(2, 8).unwrap();
    let (other, end, begun) = held();
    let ask = |job: Box<dyn FnOnce() + Send>| {
        let compute = compute.clone();
        tokio::spawn(async move { compute.run(LONG, job).await })
    };
    // A helper is at work when the job of another begins; it leaves after its part.
    let (met, begins) = (Barrier::new(2), std::sync::Arc::new(Barrier::new(2)));
    let (asked, starts) = (compute.clone(), begins.clone());
    let shared = tokio::spawn({
        let compute = compute.clone();
        async move {
            let job = move || {
                let late = Mutex::new(HashSet::new());
                asked.share(300, |number| {
                    if number < 2 {
                        met.wait();
                        if number == 0 {
                            starts.wait();
                        }
                        met.wait();
                    } else {
                        late.lock().unwrap().insert(current().id());
                        std::thread::yield_now();
                    }
                });
                late.into_inner().unwrap().len()
            };
            compute.run(LONG, job).await
        }
    });
    until(|| compute.0.queues().helping == 1).await;
    let taken = ask(Box::new(other));
    soon(begun).await.unwrap();
    begins.wait();
    assert_eq!(soon(shared).await.unwrap(), Ok(1));
    // And none comes while it runs.
    let asked = compute.clone();
    assert_eq!(compute.run(LONG, move || threads_of(&asked, 300).len()).await, Ok(1));
    drop(end);
    assert_eq!(soon(taken).await.unwrap(), Ok(()));
}

/// By how much this thread gives way: the nineteenth field of its *stat* (proc(5)).
#[cfg(target_os = "linux")]
fn niceness() -> i32 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    after_name.split_whitespace().nth(16).unwrap().parse().unwrap()
}

/// Threads that speak to clients waited for up to 50 ms until those that compute had paused.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn threads_that_compute_give_way_to_those_that_speak() {
    let compute = Compute::new(1, 4).unwrap();
    let usual = niceness();
    let in_pool = compute.run(LONG, niceness).await.unwrap();
    assert!(in_pool > usual, "{in_pool} beside {usual}");
    assert_eq!(compute.run(small(), niceness).await.unwrap(), usual, "here");
}

/// A frame waited for 20 s behind a question of its own client to the scene that it moves.
#[tokio::test]
async fn a_job_that_has_a_session_out_overtakes_the_long_ones_of_its_own_client() {
    let compute = Compute::new(1, 8).unwrap();
    let own = client("10.0.0.1:1");
    let ask = |job: Box<dyn FnOnce() + Send>, has_session: bool| {
        let compute = compute.clone();
        tokio::spawn(own.around(async move {
            if has_session {
                compute.run_with_session(false, job).await
            } else {
                compute.run(LONG, job).await
            }
        }))
    };
    let (job, end, begun) = held();
    let question = ask(Box::new(job), false);
    soon(begun).await.unwrap();
    // The one worker is taken for as long as the question lasts.
    let (frame, end_frame, begun) = held();
    let frame = ask(Box::new(frame), true);
    soon(begun).await.unwrap();
    // Neither another question nor another session of the client overtakes a frame of its own.
    let others = [ask(Box::new(|| ()), false), ask(Box::new(|| ()), true)];
    tokio::time::sleep(3 * PATIENCE_AGAIN).await;
    assert!(others.iter().all(|other| !other.is_finished()));
    drop(end_frame);
    assert_eq!(soon(frame).await.unwrap(), Ok(()));
    let [second, third] = others;
    assert_eq!(soon(third).await.unwrap(), Ok(()), "its turn has come");
    assert!(!second.is_finished());
    drop(end);
    assert_eq!(soon(question).await.unwrap(), Ok(()));
    assert_eq!(soon(second).await.unwrap(), Ok(()));
}
