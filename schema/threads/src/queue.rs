//! The jobs of a pipeline, which its threads share. Jobs have no type of their items, so that this is compiled once for all pipelines.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::permit::{Permit, permits};

/// How many results may wait for their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// At most 16, and one for each thread, because they fill memory.
    Large,
    /// Three for each thread: a thread that works on an item for three times as long as others, be it that its core has other work, keeps
    /// none of them waiting.
    Small,
}

impl Results {
    /// The number of jobs of a sequence that may be on the way.
    fn most(self, helpers: usize) -> usize {
        let threads = helpers + 1;
        threads
            + match self {
                Self::Large => threads.min(16),
                Self::Small => 3 * threads,
            }
    }
}

/// How long a thread waits for a job before other work gets its permit. Starting one takes a hundredth of that.
const PATIENCE: Duration = Duration::from_millis(2);

/// The sequence of pushed jobs.
pub(crate) const PUSHED: usize = 0;

/// The sequence of jobs that the consumer returned.
pub(crate) const RETURNED: usize = 1;

/// Work on one item, which keeps its result itself.
pub(crate) type Job<'job> = Box<dyn FnMut() -> Turn + Send + 'job>;

/// A job may have turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It goes behind the jobs that wait.
    Again,
    Over,
}

/// Jobs on the way to their consumer.
struct Queue<'job> {
    state: Mutex<State<'job>>,
    /// Signalled where a job waits, and at the end.
    begin: Condvar,
    /// Signalled where a job is done.
    done: Condvar,
}

struct State<'job> {
    /// Jobs on which no thread works yet, with their places.
    waiting: VecDeque<(Place, Job<'job>)>,
    /// Of both sequences. One does not wait for the other, because their jobs may take times that differ a lot.
    sequences: [Sequence; 2],
    /// The threads beside the leading one.
    helpers: usize,
    /// Helpers that wait for a job.
    idle: usize,
    /// The leading thread waits for a job to be done.
    lead_waits: bool,
    is_closed: bool,
    results: Results,
}

impl<'job> State<'job> {
    /// The oldest pushed job, else the oldest: what returned jobs are made of comes from this thread, which a long one would
    /// keep from making more. While it makes jobs (`pushes`, or the consumer returns some), none where helpers that end theirs
    /// would find no other one meanwhile.
    fn take_for_lead(&mut self, pushes: bool) -> Option<(Place, Job<'job>)> {
        let makes_jobs = pushes || self.sequences[RETURNED].has_begun();
        if makes_jobs && self.waiting.len() <= self.helpers {
            return None;
        }
        let is_pushed = |((sequence, _), _): &(Place, Job<'job>)| *sequence == PUSHED;
        let at = self.waiting.iter().position(is_pushed).unwrap_or(0);
        self.waiting.remove(at)
    }
}

/// The place of a job: its sequence and its number in it.
type Place = (usize, usize);

#[derive(Default)]
struct Sequence {
    /// The outcomes of jobs from `first` on, where they are done.
    done: VecDeque<Option<Outcome>>,
    /// The number of the job that is next.
    first: usize,
}

impl Sequence {
    fn has_begun(&self) -> bool {
        self.first + self.done.len() > 0
    }

    fn next(&mut self) -> Option<Outcome> {
        let next = self.done.pop_front_if(|done| done.is_some()).flatten();
        self.first += usize::from(next.is_some());
        next
    }
}

/// A job has a result, or the panic in place of one.
type Outcome = Result<(), Box<dyn Any + Send>>;

impl<'job> Queue<'job> {
    fn lock(&self) -> MutexGuard<'_, State<'job>> {
        // No code of others runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does a job, or a turn of it, and keeps how it ended.
    fn run(&self, ((sequence, number), mut job): (Place, Job<'job>)) {
        let outcome = catch_unwind(AssertUnwindSafe(&mut job));
        let mut state = self.lock();
        if matches!(outcome, Ok(Turn::Again)) && !state.is_closed {
            state.waiting.push_back(((sequence, number), job));
            return self.begin_one(state);
        }
        let outcome = outcome.map(drop);
        let Sequence { done, first } = &mut state.sequences[sequence];
        let is_next = number == *first;
        done[number - *first] = Some(outcome);
        // Others are of no use to the leading thread yet. To signal is a call of the system, even where no thread waits.
        let wakes = is_next && state.lead_waits;
        drop(state);
        if wakes {
            self.done.notify_one();
        }
    }

    /// Wakes a thread for a job that was added, if one waits.
    fn begin_one(&self, state: MutexGuard<'_, State<'job>>) {
        let wakes = state.idle > 0;
        drop(state);
        if wakes {
            self.begin.notify_one();
        }
    }

    /// Does jobs until the queue is closed, or none has come for a while.
    fn serve(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.waiting.pop_front() {
                drop(state);
                self.run(job);
                state = self.lock();
            } else if state.is_closed {
                return;
            } else {
                state.idle += 1;
                let waited = self.begin.wait_timeout(state, PATIENCE);
                let timeout;
                (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                if timeout.timed_out() && state.waiting.is_empty() {
                    state.helpers -= 1;
                    return;
                }
            }
        }
    }
}

/// Closes the queue when the jobs end, by a panic too: the threads must not wait for more.
struct Close<'a, 'job>(&'a Queue<'job>);

impl Drop for Close<'_, '_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        let unbegun = std::mem::take(&mut state.waiting);
        drop(state);
        self.0.begin.notify_all();
        drop(unbegun);
    }
}

/// This thread's side of the queue, and the threads beside it.
pub(crate) struct Team<'a, 'job> {
    queue: &'a Queue<'job>,
    /// Starts a thread, where the system does.
    start: &'a dyn Fn(Permit) -> bool,
}

impl<'job> Team<'_, 'job> {
    fn helpers(&self) -> usize {
        self.queue.lock().helpers
    }

    /// This thread does all jobs.
    pub(crate) fn is_alone(&self) -> bool {
        self.helpers() == 0
    }

    /// The number of jobs of each sequence that may be on the way.
    pub(crate) fn most(&self) -> usize {
        let state = self.queue.lock();
        state.results.most(state.helpers)
    }

    /// Puts a job behind all others of its sequence, for another thread if there may be one more.
    pub(crate) fn add(&self, sequence: usize, job: Job<'job>) {
        let mut state = self.queue.lock();
        let Sequence { done, first } = &mut state.sequences[sequence];
        let number = *first + done.len();
        done.push_back(None);
        state.waiting.push_back(((sequence, number), job));
        self.begin(state);
    }

    /// Wakes or starts one more thread where jobs wait for it and the bound allows it.
    fn begin(&self, mut state: MutexGuard<'_, State<'job>>) {
        let permit = if state.waiting.len() > state.idle { permits(1).pop() } else { None };
        state.helpers += usize::from(permit.is_some());
        self.queue.begin_one(state);
        // Where the system starts no thread, the others do its work.
        if let Some(permit) = permit
            && !(self.start)(permit)
        {
            self.queue.lock().helpers -= 1;
        }
    }

    /// The sequence whose next job is done and has its turn; none once at most `left` jobs of each are on the way. Does jobs
    /// meanwhile. A panic of the job goes on here.
    pub(crate) fn next(&self, left: usize) -> Option<usize> {
        let mut state = self.queue.lock();
        loop {
            let State { sequences: [pushed, returned], helpers, results, .. } = &mut *state;
            let mut next = returned.next().map(|outcome| (RETURNED, outcome));
            // What is returned for it needs room.
            if next.is_none() && returned.done.len() < results.most(*helpers) {
                next = pushed.next().map(|outcome| (PUSHED, outcome));
            }
            if let Some((sequence, outcome)) = next {
                drop(state);
                outcome.unwrap_or_else(|panic| resume_unwind(panic));
                return Some(sequence);
            } else if pushed.done.len() <= left && returned.done.len() <= left {
                return None;
            } else if let Some(job) = state.take_for_lead(left > 0) {
                // Other work may have left threads since the last job was added.
                if !state.waiting.is_empty() {
                    self.begin(state);
                } else {
                    drop(state);
                }
                self.queue.run(job);
                state = self.queue.lock();
            } else {
                state.lead_waits = true;
                state = self.queue.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.lead_waits = false;
            }
        }
    }
}

/// Runs `lead` on this thread, whose jobs threads beside it do too. They end before this returns.
pub(crate) fn with_team<'job>(results: Results, lead: Box<dyn FnOnce(Team<'_, 'job>) + '_>) {
    let (waiting, sequences) = (VecDeque::new(), Default::default());
    let state =
        State { waiting, sequences, helpers: 0, idle: 0, lead_waits: false, is_closed: false, results };
    let queue = Queue { state: Mutex::new(state), begin: Condvar::new(), done: Condvar::new() };
    std::thread::scope(|scope| {
        let queue = &queue;
        let start = |permit: Permit| {
            let serve = move || {
                let _permit = permit;
                queue.serve();
            };
            std::thread::Builder::new().spawn_scoped(scope, serve).is_ok()
        };
        let _close = Close(queue);
        lead(Team { queue, start: &start });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue of this number of helpers, of which none is idle, with jobs that wait.
    fn state(helpers: usize, places: &[Place]) -> State<'static> {
        let job = |&place: &Place| (place, Box::new(|| Turn::Over) as Job<'_>);
        let waiting = places.iter().map(job).collect();
        State {
            waiting,
            sequences: Default::default(),
            helpers,
            idle: 0,
            lead_waits: false,
            is_closed: false,
            results: Results::Large,
        }
    }

    #[test]
    fn where_results_are_small_four_for_each_thread_are_on_the_way_with_any_number_of_threads() {
        let all = |results: Results| [0, 3, 63].map(|helpers| results.most(helpers));
        assert_eq!((all(Results::Large), all(Results::Small)), ([2, 8, 80], [4, 16, 256]));
    }

    #[test]
    fn the_leading_thread_does_pushed_jobs_before_those_that_the_consumer_returned() {
        let mut state = state(0, &[(RETURNED, 0), (PUSHED, 5), (RETURNED, 1), (PUSHED, 6)]);
        let taken: Vec<Place> =
            std::iter::from_fn(|| state.take_for_lead(true)).map(|(place, _)| place).collect();
        assert_eq!(taken, [(PUSHED, 5), (PUSHED, 6), (RETURNED, 0), (RETURNED, 1)]);
    }

    #[test]
    fn the_leading_thread_leaves_a_job_to_each_helper_while_it_makes_more() {
        let places = [(PUSHED, 0), (PUSHED, 1), (PUSHED, 2)];
        let takes = |pushes: bool, returned: usize| {
            let mut state = state(2, &places);
            state.sequences[RETURNED].first = returned;
            std::iter::from_fn(|| state.take_for_lead(pushes)).count()
        };
        assert_eq!(takes(true, 0), 1, "it pushes");
        assert_eq!(takes(false, 1), 1, "its consumer returns jobs");
        assert_eq!(takes(false, 0), 3, "no more will come");
    }
}
