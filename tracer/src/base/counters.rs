//! Counts the outcome of every dispatch that the application queued, and likewise of copies, barriers, calls, ranges and
//! markers.
//!
//! Each is counted as seen when it is submitted and exactly once more: as recorded, as lost for one reason, or as skipped for one
//! reason. At any other moment the difference is in flight.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Declares an enum of reasons with the tag that each has in the file.
macro_rules! reasons {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $reason:ident = $tag:literal, $description:literal;)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$what])* $reason,)+ }

        impl $name {
            /// All reasons, in the order in which they are written.
            pub const ALL: &[Self] = &[$(Self::$reason,)+];

            /// The tag of the reason's metadata row (docs/reference/native.md).
            #[must_use]
            pub const fn tag(self) -> &'static str {
                match self { $(Self::$reason => $tag,)+ }
            }

            /// Words for a message, such as "3 kernel dispatches lost: 3 still running at the end".
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$reason => $description,)+ }
            }
        }
    };
}

reasons! {
    /// The reason why a dispatch, or any other record, is missing in the file.
    Lost {
        /// The recorder was so far behind that completed dispatches occupied all that RTL_BUFFER allows, so the packet was passed
        /// on unchanged.
        Behind = "lost:behind", "while the recorder was behind";
        /// Dispatches in flight occupied all that RTL_BUFFER allows.
        Buffer = "lost:buffer", "because too many were in flight";
        /// The runtime made no more signals.
        Signals = "lost:signals", "because the runtime made no more signals";
        /// The process had no memory left for it.
        Memory = "lost:memory", "because the process had no more memory";
        /// Ranges only: too many were open at once, or too many threads had any (docs/guide/ranges.md).
        Bounds = "lost:bounds", "beyond the bounds of what is kept track of";
        /// The GPU's times were missing, inverted or could not be translated.
        Times = "lost:times", "without valid times";
        /// The completion signal was used again or destroyed before the times could be read.
        Reused = "lost:reused", "whose signal was used again";
        /// It had not completed when its queue was destroyed.
        QueueDestroyed = "lost:queue_destroyed", "unfinished when their queue was destroyed";
        /// It had not completed when the recording ended.
        Unfinished = "lost:unfinished", "still running at the end";
        /// It was submitted after the recording had ended.
        Ended = "lost:ended", "after the end of the recording";
        /// Calls, ranges and markers only: a signal handler made it while its thread was making another one, or a thread at its
        /// very end did.
        Interrupted = "lost:interrupted", "in signal handlers or at the very end of threads";
        /// It completed, but the time for writing at the end of the process was over.
        Unwritten = "lost:unwritten", "not written in time";
        /// The file could not be written: no space, no permission, an error of the disk.
        Write = "lost:write", "that could not be written";
        /// The file had reached RTL_MAX_SIZE.
        Full = "lost:full", "beyond RTL_MAX_SIZE";
        /// Copies only: they were submitted in a form that is not known.
        Unknown = "lost:unknown", "of an unknown form";
        /// Packets only: their queue cannot be intercepted.
        Unintercepted = "lost:unintercepted", "on queues that cannot be intercepted";
        /// Packets only: their queue belongs to an SDMA, AIE or unknown engine.
        Engine = "lost:engine", "on queues of SDMA, AIE or unknown engines";
        /// Packets only: their queue is one of `hsa_amd_counted_queue_acquire`.
        Counted = "lost:counted_queue", "on counted queues";
        /// Packets only: they were written to an intercepted queue without passing the interceptor.
        Bypassed = "lost:bypassed", "that did not pass the interceptor";
        /// A thread of the tracer held their queue and got no core for a second.
        Busy = "lost:busy", "while the tracer held their queue";
        /// The tracer itself failed and disabled itself.
        Failure = "lost:failure", "after a failure of the tracer";
    }
}

reasons! {
    /// The reason why a dispatch was left out on purpose.
    Skipped {
        /// Mode lite leaves out kernels with a completion signal.
        Signal = "skipped:completion_signal", "with a completion signal";
        /// This runtime might crash on the batch with a tool in between (docs/guide/modes.md).
        Batch = "skipped:batch", "in large batches";
        /// Recording was paused when it was submitted.
        Paused = "skipped:paused", "while recording was paused";
        /// Calls only: the program that receives the records does not want them.
        Unwanted = "skipped:unwanted", "that nobody wanted";
    }
}

/// There is one set for each kind of op, call or annotation. Ranges and markers are not counted as seen.
#[derive(Debug, Default)]
pub struct Counters {
    seen: AtomicU64,
    recorded: AtomicU64,
    unnamed: AtomicU64,
    lost: [AtomicU64; Lost::ALL.len()],
    skipped: [AtomicU64; Skipped::ALL.len()],
}

/// Ranges and markers that threads of the application could not hand over, until a recorder takes the counts over.
pub static UNHANDED: Counters = Counters::new();

impl Counters {
    #[must_use]
    pub const fn new() -> Self {
        Self {
            seen: AtomicU64::new(0),
            recorded: AtomicU64::new(0),
            unnamed: AtomicU64::new(0),
            lost: [const { AtomicU64::new(0) }; Lost::ALL.len()],
            skipped: [const { AtomicU64::new(0) }; Skipped::ALL.len()],
        }
    }

    /// Counts dispatches as seen; returns the number before them.
    pub fn see(&self, count: u64) -> u64 {
        self.seen.fetch_add(count, Relaxed)
    }

    /// Counts dispatches that are in the file.
    pub fn record(&self, count: u64) {
        self.recorded.fetch_add(count, Relaxed);
    }

    /// Counts a range or marker whose text is not in the file.
    pub fn leave_unnamed(&self) {
        self.unnamed.fetch_add(1, Relaxed);
    }

    /// Counts dispatches that will never be in the file.
    pub fn lose(&self, why: Lost, count: u64) {
        self.lost[why as usize].fetch_add(count, Relaxed);
    }

    /// Turns everything recorded into losses, because the file no longer holds it.
    pub fn lose_recorded(&self, why: Lost) {
        self.lose(why, self.recorded.swap(0, Relaxed));
    }

    /// Counts dispatches that were left out on purpose.
    pub fn skip(&self, why: Skipped, count: u64) {
        self.skipped[why as usize].fetch_add(count, Relaxed);
    }

    fn reasons(&self) -> impl Iterator<Item = &AtomicU64> {
        self.lost.iter().chain(&self.skipped)
    }

    /// Takes over the losses and skips of `other`; returns their number.
    pub fn take_over(&self, other: &Self) -> u64 {
        let moved = self.reasons().zip(other.reasons()).map(|(ours, theirs)| {
            let count = theirs.swap(0, Relaxed);
            ours.fetch_add(count, Relaxed);
            count
        });
        moved.sum()
    }

    /// Called in the child of a fork: losses and skips are its parent's.
    pub fn forget(&self) {
        self.reasons().for_each(|count| count.store(0, Relaxed));
    }

    /// Reads `seen` last, so that the number in flight is never negative.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let (recorded, unnamed) = (self.recorded.load(Relaxed), self.unnamed.load(Relaxed));
        let lost = Lost::ALL.iter().map(|&why| (why, self.lost[why as usize].load(Relaxed)));
        let lost: Vec<_> = lost.filter(|&(_, count)| count > 0).collect();
        let skipped = Skipped::ALL.iter().map(|&why| (why, self.skipped[why as usize].load(Relaxed)));
        let skipped: Vec<_> = skipped.filter(|&(_, count)| count > 0).collect();
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        Snapshot { seen: self.seen.load(Relaxed), recorded, unnamed, lost, skipped }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Kernel dispatches that the application put on its queues.
    pub seen: u64,
    pub recorded: u64,
    /// Ranges and markers that are recorded without their text.
    pub unnamed: u64,
    /// Losses by reason, without reasons that never occurred.
    pub lost: Vec<(Lost, u64)>,
    /// Skips by reason, without reasons that never occurred.
    pub skipped: Vec<(Skipped, u64)>,
}

impl Snapshot {
    /// The counts at the end, if everything in flight is lost for this reason.
    #[must_use]
    pub fn without_the_rest(mut self, why: Lost) -> Self {
        let rest = self.on_the_way();
        match self.lost.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += rest,
            None if rest > 0 => self.lost.push((why, rest)),
            None => {}
        }
        self
    }

    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.iter().map(|&(_, count)| count).sum()
    }

    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped.iter().map(|&(_, count)| count).sum()
    }

    /// Seen, and neither recorded nor lost nor skipped yet. 0 when the recording has ended.
    #[must_use]
    pub fn on_the_way(&self) -> u64 {
        self.seen.saturating_sub(self.recorded + self.lost() + self.skipped())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_recorded_lost_skipped_or_on_its_way() {
        let counters = Counters::default();
        assert_eq!((counters.see(1), counters.see(9)), (0, 1));
        counters.record(5);
        counters.lose(Lost::Times, 2);
        counters.skip(Skipped::Signal, 1);
        let now = counters.snapshot();
        assert_eq!((now.lost(), now.skipped(), now.on_the_way()), (2, 1, 2));
        assert_eq!(now.lost, [(Lost::Times, 2)]);
    }

    #[test]
    fn tags_are_distinct_and_say_what_they_count() {
        let lost = Lost::ALL.iter().map(|why| why.tag());
        let mut tags: Vec<&str> = lost.chain(Skipped::ALL.iter().map(|why| why.tag())).collect();
        assert!(tags.iter().all(|tag| tag.starts_with("lost:") || tag.starts_with("skipped:")));
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), Lost::ALL.len() + Skipped::ALL.len());
    }
}
