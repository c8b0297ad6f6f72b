//! Tests that with many queues slots go to those that use them, and that losses have the right reason.

use super::*;
use crate::base::budget;

/// Queues that one thread submits to.
struct Queues {
    machine: Arc<Machine>,
    shared: Arc<Shared<AddressNames>>,
    queues: Vec<Arc<Mutex<Submissions>>>,
    collector: Collector,
    arrivals: Receiver<Dispatch>,
}

/// Queues of a process whose slots have a bound in bytes.
fn queues(count: usize, bound: usize) -> Queues {
    let machine = Arc::new(Machine { most: usize::MAX, ..Machine::default() });
    let known: Arc<crate::collect::recorder_state::RecorderState> = Arc::default();
    known.budget.set_bound(Some(bound as u64));
    let (sender, arrivals) = crate::collect::batch_channel::batch_channel(Arc::clone(&known.budget));
    let shared =
        Arc::new(Shared::new(Mode::Standard, known, Some(AddressNames), Box::new(Arc::clone(&machine))));
    let mut collector = Collector::new(sender);
    let queues = (0..count).map(|at| {
        let (submissions, mut queue) = queue_channel(QueueOrdinal(u32::try_from(at).unwrap()), 0);
        let submissions = Arc::new(Mutex::new(submissions));
        let (lent, shared) = (Arc::clone(&submissions), Arc::clone(&shared));
        queue.release_slots = Some(Box::new(move |keep| {
            let rounds = lent.lock().unwrap().rounds(keep);
            (0..rounds).for_each(|_| lent.lock().unwrap().give_back(keep, &shared));
        }));
        collector.add(queue);
        submissions
    });
    let queues = queues.collect();
    Queues { machine, shared, queues, collector, arrivals }
}

impl Queues {
    fn submit(&self, queue: usize) -> u64 {
        let mut packet = kernel(1, 0);
        let mut submissions = self.queues[queue].lock().unwrap();
        if !submissions.submit_fast(&mut packet, &Cell::new(submitter()), &self.shared) {
            submissions.submit(&mut packet, &self.shared);
        }
        packet.completion()
    }

    /// Submits a kernel that has completed when the collector looks.
    fn run(&self, queue: usize) {
        let signal = self.submit(queue);
        if signal != 0 {
            complete(signal);
        }
    }

    /// Runs a pass of the collector; returns the number of dispatches that the recorder takes.
    fn pass(&mut self, thorough: bool) -> usize {
        self.collector.pass(thorough, &self.shared);
        let mut count = 0;
        while self.arrivals.take(|_| count += 1) > 0 {}
        self.shared.known.counters.record(count as u64);
        count
    }

    fn slots(&self) -> usize {
        self.machine.signals.lock().unwrap().len()
    }
}

/// Completes a signal as [`Machine::complete`] does, without a search through all signals.
fn complete(signal: u64) {
    // SAFETY: the machine keeps its signals until the test ends.
    let signal = unsafe { Signal::new(signal) };
    signal.set_ticks(Ticks { start: 10, end: 20 });
    // The value is the second word (amd_signal_t).
    #[expect(clippy::cast_possible_truncation, reason = "an address")]
    // SAFETY: the signal is memory of the machine, and its value is aligned.
    unsafe { std::sync::atomic::AtomicI64::from_ptr((signal.handle() as usize + 8) as *mut i64) }
        .fetch_sub(1, Ordering::AcqRel);
}

#[test]
fn kernels_of_ten_thousand_queues_are_all_recorded_with_slots_for_those_in_flight() {
    let mut process = queues(10_000, budget::DEFAULT);
    let mut recorded = 0;
    for _ in 0..3 {
        (0..10_000).for_each(|queue| process.run(queue));
        recorded += process.pass(true);
        for _ in 0..=QUIET {
            recorded += process.pass(true);
        }
    }
    assert_eq!(recorded, 30_000);
    assert_eq!(process.shared.known.counters.snapshot().lost(), 0);
    assert!(process.shared.known.budget.used() <= budget::DEFAULT);
}

#[test]
fn a_busy_queue_gets_the_slots_that_idle_ones_had() {
    // The bound has room for 8,192 slots.
    let mut process = queues(101, 4 << 20);
    for queue in 0..100 {
        (0..4000).for_each(|_| process.run(queue));
        process.pass(true);
        for _ in 0..QUIET {
            process.pass(true);
        }
    }
    (0..8000).for_each(|_| process.run(100));
    for _ in 0..8 {
        process.pass(true);
    }
    assert_eq!(process.shared.known.counters.snapshot().lost(), 0);
    assert!(process.slots() <= 8192, "{} slots", process.slots());
}

#[test]
fn an_idle_queue_that_is_submitted_to_is_seen_within_a_few_passes_of_which_each_looks_at_some() {
    let mut process = queues(4000, budget::DEFAULT);
    for _ in 0..=QUIET {
        process.pass(true);
    }
    assert_eq!(process.collector.active, 0);
    for queue in [0, 1, 999, 2000, 3999] {
        process.run(queue);
    }
    let seen: usize = (0..TURNS).map(|_| process.pass(false)).sum();
    assert_eq!((seen, process.collector.active), (5, 5));
}

#[test]
fn a_pass_over_idle_queues_counts_when_all_have_had_their_turn() {
    let mut process = queues(4000, budget::DEFAULT);
    for _ in 0..=QUIET {
        process.pass(true);
    }
    let passes = |process: &Queues| process.shared.known.passes.load(Ordering::Relaxed);
    let before = passes(&process);
    for _ in 0..10 * TURNS {
        process.collector.pass(false, &process.shared);
    }
    // Every sixteenth pass is thorough.
    assert!((before + 10..=before + 15).contains(&passes(&process)), "{}", passes(&process) - before);
}

#[test]
fn kernels_beyond_the_bound_that_run_are_lost_because_too_many_are_in_flight() {
    let mut process = queues(2, budget::LEAST);
    let most = budget::LEAST / 4 * 3 / budget::SLOT;
    let signals: Vec<u64> = (0..most + 10).map(|at| process.submit(at % 2)).collect();
    assert_eq!(process.pass(true), 0);
    assert_eq!(process.shared.known.counters.snapshot().lost, [(Lost::Buffer, 10)]);
    signals.into_iter().filter(|&signal| signal != 0).for_each(complete);
    assert_eq!((0..4).map(|_| process.pass(true)).sum::<usize>(), most);
}

#[test]
fn kernels_beyond_the_bound_that_wait_for_the_recorder_are_lost_because_it_is_behind() {
    let mut process = queues(1, budget::LEAST);
    // The recorder takes nothing meanwhile.
    for _ in 0..100 {
        (0..100).for_each(|_| process.run(0));
        process.collector.pass(true, &process.shared);
    }
    let counts = process.shared.known.counters.snapshot();
    let lost: Vec<Lost> = counts.lost.iter().map(|&(why, _)| why).collect();
    assert_eq!(lost, [Lost::Behind]);
    assert!(process.shared.known.budget.used() <= budget::LEAST);
    let used = counts.on_the_way() as usize * size_of::<Dispatch>();
    assert!(used > budget::LEAST / 4, "all of the bound is used before anything is lost");
    let recorded: usize = (0..10).map(|_| process.pass(true)).sum();
    assert_eq!(recorded as u64, counts.on_the_way());
}

#[test]
fn a_burst_that_a_late_recorder_takes_in_the_end_is_complete() {
    let mut process = queues(4, budget::DEFAULT);
    for _ in 0..1000 {
        (0..1000).for_each(|at| process.run(at % 4));
        process.collector.pass(true, &process.shared);
    }
    let recorded = process.pass(true) + process.pass(true);
    assert_eq!(recorded, 1_000_000);
    assert_eq!(process.shared.known.counters.snapshot().lost(), 0);
}

#[test]
fn a_signal_that_counts_is_forwarded_in_the_next_pass_also_from_an_idle_queue() {
    let mut process = queues(4000, budget::DEFAULT);
    for _ in 0..=QUIET {
        process.pass(true);
    }
    let shared = process.machine.signal(2);
    let mut packet = kernel(1, shared);
    process.queues[3000].lock().unwrap().submit(&mut packet, &process.shared);
    complete(packet.completion());
    process.collector.pass(false, &process.shared);
    assert_eq!(process.machine.value(shared), 1);
}
